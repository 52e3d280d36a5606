//! Counting filters against a count for each class of keys that look the same.

use std::collections::HashMap;

use guira::{CountingCuckooFilter, CuckooFilter, InsertError, MergeError};

use super::shape::{Announced, ValuedCase, small_tables};
use crate::oracle::arrangement::{Arrangement, Outcome};
use crate::oracle::classes::{Class, Prober};
use crate::oracle::random::SplitMix64;
use crate::oracle::slots::Slots as _;

/// A filter, and the model that it must agree with after every step.
struct Checked {
    case: ValuedCase,
    filter: CountingCuckooFilter,
    /// Of one copy of each class that is counted.
    arrangement: Arrangement,
    counts: HashMap<Class, u64>,
    /// The keys that were accepted and not removed, one entry per copy.
    present: Vec<u64>,
    prober: Prober,
}

impl Checked {
    fn new(case: ValuedCase) -> Self {
        let lookalike = case.without_values().build();
        Self {
            case,
            filter: case.counting(),
            arrangement: Arrangement::empty_like(&lookalike),
            counts: HashMap::new(),
            present: Vec::new(),
            prober: Prober::for_filters_like(&lookalike),
        }
    }

    fn class_of(&mut self, key: u64) -> Class {
        self.prober.class_of(self.filter.hasher().digest(&key))
    }

    fn insert(&mut self, key: u64) -> bool {
        let class = self.class_of(key);
        let before = self.filter.clone();
        let if_full =
            InsertError::Full { len: before.len(), capacity: before.capacity(), slot_count: before.slot_count() };
        let most = 1_u64 << self.case.value_bits;
        let result = self.filter.insert(&key);
        let count = self.counts.entry(class).or_insert(0);
        let stored = if *count == most {
            assert_eq!(result, Err(InsertError::CounterFull { count: most }), "{}: insert({key})", self.case);
            false
        } else if *count > 0 {
            assert_eq!(result, Ok(()), "{}: insert({key}) of {class:?}", self.case);
            true
        } else {
            let expected = self.arrangement.insert(class);
            assert_eq!(Outcome::of(result, &if_full), expected, "{}: insert({key}) of {class:?}", self.case);
            expected == Outcome::Stored
        };
        if stored {
            *count += 1;
            self.present.push(key);
        } else {
            assert_eq!(self.filter, before, "{}: a failed insertion changed the filter", self.case);
            assert_eq!(self.filter.to_bytes(), before.to_bytes(), "{}: a failed insertion changed bytes", self.case);
            assert_eq!(self.filter.total(), before.total(), "{}: a failed insertion changed len", self.case);
        }
        self.look_up(key);
        stored
    }

    fn remove(&mut self, place: usize) {
        let key = self.present.swap_remove(place);
        let class = self.class_of(key);
        let count = self.counts.get_mut(&class).expect("the model counts it");
        *count -= 1;
        if *count == 0 {
            assert!(self.arrangement.remove(class), "the model holds {key}");
        }
        assert!(self.filter.remove(&key), "{}: remove({key}) of {class:?}", self.case);
        self.look_up(key);
    }

    fn remove_absent(&mut self, key: u64) {
        let class = self.class_of(key);
        if self.counts.get(&class).is_none_or(|&count| count == 0) {
            let before = self.filter.clone();
            assert!(!self.filter.remove(&key), "{}: remove({key}), which is not there", self.case);
            assert_eq!(self.filter.to_bytes(), before.to_bytes(), "{}: remove({key}) changed bytes", self.case);
        }
    }

    fn look_up(&mut self, key: u64) {
        let class = self.class_of(key);
        let count = self.counts.get(&class).copied().unwrap_or(0);
        let digest = self.filter.hasher().digest(&key);
        assert_eq!(self.filter.count(&key), count, "{}: count({key}) of {class:?}", self.case);
        assert_eq!(self.filter.count(&digest), count, "{}: count_digest({key})", self.case);
        assert_eq!(self.filter.contains(&key), count > 0, "{}: contains({key})", self.case);
        assert_eq!(self.filter.contains(&digest), count > 0, "{}: contains_digest({key})", self.case);
        assert_eq!(self.filter.total(), self.present.len() as u64, "{}: len", self.case);
        assert_eq!(self.filter.len(), self.arrangement.len(), "{}: len", self.case);
        assert_eq!(self.filter.is_empty(), self.present.is_empty(), "{}: is_empty", self.case);
    }

    fn assert_agreement(&mut self) {
        for key in self.present.clone() {
            self.look_up(key);
        }
        assert_eq!(self.filter.check_invariants(), Ok(()), "{}", self.case);
        let loaded = CountingCuckooFilter::from_bytes(&self.filter.to_bytes());
        let loaded = loaded.unwrap_or_else(|error| panic!("{}: {error}", self.case));
        assert_eq!(loaded, self.filter, "{}: loaded", self.case);
        assert_eq!(loaded.total(), self.filter.total(), "{}: loaded", self.case);
    }
}

