//! A filter whose table doubles when it is full.

mod batch;
mod builder;
mod growing_cuckoo_filter;
mod merge;
mod promise;

pub use builder::GrowingCuckooFilterBuilder;
pub use growing_cuckoo_filter::GrowingCuckooFilter;
pub use promise::BeyondPromise;

#[cfg(feature = "std")]
pub(crate) use growing_cuckoo_filter::is_crowded;
pub(crate) use promise::Promise;
