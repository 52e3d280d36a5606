//! One error type per activity, with the numbers that explain it.

mod build;
mod each;
mod insert;
mod load;
mod merge;

pub use build::BuildError;
pub use each::{BuildFromKeysError, InsertBulkError, InsertEachError};
pub use insert::InsertError;
pub use load::{FileKind, LoadError};
pub use merge::MergeError;
