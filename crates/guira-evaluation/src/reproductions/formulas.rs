//! Formulas of the paper that only its figures need. Symbols: ε the false positive rate, f the bits of a fingerprint, b the
//! slots of a bucket, α the load factor, n the keys. *Compared slots* are all slots that a lookup compares, 2b.

/// The upper bound for C, the bits per key, for a rate ε if fingerprints could have fractions of a bit: equation (7),
/// log2(compared slots / ε) / α.
///
/// With semi-sorted buckets it is a bit per slot less (table 2).
pub(super) fn bits_per_key_bound(rate: f64, compared_slots: u32, load_factor: f64) -> f64 {
    (f64::from(compared_slots) / rate).log2() / load_factor
}

/// The expected number of overfull classes: of keys with the same fingerprint and buckets that are more than fit there.
/// Equation (3), with its constants.
///
/// Of m buckets, c = d · b of whose slots a lookup compares, there are m · (2^f - 1) / d classes of such keys, with
/// λ = cα / (2^f - 1) keys in each on average. A class holds c + 1 or more with probability about λ^(c + 1) / (c + 1)!.
/// That is n · λ^c / (c + 1)! classes, which for c = 2b falls as n / 4^(bf), as the paper has it.
pub(super) fn overfull_classes(keys: f64, fingerprint_bits: u32, compared_slots: u32, load_factor: f64) -> f64 {
    let slots = f64::from(compared_slots);
    let keys_per_class = slots * load_factor / (f64::from(fingerprint_bits).exp2() - 1.0);
    let factorial: f64 = (1..=compared_slots + 1).map(f64::from).product();
    keys * keys_per_class.powf(slots) / factorial
}

/// The shortest fingerprint with which at most `failures` overfull classes are expected: the lower bound on f that
/// follows from equation (3), Ω(log n / b).
pub(super) fn least_fingerprint_bits_to_fill(keys: f64, compared_slots: u32, load_factor: f64, failures: f64) -> u32 {
    let enough = |&bits: &u32| overfull_classes(keys, bits, compared_slots, load_factor) <= failures;
    (1..64).find(enough).unwrap_or(64)
}

#[cfg(test)]
mod tests {
    use guira::analysis::{bloom_bits_per_key, information_limit};

    use super::*;

    fn assert_close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not within {tolerance} of {expected}");
    }

    #[test]
    fn equation_3_agrees_with_counting_the_sets() {
        // binomial(n, 2b + 1) · (2 / (2^f m))^(2b), for b = 1: n (n - 1) (n - 2) / 6 · (2 / (2^f m))^2. The formula
        // has 2^f - 1 for the paper's 2^f, and n^3 for n (n - 1) (n - 2).
        let (keys, buckets, bits): (f64, f64, u32) = (1e6, 2e6, 16);
        let counted = keys * keys * keys / 6.0 * (2.0 / (65_535.0 * buckets)).powi(2);
        assert_close(overfull_classes(keys, bits, 2, keys / buckets) / counted, 1.0, 1e-9);
    }

    #[test]
    fn six_bits_fill_four_billion_slots_as_figure_2_shows() {
        // Section 4: with b = 4 and m = 2^30, six bits suffice; four do not.
        let slots = 2.0_f64.powi(32);
        assert!(least_fingerprint_bits_to_fill(0.95 * slots, 8, 0.95, 1e-3) <= 6 + 1);
        assert!(overfull_classes(0.95 * slots, 6, 8, 0.95) < 0.01);
        assert!(overfull_classes(0.95 * slots, 4, 8, 0.95) > 10.0);
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
