use guira::{Digest, KeyHasher};
use hashbrown::HashTable;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::block::Block;
use super::inputs::EmptyCounts;
use super::run::{RUN_LENGTH, Run, digest_of, number_of};
use crate::threads;

/// The high bits of a digest's low half choose its partition, which is small enough to be sorted in the cache.
const PARTITION_BITS: u32 = 8;

/// Few enough that each step has thousands of keys for every region, as a bulk insertion requires; enough to show progress.
const STEPS: usize = 32;

/// The distinct digests to build a filter from.
///
/// They are in the order of their low halves, the fingerprints, and so spread over all regions. In the order of buckets, every
/// bucket would be filled completely before the next one, and many more fingerprints would have to move.
pub(crate) struct DistinctDigests {
    /// For each partition, consecutive runs of sorted digests.
    partitions: Vec<Vec<Run>>,
    repeated: u64,
    empty_counts: EmptyCounts,
}

/// Collects the digests of keys, repeated or not, to make [`DistinctDigests`]. Each thread has a part of its own.
pub(crate) struct DigestCollector {
    hasher: KeyHasher,
    parts: Vec<Part>,
}

/// The digests that one thread has collected.
struct Part {
    partitions: Vec<Partition>,
    empty_counts: EmptyCounts,
}

/// Some digests whose low halves start alike.
#[derive(Default)]
struct Partition {
    runs: Vec<Run>,
    /// The latest digests, which are not in a run yet.
    latest: Vec<u64>,
}

impl DigestCollector {
    pub(crate) fn new(hasher: KeyHasher) -> Self {
        Self { hasher, parts: vec![Part::new()] }
    }

    pub(crate) fn take(&mut self, block: &Block<'_>) {
        let pieces = threads::pieces(block);
        if self.parts.len() < pieces.len() {
            self.parts.resize_with(pieces.len(), Part::new);
        }
        threads::for_each(&mut self.parts, &pieces, |part, piece| part.take(piece, &self.hasher));
    }

    pub(crate) fn finish(self) -> DistinctDigests {
        let mut empty_counts = EmptyCounts::default();
        self.parts.iter().for_each(|part| empty_counts.add(part.empty_counts));
        let mut partitions: Vec<Vec<Partition>> = Vec::new();
        partitions.resize_with(1 << PARTITION_BITS, Vec::new);
        for part in self.parts {
            for (all, partition) in partitions.iter_mut().zip(part.partitions) {
                all.push(partition);
            }
        }
        let (partitions, repeated): (Vec<_>, Vec<_>) = partitions.into_par_iter().map(distinct).unzip();
        DistinctDigests { partitions, repeated: repeated.into_iter().sum(), empty_counts }
    }
}

impl Part {
    fn new() -> Self {
        let mut partitions = Vec::new();
        partitions.resize_with(1 << PARTITION_BITS, Partition::default);
        Self { partitions, empty_counts: EmptyCounts::default() }
    }

    fn take(&mut self, block: &Block<'_>, hasher: &KeyHasher) {
        block.for_each_key(|key, _| {
            self.empty_counts.count(key);
            if let Some(key) = key {
                self.push(hasher.digest(key));
            }
        });
    }

    #[inline]
    fn push(&mut self, digest: Digest) {
        let number = number_of(digest);
        let partition = usize::try_from(number >> (u64::BITS - PARTITION_BITS)).expect("a few bits");
        self.partitions[partition].push(number);
    }
}

impl Partition {
    #[inline]
    fn push(&mut self, number: u64) {
        self.latest.push(number);
        if self.latest.len() == RUN_LENGTH {
            self.latest.sort_unstable();
            self.runs.push(Run::of(&self.latest));
            self.latest.clear();
        }
    }

    fn len(&self) -> usize {
        self.runs.len() * RUN_LENGTH + self.latest.len()
    }
}

/// Joins the digests of a partition from all threads. Returns them once each, and the number of repeated ones.
fn distinct(parts: Vec<Partition>) -> (Vec<Run>, u64) {
    let mut all = Vec::with_capacity(parts.iter().map(Partition::len).sum());
    for part in parts {
        part.runs.iter().for_each(|run| all.extend(run.numbers()));
        all.extend(part.latest);
    }
    let before = all.len();
    // A stable sort: it merges runs that are sorted already.
    all.sort();
    all.dedup();
    let repeated = (before - all.len()) as u64;
    (Run::all_of(&all), repeated)
}

impl DistinctDigests {
    pub(crate) fn len(&self) -> usize {
        self.partitions.iter().flatten().map(Run::len).sum()
    }

    /// How many digests were repeated.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }

    /// How many records had no key, and how many keys were empty.
    pub(crate) const fn empty_counts(&self) -> EmptyCounts {
        self.empty_counts
    }

    /// The digests in the order that fills a filter fastest, in steps.
    pub(crate) fn in_steps(&self) -> impl Iterator<Item = Vec<Digest>> {
        let steps = self.partitions.chunks(self.partitions.len() / STEPS);
        steps.map(|partitions| partitions.iter().flatten().flat_map(Run::numbers).map(digest_of).collect())
    }

