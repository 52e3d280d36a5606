//! The addressing of a table that is being doubled in steps.

use core::hint::select_unpredictable;

use super::doubling::DoublingAddressing;
use super::{Addressing, BucketIndex, Candidate, Fingerprint, Grid};
use crate::cast::{Product, Whole};
use crate::digest::Digest;

/// Where fingerprints are while only some buckets have become two.
///
/// Buckets have the numbers of the doubled table: those made of bucket i are 2i and 2i + 1, and one that is still whole has
/// the number 2i. Fingerprints have all their bits, including the one that says which half they go to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplittingAddressing<const LONG: bool> {
    /// The addressing of the old table.
    old: DoublingAddressing<LONG>,
    /// The buckets that are still whole: all below this number.
    whole: u64,
}

impl<const LONG: bool> SplittingAddressing<LONG> {
    pub(crate) const fn new(old: DoublingAddressing<LONG>, whole: u64) -> Self {
        Self { old, whole }
    }

    /// Whether a bucket is still whole.
    #[inline]
    pub(crate) const fn is_whole(&self, bucket: BucketIndex) -> bool {
        bucket.get() / 2 < self.whole
    }

    /// The number of a bucket in the table that it is in.
    #[inline]
    pub(crate) fn index_in_table(&self, bucket: BucketIndex) -> BucketIndex {
        BucketIndex::new(bucket.get() >> u32::from(self.is_whole(bucket)))
    }

    /// What a bucket stores of a fingerprint.
    #[inline]
    pub(crate) fn stored(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Fingerprint {
        select_unpredictable(self.is_whole(bucket), fingerprint, self.old.rest(fingerprint))
    }

    /// The fingerprint of which a bucket stores this.
    #[inline]
    pub(crate) fn restored(&self, bucket: BucketIndex, stored: Fingerprint) -> Fingerprint {
        if self.is_whole(bucket) { stored } else { self.old.restored(bucket, stored) }
    }

    /// The bucket in which the fingerprints of this half of a bucket are now.
    #[inline(always)]
    fn place_of_half(&self, half: Candidate) -> Candidate {
        let is_whole = u64::from(self.is_whole(half.bucket()));
        Candidate { bucket: half.bucket & !is_whole, region_start: half.region_start }
    }
}

impl<const LONG: bool> Addressing for SplittingAddressing<LONG> {
    const CANDIDATES: usize = 2;

    fn grid(&self) -> Grid {
        let Grid { region_count, buckets_per_region } = self.old.grid();
        Grid { region_count, buckets_per_region: 2 * buckets_per_region }
    }

    #[inline]
    fn locate(&self, digest: Digest) -> (Fingerprint, Candidate) {
        let (fingerprint, primary, _) = self.locate_pair::<Whole>(digest);
        (fingerprint, primary)
    }

    #[inline(always)]
    fn locate_pair<P: Product>(&self, digest: Digest) -> (Fingerprint, Candidate, Candidate) {
        let (fingerprint, primary, alternate) = self.old.locate_halves::<P>(digest);
        (fingerprint, self.place_of_half(primary), self.place_of_half(alternate))
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        let old = Candidate::at(candidate.region_start() / 2, candidate.offset() / 2);
        let alternate = self.old.alternate(old, fingerprint);
        let half = self.old.half(alternate.bucket(), fingerprint);
        self.place_of_half(Candidate::at(2 * alternate.region_start(), 2 * alternate.offset() + half))
    }
}
