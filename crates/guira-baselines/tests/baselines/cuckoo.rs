//! The paper's cuckoo filter: exact beside a multiset of classes, over the full table and its victim.

use guira_baselines::{BuildError, CuckooFilter, CuckooMeasures, Digest, Filter, Insert, Remove};

use crate::oracle::binomial::SIGMAS;
use crate::oracle::digests::{SplitMix64, share_of};
use crate::oracle::population::{
    assert_holds, assert_rate_within, fill, fill_up, live_beside_a_multiset, live_beside_classes,
};

fn measures(bucket_count: u64, slots_per_bucket: u32, fingerprint_bits: u32) -> CuckooMeasures {
    CuckooMeasures { bucket_count, slots_per_bucket, fingerprint_bits, seed: 7 }
}

/// All widths of both kinds of buckets.
fn filters(bucket_count: u64) -> impl Iterator<Item = CuckooFilter> {
    let plain = [1, 2, 4, 8].into_iter().flat_map(move |slots| {
        (1..=32).map(move |bits| CuckooFilter::new(measures(bucket_count, slots, bits)).expect("valid"))
    });
    let semi_sorted =
        (4..=31).map(move |bits| CuckooFilter::semi_sorted(measures(bucket_count, 4, bits)).expect("valid"));
    plain.chain(semi_sorted)
}

/// The fingerprint and the pair of buckets, by the words of the documentation.
fn class_of(digest: Digest, bucket_count: u64, fingerprint_bits: u32) -> (u64, u64) {
    let fingerprint = (digest.get() % (1 << fingerprint_bits)).max(1);
    let bucket = (digest.get() >> 32) % bucket_count;
    let hash = fingerprint.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let difference = (u128::from(hash) * u128::from(bucket_count)) >> 64;
    let other = bucket ^ u64::try_from(difference).expect("below the number of buckets");
    (fingerprint, bucket.min(other))
}

#[test]
fn it_knows_classes_and_no_more() {
    for bucket_count in [1, 2, 8] {
        for (number, mut filter) in (0..).zip(filters(bucket_count)) {
            let CuckooMeasures { slots_per_bucket, fingerprint_bits, .. } = *filter.measures();
            let slots = usize::try_from(bucket_count).expect("small") * slots_per_bucket as usize;
            let class_of = |digest| class_of(digest, bucket_count, fingerprint_bits);
            // One more than there are slots: the victim.
            live_beside_classes(&mut filter, class_of, slots + 1, 600, number);
        }
    }
}

#[test]
fn every_width_agrees_with_a_multiset() {
    for (number, mut filter) in (0..).zip(filters(16)) {
        // Any insertion may be refused: with short fingerprints and few slots that happens early.
        live_beside_a_multiset(&mut filter, 0, 400, number);
    }
}

#[test]
fn the_victim_is_found_counted_removed_and_placed_again() {
    let mut filters = [CuckooFilter::new(measures(64, 4, 12)), CuckooFilter::semi_sorted(measures(64, 4, 12))];
    for filter in filters.iter_mut().map(|filter| filter.as_mut().expect("valid")) {
        // The last key that was accepted left a victim.
        let mut digests = fill_up(filter, 1);
        assert!(filter.is_full());
        let refused = SplitMix64::new(99).digest();
        assert_eq!(filter.insert(refused).map_err(|full| full.len), Err(digests.len()));

        // With a few keys less there is a slot for the victim, and then for others.
        let mut source = SplitMix64::new(2);
        for _ in 0..20 {
            assert!(filter.remove(digests.swap_remove(source.below(digests.len()))));
            assert_holds(filter, &digests);
        }
        assert!(!filter.is_full());
        assert_eq!(filter.insert(refused), Ok(()));
        digests.push(refused);
        while let Some(digest) = digests.pop() {
            assert!(filter.remove(digest));
            assert_holds(filter, &digests);
        }
        assert!(!filter.remove(refused));
    }
}

#[test]
fn the_victim_itself_can_be_removed() {
    // In one bucket of four, five copies of one key: one of them is the victim.
    let mut filter = CuckooFilter::new(measures(1, 4, 12)).expect("valid");
    let digest = Digest::new(1 << 40 | 77);
    for _ in 0..5 {
        assert_eq!(filter.insert(digest), Ok(()));
    }
    assert!(filter.is_full() && filter.insert(digest).is_err());
    for copies in (0..5).rev() {
        assert!(filter.contains(digest) && filter.remove(digest));
        assert_eq!((filter.len(), filter.is_full()), (copies, false));
    }
    // Five different keys, and the one that is the victim is among those removed.
    let digests: Vec<Digest> = (1..=5).map(Digest::new).collect();
    for &digest in &digests {
        assert_eq!(filter.insert(digest), Ok(()));
    }
    for (removed, &digest) in digests.iter().enumerate() {
        assert!(filter.remove(digest), "{digest:?}");
        assert_holds(&filter, &digests[removed + 1..]);
    }
}

