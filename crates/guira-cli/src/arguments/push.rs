use std::path::PathBuf;

use clap::Args;

use super::{KeyFileArguments, QuietArguments, ServerArguments};

const EXAMPLES: &str = "\
Examples:
  A filter that was built here, for the clients of a server:
    guira build -o blocked.guira --capacity 100M --max-capacity 100M blocked.txt
    guira push blocked.guira redis://localhost:6379/blocked
    redis-cli cf.exists blocked example.org

  A newer one in its place, in database 2 of a server with a password:
    REDISCLI_AUTH=$(cat password) guira push --force blocked.guira redis://localhost:6379/2/blocked";

const STATUS: &str = "Exit status: 0 if the filter is on the server, 2 if there was an error and it is as it was";

/// Load a filter file into Redis or Valkey, whole or not at all
///
/// The server needs the module guira-redis. The key appears whole or not at all: the filter is loaded under a
/// temporary name, "{KEY}:guira-push:" and 16 digits, and renamed when it is complete. The temporary key is removed
/// if that fails. If the program is killed, it expires within a minute. Until it is renamed, the server has memory
/// for both filters, the old one and the new one.
///
/// The server takes filters that grow. "guira build" makes those, unless --layout, --slots-per-bucket, --fingerprint-bits,
/// --prefer space or --lifetime is given, or a rate above 3 % without --max-capacity. The notes of the file and the rate that was asked for go with it. What "guira build"
/// does to keys by --lowercase and --trim, clients must do.
///
/// The secret key of a filter that was built with --hash siphash goes with it to the server, which hashes with it.
///
/// The user needs the commands TYPE, MULTI, EXEC, DISCARD, WATCH, PEXPIRE, PERSIST, RENAME, UNLINK and CF.LOADCHUNK;
/// "guira pull" needs CF.SCANDUMP, and databases other than 0 need SELECT.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLES, after_help = STATUS)]
pub(crate) struct PushArguments {
    /// Replace the filter that the key holds, if there is one
    ///
    /// The new key has no time to live, whatever the old one had. A value of another type is not replaced.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) server: ServerArguments,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    #[command(flatten)]
    pub(crate) quiet: QuietArguments,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The filter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Where it goes: redis://HOST:PORT/KEY, or redis://HOST:PORT/DATABASE/KEY
    #[arg(value_name = "URL", long_help = super::shared::URL_HELP)]
    pub(crate) url: String,
}
