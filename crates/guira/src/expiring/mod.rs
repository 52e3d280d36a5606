//! Keys that expire: each fingerprint carries the number of the generation in which its key came.

mod builder;
mod expiring_cuckoo_filter;
mod generations;

#[cfg(feature = "concurrent")]
pub(crate) use builder::Expires;
pub use expiring_cuckoo_filter::ExpiringCuckooFilter;
#[cfg(feature = "concurrent")]
pub(crate) use expiring_cuckoo_filter::{SWEPT_BY_ADVANCE, SWEPT_BY_INSERTION};
pub(crate) use generations::{Generations, MOST_NUMBERS, Pass, Times};
