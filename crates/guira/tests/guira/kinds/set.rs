//! Sets, and the other ways to store a key once.

use std::collections::BTreeSet;

use guira::{Addressing, CuckooFilter, CuckooSet, InsertError, Layout, MergeError};

use crate::oracle::arrangement::{Arrangement, Outcome};
use crate::oracle::case::{Announced, Case};
use crate::oracle::classes::Prober;
use crate::oracle::random::SplitMix64;
use crate::oracle::slots::Slots as _;

/// Every layout and addressing, and every fingerprint length with one of them.
fn small_tables() -> impl Iterator<Item = Case> {
    let shapes = [
        (Layout::Packed, Addressing::Regional, 1, 33),
        (Layout::Packed, Addressing::Regional, 4, 7),
        (Layout::Packed, Addressing::PowerOfTwo, 2, 16),
        (Layout::Packed, Addressing::Ternary, 2, 27),
        (Layout::Packed, Addressing::Quaternary, 1, 64),
        (Layout::SemiSorted, Addressing::Regional, 4, 10),
    ];
    shapes.into_iter().flat_map(|(layout, addressing, slots_per_bucket, bucket_count)| {
        (5..=32).map(move |fingerprint_bits| Case {
            layout,
            addressing,
            slots_per_bucket,
            fingerprint_bits,
            bucket_count,
            seed: fingerprint_bits.into(),
        })
    })
}

#[test]
fn small_sets_hold_every_class_once() {
    for case in small_tables() {
        let _announced = Announced(case);
        let mut set = CuckooSet::from(case.build());
        let mut arrangement = Arrangement::empty_like(set.as_filter());
        let mut prober = Prober::for_filters_like(set.as_filter());
        let mut random = SplitMix64::new(case.seed);
        let slots = set.as_filter().slot_count();
        for _ in 0..4 * slots {
            // Half of the keys have come before.
            let key = random.below(2 * slots);
            let digest = set.as_filter().hasher().digest(&(key as u64));
            let class = prober.class_of(digest);
            let before = set.clone();
            let if_full = InsertError::Full { len: set.len(), capacity: set.capacity(), slot_count: slots };
            let result = set.insert(&(key as u64));
            if arrangement.copies_of(class) > 0 {
                assert_eq!(result, Ok(false), "{case}: {key} came again");
                assert_eq!(set.to_bytes(), before.to_bytes(), "{case}: {key} changed the set");
            } else {
                let stored = result.map(|stored| assert!(stored, "{case}: {key} is new"));
                let expected = arrangement.insert(class);
                assert_eq!(Outcome::of(stored, &if_full), expected, "{case}: insert({key})");
                if expected != Outcome::Stored {
                    assert_eq!(set.to_bytes(), before.to_bytes(), "{case}: a failed insertion changed the set");
                }
            }
            let present = arrangement.copies_of(class) > 0;
            assert_eq!(set.contains(&(key as u64)), present, "{case}: contains({key})");
            assert_eq!(set.contains(&digest), present, "{case}: contains_digest({key})");
            assert_eq!(set.len(), arrangement.len(), "{case}: len");
        }
        arrangement.assert_held_by(set.as_filter());
        assert_eq!(set.check_invariants(), Ok(()), "{case}");
        assert_eq!(CuckooSet::from_bytes(&set.to_bytes()).expect("a file of the library"), set, "{case}");
        set.clear();
        arrangement.clear();
        assert_eq!(set, CuckooSet::from(case.build()), "{case}: cleared");
    }
}

#[test]
fn a_filter_that_becomes_a_set_keeps_one_copy_of_each_key_and_loses_none() {
    for case in small_tables() {
        let _announced = Announced(case);
        let mut filter = case.build();
        let mut random = SplitMix64::new(case.seed);
        let slots = filter.slot_count();
        let keys: Vec<u64> =
            (0..2 * slots).map(|_| random.below(slots) as u64).filter(|key| filter.insert(key).is_ok()).collect();
        let mut prober = Prober::for_filters_like(&filter);
        let classes: BTreeSet<_> = keys.iter().map(|key| prober.class_of(filter.hasher().digest(key))).collect();
        let set = CuckooSet::from(filter);
        assert!(keys.iter().all(|key| set.contains(key)), "{case}: a key is lost");
        assert_eq!(set.len(), classes.len(), "{case}: len");
        assert_eq!(set.check_invariants(), Ok(()), "{case}");
    }
}

