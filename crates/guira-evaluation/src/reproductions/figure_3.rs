//! Figure 3: bits per key against rate, for buckets of 2, 4 and 8 slots.

use rayon::prelude::*;

use super::curves::Interpolated;
use crate::cast::approximate;
use crate::contender::{Limit, Measures, Rule};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{check_present, fill, measure_rate};
use crate::report::{Axis, Cell, Chart, Claim, Column, Judge, Reproduction, Series, Style, Table, Whose, cells};
use crate::scale::Scale;

const BUCKET_SIZES: [u32; 3] = [2, 4, 8];
/// Shorter fingerprints than these have rates above 10 %, longer ones below 0.0005 %.
const MIN_FINGERPRINT_BITS: u32 = 5;
const MAX_FINGERPRINT_BITS: u32 = 20;

/// A rate from fewer false positives is too uncertain to be drawn.
const MIN_EVENTS: f64 = 30.0;

struct Point {
    measures: Measures,
    load_factor: f64,
    bits_per_key: f64,
    rate: f64,
    expected_rate: f64,
}

pub(super) fn reproduce(scale: Scale) -> Result<Reproduction, Failure> {
    let mut wanted = Vec::new();
    for rule in [Rule::Walk, Rule::Search] {
        for slots_per_bucket in BUCKET_SIZES {
            for fingerprint_bits in MIN_FINGERPRINT_BITS..=MAX_FINGERPRINT_BITS {
                // As many slots with every bucket size.
                let bucket_exponent = scale.space_exponent() + 2 - slots_per_bucket.ilog2();
                wanted.push(Measures { rule, bucket_exponent, slots_per_bucket, fingerprint_bits });
            }
        }
    }
    let points = wanted.par_iter().map(|&measures| point(measures, scale));
    let points: Vec<Point> = points.collect::<Result<_, _>>()?;
    let tables = vec![table(&points), compact(&points)];
    Ok(Reproduction {
        name: "figure-3".to_owned(),
        title: "Figure 3: bits per key, by bucket size".to_owned(),
        method: format!(
            "Tables of 2^{} slots are filled until they refuse a key, by the paper's rule of 500 relocations and by the \
             library's search, both with the paper's addressing. Bits per key are f / α at that load. Rates are those of {} \
             absent keys, and drawn where there were at least {MIN_EVENTS} false positives; what is most compact is decided by the expected rates, which have no noise, on straight lines \
             between the points.",
            scale.space_exponent() + 2,
            scale.rate_queries()
        ),
        tables,
        charts: vec![
            chart(&points, Rule::Walk, "figure-3-walk", scale.rate_queries()),
            chart(&points, Rule::Search, "figure-3-search", scale.rate_queries()),
        ],
        claims: Vec::new(),
    })
}

fn point(measures: Measures, scale: Scale) -> Result<Point, Failure> {
    let name = measures.rule.name();
    let keys = Keys::of_seed(4);
    let mut contender = measures.build(0)?;
    let stored = fill(contender.as_mut(), keys, 0, Limit::FirstRefusal).stored;
    check_present(name, contender.as_ref(), keys, 0..stored)?;
    let load_factor = approximate(stored) / approximate(measures.slots());
    Ok(Point {
        measures,
        load_factor,
        bits_per_key: f64::from(measures.fingerprint_bits) / load_factor,
        rate: measure_rate(name, contender.as_ref(), keys, scale.rate_queries())?,
        expected_rate: contender.expected_rate(),
    })
}

fn table(points: &[Point]) -> Table {
    let columns = [
        "full when",
        "slots per bucket",
        "fingerprint bits",
        "load factor",
        "bits per key",
        "rate, %",
        "rate expected, %",
    ];
    let mut table = Table::new("Filled tables", columns.map(Column::counted).into());
    for point in points {
        table.push(vec![
            Cell::text(point.measures.rule.name()),
            Cell::Count(point.measures.slots_per_bucket.into()),
            Cell::Count(point.measures.fingerprint_bits.into()),
            Cell::Number(point.load_factor),
            Cell::Number(point.bits_per_key),
            Cell::Number(100.0 * point.rate),
            Cell::Number(100.0 * point.expected_rate),
        ]);
    }
    table
}

fn chart(points: &[Point], rule: Rule, name: &str, queries: u64) -> Chart {
    let series = BUCKET_SIZES.iter().enumerate().map(|(number, &slots)| {
        let style = if rule == Rule::Walk { Style::solid(number) } else { Style::dashed(number) };
        let seen = of(points, rule, slots).filter(|point| point.rate * approximate(queries) >= MIN_EVENTS);
        Series::new(format!("b = {slots}"), style, seen.map(|point| (100.0 * point.rate, point.bits_per_key)))
    });
    Chart {
        name: name.to_owned(),
        title: format!("Bits per key, full by the rule \"{}\"", rule.name()),
        x: Axis::logarithmic("false positive rate, %"),
        y: Axis::linear("bits per key"),
        series: series.collect(),
        others: None,
    }
}

fn of(points: &[Point], rule: Rule, slots: u32) -> impl Iterator<Item = &Point> {
    points.iter().filter(move |point| point.measures.rule == rule && point.measures.slots_per_bucket == slots)
}

