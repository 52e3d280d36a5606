use std::fs;

use guira::Layout;
use guira::analysis::{self, Plan, Preference};
use serde::Serialize;

use super::curves;
use crate::arguments::PlanArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::render::{Output, Report, print, text};

pub(crate) fn run(arguments: &PlanArguments) -> Result<ExitStatus, Failure> {
    let (capacity, preference) = (arguments.capacity as u64, arguments.prefer.into());
    let plan = Plan::new(capacity, arguments.rate, preference).map_err(Failure::new)?;
    let alternatives = Plan::alternatives(capacity, arguments.rate).map_err(Failure::new)?;
    let prints_picture = draw(arguments, &plan)?;
    if !arguments.quiet && !prints_picture {
        print(&PlanReport::new(&plan, preference, &alternatives), arguments.json)?;
    }
    Ok(ExitStatus::Success)
}

/// Draws the plan if that is asked for. Returns `true` if the picture went to standard output.
fn draw(arguments: &PlanArguments, plan: &Plan) -> Result<bool, Failure> {
    let Some(path) = &arguments.plot else { return Ok(false) };
    let svg = curves::chart(plan).svg()?;
    if path.as_os_str() != "-" {
        fs::write(path, svg).map_err(|error| Failure::of_io(path.display().to_string(), &error))?;
        return Ok(false);
    }
    if arguments.json {
        return Err(Failure::new("--json and --plot - would both go to standard output: leave one of them out"));
    }
    let mut output = Output::new();
    output.write(svg.as_bytes())?;
    output.finish()?;
    Ok(true)
}

/// What a filter would cost. The names of the fields are those of the JSON output, and stay.
#[derive(Debug, Serialize)]
struct PlanReport {
    capacity: u64,
    false_positive_rate: f64,
    layout: &'static str,
    fingerprint_bits: u32,
    /// What the rate alone asks for, where the capacity needs longer fingerprints.
    fingerprint_bits_raised_from: Option<u32>,
    /// Of a window, in the windowed layout.
    slots_per_bucket: u32,
    region_count: u64,
    /// In the windowed layout, the windows of each phase.
    bucket_count: u64,
    slot_count: u64,
    table_size_in_bytes: u64,
    load_factor: f64,
    expected_false_positive_rate: f64,
    bits_per_key: f64,
    /// Why this is the plan.
    reason: &'static str,
    /// All plans, the smallest table first.
    alternatives: Vec<Alternative>,
    bloom_bits_per_key: f64,
    information_limit_bits_per_key: f64,
}

#[derive(Debug, Serialize)]
struct Alternative {
    is_chosen: bool,
    layout: &'static str,
    addressing: &'static str,
    slots_per_bucket: u32,
    candidates: u32,
    fingerprint_bits: u32,
    bits_per_key: f64,
    cache_lines_per_lookup: f64,
    expected_false_positive_rate: f64,
}

impl PlanReport {
    fn new(plan: &Plan, preference: Preference, alternatives: &[Plan]) -> Self {
        let parameters = plan.parameters();
        let rate = plan.false_positive_rate();
        Self {
            capacity: parameters.capacity(),
            false_positive_rate: rate,
            layout: parameters.layout().name(),
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
            reason: reason(preference),
            alternatives: alternatives.iter().map(|other| Alternative::new(other, other == plan)).collect(),
            bloom_bits_per_key: analysis::bloom_bits_per_key(rate),
            information_limit_bits_per_key: analysis::information_limit(rate),
        }
    }
}

const fn reason(preference: Preference) -> &'static str {
    match preference {
        Preference::Space => "it takes the least memory of all tables with two candidates per key",
        _ => "packed tables with two candidates per key are the fastest, and of those it takes the least memory",
    }
}

impl Alternative {
    fn new(plan: &Plan, is_chosen: bool) -> Self {
        let parameters = plan.parameters();
        Self {
            is_chosen,
            layout: parameters.layout().name(),
            addressing: parameters.addressing().name(),
            slots_per_bucket: parameters.slots_per_bucket(),
            candidates: parameters.addressing().candidates(),
            fingerprint_bits: parameters.fingerprint_bits(),
            bits_per_key: plan.bits_per_key(),
            cache_lines_per_lookup: plan.lines_per_lookup(),
            expected_false_positive_rate: plan.expected_false_positive_rate(),
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            if self.is_chosen { "*" } else { "" }.to_owned(),
            self.layout.to_owned(),
            self.slots_per_bucket.to_string(),
            self.candidates.to_string(),
            self.fingerprint_bits.to_string(),
            text::bits(self.bits_per_key),
            format!("{:.2}", self.cache_lines_per_lookup),
            text::rate(self.expected_false_positive_rate),
        ]
    }
}

impl Report for PlanReport {
    fn text(&self) -> String {
        let fingerprint = text::counted(u64::from(self.fingerprint_bits), "bit");
        let fingerprint = match self.fingerprint_bits_raised_from {
            Some(bits) => format!("{fingerprint} (the rate alone asks for {bits}, with which not all keys would fit)"),
            None => fingerprint,
        };
        let [slots_per_bucket, buckets] = if self.layout == Layout::Windowed.name() {
            ["slots per window", "windows per phase"]
        } else {
            ["slots per bucket", "buckets"]
        };
        let chosen = text::table(&[
            ("capacity", text::counted(self.capacity, "key")),
            ("rate asked for", text::rate(self.false_positive_rate)),
            ("rate to expect", text::rate(self.expected_false_positive_rate)),
            ("layout", self.layout.to_owned()),
            ("fingerprint", fingerprint),
            (slots_per_bucket, self.slots_per_bucket.to_string()),
            ("regions", text::count(self.region_count)),
            (buckets, text::count(self.bucket_count)),
            ("slots", text::count(self.slot_count)),
            ("load factor", text::percent(self.load_factor)),
            ("table size", text::counted(self.table_size_in_bytes, "byte")),
            ("bits per key", text::bits(self.bits_per_key)),
        ]);
        const HEADS: [[&str; 3]; 8] = [
            ["", "", ""],
            ["", "", "layout"],
            ["slots per", "bucket or", "window, b"],
            ["", "candidates", "per key, d"],
            ["", "fingerprint", "bits, f"],
            ["", "bits", "per key"],
            ["cache", "lines per", "lookup"],
            ["", "", "expected rate"],
        ];
        let heads = (0..3).map(|line| HEADS.iter().map(|head| head[line].to_owned()).collect());
        let rows = heads.chain(self.alternatives.iter().map(Alternative::row)).collect::<Vec<_>>();
        let alternatives = text::columns(&rows, &[0, 1, 7]);
        let others = text::table(&[
            ("bits per key of a Bloom filter", text::bits(self.bloom_bits_per_key)),
            ("... of any filter, at least", text::bits(self.information_limit_bits_per_key)),
        ]);
        format!("{chosen}\n{alternatives}* chosen: {}\n\n{others}", self.reason)
    }
}
