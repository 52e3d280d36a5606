//! The filters that are built of all their keys at once: Golomb-compressed sequence and Bloomier filter.

use std::collections::{BTreeSet, HashMap};

use guira_baselines::{BloomierFilter, BuildError, Digest, Filter, GolombSequence, StaticFilter};

use crate::oracle::binomial::assert_share;
use crate::oracle::digests::SplitMix64;
use crate::oracle::population::{assert_holds, assert_rate_within};

fn assert_every_length_and_size_keeps_its_keys<F: StaticFilter>(most_bits: u32) {
    for fingerprint_bits in 1..=most_bits {
        for count in [0, 1, 2, 3, 10, 127, 128, 129, 1000] {
            let digests = SplitMix64::new(fingerprint_bits.into()).digests(count);
            let filter = F::build(&digests, fingerprint_bits).expect("valid");
            assert_holds(&filter, &digests);
        }
    }
}

#[test]
fn every_length_and_size_keeps_its_keys() {
    assert_every_length_and_size_keeps_its_keys::<GolombSequence>(40);
    assert_every_length_and_size_keeps_its_keys::<BloomierFilter>(57);
}

/// What a Golomb-compressed sequence knows of a key.
fn hash(digest: Digest, range: u64) -> u128 {
    (u128::from(digest.get()) * u128::from(range)) >> 64
}

#[test]
fn a_golomb_sequence_holds_the_hashes_of_its_keys_and_no_other() {
    for fingerprint_bits in [1, 4, 9] {
        let mut source = SplitMix64::new(1);
        // Keys that crowd together, and leave blocks empty.
        let mut digests: Vec<Digest> = (0..500).map(|_| Digest::new(source.next() >> 3 | 0xa << 60)).collect();
        digests.extend(source.digests(500));
        digests.extend([0, 1, u64::MAX].map(Digest::new));
        let filter = GolombSequence::build(&digests, fingerprint_bits).expect("valid");
        let range = (digests.len() as u64) << fingerprint_bits;
        let hashes: BTreeSet<u128> = digests.iter().map(|&digest| hash(digest, range)).collect();
        // A digest from the middle of each hash's share of them.
        for number in 0..u128::from(range) {
            let digest =
                Digest::new(u64::try_from(((number << 64) + (1 << 63)) / u128::from(range)).expect("below 2^64"));
            assert_eq!(filter.contains(digest), hashes.contains(&number), "f = {fingerprint_bits}, {number}");
        }
    }
}

#[test]
fn a_golomb_sequence_has_the_rate_and_the_space_of_its_formulas() {
    let keys = 100_000;
    for fingerprint_bits in [4, 8, 12] {
        let digests = SplitMix64::new(2).digests(keys);
        let filter = GolombSequence::build(&digests, fingerprint_bits).expect("valid");
        let range = (keys as u64) << fingerprint_bits;
        let hashes: BTreeSet<u128> = digests.iter().map(|&digest| hash(digest, range)).collect();
        // What is stored is known exactly, so only the queries are left to chance.
        let rate = hashes.len() as f64 / range as f64;
        assert!((filter.expected_false_positive_rate() / rate - 1.0).abs() < 1e-9);
        assert_rate_within(&filter, 1 << 20, rate, rate, "Golomb-compressed sequence");
        // A hash is taken with probability 1 - exp(-2^-f).
        let taken = -(-(2.0_f64.powi(-fingerprint_bits.cast_signed()))).exp_m1();
        assert_share(hashes.len() as u64, range, taken, taken, "hashes that are taken");

        let per_key = filter.memory_bits() as f64 / keys as f64 - f64::from(fingerprint_bits);
        // Between the entropy of the differences, and the code and the index that the documentation promises.
        assert!((1.44..1.47 + 0.4).contains(&per_key), "f + {per_key} bits per key");
    }
}

#[test]
fn a_bloomier_filter_maps_its_keys_to_their_values() {
    for (check_bits, value_bits) in [(1, 0), (8, 1), (10, 20), (1, 56), (57, 0)] {
        for count in [0, 1, 2, 5, 100, 10_000] {
            let mut source = SplitMix64::new(3);
            let entry = |_| (source.digest(), source.next() & ((1 << value_bits) - 1));
            let map: HashMap<Digest, u64> = (0..count).map(entry).collect();
            let mut entries: Vec<(Digest, u64)> = map.iter().map(|(&digest, &value)| (digest, value)).collect();
            // An entry that is given twice is one entry.
            entries.extend(entries.first().copied());
            let filter = BloomierFilter::from_entries(&entries, check_bits, value_bits).expect("valid");
            assert_eq!(filter.len(), count);
            for (&digest, &value) in &map {
                assert_eq!(filter.get(digest), Some(value), "c = {check_bits}, v = {value_bits}");
            }
        }
    }
}

#[test]
fn a_bloomier_filter_has_the_rate_and_the_space_of_its_formulas() {
    for (check_bits, value_bits) in [(1, 0), (4, 3), (8, 0), (12, 12)] {
        let value = u64::from(value_bits > 0);
        let entries: Vec<(Digest, u64)> =
            SplitMix64::new(4).digests(50_000).into_iter().map(|digest| (digest, value)).collect();
        let filter = BloomierFilter::from_entries(&entries, check_bits, value_bits).expect("valid");
        let rate = 2.0_f64.powi(-check_bits.cast_signed());
        assert!((filter.expected_false_positive_rate() / rate - 1.0).abs() < 1e-9);
        assert_rate_within(&filter, 1 << 20, rate, rate, "Bloomier filter");
        let per_key = filter.memory_bits() as f64 / 50_000.0;
        assert!((per_key / f64::from(check_bits + value_bits) - 1.23).abs() < 0.001, "{per_key}");
    }
}

#[test]
fn what_cannot_be_built_is_refused() {
    let [one, other] = [1, 2].map(Digest::new);
    let contradiction = BloomierFilter::from_entries(&[(one, 1), (other, 1), (one, 0)], 8, 1);
    assert!(matches!(contradiction, Err(BuildError::Contradiction { values: [0, 1], .. })));
    assert!(matches!(BloomierFilter::from_entries(&[(one, 2)], 8, 1), Err(BuildError::OutOfRange { most: 1, .. })));
    assert!(matches!(BloomierFilter::build(&[one], 0), Err(BuildError::OutOfRange { least: 1, .. })));
    assert!(matches!(BloomierFilter::from_entries(&[], 50, 8), Err(BuildError::OutOfRange { most: 49, .. })));
    assert!(matches!(GolombSequence::build(&[one], 0), Err(BuildError::OutOfRange { least: 1, most: 40, .. })));
}

#[test]
fn keys_that_are_given_twice_are_found() {
    let mut digests = SplitMix64::new(5).digests(1000);
    digests.extend(digests.clone());
    let golomb = GolombSequence::build(&digests, 8).expect("valid");
    let bloomier = BloomierFilter::build(&digests, 8).expect("valid");
    assert!(digests.iter().all(|&digest| golomb.contains(digest) && bloomier.contains(digest)));
}
