use super::shared_table::SharedTable;
use super::update::{Refusal, Repeated};
use crate::cuckoo::NoRoom;
use crate::digest::Digest;
use crate::error::BuildError;
use crate::filter::CuckooFilter;
use crate::sync::{AtomicU64, Ordering};

/// The table between two doublings.
///
/// Why operations may end in a table that was replaced: it stands still from before the new one takes its place, with the
/// same keys. A writer finds it retired as soon as it has a lock, and begins again in the new one. A reader that found the
/// old one began before the new one took its place, so the moment at which it did is one at which its answer is right.
pub(super) struct Generation {
    pub(super) table: SharedTable,
    /// How many fingerprints there may be before the next doubling, if there is room for so many.
    limit: usize,
    /// Whether the limit is so near that every insertion compares with it: 0 or 1.
    is_near_limit: AtomicU64,
}

/// Adding up what is stored takes a look at every stripe, so one insertion in so many does it, while the limit is far.
const COMPARED: u64 = 32;

/// How far the limit is at the least where it is not near: so far that it can't be reached by insertions in between.
const FAR: usize = if cfg!(loom) { 0 } else { 256 * 32 };

impl Generation {
    pub(super) fn new(mut filter: CuckooFilter) -> Result<Self, BuildError> {
        filter.settle();
        let limit = filter.len().saturating_add(filter.room());
        Ok(Self { table: SharedTable::new(filter)?, limit, is_near_limit: AtomicU64::new(1) })
    }

    /// Whether there are as many fingerprints as there should be before the next doubling.
    ///
    /// Relaxed: the note is a guess of how often to look, and the count is about right at best while others write.
    #[inline]
    fn is_at_limit(&self, digest: Digest) -> bool {
        let was_near = self.is_near_limit.load(Ordering::Relaxed) != 0;
        if !was_near && !digest.get().is_multiple_of(COMPARED) {
            return false;
        }
        let stored = self.table.len();
        let is_near = stored.saturating_add(FAR) >= self.limit;
        if is_near != was_near {
            self.is_near_limit.store(u64::from(is_near), Ordering::Relaxed);
        }
        stored >= self.limit
    }

    /// Stores keys in order up to the first for which the table may be too small: how many.
    #[inline]
    pub(super) fn store_run(&self, count: usize, digest: impl Fn(usize) -> Digest) -> usize {
        let admit = |digest| if self.is_at_limit(digest) { Err(NoRoom::Full.into()) } else { Ok(()) };
        self.table.store_run(count, digest, admit).0
    }

    #[inline]
    pub(super) fn insert(&self, digest: Digest, repeated: Repeated) -> Result<bool, Refusal> {
        if self.is_at_limit(digest) {
            let is_left_out = repeated == Repeated::LeftOut && self.table.contains(digest);
            return if is_left_out { Ok(false) } else { Err(Refusal::NoRoom(NoRoom::Full)) };
        }
        self.table.insert(digest, repeated)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The keys are such that one alone is compared with the limit, as few as there may be over so long a way.
    #[test]
    fn one_comparison_4000_keys_before_the_limit_is_enough_to_stop_at_it() {
        let builder = CuckooFilter::builder().capacity(20_000).max_capacity(1_000_000);
        let generation = Generation::new(builder.false_positive_rate(0.001).build().expect("small")).expect("small");
        let hasher = generation.table.hasher;
        let (compared, others): (Vec<Digest>, Vec<Digest>) =
            (0..100_000_u64).map(|key| hasher.digest(&key)).partition(|digest| digest.get().is_multiple_of(COMPARED));
        let far_before = generation.limit - 4000;
        let (before, behind) = others.split_at(far_before);
        for &digest in before.iter().chain(&compared[..1]) {
            assert_eq!(generation.insert(digest, Repeated::Stored), Ok(true));
        }
        let stored =
            behind.iter().take_while(|&&digest| generation.insert(digest, Repeated::Stored) == Ok(true)).count();
        assert_eq!((far_before + 1 + stored, generation.table.len()), (generation.limit, generation.limit));
    }
}