#[test]
fn it_has_the_rate_of_its_formula() {
    for (slots_per_bucket, fingerprint_bits, load) in
        [(1, 10, 0.3), (2, 8, 0.8), (4, 4, 0.6), (4, 8, 0.9), (4, 12, 0.95), (8, 3, 0.4), (8, 9, 0.95)]
    {
        let plain = CuckooFilter::new(measures(1 << 14, slots_per_bucket, fingerprint_bits));
        let semi_sorted = CuckooFilter::semi_sorted(measures(1 << 14, slots_per_bucket, fingerprint_bits));
        // There are semi-sorted buckets of four only.
        for mut filter in [plain.ok(), semi_sorted.ok()].into_iter().flatten() {
            let keys = share_of(slots_per_bucket << 14, load);
            fill(&mut filter, keys, 3);
            let rate = filter.expected_false_positive_rate();
            let values = 2.0_f64.powi(fingerprint_bits.cast_signed());
            let compared = f64::from(2 * slots_per_bucket) * filter.load_factor();
            // With fingerprint 1 twice as likely, two fingerprints are equal with probability (2^f + 2) / 4^f.
            let first_order = compared * (values + 2.0) / (values * values);
            assert!(rate < first_order && rate > first_order - first_order * first_order, "{rate} {first_order}");

            // A share of 2/2^f of the keys, those of fingerprint 1, has half as many classes, which are twice as likely.
            // Whether a class is occupied is, at the most, independent of the others.
            let classes = values * f64::from(1 << 13);
            let variance = |keys_per_class: f64| (-keys_per_class).exp() * -(-keys_per_class).exp_m1();
            let keys_per_class = keys as f64 / classes;
            let variances =
                (1.0 - 2.0 / values) * variance(keys_per_class) + 4.0 / values * variance(2.0 * keys_per_class);
            let scatter = SIGMAS * (variances / classes).sqrt();
            assert_rate_within(&filter, 1 << 20, rate - scatter, rate + scatter, &format!("{:?}", filter.measures()));
        }
    }
}

#[test]
fn its_figures_are_those_of_table_3() {
    // 12 bits per slot: CF with f = 12, ss-CF with f = 13; 12.60 and 12.58 bits per key at 0.19 % and 0.09 %.
    let mut plain = CuckooFilter::new(measures(1 << 14, 4, 12)).expect("valid");
    let mut semi_sorted = CuckooFilter::semi_sorted(measures(1 << 14, 4, 13)).expect("valid");
    for (filter, rate) in [(&mut plain, 0.0019), (&mut semi_sorted, 0.0009)] {
        assert_eq!(filter.memory_bits(), 12 << 16);
        fill(filter, share_of(1 << 16, 0.95), 4);
        let expected = filter.expected_false_positive_rate();
        assert!((expected - rate).abs() < 0.00005, "{expected}");
    }
}

#[test]
fn seeds_make_walks_and_nothing_else_does() {
    let filled = |seed| {
        let mut filter = CuckooFilter::new(CuckooMeasures { seed, ..measures(256, 4, 12) }).expect("valid");
        let keys = fill_up(&mut filter, 5).len();
        (format!("{filter:?}"), keys)
    };
    assert_eq!(filled(1), filled(1));
    let lens: Vec<usize> = (0..8).map(|seed| filled(seed).1).collect();
    assert!(lens.iter().any(|&len| len != lens[0]), "{lens:?}");
}

#[test]
fn measures_that_make_no_filter_are_refused() {
    let error = |measures| CuckooFilter::new(measures).expect_err("there is no such filter");
    assert!(matches!(error(measures(100, 4, 12)), BuildError::NotPowerOfTwo { given: 100, .. }));
    assert!(matches!(error(measures(128, 3, 12)), BuildError::NotPowerOfTwo { given: 3, .. }));
    assert!(matches!(error(measures(128, 16, 12)), BuildError::OutOfRange { most: 8, .. }));
    assert!(matches!(error(measures(128, 4, 33)), BuildError::OutOfRange { most: 32, .. }));
    assert!(matches!(error(measures(1 << 33, 4, 12)), BuildError::OutOfRange { .. }));
    let error = |measures| CuckooFilter::semi_sorted(measures).expect_err("there is no such filter");
    assert!(matches!(error(measures(128, 2, 12)), BuildError::OutOfRange { least: 4, most: 4, .. }));
    assert!(matches!(error(measures(128, 4, 3)), BuildError::OutOfRange { least: 4, most: 31, .. }));
}
