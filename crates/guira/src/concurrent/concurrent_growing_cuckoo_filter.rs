use core::fmt;

use super::ConcurrentCuckooFilter;
use super::stripes::{HeldTogether, Retired};
use super::update::{Refusal, Repeated};
use super::{lookup, update};
use crate::cast::in_memory;
use crate::cuckoo::NoRoom;
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::{BuildError, InsertEachError, InsertError};
use crate::growing::{BeyondPromise, GrowingCuckooFilter, Promise, is_crowded};
use crate::parameters::Parameters;
use crate::sync::{AtomicU64, Ordering, Replaceable};

/// A [`GrowingCuckooFilter`] for several threads: a [`ConcurrentCuckooFilter`] whose table doubles when it is full.
///
/// Readers are not held up by a doubling: they go on in the old table until the new one stands, which then has the same
/// keys. Writers wait until it does. The old table is given back when the last operation in it has ended.
///
/// What can be relied on is what [`ConcurrentCuckooFilter`] promises: a doubling changes no answer but that of false
/// positives. While several threads insert at once, as many keys as there are threads may be stored beyond the number at
/// which the table is to be doubled, or at which it is full.
///
/// A lookup takes some nanoseconds more than with a table that stays, to find the table; a batch does so once.
///
/// # Examples
///
/// ```
/// use guira::ConcurrentGrowingCuckooFilter;
///
/// let seen = ConcurrentGrowingCuckooFilter::with_capacity(1000, 0.001)?;
/// std::thread::scope(|threads| {
///     let writers = [0, 1].map(|first| {
///         let seen = &seen;
///         threads.spawn(move || (first..20_000u64).step_by(2).try_for_each(|key| seen.insert(&key)))
///     });
///     writers.into_iter().try_for_each(|writer| writer.join().expect("it does not panic"))
/// })?;
/// assert!((0..20_000u64).all(|key| seen.contains(&key)));
/// assert!(seen.capacity() >= 20_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ConcurrentGrowingCuckooFilter {
    current: Replaceable<Generation>,
    promise: Promise,
    hasher: KeyHasher,
}

/// The table between two doublings.
///
/// Why operations may end in a table that was replaced: it stands still from before the new one takes its place, with the
/// same keys. A writer finds it retired as soon as it has a lock, and begins again in the new one. A reader that found the
/// old one began before the new one took its place, so the moment at which it did is one at which its answer is right.
struct Generation {
    filter: ConcurrentCuckooFilter,
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
    fn new(filter: GrowingCuckooFilter) -> Result<Self, BuildError> {
        let limit = filter.promise().limit(filter.parameters());
        let filter = ConcurrentCuckooFilter::try_from(filter.into_filter())?;
        Ok(Self { filter, limit, is_near_limit: AtomicU64::new(1) })
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
        let stored = self.filter.len();
        let is_near = stored.saturating_add(FAR) >= self.limit;
        if is_near != was_near {
            self.is_near_limit.store(u64::from(is_near), Ordering::Relaxed);
        }
        stored >= self.limit
    }

    /// Stores keys in order up to the first for which the table may be too small: how many.
    #[inline]
    fn store_run(&self, count: usize, digest: impl Fn(usize) -> Digest) -> usize {
        let admit = |digest| if self.is_at_limit(digest) { Err(NoRoom::Full.into()) } else { Ok(()) };
        self.filter.store_run(count, digest, admit).0
    }

    #[inline]
    fn insert(&self, digest: Digest, repeated: Repeated) -> Result<bool, Refusal> {
        if self.is_at_limit(digest) {
            let is_left_out = repeated == Repeated::LeftOut && self.filter.contains_digest(digest);
            return if is_left_out { Ok(false) } else { Err(Refusal::NoRoom(NoRoom::Full)) };
        }
        update::insert(&self.filter.scheme, &self.filter.words, digest, repeated, &self.filter.guards)
    }

    fn error(&self, reason: NoRoom) -> InsertError {
        reason.as_error(self.filter.len(), self.filter.parameters())
    }
}

impl ConcurrentGrowingCuckooFilter {
    /// An empty filter with room for `capacity` distinct keys, that keeps to the rate up to 1024 times as many. To choose
    /// more, build a [`GrowingCuckooFilter`] and convert it.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is out of range, or that there is no memory.
    pub fn with_capacity(capacity: usize, false_positive_rate: f64) -> Result<Self, BuildError> {
        GrowingCuckooFilter::with_capacity(capacity, false_positive_rate)?.try_into()
    }

