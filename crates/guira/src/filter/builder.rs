use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::growth::Growth;
use super::growth_plan::{GrowthPlan, GrowthRequest};
use super::{CuckooFilter, GrowthPolicy};
use crate::addressing::parts_of_regions;
use crate::analysis::{Plan, Preference, fingerprint_bits_for_rate, with_bucket_count, with_fingerprint_bits};
use crate::digest::KeyHasher;
use crate::error::BuildError;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

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
    capacity: Option<u64>,
    bucket_count: Option<u64>,
    false_positive_rate: Option<f64>,
    fingerprint_bits: Option<u32>,
    max_capacity: Option<u64>,
    growth_policy: GrowthPolicy,
    preference: Preference,
    layout: Option<Layout>,
    slots_per_bucket: Option<u32>,
    addressing: Addressing,
    hasher: KeyHasher,
    value_bits: Option<u32>,
    times: ChosenTimes,
    kind: PhantomData<fn() -> T>,
}

/// What was chosen for a filter whose keys expire.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChosenTimes {
    pub(crate) lifetime: Option<u64>,
    pub(crate) resolution: Option<u64>,
    pub(crate) start: u64,
}

/// A kind of filter that a [`FilterBuilder`] makes: [`CuckooFilter`], [`CuckooSet`](crate::CuckooSet),
/// [`CountingCuckooFilter`](crate::CountingCuckooFilter), [`CuckooMap`](crate::CuckooMap),
/// [`ExpiringCuckooFilter`](crate::ExpiringCuckooFilter), `ConcurrentCuckooFilter` and `ConcurrentExpiringCuckooFilter`.
#[expect(private_bounds, reason = "so that nobody else implements it")]
pub trait FilterKind: Built {}

impl<T: Built> FilterKind for T {}

/// How a kind is made of what was chosen.
pub(crate) trait Built: Sized {
    fn build(builder: &FilterBuilder<Self>) -> Result<Self, BuildError>;

    /// The table that [`build`](Self::build) would make, and how far it grows.
    fn plan(builder: &FilterBuilder<Self>) -> Result<(Parameters, Option<Growth>), BuildError> {
        builder.plan_as_given()
    }
}

impl Built for CuckooFilter {
    fn build(builder: &FilterBuilder) -> Result<Self, BuildError> {
        builder.build_filter()
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
        FilterBuilder {
            capacity: self.capacity,
            bucket_count: self.bucket_count,
            false_positive_rate: self.false_positive_rate,
            fingerprint_bits: self.fingerprint_bits,
            max_capacity: self.max_capacity,
            growth_policy: self.growth_policy,
            preference: self.preference,
            layout: self.layout,
            slots_per_bucket: self.slots_per_bucket,
            addressing: self.addressing,
            hasher: self.hasher,
            value_bits: self.value_bits,
            times: self.times,
            kind: PhantomData,
        }
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
        self.capacity = Some(keys as u64);
        self
    }

