#![doc = include_str!("crate.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

pub mod analysis;

mod addressing;
mod batch;
mod cast;
#[cfg(feature = "concurrent")]
mod concurrent;
mod counting;
mod cuckoo;
mod digest;
mod error;
mod expiring;
mod filter;
mod format;
mod map;
mod parameters;
mod probe;
mod relocation;
mod set;
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
