use alloc::vec::Vec;
use core::fmt;

use super::{BuildError, InsertError};
use crate::digest::Digest;

/// Why not all keys of a batch were stored. The keys before the first refused one are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TryExtendError {
    /// How many keys were stored: also the index in the batch of the key that was refused.
    pub inserted: usize,
    /// Why that key was refused.
    pub reason: InsertError,
}

impl fmt::Display for TryExtendError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} keys of the batch were stored, the next was not: {}", self.inserted, self.reason)
    }
}

impl core::error::Error for TryExtendError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.reason)
    }
}

/// Why not all keys were stored in bulk. All that fit are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertManyError {
    /// The digests of the keys that were not stored.
    pub rejected: Vec<Digest>,
    /// Why the first of them was refused.
    pub reason: InsertError,
}

impl fmt::Display for InsertManyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} keys were not stored: {}", self.rejected.len(), self.reason)
    }
}

impl core::error::Error for InsertManyError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.reason)
    }
}

/// Why there is no filter of some keys.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildFromKeysError {
    /// There is no filter with these parameters.
    Build(BuildError),
    /// Not all keys fit.
    Insert(InsertManyError),
}

impl fmt::Display for BuildFromKeysError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(formatter),
            Self::Insert(error) => error.fmt(formatter),
        }
    }
}

impl core::error::Error for BuildFromKeysError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Build(error) => Some(error),
            Self::Insert(error) => Some(error),
        }
    }
}

impl From<BuildError> for BuildFromKeysError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<InsertManyError> for BuildFromKeysError {
    fn from(error: InsertManyError) -> Self {
        Self::Insert(error)
    }
}
