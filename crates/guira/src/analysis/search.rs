//! The smallest regions for a capacity, and the greatest capacity of regions: [`Table::takes`] says what can be promised.

use super::capacity::{COUNTED_BUCKETS, Fill, LARGE_REGION, Table};
use crate::cast::to_f64;
use crate::parameters::{Addressing, Parameters, Regions, Shape};

/// The share of a table's buckets that may be added so that all regions have [`LARGE_REGION`].
const MAX_ROUNDING: f64 = 0.01;

/// How many buckets a region has at the most.
///
/// A table of two candidates with b = 1 is one region, since every region adds the risk that three keys have nothing but
/// the same two buckets.
const fn most_buckets_in_region(shape: Shape) -> u64 {
    match shape.addressing() {
        Addressing::PowerOfTwo => Parameters::MAX_BUCKETS,
        _ if shape.compared_slots() == 2 => Parameters::MAX_BUCKETS,
        _ => LARGE_REGION,
    }
}

impl Regions {
    /// The fewest equal regions for this many buckets, or a few more.
    pub(crate) fn of_buckets(bucket_count: u64, shape: Shape) -> Self {
        match shape.addressing() {
            Addressing::PowerOfTwo => Self::single(bucket_count),
            Addressing::Regional | Addressing::Doubling => {
                let count = bucket_count.div_ceil(most_buckets_in_region(shape));
                // A single region keeps the number that was given, even if it is odd.
                let even = if count > 1 || shape.addressing() == Addressing::Doubling { 2 } else { 1 };
                Self { count, buckets: bucket_count.div_ceil(count).next_multiple_of(even) }
            }
            Addressing::Ternary => Self::of_power(3, bucket_count),
            Addressing::Quaternary => Self::of_power(4, bucket_count),
        }
    }

    /// One region where the number is a power of `base`, else regions of the largest power that is planned and fits.
    fn of_power(base: u64, bucket_count: u64) -> Self {
        let mut buckets = 1;
        while buckets * base <= bucket_count.min(LARGE_REGION) {
            buckets *= base;
        }
        Self { count: bucket_count.div_ceil(buckets), buckets }
    }
}

/// The smallest table that takes the capacity with fingerprints of this length, and for which `suffices` holds; `None` if
/// there is none of at most `most_buckets`. If `suffices` holds for a table, it must hold for all larger ones.
pub(crate) fn regions_for(
    capacity: u64,
    fingerprint_bits: u32,
    shape: Shape,
    most_buckets: u64,
    suffices: impl Fn(Regions) -> bool,
) -> Option<Regions> {
    let holds = |regions: Regions| suffices(regions) && Table::new(regions, fingerprint_bits, shape).takes(capacity);
    let fits = |regions: Regions| suffices(regions) && Fill::of(shape).takes(capacity, regions, shape);
    let least_buckets = capacity.div_ceil(u64::from(shape.slots_per_bucket())).max(1);
    match shape.addressing() {
        Addressing::Regional | Addressing::Doubling => {
            // Even regions only, or a single bucket: see `RegionalAddressing`.
            if shape.addressing() == Addressing::Regional && holds(Regions::single(1)) {
                return Some(Regions::single(1));
            }
            let regions = |pairs: u64| Regions::of_buckets(2 * pairs, shape);
            let (least, most) = (least_buckets.div_ceil(2), most_buckets / 2);
            if most < least || !holds(regions(most)) {
                return None;
            }
            // Whether the keys fit is quick to compute, and in large regions little else matters.
            let start = if least_buckets <= COUNTED_BUCKETS || shape.compared_slots() == 2 {
                least
            } else {
                least_that(least..=most, |pairs| fits(regions(pairs)))?
            };
            first_from(start..=most, |pairs| holds(regions(pairs))).map(regions)
        }
        Addressing::PowerOfTwo => {
            let table = |exponent: u64| Regions::single(1 << exponent);
            least_that(0..=u64::from(most_buckets.ilog2()), |exponent| holds(table(exponent))).map(table)
        }
        Addressing::Ternary => regions_of_power(3, least_buckets, most_buckets, holds),
        Addressing::Quaternary => regions_of_power(4, least_buckets, most_buckets, holds),
    }
}