    /// Stores a copy of a key, and doubles the table first if it is full.
    ///
    /// # Errors
    ///
    /// Those of [`GrowingCuckooFilter::insert`]. In all cases the filter is as it was.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<(), InsertError> {
        self.insert_digest(self.hasher.digest(key))
    }

    /// Stores a copy of the key with this digest. See [`insert`](Self::insert).
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    #[inline]
    pub fn insert_digest(&self, digest: Digest) -> Result<(), InsertError> {
        self.store(digest, Repeated::Stored).map(|_stored| ())
    }

    /// Stores a key unless the filter answers "probably" for it already; whether it was stored. See
    /// [`ConcurrentCuckooFilter::insert_unique`].
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&self, key: &K) -> Result<bool, InsertError> {
        self.insert_unique_digest(self.hasher.digest(key))
    }

    /// Stores the key with this digest unless the filter answers "probably" for it. See
    /// [`insert_unique`](Self::insert_unique).
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique_digest(&self, digest: Digest) -> Result<bool, InsertError> {
        self.store(digest, Repeated::LeftOut)
    }

    fn store(&self, digest: Digest, repeated: Repeated) -> Result<bool, InsertError> {
        loop {
            let generation = self.current.load();
            let outcome = match generation.insert(digest, repeated) {
                Ok(stored) => return Ok(stored),
                Err(Refusal::NoRoom(NoRoom::Full)) => self.store_growing(&generation, digest, repeated),
                Err(Refusal::NoRoom(reason)) => return Err(generation.error(reason)),
                Err(Refusal::Retired) => Err(Retired),
            };
            // Otherwise the next table took the place of this one before its locks were free.
            if let Ok(stored) = outcome {
                return stored;
            }
        }
    }

    /// Stores a copy in a table that is as full as it should be, or where a place could not be found.
    #[cold]
    fn store_growing(
        &self,
        generation: &Generation,
        digest: Digest,
        repeated: Repeated,
    ) -> Result<Result<bool, InsertError>, Retired> {
        let filter = &generation.filter;
        // Where it is certain that no larger table would be made, nobody has to wait and nothing to be copied.
        let copies = filter.count_digest(digest);
        if copies >= 2 * in_memory(u64::from(filter.parameters().slots_per_bucket())) {
            return Ok(Err(InsertError::TooManyCopies { copies }));
        }
        if self.promise.is_last(filter.parameters()) {
            return Ok(Err(generation.error(NoRoom::Full)));
        }
        let (len, slot_count) = (filter.len(), filter.slot_count());
        if is_crowded(len, slot_count) {
            return Ok(Err(InsertError::Crowded { len, slot_count }));
        }
        let all = filter.guards.stripes.lock_all()?;
        Ok(self.store_in_next(generation, digest, repeated, all))
    }

    /// Makes room for `additional` more distinct keys at once, as far as the filter may grow. Writers wait meanwhile,
    /// readers do not.
    ///
    /// # Errors
    ///
    /// Why there is room for fewer only; the table is then as large as it may become.
    pub fn reserve(&self, additional: usize) -> Result<(), InsertError> {
        loop {
            let generation = self.current.load();
            let filter = &generation.filter;
            if filter.len().saturating_add(additional) <= filter.capacity() {
                return Ok(());
            }
            if let Ok(all) = filter.guards.stripes.lock_all() {
                let mut next = self.copy(&generation, &all)?;
                let reserved = next.reserve(additional);
                return if next.capacity() > filter.capacity() {
                    self.replace(next, all).and(reserved)
                } else {
                    reserved
                };
            }
        }
    }

    /// Makes the next table from this one, which stands still, stores a key in it, and replaces this one by it.
    fn store_in_next(
        &self,
        generation: &Generation,
        digest: Digest,
        repeated: Repeated,
        all: HeldTogether<'_>,
    ) -> Result<bool, InsertError> {
        let mut next = self.copy(generation, &all)?;
        let stored = match repeated {
            Repeated::Stored => next.insert_digest(digest).map(|()| true),
            Repeated::LeftOut => next.insert_unique_digest(digest),
        }?;
        self.replace(next, all)?;
        Ok(stored)
    }

    /// The filter as it is while nobody writes.
    fn copy(&self, generation: &Generation, all: &HeldTogether<'_>) -> Result<GrowingCuckooFilter, InsertError> {
        let copy = generation.filter.copy(all).map_err(|_| no_memory(generation.filter.parameters()))?;
        Ok(GrowingCuckooFilter::from_parts(copy, self.promise))
    }

    /// Lets another table take the place of the one whose locks are held.
    fn replace(&self, next: GrowingCuckooFilter, all: HeldTogether<'_>) -> Result<(), InsertError> {
        let parameters = *next.parameters();
        self.current.replace(Generation::new(next).map_err(|_| no_memory(&parameters))?);
        all.retire();
        Ok(())
    }

    /// Whether a key is probably in the set; `false` is certain. It takes no lock and waits for nobody.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_digest(self.hasher.digest(key))
    }

    /// Whether the key with this digest is probably in the set; `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.current.load().filter.contains_digest(digest)
    }

    /// How many copies of a key are stored. See [`ConcurrentCuckooFilter::count`].
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        self.count_digest(self.hasher.digest(key))
    }

    /// How many copies of the key with this digest are stored.
    #[must_use]
    pub fn count_digest(&self, digest: Digest) -> usize {
        loop {
            let generation = self.current.load();
            let filter = &generation.filter;
            if let Ok(copies) = lookup::count(&filter.scheme, &filter.words, digest, &filter.guards) {
                return in_memory(u64::from(copies));
            }
        }
    }

    /// Removes one copy of a key; whether there was one. The table stays as large as it is.
    ///
    /// Only remove what was inserted: see [`ConcurrentCuckooFilter::remove`].
    #[inline]
    pub fn remove<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.remove_digest(self.hasher.digest(key))
    }

    /// Removes one copy of the key with this digest; whether there was one.
    #[inline]
    pub fn remove_digest(&self, digest: Digest) -> bool {
        loop {
            let generation = self.current.load();
            let filter = &generation.filter;
            if let Ok(removed) = update::remove(&filter.scheme, &filter.words, digest, &filter.guards) {
                return removed;
            }
        }
    }

    /// Whether each of many keys is probably in the set. See [`ConcurrentCuckooFilter::contains_each`].
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    pub fn contains_each<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        self.current.load().filter.contains_each(keys, answers);
    }

    /// Whether each of many keys, given their digests, is probably in the set.
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn contains_each_digest(&self, digests: &[Digest], answers: &mut [bool]) {
        self.current.load().filter.contains_each_digest(digests, answers);
    }

    /// Stores a copy of each of many keys, in order, and doubles the table where it is full. Other threads may see some of
    /// them stored and others not.
    ///
    /// # Errors
    ///
    /// For the first key that can't be stored, why not and how many were stored before it; these are kept.
    pub fn insert_each<K: Key>(&self, keys: &[K]) -> Result<(), InsertEachError> {
        self.store_each(keys.len(), |number| self.hasher.digest(&keys[number]))
    }

    /// Stores a copy of each of many keys, given their digests, in order. See [`insert_each`](Self::insert_each).
    ///
    /// # Errors
    ///
    /// Those of [`insert_each`](Self::insert_each).
    pub fn insert_each_digest(&self, digests: &[Digest]) -> Result<(), InsertEachError> {
        self.store_each(digests.len(), |number| digests[number])
    }

    /// Runs of keys for which the table is large enough go in together, and the one after such a run by itself, which
    /// makes the table grow.
    fn store_each(&self, count: usize, digest: impl Fn(usize) -> Digest) -> Result<(), InsertEachError> {
        let mut inserted = 0;
        while inserted < count {
            let stored = self.current.load().store_run(count - inserted, |number| digest(inserted + number));
            inserted += stored;
            if inserted < count {
                let stored = self.insert_digest(digest(inserted));
                stored.map_err(|reason| InsertEachError { inserted, reason })?;
                inserted += 1;
            }
        }
        Ok(())
    }

    /// Removes one copy of each of many keys, in order; whether there was one, for each.
    ///
    /// Only remove what was inserted: see [`ConcurrentCuckooFilter::remove`].
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    pub fn remove_each<K: Key>(&self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "as many answers as keys");
        self.remove_all(removed, |number| self.hasher.digest(&keys[number]));
    }

    /// Removes one copy of each of many keys, given their digests. See [`remove_each`](Self::remove_each).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn remove_each_digest(&self, digests: &[Digest], removed: &mut [bool]) {
        assert_eq!(digests.len(), removed.len(), "as many answers as digests");
        self.remove_all(removed, |number| digests[number]);
    }

    fn remove_all(&self, removed: &mut [bool], digest: impl Fn(usize) -> Digest) {
        let mut done = 0;
        while done < removed.len() {
            // It ends early where the table is replaced meanwhile.
            done += self.current.load().filter.remove_run(&mut removed[done..], |number| digest(done + number)).0;
        }
    }

    /// Removes all keys that are stored at one moment. The table stays as large as it is. See
    /// [`ConcurrentCuckooFilter::clear`].
    pub fn clear(&self) {
        loop {
            let generation = self.current.load();
            let filter = &generation.filter;
            if let Ok(all) = filter.guards.stripes.lock_all() {
                return filter.clear_while_locked(&all);
            }
        }
    }

    /// The filter for one thread, with the same bits. Large tables are not copied.
    #[must_use]
    pub fn into_filter(self) -> GrowingCuckooFilter {
        GrowingCuckooFilter::from_parts(self.current.into_current().filter.into_filter(), self.promise)
    }

    /// A copy as it is at one moment, to be saved, merged or looked through. Writers wait meanwhile, readers do not.
    ///
    /// # Errors
    ///
    /// [`BuildError::OutOfMemory`].
    pub fn snapshot(&self) -> Result<GrowingCuckooFilter, BuildError> {
        loop {
            let generation = self.current.load();
            let filter = &generation.filter;
            if let Ok(all) = filter.guards.stripes.lock_all() {
                return filter.copy(&all).map(|copy| GrowingCuckooFilter::from_parts(copy, self.promise));
            }
        }
    }

    /// How many fingerprints are stored. See [`ConcurrentCuckooFilter::len`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.current.load().filter.len()
    }

    /// Whether nothing is stored, with the same reservation as [`len`](Self::len).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many distinct keys are promised to fit before the next doubling.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.current.load().filter.capacity()
    }

    /// The number of distinct keys up to which the rate is promised.
    #[must_use]
    pub const fn largest_capacity(&self) -> usize {
        in_memory(self.promise.largest_capacity)
    }

    /// What becomes of more keys than that.
    #[must_use]
    pub const fn beyond_promise(&self) -> BeyondPromise {
        self.promise.beyond
    }

    /// α, the share of the slots that are filled, with the same reservation as [`len`](Self::len).
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        self.current.load().filter.load_factor()
    }

    /// The bytes of the table as it is now, padding included.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.current.load().filter.size_in_bytes()
    }

    /// The share of absent keys to be answered with "probably" at the present size and load.
    #[must_use]
    pub fn expected_false_positive_rate(&self) -> f64 {
        self.current.load().filter.expected_false_positive_rate()
    }

    /// The measures of the table as it is now.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        *self.current.load().filter.parameters()
    }

    /// What turns keys into digests.
    #[must_use]
    pub const fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// Checks what must hold of every filter; meant for tests.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        self.snapshot().map_err(|_| "no memory for a copy")?.check_invariants()
    }
}

