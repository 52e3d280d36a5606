//! Operations on filters, timed and checked.

mod clock;
mod disturbance;
mod filling;
mod floor;
mod lookup;
mod turns;

pub(crate) use clock::{Seconds, Timed, median, million_per_second, nanoseconds};
pub(crate) use disturbance::{Disturbance, MOST as MOST_DISTURBED, Watch};
#[cfg(feature = "peers")]
pub(crate) use filling::Filled;
pub(crate) use filling::fill;
pub(crate) use floor::Floor;
pub(crate) use lookup::{check_answers, check_present, count_found, measure_rate, timed_lookups, timed_removals};
pub(crate) use turns::{Quiet, Single, Turns, ordered};
