use std::path::PathBuf;

use clap::Args;

use super::names::LayoutName;
use super::{KeyFileArguments, QuietArguments, WaitArguments, values};

const EXAMPLES: &str = "\
Examples:
  A bit less for each key of a filter that was built with --slots-per-bucket 4:
    guira convert --layout semi-sorted -o small.guira words.guira

  Shorter fingerprints, for a copy that may be wrong eight times as often:
    guira info words.guira
    guira convert --fingerprint-bits 10 -o small.guira words.guira

  The same filter, compressed:
    guira convert -o words.guira.zst words.guira";

/// Write a filter file in another layout, without the keys
///
/// Every key is still found. What can't be done without the keys is refused, and the message has the command that
/// builds the filter from them. A filter can be converted:
///
/// - between the layouts packed and semi-sorted, for filters that don't grow;
///
/// - to any bucket size of the packed layout that has room for the keys;
///
/// - to shorter fingerprints, for filters that grow. As each doubling takes a bit, they can't grow as far then.
#[derive(Args, Debug)]
#[command(
    before_help = EXAMPLES,
    after_help = "Exit status: 0 if the file was written, 2 if there was an error and none was"
)]
pub(crate) struct ConvertArguments {
    /// How fingerprints are kept [default: as in the file]
    #[arg(long, value_enum)]
    pub(crate) layout: Option<LayoutName>,

    /// The slots of a bucket: 1, 2, 3, 4 or 8 if packed, 4 or 8 if it grows, 4 if semi-sorted [default: as in the file]
    ///
    /// The number of buckets stays, so the table has room for more keys or for fewer.
    #[arg(long, value_name = "SLOTS", value_parser = values::slots_per_bucket, allow_hyphen_values = true)]
    pub(crate) slots_per_bucket: Option<u32>,

    /// The bits stored per key [default: as in the file]
    ///
    /// Each bit less doubles the false positive rate.
    #[arg(long, value_name = "BITS", value_parser = values::fingerprint_bits, allow_hyphen_values = true)]
    pub(crate) fingerprint_bits: Option<u32>,

    /// The filter file to write; "-" is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Replace the output file if there is one
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) key: KeyFileArguments,

    #[command(flatten)]
    pub(crate) wait: WaitArguments,

    #[command(flatten)]
    pub(crate) quiet: QuietArguments,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The filter file to convert
    #[arg(value_name = "INPUT")]
    pub(crate) file: PathBuf,
}
