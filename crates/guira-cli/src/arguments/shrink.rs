use std::path::PathBuf;

use clap::Args;

use super::{KeyFileArguments, QuietArguments};

/// Give back the memory that a filter file has grown by
///
/// Undoes doublings as long as all keys fit the smaller table, down to the size that the filter was built with. It is exact:
/// every key is still found, and its rate falls again with each doubling undone. The file is left alone where there is
/// nothing to undo.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  guira remove seen.guira old.txt && guira shrink seen.guira\n\n\
                        Exit status: 0 if the filter is as small as it can be, 2 if there was an error")]
pub(crate) struct ShrinkArguments {
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
}
