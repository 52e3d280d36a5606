//! Maps and filters that count, where they grow, are merged and shrunk, against plain models.

use std::collections::BTreeMap;

use guira::{CountingCuckooFilter, CuckooFilter, CuckooMap, FilterBuilder, GrowthPolicy, InsertError, MergeError};

use crate::oracle::random::SplitMix64;

fn builder(capacity: usize, max_capacity: usize, slots: u32) -> FilterBuilder {
    let builder = CuckooFilter::builder().capacity(capacity).max_capacity(max_capacity).false_positive_rate(0.01);
    builder.slots_per_bucket(slots)
}

/// The values of each key.
type Pairs = BTreeMap<u64, Vec<u16>>;

fn assert_has(map: &CuckooMap<u16>, pairs: &Pairs, what: &str) {
    assert_eq!(map.check_invariants(), Ok(()), "{what}");
    assert_eq!(map.len(), pairs.values().map(Vec::len).sum::<usize>(), "{what}");
    for (key, values) in pairs {
        let mut found: Vec<u16> = map.get_all(key).collect();
        for value in values {
            let at = found.iter().position(|other| other == value);
            found.swap_remove(at.unwrap_or_else(|| panic!("{what}: {value} of {key} was lost")));
        }
    }
}

#[test]
fn maps_that_grow_keep_each_pair_at_every_size() {
    for (seed, (capacity, slots)) in (0..).zip([(3, 4), (20, 8), (300, 4)]) {
        let builder = builder(capacity, 20_000, slots).for_kind::<CuckooMap<u16>>().value_bits(9);
        let mut map = builder.build().expect("valid");
        let at_first = map.size_in_bytes();
        let (mut pairs, mut random, mut next) = (Pairs::new(), SplitMix64::new(seed), 0);
        for round in 0..20 {
            for _ in 0..random.below(1500) {
                let value = u16::try_from(random.below(512)).expect("9 bits");
                map.insert(&next, value).unwrap_or_else(|error| panic!("{capacity}: {next}: {error}"));
                pairs.entry(next).or_default().push(value);
                next += 1;
            }
            let removed = random.below(1800).min(pairs.len());
            for _ in 0..removed {
                let key = *pairs.keys().nth(random.below(pairs.len())).expect("one of them");
                for value in pairs.remove(&key).expect("it has values") {
                    assert!(map.remove_value(&key, value), "{key} was lost");
                }
            }
            assert_has(&map, &pairs, "after removals");
            if round % 3 == 0 {
                map.shrink_to_fit();
                assert_has(&map, &pairs, "after shrinking");
            }
            let loaded = CuckooMap::<u16>::from_bytes(&map.to_bytes()).expect("what was saved");
            assert!(loaded == map && loaded.max_capacity() == map.max_capacity());
            map = loaded;
        }
        map.clear();
        map.shrink_to_fit();
        assert_eq!(map.size_in_bytes(), at_first);
    }
}

#[test]
fn a_map_that_may_not_grow_further_refuses_a_pair_and_stays_as_it_was() {
    for policy in [GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate] {
        let builder = builder(10, 300, 4).growth_policy(policy).for_kind::<CuckooMap<u8>>();
        let mut map = builder.build().expect("valid");
        let mut len = 0;
        let error = loop {
            let before = map.to_bytes();
            match map.insert(&len, 1) {
                Ok(()) => len += 1,
                Err(error) => {
                    assert_eq!(map.to_bytes(), before);
                    break error;
                }
            }
        };
        assert!(matches!(error, InsertError::Full { .. }), "{error:?}");
        match policy {
            GrowthPolicy::KeepRate => {
                assert_eq!(map.len(), map.max_capacity());
                assert!(map.expected_false_positive_rate() <= 0.01);
            }
            _ => assert!(map.len() > map.max_capacity() && map.parameters().fingerprint_bits() == 8),
        }
        assert!((0..len).all(|key| map.contains_key(&key)));
    }
    let mut map = builder(10, 300, 4).for_kind::<CuckooMap<u8>>().build().expect("valid");
    (0..8).for_each(|value| map.insert("ani", value).expect("two buckets of four"));
    assert_eq!(map.insert("ani", 8), Err(InsertError::TooManyCopies { copies: 8 }));
    assert_eq!(map.parameters().half_doublings() / 2, 0, "copies are no reason to grow");
}

