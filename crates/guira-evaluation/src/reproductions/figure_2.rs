//! Figure 2: how full tables become with fingerprints of f bits.

use rayon::prelude::*;

use super::{Cost, Extent};
use crate::cast::approximate;
use crate::contender::{Limit, Measures, Rule};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::keys::Keys;
use crate::measure::{check_present, fill};
use crate::report::{Axis, Cell, Chart, Claim, Column, Judge, Reproduction, Series, Style, Table, Whose, cells};
use crate::scale::Scale;

const BUCKET_SIZES: [u32; 2] = [4, 8];
/// The whole keys of a table of 2^25 buckets of 8 slots take 2 GB.
const LARGEST_HASH_TABLE: u32 = 25;

/// Up to this exponent, nothing needs to be said beforehand.
const ORDINARY: u32 = 20;
/// Seconds to fill a large table and look up its keys, with the slower rule.
const SECONDS_PER_SLOT: f64 = 0.4e-6;

struct Point {
    measures: Measures,
    load_factor: f64,
}

/// The lowest load of `runs` tables, each with its own keys.
pub(super) fn lowest_load(measures: Measures, runs: u64, journal: &Journal) -> Result<f64, Failure> {
    let Measures { rule, bucket_exponent, slots_per_bucket, fingerprint_bits } = measures;
    let mut lowest = f64::INFINITY;
    for run in 0..runs {
        // Equation (3) and figure 2 share tables, which need not be counted twice.
        let name = format!(
            "load, {}, 2^{bucket_exponent} buckets of {slots_per_bucket} slots of {fingerprint_bits} bits, table {run}",
            rule.name()
        );
        lowest = lowest.min(journal.measure(&name, || load(measures, run))?);
    }
    Ok(lowest)
}

/// The load of one table when it refuses a key.
fn load(measures: Measures, run: u64) -> Result<f64, Failure> {
    let keys = Keys::of_seed(1000 + run);
    let mut contender = measures.build(run)?;
    let stored = fill(contender.as_mut(), keys, 0, Limit::FirstRefusal).stored;
    check_present(measures.rule.name(), contender.as_ref(), keys, 0..stored)?;
    Ok(approximate(stored) / approximate(measures.slots()))
}

/// The tables that are filled.
fn wanted(extent: &Extent) -> Vec<Measures> {
    let exponents = extent.scale.load_exponents().iter().copied();
    let exponents: Vec<u32> = exponents.filter(|&exponent| exponent <= extent.largest_exponent).collect();
    let mut wanted = Vec::new();
    for slots_per_bucket in BUCKET_SIZES {
        for &bucket_exponent in &exponents {
            for rule in [Rule::Walk, Rule::Search, Rule::WalkOfKeys] {
                for fingerprint_bits in lengths(rule, extent) {
                    let measures = Measures { rule, bucket_exponent, slots_per_bucket, fingerprint_bits };
                    if rule == Rule::WalkOfKeys && bucket_exponent > LARGEST_HASH_TABLE {
                        continue;
                    }
                    wanted.push(measures);
                }
            }
        }
    }
    wanted
}

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let wanted = wanted(extent);
    announce(&wanted, extent);
    // Nothing is timed here, so all processors may fill tables.
    let points = wanted
        .par_iter()
        .map(|&measures| Ok(Point { measures, load_factor: lowest_load(measures, extent.runs, journal)? }));
    let points: Vec<Point> = points.collect::<Result<_, Failure>>()?;
    let table = table(&points);
    Ok(Reproduction {
        name: "figure-2".to_owned(),
        title: "Figure 2: load factor, by length of fingerprints".to_owned(),
        method: format!(
            "Tables of m buckets are filled until they refuse a key. Each load is the lowest of {} tables, each with \
             other keys. Two ways to say that a table is full: the paper's, where an insertion has relocated 500 \
             fingerprints, and the library's, where a breadth-first search of 4,096 buckets has found no empty slot; both \
             with the paper's addressing. Independent hashes, for comparison: a table of whole keys and the paper's rule.",
            extent.runs
        ),
        tables: vec![table],
        charts: BUCKET_SIZES.iter().map(|&slots| chart(slots, &points, extent)).collect(),
        claims: Vec::new(),
    })
}

