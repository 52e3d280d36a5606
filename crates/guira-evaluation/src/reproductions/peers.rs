//! Filters of other people beside the library's, each by its own interface.

use guira::analysis::{Plan, Preference};

use super::Extent;
use crate::cast::{approximate, in_memory};
use crate::contender::{Contender, Limit, Making, Peer, RATE};
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{
    Filled, Seconds, Turns, count_found, fill, measure_rate, million_per_second, rotated, timed_lookups,
};
use crate::report::{Cell, Claim, Column, Reproduction, Table, Verdict, four_digits};
use crate::scale::Scale;

/// The library's own filters come first.
const OURS: usize = 2;

struct Row {
    peer: &'static Peer,
    stored: u64,
    bits_per_key: f64,
    rate: f64,
    /// Stored keys that are not found, in the filled filter.
    lost: u64,
    /// Of the keys that were to stay while the others were removed; none where keys can't be removed.
    lost_by_removal: Option<u64>,
    insert: Turns,
    insert_together: Turns,
    absent: Turns,
    present: Turns,
    absent_together: Turns,
    removal: Turns,
}

static PEERS: [Peer; 10] = Peer::ALL;

pub(super) fn reproduce(extent: &Extent) -> Result<Reproduction, Failure> {
    let Extent { scale, fills: rounds, .. } = *extent;
    let wanted = scale.peer_keys();
    let mut rows: Vec<Row> = PEERS.iter().map(Row::new).collect();
    for round in 0..rounds {
        for (number, _) in rotated(&PEERS, round) {
            rows[number].take_turn(round, wanted, scale)?;
        }
    }
    Ok(Reproduction {
        name: "peers".to_owned(),
        title: "Peers: other filters of today".to_owned(),
        method: format!(
            "Filters for {wanted} keys and a rate of {} %, where that can be chosen, are filled with so many, and asked for {} keys \
             at a time that none was asked for before. Each hashes keys as it does by itself. The library plans its filters by \
             itself, one for speed and one for space. All operations take one key per call, but for those of many keys, where a \
             filter has them: bulk building, and batch lookups of absent keys. Then every second key is removed, and the others \
             are looked for. Keys lost were stored, and are not found; keys that did not fit are missing from the count of \
             stored ones. Some filters draw random numbers, so that their counts vary. Medians of {rounds} turns, each in another \
             order.",
            100.0 * RATE,
            scale.timed_queries(),
        ),
        tables: vec![speeds(&rows), space(&rows)?, cannot(), capacities(scale)?],
        charts: Vec::new(),
        claims: claims(&rows)?,
    })
}

