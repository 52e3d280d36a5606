//! Filters in another layout, and what two filters have in common, against a multiset of the classes of their keys.

use std::collections::HashMap;

use guira::{Addressing, BuildError, ConvertError, CuckooFilter, GrowthPolicy, Layout, MergeError};

use crate::oracle::case::{Announced, Case};
use crate::oracle::classes::{Class, Prober};
use crate::oracle::random::SplitMix64;
use crate::oracle::shapes::{Shape, all_shapes};
use crate::oracle::slots::Slots as _;

fn cases(bucket_count: u64, fingerprint_bits: &[u32]) -> Vec<Case> {
    let case = |shape: Shape, fingerprint_bits| Case {
        layout: shape.layout,
        addressing: shape.addressing,
        slots_per_bucket: shape.slots_per_bucket,
        fingerprint_bits,
        bucket_count,
        seed: 7,
    };
    let of_shape = |shape: Shape| {
        let possible = fingerprint_bits.iter().filter(move |&&bits| bits >= shape.least_fingerprint_bits());
        possible.map(move |&bits| case(shape, bits))
    };
    all_shapes().into_iter().flat_map(of_shape).collect()
}

/// Inserts this many keys, some of them several times; those that were accepted.
fn fill(filter: &mut CuckooFilter, random: &mut SplitMix64, keys: usize) -> Vec<u64> {
    let range = keys * 2 / 3 + 1;
    let drawn = std::iter::repeat_with(|| random.below(range) as u64).take(keys);
    drawn.filter(|key| filter.insert(key).is_ok()).collect()
}

/// Whether the candidates of all keys follow from what is stored, as docs/algorithm.md says.
fn is_possible(from: &Case, fingerprint_bits: u32) -> bool {
    fingerprint_bits == from.fingerprint_bits
        || from.addressing == Addressing::Doubling && fingerprint_bits < from.fingerprint_bits
}

#[test]
fn converted_filters_hold_the_same_keys_and_no_others_where_that_is_possible() {
    let mut random = SplitMix64::new(1);
    let (mut converted_count, mut full_count) = (0, 0);
    for case in cases(64, &[5, 9, 13, 17]) {
        let _announced = Announced(case);
        let mut filter = case.build();
        let slots = filter.slot_count();
        let keys = fill(&mut filter, &mut random, slots * 2 / 3);
        let before = filter.clone();
        for shape in all_shapes().into_iter().filter(|shape| shape.addressing == case.addressing) {
            for bits in [5, 8, 9, 13, 17, 20].into_iter().filter(|&bits| bits >= shape.least_fingerprint_bits()) {
                let what = format!("{case} to {shape:?}, {bits} bits");
                let result = filter.converted(shape.layout, shape.slots_per_bucket, bits);
                assert!(filter == before, "{what}");
                if !is_possible(&case, bits) {
                    assert!(
                        matches!(
                            result,
                            Err(ConvertError::LongerFingerprints { .. } | ConvertError::ShorterFingerprints { .. })
                        ),
                        "{what}: {result:?}"
                    );
                    continue;
                }
                let converted = match result {
                    Ok(converted) => converted,
                    Err(ConvertError::Full { .. } | ConvertError::TooManyCopies { .. }) => {
                        assert!(
                            shape.slots_per_bucket < case.slots_per_bucket || bits < case.fingerprint_bits,
                            "{what}"
                        );
                        full_count += 1;
                        continue;
                    }
                    Err(error) => panic!("{what}: {error}"),
                };
                converted_count += 1;
                assert_eq!(converted.check_invariants(), Ok(()), "{what}");
                let parameters = converted.parameters();
                assert_eq!((Shape::of(parameters), parameters.fingerprint_bits()), (shape, bits), "{what}");
                assert_eq!(converted.len(), filter.len(), "{what}");
                assert!(keys.iter().all(|key| converted.contains(key)), "{what}");
                // Shorter fingerprints find more, and others the same.
                for key in 0..2000u64 {
                    let (found, expected) = (converted.count(&key), filter.count(&key));
                    assert!(
                        if bits == case.fingerprint_bits { found == expected } else { found >= expected },
                        "{what}"
                    );
                }
                let loaded = CuckooFilter::from_bytes(&converted.to_bytes()).expect("it is as it was saved");
                assert!(loaded == converted, "{what}");
                let mut emptied = converted;
                assert!(keys.iter().all(|key| emptied.remove(key)), "{what}");
                assert!(emptied.is_empty(), "{what}");
            }
        }
    }
    assert!(converted_count > 100 && full_count > 20, "{converted_count} and {full_count}");
}

