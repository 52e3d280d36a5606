//! The default addressing: equal regions of any size, and an additive involution inside each.

use core::hint::select_unpredictable;

use super::{Addressing, Candidate, Fingerprint, Grid, Located, hash_of_fingerprint, mix};
use crate::cast::{Product, Whole};
use crate::digest::Digest;
use crate::parameters::Parameters;
use crate::probe::{Below, Buckets, Regions};

/// k regions of s buckets, neither of them a power of two in general.
///
/// The digest, read as a fraction, picks the bucket, and with it the region and the bucket's offset o inside. The
/// alternate bucket is in the same region: o' = (H - o) mod s, with a hash H of the fingerprint. Applying it twice gives
/// o again for every s, which an exclusive or only does when s is a power of two; so a table has just the size that its
/// capacity needs.
///
/// When s is even, only odd sums H are used, so that o and o' are never the same. When s is odd, that is impossible: each
/// fingerprint has one bucket, the one with 2o = H mod s, that is its own alternate, and about one key in s has a single
/// candidate bucket. Such keys are what limits the load of small tables, so planned regions are even.
///
/// Large tables are planned with s = 2^16, for which [`Size65536`] computes all of this with fewer instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionalAddressing<R = AnySize> {
    region_count: u64,
    bucket_count: u64,
    size: R,
    fingerprint_mask: u32,
    seed: u64,
}

/// s, the buckets of a region.
pub(crate) trait RegionSize: Copy {
    /// Whether s is 2^16.
    const IS_65536: bool = false;

    /// s.
    fn get(self) -> u64;

    /// The first bucket of the region that holds `bucket`, to which `digest` led in a table of `region_count` regions.
    fn region_start<P: Product>(self, bucket: u64, digest: Digest, region_count: u64) -> u64;

    /// The sum o + o' that a hash picks: evenly from 0..s when s is odd, from the odd numbers there when it is even.
    fn sum<P: Product>(self, hash: u64) -> u64;

    /// The bucket of the same region whose offset is `sum` less that of `candidate`, modulo s. The sum is below s.
    fn opposite(self, candidate: Candidate, sum: u64) -> Candidate;
}

/// Regions of any size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnySize {
    buckets: u64,
    /// The lowest bit of all sums when s is even; 0 when it is odd, where sums have any lowest bit.
    odd: u64,
}

impl AnySize {
    pub(crate) const fn new(buckets: u64) -> Self {
        Self { buckets, odd: if buckets.is_multiple_of(2) { 1 } else { 0 } }
    }
}

impl RegionSize for AnySize {
    #[inline]
    fn get(self) -> u64 {
        self.buckets
    }

    #[inline]
    fn region_start<P: Product>(self, _bucket: u64, digest: Digest, region_count: u64) -> u64 {
        // `region_count` is the same for all keys, so a loop decides this once. Most tables are a single region.
        if region_count == 1 { 0 } else { P::high(digest.get(), region_count) * self.buckets }
    }

    #[inline]
    fn sum<P: Product>(self, hash: u64) -> u64 {
        P::high(hash, self.buckets) | self.odd
    }

    #[inline]
    fn opposite(self, Candidate { bucket, region_start }: Candidate, sum: u64) -> Candidate {
        // Not by offsets: that takes two instructions more.
        let (difference, borrowed) = (region_start + sum).overflowing_sub(bucket);
        // True for every second key, at random: a branch would be mispredicted half of the time.
        let start = select_unpredictable(borrowed, region_start + self.buckets, region_start);
        Candidate { bucket: difference.wrapping_add(start), region_start }
    }
}

/// Regions of 2^16 buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size65536;

impl Size65536 {
    pub(crate) const BUCKETS: u64 = 1 << 16;
}

impl RegionSize for Size65536 {
    const IS_65536: bool = true;

    #[inline]
    fn get(self) -> u64 {
        Self::BUCKETS
    }

    #[inline]
    fn region_start<P: Product>(self, bucket: u64, _digest: Digest, _region_count: u64) -> u64 {
        bucket & !(Self::BUCKETS - 1)
    }

