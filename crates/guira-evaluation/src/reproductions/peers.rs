//! Filters of other people compared with the library's, each by its own interface.

use guira::{CuckooFilter, Preference};
use serde::{Deserialize, Serialize};

use super::Extent;
use crate::cast::{approximate, in_memory};
use crate::contender::{Contender, Limit, Making, Peer, RATE};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::keys::Keys;
use crate::measure::{
    Disturbance, Filled, Seconds, Turns, Watch, count_found, fill, measure_rate, million_per_second, ordered,
    timed_lookups,
};
use crate::report::{Axis, Cell, Chart, Claim, Column, Judge, Point, Reproduction, Series, Style, Table, Whose, cells};
use crate::scale::Scale;

/// The library's own filters come first.
const OURS: usize = 2;

struct Row {
    peer: &'static Peer,
    /// The number of the filter in the list.
    number: usize,
    /// In cache or in memory.
    place: &'static str,
    stored: u64,
    bits_per_key: f64,
    rate: f64,
    /// The stored keys that the filled filter does not find.
    lost: u64,
    /// The keys lost while others were removed; `None` if keys can't be removed.
    lost_by_removal: Option<u64>,
    insert: Turns,
    insert_together: Turns,
    absent: Turns,
    present: Turns,
    absent_together: Turns,
    removal: Turns,
}

static PEERS: [Peer; 10] = Peer::ALL;

pub(super) fn reproduce(extent: &Extent, journal: &Journal) -> Result<Reproduction, Failure> {
    let scale = extent.scale;
    // Their claims are few and clear: fillings that others need are not worth the time of ten filters more.
    let rounds = extent.fills.min(scale.rounds());
    let mut rows: Vec<Row> = Vec::new();
    for &(place, wanted) in scale.peer_keys() {
        let first = rows.len();
        rows.extend((0..).zip(&PEERS).map(|(number, peer)| Row::new(number, peer, place)));
        for round in 0..rounds {
            for (number, _) in ordered(&PEERS, round) {
                let row = &mut rows[first + number];
                let name = format!("peers, {}, {place}, filling {round}", row.peer.name);
                row.note(round, journal.measure(&name, || Turn::of(row.peer, round, wanted, scale))?);
            }
        }
    }
    let wanted: Vec<String> = scale.peer_keys().iter().map(|(place, keys)| format!("{keys} keys, {place},")).collect();
    let wanted = wanted.join(" and ");
    let tables = vec![
        speeds(&rows),
        space(&rows)?,
        cannot(),
        journal.measure("peers, capacities", || capacities(scale))?,
        comparison(&rows)?,
    ];
    let charts = scale.peer_keys().iter().flat_map(|(place, _)| charts_of(&rows, place)).collect();
    Ok(Reproduction {
        name: "peers".to_owned(),
        title: "Peers: other filters of today".to_owned(),
        method: format!(
            "Filters for {wanted} and a rate of {} %, where that can be chosen, are filled with so many, and asked for {} keys \
             at a time that none was asked for before. The library plans its filters by itself, one for speed and one for \
             space. All operations take one key per call, but for those of many keys, where a filter has them: bulk building, \
             and batch lookups of absent keys. Then every second key is removed, and the others \
             are looked for. Keys lost were stored, and are not found; keys that did not fit are missing from the count of \
             stored ones. Some filters draw random numbers, so that their counts vary. Medians of {rounds} fillings, in each \
             of which filters come in another order.\n\n\
             Disclosure. Who measures: guira's authors chose the filters and wrote this program, and guira is one of \
             them. Large pages: guira asks the system for them; the others have them only where the system gives them \
             to everyone, which is unfair to them in memory. Hashes: guira has XXH3, qfilter and autoscale_cuckoo_filter their \
             own defaults; fastbloom and atomic-cuckoo-filter have the fast hashes that their documentation shows (foldhash and \
             ahash), cuckoofilter and scalable_cuckoo_filter ahash in place of SipHash; sbbf-rs-safe takes hashes, and gets \
             XXH3's; xorf takes the keys themselves, which are random. Tasks: xorf is built once, of all keys, and \
             can't be changed, which is easier; atomic-cuckoo-filter lets threads share it, which is harder, and is asked by \
             one. Rates: filters that can't have this one are named with theirs. Sizes: filters whose \
             tables are powers of two are at the mercy of the number of keys; the table of capacities shows how much. \
             cuckoofilter and atomic-cuckoo-filter are asked for a sixteenth more than the keys, since they count \
             slots, which they can't fill to the last one. \
             Programs in C++ are not among them: nothing is called across languages here.",
            100.0 * RATE,
            scale.timed_queries(),
        ),
        tables,
        charts,
        claims: Vec::new(),
    })
}

