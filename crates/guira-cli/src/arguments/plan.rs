use std::path::PathBuf;

use clap::Args;

use super::names::Prefer;
use super::values;

const EXAMPLES: &str = "\
Examples:
  guira plan --capacity 1000000 --rate 0.001
  guira plan --capacity 1000000 --rate 0.001 --max-capacity 100M
  guira plan --capacity 1000000 --rate 0.001 --prefer space --json
  guira plan --capacity 1M --rate 0.1% --plot rates.svg
  guira plan --capacity 1M --rate 0.1% --plot - | display -";

const STATUS: &str = "Exit status: 0 if there is such a filter, 2 if not";

/// Show what a filter would cost, beside a Bloom filter and the limit of what is possible
///
/// Lists the tables of all layouts that keep to the rate, the smallest first, and says why one of them is chosen: it is
/// what "guira build" makes with the same options, and grows where that costs little or --max-capacity asks for it. Tables with
/// three or four candidate buckets per key are made by the library only, where they are asked for.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLES, after_help = STATUS)]
pub(crate) struct PlanArguments {
    /// How many keys must fit
    #[arg(long, value_name = "KEYS", value_parser = values::capacity, allow_hyphen_values = true)]
    pub(crate) capacity: usize,

    /// Up to how many keys the rate holds when the filter grows [default: the capacity]
    ///
    /// Each doubling on the way there takes a bit more per key.
    #[arg(long, value_name = "KEYS", value_parser = values::capacity, allow_negative_numbers = true)]
    pub(crate) max_capacity: Option<usize>,

    /// The share of absent keys that may be found
    #[arg(long, value_parser = values::rate, allow_hyphen_values = true)]
    pub(crate) rate: f64,

    /// What matters more [default: speed]
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Prefer::Speed, hide_default_value = true)]
    pub(crate) prefer: Prefer,

    /// Draw what rates cost for this capacity, in each layout and in a Bloom filter, into this SVG file
    ///
    /// With "-", the picture goes to standard output in place of the table.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,

    /// Print nothing but errors: the exit status is the answer
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
