//! What is done to a filter, and how it is timed and checked.

mod clock;
mod filling;
mod lookup;

pub(crate) use clock::{Seconds, median, million_per_second};
pub(crate) use filling::{Filled, fill};
pub(crate) use lookup::{check_present, measure_rate, timed_lookups, timed_removals};
