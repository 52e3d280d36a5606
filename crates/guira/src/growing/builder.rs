use super::promise::has_buckets_of;
use super::{BeyondPromise, GrowingCuckooFilter, Promise};
use crate::analysis::{fingerprint_bits_for_rate, promised_by, regions_to_promise, regions_to_promise_doubled};
use crate::digest::{HashAlgorithm, KeyHasher};
use crate::error::BuildError;
use crate::filter::CuckooFilter;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

/// Chooses the measures of a [`GrowingCuckooFilter`].
///
/// # Examples
///
/// ```
/// use guira::{BeyondPromise, GrowingCuckooFilter};
///
/// let filter = GrowingCuckooFilter::builder()
///     .capacity(10_000)
///     .largest_capacity(100_000_000)
///     .false_positive_rate(0.001)
///     .beyond_promise(BeyondPromise::RaiseRate)
///     .build()?;
/// assert!(filter.largest_capacity() >= 100_000_000);
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct GrowingCuckooFilterBuilder {
    capacity: Option<u64>,
    largest_capacity: Option<u64>,
    false_positive_rate: Option<f64>,
    slots_per_bucket: Option<u32>,
    beyond: BeyondPromise,
    hash: HashAlgorithm,
    seed: u64,
}

/// How many times the first capacity the largest is, where none is given.
const USUAL_GROWTH: u64 = 1 << 10;

impl GrowingCuckooFilterBuilder {
    /// How many distinct keys must fit before the first doubling. The first table may have room for up to twice as many,
    /// so that a whole number of doublings leads to the largest capacity.
    pub fn capacity(mut self, keys: usize) -> Self {
        self.capacity = Some(keys as u64);
        self
    }

    /// The number of distinct keys up to which the rate is promised: 1024 times the first capacity unless given. The
    /// table that takes them is as small as that of a filter built for them. Every doubling on the way there costs a bit per
    /// slot as long as the filter is small.
    ///
    /// Where it would cost more bits than the 32 that a fingerprint has, the filter starts with a larger table: at a rate
    /// of 0.001 from 2^19 times the first capacity on, at 0.0001 from 2^15 times.
    pub fn largest_capacity(mut self, keys: usize) -> Self {
        self.largest_capacity = Some(keys as u64);
        self
    }

    /// The share of absent keys that may be answered with "probably present", at any number of keys up to the largest
    /// capacity.
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.false_positive_rate = Some(rate);
        self
    }

    /// b, the slots of a bucket: 2, 4 or 8; 4 unless given.
    pub fn slots_per_bucket(mut self, slots: u32) -> Self {
        self.slots_per_bucket = Some(slots);
        self
    }

    /// What becomes of more keys than the largest capacity; they are refused unless given.
    pub fn beyond_promise(mut self, beyond: BeyondPromise) -> Self {
        self.beyond = beyond;
        self
    }

    /// How keys become digests.
    pub fn hash(mut self, algorithm: HashAlgorithm) -> Self {
        self.hash = algorithm;
        self
    }

    /// The seed of the hash and of the relation between candidate buckets; 0 unless given. With SipHash the secret key
    /// takes its place.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks everything and makes an empty filter.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is missing, contradictory or out of range, or that there is no memory.
    pub fn build(&self) -> Result<GrowingCuckooFilter, BuildError> {
        let (parameters, promise) = self.parameters_and_promise()?;
        let filter = CuckooFilter::with_parameters(parameters, KeyHasher::new(self.hash, self.seed))?;
        Ok(GrowingCuckooFilter::from_parts(filter, promise))
    }

    /// The measures of the table that [`build`](Self::build) would begin with, before any memory is taken.
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build), but for want of memory.
    pub fn parameters(&self) -> Result<Parameters, BuildError> {
        self.parameters_and_promise().map(|(parameters, _)| parameters)
    }

    fn parameters_and_promise(&self) -> Result<(Parameters, Promise), BuildError> {
        let rate = self.false_positive_rate.ok_or(BuildError::PrecisionMissing)?;
        let asked = self.capacity.ok_or(BuildError::SizeMissing)?;
        let largest = self.largest_capacity.unwrap_or(asked.saturating_mul(USUAL_GROWTH));
        if largest < asked {
            return Err(BuildError::LargestCapacity { given: largest, capacity: asked });
        }
        let slots_per_bucket = self.slots_per_bucket.unwrap_or(4);
        if !has_buckets_of(slots_per_bucket) {
            return Err(BuildError::GrowingSlotsPerBucket { given: slots_per_bucket });
        }
        let shape = Shape::new(Layout::Packed, Addressing::Doubling, slots_per_bucket)?;
        let mut capacity = asked;
        loop {
            let Some((regions, doublings)) = beginning(capacity, largest, shape)? else {
                let most = Parameters::MOST_BUCKETS * u64::from(shape.slots_per_bucket());
                return Err(BuildError::Capacity { given: largest, most });
            };
            let last = doubled(regions, doublings);
            // What was asked for, where that is all; after doublings, all that fits.
            let promised = if doublings == 0 { largest } else { promised_by(last, shape) };
            let (bits_at_last, _) = fingerprint_bits_for_rate(rate, promised, last, shape)?;
            if bits_at_last + doublings <= Parameters::MOST_FINGERPRINT_BITS {
                let bits = bits_at_last + doublings;
                let parameters = Parameters::new(shape, bits, regions, promised_by(regions, shape).min(largest))?;
                return Ok((parameters, Promise { doublings, largest_capacity: promised, beyond: self.beyond }));
            }
            // Too many doublings for the bits that there are: each one less takes twice the table to start with.
            capacity *= 2;
        }
    }
}

/// The regions to begin with, and how often they are doubled until they take the largest capacity; `None` where nothing
/// as large can be had.
///
/// What a table takes counts when it is large. So the last one is as small as the largest capacity allows, and it is the
/// first that has more room than was asked for, up to twice as much: which spares a doubling, and a bit per slot with it.
fn beginning(asked: u64, largest: u64, shape: Shape) -> Result<Option<(Regions, u32)>, BuildError> {
    let least = regions_to_promise(asked, shape)?;
    let Some(doublings) = doublings_to_promise(largest, least, shape) else { return Ok(None) };
    let spared = doublings.saturating_sub(1);
    let fits_closely = promised_by(doubled(least, doublings), shape) <= largest.saturating_add(largest / CLOSE);
    if doublings == 0 || fits_closely {
        return Ok(Some((least, doublings)));
    }
    let enlarged = regions_to_promise_doubled(largest, spared, least, shape);
    Ok(enlarged.map(|regions| (regions, spared)))
}

/// The share of the largest capacity by which the last table may exceed it.
const CLOSE: u64 = 8;

/// Regions after doublings.
const fn doubled(regions: Regions, doublings: u32) -> Regions {
    Regions { count: regions.count, buckets: regions.buckets << doublings }
}

/// How often regions must be doubled until they take a capacity.
fn doublings_to_promise(capacity: u64, regions: Regions, shape: Shape) -> Option<u32> {
    (0..Parameters::MOST_FINGERPRINT_BITS)
        .map(|doublings| (doublings, doubled(regions, doublings)))
        .take_while(|(_, regions)| regions.bucket_count() <= Parameters::MOST_BUCKETS)
        // A look at the slots saves the computation for most of the small ones.
        .filter(|(_, regions)| regions.count * shape.slots_of_region(regions.buckets) >= capacity)
        .find(|&(_, regions)| promised_by(regions, shape) >= capacity)
        .map(|(doublings, _)| doublings)
}
