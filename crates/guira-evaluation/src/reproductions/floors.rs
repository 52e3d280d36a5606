//! The speed of the memory, and how close each filter's lookups come to it.

use super::Extent;
use crate::cast::in_memory;
use crate::contender::{Contender, Kind, Limit, Memory};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{
    Floor, Quiet, Seconds, Timed, Turns, Watch, check_answers, check_present, fill, nanoseconds, ordered,
};
use crate::report::{Cell, Claim, Column, Judge, Reproduction, Table, Whose, cells};
use crate::scale::Scale;

/// Memory that the second cache of most processors holds.
const IN_CACHE: Memory = Memory { bucket_exponent: 16 };
/// They take some milliseconds.
const QUERIES_IN_CACHE: u64 = 1 << 18;
/// The parts in which they are asked for.
const PARTS_IN_CACHE: u64 = 8;
/// A batch that takes at most this many times the floor counts as being as fast as memory.
const NEAR: f64 = 1.5;
/// The floors, by the cache lines that they read: as many as filters do.
const FLOORS: [usize; 3] = [1, 2, 4];

struct Row {
    name: String,
    memory: Memory,
    lines: usize,
    single: Turns,
    hashed: Turns,
    batch: Turns,
}

/// The times of a row in one turn.
#[derive(Clone, Copy, Default)]
struct Times {
    single: Timed,
    hashed: Timed,
    batch: Timed,
}

impl Row {
    fn note(&mut self, turn: u64, times: Times, quiet: Quiet) {
        let Times { single, hashed, batch } = times;
        for (turns, Timed { operations, time }) in
            [(&mut self.single, single), (&mut self.hashed, hashed), (&mut self.batch, batch)]
        {
            if operations > 0 {
                turns.note(turn, nanoseconds(operations, time), quiet);
            }
        }
    }

    /// The time of the hash alone, turn by turn.
    fn hash(&self) -> Turns {
        let mut hash = Turns::default();
        for (turn, pair) in (0..).zip(self.single.all().iter().zip(self.hashed.all())) {
            if let (Some(single), Some(hashed)) = pair {
                let quiet = if single.quiet == Quiet::Yes { hashed.quiet } else { single.quiet };
                hash.note(turn, single.figure - hashed.figure, quiet);
            }
        }
        hash
    }
}

pub(super) fn reproduce(extent: &Extent) -> Result<Reproduction, Failure> {
    let Extent { scale, rounds, .. } = *extent;
    let mut rows = measure(extent, IN_CACHE)?;
    if !scale.is_quick() {
        rows.extend(measure(extent, scale.memory())?);
    }
    let mut count = format!("{QUERIES_IN_CACHE}");
    if !scale.is_quick() {
        count += &format!(" or, beyond the cache, {}", scale.timed_queries());
    }
    let table = table(&rows);
    Ok(Reproduction {
        name: "floors".to_owned(),
        title: "Floors: what the memory allows".to_owned(),
        method: format!(
            "For each of {count} keys, one, two or four random cache lines are read where the key's hash says, by the leanest \
             loop: hash, place, read, sum. Beside them, lookups of absent keys in filters of as much memory, filled as in \
             figure 5, one call per key. Baselines and floors hash by the paper's program, with two multiplications; the \
             library by its own, XXH3. In the other columns the keys were hashed before. A floor has as many lines as a \
             lookup reads at least: 1 for the Bloom filters and QF, 2 for cuckoo filters, 4 for dl-CBF. In batches, lines \
             are prefetched 32 keys ahead, and the library's filters are asked by contains_many_into. The keys themselves \
             are read one after the other. Medians of {rounds} turns, after one more that warms caches. In a turn all \
             come one after the other several times, in another order each time, for some milliseconds; where caches hold a filter, it is asked for as many \
             other keys before its time is taken."
        ),
        tables: vec![table],
        charts: Vec::new(),
        claims: Vec::new(),
    })
}

/// A filled filter, also with batches if it is the library's.
struct Filled {
    kind: Kind,
    contender: Box<dyn Contender>,
    in_batches: Option<guira::CuckooFilter>,
}

impl Filled {
    fn new(kind: Kind, memory: Memory, keys: Keys) -> Result<Self, Failure> {
        let capacity = kind.design_capacity(memory);
        let not_built = |error: &dyn core::fmt::Display| Failure::not_built(kind.name(), error);
        let mut contender = kind.build(memory)?;
        let stored = fill(contender.as_mut(), keys, 0, Limit::Keys(capacity)).stored;
        if stored < capacity {
            return Err(not_built(&format_args!("it takes {stored} keys of {capacity}")));
        }
        check_present(kind.name(), contender.as_ref(), keys, 0..capacity)?;
        let mut in_batches = None;
        if let Some(builder) = kind.cuckoo_builder(memory) {
            let mut filter = builder.build().map_err(|error| not_built(&error))?;
            filter.insert_many(&keys.present(0..capacity)).map_err(|error| not_built(&error))?;
            in_batches = Some(filter);
        }
        Ok(Self { kind, contender, in_batches })
    }