/// The cost of filling the tables: half of them fail early with short fingerprints, the others take their time per slot.
pub(super) fn cost(extent: &Extent) -> Cost {
    let wanted = wanted(extent);
    let threads = approximate(rayon::current_num_threads() as u64);
    let slots: u64 = wanted.iter().map(|measures| measures.slots()).sum();
    let largest = wanted.iter().map(|measures| measures.slots() * u64::from(measures.fingerprint_bits) / 8).max();
    Cost {
        seconds: approximate(slots * extent.runs) * SECONDS_PER_SLOT / threads,
        bytes: approximate(largest.unwrap_or(0)) * threads,
    }
}

/// Announces the cost of tables above the ordinary sizes.
fn announce(wanted: &[Measures], extent: &Extent) {
    use std::io::Write;
    if extent.largest_exponent > ORDINARY {
        let (tables, largest, cost) = (wanted.len() as u64 * extent.runs, extent.largest_exponent, cost(extent));
        let mut error = std::io::stderr().lock();
        writeln!(error, "figure-2: {tables} tables of up to 2^{largest} buckets will take about {cost}").ok();
    }
}

/// The lengths of fingerprints to measure: one for whole keys, where it does not matter.
fn lengths(rule: Rule, extent: &Extent) -> Vec<u32> {
    let all = extent.scale.load_fingerprint_bits();
    match rule {
        Rule::Walk => all.collect(),
        Rule::Search => all.filter(|&bits| bits >= guira::Parameters::MIN_FINGERPRINT_BITS).collect(),
        Rule::WalkOfKeys => vec![64],
    }
}

fn table(points: &[Point]) -> Table {
    let columns = ["slots per bucket", "log2 of buckets", "full when", "fingerprint bits", "load factor"];
    let mut table = Table::new("Lowest load at the first refusal", columns.map(Column::counted).into());
    for Point { measures, load_factor } in points {
        table.push(vec![
            Cell::Count(measures.slots_per_bucket.into()),
            Cell::Count(measures.bucket_exponent.into()),
            Cell::text(measures.rule.name()),
            Cell::Count(measures.fingerprint_bits.into()),
            Cell::Number(*load_factor),
        ]);
    }
    table
}

fn chart(slots: u32, points: &[Point], extent: &Extent) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for point in points.iter().filter(|point| point.measures.slots_per_bucket == slots) {
        let Measures { rule, bucket_exponent, fingerprint_bits, .. } = point.measures;
        let name = format!("{}, m = 2^{bucket_exponent}", rule.name());
        if rule == Rule::WalkOfKeys {
            let lengths = extent.scale.load_fingerprint_bits();
            let ends = [*lengths.start(), *lengths.end()].map(|bits| (f64::from(bits), point.load_factor));
            series.push(Series::new(name, Style::dotted(size_number(bucket_exponent, extent)), ends));
            continue;
        }
        let place = (f64::from(fingerprint_bits), point.load_factor);
        match series.last_mut() {
            Some(last) if last.name == name => last.points.push(place.into()),
            _ => {
                let number = size_number(bucket_exponent, extent);
                let style = if rule == Rule::Walk { Style::solid(number) } else { Style::dashed(number) };
                series.push(Series::new(name, style, [place]));
            }
        }
    }
    // The load that the paper's text gives for long fingerprints, at the right end.
    if let Some(first) = series.first_mut() {
        let percent = if slots == 4 { 0.95 } else { 0.98 };
        first.others.push((f64::from(*extent.scale.load_fingerprint_bits().end()), percent));
    }
    Chart {
        name: format!("figure-2-b-{slots}"),
        title: format!("Load factor at the first refusal, {slots} slots per bucket"),
        x: Axis::linear("f, bits of a fingerprint"),
        y: Axis::linear_within("load factor", [0.0, 1.0]),
        series,
        others: Some(
            "the load of long fingerprints that the paper's section 5.1 states; its figure is not read off".to_owned(),
        ),
    }
}

