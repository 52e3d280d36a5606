use std::path::Path;

use guira::{ConvertError, CuckooFilter, ExpiringCuckooFilter, Layout, Parameters};
use serde::Serialize;

use super::growing::Growing;
use crate::arguments::ConvertArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::filter_file::{self, Existing, Replaced};
use crate::filter_output::{self, FilterOutput};
use crate::provenance::Provenance;
use crate::render::text::counted;
use crate::render::{Report, tell};
use crate::secret_key::SecretKey;
use crate::shell::{self, quoted};
use crate::stored_filter::StoredFilter;
use crate::time;

pub(crate) fn run(arguments: &ConvertArguments) -> Result<ExitStatus, Failure> {
    arguments.key.refuse_as_output(&arguments.output)?;
    // The output may be the input.
    let existing = if arguments.force { Existing::LockedAndReplaced } else { Existing::Refused };
    let output = FilterOutput::new(&arguments.output, existing, arguments.json, arguments.wait.with(arguments.quiet))?;
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let stored = filter_file::load(&arguments.file, key)?;
    let before = *stored.filter.parameters();
    let target = Target::new(arguments, &before);
    let (filter, mut provenance) = target.convert(arguments, stored)?;
    if !target.keeps_rate(&before) {
        provenance.rate = None;
    }
    let converted = output.filter(filter, provenance);
    let replaced = output.commit(&converted)?;
    let filter = &converted.filter;
    let conversion = Conversion {
        file: filter_output::name(&arguments.output),
        key_count: filter.len() as u64,
        capacity: filter.capacity() as u64,
        layout: target.layout.to_string(),
        slots_per_bucket: target.slots_per_bucket,
        fingerprint_bits: target.fingerprint_bits,
        expected_false_positive_rate: filter.expected_false_positive_rate(),
        table_size_in_bytes_before: before.table_size(),
        table_size_in_bytes: filter.parameters().table_size(),
        replaced_key_count: replaced.and_then(|replaced| replaced.key_count),
        replaced,
    };
    tell(&conversion, arguments.json, arguments.quiet)?;
    Ok(ExitStatus::Success)
}

/// The parameters of the converted filter.
#[derive(Clone, Copy, Debug)]
struct Target {
    layout: Layout,
    slots_per_bucket: u32,
    fingerprint_bits: u32,
}

impl Target {
    fn new(arguments: &ConvertArguments, before: &Parameters) -> Self {
        let layout = arguments.layout.map_or(before.layout(), Layout::from);
        let possible = layout.bucket_sizes();
        let usual = possible.iter().find(|&&slots| slots == before.slots_per_bucket()).or(possible.first());
        Self {
            layout,
            slots_per_bucket: arguments.slots_per_bucket.or(usual.copied()).unwrap_or(before.slots_per_bucket()),
            fingerprint_bits: arguments.fingerprint_bits.unwrap_or(before.fingerprint_bits()),
        }
    }

    fn convert(self, arguments: &ConvertArguments, stored: StoredFilter) -> Result<(Filter, Provenance), Failure> {
        let converted = match &stored.filter {
            Filter::Lasting(filter) => filter.converted(self.layout, self.slots_per_bucket, self.fingerprint_bits),
            Filter::Expiring(filter) if self.is_that_of(filter.parameters()) => {
                return Ok((stored.filter, stored.provenance));
            }
            Filter::Expiring(filter) => {
                let command = build_command_of_expiring(arguments, &stored, filter);
                let text = format_args!(
                    "not converted: a filter whose keys expire keeps its layout, bucket size and fingerprint length. From the \
                     list of its keys: {command}"
                );
                return Err(Failure::of_file(&arguments.file, text));
            }
        };
        let filter = converted.map_err(|error| self.explain(arguments, &stored, &error))?;
        Ok((filter.into(), stored.provenance))
    }

    fn is_that_of(self, before: &Parameters) -> bool {
        self.layout == before.layout() && self.keeps_rate(before)
    }

    /// Returns `true` if the rate still holds at the capacity.
    fn keeps_rate(self, before: &Parameters) -> bool {
        (self.slots_per_bucket, self.fingerprint_bits) == (before.slots_per_bucket(), before.fingerprint_bits())
    }

