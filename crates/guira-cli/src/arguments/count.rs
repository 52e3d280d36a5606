use std::path::PathBuf;

use clap::Args;

use super::{KeyFileArguments, NowArguments, TrustArguments};

/// Print how many copies of keys a filter holds
///
/// Prints a line for each key: the number of its copies, a tab, and the key. The number is never too small. It may be too
/// large, since copies of other keys with the same fingerprint and buckets are counted too. A filter holds at most 2b copies
/// of a key, where b is the number of slots of a bucket.
#[derive(Args, Debug)]
#[command(
    before_help = "Examples:\n  guira count words.guira kiwi emu",
    after_help = "Exit status: 0 if a key has copies, 1 if none has, 2 if there was an error"
)]
pub(crate) struct CountArguments {
    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    #[command(flatten)]
    pub(crate) now: NowArguments,

    #[command(flatten)]
    pub(crate) trust: TrustArguments,

    /// Print nothing but errors: the exit status is the answer
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print JSON; bytes of a key that are not UTF-8 are shown as U+FFFD
    #[arg(long)]
    pub(crate) json: bool,

    /// The filter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The keys; "-" is a key too
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<std::ffi::OsString>,
}
