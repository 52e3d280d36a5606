//! The paper's formulas.

use crate::cast::{saturating_ceil, to_f64};
use crate::parameters::{Regions, Shape};

/// The most that ε can be with f-bit fingerprints: equation (5), 1 - (1 - 2^-f)^(compared slots), all slots full.
///
/// ```
/// // Table 3 of the paper: f = 12, b = 4. The measured rate is below it since 5 % of the slots are empty.
/// let bound = guira::analysis::false_positive_bound(12, 8);
/// assert!((bound - 0.00195).abs() < 0.00001);
/// ```
#[must_use]
pub fn false_positive_bound(fingerprint_bits: u32, compared_slots: u32) -> f64 {
    at_least_one(libm::exp2(-f64::from(fingerprint_bits)), f64::from(compared_slots))
}

/// The ε to expect at a load factor: 1 - (1 - 1 / (2^f - 1))^(compared slots · α).
///
/// This is equation (5) for the slots that are full, with the 2^f - 1 values that a fingerprint takes here (0 is the
/// empty slot).
#[must_use]
pub fn expected_false_positive_rate(fingerprint_bits: u32, compared_slots: u32, load_factor: f64) -> f64 {
    let values = libm::exp2(f64::from(fingerprint_bits)) - 1.0;
    at_least_one(1.0 / values, f64::from(compared_slots) * load_factor)
}

/// The ε to expect of a table that holds some random keys.
///
/// An absent key is found if and only if a stored one has the same fingerprint and a candidate in common, and so all of
/// them. Of the F fingerprints it has a given one with probability 1/F, and one of d candidates among the B buckets (or
/// places where a window may start) as its primary one with d/B. So n keys make it 1 - (1 - d / (F B))^n: equation (5)
/// with the classes of equation (3) counted, instead of slots. Fewer than d candidates, where some are the same bucket, make
/// it less.
pub(crate) fn rate_of_table(fingerprint_bits: u32, regions: Regions, shape: Shape, keys: u64) -> f64 {
    let candidates = u64::from(shape.addressing().candidates()).min(regions.buckets);
    let classes = to_f64(shape.fingerprint_values(fingerprint_bits)) * to_f64(regions.bucket_count());
    at_least_one(to_f64(candidates) / classes, to_f64(keys))
}

/// The shortest fingerprint for ε: equation (6), ⌈log2(compared slots / ε)⌉ bits.
///
/// ```
/// assert_eq!(guira::analysis::least_fingerprint_bits(0.001, 8), 13);
/// ```
#[must_use]
pub fn least_fingerprint_bits(rate: f64, compared_slots: u32) -> u32 {
    let bits = saturating_ceil(libm::log2(f64::from(compared_slots) / rate));
    u32::try_from(bits).unwrap_or(u32::MAX)
}

/// C, the bits that a key costs: equation (4), f / α.
#[must_use]
pub fn bits_per_key(fingerprint_bits: u32, load_factor: f64) -> f64 {
    f64::from(fingerprint_bits) / load_factor
}

/// The most that C needs to be for ε, were fingerprints not whole bits: equation (7), log2(compared slots / ε) / α.
///
/// With semi-sorted buckets it is a bit per slot less (table 2).
#[must_use]
pub fn bits_per_key_bound(rate: f64, compared_slots: u32, load_factor: f64) -> f64 {
    libm::log2(f64::from(compared_slots) / rate) / load_factor
}

/// How many groups of keys to expect that have the same fingerprint and the same buckets and are more than fit them:
/// equation (3), with its constants.
///
/// Of m buckets, c = d · b of whose slots a lookup compares, there are m · (2^f - 1) / d classes of such keys, with
/// λ = cα / (2^f - 1) keys in each on average. A class holds c + 1 or more with probability about λ^(c + 1) / (c + 1)!.
/// That is n · λ^c / (c + 1)! classes, which for c = 2b falls as n / 4^(bf), as the paper has it.
#[must_use]
pub fn overfull_classes(keys: f64, fingerprint_bits: u32, compared_slots: u32, load_factor: f64) -> f64 {
    let slots = f64::from(compared_slots);
    let keys_per_class = slots * load_factor / (libm::exp2(f64::from(fingerprint_bits)) - 1.0);
    keys * libm::exp(slots * libm::log(keys_per_class) - libm::lgamma(slots + 2.0))
}

/// The shortest fingerprint with which at most `failures` overfull classes are expected: the lower bound on f that
/// follows from equation (3), Ω(log n / b).
#[must_use]
pub fn least_fingerprint_bits_to_fill(keys: f64, compared_slots: u32, load_factor: f64, failures: f64) -> u32 {
    let enough = |&bits: &u32| overfull_classes(keys, bits, compared_slots, load_factor) <= failures;
    (1..64).find(enough).unwrap_or(64)
}

