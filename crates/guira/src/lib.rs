#![doc = include_str!("crate.md")]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod analysis;

mod addressing;
mod batch;
mod cast;
#[cfg(feature = "std")]
mod concurrent;
mod counting;
mod cuckoo;
mod digest;
mod error;
mod filter;
mod format;
mod growing;
mod map;
mod parameters;
mod probe;
mod relocation;
mod set;
#[cfg(feature = "std")]
mod sync;
mod table;

pub use addressing::{BucketIndex, Fingerprint};
#[cfg(feature = "std")]
pub use concurrent::{ConcurrentCuckooFilter, ConcurrentGrowingCuckooFilter};
pub use counting::{CountingCuckooFilter, CountingCuckooFilterBuilder};
pub use digest::{Digest, HashAlgorithm, Key, KeyHasher};
pub use error::{
    BuildError, BuildFromKeysError, FileKind, InsertBulkError, InsertEachError, InsertError, LoadError, MergeError,
};
pub use filter::{CuckooFilter, CuckooFilterBuilder, CuckooFilterView, Fingerprints, StoredFingerprint};
pub use format::FileHeader;
pub use growing::{BeyondPromise, GrowingCuckooFilter, GrowingCuckooFilterBuilder};
pub use map::{CuckooMap, CuckooMapBuilder, Matches, Value};
pub use parameters::{Addressing, Layout, Parameters, Shape};
pub use set::CuckooSet;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;
