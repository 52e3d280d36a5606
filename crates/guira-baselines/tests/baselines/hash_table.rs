//! The cuckoo hash table with whole keys: exact, with nothing lost when it is full or rehashed; and as full as theory says.

use guira_baselines::{
    BuildError, CuckooFilter, CuckooHashTable, CuckooMeasures, Digest, Filter, HashTableMeasures, Insert, Remove,
};

use crate::oracle::binomial::assert_same_mean;
use crate::oracle::digests::SplitMix64;
use crate::oracle::population::{assert_holds, fill_up, live_beside_a_multiset, live_beside_classes};

fn table(bucket_count: u64, slots_per_bucket: u32, hash_count: u32, seed: u64) -> CuckooHashTable {
    CuckooHashTable::new(HashTableMeasures { bucket_count, slots_per_bucket, hash_count, seed }).expect("valid")
}

#[test]
fn it_is_exact() {
    for (bucket_count, slots_per_bucket, hash_count) in [(1, 1, 2), (7, 1, 3), (10, 2, 2), (5, 4, 2), (3, 8, 4)] {
        let mut filter = table(bucket_count, slots_per_bucket, hash_count, 1);
        let most = usize::try_from(filter.slot_count()).expect("small");
        live_beside_classes(&mut filter, |digest| digest, most, 3000, 2);
        assert!(filter.expected_false_positive_rate() < f64::MIN_POSITIVE);
        live_beside_a_multiset(&mut table(bucket_count, slots_per_bucket, hash_count, 1), 0, 2000, 3);
    }
}

#[test]
fn a_refused_key_leaves_all_others_where_they_were() {
    let mut filter = table(64, 2, 2, 1);
    let digests = fill_up(&mut filter, 1);
    let before = filter.clone();
    let mut source = SplitMix64::new(2);
    let mut refused = 0;
    while refused < 20 {
        let digest = source.digest();
        if filter.insert(digest).is_err() {
            refused += 1;
            assert!(!filter.contains(digest));
            assert!(filter.holds_the_same_as(&before), "a slot changed");
        } else {
            assert!(filter.remove(digest));
            // What was relocated for it may stay where it is.
            filter = before.clone();
        }
    }
    assert_holds(&filter, &digests);
}

#[test]
fn a_full_table_is_rehashed_and_keeps_its_keys() {
    for (slots_per_bucket, hash_count) in [(1, 2), (1, 3), (4, 2)] {
        let mut filter = table(3, slots_per_bucket, hash_count, 5);
        let mut digests = SplitMix64::new(6).digests(5000);
        digests.push(Digest::new(0));
        for &digest in &digests {
            assert_eq!(filter.insert_or_rehash(digest), Ok(()));
        }
        assert_holds(&filter, &digests);
        // It doubles only when it is full.
        assert!(filter.load_factor() > 0.2, "{}", filter.load_factor());
    }
}

#[test]
fn the_key_0_is_a_key() {
    let mut filter = table(4, 1, 2, 1);
    let zero = Digest::new(0);
    assert!(!filter.contains(zero) && !filter.remove(zero));
    assert_eq!(filter.insert(zero), Ok(()));
    assert_eq!(filter.insert(zero), Ok(()));
    assert!(filter.remove(zero) && filter.contains(zero) && filter.remove(zero) && !filter.contains(zero));
    assert!(filter.is_empty());
}

/// The load at which an insertion first gives up.
fn loads(slots_per_bucket: u32, hash_count: u32) -> Vec<f64> {
    let load = |seed| {
        let mut filter = table((1 << 15) / u64::from(slots_per_bucket), slots_per_bucket, hash_count, seed);
        fill_up(&mut filter, seed + 1000);
        filter.load_factor()
    };
    (0..10).map(load).collect()
}

#[test]
fn two_hashes_fill_it_nearly_to_their_threshold() {
    // The thresholds of an endless table, and the loads that section 5.1 of the paper reports, in whole percent.
    for (slots_per_bucket, threshold, reported) in [(2, 0.897, 0.84), (4, 0.9768, 0.95), (8, 0.9974, 0.98)] {
        for load in loads(slots_per_bucket, 2) {
            assert!((reported - 0.005..threshold).contains(&load), "b = {slots_per_bucket}: {load}");
        }
    }
}

#[test]
fn each_further_hash_fills_it_beyond_the_threshold_of_fewer() {
    // With one slot per bucket, for two, three and four hashes.
    let thresholds = [0.5, 0.918, 0.977];
    for (hash_count, least_and_most) in (3..).zip(thresholds.windows(2)) {
        for load in loads(1, hash_count) {
            assert!((least_and_most[0]..least_and_most[1]).contains(&load), "d = {hash_count}: {load}");
        }
    }
}

#[test]
fn a_cuckoo_filter_with_long_fingerprints_gets_as_full() {
    // Figure 2: its load is that of two independent hashes.
    for slots_per_bucket in [2, 4, 8] {
        let load = |seed| {
            let bucket_count = (1 << 15) / u64::from(slots_per_bucket);
            let measures = CuckooMeasures { bucket_count, slots_per_bucket, fingerprint_bits: 20, seed };
            let mut filter = CuckooFilter::new(measures).expect("valid");
            fill_up(&mut filter, seed + 2000);
            filter.load_factor()
        };
        let found: Vec<f64> = (0..10).map(load).collect();
        assert_same_mean(&found, &loads(slots_per_bucket, 2), &format!("load, b = {slots_per_bucket}"));
    }
}

#[test]
fn measures_that_make_no_table_are_refused() {
    let error = |bucket_count, slots_per_bucket, hash_count| {
        let measures = HashTableMeasures { bucket_count, slots_per_bucket, hash_count, seed: 0 };
        CuckooHashTable::new(measures).expect_err("there is no such table")
    };
    assert!(matches!(error(0, 4, 2), BuildError::OutOfRange { least: 1, .. }));
    assert!(matches!(error(4, 17, 2), BuildError::OutOfRange { most: 16, .. }));
    assert!(matches!(error(4, 4, 1), BuildError::OutOfRange { least: 2, most: 8, .. }));
}
