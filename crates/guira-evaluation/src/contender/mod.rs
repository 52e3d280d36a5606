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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// A filter to be measured.
///
/// The three operations hash their key, all by the same function, and hand the digest on. What is measured goes through
/// many keys per call, compiled once for each type, so that no operation is called by way of a table.
pub(crate) trait Contender {
    fn insert(&mut self, key: u64) -> Result<(), Full>;

    fn contains(&self, key: u64) -> bool;

    /// The bits of its table.
    fn bits(&self) -> u64;

    /// The rate that theory expects of it as it is now.
    fn expected_rate(&self) -> f64;

    /// The same filter, if keys can be removed from it.
    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        None
    }

    /// Inserts keys up to the first that is refused; how many were stored.
    fn insert_all(&mut self, keys: &[u64]) -> usize {
        keys.iter().position(|&key| self.insert(key).is_err()).unwrap_or(keys.len())
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

    /// Looks each key up; how many are found.
    fn count_found(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains(core::hint::black_box(key)))).sum()
    }
}

/// A filter that keys can be removed from.
pub(crate) trait Removing: Contender {
    /// The keys that were stored and not removed.
    fn len(&self) -> u64;

    /// Whether there was such a key.
    fn remove(&mut self, key: u64) -> bool;

    /// Removes each key; how many there were.
    fn remove_all(&mut self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.remove(key))).sum()
    }
}
