//! Table 3: all filters with the same memory.

use super::Extent;
use super::course::{Construction, Course, courses};
use crate::cast::approximate;
use crate::contender::{Kind, Memory};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::measure::Turns;
use crate::report::{Cell, Claim, Column, Judge, Reproduction, Table, cells};

/// The paper's figures: million keys, bits per key, rate in percent, million keys per second.
const PRINTED: [(Kind, [f64; 4]); 6] = [
    (Kind::Printed, [127.78, 12.60, 0.19, 5.00]),
    (Kind::PrintedSemiSorted, [128.04, 12.58, 0.09, 3.13]),
    (Kind::Bloom, [123.89, 13.00, 0.19, 3.91]),
    (Kind::BlockedBloom, [123.89, 13.00, 0.43, 7.64]),
    (Kind::Quotient, [120.80, 13.33, 0.18, 1.91]),
    (Kind::DLeft, [103.82, 15.51, 0.76, 4.78]),
];

/// The algorithm of the filters whose claims are judged.
const PAPER: &str = "paper";

struct Row {
    kind: Kind,
    /// The first round; the others differ only in speed.
    first: Construction,
    /// The speeds of each round, in million keys per second.
    speeds: Turns,
    bulk_speeds: Turns,
}

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let Extent { scale, fills: rounds, .. } = *extent;
    let memory = scale.memory();
    let mut rows: Vec<Row> = Vec::new();
    for (kind, Course { construction, .. }) in courses(extent, journal)? {
        let Construction { speed, bulk_speed, .. } = construction;
        let number = rows.iter().position(|row| row.kind == kind).unwrap_or_else(|| {
            rows.push(Row { kind, first: construction, speeds: Turns::default(), bulk_speeds: Turns::default() });
            rows.len() - 1
        });
        rows[number].speeds.note(speed);
        if let Some(speed) = bulk_speed {
            rows[number].bulk_speeds.note(speed);
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
             \"guira\" is the library. One key is inserted per call; the \
             lookups of figures 5 and 6 come in between, and are not in the time. Bulk building, to 95 % of the slots, is what \
             the library offers beside. Afterwards every key must be found when it is looked up or, as in figure 8, removed; \
             rates are those of {} absent keys. Speeds are medians of {} turns, each in another order; a spread is from the \
             slowest to the fastest turn.",
            memory.name(),
            scale.rate_queries(),
            rounds
        ),
        tables: vec![table],
        charts: Vec::new(),
        claims,
    })
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
                    Cell::text(row.kind.algorithm()),
                    Cell::Number(approximate(row.first.stored) / 1e6),
                    Cell::Number(row.first.load_factor),
                    Cell::Number(row.first.bits_per_key),
                    Cell::Number(100.0 * row.first.rate.unwrap_or(f64::NAN)),
                    Cell::Number(100.0 * row.first.expected_rate),
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
