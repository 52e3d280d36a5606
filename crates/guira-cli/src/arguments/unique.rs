use std::path::PathBuf;

use clap::Args;

use super::inputs::DIVIDED;
use super::names::Untimed;
use super::{InputArguments, KeyFileArguments, NowArguments, WaitArguments, values};
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
    guira unique --count events.csv

  Each line that has not come within the last 24 hours:
    tail -f app.log | guira unique --for 24h --state seen.guira

  The same of a log that was written, whose lines begin with a time and a tab:
    guira unique --for 24h --time-field 1 app.log";

const FORGETTING: &str = "Forgetting lines";

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
///
/// With --key-file, lines are hashed with SipHash-1-3 and its secret key, so that nobody can choose lines that are left out.
///
/// With --for, lines are forgotten after that time, and printed again when they come again.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLES, after_help = STATUS)]
pub(crate) struct UniqueArguments {
    /// The share of new lines that may be left out, such as 0.001 or 1/1000 [default: one in a million]
    #[arg(long, short, value_name = "RATE", value_parser = values::rate, allow_hyphen_values = true)]
    pub(crate) rate: Option<f64>,

    /// How many distinct lines are expected, with --for at a time; it grows beyond [default: 350,000]
    ///
    /// The closer this is, the less memory is taken. Up to 256 times as many, the rate is kept; with
    /// --for fewer at very low rates, or with a fine --resolution. A --state that is there has its size already.
    #[arg(long, value_name = "LINES", value_parser = values::capacity, allow_hyphen_values = true)]
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

    /// Forget a line so long after it came first, such as 24h, 90m, 7d or 500ms
    ///
    /// It is then taken for new when it comes again. Within this time it is never printed twice; after this time and the
    /// resolution it is forgotten.
    #[arg(long = "for", value_name = "TIME", value_parser = values::lifetime, allow_hyphen_values = true, help_heading = FORGETTING)]
    pub(crate) lifetime: Option<u64>,

    /// With --for, count from when the line came last, so that a line is printed when it has not come for that time
    #[arg(long, help_heading = FORGETTING)]
    pub(crate) renew: bool,

    /// How much later than that a line may be forgotten [default: a twelfth of it, or so]
    ///
    /// A finer one takes more bits for each line, and the rate is kept for fewer. The time of --for is rounded up to a
    /// whole number of them, at most 254.
    #[arg(long, value_name = "TIME", value_parser = values::lifetime, allow_hyphen_values = true, help_heading = FORGETTING)]
    pub(crate) resolution: Option<u64>,

    /// Take the time from this field of each line, and not from the clock
    ///
    /// So the lines of a log are the same whenever it is read. A number from 1 on, with the fields that --delimiter and --csv say;
    /// with --header a name, with --json-field a path. A time is one of RFC 3339 (2026-11-25T10:00:00+01:00, also with a blank for
    /// the T, but not without a zone, such as Z for UTC), of the common log format ([25/Nov/2026:10:00:00 +0100], also between blanks), or a number: seconds since 1970, with a fraction or without,
    /// or milliseconds. Where whole lines are compared, they are compared without their time.
    ///
    /// A line that comes late, with a time before that of another, is taken as if it had the latest time that was read.
    #[arg(long, value_name = "FIELD", group = DIVIDED, conflicts_with = "now", help_heading = FORGETTING)]
    pub(crate) time_field: Option<String>,

    /// What to do with lines without a time in that field [default: refuse]
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value_t = Untimed::Refuse,
        hide_default_value = true,
        requires = "time_field",
        help_heading = FORGETTING
    )]
    pub(crate) untimed: Untimed,

    /// Refuse a line whose time is so much after the latest that was read [default: the time of --for, and at least 24h]
    ///
    /// A single time that is wrong, far in the future, would make all lines be forgotten, and the following ones come late.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = values::lifetime,
        allow_hyphen_values = true,
        requires = "time_field",
        help_heading = FORGETTING
    )]
    pub(crate) max_gap: Option<u64>,

    /// With --header, print that line of the first input before the first line that is printed
    #[arg(long, requires = "header", conflicts_with = "count")]
    pub(crate) keep_header: bool,

    /// Print only how many lines would be printed
    #[arg(long, short)]
    pub(crate) count: bool,

    /// Ignore the case of the letters A to Z
    #[arg(long, short = 'i')]
    pub(crate) ignore_case: bool,

    /// Ignore spaces, tabs and the like at both ends of keys
    #[arg(long)]
    pub(crate) trim: bool,

    /// With --count, print the numbers of lines as JSON
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

    #[command(flatten, next_help_heading = FORGETTING)]
    pub(crate) now: NowArguments,
}

impl UniqueArguments {
    pub(crate) const fn normalization(&self) -> Normalization {
        Normalization { lowercase: self.ignore_case, trim: self.trim }
    }
}
