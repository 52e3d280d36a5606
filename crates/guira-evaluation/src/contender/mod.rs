//! The filters that are measured, behind one trait.

mod baseline;
mod cuckoo;
mod lineup;
#[cfg(feature = "peers")]
mod peer;
mod rule;

pub(crate) use baseline::{GrowOnly, Shrinkable};
pub(crate) use cuckoo::Cuckoo;
pub(crate) use lineup::{Kind, Limit, Memory};
#[cfg(feature = "peers")]
pub(crate) use peer::{Making, Peer, RATE};
pub(crate) use rule::{Measures, Rule};

/// A key was refused: the filter is full.
#[cfg(feature = "peers")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// A filter to be measured.
///
/// Each method takes many keys: what is measured is a loop of one operation per key, compiled for the type of the filter.
/// Only the loop as a whole is called by way of a table.
pub(crate) trait Contender {
    /// Inserts keys up to the first that is refused; how many were stored.
    fn insert_all(&mut self, keys: &[u64]) -> usize;

    /// Looks each key up; how many are found. The time of hashing is part of it.
    fn count_found(&self, keys: &[u64]) -> u64;

    /// The digests of keys by the filter's own hash, if it can be asked with those.
    fn digests(&self, _keys: &[u64]) -> Option<Vec<u64>> {
        None
    }

    /// Looks keys up that were hashed before by `digests`; how many are found.
    fn count_found_hashed(&self, _digests: &[u64]) -> Option<u64> {
        None
    }

    /// The bits of its table.
    fn bits(&self) -> u64;

    /// The rate that theory expects of it as it is now.
    fn expected_rate(&self) -> f64;

    /// The same filter, if keys can be removed from it.
    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        None
    }

    /// Inserts keys by one call for all of them, if there is such a call.
    #[cfg(feature = "peers")]
    fn insert_together(&mut self, _keys: &[u64]) -> Option<Result<(), Full>> {
        None
    }

    /// Looks keys up by one call for all of them, if there is such a call; how many are found.
    #[cfg(feature = "peers")]
    fn count_found_together(&self, _keys: &[u64], _answers: &mut [bool]) -> Option<u64> {
        None
    }
}

/// A filter that keys can be removed from.
pub(crate) trait Removing: Contender {
    /// The keys that were stored and not removed.
    fn len(&self) -> u64;

    /// Removes each key; how many there were.
    fn remove_all(&mut self, keys: &[u64]) -> u64;
}
