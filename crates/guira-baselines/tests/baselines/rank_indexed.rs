//! Rank-indexed hashing: exact beside a multiset of classes, with no trace of what was removed.

use guira_baselines::{BuildError, Digest, Filter, Insert, RankIndexedFilter, Remove};

use crate::oracle::digests::{SplitMix64, share_of};
use crate::oracle::occupancy::scatter;
use crate::oracle::population::{assert_rate_within, fill, fill_up, live_beside_a_multiset, live_beside_classes};

fn class_of(digest: Digest, bin_count: u64, fingerprint_bits: u32) -> u128 {
    (u128::from(digest.get()) * u128::from(bin_count * 512)) >> (64 - fingerprint_bits)
}

#[test]
fn it_knows_buckets_and_fingerprints_and_no_more() {
    for bin_count in [1, 2, 3] {
        for fingerprint_bits in [1, 2, 5, 13] {
            let mut filter = RankIndexedFilter::new(bin_count, fingerprint_bits).expect("valid");
            let class_of = |digest| class_of(digest, bin_count, fingerprint_bits);
            live_beside_classes(&mut filter, class_of, 512, 6000, bin_count);
        }
    }
}

#[test]
fn every_length_of_fingerprints_agrees_with_a_multiset() {
    for fingerprint_bits in 1..=32 {
        let mut filter = RankIndexedFilter::new(1, fingerprint_bits).expect("valid");
        live_beside_a_multiset(&mut filter, 512, 1500, fingerprint_bits.into());
        assert_eq!(filter, RankIndexedFilter::new(1, fingerprint_bits).expect("valid"), "a trace is left");
    }
}

#[test]
fn one_chain_can_have_all_slots_of_its_bin() {
    let mut filter = RankIndexedFilter::new(2, 8).expect("valid");
    // Of the same bucket, with fingerprints that come again.
    let digests: Vec<Digest> = (0..512_u64).map(|number| Digest::new(3 << 54 | (number % 256) << 46)).collect();
    for &digest in &digests {
        assert_eq!(filter.insert(digest), Ok(()));
    }
    assert_eq!(filter.insert(digests[0]).map_err(|full| full.len), Err(512));
    for &digest in digests.iter().rev() {
        assert!(filter.contains(digest) && filter.remove(digest));
    }
    assert_eq!(filter, RankIndexedFilter::new(2, 8).expect("valid"));
}

#[test]
fn it_has_the_rate_of_its_formula() {
    for fingerprint_bits in [2, 6, 10] {
        let mut filter = RankIndexedFilter::new(256, fingerprint_bits).expect("valid");
        let keys = share_of(1 << 17, 0.75);
        fill(&mut filter, keys, 1);
        let fingerprints = 2.0_f64.powi(17 + fingerprint_bits.cast_signed());
        let per_fingerprint = keys as f64 / fingerprints;
        let rate = -(-per_fingerprint).exp_m1();
        assert!((filter.expected_false_positive_rate() / rate - 1.0).abs() < 1e-4);
        let scatter = scatter(fingerprints, per_fingerprint);
        assert_rate_within(&filter, 1 << 20, rate - scatter, rate + scatter, "rank-indexed hashing");
    }
}

#[test]
fn it_is_full_when_one_bin_is() {
    let bin_count = 64;
    let mut filter = RankIndexedFilter::new(bin_count, 10).expect("valid");
    let digests = fill_up(&mut filter, 2);
    // The key that was refused was the next one.
    let refused = SplitMix64::new(2).digests(digests.len() + 1)[digests.len()];
    let bin_of = |digest: Digest| class_of(digest, bin_count, 0) / 512;
    let in_its_bin = digests.iter().filter(|&&digest| bin_of(digest) == bin_of(refused)).count();
    assert_eq!(in_its_bin, 512);
    assert_eq!(filter.memory_bits(), bin_count * 512 * 12);
}

#[test]
fn measures_that_make_no_filter_are_refused() {
    assert!(matches!(RankIndexedFilter::new(0, 9), Err(BuildError::OutOfRange { least: 1, .. })));
    assert!(matches!(RankIndexedFilter::new(1, 0), Err(BuildError::OutOfRange { .. })));
    assert!(matches!(RankIndexedFilter::new(1, 33), Err(BuildError::OutOfRange { most: 32, .. })));
}
