//! Plans a filter that grows: its first table, and how often that is doubled.

use super::growth::{Growth, first_regions_for};
use super::{GrowthPolicy, whole_regions};
use crate::analysis::{
    fingerprint_bits_for_rate, promised_by, regions_beside_values, regions_to_promise, regions_to_promise_doubled,
};
use crate::error::BuildError;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

/// What the builder was given for a filter that grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct GrowthRequest {
    pub(super) capacity: u64,
    pub(super) max_capacity: u64,
    pub(super) false_positive_rate: f64,
    pub(super) slots_per_bucket: u32,
    /// The bits of the value beside each fingerprint, if there is one.
    pub(super) value_bits: Option<u32>,
    pub(super) policy: GrowthPolicy,
    pub(super) seed: u64,
}

impl GrowthRequest {
    /// Returns the first table and how far it grows. The first table has room for up to twice the capacity, so that a
    /// whole number of doublings leads to the last one.
    pub(super) fn plan(&self) -> Result<(Parameters, Growth), BuildError> {
        self.plan_with(|regions, shape| whole_regions(regions, shape, Parameters::CORE_BITS, self.seed))
    }

    /// Plans with first tables that are enlarged where the seed asks for it.
    fn plan_with(
        &self,
        mut enlarged: impl FnMut(Regions, Shape) -> Regions,
    ) -> Result<(Parameters, Growth), BuildError> {
        let max_capacity = self.max_capacity;
        if max_capacity < self.capacity {
            return Err(BuildError::MaxCapacity { given: max_capacity, capacity: self.capacity });
        }
        let shape = Shape::new(Layout::Packed, Addressing::Doubling, self.slots_per_bucket)?;
        let value_bits = self.value_bits.unwrap_or(0);
        // There may be too many buckets after all doublings, or fingerprints have too few bits for them. Each doubling less needs a
        // first table of twice the size.
        let twice = |&capacity: &u64| (capacity < max_capacity).then(|| (2 * capacity).min(max_capacity));
        for capacity in core::iter::successors(Some(self.capacity), twice) {
            let Some((regions, doublings)) = beginning(capacity, max_capacity, shape)? else { continue };
            let regions = enlarged(regions, shape);
            let last = doubled(regions, doublings);
            // Without doublings, promise just what was asked for; after doublings, all that fits.
            let promised = if doublings == 0 { max_capacity } else { promised_by(last, shape) };
            let Ok(bits_at_last) = fingerprint_bits_for_rate(self.false_positive_rate, promised, last, shape) else {
                break;
            };
            let bits = bits_at_last + doublings;
            if bits.saturating_add(value_bits) <= Parameters::MAX_BITS_WITH_VALUE {
                return self.planned(regions, shape, bits, (doublings, promised));
            }
        }
        // In a larger table, shorter fingerprints keep to the rate.
        let (regions, bits) = regions_beside_values(max_capacity, self.false_positive_rate, value_bits, shape)?;
        self.planned(enlarged(regions, shape), shape, bits, (0, max_capacity))
    }

    fn planned(
        &self,
        regions: Regions,
        shape: Shape,
        bits: u32,
        (doublings, max_capacity): (u32, u64),
    ) -> Result<(Parameters, Growth), BuildError> {
        let growth = Growth { doublings, max_capacity, policy: self.policy };
        let parameters = Parameters::new(shape, bits, regions, growth.capacity(regions, shape, bits, 0))?;
        let parameters = self.value_bits.map_or(Ok(parameters), |bits| parameters.with_value_bits(bits))?;
        Ok((parameters, growth))
    }
}

/// What a request gives with one seed or another. Most of a plan is the same for all of them, and takes far longer to compute
/// than a table of a few keys to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct GrowthPlan {
    request: GrowthRequest,
    /// The regions that a seed may ask to be enlarged, and the plan for seeds that don't; `None` if a seed may matter in other
    /// ways too.
    planned: Option<(Regions, Parameters, Growth)>,
}

impl GrowthPlan {
    pub(super) fn new(request: GrowthRequest) -> Result<Self, BuildError> {
        let (mut tables, mut planned_regions) = (0, None);
        let (parameters, growth) = request.plan_with(|regions, _| {
            tables += 1;
            planned_regions = Some(regions);
            regions
        })?;
        // A larger table might have done where one was not enough.
        let regions = planned_regions.filter(|_| tables == 1);
        Ok(Self { request, planned: regions.map(|regions| (regions, parameters, growth)) })
    }

