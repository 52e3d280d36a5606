//! The filter behind a shared reference: readers that take no lock and never miss a key, writers that lock a stripe.
//!
//! Writers hold the locks of all buckets that they write, except to fill an empty slot, which is one atomic step. So
//! among themselves they are as in a filter for one thread. What readers rely on is in `versions.rs`.

// First, so that its page begins with how a filter is made.
mod concurrent_cuckoo_filter;

mod batch;
mod concurrent_expiring_cuckoo_filter;
mod doubling;
mod generation;
mod growing;
mod guards;
mod lookup;
mod shared_table;
mod snapshot;
mod stripes;
mod times;
mod update;
mod versions;

pub use concurrent_cuckoo_filter::ConcurrentCuckooFilter;
pub use concurrent_expiring_cuckoo_filter::ConcurrentExpiringCuckooFilter;
