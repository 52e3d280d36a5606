use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

#[expect(unused_imports, reason = "named in the documentation")]
use super::GrowthPolicy;
use super::doubling::Doubling;
use super::{Fingerprints, Growth, Kept, methods};
use crate::cast::to_usize;
use crate::cuckoo::{Crowd, NoRoom, Scheme, Splitting, with_table};
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::{InsertError, OutOfMemory};
use crate::parameters::Parameters;
use crate::table::{Storage, is_zero_from, try_box};

/// An approximate set of keys that supports removal: it answers "definitely not present" or "probably present", and takes
/// a few bits per key.
///
/// # Guarantees
///
/// - A key that was inserted and not removed is always found.
/// - As many distinct keys as the [`capacity`](Self::capacity) fit; of a million filters, at most one is expected to refuse
///   one of them.
/// - While the filter holds no more keys than that, [`contains`](Self::contains) returns `true` for an absent key with at
///   most the false positive rate it was built for.
/// - An operation that fails changes nothing, except that a batch keeps those of its keys that fit; its error says which. Where there is
///   no room or no memory, a doubling that is under way may go on, so that memory is given back, and later keys may get other slots.
/// - The same operations in the same order produce the same bytes on every machine, within one release, also if the filter was saved
///   and loaded between them. A later release may plan other parameters and move fingerprints by other paths; it reads the files of
///   all earlier ones.
///
/// The filter stores a fingerprint per key, not the key. So it can't list its keys, and it can't tell apart two keys that
/// share a fingerprint and buckets; hence the rule for [`remove`](Self::remove): only remove what was inserted.
///
/// # Growth
///
/// A filter has room for its capacity unless it was built with a [`max_capacity`](crate::FilterBuilder::max_capacity):
/// such a filter enlarges its table when it is full. It remains one table, not a chain of tables: every second bucket becomes
/// two, and one bit of each fingerprint decides which of the two it moves to; when the table is full again, the other buckets do. So
/// it grows by a half and then by a third, and is twice as large after both. The keys are not needed, a lookup looks at two buckets at
/// every size, and removal stays exact.
///
/// A large table is enlarged in steps, a few buckets with each insertion and removal, so that none of them takes long.
/// Meanwhile there are two tables, the old one shrinking. A file saved meanwhile holds the larger table, and says how far it had come.
///
/// Fingerprints have the bits that doublings take from the start. So up to the largest capacity the filter keeps the rate
/// it was built for, and at first its rate is lower. The [`GrowthPolicy`] decides what happens beyond that. More copies
/// of a key than its buckets hold are refused; they never make the table grow.
///
/// # Duplicates
///
/// A key that is inserted twice is stored twice, since removing it once must not lose another key that looks the same.
/// Its buckets have slots for 2b copies, usually 8; one more is refused with [`InsertError::TooManyCopies`]. For keys
/// that are inserted more often, the paper (section 3.1) has three ways:
///
/// - **Without removal**, one copy of each fingerprint is enough: [`CuckooSet`](crate::CuckooSet), or
///   [`insert_if_absent`](Self::insert_if_absent). Removing from such a filter loses other keys.
/// - **With counters**, at the cost of some bits per key: [`CountingCuckooFilter`](crate::CountingCuckooFilter).
/// - **With a store of the keys**, which is asked whenever the filter returns `true` and tells whether the key is new:
///   [`insert_unless`](Self::insert_unless).
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
///
/// let mut seen = CuckooFilter::with_capacity(1000, 0.001)?;
/// seen.insert("ani")?;
/// seen.insert(&42)?;
/// assert!(seen.contains("ani") && seen.contains(&42));
/// assert!(!seen.contains("cuckoo"));
///
/// assert!(seen.remove("ani"));
/// assert!(!seen.contains("ani"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A filter that grows:
///
/// ```
/// use guira::CuckooFilter;
///
/// let mut seen =
///     CuckooFilter::builder().capacity(1000).max_capacity(1_000_000).false_positive_rate(0.001).build()?;
/// for number in 0..50_000 {
///     seen.insert(&number)?;
/// }
/// assert!((0..50_000).all(|number| seen.contains(&number)));
///
/// for number in 0..49_000 {
///     seen.remove(&number);
/// }
/// seen.shrink_to_fit();
/// assert!((49_000..50_000).all(|number| seen.contains(&number)));
/// assert!(seen.size_in_bytes() < 16 << 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CuckooFilter {
    parameters: Parameters,
    hasher: KeyHasher,
    pub(super) scheme: Scheme,
    pub(super) storage: Storage,
    pub(super) len: usize,
    pub(super) growth: Option<Growth>,
    /// The number of fingerprints at which the table counts as full, even if more would fit. It is `usize::MAX` in a
    /// filter that does not grow, and 0 during a doubling.
    pub(super) limit: usize,
    /// The old table, while `storage` is being filled from it. `storage` holds only some of the fingerprints then: see
    /// [`settled`](Self::settled).
    pub(super) doubling: Option<Box<Doubling>>,
    /// What its file says besides, if it was loaded from one.
    pub(super) kept: Option<Arc<Kept>>,
}