    #[inline]
    fn sum<P: Product>(self, hash: u64) -> u64 {
        (hash >> 48) | 1
    }

    #[inline]
    fn opposite(self, candidate: Candidate, sum: u64) -> Candidate {
        candidate.with_offset(sum.wrapping_sub(candidate.bucket) & (Self::BUCKETS - 1))
    }
}

impl<R: RegionSize> RegionalAddressing<R> {
    /// The addressing of a table whose regions have as many buckets as `size` says.
    pub(crate) fn new(parameters: &Parameters, size: R, seed: u64) -> Self {
        debug_assert_eq!(parameters.buckets_per_region(), size.get());
        Self::with_measures(parameters.region_count(), size, parameters.short_fingerprint_mask(), mix(seed))
    }

    pub(super) fn with_measures(region_count: u64, size: R, fingerprint_mask: u32, seed: u64) -> Self {
        Self { region_count, bucket_count: region_count * size.get(), size, fingerprint_mask, seed }
    }

    /// The region is ⌊d·k⌋ of the digest d, a fraction, and the offset ⌊(d·k - region)·s⌋. Their bucket is ⌊d·k·s⌋, one
    /// product.
    #[inline(always)]
    pub(super) fn primary<P: Product>(&self, digest: Digest) -> Candidate {
        let bucket = P::high(digest.get(), self.bucket_count);
        let region_start = self.size.region_start::<P>(bucket, digest, self.region_count);
        Candidate { bucket, region_start }
    }

    /// The other candidate of a fingerprint with this value.
    #[inline(always)]
    pub(super) fn alternate_of<P: Product>(&self, candidate: Candidate, fingerprint: u64) -> Candidate {
        self.opposite::<P>(candidate, hash_of_fingerprint::<P>(fingerprint, self.seed))
    }

    /// The other candidate, whose offset o' is such that o + o' is the sum that a hash picks.
    #[inline(always)]
    pub(super) fn opposite<P: Product>(&self, candidate: Candidate, hash: u64) -> Candidate {
        self.size.opposite(candidate, self.size.sum::<P>(hash))
    }
}

impl<R: RegionSize> Addressing for RegionalAddressing<R> {
    const CANDIDATES: usize = 2;

    fn grid(&self) -> Grid {
        Grid { region_count: self.region_count, buckets_per_region: self.size.get() }
    }

    #[inline(always)]
    fn locate_by<P: Product>(&self, digest: Digest) -> Located {
        let (fingerprint, primary) = (Fingerprint::of(digest, self.fingerprint_mask), self.primary::<P>(digest));
        Located { fingerprint, primary, second: self.alternate_of::<P>(primary, fingerprint.get()) }
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        self.alternate_of::<Whole>(candidate, fingerprint.get())
    }
}

