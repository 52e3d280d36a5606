use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::chosen::Chosen;
use super::{CuckooFilter, GrowthPolicy, PlannedFilter};
use crate::analysis::Preference;
use crate::digest::KeyHasher;
use crate::error::BuildError;
use crate::parameters::{Addressing, Layout, Parameters};

/// Chooses the parameters of a filter, and makes it. Every kind has one: `CuckooSet::builder()` makes a
/// [`CuckooSet`](crate::CuckooSet).
///
/// Quick advice: give a [`capacity`](Self::capacity) and a [`false_positive_rate`](Self::false_positive_rate) and leave
/// the rest alone. For keys that an attacker may choose, give a [`hasher`](Self::hasher) with a secret key.
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
///
/// let filter = CuckooFilter::builder().capacity(100_000).false_positive_rate(0.01).build()?;
/// assert_eq!(filter.capacity(), 100_000);
/// # Ok::<(), guira::BuildError>(())
/// ```
#[must_use]
pub struct FilterBuilder<T = CuckooFilter> {
    pub(crate) chosen: Chosen,
    kind: PhantomData<fn() -> T>,
}

/// A kind of filter that a [`FilterBuilder`] makes: [`CuckooFilter`], [`CuckooSet`](crate::CuckooSet),
/// [`CountingCuckooFilter`](crate::CountingCuckooFilter), [`CuckooMap`](crate::CuckooMap),
/// [`ExpiringCuckooFilter`](crate::ExpiringCuckooFilter), `ConcurrentCuckooFilter` and `ConcurrentExpiringCuckooFilter`.
#[expect(private_bounds, reason = "so that nobody else implements it")]
pub trait FilterKind: Built {}

impl<T: Built> FilterKind for T {}

/// How a kind is made of what was chosen.
pub(crate) trait Built: Sized {
    /// What is planned where this was given.
    fn chosen(given: &Chosen) -> Result<Chosen, BuildError> {
        if given.value_bits.is_some() { Err(BuildError::ValueBitsUnused) } else { Ok(*given) }
    }

    /// Makes one of an empty filter with the table that was planned.
    fn of(filter: CuckooFilter, chosen: &Chosen) -> Result<Self, BuildError>;
}

impl Built for CuckooFilter {
    fn of(filter: CuckooFilter, _: &Chosen) -> Result<Self, BuildError> {
        Ok(filter)
    }
}

impl<T> FilterBuilder<T> {
    /// Returns a builder of another kind, for which the same is chosen.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, CuckooSet};
    ///
    /// let builder = CuckooFilter::builder().capacity(1000).false_positive_rate(0.01);
    /// let (filter, set) = (builder.build()?, builder.for_kind::<CuckooSet>().build()?);
    /// assert_eq!(filter.parameters(), set.parameters());
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn for_kind<U: FilterKind>(&self) -> FilterBuilder<U> {
        self.with_kind()
    }

    const fn with_kind<U>(&self) -> FilterBuilder<U> {
        FilterBuilder { chosen: self.chosen, kind: PhantomData }
    }

