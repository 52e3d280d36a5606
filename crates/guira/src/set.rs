//! A set that only grows: one copy of each fingerprint, and no removal.

use crate::digest::Key;
use crate::error::{BuildError, InsertError};
use crate::filter::{CuckooFilter, FilterBuilder};

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

impl FilterBuilder {
    /// Makes an empty set, which grows where a [`max_capacity`](Self::max_capacity) is given.
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build).
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let builder = CuckooFilter::builder().capacity(1000).max_capacity(1_000_000).false_positive_rate(0.001);
    /// let mut seen = builder.build_set()?;
    /// for number in 0..20_000 {
    ///     seen.insert(&number)?;
    /// }
    /// assert!(seen.capacity() >= 20_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_set(&self) -> Result<CuckooSet, BuildError> {
        self.build().map(CuckooSet::from_filter_without_copies)
    }
}

impl CuckooSet {
    /// Makes an empty set for `capacity` distinct keys, with at most this false positive rate. For everything else that can be
    /// chosen, see [`FilterBuilder::build_set`].
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
    /// [`BuildError::OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// let set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// assert!(set.try_clone()? == set);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn try_clone(&self) -> Result<Self, BuildError> {
        self.filter.try_clone().map(Self::from_filter_without_copies)
    }

    /// Stores a key. Returns `false` if it is probably present already; then nothing is stored, nor need be.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`]; the set is as it was.
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

    /// Returns the filter that holds the fingerprints, with its parameters, its rate and its fingerprints. It can't be
    /// taken out, since it would offer removal.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut set = guira::CuckooSet::with_capacity(1000, 0.001)?;
    /// set.insert("ani")?;
    /// assert_eq!(set.as_filter().count("ani"), 1);
    /// assert!(set.as_filter().expected_false_positive_rate() < 0.001);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn as_filter(&self) -> &CuckooFilter {
        &self.filter
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
