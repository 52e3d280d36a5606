//! How large a table must be so that a promised number of keys fits.
//!
//! The promise: of 10^6 tables built for n distinct keys, at most one is expected to be unable to take them all. Three
//! things can go wrong, and each is given a third of that millionth.
//!
//! 1. **A few buckets are the only candidates of too many keys.** k buckets of a region of s hold bk fingerprints; if
//!    bk + 1 keys have both candidates among them, no arrangement exists. The expected number of such sets is at most
//!    Σ C(s, k) · P(X > bk), with X binomial of n and (k/s)^d; in small tables that is what limits the load. Where s is
//!    even, which it is in every planned table, no key has a single candidate, and the sum starts at k = 2.
//! 2. **The region as a whole is too full.** The load at which a region first refuses a key varies from table to table
//!    around a mean, with a standard deviation that falls with the square root of its slots; and where there are
//!    several regions, chance gives some of them more keys than others. Both are close to normal, so a region gets as
//!    much slack as makes their sum unlikely enough. The means and deviations were measured: see `Fill`.
//! 3. **More than 2b keys have the same fingerprint and the same buckets**, [`overfull_classes`]; the planner lengthens
//!    a fingerprint that is too short for that. It has at least six bits, too: the first two counts take alternate buckets
//!    for random, and a handful of fingerprints gives no more than a handful of alternates.
//!
//! Insertion finds an arrangement wherever there is one, as long as its search is not cut off; in regions that are too
//! large to be searched whole, the measured means of 2 include that limit.
//!
//! [`overfull_classes`]: super::overfull_classes

use super::formulas::{least_fingerprint_bits_to_fill, overfull_classes};
use crate::cast::approximate;
use crate::parameters::{Addressing, Layout, Parameters, Regions, Shape};

/// The failures allowed in building a table, for each of the three causes.
pub(crate) const FAILURES_PER_CAUSE: f64 = 1e-6 / 3.0;

/// The buckets of the largest region that is planned, but with b = 1: the slots of 2^16 buckets with the usual widths
/// fit the second-level cache.
const LARGE_REGION: u64 = 1 << 16;

/// The share of a table's buckets that may be added so that all regions have [`LARGE_REGION`].
const MOST_ROUNDING: f64 = 0.005;

/// How many buckets a region has at the most.
///
/// A table of two candidates with b = 1 is one region, since every region adds the risk that three keys have nothing but
/// the same two buckets.
const fn most_buckets_in_region(shape: Shape) -> u64 {
    match shape.addressing() {
        Addressing::PowerOfTwo => Parameters::MOST_BUCKETS,
        _ if shape.compared_slots() == 2 => Parameters::MOST_BUCKETS,
        _ => LARGE_REGION,
    }
}

/// How full a region becomes before it first refuses a key, as measured over many seeds for 2^6 to 2^22 buckets and
/// 16-bit fingerprints.
///
/// Up to 2^12 buckets the mean is the threshold of theory: 0.897, 0.980 and 0.998 for two buckets of b = 2, 4 and 8; 0.965,
/// 0.9945 and 0.9989 for windows of 2, 3 and 4; 0.918 and 0.977 for three and four buckets of one slot.
/// Beyond that some searches are cut off: the mean falls by a little less than `CUT_OFF` with every doubling, and the
/// loads of tables scatter by as much, however large they are.
struct Fill {
    /// The mean load factor at the first refusal, in the largest region that is planned.
    mean: f64,
    /// The standard deviation of the number of keys at the first refusal, divided by the square root of the slots.
    deviation: f64,
    /// The load factor to which a large table may be filled, promise and all.
    rated: f64,
}

/// What cut-off searches cost: see [`Fill`]. A share of the slots.
const CUT_OFF: f64 = 0.001;

