//! What the memory allows, and how close the library's lookups come to it.

use super::Extent;
use crate::cast::in_memory;
use crate::contender::Kind;
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{Floor, Turns, check_answers, nanoseconds, rotated};
use crate::report::{Cell, Claim, Column, Reproduction, Table, Verdict, four_digits};

const KINDS: [Kind; 3] = [Kind::Packed, Kind::SemiSorted, Kind::Windowed];
/// A batch that takes at most so many times the floor is as fast as memory, for practical purposes.
const NEAR: f64 = 1.5;

struct Row {
    name: String,
    single: Turns,
    batch: Turns,
}

pub(super) fn reproduce(extent: &Extent) -> Result<Reproduction, Failure> {
    let Extent { scale, rounds, .. } = *extent;
    let memory = scale.memory();
    let keys = Keys::of_seed(12);
    let floor = Floor::new(memory.bits() / 8)?;
    let mut filters = Vec::new();
    for kind in KINDS {
        let Some(builder) = kind.cuckoo_builder(memory) else { continue };
        let not_built = |error: &dyn core::fmt::Display| Failure::not_built(kind.name(), error);
        let mut filter = builder.build().map_err(|error| not_built(&error))?;
        let stored = keys.present(0..kind.design_capacity(memory));
        filter.insert_bulk(&stored).map_err(|error| not_built(&error))?;
        filters.push((kind, filter));
    }
    let count = scale.timed_queries();
    let mut rows: Vec<Row> = ["one line", "two lines"]
        .into_iter()
        .chain(KINDS.map(Kind::name))
        .map(|name| Row { name: name.to_owned(), single: Turns::default(), batch: Turns::default() })
        .collect();
    let mut answers = vec![false; in_memory(count)];
    // One more for the caches, which is not timed.
    for round in 0..=rounds {
        let queries = keys.absent(round * count, count);
        rows[0].single.note_after_first(round, nanoseconds(count, floor.single::<1>(&queries)?));
        rows[1].single.note_after_first(round, nanoseconds(count, floor.single::<2>(&queries)?));
        rows[0].batch.note_after_first(round, nanoseconds(count, floor.prefetched::<1>(&queries)?));
        rows[1].batch.note_after_first(round, nanoseconds(count, floor.prefetched::<2>(&queries)?));
        for (number, (kind, filter)) in rotated(&filters, round) {
            let expected = filter.expected_false_positive_rate();
            let (time, found) = crate::measure::Seconds::of(|| {
                queries.iter().map(|key| u64::from(filter.contains(core::hint::black_box(key)))).sum()
            });
            check_answers(kind.name(), expected, found, count)?;
            rows[2 + number].single.note_after_first(round, nanoseconds(count, time));
            let (time, ()) = crate::measure::Seconds::of(|| filter.contains_each(&queries, &mut answers));
            let found_by_batch = answers.iter().map(|&answer| u64::from(answer)).sum();
            if found_by_batch != found {
                return Err(Failure::AnswersDiffer {
                    contender: kind.name().to_owned(),
                    single: found,
                    batch: found_by_batch,
                });
            }
            rows[2 + number].batch.note_after_first(round, nanoseconds(count, time));
        }
    }
    Ok(Reproduction {
        name: "floors".to_owned(),
        title: "Floors: what the memory allows".to_owned(),
        method: format!(
            "One or two random cache lines of {} are read for each of {count} keys, where the key's hash says, beside lookups \
             of the same, absent keys in the library's filters of as much memory, filled to 95 %. In batches, lines are \
             prefetched 32 keys ahead, and filters are asked by contains_each. The keys themselves, {} KB, are read one \
             after the other. Medians of {rounds} turns, in which all come one after the other, after one more that warms caches.",
            memory.name(),
            count * 8 / 1024
        ),
        tables: vec![table(&rows)],
        charts: Vec::new(),
        claims: claims(&rows),
    })
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "Nanoseconds per key",
        vec![
            Column::counted("read"),
            Column::timed("one call each, ns"),
            Column::timed("spread, %"),
            Column::timed("batch, ns"),
            Column::timed("spread, %"),
            Column::timed("batch, in floors of two lines"),
        ],
    );
    let floor = rows[1].batch.median();
    for row in rows {
        table.push(vec![
            Cell::text(&row.name),
            Cell::Number(row.single.median()),
            Cell::from(row.single.spread()),
            Cell::Number(row.batch.median()),
            Cell::from(row.batch.spread()),
            Cell::Number(row.batch.median() / floor),
        ]);
    }
    table
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let floor = rows[1].batch.median();
    let of = |row: &Row| row.batch.median() / floor;
    let evidence = rows[2..].iter().map(|row| format!("{} {}", row.name, four_digits(of(row))));
    vec![Claim::timed(
        format!("CF, guira answers batches in at most {NEAR} times the time of two prefetched cache lines"),
        Verdict::of(of(&rows[2]) <= NEAR),
        evidence.collect::<Vec<_>>().join(", "),
    )]
}