impl Row {
    fn new(number: usize, peer: &'static Peer, place: &'static str) -> Self {
        let none = Turns::default;
        Self {
            peer,
            number,
            place,
            stored: 0,
            bits_per_key: f64::NAN,
            rate: f64::NAN,
            lost: 0,
            lost_by_removal: None,
            insert: none(),
            insert_together: none(),
            absent: none(),
            present: none(),
            absent_together: none(),
            removal: none(),
        }
    }

    fn note(&mut self, round: u64, turn: Turn) {
        if round == 0 {
            self.stored = turn.stored;
            self.bits_per_key = turn.bits_per_key;
            self.rate = turn.rate.unwrap_or(f64::NAN);
            self.lost = turn.lost;
            self.lost_by_removal = turn.lost_by_removal;
        }
        let speeds = [
            (&mut self.insert, turn.insert),
            (&mut self.insert_together, turn.insert_together),
            (&mut self.absent, turn.absent),
            (&mut self.present, turn.present),
            (&mut self.absent_together, turn.absent_together),
            (&mut self.removal, turn.removal),
        ];
        for (turns, speed) in speeds {
            if let Some(speed) = speed {
                turns.note(round, speed, turn.disturbance.quiet());
            }
        }
    }
}

/// The results of one filling; speeds in million operations per second.
#[derive(Default, Serialize, Deserialize)]
struct Turn {
    stored: u64,
    bits_per_key: f64,
    /// Of the first filling, like `lost`.
    rate: Option<f64>,
    lost: u64,
    lost_by_removal: Option<u64>,
    insert: Option<f64>,
    insert_together: Option<f64>,
    absent: Option<f64>,
    present: Option<f64>,
    absent_together: Option<f64>,
    removal: Option<f64>,
    #[serde(default)]
    disturbance: Disturbance,
}

impl Turn {
    fn of(peer: &Peer, round: u64, wanted: u64, scale: Scale) -> Result<Self, Failure> {
        let name = peer.name;
        let keys = Keys::of_seed(10);
        let watch = Watch::begin();
        let (mut contender, Filled { stored, time }) = fill_peer(peer, keys, wanted)?;
        let bits_per_key = approximate(contender.bits()) / approximate(stored);
        let mut turn = Self { stored, bits_per_key, ..Self::default() };
        match peer.making {
            Making::Empty(_) => turn.insert = Some(million_per_second(stored, time)),
            Making::Of(_) => turn.insert_together = Some(million_per_second(stored, time)),
        }
        if round == 0 {
            turn.lost = stored - count_found(contender.as_ref(), keys, 0..stored);
            turn.rate = Some(measure_rate(name, contender.as_ref(), keys, scale.rate_queries())?);
        }
        let count = scale.timed_queries();
        let first = scale.rate_queries() + round * count;
        let absent = keys.absent(first, count);
        let time = timed_lookups(name, contender.as_ref(), &absent, 0)?;
        turn.absent = Some(million_per_second(count, time));
        let drawn = keys.drawn(stored, first, count);
        let (time, found) = Seconds::of(|| contender.count_found(&drawn));
        // Lost keys are counted; only a filter that finds none is an error.
        if found == 0 {
            return Err(Failure::KeysLost { contender: name.to_owned(), lost: count, of: count });
        }
        turn.present = Some(million_per_second(count, time));
        let mut answers = vec![false; absent.len()];
        let (time, together) = Seconds::of(|| contender.count_found_together(&absent, &mut answers));
        if let Some(together) = together {
            let single = contender.count_found(&absent);
            if together != single {
                return Err(Failure::AnswersDiffer { contender: name.to_owned(), single, batch: together });
            }
            turn.absent_together = Some(million_per_second(count, time));
        }
        if let Some((speed, lost)) = remove_half(contender.as_mut(), keys, stored) {
            turn.removal = Some(speed);
            turn.lost_by_removal = Some(lost);
        }
        drop(contender);
        if let Some(speed) = speed_of_bulk(peer, keys, wanted)? {
            turn.insert_together = Some(speed);
        }
        turn.disturbance = watch.end();
        Ok(turn)
    }
}

