use std::sync::OnceLock;

use super::doubling::Doubling;
use super::lookup::{MAX_LOOKS, look};
use super::shared_table::SharedTable;
use super::stripes::Stale;
use super::update::{Refusal, Repeated};
use crate::addressing::Addressing as _;
use crate::cast::{Whole, to_usize};
use crate::cuckoo::{NoRoom, with_table};
use crate::digest::Digest;
use crate::filter::{CuckooFilter, Growth};
use crate::sync::{AtomicU64, Ordering};

/// The table from one doubling to the end of the next.
///
/// A table is replaced in one of two ways. In both, an operation may still be working in a table that was replaced.
///
/// - It is doubled in steps, and is left when the last bucket was split. A reader that came too late finds no bucket whole,
///   and goes on in the next table.
/// - It is copied into a larger one while nobody writes. A reader that found the old one began before it was replaced, so
///   its answer is right for the moment of the replacement.
///
/// A writer finds its table stale as soon as it asks for a lock, and begins again.
pub(super) struct Generation {
    pub(super) table: SharedTable,
    /// How many buckets the doubling has not split yet, or [`ALL`](Self::ALL) if none has begun.
    whole: AtomicU64,
    doubling: OnceLock<Doubling>,
    /// The number of fingerprints at which the table counts as full, even if more would fit.
    limit: usize,
    /// 1 if the limit is so near that every insertion compares with it, otherwise 0.
    is_near_limit: AtomicU64,
}

/// Adding up what is stored reads every stripe, so while the limit is far only one insertion in so many does it.
const COMPARED: u64 = 32;

/// Whether the insertion of this digest is one of those that compare, while the limit is far.
///
/// All bits take part. A digest that is a program's own may have the same low bits as all others, and a table in which no
/// insertion compares is filled until no slot can be freed.
#[inline]
const fn is_compared(digest: Digest) -> bool {
    if cfg!(loom) {
        // Every sum over the stripes multiplies the orders of a model, and its digests have no bits in common.
        return digest.get().is_multiple_of(COMPARED);
    }
    digest.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) < u64::MAX / COMPARED
}

/// A limit that is not near is further away than this: too far for insertions between two comparisons to reach it.
const FAR: usize = if cfg!(loom) { 0 } else { 256 * 32 };

impl Generation {
    /// More than the buckets of any table.
    const ALL: u64 = u64::MAX;

    pub(super) fn new(table: SharedTable, growth: &Growth) -> Self {
        let limit = growth.limit(&table.parameters);
        Self {
            table,
            whole: AtomicU64::new(Self::ALL),
            doubling: OnceLock::new(),
            limit,
            is_near_limit: AtomicU64::new(1),
        }
    }

    /// Begins to double the table, whose writers are locked out.
    pub(super) fn begin_doubling(&self, doubling: Doubling, whole: u64) -> &Doubling {
        let doubling = self.doubling.get_or_init(|| doubling);
        self.set_whole(whole);
        doubling
    }

    /// The doubling, once it has begun.
    #[inline]
    pub(super) fn doubling(&self) -> Option<&Doubling> {
        if self.is_whole() { None } else { self.doubling.get() }
    }

    /// The doubling, if one has ever begun, even if it is over.
    pub(super) fn begun_doubling(&self) -> Option<&Doubling> {
        self.doubling.get()
    }

