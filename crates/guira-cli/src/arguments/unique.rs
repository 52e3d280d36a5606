use std::path::PathBuf;

use clap::Args;

use super::{InputArguments, KeyFileArguments, WaitArguments, values};
use crate::keys::Normalization;

const EXAMPLES: &str = "\
Examples:
  Each line of a log the first time that it comes, in order, and as it comes:
    tail -f app.log | guira unique

  Only the first request of each address:
    guira unique --field 1 --delimiter blanks access.log

  Addresses that yesterday's run has not seen either; the file is made if it is not there:
    guira unique --state seen.guira addresses.txt

  How many lines of a file are repeated:
    guira unique --count events.csv";

const STATUS: &str = "Exit status: 0 if all was read, 2 if there was an error";

/// Print each line the first time that it comes
///
/// As "sort -u" prints each line once, but in the order of the input, without waiting for its end, and in a few bytes for each
/// distinct line, however long lines are. It needs no number of lines: the filter grows with them.
///
/// A new line is taken for one that came before at the false positive rate, and then left out: by default one new line in a
/// million. What is printed is never printed twice.
///
/// With --field and the like, lines are told apart by these fields alone, and a line is printed if any of its keys is new. A
/// line without a key is always printed.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLES, after_help = STATUS)]
pub(crate) struct UniqueArguments {
    /// The share of new lines that may be left out, such as 0.001 or 1/1000 [default: one in a million]
    #[arg(long, short, value_name = "RATE", value_parser = values::rate, allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,

    /// How many distinct lines are expected; it grows beyond [default: 350,000]
    ///
    /// The closer this is, the less memory is taken. Up to 512 times as many, the rate is kept.
    #[arg(long, value_name = "LINES", value_parser = values::capacity, allow_negative_numbers = true)]
    pub(crate) capacity: Option<usize>,

    /// Go on where the last run with this file stopped, and remember in it what came; it is made if it is not there
    ///
    /// It is a filter file, for all commands of guira. It is replaced each minute and at the end, also when SIGTERM, SIGINT or
    /// SIGHUP ends the program; what was printed before is in it then.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    /// Print the lines that came before, in place of those that are new
    #[arg(long)]
    pub(crate) repeated: bool,

    /// Print only how many lines would be printed
    #[arg(long, short)]
    pub(crate) count: bool,

    /// Ignore the case of the letters A to Z
    #[arg(long, short = 'i')]
    pub(crate) ignore_case: bool,

    /// Ignore spaces, tabs and the like at both ends of keys
    #[arg(long)]
    pub(crate) trim: bool,

    /// Print the numbers of lines as JSON
    #[arg(long, requires = "count")]
    pub(crate) json: bool,

    /// Print errors and warnings only, besides the lines
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    #[command(flatten)]
    pub(crate) wait: WaitArguments,

    #[command(flatten)]
    pub(crate) inputs: InputArguments,
}

impl UniqueArguments {
    pub(crate) const fn normalization(&self) -> Normalization {
        Normalization { lowercase: self.ignore_case, trim: self.trim }
    }
}
