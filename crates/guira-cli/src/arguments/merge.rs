use std::path::PathBuf;

use clap::Args;

use super::{KeyFileArguments, NowArguments, QuietArguments, WaitArguments};

/// Make one filter file of several
///
/// The filters must have been built with the same options and the same capacity: "guira build --like" builds a filter
/// with the parameters of another one. Filters that grow may have grown differently. Copies add up: a key that is in two
/// of the filters is stored twice, and must be removed twice. The files that are merged stay as they are, but the output
/// may be one of them, with --force.
#[derive(Args, Debug)]
#[command(
    before_help = "Examples:\n  guira merge --output week.guira monday.guira tuesday.guira",
    after_help = "Exit status: 0 if the file was written, 2 if there was an error and none was"
)]
pub(crate) struct MergeArguments {
    /// The filter file to write; "-" is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Replace the output file if there is one
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    #[command(flatten)]
    pub(crate) now: NowArguments,

    #[command(flatten)]
    pub(crate) wait: WaitArguments,

    #[command(flatten)]
    pub(crate) quiet: QuietArguments,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The filter files to merge
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) files: Vec<PathBuf>,
}
