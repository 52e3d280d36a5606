use std::path::PathBuf;

use clap::Args;

use super::{InputArguments, KeyFileArguments, QuietArguments};

const EXAMPLES: &str = "\
Only remove what was added: removing another key may make the filter lose one that was.

Examples:
  guira remove blocked.guira expired.txt
  guira remove --json --null files.guira deleted.list

Exit status: 0 if all was removed, 1 if a key was not in the filter, 2 if there was an error";

/// Remove lines from a filter file
///
/// Removes one copy of each distinct line of this input: it undoes one "guira add" of the same lines.
///
/// ONLY REMOVE WHAT WAS ADDED. A key that never was may look like one that is there, at the rate of the filter, and
/// removing it then takes out the other key: the filter loses it. That "guira check" prints a line is no proof that it
/// was added.
///
/// Keys that are not in the filter are counted and left. The file is replaced when all is done, and left alone if an
/// input cannot be read.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RemoveArguments {
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

    #[command(flatten)]
    pub(crate) inputs: InputArguments,
}
