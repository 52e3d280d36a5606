//! What every filter must do, whatever it is.

use std::collections::HashMap;
use std::hash::Hash;

use guira_baselines::{Digest, Filter, Insert, Remove};

use super::binomial::assert_share;
use super::digests::SplitMix64;

/// Inserts so many keys that all fit, and checks that each is found.
pub(crate) fn fill(filter: &mut impl Insert, count: usize, seed: u64) -> Vec<Digest> {
    let digests = SplitMix64::new(seed).digests(count);
    for (index, &digest) in digests.iter().enumerate() {
        assert_eq!(filter.insert(digest), Ok(()), "key {index} of {count}");
    }
    assert_holds(filter, &digests);
    digests
}

/// Inserts keys until one is refused, and checks that all before it are found and that the refused one changed nothing.
pub(crate) fn fill_up(filter: &mut impl Insert, seed: u64) -> Vec<Digest> {
    let mut source = SplitMix64::new(seed);
    let mut digests = Vec::new();
    loop {
        let digest = source.digest();
        match filter.insert(digest) {
            Ok(()) => digests.push(digest),
            Err(full) => {
                assert_eq!(full.len, digests.len(), "len of the error");
                assert_holds(filter, &digests);
                return digests;
            }
        }
    }
}

pub(crate) fn assert_holds(filter: &impl Filter, digests: &[Digest]) {
    let lost = digests.iter().position(|&digest| !filter.contains(digest));
    assert_eq!(lost, None, "a key is lost");
    assert_eq!(filter.len(), digests.len(), "len");
    assert_eq!(filter.is_empty(), digests.is_empty(), "is_empty");
}

/// Asks for keys that were never inserted, and compares the share that is found with a range that theory allows.
pub(crate) fn assert_rate_within(filter: &impl Filter, queries: u64, least: f64, most: f64, what: &str) {
    let mut source = SplitMix64::new(0xabcd_ef01);
    let found = (0..queries).filter(|_| filter.contains(source.digest())).count();
    assert_share(found as u64, queries, least, most, what);
}

/// Inserts and removes at random among a few keys, some of them several times, beside a plain multiset; then removes
/// what is left, and checks that nothing is left.
///
/// `most` is the number of keys beyond which insertions may be refused.
pub(crate) fn live_beside_a_multiset(filter: &mut impl Remove, most: usize, steps: usize, seed: u64) {
    let mut source = SplitMix64::new(seed);
    let universe = source.digests(most.max(2) * 2);
    let mut present: Vec<Digest> = Vec::new();
    for step in 0..steps {
        // Waves: the filter is now filled, now emptied.
        let filling = step / most.max(1) % 3 != 2;
        if source.below(4) < if filling { 3 } else { 1 } {
            let digest = universe[source.below(universe.len())];
            let refused = filter.insert(digest);
            if refused.is_ok() {
                present.push(digest);
                assert!(filter.contains(digest), "seed {seed}, step {step}: lost at once");
            } else {
                assert!(present.len() >= most, "seed {seed}, step {step}: {refused:?}");
            }
        } else if !present.is_empty() {
            let digest = present.swap_remove(source.below(present.len()));
            assert!(filter.remove(digest), "seed {seed}, step {step}: not there to be removed");
        }
        assert_eq!(filter.len(), present.len(), "seed {seed}, step {step}: len");
        if step % 16 == 0 {
            assert_holds(filter, &present);
        }
    }
    while let Some(digest) = present.pop() {
        assert!(filter.remove(digest), "seed {seed}: not there to be removed");
        assert_holds(filter, &present);
    }
    let found = universe.iter().filter(|&&digest| filter.contains(digest)).count();
    assert_eq!(found, 0, "seed {seed}: found in the empty filter");
}

/// Inserts, removes and asks at random beside a multiset of classes, where the class of a key is all that a filter knows
/// of it; so the model also says which absent keys are found, and removed. At most so many keys are in it at a time.
pub(crate) fn live_beside_classes<C: Hash + Eq>(
    filter: &mut impl Remove,
    class_of: impl Fn(Digest) -> C,
    most: usize,
    steps: usize,
    seed: u64,
) {
    let mut source = SplitMix64::new(seed);
    let mut copies: HashMap<C, usize> = HashMap::new();
    let mut len = 0;
    for step in 0..steps {
        let digest = source.digest();
        let class = copies.entry(class_of(digest)).or_default();
        let filling = step / most % 3 != 2;
        if source.below(4) < if filling { 3 } else { 1 } {
            if len < most && filter.insert(digest).is_ok() {
                *class += 1;
                len += 1;
            }
        } else {
            assert_eq!(filter.remove(digest), *class > 0, "seed {seed}, step {step}: remove");
            len -= usize::from(*class > 0);
            *class = class.saturating_sub(1);
        }
        assert_eq!(filter.contains(digest), *class > 0, "seed {seed}, step {step}: contains");
        let other = source.digest();
        let is_there = copies.get(&class_of(other)).is_some_and(|&copies| copies > 0);
        assert_eq!(filter.contains(other), is_there, "seed {seed}, step {step}: contains another");
        assert_eq!(filter.len(), len, "seed {seed}, step {step}: len");
    }
}
