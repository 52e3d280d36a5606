//! One filling of a filter, which serves table 3 and figures 5 to 8.

use serde::{Deserialize, Serialize};

use super::Extent;
use super::curves::Places;
use crate::cast::{approximate, in_memory};
use crate::contender::{Contender, Kind, Limit, Memory};
use crate::failure::Failure;
use crate::journal::Journal;
use crate::keys::Keys;
use crate::measure::{
    Disturbance, Filled, Seconds, Watch, check_present, fill, measure_rate, million_per_second, ordered, timed_lookups,
    timed_removals,
};
use crate::scale::Scale;

/// The steps in which a filter is filled to its design capacity, and emptied again.
pub(super) const STEPS: u64 = 10;
/// The steps from only absent to only present keys.
pub(super) const SHARES: u64 = 10;
/// The number of timed lookups in a course.
pub(super) const LOOKUPS: u64 = 2 * STEPS + SHARES + 1;

/// What figures say about courses.
pub(super) const FILLINGS: &str =
    "fillings, the same ones for table 3 and figures 5 to 8; in each of them filters come in another order.";

const KEYS: Keys = Keys::of_seed(3);

/// The speeds of a filter on its way from empty to full, and back if keys can be removed, in million operations per second.
#[derive(Serialize, Deserialize)]
pub(super) struct Course {
    /// Insertion in each step up to the design capacity, by the load at its end.
    pub(super) insertions: Places,
    /// Lookups after each of these steps.
    pub(super) absent: Places,
    pub(super) present: Places,
    /// Lookups at the design capacity, by the percentage of present keys.
    pub(super) shares: Places,
    pub(super) construction: Construction,
    /// Removal in each step down from the design capacity, by the load at its beginning; empty if keys can't be removed.
    pub(super) removals: Places,
    /// Whether the machine was disturbed meanwhile.
    #[serde(default)]
    pub(super) disturbance: Disturbance,
}

/// A filter that takes no more keys.
#[derive(Serialize, Deserialize)]
pub(super) struct Construction {
    pub(super) stored: u64,
    pub(super) load_factor: f64,
    pub(super) bits_per_key: f64,
    /// Measured only in the first round, since it is equal in all.
    pub(super) rate: Option<f64>,
    pub(super) expected_rate: f64,
    /// Of all insertions together.
    pub(super) speed: f64,
    pub(super) bulk_speed: Option<f64>,
}

/// The courses of all filters, with the number of their round. Each round takes the filters in another order.
pub(super) fn courses(extent: &Extent, journal: &Journal) -> Result<Vec<(Kind, u64, Course)>, Failure> {
    let mut courses = Vec::new();
    for round in 0..extent.fills {
        for (_, &kind) in ordered(&Kind::ALL, round) {
            let name = format!("course, {}, filling {round}", kind.name());
            courses.push((kind, round, journal.measure(&name, || Course::measure(kind, round, extent.scale))?));
        }
    }
    Ok(courses)
}

impl Course {
    fn measure(kind: Kind, round: u64, scale: Scale) -> Result<Self, Failure> {
        let (memory, queries) = (scale.memory(), scale.timed_queries());
        let watch = Watch::begin();
        let mut subject = Subject::new(kind, round, scale)?;
        let [mut insertions, mut absent, mut present, mut shares] = [const { Places::new() }; 4];
        for step in 1..=STEPS {
            let end = kind.design_capacity(memory) * step / STEPS;
            let speed = subject.fill_to(Limit::Keys(end));
            let load = subject.load_factor();
            if subject.stored == end {
                insertions.push((load, speed));
            }
            absent.push((load, subject.look_up(0)?));
            present.push((load, subject.look_up(queries)?));
        }
        for share in 0..=SHARES {
            let percent = 100.0 * approximate(share) / approximate(SHARES);
            shares.push((percent, subject.look_up(queries * share / SHARES)?));
        }
        let at_capacity = subject.stored;
        subject.fill_to(kind.limit(memory));
        let mut construction = subject.construction(round)?;
        let removals = subject.empty(at_capacity)?;
        // The other table was freed before this.
        construction.bulk_speed = bulk_speed(kind, memory)?;
        Ok(Self { insertions, absent, present, shares, construction, removals, disturbance: watch.end() })
    }
}

/// A filter on its course.
struct Subject {
    kind: Kind,
    scale: Scale,
    contender: Box<dyn Contender>,
    stored: u64,
    /// Of all insertions together.
    time: Seconds,
    /// The number of the first key to be looked up next.
    next_query: u64,
}

impl Subject {
    fn new(kind: Kind, round: u64, scale: Scale) -> Result<Self, Failure> {
        // Each round has its own keys, after those by which rates are measured.
        let next_query = scale.rate_queries() + round * LOOKUPS * scale.timed_queries();
        let contender = kind.build(scale.memory())?;
        Ok(Self { kind, scale, contender, stored: 0, time: Seconds::default(), next_query })
    }

    fn load_factor(&self) -> f64 {
        approximate(self.stored) / approximate(self.scale.memory().slots())
    }

    /// Fills the filter up to the limit, and returns the speed.
    fn fill_to(&mut self, limit: Limit) -> f64 {
        let limit = match limit {
            Limit::FirstRefusal => limit,
            Limit::Keys(count) => Limit::Keys(count - self.stored),
        };
        let Filled { stored, time } = fill(self.contender.as_mut(), KEYS, self.stored, limit);
        self.stored += stored;
        self.time += time;
        million_per_second(stored, time)
    }

    /// Looks up keys, of which `present` are stored, and returns the speed.
    fn look_up(&mut self, present: u64) -> Result<f64, Failure> {
        let count = self.scale.timed_queries();
        let queries = KEYS.mixture(self.stored, self.next_query, count, present);
        self.next_query += count;
        let time = timed_lookups(self.kind.name(), self.contender.as_ref(), &queries, present)?;
        Ok(million_per_second(count, time))
    }

    fn construction(&self, round: u64) -> Result<Construction, Failure> {
        let contender = self.contender.as_ref();
        let rate = || measure_rate(self.kind.name(), contender, KEYS, self.scale.rate_queries());
        Ok(Construction {
            stored: self.stored,
            load_factor: self.load_factor(),
            bits_per_key: approximate(contender.bits()) / approximate(self.stored),
            rate: (round == 0).then(rate).transpose()?,
            expected_rate: contender.expected_rate(),
            speed: million_per_second(self.stored, self.time),
            bulk_speed: None,
        })
    }

    /// Removes the keys after the first `kept` ones, then these in steps, and looks up the remaining ones half way. If keys
    /// can't be removed, looks up all of them.
    fn empty(mut self, kept: u64) -> Result<Places, Failure> {
        let name = self.kind.name();
        let mut places = Places::new();
        let Some(removing) = self.contender.as_removing() else {
            check_present(name, self.contender.as_ref(), KEYS, 0..self.stored)?;
            return Ok(places);
        };
        timed_removals(name, removing, KEYS, kept..self.stored)?;
        for step in 0..STEPS {
            let [begin, end] = [step, step + 1].map(|step| kept * step / STEPS);
            if step == STEPS / 2 {
                check_present(name, removing, KEYS, begin..kept)?;
            }
            let time = timed_removals(name, removing, KEYS, begin..end)?;
            let load = approximate(kept - begin) / approximate(self.scale.memory().slots());
            places.push((load, million_per_second(end - begin, time)));
        }
        match removing.len() {
            0 => Ok(places),
            left => Err(Failure::KeysLeft { contender: name.to_owned(), left }),
        }
    }
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
