use std::path::PathBuf;

use clap::Args;

use super::names::{HashName, LayoutName, Prefer};
use super::{InputArguments, KeyFileArguments, NowArguments, QuietArguments, ThreadArguments, WaitArguments, values};

const EXAMPLES: &str = "\
Examples:
  A list of words, of which at most 1 in 1000 others is taken for one:
    guira build -o words.guira words.txt

  The second field of CSV, at a lower rate, with room for 5 million keys:
    guira build --rate 1/10000 --capacity 5M --csv --field 2 -o users.guira users.csv.gz

  The list of today in the place of yesterday's:
    guira build --force -o blocked.guira blocked.txt";

const STATUS: &str = "Exit status: 0 if the file was written, 2 if there was an error and none was";

const SIZE: &str = "Size and rate";
const HASH: &str = "Hash and keys";
const OUTPUT: &str = "Output";

/// Build a filter file from lines
///
/// Each distinct key is stored once, however often it comes, so each can be removed once later.
///
/// An output file that exists is refused. With --force it is replaced when the new file is complete, and left alone if
/// anything goes wrong. An output that is called .gz or .zst is compressed.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLES, after_help = STATUS)]
pub(crate) struct BuildArguments {
    /// The share of absent keys that may be found: 0.001, 0.1% or 1/1000 [default: 0.001]
    ///
    /// The rate holds as long as the filter holds no more keys than its capacity, or than --max-capacity.
    #[arg(long, help_heading = SIZE, value_parser = values::rate, allow_hyphen_values = true)]
    pub(crate) rate: Option<f64>,

    /// The bits stored per key (2 to 56), instead of a rate
    #[arg(long, help_heading = SIZE, value_name = "BITS", conflicts_with = "rate", value_parser = values::fingerprint_bits, allow_hyphen_values = true)]
    pub(crate) fingerprint_bits: Option<u32>,

    /// How many keys must fit, such as 5000000, 5M or 5e6 [default: the keys of the input]
    #[arg(long, help_heading = SIZE, value_name = "KEYS", value_parser = values::capacity, allow_hyphen_values = true)]
    pub(crate) capacity: Option<usize>,

    /// Up to how many keys the rate holds when the filter grows, now or by "guira add" [default: the capacity, or without
    /// --capacity twice the keys of the input]
    ///
    /// Each doubling on the way there takes a bit more per key. Beyond it "guira add" refuses keys; with --raise-rate the rate
    /// doubles each time the number of keys does, until fingerprints have no bit left to give; then, at 1 to 3 %, the filter is
    /// full. Without this option, filters with rates above 3 % do not grow, nor those whose fingerprints have no bit to spare
    /// for it. Without --capacity, a number below that of the keys in the input is raised to the number of keys.
    #[arg(
        long,
        help_heading = SIZE,
        value_name = "KEYS",
        value_parser = values::capacity,
        allow_hyphen_values = true,
        conflicts_with_all = ["layout", "slots_per_bucket", "fingerprint_bits"]
    )]
    pub(crate) max_capacity: Option<usize>,

    /// What matters more when the layout is chosen [default: speed]
    #[arg(
        long,
        help_heading = SIZE,
        value_enum,
        value_name = "WHAT",
        default_value_t = Prefer::Speed,
        hide_default_value = true,
        conflicts_with_all = ["layout", "slots_per_bucket", "fingerprint_bits"]
    )]
    pub(crate) prefer: Prefer,

    /// How fingerprints are kept [default: what --prefer asks for; packed with --slots-per-bucket or --fingerprint-bits]
    #[arg(long, value_enum, help_heading = SIZE)]
    pub(crate) layout: Option<LayoutName>,

    /// The slots of a bucket: 1, 2, 3, 4 or 8 if packed, 4 if semi-sorted [default: what --prefer asks for; 4 if
    /// --fingerprint-bits is given]
    #[arg(long, help_heading = SIZE, value_name = "SLOTS", value_parser = values::slots_per_bucket, allow_hyphen_values = true)]
    pub(crate) slots_per_bucket: Option<u32>,

    /// The seed of the hash: filters with different seeds are wrong about different keys [default: 0]
    #[arg(
        long,
        help_heading = HASH,
        default_value_t = 0,
        hide_default_value = true,
        conflicts_with = "key_file",
        value_parser = values::seed,
        allow_hyphen_values = true
    )]
    pub(crate) seed: u64,

    /// Keep this text in the file, with the names of the inputs, the number of keys and the date; "guira info" shows it
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT)]
    pub(crate) note: Option<String>,

    /// Make the letters A to Z of all keys lower case; the file says so, and keys that are checked are treated alike
    #[arg(long, short = 'i', visible_alias = "ignore-case", help_heading = HASH)]
    pub(crate) lowercase: bool,

    /// Leave out blanks at both ends of all keys; the file says so, and keys that are checked are treated alike
    #[arg(long, help_heading = HASH)]
    pub(crate) trim: bool,

    /// Let each key expire so long after it is stored, such as 24h, 90m, 7d or 500ms
    ///
    /// The file has the time of the clock, in milliseconds since 1970, and commands that query or change it let keys expire first.
    /// --capacity and --max-capacity are numbers of keys that are alive at a time.
    #[arg(
        long,
        help_heading = SIZE,
        value_name = "TIME",
        value_parser = values::lifetime,
        allow_hyphen_values = true,
        conflicts_with_all = ["fingerprint_bits", "prefer", "layout", "slots_per_bucket"]
    )]
    pub(crate) lifetime: Option<u64>,

    /// With --lifetime, how much longer than that a key may be found [default: a twelfth of it, or so]
    ///
    /// A finer one takes more bits for each key. A lifetime is rounded up to a whole number of them, at most 254.
    #[arg(long, help_heading = SIZE, value_name = "TIME", value_parser = values::lifetime, allow_hyphen_values = true, requires = "lifetime")]
    pub(crate) resolution: Option<u64>,

    /// Use the parameters of another filter file, so that both can be merged later
    #[arg(
        long,
        help_heading = SIZE,
        value_name = "FILTER",
        conflicts_with_all = [
            "rate", "fingerprint_bits", "capacity", "max_capacity", "prefer", "layout", "slots_per_bucket", "seed", "hash",
            "never", "lifetime",
        ]
    )]
    pub(crate) like: Option<PathBuf>,

    /// Try seeds until no line of this file is found in the filter, such as a list of addresses that must never be blocked
    ///
    /// The inputs are read once for each seed. For n keys at a rate r it takes about e^(n r) seeds: three if the rate is
    /// 1/n, and three times as many for each 1/n more.
    #[arg(long, value_name = "FILE", conflicts_with = "key_file", help_heading = HASH)]
    pub(crate) never: Option<PathBuf>,

    /// How keys are hashed [default: xxh3]
    #[arg(long, value_enum, requires_if("siphash", "key_file"), help_heading = HASH)]
    pub(crate) hash: Option<HashName>,

    /// The filter file to write; "-" is standard output
    #[arg(long, short, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: PathBuf,

    /// Replace the output file if there is one
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,

    /// Print what was done as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    #[command(flatten)]
    pub(crate) inputs: InputArguments,

    #[command(flatten, next_help_heading = SIZE)]
    pub(crate) now: NowArguments,

    #[command(flatten, next_help_heading = OUTPUT)]
    pub(crate) wait: WaitArguments,

    #[command(flatten, next_help_heading = OUTPUT)]
    pub(crate) quiet: QuietArguments,

    #[command(flatten, next_help_heading = HASH)]
    pub(crate) key: KeyFileArguments,
}
