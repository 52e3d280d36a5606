//! Keys that come again and again: fingerprints with a counter each.

mod builder;
mod counting_cuckoo_filter;

pub use builder::CountingCuckooFilterBuilder;
pub use counting_cuckoo_filter::CountingCuckooFilter;
