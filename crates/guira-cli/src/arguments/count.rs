use std::path::PathBuf;

use clap::Args;

use super::{KeyFileArguments, TrustArguments};

/// Print how many copies of keys a filter holds
///
/// Prints a line for each key: the number of its copies, a tab, and the key. Copies of keys that share its fingerprint and
/// buckets are counted too: the number is never too small, and for an absent key it is 0 but for a share of about the
/// filter's rate. A filter holds at most 2b copies of a key, b being the slots of a bucket or window.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  guira count words.guira kiwi emu\n\n\
                        Exit status: 0 if a key has copies, 1 if none has, 2 if there was an error")]
pub(crate) struct CountArguments {
    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    #[command(flatten)]
    pub(crate) trust: TrustArguments,

    /// Print nothing but errors: the exit status is the answer
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The filter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The keys
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<std::ffi::OsString>,
}
