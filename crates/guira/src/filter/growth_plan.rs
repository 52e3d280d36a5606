//! Plans a filter that grows: its first table, and how often that is doubled.

use super::growth::{Growth, has_buckets_of};
use super::{GrowthPolicy, whole_regions};
use crate::analysis::{fingerprint_bits_for_rate, promised_by, regions_to_promise, regions_to_promise_doubled};
use crate::error::BuildError;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

/// What the builder was given for a filter that grows.
pub(super) struct GrowthRequest {
    pub(super) capacity: u64,
    pub(super) max_capacity: u64,
    pub(super) false_positive_rate: f64,
    pub(super) slots_per_bucket: u32,
    pub(super) policy: GrowthPolicy,
    pub(super) seed: u64,
}

impl GrowthRequest {
    /// Returns the first table and how far it grows. The first table has room for up to twice the capacity, so that a
    /// whole number of doublings leads to the last one.
    pub(super) fn plan(&self) -> Result<(Parameters, Growth), BuildError> {
        let Self { max_capacity, slots_per_bucket, .. } = *self;
        if max_capacity < self.capacity {
            return Err(BuildError::MaxCapacity { given: max_capacity, capacity: self.capacity });
        }
        if !has_buckets_of(slots_per_bucket) {
            return Err(BuildError::GrowingSlotsPerBucket { given: slots_per_bucket });
        }
        let shape = Shape::new(Layout::Packed, Addressing::Doubling, slots_per_bucket)?;
        let mut capacity = self.capacity;
        loop {
            let Some((regions, doublings)) = beginning(capacity, max_capacity, shape)? else {
                let most = Parameters::MAX_BUCKETS * u64::from(shape.slots_per_bucket());
                return Err(BuildError::Capacity { given: max_capacity, most });
            };
            let regions = whole_regions(regions, shape, Parameters::CORE_BITS, self.seed);
            let last = doubled(regions, doublings);
            // Without doublings, promise just what was asked for; after doublings, all that fits.
            let promised = if doublings == 0 { max_capacity } else { promised_by(last, shape) };
            let bits_at_last = fingerprint_bits_for_rate(self.false_positive_rate, promised, last, shape)?;
            if bits_at_last + doublings <= Parameters::MAX_FINGERPRINT_BITS {
                let bits = bits_at_last + doublings;
                let parameters = Parameters::new(shape, bits, regions, promised_by(regions, shape).min(max_capacity))?;
                return Ok((parameters, Growth { doublings, max_capacity: promised, policy: self.policy }));
            }
            // Fingerprints have too few bits for so many doublings. Each doubling less needs a first table of twice the size.
            capacity *= 2;
        }
    }
}

/// Returns the regions of the first table, and how many doublings it takes to reach the largest capacity; `None` if no
/// table is that large.
///
/// Memory matters most when the table is large. So the last table is as small as the largest capacity allows, and the
/// first has up to twice the room that was asked for, which saves a doubling and with it a bit per slot.
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

/// A last table with room for up to one part in so many more than the largest capacity is close enough to it.
const CLOSE: u64 = 8;

/// Regions after doublings.
const fn doubled(regions: Regions, doublings: u32) -> Regions {
    Regions { count: regions.count, buckets: regions.buckets << doublings }
}

/// How often regions must be doubled until they take a capacity.
fn doublings_to_promise(capacity: u64, regions: Regions, shape: Shape) -> Option<u32> {
    (0..Parameters::MAX_FINGERPRINT_BITS)
        .map(|doublings| (doublings, doubled(regions, doublings)))
        .take_while(|(_, regions)| regions.bucket_count() <= Parameters::MAX_BUCKETS)
        // Comparing slots first saves the computation for most tables that are too small.
        .filter(|(_, regions)| regions.count * shape.slots_of_region(regions.buckets) >= capacity)
        .find(|&(_, regions)| promised_by(regions, shape) >= capacity)
        .map(|(doublings, _)| doublings)
}
