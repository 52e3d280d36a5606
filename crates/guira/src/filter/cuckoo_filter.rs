use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::fmt;

use super::{CuckooFilterBuilder, Fingerprints};
use crate::analysis;
use crate::cast::{approximate, in_memory};
use crate::cuckoo::{NoRoom, Scheme};
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::{BuildError, InsertError};
use crate::parameters::Parameters;
use crate::table::{Storage, is_zero_from};

/// A set of keys that answers "certainly not" or "probably", in a few bits per key, and that forgets keys again.
///
/// What it promises: a key that was inserted and not removed is always found. It takes as many distinct keys as its
/// [`capacity`](Self::capacity) says, and while it holds no more, an absent key is answered with "probably" at no more
/// than the rate it was built for. A failed operation leaves every bit as it was. The same operations in the same order
/// give the same bytes, on every machine.
///
/// What it doesn't: it stores a fingerprint per key, not the key, so it can't list keys, and it can't tell apart two keys
/// that share fingerprint and buckets. Hence the rule for [`remove`](Self::remove): only what was inserted.
///
/// # Duplicates
///
/// A key that is inserted twice is stored twice, since removing it once must not lose a key that looks the same. It can be
/// stored as often as its buckets have slots: 2b times, 8 times as a rule; one copy more is refused with
/// [`InsertError::TooManyCopies`]. Where keys come again and again, the paper (section 3.1) has three ways:
///
/// - **No removal.** One copy of each fingerprint is enough: [`CuckooSet`](crate::CuckooSet), or
///   [`insert_unique`](Self::insert_unique). Removing from such a filter loses other keys.
/// - **Counters.** A counter beside each fingerprint, for some more space:
///   [`CountingCuckooFilter`](crate::CountingCuckooFilter).
/// - **The keys themselves**, where they are stored elsewhere: asked whenever the filter says "probably", they tell
///   whether the key is new, at the price of slower insertion: [`insert_unique_with`](Self::insert_unique_with).
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
///
/// let mut seen = CuckooFilter::with_capacity(1000, 0.001)?;
/// seen.insert("ani")?;
/// seen.insert(&42u64)?;
/// assert!(seen.contains("ani"));
/// assert!(!seen.contains("cuckoo"));
///
/// assert!(seen.remove("ani"));
/// assert!(!seen.contains("ani"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CuckooFilter {
    parameters: Parameters,
    hasher: KeyHasher,
    scheme: Scheme,
    storage: Storage,
    len: usize,
}

