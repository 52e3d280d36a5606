//! Table 3: all filters with the same memory.

use serde::{Deserialize, Serialize};

use super::Extent;
use crate::cast::approximate;
use crate::contender::{Kind, Memory};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::keys::Keys;
use crate::measure::{Filled, Seconds, Turns, check_present, fill, measure_rate, million_per_second, rotated};
use crate::report::{Cell, Claim, Column, Judge, Reproduction, Table, cells};
use crate::scale::Scale;

/// What the paper prints: million keys, bits per key, rate in percent, million keys per second.
const PRINTED: [(Kind, [f64; 4]); 6] = [
    (Kind::Printed, [127.78, 12.60, 0.19, 5.00]),
    (Kind::PrintedSemiSorted, [128.04, 12.58, 0.09, 3.13]),
    (Kind::Bloom, [123.89, 13.00, 0.19, 3.91]),
    (Kind::BlockedBloom, [123.89, 13.00, 0.43, 7.64]),
    (Kind::Quotient, [120.80, 13.33, 0.18, 1.91]),
    (Kind::DLeft, [103.82, 15.51, 0.76, 4.78]),
];

/// The algorithm of those whose claims are judged.
const PAPER: &str = "paper";

/// What one filling shows.
#[derive(Serialize, Deserialize)]
struct Filling {
    stored: u64,
    bits_per_key: f64,
    /// Measured in the first filling, since it is the same in all.
    rate: Option<f64>,
    expected_rate: f64,
    load_factor: f64,
    speed: f64,
    bulk_speed: Option<f64>,
}

struct Row {
    kind: Kind,
    stored: u64,
    bits_per_key: f64,
    rate: f64,
    expected_rate: f64,
    load_factor: f64,
    /// Of each round, million keys per second.
    speeds: Turns,
    bulk_speeds: Turns,
}

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let Extent { scale, fills: rounds, .. } = *extent;
    let memory = scale.memory();
    let mut rows: Vec<Row> = Vec::new();
    for round in 0..rounds {
        for (number, &kind) in rotated(&Kind::ALL, round) {
            let name = format!("table-3, {}, filling {round}", kind.name());
            let filling = journal.measure(&name, || fill_once(kind, round, scale))?;
            if round == 0 {
                rows.push(Row {
                    kind,
                    stored: filling.stored,
                    bits_per_key: filling.bits_per_key,
                    rate: filling.rate.unwrap_or(f64::NAN),
                    expected_rate: filling.expected_rate,
                    load_factor: filling.load_factor,
                    speeds: Turns::default(),
                    bulk_speeds: Turns::default(),
                });
            }
            rows[number].speeds.note(filling.speed);
            if let Some(speed) = filling.bulk_speed {
                rows[number].bulk_speeds.note(speed);
            }
        }
    }
    let table = table(&rows);
    let claims = claims(Judge { table: &table, number: 0, scale }, memory);
    Ok(Reproduction {
        name: "table-3".to_owned(),
        title: "Table 3: space efficiency and construction speed".to_owned(),
        method: format!(
            "Every filter gets {} and is filled until it refuses a key, or holds as many as it is made for (the Bloom \
             filters: 13 bits per key). \"As printed\" is the paper's algorithm, with its random walk of 500 relocations; \
             \"guira\" is the library. The windowed layout has windows of three slots. One key is inserted per call; bulk \
             building, to 95 % of the slots, is what the library offers beside. All keys are then looked up, and {} \
             absent ones. Speeds are medians of {} turns, each in another order; a spread is from \
             the slowest to the fastest turn.",
            memory.name(),
            scale.rate_queries(),
            rounds
        ),
        tables: vec![table],
        charts: Vec::new(),
        claims,
    })
}

fn fill_once(kind: Kind, round: u64, scale: Scale) -> Result<Filling, Failure> {
    let memory = scale.memory();
    let keys = Keys::of_seed(3);
    let mut contender = kind.build(memory)?;
    let Filled { stored, time } = fill(contender.as_mut(), keys, 0, kind.limit(memory));
    let mut rate = None;
    if round == 0 {
        check_present(kind.name(), contender.as_ref(), keys, 0..stored)?;
        rate = Some(measure_rate(kind.name(), contender.as_ref(), keys, scale.rate_queries())?);
    }
    let (bits, expected_rate) = (contender.bits(), contender.expected_rate());
    drop(contender);
    Ok(Filling {
        stored,
        bits_per_key: approximate(bits) / approximate(stored),
        rate,
        expected_rate,
        load_factor: approximate(stored) / approximate(memory.slots()),
        speed: million_per_second(stored, time),
        bulk_speed: bulk_speed(kind, memory, keys)?,
    })
}

