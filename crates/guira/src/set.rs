//! A set that only grows: one copy of each fingerprint, and no removal.

use crate::digest::{Key, KeyHasher};
use crate::error::{BuildError, InsertError, MergeError, OutOfMemory, ReserveError};
use crate::filter::{
    Built, CuckooFilter, FilterBuilder, GrowthPolicy, answers_many, inserts_one_by_one, made_by_builder,
};
use crate::parameters::Parameters;

/// An approximate set of keys that are never removed: it stores every fingerprint once, however often its key comes. Removal
/// would lose the other keys that share a fingerprint and its buckets.
///
/// What it promises: a key that was inserted is always found, and inserting it again changes nothing and never fails. It
/// takes as many distinct keys as its [`capacity`](Self::capacity) says, and while it holds no more, absent keys are
/// answered with "probably" at no more than the rate it was built for. A failed operation leaves every bit as it was.
///
/// # Examples
///
/// ```
/// use guira::CuckooSet;
///
/// let mut seen = CuckooSet::with_capacity(1000, 0.001)?;
/// assert!(seen.insert("ani")?);
/// assert!(!seen.insert("ani")?);
/// assert!(seen.contains("ani"));
/// assert_eq!(seen.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CuckooSet {
    filter: CuckooFilter,
}

/// A set grows where a [`max_capacity`](FilterBuilder::max_capacity) is given.
impl Built for CuckooSet {
    fn build(builder: &FilterBuilder<Self>) -> Result<Self, BuildError> {
        builder.build_filter().map(Self::from_filter_without_copies)
    }
}

made_by_builder!([] CuckooSet, "guira::CuckooSet");

