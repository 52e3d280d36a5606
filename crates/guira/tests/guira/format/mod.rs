//! Files: that they are the bytes that docs/format.md describes, and that loading trusts none of them.

pub(crate) mod chunks;
mod file_header;
mod files;
mod forging;
mod journal;
#[cfg(feature = "mmap")]
mod mapped;
mod merging;
mod reading;
mod refusing;
mod releases;
#[cfg(feature = "serde")]
mod serialization;
mod view;
