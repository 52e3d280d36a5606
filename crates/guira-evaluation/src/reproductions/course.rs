//! Turns in which all filters are filled side by side, asked, and emptied: they serve table 3 and figures 5 to 8.

use serde::{Deserialize, Serialize};

use super::Extent;
use super::curves::Places;
use crate::cast::{approximate, in_memory};
use crate::contender::{Contender, Kind, Limit, Memory};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::keys::Keys;
use crate::measure::{
    Disturbance, Floor, Seconds, Timed, Watch, check_present, fill, measure_rate, million_per_second, ordered,
    timed_lookups, timed_removals,
};
use crate::scale::Scale;

/// The steps in which a filter is filled to its design capacity, and emptied again.
pub(super) const STEPS: u64 = 10;
/// The steps from only absent to only present keys.
pub(super) const SHARES: u64 = 10;
/// The points at which a filter is asked.
pub(super) const LOOKUPS: u64 = 2 * STEPS + SHARES + 1;
/// What is read beside the filters.
pub(super) const FLOOR: &str = "floor, 2 lines";

const KEYS: Keys = Keys::of_seed(3);

/// All filters, from empty to full and back.
#[derive(Serialize, Deserialize)]
pub(super) struct Turn {
    /// In the order of [`Kind::ALL`], and behind them that of the floor.
    courses: Vec<Course>,
    constructions: Vec<Construction>,
    /// Whether the machine was disturbed meanwhile.
    pub(super) disturbance: Disturbance,
}

/// The speeds of a filter, in million operations per second; or beside them, of reading two random cache lines in as much memory,
/// which says how fast the machine was.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Course {
    /// Insertion in each step up to the design capacity, by the load at its end.
    pub(super) insertions: Places,
    /// Lookups after each of these steps.
    pub(super) absent: Places,
    pub(super) present: Places,
    /// Lookups at the design capacity, by the percentage of present keys.
    pub(super) shares: Places,
    /// Removal in each step down from the design capacity, by the load at its beginning; empty if keys can't be removed.
    pub(super) removals: Places,
}

/// A filter that takes no more keys.
#[derive(Serialize, Deserialize)]
pub(super) struct Construction {
    pub(super) stored: u64,
    pub(super) load_factor: f64,
    pub(super) bits_per_key: f64,
    /// Measured only in the first turn, since it is equal in all.
    pub(super) rate: Option<f64>,
    pub(super) expected_rate: f64,
    /// Of all insertions together.
    pub(super) speed: f64,
    pub(super) bulk_speed: Option<f64>,
}

/// What figures say about turns.
pub(super) fn of_turns(extent: &Extent) -> String {
    format!(
        "Each point is measured in {} parts; in each part all filters come one after the other, in another order, and \
         with them reads of two random cache lines in as much memory, the floor. Medians of {} turns, the same ones for \
         table 3 and figures 5 to 8.",
        extent.scale.parts(),
        extent.fills
    )
}

/// All turns, in their order.
pub(super) fn turns(extent: &Extent, journal: &Journal) -> Result<Vec<Turn>, Failure> {
    let turn = |number| {
        journal.measure(&format!("all filters, filling {number}"), || LineUp::new(number, extent.scale)?.measure())
    };
    (0..extent.fills).map(turn).collect()
}

impl Turn {
    /// The courses by the names of filters, and of the floor.
    pub(super) fn courses(&self) -> impl Iterator<Item = (&'static str, &Course)> {
        Kind::ALL.iter().map(|kind| kind.name()).chain([FLOOR]).zip(&self.courses)
    }

    pub(super) fn into_constructions(self) -> impl Iterator<Item = (Kind, Construction)> {
        Kind::ALL.into_iter().zip(self.constructions)
    }
}

/// All filters of a turn.
struct LineUp {
    /// The number of the turn.
    number: u64,
    scale: Scale,
    filters: Vec<Subject>,
    floor: Floor,
    /// As in [`Turn`].
    courses: Vec<Course>,
}

/// A filter on its course.
struct Subject {
    kind: Kind,
    design_capacity: u64,
    /// The parts of a step.
    parts: u64,
    contender: Box<dyn Contender>,
    stored: u64,
    /// Of all insertions together.
    construction: Timed,
    /// The number of the first key to be looked up next.
    next_query: u64,
}

impl LineUp {
    fn new(number: u64, scale: Scale) -> Result<Self, Failure> {
        let memory = scale.memory();
        // Each turn has its own keys, after those by which rates are measured.
        let next_query = scale.rate_queries() + number * LOOKUPS * scale.timed_queries();
        let filter = |kind: Kind| {
            let (design_capacity, contender) = (kind.design_capacity(memory), kind.build(memory)?);
            let (parts, construction) = (scale.parts(), Timed::default());
            Ok(Subject { kind, design_capacity, parts, contender, stored: 0, construction, next_query })
        };
        let filters: Vec<Subject> = Kind::ALL.into_iter().map(filter).collect::<Result<_, Failure>>()?;
        let courses = (0..=filters.len()).map(|_| Course::default()).collect();
        Ok(Self { number, scale, filters, floor: Floor::new(memory.bits() / 8)?, courses })
    }