impl CuckooFilter {
    methods! { "guira::CuckooFilter" "::with_capacity(1000, 0.001)?": with_capacity, builder }

    pub(crate) fn with_parameters(parameters: Parameters, hasher: KeyHasher) -> Result<Self, OutOfMemory> {
        let out_of_memory = |_| OutOfMemory::new(parameters.table_size());
        let storage = Storage::zeroed(parameters.table_bits()).map_err(out_of_memory)?;
        Ok(Self::from_parts(parameters, hasher, storage, 0))
    }

    /// Puts a filter together from parts that were checked against each other.
    pub(crate) fn from_parts(parameters: Parameters, hasher: KeyHasher, storage: Storage, len: usize) -> Self {
        let scheme = Scheme::new(&parameters, hasher.seed());
        Self { parameters, hasher, scheme, storage, len, growth: None, limit: usize::MAX, doubling: None, kept: None }
    }

    /// A filter with this table, and all else as in this one.
    pub(super) fn alike(&self, parameters: Parameters, storage: Storage, len: usize) -> Self {
        Self::from_parts(parameters, self.hasher, storage, len).with_growth(self.growth).with_kept(self.kept.clone())
    }

    /// Sets how far the filter grows; `None` keeps it from growing.
    #[must_use]
    pub(crate) fn with_growth(self, growth: Option<Growth>) -> Self {
        assert!(!self.is_doubling(), "half of a table");
        let limit = growth.map_or(usize::MAX, |growth| growth.limit(&self.parameters));
        Self { growth, limit, ..self }
    }

    pub(crate) const fn kept(&self) -> Option<&Arc<Kept>> {
        self.kept.as_ref()
    }

    /// Sets what is written to its file besides.
    #[must_use]
    pub(crate) fn with_kept(self, kept: Option<Arc<Kept>>) -> Self {
        Self { kept, ..self }
    }

    /// Sets the chunks that are written to its file besides, with the treatment of keys that they tell, and leaves what else is.
    pub(crate) fn set_chunks(&mut self, chunks: Vec<u8>, treatment: u8) {
        let kept = self.kept.as_deref().cloned().unwrap_or_default();
        self.kept = Some(Arc::new(Kept { treatment, chunks, ..kept }));
    }

    /// Begins or ends a doubling, and returns the one that was in progress. During a doubling the limit is 0, so that
    /// nothing is inserted into `storage` alone.
    pub(super) fn set_doubling(&mut self, doubling: Option<Box<Doubling>>) -> Option<Box<Doubling>> {
        self.limit = if doubling.is_some() { 0 } else { self.limit_when_settled() };
        core::mem::replace(&mut self.doubling, doubling)
    }

    /// The limit, or the one that there will be when a doubling is over.
    pub(super) fn limit_when_settled(&self) -> usize {
        self.doubling.as_ref().map_or(self.limit, |doubling| doubling.limit)
    }

    #[inline]
    pub(crate) const fn is_doubling(&self) -> bool {
        self.doubling.is_some()
    }

    /// Returns the [`Splitting`] and the bytes of the old and of the new table, or `None` if the filter is settled.
    pub(crate) fn splitting(&self) -> Option<(&Splitting, &[u8], &[u8])> {
        let Doubling { splitting, old, .. } = self.doubling.as_deref()?;
        Some((splitting, old, &self.storage))
    }

    pub(super) fn splitting_mut(&mut self) -> Option<(&mut Splitting, &mut [u8], &mut [u8])> {
        let Doubling { splitting, old, .. } = self.doubling.as_deref_mut()?;
        Some((splitting, old, &mut self.storage))
    }

