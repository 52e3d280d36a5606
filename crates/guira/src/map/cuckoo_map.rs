use core::fmt;
use core::marker::PhantomData;

use super::{MapValue, Values};
use crate::digest::Key;
use crate::error::{BuildError, InsertError, MergeError};
use crate::filter::{Built, Changes, Chosen, CuckooFilter, Living, Meeting, ValuedFilter, many, methods};

/// A table that gives keys small values, in a few bits per key beside the value: the paper's value association (section
/// 6). Asked for a key, it gives all values of keys that look the same: the right one among them, if there is one.
///
/// What it promises: the value of a key that was inserted and not removed is always among those that are given. On
/// average [`get_all`](Self::get_all) gives 1 + ε values for a present key and ε for an absent one. It takes as many distinct keys
/// as its [`capacity`](Self::capacity) says; a failed operation leaves every bit as it was; the same operations in the
/// same order give the same bytes, on every machine and within one release.
///
/// What it doesn't: it stores a fingerprint per key, not the key, so it can't list keys and can't tell which of several
/// values is the right one. Where that matters, let the value say where to look, as a shard or a page does. Hence also
/// the rule for [`remove_value`](Self::remove_value): only what was inserted.
///
/// # Examples
///
/// ```
/// use guira::CuckooMap;
///
/// let mut shards = CuckooMap::<u8>::with_capacity(1000, 0.001)?;
/// shards.insert("ani", 7)?;
/// shards.insert("guira", 3)?;
/// assert!(shards.get_all("ani").any(|shard| shard == 7));
/// assert!(shards.get_all("cuckoo").next().is_none());
///
/// assert!(shards.remove_value("ani", 7));
/// assert!(!shards.contains_key("ani"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CuckooMap<V> {
    filter: ValuedFilter,
    value: PhantomData<fn() -> V>,
}

/// Values have the bits of their type unless [`value_bits`](crate::FilterBuilder::value_bits) are given. The table is packed. It
/// grows if a [`max_capacity`](crate::FilterBuilder::max_capacity) is given, and is then doubled at once.
impl<V: MapValue> Built for CuckooMap<V> {
    fn chosen(given: &Chosen) -> Result<Chosen, BuildError> {
        let value_bits = given.value_bits.unwrap_or(V::BITS);
        if value_bits > V::BITS {
            return Err(BuildError::ValueBitsOfType { given: value_bits, most: V::BITS });
        }
        Ok(given.with_values(value_bits))
    }

    fn of(filter: CuckooFilter, _: &Chosen) -> Result<Self, BuildError> {
        Ok(Self::from_filter(ValuedFilter::of(filter)))
    }
}

impl<V: MapValue> CuckooMap<V> {
    methods! { "guira::CuckooMap::<u8>" "::with_capacity(1000, 0.001)?": with_capacity, builder, try_clone(self, value: self.value) }

    /// Makes a map of a filter whose values have no more bits than the type.
    pub(crate) const fn from_filter(filter: ValuedFilter) -> Self {
        Self { filter, value: PhantomData }
    }