    /// Whether no doubling has begun.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        self.whole() == Self::ALL
    }

    /// How many buckets are whole.
    ///
    /// Acquire: whoever reads that a bucket was split sees its halves.
    #[inline]
    pub(super) fn whole(&self) -> u64 {
        self.whole.load(Ordering::Acquire)
    }

    pub(super) const fn count_of_whole(&self) -> &AtomicU64 {
        &self.whole
    }

    /// Release: see [`whole`](Self::whole).
    pub(super) fn set_whole(&self, whole: u64) {
        self.whole.store(whole, Ordering::Release);
    }

    /// Turns it into a filter for one thread, without the versions.
    pub(super) fn into_filter(self, growth: Growth) -> CuckooFilter {
        let whole = self.whole();
        match self.doubling.into_inner() {
            None => self.table.into_filter().with_growth(Some(growth)),
            Some(doubling) => doubling.into_filter(self.table, whole, growth),
        }
    }

    /// The table with the parameters that the filter has: while a table is doubled, those of the doubled one.
    pub(super) fn latest(&self) -> &SharedTable {
        self.doubling().map_or(&self.table, |doubling| &doubling.next.table)
    }

    pub(super) fn len(&self) -> usize {
        self.doubling().map_or_else(|| self.table.len(), Doubling::len)
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.table.size_in_bytes() + self.doubling().map_or(0, |doubling| doubling.next.table.size_in_bytes())
    }

    /// Whether the table has reached its limit, as far as insertions compare with it.
    ///
    /// Relaxed: `is_near_limit` only decides how often to compare, and the count is only about right while others write.
    #[inline]
    pub(super) fn is_at_limit(&self, digest: Digest, stored: impl FnOnce() -> usize) -> bool {
        let was_near = self.is_near_limit.load(Ordering::Relaxed) != 0;
        if !was_near && !is_compared(digest) {
            return false;
        }
        let stored = stored();
        let is_near = stored.saturating_add(FAR) >= self.limit;
        if is_near != was_near {
            self.is_near_limit.store(u64::from(is_near), Ordering::Relaxed);
        }
        stored >= self.limit
    }

    /// Whether the table has reached its limit, while nobody writes.
    pub(super) fn is_full(&self) -> bool {
        self.table.len() >= self.limit
    }

    /// Stores keys in order up to the first for which the table may be too small. Returns how many were stored.
    #[inline]
    pub(super) fn store_run(&self, count: usize, digest: impl Fn(usize) -> Digest) -> usize {
        let admit =
            |digest| if self.is_at_limit(digest, || self.table.len()) { Err(NoRoom::Full.into()) } else { Ok(()) };
        self.table.store_run(count, digest, admit).0
    }

    #[inline]
    pub(super) fn insert(&self, digest: Digest, repeated: Repeated) -> Result<bool, Refusal> {
        if self.is_at_limit(digest, || self.table.len()) {
            // Not found at one look, it may be there all the same: whoever makes the table larger decides.
            let is_left_out = repeated == Repeated::LeftOut && self.contains_now(digest);
            return if is_left_out { Ok(false) } else { Err(Refusal::NoRoom(NoRoom::Full)) };
        }
        self.table.insert(digest, repeated)
    }

    /// Algorithm 2. See [`SharedTable::contains`].
    #[inline]
    pub(super) fn contains(&self, digest: Digest) -> bool {
        let SharedTable { scheme, words, guards, .. } = &self.table;
        let found = with_table!(scheme, shared(&**words), table => {
            let (fingerprint, primary, second) = table.addressing.locate_pair::<Whole>(digest);
            look(&guards.versions, fingerprint, || {
                if self.is_whole() { table.contains_in(fingerprint, primary.bucket(), second) } else { self.contains_now(digest) }
            })
        });
        found.unwrap_or_else(|| self.look_again(digest))
    }

    /// Looks again after a first look that was disturbed.
    #[cold]
    #[inline(never)]
    pub(super) fn look_again(&self, digest: Digest) -> bool {
        let versions = &self.table.guards.versions;
        let fingerprint = self.table.fingerprint(digest);
        let look_once_more = |_| look(versions, fingerprint, || self.contains_now(digest));
        (1..MAX_LOOKS).find_map(look_once_more).unwrap_or(true)
    }

    /// Algorithm 2 at one look, in the tables that now hold what was stored here. The caller has begun to watch the version.
    #[cold]
    #[inline(never)]
    pub(super) fn contains_now(&self, digest: Digest) -> bool {
        match self.present() {
            Present::Whole(SharedTable { scheme, words, .. }) => {
                with_table!(scheme, shared(&**words), table => table.contains(digest))
            }
            Present::Splitting(old, whole, doubling) => doubling.tables(old, whole).contains(digest),
        }
    }

    /// How many copies of a key are stored, at one look, in the tables that now hold what was stored here.
    pub(super) fn count_now(&self, digest: Digest) -> usize {
        let copies = match self.present() {
            Present::Whole(SharedTable { scheme, words, .. }) => {
                with_table!(scheme, shared(&**words), table => table.count(digest))
            }
            Present::Splitting(old, whole, doubling) => doubling.tables(old, whole).count(digest),
        };
        to_usize(u64::from(copies))
    }

    /// How many copies of a key are stored. If all looks are disturbed, writers are locked out for the last one.
    pub(super) fn count(&self, digest: Digest) -> Result<usize, Stale> {
        let versions = &self.table.guards.versions;
        let fingerprint = self.table.fingerprint(digest);
        let looked = (0..MAX_LOOKS).find_map(|_| {
            let watch = versions.watch(fingerprint);
            let copies = self.count_now(digest);
            watch.is_unchanged().then_some(copies)
        });
        match (looked, self.doubling()) {
            (Some(copies), _) => Ok(copies),
            (None, Some(doubling)) => doubling.count_locked(self, digest),
            (None, None) => {
                let _all = self.table.guards.stripes.lock_all()?;
                Ok(self.count_now(digest))
            }
        }
    }

    /// The tables that now hold what was stored here.
    fn present(&self) -> Present<'_> {
        let mut generation = self;
        loop {
            match (generation.whole(), generation.doubling.get()) {
                (Self::ALL, _) | (_, None) => return Present::Whole(&generation.table),
                (0, Some(doubling)) => generation = &doubling.next,
                (whole, Some(doubling)) => return Present::Splitting(&generation.table, whole, doubling),
            }
        }
    }
}

/// The tables that hold the fingerprints.
enum Present<'table> {
    Whole(&'table SharedTable),
    /// The table that is being doubled, and how many of its buckets are whole.
    Splitting(&'table SharedTable, u64, &'table Doubling),
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The keys are chosen so that only one is compared with the limit on the way, the fewest possible.
    #[test]
    fn one_comparison_4000_keys_before_the_limit_is_enough_to_stop_at_it() {
        let builder = CuckooFilter::builder().capacity(20_000).max_capacity(1_000_000);
        let filter = builder.false_positive_rate(0.001).build().expect("small");
        let growth = *filter.growth().expect("it grows");
        let generation = Generation::new(SharedTable::new(filter).expect("small"), &growth);
        let hasher = generation.table.hasher;
        let (compared, others): (Vec<Digest>, Vec<Digest>) =
            (0..100_000_u64).map(|key| hasher.digest(&key)).partition(|&digest| is_compared(digest));
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
