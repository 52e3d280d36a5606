//! How large a table must be so that a promised number of keys fits.
//!
//! The promise: of 10^6 tables built for n distinct keys, at most one is expected to be unable to take them all. Three
//! things can go wrong, and each is given a third of that millionth.
//!
//! 1. **A few buckets are the only candidates of too many keys.** k buckets of a region of s hold bk fingerprints; if
//!    bk + 1 keys have both candidates among them, no arrangement exists. The expected number of such sets is at most
//!    Σ C(s, k) · P(X > bk), with X binomial of n and (k/s)^2; in small tables that is what limits the load. Where s is
//!    even, which it is in every planned table, no key has a single candidate, and the sum starts at k = 2.
//! 2. **The region as a whole is too full.** The load at which a region first refuses a key varies from table to table
//!    around a mean, with a standard deviation that falls with the square root of its slots; and where there are
//!    several regions, chance gives some of them more keys than others. Both are close to normal, so a region gets as
//!    much slack as makes their sum unlikely enough. The means and deviations were measured: see `Fill`.
//! 3. **More than 2b keys have the same fingerprint and the same buckets**, [`overfull_classes`]; the planner lengthens
//!    a fingerprint that is too short for that.
//!
//! Insertion finds an arrangement wherever there is one, as long as its search is not cut off; in regions that are too
//! large to be searched whole, the measured means of 2 include that limit.
//!
//! [`overfull_classes`]: super::overfull_classes

use crate::cast::approximate;
use crate::parameters::Parameters;

/// The failures allowed in building a table, for each of the three causes.
pub(crate) const FAILURES_PER_CAUSE: f64 = 1e-6 / 3.0;

/// How many buckets a region has at the most.
///
/// With the usual widths the slots of 2^16 buckets fit the second-level cache. A table with b = 1 is one region, since
/// every region adds the risk that two keys have nothing but the same bucket.
#[must_use]
pub const fn most_buckets_in_region(slots_per_bucket: u32) -> u64 {
    if slots_per_bucket == 1 { Parameters::MOST_BUCKETS } else { LARGE_REGION }
}

/// The buckets of the largest region with b > 1.
const LARGE_REGION: u64 = 1 << 16;

/// How full a region with buckets of b slots becomes before it first refuses a key, as measured over many seeds for
/// 2^6 to 2^22 buckets and 16-bit fingerprints.
///
/// Up to 2^12 buckets the mean is the threshold of theory (0.897, 0.980 and 0.998 for b = 2, 4 and 8). Beyond that some
/// searches are cut off: the mean falls by a little less than `CUT_OFF` with every doubling, and the loads of tables
/// scatter by as much, however large they are.
struct Fill {
    /// The mean load factor at the first refusal, in the largest region that regional addressing has.
    mean: f64,
    /// The standard deviation of the number of keys at the first refusal, divided by the square root of the slots.
    deviation: f64,
}

/// What cut-off searches cost: see [`Fill`]. A share of the slots.
const CUT_OFF: f64 = 0.001;

impl Fill {
    const fn of(slots_per_bucket: u32) -> Self {
        match slots_per_bucket {
            // The risk with b = 1 is all in the confined sets, which are counted in full.
            1 => Self { mean: 1.0, deviation: 0.0 },
            2 => Self { mean: 0.889, deviation: 0.5 },
            4 => Self { mean: 0.974, deviation: 0.25 },
            _ => Self { mean: 0.995, deviation: 0.15 },
        }
    }
}

/// The load factor to which a large table with buckets of b slots may be filled, promise and all.
///
/// The paper's section 5.1 has 0.50, 0.84, 0.95 and 0.98 for b = 1, 2, 4 and 8, as observed at the first failure.
#[must_use]
pub const fn rated_load_factor(slots_per_bucket: u32) -> f64 {
    match slots_per_bucket {
        1 => 0.45,
        2 => 0.86,
        4 => 0.955,
        _ => 0.98,
    }
}

/// The regions of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measures {
    pub(crate) region_count: u64,
    pub(crate) buckets_per_region: u64,
}

impl Measures {
    pub(crate) const fn bucket_count(self) -> u64 {
        self.region_count.saturating_mul(self.buckets_per_region)
    }

    /// All buckets in one region.
    pub(crate) const fn single_region(buckets: u64) -> Self {
        Self { region_count: 1, buckets_per_region: buckets }
    }

