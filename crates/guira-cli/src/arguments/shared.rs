//! Arguments that several commands have.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::values;
use crate::failure::Failure;
use crate::filter_view::Trust;
use crate::same_file::SameFile;

#[derive(Args, Debug)]
pub(crate) struct ThreadArguments {
    /// How many threads share the work, at most 4 for each processor [default: one for each processor, as with 0]
    #[arg(
        id = "threads",
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        value_parser = values::threads,
        allow_hyphen_values = true
    )]
    pub(crate) count: usize,
}

#[derive(Args, Debug)]
pub(crate) struct KeyFileArguments {
    /// The file with the secret key of a filter that was built with --hash siphash
    ///
    /// It has 16 bytes, or 32 hexadecimal digits on a line.
    #[arg(id = "key_file", long = "key-file", value_name = "KEYFILE")]
    pub(crate) file: Option<PathBuf>,
}

impl KeyFileArguments {
    /// Refuses an output that would replace the secret key, even where it is given by another name.
    pub(crate) fn refuse_as_output(&self, output: &Path) -> Result<(), Failure> {
        match self.file.as_deref() {
            Some(key) if SameFile::of(key).is_some_and(|key| SameFile::of(output) == Some(key)) => {
                Err(Failure::of_file(output, "the secret key, which would be replaced: give another file"))
            }
            _ => Ok(()),
        }
    }
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct QuietArguments {
    /// Print errors and warnings only
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TrustArguments {
    /// Verify the checksum of the filter first, however large it is [default: of tables up to 64 MiB]
    ///
    /// Verifying reads all of the filter once. Without it, the first answer comes at once and only the parts that are asked are
    /// read, but a filter that the disk has damaged gives wrong answers. "guira verify" does more than this.
    #[arg(long, overrides_with = "no_verify")]
    verify: bool,

    /// Never verify the checksum of the filter first
    #[arg(long, overrides_with = "verify")]
    no_verify: bool,
}

impl TrustArguments {
    pub(crate) fn trust(&self) -> Trust {
        match (self.verify, self.no_verify) {
            (true, _) => Trust::Verified,
            (false, true) => Trust::Blind,
            (false, false) => Trust::VerifiedIfSmall,
        }
    }
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct WaitArguments {
    /// Give up after so long where another process changes the file, such as 5s, 2m or 0 [default: wait until it is done]
    #[arg(id = "wait", long = "wait", value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true)]
    pub(crate) at_most: Option<Duration>,

    /// Whether to say that another process is waited for.
    #[arg(skip)]
    pub(crate) is_quiet: bool,
}

impl WaitArguments {
    /// The same for a command that prints errors and warnings only, if it was told to.
    pub(crate) const fn with(self, quiet: QuietArguments) -> Self {
        Self { is_quiet: quiet.quiet, ..self }
    }
}

#[cfg(feature = "redis")]
pub(super) const URL_HELP: &str = "\
Where the filter is on the server

redis://HOST:PORT/KEY, or with a database redis://HOST:PORT/DATABASE/KEY. A user and a password stand before the host, as in \
redis://USER:PASSWORD@HOST:PORT/KEY; a password that others must not see on this machine is taken from the environment variable \
REDISCLI_AUTH. rediss:// is for TLS, which \"guira --version\" tells of, and redis+unix:///PATH?db=DATABASE&key=KEY for a socket.

In KEY, and in the password, any byte may be written as % and two hexadecimal digits, and must be if it is one of / ? # %. A key \
of digits stands behind its database.";

#[cfg(feature = "redis")]
#[derive(Args, Debug)]
pub(crate) struct ServerArguments {
    /// The prefix that the module was loaded with, if it was
    ///
    /// GF. for "loadmodule libguira_redis.so prefix GF.", which stands beside RedisBloom.
    #[arg(long, value_name = "NAME.", default_value = "CF.", hide_default_value = true, value_parser = values::prefix)]
    pub(crate) prefix: String,
}
