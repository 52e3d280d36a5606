use std::sync::OnceLock;

use super::doubling::Doubling;
use super::lookup::{MAX_LOOKS, count_at_rest, look};
use super::shared_table::SharedTable;
use super::stripes::{Stale, Stripes};
use super::update::Refusal;
use crate::addressing::Addressing;
use crate::cuckoo::{CuckooTable, ForDoubling, NoRoom, Pair, PairOf, Repeated, for_doubling, with_table};
use crate::digest::Digest;
use crate::error;
use crate::filter::{CuckooFilter, Growth};
use crate::sync::{AtomicU64, Ordering};
use crate::table::{OutOfMemory, PackedTable, Table, Widths};

/// The table from one doubling to the end of the next.
///
/// A table is replaced in one of two ways. In both, an operation may still be working in a table that was replaced.
///
/// - It is doubled in steps, and is left when the last bucket was split. A reader that came too late finds no bucket waiting,
///   and goes on in the next table.
/// - It is copied into a larger one while nobody writes. A reader that found the old one began before it was replaced, so
///   its answer is right for the moment of the replacement.
///
/// A writer finds its table stale as soon as it asks for a lock, and begins again.
pub(super) struct Generation {
    pub(super) table: SharedTable,
    /// How many buckets the doubling has not split yet, or [`ALL`](Self::ALL) if none has begun.
    pub(super) waiting: AtomicU64,
    /// The doubling, if one has ever begun, even if it is over.
    pub(super) doubling: OnceLock<Doubling>,
    /// The number of fingerprints at which the table counts as full, even if more would fit.
    limit: usize,
    /// One insertion in 2^n compares with the limit; this is n, as [`comparison_exponent`] returned it last.
    comparison_exponent: AtomicU64,
    operations: Operations,
}

/// Operations on a settled table, compiled for its addressing and its widths.
struct Operations {
    /// Algorithm 2 at one look.
    look: fn(&Generation, Digest) -> Option<bool>,
    /// See [`CuckooTable::fill_concurrent`].
    fill: fn(&SharedTable, Digest) -> Result<bool, Stale>,
}

/// The [`Operations`] of a table.
struct Compiled;

impl ForDoubling for Compiled {
    type Output = Operations;

    fn compiled<A: Addressing, G: Widths, C: Widths + From<G>>(self) -> Operations
    where
        Pair: PairOf<A, G>,
    {
        Operations {
            look: |generation, digest| generation.look_in(&table::<A, G, C>(&generation.table), digest),
            fill: |shared, digest| table::<A, G, C>(shared).fill_concurrent(digest, &shared.guards),
        }
    }
}

#[inline(always)]
fn table<A: Addressing, G: Widths, C: Widths + From<G>>(
    shared: &SharedTable,
) -> CuckooTable<A, PackedTable<C, &[AtomicU64]>>
where
    Pair: PairOf<A, G>,
{
    CuckooTable::of_pair(&shared.scheme.pair, &*shared.words)
}

/// How often insertions compare what is stored with the limit: one in 2^n of them, where this is n.
///
/// Adding up what is stored reads every stripe, and takes the caches of all threads that write some of their lines. So the further the
/// limit, the fewer insertions do it. That none of 64 times 2^n does is less likely than e^-64.
fn comparison_exponent(limit: usize, stored: usize) -> u64 {
    let left = limit.saturating_sub(stored) as u64;
    if cfg!(loom) {
        // Every sum over the stripes multiplies the orders of a model.
        return if left == 0 { 0 } else { MAX_COMPARISON_EXPONENT };
    }
    (left / 64).checked_ilog2().map_or(0, u64::from).min(MAX_COMPARISON_EXPONENT)
}

/// The exponent after one comparison, which says what it should be: it falls at once, and rises by one.
///
/// A thread may be held up between a sum and the exponent that follows from it, while others store nearly as many keys as may be. At
/// the exponent that was right before, all others could then be stored, and more, before one of them compares.
const fn step_to(exponent: u64, before: u64) -> u64 {
    if exponent > before && !cfg!(loom) { before + 1 } else { exponent }
}

/// The most that [`comparison_exponent`] returns: a sum over all stripes takes as long as a few insertions.
const MAX_COMPARISON_EXPONENT: u64 = if cfg!(loom) { 5 } else { 10 };

/// Whether the insertion of this digest is the one in 2^n that compares, for this exponent.
///
/// All bits take part. A digest that is a program's own may have the same low bits as all others, and a table in which no
/// insertion compares is filled until no slot can be freed.
#[inline]
const fn is_compared(digest: Digest, exponent: u64) -> bool {
    if cfg!(loom) {
        // The digests of models have no bits in common.
        return digest.get().is_multiple_of(1 << exponent);
    }
    digest.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) <= u64::MAX >> exponent
}

impl Generation {
    /// More than the buckets of any table.
    const ALL: u64 = u64::MAX;

