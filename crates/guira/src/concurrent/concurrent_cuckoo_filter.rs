use core::fmt;

use super::guards::Guards;
use super::stripes::{HeldTogether, Retired};
use super::update::{Refusal, Repeated};
use super::{lookup, update};
use crate::cast::{approximate, in_memory};
use crate::cuckoo::Scheme;
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::{BuildError, InsertError};
use crate::filter::CuckooFilter;
use crate::parameters::{Layout, Parameters};
use crate::table::Words;

/// A [`CuckooFilter`] for several threads: every operation takes it by shared reference.
///
/// Lookups take no lock and never wait, and they never miss a key, not even one that is being moved. Writers lock a
/// stripe of the table each, 1 in 256 of a large one, and seldom meet. A table has the same bits, files and errors as the
/// filter that it is made of, and turns back into it; it is always [packed](Layout::Packed).
///
/// # What you can rely on
///
/// Everything here holds as soon as one operation happens before another, by any means by which threads tell each other
/// that something is done: joining, channels, locks, atomics that acquire and release.
///
/// - **A key that is in the set is found.** If its insertion happened before the lookup began, and its removal had not
///   begun when the lookup ended, the answer is "probably".
/// - **The operations on each key are linearizable**: [`insert`](Self::insert), [`insert_unique`](Self::insert_unique),
///   [`contains`](Self::contains) and [`remove`](Self::remove) take effect at one moment between their call and their
///   return. So of several threads that call `insert_unique` with the same new key, one is told that it stored it.
///   "Probably" is an answer that absent keys may get at any moment; a lookup that overlaps with writing may give it
///   to keys that no single moment's table would have given it to, about as rarely as any false positive.
/// - **A failed operation changes nothing**, and a "full" was true at a moment when no other thread was writing.
///
/// # What you can't
///
/// - There is no order of all operations on different keys that all threads agree on. Two threads that each insert a key and
///   then look up the other's may both be told that it is absent.
/// - [`count`](Self::count) is never too low, but counts a copy that is being moved twice.
/// - [`len`](Self::len) is exact while nobody writes; otherwise some of the operations that overlap with it are counted,
///   and others not.
/// - A batch is as many single operations, at as many moments.
/// - Which slots fingerprints get depends on who comes first; with one thread the bytes are those of a [`CuckooFilter`].
///
/// # How long it takes
///
/// A lookup that finds nothing looks once more if a fingerprint of the same class, of which there are 512, was moved or
/// removed meanwhile. After 64 looks that were all disturbed like this it answers "probably": so it ends however many
/// others write. Writers wait for those who hold the same stripe. An insertion into a table that is so full that no
/// place is found makes all other writers wait until that is certain; no reader does.
///
/// # Examples
///
/// ```
/// use guira::ConcurrentCuckooFilter;
///
/// let seen = ConcurrentCuckooFilter::with_capacity(1000, 0.001)?;
/// std::thread::scope(|threads| {
///     let writer = threads.spawn(|| (0..500u64).try_for_each(|key| seen.insert(&key)));
///     threads.spawn(|| (0..500u64).filter(|key| seen.contains(key)).count());
///     writer.join().expect("it does not panic")
/// })?;
/// assert!((0..500u64).all(|key| seen.contains(&key)));
/// assert_eq!(seen.len(), 500);
///
/// let file = seen.snapshot()?.to_bytes();
/// # let _ = file;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ConcurrentCuckooFilter {
    parameters: Parameters,
    hasher: KeyHasher,
    pub(super) scheme: Scheme,
    pub(super) words: Words,
    pub(super) guards: Guards,
}

impl ConcurrentCuckooFilter {
    /// An empty filter for `capacity` distinct keys that answers absent keys with "probably" at this rate at the most. To
    /// choose more, build a [`CuckooFilter`] and convert it.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is out of range, or that there is no memory.
    pub fn with_capacity(capacity: usize, false_positive_rate: f64) -> Result<Self, BuildError> {
        let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(false_positive_rate);
        builder.layout(Layout::Packed).build()?.try_into()
    }

