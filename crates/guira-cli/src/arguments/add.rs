use std::path::PathBuf;

use clap::Args;

use super::{InputArguments, KeyFileArguments, QuietArguments};

const EXAMPLES: &str = "\
Examples:
  Keys that are new, each once, of a feed that overlaps what is stored:
    guira add --unique seen.guira today.txt

  What today's list has more than yesterday's, both sorted:
    comm -13 yesterday.txt today.txt | guira add blocked.guira

  A key:
    guira add blocked.guira -e 203.0.113.7";

const STATUS: &str = "Exit status: 0 if all was added, 2 if a key did not fit or there was an error";

/// Add lines to a filter file
///
/// Stores each distinct line of this input. Without --unique, a key that was added before is stored once more: it takes
/// room again and must be removed as often. A filter holds at most 2b copies of a key, where b is the number of slots of a
/// bucket.
///
/// When a filter is full that was built to grow, its table is doubled. Keys that do not fit are left out and reported, with
/// exit status 2; after 10,000 of them, the rest is not tried. The file is replaced when all is done, and left alone if an
/// input cannot be read.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLES, after_help = STATUS)]
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
