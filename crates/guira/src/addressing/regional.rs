//! The default addressing: equal regions of any size, and an additive involution inside each.

use core::hint::select_unpredictable;

use super::{Addressing, Candidate, Fingerprint, hash_of_fingerprint, spread};
use crate::cast::scale;
use crate::digest::Digest;
use crate::parameters::Parameters;

/// `region_count` regions of `buckets_per_region` buckets, neither of them a power of two in general.
///
/// The digest, read as a fraction, picks the region and then, with what is left of it, the bucket o inside. The
/// alternate bucket is in the same region: o' = (H - o) mod s, with a hash H of the fingerprint. Applying it twice gives
/// o again for every s, which an exclusive or only does when s is a power of two; so a table has just the size that its
/// capacity needs.
///
/// When s is even, only odd sums H are used, so that o and o' are never the same. When it is odd, that can't be had:
/// each fingerprint has one bucket, the one with 2o = H mod s, that is its own alternate, and about one key in s has a
/// single candidate bucket. Such keys are what limits the load of small tables, so planned regions are even.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionalAddressing {
    region_count: u64,
    buckets_per_region: u64,
    sums: Sums,
    fingerprint_mask: u32,
    seed: u64,
}

/// The values that o + o' takes: all of 0..s when s is odd, the odd ones when it is even.
#[derive(Clone, Copy, Debug)]
struct Sums {
    count: u64,
    /// 1 when s is even, else 0; what a number below `count` is shifted by, and the bit that then fills its place.
    parity: u32,
}

impl Sums {
    const fn of(buckets_per_region: u64) -> Self {
        if buckets_per_region.is_multiple_of(2) {
            Self { count: buckets_per_region / 2, parity: 1 }
        } else {
            Self { count: buckets_per_region, parity: 0 }
        }
    }

    #[inline]
    fn pick(self, hash: u64) -> u64 {
        (scale(hash, self.count).0 << self.parity) | u64::from(self.parity)
    }
}

impl RegionalAddressing {
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        let (count, buckets) = (parameters.region_count(), parameters.buckets_per_region());
        Self::with_measures(count, buckets, parameters.fingerprint_mask(), spread(seed))
    }

    pub(super) const fn with_measures(
        region_count: u64,
        buckets_per_region: u64,
        fingerprint_mask: u32,
        seed: u64,
    ) -> Self {
        Self { region_count, buckets_per_region, sums: Sums::of(buckets_per_region), fingerprint_mask, seed }
    }

    pub(super) const fn buckets_per_region(&self) -> u64 {
        self.buckets_per_region
    }

    /// The fingerprint of a key, its region and the offset of its primary bucket there.
    #[inline]
    pub(super) fn region_and_offset(&self, digest: Digest) -> (Fingerprint, u64, u64) {
        let (region, rest) = scale(digest.get(), self.region_count);
        let (offset, _) = scale(rest, self.buckets_per_region);
        (Fingerprint::of(digest, self.fingerprint_mask), region, offset)
    }

    /// o', the offset of the other candidate.
    #[inline]
    pub(super) fn alternate_offset(&self, offset: u64, fingerprint: Fingerprint) -> u64 {
        self.opposite(offset, hash_of_fingerprint(fingerprint.get(), self.seed))
    }

    /// The offset that makes up the sum that a hash picks.
    #[inline]
    pub(super) fn opposite(&self, offset: u64, hash: u64) -> u64 {
        let sum = self.sums.pick(hash);
        let (difference, borrowed) = sum.overflowing_sub(offset);
        // True for every second key, at random: a branch would be guessed wrongly as often as not.
        difference.wrapping_add(select_unpredictable(borrowed, self.buckets_per_region, 0))
    }
}

impl Addressing for RegionalAddressing {
    const CANDIDATES: usize = 2;

    #[inline]
    fn locate(&self, digest: Digest) -> (Fingerprint, Candidate) {
        let (fingerprint, region, offset) = self.region_and_offset(digest);
        (fingerprint, Candidate { region_start: region * self.buckets_per_region, offset })
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        Candidate { offset: self.alternate_offset(candidate.offset, fingerprint), ..candidate }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::super::assert_candidates_form_a_cycle;
    use super::*;

    fn addressing(region_count: u64, buckets_per_region: u64, fingerprint_mask: u32) -> RegionalAddressing {
        RegionalAddressing::with_measures(region_count, buckets_per_region, fingerprint_mask, spread(3))
    }

    #[test]
    fn the_alternate_is_an_involution_for_every_region_size() {
        for size in 1..=200 {
            assert_candidates_form_a_cycle(&addressing(2, size, 63), &[0, size], size, 63);
        }
    }

    #[test]
    fn digests_reach_the_first_and_the_last_bucket_and_none_beyond() {
        let addressing = addressing(3, 7, 15);
        assert_eq!(addressing.locate(Digest::new(0)).1.bucket().get(), 0);
        assert_eq!(addressing.locate(Digest::new(u64::MAX)).1.bucket().get(), 20);
    }

    #[test]
    fn equally_spaced_digests_fill_all_buckets_evenly() {
        let addressing = addressing(5, 11, 15);
        let mut counts = [0u32; 55];
        for high in 0..=u64::from(u16::MAX) {
            let (_, candidate) = addressing.locate(Digest::new(high << 48));
            counts[usize::try_from(candidate.bucket().get()).expect("small")] += 1;
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
                    let candidate = Candidate { region_start: 0, offset };
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
                let candidate = addressing.alternate(Candidate { region_start: 0, offset: 4 }, fingerprint);
                counts[usize::try_from(candidate.offset).expect("small")] += 1;
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
        let (fingerprint, primary) = addressing.locate(Digest::new(0x1234_5678_9abc_def0));
        assert_eq!(addressing.distinct_candidates(primary, fingerprint).count(), 1);
    }
}