    /// Times the three ways to look up absent keys.
    fn ask(&self, Part { queries, warming }: Part<'_>, answers: &mut [bool]) -> Result<Times, Failure> {
        let (kind, operations) = (self.kind, queries.len() as u64);
        let expected = self.contender.expected_rate();
        let mut times = Times::default();
        if let Some(others) = warming {
            self.contender.count_found(others);
        }
        let (time, found) = Seconds::of(|| self.contender.count_found(queries));
        check_answers(kind.name(), expected, found, operations)?;
        times.single = Timed { operations, time };

        let differ = |other: u64| {
            let contender = kind.name().to_owned();
            if other == found { Ok(()) } else { Err(Failure::AnswersDiffer { contender, single: found, batch: other }) }
        };
        if let Some(digests) = self.contender.digests(queries) {
            let (time, found) = Seconds::of(|| self.contender.count_found_hashed(&digests));
            differ(found.unwrap_or(0))?;
            times.hashed = Timed { operations, time };
        }
        if let Some(filter) = &self.in_batches {
            let answers = &mut answers[..queries.len()];
            if let Some(others) = warming {
                filter.contains_many_into(others, answers);
            }
            let (time, ()) = Seconds::of(|| filter.contains_many_into(queries, answers));
            // A bulk build inserts in another order: fingerprints are elsewhere, but they are the same ones.
            differ(answers.iter().map(|&answer| u64::from(answer)).sum())?;
            times.batch = Timed { operations, time };
        }
        Ok(times)
    }
}

/// The keys of a part of a turn.
#[derive(Clone, Copy)]
struct Part<'keys> {
    queries: &'keys [u64],
    /// If the filter fits the caches: as many other keys, by which it is brought there before times are taken, since other filters
    /// have evicted it.
    warming: Option<&'keys [u64]>,
}

/// Times reading so many lines for each key in the three ways.
fn read<const LINES: usize>(floor: &Floor, Part { queries, warming }: Part<'_>) -> Result<Times, Failure> {
    let operations = queries.len() as u64;
    let digests = floor.digests(queries);
    if let Some(others) = warming {
        floor.single::<LINES>(others)?;
    }
    let timed = |time| Timed { operations, time };
    Ok(Times {
        single: timed(floor.single::<LINES>(queries)?),
        hashed: timed(floor.single_hashed::<LINES>(&digests)?),
        batch: timed(floor.prefetched::<LINES>(queries)?),
    })
}

fn measure(extent: &Extent, memory: Memory) -> Result<Vec<Row>, Failure> {
    let keys = Keys::of_seed(12);
    let floor = Floor::new(memory.bits() / 8)?;
    let filters: Vec<Filled> =
        extent.beside_floors.iter().map(|&kind| Filled::new(kind, memory, keys)).collect::<Result<_, _>>()?;
    let row = |name: String, lines| {
        let [single, hashed, batch] = [(); 3].map(|()| Turns::default());
        Row { name, memory, lines, single, hashed, batch }
    };
    let mut rows: Vec<Row> = FLOORS.iter().map(|&lines| row(floor_name(lines), lines)).collect();
    rows.extend(filters.iter().map(|filled| row(filled.kind.name().to_owned(), filled.kind.lines())));

    let in_cache = memory.bucket_exponent == IN_CACHE.bucket_exponent;
    let (queries, parts) = if in_cache {
        (QUERIES_IN_CACHE, PARTS_IN_CACHE)
    } else {
        (extent.scale.timed_queries(), extent.scale.parts())
    };
    let count = queries / parts;
    let warming = in_cache.then(|| keys.absent((extent.rounds + 1) * queries, count));
    let mut answers = vec![false; in_memory(count)];
    let places: Vec<usize> = (0..rows.len()).collect();
    // One more round to warm the caches, which is not timed.
    for round in 0..=extent.rounds {
        let watch = Watch::begin();
        let mut times = vec![Times::default(); rows.len()];
        for part in round * parts..(round + 1) * parts {
            let queries = keys.absent(part * count, count);
            let asked = Part { queries: &queries, warming: warming.as_deref() };
            for (_, &place) in ordered(&places, part) {
                let Times { single, hashed, batch } = match place {
                    0 => read::<{ FLOORS[0] }>(&floor, asked)?,
                    1 => read::<{ FLOORS[1] }>(&floor, asked)?,
                    2 => read::<{ FLOORS[2] }>(&floor, asked)?,
                    _ => filters[place - FLOORS.len()].ask(asked, &mut answers)?,
                };
                let sum = &mut times[place];
                sum.single += single;
                sum.hashed += hashed;
                sum.batch += batch;
            }
        }
        let quiet = watch.end().quiet();
        if let Some(turn) = round.checked_sub(1) {
            rows.iter_mut().zip(times).for_each(|(row, times)| row.note(turn, times, quiet));
        }
    }
    Ok(rows)
}

