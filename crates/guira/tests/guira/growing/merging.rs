//! Filters of any two sizes in one.

use guira::{CuckooFilter, CuckooMap, KeyHasher, MergeError};

use super::{absent, assert_holds, filled, growing};
use crate::oracle::slots::Slots as _;

#[test]
fn filters_of_different_sizes_are_merged() {
    for (ours, theirs) in [(500, 100), (100, 40_000), (40_000, 100), (30_000, 30_000), (0, 5000), (5000, 0)] {
        let what = format!("{ours} keys and {theirs}");
        let mut merged = filled(0.01, ours);
        let mut other = growing(0.01);
        (0..theirs).for_each(|number| other.insert(&absent(number)).expect("it may grow"));
        let other_before = other.clone();
        merged.merge(&other).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(merged.len() as u64, ours + theirs, "{what}");
        assert_holds(&merged, (0..ours).chain((0..theirs).map(absent)), &what);
        assert!(other == other_before, "{what}");
        for key in (0..ours).chain((0..theirs).map(absent)) {
            assert!(merged.remove(&key), "{what}: {key} is lost");
        }
        assert!(merged.is_empty(), "{what}");
    }
}

/// A filter that does not grow, with the table that the other one begins with, is no way around the largest capacity.
#[test]
fn a_filter_of_fixed_size_is_merged_up_to_the_largest_capacity() {
    let builder = CuckooFilter::builder().capacity(1000).false_positive_rate(0.01);
    let mut ours = builder.clone().max_capacity(1000).build().expect("there is such a filter");
    let parameters = *ours.parameters();
    let mut fixed = CuckooFilter::builder()
        .addressing(parameters.addressing())
        .slots_per_bucket(parameters.slots_per_bucket())
        .fingerprint_bits(parameters.fingerprint_bits())
        .bucket_count(parameters.bucket_count())
        .build()
        .expect("there is such a filter");
    assert_eq!(fixed.parameters().slot_count(), parameters.slot_count());
    let most = ours.max_capacity() as u64;
    let few = (parameters.slot_count() - most) / 2;
    assert!(few > 10, "{few}: the table has room beyond its capacity");
    (0..few).for_each(|key| fixed.insert(&absent(key)).expect("there is room"));

    (0..most - few / 2).for_each(|key| ours.insert(&key).expect("there is room"));
    let before = ours.clone();
    assert!(matches!(ours.merge(&fixed), Err(MergeError::Full { .. })));
    assert!(ours == before);

    (0..few).for_each(|key| assert!(ours.remove(&key), "{key} is lost"));
    assert_eq!(ours.merge(&fixed), Ok(()));
    assert_holds(&ours, (few..most - few / 2).chain((0..few).map(absent)), "merged");
}

/// One that does not grow, with the table that the other one began with, is doubled as often as that was.
#[test]
fn a_filter_of_fixed_size_is_merged_with_one_that_has_grown() {
    let builder = CuckooFilter::builder().capacity(100).max_capacity(10_000).false_positive_rate(0.01);
    let mut ours = builder.build().expect("there is such a filter");
    let parameters = *ours.parameters();
    let alike = |builder: guira::FilterBuilder| {
        builder
            .addressing(parameters.addressing())
            .slots_per_bucket(parameters.slots_per_bucket())
            .fingerprint_bits(parameters.fingerprint_bits())
            .bucket_count(parameters.bucket_count())
    };
    let mut fixed = alike(CuckooFilter::builder()).build().expect("there is such a filter");
    (0..50).for_each(|key| fixed.insert(&absent(key)).expect("there is room"));
    (0..3000_u64).for_each(|key| ours.insert(&key).expect("it grows"));
    let common = ours.intersection_len(&fixed).expect("they began alike");
    assert_eq!(fixed.intersection_len(&ours), Ok(common));
    assert_eq!(ours.merge(&fixed), Ok(()));
    assert_holds(&ours, (0..3000).chain((0..50).map(absent)), "merged");
}

/// The refusal takes no memory: the lesser one would have to be doubled until it takes terabytes.
#[test]
fn filters_that_began_otherwise_are_refused_before_one_is_doubled() {
    let begun = |capacity, largest, rate| {
        let builder = CuckooFilter::builder().capacity(capacity).max_capacity(largest).false_positive_rate(rate);
        builder.build().expect("there is such a filter")
    };
    let (large, mut small) = (begun(1_000_000, 4_000_000_000, 1e-9), begun(4, 40_000, 0.02));
    small.reserve(30_000).expect("it may grow");
    assert!(large.parameters().fingerprint_bits() > small.parameters().fingerprint_bits());
    for result in [large.intersection_len(&small), small.intersection_len(&large)] {
        assert!(matches!(result, Err(MergeError::Differs { .. })), "{result:?}");
    }
}