    /// The digests in an order with fingerprints of all values from the start, for a filter that may be full before the last
    /// one: if it met only the smallest first, it would run out of room for these.
    pub(crate) fn in_even_steps(&self) -> impl Iterator<Item = Vec<Digest>> {
        const TAKEN_OF_EACH: usize = RUN_LENGTH / 4;

        let longest = self.partitions.iter().map(Vec::len).max().unwrap_or(0);
        (0..RUN_LENGTH * longest).step_by(TAKEN_OF_EACH).map(|start| {
            let (run, start) = (start / RUN_LENGTH, start % RUN_LENGTH);
            let runs = self.partitions.iter().filter_map(|partition| partition.get(run));
            let taken: Vec<Vec<u64>> =
                runs.map(|run| run.numbers().skip(start).take(TAKEN_OF_EACH).collect()).collect();
            (0..TAKEN_OF_EACH)
                .flat_map(|index| taken.iter().filter_map(move |numbers| numbers.get(index)))
                .map(|&number| digest_of(number))
                .collect()
        })
    }
}

/// The digests seen so far, for work that must be done in the order of the input.
#[derive(Default)]
pub(crate) struct SeenDigests(HashTable<Digest>);

impl SeenDigests {
    /// The keys whose digests were not seen before, in order.
    pub(crate) fn new_ones<'block>(&mut self, keys: &[&'block [u8]], hasher: &KeyHasher) -> NewKeys<'block> {
        let mut new = NewKeys::default();
        for &key in keys {
            let digest = hasher.digest(key);
            if self.is_new(digest) {
                new.keys.push(key);
                new.digests.push(digest);
            }
        }
        new
    }

    /// Returns `true` if this digest was not seen before.
    fn is_new(&mut self, digest: Digest) -> bool {
        use hashbrown::hash_table::Entry;
        match self.0.entry(digest.get(), |met| *met == digest, |met| met.get()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(digest);
                true
            }
        }
    }
}

/// Keys that were seen for the first time.
#[derive(Default)]
pub(crate) struct NewKeys<'block> {
    pub(crate) keys: Vec<&'block [u8]>,
    /// The digests of `keys`, in the same order.
    pub(crate) digests: Vec<Digest>,
}

impl NewKeys<'_> {
    /// Keeps only the keys whose index passes.
    pub(crate) fn retain(&mut self, mut passes: impl FnMut(usize) -> bool) {
        let kept: Vec<bool> = (0..self.keys.len()).map(&mut passes).collect();
        let mut keep = kept.iter();
        self.keys.retain(|_| keep.next().is_some_and(|&keep| keep));
        let mut keep = kept.iter();
        self.digests.retain(|_| keep.next().is_some_and(|&keep| keep));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn collected(digests: &[u64]) -> DistinctDigests {
        let mut collector = DigestCollector::new(KeyHasher::xxh3(0));
        collector.parts.push(Part::new());
        for (index, &digest) in digests.iter().enumerate() {
            collector.parts[index % 2].push(Digest::new(digest));
        }
        collector.finish()
    }

    /// Weyl's sequence: distinct, and spread over all partitions.
    fn spread(count: u64) -> Vec<u64> {
        (1..=count).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    }

    #[test]
    fn each_digest_comes_once_whatever_the_order() {
        let mut digests = spread(5000);
        digests.extend_from_within(..1234);
        digests.extend([0, u64::MAX, 0, 1, 1 << 32, 0xffff_ffff, 0]);
        let expected: BTreeSet<u64> = digests.iter().copied().collect();
        assert_eq!(expected.len(), 5005);

        let distinct = collected(&digests);
        assert_eq!(distinct.len(), 5005);
        assert_eq!(distinct.repeated(), 1234 + 2);
        for order in [distinct.in_steps().collect::<Vec<_>>(), distinct.in_even_steps().collect()] {
            let order = order.concat();
            assert_eq!(order.len(), 5005);
            assert_eq!(order.into_iter().map(Digest::get).collect::<BTreeSet<_>>(), expected);
        }
    }

    #[test]
    fn steps_go_by_the_low_half() {
        let steps: Vec<_> = collected(&spread(10_000)).in_steps().collect();
        assert_eq!(steps.len(), STEPS);
        let low_halves: Vec<u64> = steps.iter().flatten().map(|digest| digest.get() & 0xffff_ffff).collect();
        assert!(low_halves.is_sorted());
    }

    #[test]
    fn even_steps_take_from_every_partition_in_turn() {
        let steps: Vec<_> = collected(&spread(100_000)).in_even_steps().collect();
        assert!(steps.len() > 1);
        let partitions: BTreeSet<u64> = steps[0][..256].iter().map(|digest| digest.get() >> 24 & 0xff).collect();
        assert_eq!(partitions.len(), 256);
    }

    #[test]
    fn a_digest_is_new_once() {
        let mut seen = SeenDigests::default();
        assert!(spread(1000).into_iter().all(|digest| seen.is_new(Digest::new(digest))));
        assert!(!spread(1000).into_iter().any(|digest| seen.is_new(Digest::new(digest))));
        assert!(seen.is_new(Digest::new(0)));
    }
}
