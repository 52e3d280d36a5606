//! The quotient filter: exact beside a multiset of fingerprints, and with no trace of what was removed.

use guira_baselines::{BuildError, Digest, Filter, Full, Insert, QuotientFilter, Remove};
use proptest::prelude::*;

use crate::oracle::digests::share_of;
use crate::oracle::occupancy::scatter;
use crate::oracle::population::{assert_rate_within, fill, fill_up, live_beside_a_multiset, live_beside_classes};

#[test]
fn it_knows_the_high_bits_of_digests_and_no_more() {
    for quotient_bits in 1..=7 {
        for remainder_bits in [1, 2, 3, 8] {
            let mut filter = QuotientFilter::new(1 << quotient_bits, remainder_bits).expect("valid");
            let class_of = |digest: Digest| digest.get() >> (64 - quotient_bits - remainder_bits);
            let most = filter.capacity();
            live_beside_classes(&mut filter, class_of, most, 3000, quotient_bits.into());
        }
    }
}

#[test]
fn every_length_of_remainders_agrees_with_a_multiset() {
    for remainder_bits in 1..=54 {
        let mut filter = QuotientFilter::new(64, remainder_bits).expect("valid");
        let most = filter.capacity();
        live_beside_a_multiset(&mut filter, most, 500, remainder_bits.into());
    }
}

proptest! {
    /// Where all fingerprints stand follows from which ones there are. So removal must undo what insertion did.
    #[test]
    fn removal_leaves_no_trace(
        kept in prop::collection::vec(any::<u64>(), 0..14),
        passing in prop::collection::vec(any::<u64>(), 0..14),
        narrowed_to in 1u32..=4,
    ) {
        // Quotients from a few neighbouring slots around the end of the table, so that clusters meet and wrap.
        let digest = |bits: u64| Digest::new((bits >> (5 - narrowed_to)).wrapping_sub(1 << (58 + narrowed_to)));
        let mut clean = QuotientFilter::new(32, 2).expect("valid");
        for &bits in &kept {
            prop_assert_eq!(clean.insert(digest(bits)), Ok(()));
        }
        let mut used = QuotientFilter::new(32, 2).expect("valid");
        // One after the other from each list, then the rest.
        let longest = kept.len().max(passing.len());
        for index in 0..longest {
            for bits in [kept.get(index), passing.get(index)].into_iter().flatten() {
                prop_assert_eq!(used.insert(digest(*bits)), Ok(()));
            }
        }
        for &bits in &passing {
            prop_assert!(used.remove(digest(bits)));
        }
        prop_assert_eq!(used, clean);
    }
}

#[test]
fn it_is_full_at_nine_tenths() {
    let mut filter = QuotientFilter::new(1 << 12, 9).expect("valid");
    let digests = fill_up(&mut filter, 1);
    assert_eq!(digests.len(), (1 << 12) * 9 / 10);
    assert_eq!(filter.insert(Digest::new(0)), Err(Full { len: digests.len(), slots: 1 << 12 }));
    assert!((filter.load_factor() - 0.9).abs() < 1e-3);
    for &digest in &digests {
        assert!(filter.remove(digest));
    }
    assert_eq!(filter, QuotientFilter::new(1 << 12, 9).expect("valid"));
}

#[test]
fn it_has_the_rate_of_its_formula() {
    for (load, remainder_bits) in [(0.5, 3), (0.9, 5), (0.9, 9)] {
        let mut filter = QuotientFilter::new(1 << 16, remainder_bits).expect("valid");
        let keys = share_of(1 << 16, load).min(filter.capacity());
        fill(&mut filter, keys, 2);
        let fingerprints = 2.0_f64.powi(16 + remainder_bits.cast_signed());
        let per_fingerprint = keys as f64 / fingerprints;
        let rate = -(-per_fingerprint).exp_m1();
        assert!((filter.expected_false_positive_rate() / rate - 1.0).abs() < 1e-4);
        let scatter = scatter(fingerprints, per_fingerprint);
        assert_rate_within(&filter, 1 << 20, rate - scatter, rate + scatter, "quotient filter");
    }
}

#[test]
fn at_90_percent_with_12_bits_a_slot_it_has_the_figures_of_table_3() {
    // 13.33 bits per key at 0.18 %.
    let mut filter = QuotientFilter::new(1 << 16, 9).expect("valid");
    let digests = fill_up(&mut filter, 3);
    assert!((filter.memory_bits() as f64 / digests.len() as f64 - 13.33).abs() < 0.005);
    assert!((filter.expected_false_positive_rate() - 0.0018).abs() < 0.00005);
}

#[test]
fn measures_that_make_no_filter_are_refused() {
    assert!(matches!(QuotientFilter::new(100, 9), Err(BuildError::NotPowerOfTwo { given: 100, .. })));
    assert!(matches!(QuotientFilter::new(1, 9), Err(BuildError::OutOfRange { least: 2, .. })));
    assert!(matches!(QuotientFilter::new(1 << 20, 45), Err(BuildError::OutOfRange { most: 44, .. })));
    assert!(matches!(QuotientFilter::new(4, 0), Err(BuildError::OutOfRange { most: 54, .. })));
}
