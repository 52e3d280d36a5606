//! What theory says about cuckoo filters: the paper's formulas as plain functions, and the planner that turns a
//! capacity and a rate into the parameters of a table.
//!
//! Section and equation numbers are those of Fan, Andersen, Kaminsky, Mitzenmacher: "Cuckoo Filter: Practically Better
//! Than Bloom" (CoNEXT 2014). Symbols: ε the false positive rate, f the bits of a fingerprint, b the slots of a bucket,
//! α the load factor, m the buckets, n the keys. *Compared slots* are all slots that a lookup compares, 2b.

mod capacity;
mod formulas;
mod planner;

pub use formulas::{bloom_bits_per_key, information_limit};
pub use planner::Preference;

pub(crate) use capacity::{promised_by, rated_load_factor, regions_to_promise_doubled};
pub(crate) use formulas::rate_of_table;
pub(crate) use planner::Plan;
pub(crate) use planner::{
    capacity_in_parts, fingerprint_bits_for_rate, regions_to_promise, with_bucket_count, with_fingerprint_bits,
};
