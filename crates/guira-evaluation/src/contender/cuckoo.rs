use guira::{CuckooFilter, Digest};

use super::{Contender, Removing};
use crate::keys::Hash;

/// A filter of the library, one call at a time, with the library's own hash.
pub(crate) struct Cuckoo {
    filter: CuckooFilter,
    hash: Hash,
}

impl Cuckoo {
    pub(crate) const fn new(filter: CuckooFilter) -> Self {
        Self { filter, hash: Hash::new() }
    }
}

impl Contender for Cuckoo {
    /// Full also means that one fingerprint has taken all slots of its buckets: the failure of the paper's section 4.
    fn insert_all(&mut self, keys: &[u64]) -> usize {
        let refused = keys.iter().position(|&key| self.filter.insert(&self.hash.digest(key)).is_err());
        refused.unwrap_or(keys.len())
    }

    fn count_found(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.filter.contains(&self.hash.digest(key)))).sum()
    }

    fn digests(&self, keys: &[u64]) -> Option<Vec<u64>> {
        Some(keys.iter().map(|&key| self.hash.digest(key).get()).collect())
    }

    fn count_found_hashed(&self, digests: &[u64]) -> Option<u64> {
        Some(digests.iter().map(|&digest| u64::from(self.filter.contains(&Digest::new(digest)))).sum())
    }

    fn bits(&self) -> u64 {
        self.filter.parameters().slot_count() * u64::from(self.filter.parameters().bits_per_slot())
    }

    fn expected_rate(&self) -> f64 {
        self.filter.expected_false_positive_rate()
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        Some(self)
    }
}

impl Removing for Cuckoo {
    fn len(&self) -> u64 {
        self.filter.len() as u64
    }

    fn remove_all(&mut self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.filter.remove(&self.hash.digest(key)))).sum()
    }
}
