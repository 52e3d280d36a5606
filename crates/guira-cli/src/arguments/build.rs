use std::path::PathBuf;

use clap::Args;

use super::names::{HashName, LayoutName, Prefer};
use super::{InputArguments, KeyFileArguments, QuietArguments, ThreadArguments, values};

const EXAMPLES: &str = "\
Examples:
  guira build --output words.guira words.txt
  guira build --rate 0.0001 --capacity 5000000 -o users.guira --csv --field 2 users.csv.gz
  find /srv -type f -print0 | guira build --null -o files.guira
  head -c 16 /dev/urandom > secret && guira build --hash siphash --key-file secret -o names.guira names.txt

Exit status: 0 if the file was written, 2 if there was an error and none was";

/// Build a filter file from lines
///
/// Makes a set: a line that comes again is left out, so that removing each key once later is safe. An existing output
/// file is refused; with --force it is replaced when the new one is complete, and left alone if anything goes wrong.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BuildArguments {
    /// The share of absent keys that may be found all the same, as long as the filter holds no more than its capacity
    /// [default: 0.001]
    #[arg(long, value_parser = values::rate, allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,

    /// The bits stored per key (2 to 32), instead of a rate
    #[arg(long, value_name = "BITS", conflicts_with = "rate", value_parser = values::fingerprint_bits, allow_negative_numbers = true)]
    pub(crate) fingerprint_bits: Option<u32>,

    /// How many keys must fit, if more are to be added later [default: the keys of the input]
    #[arg(long, value_name = "KEYS", value_parser = values::capacity, allow_negative_numbers = true)]
    pub(crate) capacity: Option<usize>,

    /// Up to how many keys the rate is to hold when the filter grows by "guira add"; beyond that it doubles with every
    /// doubling, to 3 % at the most, and then the filter is full [default: the capacity]
    #[arg(
        long,
        value_name = "KEYS",
        value_parser = values::capacity,
        allow_negative_numbers = true,
        conflicts_with_all = ["layout", "slots_per_bucket", "fingerprint_bits"]
    )]
    pub(crate) max_capacity: Option<usize>,

    /// What matters more, where layout, slots per bucket and fingerprint bits are left open [default: speed]
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value_t = Prefer::Speed,
        hide_default_value = true,
        conflicts_with_all = ["layout", "slots_per_bucket", "fingerprint_bits"]
    )]
    pub(crate) prefer: Prefer,

    /// How fingerprints are kept [default: what --prefer asks for; packed with --slots-per-bucket or --fingerprint-bits]
    #[arg(long, value_enum)]
    pub(crate) layout: Option<LayoutName>,

    /// The slots of a bucket: 1, 2, 4 or 8 if packed, 4 if semi-sorted, 2, 3 or 4 in a window [default: what takes the
    /// least memory; with --fingerprint-bits 4, or 3 in a window]
    #[arg(long, value_name = "SLOTS", value_parser = values::slots_per_bucket, allow_negative_numbers = true)]
    pub(crate) slots_per_bucket: Option<u32>,

    /// The seed of the hash: filters with different seeds are wrong about different keys [default: 0]
    #[arg(
        long,
        default_value_t = 0,
        hide_default_value = true,
        conflicts_with = "key_file",
        value_parser = values::seed,
        allow_negative_numbers = true
    )]
    pub(crate) seed: u64,

    /// Use the parameters of another filter file, so that both can be merged later
    #[arg(
        long,
        value_name = "FILTER",
        conflicts_with_all = [
            "rate", "fingerprint_bits", "capacity", "max_capacity", "prefer", "layout", "slots_per_bucket", "seed", "hash",
            "never",
        ]
    )]
    pub(crate) like: Option<PathBuf>,

    /// Try seeds until no line of this file is found in the filter, such as a list of addresses that must never be blocked
    ///
    /// The inputs are read once for each seed. Of n keys at a rate r, all are spared by about one seed in e^(r n): a rate of
    /// 1/n takes about three tries.
    #[arg(long, value_name = "FILE", conflicts_with = "key_file")]
    pub(crate) never: Option<PathBuf>,

    /// How keys are hashed [default: xxh3]
    #[arg(long, value_enum, requires_if("siphash", "key_file"))]
    pub(crate) hash: Option<HashName>,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    /// The filter file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Replace the output file if there is one
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) quiet: QuietArguments,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    #[command(flatten)]
    pub(crate) inputs: InputArguments,
}