const fn no_memory(parameters: &Parameters) -> InsertError {
    InsertError::OutOfMemory { bytes: parameters.table_size() }
}

/// The same bits, shared.
impl TryFrom<GrowingCuckooFilter> for ConcurrentGrowingCuckooFilter {
    type Error = BuildError;

    /// # Errors
    ///
    /// [`BuildError::OutOfMemory`].
    fn try_from(filter: GrowingCuckooFilter) -> Result<Self, BuildError> {
        let (promise, hasher) = (*filter.promise(), *filter.hasher());
        Ok(Self { current: Replaceable::new(Generation::new(filter)?), promise, hasher })
    }
}

impl From<ConcurrentGrowingCuckooFilter> for GrowingCuckooFilter {
    fn from(filter: ConcurrentGrowingCuckooFilter) -> Self {
        filter.into_filter()
    }
}

/// A copy of one moment, as by [`snapshot`](ConcurrentGrowingCuckooFilter::snapshot).
impl Clone for ConcurrentGrowingCuckooFilter {
    fn clone(&self) -> Self {
        self.snapshot().and_then(Self::try_from).expect("no memory for a copy of the filter")
    }
}

impl fmt::Debug for ConcurrentGrowingCuckooFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConcurrentGrowingCuckooFilter")
            .field("filter", &self.current.load().filter)
            .field("largest_capacity", &self.promise.largest_capacity)
            .field("beyond_promise", &self.promise.beyond)
            .finish()
    }
}
