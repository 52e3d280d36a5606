use core::fmt;

use super::{BuildError, InsertError, LoadError, MergeError};

/// There is no memory for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl fmt::Display for OutOfMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no memory for a table of {} bytes", self.bytes)
    }
}

impl core::error::Error for OutOfMemory {}

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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReserveError {
    /// The filter may not grow so far.
    Full {
        /// The fingerprints stored.
        len: usize,
        /// The additional keys that were asked for.
        additional: usize,
        /// The distinct keys that are promised to fit as it is.
        capacity: usize,
    },
    /// The memory for a larger table could not be allocated.
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

impl fmt::Display for ReserveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { len, additional, capacity } => write!(
                formatter,
                "{additional} more keys do not fit: the filter holds {len} fingerprints, has room for {capacity} keys, and may \
                 not grow so far; build it with a larger capacity"
            ),
            Self::OutOfMemory { bytes } => OutOfMemory::new(*bytes).fmt(formatter),
        }
    }
}

impl core::error::Error for ReserveError {}