impl Fill {
    const fn of(shape: Shape) -> Self {
        match (shape.layout(), shape.addressing().candidates(), shape.slots_per_bucket()) {
            // The risk is all in the confined sets, which are counted in full.
            (Layout::Packed, 2, 1) => Self { mean: 1.0, deviation: 0.0, rated: 0.45 },
            (Layout::Packed, 2, 2) => Self { mean: 0.889, deviation: 0.5, rated: 0.86 },
            (Layout::Packed | Layout::SemiSorted, 2, 4) => Self { mean: 0.974, deviation: 0.25, rated: 0.955 },
            (Layout::Packed, 2, _) => Self { mean: 0.995, deviation: 0.15, rated: 0.98 },
            (Layout::Windowed, _, 2) => Self { mean: 0.954, deviation: 0.35, rated: 0.935 },
            (Layout::Windowed, _, 3) => Self { mean: 0.985, deviation: 0.2, rated: 0.97 },
            (Layout::Windowed, _, _) => Self { mean: 0.992, deviation: 0.15, rated: 0.98 },
            (_, 3, 1) => Self { mean: 0.909, deviation: 0.4, rated: 0.885 },
            (_, 3, 2) => Self { mean: 0.983, deviation: 0.2, rated: 0.965 },
            (_, 3, _) => Self { mean: 0.997, deviation: 0.1, rated: 0.985 },
            (_, _, 1) => Self { mean: 0.968, deviation: 0.25, rated: 0.945 },
            (_, _, 2) => Self { mean: 0.995, deviation: 0.1, rated: 0.98 },
            (_, _, _) => Self { mean: 0.998, deviation: 0.1, rated: 0.985 },
        }
    }
}

/// The load factor to which a large table of this shape may be filled, promise and all; for two buckets of one slot, to
/// which it can be filled more often than not.
///
/// The paper's section 5.1 has 0.50, 0.84, 0.95 and 0.98 for b = 1, 2, 4 and 8, as observed at the first failure.
#[must_use]
pub const fn rated_load_factor(shape: Shape) -> f64 {
    Fill::of(shape).rated
}