    fn measure(mut self) -> Result<Turn, Failure> {
        let mut watch = Watch::begin();
        let count = self.scale.timed_queries() / self.scale.parts();
        for step in 0..STEPS {
            let load = |full: f64| full * approximate(step + 1) / approximate(STEPS);
            let insertions = self.time(1, |filter, _, part| filter.insert(step, part))?;
            self.note(&insertions[0], |course| &mut course.insertions, load);
            let lookups = self.time(2, |filter, present, _| filter.look_up(count, present * count))?;
            self.note(&lookups[0], |course| &mut course.absent, load);
            self.note(&lookups[1], |course| &mut course.present, load);
            watch.look();
        }
        let lookups = self.time(SHARES + 1, |filter, share, _| filter.look_up(count, count * share / SHARES))?;
        for (share, speeds) in (0..).zip(&lookups) {
            let percent = 100.0 * approximate(share) / approximate(SHARES);
            self.note(speeds, |course| &mut course.shares, |_| percent);
        }
        let mut constructions = Vec::new();
        for filter in &mut self.filters {
            constructions.push(filter.fill_up(self.number, self.scale)?);
            filter.remove_surplus(self.number)?;
        }
        for step in 0..STEPS {
            watch.look();
            let load = |full: f64| full * approximate(STEPS - step) / approximate(STEPS);
            let removals = self.time(1, |filter, _, part| filter.remove(step, part))?;
            self.note(&removals[0], |course| &mut course.removals, load);
        }
        for filter in &mut self.filters {
            filter.check_empty()?;
        }
        let Self { scale, courses, .. } = self;
        // Other tables were freed before this.
        for (kind, construction) in Kind::ALL.into_iter().zip(&mut constructions) {
            construction.bulk_speed = bulk_speed(kind, scale.memory())?;
        }
        Ok(Turn { courses, constructions, disturbance: watch.end() })
    }

    /// Times a number of points, in parts: the speeds of each point, in the order of courses; none of a filter that did nothing.
    ///
    /// All filters come one after the other in each part, so that whatever slows the machine down for a while slows all of them down.
    fn time(
        &mut self,
        points: u64,
        mut measure: impl FnMut(&mut Subject, u64, u64) -> Result<Timed, Failure>,
    ) -> Result<Vec<Vec<Option<f64>>>, Failure> {
        let [points, places]: [Vec<usize>; 2] =
            [in_memory(points), self.courses.len()].map(|count| (0..count).collect());
        let mut all = vec![vec![Timed::default(); places.len()]; points.len()];
        let parts = self.scale.parts();
        for part in 0..parts {
            let turn = parts * self.number + part;
            for (_, &point) in ordered(&points, turn) {
                for (_, &place) in ordered(&places, turn) {
                    let timed = match self.filters.get_mut(place) {
                        Some(filter) => measure(filter, point as u64, part)?,
                        None => self.read()?,
                    };
                    all[point][place] += timed;
                }
            }
        }
        Ok(all.into_iter().map(|point| point.into_iter().map(speed).collect()).collect())
    }

    /// Reads two lines of the floor for each of twice as many keys as are looked up in a part, since that takes half as long.
    fn read(&self) -> Result<Timed, Failure> {
        let operations = 2 * self.scale.timed_queries() / self.scale.parts();
        Ok(Timed { operations, time: self.floor.single::<2>(&KEYS.absent(0, operations))? })
    }

    /// Notes the speeds of all filters at a place that depends on their load when they are full.
    fn note(
        &mut self,
        speeds: &[Option<f64>],
        places: impl Fn(&mut Course) -> &mut Places,
        place: impl Fn(f64) -> f64,
    ) {
        let memory = self.scale.memory();
        // The floor has the places of the paper's CF.
        let kinds = Kind::ALL.into_iter().chain([Kind::Printed]);
        for ((kind, course), speed) in kinds.zip(&mut self.courses).zip(speeds) {
            let full = approximate(kind.design_capacity(memory)) / approximate(memory.slots());
            places(course).extend(speed.map(|speed| (place(full), speed)));
        }
    }
}

impl Subject {
    /// The keys that are stored when so many parts of a step are over, and all steps before it.
    const fn keys_after(&self, step: u64, parts: u64) -> u64 {
        self.design_capacity * (step * self.parts + parts) / (STEPS * self.parts)
    }