    /// Sets how many buckets the table has, instead of a capacity, which then follows from it. With more than 65,536
    /// buckets the number is rounded up, by less than 1 in 16,384, so that all regions are equal and even.
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().bucket_count(300).fingerprint_bits(12).build()?;
    /// assert!(filter.parameters().bucket_count() == 300 && filter.capacity() > 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bucket_count(mut self, buckets: u64) -> Self {
        self.bucket_count = Some(buckets);
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
        self.false_positive_rate = Some(rate);
        self
    }

    /// Lets the filter grow, and sets up to how many distinct keys it keeps the false positive rate.
    ///
    /// The first table has room for the capacity, or up to twice as many keys, and the last is as small as that of a
    /// filter built for the largest capacity. Before that, each doubling still to come costs a bit per slot. If that
    /// takes more than the 56 bits that a fingerprint can have, the filter begins with a larger table.
    ///
    /// A filter that grows takes a capacity and a rate; its buckets are packed and have 2, 4 or 8 slots, 4 unless given.
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
        self.max_capacity = Some(keys as u64);
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
        self.growth_policy = policy;
        self
    }

    /// Sets f, the bits of a fingerprint, instead of a rate: 2 to 56 in packed tables with regional addressing, 2 to 32 with other
    /// addressings, and 5 to 32 in semi-sorted tables. A filter with a [`max_capacity`](Self::max_capacity) takes a rate.
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(1000).fingerprint_bits(12).build()?;
    /// assert_eq!(filter.parameters().fingerprint_bits(), 12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.fingerprint_bits = Some(bits);
        self
    }

    /// Sets what decides the parameters that are not given, speed or space, for a filter built from a capacity and a rate. Filters that
    /// grow, and all kinds but [`CuckooFilter`], are packed in any case.
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
        self.preference = preference;
        self
    }

    /// Sets how fingerprints are kept in the table. Left alone, it is what the [preference](Self::preference) asks for.
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
        self.layout = Some(layout);
        self
    }

    /// Sets b, the slots of a bucket: 1, 2, 4 or 8 if packed, 4 if semi-sorted. Left alone, it is what takes the least
    /// memory for the capacity and the rate; where one of them is not given, or the filter grows, 4.
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
        self.slots_per_bucket = Some(slots);
        self
    }

    /// Sets how the candidate buckets of a key are related. Left alone, it is regional.
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
        self.addressing = addressing;
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
        self.hasher = hasher;
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
        self.value_bits = Some(bits);
        self
    }

    pub(crate) fn build_filter(&self) -> Result<CuckooFilter, BuildError> {
        if self.value_bits.is_some() {
            return Err(BuildError::ValueBitsUnused);
        }
        let (parameters, growth) = self.parameters_and_growth()?;
        Ok(CuckooFilter::with_parameters(parameters, self.hasher)?.with_growth(growth))
    }

    /// The table that was chosen, with values in its slots where their bits were given, and how far it grows.
    pub(crate) fn plan_as_given(&self) -> Result<(Parameters, Option<Growth>), BuildError> {
        self.value_bits.map_or_else(|| self.parameters_and_growth(), |bits| self.plan_with_values(bits))
    }

    /// Returns the parameters of the smallest table of each shape that is planned, packed with 2, 4 or 8 slots and semi-sorted, that takes
    /// the capacity at the rate; the smallest table first. Of everything else that was given, only the hasher is used.
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
        let capacity = self.capacity.ok_or(BuildError::SizeMissing)?;
        let rate = self.false_positive_rate.ok_or(BuildError::PrecisionMissing)?;
        let plans = Plan::alternatives(capacity, rate)?;
        let tables = plans.iter().map(|plan| self.with_whole_regions(*plan.parameters(), capacity));
        let mut tables = tables.collect::<Result<Vec<_>, _>>()?;
        tables.sort_by_key(Parameters::table_bits);
        Ok(tables)
    }

    fn parameters_and_growth(&self) -> Result<(Parameters, Option<Growth>), BuildError> {
        match self.max_capacity {
            None => self.parameters_without_growth().map(|parameters| (parameters, None)),
            Some(max_capacity) => {
                let (parameters, growth) = self.growth_request(max_capacity)?.plan()?;
                Ok((parameters, Some(growth)))
            }
        }
    }

    /// What does not depend on the hasher, if the filter grows.
    pub(super) fn growth_plan(&self) -> Result<Option<GrowthPlan>, BuildError> {
        if self.value_bits.is_some() {
            return Err(BuildError::ValueBitsUnused);
        }
        match self.max_capacity {
            None => self.parameters_without_growth().map(|_| None),
            Some(max_capacity) => GrowthPlan::new(self.growth_request(max_capacity)?).map(Some),
        }
    }

    fn growth_request(&self, max_capacity: u64) -> Result<GrowthRequest, BuildError> {
        let is_packed = matches!(self.layout, None | Some(Layout::Packed));
        if !is_packed || !matches!(self.addressing, Addressing::Regional | Addressing::Doubling) {
            let layout = self.layout.unwrap_or_default();
            return Err(BuildError::GrowingShape { layout, addressing: self.addressing });
        }
        if self.bucket_count.is_some() || self.fingerprint_bits.is_some() {
            return Err(BuildError::GrowingPrecision);
        }
        Ok(GrowthRequest {
            capacity: self.capacity.ok_or(BuildError::SizeMissing)?,
            max_capacity,
            false_positive_rate: self.false_positive_rate.ok_or(BuildError::PrecisionMissing)?,
            slots_per_bucket: self.slots_per_bucket.unwrap_or(4),
            value_bits: None,
            policy: self.growth_policy,
            seed: self.hasher.seed(),
        })
    }

    fn parameters_without_growth(&self) -> Result<Parameters, BuildError> {
        match (self.capacity, self.bucket_count, self.false_positive_rate, self.fingerprint_bits) {
            (_, _, None, None) => Err(BuildError::PrecisionMissing),
            (_, _, Some(_), Some(_)) => Err(BuildError::PrecisionGivenTwice),
            (None, None, ..) => Err(BuildError::SizeMissing),
            (Some(_), Some(_), ..) => Err(BuildError::SizeGivenTwice),
            (Some(capacity), None, Some(rate), None) => {
                self.with_whole_regions(*self.plan(capacity, rate)?.parameters(), capacity)
            }
            (Some(capacity), None, None, Some(bits)) => {
                self.with_whole_regions(with_fingerprint_bits(capacity, bits, self.given_shape()?)?, capacity)
            }
            // A number of buckets asks for no promised capacity: the paper's figure 2 needs short fingerprints.
            (None, Some(given), None, Some(bits)) => self.with_bucket_count(given, |_, _| Ok(bits)),
            (None, Some(given), Some(rate), None) => {
                let shape = self.given_shape()?;
                self.with_bucket_count(given, |capacity, regions| {
                    fingerprint_bits_for_rate(rate, capacity, regions, shape)
                })
            }
        }
    }

    /// Adds a few buckets to planned parameters if the regions would fall into parts with the seed of this filter.
    fn with_whole_regions(&self, planned: Parameters, capacity: u64) -> Result<Parameters, BuildError> {
        let (shape, bits) = (planned.shape(), planned.fingerprint_bits());
        let regions = whole_regions(planned.regions(), shape, bits, self.hasher.seed());
        if regions == planned.regions() { Ok(planned) } else { Parameters::new(shape, bits, regions, capacity) }
    }

    /// The parameters of a table of a given number of buckets; its capacity is what can be promised with the seed of this
    /// filter.
    fn with_bucket_count(
        &self,
        given: u64,
        fingerprint_bits: impl Fn(u64, Regions) -> Result<u32, BuildError>,
    ) -> Result<Parameters, BuildError> {
        let shape = self.given_shape()?;
        let seed = self.hasher.seed();
        with_bucket_count(given, fingerprint_bits, |regions, bits| parts_of_regions(regions, shape, bits, seed), shape)
    }

    pub(crate) const fn times(&self) -> ChosenTimes {
        self.times
    }

    pub(crate) const fn with_times(mut self, times: ChosenTimes) -> Self {
        self.times = times;
        self
    }

    /// The builder with other capacities, each computed from the one that was given.
    pub(crate) fn with_capacities(&self, changed: impl Fn(u64) -> u64) -> Self {
        let (capacity, max_capacity) = (self.capacity.map(&changed), self.max_capacity.map(&changed));
        Self { capacity, max_capacity, ..self.clone() }
    }

    /// The bits beside each fingerprint, if they were given.
    pub(crate) const fn given_value_bits(&self) -> Option<u32> {
        self.value_bits
    }

    /// The table of a filter whose fingerprints carry values of so many bits, and how far it grows. The layout is packed
    /// unless another was given, which is refused.
    pub(crate) fn plan_with_values(&self, value_bits: u32) -> Result<(Parameters, Option<Growth>), BuildError> {
        if let Some(max_capacity) = self.max_capacity {
            let request = self.growth_request(max_capacity)?;
            let (parameters, growth) = GrowthRequest { value_bits: Some(value_bits), ..request }.plan()?;
            return Ok((parameters, Some(growth)));
        }
        let of = |builder: &Self| builder.parameters_without_growth()?.with_value_bits(value_bits);
        let packed = if self.layout.is_some() { self.clone() } else { self.clone().layout(Layout::Packed) };
        if self.slots_per_bucket.is_some() || self.capacity.is_none() || self.false_positive_rate.is_none() {
            return of(&packed).map(|parameters| (parameters, None));
        }
        // With a value in every slot, another bucket size may take the least memory.
        let smallest = [2, 8].into_iter().fold(of(&packed.clone().slots_per_bucket(4)), |best, slots| {
            let other = of(&packed.clone().slots_per_bucket(slots));
            match (&best, &other) {
                (Ok(smallest), Ok(table)) if table.table_bits() < smallest.table_bits() => other,
                (Err(_), Ok(_)) => other,
                _ => best,
            }
        });
        smallest.map(|parameters| (parameters, None))
    }

    #[cfg(feature = "files")]
    pub(crate) const fn chosen_rate(&self) -> Option<f64> {
        self.false_positive_rate
    }

    #[cfg(feature = "files")]
    pub(crate) const fn grows(&self) -> bool {
        self.max_capacity.is_some()
    }

    pub(crate) const fn chosen_hasher(&self) -> KeyHasher {
        self.hasher
    }

    #[cfg(feature = "concurrent")]
    pub(crate) const fn has_layout(&self) -> bool {
        self.layout.is_some()
    }

    /// Whether a capacity or a number of buckets was given.
    pub(crate) const fn has_size(&self) -> bool {
        self.capacity.is_some() || self.bucket_count.is_some()
    }

    /// The best table of those that the given choices allow.
    fn plan(&self, capacity: u64, rate: f64) -> Result<Plan, BuildError> {
        if (self.layout, self.slots_per_bucket, self.addressing) == (None, None, Addressing::Regional) {
            return Plan::new(capacity, rate, self.preference);
        }
        let layout = self.layout.unwrap_or_default();
        let sizes: &[u32] = match self.slots_per_bucket {
            None if layout == Layout::Packed => &[4, 2, 8],
            _ => layout.bucket_sizes(),
        };
        let given = |size: &&u32| self.slots_per_bucket.is_none_or(|slots| slots == **size);
        let shapes = sizes.iter().filter(given).flat_map(|&size| Shape::new(layout, self.addressing, size));
        match Plan::smallest(capacity, rate, shapes) {
            // There is no such shape; the error says why.
            Err(BuildError::SizeMissing) => Plan::with_shape(capacity, rate, self.given_shape()?),
            plan => plan,
        }
    }

    /// The given shape, with defaults for what was not given.
    fn given_shape(&self) -> Result<Shape, BuildError> {
        let layout = self.layout.unwrap_or_default();
        Shape::new(layout, self.addressing, self.slots_per_bucket.unwrap_or(4))
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
        T::build(self)
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
        T::plan(self).map(|(parameters, _)| parameters)
    }
}