/// Million keys per second by the library's bulk build.
fn bulk_speed(kind: Kind, memory: Memory, keys: Keys) -> Result<Option<f64>, Failure> {
    let Some(builder) = kind.cuckoo_builder(memory) else { return Ok(None) };
    let mut filter = builder.build().map_err(|error| Failure::not_built(kind.name(), error))?;
    let count = kind.design_capacity(memory);
    // The keys of a chunk take a third of the table's memory, so that those of 192 MB do not take five times as much.
    let chunk_len = (memory.bits() / 192).max(1 << 20);
    let mut time = Seconds::default();
    for first in (0..count).step_by(crate::cast::in_memory(chunk_len)) {
        let chunk = keys.present(first..count.min(first + chunk_len));
        let (chunk_time, result) = Seconds::of(|| filter.insert_bulk(&chunk));
        result.map_err(|error| Failure::not_built(kind.name(), error))?;
        time += chunk_time;
    }
    Ok(Some(million_per_second(count, time)))
}

fn table(rows: &[Row]) -> Table {
    let speeds = [Column::interval("construction, million keys/s"), Column::interval("bulk build, million keys/s")];
    let mut table = Table::new(
        "Table 3",
        [
            vec![
                Column::counted("filter"),
                Column::counted("algorithm"),
                Column::counted("million keys"),
                Column::counted("keys per slot of 12 bits"),
                Column::counted("bits per key"),
                Column::counted("rate, %"),
                Column::counted("rate expected, %"),
            ],
            speeds.into_iter().flatten().collect(),
            vec![
                Column::counted("paper: million keys"),
                Column::counted("paper: bits per key"),
                Column::counted("paper: rate, %"),
                Column::counted("paper: million keys/s"),
            ],
        ]
        .concat(),
    );
    for row in rows {
        let printed = PRINTED.iter().find(|(kind, _)| *kind == row.kind).map(|(_, printed)| printed);
        let of_paper = |column: usize| Cell::from(printed.map(|printed| printed[column]));
        let speeds = [Cell::interval(&row.speeds), Cell::interval(&row.bulk_speeds)].concat();
        table.push(
            [
                vec![
                    Cell::text(row.kind.name()),
                    Cell::text(if row.kind.is_of_paper() { PAPER } else { "guira" }),
                    Cell::Number(approximate(row.stored) / 1e6),
                    Cell::Number(row.load_factor),
                    Cell::Number(row.bits_per_key),
                    Cell::Number(100.0 * row.rate),
                    Cell::Number(100.0 * row.expected_rate),
                ],
                speeds,
                [0, 1, 2, 3].map(of_paper).into(),
            ]
            .concat(),
        );
    }
    table
}

fn claims(judge: Judge<'_>, memory: Memory) -> Vec<Claim> {
    const PLACE: &str = "section 7, table 3";
    let of_paper = |column| cells(column).of("algorithm", PAPER);
    let of = |column, kind: Kind| cells(column).of("filter", kind.name());
    let speed = "construction, million keys/s";
    let load = || of("keys per slot of 12 bits", Kind::DLeft);
    let slower = [Kind::PrintedSemiSorted, Kind::Bloom, Kind::Quotient, Kind::DLeft];
    let faster_than = |other| of(speed, Kind::BlockedBloom).above(of(speed, other));
    let fastest = slower.into_iter().fold(faster_than(Kind::Printed), |rule, other| rule.and(faster_than(other)));
    vec![
        judge
            .claim(
                PLACE,
                format!("ss-CF has the lowest rate of all filters with {}", memory.name()),
                &of("rate, %", Kind::PrintedSemiSorted).at_most(of_paper("rate, %")),
            )
            .main(),
        judge.claim_at_paper_scale(PLACE, "blk-BF is built fastest", &fastest).main(),
        judge
            .claim_at_paper_scale(
                PLACE,
                "dl-CBF refuses a key when about 78 % of it are full",
                // As precise as "about 78 %" is.
                &load().at_least_about(0.78, 0.02).and(load().at_most_about(0.78, 0.02)),
            )
            .main(),
    ]
}
