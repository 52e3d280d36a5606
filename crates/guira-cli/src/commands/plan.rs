use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;

use guira::{Addressing, BuildError, CuckooFilter, Parameters, analysis};
use serde::Serialize;

use super::curves;
use super::growing::Growing;
use crate::arguments::{PlanArguments, Prefer, WaitArguments};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_file::{Existing, FilterReplacement};
use crate::render::{Output, Report, print, text};

pub(crate) fn run(arguments: &PlanArguments) -> Result<ExitStatus, Failure> {
    let (table, alternatives) = tables(arguments)?.map_err(|error| Failure::of_parameters(&error))?;
    let prints_picture = draw(arguments, &table)?;
    if !arguments.quiet && !prints_picture {
        print(&PlanReport::new(&table, arguments, &alternatives), arguments.json)?;
    }
    Ok(ExitStatus::Success)
}

/// The table that "guira build" makes with the same options, and all that keep to the rate, the smallest first.
fn tables(arguments: &PlanArguments) -> Result<Result<(Parameters, Vec<Parameters>), BuildError>, Failure> {
    let growing = Growing { capacity: Some(arguments.capacity), max_capacity: arguments.max_capacity };
    growing.refuse_contradictions(arguments.prefer)?;
    let builder = CuckooFilter::builder().capacity(arguments.capacity).false_positive_rate(arguments.rate);
    let preferred = builder.clone().preference(arguments.prefer.into());
    let tables = || {
        let mut tables = builder.alternatives()?;
        let chosen = growing.chosen(&preferred, arguments.capacity)?;
        let table = chosen.unwrap_or(preferred).parameters()?;
        if !tables.contains(&table) {
            tables.insert(tables.partition_point(|other| other.bits_per_key() <= table.bits_per_key()), table);
        }
        Ok((table, tables))
    };
    Ok(tables())
}

fn grows(table: &Parameters) -> bool {
    table.addressing() == Addressing::Doubling
}

/// Draws the plan if asked to. Returns `true` if the chart went to standard output.
fn draw(arguments: &PlanArguments, table: &Parameters) -> Result<bool, Failure> {
    let Some(path) = &arguments.plot else { return Ok(false) };
    let svg = curves::chart(table, arguments.rate).svg()?;
    if path.as_os_str() != "-" {
        refuse_other_format(path)?;
        refuse_to_replace(path)?;
        write(path, svg.as_bytes())?;
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

/// Writes a file that is there as a whole or not at all; or to a pipe and the like.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return fs::write(path, bytes).map_err(|error| Failure::of_io(path.display().to_string(), &error));
    }
    let wait = WaitArguments { at_most: None, is_quiet: false };
    let output = FilterReplacement::of_output(path, Existing::Replaced, wait)?;
    output.commit_written(|mut file| file.write_all(bytes)).map(drop)
}

/// Refuses a name of another format. Those without one, as of pipes, are taken.
fn refuse_other_format(path: &Path) -> Result<(), Failure> {
    match path.extension() {
        Some(extension) if !extension.eq_ignore_ascii_case("svg") => {
            Err(Failure::of_file(path, "the picture is SVG: give --plot a name that ends in .svg"))
        }
        _ => Ok(()),
    }
}

/// Refuses to replace a file that is no picture, such as a filter or a list of keys.
fn refuse_to_replace(path: &Path) -> Result<(), Failure> {
    let mut start = Vec::new();
    // Pipes are written to, and what can't be read is left to the writing.
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let is_read = is_file && File::open(path).and_then(|file| file.take(5).read_to_end(&mut start)).is_ok();
    if is_read && !start.is_empty() && !start.starts_with(b"<svg") && !start.starts_with(b"<?xml") {
        return Err(Failure::of_file(
            path,
            "there is such a file already, and it is no picture: give another name to --plot",
        ));
    }
    Ok(())
}

/// What a filter would cost. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct PlanReport {
    capacity: u64,
    /// The number of keys up to which it grows at the rate, if it grows.
    max_capacity: Option<u64>,
    false_positive_rate: f64,
    layout: String,
    fingerprint_bits: u32,
    /// The bits that the rate alone requires, if the capacity or growth needs longer fingerprints.
    fingerprint_bits_raised_from: Option<u32>,
    slots_per_bucket: u32,
    region_count: u64,
    bucket_count: u64,
    slot_count: u64,
    table_size_in_bytes: u64,
    load_factor: f64,
    expected_false_positive_rate: f64,
    bits_per_key: f64,
    /// Why this table is chosen.
    reason: &'static str,
    /// All plans, the smallest table first.
    alternatives: Vec<Alternative>,
    bloom_bits_per_key: f64,
    information_limit_bits_per_key: f64,
}

#[derive(Debug, Serialize)]
struct Alternative {
    is_chosen: bool,
    layout: String,
    addressing: String,
    slots_per_bucket: u32,
    candidates: u32,
    fingerprint_bits: u32,
    bits_per_key: f64,
    cache_lines_per_lookup: f64,
    expected_false_positive_rate: f64,
}

