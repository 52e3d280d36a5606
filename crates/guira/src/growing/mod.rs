//! A filter whose table doubles when it is full.

mod batch;
mod builder;
mod growing_cuckoo_filter;
mod merge;

pub use builder::{BeyondPromise, GrowingCuckooFilterBuilder};
pub use growing_cuckoo_filter::GrowingCuckooFilter;
