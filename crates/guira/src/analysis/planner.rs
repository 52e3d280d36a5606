//! From what a user wants, a capacity and a rate, to the measures of the smallest table that gives it.

use super::capacity::{FAILURES_PER_CAUSE, Measures, load_factor, measures_for};
use super::formulas::{bits_per_key, expected_false_positive_rate, least_fingerprint_bits_to_fill};
use crate::cast::approximate;
use crate::error::BuildError;
use crate::parameters::{Addressing, Parameters};
use crate::table::Storage;

/// The table that a capacity and a rate come to, and what it costs.
///
/// # Examples
///
/// ```
/// use guira::analysis::Plan;
///
/// let plan = Plan::new(1_000_000, 0.001)?;
/// assert!(plan.expected_false_positive_rate() <= 0.001);
/// assert!(plan.bits_per_key() < 14.0);
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    parameters: Parameters,
    false_positive_rate: f64,
    raised_from: Option<u32>,
}

impl Plan {
    /// The smallest table for `capacity` distinct keys that keeps to `false_positive_rate` while it holds no more.
    ///
    /// # Errors
    ///
    /// A capacity of 0 or beyond the largest table, a rate that is not between 0 and 1 or that takes more than 32 bits.
    pub fn new(capacity: u64, false_positive_rate: f64) -> Result<Self, BuildError> {
        // One slot per bucket costs twice the memory and more; it is there for the reproduction of the paper.
        let [two, four, eight] =
            [2, 4, 8].map(|slots| Self::with_slots_per_bucket(capacity, false_positive_rate, slots));
        let smallest = [&two, &four, &eight].into_iter().flatten().min_by_key(|plan| plan.parameters.table_bits());
        smallest.copied().map_or(four, Ok)
    }

    /// The same with a bucket size that is given.
    ///
    /// # Errors
    ///
    /// Those of [`Self::new`], and a bucket size that there is not.
    pub fn with_slots_per_bucket(
        capacity: u64,
        false_positive_rate: f64,
        slots_per_bucket: u32,
    ) -> Result<Self, BuildError> {
        if !Parameters::SLOTS_PER_BUCKET.contains(&slots_per_bucket) {
            return Err(BuildError::SlotsPerBucket { given: slots_per_bucket });
        }
        let measures = measures_to_promise(capacity, slots_per_bucket)?;
        let (fingerprint_bits, raised_from) =
            fingerprint_bits_for_rate(false_positive_rate, capacity, measures, slots_per_bucket)?;
        let parameters = Parameters::new(
            Addressing::Regional,
            slots_per_bucket,
            fingerprint_bits,
            measures.region_count,
            measures.buckets_per_region,
            capacity,
        )?;
        Ok(Self { parameters, false_positive_rate, raised_from })
    }

    /// The measures of the table.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The rate that was asked for.
    #[must_use]
    pub const fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }

    /// The rate to expect when the filter holds as many keys as its capacity.
    #[must_use]
    pub fn expected_false_positive_rate(&self) -> f64 {
        self.parameters.expected_false_positive_rate(self.parameters.capacity())
    }

    /// The load factor when the filter holds as many keys as its capacity.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        load_factor(self.parameters.capacity(), self.parameters.slot_count())
    }

    /// The bits per key when the filter holds as many keys as its capacity: equation (4).
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        bits_per_key(self.parameters.fingerprint_bits(), self.load_factor())
    }

    /// The bytes of the table.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        Storage::size_for(self.parameters.table_bits())
    }

    /// The fingerprint length that the rate alone asks for, where the capacity made it longer: with so few different
    /// fingerprints, more keys than fit would share both buckets (equation (3)).
    #[must_use]
    pub const fn raised_from(&self) -> Option<u32> {
        self.raised_from
    }
}

/// The smallest regions that `capacity` keys can be promised to fit.
pub(crate) fn measures_to_promise(capacity: u64, slots_per_bucket: u32) -> Result<Measures, BuildError> {
    let most = Parameters::MOST_BUCKETS * u64::from(slots_per_bucket);
    if capacity == 0 || capacity > most {
        return Err(BuildError::Capacity { given: capacity, most });
    }
    measures_for(capacity, slots_per_bucket).ok_or(BuildError::Capacity { given: capacity, most })
}

/// The shortest fingerprint that keeps to the rate at capacity and lets the capacity be reached; and the length that
/// the rate alone asks for, where that is less.
pub(crate) fn fingerprint_bits_for_rate(
    rate: f64,
    capacity: u64,
    measures: Measures,
    slots_per_bucket: u32,
) -> Result<(u32, Option<u32>), BuildError> {
    // Not `rate <= 0.0 || rate >= 1.0`: that lets NaN through.
    if !(rate > 0.0 && rate < 1.0) {
        return Err(BuildError::FalsePositiveRate { given: rate });
    }
    let load_factor = load_factor(capacity, measures.bucket_count() * u64::from(slots_per_bucket));
    let keeps_rate = |&bits: &u32| expected_false_positive_rate(bits, 2 * slots_per_bucket, load_factor) <= rate;
    let for_rate = Parameters::FINGERPRINT_BITS.clone().find(keeps_rate);
    let for_rate = for_rate.ok_or(BuildError::RateTooLow { given: rate, least: least_rate(slots_per_bucket) })?;
    let to_fill = fingerprint_bits_to_fill(capacity, measures, slots_per_bucket);
    Ok((for_rate.max(to_fill), (to_fill > for_rate).then_some(for_rate)))
}

/// The shortest fingerprint with which the capacity can be promised.
pub(crate) fn fingerprint_bits_to_fill(capacity: u64, measures: Measures, slots_per_bucket: u32) -> u32 {
    let load_factor = load_factor(capacity, measures.bucket_count() * u64::from(slots_per_bucket));
    least_fingerprint_bits_to_fill(approximate(capacity), slots_per_bucket, load_factor, FAILURES_PER_CAUSE)
        .max(*Parameters::FINGERPRINT_BITS.start())
}

/// The rate that the longest fingerprints give in a full table.
fn least_rate(slots_per_bucket: u32) -> f64 {
    expected_false_positive_rate(*Parameters::FINGERPRINT_BITS.end(), 2 * slots_per_bucket, 1.0)
}