impl RegionalAddressing {
    /// The fingerprint of a key and its candidates among these buckets, which are those of the table.
    #[inline(always)]
    pub(crate) fn locate_in<R: Regions>(
        &self,
        buckets: &Buckets<impl Sized>,
        digest: Digest,
    ) -> (Fingerprint, [Below; 2]) {
        let fingerprint = Fingerprint::of(digest, self.fingerprint_mask);
        let hash = hash_of_fingerprint::<Whole>(fingerprint.get(), self.seed);
        (fingerprint, buckets.candidates::<R>(digest.get(), hash))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::super::assert_candidates_form_a_cycle;
    use super::*;
    use crate::cast::{Halves, multiply_shift};

    fn addressing(region_count: u64, buckets_per_region: u64, fingerprint_mask: u32) -> RegionalAddressing {
        RegionalAddressing::with_measures(region_count, AnySize::new(buckets_per_region), fingerprint_mask, mix(3))
    }

    #[test]
    fn the_alternate_is_an_involution_for_every_region_size() {
        for size in 1..=200 {
            assert_candidates_form_a_cycle(&addressing(2, size, 63), &[0, size], size, 63);
        }
    }

    #[test]
    fn regions_of_65536_buckets_are_computed_as_those_of_any_size_are() {
        for region_count in [1, 2, 3, 512, 65_535, 65_536] {
            let any = addressing(region_count, 65_536, 4095);
            let fixed = RegionalAddressing::with_measures(region_count, Size65536, 4095, mix(3));
            for number in 0..20_000u64 {
                let digest = Digest::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let located = any.locate(digest);
                assert_eq!(fixed.locate(digest), located);
                let Located { fingerprint, primary, second } = located;
                assert_eq!([any.alternate(primary, fingerprint), fixed.alternate(primary, fingerprint)], [second; 2]);
                assert_eq!(fixed.locate_by::<Halves>(digest), located);
                assert_eq!(any.locate_by::<Halves>(digest), located);
            }
        }
    }

    #[test]
    fn one_product_gives_region_and_offset() {
        for (region_count, size) in [(1, 1), (1, 7), (3, 10), (61, 65_574), (512, 65_536), (1 << 20, 4095)] {
            let addressing = addressing(region_count, size, 4095);
            for number in 0..20_000u64 {
                let digest = Digest::new(!number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let (region, rest) = multiply_shift(digest.get(), region_count);
                let (offset, _) = multiply_shift(rest, size);
                assert_eq!(addressing.locate(digest).primary, Candidate::at(region * size, offset));
            }
        }
    }

    #[test]
    fn digests_reach_the_first_and_the_last_bucket_and_none_beyond() {
        let addressing = addressing(3, 7, 15);
        assert_eq!(addressing.locate(Digest::new(0)).primary.bucket().get(), 0);
        assert_eq!(addressing.locate(Digest::new(u64::MAX)).primary.bucket().get(), 20);
    }

    #[test]
    fn equally_spaced_digests_fill_all_buckets_evenly() {
        let addressing = addressing(5, 11, 15);
        let mut counts = [0u32; 55];
        for high in 0..=u64::from(u16::MAX) {
            let primary = addressing.locate(Digest::new(high << 48)).primary;
            counts[usize::try_from(primary.bucket().get()).expect("small")] += 1;
        }
        // 65,536 / 55 = 1191.6; cutting twice can move each share by one at either end.
        assert!(counts.iter().all(|count| (1190..=1193).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_bucket_is_its_own_alternate_once_per_fingerprint_in_odd_regions_and_never_in_even_ones() {
        for size in [1u64, 2, 3, 8, 101, 1000] {
            let addressing = addressing(1, size, 255);
            for value in 1..=255 {
                let fingerprint = Fingerprint::new(value).expect("counted from 1");
                let own = (0..size).filter(|&offset| {
                    let candidate = Candidate::at(0, offset);
                    addressing.alternate(candidate, fingerprint) == candidate
                });
                assert_eq!(own.count(), usize::from(size % 2 == 1), "fingerprint {value} of {size} buckets");
            }
        }
    }

    #[test]
    fn alternates_are_spread_evenly_over_the_buckets_they_can_reach() {
        for (size, reachable) in [(101u64, 101), (100, 50)] {
            let addressing = addressing(1, size, u32::MAX);
            let mut counts = vec![0u32; 101];
            for value in 1..=100_000 {
                let fingerprint = Fingerprint::new(value).expect("counted from 1");
                let candidate = addressing.alternate(Candidate::at(0, 4), fingerprint);
                counts[usize::try_from(candidate.offset()).expect("small")] += 1;
            }
            // Binomial: the share is 100,000 / reachable, and six standard deviations are exceeded once in 10^9.
            let share = 100_000.0 / f64::from(reachable);
            let reached = counts.iter().filter(|&&count| count > 0);
            assert_eq!(reached.clone().count(), usize::try_from(reachable).expect("small"));
            assert!(
                reached.clone().all(|&count| (f64::from(count) - share).abs() < 6.0 * libm::sqrt(share)),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn a_bucket_that_is_its_own_alternate_is_one_candidate() {
        let addressing = addressing(1, 1, 255);
        let located = addressing.locate(Digest::new(0x1234_5678_9abc_def0));
        assert_eq!(addressing.distinct_candidates(located).len(), 1);
    }
}
