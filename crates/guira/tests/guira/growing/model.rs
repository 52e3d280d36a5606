//! What a filter holds, before, after and in the midst of each half of a doubling, against a list of keys.

use std::collections::BTreeSet;

use guira::raw::{Merging, RawFilter as _, Shrinking, Step};
use guira::{CuckooFilter, GrowthPolicy};

use crate::oracle::random::SplitMix64;

/// A filter, and its keys, all distinct.
struct Checked {
    filter: CuckooFilter,
    keys: Vec<u64>,
    /// The key that comes next.
    next: u64,
    random: SplitMix64,
}

impl Checked {
    /// So many keys that were never stored.
    fn fresh(&mut self, count: usize) -> Vec<u64> {
        let begin = self.next;
        self.next += count as u64;
        (begin..self.next).collect()
    }

    fn insert(&mut self, count: usize) {
        let new = self.fresh(count);
        let (len, capacity) = (self.filter.len(), self.filter.max_capacity());
        let refused = self.filter.try_extend(&new).map_or_else(|error| error.inserted, |()| count);
        assert!(refused == count || len + refused >= capacity, "{:?} takes no more", self.filter);
        self.keys.extend(&new[..refused]);
    }

    fn remove(&mut self, count: usize) {
        for _ in 0..count.min(self.keys.len()) {
            let key = self.keys.swap_remove(self.random.below(self.keys.len()));
            assert!(self.filter.remove(&key), "{key} is lost");
        }
    }

    /// Goes on with what was written to a file.
    fn reload(&mut self) {
        let file = self.filter.to_bytes();
        let loaded = CuckooFilter::from_bytes(&file).expect("it was just written");
        assert!(loaded == self.filter && loaded.to_bytes() == file);
        self.filter = loaded;
    }

    fn reserve(&mut self, additional: usize) {
        let (before, len) = (self.filter.to_bytes(), self.filter.len());
        match self.filter.reserve(additional) {
            Ok(()) => assert!(self.filter.capacity() >= len + additional),
            Err(error) => assert!(self.filter.to_bytes() == before, "{error}, and it has changed"),
        }
    }

    fn shrink(&mut self) {
        let mut shrinking = Shrinking::default();
        let shrunk = loop {
            if let Step::Done(shrunk) = shrinking.step(&self.filter).expect("memory") {
                break shrunk;
            }
        };
        let before = self.filter.clone();
        self.filter.shrink_to_fit();
        assert!(self.filter == shrunk.unwrap_or(before), "steps shrink otherwise");
    }

    /// Merges with a filter that began alike and has a table of another size, either way round.
    fn merge(&mut self, count: usize, additional: usize) {
        let mut other = self.filter.empty_like().expect("memory");
        let keys = self.fresh(count);
        let stored = other.try_extend(&keys).map_or_else(|error| error.inserted, |()| count);
        // Where it may not grow so far, it stays as it is.
        drop(other.reserve(additional));
        let is_other_way_round = self.random.below(2) == 0;
        if is_other_way_round {
            core::mem::swap(&mut self.filter, &mut other);
        }
        assert!(self.filter.intersection_len(&other) == other.intersection_len(&self.filter));
        let mut merging = Merging::of(&self.filter, &[&other]).expect("memory").expect("they began alike");
        let merged = loop {
            if let Step::Done(merged) = merging.step(&self.filter, &[&other]).expect("memory") {
                break merged;
            }
        };
        match self.filter.merge(&other) {
            Ok(()) => {
                assert!(merged.is_some_and(|merged| merged == self.filter), "steps merge otherwise");
                self.keys.extend(&keys[..stored]);
            }
            Err(error) => {
                assert!(self.filter.len() + other.len() > self.filter.max_capacity(), "{error}");
                if is_other_way_round {
                    core::mem::swap(&mut self.filter, &mut other);
                }
                assert!(merged.is_none(), "steps merge what is too much");
            }
        }
    }

    fn assert_holds(&self) {
        assert_eq!((self.filter.len(), self.filter.check_invariants()), (self.keys.len(), Ok(())));
        let answers = self.filter.contains_many(&self.keys);
        let lost = answers.iter().zip(&self.keys).find(|(found, _)| !**found);
        assert_eq!(lost, None, "of {:?}", self.filter);
    }
}

#[test]
fn any_operations_between_and_amid_halves_of_doublings_agree_with_a_model() {
    let (mut sizes, mut amid) = (BTreeSet::new(), 0);
    // Narrow, wide and long fingerprints, whose tables are doubled in steps from some time on.
    for (slots, rate, policy) in [
        (4, 0.01, GrowthPolicy::KeepRate),
        (8, 1e-4, GrowthPolicy::RaiseRate),
        (8, 1e-9, GrowthPolicy::KeepRate),
        (4, 0.03, GrowthPolicy::RaiseRate),
    ] {
        let builder = CuckooFilter::builder().capacity(20_000).max_capacity(200_000).slots_per_bucket(slots);
        let filter = builder.false_positive_rate(rate).growth_policy(policy).build().expect("there is such a filter");
        let random = SplitMix64::new(slots.into());
        let mut checked = Checked { filter, keys: Vec::new(), next: 0, random };
        for _ in 0..60 {
            let count = checked.random.below(12_000);
            match checked.random.below(10) {
                0..=1 => checked.insert(count),
                // A little beyond the number with which the next half begins.
                2..=4 if checked.keys.len() < 150_000 => {
                    let room = checked.filter.capacity().saturating_sub(checked.keys.len());
                    checked.insert(room + 1 + count / 100);
                }
                5 => checked.remove(count),
                6 => checked.reload(),
                7 => checked.reserve(count),
                8 => checked.shrink(),
                _ => {
                    let additional = checked.random.below(30_000);
                    checked.merge(count, additional);
                }
            }
            checked.assert_holds();
            let half_doublings = checked.filter.parameters().half_doublings();
            sizes.insert((slots, half_doublings));
            let [_, of_old_table] = checked.filter.memory();
            amid += u32::from(!of_old_table.is_empty());
        }
        checked.remove(usize::MAX);
        checked.filter.shrink_to_fit();
        assert!(checked.filter == checked.filter.empty_like().expect("memory"), "something is left");
    }
    let half_doubled = sizes.iter().filter(|(_, half_doublings)| half_doublings % 2 == 1).count();
    assert!(half_doubled >= 6 && amid >= 8, "{sizes:?}, {amid} in the midst of a half");
}
