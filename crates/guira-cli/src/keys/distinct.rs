use guira::Digest;
use hashbrown::HashTable;

/// The high bits of a digest choose its partition.
const PARTITION_BITS: u32 = 8;

/// Digests to build a filter from, each of them once.
///
/// They are kept apart by their high bits, which also choose the region of the filter: inserting one partition after
/// the other stays in few regions at a time, and so in the cache. Within a partition they go by their low half, the
/// fingerprint. In the order of buckets every bucket would be filled to the brim before the next one is touched, and
/// many more fingerprints would have to move.
pub(crate) struct DistinctDigests {
    /// Each digest with its halves swapped, sorted.
    partitions: Vec<Vec<u64>>,
    repeated: u64,
}

/// Takes digests, repeated or not, to make [`DistinctDigests`] of.
pub(crate) struct DigestCollector {
    partitions: Vec<Vec<u64>>,
}

impl DigestCollector {
    pub(crate) fn new() -> Self {
        Self { partitions: vec![Vec::new(); 1 << PARTITION_BITS] }
    }

    #[inline]
    pub(crate) fn push(&mut self, digest: Digest) {
        let partition = usize::try_from(digest.get() >> (u64::BITS - PARTITION_BITS)).expect("a few bits");
        self.partitions[partition].push(digest.get().rotate_left(32));
    }

    pub(crate) fn finish(mut self) -> DistinctDigests {
        let mut repeated = 0;
        for partition in &mut self.partitions {
            let before = partition.len();
            partition.sort_unstable();
            partition.dedup();
            repeated += (before - partition.len()) as u64;
        }
        DistinctDigests { partitions: self.partitions, repeated }
    }
}

impl DistinctDigests {
    pub(crate) fn len(&self) -> usize {
        self.partitions.iter().map(Vec::len).sum()
    }

    /// How many of the digests had been taken before.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }

    /// The digests in the order that fills a filter fastest.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Digest> {
        self.partitions.iter().flatten().map(restored)
    }

    /// The digests in an order that fills all regions of a filter evenly: what did fit when it is full is then as much
    /// as it takes.
    pub(crate) fn iter_evenly(&self) -> impl Iterator<Item = Digest> {
        let longest = self.partitions.iter().map(Vec::len).max().unwrap_or(0);
        (0..longest)
            .flat_map(|index| self.partitions.iter().filter_map(move |partition| partition.get(index)))
            .map(restored)
    }
}

fn restored(halves_swapped: &u64) -> Digest {
    Digest::new(halves_swapped.rotate_right(32))
}

/// The digests met so far, for work that must be done in the order of the input.
#[derive(Default)]
pub(crate) struct SeenDigests(HashTable<Digest>);

impl SeenDigests {
    /// Whether this digest had not been met before.
    pub(crate) fn is_new(&mut self, digest: Digest) -> bool {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn collected(digests: &[u64]) -> DistinctDigests {
        let mut collector = DigestCollector::new();
        digests.iter().for_each(|&digest| collector.push(Digest::new(digest)));
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
        for order in [distinct.iter().collect::<Vec<_>>(), distinct.iter_evenly().collect()] {
            assert_eq!(order.len(), 5005);
            assert_eq!(order.into_iter().map(Digest::get).collect::<BTreeSet<_>>(), expected);
        }
    }

    #[test]
    fn even_order_takes_from_every_partition_in_turn() {
        let distinct = collected(&spread(10_000));
        let partitions: BTreeSet<u64> = distinct.iter_evenly().take(256).map(|digest| digest.get() >> 56).collect();
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