impl CuckooFilter {
    /// An empty filter for `capacity` distinct keys that answers absent keys with "probably" at this rate at the most.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is out of range, or that there is no memory.
    pub fn with_capacity(capacity: usize, false_positive_rate: f64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).false_positive_rate(false_positive_rate).build()
    }

    /// Chooses everything that can be chosen.
    pub fn builder() -> CuckooFilterBuilder {
        CuckooFilterBuilder::default()
    }

    pub(crate) fn with_parameters(parameters: Parameters, hasher: KeyHasher) -> Result<Self, BuildError> {
        let out_of_memory = |_| BuildError::OutOfMemory { bytes: parameters.table_size() };
        let storage = Storage::zeroed(parameters.table_bits()).map_err(out_of_memory)?;
        Ok(Self::from_parts(parameters, hasher, storage, 0))
    }

    /// Puts a filter together from parts that were checked against each other.
    pub(crate) fn from_parts(parameters: Parameters, hasher: KeyHasher, storage: Storage, len: usize) -> Self {
        let scheme = Scheme::new(&parameters, hasher.seed());
        Self { parameters, hasher, scheme, storage, len }
    }

    /// A copy, unless there is no memory for it.
    pub(super) fn try_clone(&self) -> Result<Self, TryReserveError> {
        let storage = Storage::copied_from(self.storage())?;
        Ok(Self::from_parts(self.parameters, self.hasher, storage, self.len))
    }

    /// Stores a copy of a key.
    ///
    /// A key that is inserted again is stored again, up to 2b times (or d · b), and must be removed as often. To store each key
    /// once, see the [three ways](Self#duplicates) to deal with duplicates.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`], or [`InsertError::TooManyCopies`] for one copy more than the key's buckets hold. In both
    /// cases the filter is as it was.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_digest(self.hasher.digest(key))
    }

    /// Stores a copy of the key with this digest. See [`insert`](Self::insert).
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    #[inline]
    pub fn insert_digest(&mut self, digest: Digest) -> Result<(), InsertError> {
        match self.scheme.insert(&mut self.storage, digest) {
            Ok(()) => {
                self.len += 1;
                Ok(())
            }
            Err(reason) => Err(self.insert_error(reason)),
        }
    }

    /// Stores a key unless the filter answers "probably" for it already; whether it was stored.
    ///
    /// Never combine this with removal. Where the filter took the key for another one that shares its fingerprint and
    /// buckets, the two have one copy between them: removing either loses the other. Use it for sets that only grow, for
    /// which [`CuckooSet`](crate::CuckooSet) is made, or ask a store of your own with
    /// [`insert_unique_with`](Self::insert_unique_with).
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`]; the filter is as it was.
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_unique_digest(self.hasher.digest(key))
    }

    /// Stores the key with this digest unless the filter answers "probably" for it. See
    /// [`insert_unique`](Self::insert_unique).
    ///
    /// # Errors
    ///
    /// Those of [`insert_unique`](Self::insert_unique).
    #[inline]
    pub fn insert_unique_digest(&mut self, digest: Digest) -> Result<bool, InsertError> {
        if self.contains_digest(digest) { Ok(false) } else { self.insert_digest(digest).map(|()| true) }
    }

    /// Stores a key unless a store of the caller's has it already; whether it was stored. The store is asked only if the
    /// filter answers "probably", which for new keys is as rare as a false positive.
    ///
    /// Every key in the store then has a copy of its own, so that removal is as safe as with [`insert`](Self::insert): when
    /// a key is removed from the store, remove it here too.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::collections::BTreeSet;
    ///
    /// let mut store = BTreeSet::new();
    /// let mut filter = guira::CuckooFilter::with_capacity(100, 0.01)?;
    /// for key in ["ani", "guira", "ani"] {
    ///     filter.insert_unique_with(key, || store.contains(key))?;
    ///     store.insert(key);
    /// }
    /// assert_eq!(filter.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_unique_with<K: Key + ?Sized>(
        &mut self,
        key: &K,
        is_stored: impl FnOnce() -> bool,
    ) -> Result<bool, InsertError> {
        self.insert_unique_digest_with(self.hasher.digest(key), is_stored)
    }

    /// Stores the key with this digest unless a store of the caller's has it already. See
    /// [`insert_unique_with`](Self::insert_unique_with).
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique_digest_with(
        &mut self,
        digest: Digest,
        is_stored: impl FnOnce() -> bool,
    ) -> Result<bool, InsertError> {
        if self.contains_digest(digest) && is_stored() {
            return Ok(false);
        }
        self.insert_digest(digest).map(|()| true)
    }

    /// Whether a key is probably in the set; `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_digest(self.hasher.digest(key))
    }

    /// Whether the key with this digest is probably in the set; `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.scheme.contains(&self.storage, digest)
    }

    /// How many copies of a key are stored, those of keys that share its fingerprint and buckets included: never fewer
    /// than were inserted and not removed, and at most 2b (or d · b).
    #[inline]
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        self.count_digest(self.hasher.digest(key))
    }

    /// How many copies of the key with this digest are stored. See [`count`](Self::count).
    #[inline]
    #[must_use]
    pub fn count_digest(&self, digest: Digest) -> usize {
        in_memory(u64::from(self.scheme.count(&self.storage, digest)))
    }

    /// Removes one copy of a key; whether there was one.
    ///
    /// Only remove what was inserted, and as often as it was inserted at the most. An absent key may be taken for a
    /// present one that shares its fingerprint and buckets (with the probability of a false positive); removing it then
    /// removes the other, which the filter will deny from then on. A "probably" from [`contains`](Self::contains) is no
    /// proof of insertion, and neither is `Ok(false)` from [`insert_unique`](Self::insert_unique).
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_digest(self.hasher.digest(key))
    }

    /// Removes one copy of the key with this digest; whether there was one. See [`remove`](Self::remove) for the rule.
    #[inline]
    pub fn remove_digest(&mut self, digest: Digest) -> bool {
        let removed = self.scheme.remove(&mut self.storage, digest);
        self.len -= usize::from(removed);
        removed
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.storage.fill(0);
        self.len = 0;
    }

    /// Lets the caller put the bytes of the table elsewhere in memory, as servers do that make fragmented memory whole.
    /// The same bytes must come back; with others it is another filter. Large pages, which the feature `std` takes for
    /// large tables, stay where they are, and `elsewhere` is not called.
    ///
    /// # Panics
    ///
    /// If more bytes come back, or fewer.
    pub fn move_table(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        self.storage.move_bytes(elsewhere);
    }

    /// How many fingerprints are stored, each copy counted.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many distinct keys are promised to fit: of a million filters, at most one is expected not to take them.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        in_memory(self.parameters.capacity())
    }

    /// How many fingerprints the table could hold if every slot were filled; more than will ever fit.
    #[must_use]
    pub const fn slot_count(&self) -> usize {
        in_memory(self.parameters.slot_count())
    }

    /// α, the share of the slots that are filled.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        approximate(self.len as u64) / approximate(self.parameters.slot_count())
    }

    /// The bytes of the table, padding included.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.storage.len()
    }

    /// C, the bits of the table per key when it holds as many as its capacity: equation (4) of the paper.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        let full = approximate(self.parameters.capacity()) / approximate(self.parameters.slot_count());
        analysis::bits_per_key(self.parameters.bits_per_slot(), full)
    }

    /// The share of absent keys to be answered with "probably" at the present load.
    #[must_use]
    pub fn expected_false_positive_rate(&self) -> f64 {
        self.parameters.expected_false_positive_rate(self.len as u64)
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

    /// The stored fingerprints with their buckets, bucket by bucket.
    #[must_use]
    pub fn iter(&self) -> Fingerprints<'_> {
        Fingerprints::new(self)
    }

    /// Checks what must hold of every filter; meant for tests.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        if !is_zero_from(&self.storage, self.parameters.table_bits()) {
            return Err("invariant 4: padding bits are 0");
        }
        if self.occupied_slots() != self.len as u64 {
            return Err("invariant 4: len is the number of occupied slots");
        }
        if !self.is_well_formed() {
            return Err("every bucket is one that fingerprints give");
        }
        if self.iter().any(|stored| stored.fingerprint.get() > self.parameters.fingerprint_mask()) {
            return Err("a fingerprint has f bits");
        }
        Ok(())
    }

    pub(crate) const fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.storage
    }

    pub(crate) fn scheme_and_bytes(&mut self) -> (&Scheme, &mut [u8]) {
        (&self.scheme, &mut self.storage)
    }

    pub(crate) const fn storage(&self) -> &Storage {
        &self.storage
    }

    #[cfg(feature = "std")]
    pub(crate) fn into_storage(self) -> Storage {
        self.storage
    }

    pub(crate) fn is_well_formed(&self) -> bool {
        self.scheme.is_well_formed(&self.storage)
    }

    pub(crate) fn occupied_slots(&self) -> u64 {
        self.scheme.occupied_slots(&self.storage)
    }

    /// Whether every fingerprint is stored once.
    pub(crate) fn has_no_copies(&self) -> bool {
        self.scheme.has_no_copies(&self.storage)
    }

    /// Leaves one of all copies of a fingerprint.
    pub(crate) fn remove_copies(&mut self) {
        self.len -= self.scheme.remove_copies(&mut self.storage);
    }

    /// Notes fingerprints that were stored past [`insert_digest`](Self::insert_digest).
    pub(crate) const fn add_to_len(&mut self, stored: usize) {
        self.len += stored;
    }

    /// Notes fingerprints that were removed past [`remove_digest`](Self::remove_digest).
    pub(crate) const fn subtract_from_len(&mut self, removed: usize) {
        self.len -= removed;
    }

    #[cold]
    pub(crate) fn insert_error(&self, reason: NoRoom) -> InsertError {
        reason.as_error(self.len, &self.parameters)
    }
}

impl fmt::Debug for CuckooFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CuckooFilter")
            .field("len", &self.len)
            .field("load_factor", &self.load_factor())
            .field("parameters", &self.parameters)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

/// Filters are equal when they were made with the same parameters, hash and seed and hold the same bits.
impl PartialEq for CuckooFilter {
    fn eq(&self, other: &Self) -> bool {
        self.parameters == other.parameters && self.hasher == other.hasher && self.storage == other.storage
    }
}

impl<'filter> IntoIterator for &'filter CuckooFilter {
    type Item = super::StoredFingerprint;
    type IntoIter = Fingerprints<'filter>;

    fn into_iter(self) -> Fingerprints<'filter> {
        self.iter()
    }
}
