//! Tables before and after doublings, and elsewhere in memory.

use std::collections::BTreeMap;

use guira::raw::RawFilter;
use guira::{CuckooFilter, Digest, GrowthPolicy, KeyHasher};

use super::{assert_holds, filled};
use crate::oracle::classes::{Class, Prober};
use crate::oracle::random::SplitMix64;

/// A small filter that can be doubled until fingerprints have 8 bits, and the same after each doubling.
fn every_doubling_of(capacity: usize, slots_per_bucket: u32) -> Vec<CuckooFilter> {
    let mut filter = CuckooFilter::builder()
        .capacity(capacity)
        .max_capacity(100 * capacity)
        .false_positive_rate(0.05)
        .slots_per_bucket(slots_per_bucket)
        .growth_policy(GrowthPolicy::RaiseRate)
        .hasher(KeyHasher::xxh3(capacity as u64))
        .build()
        .expect("there is such a filter");
    let mut all = vec![filter.clone()];
    while filter.parameters().fingerprint_bits() > 8 {
        filter.reserve(filter.capacity() + 1).expect("it may grow so far");
        all.push(filter.clone());
    }
    assert!(all.len() >= 5, "{filter:?}");
    for (half_doublings, filter) in (0..).zip(&all) {
        assert_eq!(filter.parameters().half_doublings(), half_doublings, "{filter:?}");
    }
    all
}

// Seen where exclusive or met a size that is no power of two; here a bucket's number also holds bits of fingerprints.
#[test]
fn the_alternate_leads_back_after_any_number_of_doublings() {
    let mut random = SplitMix64::new(3);
    for (capacity, slots_per_bucket) in [(40, 4), (60, 8)] {
        for filter in every_doubling_of(capacity, slots_per_bucket) {
            let parameters = filter.parameters();
            let mut prober = Prober::for_filters_like(&filter);
            // By docs/format.md, these low halves have the core 100: all other bits are spare ones and given-away ones.
            let (first, last) = ((99_u64 << 32).div_ceil(255), (100_u64 << 32).div_ceil(255) - 1);
            let spare_values = 1 << (parameters.fingerprint_bits() - 8);
            let mut class_of_place: BTreeMap<(u64, u64), Class> = BTreeMap::new();
            for _ in 0..8 * spare_values * parameters.bucket_count() {
                let low = first + random.next() % (last - first + 1);
                let class = prober.class_of(Digest::new(random.next() << 32 | low));
                assert_eq!((class.fingerprint & 255, class.bucket_count()), (100, 2), "{filter:?}");
                for bucket in class.buckets() {
                    let same = *class_of_place.entry((class.fingerprint, bucket)).or_insert(class);
                    assert_eq!(same, class, "{filter:?}: two alternates of bucket {bucket}");
                }
            }
            let places = u64::try_from(class_of_place.len()).expect("a small table");
            // Where odd buckets have been doubled once more, two in three, half of the fingerprints are in each.
            let buckets = parameters.bucket_count();
            let holding_all = if parameters.half_doublings() % 2 == 1 { buckets * 2 / 3 } else { buckets };
            assert_eq!(places, spare_values * holding_all, "{filter:?}: each is a candidate of each");
        }
    }
}

// A fingerprint that gives its bits away must not become 0, which is an empty slot.
#[test]
fn no_doubling_makes_a_fingerprint_0() {
    for slots_per_bucket in [4, 8] {
        for empty in every_doubling_of(100, slots_per_bucket) {
            // All low halves whose bits are 0 but for a few, which leave the least fingerprints.
            let lows = (0..32).map(|bit| 1_u64 << bit).chain([0]);
            for digest in lows.flat_map(|low| [0, 1 << 63, 77 << 32].map(|high| Digest::new(high | low))) {
                let mut filter = empty.clone();
                filter.insert(&digest).expect("it is empty");
                loop {
                    assert_eq!((filter.fingerprints().count(), filter.len()), (1, 1), "{filter:?}: {digest:?}");
                    let stored = filter.fingerprints().next().expect("it is counted");
                    assert_ne!(stored.fingerprint & 255, 0, "{filter:?}: {digest:?}");
                    assert!(filter.contains(&digest), "{filter:?}: {digest:?} is lost");
                    if filter.reserve(filter.capacity()).is_err() {
                        break;
                    }
                }
                assert!(filter.remove(&digest) && filter.is_empty(), "{filter:?}: {digest:?} is lost");
            }
        }
    }
}

