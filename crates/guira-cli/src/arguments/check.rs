use std::path::PathBuf;

use clap::Args;

use super::{InputArguments, KeyFileArguments, ThreadArguments, TrustArguments};

const EXAMPLES: &str = "\
Examples:
  guira check words.guira text.txt
  guira check --invert --csv --field 2 users.guira today.csv.gz > unknown.csv
  if echo ani | guira check --quiet words.guira; then echo 'probably a word'; fi

Exit status: 0 if a line was selected, 1 if none was, 2 if there was an error (with --quiet, 0 all the same if a line \
was selected)";

/// Print the lines that are probably in the filter
///
/// Lines are printed in order and as they are. Every line whose key is in the filter is printed; of the others, a share
/// of about the filter's rate is printed too ("guira info" shows it). With --invert it is the other way round: every
/// line that is printed is certainly not in the filter.
///
/// The filter is asked where its file is, without being loaded. To change the file meanwhile, put another one in its
/// place, as all commands of guira do and mv does; what is written into it, as cp does, would be met half-way.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArguments {
    /// Select the lines that are certainly not in the filter
    #[arg(long, short = 'v')]
    pub(crate) invert: bool,

    /// Print only how many lines were selected, of all inputs together
    #[arg(long, short)]
    pub(crate) count: bool,

    /// Print nothing and stop at the first selected line: the exit status is the answer
    #[arg(long, short, conflicts_with = "count")]
    pub(crate) quiet: bool,

    /// Print the count as JSON
    #[arg(long, requires = "count")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    #[command(flatten)]
    pub(crate) trust: TrustArguments,

    /// The filter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) inputs: InputArguments,
}
