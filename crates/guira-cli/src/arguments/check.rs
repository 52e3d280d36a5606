use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{InputArguments, KeyFileArguments, NowArguments, ThreadArguments, TrustArguments, values};

const EXAMPLES: &str = "\
Examples:
  Lines of a text that are probably in the list, and those that certainly are not:
    guira check words.guira text.txt
    guira check -v words.guira text.txt

  Lines of a log whose first or third field is in the list, as they are written, and in the newest list:
    tail -f access.log | guira check --follow --field 1,3 --delimiter blanks blocked.guira

  Is this key in the list?
    guira check -q words.guira -e kiwi && echo probably";

const STATUS: &str = "\
Exit status: 0 if a line was selected, 1 if none was, 2 if there was an error; with --quiet, 0 if a line was selected \
before the error";

const SELECTION: &str = "Selection";
const OUTPUT: &str = "Output";
const FILTERS: &str = "Filters";

/// Print the lines whose keys are probably in a filter
///
/// Lines are printed in order and unchanged. Every line whose key is in the filter is printed. Of the other lines, a small
/// share is printed too: the filter's false positive rate, which "guira info" shows. With --invert-match, every line that is
/// printed is certainly not in the filter.
///
/// Lines are printed as soon as the input pauses. While lines are checked, the filter file may be replaced by renaming another
/// file to its name, as all commands of guira do: with --follow the next lines are checked with the new one; without it, a
/// message says once that there is a new one. It must not be overwritten in place, as cp does.
#[derive(Args, Debug)]
#[command(
    before_help = EXAMPLES,
    after_help = STATUS,
    override_usage = "guira check [OPTIONS] <FILE> [INPUT]...\n       guira check [OPTIONS] --filter <FILE>... [INPUT]..."
)]
pub(crate) struct CheckArguments {
    /// The filter file, "-" for standard input; with --filter, an input
    #[arg(value_name = "FILE", required_unless_present = "filters")]
    file: Option<PathBuf>,

    /// Select the lines that are certainly not in the filter
    #[arg(long, short = 'v', visible_alias = "invert", help_heading = SELECTION)]
    pub(crate) invert_match: bool,

    /// Ignore the case of the letters A to Z: for filters that were built with --lowercase
    #[arg(long, short = 'i', help_heading = SELECTION)]
    pub(crate) ignore_case: bool,

    /// Stop reading an input after this many selected lines
    #[arg(long, short, value_name = "LINES", value_parser = values::line_count, allow_hyphen_values = true, help_heading = SELECTION)]
    pub(crate) max_count: Option<NonZeroU64>,

    /// Print only the number of selected lines, for each input
    #[arg(long, short, help_heading = OUTPUT)]
    pub(crate) count: bool,

    /// Print nothing and stop at the first selected line: the exit status is the answer
    #[arg(long, short, conflicts_with_all = ["count", "json"], help_heading = OUTPUT)]
    pub(crate) quiet: bool,

    /// Print only the names of inputs with a selected line
    #[arg(long, short = 'l', conflicts_with_all = ["count", "quiet", "files_without_match"], help_heading = OUTPUT)]
    pub(crate) files_with_matches: bool,

    /// Print only the names of inputs without a selected line
    #[arg(long, short = 'L', conflicts_with_all = ["count", "quiet"], help_heading = OUTPUT)]
    pub(crate) files_without_match: bool,

    /// Print the number of each line before it
    #[arg(long, short = 'n', help_heading = OUTPUT)]
    pub(crate) line_number: bool,

    /// Print the name of the input before each line [default: if there are several inputs]
    #[arg(long, short = 'H', overrides_with = "no_filename", help_heading = OUTPUT)]
    pub(crate) with_filename: bool,

    /// Never print the name of the input before a line
    #[arg(long, short = 'I', overrides_with = "with_filename", help_heading = OUTPUT)]
    pub(crate) no_filename: bool,

    /// Print the names of the filters that have a key of the line before it
    #[arg(long, conflicts_with = "invert_match", help_heading = OUTPUT)]
    pub(crate) which: bool,

    /// What to print of a selected line [default: line]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = OUTPUT)]
    pub(crate) print: Option<Print>,

    /// Print only the keys that were found, each on a line of its own; short for --print key
    ///
    /// A key with a line end in it, as those of CSV and JSON may have, is an error.
    #[arg(long, short = 'o', conflicts_with = "print", help_heading = OUTPUT)]
    pub(crate) only_matching: bool,

    /// With --header, print that line of the first input before the first line that is printed
    #[arg(
        long,
        requires = "header",
        conflicts_with_all = ["count", "quiet", "files_with_matches", "files_without_match", "print", "only_matching"],
        help_heading = OUTPUT
    )]
    pub(crate) keep_header: bool,

    /// When to colour keys that are a part of a line, and the names and numbers before lines [default: auto]
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t = When::Auto,
        hide_default_value = true,
        help_heading = OUTPUT
    )]
    pub(crate) color: When,

    /// Print each line at once, even while more input is at hand
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) line_buffered: bool,

    /// With --count, print the number of lines of all inputs together as JSON
    #[arg(long, requires = "count", help_heading = OUTPUT)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    #[command(flatten)]
    pub(crate) inputs: InputArguments,

    /// A filter file to use instead of FILE; may be given several times, and a line is selected if any of them has its key
    #[arg(long = "filter", value_name = "FILE", help_heading = FILTERS)]
    filters: Vec<PathBuf>,

    /// When a filter file is replaced, check the lines from there on with the new one
    ///
    /// Each line is checked with a filter that the file held when the line came or later. The new file must treat keys as the
    /// old one does, by --lowercase and --trim. One that can't be read is reported, and the old filter is kept meanwhile.
    #[arg(long, help_heading = FILTERS)]
    pub(crate) follow: bool,

    #[command(flatten, next_help_heading = FILTERS)]
    pub(crate) now: NowArguments,

    #[command(flatten, next_help_heading = FILTERS)]
    pub(crate) key: KeyFileArguments,

    #[command(flatten, next_help_heading = FILTERS)]
    pub(crate) trust: TrustArguments,
}

impl CheckArguments {
    /// The filter files, at least one, and the positional argument if it is an input.
    pub(crate) fn filters(&self) -> (Vec<PathBuf>, Option<&PathBuf>) {
        if self.filters.is_empty() {
            (self.file.iter().cloned().collect(), None)
        } else {
            (self.filters.clone(), self.file.as_ref())
        }
    }

    pub(crate) fn printed(&self) -> Print {
        if self.only_matching { Print::Key } else { self.print.unwrap_or(Print::Line) }
    }
}

/// What is printed of a selected line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Print {
    /// The keys that were found, each on a line of its own; with --invert-match, all keys of the line
    Key,
    /// All of it
    Line,
    /// All fields that are keys, whether they were found or not, on one line; with --csv in quotes where they need them
    Fields,
}

/// When something is done that a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}
