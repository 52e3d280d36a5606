//! Figure 4: bits per key against rate, for Bloom and cuckoo filters and the limit.

use guira::analysis::{bloom_bits_per_key, information_limit};

use super::formulas::bits_per_key_bound;
use super::space::Space;
use crate::contender::Kind;
use crate::failure::Failure;
use crate::keys::Keys;
use crate::report::{Axis, Cell, Chart, Claim, Column, Judge, Reproduction, Series, Style, Table, Whose, cells};
use crate::scale::Scale;

/// The cuckoo filters, the slots that a lookup compares, and the number of bits by which a slot is shorter than a fingerprint.
const CUCKOO: [(Kind, u32, f64); 4] =
    [(Kind::Printed, 8, 0.0), (Kind::PrintedSemiSorted, 8, 1.0), (Kind::Packed, 8, 0.0), (Kind::SemiSorted, 8, 1.0)];

/// Rate in percent and bits per key, in the paper's table 3.
const PRINTED: [(Kind, (f64, f64)); 3] =
    [(Kind::Printed, (0.19, 12.60)), (Kind::PrintedSemiSorted, (0.09, 12.58)), (Kind::Bloom, (0.19, 13.00))];

/// A curve: bits per key for a rate.
struct Cost {
    name: String,
    style: Style,
    of_rate: Box<dyn Fn(f64) -> f64>,
}

pub(super) fn reproduce(scale: Scale) -> Result<Reproduction, Failure> {
    let memory = scale.space_memory();
    let keys = Keys::of_seed(9);
    let mut loads = Table::new(
        "Loads at the first refusal",
        ["filter", "load factor", "bits per key", "rate, %"].map(Column::counted).into(),
    );
    let mut costs = vec![
        Cost { name: "information limit".to_owned(), style: Style::dotted(9), of_rate: Box::new(information_limit) },
        Cost { name: Kind::Bloom.name().to_owned(), style: Kind::Bloom.style(), of_rate: Box::new(bloom_bits_per_key) },
    ];
    for (kind, compared, saved) in CUCKOO {
        let Space { load_factor, bits_per_key, rate, .. } = Space::of(kind, memory, keys, scale)?;
        let row = [load_factor, bits_per_key, 100.0 * rate].map(Cell::Number);
        loads.push([vec![Cell::text(kind.name())], row.into()].concat());
        let of_rate = move |rate| bits_per_key_bound(rate, compared, load_factor) - saved / load_factor;
        costs.push(Cost { name: kind.name().to_owned(), style: kind.style(), of_rate: Box::new(of_rate) });
    }
    let tables = vec![costs_table(&costs), loads, crossings(&costs)];
    Ok(Reproduction {
        name: "figure-4".to_owned(),
        title: "Figure 4: bits per key, by rate".to_owned(),
        method: format!(
            "Cuckoo filters of {} are filled until they refuse a key. At these loads, and for fingerprints that need not be \
             whole bits, equation (7) says what a rate costs: log2(8/ε) / α, with semi-sorted buckets (log2(8/ε) - 1) / α. \
             A Bloom filter takes log2(1/ε) / ln 2, anything at least log2(1/ε).",
            memory.name()
        ),
        charts: vec![chart(&costs)],
        claims: Vec::new(),
        tables,
    })
}

/// From 10 % to 0.001 %.
fn rates(steps: u32) -> impl Iterator<Item = f64> {
    (0..=4 * steps).map(move |step| 10f64.powf(-1.0 - f64::from(step) / f64::from(steps)))
}

fn costs_table(costs: &[Cost]) -> Table {
    let names = core::iter::once("rate, %".to_owned()).chain(costs.iter().map(|cost| cost.name.clone()));
    let mut table = Table::new("Bits per key", names.map(Column::counted).collect());
    for rate in rates(4) {
        let bits = costs.iter().map(|cost| Cell::Number((cost.of_rate)(rate)));
        table.push(core::iter::once(Cell::Number(100.0 * rate)).chain(bits).collect());
    }
    table
}

fn chart(costs: &[Cost]) -> Chart {
    let series = costs.iter().map(|cost| {
        let points = rates(4).map(|rate| (100.0 * rate, (cost.of_rate)(rate)));
        Series::new(&cost.name, cost.style, points)
    });
    let series = series.map(|series| {
        let others = PRINTED.iter().filter(|(kind, _)| kind.name() == series.name).map(|(_, point)| *point);
        Series { others: others.collect(), ..series }
    });
    Chart {
        name: "figure-4".to_owned(),
        title: "Bits per key".to_owned(),
        x: Axis::logarithmic("false positive rate, %"),
        y: Axis::linear("bits per key"),
        series: series.collect(),
        others: Some("the paper's table 3".to_owned()),
    }
}

const CROSSING: &str = "fewer bits than a Bloom filter at rates below, %";

/// The highest rate below which a filter is always more compact than a Bloom filter; 0 for none.
fn crossings(costs: &[Cost]) -> Table {
    let mut table = Table::new("Against a Bloom filter", ["filter", CROSSING].map(Column::counted).into());
    for (kind, ..) in CUCKOO {
        let Some(cost) = costs.iter().find(|cost| cost.name == kind.name()) else { continue };
        let crossing = rates(1000).find(|&rate| (cost.of_rate)(rate) < bloom_bits_per_key(rate));
        table.push(vec![Cell::text(kind.name()), Cell::Number(100.0 * crossing.unwrap_or(0.0))]);
    }
    table
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    let judge = Judge::new(tables, 2, scale);
    let of = |(kind, ..): (Kind, u32, f64)| {
        let (place, whose) = match kind {
            Kind::Printed => ("abstract and section 1, of cuckoo filters", Whose::Paper),
            Kind::PrintedSemiSorted => ("section 5.2 and figure 4, of semi-sorting", Whose::Paper),
            Kind::SemiSorted => ("section 5.2 and figure 4, of semi-sorting", Whose::PaperOfLibrary),
            _ => ("abstract and section 1, of cuckoo filters", Whose::PaperOfLibrary),
        };
        let statement = format!("{} takes fewer bits per key than BF below 3 %", kind.name());
        // In whole percents, as it is printed.
        let rule = cells(CROSSING).of("filter", kind.name()).at_least_about(3.0, 0.5);
        judge.claim(place, statement, &rule).of(whose).main()
    };
    CUCKOO.into_iter().map(of).collect()
}