    pub(super) fn new(table: SharedTable, growth: &Growth) -> Self {
        let limit = growth.limit(&table.parameters);
        let operations = for_doubling(&table.scheme.pair, Compiled).expect("a table that grows doubles");
        Self {
            table,
            waiting: AtomicU64::new(Self::ALL),
            doubling: OnceLock::new(),
            limit,
            comparison_exponent: AtomicU64::new(0),
            operations,
        }
    }

    /// The table of a filter; if that is being doubled, the old one, with its doubling.
    pub(super) fn of(mut filter: CuckooFilter, growth: &Growth) -> Result<Self, error::OutOfMemory> {
        let (len, size) = (filter.len(), filter.parameters().table_size());
        let Some((splitting, old, parameters)) = filter.take_doubling() else {
            return Ok(Self::new(SharedTable::new(len, filter)?, growth));
        };
        let old = CuckooFilter::from_parts(parameters, *filter.hasher(), old, len);
        let generation = Self::new(SharedTable::new(len, old)?, growth);
        let next = SharedTable::with_versions(0, filter, generation.table.guards.versions.clone());
        let doubling = next.and_then(|next| Doubling::new(splitting, Self::new(next, growth), len));
        generation.begin_doubling(doubling.map_err(|OutOfMemory| error::OutOfMemory::new(size))?, splitting.waiting());
        Ok(generation)
    }

    /// Begins to double the table, whose writers are locked out.
    pub(super) fn begin_doubling(&self, doubling: Doubling, waiting: u64) -> &Doubling {
        let doubling = self.doubling.get_or_init(|| doubling);
        self.set_waiting(waiting);
        doubling
    }

    /// The doubling, once it has begun.
    #[inline]
    pub(super) fn doubling(&self) -> Option<&Doubling> {
        if self.is_settled() { None } else { self.doubling.get() }
    }

    /// Whether no doubling has begun.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.waiting() == Self::ALL
    }

    /// How many buckets wait.
    ///
    /// Acquire: whoever reads that a bucket was split sees its halves.
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Acquire)
    }

    /// Release: see [`waiting`](Self::waiting).
    pub(super) fn set_waiting(&self, waiting: u64) {
        self.waiting.store(waiting, Ordering::Release);
    }

    /// Turns it into a filter for one thread, without the versions.
    pub(super) fn into_filter(self, growth: Growth) -> CuckooFilter {
        let waiting = self.waiting();
        match self.doubling.into_inner() {
            None => self.table.into_filter().with_growth(Some(growth)),
            Some(doubling) => doubling.into_filter(self.table, waiting, growth),
        }
    }

    /// The table with the parameters that the filter has: while a table is doubled, those of the doubled one.
    pub(super) fn latest(&self) -> &SharedTable {
        self.doubling().map_or(&self.table, |doubling| &doubling.next.table)
    }

    /// The locks, and how much is stored: while a table is doubled, in both.
    fn stripes(&self) -> &Stripes {
        self.doubling().map_or(&self.table.guards.stripes, |doubling| &doubling.stripes)
    }

    pub(super) fn len(&self) -> usize {
        self.stripes().stored()
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.table.size_in_bytes() + self.doubling().map_or(0, |doubling| doubling.next.table.size_in_bytes())
    }

    /// Whether the table has reached its limit, as far as insertions compare with it.
    ///
    /// While others write, it may return `true` for a table below its limit, but never `false` for one that has reached it.
    ///
    /// Relaxed: the exponent only decides how often to compare.
    #[inline]
    pub(super) fn is_at_limit(&self, digest: Digest, stored: impl FnOnce() -> usize) -> bool {
        let exponent = self.comparison_exponent.load(Ordering::Relaxed);
        if !is_compared(digest, exponent) {
            return false;
        }
        let stored = stored();
        let next = step_to(comparison_exponent(self.limit, stored), exponent);
        if next != exponent {
            let exponents = &self.comparison_exponent;
            // Where it fails, another thread has just set a newer exponent, or the next comparison sets this one.
            let _unless_changed = exponents.compare_exchange_weak(exponent, next, Ordering::Relaxed, Ordering::Relaxed);
        }
        stored >= self.limit
    }

    /// Whether the table has reached its limit, while nobody writes.
    pub(super) fn is_full(&self) -> bool {
        self.table.len() >= self.limit
    }

    /// Returns `true` if the table had reached its limit at one moment of this call, though others write. `false` says nothing.
    pub(super) fn is_surely_full(&self) -> bool {
        self.surely_stored() >= self.limit
    }

    /// See [`Stripes::surely_stored`].
    pub(super) fn surely_stored(&self) -> usize {
        self.stripes().surely_stored()
    }

    #[inline]
    pub(super) fn insert(&self, digest: Digest, repeated: Repeated) -> Result<bool, Refusal> {
        if self.is_at_limit(digest, || self.table.len()) {
            // Not found at one look, it may be there all the same: whoever makes the table larger decides.
            let is_left_out = repeated == Repeated::LeftOut && self.table.is_stored(digest)?;
            return if is_left_out { Ok(false) } else { Err(Refusal::For(NoRoom::Full)) };
        }
        if repeated == Repeated::Stored && (self.operations.fill)(&self.table, digest)? {
            return Ok(true);
        }
        self.table.insert_with_several_locks(digest, repeated)
    }

    /// Algorithm 2. See [`SharedTable::contains`].
    #[inline]
    pub(super) fn contains(&self, digest: Digest) -> bool {
        (self.operations.look)(self, digest).unwrap_or_else(|| self.look_again(digest))
    }

    /// Algorithm 2 at one look, if the table is that of this generation.
    #[inline(always)]
    fn look_in(&self, table: &CuckooTable<impl Addressing, impl Table>, digest: Digest) -> Option<bool> {
        let located = table.addressing.locate(digest);
        look(&self.table.guards.versions, located.fingerprint, || {
            if self.is_settled() { table.contains_located(located) } else { self.contains_now(digest) }
        })
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
            Present::Settled(SharedTable { scheme, words, .. }) => {
                with_table!(scheme, packed(&**words), table => table.contains(digest))
            }
            Present::Splitting(old, waiting, doubling) => doubling.tables(old, waiting).contains(digest),
        }
    }

    /// How many copies of a key are stored, at one look, in the tables that now hold what was stored here.
    fn count_now(&self, digest: Digest) -> u32 {
        match self.present() {
            Present::Settled(SharedTable { scheme, words, .. }) => {
                with_table!(scheme, packed(&**words), table => table.count(digest))
            }
            Present::Splitting(old, waiting, doubling) => doubling.tables(old, waiting).count(digest),
        }
    }

    /// How many copies of a key are stored.
    pub(super) fn count(&self, digest: Digest) -> Result<usize, Stale> {
        let fingerprint = self.table.fingerprint(digest);
        let look = || {
            let watch = self.table.guards.versions.watch(fingerprint);
            (self.count_now(digest), watch.is_unchanged())
        };
        count_at_rest(look, self.stripes())
    }

    /// The tables that now hold what was stored here.
    fn present(&self) -> Present<'_> {
        let mut generation = self;
        loop {
            match (generation.waiting(), generation.doubling.get()) {
                (Self::ALL, _) | (_, None) => return Present::Settled(&generation.table),
                (0, Some(doubling)) => generation = &doubling.next,
                (waiting, Some(doubling)) => return Present::Splitting(&generation.table, waiting, doubling),
            }
        }
    }
}

