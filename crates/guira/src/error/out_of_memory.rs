use thiserror::Error;

use super::{BuildError, InsertError, LoadError, MergeError};

/// There is no memory for a table.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("no memory for a table of {bytes} bytes")]
#[non_exhaustive]
pub struct OutOfMemory {
    /// The bytes of the table.
    pub bytes: u64,
}

impl OutOfMemory {
    pub(crate) const fn new(bytes: u64) -> Self {
        Self { bytes }
    }
}

impl From<OutOfMemory> for BuildError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

impl From<OutOfMemory> for InsertError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

impl From<OutOfMemory> for LoadError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

impl From<OutOfMemory> for MergeError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

impl From<OutOfMemory> for ReserveError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

/// Why a filter has no room for more keys at once. It is as it was before.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReserveError {
    /// The filter may not grow so far.
    #[error(
        "{additional} more keys do not fit: the filter holds {len} fingerprints, has room for {capacity} keys, and may not \
         grow so far; build it with a larger capacity"
    )]
    Full {
        /// The fingerprints stored.
        len: usize,
        /// The additional keys that were asked for.
        additional: usize,
        /// The distinct keys that are promised to fit as it is.
        capacity: usize,
    },
    /// The memory for a larger table could not be allocated.
    #[error("no memory for a table of {bytes} bytes")]
    OutOfMemory {
        /// The bytes of the table.
        bytes: u64,
    },
}

impl ReserveError {
    /// What an error of an insertion is to a filter that was to make room.
    pub(crate) const fn of(error: &InsertError, len: usize, additional: usize, capacity: usize) -> Self {
        match error {
            InsertError::OutOfMemory { bytes } => Self::OutOfMemory { bytes: *bytes },
            _ => Self::Full { len, additional, capacity },
        }
    }
}
