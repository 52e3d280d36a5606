//! Keys in blocks, whose buckets are computed and prefetched before any of them is read.

use super::CuckooTable;
use crate::addressing::{Addressing, Candidate, Fingerprint, Located};
use crate::cast::{Halves, Product, Whole};
use crate::digest::Digest;
use crate::probe::vectorized;
use crate::table::{Table, TableMut};

/// How many keys a block has. A core can have 10 to 50 cache lines in flight, and a key needs two to four; vectors hold
/// at most 8 keys. Stacks in models are small.
pub(crate) const BLOCK: usize = if cfg!(loom) { 2 } else { 32 };

/// Keys that are looked up: their fingerprints, with the first two candidate buckets of each.
#[derive(Clone, Copy)]
pub(crate) struct LocatedBlock {
    fingerprints: [Fingerprint; BLOCK],
    pub(crate) first: [u64; BLOCK],
    second: [u64; BLOCK],
    region_starts: [u64; BLOCK],
}

impl LocatedBlock {
    /// A block before it is filled.
    pub(crate) const NOTHING: Self = Self {
        fingerprints: [Fingerprint::LEAST; BLOCK],
        first: [0; BLOCK],
        second: [0; BLOCK],
        region_starts: [0; BLOCK],
    };
}

impl<A: Addressing, T: Table> CuckooTable<A, T> {
    /// Finds the candidate buckets of a block of keys.
    #[inline(always)]
    pub(crate) fn locate_each<P: Product>(&self, digests: &[Digest; BLOCK], located: &mut LocatedBlock) {
        for (number, &digest) in digests.iter().enumerate() {
            let Located { fingerprint, primary, second } = self.addressing.locate_by::<P>(digest);
            located.fingerprints[number] = fingerprint;
            located.first[number] = primary.bucket().get();
            located.second[number] = second.bucket().get();
            located.region_starts[number] = primary.region_start();
        }
    }

    /// Finds the candidate buckets of a block of keys, several at a time where the processor can.
    #[inline(always)]
    pub(crate) fn locate_block(&self, digests: &[Digest; BLOCK], located: &mut LocatedBlock) {
        vectorized(
            #[inline(always)]
            |has_vectors| {
                if has_vectors {
                    self.locate_each::<Halves>(digests, located);
                } else {
                    self.locate_each::<Whole>(digests, located);
                }
            },
        );
    }

    /// Prefetches the candidate buckets of a key of a block.
    #[inline(always)]
    pub(crate) fn prefetch_located(&self, located: &LocatedBlock, number: usize) {
        self.prefetch_candidates(located.get(number));
    }

    #[inline(always)]
    fn prefetch_candidates(&self, Located { fingerprint, primary, second }: Located) {
        self.slots.prefetch(primary.bucket());
        self.slots.prefetch(second.bucket());
        let mut candidate = second;
        for _ in 2..A::CANDIDATES {
            candidate = self.addressing.alternate(candidate, fingerprint);
            self.slots.prefetch(candidate.bucket());
        }
    }

    /// Prefetches all candidate buckets of keys.
    #[inline]
    pub(crate) fn prefetch_each(&self, digests: &[Digest]) {
        for &digest in digests {
            self.prefetch_candidates(self.addressing.locate(digest));
        }
    }

    /// Looks up a block of keys whose buckets were prefetched. Those of the next block are prefetched in between, key by
    /// key: too few cache lines can be in flight for a whole block at once.
    #[inline(always)]
    pub(crate) fn contains_many_into(&self, located: &LocatedBlock, next: &LocatedBlock, answers: &mut [bool]) {
        for (number, answer) in answers.iter_mut().enumerate().take(BLOCK) {
            self.prefetch_located(next, number);
            *answer = self.contains_located(located.get(number));
        }
    }

    /// Looks up a block of keys in a table that is in the cache.
    #[inline(always)]
    pub(super) fn look_up(&self, digests: &[Digest; BLOCK], answers: &mut [bool]) {
        vectorized(
            #[inline(always)]
            |has_vectors| {
                if has_vectors {
                    let mut located = LocatedBlock::NOTHING;
                    self.locate_each::<Halves>(digests, &mut located);
                    for (number, answer) in answers.iter_mut().enumerate().take(BLOCK) {
                        *answer = self.contains_located(located.get(number));
                    }
                } else {
                    for (answer, &digest) in answers.iter_mut().zip(digests) {
                        *answer = self.contains(digest);
                    }
                }
            },
        );
    }
}

impl<A: Addressing, T: TableMut> CuckooTable<A, T> {
    /// Stores the keys of a block, from a number on, that are not found, and says which were stored. Their buckets were
    /// prefetched; those of the next block are in between.
    ///
    /// It ends before the first key that is not found and whose candidate buckets are full. Returns the number of that key, or
    /// that of all keys.
    #[inline(always)]
    pub(super) fn fill_absent(
        &mut self,
        from: usize,
        located: &LocatedBlock,
        next: &LocatedBlock,
        stored: &mut [bool],
    ) -> usize {
        for (number, stored) in stored.iter_mut().enumerate().take(BLOCK).skip(from) {
            self.prefetch_located(next, number);
            let key = located.get(number);
            *stored = !self.contains_located(key);
            if *stored && self.fill(key).is_none() {
                return number;
            }
        }
        stored.len().min(BLOCK)
    }
}

impl LocatedBlock {
    /// A key of the block.
    #[inline]
    pub(crate) const fn get(&self, number: usize) -> Located {
        let region_start = self.region_starts[number];
        Located {
            fingerprint: self.fingerprints[number],
            primary: Candidate::at(region_start, self.first[number] - region_start),
            second: Candidate::at(region_start, self.second[number] - region_start),
        }
    }
}