/// The tables that hold the fingerprints.
enum Present<'table> {
    Settled(&'table SharedTable),
    /// The table that is being doubled, and how many of its buckets wait.
    Splitting(&'table SharedTable, u64, &'table Doubling),
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::cast::to_usize;

    /// One sum for each thousand keys while the limit is far, then up to 64 for each halving of what is left, and one for each of the
    /// last 128 keys: some 1,700.
    #[test]
    fn a_table_is_found_full_at_its_limit_with_few_sums_before() {
        let builder = CuckooFilter::builder().capacity(1000).max_capacity(10_000_000);
        let filter = builder.false_positive_rate(0.001).build().expect("small");
        let growth = *filter.growth().expect("it grows");
        for seed in 0..20 {
            let hasher = crate::digest::KeyHasher::xxh3(seed);
            let table = SharedTable::new(0, filter.try_clone().expect("small")).expect("small");
            let generation = Generation { limit: 1_000_000, ..Generation::new(table, &growth) };
            let mut sums = 0;
            let refused = (0_u64..).find(|&stored| {
                generation.is_at_limit(hasher.digest(&stored), || {
                    sums += 1;
                    to_usize(stored)
                })
            });
            assert_eq!(refused, Some(1_000_000));
            assert!((1000..2500).contains(&sums), "{sums}");
        }
    }

    #[test]
    fn a_sum_that_is_long_past_makes_insertions_compare_hardly_less_often() {
        let builder = CuckooFilter::builder().capacity(1000).max_capacity(10_000_000);
        let filter = builder.false_positive_rate(0.001).build().expect("small");
        let growth = *filter.growth().expect("it grows");
        let generation = Generation::new(SharedTable::new(0, filter).expect("small"), &growth);
        let generation = Generation { limit: 1_000_000, ..generation };
        // This digest always compares.
        let is_at_limit = |stored: &dyn Fn() -> usize| generation.is_at_limit(Digest::new(0), stored);
        let exponent = || generation.comparison_exponent.load(Ordering::Relaxed);
        for _ in 0..20 {
            assert!(!is_at_limit(&|| 0));
        }
        assert_eq!(exponent(), MAX_COMPARISON_EXPONENT);
        let others_nearly_fill_it = || {
            assert!(!is_at_limit(&|| 999_990));
            0
        };
        for _ in 0..3 {
            assert!(!is_at_limit(&others_nearly_fill_it));
            assert!(exponent() <= 1, "{}", exponent());
        }
    }

    #[test]
    fn the_nearer_the_limit_the_more_insertions_compare_with_it() {
        assert_eq!(
            [0, 1, 127, 128, 255, 256, 1 << 16, 1 << 30].map(|left| comparison_exponent(left, 0)),
            [0, 0, 0, 1, 1, 2, 10, 10]
        );
        assert_eq!(comparison_exponent(1000, 5000), 0);
    }
}