impl Regions {
    /// As few equal regions as there can be for this many buckets, or a few more buckets.
    pub(crate) fn of_buckets(bucket_count: u64, shape: Shape) -> Self {
        match shape.addressing() {
            Addressing::PowerOfTwo => Self::single(bucket_count),
            Addressing::Regional | Addressing::Doubling => {
                let count = bucket_count.div_ceil(most_buckets_in_region(shape));
                // An odd region is for who asks for it: in one region, the number given is kept.
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

    /// Regions of [`LARGE_REGION`] buckets in place of these where that takes at most [`MOST_ROUNDING`] more and keeps the
    /// promise: their addresses take fewer instructions.
    fn rounded_up(self, capacity: u64, shape: Shape) -> Self {
        let rounded = Self { count: self.bucket_count().div_ceil(LARGE_REGION), buckets: LARGE_REGION };
        let most = approximate(self.bucket_count()) * (1.0 + MOST_ROUNDING);
        let gains = (shape.layout(), shape.addressing()) == (Layout::Packed, Addressing::Regional)
            && most_buckets_in_region(shape) == LARGE_REGION;
        let is_cheap = gains && approximate(rounded.bucket_count()) <= most;
        if is_cheap && rounded.keep_promise(capacity, shape) { rounded } else { self }
    }

    /// Whether `capacity` distinct keys may be promised to fit.
    fn keep_promise(self, capacity: u64, shape: Shape) -> bool {
        let regions = approximate(self.count);
        let buckets = approximate(self.buckets);
        let keys = approximate(capacity) / regions;
        let slots = approximate(shape.slots_of_region(self.buckets));
        let budget = FAILURES_PER_CAUSE / regions;

        // A single region gets exactly `capacity` keys, whatever chance does.
        let spread_of_keys = if self.count == 1 { 0.0 } else { keys };
        let fill = Fill::of(shape);
        let doublings = libm::log2(buckets / approximate(LARGE_REGION)).max(0.0);
        let cut_off = CUT_OFF * slots;
        let variance = spread_of_keys + fill.deviation * fill.deviation * slots + cut_off * cut_off;
        let fits =
            keys + deviations_exceeded_with(budget) * libm::sqrt(variance) <= (fill.mean - CUT_OFF * doublings) * slots;
        let least_candidates = least_candidates(self.buckets, shape);
        capacity <= certain_capacity(self, shape)
            || (fits && confined_sets(keys, buckets, least_candidates, shape) <= budget)
    }
}

/// How few different candidate buckets a key may have in a region of this many.
const fn least_candidates(buckets: u64, shape: Shape) -> u64 {
    match shape.addressing() {
        Addressing::Doubling => 2,
        Addressing::Regional if buckets.is_multiple_of(2) => 2,
        Addressing::Regional | Addressing::PowerOfTwo => 1,
        // A region of one bucket has only that one; see `DaryAddressing`.
        Addressing::Ternary => {
            if buckets > 1 {
                3
            } else {
                1
            }
        }
        Addressing::Quaternary => {
            if buckets > 1 {
                2
            } else {
                1
            }
        }
    }
}

/// The smallest table for which the capacity may be promised; `None` if it would have too many buckets.
pub(crate) fn regions_for(capacity: u64, shape: Shape) -> Option<Regions> {
    match shape.addressing() {
        // Even regions only: see `RegionalAddressing`.
        Addressing::Regional | Addressing::Doubling => {
            regions_of_sizes(capacity, shape, |pairs| 2 * pairs).map(|regions| regions.rounded_up(capacity, shape))
        }
        Addressing::PowerOfTwo => {
            let exponent = least_that(0..=32, |exponent| Regions::single(1 << exponent).keep_promise(capacity, shape));
            exponent.map(|exponent| Regions::single(1 << exponent))
        }
        Addressing::Ternary => regions_of_power(3, capacity, shape),
        Addressing::Quaternary => regions_of_power(4, capacity, shape),
    }
}

/// The smallest even regions, as many as `least` and at least as large, that take the capacity once they were doubled so
/// often; `None` if twice as large ones don't.
pub(crate) fn regions_to_promise_doubled(
    capacity: u64,
    doublings: u32,
    least: Regions,
    shape: Shape,
) -> Option<Regions> {
    let regions = |pairs| Regions { buckets: 2 * pairs, ..least };
    let doubled = |pairs| Regions { buckets: (2 * pairs) << doublings, ..least };
    least_that(least.buckets.div_ceil(2)..=least.buckets, |pairs| doubled(pairs).keep_promise(capacity, shape))
        .map(regions)
}

/// The same for regions of any of the sizes that `size_of` gives for 1, 2, 3, …
fn regions_of_sizes(capacity: u64, shape: Shape, size_of: impl Fn(u64) -> u64) -> Option<Regions> {
    let step = size_of(1);
    let least_buckets = capacity.div_ceil(u64::from(shape.slots_per_bucket())).max(1);
    let most_buckets = most_buckets_in_region(shape);
    let mut count = least_buckets.div_ceil(most_buckets);
    while count.saturating_mul(most_buckets) <= Parameters::MOST_BUCKETS {
        let regions = |number| Regions { count, buckets: size_of(number) };
        let numbers = (least_buckets.div_ceil(step * count).saturating_sub(1)).max(1)..=most_buckets / step;
        if let Some(number) = least_that(numbers, |number| regions(number).keep_promise(capacity, shape)) {
            return Some(regions(number));
        }
        // Too many keys for so few regions, by a few percent.
        count += 1 + count / 256;
    }
    None
}

/// The same for regions of a power of `base` buckets: for each power as many regions as needed, the smallest of these.
fn regions_of_power(base: u64, capacity: u64, shape: Shape) -> Option<Regions> {
    let powers = core::iter::successors(Some(1u64), |&power| power.checked_mul(base));
    let tables = powers.take_while(|&buckets| buckets <= LARGE_REGION).filter_map(|buckets| {
        let counts = 1..=Parameters::MOST_BUCKETS / buckets;
        let count = least_that(counts, |count| Regions { count, buckets }.keep_promise(capacity, shape))?;
        Some(Regions { count, buckets })
    });
    tables.min_by_key(|regions| regions.bucket_count())
}

/// The most distinct keys that can be promised to fit a table of this shape with this many buckets, where fingerprints are
/// long enough.
///
/// Zero only for no buckets: a single bucket always takes b keys.
#[must_use]
pub fn promised_capacity(bucket_count: u64, shape: Shape) -> u64 {
    if bucket_count == 0 { 0 } else { promised_by(Regions::of_buckets(bucket_count, shape), shape) }
}

/// The most distinct keys that can be promised to fit these regions.
pub(crate) fn promised_by(regions: Regions, shape: Shape) -> u64 {
    let slots = regions.count * shape.slots_of_region(regions.buckets);
    let unpromised = least_that(1..=slots, |keys| !regions.keep_promise(keys, shape));
    unpromised.map_or(slots, |keys| keys - 1)
}

/// The shortest fingerprint with which more than a handful of keys can be promised to fit.
const LEAST_BITS_TO_PROMISE: u32 = 6;

/// The shortest fingerprint with which the capacity can be promised.
pub(crate) fn fingerprint_bits_to_fill(capacity: u64, regions: Regions, shape: Shape) -> u32 {
    if capacity <= certain_capacity(regions, shape) {
        return shape.least_fingerprint_bits();
    }
    let load_factor = load_factor(capacity, regions.count * shape.slots_of_region(regions.buckets));
    let keys = approximate(capacity);
    least_fingerprint_bits_to_fill(keys, shape.compared_slots(), load_factor, FAILURES_PER_CAUSE)
        .max(LEAST_BITS_TO_PROMISE)
        .max(shape.least_fingerprint_bits())
}

/// The most keys of which no overfull class is to be expected with fingerprints of this length.
pub(crate) fn capacity_with_fingerprints(fingerprint_bits: u32, regions: Regions, shape: Shape) -> u64 {
    let certain = certain_capacity(regions, shape);
    if fingerprint_bits < LEAST_BITS_TO_PROMISE {
        return certain;
    }
    let slots = regions.count * shape.slots_of_region(regions.buckets);
    let too_many = |keys| {
        let load_factor = load_factor(keys, slots);
        let overfull = overfull_classes(approximate(keys), fingerprint_bits, shape.compared_slots(), load_factor);
        overfull > FAILURES_PER_CAUSE
    };
    least_that(1..=slots, too_many).map_or(slots, |keys| keys - 1).max(certain)
}

/// As many keys as fit their own candidate buckets always do, whatever chance does.
fn certain_capacity(regions: Regions, shape: Shape) -> u64 {
    least_candidates(regions.buckets, shape) * u64::from(shape.slots_per_bucket())
}

/// The expected number of sets of buckets that are the only candidates of more keys than they hold.
///
/// For two candidates of one slot all sizes of sets are summed up, which bounds the whole risk. For larger buckets only few
/// buckets, or all but few, are: in between, the sum counts the same crowded part of the table over and over, and what
/// is left of the risk is that the region as a whole is too full.
fn confined_sets(keys: f64, buckets: f64, least_candidates: u64, shape: Shape) -> f64 {
    let least = approximate(least_candidates);
    let slots = f64::from(shape.slots_per_bucket());
    let candidates = f64::from(shape.addressing().candidates());
    let most = libm::floor((keys - 1.0) / slots).min(buckets - 1.0);
    let of_size = |size| confined_sets_of_size(size, keys, buckets, slots, candidates);
    let upwards = core::iter::successors(Some(least), |&size| (size < most).then_some(size + 1.0));
    let downwards = core::iter::successors(Some(most), |&size| (size > least).then_some(size - 1.0));
    let falls = |expected, previous| expected <= previous;
    if most < least {
        0.0
    } else if shape.compared_slots() == 2 {
        sum_while_it_matters(upwards.map(of_size), |_, _| true)
    } else if most + FEW_BUCKETS < buckets {
        sum_while_it_matters(upwards.map(of_size), falls)
    } else {
        sum_while_it_matters(upwards.map(of_size), falls) + sum_while_it_matters(downwards.map(of_size), falls)
    }
}

/// Where more buckets than these are left over, "all but" them are not most of the region.
const FEW_BUCKETS: f64 = 16.0;

/// The sum of terms up to the first that is refused, given the one before it, or to where the rest cannot matter.
fn sum_while_it_matters(terms: impl Iterator<Item = f64>, accept: impl Fn(f64, f64) -> bool) -> f64 {
    let mut sum = 0.0;
    let mut previous = f64::INFINITY;
    for term in terms {
        if !accept(term, previous) || sum > 1.0 {
            break;
        }
        sum += term;
        if term < 1e-9 * FAILURES_PER_CAUSE && term < previous {
            break;
        }
        previous = term;
    }
    sum
}

/// The expected number of sets of `size` buckets that have more keys confined to them than they hold.
///
/// There are C(s, k) sets, a key is confined to a given one with probability p = (k/s)^d at the most, and the tail of
/// the binomial distribution from q = bk + 1 on is bounded by its first term and a geometric series.
///
/// Windows are taken for buckets, which are confined more easily.
fn confined_sets_of_size(size: f64, keys: f64, buckets: f64, slots_per_bucket: f64, candidates: f64) -> f64 {
    let too_many = slots_per_bucket * size + 1.0;
    let probability = libm::pow(size / buckets, candidates);
    let ratio = (keys - too_many) * probability / ((too_many + 1.0) * (1.0 - probability));
    if ratio >= 1.0 {
        // More keys than fit are what is to be expected.
        return f64::INFINITY;
    }
    let first_term = log_binomial(keys, too_many)
        + too_many * libm::log(probability)
        + (keys - too_many) * libm::log1p(-probability);
    libm::exp(log_binomial(buckets, size) + first_term - libm::log1p(-ratio))
}

/// How many standard deviations a normal value exceeds with at most this probability: ½ exp(-z²/2) bounds its tail.
fn deviations_exceeded_with(probability: f64) -> f64 {
    libm::sqrt(-2.0 * libm::log(2.0 * probability))
}

fn log_binomial(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
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

/// The load factor that a whole number of slots makes of a whole number of keys.
pub(crate) fn load_factor(keys: u64, slots: u64) -> f64 {
    approximate(keys) / approximate(slots)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const SIZES: [u64; 12] = [1, 2, 5, 30, 100, 1000, 10_000, 250_000, 300_000, 4_000_000, 100_000_000, 4_000_000_000];

    fn packed(slots_per_bucket: u32) -> Shape {
        Shape::new(Layout::Packed, Addressing::Regional, slots_per_bucket).expect("there is such a table")
    }

    fn all_shapes() -> Vec<Shape> {
        let layouts = [Layout::Packed, Layout::SemiSorted, Layout::Windowed];
        let addressings = [Addressing::Regional, Addressing::PowerOfTwo, Addressing::Ternary, Addressing::Quaternary];
        let mut shapes = Vec::new();
        for layout in layouts {
            for addressing in addressings {
                let sizes = Shape::slots_per_bucket_of(layout).iter();
                shapes.extend(sizes.flat_map(|&slots| Shape::new(layout, addressing, slots)));
            }
        }
        shapes
    }

    #[test]
    fn large_tables_have_regions_of_65536_buckets_where_these_take_half_a_percent_more_at_most() {
        for capacity in (1..=40).flat_map(|number| [number * 251_000, number * 1_000_003, number * 7_777_777]) {
            let regions = regions_for(capacity, Shape::DEFAULT).expect("there is such a table");
            let smallest =
                regions_of_sizes(capacity, Shape::DEFAULT, |pairs| 2 * pairs).expect("there is such a table");
            let (buckets, least) = (approximate(regions.bucket_count()), approximate(smallest.bucket_count()));
            assert!(regions.keep_promise(capacity, Shape::DEFAULT), "{capacity}");
            assert!(least <= buckets && buckets <= 1.005 * least, "{capacity}: {buckets} and {least}");
            if least >= 200.0 * 65_536.0 {
                assert_eq!(regions.buckets, 65_536, "{capacity}");
            }
        }
    }

    #[test]
    fn the_smallest_table_for_a_capacity_promises_it_and_hardly_more() {
        for shape in all_shapes() {
            for capacity in SIZES {
                let Some(regions) = regions_for(capacity, shape) else {
                    assert!(shape.slots_per_bucket() == 1 && capacity > 1 << 28, "{capacity} in {shape:?}");
                    continue;
                };
                assert!(promised_by(regions, shape) >= capacity, "{capacity} in {shape:?}: {regions:?}");
                let is_rounded_up = regions.buckets == LARGE_REGION;
                if shape.addressing() == Addressing::Regional && regions.buckets > 2 && !is_rounded_up {
                    let smaller = Regions { buckets: regions.buckets - 2, ..regions };
                    assert!(promised_by(smaller, shape) < capacity, "{capacity} in {shape:?}: {regions:?}");
                }
            }
        }
    }

    #[test]
    fn the_load_that_is_promised_stays_below_the_threshold_of_theory() {
        // The thresholds of cuckoo hashing with two choices: Fountoulakis, Khosla, Panagiotou (2011).
        for (slots_per_bucket, threshold) in [(1, 0.5), (2, 0.897), (4, 0.9804), (8, 0.9979)] {
            for buckets in [10, 100, 1000, 65_536, 1 << 20, 1 << 30] {
                let promised = promised_capacity(buckets, packed(slots_per_bucket));
                let load_factor = load_factor(promised, buckets * u64::from(slots_per_bucket));
                assert!(load_factor < threshold, "{buckets} buckets of {slots_per_bucket}: {load_factor}");
            }
        }
    }

    #[test]
    fn large_tables_are_rated_at_what_is_promised_for_them() {
        for shape in all_shapes() {
            if shape.compared_slots() == 2 {
                continue;
            }
            let regions = Regions::of_buckets(1 << 24, shape);
            let slots = regions.count * shape.slots_of_region(regions.buckets);
            let promised = load_factor(promised_by(regions, shape), slots);
            assert!((promised - rated_load_factor(shape)).abs() < 0.02, "{shape:?}: {promised}");
        }
    }

    #[test]
    fn confined_sets_are_counted_as_by_hand() {
        // Three keys in a region of eleven buckets of one slot: two or three in the same bucket, with p = 1/121, or all
        // three within two buckets, with p = (2/11)^2. The tail of the first is bounded by a series that is a little
        // larger. With ten buckets no key has a single candidate.
        let p = 1.0 / 121.0;
        let by_hand = 11.0 * (3.0 * p * p * (1.0 - p) + p * p * p) + 55.0 * libm::pow(2.0 / 11.0, 6.0);
        let ratio = confined_sets(3.0, 11.0, 1, packed(1)) / by_hand;
        assert!((1.0..1.001).contains(&ratio), "{ratio}");
        let by_hand = 45.0 * libm::pow(0.2, 6.0);
        assert!((confined_sets(3.0, 10.0, 2, packed(1)) / by_hand - 1.0).abs() < 1e-9);
    }

    #[test]
    fn all_but_a_few_buckets_count_as_well_as_a_few() {
        // 150 keys leave 10 of 160 slots empty. Any two of the 20 buckets must be a candidate of 6 keys or more; where
        // they are not, 145 keys are confined to the other 18: C(20, 2) pairs, and a key avoids one with p = 0.9^2.
        let tail: f64 = (145..=150)
            .map(|keys| {
                let keys = f64::from(keys);
                libm::exp(log_binomial(150.0, keys) + keys * libm::log(0.81) + (150.0 - keys) * libm::log(0.19))
            })
            .sum();
        let sets = confined_sets_of_size(18.0, 150.0, 20.0, 8.0, 2.0);
        assert!((1.0..1.1).contains(&(sets / (190.0 * tail))), "{sets} against {}", 190.0 * tail);
        assert!(confined_sets(150.0, 20.0, 2, packed(8)) >= sets);
    }

    #[test]
    fn one_bucket_and_one_pair_of_buckets_promise_all_their_slots() {
        for slots_per_bucket in [1, 2, 4, 8] {
            let shape = packed(slots_per_bucket);
            assert_eq!(promised_capacity(1, shape), u64::from(slots_per_bucket));
            assert_eq!(promised_capacity(2, shape), 2 * u64::from(slots_per_bucket));
            assert_eq!(regions_for(u64::from(slots_per_bucket), shape), Some(Regions::single(2)));
        }
    }
}