#[test]
fn shrinking_changes_nothing_where_not_everything_fits() {
    let mut filter = filled(0.01, 5000);
    let before = filter.clone();
    filter.shrink_to_fit();
    assert_eq!(filter, before);
}

#[test]
fn growing_ahead_and_shrinking_back_gives_the_bits_back() {
    let mut filter = filled(0.01, 800);
    let before = filter.clone();
    filter.reserve(100_000).expect("it may grow so far");
    assert!(filter.capacity() >= 100_800);
    assert_holds(&filter, 0..800, "grown ahead");
    filter.shrink_to_fit();
    // Going back, the capacity is all that can be promised, which may be more than what was asked for.
    assert!(filter.capacity() >= before.capacity());
    assert_eq!(filter.parameters().fingerprint_bits(), before.parameters().fingerprint_bits());
    assert_eq!(filter.parameters().bucket_count(), before.parameters().bucket_count());
    // The same fingerprints in the same pairs of buckets, though perhaps in the other one of a pair.
    let fingerprints = |filter: &CuckooFilter| {
        let mut all: Vec<u64> = filter.fingerprints().map(|stored| stored.fingerprint).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(fingerprints(&filter), fingerprints(&before));
    assert_holds(&filter, 0..800, "shrunk back");
}

#[test]
fn a_table_that_was_moved_is_the_same_table_elsewhere() {
    let mut filter = filled(0.01, 5000);
    let (before, old_place) = (filter.clone(), filter.memory()[0].as_ptr());
    // What came is kept until the end, so that its place is not taken again.
    let mut given = Vec::new();
    filter.move_table(|table| {
        given = table;
        given.clone()
    });
    assert!(given.as_ptr() == old_place && filter.memory()[0].as_ptr() != old_place);
    assert_eq!(filter, before);
    assert_eq!(filter.check_invariants(), Ok(()));
    filter.insert(&5001_u64).expect("it grows");
    assert!((0..5000_u64).all(|key| filter.contains(&key)) && given == before.memory()[0]);
}

#[test]
#[should_panic(expected = "a table has as many bytes elsewhere")]
fn a_table_of_another_size_is_not_taken_back() {
    filled(0.01, 100).move_table(|table| table[1..].to_vec());
}

#[test]
fn an_empty_filter_like_another_is_that_one_emptied_and_shrunk() {
    for (capacity, slots_per_bucket) in [(40, 4), (60, 8)] {
        for filter in every_doubling_of(capacity, slots_per_bucket) {
            let mut emptied = filter.clone();
            emptied.clear();
            emptied.shrink_to_fit();
            let like = filter.empty_like().expect("there is memory");
            assert_eq!(like, emptied);
            assert_eq!((like.growth_policy(), like.max_capacity()), (filter.growth_policy(), filter.max_capacity()));
        }
    }
}

#[test]
fn a_copy_for_which_there_is_memory_is_a_clone() {
    let mut filter = filled(0.01, 100);
    // Large enough to be doubled in steps, and in the midst of that.
    for key in 1000_u64..400_000 {
        filter.insert(&key).expect("it grows");
        if filter.memory().iter().all(|piece| !piece.is_empty()) {
            break;
        }
    }
    let copy = filter.try_clone().expect("there is memory");
    assert_eq!(copy, filter);
    assert_eq!(copy.memory(), filter.memory());
}

/// Tables of several MiB are in large pages, which what is left of the old one may be too small for.
#[test]
fn a_large_filter_can_be_copied_at_any_moment_of_a_doubling() {
    let builder = CuckooFilter::builder().capacity(2_000_000).max_capacity(8_000_000).false_positive_rate(0.001);
    let mut filter = builder.build().expect("some megabytes");
    let at_first = filter.size_in_bytes();
    assert!(at_first > 3 << 20);
    let (mut keys, mut copies) = (0..100_000_000_u64, 0);
    let mut insert = |filter: &mut CuckooFilter| filter.insert(&keys.next().expect("enough")).expect("it grows");
    while filter.size_in_bytes() == at_first {
        insert(&mut filter);
    }
    // The old table is given back while it is split: as long as that goes on, there is more than the doubled table.
    let doubled = usize::try_from(filter.parameters().table_size()).expect("some megabytes");
    while filter.size_in_bytes() > doubled {
        assert!(filter.clone() == filter, "after {} keys", filter.len());
        (0..500).for_each(|_| insert(&mut filter));
        copies += 1;
    }
    assert!(copies > 5, "{copies} copies");
}
