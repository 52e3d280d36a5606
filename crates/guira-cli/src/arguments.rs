//! The command line as it is typed. Help texts are written here; what a command does is in `commands`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use guira::Layout;
use guira::analysis::Preference;

/// Keep a set of keys in a few bits per key, and ask it, add to it, remove from it.
///
/// A cuckoo filter answers "certainly not" or "probably" for a key; how often "probably" is wrong is yours to choose. A
/// key is a line without its line end (LF or CR LF): any bytes, of any length, compared byte for byte.
#[derive(Debug, Parser)]
#[command(name = "guira", version, arg_required_else_help = true, max_term_width = 100, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  Keep a word list, so that at most 1 in 1000 other words is taken for one of it:
    guira build --output words.guira words.txt

  The lines of a text that are probably in the list, and those that certainly are not:
    guira check words.guira text.txt
    guira check --invert words.guira text.txt

  Keys from another program, at a lower rate, with room for more to come:
    cut -f2 users.tsv | guira build --rate 0.0001 --capacity 5000000 -o users.guira

  A list that changes every day:
    guira add blocked.guira today.txt && guira remove blocked.guira expired.txt

Exit status: 0 all done, 1 nothing found (check) or not all found (remove), 2 an error";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Build(BuildArguments),
    Check(CheckArguments),
    Add(AddArguments),
    Remove(RemoveArguments),
    Info(InfoArguments),
    Plan(PlanArguments),
}

/// Build a filter file from lines
///
/// Makes a set: a line that comes again is left out, so that removing each key once later is safe. An existing output
/// file is replaced when the new one is complete, and left alone if anything goes wrong.
#[derive(Args, Debug)]
pub(crate) struct BuildArguments {
    /// The share of absent keys that may be found all the same, as long as the filter holds no more than its capacity
    /// [default: 0.001]
    #[arg(long, value_parser = rate, allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,

    /// The bits stored per key (2 to 32), instead of a rate
    #[arg(long, value_name = "BITS", conflicts_with = "rate", value_parser = fingerprint_bits, allow_negative_numbers = true)]
    pub(crate) fingerprint_bits: Option<u32>,

    /// How many keys must fit, if more are to be added later [default: the keys of the input]
    #[arg(long, value_name = "KEYS", value_parser = capacity, allow_negative_numbers = true)]
    pub(crate) capacity: Option<usize>,

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
    #[arg(long, value_name = "SLOTS", value_parser = slots_per_bucket, allow_negative_numbers = true)]
    pub(crate) slots_per_bucket: Option<u32>,

    /// The seed of the hash: filters with different seeds are wrong about different keys [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) seed: u64,

    /// The filter file to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) inputs: InputArguments,
}

/// Print the lines that are probably in the filter
///
/// Lines are printed in order and as they are. Every line whose key is in the filter is printed; of the others, a share
/// of about the filter's rate is printed too ("guira info" shows it). With --invert it is the other way round: every
/// line that is printed is certainly not in the filter.
#[derive(Args, Debug)]
#[command(after_help = "Exit status: 0 if a line was selected, 1 if none was, 2 if there was an error (with --quiet, \
                        0 all the same if a line was selected)")]
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

    /// The filter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) inputs: InputArguments,
}

/// Add lines to a filter file
///
/// Stores a copy of each distinct line of this input. A key that was added before is stored once more and must be removed
/// as often; a filter holds at most 2b copies of a key, b being the slots of a bucket or window.
///
/// When the filter is full, what fits is added and what does not is left out and reported, with exit status 2. After
/// 10,000 keys that did not fit, the rest is left out without a try. The file is replaced when all is done, and left
/// alone if an input cannot be read.
#[derive(Args, Debug)]
#[command(after_help = "Exit status: 0 if all was added, 2 if a key did not fit or there was an error")]
pub(crate) struct AddArguments {
    /// The filter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) inputs: InputArguments,
}

/// Remove lines from a filter file
///
/// Removes one copy of each distinct line of this input: it undoes one "guira add" of the same lines.
///
/// ONLY REMOVE WHAT WAS ADDED. A key that never was may look like one that is there, at the rate of the filter, and
/// removing it then takes out the other key: the filter loses it. That "guira check" prints a line is no proof that it
/// was added.
///
/// Keys that are not in the filter are counted and left. The file is replaced when all is done, and left alone if an
/// input cannot be read.
#[derive(Args, Debug)]
#[command(after_help = "Only remove what was added: removing another key may make the filter lose one that was.\n\n\
                        Exit status: 0 if all was removed, 1 if a key was not in the filter, 2 if there was an error")]