    /// Sets how many distinct keys must fit. Of a million filters, at most one is expected not to take that many.
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(1000).false_positive_rate(0.01).build()?;
    /// assert_eq!(filter.capacity(), 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn capacity(mut self, keys: usize) -> Self {
        self.chosen.capacity = Some(keys as u64);
        self
    }

    /// Sets how many buckets the table has, instead of a capacity, which then follows from it.
    ///
    /// The number may be rounded up so that all regions are equal: with regional and doubling addressing by less than 1 in 16,384 where
    /// there are more than 65,536 buckets, and to an even number with doubling addressing; with ternary and quaternary addressing to a
    /// multiple of the largest power of 3 or 4 that is neither larger than it nor than 65,536.
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().bucket_count(300).fingerprint_bits(12).build()?;
    /// assert!(filter.parameters().bucket_count() == 300 && filter.capacity() > 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bucket_count(mut self, buckets: u64) -> Self {
        self.chosen.bucket_count = Some(buckets);
        self
    }

    /// Sets the share of absent keys that may be reported as present, while the filter holds no more keys than
    /// its capacity.
    ///
    /// # Examples
    ///
    /// ```
    /// let table = guira::CuckooFilter::builder().capacity(1000).false_positive_rate(0.01).parameters()?;
    /// assert!(table.expected_false_positive_rate(1000) <= 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.chosen.false_positive_rate = Some(rate);
        self
    }

    /// Lets the filter grow, and sets up to how many distinct keys it keeps the false positive rate.
    ///
    /// The first table has the buckets that the capacity takes, or up to about twice as many, and the last is as small as that of
    /// a filter built for the largest capacity. Before that, each doubling still to come costs a bit per slot. If that
    /// takes more than the 56 bits that a fingerprint can have, the filter begins with a larger table.
    ///
    /// A filter that grows takes a capacity and a rate; its buckets are packed and have 4 or 8 slots, 4 unless given.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(1000).max_capacity(1_000_000).false_positive_rate(0.001);
    /// let mut filter = builder.build()?;
    /// filter.try_extend(0..20_000)?;
    /// assert!(filter.capacity() >= 20_000 && filter.expected_false_positive_rate() <= 0.001);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_capacity(mut self, keys: usize) -> Self {
        self.chosen.max_capacity = Some(keys as u64);
        self
    }

    /// Sets what a filter that grows does with more keys than its [`max_capacity`](Self::max_capacity); unless given, it refuses
    /// them.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::GrowthPolicy;
    ///
    /// let builder = guira::CuckooFilter::builder().capacity(100).max_capacity(1000).false_positive_rate(0.001);
    /// let mut filter = builder.growth_policy(GrowthPolicy::RaiseRate).build()?;
    /// filter.try_extend(0..5000)?;
    /// assert!(filter.capacity() >= 5000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn growth_policy(mut self, policy: GrowthPolicy) -> Self {
        self.chosen.growth_policy = policy;
        self
    }

    /// Sets f, the bits of a fingerprint, instead of a rate: 2 to 56 in packed tables with regional addressing, 8 to 56 with doubling and
    /// 2 to 32 with other addressings, and 5 to 32 in semi-sorted tables. A filter with a [`max_capacity`](Self::max_capacity) takes a rate.
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(1000).fingerprint_bits(12).build()?;
    /// assert_eq!(filter.parameters().fingerprint_bits(), 12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.chosen.fingerprint_bits = Some(bits);
        self
    }

    /// Sets what decides the parameters that are not given, speed or space, for a filter built from a capacity and a rate. Filters that
    /// grow, those with values, counters or times, and those that threads share are packed in any case.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::Preference;
    ///
    /// let builder = guira::CuckooFilter::builder().capacity(1_000_000).false_positive_rate(0.001);
    /// let small = builder.clone().preference(Preference::Space).parameters()?;
    /// assert!(small.bits_per_key() < builder.parameters()?.bits_per_key());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn preference(mut self, preference: Preference) -> Self {
        self.chosen.preference = preference;
        self
    }

    /// Sets how fingerprints are kept in the table. Unless given, the [preference](Self::preference) chooses it from the capacity and the
    /// rate; if one of these is not given, it is packed.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// let builder = guira::CuckooFilter::builder().capacity(1000).false_positive_rate(0.01);
    /// let table = builder.layout(Layout::SemiSorted).parameters()?;
    /// assert_eq!(table.bits_per_slot(), table.fingerprint_bits() - 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn layout(mut self, layout: Layout) -> Self {
        self.chosen.layout = Some(layout);
        self
    }

    /// Sets b, the slots of a bucket: 1, 2, 3, 4 or 8 if packed, 4 if semi-sorted, 4 or 8 if the filter grows. Unless given,
    /// the [preference](Self::preference) chooses it from the capacity and the rate; if one of these is not given, or the filter grows, it
    /// is 4.
    ///
    /// One slot per bucket and two candidates are there for the reproduction of the paper: to promise a capacity they
    /// need several times the memory.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(1000).false_positive_rate(0.01);
    /// let mut filter = builder.slots_per_bucket(2).build()?;
    /// // Two buckets of two slots take four copies of a key.
    /// assert!((0..4).all(|_| filter.insert("ani").is_ok()) && filter.insert("ani").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slots_per_bucket(mut self, slots: u32) -> Self {
        self.chosen.slots_per_bucket = Some(slots);
        self
    }

    /// Sets how the candidate buckets of a key are related. Unless given, it is regional.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::Addressing;
    ///
    /// let builder = guira::CuckooFilter::builder().capacity(1000).false_positive_rate(0.01);
    /// let table = builder.addressing(Addressing::PowerOfTwo).parameters()?;
    /// assert!(table.bucket_count().is_power_of_two());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn addressing(mut self, addressing: Addressing) -> Self {
        self.chosen.addressing = addressing;
        self
    }

    /// Sets how keys become digests; XXH3-64 with the seed 0 unless given. Keys that an attacker may choose take
    /// [`KeyHasher::sip_hash_13`].
    ///
    /// The seed of the hash also decides which buckets are alternates of each other.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher};
    ///
    /// let secret = *b"16 random bytes!";
    /// let builder = CuckooFilter::builder().capacity(1000).false_positive_rate(0.01);
    /// let filter = builder.hasher(KeyHasher::sip_hash_13(secret)).build()?;
    /// assert_eq!(filter.hasher().secret_key(), Some(secret));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn hasher(mut self, hasher: KeyHasher) -> Self {
        self.chosen.hasher = hasher;
        self
    }

    /// Sets v, the bits of the value beside each fingerprint, of a [`CuckooMap`](crate::CuckooMap) or a
    /// [`CountingCuckooFilter`](crate::CountingCuckooFilter); other kinds have no values. A map keeps values below 2^v, a
    /// counter counts to 2^v. Unless given, they are the bits of the type of the map's values, and 8 for a counter.
    /// A value has at most 32 bits, and at most 56 together with the fingerprint.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::CuckooMap;
    ///
    /// // Values below 1024.
    /// let builder = CuckooMap::<u16>::builder().capacity(5000).false_positive_rate(0.001).value_bits(10);
    /// let mut map = builder.build()?;
    /// assert!(map.insert("ani", 1023).is_ok() && map.insert("guira", 1024).is_err());
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn value_bits(mut self, bits: u32) -> Self {
        self.chosen.value_bits = Some(bits);
        self
    }

    /// Returns the parameters of the smallest table for the capacity and the rate in each shape that is planned, packed with 2, 3, 4 or 8
    /// slots and semi-sorted; the smallest table first. Of all else that was set, only the hasher matters, and the
    /// [preference](Self::preference): for speed, a table may be up to 1 % larger if operations are then faster.
    ///
    /// # Errors
    ///
    /// [`BuildError::SizeMissing`], [`BuildError::PrecisionMissing`], or why there is no such table at all.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, Layout};
    ///
    /// let tables = CuckooFilter::builder().capacity(1_000_000).false_positive_rate(0.001).alternatives()?;
    /// assert_eq!(tables[0].layout(), Layout::SemiSorted);
    /// assert!(tables.iter().all(|table| table.expected_false_positive_rate(1_000_000) <= 0.001));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn alternatives(&self) -> Result<Vec<Parameters>, BuildError> {
        self.chosen.alternatives()
    }
}

