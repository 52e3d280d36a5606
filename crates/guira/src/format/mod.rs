//! Filters to bytes and back: version 1 of the file format, which docs/format.md describes.
//!
//! Bytes are untrusted input. Nothing here indexes, unwraps or casts, and no memory is allocated for a table before
//! everything that the header says of it has been checked.

#![deny(clippy::as_conversions, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod any_filter;
mod arriving;
mod behind;
mod check;
mod chunks;
mod contents;
mod fields;
mod file_header;
mod header;
mod journal;
mod load;
#[cfg(feature = "mmap")]
mod mapped;
#[cfg(feature = "std")]
mod merge;
mod methods;
pub mod raw;
#[cfg(feature = "serde")]
mod serde;
mod view;

pub use any_filter::AnyFilter;
pub use header::FileHeader;
pub use load::LoadOptions;
pub use methods::FilterFile;