/// The speed of building a filter with one call for all keys, if there is such a call besides the one for each key.
fn speed_of_bulk(peer: &Peer, keys: Keys, wanted: u64) -> Result<Option<f64>, Failure> {
    let Making::Empty(make) = peer.making else { return Ok(None) };
    let not_built = |reason| Failure::not_built(peer.name, reason);
    let mut contender = make(in_memory(wanted)).map_err(not_built)?;
    if contender.insert_together(&[]).is_none() {
        return Ok(None);
    }
    let all = keys.present(0..wanted);
    let (time, result) = Seconds::of(|| contender.insert_together(&all));
    if !matches!(result, Some(Ok(()))) {
        return Err(not_built("it is full".to_owned()));
    }
    let found = count_found(contender.as_ref(), keys, 0..wanted);
    if found < wanted {
        return Err(Failure::KeysLost { contender: peer.name.to_owned(), lost: wanted - found, of: wanted });
    }
    Ok(Some(million_per_second(wanted, time)))
}

/// The faster one of two ways, if there are two.
fn best<'turns>(single: &'turns Turns, together: &'turns Turns) -> &'turns Turns {
    // The median of no turns is NaN, and not greater than any number.
    if single.is_empty() || together.median() > single.median() { together } else { single }
}

/// A filter with `wanted` keys, or with as many as it takes.
fn fill_peer(peer: &Peer, keys: Keys, wanted: u64) -> Result<(Box<dyn Contender>, Filled), Failure> {
    let not_built = |reason| Failure::not_built(peer.name, reason);
    match peer.making {
        Making::Empty(make) => {
            let mut contender = make(in_memory(wanted)).map_err(not_built)?;
            let filled = fill(contender.as_mut(), keys, 0, Limit::Keys(wanted));
            Ok((contender, filled))
        }
        Making::Of(make) => {
            let all = keys.present(0..wanted);
            let (time, made) = Seconds::of(|| make(&all));
            Ok((made.map_err(not_built)?, Filled { stored: wanted, time }))
        }
    }
}

/// Removes every second key, if possible. Returns the speed, and how many keys were not found then or are lost now.
fn remove_half(contender: &mut dyn Contender, keys: Keys, stored: u64) -> Option<(f64, u64)> {
    let removing = contender.as_removing()?;
    let [chosen, kept] =
        [0, 1].map(|first| -> Vec<u64> { keys.present(0..stored).into_iter().skip(first).step_by(2).collect() });
    let (time, removed) = Seconds::of(|| removing.remove_all(&chosen));
    let lost = chosen.len() as u64 - removed + (kept.len() as u64 - contender.count_found(&kept));
    Some((million_per_second(chosen.len() as u64, time), lost))
}

/// The bits that the library plans for this many keys at a rate.
fn planned_bits(stored: u64, rate: f64) -> Result<f64, Failure> {
    let capacity = usize::try_from(stored).unwrap_or(usize::MAX);
    let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(rate).preference(Preference::Space);
    let table = builder.parameters().map_err(|error| Failure::not_built("guira", error))?;
    Ok(table.bits_per_key())
}

fn speeds(rows: &[Row]) -> Table {
    let kinds = ["insert", "insert, many at once", "absent", "absent, batch", "present", "remove"];
    let names = ["filter", "version", "kind", "place"].map(Column::counted);
    let speeds = kinds.into_iter().flat_map(|kind| Column::interval(&format!("{kind}, million/s")));
    let space = [BITS, "rate, %"].map(Column::timed);
    let mut table = Table::new("Speeds", names.into_iter().chain(speeds).chain(space).collect());
    for row in rows {
        let all = [&row.insert, &row.insert_together, &row.absent, &row.absent_together, &row.present, &row.removal];
        let names = [row.peer.name, row.peer.version, row.peer.kind, row.place].map(Cell::text);
        let space = [row.bits_per_key, 100.0 * row.rate].map(Cell::Number);
        table.push(names.into_iter().chain(all.into_iter().flat_map(Cell::interval)).chain(space).collect());
    }
    table
}

