//! Filters that threads share.

use guira::ConcurrentCuckooFilter;

pub(crate) trait Shared: Sync {
    fn insert(&self, key: u64) -> bool;
    fn remove(&self, key: u64) -> bool;
    fn contains(&self, key: u64) -> bool;

    /// Whether it stores many keys at a time by more than one call after another.
    const HAS_BATCHES: bool;

    fn insert_each(&self, keys: &[u64]) -> bool {
        keys.iter().all(|&key| self.insert(key))
    }
}

impl Shared for ConcurrentCuckooFilter {
    fn insert(&self, key: u64) -> bool {
        self.insert(&key).is_ok()
    }

    fn remove(&self, key: u64) -> bool {
        self.remove(&key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    const HAS_BATCHES: bool = true;

    fn insert_each(&self, keys: &[u64]) -> bool {
        self.insert_many(keys).is_ok()
    }
}

#[cfg(feature = "peers")]
impl Shared for atomic_cuckoo_filter::CuckooFilter {
    fn insert(&self, key: u64) -> bool {
        self.insert(&key).is_ok()
    }

    fn remove(&self, key: u64) -> bool {
        self.remove(&key)
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    const HAS_BATCHES: bool = false;
}
