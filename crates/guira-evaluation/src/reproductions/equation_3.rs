//! Equation (3): how short fingerprints may be before tables no longer fill.

use rayon::prelude::*;

use super::Extent;
use super::figure_2::lowest_load;
use super::formulas::{least_fingerprint_bits_to_fill, overfull_classes};
use crate::cast::approximate;
use crate::contender::{Measures, Rule};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::report::{Axis, Cell, Chart, Claim, Column, Judge, Reproduction, Series, Style, Table, Whose, cells};
use crate::scale::Scale;

const BUCKET_SIZES: [u32; 3] = [2, 4, 8];
/// Fingerprints of this length limit nothing.
const LONG: u32 = 16;
/// A table counts as filled at this share of its load with long fingerprints.
const FILLS: f64 = 0.98;
/// The number of overfull classes expected at the bound: with one, one table in 2.7 has none.
const CLASSES: f64 = 1.0;

struct Point {
    rule: Rule,
    slots_per_bucket: u32,
    bucket_exponent: u32,
    long_load: f64,
    /// The shortest fingerprint that fills the table, and the loads with it and with one bit less.
    least: u32,
    load: f64,
    broken_load: Option<f64>,
    bound: u32,
    /// The overfull classes expected with the shortest fingerprint that fills.
    classes: f64,
}

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let mut wanted = Vec::new();
    for rule in [Rule::Walk, Rule::Search] {
        for slots_per_bucket in BUCKET_SIZES {
            for &bucket_exponent in extent.scale.bound_exponents() {
                wanted.push((rule, slots_per_bucket, bucket_exponent));
            }
        }
    }
    let points = wanted
        .par_iter()
        .map(|&(rule, slots, exponent)| point(rule, slots, exponent, extent.scale.bound_runs(), journal));
    let points: Vec<Point> = points.collect::<Result<_, _>>()?;
    let table = table(&points);
    Ok(Reproduction {
        name: "equation-3".to_owned(),
        title: "Equation (3): the shortest fingerprints that fill a table".to_owned(),
        method: format!(
            "A table can't hold 2b + 1 keys that have fingerprint and buckets in common. The paper expects n / 4^(bf) such \
             classes, up to a constant, so that f must be Ω(log n / b). The bound here is the shortest fingerprint with which \
             fewer than {CLASSES} are expected, constants and all: n λ^(2b) / (2b + 1)! of them, with λ = 2bα / (2^f - 1) keys \
             per class. Measured is the shortest fingerprint with which the lowest load of {} tables is at least {FILLS} of \
             that with {LONG} bits.",
            extent.scale.bound_runs()
        ),
        tables: vec![table],
        charts: BUCKET_SIZES.iter().map(|&slots| chart(slots, &points)).collect(),
        claims: Vec::new(),
    })
}

fn point(
    rule: Rule,
    slots_per_bucket: u32,
    bucket_exponent: u32,
    runs: u64,
    journal: &Journal,
) -> Result<Point, Failure> {
    let measures = |fingerprint_bits| Measures { rule, bucket_exponent, slots_per_bucket, fingerprint_bits };
    let long_load = lowest_load(measures(LONG), runs, journal)?;
    let mut least = match rule {
        Rule::Search => guira::Parameters::MIN_FINGERPRINT_BITS,
        Rule::Walk | Rule::WalkOfKeys => 1,
    };
    let mut broken_load = None;
    let load = loop {
        let load = lowest_load(measures(least), runs, journal)?;
        if load >= FILLS * long_load || least == LONG {
            break load;
        }
        broken_load = Some(load);
        least += 1;
    };
    let keys = long_load * approximate(measures(LONG).slots());
    Ok(Point {
        rule,
        slots_per_bucket,
        bucket_exponent,
        long_load,
        least,
        load,
        broken_load,
        bound: least_fingerprint_bits_to_fill(keys, 2 * slots_per_bucket, long_load, CLASSES),
        classes: overfull_classes(keys, least, 2 * slots_per_bucket, long_load),
    })
}