#[test]
fn converted_and_converted_back_is_the_same_set() {
    let mut filter =
        CuckooFilter::builder().capacity(5000).fingerprint_bits(12).slots_per_bucket(4).build().expect("valid");
    (0..5000u64).for_each(|key| filter.insert(&key).expect("it is promised"));
    let there = filter.converted(Layout::SemiSorted, 4, 12).expect("there is such a table");
    let back = there.converted(Layout::Packed, 4, 12).expect("there is such a table");
    assert_eq!(filter.intersection_len(&back), Ok(5000));
    assert_eq!((back.capacity(), back.size_in_bytes()), (filter.capacity(), filter.size_in_bytes()));
    let large = filter.converted(Layout::Packed, 8, 12).expect("there is such a table");
    assert!(large.capacity() >= 9000, "{}", large.capacity());
}

#[test]
fn growing_filters_with_shorter_fingerprints_grow_on() {
    let mut filter = CuckooFilter::builder()
        .capacity(1000)
        .max_capacity(30_000)
        .false_positive_rate(1e-6)
        .build()
        .expect("there is such a filter");
    (0..1500u64).for_each(|key| filter.insert(&key).expect("it grows"));
    let bits = filter.parameters().fingerprint_bits();
    let mut shorter = filter.converted(Layout::Packed, 4, bits - 5).expect("bits are left");
    assert_eq!(shorter.check_invariants(), Ok(()));
    assert_eq!(shorter.max_capacity(), filter.max_capacity());
    let ratio = shorter.expected_false_positive_rate() / filter.expected_false_positive_rate();
    assert!((30.0..34.0).contains(&ratio), "five bits are 32 times the rate, and not {ratio}");
    (1500..30_000u64).for_each(|key| shorter.insert(&key).expect("it grows"));
    for key in 0..30_000u64 {
        assert!(shorter.remove(&key), "{key} is lost");
    }
    assert!(shorter.is_empty());

    let refused =
        filter.converted(Layout::Packed, 4, 9).expect_err("more doublings are promised than a bit is enough for");
    assert!(matches!(refused, ConvertError::Build(_)), "{refused}");
    assert!(filter.converted(Layout::Packed, 4, bits + 1).is_err());
    for slots in [1, 2, 3] {
        let error = BuildError::GrowingSlotsPerBucket { given: slots };
        assert_eq!(filter.converted(Layout::Packed, slots, bits), Err(ConvertError::Build(error)));
    }
    let wide = filter.converted(Layout::Packed, 8, bits).expect("there is such a table");
    assert!((0..1500u64).all(|key| wide.contains(&key)));
}

#[test]
fn converted_filters_that_grow_take_as_many_keys_as_they_say() {
    let mut lowered = 0;
    for (capacity, slots_per_bucket) in (1..120).zip([4, 8].into_iter().cycle()) {
        for max_capacity in [capacity, capacity + 1, 3 * capacity, 50 * capacity] {
            for policy in [GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate] {
                let builder = CuckooFilter::builder().capacity(capacity).max_capacity(max_capacity);
                let builder = builder.slots_per_bucket(slots_per_bucket).growth_policy(policy);
                let mut filter = builder.false_positive_rate(1e-5).build().expect("there is such a filter");
                let stored = max_capacity as u64 / 8;
                (0..stored).for_each(|key| filter.insert(&key).expect("it grows"));
                for slots in [4, 8] {
                    let what = format!("{capacity} to {max_capacity} keys, {slots_per_bucket} to {slots} slots");
                    let bits = filter.parameters().fingerprint_bits();
                    let Ok(mut converted) = filter.converted(Layout::Packed, slots, bits) else { continue };
                    let most = converted.max_capacity();
                    assert!(most <= filter.max_capacity(), "{what}");
                    assert!(policy == GrowthPolicy::RaiseRate || converted.capacity() <= most, "{what}");
                    assert!(slots != slots_per_bucket || most == filter.max_capacity(), "{what}");
                    for key in stored..most as u64 {
                        assert_eq!(converted.insert(&key), Ok(()), "{what}: key {key} of {most}");
                        assert!(policy == GrowthPolicy::RaiseRate || converted.capacity() <= most, "{what}");
                    }
                    assert!(CuckooFilter::from_bytes(&converted.to_bytes()).expect("as it was saved") == converted);
                    lowered += usize::from(most < filter.max_capacity());
                }
            }
        }
    }
    assert!(lowered > 0, "no promise was lowered");

    let builder = CuckooFilter::builder().capacity(21).max_capacity(22).slots_per_bucket(8).false_positive_rate(1e-5);
    let filter = builder.build().expect("there is such a filter");
    let bits = filter.parameters().fingerprint_bits();
    let converted = filter.converted(Layout::Packed, 4, bits).expect("there is such a table");
    assert_eq!(converted.max_capacity(), converted.capacity());
}

