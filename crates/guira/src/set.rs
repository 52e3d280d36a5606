//! A set that only grows: one copy of each fingerprint, and no removal.

use crate::digest::Key;
use crate::error::{BuildError, InsertError, MergeError};
use crate::filter::{Built, Chosen, CuckooFilter, many, methods};

/// An approximate set of keys that are never removed: it stores every fingerprint once, however often its key comes. Removal
/// would lose the other keys that share a fingerprint and its buckets.
///
/// What it promises: a key that was inserted is always found, and inserting it again changes nothing and never fails. It
/// takes as many distinct keys as its [`capacity`](Self::capacity) says, and while it holds no more, absent keys are
/// answered with "probably" at no more than the rate it was built for. A key that is refused leaves every bit as it was.
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

/// A set grows where a [`max_capacity`](crate::FilterBuilder::max_capacity) is given.
impl Built for CuckooSet {
    fn of(filter: CuckooFilter, _: &Chosen) -> Result<Self, BuildError> {
        Ok(Self::from_filter(filter))
    }
}

impl CuckooSet {
    methods! { "guira::CuckooSet" "::with_capacity(1000, 0.001)?": with_capacity, builder, try_clone(self) }

    /// Makes a set of a filter without copies.
    pub(crate) const fn from_filter(filter: CuckooFilter) -> Self {
        Self { filter }
    }

    /// Stores a key. Returns `false` if it is probably present already; then nothing is stored, nor need be.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`]; [`InsertError::OutOfMemory`] if there is none to look for a slot or for a larger table; and if the set grows,
    /// [`InsertError::Crowded`] if no larger table would help. The set is as it was.
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

    fn look_up_many<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        self.filter.look_up_many(keys, answers);
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

    methods! { "guira::CuckooSet" "::with_capacity(1000, 0.001)?":
        len, is_empty, capacity, load_factor, expected_false_positive_rate, size_in_bytes, empty_like,
        parameters(self, self.filter.parameters()), hasher(self, self.filter.hasher()),
        growth, max_capacity, growth_policy, reserve, shrink_to_fit,
    }

    /// Returns the filter that holds the fingerprints; meant for tests, since it offers what a set does not promise.
    #[doc(hidden)]
    #[must_use]
    pub const fn as_filter(&self) -> &CuckooFilter {
        &self.filter
    }

    /// Adds all keys of another set that was made with the same parameters, hash and seed. Each fingerprint is stored once.
    ///
    /// If this set grows, the other need only have begun with the same parameters: see [`CuckooFilter::merge`]. It takes memory
    /// for a copy of the resulting table while it works.
    ///
    /// # Errors
    ///
    /// [`MergeError::Differs`] if the sets were not made alike; [`MergeError::Full`] or [`MergeError::Crowded`] if the fingerprints of
    /// both don't fit; [`MergeError::OutOfMemory`]. In all cases both sets are as they were; but where they were made alike, a doubling
    /// of this one's table may have ended.
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
        self.filter.merge_missing(&other.filter)
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

impl CuckooSet {
    many! { "let mut filter = guira::CuckooSet::with_capacity(100, 0.001)?;" r#"filter.insert("ani")?;"#:
        answers(), inserts([mut] r#""ani", "guira""#, item: K => item),
    }
}
