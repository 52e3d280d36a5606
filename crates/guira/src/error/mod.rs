//! One error type per activity, with the numbers that explain it.
//!
//! A chain of errors says each thing once: where a message repeats its cause, the source is that of the cause.

mod advance;
mod any;
mod build;
mod convert;
mod each;
mod insert;
mod load;
mod merge;
mod out_of_memory;
#[cfg(feature = "files")]
mod save;

pub use advance::AdvanceError;
pub use any::Error;
pub use build::BuildError;
pub use convert::ConvertError;
pub(crate) use each::Rejected;
pub use each::{BuildFromKeysError, InsertManyError, TryExtendError};
pub use insert::InsertError;
pub use load::{FileKind, LoadError};
pub use merge::MergeError;
pub use out_of_memory::{OutOfMemory, ReserveError};
#[cfg(feature = "files")]
pub use save::SaveError;
