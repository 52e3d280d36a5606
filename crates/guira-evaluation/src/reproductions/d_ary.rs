//! Two, three and four candidate buckets: the d-ary cuckoo filter of Xie and others.

use guira::{Addressing, CuckooFilter};

use super::formulas::bits_per_key_bound;
use crate::cast::approximate;
use crate::contender::{Contender, Cuckoo, Limit};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{check_present, fill, measure_rate};
use crate::report::{Axis, Cell, Chart, Claim, Column, Judge, Reproduction, Series, Style, Table, Whose, cells};
use crate::scale::Scale;

const FINGERPRINT_BITS: u32 = 12;
/// The rate at which bits per key are compared: that of table 3.
const RATE: f64 = 0.002;

/// A shape, and the load up to which a random table of that shape has a place for every key: the thresholds of cuckoo
/// hashing with d choices of b slots (Fountoulakis and Panagiotou 2012, Fountoulakis, Khosla and Panagiotou 2011).
const SHAPES: [(Addressing, u32, f64); 6] = [
    (Addressing::PowerOfTwo, 1, 0.5),
    (Addressing::Ternary, 1, 0.9179),
    (Addressing::Quaternary, 1, 0.9768),
    (Addressing::PowerOfTwo, 2, 0.8970),
    (Addressing::Ternary, 2, 0.9882),
    (Addressing::PowerOfTwo, 4, 0.9803),
];

struct Point {
    candidates: u32,
    slots_per_bucket: u32,
    threshold: f64,
    slots: u64,
    load_factor: f64,
    rate: f64,
    expected_rate: f64,
}

impl Point {
    fn name(&self) -> String {
        name_of(self.candidates, self.slots_per_bucket)
    }

    /// The bits per key, if fingerprints could have fractions of a bit: log2(db/ε) / α.
    fn bits_at(&self, rate: f64) -> f64 {
        bits_per_key_bound(rate, self.candidates * self.slots_per_bucket, self.load_factor)
    }
}

fn name_of(candidates: u32, slots_per_bucket: u32) -> String {
    format!("d = {candidates}, b = {slots_per_bucket}")
}

pub(super) fn reproduce(scale: Scale) -> Result<Reproduction, Failure> {
    let points: Vec<Point> = SHAPES.iter().map(|shape| point(shape, scale)).collect::<Result<_, _>>()?;
    let table = table(&points);
    Ok(Reproduction {
        name: "d-ary".to_owned(),
        title: "d-ary: load and bits per key".to_owned(),
        method: format!(
            "Filters with d candidate buckets of b slots, about {} slots of {FINGERPRINT_BITS} bits in 2^n, 3^n or 4^n \
             buckets, are filled by the library until they refuse a key. The threshold is the load that a random table of \
             this shape allows, however long one searches. More candidates are more slots to compare, so that fingerprints \
             of the same rate are longer: bits per key at a rate are log2(db/ε) / α.",
            slots_wanted(scale, 4)
        ),
        tables: vec![table],
        charts: vec![chart(&points)],
        claims: Vec::new(),
    })
}

fn point(&(addressing, slots_per_bucket, threshold): &(Addressing, u32, f64), scale: Scale) -> Result<Point, Failure> {
    let name = name_of(addressing.candidates(), slots_per_bucket);
    let builder = CuckooFilter::builder().addressing(addressing).slots_per_bucket(slots_per_bucket);
    let buckets = bucket_count(addressing, slots_wanted(scale, slots_per_bucket) / u64::from(slots_per_bucket));
    let built = builder.fingerprint_bits(FINGERPRINT_BITS).bucket_count(buckets).build();
    let filter = built.map_err(|error| Failure::not_built(&name, error))?;
    let slots = filter.parameters().slot_count();
    let mut contender = Cuckoo::new(filter);
    let keys = Keys::of_seed(11);
    let stored = fill(&mut contender, keys, 0, Limit::FirstRefusal).stored;
    check_present(&name, &contender, keys, 0..stored)?;
    Ok(Point {
        candidates: addressing.candidates(),
        slots_per_bucket,
        threshold,
        slots,
        load_factor: approximate(stored) / approximate(slots),
        rate: measure_rate(&name, &contender, keys, scale.rate_queries())?,
        expected_rate: contender.expected_rate(),
    })
}

fn slots_wanted(scale: Scale, slots_per_bucket: u32) -> u64 {
    u64::from(slots_per_bucket) * ((4 << scale.space_exponent()) / u64::from(slots_per_bucket))
}

/// The greatest power of d up to the wanted number: one region.
fn bucket_count(addressing: Addressing, wanted: u64) -> u64 {
    let base = u64::from(addressing.candidates());
    base.pow(wanted.ilog(base))
}

fn table(points: &[Point]) -> Table {
    let columns = [
        "shape",
        "candidate buckets",
        "slots per bucket",
        "slots",
        "load factor",
        "threshold",
        "bits per key",
        "rate, %",
        "rate expected, %",
        "bits per key at 0.2 %",
    ];
    let mut table = Table::new("d-ary cuckoo filters", columns.map(Column::counted).into());
    for point in points {
        table.push(vec![
            Cell::text(point.name()),
            Cell::Count(point.candidates.into()),
            Cell::Count(point.slots_per_bucket.into()),
            Cell::Count(point.slots),
            Cell::Number(point.load_factor),
            Cell::Number(point.threshold),
            Cell::Number(f64::from(FINGERPRINT_BITS) / point.load_factor),
            Cell::Number(100.0 * point.rate),
            Cell::Number(100.0 * point.expected_rate),
            Cell::Number(point.bits_at(RATE)),
        ]);
    }
    table
}

fn chart(points: &[Point]) -> Chart {
    let rates = || (0..=16).map(|step| 10f64.powf(-1.0 - f64::from(step) / 4.0));
    let series = points.iter().enumerate().map(|(number, point)| {
        Series::new(point.name(), Style::dashed(number), rates().map(|rate| (100.0 * rate, point.bits_at(rate))))
    });
    Chart {
        name: "d-ary".to_owned(),
        title: "Bits per key, by candidate buckets".to_owned(),
        x: Axis::logarithmic("false positive rate, %"),
        y: Axis::linear("bits per key"),
        series: series.collect(),
        others: None,
    }
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    let judge = Judge::new(tables, 0, scale);
    const PLACE: &str = "no place of the paper; of the d-ary filter of Xie and others";
    let load = |candidates, slots| cells("load factor").of("shape", name_of(candidates, slots));
    let bits = |candidates, slots| cells("bits per key at 0.2 %").of("shape", name_of(candidates, slots));
    let claims = [
        (
            "with one slot per bucket, more candidates fill a table further",
            load(2, 1).below(load(3, 1)).and(load(3, 1).below(load(4, 1))),
        ),
        (
            "four candidates of one slot take fewer bits per key than two of four slots, at 0.2 %",
            bits(4, 1).below(bits(2, 4)),
        ),
    ];
    let mut claims: Vec<Claim> =
        claims.map(|(statement, rule)| judge.claim(PLACE, statement, &rule).of(Whose::Own)).into();
    let half = load(2, 1).at_least_about(0.5, 0.005);
    claims.push(
        judge
            .claim("section 5.1", "b = 1 fills to 50 %, by guira's search", &half)
            .of(Whose::PaperOfLibrary)
            .judging([47])
            .since("50 % is the threshold of very large tables; this one stops at its first key without a place"),
    );
    claims
}
