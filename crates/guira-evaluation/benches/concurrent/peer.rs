//! The filter of other people that threads share.

use crate::crew::Rates;
#[cfg(feature = "peers")]
use crate::shared::Shared;
use crate::writers::Writers;

pub(crate) const HEADING: &str = if cfg!(feature = "peers") { "atomic-cuckoo-filter, million/s |" } else { "" };
pub(crate) const RULE: &str = if cfg!(feature = "peers") { "---|" } else { "" };

/// The other people's, for half as many slots: it rounds up to a power of two, and its fingerprints have 16 bits.
#[cfg(feature = "peers")]
pub(crate) fn measure(slots: u64, rounds: u64, queries: u64) -> Option<(Rates, Writers)> {
    let slots = usize::try_from(slots.next_power_of_two() / 2).ok()?;
    let [filter, other] = [(); 2].map(|()| atomic_cuckoo_filter::CuckooFilter::with_capacity(slots));
    let writers = Writers::of([&filter, &other], filter.capacity() as u64, rounds);
    drop(other);
    let keys = filter.capacity() as u64 * 9 / 10;
    for key in filter.len() as u64..keys {
        assert!(Shared::insert(&filter, key), "it takes 90 %");
    }
    Some((Rates::of(&filter, keys, rounds, queries), writers))
}

#[cfg(not(feature = "peers"))]
pub(crate) const fn measure(_slots: u64, _rounds: u64, _queries: u64) -> Option<(Rates, Writers)> {
    None
}