fn table(points: &[Point]) -> Table {
    let columns = [
        "full when",
        "slots per bucket",
        "log2 of buckets",
        "bound, bits",
        "shortest that fills, bits",
        "load with it",
        "load with one bit less",
        "load with 16 bits",
        "overfull classes expected",
    ];
    let mut table = Table::new("Shortest fingerprints", columns.map(Column::counted).into());
    for point in points {
        table.push(vec![
            Cell::text(point.rule.name()),
            Cell::Count(point.slots_per_bucket.into()),
            Cell::Count(point.bucket_exponent.into()),
            Cell::Count(point.bound.into()),
            Cell::Count(point.least.into()),
            Cell::Number(point.load),
            point.broken_load.into(),
            Cell::Number(point.long_load),
            Cell::Number(point.classes),
        ]);
    }
    table
}

/// A chart for each bucket size: values are whole bits, so more curves would hide each other.
fn chart(slots: u32, points: &[Point]) -> Chart {
    let of = |rule: Rule, height: fn(&Point) -> u32| {
        let points = points.iter().filter(move |point| (point.rule, point.slots_per_bucket) == (rule, slots));
        points.map(move |point| (f64::from(point.bucket_exponent), f64::from(height(point))))
    };
    Chart {
        name: format!("equation-3-b-{slots}"),
        title: format!("Shortest fingerprints that fill a table, {slots} slots per bucket"),
        x: Axis::exponents("buckets"),
        y: Axis::linear("bits of a fingerprint"),
        series: vec![
            Series::new("500 relocations", Style::solid(0), of(Rule::Walk, |point| point.least)),
            Series::new("guira's search", Style::dashed(1), of(Rule::Search, |point| point.least)),
            Series::new("bound", Style::dotted(9), of(Rule::Walk, |point| point.bound)),
        ],
        others: None,
    }
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    const PLACE: &str = "section 4, equation (3)";
    const LEAST: &str = "shortest that fills, bits";
    let judge = Judge::new(tables, 0, scale);
    let statement = "no table fills with shorter fingerprints than equation (3) allows";
    let mut claims = vec![judge.claim(PLACE, statement, &cells(LEAST).at_least(cells("bound, bits")))];
    let exponents = tables[0].texts_where("log2 of buckets", "full when", Rule::Walk.name());
    let exponents: Vec<u32> = exponents.iter().filter_map(|text| text.parse().ok()).collect();
    let [smallest, largest] =
        [exponents.iter().min(), exponents.iter().max()].map(|exponent| exponent.copied().unwrap_or(0));
    let least = |rule: Rule, slots: u32, exponent: u32| {
        let of_rule = cells(LEAST).of("full when", rule.name());
        of_rule.of("slots per bucket", slots).of("log2 of buckets", exponent)
    };
    for rule in [Rule::Walk, Rule::Search] {
        let whose = if rule == Rule::Walk { Whose::Paper } else { Whose::PaperOfLibrary };
        let least = |slots: u32| least(rule, slots, largest);
        let decides = least(2).at_least(least(4)).and(least(4).at_least(least(8))).and(least(2).above(least(8)));
        let statement = format!("larger buckets fill with shorter fingerprints, by the rule \"{}\"", rule.name());
        claims.push(judge.claim(PLACE, statement, &decides).of(whose));
    }
    let grows = |slots| least(Rule::Walk, slots, largest).above(least(Rule::Walk, slots, smallest));
    claims.push(
        judge
            .claim(
                "section 4, figure 2",
                format!("the shortest fingerprint that fills a table grows with it, from 2^{smallest} to 2^{largest} buckets"),
                &grows(2).and(grows(4)).and(grows(8)),
            )
            .judging([54])
            .since("by the bound it grows by a bit for 2^b times the buckets, which only b = 2 shows in this range"),
    );
    claims
}