impl Row {
    fn new(peer: &'static Peer) -> Self {
        let none = Turns::default;
        Self {
            peer,
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

    fn take_turn(&mut self, round: u64, wanted: u64, scale: Scale) -> Result<(), Failure> {
        let name = self.peer.name;
        let keys = Keys::of_seed(10);
        let (mut contender, Filled { stored, time }) = fill_peer(self.peer, keys, wanted)?;
        match self.peer.making {
            Making::Empty(_) => self.insert.note(million_per_second(stored, time)),
            Making::Of(_) => self.insert_together.note(million_per_second(stored, time)),
        }
        if round == 0 {
            self.stored = stored;
            self.lost = stored - count_found(contender.as_ref(), keys, 0..stored);
            self.rate = measure_rate(name, contender.as_ref(), keys, scale.rate_queries())?;
            self.bits_per_key = approximate(contender.bits()) / approximate(stored);
        }
        let count = scale.timed_queries();
        let first = scale.rate_queries() + round * count;
        let absent = keys.absent(first, count);
        let time = timed_lookups(name, contender.as_ref(), &absent, 0)?;
        self.absent.note(million_per_second(count, time));
        let drawn = keys.drawn(stored, first, count);
        let (time, found) = Seconds::of(|| contender.count_found(&drawn));
        // Lost keys are counted, and only a filter that answers nothing is no contender.
        if found == 0 {
            return Err(Failure::KeysLost { contender: name.to_owned(), lost: count, of: count });
        }
        self.present.note(million_per_second(count, time));
        let mut answers = vec![false; absent.len()];
        let (time, together) = Seconds::of(|| contender.count_found_together(&absent, &mut answers));
        if let Some(together) = together {
            let single = contender.count_found(&absent);
            if together != single {
                return Err(Failure::AnswersDiffer { contender: name.to_owned(), single, batch: together });
            }
            self.absent_together.note(million_per_second(count, time));
        }
        self.remove_half(round, contender.as_mut(), keys, stored);
        drop(contender);
        self.build_together(keys, wanted)
    }

    fn remove_half(&mut self, round: u64, contender: &mut dyn Contender, keys: Keys, stored: u64) {
        let Some((speed, lost)) = remove_half(contender, keys, stored) else { return };
        self.removal.note(speed);
        if round == 0 {
            self.lost_by_removal = Some(lost);
        }
    }

    /// Builds it again by one call for all keys, if there is such a call.
    fn build_together(&mut self, keys: Keys, wanted: u64) -> Result<(), Failure> {
        let Making::Empty(make) = self.peer.making else { return Ok(()) };
        let not_built = |reason| Failure::not_built(self.peer.name, reason);
        let mut contender = make(in_memory(wanted)).map_err(not_built)?;
        if contender.insert_together(&[]).is_none() {
            return Ok(());
        }
        let all = keys.present(0..wanted);
        let (time, result) = Seconds::of(|| contender.insert_together(&all));
        match result {
            Some(Ok(())) => self.insert_together.note(million_per_second(wanted, time)),
            _ => return Err(not_built("it is full".to_owned())),
        }
        let found = count_found(contender.as_ref(), keys, 0..wanted);
        if found < wanted {
            return Err(Failure::KeysLost { contender: self.peer.name.to_owned(), lost: wanted - found, of: wanted });
        }
        Ok(())
    }

    fn best_insert(&self) -> f64 {
        best(&self.insert, &self.insert_together)
    }

    fn best_lookup(&self) -> f64 {
        best(&self.absent, &self.absent_together)
    }
}

/// The faster one of two ways, if there are two.
fn best(single: &Turns, together: &Turns) -> f64 {
    if together.is_empty() { single.median() } else { single.median().max(together.median()) }
}

/// One of them with so many keys, or as many as it takes.
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

/// Removes every second key, if that can be done: the speed, and how many keys were not there, or are gone of the others.
fn remove_half(contender: &mut dyn Contender, keys: Keys, stored: u64) -> Option<(f64, u64)> {
    let removing = contender.as_removing()?;
    let [chosen, kept] =
        [0, 1].map(|first| -> Vec<u64> { keys.present(0..stored).into_iter().skip(first).step_by(2).collect() });
    let (time, removed) = Seconds::of(|| removing.remove_all(&chosen));
    let lost = chosen.len() as u64 - removed + (kept.len() as u64 - contender.count_found(&kept));
    Some((million_per_second(chosen.len() as u64, time), lost))
}

/// What the library takes for so many keys at a rate.
fn planned_bits(stored: u64, rate: f64) -> Result<f64, Failure> {
    let plan = Plan::new(stored, rate, Preference::Space).map_err(|error| Failure::not_built("guira", error))?;
    Ok(plan.bits_per_key())
}

fn speeds(rows: &[Row]) -> Table {
    let kinds = ["insert", "insert, many at once", "absent", "absent, batch", "present", "remove"];
    let columns = kinds.into_iter().flat_map(|kind| [format!("{kind}, million/s"), format!("{kind}: spread, %")]);
    let columns = core::iter::once(Column::counted("filter")).chain(columns.map(Column::timed));
    let mut table = Table::new("Speeds", columns.collect());
    for row in rows {
        let all = [&row.insert, &row.insert_together, &row.absent, &row.absent_together, &row.present, &row.removal];
        let cells = all.into_iter().flat_map(|turns| match turns.is_empty() {
            true => [Cell::None, Cell::None],
            false => [Cell::Number(turns.median()), Cell::None],
        });
        table.push(core::iter::once(Cell::text(row.peer.name)).chain(cells).collect());
    }
    table
}

/// Peers may draw random numbers, so that nothing of them counts as the same in every run.
fn space(rows: &[Row]) -> Result<Table, Failure> {
    let figures = [
        "stored keys",
        "bits per key",
        "rate, %",
        "guira's bits per key at this rate",
        "keys lost",
        "keys lost by removal of others",
    ];
    let columns = [Column::counted("filter"), Column::counted("version")].into_iter();
    let mut table = Table::new("Space and correctness", columns.chain(figures.map(Column::timed)).collect());
    for (number, row) in rows.iter().enumerate() {
        let planned = if number < OURS { Cell::None } else { Cell::Number(planned_bits(row.stored, row.rate)?) };
        table.push(vec![
            Cell::text(row.peer.name),
            Cell::text(row.peer.version),
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

/// Just below and just above a power of two, where tables of whole powers of two double.
fn capacities(scale: Scale) -> Result<Table, Failure> {
    let power = 1 << scale.peer_power();
    let figures = ["capacity asked for", "stored keys", "bits per key", "keys lost", "keys lost by removal of others"];
    let columns = core::iter::once(Column::counted("filter")).chain(figures.map(Column::timed));
    let mut table = Table::new(format!("Capacities around 2^{}", scale.peer_power()), columns.collect());
    let keys = Keys::of_seed(13);
    for peer in &PEERS {
        // Nine tenths fill most tables of a power of two; the others are on both sides of it.
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

/// That the library leads those from which keys can be removed, in each respect.
fn claims(rows: &[Row]) -> Result<Vec<Claim>, Failure> {
    let (ours, others) = rows.split_at(OURS);
    let removing: Vec<&Row> = others.iter().filter(|row| !row.removal.is_empty()).collect();
    let leads = |figure: fn(&Row) -> f64| {
        let best = ours.iter().map(figure).fold(f64::NEG_INFINITY, f64::max);
        let shown = ours.iter().chain(removing.iter().copied());
        let evidence = shown.map(|row| format!("{} {}", row.peer.name, four_digits(figure(row))));
        let ahead: Vec<&str> = removing.iter().filter(|row| figure(row) >= best).map(|row| row.peer.name).collect();
        let ahead = if ahead.is_empty() { String::new() } else { format!("; ahead: {}", ahead.join(", ")) };
        (ahead.is_empty(), format!("million/s: {}{ahead}", evidence.collect::<Vec<_>>().join(", ")))
    };
    let (lookups, lookups_evidence) = leads(Row::best_lookup);
    let (inserts, inserts_evidence) = leads(Row::best_insert);
    let mut bits = Vec::new();
    let mut smaller = Vec::new();
    for row in removing {
        let planned = planned_bits(row.stored, row.rate)?;
        bits.push(format!("{} {} ({})", row.peer.name, four_digits(row.bits_per_key), four_digits(planned)));
        if row.bits_per_key <= planned {
            smaller.push(row.peer.name);
        }
    }
    let smaller_names = if smaller.is_empty() { String::new() } else { format!("; smaller: {}", smaller.join(", ")) };
    Ok(vec![
        Claim::timed(
            "guira answers batches faster than every peer that supports removal",
            Verdict::of(lookups),
            lookups_evidence,
        )
        .main(),
        Claim::timed(
            "guira inserts faster, in bulk, than every peer that supports removal",
            Verdict::of(inserts),
            inserts_evidence,
        )
        .main(),
        Claim::timed(
            "guira takes fewer bits per key than every peer that supports removal, at the peer's rate",
            Verdict::of(smaller.is_empty()),
            format!("bits per key (guira's at the same rate): {}{smaller_names}", bits.join(", ")),
        )
        .main(),
        Claim::timed(
            format!("guira takes fewer bits per key at {} % than every such peer of at most this rate", 100.0 * RATE),
            Verdict::of(
                others.iter().filter(|row| !row.removal.is_empty() && row.rate < 1.1 * RATE).all(|row| {
                    row.bits_per_key > ours.iter().map(|row| row.bits_per_key).fold(f64::INFINITY, f64::min)
                }),
            ),
            rows.iter()
                .filter(|row| !row.removal.is_empty() && row.rate < 1.1 * RATE)
                .map(|row| {
                    format!(
                        "{} {} at {} %",
                        row.peer.name,
                        four_digits(row.bits_per_key),
                        four_digits(100.0 * row.rate)
                    )
                })
                .collect::<Vec<_>>()
                .join(", "),
        )
        .main(),
    ])
}
