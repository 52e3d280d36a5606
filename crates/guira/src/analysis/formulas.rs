//! The paper's formulas.

use crate::cast::to_f64;
use crate::parameters::{Regions, Shape};

/// The ε to expect of a table that holds some random keys.
///
/// An absent key is found if and only if a stored one has the same fingerprint and a candidate in common, and so all of
/// them. Of the F fingerprints it has a given one with probability 1/F, and one of d candidates among the B buckets as
/// its primary one with d/B. So n keys make it 1 - (1 - d / (F B))^n: equation (5)
/// with the classes of equation (3) counted, instead of slots. Fewer than d candidates, where some are the same bucket, make
/// it less. And it has the digest of a given stored key with probability 2^-64, which counts where fingerprints are long.
pub(crate) fn rate_of_table(fingerprint_bits: u32, regions: Regions, shape: Shape, keys: u64) -> f64 {
    let candidates = u64::from(shape.addressing().candidates()).min(regions.buckets);
    // The bit that tells apart the buckets that have become two is still one of the fingerprint's.
    let regions = if shape.is_half_doubled() { regions.before_half_doubling() } else { regions };
    let classes = to_f64(shape.fingerprint_values(fingerprint_bits)) * to_f64(regions.bucket_count());
    at_least_one(to_f64(candidates) / classes + DIGESTS_COINCIDE, to_f64(keys))
}

/// The probability that two keys have the same digest: 2^-64.
const DIGESTS_COINCIDE: f64 = 1.0 / (to_f64(1 << 32) * to_f64(1 << 32));

/// Returns what a space-optimised Bloom filter takes per key: log2(1/ε) / ln 2, or 1.44 log2(1/ε) bits.
///
/// ```
/// assert!((guira::analysis::bloom_bits_per_key(0.01) - 9.585).abs() < 0.001);
/// ```
#[must_use]
pub fn bloom_bits_per_key(rate: f64) -> f64 {
    information_limit(rate) / core::f64::consts::LN_2
}

/// Returns what any structure that answers with ε must take per key: log2(1/ε) bits.
///
/// ```
/// assert_eq!(guira::analysis::information_limit(0.25), 2.0);
/// ```
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
    use crate::parameters::{Addressing, Layout};

    fn assert_close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not within {tolerance} of {expected}");
    }

    #[test]
    fn table_3_of_the_paper_follows_from_the_formulas() {
        // 127.78 M keys in 2^27 slots of 12 bits: 0.19 %. ss-CF keeps 13 bits in the space of 12: 0.09 %.
        let regions = Regions::single(1 << 25);
        let rate = |layout, bits, keys| {
            let shape = Shape::new(layout, Addressing::PowerOfTwo, 4).expect("there is such a table");
            rate_of_table(bits, regions, shape, keys)
        };
        assert_close(rate(Layout::Packed, 12, 127_780_000), 0.0019, 0.00005);
        assert_close(rate(Layout::SemiSorted, 13, 128_040_000), 0.0009, 0.00005);
        // BF at 13 bits per key: 0.19 %.
        assert_close(bloom_bits_per_key(0.0019), 13.0, 0.05);
    }
}
