use alloc::vec::Vec;
use core::fmt;

use super::{BeyondPromise, GrowingCuckooFilterBuilder, Promise};
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::{BuildError, InsertError};
use crate::filter::{CuckooFilter, Fingerprints};
use crate::parameters::Parameters;

/// A [`CuckooFilter`] that grows, and still removes exactly.
///
/// It is one table, not a chain of them. When it is full, every bucket becomes two, and one bit of each fingerprint becomes
/// the bit that says which: a pass over the memory, without the keys, that can't fail for want of room. So a lookup costs
/// the same at every size, and [`remove`](Self::remove) takes the key's own fingerprint whenever the key was added.
///
/// The bits to give away are there from the start: up to its [`largest_capacity`](Self::largest_capacity) the filter
/// keeps to the rate it was built for; before that, its rate is lower. What happens beyond is
/// [yours to choose](BeyondPromise).
///
/// More copies of a key than its buckets hold are refused; they never make it grow.
///
/// # Examples
///
/// ```
/// use guira::GrowingCuckooFilter;
///
/// let mut seen = GrowingCuckooFilter::with_capacity(1000, 0.001)?;
/// for number in 0..50_000u64 {
///     seen.insert(&number)?;
/// }
/// assert!((0..50_000u64).all(|number| seen.contains(&number)));
///
/// for number in 0..49_000u64 {
///     seen.remove(&number);
/// }
/// seen.shrink_to_fit();
/// assert!((49_000..50_000u64).all(|number| seen.contains(&number)));
/// assert!(seen.size_in_bytes() < 16 << 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct GrowingCuckooFilter {
    filter: CuckooFilter,
    promise: Promise,
    /// How many fingerprints there may be before the next doubling, if there is room for so many.
    limit: usize,
}

