use alloc::vec::Vec;
use core::fmt;
use core::mem::take;

use super::{BuildError, InsertError};
use crate::digest::Digest;

/// Why not all keys of an iterator were stored. Those before the first refused one are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TryExtendError {
    /// How many keys were stored: also the number of the key that was refused, from 0 on.
    pub inserted: usize,
    /// Why that key was refused.
    pub reason: InsertError,
}

impl fmt::Display for TryExtendError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} keys were stored, the next was not: {}", self.inserted, self.reason)
    }
}

/// The reason is part of the message.
impl core::error::Error for TryExtendError {}

/// Why not all keys of a batch were stored. All that fit are, unless there is no memory for the list of the others: it then
/// lacks some, and the reason is [`InsertError::OutOfMemory`].
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

/// The reason is part of the message.
impl core::error::Error for InsertManyError {}

/// The keys of a batch that were refused so far.
#[derive(Default)]
pub(crate) struct Rejected {
    digests: Vec<Digest>,
    /// Why the first of them was refused.
    reason: Option<InsertError>,
}

impl Rejected {
    pub(crate) fn note(&mut self, digest: Digest, reason: InsertError) -> Result<(), InsertManyError> {
        let len = self.digests.len();
        if len == self.digests.capacity() {
            let more = len.max(4);
            if self.digests.try_reserve_exact(more).is_err() {
                let bytes = ((len + more) * size_of::<Digest>()) as u64;
                return Err(InsertManyError {
                    rejected: take(&mut self.digests),
                    reason: InsertError::OutOfMemory { bytes },
                });
            }
        }
        self.reason.get_or_insert(reason);
        self.digests.push(digest);
        Ok(())
    }

    pub(crate) fn into_result(self) -> Result<(), InsertManyError> {
        match self.reason {
            None => Ok(()),
            Some(reason) => Err(InsertManyError { rejected: self.digests, reason }),
        }
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

/// What the cause says is the message.
impl core::error::Error for BuildFromKeysError {}

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