pub(crate) struct RemoveArguments {
    /// The filter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) inputs: InputArguments,
}

/// Show what a filter file holds
#[derive(Args, Debug)]
pub(crate) struct InfoArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The filter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Show what a filter would cost, beside a Bloom filter and the limit of what is possible
///
/// Lists the tables of all layouts that keep to the rate, the smallest first, and says why one of them is chosen: it is
/// what "guira build" makes with the same options. Tables with more than two candidates per key are made by the library
/// only.
#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    /// How many keys must fit
    #[arg(long, value_name = "KEYS", value_parser = capacity, allow_negative_numbers = true)]
    pub(crate) capacity: usize,

    /// The share of absent keys that may be found all the same
    #[arg(long, value_parser = rate, allow_negative_numbers = true)]
    pub(crate) rate: f64,

    /// What matters more [default: speed]
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Prefer::Speed, hide_default_value = true)]
    pub(crate) prefer: Prefer,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct InputArguments {
    /// Files of lines; "-", or none at all, is standard input
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
}

/// What matters more where layouts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prefer {
    /// The fastest operations
    Speed,
    /// The least memory
    Space,
}

impl From<Prefer> for Preference {
    fn from(prefer: Prefer) -> Self {
        match prefer {
            Prefer::Speed => Self::Speed,
            Prefer::Space => Self::Space,
        }
    }
}

/// How fingerprints are kept, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutName {
    /// Buckets of slots, one after the other
    Packed,
    /// Buckets of four, coded to save a bit per key
    SemiSorted,
    /// Windows that overlap, instead of buckets: fewer slots fill as far
    Windowed,
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Self {
        match name {
            LayoutName::Packed => Self::Packed,
            LayoutName::SemiSorted => Self::SemiSorted,
            LayoutName::Windowed => Self::Windowed,
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // NaN is not in the range either.
        Ok(rate) if rate > 0.0 && rate < 1.0 => Ok(rate),
        _ => Err("a rate is a number between 0 and 1, both excluded, such as 0.001".into()),
    }
}

fn capacity(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(keys) if keys > 0 => Ok(keys),
        _ => Err("a capacity is a whole number of keys, at least 1".into()),
    }
}

fn fingerprint_bits(text: &str) -> Result<u32, String> {
    let range = guira::Parameters::LEAST_FINGERPRINT_BITS..=guira::Parameters::MOST_FINGERPRINT_BITS;
    match text.parse::<u32>() {
        Ok(bits) if range.contains(&bits) => Ok(bits),
        _ => Err(format!("a fingerprint has {} to {} bits", range.start(), range.end())),
    }
}

/// Whether the layout has buckets of that size, the library knows.
fn slots_per_bucket(text: &str) -> Result<u32, String> {
    let has = |layout, slots| guira::Shape::slots_per_bucket_of(layout).contains(&slots);
    match text.parse::<u32>() {
        Ok(slots) if LayoutName::value_variants().iter().any(|&name| has(name.into(), slots)) => Ok(slots),
        _ => Err("a bucket has 1, 2, 3, 4 or 8 slots, depending on the layout".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn rates_between_0_and_1_are_taken_and_no_others() {
        assert_eq!(rate("0.001"), Ok(0.001));
        assert_eq!(rate("1e-9"), Ok(1e-9));
        for refused in ["0", "1", "1.5", "-0.1", "NaN", "inf", "", "0,1", "1%"] {
            assert!(rate(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn whole_numbers_in_range_are_taken_and_no_others() {
        assert_eq!(capacity("1"), Ok(1));
        assert_eq!(fingerprint_bits("2"), Ok(2));
        assert_eq!(fingerprint_bits("32"), Ok(32));
        assert_eq!(slots_per_bucket("3"), Ok(3));
        assert_eq!(slots_per_bucket("8"), Ok(8));
        for refused in ["0", "-1", "1.5", "", "x", "99999999999999999999"] {
            assert!(capacity(refused).is_err(), "{refused}");
            assert!(fingerprint_bits(refused).is_err(), "{refused}");
            assert!(slots_per_bucket(refused).is_err(), "{refused}");
        }
        assert!(fingerprint_bits("1").is_err() && fingerprint_bits("33").is_err());
        assert!(slots_per_bucket("5").is_err() && slots_per_bucket("16").is_err());
    }
}
