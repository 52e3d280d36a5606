use std::path::PathBuf;

use clap::Args;

use super::{InputArguments, KeyFileArguments, NowArguments, QuietArguments, WaitArguments};

const EXAMPLES: &str = "\
Examples:
  Keys that were added and have expired:
    guira remove blocked.guira expired.txt

  What yesterday's list has more than today's, both sorted:
    comm -23 yesterday.txt today.txt | guira remove blocked.guira

  A key:
    guira remove blocked.guira -e 203.0.113.7";

const STATUS: &str = "\
Only remove what was added: removing another key may make the filter lose one that was.

Exit status: 0 if all was removed, 1 if a key was not in the filter, 2 if there was an error";

/// Remove lines from a filter file
///
/// Removes one copy of each distinct line of this input: it undoes one "guira add" of the same lines.
///
/// ONLY REMOVE WHAT WAS ADDED. The filter may take a key that was never added for one that was. Removing it then removes
/// the other key, which is no longer found. That "guira check" prints a line does not prove that it was added. Keys that
/// "guira add --unique" left out were not added.
///
/// Keys that are not in the filter are counted and left. The file is replaced when all is done, and left alone if an
/// input cannot be read.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLES, after_help = STATUS)]
pub(crate) struct RemoveArguments {
    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    /// Ignore the case of the letters A to Z: for filters that were built with --lowercase
    #[arg(long, short = 'i')]
    pub(crate) ignore_case: bool,

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

    #[command(flatten)]
    pub(crate) inputs: InputArguments,
}
