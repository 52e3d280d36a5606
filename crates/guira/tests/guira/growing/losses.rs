//! Keys that get lost, if growth, removal or shrinking go wrong.

use std::collections::HashMap;

use guira::{CuckooFilter, GrowthPolicy, InsertError, KeyHasher};

use super::{RATES, assert_holds, filled};
use crate::oracle::random::SplitMix64;

// Seen in a chain of filters, each with hashes of its own: 2,048, 630 and 83 of the keys kept were lost at these rates.
#[test]
fn of_200_000_keys_any_half_can_be_removed_and_the_other_is_found() {
    const KEYS: u64 = 200_000;
    type Choice = fn(u64) -> bool;
    let is_removed: [(&str, Choice); 4] = [
        ("the oldest half", |key| key < KEYS / 2),
        ("the newest half", |key| key >= KEYS / 2),
        ("every other", |key| key % 2 == 0),
        ("a random half", |key| SplitMix64::new(key).next() & 1 == 1),
    ];
    for rate in RATES {
        let full = filled(rate, KEYS);
        assert!(full.parameters().half_doublings() / 2 >= 7, "it grew");
        assert_holds(&full, 0..KEYS, "all");
        for (name, is_removed) in is_removed {
            let what = format!("{name} removed at rate {rate}");
            let mut filter = full.clone();
            for key in (0..KEYS).filter(|&key| is_removed(key)) {
                assert!(filter.remove(&key), "{what}: {key} is not there to be removed");
            }
            let kept = || (0..KEYS).filter(|&key| !is_removed(key));
            assert_holds(&filter, kept(), &what);
            assert_eq!(filter.len(), kept().count(), "{what}");

            let size = filter.size_in_bytes();
            filter.shrink_to_fit();
            assert!(filter.size_in_bytes() < size, "{what}: half of the keys fit a smaller table");
            assert_holds(&filter, kept(), &format!("{what}, shrunk"));
            for key in kept() {
                assert!(filter.remove(&key), "{what}: {key} is not there to be removed after shrinking");
            }
            assert!(filter.is_empty(), "{what}");
            assert_eq!(filter.fingerprints().count(), 0, "{what}");
        }
    }
}