    fn explain(self, arguments: &ConvertArguments, stored: &StoredFilter, error: &ConvertError) -> Failure {
        let grows = stored.grows();
        let text = match error {
            _ if grows && self.layout != Layout::Packed => {
                let command = self.build_command(arguments, stored);
                format!("filters that grow are packed. From the list of its keys: {command}")
            }
            ConvertError::Full { len, slot_count } => {
                let [len, slots] =
                    [(*len, "fingerprint"), (*slot_count, "slot")].map(|(n, what)| counted(n as u64, what));
                format!("{len} do not fit {slots}: give more --slots-per-bucket")
            }
            ConvertError::TooManyCopies { .. } => {
                format!("{error}: give more --slots-per-bucket, or --fingerprint-bits")
            }
            // No filter with these parameters can be built, from keys either.
            ConvertError::Build(error) => Failure::of_parameters(error).message().to_owned(),
            _ => format!("{error}. From the list of its keys: {}", self.build_command(arguments, stored)),
        };
        Failure::of_file(&arguments.file, format_args!("not converted: {text}"))
    }

    /// The rate, up to the largest capacity, for which `build` plans fingerprints of the new length.
    fn rate_of_growing(self, stored: &StoredFilter, growing: Growing, capacity: usize) -> f64 {
        let bits_more_than = |bits: u32| (f64::from(self.fingerprint_bits) - f64::from(bits)).exp2();
        // Rounded up, so that digits which are not shown cost no bit.
        let reached = || 1.01 * stored.rate_of(stored.filter.max_capacity() as u64);
        let asked = stored.provenance.rate.unwrap_or_else(reached);
        let rate = asked / bits_more_than(stored.filter.parameters().fingerprint_bits());
        // A few keys may take another doubling on the way than before.
        let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(rate);
        let planned = growing.chosen(&builder, capacity).ok().flatten().and_then(|builder| builder.parameters().ok());
        planned.map_or(rate, |planned| rate / bits_more_than(planned.fingerprint_bits()))
    }

    /// The command that makes such a filter from the keys.
    fn build_command(self, arguments: &ConvertArguments, stored: &StoredFilter) -> String {
        let filter = &stored.filter;
        let mut command = if stored.grows() && self.layout == Layout::Packed {
            let (capacity, most) = (filter.capacity(), filter.max_capacity().max(filter.capacity()));
            let growing = Growing { capacity: Some(capacity), max_capacity: Some(most) };
            let rate = shell::rate(self.rate_of_growing(stored, growing, capacity));
            format!("guira build --rate {rate} --capacity {capacity} --max-capacity {most}")
        } else {
            // That of the keys is the default.
            let capacity = if filter.capacity() == filter.len() {
                String::new()
            } else {
                format!(" --capacity {}", filter.capacity())
            };
            format!(
                "guira build --layout {} --slots-per-bucket {} --fingerprint-bits {}{capacity}",
                self.layout, self.slots_per_bucket, self.fingerprint_bits
            )
        };
        command += &shell::options_of_keys(stored.filter.hasher(), stored.provenance.normalization);
        command + &output_of(arguments) + " LIST"
    }
}

/// The command that makes a filter from keys, which expire alike.
fn build_command_of_expiring(
    arguments: &ConvertArguments,
    stored: &StoredFilter,
    filter: &ExpiringCuckooFilter,
) -> String {
    // The time of other programs has another unit.
    let lifetime = match stored.provenance.time_source {
        Some(_) => quoted(Path::new(&time::duration(filter.lifetime()))),
        None => "TIME".to_owned(),
    };
    let rate = stored.provenance.rate.map(|rate| format!(" --rate {}", shell::rate(rate))).unwrap_or_default();
    let options = shell::options_of_keys(stored.filter.hasher(), stored.provenance.normalization);
    format!("guira build --lifetime {lifetime}{rate}{options}{} LIST", output_of(arguments))
}

/// The options of `build` that say where the filter goes.
fn output_of(arguments: &ConvertArguments) -> String {
    format!("{} -o {}", if arguments.force { " --force" } else { "" }, quoted(&arguments.output))
}

/// What was done. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Conversion {
    file: String,
    key_count: u64,
    capacity: u64,
    layout: String,
    slots_per_bucket: u32,
    fingerprint_bits: u32,
    expected_false_positive_rate: f64,
    table_size_in_bytes_before: u64,
    table_size_in_bytes: u64,
    /// The keys of a filter that was replaced.
    replaced_key_count: Option<u64>,
    #[serde(skip)]
    replaced: Option<Replaced>,
}

impl Report for Conversion {
    fn text(&self) -> String {
        format!(
            "{}: {}, {}, {} per bucket of {}: a table of {}, from {}{}",
            self.file,
            counted(self.key_count, "key"),
            self.layout,
            counted(self.slots_per_bucket.into(), "slot"),
            counted(self.fingerprint_bits.into(), "bit"),
            counted(self.table_size_in_bytes, "byte"),
            counted(self.table_size_in_bytes_before, "byte"),
            Replaced::text(self.replaced)
        )
    }
}
