//! Keys: random 64-bit integers, as in section 7 of the paper, but equal in every run.

use guira::{Digest, KeyHasher};

use crate::cast::scale;

/// Absent keys are numbered from here on, present ones from 0.
const FIRST_ABSENT: u64 = 1 << 48;

/// The keys of a seed; different numbers give different keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    seed: u64,
}

impl Keys {
    pub(crate) const fn of_seed(seed: u64) -> Self {
        Self { seed }
    }

    /// The keys with these numbers, to be inserted.
    pub(crate) fn present(self, numbers: core::ops::Range<u64>) -> Vec<u64> {
        numbers.map(|number| self.key(number)).collect()
    }

    /// Keys that are never inserted.
    pub(crate) fn absent(self, first: u64, count: u64) -> Vec<u64> {
        let first = FIRST_ABSENT + first;
        (first..first + count).map(|number| self.key(number)).collect()
    }

    /// Random keys of the first `stored` ones, some of them more than once.
    pub(crate) fn drawn(self, stored: u64, first: u64, count: u64) -> Vec<u64> {
        (first..first + count).map(|number| self.key(scale(mixed(!self.seed, number), stored))).collect()
    }

    /// `count` keys in random order, of which `present` are among the first `stored` ones.
    pub(crate) fn mixture(self, stored: u64, first: u64, count: u64, present: u64) -> Vec<u64> {
        let mut keys = self.drawn(stored, first, present);
        keys.extend(self.absent(first, count - present));
        // The Fisher-Yates shuffle.
        for last in (1..keys.len()).rev() {
            let chosen = scale(mixed(self.seed ^ first, last as u64), last as u64 + 1);
            keys.swap(last, crate::cast::in_memory(chosen));
        }
        keys
    }

    const fn key(self, number: u64) -> u64 {
        mixed(self.seed, number)
    }
}

/// The library's own hash, for filters that take digests. Its time is part of each operation, as in the paper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hash(KeyHasher);

impl Hash {
    pub(crate) const fn new() -> Self {
        Self(KeyHasher::xxh3(0))
    }

    #[inline]
    pub(crate) fn digest(&self, key: u64) -> Digest {
        self.0.digest(&key)
    }
}

/// `SplitMix64`: for one seed, a permutation of all numbers.
const fn mixed(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn present_and_absent_keys_are_all_different() {
        let keys = Keys::of_seed(7);
        let distinct: BTreeSet<u64> = keys.present(0..1000).into_iter().chain(keys.absent(0, 1000)).collect();
        assert_eq!(distinct.len(), 2000);
    }

    #[test]
    fn a_mixture_has_as_many_present_keys_as_it_says() {
        let keys = Keys::of_seed(7);
        let stored: BTreeSet<u64> = keys.present(0..100).into_iter().collect();
        for present in [0, 1, 250, 1000] {
            let mixture = keys.mixture(100, 5000, 1000, present);
            assert_eq!(mixture.len(), 1000);
            assert_eq!(mixture.iter().filter(|key| stored.contains(key)).count() as u64, present);
        }
    }
}
