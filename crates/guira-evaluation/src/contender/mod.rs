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
pub(crate) use peer::{Made, Making, Peer, RATE};
pub(crate) use rule::{Measures, Rule};

/// A key was refused: the filter is full.
#[cfg(feature = "peers")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// A filter to be measured.
///
/// Each method takes many keys, so that a loop of one operation per key is measured, compiled for the type of the filter.
/// Dynamic dispatch happens once per loop.
pub(crate) trait Contender {
    /// Inserts keys up to the first that is refused. Returns how many were stored.
    fn insert_all(&mut self, keys: &[u64]) -> usize;

    /// Looks up each key. Returns how many were found. The time includes hashing.
    fn count_found(&self, keys: &[u64]) -> u64;

    /// The digests of keys by the filter's own hash, if it can look up digests.
    fn digests(&self, _keys: &[u64]) -> Option<Vec<u64>> {
        None
    }

    /// Looks up keys that were hashed by `digests`. Returns how many were found.
    fn count_found_hashed(&self, _digests: &[u64]) -> Option<u64> {
        None
    }

    /// The bits of its table.
    fn bits(&self) -> u64;

    /// The expected rate at present.
    fn expected_rate(&self) -> f64;

    /// This filter as a [`Removing`] one, if keys can be removed from it.
    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        None
    }

    /// Inserts keys with one call for all of them, if there is such a method.
    #[cfg(feature = "peers")]
    fn insert_together(&mut self, _keys: &[u64]) -> Option<Result<(), Full>> {
        None
    }

    /// Looks up keys with one call for all of them, if there is such a method. Returns how many were found.
    #[cfg(feature = "peers")]
    fn count_found_together(&self, _keys: &[u64], _answers: &mut [bool]) -> Option<u64> {
        None
    }
}

/// A filter that keys can be removed from.
pub(crate) trait Removing: Contender {
    /// The keys that were stored and not removed.
    fn len(&self) -> u64;

    /// Removes each key. Returns how many were found.
    fn remove_all(&mut self, keys: &[u64]) -> u64;
}