/// The smallest table of regions of a power of `base` buckets: for each power, as many regions as needed are tried.
fn regions_of_power(
    base: u64,
    least_buckets: u64,
    most_buckets: u64,
    holds: impl Fn(Regions) -> bool,
) -> Option<Regions> {
    let powers = core::iter::successors(Some(1u64), |&power| power.checked_mul(base));
    let powers = powers.take_while(|&buckets| buckets <= LARGE_REGION);
    powers.fold(None, |smallest: Option<Regions>, buckets| {
        // A table that is no smaller than the smallest so far is of no interest.
        let below = smallest.map_or(most_buckets + 1, Regions::bucket_count);
        let counts = least_buckets.div_ceil(buckets)..=(below - 1) / buckets;
        let count = first_from(counts, |count| holds(Regions { count, buckets }));
        count.map(|count| Regions { count, buckets }).or(smallest)
    })
}

/// The table in regions of [`LARGE_REGION`] buckets, where that takes at most [`MAX_ROUNDING`] more and its capacity can be promised.
pub(crate) fn in_large_regions(table: &Parameters) -> Option<Parameters> {
    let (shape, bits, capacity) = (table.shape(), table.fingerprint_bits(), table.capacity());
    let may_have_several = shape.addressing() == Addressing::Regional && most_buckets_in_region(shape) == LARGE_REGION;
    let regions = Regions { count: table.bucket_count().div_ceil(LARGE_REGION), buckets: LARGE_REGION };
    let is_close = to_f64(regions.bucket_count()) <= to_f64(table.bucket_count()) * (1.0 + MAX_ROUNDING);
    let takes_all = || Table::new(regions, bits, shape).takes(capacity);
    if may_have_several && is_close && takes_all() {
        Parameters::new(shape, bits, regions, capacity).ok()
    } else {
        None
    }
}

/// The smallest even regions, as many as `least` and at least as large, that take the capacity after so many doublings;
/// `None` if regions twice as large as `least` don't.
pub(crate) fn regions_to_promise_doubled(
    capacity: u64,
    doublings: u32,
    least: Regions,
    shape: Shape,
) -> Option<Regions> {
    let regions = |pairs| Regions { buckets: 2 * pairs, ..least };
    let doubled = |pairs| Regions { buckets: (2 * pairs) << doublings, ..least };
    let takes = |pairs| Table::new(doubled(pairs), Parameters::MAX_FINGERPRINT_BITS, shape).takes(capacity);
    least_that(least.buckets.div_ceil(2)..=least.buckets, takes).map(regions)
}

/// The most distinct keys that can be promised to fit these regions, where fingerprints are long enough.
pub(crate) fn promised_by(regions: Regions, shape: Shape) -> u64 {
    capacity_with_fingerprints(Parameters::MAX_FINGERPRINT_BITS, regions, shape)
}

/// The most distinct keys that can be promised to fit these regions with fingerprints of this length.
pub(crate) fn capacity_with_fingerprints(fingerprint_bits: u32, regions: Regions, shape: Shape) -> u64 {
    let table = Table::new(regions, fingerprint_bits, shape);
    let slots = table.slots();
    let unpromised = least_that(1..=slots, |keys| !table.takes(keys));
    unpromised.map_or(slots, |keys| keys - 1)
}