/// From 10 % to 0.001 %, in steps of a tenth of a power of ten.
fn rates() -> impl Iterator<Item = f64> {
    (0..=40).map(|step| 10f64.powf(-1.0 - f64::from(step) / 10.0))
}

/// "0.2 %" has one digit: anything from 0.15 to 0.25 % rounds to it, and a change there is one at 0.2 %.
fn range_of(rate: f64) -> &'static str {
    if rate > 0.0025 {
        ABOVE
    } else if rate < 0.0015 {
        BELOW
    } else {
        "about 0.2 %"
    }
}

const ABOVE: &str = "above 0.25 %";
const BELOW: &str = "below 0.15 %";

/// Bits per key of each bucket size at the same rates.
fn compact(points: &[Point]) -> Table {
    let columns = ["full when", "range", "rate, %"].map(str::to_owned).into_iter();
    let columns = columns.chain(BUCKET_SIZES.map(|slots| format!("bits per key, b = {slots}")));
    let mut table =
        Table::new("Bits per key at the same rates, between the points", columns.map(Column::counted).collect());
    for rule in [Rule::Walk, Rule::Search] {
        let curves = BUCKET_SIZES.map(|slots| {
            let points = of(points, rule, slots).map(|point| (point.expected_rate.log10(), point.bits_per_key));
            Interpolated::new(points.collect())
        });
        for rate in rates() {
            let start = [Cell::text(rule.name()), Cell::text(range_of(rate)), Cell::Number(100.0 * rate)];
            let bits = curves.each_ref().map(|curve| curve.at(rate.log10()));
            // If one of the curves has no points on both sides, nothing is compared.
            if bits.iter().all(|bits| bits.is_finite()) {
                table.push(start.into_iter().chain(bits.map(Cell::Number)).collect());
            }
        }
    }
    table
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    let judge = Judge::new(tables, 1, scale);
    const PLACE: &str = "section 5.1, figure 3";
    let mut claims = Vec::new();
    for rule in [Rule::Walk, Rule::Search] {
        let whose = if rule == Rule::Walk { Whose::Paper } else { Whose::PaperOfLibrary };
        for (best, others, range, words) in
            [(2, [4, 8], ABOVE, "above 0.2 %"), (4, [2, 8], BELOW, "from 0.001 % to 0.2 %")]
        {
            let bits = |slots: u32| {
                let column = format!("bits per key, b = {slots}");
                cells(&column).of("full when", rule.name()).of("range", range)
            };
            let decides = bits(best).at_most(bits(others[0])).and(bits(best).at_most(bits(others[1])));
            let statement = format!("b = {best} is the most compact {words}, by the rule \"{}\"", rule.name());
            claims.push(judge.claim(PLACE, statement, &decides).of(whose).main());
        }
    }
    let of_tables = Judge::new(tables, 0, scale);
    let of_walk = |column| cells(column).of("full when", Rule::Walk.name());
    // Equation (5) at each length, and the rate that it bounds: 1 - (1 - 2^-f)^(2b), and 2b / 2^f.
    let bounded = |bound: fn(f64, f64) -> f64| {
        let of = |slots: u32, bits: u32| {
            let most = 100.0 * bound(2.0 * f64::from(slots), f64::from(bits).exp2());
            let rate = of_walk("rate expected, %").of("slots per bucket", slots).of("fingerprint bits", bits);
            rate.at_most((1e6 * most).round() / 1e6)
        };
        let all = BUCKET_SIZES
            .into_iter()
            .flat_map(|slots| (MIN_FINGERPRINT_BITS..=MAX_FINGERPRINT_BITS).map(move |bits| (slots, bits)));
        all.map(|(slots, bits)| of(slots, bits)).reduce(crate::report::Rule::and)
    };
    let of_five = bounded(|compared, values| -(compared * (-1.0 / values).ln_1p()).exp_m1());
    if let Some(rule) = of_five {
        let statement = "the rate is at most 1 - (1 - 2^-f)^(2b), for 5 to 20 bits and b of 2, 4 and 8";
        claims.push(of_tables.claim("section 5.1, equation (5)", statement, &rule).judging([44]).since(
            "0 is the empty slot, so that fingerprints have 2^f - 1 values: with short ones in full buckets that is more than \
             what stays empty",
        ));
    }
    if let Some(rule) = bounded(|compared, values| compared / values) {
        let statement = "f of at least log2(2b / ε) bits suffice, for 5 to 20 bits and b of 2, 4 and 8";
        claims.push(of_tables.claim("section 5.1, equations (6) and (7)", statement, &rule).judging([45]));
    }
    let of_two = of_walk("load factor").of("slots per bucket", 2).of("fingerprint bits", MAX_FINGERPRINT_BITS);
    let of_two = of_two.at_least_about(0.84, 0.005);
    claims.push(of_tables.claim("section 5.1", "b = 2 fills to 84 %", &of_two).judging([47]));
    let of_walk = |slots: u32| cells(&format!("bits per key, b = {slots}")).of("full when", Rule::Walk.name());
    let near_best = |other| of_walk(4).over(of_walk(other)).at_most(1.05);
    let statement = "b = 4 is the most compact or nearly so (within 5 %) at every rate from 10 % to 0.001 %";
    claims.push(judge.claim("section 5.1, figure 3", statement, &near_best(2).and(near_best(8))).judging([48]));
    claims
}