impl<T> Clone for FilterBuilder<T> {
    fn clone(&self) -> Self {
        self.with_kind()
    }
}

impl<T> Default for FilterBuilder<T> {
    fn default() -> Self {
        Self {
            capacity: None,
            bucket_count: None,
            false_positive_rate: None,
            fingerprint_bits: None,
            max_capacity: None,
            growth_policy: GrowthPolicy::default(),
            preference: Preference::default(),
            layout: None,
            slots_per_bucket: None,
            addressing: Addressing::default(),
            hasher: KeyHasher::default(),
            value_bits: None,
            times: ChosenTimes::default(),
            kind: PhantomData,
        }
    }
}

impl<T> fmt::Debug for FilterBuilder<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FilterBuilder")
            .field("capacity", &self.capacity)
            .field("bucket_count", &self.bucket_count)
            .field("false_positive_rate", &self.false_positive_rate)
            .field("fingerprint_bits", &self.fingerprint_bits)
            .field("max_capacity", &self.max_capacity)
            .field("growth_policy", &self.growth_policy)
            .field("preference", &self.preference)
            .field("layout", &self.layout)
            .field("slots_per_bucket", &self.slots_per_bucket)
            .field("addressing", &self.addressing)
            .field("hasher", &self.hasher)
            .field("value_bits", &self.value_bits)
            .field("times", &self.times)
            .finish()
    }
}