    /// Returns a copy, like [`clone`](Clone::clone), which ends the process if there is no memory for one.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// let mut seen = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// seen.insert("ani")?;
    /// assert!(seen.try_clone()? == seen);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let out_of_memory = |_| OutOfMemory::new(self.parameters.table_size());
        let storage = Storage::copied_from(&self.storage).map_err(out_of_memory)?;
        let mut copy = self.alike(self.parameters, storage, self.len);
        if let Some(doubling) = &self.doubling {
            let doubling = doubling.try_clone().and_then(try_box).map_err(out_of_memory)?;
            copy.set_doubling(Some(doubling));
        }
        Ok(copy)
    }

    /// Stores a copy of a key.
    ///
    /// A key that is inserted again is stored again, up to 2b times (d · b with d candidate buckets), and must be removed as
    /// often. To store each key once, see [three ways](Self#duplicates) to deal with duplicates.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`] if no slot can be freed; [`InsertError::TooManyCopies`] for one copy more than the key's
    /// buckets hold; [`InsertError::OutOfMemory`] if there is none to look for a slot or for a larger table. A filter that grows also
    /// returns [`InsertError::Crowded`] if copies of other keys fill the key's buckets and no larger table would help. In all cases
    /// the filter is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, InsertError};
    ///
    /// let mut filter = CuckooFilter::with_capacity(100, 0.01)?;
    /// for _ in 0..8 {
    ///     filter.insert("ani")?;
    /// }
    /// assert_eq!(filter.insert("ani"), Err(InsertError::TooManyCopies { copies: 8 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_digest(self.hasher.digest(key))
    }

    #[inline]
    pub(crate) fn insert_digest(&mut self, digest: Digest) -> Result<(), InsertError> {
        if self.len < self.limit {
            match self.scheme.insert(&mut self.storage, digest) {
                Ok(()) => {
                    self.len += 1;
                    return Ok(());
                }
                Err(NoRoom::Full) if self.growth.is_some() => {}
                Err(reason) => return Err(self.insert_error(reason)),
            }
        }
        self.insert_growing(digest)
    }

    /// Stores a copy of a key without doubling the table, unless the limit is reached.
    #[inline]
    pub(super) fn insert_into_table(&mut self, digest: Digest) -> Result<(), NoRoom> {
        if self.len >= self.limit {
            return Err(NoRoom::Full);
        }
        self.scheme.insert(&mut self.storage, digest)?;
        self.len += 1;
        Ok(())
    }

    /// Stores a key unless [`contains`](Self::contains) returns `true` for it already. Returns `true` if it was stored.
    ///
    /// Never combine this with removal. A key that is mistaken for another with the same fingerprint and buckets shares
    /// the copy of that key, and removing either loses both. Use it for sets that only grow, for which
    /// [`CuckooSet`](crate::CuckooSet) is made, or ask a store of your own with
    /// [`insert_unless`](Self::insert_unless).
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert), except [`InsertError::TooManyCopies`].
    ///
    /// # Examples
    ///
    /// ```
    /// let mut seen = guira::CuckooFilter::with_capacity(100, 0.01)?;
    /// assert!(seen.insert_if_absent("ani")?);
    /// assert!(!seen.insert_if_absent("ani")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_if_absent<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_unless(key, || true)
    }

    /// Stores a key unless a store of the caller's has it already. Returns `true` if it was stored. The store is asked only
    /// if [`contains`](Self::contains) returns `true`, which for new keys is as rare as a false positive.
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
    ///     filter.insert_unless(key, || store.contains(key))?;
    ///     store.insert(key);
    /// }
    /// assert_eq!(filter.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_unless<K: Key + ?Sized>(
        &mut self,
        key: &K,
        is_stored: impl FnOnce() -> bool,
    ) -> Result<bool, InsertError> {
        let digest = self.hasher.digest(key);
        if self.contains_digest(digest) && is_stored() {
            return Ok(false);
        }
        self.insert_digest(digest).map(|()| true)
    }

    /// Returns `true` if a key is probably present; `false` is certain.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(100, 0.01)?;
    /// filter.insert("ani")?;
    /// assert!(filter.contains("ani"));
    /// assert!(!filter.contains("cuckoo"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        match self.hasher.as_xxh3() {
            Some(hasher) => self.contains_digest(hasher.digest(key)),
            None => self.contains_keyed(key),
        }
    }

    /// Not inlined, so that callers hold fewer values in registers.
    #[inline(never)]
    fn contains_keyed<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_elsewhere(self.hasher.digest(key))
    }

    #[inline(always)]
    pub(crate) fn contains_digest(&self, digest: Digest) -> bool {
        match self.scheme.contains_planned(&self.storage, digest, self.is_doubling()) {
            Some(found) => found,
            None => self.contains_elsewhere(digest),
        }
    }

    #[inline(never)]
    fn contains_elsewhere(&self, digest: Digest) -> bool {
        match self.splitting() {
            None => self.scheme.contains_elsewhere(&self.storage, digest),
            Some((splitting, old, new)) => splitting.contains(old, new, digest),
        }
    }

    /// Returns how many copies of a key are stored, including those of keys that share its fingerprint and buckets.
    ///
    /// It is never fewer than were inserted and not removed, and at most 2b (or d · b).
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(100, 0.01)?;
    /// filter.insert("ani")?;
    /// filter.insert("ani")?;
    /// assert_eq!(filter.count("ani"), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        self.count_digest(self.hasher.digest(key))
    }

    #[inline]
    pub(super) fn count_digest(&self, digest: Digest) -> usize {
        let copies = match self.splitting() {
            None => self.scheme.count(&self.storage, digest),
            Some((splitting, old, new)) => splitting.count(old, new, digest),
        };
        to_usize(u64::from(copies))
    }

    /// Removes one copy of a key. Returns `true` if there was one. The table stays as large as it is.
    ///
    /// Only remove what was inserted, and at most as often as it was inserted. An absent key may be taken for a present one
    /// that shares its fingerprint and buckets, with the probability of a false positive; removing it then removes the other,
    /// which is not found from then on. Neither `true` from [`contains`](Self::contains) nor `Ok(false)` from
    /// [`insert_if_absent`](Self::insert_if_absent) proves that a key was inserted.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(100, 0.01)?;
    /// filter.insert("ani")?;
    /// assert!(filter.remove("ani"));
    /// assert!(!filter.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        match self.hasher.as_xxh3() {
            Some(hasher) => self.remove_digest(hasher.digest(key)),
            None => self.remove_keyed(key),
        }
    }

    /// Not inlined, so that callers hold fewer values in registers.
    #[inline(never)]
    fn remove_keyed<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_digest(self.hasher.digest(key))
    }

    #[inline]
    pub(crate) fn remove_digest(&mut self, digest: Digest) -> bool {
        let is_removed = match self.scheme.planned.remove(&mut self.storage, digest) {
            Some(is_removed) => is_removed,
            // Only other tables are doubled.
            None if self.is_doubling() => return self.remove_while_doubling(digest),
            None => self.scheme.remove_elsewhere(&mut self.storage, digest),
        };
        self.len -= usize::from(is_removed);
        is_removed
    }

    /// Removes all keys. The table stays as large as it is.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// filter.clear();
    /// assert!(filter.is_empty() && !filter.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clear(&mut self) {
        if self.is_doubling() {
            self.set_doubling(None);
        }
        self.storage.fill(0);
        self.len = 0;
    }

    /// Returns how many fingerprints are stored, each copy counted.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// filter.insert("ani")?;
    /// assert_eq!(filter.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    methods! { "guira::CuckooFilter" "::with_capacity(1000, 0.001)?":
        is_empty, capacity, load_factor, expected_false_positive_rate,
        parameters(self, &self.parameters), hasher(self, &self.hasher), max_capacity, growth_policy,
    }

    pub(crate) const fn slot_count(&self) -> usize {
        to_usize(self.parameters.slot_count())
    }

    /// Returns the size of the table in bytes, padding included, or of both tables during a doubling.
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000_000, 0.001)?;
    /// assert!(filter.size_in_bytes() < 1_750_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.storage.len() + self.doubling.as_ref().map_or(0, |doubling| doubling.old.len())
    }

    /// Returns the stored fingerprints with their buckets, bucket by bucket.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// let stored = filter.fingerprints().next().expect("there is one");
    /// assert!(stored.bucket < filter.parameters().bucket_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fingerprints(&self) -> Fingerprints<'_> {
        Fingerprints::new(self)
    }

    /// Checks what must hold of every filter; meant for tests.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        self.settled().check_invariants_of_table()
    }

    fn check_invariants_of_table(&self) -> Result<(), &'static str> {
        if self.growth.is_some_and(|growth| growth.check(&self.parameters).is_err()) {
            return Err("a filter grows as far as it was built for");
        }
        if !is_zero_from(&self.storage, self.parameters.table_bits()) {
            return Err("invariant 4: padding bits are 0");
        }
        match self.occupied_if_well_formed(true) {
            None => return Err("every bucket is one that fingerprints give"),
            Some(occupied) if occupied != self.len as u64 => {
                return Err("invariant 4: len is the number of occupied slots");
            }
            Some(_) => {}
        }
        if self.fingerprints().any(|stored| stored.fingerprint > self.parameters.fingerprint_mask()) {
            return Err("a fingerprint has f bits");
        }
        Ok(())
    }

    pub(crate) const fn growth(&self) -> Option<&Growth> {
        self.growth.as_ref()
    }

    /// How many more fingerprints the table takes before it reaches its limit.
    pub(crate) const fn room(&self) -> usize {
        self.limit.saturating_sub(self.len)
    }

    pub(crate) const fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        assert!(!self.is_doubling(), "half of a table");
        &self.storage
    }

    /// What keeps a key out of the table, where that is not the load of all of it; of a table that is being doubled, what
    /// will when it is.
    pub(super) fn crowd(&self, digest: Digest) -> Option<Crowd> {
        let (parameters, seed) = (&self.parameters, self.hasher.seed());
        match self.splitting() {
            Some((splitting, old, new)) => splitting.crowd(digest, parameters, seed, old, new),
            None => Crowd::around(
                digest,
                parameters,
                seed,
                |bucket| with_table!(self.scheme, over(self.bytes()), table => table.stored_in(bucket.get()).collect()),
            ),
        }
    }

    /// The scheme, the table, and the number of fingerprints, which follows what is done to the table.
    pub(crate) fn scheme_bytes_and_len(&mut self) -> (&Scheme, &mut [u8], &mut usize) {
        assert!(!self.is_doubling(), "half of a table");
        (&self.scheme, &mut self.storage, &mut self.len)
    }

    pub(crate) const fn storage_mut(&mut self) -> &mut Storage {
        &mut self.storage
    }

    pub(crate) fn into_storage(self) -> Storage {
        assert!(!self.is_doubling(), "half of a table");
        self.storage
    }

    /// See [`CuckooTable::occupied_if_well_formed`](crate::cuckoo::CuckooTable::occupied_if_well_formed), of all buckets.
    pub(crate) fn occupied_if_well_formed(&self, knows_seed: bool) -> Option<u64> {
        self.scheme.occupied_if_well_formed(self.bytes(), 0..self.parameters.bucket_count(), knows_seed)
    }

    /// Whether every fingerprint is stored once.
    pub(crate) fn has_no_copies(&self) -> bool {
        let settled = self.settled();
        settled.scheme.has_no_copies(settled.bytes())
    }

    /// Removes all copies of each fingerprint but one.
    pub(crate) fn remove_copies(&mut self) {
        self.settle();
        self.len -= self.scheme.remove_copies(&mut self.storage);
    }

    /// Counts fingerprints that were stored without [`insert`](Self::insert).
    #[cfg(feature = "concurrent")]
    pub(crate) const fn add_to_len(&mut self, stored: usize) {
        self.len += stored;
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
            .field("growth", &self.growth)
            .finish_non_exhaustive()
    }
}

/// Filters are equal when they have the same parameters, hash, seed and limits to growth, their tables the same bits, and, if they are being
/// enlarged, that has come as far. Notes and other chunks that came with a file are not compared.
///
/// They then hold the same keys, and stay equal as long as the same is done with both. The reverse does not hold: where a fingerprint is
/// stored depends on what was stored before it, so filters of the same keys are mostly unequal if the keys came in another order. To
/// compare what filters hold, take [`intersection_len`](Self::intersection_len).
impl PartialEq for CuckooFilter {
    fn eq(&self, other: &Self) -> bool {
        self.parameters == other.parameters
            && self.hasher == other.hasher
            && self.growth == other.growth
            && self.waiting() == other.waiting()
            && self.file_table() == other.file_table()
    }
}