fn floor_name(lines: usize) -> String {
    format!("floor, {}", lines_of_floor(lines))
}

fn lines_of_floor(lines: usize) -> String {
    format!("{lines} {}", if lines == 1 { "line" } else { "lines" })
}

fn floor_of<'rows>(rows: &'rows [Row], row: &Row) -> Option<&'rows Row> {
    rows.iter()
        .find(|floor| floor.name == floor_name(row.lines) && floor.memory.bucket_exponent == row.memory.bucket_exponent)
}

fn table(rows: &[Row]) -> Table {
    let columns = [
        vec![Column::counted("filter"), Column::counted("memory"), Column::counted("lines")],
        Column::interval("one call each, ns").into(),
        Column::interval("hashed before, ns").into(),
        Column::interval("batch, ns").into(),
        Column::interval(HASH).into(),
    ];
    let more = [
        "million/s",
        "in floors of its lines",
        "hashed before, in floors of its lines",
        "batch, in floors of its lines",
    ];
    let columns = columns.into_iter().flatten().chain(more.map(Column::timed));
    let mut table = Table::new("Nanoseconds per key", columns.collect());
    for row in rows {
        let Some(floor) = floor_of(rows, row) else { continue };
        let start = [Cell::text(&row.name), Cell::text(row.memory.name()), Cell::Count(row.lines as u64)];
        let turns = [&row.single, &row.hashed, &row.batch];
        let floors = [&floor.single, &floor.hashed, &floor.batch];
        let ratios = turns.iter().zip(floors).map(|(turns, floor)| {
            let ratio = turns.median() / floor.median();
            if turns.is_empty() { Cell::None } else { Cell::Number(ratio) }
        });
        let cells = start
            .into_iter()
            .chain(turns.into_iter().chain([&row.hash()]).flat_map(Cell::interval).collect::<Vec<_>>());
        table.push(cells.chain([Cell::Number(1e3 / row.single.median())]).chain(ratios).collect());
    }
    table
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    let judge = Judge::new(tables, 0, scale);
    const PLACE: &str = "no place of the paper";
    let small = IN_CACHE.name();
    let large = scale.memory().name();
    let of = |column: &str, name: &str, memory: &str| cells(column).of("filter", name).of("memory", memory);
    let single = "one call each, ns";
    let in_floors =
        |column: &str, kind: Kind, lines| of(column, kind.name(), &large).over(of(column, &floor_name(lines), &large));
    let limits = [(Kind::Printed, 2, 1.5), (Kind::BlockedBloom, 1, 1.3), (Kind::Bloom, 1, 2.0)];
    let mut claims: Vec<Claim> = limits
        .into_iter()
        .map(|(kind, lines, most)| {
            let statement = format!(
                "{} answers single calls for absent keys in at most {most} times the time of its floor, {} of {large}",
                kind.name(),
                lines_of_floor(lines)
            );
            judge.claim(PLACE, statement, &in_floors(single, kind, lines).at_most(most))
        })
        .collect();
    for (kind, least) in [(Kind::Printed, 130), (Kind::BlockedBloom, 200)] {
        let statement = format!("{} answers at least {least} million single calls a second in {small}", kind.name());
        let nanoseconds = 1e3 / crate::cast::approximate(least);
        claims.push(judge.claim(PLACE, statement, &of(single, kind.name(), &small).at_most(nanoseconds)));
    }
    let batch = "batch, ns";
    let statement = format!("CF, guira answers batches in at most {NEAR} times the time of two prefetched cache lines");
    claims.push(judge.claim(PLACE, statement, &in_floors(batch, Kind::Packed, 2).at_most(NEAR)));
    let mut claims: Vec<Claim> = claims.into_iter().map(|claim| claim.of(Whose::Own)).collect();
    let hash = || of(HASH, &floor_name(1), &large);
    claims.push(
        judge
            .claim("section 7, setup", "hashing a key takes about 20 ns of each operation", &hash().at_least(15.0).and(hash().at_most(25.0)))
            .judging([26])
            .since("the hash of the authors' program is two multiplications, and most of it overlaps with waiting for memory"),
    );
    claims
}

/// What a key takes longer if it is hashed.
const HASH: &str = "hash, ns";