    /// Adds a value to those that a key has.
    ///
    /// A pair that is inserted again is stored again. A key and those that look the same can have 2b values in all, and
    /// the promise of a capacity is for one each.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`]; [`InsertError::TooManyCopies`] for one value more than the key's buckets hold;
    /// [`InsertError::ValueTooLarge`] for one of more bits than the map was built for. One that grows also returns
    /// [`InsertError::Crowded`] and [`InsertError::OutOfMemory`]. In all cases the map is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut shards = guira::CuckooMap::<u8>::with_capacity(1000, 0.001)?;
    /// shards.insert("ani", 7)?;
    /// shards.insert("ani", 9)?;
    /// assert_eq!(shards.get_all("ani").count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K, value: V) -> Result<(), InsertError> {
        let value = value.to_bits();
        if value > self.filter.greatest_value() {
            return Err(InsertError::ValueTooLarge { value, value_bits: self.filter.parameters().value_bits() });
        }
        self.filter.insert(self.hasher().digest(key), value)
    }

    /// Returns the values of a key, and of keys that share its fingerprint and buckets.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut shards = guira::CuckooMap::<u8>::with_capacity(1000, 0.001)?;
    /// shards.insert("ani", 7)?;
    /// assert_eq!(shards.get_all("ani").collect::<Vec<_>>(), [7]);
    /// assert_eq!(shards.get_all("koel").next(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn get_all<K: Key + ?Sized>(&self, key: &K) -> Values<V> {
        let mut values = Values::NONE;
        self.filter.visit_values(self.hasher().digest(key), |value| values.push(value));
        values
    }

    /// Returns `true` if a key probably has a value; `false` is certain.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut shards = guira::CuckooMap::<u8>::with_capacity(1000, 0.001)?;
    /// shards.insert("ani", 7)?;
    /// assert!(shards.contains_key("ani") && !shards.contains_key("koel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains_key<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(self.hasher().digest(key))
    }

    /// Removes a value from a key, once. Returns `true` if the key had it.
    ///
    /// Only remove pairs that were inserted, and as often as they were inserted at the most: an absent key may be taken for
    /// a present one that shares its fingerprint, buckets and value, which then loses it.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut shards = guira::CuckooMap::<u8>::with_capacity(1000, 0.001)?;
    /// shards.insert("ani", 7)?;
    /// assert!(!shards.remove_value("ani", 8));
    /// assert!(shards.remove_value("ani", 7) && !shards.contains_key("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn remove_value<K: Key + ?Sized>(&mut self, key: &K, value: V) -> bool {
        let value = value.to_bits();
        let Some((place, _)) = self.filter.find(self.hasher().digest(key), |stored| stored == value) else {
            return false;
        };
        self.filter.empty(place);
        true
    }

    fn look_up_many<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        self.filter.look_up_many(keys, answers, Living::ALL);
    }

    /// Adds all pairs of another map that was made with the same parameters, hash and seed. A pair that both have is stored twice.
    ///
    /// If this map grows, the other need only have begun with the same parameters, however often either has been doubled
    /// since, and this one grows if it must. It takes memory for a copy of the resulting table while it works.
    ///
    /// # Errors
    ///
    /// [`MergeError::Differs`] if they were not made alike; [`MergeError::Full`], [`MergeError::TooManyCopies`] or
    /// [`MergeError::Crowded`] if not all fit; [`MergeError::OutOfMemory`]. In all cases both are as they were.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut shards = guira::CuckooMap::<u8>::with_capacity(1000, 0.001)?;
    /// let mut others = shards.empty_like()?;
    /// shards.insert("ani", 7)?;
    /// others.insert("guira", 3)?;
    /// shards.merge(&others)?;
    /// assert!(shards.get_all("guira").any(|shard| shard == 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.filter.merge(&other.filter, Meeting::Both, &Changes::NONE)
    }

    /// Removes all keys.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut shards = guira::CuckooMap::<u8>::with_capacity(1000, 0.001)?;
    /// shards.insert("ani", 7)?;
    /// shards.clear();
    /// assert!(!shards.contains_key("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clear(&mut self) {
        self.filter.clear();
    }

    /// Returns how many pairs of a key and a value are stored.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut shards = guira::CuckooMap::<u8>::with_capacity(1000, 0.001)?;
    /// shards.insert("ani", 7)?;
    /// assert_eq!(shards.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.filter.len()
    }

    methods! { "guira::CuckooMap::<u8>" "::with_capacity(1000, 0.001)?":
        is_empty, capacity, load_factor, expected_false_positive_rate, size_in_bytes, empty_like,
        parameters(self, self.filter.parameters()), hasher(self, self.filter.hasher()),
        growth, max_capacity, growth_policy, reserve, shrink_to_fit,
    }

    /// Checks what must hold of every map; meant for tests.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        self.filter.check_invariants()
    }

    pub(crate) const fn as_filter(&self) -> &CuckooFilter {
        self.filter.as_filter()
    }
}

impl<V: MapValue> fmt::Debug for CuckooMap<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CuckooMap")
            .field("len", &self.len())
            .field("load_factor", &self.load_factor())
            .field("parameters", self.parameters())
            .field("hasher", self.hasher())
            .finish_non_exhaustive()
    }
}

/// Maps are equal when they were made with the same parameters, hash and seed and hold the same bits. Those of the same pairs may
/// be unequal, if the pairs came in another order.
impl<V> PartialEq for CuckooMap<V> {
    fn eq(&self, other: &Self) -> bool {
        self.filter == other.filter
    }
}

impl<V: MapValue> CuckooMap<V> {
    many! { "let mut filter = guira::CuckooMap::<u8>::with_capacity(100, 0.001)?;" r#"filter.insert("ani", 7)?;"#:
        answers(), inserts([mut] r#"("ani", 7), ("guira", 3)"#, item: (K, V) => &item.0, item.1),
    }
}