/// Peers may use random numbers, so none of their figures counts as reproducible.
fn space(rows: &[Row]) -> Result<Table, Failure> {
    let figures = [
        "stored keys",
        "bits per key",
        "rate, %",
        "guira's bits per key at this rate",
        "keys lost",
        "keys lost by removal of others",
    ];
    let columns = ["filter", "version", "place"].map(Column::counted).into_iter();
    let mut table = Table::new("Space and correctness", columns.chain(figures.map(Column::timed)).collect());
    for row in rows {
        let planned = if row.number < OURS { Cell::None } else { Cell::Number(planned_bits(row.stored, row.rate)?) };
        table.push(vec![
            Cell::text(row.peer.name),
            Cell::text(row.peer.version),
            Cell::text(row.place),
            Cell::Count(row.stored),
            Cell::Number(row.bits_per_key),
            Cell::Number(100.0 * row.rate),
            planned,
            Cell::Count(row.lost),
            row.lost_by_removal.map_or(Cell::None, Cell::Count),
        ]);
    }
    Ok(table)
}

fn cannot() -> Table {
    let mut table = Table::new("What each cannot do", ["filter", "cannot"].map(Column::counted).into());
    for peer in &PEERS {
        table.push(vec![Cell::text(peer.name), Cell::text(peer.cannot)]);
    }
    table
}

/// Sizes just below and just above a power of two, where tables of powers of two double.
fn capacities(scale: Scale) -> Result<Table, Failure> {
    let power = 1 << scale.peer_power();
    let figures = ["capacity asked for", "stored keys", "bits per key", "keys lost", "keys lost by removal of others"];
    let columns = core::iter::once(Column::counted("filter")).chain(figures.map(Column::timed));
    let mut table = Table::new(format!("Capacities around 2^{}", scale.peer_power()), columns.collect());
    let keys = Keys::of_seed(13);
    for peer in &PEERS {
        // Nine tenths fill most tables of a power of two; the others are just below and above it.
        for wanted in [power / 10 * 9, power - 1, power, power + 1] {
            let (mut contender, Filled { stored, .. }) = fill_peer(peer, keys, wanted)?;
            let lost = stored - count_found(contender.as_ref(), keys, 0..stored);
            table.push(vec![
                Cell::text(peer.name),
                Cell::Count(wanted),
                Cell::Count(stored),
                Cell::Number(approximate(contender.bits()) / approximate(stored)),
                Cell::Count(lost),
                remove_half(contender.as_mut(), keys, stored).map_or(Cell::None, |(_, lost)| Cell::Count(lost)),
            ]);
        }
    }
    Ok(table)
}

/// Bits per key against speed: by single calls, and by calls for many keys where a filter has such.
fn charts_of(rows: &[Row], place: &str) -> Vec<Chart> {
    let chart = |name: &str, title: &str, speed: fn(&Row) -> &Turns| {
        let of = |row: &Row| {
            let turns = speed(row);
            let [low, high] = turns.ends();
            let point = Point { x: row.bits_per_key, y: turns.median(), low, high };
            let style = if row.number < OURS { Style::dashed(row.number) } else { Style::solid(row.number) };
            let points = if turns.is_empty() { Vec::new() } else { vec![point] };
            Series { name: named(row), style, points, others: Vec::new() }
        };
        let all = rows.iter().filter(|row| row.place == place).map(of);
        Chart {
            name: format!("peers-{name}-{}", place.replace(' ', "-")),
            title: format!("{title}, {place}"),
            x: Axis::linear_within("bits per key", [8.0, 22.0]),
            y: Axis::linear("million operations/s"),
            series: all.filter(|series| !series.points.is_empty()).collect(),
            others: None,
        }
    };
    vec![
        chart("lookups", "Bits per key against lookups of absent keys, one per call", |row| &row.absent),
        chart(
            "lookups-faster",
            "Bits per key against lookups of absent keys, in batches where there are such",
            |row| best(&row.absent, &row.absent_together),
        ),
        chart("insertions", "Bits per key against insertions, one per call", |row| &row.insert),
        chart("insertions-faster", "Bits per key against insertions, in bulk where that can be done", |row| {
            best(&row.insert, &row.insert_together)
        }),
    ]
}