    /// Inserts the keys of a part of a step.
    fn insert(&mut self, step: u64, part: u64) -> Result<Timed, Failure> {
        let end = self.keys_after(step, part + 1);
        let timed = self.fill(Limit::Keys(end - self.stored));
        if self.stored < end {
            return Err(Failure::not_built(self.kind.name(), format!("it takes {} keys of {end}", self.stored)));
        }
        Ok(timed)
    }

    fn fill(&mut self, limit: Limit) -> Timed {
        let filled = fill(self.contender.as_mut(), KEYS, self.stored, limit);
        let timed = Timed { operations: filled.stored, time: filled.time };
        self.stored += filled.stored;
        self.construction += timed;
        timed
    }

    /// Looks up keys, of which `present` are stored.
    fn look_up(&mut self, count: u64, present: u64) -> Result<Timed, Failure> {
        let queries = KEYS.mixture(self.stored, self.next_query, count, present);
        self.next_query += count;
        let time = timed_lookups(self.kind.name(), self.contender.as_ref(), &queries, present)?;
        Ok(Timed { operations: count, time })
    }

    /// Fills the filter beyond its design capacity, as far as in table 3.
    fn fill_up(&mut self, turn: u64, scale: Scale) -> Result<Construction, Failure> {
        let limit = match self.kind.limit(scale.memory()) {
            Limit::FirstRefusal => Limit::FirstRefusal,
            Limit::Keys(count) => Limit::Keys(count - self.stored),
        };
        self.fill(limit);
        let contender = self.contender.as_ref();
        let rate = || measure_rate(self.kind.name(), contender, KEYS, scale.rate_queries());
        Ok(Construction {
            stored: self.stored,
            load_factor: approximate(self.stored) / approximate(scale.memory().slots()),
            bits_per_key: approximate(contender.bits()) / approximate(self.stored),
            rate: (turn == 0).then(rate).transpose()?,
            expected_rate: contender.expected_rate(),
            speed: million_per_second(self.construction.operations, self.construction.time),
            bulk_speed: None,
        })
    }

    /// Removes the keys beyond the design capacity. Where keys can't be removed, looks up all of them in the first turn; the others
    /// have the same ones.
    fn remove_surplus(&mut self, turn: u64) -> Result<(), Failure> {
        let (name, surplus) = (self.kind.name(), self.design_capacity..self.stored);
        match self.contender.as_removing() {
            Some(removing) => timed_removals(name, removing, KEYS, surplus).map(|_time| ()),
            None if turn == 0 => check_present(name, self.contender.as_ref(), KEYS, 0..self.stored),
            None => Ok(()),
        }
    }

    /// Removes the keys of a part of a step, if keys can be removed. Half way, looks up those that are left.
    fn remove(&mut self, step: u64, part: u64) -> Result<Timed, Failure> {
        let (name, capacity) = (self.kind.name(), self.design_capacity);
        let [begin, end] = [part, part + 1].map(|parts| self.keys_after(step, parts));
        let Some(removing) = self.contender.as_removing() else { return Ok(Timed::default()) };
        if (step, part) == (STEPS / 2, 0) {
            check_present(name, removing, KEYS, begin..capacity)?;
        }
        Ok(Timed { operations: end - begin, time: timed_removals(name, removing, KEYS, begin..end)? })
    }

    /// Fails if a filter that all keys were removed from still has some.
    fn check_empty(&mut self) -> Result<(), Failure> {
        match self.contender.as_removing().map_or(0, |removing| removing.len()) {
            0 => Ok(()),
            left => Err(Failure::KeysLeft { contender: self.kind.name().to_owned(), left }),
        }
    }
}

/// In million operations per second, if there were any.
fn speed(Timed { operations, time }: Timed) -> Option<f64> {
    (operations > 0).then(|| million_per_second(operations, time))
}

/// The speed of the library's bulk build, to the design capacity.
fn bulk_speed(kind: Kind, memory: Memory) -> Result<Option<f64>, Failure> {
    let Some(builder) = kind.cuckoo_builder(memory) else { return Ok(None) };
    let mut filter = builder.build().map_err(|error| Failure::not_built(kind.name(), error))?;
    let count = kind.design_capacity(memory);
    // The keys of a chunk take a third of the table's memory; all keys of a table of 192 MB would take five times as much.
    let chunk_len = (memory.bits() / 192).max(1 << 20);
    let mut time = Seconds::default();
    for first in (0..count).step_by(in_memory(chunk_len)) {
        let chunk = KEYS.present(first..count.min(first + chunk_len));
        let (chunk_time, result) = Seconds::of(|| filter.insert_many(&chunk));
        result.map_err(|error| Failure::not_built(kind.name(), error))?;
        time += chunk_time;
    }
    Ok(Some(million_per_second(count, time)))
}
