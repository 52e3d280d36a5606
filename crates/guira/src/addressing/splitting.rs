//! The addressing of a table that is being doubled in steps.

use core::hint::select_unpredictable;

use super::doubling::{DoublingAddressing, Half};
use super::{Addressing, BucketIndex, Candidate, Fingerprint, Grid, Located};
use crate::cast::Product;
use crate::digest::Digest;

/// Where fingerprints are while only some buckets of a table are in the next one.
///
/// A bucket has the number of its first [`Half`]: those made of bucket i, counted before any became two, are 2i and 2i + 1, and as long as
/// they are one its number is 2i. Fingerprints have all their bits, including the one that says which half they go to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplittingAddressing<const LONG: bool> {
    /// The addressing of the old table.
    old: DoublingAddressing<LONG>,
    /// The buckets that are still in the old table: all whose halves have numbers below twice this.
    waiting: u64,
}

impl<const LONG: bool> SplittingAddressing<LONG> {
    pub(crate) const fn new(old: DoublingAddressing<LONG>, waiting: u64) -> Self {
        Self { old, waiting }
    }

    /// Whether a bucket is still in the old table.
    #[inline]
    pub(crate) const fn is_waiting(&self, bucket: BucketIndex) -> bool {
        bucket.get() / 2 < self.waiting
    }

    /// The number of a bucket in the table that it is in.
    #[inline]
    pub(crate) fn index_in_table(&self, bucket: BucketIndex) -> BucketIndex {
        let half = Half::new(bucket.get());
        let (old, new) = (self.old.bucket_of_half(half), self.old.next_bucket_of_half(half));
        BucketIndex::new(select_unpredictable(self.is_waiting(bucket), old.get(), new.get()))
    }

    /// What a bucket stores of a fingerprint.
    #[inline]
    pub(crate) fn stored(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Fingerprint {
        select_unpredictable(self.is_waiting(bucket), fingerprint, self.old.rest(fingerprint))
    }

    /// The fingerprint of which a bucket stores this.
    #[inline]
    pub(crate) fn restored(&self, bucket: BucketIndex, stored: Fingerprint) -> Fingerprint {
        if self.is_waiting(bucket) { stored } else { self.old.restored(Half::new(bucket.get()), stored) }
    }

    /// The bucket in which the fingerprints of this half of a bucket are now.
    #[inline(always)]
    fn place_of_half(&self, half: Candidate) -> Candidate {
        // In the first half of a doubling, buckets that are moved become two if they are odd. In the second, odd ones are two from the
        // start, and even ones become two.
        let (is_waiting, is_odd) = (self.is_waiting(half.bucket()), self.old.is_of_odd(Half::new(half.bucket)));
        let is_one = if self.old.is_half_doubled() { is_waiting & !is_odd } else { is_waiting | !is_odd };
        Candidate { bucket: half.bucket & !u64::from(is_one), region_start: half.region_start }
    }
}

impl<const LONG: bool> Addressing for SplittingAddressing<LONG> {
    const CANDIDATES: usize = 2;

    fn grid(&self) -> Grid {
        self.old.halves()
    }

    #[inline(always)]
    fn locate_by<P: Product>(&self, digest: Digest) -> Located {
        let Located { fingerprint, primary, second } = self.old.locate_halves::<P>(digest);
        Located { fingerprint, primary: self.place_of_half(primary), second: self.place_of_half(second) }
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        let half = self.old.half(Half::new(candidate.bucket), fingerprint);
        self.place_of_half(self.old.other_half(Candidate { bucket: half.get(), ..candidate }, fingerprint))
    }
}
