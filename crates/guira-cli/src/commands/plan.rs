use guira::analysis::{self, Plan, Preference};
use serde::Serialize;

use crate::arguments::PlanArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::render::{Rows, print, text};

pub(crate) fn run(arguments: &PlanArguments) -> Result<ExitStatus, Failure> {
    let plan = Plan::new(arguments.capacity as u64, arguments.rate, Preference::Speed).map_err(Failure::new)?;
    print(&PlanReport::new(&plan), arguments.json)?;
    Ok(ExitStatus::Success)
}

/// What a filter would cost. The names of the fields are those of the JSON output, and stay.
#[derive(Debug, Serialize)]
struct PlanReport {
    capacity: u64,
    false_positive_rate: f64,
    fingerprint_bits: u32,
    /// What the rate alone asks for, where the capacity needs longer fingerprints.
    fingerprint_bits_raised_from: Option<u32>,
    slots_per_bucket: u32,
    region_count: u64,
    bucket_count: u64,
    slot_count: u64,
    table_size_in_bytes: u64,
    load_factor: f64,
    expected_false_positive_rate: f64,
    bits_per_key: f64,
    bloom_bits_per_key: f64,
    information_limit_bits_per_key: f64,
}

impl PlanReport {
    fn new(plan: &Plan) -> Self {
        let parameters = plan.parameters();
        let rate = plan.false_positive_rate();
        Self {
            capacity: parameters.capacity(),
            false_positive_rate: rate,
            fingerprint_bits: parameters.fingerprint_bits(),
            fingerprint_bits_raised_from: plan.raised_from(),
            slots_per_bucket: parameters.slots_per_bucket(),
            region_count: parameters.region_count(),
            bucket_count: parameters.bucket_count(),
            slot_count: parameters.slot_count(),
            table_size_in_bytes: plan.size_in_bytes(),
            load_factor: plan.load_factor(),
            expected_false_positive_rate: plan.expected_false_positive_rate(),
            bits_per_key: plan.bits_per_key(),
            bloom_bits_per_key: analysis::bloom_bits_per_key(rate),
            information_limit_bits_per_key: analysis::information_limit(rate),
        }
    }
}

impl Rows for PlanReport {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let fingerprint = text::counted(u64::from(self.fingerprint_bits), "bit");
        let fingerprint = match self.fingerprint_bits_raised_from {
            Some(bits) => format!("{fingerprint} (the rate alone asks for {bits}, with which not all keys would fit)"),
            None => fingerprint,
        };
        vec![
            ("capacity", text::counted(self.capacity, "key")),
            ("rate asked for", text::rate(self.false_positive_rate)),
            ("rate to expect", text::rate(self.expected_false_positive_rate)),
            ("fingerprint", fingerprint),
            ("slots per bucket", self.slots_per_bucket.to_string()),
            ("regions", text::count(self.region_count)),
            ("buckets", text::count(self.bucket_count)),
            ("slots", text::count(self.slot_count)),
            ("load factor", text::percent(self.load_factor)),
            ("table size", text::counted(self.table_size_in_bytes, "byte")),
            ("bits per key", text::bits(self.bits_per_key)),
            ("... of a Bloom filter", text::bits(self.bloom_bits_per_key)),
            ("... of any filter, at least", text::bits(self.information_limit_bits_per_key)),
        ]
    }
}