/// A colour and a marker for each size.
fn size_number(exponent: u32, extent: &Extent) -> usize {
    extent.scale.load_exponents().iter().position(|&other| other == exponent).unwrap_or(0)
}

/// In whole percents, as the paper has them.
const LOAD_TOLERANCE: f64 = 0.005;

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    const PLACE: &str = "section 4, figure 2";
    let judge = Judge::new(tables, 0, scale);
    let mut claims = Vec::new();
    let of_walk = |column| tables[0].texts_where(column, "full when", Rule::Walk.name());
    let numbers = |column| of_walk(column).iter().filter_map(|text| text.parse().ok()).collect::<Vec<u32>>();
    let longest = numbers("fingerprint bits").into_iter().max().unwrap_or(0);
    let exponents = numbers("log2 of buckets");
    let [smallest, largest] =
        [exponents.iter().min(), exponents.iter().max()].map(|exponent| exponent.copied().unwrap_or(0));
    let loads = |rule: Rule, slots: u32, bits: u32| {
        let of_rule = cells("load factor").of("full when", rule.name());
        of_rule.of("slots per bucket", slots).of("fingerprint bits", bits)
    };
    for rule in [Rule::Walk, Rule::Search] {
        let whose = if rule == Rule::Walk { Whose::Paper } else { Whose::PaperOfLibrary };
        for (slots, percent) in [(4, 95.0), (8, 98.0)] {
            let statement = format!("b = {slots} fills to {percent} %, by the rule \"{}\"", rule.name());
            let decides = loads(rule, slots, longest).at_least_about(percent / 100.0, LOAD_TOLERANCE);
            claims.push(judge.claim("section 5.1", statement, &decides).of(whose).main());
        }
        let statement = format!(
            "6-bit fingerprints suffice for b = 4 (in 2^{largest} buckets; the paper: 2^30), by the rule \"{}\"",
            rule.name()
        );
        let decides = loads(rule, 4, 6).of("log2 of buckets", largest).at_least_about(0.95, LOAD_TOLERANCE);
        claims.push(judge.claim_at_paper_scale(PLACE, statement, &decides).of(whose).main());
    }
    let in_largest = |slots, bits| loads(Rule::Walk, slots, bits).of("log2 of buckets", largest);
    let all = |bits: core::ops::RangeInclusive<u32>, rule: &dyn Fn(u32) -> crate::report::Rule| {
        bits.map(rule).reduce(crate::report::Rule::and)
    };
    let near = |bits| {
        let ratio = || in_largest(4, bits).over(in_largest(4, longest));
        ratio().at_least(0.99).and(ratio().at_most(1.01))
    };
    if let Some(rule) = all(7..=longest, &near) {
        let statement = "fingerprints of more than 6 bits hardly fill a table further, b = 4 (by 1 %)";
        claims.push(judge.claim(PLACE, statement, &rule).judging([55]));
    }
    let independent = || {
        cells("load factor")
            .of("full when", Rule::WalkOfKeys.name())
            .of("slots per bucket", 4)
            .of("log2 of buckets", largest)
    };
    if let Some(rule) = all(7..=longest, &|bits| in_largest(4, bits).over(independent()).at_least(0.99)) {
        let statement = format!(
            "fingerprints of more than 6 bits fill a table as independent hashes do, b = 4, in 2^{largest} buckets (to 1 %)"
        );
        claims.push(judge.claim(PLACE, statement, &rule).judging([56]));
    }
    let falls =
        |slots, bits| in_largest(slots, bits).at_most(loads(Rule::Walk, slots, bits).of("log2 of buckets", smallest));
    if let Some(rule) = all(1..=4, &|bits| falls(4, bits)) {
        let statement = "with fingerprints too short to fill a table, 1 to 4 bits and b = 4, larger tables fill less";
        claims.push(judge.claim(PLACE, statement, &rule).judging([57]).since(
            "with 4 bits they fill more: the walk gives up by chance, and less so the more of the table is empty",
        ));
    }
    claims
}
