//! One error type per activity, with the numbers that explain it.

mod build;
mod convert;
mod each;
mod insert;
mod load;
mod merge;

pub use build::BuildError;
pub use convert::ConvertError;
pub use each::{BuildFromKeysError, InsertManyError, TryExtendError};
pub use insert::InsertError;
pub use load::{FileKind, LoadError};
pub use merge::MergeError;

#[cfg(feature = "files")]
pub use guira_files::ReplaceError as SaveError;