/// The builder of a kind. Without the given choices, which examples make, a capacity and a rate are all that it needs.
macro_rules! made_by_builder {
    ([$($generic:tt)*] $type:ty, $name:literal) => {
        impl<$($generic)*> $type {
            /// Makes an empty one for `capacity` distinct keys, which takes absent keys for present ones at this rate at the most.
            /// For everything else that can be chosen, see [`builder`](Self::builder).
            ///
            /// # Errors
            ///
            /// A [`BuildError`](crate::BuildError) that says what is out of range, or that there is no memory.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("let filter = ", $name, "::with_capacity(1_000_000, 0.001)?;")]
            /// assert_eq!(filter.capacity(), 1_000_000);
            /// # Ok::<(), guira::BuildError>(())
            /// ```
            pub fn with_capacity(capacity: usize, false_positive_rate: f64) -> Result<Self, crate::error::BuildError> {
                Self::builder().capacity(capacity).false_positive_rate(false_positive_rate).build()
            }
        }

        crate::filter::made_by_builder!([$($generic)*] $type, $name, "");
    };
    ([$($generic:tt)*] $type:ty, $name:literal, $chosen:literal) => {
        impl<$($generic)*> $type {
            /// Returns a builder, for everything else that can be chosen.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("let builder = ", $name, "::builder().capacity(1000).false_positive_rate(0.001)", $chosen, ";")]
            /// let filter = builder.build()?;
            /// assert_eq!(filter.capacity(), 1000);
            /// # Ok::<(), guira::BuildError>(())
            /// ```
            pub fn builder() -> crate::filter::FilterBuilder<Self> {
                crate::filter::FilterBuilder::default()
            }
        }
    };
}

pub(crate) use made_by_builder;

made_by_builder!([] CuckooFilter, "guira::CuckooFilter");

/// The smallest regions of at least this size that don't fall into parts with this seed.
pub(crate) fn whole_regions(regions: Regions, shape: Shape, fingerprint_bits: u32, seed: u64) -> Regions {
    let larger = |regions: &Regions| Some(Regions { buckets: regions.buckets + 2, ..*regions });
    core::iter::successors(Some(regions), larger)
        .find(|&regions| parts_of_regions(regions, shape, fingerprint_bits, seed) == 1)
        .unwrap_or(regions)
}
