use std::path::PathBuf;

use clap::Args;

use super::{KeyFileArguments, NowArguments, QuietArguments, WaitArguments};

/// Give back the memory that a filter file has grown by
///
/// Undoes doublings of the table as long as all keys fit the smaller one, down to the size that the filter was built with.
/// Every key is still found. If there is nothing to undo, the file is left alone.
#[derive(Args, Debug)]
#[command(
    before_help = "Examples:\n  guira remove seen.guira old.txt && guira shrink seen.guira",
    after_help = "Exit status: 0 if the filter is as small as it can be, 2 if there was an error"
)]
pub(crate) struct ShrinkArguments {
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

    /// The filter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}