    /// As few equal regions as there can be for this many buckets, or a few more.
    pub(crate) const fn of_buckets(bucket_count: u64, slots_per_bucket: u32) -> Self {
        let region_count = bucket_count.div_ceil(most_buckets_in_region(slots_per_bucket));
        let buckets_per_region = bucket_count.div_ceil(region_count);
        // An odd region is for who asks for it: in one region, the number given is kept.
        let even = if region_count > 1 { 2 } else { 1 };
        Self { region_count, buckets_per_region: buckets_per_region.next_multiple_of(even) }
    }

    /// Whether `capacity` distinct keys may be promised to fit.
    fn keep_promise(self, capacity: u64, slots_per_bucket: u32) -> bool {
        let regions = approximate(self.region_count);
        let buckets = approximate(self.buckets_per_region);
        let keys = approximate(capacity) / regions;
        let slots = buckets * f64::from(slots_per_bucket);
        let budget = FAILURES_PER_CAUSE / regions;

        // A single region gets exactly `capacity` keys, whatever chance does.
        let spread_of_keys = if self.region_count == 1 { 0.0 } else { keys };
        let fill = Fill::of(slots_per_bucket);
        let doublings = libm::log2(buckets / approximate(LARGE_REGION)).max(0.0);
        let cut_off = CUT_OFF * slots;
        let variance = spread_of_keys + fill.deviation * fill.deviation * slots + cut_off * cut_off;
        let fits =
            keys + deviations_exceeded_with(budget) * libm::sqrt(variance) <= (fill.mean - CUT_OFF * doublings) * slots;
        // As many keys as fit their own candidate buckets always do, whatever chance does.
        let least_candidates = if self.buckets_per_region.is_multiple_of(2) { 2 } else { 1 };
        let fits_for_certain = capacity <= least_candidates * u64::from(slots_per_bucket);
        fits_for_certain || (fits && confined_sets(keys, buckets, slots_per_bucket) <= budget)
    }
}

/// The smallest table for which the capacity may be promised; `None` if it would have too many buckets.
pub(crate) fn measures_for(capacity: u64, slots_per_bucket: u32) -> Option<Measures> {
    let least_buckets = capacity.div_ceil(u64::from(slots_per_bucket)).max(1);
    let most_buckets = most_buckets_in_region(slots_per_bucket);
    let mut region_count = least_buckets.div_ceil(most_buckets);
    while region_count.saturating_mul(most_buckets) <= Parameters::MOST_BUCKETS {
        // Even regions only: see `RegionalAddressing`.
        let of_pairs = |pairs| Measures { region_count, buckets_per_region: 2 * pairs };
        let sizes = least_buckets.div_ceil(2 * region_count)..=most_buckets / 2;
        if let Some(pairs) = least_that(sizes, |pairs| of_pairs(pairs).keep_promise(capacity, slots_per_bucket)) {
            return Some(of_pairs(pairs));
        }
        // Too many keys for so few regions, by a few percent.
        region_count += 1 + region_count / 256;
    }
    None
}

/// The most distinct keys that can be promised to fit a table of this many buckets.
///
/// Zero only for no buckets: a single bucket always takes b keys.
#[must_use]
pub fn promised_capacity(bucket_count: u64, slots_per_bucket: u32) -> u64 {
    if bucket_count == 0 {
        return 0;
    }
    promised_by(Measures::of_buckets(bucket_count, slots_per_bucket), slots_per_bucket)
}

/// The most distinct keys that can be promised to fit these regions.
pub(crate) fn promised_by(measures: Measures, slots_per_bucket: u32) -> u64 {
    let slots = measures.bucket_count() * u64::from(slots_per_bucket);
    let unpromised = least_that(1..=slots, |keys| !measures.keep_promise(keys, slots_per_bucket));
    unpromised.map_or(slots, |keys| keys - 1)
}

