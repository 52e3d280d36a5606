use guira::CuckooFilter;

use super::{Contender, Full, Removing};
use crate::keys::Hash;

/// A filter of the library, one call at a time.
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
    /// Full is also where one fingerprint has taken all slots of its buckets: the failure of the paper's section 4.
    #[inline]
    fn insert(&mut self, key: u64) -> Result<(), Full> {
        self.filter.insert_digest(self.hash.digest(key)).map_err(|_| Full)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains_digest(self.hash.digest(key))
    }

    fn bits(&self) -> u64 {
        self.filter.parameters().table_bits()
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

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.filter.remove_digest(self.hash.digest(key))
    }
}