impl CuckooSet {
    /// Makes an empty set for `capacity` distinct keys, with at most this false positive rate. For everything else that can be
    /// chosen, see [`builder`](Self::builder).
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is out of range, or that there is no memory.
    ///
    /// # Examples
    ///
    /// ```
    /// let set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// assert_eq!(set.capacity(), 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_capacity(capacity: usize, false_positive_rate: f64) -> Result<Self, BuildError> {
        CuckooFilter::with_capacity(capacity, false_positive_rate).map(|filter| Self { filter })
    }

    /// Makes a set of a filter without copies.
    pub(crate) const fn from_filter_without_copies(filter: CuckooFilter) -> Self {
        Self { filter }
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
    /// let set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// assert!(set.try_clone()? == set);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        self.filter.try_clone().map(Self::from_filter_without_copies)
    }

    /// Stores a key. Returns `false` if it is probably present already; then nothing is stored, nor need be.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`]; a set that grows also returns [`InsertError::OutOfMemory`]. The set is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// assert!(set.insert("ani")?);
    /// assert!(!set.insert("ani")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.filter.insert_if_absent(key)
    }

    /// Returns `true` if a key is probably present; `false` is certain.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert!(set.contains("ani") && !set.contains("koel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// Writes to `answers`, for each of many keys, what [`contains`](Self::contains) returns. See
    /// [`CuckooFilter::contains_many_into`].
    ///
    /// # Panics
    ///
    /// If `keys` and `answers` differ in length.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// let mut answers = [false; 2];
    /// set.contains_many_into(&["ani", "koel"], &mut answers);
    /// assert_eq!(answers, [true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        self.filter.contains_many_into(keys, answers);
    }

    /// Removes all keys.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// set.clear();
    /// assert!(!set.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clear(&mut self) {
        self.filter.clear();
    }

    /// Returns how many fingerprints are stored: the distinct keys, except those that share fingerprint and buckets with
    /// another.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// set.insert("ani")?;
    /// assert_eq!(set.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.filter.len()
    }

    /// Returns `true` if nothing is stored.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert!(!set.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.filter.is_empty()
    }

    /// Returns the number of distinct keys promised to fit: of a million sets, at most one is expected to refuse one of them.
    ///
    /// # Examples
    ///
    /// ```
    /// let set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// assert_eq!(set.capacity(), 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.filter.capacity()
    }

    /// Returns the number of distinct keys up to which the false positive rate is guaranteed. See
    /// [`CuckooFilter::max_capacity`].
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert_eq!(set.max_capacity(), set.capacity());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn max_capacity(&self) -> usize {
        self.filter.max_capacity()
    }

    /// Returns what the set does with more keys than its [`max_capacity`](Self::max_capacity), or `None` if it doesn't grow.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert_eq!(set.growth_policy(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn growth_policy(&self) -> Option<GrowthPolicy> {
        self.filter.growth_policy()
    }

    /// Makes room for `additional` more distinct keys at once. See [`CuckooFilter::reserve`].
    ///
    /// # Errors
    ///
    /// [`ReserveError::Full`] if the set may not grow so far, and [`ReserveError::OutOfMemory`]; the set is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert!(set.reserve(900).is_ok() && set.reserve(5000).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve(&mut self, additional: usize) -> Result<(), ReserveError> {
        self.filter.reserve(additional)
    }

    /// Undoes doublings as long as the keys leave an eighth of the smaller table's capacity free. See
    /// [`CuckooFilter::shrink_to_fit`].
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// set.shrink_to_fit();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shrink_to_fit(&mut self) {
        self.filter.shrink_to_fit();
    }

    /// Returns α, the share of the slots that are filled.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert!(set.load_factor() < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        self.filter.load_factor()
    }

    /// Returns the size of the table in bytes, padding included, or of both tables during a doubling.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert!(set.size_in_bytes() < 2000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.filter.size_in_bytes()
    }

    /// Returns the share of absent keys for which [`contains`](Self::contains) is expected to return `true` at the present size and
    /// load.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert!(set.expected_false_positive_rate() < 0.001);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn expected_false_positive_rate(&self) -> f64 {
        self.filter.expected_false_positive_rate()
    }

    /// Returns the parameters of the table.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert_eq!(set.parameters().capacity(), 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        self.filter.parameters()
    }

    /// Returns the hash that turns keys into digests.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert!(set.hasher().secret_key().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn hasher(&self) -> &KeyHasher {
        self.filter.hasher()
    }

    /// Returns the filter that holds the fingerprints; meant for tests, since it offers what a set does not promise.
    #[doc(hidden)]
    #[must_use]
    pub const fn as_filter(&self) -> &CuckooFilter {
        &self.filter
    }

    /// Returns an empty set that began as this one did, with the same hash, so that the two can be merged.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// let mut other = set.empty_like()?;
    /// other.insert("ani")?;
    /// set.merge(&other)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn empty_like(&self) -> Result<Self, OutOfMemory> {
        self.filter.empty_like().map(Self::from_filter_without_copies)
    }

    /// Adds all keys of another set that was made with the same parameters, hash and seed. Each fingerprint is stored once.
    ///
    /// If this set grows, the other need only have begun with the same parameters: see [`CuckooFilter::merge`]. It takes memory
    /// for two copies of the resulting table while it works.
    ///
    /// # Errors
    ///
    /// [`MergeError::Differs`] if the sets were not made alike; [`MergeError::Full`] if the fingerprints of both, those that both
    /// have counted twice, don't fit; [`MergeError::OutOfMemory`]. In all cases both sets are as they were.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::CuckooSet;
    ///
    /// let mut monday = CuckooSet::with_capacity(1000, 0.001)?;
    /// let mut tuesday = CuckooSet::with_capacity(1000, 0.001)?;
    /// monday.try_extend(["ani", "guira"])?;
    /// tuesday.try_extend(["ani", "koel"])?;
    /// monday.merge(&tuesday)?;
    /// assert!(monday.contains("koel") && monday.len() == 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.filter.merge(&other.filter)?;
        self.filter.remove_copies();
        Ok(())
    }

    /// Checks what must hold of every set; meant for tests.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        self.filter.check_invariants()?;
        if !self.filter.has_no_copies() {
            return Err("a set stores every fingerprint once");
        }
        Ok(())
    }
}

/// Keeps one of several copies of each fingerprint. So keys can't be removed any more.
impl From<CuckooFilter> for CuckooSet {
    fn from(mut filter: CuckooFilter) -> Self {
        filter.remove_copies();
        Self { filter }
    }
}

answers_many!([] CuckooSet, "let mut filter = guira::CuckooSet::with_capacity(100, 0.001)?;\nfilter.insert(\"ani\")?;");
inserts_one_by_one!(
    [] CuckooSet,
    [],
    |set, key| set.insert(key).map(|_| ()),
    |set, key| set.hasher().digest(key),
    "let mut filter = guira::CuckooSet::with_capacity(100, 0.001)?;",
    "\"ani\", \"guira\""
);
