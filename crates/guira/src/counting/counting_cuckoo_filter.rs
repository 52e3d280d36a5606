use core::fmt;

use crate::digest::Key;
use crate::error::{BuildError, InsertError, MergeError};
use crate::filter::{Built, Changes, Chosen, CuckooFilter, Living, Meeting, ValuedFilter, many, methods};

/// Counts to 256. Counting Bloom filters get by with 4 bits, since their counters count collisions of distinct keys; these
/// count how often one key came, for which 16 is soon too little. Each bit more costs a bit per slot and doubles the reach.
const USUAL_COUNTER_BITS: u32 = 8;

/// A filter for keys that are inserted many times: beside each fingerprint it keeps a counter, as the paper advises for
/// keys that come more than 2b times.
///
/// What it promises: a key that was inserted more often than it was removed is always found, and is counted at least as
/// often as it is there. It has room for as many distinct keys as its [`capacity`](Self::capacity) says, and counts to
/// [`max_count`](Self::max_count). A failed operation leaves every bit as it was. The same operations in the same order give
/// the same bytes, on every machine and within one release.
///
/// What it doesn't: keys that share fingerprint and buckets share a counter, which counts them together, and refuses all of
/// them once it is full. So a counter of one bit refuses a third such key, even if the table is nearly empty. Hence also the
/// rule for [`remove`](Self::remove): only what was inserted, and as often.
///
/// Filters are equal when they were made with the same parameters, hash and seed and hold the same bits. Those of the same keys may
/// be unequal, if the keys came in another order.
///
/// # Examples
///
/// ```
/// use guira::CountingCuckooFilter;
///
/// let mut sightings = CountingCuckooFilter::with_capacity(1000, 0.001)?;
/// for _ in 0..100 {
///     sightings.insert("ani")?;
/// }
/// assert_eq!(sightings.count("ani"), 100);
/// assert!(sightings.remove("ani"));
/// assert_eq!((sightings.count("ani"), sightings.total(), sightings.len()), (99, 99, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct CountingCuckooFilter {
    /// The value beside a fingerprint is its count less 1, so that no bit pattern is wasted on "none".
    filter: ValuedFilter,
    /// The sum of all counts.
    total: u64,
}

/// Counters have 8 bits, which count to 256, unless [`value_bits`](crate::FilterBuilder::value_bits) are given. The table is packed. It
/// grows if a [`max_capacity`](crate::FilterBuilder::max_capacity) is given, and is then doubled at once.
impl Built for CountingCuckooFilter {
    fn chosen(given: &Chosen) -> Result<Chosen, BuildError> {
        Ok(given.with_values(given.value_bits.unwrap_or(USUAL_COUNTER_BITS)))
    }

    fn of(filter: CuckooFilter, _: &Chosen) -> Result<Self, BuildError> {
        Ok(Self::from_filter(ValuedFilter::of(filter)))
    }
}

impl CountingCuckooFilter {
    methods! { "guira::CountingCuckooFilter" "::with_capacity(1000, 0.001)?": with_capacity, builder, try_clone(self, total: self.total) }

    /// Makes a filter that counts of one whose values are counters.
    pub(crate) fn from_filter(filter: ValuedFilter) -> Self {
        let total = filter.sum_of_values() + filter.len() as u64;
        Self { filter, total }
    }