impl PlanReport {
    fn new(table: &Parameters, arguments: &PlanArguments, alternatives: &[Parameters]) -> Self {
        let (rate, largest) = (arguments.rate, arguments.max_capacity.unwrap_or(arguments.capacity));
        Self {
            capacity: table.capacity(),
            max_capacity: grows(table).then_some(largest as u64),
            false_positive_rate: rate,
            layout: table.layout().to_string(),
            fingerprint_bits: table.fingerprint_bits(),
            fingerprint_bits_raised_from: bits_for_rate(table, rate).filter(|&bits| bits < table.fingerprint_bits()),
            slots_per_bucket: table.slots_per_bucket(),
            region_count: table.region_count(),
            bucket_count: table.bucket_count(),
            slot_count: table.slot_count(),
            table_size_in_bytes: table.table_size(),
            load_factor: share(table.capacity(), table.slot_count()),
            expected_false_positive_rate: table.expected_false_positive_rate(table.capacity()),
            bits_per_key: table.bits_per_key(),
            reason: reason(table, arguments.prefer),
            alternatives: alternatives.iter().map(|other| Alternative::new(other, other == table)).collect(),
            bloom_bits_per_key: analysis::bloom_bits_per_key(rate),
            information_limit_bits_per_key: analysis::information_limit(rate),
        }
    }
}

/// The bits that the rate alone requires, in a table with this number of buckets.
fn bits_for_rate(table: &Parameters, rate: f64) -> Option<u32> {
    let builder = CuckooFilter::builder().bucket_count(table.bucket_count()).false_positive_rate(rate);
    let addressing = if grows(table) { Addressing::Regional } else { table.addressing() };
    let builder = builder.layout(table.layout()).addressing(addressing);
    builder.slots_per_bucket(table.slots_per_bucket()).parameters().ok().map(|table| table.fingerprint_bits())
}

/// How many cache lines of 64 bytes a lookup touches on average: one per candidate, and one more for each bucket that
/// straddles two.
fn lines_per_lookup(table: &Parameters) -> f64 {
    const LINE_BITS: u64 = 512;
    let bucket_bits = u64::from(table.slots_per_bucket() * table.bits_per_slot());
    // After 512 buckets the offsets within cache lines repeat.
    let lines_of =
        |bucket: u64| (bucket * bucket_bits + bucket_bits - 1) / LINE_BITS - bucket * bucket_bits / LINE_BITS + 1;
    f64::from(table.addressing().candidates()) * share((0..LINE_BITS).map(lines_of).sum(), LINE_BITS)
}

#[expect(clippy::cast_precision_loss, reason = "shown with a few digits")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn reason(table: &Parameters, prefer: Prefer) -> &'static str {
    match prefer {
        _ if grows(table) => {
            "packed tables with two candidates per key are the fastest, and with 4 or 8 slots per bucket they grow"
        }
        Prefer::Space => "it takes the least memory of all tables with two candidates per key",
        Prefer::Speed => {
            "packed tables with two candidates per key are the fastest, and of those it takes the least memory, or up to 4 % more to be faster"
        }
    }
}

impl Alternative {
    fn new(table: &Parameters, is_chosen: bool) -> Self {
        Self {
            is_chosen,
            layout: table.layout().to_string(),
            addressing: table.addressing().to_string(),
            slots_per_bucket: table.slots_per_bucket(),
            candidates: table.addressing().candidates(),
            fingerprint_bits: table.fingerprint_bits(),
            bits_per_key: table.bits_per_key(),
            cache_lines_per_lookup: lines_per_lookup(table),
            expected_false_positive_rate: table.expected_false_positive_rate(table.capacity()),
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            if self.is_chosen { "*" } else { "" }.to_owned(),
            if self.addressing == Addressing::Doubling.to_string() {
                format!("{}, grows", self.layout)
            } else {
                self.layout.clone()
            },
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
            Some(bits) if self.max_capacity.is_some() => {
                format!("{fingerprint} (the rate alone asks for {bits}; the others are for growth)")
            }
            Some(bits) => format!("{fingerprint} (the rate alone asks for {bits}, with which not all keys would fit)"),
            None => fingerprint,
        };
        let largest = self.max_capacity.map(|keys| ("rate kept up to", text::counted(keys, "key")));
        let mut chosen = vec![("capacity", text::counted(self.capacity, "key"))];
        chosen.extend(largest);
        chosen.extend([
            ("rate asked for", text::rate(self.false_positive_rate)),
            ("rate to expect", text::rate(self.expected_false_positive_rate)),
            ("layout", self.layout.clone()),
            ("fingerprint", fingerprint),
            ("slots per bucket", self.slots_per_bucket.to_string()),
            ("regions", text::count(self.region_count)),
            ("buckets", text::count(self.bucket_count)),
            ("slots", text::count(self.slot_count)),
            ("load factor", text::percent(self.load_factor)),
            ("table size", text::counted(self.table_size_in_bytes, "byte")),
            ("bits per key", text::bits(self.bits_per_key)),
        ]);
        let chosen = text::table(&chosen);
        const HEADS: [[&str; 3]; 8] = [
            ["", "", ""],
            ["", "", "layout"],
            ["", "slots per", "bucket, b"],
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