    /// Returns what [`GrowthRequest::plan`] does with this seed.
    pub(super) fn with_seed(&self, seed: u64) -> Result<(Parameters, Growth), BuildError> {
        match self.planned {
            Some((regions, parameters, growth))
                if whole_regions(regions, parameters.shape(), Parameters::CORE_BITS, seed) == regions =>
            {
                Ok((parameters, growth))
            }
            _ => GrowthRequest { seed, ..self.request }.plan(),
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
    let fits_closely = doubled(least, doublings).bucket_count() <= Parameters::MAX_BUCKETS
        && promised_by(doubled(least, doublings), shape) <= largest.saturating_add(largest / CLOSE);
    let enlarged = || regions_to_promise_doubled(largest, spared, least, shape).map(|regions| (regions, spared));
    let (regions, doublings) =
        if doublings == 0 || fits_closely { None } else { enlarged() }.unwrap_or((least, doublings));
    let regions = if doublings == 0 { regions } else { first_regions_for(asked, regions, shape) };
    let is_possible = doubled(regions, doublings).bucket_count() <= Parameters::MAX_BUCKETS;
    Ok(is_possible.then_some((regions, doublings)))
}

/// A last table with room for up to one part in so many more than the largest capacity is close enough to it.
const CLOSE: u64 = 8;

/// Regions after doublings.
const fn doubled(regions: Regions, doublings: u32) -> Regions {
    Regions { count: regions.count, buckets: regions.buckets << doublings }
}

/// How often regions must be doubled until they take a capacity; the last doubling may be one that no table has.
fn doublings_to_promise(capacity: u64, regions: Regions, shape: Shape) -> Option<u32> {
    (0..Parameters::MAX_FINGERPRINT_BITS)
        .map(|doublings| (doublings, doubled(regions, doublings)))
        .take_while(|(_, regions)| regions.bucket_count() <= 2 * Parameters::MAX_BUCKETS)
        // Comparing slots first saves the computation for most tables that are too small.
        .filter(|(_, regions)| regions.count * shape.slots_of_region(regions.buckets) >= capacity)
        .find(|&(_, regions)| promised_by(regions, shape) >= capacity)
        .map(|(doublings, _)| doublings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_promises_the_largest_capacity_that_was_asked_for() {
        let mut spread = 1_u64;
        for slots_per_bucket in [4, 8] {
            for request in 0..600_u64 {
                spread = spread.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let capacity = 1 + (spread >> 40) % 200;
                let max_capacity =
                    if request % 3 == 0 { 6_000_000 + request * 1000 } else { capacity << (spread >> 60) };
                let request = GrowthRequest {
                    capacity,
                    max_capacity,
                    false_positive_rate: 0.01,
                    slots_per_bucket,
                    value_bits: None,
                    policy: GrowthPolicy::KeepRate,
                    seed: 0,
                };
                let (_, growth) = request.plan().expect("there is such a table");
                assert!(growth.max_capacity >= max_capacity, "{growth:?} for {request:?}");
            }
        }
    }

    fn request(capacity: u64, max_capacity: u64, rate: f64, value_bits: Option<u32>) -> GrowthRequest {
        GrowthRequest {
            capacity,
            max_capacity,
            false_positive_rate: rate,
            slots_per_bucket: 4,
            value_bits,
            policy: GrowthPolicy::KeepRate,
            seed: 0,
        }
    }

    #[test]
    fn the_largest_tables_are_planned_whatever_they_begin_with() {
        for (capacity, max_capacity) in [
            (1_000_000_000, 10_000_000_000),
            (1_050_000_000, 10_000_000_000),
            (1, 16_000_000_000),
            (3, 16_000_000_000),
            (1_100_000_000, 16_000_000_000),
            (15_900_000_000, 16_000_000_000),
        ] {
            let planned = request(capacity, max_capacity, 0.01, None).plan();
            let (parameters, growth) = planned.unwrap_or_else(|error| panic!("{capacity} to {max_capacity}: {error}"));
            let last = doubled(parameters.regions(), growth.doublings);
            assert!(last.bucket_count() <= Parameters::MAX_BUCKETS, "{parameters:?}, {growth:?}");
            assert!(
                growth.max_capacity >= max_capacity && parameters.capacity() >= capacity.min(1 << 30),
                "{growth:?}"
            );
        }
    }

    /// As if it were made for all of them at once, where fingerprints beside values have no bit for a doubling.
    #[test]
    fn a_first_table_is_no_larger_than_its_largest_capacity_asks_for() {
        let table = |capacity, rate| request(capacity, 1900, rate, Some(32)).plan().map(|(parameters, _)| parameters);
        let at_once = table(1900, 6e-7).expect("there is such a table");
        assert_eq!(table(1000, 6e-7).map(|table| table.table_size()), Ok(at_once.table_size()));
        // 24 bits keep to this rate in a table with more room than 1900 keys need.
        let roomy = table(1000, 4.5e-7).expect("there is such a table");
        assert!(roomy.bucket_count() > at_once.bucket_count() && roomy.capacity() == 1900, "{roomy:?}");
        assert!(roomy.expected_false_positive_rate(1900) <= 4.5e-7, "{roomy:?}");
        assert_eq!(table(1900, 4.5e-7), Ok(roomy));
        // Nor is there a longer fingerprint without values.
        let longest = request(1, 10, 4.6e-17, None).plan().expect("there is such a table").0;
        assert!(longest.expected_false_positive_rate(10) <= 4.6e-17, "{longest:?}");
    }

    #[test]
    fn a_plan_for_all_seeds_is_that_of_each() {
        let mut enlarged = 0;
        for (capacity, slots_per_bucket) in (1..20_000).step_by(19).zip([4, 8].into_iter().cycle()) {
            let request = |seed| GrowthRequest {
                capacity,
                max_capacity: capacity << (capacity % 9),
                false_positive_rate: 0.001,
                slots_per_bucket,
                value_bits: None,
                policy: GrowthPolicy::RaiseRate,
                seed,
            };
            let plan = GrowthPlan::new(request(0)).expect("there is such a table");
            let (regions, parameters, _) = plan.planned.expect("fingerprints have bits enough");
            // One seed in a hundred thousand asks for a larger table: these, and one that does not.
            let is_enlarged =
                |seed: &u64| whole_regions(regions, parameters.shape(), Parameters::CORE_BITS, *seed) != regions;
            for seed in (0..1).chain((1..400).filter(is_enlarged)) {
                assert_eq!(plan.with_seed(seed), request(seed).plan(), "{:?}", request(seed));
                enlarged += u32::from(is_enlarged(&seed));
            }
        }
        assert!(enlarged > 0, "no table depends on its seed");
    }
}