    /// Counts a key once more.
    ///
    /// # Errors
    ///
    /// [`InsertError::CounterFull`] for a key that is counted as often as can be; [`InsertError::Full`] for a new key that
    /// finds no room. One that grows also returns [`InsertError::Crowded`] and [`InsertError::OutOfMemory`]. In all cases the filter
    /// is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut sightings = guira::CountingCuckooFilter::with_capacity(1000, 0.001)?;
    /// sightings.insert("ani")?;
    /// sightings.insert("ani")?;
    /// assert_eq!(sightings.count("ani"), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        let digest = self.hasher().digest(key);
        match self.filter.find(digest, |_| true) {
            Some((_, counter)) if counter == self.filter.greatest_value() => {
                return Err(InsertError::CounterFull { count: self.max_count() });
            }
            Some((place, counter)) => self.filter.set_value(place, counter + 1),
            None => self.filter.insert(digest, 0)?,
        }
        self.total += 1;
        Ok(())
    }

    /// Returns `true` if a key is probably present; `false` is certain.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut sightings = guira::CountingCuckooFilter::with_capacity(1000, 0.001)?;
    /// sightings.insert("ani")?;
    /// sightings.insert("ani")?;
    /// assert!(sightings.contains("ani") && !sightings.contains("koel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(self.hasher().digest(key))
    }

    /// Returns how often a key is counted, together with keys that share its fingerprint and buckets: never less than it
    /// was inserted and not removed.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut sightings = guira::CountingCuckooFilter::with_capacity(1000, 0.001)?;
    /// sightings.insert("ani")?;
    /// sightings.insert("ani")?;
    /// assert_eq!((sightings.count("ani"), sightings.count("koel")), (2, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.filter.find(self.hasher().digest(key), |_| true).map_or(0, |(_, counter)| u64::from(counter) + 1)
    }

    /// Counts a key once less. Returns `true` if it was counted.
    ///
    /// Only remove what was inserted, and as often as it was inserted at the most. An absent key may be taken for a present
    /// one that shares its fingerprint and buckets (with the probability of a false positive), which is then counted once
    /// too little, and lost when its own copies are removed.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut sightings = guira::CountingCuckooFilter::with_capacity(1000, 0.001)?;
    /// sightings.insert("ani")?;
    /// sightings.insert("ani")?;
    /// assert!(sightings.remove("ani"));
    /// assert_eq!(sightings.count("ani"), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        match self.filter.find(self.hasher().digest(key), |_| true) {
            None => return false,
            Some((place, 0)) => self.filter.empty(place),
            Some((place, counter)) => self.filter.set_value(place, counter - 1),
        }
        self.total -= 1;
        true
    }

    fn look_up_many<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        self.filter.look_up_many(keys, answers, Living::ALL);
    }

    fn remove_in_order<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        for (key, removed) in keys.iter().zip(removed) {
            *removed = self.remove(key);
        }
    }

    /// Adds all counts of another filter that was made with the same parameters, hash and seed. The counts of a key in both add up.
    ///
    /// If this filter grows, the other need only have begun with the same parameters, however often either has been doubled
    /// since, and this one grows if it must. It takes memory for a copy of the resulting table while it works.
    ///
    /// # Errors
    ///
    /// [`MergeError::Differs`] if they were not made alike; [`MergeError::Full`] or [`MergeError::Crowded`] if not all keys
    /// fit; [`MergeError::CounterFull`] if a key is counted too often; [`MergeError::OutOfMemory`]. In all cases both are as they were.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut sightings = guira::CountingCuckooFilter::with_capacity(1000, 0.001)?;
    /// let mut others = sightings.empty_like()?;
    /// sightings.insert("ani")?;
    /// others.insert("ani")?;
    /// sightings.merge(&others)?;
    /// assert_eq!(sightings.count("ani"), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.filter.merge(&other.filter, Meeting::Sum, &Changes::NONE)?;
        self.total += other.total;
        Ok(())
    }

    /// Removes all keys.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut sightings = guira::CountingCuckooFilter::with_capacity(1000, 0.001)?;
    /// sightings.insert("ani")?;
    /// sightings.insert("ani")?;
    /// sightings.clear();
    /// assert!(!sightings.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clear(&mut self) {
        self.filter.clear();
        self.total = 0;
    }

    /// Returns the sum of all counts: how many insertions were not undone by removals.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut sightings = guira::CountingCuckooFilter::with_capacity(1000, 0.001)?;
    /// sightings.insert("ani")?;
    /// sightings.insert("ani")?;
    /// assert_eq!(sightings.total(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Returns how often one key can be counted: 2^v, with counters of v bits.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut sightings = guira::CountingCuckooFilter::with_capacity(1000, 0.001)?;
    /// sightings.insert("ani")?;
    /// sightings.insert("ani")?;
    /// assert_eq!(sightings.max_count(), 256);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn max_count(&self) -> u64 {
        self.filter.greatest_value() as u64 + 1
    }

    methods! { "guira::CountingCuckooFilter" "::with_capacity(1000, 0.001)?":
        len, is_empty, capacity, load_factor, expected_false_positive_rate, size_in_bytes, empty_like,
        parameters(self, self.filter.parameters()), hasher(self, self.filter.hasher()),
        growth, max_capacity, growth_policy, reserve, shrink_to_fit,
    }

    /// Checks what must hold of every filter; meant for tests.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        self.filter.check_invariants()?;
        if !self.filter.has_no_copies() {
            return Err("a fingerprint has one counter");
        }
        if self.filter.sum_of_values() + self.filter.len() as u64 != self.total {
            return Err("total is the sum of all counts");
        }
        Ok(())
    }

    pub(crate) const fn as_filter(&self) -> &CuckooFilter {
        self.filter.as_filter()
    }
}

impl fmt::Debug for CountingCuckooFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CountingCuckooFilter")
            .field("total", &self.total)
            .field("len", &self.len())
            .field("load_factor", &self.load_factor())
            .field("parameters", self.parameters())
            .field("hasher", self.hasher())
            .finish_non_exhaustive()
    }
}

impl CountingCuckooFilter {
    many! { "let mut filter = guira::CountingCuckooFilter::with_capacity(100, 0.001)?;" r#"filter.insert("ani")?;"#:
        answers(), counts(u64), removes(mut), inserts([mut] r#""ani", "guira""#, item: K => item),
    }
}
