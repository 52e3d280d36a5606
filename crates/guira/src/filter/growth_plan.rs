//! Plans a filter that grows: its first table, and how often that is doubled.

use super::chosen::Enlarged;
use super::growth::{Growth, first_regions_for};
use super::{Chosen, PlannedFilter};
use crate::analysis::{
    fingerprint_bits_for_rate, promised_by, regions_beside_values, regions_to_promise, regions_to_promise_doubled,
};
use crate::error::BuildError;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

impl Chosen {
    /// Plans a filter that grows. The first table has room for up to twice the capacity, so that a whole number of doublings leads to
    /// the last one.
    pub(super) fn plan_growing(
        &self,
        max_capacity: u64,
        enlarged: &mut Enlarged<'_>,
    ) -> Result<PlannedFilter, BuildError> {
        let (layout, addressing) = (self.layout.unwrap_or_default(), self.addressing);
        if layout != Layout::Packed || !matches!(addressing, Addressing::Regional | Addressing::Doubling) {
            return Err(BuildError::GrowingShape { layout, addressing });
        }
        if self.bucket_count.is_some() || self.fingerprint_bits.is_some() {
            return Err(BuildError::GrowingPrecision);
        }
        let capacity = self.capacity.ok_or(BuildError::SizeMissing)?;
        let rate = self.false_positive_rate.ok_or(BuildError::PrecisionMissing)?;
        self.check_capacities()?;
        let shape = Shape::new(Layout::Packed, Addressing::Doubling, self.slots_per_bucket.unwrap_or(4))?;
        let value_bits = self.value_bits.unwrap_or(0);
        let planned = |regions, bits, doublings, max_capacity| {
            let growth = Growth { doublings, max_capacity, policy: self.growth_policy };
            let parameters = Parameters::new(shape, bits, regions, growth.capacity(regions, shape, bits, 0))?;
            let parameters = self.value_bits.map_or(Ok(parameters), |bits| parameters.with_value_bits(bits))?;
            Ok(PlannedFilter { parameters, growth: Some(growth), hasher: self.hasher })
        };
        // There may be too many buckets after all doublings, or fingerprints have too few bits for them. Each doubling less needs a
        // first table of twice the size.
        let twice = |&keys: &u64| (keys < max_capacity).then(|| keys.saturating_mul(2).min(max_capacity));
        for keys in core::iter::successors(Some(capacity), twice) {
            let (regions, doublings) = match beginning(keys, max_capacity, shape) {
                Ok(Some(beginning)) => beginning,
                Ok(None) => continue,
                Err(error) if keys == capacity => return Err(error),
                // Nor is there a table for the largest capacity, which is said below.
                Err(_) => break,
            };
            let regions = enlarged(regions, shape, Parameters::CORE_BITS);
            let last = doubled(regions, doublings);
            // Where a seed asks for larger regions, just too many.
            if last.bucket_count() > Parameters::MAX_BUCKETS {
                continue;
            }
            // Without doublings, promise just what was asked for; after doublings, all that fits.
            let promised = if doublings == 0 { max_capacity } else { promised_by(last, shape) };
            let Ok(bits_at_last) = fingerprint_bits_for_rate(rate, promised, last, shape) else { break };
            let bits = bits_at_last + doublings;
            if bits.saturating_add(value_bits) <= Parameters::MAX_BITS_WITH_VALUE {
                return planned(regions, bits, doublings, promised);
            }
        }
        // In a larger table, shorter fingerprints keep to the rate.
        let (regions, bits) = regions_beside_values(max_capacity, rate, value_bits, shape)?;
        planned(enlarged(regions, shape, Parameters::CORE_BITS), bits, 0, max_capacity)
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
const CLOSE: u64 = 16;

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

    fn chosen(capacity: u64, max_capacity: u64, rate: f64) -> Chosen {
        let (capacity, max_capacity) = (Some(capacity), Some(max_capacity));
        Chosen { capacity, max_capacity, false_positive_rate: Some(rate), ..Chosen::default() }
    }

    fn planned(chosen: &Chosen) -> Result<(Parameters, Growth), BuildError> {
        chosen.plan().map(|planned| (planned.parameters, planned.growth.expect("it grows")))
    }

    #[test]
    fn a_plan_promises_the_largest_capacity_that_was_asked_for() {
        let mut spread = 1_u64;
        for slots_per_bucket in [4, 8] {
            for request in 0..600_u64 {
                spread = spread.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let capacity = 1 + (spread >> 40) % 200;
                let max_capacity =
                    if request % 3 == 0 { 6_000_000 + request * 1000 } else { capacity << (spread >> 60) };
                let chosen =
                    Chosen { slots_per_bucket: Some(slots_per_bucket), ..chosen(capacity, max_capacity, 0.01) };
                let (_, growth) = planned(&chosen).expect("there is such a table");
                assert!(growth.max_capacity >= max_capacity, "{growth:?} for {chosen:?}");
            }
        }
    }

    #[test]
    fn the_last_table_is_hardly_larger_than_the_largest_capacity_asks_for() {
        let shape = Shape::new(Layout::Packed, Addressing::Doubling, 4).expect("there is such a shape");
        for max_capacity in (1..=100).map(|millions| millions * 1_000_000) {
            let (parameters, growth) = planned(&chosen(1000, max_capacity, 0.001)).expect("there is such a table");
            let last = doubled(parameters.regions(), growth.doublings).bucket_count();
            let at_once = regions_to_promise(max_capacity, shape).expect("there is such a table").bucket_count();
            assert!(last * 100 <= at_once * 108, "{last} buckets for {max_capacity}, of which {at_once} are needed");
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
            let planned = planned(&chosen(capacity, max_capacity, 0.01));
            let (parameters, growth) = planned.unwrap_or_else(|error| panic!("{capacity} to {max_capacity}: {error}"));
            let last = doubled(parameters.regions(), growth.doublings);
            assert!(last.bucket_count() <= Parameters::MAX_BUCKETS, "{parameters:?}, {growth:?}");
            assert!(
                growth.max_capacity >= max_capacity && parameters.capacity() >= capacity.min(1 << 30),
                "{growth:?}"
            );
        }
    }

    #[test]
    fn a_capacity_that_is_refused_is_one_that_was_given() {
        for (capacity, max_capacity, given) in [
            (0, 10, 0),
            (10, 1 << 50, 1 << 50),
            (10_000_000_000, 30_000_000_000, 30_000_000_000),
            (1 << 50, 1 << 51, 1 << 50),
            (1000, u64::MAX, u64::MAX),
            (u64::MAX - 1, u64::MAX, u64::MAX - 1),
        ] {
            let refused = planned(&chosen(capacity, max_capacity, 0.01)).err();
            assert_eq!(refused, Some(BuildError::Capacity { given, most: 1 << 34 }), "{capacity} to {max_capacity}");
        }
    }

    /// As if it were made for all of them at once, where fingerprints beside values have no bit for a doubling.
    #[test]
    fn a_first_table_is_no_larger_than_its_largest_capacity_asks_for() {
        let table = |capacity, rate| planned(&chosen(capacity, 1900, rate).with_values(32)).map(|(table, _)| table);
        let at_once = table(1900, 6e-7).expect("there is such a table");
        assert_eq!(table(1000, 6e-7).map(|table| table.table_size()), Ok(at_once.table_size()));
        // 24 bits keep to this rate in a table with more room than 1900 keys need.
        let roomy = table(1000, 4.5e-7).expect("there is such a table");
        assert!(roomy.bucket_count() > at_once.bucket_count() && roomy.capacity() == 1900, "{roomy:?}");
        assert!(roomy.expected_false_positive_rate(1900) <= 4.5e-7, "{roomy:?}");
        assert_eq!(table(1900, 4.5e-7), Ok(roomy));
        // Nor is there a longer fingerprint without values.
        let longest = planned(&chosen(1, 10, 4.6e-17)).expect("there is such a table").0;
        assert!(longest.expected_false_positive_rate(10) <= 4.6e-17, "{longest:?}");
    }
}