/// What a space-optimised Bloom filter takes per key: log2(1/ε) / ln 2, or 1.44 log2(1/ε) bits.
#[must_use]
pub fn bloom_bits_per_key(rate: f64) -> f64 {
    information_limit(rate) / core::f64::consts::LN_2
}

/// What any structure that answers with ε must take per key: log2(1/ε) bits.
#[must_use]
pub fn information_limit(rate: f64) -> f64 {
    -libm::log2(rate)
}

/// The probability that one of `times` trials succeeds, exact also where `probability` is tiny.
fn at_least_one(probability: f64, times: f64) -> f64 {
    -libm::expm1(times * libm::log1p(-probability))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not within {tolerance} of {expected}");
    }

    #[test]
    fn table_3_of_the_paper_follows_from_the_formulas() {
        // 192 MB for 127.78 M keys in 2^27 slots of 12 bits: 12.60 bits per key, 0.19 %.
        let load_factor = 127.78e6 / 134_217_728.0;
        assert_close(bits_per_key(12, load_factor), 12.60, 0.005);
        assert_close(expected_false_positive_rate(12, 8, load_factor), 0.0019, 0.00005);
        // ss-CF keeps 13 bits in the space of 12: 12.58 bits per key, 0.09 %.
        let load_factor = 128.04e6 / 134_217_728.0;
        assert_close(bits_per_key(12, load_factor), 12.58, 0.005);
        assert_close(expected_false_positive_rate(13, 8, load_factor), 0.0009, 0.00005);
        // BF at 13 bits per key: 0.19 %.
        assert_close(bloom_bits_per_key(0.0019), 13.0, 0.05);
    }

    #[test]
    fn the_bound_is_nearly_2b_over_2_to_the_f() {
        assert_close(false_positive_bound(16, 8), 8.0 / 65_536.0, 1e-7);
        assert_close(false_positive_bound(1, 2), 0.75, 1e-12);
    }

    #[test]
    fn least_fingerprints_meet_the_rate_and_one_bit_less_does_not() {
        for slots in [2, 4, 8, 16] {
            for rate in [0.3, 0.03, 0.01, 0.001, 1e-6] {
                let bits = least_fingerprint_bits(rate, slots);
                assert!(f64::from(slots) / libm::exp2(f64::from(bits)) <= rate);
                assert!(f64::from(slots) / libm::exp2(f64::from(bits) - 1.0) > rate);
            }
        }
    }

    #[test]
    fn equation_3_agrees_with_counting_the_sets() {
        // binomial(n, 2b + 1) · (2 / (2^f m))^(2b), for b = 1: n (n - 1) (n - 2) / 6 · (2 / (2^f m))^2. The formula
        // has 2^f - 1 for the paper's 2^f, and n^3 for n (n - 1) (n - 2).
        let (keys, buckets, bits) = (1e6, 2e6, 16);
        let counted = keys * keys * keys / 6.0 * libm::pow(2.0 / (65_535.0 * buckets), 2.0);
        assert_close(overfull_classes(keys, bits, 2, keys / buckets) / counted, 1.0, 1e-9);
    }

    #[test]
    fn six_bits_fill_four_billion_slots_as_figure_2_shows() {
        // Section 4: with b = 4 and m = 2^30, six bits suffice; four do not.
        assert!(least_fingerprint_bits_to_fill(0.95 * 4.0 * libm::exp2(30.0), 8, 0.95, 1e-3) <= 6 + 1);
        assert!(overfull_classes(0.95 * libm::exp2(32.0), 6, 8, 0.95) < 0.01);
        assert!(overfull_classes(0.95 * libm::exp2(32.0), 4, 8, 0.95) > 10.0);
    }

    #[test]
    fn cuckoo_filters_beat_bloom_filters_below_three_percent() {
        // Section 6, with semi-sorting: (log2(1/ε) + 2) / α against 1.44 log2(1/ε). They are equal where
        // log2(1/ε) = 2 / (1.4427 α - 1) = 5.29 with α = 0.955, that is at 2.6 %.
        let semi_sorted = |rate| bits_per_key_bound(rate, 8, 0.955) - 1.0 / 0.955;
        assert!(semi_sorted(0.025) < bloom_bits_per_key(0.025));
        assert!(semi_sorted(0.027) > bloom_bits_per_key(0.027));
        assert_close(bloom_bits_per_key(0.01), 9.585, 0.001);
        assert_close(information_limit(0.25), 2.0, 1e-12);
    }
}
