use std::path::PathBuf;

use clap::Args;

use super::{InputArguments, KeyFileArguments, QuietArguments};

const EXAMPLES: &str = "\
Examples:
  guira add blocked.guira today.txt
  cut -d' ' -f1 access.log | sort -u | guira add seen.guira

Exit status: 0 if all was added, 2 if a key did not fit or there was an error";

/// Add lines to a filter file
///
/// Stores a copy of each distinct line of this input. A key that was added before is stored once more and must be removed
/// as often; a filter holds at most 2b copies of a key, b being the slots of a bucket or window.
///
/// When the filter is full, its table is doubled, if it was built to grow ("guira info" says so). Up to the largest capacity
/// the rate that was asked for holds; beyond it, it doubles with every doubling, which is said. A filter of another layout,
/// or with --no-grow, takes what fits; what does not is left out and reported, with exit status 2. After 10,000 keys that
/// did not fit, the rest is left out without a try. The file is replaced when all is done, and left alone if an input
/// cannot be read.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AddArguments {
    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    /// Leave out keys that the filter says are probably there already
    ///
    /// Adding an overlapping list then stores only what is new. A share of the new keys, the false positive rate, is taken
    /// for present and left out too; each is found all the same, because the filter already answers "probably" for it. But
    /// the filter no longer has one copy for each key: don't use "guira remove" on it later, as it could remove the copy
    /// that another key needs. To take keys out, build the filter again from the list.
    #[arg(long)]
    pub(crate) unique: bool,

    /// Do not grow the table; report keys that do not fit
    #[arg(long)]
    pub(crate) no_grow: bool,

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