/// The expected number of sets of buckets that are the only candidates of more keys than they hold.
///
/// For one slot per bucket all sizes of sets are summed up, which bounds the whole risk. For larger buckets only few
/// buckets, or all but few, are: in between, the sum counts the same crowded part of the table over and over, and what
/// is left of the risk is that the region as a whole is too full.
fn confined_sets(keys: f64, buckets: f64, slots_per_bucket: u32) -> f64 {
    let least = if buckets % 2.0 == 0.0 { 2.0 } else { 1.0 };
    let slots = f64::from(slots_per_bucket);
    let most = libm::floor((keys - 1.0) / slots).min(buckets - 1.0);
    let of_size = |size| confined_sets_of_size(size, keys, buckets, slots);
    let upwards = core::iter::successors(Some(least), |&size| (size < most).then_some(size + 1.0));
    let downwards = core::iter::successors(Some(most), |&size| (size > least).then_some(size - 1.0));
    if most < least {
        0.0
    } else if slots_per_bucket == 1 {
        sum_while_it_matters(upwards.map(of_size), |_, _| true)
    } else {
        let falls = |expected, previous| expected <= previous;
        sum_while_it_matters(upwards.map(of_size), falls) + sum_while_it_matters(downwards.map(of_size), falls)
    }
}

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
/// There are C(s, k) sets, a key is confined to a given one with probability p = (k/s)^2 at the most, and the tail of
/// the binomial distribution from q = bk + 1 on is bounded by its first term and a geometric series.
fn confined_sets_of_size(size: f64, keys: f64, buckets: f64, slots_per_bucket: f64) -> f64 {
    let too_many = slots_per_bucket * size + 1.0;
    let probability = (size / buckets) * (size / buckets);
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
    use super::*;

    const SIZES: [u64; 12] = [1, 2, 5, 30, 100, 1000, 10_000, 250_000, 300_000, 4_000_000, 100_000_000, 4_000_000_000];

    #[test]
    fn the_smallest_table_for_a_capacity_promises_it_and_hardly_more() {
        for slots_per_bucket in Parameters::SLOTS_PER_BUCKET {
            for capacity in SIZES {
                let Some(measures) = measures_for(capacity, slots_per_bucket) else {
                    assert!(slots_per_bucket == 1 && capacity > 1 << 28, "{capacity} in buckets of {slots_per_bucket}");
                    continue;
                };
                let promised = promised_by(measures, slots_per_bucket);
                assert!(promised >= capacity, "{capacity} in buckets of {slots_per_bucket}: {promised}");
                let smaller = Measures { buckets_per_region: measures.buckets_per_region - 2, ..measures };
                if smaller.buckets_per_region > 0 {
                    assert!(promised_by(smaller, slots_per_bucket) < capacity);
                }
            }
        }
    }

    #[test]
    fn the_load_that_is_promised_stays_below_the_threshold_of_theory() {
        // The thresholds of cuckoo hashing with two choices: Fountoulakis, Khosla, Panagiotou (2011).
        for (slots_per_bucket, threshold) in [(1, 0.5), (2, 0.897), (4, 0.9804), (8, 0.9979)] {
            for buckets in [10, 100, 1000, 65_536, 1 << 20, 1 << 30] {
                let promised = promised_capacity(buckets, slots_per_bucket);
                let load_factor = load_factor(promised, buckets * u64::from(slots_per_bucket));
                assert!(load_factor < threshold, "{buckets} buckets of {slots_per_bucket}: {load_factor}");
            }
        }
    }

    #[test]
    fn large_tables_are_rated_at_what_is_promised_for_them() {
        for slots_per_bucket in [2, 4, 8] {
            let slots = (1u64 << 24) * u64::from(slots_per_bucket);
            let promised = load_factor(promised_capacity(1 << 24, slots_per_bucket), slots);
            let rated = rated_load_factor(slots_per_bucket);
            assert!((promised - rated).abs() < 0.01, "b = {slots_per_bucket}: {promised} against {rated}");
        }
    }

    #[test]
    fn confined_sets_are_counted_as_by_hand() {
        // Three keys in a region of eleven buckets of one slot: two or three in the same bucket, with p = 1/121, or all
        // three within two buckets, with p = (2/11)^2. The tail of the first is bounded by a series that is a little
        // larger. With ten buckets no key has a single candidate.
        let p = 1.0 / 121.0;
        let by_hand = 11.0 * (3.0 * p * p * (1.0 - p) + p * p * p) + 55.0 * libm::pow(2.0 / 11.0, 6.0);
        let ratio = confined_sets(3.0, 11.0, 1) / by_hand;
        assert!((1.0..1.001).contains(&ratio), "{ratio}");
        let by_hand = 45.0 * libm::pow(0.2, 6.0);
        assert!((confined_sets(3.0, 10.0, 1) / by_hand - 1.0).abs() < 1e-9);
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
        let sets = confined_sets_of_size(18.0, 150.0, 20.0, 8.0);
        assert!((1.0..1.1).contains(&(sets / (190.0 * tail))), "{sets} against {}", 190.0 * tail);
        assert!(confined_sets(150.0, 20.0, 8) >= sets);
    }

    #[test]
    fn one_bucket_and_one_pair_of_buckets_promise_all_their_slots() {
        for slots_per_bucket in Parameters::SLOTS_PER_BUCKET {
            assert_eq!(promised_capacity(1, slots_per_bucket), u64::from(slots_per_bucket));
            assert_eq!(promised_capacity(2, slots_per_bucket), 2 * u64::from(slots_per_bucket));
            let measures = measures_for(u64::from(slots_per_bucket), slots_per_bucket).expect("small");
            assert_eq!(measures, Measures::single_region(2));
        }
    }
}