/// The name, with the rate if it differs much from the one asked for.
fn named(row: &Row) -> String {
    if (0.5..=1.5).contains(&(row.rate / RATE)) {
        return row.peer.name.to_owned();
    }
    let percent = 100.0 * row.rate;
    let digits = if percent < 0.1 { format!("{percent:.2}") } else { format!("{percent:.1}") };
    format!("{} ({digits} %)", row.peer.name)
}

/// The table that claims compare: the faster way of each filter, with the ends of its turns.
fn comparison(rows: &[Row]) -> Result<Table, Failure> {
    let text = ["filter", "place", "whose", "removal", "rate"].map(Column::counted).into_iter();
    let speeds = [Column::interval(LOOKUPS), Column::interval(INSERTIONS)].into_iter().flatten();
    let columns = text.chain(speeds).chain([BITS, PLANNED].map(Column::timed));
    let mut table = Table::new("What is compared", columns.collect());
    for row in rows {
        let removes = if row.removal.is_empty() { "no" } else { "yes" };
        let rate = if row.rate < 1.1 * RATE { "at most 0.2 %" } else { "higher" };
        let whose = if row.number < OURS { "guira" } else { "peer" };
        let text = [row.peer.name, row.place, whose, removes, rate].map(Cell::text).into_iter();
        let speeds = [best(&row.absent, &row.absent_together), best(&row.insert, &row.insert_together)];
        let bits = [row.bits_per_key, planned_bits(row.stored, row.rate)?].map(Cell::Number);
        table.push(text.chain(speeds.into_iter().flat_map(Cell::interval)).chain(bits).collect());
    }
    Ok(table)
}

const LOOKUPS: &str = "lookups of absent keys, the faster way, million/s";
const INSERTIONS: &str = "insertions, the faster way, million/s";
const BITS: &str = "bits per key";
const PLANNED: &str = "guira's bits per key at this rate";

/// The claims that the library leads the filters with removal in each respect.
pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    let judge = Judge::new(tables, 4, scale);
    const PLACE: &str = "no place of the paper";
    // At quick scale there is only the first one.
    let places = judge.scale.peer_keys();
    let [small, large] = [places.first(), places.last()].map(|place| place.map_or("", |(place, _)| place));
    let ours = |column: &str, place: &str| cells(column).of("place", place).of("whose", "guira");
    let others = |column: &str, place: &str| cells(column).of("place", place).of("whose", "peer").of("removal", "yes");
    let faster = |column: &str, place| ours(column, place).greatest().above(others(column, place).greatest());
    let mut timed = Vec::new();
    for (statement, column) in [("answers batches faster", LOOKUPS), ("inserts faster, in bulk,", INSERTIONS)] {
        let statement = format!("guira {statement} than every peer that supports removal");
        timed.push(judge.claim(PLACE, format!("{statement}, in filters that caches hold"), &faster(column, small)));
        let rule = faster(column, large);
        timed.push(judge.claim_at_paper_scale(PLACE, format!("{statement}, in filters beyond all caches"), &rule));
    }
    let counted = [
        judge.claim(
            PLACE,
            "guira takes fewer bits per key than every peer that supports removal, at the peer's rate",
            &others(PLANNED, large).below(others(BITS, large)),
        ),
        judge.claim(
            PLACE,
            format!("guira takes fewer bits per key at {} % than every such peer of at most this rate", 100.0 * RATE),
            &ours(BITS, large).least().below(others(BITS, large).of("rate", "at most 0.2 %")),
        ),
    ];
    timed.into_iter().chain(counted).map(|claim| claim.of(Whose::Own).main()).collect()
}
