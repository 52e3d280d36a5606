//! A rough estimate of time and memory, printed before measuring.

use core::fmt;

use super::{Extent, Name, course, figure_2};
use crate::cast::approximate;
use crate::contender::Kind;

/// Seconds per operation in a filter larger than the caches, averaged over the filters here; slow machines take twice as long.
const INSERT: f64 = 0.2e-6;
const LOOKUP: f64 = 0.1e-6;
const REMOVE: f64 = 0.15e-6;
/// The factor for a small filter.
const IN_CACHE: f64 = 0.2;
/// The time of anything that is not worth an estimate.
const SOME_SECONDS: f64 = 1.0;

/// Time, and peak memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(super) seconds: f64,
    pub(super) bytes: f64,
}

impl Cost {
    /// The cost of two measurements, one after the other.
    pub(crate) fn then(self, other: Self) -> Self {
        Self { seconds: self.seconds + other.seconds, bytes: self.bytes.max(other.bytes) }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, bytes } = self;
        let gigabytes = bytes / 1e9;
        if *seconds < 100.0 {
            write!(formatter, "{seconds:.0} seconds, {gigabytes:.1} GB")
        } else if *seconds < 6000.0 {
            write!(formatter, "{:.0} minutes, {gigabytes:.1} GB", seconds / 60.0)
        } else {
            write!(formatter, "{:.1} hours, {gigabytes:.1} GB", seconds / 3600.0)
        }
    }
}

impl Name {
    pub(crate) fn cost(self, extent: &Extent) -> Cost {
        let Extent { scale, rounds, fills, .. } = *extent;
        let memory = scale.memory();
        let slow = if scale.is_quick() { IN_CACHE } else { 1.0 };
        let kinds = approximate(Kind::ALL.len() as u64);
        let table = approximate(memory.bits()) / 8.0;
        // Filters are filled to some nine tenths of their slots, or with as many keys.
        let keys = 0.9 * approximate(memory.slots());
        let asked = approximate(scale.timed_queries());
        let space = approximate(1 << (scale.space_exponent() + 2));
        let of = |fillings: f64, seconds: f64| fillings * seconds * slow;
        let [rounds, fills] = [rounds, fills].map(approximate);
        let (seconds, bytes) = match self {
            Self::Table1 | Self::Table2 | Self::Figure4 | Self::DAry | Self::Details => {
                (SOME_SECONDS + kinds * space * (INSERT + LOOKUP), 4.0 * space)
            }
            Self::Figure3 => (SOME_SECONDS + 96.0 * space * (INSERT + LOOKUP), 8.0 * space),
            // All of them share their turns, in which all filters are in memory at once. The library's filters are also built in
            // bulk. Half of the keys are looked up before they are removed.
            Self::Table3 | Self::Figure5 | Self::Figure6 | Self::Figure7 | Self::Figure8 => {
                let lookups = 0.4 * keys + approximate(course::LOOKUPS) * asked;
                let course = 1.3 * keys * INSERT + lookups * LOOKUP + 0.8 * keys * REMOVE;
                let rates = of(kinds, approximate(scale.rate_queries()) * LOOKUP);
                (of(kinds * fills, course) + rates, (kinds + 2.0) * table)
            }
            // All filters are in memory at once, with the keys for bulk building.
            Self::Floors => {
                (of(kinds, 2.0 * keys * INSERT) + of(kinds * rounds, 3.0 * asked * LOOKUP), 14.0 * table + 8.0 * keys)
            }
            Self::Figure2 => return figure_2::cost(extent),
            Self::Equation3 => {
                let tables = 2.0 * 3.0 * 2.0 * 8.0 * approximate(scale.bound_runs());
                (SOME_SECONDS + tables * space * (INSERT + LOOKUP), 16.0 * space)
            }
            #[cfg(feature = "peers")]
            Self::Losses => (SOME_SECONDS, 0.0),
            #[cfg(feature = "peers")]
            Self::Peers => {
                let keys = approximate(scale.peer_keys().iter().map(|(_, keys)| *keys).sum());
                let turn = keys * (1.5 * INSERT + LOOKUP + REMOVE) + 3.0 * asked * LOOKUP;
                (SOME_SECONDS + of(10.0 * fills, turn), 45.0 * keys)
            }
        };
        Cost { seconds, bytes }
    }
}
