//! What keys cost in other structures, to be compared with
//! [`Parameters::bits_per_key`](crate::Parameters::bits_per_key), by formulas of Fan, Andersen, Kaminsky, Mitzenmacher: "Cuckoo
//! Filter: Practically Better Than Bloom" (CoNEXT 2014).
//!
//! For what they cost in a cuckoo filter, see [`FilterBuilder::parameters`](crate::FilterBuilder::parameters)
//! and [`alternatives`](crate::FilterBuilder::alternatives).

mod capacity;
mod formulas;
mod planner;
mod search;
mod tails;

pub use formulas::{bloom_bits_per_key, information_limit};
pub use planner::Preference;

pub(crate) use formulas::rate_of_table;
pub(crate) use planner::{
    PLANNED_SLOTS, capacity_in_parts, fingerprint_bits_for_rate, regions_beside_values, regions_to_promise, smallest,
    with_fingerprint_bits, with_shape,
};
pub(crate) use search::{in_large_regions, promised_by, regions_to_promise_doubled};
