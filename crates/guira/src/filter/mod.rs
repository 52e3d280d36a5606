//! The public type, and its invariants.

mod builder;
mod cuckoo_filter;
mod engine;
mod iter;

pub use builder::CuckooFilterBuilder;
pub use cuckoo_filter::CuckooFilter;
pub use iter::{Fingerprints, StoredFingerprint};

pub(crate) use engine::{Engine, Nest, NoRoom, with_nest};