impl GrowingCuckooFilter {
    /// An empty filter with room for `capacity` distinct keys, that keeps to the rate up to 1024 times as many.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is out of range, or that there is no memory.
    pub fn with_capacity(capacity: usize, false_positive_rate: f64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).false_positive_rate(false_positive_rate).build()
    }

    /// Chooses everything that can be chosen.
    pub fn builder() -> GrowingCuckooFilterBuilder {
        GrowingCuckooFilterBuilder::default()
    }

    pub(crate) fn from_parts(filter: CuckooFilter, promise: Promise) -> Self {
        let limit = promise.limit(filter.parameters());
        Self { filter, promise, limit }
    }

    /// Stores a copy of a key, and doubles the table first if it is full.
    ///
    /// A key that is inserted again is stored again, up to 2b times, and must be removed as often.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`] at the largest capacity, where the filter was built to [refuse](BeyondPromise::Refuse) more
    /// or has no more bits to give away; [`InsertError::TooManyCopies`] for one copy more than the key's buckets hold;
    /// [`InsertError::Crowded`] where copies of other keys fill them in a table that is nearly empty;
    /// [`InsertError::OutOfMemory`]. In all cases the filter is as it was.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_digest(self.hasher().digest(key))
    }

    /// Stores a copy of the key with this digest. See [`insert`](Self::insert).
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    #[inline]
    pub fn insert_digest(&mut self, digest: Digest) -> Result<(), InsertError> {
        if self.filter.len() < self.limit {
            match self.filter.insert_digest(digest) {
                Err(InsertError::Full { .. }) => {}
                result => return result,
            }
        }
        self.insert_growing(digest)
    }

    /// Stores a copy of a key if the table takes it as it is; never doubles it.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`] where the table would have to be doubled, and [`InsertError::TooManyCopies`]. In both cases
    /// the filter is as it was.
    #[inline]
    pub fn insert_without_growing<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_digest_without_growing(self.hasher().digest(key))
    }

    /// Stores a copy of the key with this digest if the table takes it as it is. See
    /// [`insert_without_growing`](Self::insert_without_growing).
    ///
    /// # Errors
    ///
    /// Those of [`insert_without_growing`](Self::insert_without_growing).
    pub fn insert_digest_without_growing(&mut self, digest: Digest) -> Result<(), InsertError> {
        if self.filter.len() < self.limit {
            return self.filter.insert_digest(digest);
        }
        self.refuse_copies_that_do_not_fit(digest)?;
        Err(self.full())
    }

    /// Stores a copy in a table that is as full as it should be, or where a place could not be found.
    #[cold]
    fn insert_growing(&mut self, digest: Digest) -> Result<(), InsertError> {
        self.refuse_copies_that_do_not_fit(digest)?;
        // One doubling need not make room, and the next may be refused: until the key is stored, the table stays (invariant 2).
        let mut grown = self.doubled_unless_copies()?;
        loop {
            match grown.filter.insert_digest(digest) {
                Err(InsertError::Full { .. }) => grown = grown.doubled_unless_copies()?,
                result => {
                    result?;
                    *self = grown;
                    return Ok(());
                }
            }
        }
    }

    /// More copies than fit are no reason to grow.
    fn refuse_copies_that_do_not_fit(&self, digest: Digest) -> Result<(), InsertError> {
        let copies = self.filter.count_digest(digest);
        // The two buckets of a key are never the same here.
        let most = 2 * self.parameters().slots_per_bucket() as usize;
        if copies >= most { Err(InsertError::TooManyCopies { copies }) } else { Ok(()) }
    }

    fn doubled_unless_copies(&self) -> Result<Self, InsertError> {
        let (len, slot_count) = (self.len(), self.filter.slot_count());
        if is_crowded(len, slot_count) { Err(InsertError::Crowded { len, slot_count }) } else { self.doubled() }
    }

    /// The same keys in twice the table, if that is allowed.
    pub(super) fn doubled(&self) -> Result<Self, InsertError> {
        if self.promise.is_last(self.parameters()) {
            return Err(self.full());
        }
        match self.filter.doubled() {
            Ok(doubled) => Ok(Self::from_parts(doubled, self.promise)),
            Err(BuildError::OutOfMemory { bytes }) => Err(InsertError::OutOfMemory { bytes }),
            // No bits left to give away, or no numbers for buckets.
            Err(_) => Err(self.full()),
        }
    }

    fn full(&self) -> InsertError {
        InsertError::Full { len: self.len(), capacity: self.filter.capacity(), slot_count: self.filter.slot_count() }
    }

    /// Stores a key unless the filter answers "probably" for it already; whether it was stored.
    ///
    /// Never combine this with removal: see [`CuckooFilter::insert_unique`].
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_unique_digest(self.hasher().digest(key))
    }

    /// Stores the key with this digest unless the filter answers "probably" for it. See
    /// [`insert_unique`](Self::insert_unique).
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique_digest(&mut self, digest: Digest) -> Result<bool, InsertError> {
        if self.contains_digest(digest) { Ok(false) } else { self.insert_digest(digest).map(|()| true) }
    }

    /// Whether a key is probably in the set; `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_digest(self.hasher().digest(key))
    }

    /// Whether the key with this digest is probably in the set; `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.filter.scheme().contains_in_doubling(self.filter.bytes(), digest)
    }

    /// How many copies of a key are stored, those of keys that share its fingerprint and buckets included: never fewer
    /// than were inserted and not removed, and at most 2b.
    #[inline]
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        self.filter.count(key)
    }

    /// How many copies of the key with this digest are stored. See [`count`](Self::count).
    #[inline]
    #[must_use]
    pub fn count_digest(&self, digest: Digest) -> usize {
        self.filter.count_digest(digest)
    }

    /// Removes one copy of a key; whether there was one. The table stays as large as it is.
    ///
    /// Only remove what was inserted, and as often as it was inserted at the most: see [`CuckooFilter::remove`].
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.filter.remove(key)
    }

    /// Removes one copy of the key with this digest; whether there was one. See [`CuckooFilter::remove`] for the rule.
    #[inline]
    pub fn remove_digest(&mut self, digest: Digest) -> bool {
        self.filter.remove_digest(digest)
    }

    /// Removes all keys. The table stays as large as it is.
    pub fn clear(&mut self) {
        self.filter.clear();
    }

    /// Makes room for `additional` more distinct keys at once, as far as the filter may grow.
    ///
    /// # Errors
    ///
    /// Why there is room for fewer only; the table is then as large as it may become.
    pub fn reserve(&mut self, additional: usize) -> Result<(), InsertError> {
        let needed = self.len().saturating_add(additional);
        while self.capacity() < needed {
            *self = self.doubled()?;
        }
        Ok(())
    }

    /// Undoes doublings as long as everything fits the smaller table with room to spare, down to the size that the
    /// filter began with. It is exact: every fingerprint gets its bit back.
    pub fn shrink_to_fit(&mut self) {
        while let Some(smaller) = self.parameters().before_doubling() {
            if self.len() as u64 > smaller.capacity() {
                break;
            }
            // Copies may fill a few buckets; where they do, nothing changes.
            let Some(halved) = self.filter.halved() else { break };
            *self = Self::from_parts(halved, self.promise);
        }
    }

    /// How many fingerprints are stored, each copy counted.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.filter.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.filter.is_empty()
    }

    /// How many distinct keys are promised to fit before the next doubling; as a rule there is room for more.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.filter.capacity()
    }

    /// The number of distinct keys up to which the rate is promised: at least what was asked for.
    #[must_use]
    pub const fn largest_capacity(&self) -> usize {
        crate::cast::in_memory(self.promise.largest_capacity)
    }

    /// What becomes of more keys than that.
    #[must_use]
    pub const fn beyond_promise(&self) -> BeyondPromise {
        self.promise.beyond
    }

    /// Lets the caller put the bytes of the table elsewhere in memory. See
    /// [`CuckooFilter::move_table`](crate::CuckooFilter::move_table).
    ///
    /// # Panics
    ///
    /// If more bytes come back, or fewer.
    pub fn move_table(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        self.filter.move_table(elsewhere);
    }

    /// α, the share of the slots that are filled.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        self.filter.load_factor()
    }

    /// The bytes of the table, padding included.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.filter.size_in_bytes()
    }

    /// The share of absent keys to be answered with "probably" at the present size and load.
    #[must_use]
    pub fn expected_false_positive_rate(&self) -> f64 {
        self.filter.expected_false_positive_rate()
    }

    /// The measures of the table as it is now.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        self.filter.parameters()
    }

    /// What turns keys into digests.
    #[must_use]
    pub const fn hasher(&self) -> &KeyHasher {
        self.filter.hasher()
    }

    /// The stored fingerprints with their buckets, bucket by bucket.
    #[must_use]
    pub fn iter(&self) -> Fingerprints<'_> {
        self.filter.iter()
    }

    /// The filter as it is now, which grows no more.
    #[must_use]
    pub fn into_filter(self) -> CuckooFilter {
        self.filter
    }

    /// The same, borrowed.
    #[must_use]
    pub const fn as_filter(&self) -> &CuckooFilter {
        &self.filter
    }

    /// How many fingerprints there may be before the next doubling.
    pub(super) const fn limit(&self) -> usize {
        self.limit
    }

    /// How many more there may be.
    pub(super) const fn room(&self) -> usize {
        self.limit.saturating_sub(self.filter.len())
    }

    pub(crate) const fn promise(&self) -> &Promise {
        &self.promise
    }

    pub(super) const fn filter_mut(&mut self) -> &mut CuckooFilter {
        &mut self.filter
    }

    /// Checks what must hold of every filter; meant for tests.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        if self.promise.check(self.parameters()).is_err() {
            return Err("a growing filter grows as far as was promised");
        }
        self.filter.check_invariants()
    }
}

/// Whether copies must be in the way where no room is found. Distinct keys fill far more than a quarter of any table before
/// one of them finds none; who doubled below that would have a table that is ever larger and ever emptier.
pub(crate) const fn is_crowded(len: usize, slot_count: usize) -> bool {
    len < slot_count / 4
}

impl fmt::Debug for GrowingCuckooFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("GrowingCuckooFilter")
            .field("filter", &self.filter)
            .field("largest_capacity", &self.promise.largest_capacity)
            .field("beyond_promise", &self.promise.beyond)
            .finish()
    }
}

impl<'filter> IntoIterator for &'filter GrowingCuckooFilter {
    type Item = crate::filter::StoredFingerprint;
    type IntoIter = Fingerprints<'filter>;

    fn into_iter(self) -> Fingerprints<'filter> {
        self.iter()
    }
}
