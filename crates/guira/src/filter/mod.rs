//! The public type, and its invariants.

mod builder;
mod cuckoo_filter;
mod doubling;
mod engine;
mod iter;
mod merge;

pub use builder::CuckooFilterBuilder;
pub use cuckoo_filter::CuckooFilter;
pub use iter::{Fingerprints, StoredFingerprint};

pub(crate) use engine::{Engine, Nest, NoRoom, with_nest};