impl<T: FilterKind> FilterBuilder<T> {
    /// Checks everything and makes an empty filter.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is missing, contradictory or out of range, or that there is no memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{BuildError, CuckooFilter, CuckooMap};
    ///
    /// let filter = CuckooFilter::builder().capacity(1000).false_positive_rate(0.01).build()?;
    /// assert!(filter.is_empty());
    /// let map = CuckooMap::<u8>::builder().capacity(1000).false_positive_rate(0.01).build()?;
    /// assert_eq!(map.parameters().value_bits(), 8);
    /// assert_eq!(CuckooFilter::builder().capacity(1000).build(), Err(BuildError::PrecisionMissing));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn build(&self) -> Result<T, BuildError> {
        let (chosen, planned) = self.plan()?;
        T::of(planned.build()?, &chosen)
    }

    /// The choices for the kind, and what is planned for them.
    fn plan(&self) -> Result<(Chosen, PlannedFilter), BuildError> {
        let chosen = T::chosen(&self.chosen)?;
        let planned = chosen.plan().map_err(|error| self.chosen.as_given(error, &chosen))?;
        Ok((chosen, planned))
    }

    /// Returns the parameters of the table that [`build`](Self::build) would make, without making it: what a capacity and
    /// a rate cost.
    ///
    /// # Errors
    ///
    /// Those of [`Self::build`], except [`BuildError::OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// let parameters = guira::CuckooFilter::builder().capacity(1_000_000).false_positive_rate(0.001).parameters()?;
    /// assert!(parameters.bits_per_key() < 14.0);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn parameters(&self) -> Result<Parameters, BuildError> {
        self.plan().map(|(_, planned)| *planned.parameters())
    }
}

impl<T> Clone for FilterBuilder<T> {
    fn clone(&self) -> Self {
        self.with_kind()
    }
}

impl<T> Default for FilterBuilder<T> {
    fn default() -> Self {
        Self { chosen: Chosen::default(), kind: PhantomData }
    }
}

impl<T> fmt::Debug for FilterBuilder<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FilterBuilder").field("chosen", &self.chosen).finish()
    }
}