#[test]
fn many_keys_are_answered_as_one_by_one() {
    let mut set = CuckooSet::with_capacity(200_000, 0.01).expect("parameters in range");
    for key in 0..100_000_u32 {
        set.insert(&key).expect("the capacity is promised");
    }
    let keys: Vec<u32> = (50_000..150_000).collect();
    let expected: Vec<bool> = keys.iter().map(|key| set.contains(key)).collect();
    let mut answers = vec![false; keys.len()];
    set.contains_many_into(&keys, &mut answers);
    assert_eq!(answers, expected);
    let digests: Vec<_> = keys.iter().map(|key| set.as_filter().hasher().digest(key)).collect();
    answers.fill(false);
    set.contains_many_into(&digests, &mut answers);
    assert_eq!(answers, expected);
}

/// The paper's third way with duplicates. Fingerprints are short, so that keys are often taken for others: with the store
/// asked, each has a copy of its own all the same, and removing some loses none of the rest.
#[test]
fn a_store_that_is_asked_makes_removal_safe() {
    let mut filter = CuckooFilter::builder().capacity(5000).fingerprint_bits(8).build().expect("parameters in range");
    let mut store = BTreeSet::new();
    let mut asked = 0;
    let mut random = SplitMix64::new(3);
    let mut operations = 0_u32;
    while operations < 20_000 {
        operations += 1;
        let key = random.below(4000) as u64;
        if random.below(3) == 0 {
            assert_eq!(store.contains(&key), store.remove(&key) && filter.remove(&key), "{key} is lost");
        } else {
            let is_new = filter.insert_unless(&key, || {
                asked += 1;
                store.contains(&key)
            });
            assert_eq!(is_new, Ok(store.insert(key)), "{key}");
        }
    }
    assert!(store.iter().all(|key| filter.contains(key)), "a key is lost");
    assert_eq!(filter.len(), store.len());
    assert!((1..operations).contains(&asked), "asked {asked} times");
    assert_eq!(filter.check_invariants(), Ok(()));
}

#[test]
fn a_store_is_asked_only_where_the_filter_is_not_certain() {
    let mut filter = CuckooFilter::with_capacity(10, 1e-6).expect("parameters in range");
    assert_eq!(filter.insert_unless("ani", || panic!("it is certainly new")), Ok(true));
    assert_eq!(filter.insert_unless("ani", || true), Ok(false));
    assert_eq!(filter.count("ani"), 1);
    // Another key that looks the same, says the store.
    assert_eq!(filter.insert_unless("ani", || false), Ok(true));
    assert_eq!(filter.count("ani"), 2);
    let digest = filter.hasher().digest("guira");
    assert_eq!(filter.insert_unless(&digest, || panic!("it is certainly new")), Ok(true));
}

/// Tables as full as they become, where there is no room for what both sets have.
#[test]
fn merged_sets_hold_what_either_holds_once() {
    let mut refused = 0;
    for case in small_tables() {
        let _announced = Announced(case);
        let empty = CuckooSet::from(case.build());
        let mut random = SplitMix64::new(case.seed);
        let slots = empty.as_filter().slot_count();
        let mut filled = |keys| {
            let mut set = empty.clone();
            (0..keys).for_each(|_| drop(set.insert(&(random.below(2 * slots) as u64))));
            set
        };
        let (full, half) = (filled(4 * slots), filled(slots / 2));
        let mut merged = full.clone();
        assert_eq!(merged.merge(&full), Ok(()), "{case}: a set and itself");
        assert_eq!(merged.to_bytes(), full.to_bytes(), "{case}: nothing is missing");

        let common = full.as_filter().intersection_len(half.as_filter()).expect("made alike");
        match merged.merge(&half) {
            Ok(()) => {
                assert_eq!(merged.len(), full.len() + half.len() - common, "{case}");
                let holds = |part: &CuckooSet| merged.as_filter().intersection_len(part.as_filter()) == Ok(part.len());
                assert!(holds(&full) && holds(&half), "{case}");
            }
            Err(error) => {
                let (len, other_len) = (full.len(), half.len());
                assert_eq!(error, MergeError::Full { len, other_len, slot_count: slots }, "{case}");
                assert!(merged == full, "{case}");
                refused += 1;
            }
        }
        assert_eq!(merged.check_invariants(), Ok(()), "{case}");
    }
    assert!(refused > 0, "all had room");

    // A key with one candidate bucket of one slot.
    let mut set = CuckooSet::builder().bucket_count(3).slots_per_bucket(1).fingerprint_bits(8).build().expect("valid");
    set.insert(&0_u64).expect("it is empty");
    let other = set.clone();
    assert_eq!((set.merge(&other), set.len()), (Ok(()), 1));
}