/// What two lists of keys have in common, by the classes of their keys.
fn common(prober: &mut Prober, filter: &CuckooFilter, ours: &[u64], theirs: &[u64]) -> usize {
    let mut count_of = |keys: &[u64]| {
        let mut counts = HashMap::<Class, usize>::new();
        for key in keys {
            *counts.entry(prober.class_of(filter.hasher().digest(key))).or_default() += 1;
        }
        counts
    };
    let (ours, theirs) = (count_of(ours), count_of(theirs));
    let slots_per_bucket = filter.parameters().slots_per_bucket() as usize;
    assert!(
        ours.iter().all(|(class, &count)| count <= class.bucket_count() * slots_per_bucket),
        "more copies than slots"
    );
    ours.iter().map(|(class, &count)| count.min(theirs.get(class).copied().unwrap_or(0))).sum()
}

#[test]
fn filters_have_in_common_what_the_multisets_of_their_classes_have() {
    let mut random = SplitMix64::new(2);
    for case in cases(16, &[5, 8, 13]) {
        let _announced = Announced(case);
        for (share, other_share) in [(3, 3), (1, 4), (0, 3), (4, 0)] {
            let (mut ours, mut theirs) = (case.build(), case.build());
            let slots = ours.slot_count();
            let (keys, other_keys) = (
                fill(&mut ours, &mut random, slots * share / 5),
                fill(&mut theirs, &mut random, slots * other_share / 5),
            );
            let expected = common(&mut Prober::for_filters_like(&ours), &ours, &keys, &other_keys);
            assert_eq!(ours.intersection_len(&theirs), Ok(expected), "{case}");
            assert_eq!(theirs.intersection_len(&ours), Ok(expected), "{case}");
            assert_eq!(ours.intersection_len(&ours), Ok(ours.len()), "{case}");
        }
        let other = Case { seed: 8, ..case }.build();
        assert!(
            matches!(case.build().intersection_len(&other), Err(MergeError::Differs { what: "seed", .. })),
            "{case}"
        );
        let other = Case { bucket_count: 4096, ..case }.build();
        assert!(
            matches!(case.build().intersection_len(&other), Err(MergeError::Differs { what: "size", .. })),
            "{case}"
        );
    }
}

#[test]
fn filters_that_were_doubled_a_different_number_of_times_are_compared() {
    let filled = |keys: std::ops::Range<u64>| {
        let mut filter = CuckooFilter::builder()
            .capacity(100)
            .max_capacity(10_000)
            .false_positive_rate(1e-6)
            .build()
            .expect("there is such a filter");
        keys.for_each(|key| filter.insert(&key).expect("it grows"));
        filter
    };
    let (small, large) = (filled(0..90), filled(50..5000));
    assert!(small.parameters().half_doublings() / 2 + 3 < large.parameters().half_doublings() / 2);
    // The rate is so low that none of the others is taken for one of these, of which there are 40.
    assert_eq!(small.intersection_len(&large), Ok(40));
    assert_eq!(large.intersection_len(&small), Ok(40));
}