/// The least value in a range for which a condition holds that, once it holds, holds for all greater values.
fn least_that(range: core::ops::RangeInclusive<u64>, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = range.into_inner();
    if low > high || !holds(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// Finds what [`least_that`] finds, but faster if it is close to the start of the range.
fn first_from(range: core::ops::RangeInclusive<u64>, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, most) = range.into_inner();
    let mut step = 0;
    while low <= most {
        let high = low.saturating_add(step).min(most);
        if holds(high) {
            return least_that(low..=high, holds);
        }
        low = high + 1;
        step = 2 * step + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::parameters::Layout;

    const SIZES: [u64; 12] = [1, 2, 5, 30, 100, 1000, 10_000, 250_000, 300_000, 4_000_000, 100_000_000, 4_000_000_000];
    const LONG: u32 = Parameters::MAX_FINGERPRINT_BITS;

    fn packed(addressing: Addressing, slots_per_bucket: u32) -> Shape {
        Shape::new(Layout::Packed, addressing, slots_per_bucket).expect("there is such a table")
    }

    fn regional(slots_per_bucket: u32) -> Shape {
        packed(Addressing::Regional, slots_per_bucket)
    }

    fn load_factor(keys: u64, slots: u64) -> f64 {
        to_f64(keys) / to_f64(slots)
    }

    fn promised_capacity(bucket_count: u64, shape: Shape) -> u64 {
        promised_by(Regions::of_buckets(bucket_count, shape), shape)
    }

    fn all_shapes() -> Vec<Shape> {
        let layouts = [Layout::Packed, Layout::SemiSorted];
        let addressings = [
            Addressing::Regional,
            Addressing::PowerOfTwo,
            Addressing::Ternary,
            Addressing::Quaternary,
            Addressing::Doubling,
        ];
        let mut shapes = Vec::new();
        for layout in layouts {
            for addressing in addressings {
                let sizes = layout.bucket_sizes().iter();
                shapes.extend(sizes.flat_map(|&slots| Shape::new(layout, addressing, slots)));
            }
        }
        shapes
    }

    #[test]
    fn the_smallest_table_for_a_capacity_promises_it_and_hardly_more() {
        for shape in all_shapes() {
            for bits in [8, LONG] {
                for capacity in SIZES {
                    let Some(regions) = regions_for(capacity, bits, shape, Parameters::MAX_BUCKETS, |_| true) else {
                        // One slot per bucket, and few fingerprints with few slots.
                        let slots = shape.slots_per_bucket();
                        let is_hard = (slots == 1 && capacity >= 10_000) || (slots <= 3 && capacity >= 4_000_000);
                        assert!(is_hard, "{capacity} in {shape:?}, {bits} bits");
                        continue;
                    };
                    let promised = |regions| capacity_with_fingerprints(bits, regions, shape);
                    assert!(promised(regions) >= capacity, "{capacity} in {shape:?}, {bits} bits: {regions:?}");
                    if shape.addressing() == Addressing::Regional && regions.buckets > 2 {
                        let smaller = Regions { buckets: regions.buckets - 2, ..regions };
                        assert!(promised(smaller) < capacity, "{capacity} in {shape:?}, {bits} bits: {regions:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_load_that_is_promised_stays_below_the_threshold_of_theory() {
        // The thresholds of cuckoo hashing with two choices: Fountoulakis, Khosla, Panagiotou (2011).
        for (slots_per_bucket, threshold) in [(1, 0.5), (2, 0.897), (3, 0.9592), (4, 0.9804), (8, 0.9979)] {
            for buckets in [10, 100, 1000, 65_536, 1 << 20, 1 << 30] {
                let promised = promised_capacity(buckets, regional(slots_per_bucket));
                let load_factor = load_factor(promised, buckets * u64::from(slots_per_bucket));
                assert!(load_factor < threshold, "{buckets} buckets of {slots_per_bucket}: {load_factor}");
            }
        }
    }

    /// Section 5.1 of the paper has the loads at which insertions first failed.
    #[test]
    fn large_tables_are_promised_the_loads_of_the_paper() {
        for (slots, observed) in [(2, 0.84), (4, 0.95), (8, 0.98)] {
            for addressing in [Addressing::Regional, Addressing::PowerOfTwo] {
                let shape = packed(addressing, slots);
                let regions = Regions::of_buckets(1 << 24, shape);
                let promised = load_factor(promised_by(regions, shape), Table::new(regions, LONG, shape).slots());
                assert!((0.0..0.04).contains(&(promised - observed)), "{shape:?}: {promised}");
            }
        }
    }

    #[test]
    fn one_bucket_and_one_orbit_of_all_buckets_promise_all_their_slots() {
        for slots in [1, 2, 3, 4, 8] {
            assert_eq!(promised_capacity(1, regional(slots)), u64::from(slots));
            assert_eq!(promised_capacity(2, regional(slots)), 2 * u64::from(slots));
            assert_eq!(promised_capacity(3, packed(Addressing::Ternary, slots)), 3 * u64::from(slots));
            let regions = |capacity: u64| regions_for(capacity, LONG, regional(slots), 1 << 32, |_| true);
            assert_eq!(regions(u64::from(slots)), Some(Regions::single(1)));
            assert_eq!(regions(2 * u64::from(slots)), Some(Regions::single(2)));
        }
    }

    #[test]
    fn values_are_found_from_the_start_of_a_range_on() {
        for least in 5..40 {
            assert_eq!(first_from(5..=30, |value| value >= least), (least <= 30).then_some(least));
            assert_eq!(least_that(5..=30, |value| value >= least), (least <= 30).then_some(least));
        }
    }
}