#[test]
fn counters_that_grow_count_each_key_at_every_size() {
    let builder = builder(10, 30_000, 4).for_kind::<CountingCuckooFilter>();
    let mut filter = builder.build().expect("valid");
    let (mut counts, mut random) = (BTreeMap::<u64, u64>::new(), SplitMix64::new(1));
    for round in 0..12 {
        for _ in 0..3000 {
            let key = random.below(4000) as u64;
            filter.insert(&key).expect("it grows");
            *counts.entry(key).or_default() += 1;
        }
        for _ in 0..2000 {
            let key = random.below(4000) as u64;
            if let Some(count) = counts.get_mut(&key).filter(|count| **count > 0) {
                *count -= 1;
                assert!(filter.remove(&key), "{key} was lost");
            }
        }
        if round % 4 == 3 {
            filter.shrink_to_fit();
        }
        assert_eq!(filter.check_invariants(), Ok(()));
        assert_eq!(filter.total(), counts.values().sum::<u64>());
        for (key, &count) in &counts {
            assert!(filter.count(key) >= count, "{key}: {} of {count}", filter.count(key));
        }
        filter = CountingCuckooFilter::from_bytes(&filter.to_bytes()).expect("what was saved");
    }
    assert!(filter.parameters().half_doublings() / 2 > 3);
}

/// Filters of different sizes, in both directions.
#[test]
fn merged_maps_have_all_pairs_and_merged_counters_the_sums() {
    for sizes in [[10, 10], [10, 5000], [5000, 10], [5000, 5000]] {
        let builder = builder(10, 20_000, 4).for_kind::<CuckooMap<u16>>();
        let [mut ours, theirs] = sizes.map(|_| builder.build().expect("valid"));
        let mut theirs = theirs;
        let mut pairs = Pairs::new();
        for (map, (size, value)) in [&mut ours, &mut theirs].into_iter().zip(sizes.into_iter().zip([1, 2])) {
            for key in 0..size {
                map.insert(&key, value).expect("it grows");
                pairs.entry(key).or_default().push(value);
            }
        }
        let before = theirs.to_bytes();
        ours.merge(&theirs).expect("made alike");
        assert_eq!(theirs.to_bytes(), before);
        assert_has(&ours, &pairs, "after merging");

        let builder = builder.for_kind::<CountingCuckooFilter>();
        let [mut ours, mut theirs] = sizes.map(|_| builder.build().expect("valid"));
        for (filter, size) in [&mut ours, &mut theirs].into_iter().zip(sizes) {
            for key in 0..size {
                (0..=key % 3).for_each(|_| filter.insert(&key).expect("it grows"));
            }
        }
        ours.merge(&theirs).expect("made alike");
        assert_eq!(ours.check_invariants(), Ok(()));
        for key in 0..sizes[0].max(sizes[1]) {
            let times = sizes.iter().filter(|&&size| key < size).count() as u64;
            assert!(ours.count(&key) >= times * (key % 3 + 1), "{key}");
        }
    }
}

/// However empty the other one is by then.
#[test]
fn what_has_grown_and_was_emptied_is_merged_into_what_has_not_grown() {
    let builder = builder(100, 100_000, 4).for_kind::<CuckooMap<u16>>();
    let mut theirs = builder.build().expect("valid");
    for key in 0..10_000_u64 {
        theirs.insert(&key, 1).expect("it grows");
    }
    for key in 10..10_000_u64 {
        assert!(theirs.remove_value(&key, 1));
    }
    let mut ours = theirs.empty_like().expect("memory");
    assert!(ours.parameters().half_doublings() / 2 < theirs.parameters().half_doublings() / 2);
    ours.merge(&theirs).expect("made alike");
    let pairs: Pairs = (0..10).map(|key| (key, vec![1])).collect();
    assert_has(&ours, &pairs, "after merging");
}

#[test]
fn a_merge_that_fails_changes_nothing() {
    let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01);
    let map = builder.for_kind::<CuckooMap<u16>>();
    let mut full = map.build().expect("valid");
    for key in 0_u64.. {
        if full.insert(&key, 1).is_err() {
            break;
        }
    }
    let mut ours = full.empty_like().expect("memory");
    (1 << 40..(1 << 40) + 90_u64).for_each(|key| ours.insert(&key, 2).expect("room"));
    let before = ours.to_bytes();
    assert!(matches!(ours.merge(&full), Err(MergeError::Full { .. })));
    let other = map.clone().value_bits(3).build().expect("valid");
    assert!(matches!(ours.merge(&other), Err(MergeError::Differs { what: "bits of values", .. })));
    assert_eq!(ours.to_bytes(), before);

    let counting = builder.for_kind::<CountingCuckooFilter>().value_bits(2);
    let [mut ours, mut theirs] = [3, 2].map(|times| {
        let mut filter = counting.build().expect("valid");
        (0..times).for_each(|_| filter.insert("ani").expect("up to 4"));
        filter
    });
    theirs.insert("guira").expect("room");
    let before = ours.to_bytes();
    assert_eq!(ours.merge(&theirs), Err(MergeError::CounterFull { count: 4 }));
    assert_eq!((ours.to_bytes(), ours.total()), (before, 3));
    assert!(theirs.remove("ani"));
    ours.merge(&theirs).expect("4 are as many as can be counted");
    assert_eq!((ours.count("ani"), ours.count("guira"), ours.total()), (4, 1, 5));
}
