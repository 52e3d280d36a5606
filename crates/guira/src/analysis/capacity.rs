//! How large a table must be so that a promised number of keys fits.
//!
//! The promise: of 10^6 tables built for n distinct keys, at most one is expected to be unable to take them all. Three
//! things can go wrong, and each is given a third of that millionth.
//!
//! 1. **A few buckets are the only candidates of too many keys.** k buckets of a region of s hold bk fingerprints; if
//!    bk + 1 keys have both candidates among them, no arrangement exists. The expected number of such sets is
//!    Σ C(s, k) · C(n, bk + 1) · (k/s)^(2(bk + 1)), and its first terms are all that matters in small tables.
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

/// How many buckets a region has at the most: with the usual widths its slots fit the second-level cache.
#[must_use]
pub const fn most_buckets_in_region() -> u64 {
    1 << 16
}

/// How full regions with buckets of b slots become before they first refuse a key.
struct Fill {
    /// The mean load factor at the first refusal, in a large region.
    mean: f64,
    /// The standard deviation of the number of keys at the first refusal, divided by the square root of the slots.
    deviation: f64,
}

impl Fill {
    const fn of(slots_per_bucket: u32) -> Self {
        match slots_per_bucket {
            1 => Self { mean: 0.49, deviation: 2.5 },
            2 => Self { mean: 0.888, deviation: 0.6 },
            4 => Self { mean: 0.973, deviation: 0.3 },
            _ => Self { mean: 0.994, deviation: 0.15 },
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
    pub(crate) const fn of_buckets(bucket_count: u64) -> Self {
        let region_count = bucket_count.div_ceil(most_buckets_in_region());
        Self { region_count, buckets_per_region: bucket_count.div_ceil(region_count) }
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
        let deviation = libm::sqrt(spread_of_keys + fill.deviation * fill.deviation * slots);
        let fits = keys + deviations_exceeded_with(budget) * deviation <= fill.mean * slots;
        // Where one bucket has room for all keys there is nothing to go wrong.
        capacity <= u64::from(slots_per_bucket) || (fits && confined_sets(keys, buckets, slots_per_bucket) <= budget)
    }
}

/// The smallest table for which the capacity may be promised; `None` if it would have too many buckets.
pub(crate) fn measures_for(capacity: u64, slots_per_bucket: u32) -> Option<Measures> {
    let least_buckets = capacity.div_ceil(u64::from(slots_per_bucket)).max(1);
    let mut region_count = least_buckets.div_ceil(most_buckets_in_region());
    while region_count.saturating_mul(most_buckets_in_region()) <= Parameters::MOST_BUCKETS {
        let sizes = least_buckets.div_ceil(region_count)..=most_buckets_in_region();
        let least = least_that(sizes, |buckets_per_region| {
            Measures { region_count, buckets_per_region }.keep_promise(capacity, slots_per_bucket)
        });
        if let Some(buckets_per_region) = least {
            return Some(Measures { region_count, buckets_per_region });
        }
        // Too many keys for so few regions, by a few percent at the most; by more only with b = 1.
        region_count += 1 + region_count / 64;
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
    promised_by(Measures::of_buckets(bucket_count), slots_per_bucket)
}

/// The most distinct keys that can be promised to fit these regions.
pub(crate) fn promised_by(measures: Measures, slots_per_bucket: u32) -> u64 {
    let slots = measures.bucket_count() * u64::from(slots_per_bucket);
    let unpromised = least_that(1..=slots, |keys| !measures.keep_promise(keys, slots_per_bucket));
    unpromised.map_or(slots, |keys| keys - 1)
}

/// The expected number of sets of k buckets, of `buckets`, that are the only candidates of more keys than they hold.
///
/// With b = 1 all sizes count, and the sum is an upper bound of the whole risk. With larger buckets only the small sets
/// do: from some size on the sum counts the same crowded part of the table over and over, and what is left of the risk
/// is that the region as a whole is too full.
fn confined_sets(keys: f64, buckets: f64, slots_per_bucket: u32) -> f64 {
    let slots_per_bucket = f64::from(slots_per_bucket);
    let mut sum = 0.0;
    let mut previous = f64::INFINITY;
    let mut size = 1.0;
    while size <= buckets {
        let confined = slots_per_bucket * size + 1.0;
        if confined > keys {
            break;
        }
        let logarithm =
            log_binomial(buckets, size) + log_binomial(keys, confined) + 2.0 * confined * libm::log(size / buckets);
        let expected = libm::exp(logarithm);
        if slots_per_bucket > 1.0 && expected > previous {
            break;
        }
        sum += expected;
        // What follows is less than a billionth of what is allowed, or too much already.
        if (expected < previous && expected < 1e-9 * FAILURES_PER_CAUSE * sum) || sum > 1.0 {
            break;
        }
        previous = expected;
        size += 1.0;
    }
    sum
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