#[test]
fn failed_inserts_lose_no_key_however_often_they_are_tried() {
    for slots_per_bucket in [4, 8] {
        let builder = CuckooFilter::builder().capacity(100).max_capacity(2000).false_positive_rate(0.01);
        let mut filter = builder.slots_per_bucket(slots_per_bucket).build().expect("there is such a filter");
        let mut present = Vec::new();
        let mut refused = 0;
        for key in 0..10_000_u64 {
            // Every tenth key comes as often as it is taken, in a filter that grows and in one that is full.
            for _ in 0..if key % 10 == 0 { 20 } else { 1 } {
                let before = filter.to_bytes();
                match filter.insert(&key) {
                    Ok(()) => present.push(key),
                    Err(error) => {
                        assert!(filter.to_bytes() == before, "b = {slots_per_bucket}: insert({key}): {error}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > 5000, "{refused} are refused");
        assert_eq!(filter.len(), present.len(), "b = {slots_per_bucket}");
        assert_holds(&filter, present.iter().copied(), &format!("b = {slots_per_bucket}"));
        for key in present {
            assert!(filter.remove(&key), "b = {slots_per_bucket}: {key} is lost");
        }
        assert!(filter.is_empty() && filter.fingerprints().next().is_none(), "b = {slots_per_bucket}");
    }
}

// Seen in the chain of filters, and in a server's compaction.
#[test]
fn shrinking_loses_no_key_of_any_number_of_keys() {
    let full = filled(0.01, 20_000);
    for kept in [0, 1, 500, 999, 1000, 1001, 2000, 3000, 5000, 9000, 15_000, 19_999] {
        // Of the keys that stay, some come again: copies fill buckets, and may keep the filter from shrinking all the way.
        for copies in [1, 2, 5] {
            let what = format!("{kept} of 20,000 keys kept, {copies} of every tenth");
            let mut filter = full.clone();
            for key in kept..20_000 {
                assert!(filter.remove(&key), "{what}: {key} is lost");
            }
            // Where two such keys have the same buckets, there is no room for all copies of both.
            let mut copied: Vec<u64> = (0..kept).step_by(10).flat_map(|key| vec![key; copies - 1]).collect();
            copied.retain(|key| filter.insert(key).is_ok());
            let (len, bits) = (filter.len(), filter.parameters().fingerprint_bits());
            filter.shrink_to_fit();
            assert_eq!(filter.len(), len, "{what}");
            let shrunk = filter.parameters().fingerprint_bits() > bits;
            assert!(shrunk || kept > 8000 || copies > 1, "{what}: it did not shrink");
            assert_holds(&filter, 0..kept, &what);
            for key in (0..kept).chain(copied) {
                assert!(filter.remove(&key), "{what}: {key} is lost");
            }
            assert!(filter.is_empty() && filter.fingerprints().next().is_none(), "{what}");
        }
    }
}

/// Random operations on a filter beside a multiset of keys; `operations` of them.
fn operate_at_random(seed: u64, operations: usize) {
    let mut random = SplitMix64::new(seed);
    let slots_per_bucket = [4, 8][random.below(2)];
    let mut filter = CuckooFilter::builder()
        .capacity(1 + random.below(200))
        .max_capacity(1 << 22)
        .false_positive_rate([0.05, 0.01, 0.001][random.below(3)])
        .slots_per_bucket(slots_per_bucket)
        .growth_policy([GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate][random.below(2)])
        .hasher(KeyHasher::xxh3(seed))
        .build()
        .expect("there is such a filter");
    let what = format!("seed {seed}, b = {slots_per_bucket}");

    // Present keys in an order that lets one be picked, and how many copies of each.
    let mut present: Vec<u64> = Vec::new();
    let mut copies: HashMap<u64, usize> = HashMap::new();
    // Times of growth and of decline take turns.
    let mut insert_share = 70;
    for operation in 0..operations {
        if operation % (1 + operations / 8) == 0 {
            insert_share = [70, 45, 90, 30][random.below(4)];
        }
        match random.below(1000) {
            0 => filter.shrink_to_fit(),
            // Only what is still allowed: what is not has a test of its own.
            1 => {
                let most = (1_usize << 20).saturating_sub(filter.len());
                filter.reserve(random.below(most + 1)).unwrap_or_else(|error| panic!("{what}: {error}"));
            }
            choice if choice < insert_share * 10 => {
                // Now and then a copy.
                let is_copy = !present.is_empty() && random.below(20) == 0;
                let key = if is_copy { present[random.below(present.len())] } else { random.next() };
                match filter.insert(&key) {
                    Ok(()) => {
                        present.push(key);
                        *copies.entry(key).or_insert(0) += 1;
                    }
                    Err(InsertError::TooManyCopies { copies }) => {
                        assert!(is_copy && copies == filter.count(&key), "{what}: {copies} copies of a new key");
                    }
                    Err(error) => panic!("{what}, operation {operation}: {error}"),
                }
            }
            _ if present.is_empty() => {}
            _ => {
                let key = present.swap_remove(random.below(present.len()));
                assert!(filter.remove(&key), "{what}, operation {operation}: {key} is lost");
                *copies.get_mut(&key).expect("it is present") -= 1;
            }
        }
        if !present.is_empty() {
            let key = present[random.below(present.len())];
            assert!(filter.count(&key) >= copies[&key], "{what}, operation {operation}: a copy of {key} is lost");
        }
        assert_eq!(filter.len(), present.len(), "{what}");
    }
    for (key, &copies) in &copies {
        assert!(filter.count(key) >= copies, "{what}: a copy of {key} is lost");
    }
    filter.check_invariants().unwrap_or_else(|broken| panic!("{what}: {broken}"));
    for key in present {
        assert!(filter.remove(&key), "{what}: {key} is lost");
    }
    assert!(filter.is_empty() && filter.fingerprints().count() == 0, "{what}");
}

#[test]
fn random_operations_agree_with_a_multiset() {
    for seed in 0..20 {
        operate_at_random(seed, 100_000 / 20);
    }
    operate_at_random(1000, 100_000);
}

#[test]
#[ignore = "takes minutes; run by hand with --ignored"]
fn ten_million_random_operations_agree_with_a_multiset() {
    operate_at_random(2000, 10_000_000);
}
