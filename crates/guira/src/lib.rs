#![doc = include_str!("crate.md")]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod analysis;

mod addressing;
mod batch;
mod cast;
mod digest;
mod error;
mod filter;
mod format;
mod growing;
mod parameters;
mod probe;
mod relocation;
mod table;

pub use addressing::{BucketIndex, Fingerprint};
pub use digest::{Digest, HashAlgorithm, Key, KeyHasher};
pub use error::{BuildError, BuildFromKeysError, InsertBulkError, InsertEachError, InsertError, LoadError, MergeError};
pub use filter::{CuckooFilter, CuckooFilterBuilder, Fingerprints, StoredFingerprint};
pub use growing::{BeyondPromise, GrowingCuckooFilter, GrowingCuckooFilterBuilder};
pub use parameters::{Addressing, Layout, Parameters, Shape};

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;
