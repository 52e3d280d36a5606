use std::path::PathBuf;

use clap::Args;

use super::KeyFileArguments;

/// Count the fingerprints in which two filter files differ
///
/// Filters hold fingerprints and not keys, so it can't say which keys differ, only how many. Copies count as often as they
/// are stored. A key that is in one filter only may be taken for one of both, with the probability of a false positive.
///
/// The filters must have been built with the same options and the same capacity, as for "guira merge". Filters that grow may
/// have grown differently.
#[derive(Args, Debug)]
#[command(
    before_help = "Examples:\n  guira diff yesterday.guira today.guira\n  guira diff -q a.guira b.guira && echo same",
    after_help = "Exit status: 0 if both hold the same, 1 if they differ, 2 if they can't be compared"
)]
pub(crate) struct DiffArguments {
    /// Print nothing but errors: the exit status is the answer
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    /// The first filter file
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,

    /// The second filter file
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,
}
