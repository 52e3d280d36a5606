use std::path::PathBuf;
#[cfg(unix)]
use std::time::Duration;

use clap::Args;

#[cfg(unix)]
use super::values;
use super::{InputArguments, KeyFileArguments, NowArguments, QuietArguments, WaitArguments};

const EXAMPLES: &str = "\
Examples:
  Keys that are new, each once, of a feed that overlaps what is stored:
    guira add --unique seen.guira today.txt

  What today's list has more than yesterday's, both sorted:
    comm -13 yesterday.txt today.txt | guira add blocked.guira

  A key:
    guira add blocked.guira -e 203.0.113.7

  Addresses of a log while it is written, stored every ten seconds:
    tail -f access.log | guira add --unique --every 10s --field 1 --delimiter blanks seen.guira

  All that fits, and the rest into a second filter:
    guira add --keep-fitting seen.guira today.txt | guira build -o seen-2.guira";

const STATUS: &str = "\
Exit status: 0 if all was added, 3 with --keep-fitting if a part was, 2 if no key was added since not all fit, or there was \
an error";

/// Add lines to a filter file
///
/// Stores each distinct line of this input. Without --unique, a key that was added before is stored once more: it takes
/// room again and must be removed as often. A filter holds at most 2b copies of a key, where b is the number of slots of a
/// bucket.
///
/// All of them are added, or none: if a key does not fit, or an input cannot be read, the file stays as it is. The file is
/// replaced when all is done.
///
/// When a filter is full that was built to grow, its table grows. Keys fit as long as the false positive rate is kept
/// that the filter was built for: up to its --max-capacity, or its --capacity if it does not grow.
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

    /// Add the keys that fit, and print the others, each on a line of its own
    ///
    /// As many keys are added as find room while the rate is kept, in the order of the input. After 10,000 for which the
    /// table has no slot, the rest is not tried. No key is added if one that does not fit has a line end in it, as keys of CSV and JSON
    /// may.
    #[arg(long)]
    pub(crate) keep_fitting: bool,

    /// Write the keys that do not fit to this file instead of standard output; one that is there is replaced, unless it is a filter
    ///
    /// It is replaced when all of them are written, right before the filter is. With --every it is replaced at the start, and has the keys
    /// of each interval once that is over.
    #[arg(long, value_name = "REJECTED", requires = "keep_fitting")]
    pub(crate) rejected: Option<PathBuf>,

    /// Add keys even if the rate rises above the one that the filter was built for
    ///
    /// Beyond the number of keys up to which it is promised, the rate doubles each time the number of keys does.
    #[arg(long)]
    pub(crate) raise_rate: bool,

    /// Store the keys that have come every so often, such as 10s, and when SIGTERM, SIGINT or SIGHUP ends the program
    ///
    /// For inputs that do not end, such as those of "tail -f". The file is locked while keys are stored, and not in between;
    /// a line without its end is not stored then. Lines that are repeated are left out as without this option, for which all
    /// distinct keys are kept in memory; with --unique only those of an interval are.
    #[cfg(unix)]
    #[arg(long, value_name = "TIME", value_parser = values::interval, allow_hyphen_values = true, conflicts_with = "json")]
    pub(crate) every: Option<Duration>,

    /// Do not grow the table
    #[arg(long)]
    pub(crate) no_grow: bool,

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
