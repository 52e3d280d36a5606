#![doc = include_str!("crate.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

pub mod analysis;

// Filters first, so that their pages begin with how one is made.
mod filter;

#[cfg(feature = "concurrent")]
mod concurrent;
mod counting;
mod expiring;
mod map;
mod set;

mod addressing;
mod batch;
mod cast;
mod cuckoo;
mod digest;
mod error;
mod format;
mod parameters;
mod probe;
mod relocation;
#[cfg(feature = "concurrent")]
mod sync;
mod table;

pub use analysis::Preference;
#[cfg(feature = "concurrent")]
pub use concurrent::{ConcurrentCuckooFilter, ConcurrentExpiringCuckooFilter};
pub use counting::CountingCuckooFilter;
pub use digest::{ByHash, Digest, Key, KeyHasher};
#[cfg(feature = "files")]
pub use error::SaveError;
pub use error::{
    AdvanceError, BuildError, BuildFromKeysError, ConvertError, Error, FileKind, InsertError, InsertManyError,
    LoadError, MergeError, OutOfMemory, ReserveError, TryExtendError,
};
pub use expiring::ExpiringCuckooFilter;
pub use filter::{
    CuckooFilter, CuckooFilterView, FilterBuilder, FilterKind, Fingerprints, GrowthPolicy, StoredFingerprint,
};
pub use format::{AnyFilter, FileHeader, FilterFile, LoadOptions, raw};
pub use map::{CuckooMap, MapValue, Values};
pub use parameters::{Addressing, Layout, Parameters};
pub use set::CuckooSet;