#[test]
fn a_merge_that_fails_changes_nothing() {
    let build = |seed, capacity, largest| {
        CuckooFilter::builder()
            .capacity(capacity)
            .max_capacity(largest)
            .false_positive_rate(0.01)
            .hasher(KeyHasher::xxh3(seed))
            .build()
            .expect("there is such a filter")
    };
    let fill = |filter: &mut CuckooFilter, keys: std::ops::Range<u64>| {
        keys.for_each(|key| filter.insert(&key).expect("there is room"));
    };
    let mut ours = build(1, 1000, 4000);
    let most = ours.max_capacity() as u64;
    fill(&mut ours, 0..most - 10);
    let before = ours.clone();

    let mut full = build(1, 1000, 4000);
    fill(&mut full, 1_000_000..1_001_000);
    assert!(matches!(ours.merge(&full), Err(MergeError::Full { .. })));
    assert!(ours == before);

    // Also where both are so full that there is no room for either's keys.
    let mut other_seed = build(2, 1000, 4000);
    assert!(matches!(ours.merge(&other_seed), Err(MergeError::Differs { what: "seed", .. })));
    fill(&mut other_seed, 0..most - 10);
    assert!(matches!(ours.merge(&other_seed), Err(MergeError::Differs { what: "seed", .. })));
    let other_size = build(1, 3000, 12_000);
    let error = ours.merge(&other_size).expect_err("the sizes differ");
    assert!(error.to_string().contains("buckets per region at the beginning"), "{error}");
    assert!(ours == before);

    let (mut one, mut two) = (build(1, 1000, 4000), build(1, 1000, 4000));
    (0..5).for_each(|_| one.insert("copied").expect("there is room"));
    (0..5).for_each(|_| two.insert("copied").expect("there is room"));
    assert_eq!(one.merge(&two), Err(MergeError::TooManyCopies { copies: 8 }));
    assert_eq!((one.len(), two.len()), (5, 5));
}

#[test]
fn copies_that_fill_the_buckets_of_a_merged_filter_are_named_as_the_reason() {
    let builder = CuckooFilter::builder().capacity(20).max_capacity(20_000).false_positive_rate(0.01);
    let filled = |keys: std::ops::Range<u64>| {
        let mut filter = builder.build().expect("there is such a filter");
        keys.for_each(|key| (0..8).for_each(|_| drop(filter.insert(&key))));
        filter
    };
    let mut crowded = 0;
    for first in 0..50 {
        let (mut ours, theirs) = (filled(first..first + 6), filled(first + 100..first + 106));
        let before = ours.clone();
        let (len, other_len) = (ours.len(), theirs.len());
        match ours.merge(&theirs) {
            Ok(()) => assert_eq!(ours.len(), len + other_len),
            Err(error) => {
                let slot_count = before.slot_count();
                assert_eq!(error, MergeError::Crowded { len, other_len, slot_count });
                assert!(error.to_string().contains("a larger table would not help"), "{error}");
                assert!(ours == before);
                crowded += 1;
            }
        }
    }
    assert!(crowded > 0, "no filter is crowded");
}

/// In maps as in filters without values.
#[test]
fn copies_that_fill_the_buckets_of_a_merged_map_are_named_as_the_reason() {
    let builder = CuckooMap::<u8>::builder().capacity(20).max_capacity(20_000).false_positive_rate(0.01);
    let filled = |keys: std::ops::Range<u64>| {
        let mut map = builder.build().expect("there is such a map");
        keys.for_each(|key| (0..8).for_each(|value| drop(map.insert(&key, value))));
        map
    };
    let mut crowded = 0;
    for first in 0..50 {
        let (mut ours, theirs) = (filled(first..first + 6), filled(first + 100..first + 106));
        let before = ours.clone();
        let (len, other_len, slot_count) = (ours.len(), theirs.len(), slots_of(&ours));
        match ours.merge(&theirs) {
            Ok(()) => assert_eq!(ours.len(), len + other_len),
            Err(error) => {
                assert_eq!(error, MergeError::Crowded { len, other_len, slot_count });
                assert!(ours == before);
                crowded += 1;
            }
        }
    }
    assert!(crowded > 0, "no map is crowded");
}

fn slots_of(map: &CuckooMap<u8>) -> usize {
    usize::try_from(map.parameters().slot_count()).expect("a small map")
}
