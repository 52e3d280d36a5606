use alloc::vec::Vec;

use crate::cast::{multiply_shift, to_usize};
use crate::digest::Digest;

/// Digests sorted by the region they belong to, and in each region in the order in which they came.
///
/// Its memory is reused: taking it from the system each time costs as much as the sorting.
#[derive(Default)]
pub(super) struct Partition {
    unsorted: Vec<Digest>,
    digests: Vec<Digest>,
    /// Where the digests of each region start, and after the last one where they end.
    starts: Vec<usize>,
    /// Where the next digest of each region goes.
    next: Vec<usize>,
    is_filled: bool,
}

impl Partition {
    /// Sorts digests by region, by a counting sort. In every addressing the region is ⌊digest · regions / 2^64⌋.
    ///
    /// Without memory for them it is [not filled](Self::is_filled).
    pub(super) fn refill(&mut self, digests: impl ExactSizeIterator<Item = Digest>, region_count: u64) {
        self.is_filled = self.try_refill(digests, region_count).is_some();
    }

    /// Whether it was filled at the last time.
    pub(super) const fn is_filled(&self) -> bool {
        self.is_filled
    }

    fn try_refill(&mut self, digests: impl ExactSizeIterator<Item = Digest>, region_count: u64) -> Option<()> {
        let (ends, count) = (to_usize(region_count) + 1, digests.len());
        let region_of = |digest: Digest| to_usize(multiply_shift(digest.get(), region_count).0);
        self.starts.clear();
        self.starts.try_reserve(ends).ok()?;
        self.starts.resize(ends, 0);
        self.unsorted.clear();
        self.unsorted.try_reserve(count).ok()?;
        self.next.try_reserve(ends.saturating_sub(self.next.len())).ok()?;
        self.digests.try_reserve(count.saturating_sub(self.digests.len())).ok()?;
        let starts = &mut self.starts;
        self.unsorted.extend(digests.inspect(|&digest| starts[region_of(digest) + 1] += 1));
        for region in 1..starts.len() {
            starts[region] += starts[region - 1];
        }
        self.next.clone_from(&self.starts);
        self.digests.resize(self.unsorted.len(), Digest::new(0));
        for &digest in &self.unsorted {
            let place = &mut self.next[region_of(digest)];
            self.digests[*place] = digest;
            *place += 1;
        }
        Some(())
    }

    pub(super) fn region(&self, region: usize) -> &[Digest] {
        &self.digests[self.starts[region]..self.starts[region + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_keep_their_order_within_a_region() {
        let digests: Vec<Digest> =
            (0..1000u64).map(|number| Digest::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let mut partition = Partition::default();
        // What was there before leaves nothing behind.
        partition.refill([&*digests, &digests].concat().into_iter().rev(), 9);
        partition.refill(digests.iter().copied(), 7);
        assert!(partition.is_filled());
        let mut total = 0;
        for region in 0..7 {
            let bounds = |digest: &&Digest| (u128::from(digest.get()) * 7) >> 64 == region;
            let expected: Vec<Digest> = digests.iter().filter(bounds).copied().collect();
            let found = partition.region(usize::try_from(region).expect("small"));
            assert_eq!(found, expected);
            total += found.len();
        }
        assert_eq!(total, 1000);
    }
}
