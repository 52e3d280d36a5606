use alloc::vec::Vec;
use core::mem::take;

use thiserror::Error;

use super::{BuildError, InsertError};
use crate::digest::Digest;

/// Why not all keys of an iterator were stored. Those before the first refused one are.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the first {inserted} keys were stored, the next was not: {reason}")]
#[non_exhaustive]
pub struct TryExtendError {
    /// How many keys came before the one that was refused: its number, from 0 on. All of them are stored; a set may have had some
    /// before.
    pub inserted: usize,
    /// Why that key was refused.
    pub reason: InsertError,
}

/// Why not all keys of a batch were stored. All that fit are, unless there is no memory for the list of the others: it then
/// lacks some, and the reason is [`InsertError::OutOfMemory`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{} keys were not stored: {reason}", .rejected.len())]
#[non_exhaustive]
pub struct InsertManyError {
    /// The digests of the keys that were not stored.
    pub rejected: Vec<Digest>,
    /// Why the first of them was refused.
    pub reason: InsertError,
}

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
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BuildFromKeysError {
    /// There is no filter with these parameters.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Not all keys fit.
    #[error(transparent)]
    Insert(#[from] InsertManyError),
}
