//! Keys that are inserted many times: fingerprints with a counter each.

mod counting_cuckoo_filter;

pub use counting_cuckoo_filter::CountingCuckooFilter;
