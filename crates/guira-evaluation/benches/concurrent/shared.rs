//! Filters that threads share.

use guira::ConcurrentCuckooFilter;

use crate::crew::Rates;

pub(crate) trait Shared: Sync {
    fn insert(&self, key: u64) -> bool;
    fn remove(&self, key: u64) -> bool;
    fn contains(&self, key: u64) -> bool;
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
}

/// The other people's, for half as many slots: it rounds up to a power of two, and its fingerprints have 16 bits.
#[cfg(feature = "peers")]
pub(crate) fn measure_peer(slots: u64, rounds: u64, queries: u64) -> Option<Rates> {
    let slots = usize::try_from(slots.next_power_of_two() / 2).ok()?;
    let filter = atomic_cuckoo_filter::CuckooFilter::with_capacity(slots);
    let keys = filter.capacity() as u64 * 9 / 10;
    for key in 0..keys {
        assert!(Shared::insert(&filter, key), "it takes 90 %");
    }
    Some(Rates::of(&filter, keys, rounds, queries))
}

#[cfg(not(feature = "peers"))]
pub(crate) const fn measure_peer(_slots: u64, _rounds: u64, _queries: u64) -> Option<Rates> {
    None
}
