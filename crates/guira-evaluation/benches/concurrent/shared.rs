//! Filters that threads share.

use guira::ConcurrentCuckooFilter;

use crate::crew::{Rates, Writers};

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
        self.insert_each(keys).is_ok()
    }
}

pub(crate) const PEER_HEADING: &str = if cfg!(feature = "peers") { "atomic-cuckoo-filter, million/s |" } else { "" };
pub(crate) const PEER_RULE: &str = if cfg!(feature = "peers") { "---|" } else { "" };

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

/// The other people's, for half as many slots: it rounds up to a power of two, and its fingerprints have 16 bits.
#[cfg(feature = "peers")]
pub(crate) fn measure_peer(slots: u64, rounds: u64, queries: u64) -> Option<(Rates, Writers)> {
    let slots = usize::try_from(slots.next_power_of_two() / 2).ok()?;
    let filter = atomic_cuckoo_filter::CuckooFilter::with_capacity(slots);
    let writers = Writers::of(&filter, filter.capacity() as u64, rounds);
    let keys = filter.capacity() as u64 * 9 / 10;
    for key in filter.len() as u64..keys {
        assert!(Shared::insert(&filter, key), "it takes 90 %");
    }
    Some((Rates::of(&filter, keys, rounds, queries), writers))
}

#[cfg(not(feature = "peers"))]
pub(crate) const fn measure_peer(_slots: u64, _rounds: u64, _queries: u64) -> Option<(Rates, Writers)> {
    None
}