fn live_a_life(case: ValuedCase) {
    let _announced = Announced(case);
    let mut random = SplitMix64::new(case.seed());
    let mut checked = Checked::new(case);
    let slots = checked.filter.slot_count();
    let mut fresh_keys = 0..;
    let mut fresh_key = move || fresh_keys.next().expect("there are 2^64 keys");

    // To the full table; with short fingerprints keys that look the same keep being counted, and need no room.
    for _ in 0..2 * slots + 20 {
        checked.insert(fresh_key());
    }
    checked.assert_agreement();
    for _ in 0..4 * slots {
        let picked = random.below(checked.present.len().max(1));
        match (random.below(8), checked.present.get(picked).copied()) {
            (0..=2, Some(_)) => checked.remove(picked),
            (3..=5, Some(key)) => drop(checked.insert(key)),
            (6, _) => checked.remove_absent(fresh_key()),
            _ => drop(checked.insert(fresh_key())),
        }
    }
    checked.assert_agreement();

    // To the end of a counter, where it is near.
    if case.value_bits <= 8
        && let Some(&key) = checked.present.first()
    {
        while checked.insert(key) {}
        checked.assert_agreement();
    }

    while !checked.present.is_empty() {
        let place = random.below(checked.present.len());
        checked.remove(place);
    }
    assert_eq!(checked.filter, case.counting(), "{case}: an emptied filter is like a new one");
    for _ in 0..slots {
        checked.insert(fresh_key());
    }
    checked.filter.clear();
    checked.arrangement.clear();
    assert_eq!(checked.filter, case.counting(), "{case}: a cleared filter is like a new one");
    assert!(checked.filter.is_empty() && checked.filter.total() == 0, "{case}: cleared");
}

#[test]
fn small_counting_filters_agree_with_counts() {
    small_tables().for_each(live_a_life);
}

#[test]
fn a_counter_goes_to_its_end_and_back_and_takes_one_slot() {
    for counter_bits in 1..=16 {
        let builder = CuckooFilter::builder().capacity(10).fingerprint_bits(12).value_bits(counter_bits);
        let mut filter = builder.for_kind::<CountingCuckooFilter>().build().expect("parameters in range");
        let most = 1_u64 << counter_bits;
        assert_eq!(filter.max_count(), most);
        for count in 1..=most {
            filter.insert("ani").expect("the counter is not full");
            assert_eq!((filter.count("ani"), filter.len()), (count, 1));
        }
        let error = filter.insert("ani").expect_err("the counter is full");
        assert_eq!(error, InsertError::CounterFull { count: most });
        assert!(error.to_string().contains(&format!("{most} times")), "{error}");
        assert_eq!(filter.insert("guira"), Ok(()), "other keys still fit");
        for _ in 0..most {
            assert!(filter.remove("ani"));
        }
        assert!(!filter.remove("ani"));
        assert_eq!((filter.count("ani"), filter.total(), filter.len()), (0, 1, 1));
    }
}

#[test]
fn the_longest_counters_go_to_their_end_by_merging() {
    let builder = CuckooFilter::builder().capacity(10).fingerprint_bits(12).value_bits(32);
    let mut filter = builder.for_kind::<CountingCuckooFilter>().build().expect("parameters in range");
    filter.insert("ani").expect("it is empty");
    for _ in 0..32 {
        let other = filter.clone();
        filter.merge(&other).expect("up to 2^32");
    }
    assert_eq!((filter.count("ani"), filter.total()), (1 << 32, 1 << 32));
    let other = filter.clone();
    assert_eq!(filter.merge(&other), Err(MergeError::CounterFull { count: 1 << 32 }));
    assert_eq!((filter.count("ani"), filter.check_invariants()), (1 << 32, Ok(())));
}

/// The copies that lock other filters up, or make them grow without end, are what this one is for.
#[test]
fn two_hundred_copies_of_each_key_fit_the_promised_capacity() {
    let mut filter = CountingCuckooFilter::with_capacity(1000, 0.001).expect("parameters in range");
    for _ in 0..200 {
        for key in 0..1000_u32 {
            filter.insert(&key).expect("the capacity is promised");
        }
    }
    assert_eq!(filter.total(), 200_000);
    assert!((0..1000_u32).all(|key| filter.count(&key) >= 200));
    assert_eq!(filter.check_invariants(), Ok(()));
    for _ in 0..200 {
        assert!((0..1000_u32).all(|key| filter.remove(&key)));
    }
    assert!(filter.is_empty());
}