    /// Stores a copy of a key.
    ///
    /// A key that is inserted again is stored again, up to 2b times (or d · b), and must be removed as often.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`], or [`InsertError::TooManyCopies`] for one copy more than the key's buckets hold. In both
    /// cases the filter is as it was.
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
        match update::insert(&self.scheme, &self.words, digest, Repeated::Stored, &self.guards) {
            Ok(_stored) => Ok(()),
            Err(reason) => Err(self.insert_error(reason)),
        }
    }

    /// Stores a key unless the filter answers "probably" for it already; whether it was stored. Of several threads that
    /// do this with one key at the same time, one stores it.
    ///
    /// Never combine this with removal: see [`CuckooFilter::insert_unique`].
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`]; the filter is as it was.
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&self, key: &K) -> Result<bool, InsertError> {
        self.insert_unique_digest(self.hasher.digest(key))
    }

    /// Stores the key with this digest unless the filter answers "probably" for it. See
    /// [`insert_unique`](Self::insert_unique).
    ///
    /// # Errors
    ///
    /// Those of [`insert_unique`](Self::insert_unique).
    #[inline]
    pub fn insert_unique_digest(&self, digest: Digest) -> Result<bool, InsertError> {
        update::insert(&self.scheme, &self.words, digest, Repeated::LeftOut, &self.guards)
            .map_err(|reason| self.insert_error(reason))
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
        lookup::contains(&self.scheme, &self.words, digest, &self.guards)
    }

    /// How many copies of a key are stored, those of keys that share its fingerprint and buckets included: never fewer
    /// than were inserted and not removed, and at most 2b (or d · b). A copy that is being moved counts twice.
    ///
    /// It takes no lock, unless fingerprints of its class are moved or removed 64 times while it looks.
    #[inline]
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        self.count_digest(self.hasher.digest(key))
    }

    /// How many copies of the key with this digest are stored. See [`count`](Self::count).
    #[inline]
    #[must_use]
    pub fn count_digest(&self, digest: Digest) -> usize {
        in_memory(u64::from(still_current(lookup::count(&self.scheme, &self.words, digest, &self.guards))))
    }

    /// Removes one copy of a key; whether there was one.
    ///
    /// Only remove what was inserted, and as often as it was inserted at the most: see [`CuckooFilter::remove`]. Here
    /// that means that the insertion happened before the removal.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.remove_digest(self.hasher.digest(key))
    }

    /// Removes one copy of the key with this digest; whether there was one. See [`remove`](Self::remove) for the rule.
    #[inline]
    #[expect(clippy::must_use_candidate, reason = "it changes the filter")]
    pub fn remove_digest(&self, digest: Digest) -> bool {
        still_current(update::remove(&self.scheme, &self.words, digest, &self.guards))
    }

    /// Removes all keys that are stored at one moment. Writers wait meanwhile, readers do not: a lookup that overlaps with
    /// it finds some keys and not others.
    pub fn clear(&self) {
        self.clear_while_locked(&still_current(self.guards.stripes.lock_all()));
    }

    /// Removes all keys while nobody writes.
    pub(super) fn clear_while_locked(&self, all: &HeldTogether<'_>) {
        self.guards.versions.all_leave();
        self.words.clear();
        all.count_none();
    }

    /// A copy as it is at one moment, to be saved, merged or looked through. Writers wait meanwhile, readers do not.
    ///
    /// # Errors
    ///
    /// [`BuildError::OutOfMemory`].
    pub fn snapshot(&self) -> Result<CuckooFilter, BuildError> {
        self.copy(&still_current(self.guards.stripes.lock_all()))
    }

    /// A copy while nobody writes.
    pub(super) fn copy(&self, _all: &HeldTogether<'_>) -> Result<CuckooFilter, BuildError> {
        let storage = self.words.to_storage().map_err(|_| out_of_memory(&self.parameters))?;
        Ok(CuckooFilter::from_parts(self.parameters, self.hasher, storage, self.len()))
    }

    /// The filter for one thread, with the same bits.
    #[must_use]
    pub fn into_filter(self) -> CuckooFilter {
        let (parameters, hasher, len) = (self.parameters, self.hasher, self.len());
        CuckooFilter::from_parts(parameters, hasher, self.words.into_storage(), len)
    }

    /// How many fingerprints are stored, each copy counted. It takes no lock: while others write, it is about right.
    #[must_use]
    pub fn len(&self) -> usize {
        self.guards.stripes.stored()
    }

    /// Whether nothing is stored, with the same reservation as [`len`](Self::len).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many distinct keys are promised to fit. See [`CuckooFilter::capacity`].
    #[must_use]
    pub const fn capacity(&self) -> usize {
        in_memory(self.parameters.capacity())
    }

    /// How many fingerprints the table could hold if every slot were filled; more than will ever fit.
    #[must_use]
    pub const fn slot_count(&self) -> usize {
        in_memory(self.parameters.slot_count())
    }

    /// α, the share of the slots that are filled, with the same reservation as [`len`](Self::len).
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        approximate(self.len() as u64) / approximate(self.parameters.slot_count())
    }

    /// The bytes of the table, padding included. Locks and versions take at most 45 KB more.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The share of absent keys to be answered with "probably" at the present load.
    #[must_use]
    pub fn expected_false_positive_rate(&self) -> f64 {
        self.parameters.expected_false_positive_rate(self.len() as u64)
    }

    /// The measures of the filter.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
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

    #[cold]
    pub(super) fn insert_error(&self, refusal: Refusal) -> InsertError {
        match refusal {
            Refusal::NoRoom(reason) => reason.as_error(self.len(), &self.parameters),
            Refusal::Retired => still_current(Err(Retired)),
        }
    }
}

/// What was done with the table of a filter that does not grow.
#[inline]
pub(super) fn still_current<T>(done: Result<T, Retired>) -> T {
    done.unwrap_or_else(|Retired| unreachable!("only the tables of growing filters are replaced"))
}

const fn out_of_memory(parameters: &Parameters) -> BuildError {
    BuildError::OutOfMemory { bytes: parameters.table_size() }
}

/// The same bits, shared. Large tables are not copied.
impl TryFrom<CuckooFilter> for ConcurrentCuckooFilter {
    type Error = BuildError;

    /// # Errors
    ///
    /// [`BuildError::ConcurrentLayout`] where the table is not packed; [`BuildError::OutOfMemory`].
    fn try_from(filter: CuckooFilter) -> Result<Self, BuildError> {
        let (parameters, hasher, len) = (*filter.parameters(), *filter.hasher(), filter.len());
        let layout = parameters.layout();
        if layout != Layout::Packed {
            return Err(BuildError::ConcurrentLayout { layout });
        }
        let words = Words::from_storage(filter.into_storage()).map_err(|_| out_of_memory(&parameters))?;
        let scheme = Scheme::new(&parameters, hasher.seed());
        Ok(Self { parameters, hasher, scheme, words, guards: Guards::new(&parameters, len) })
    }
}

impl From<ConcurrentCuckooFilter> for CuckooFilter {
    fn from(filter: ConcurrentCuckooFilter) -> Self {
        filter.into_filter()
    }
}

/// A copy of one moment, as by [`snapshot`](ConcurrentCuckooFilter::snapshot).
impl Clone for ConcurrentCuckooFilter {
    fn clone(&self) -> Self {
        self.snapshot().and_then(Self::try_from).expect("no memory for a copy of the filter")
    }
}

impl fmt::Debug for ConcurrentCuckooFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConcurrentCuckooFilter")
            .field("len", &self.len())
            .field("load_factor", &self.load_factor())
            .field("parameters", &self.parameters)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
