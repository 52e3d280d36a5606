//! The default addressing: equal regions of any size, and an additive involution inside each.

use super::{Addressing, Candidate, Fingerprint, hash_of_fingerprint, spread};
use crate::cast::scale;
use crate::digest::Digest;
use crate::parameters::Parameters;

/// `region_count` regions of `buckets_per_region` buckets, neither of them a power of two in general.
///
/// The digest, read as a fraction, picks the region and then, with what is left of it, the bucket `o` inside. The
/// alternate bucket is in the same region: o' = (H(fingerprint) - o) mod s. Applying it twice gives o again for every
/// s, which an exclusive or only does when s is a power of two; so a table has just the size that its capacity needs.
///
/// For each fingerprint the buckets with 2o = H mod s are their own alternate: one bucket when s is odd, none or two when
/// it is even. So about one key in s has a single candidate bucket; it counts once everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionalAddressing {
    region_count: u64,
    buckets_per_region: u64,
    fingerprint_mask: u32,
    seed: u64,
}

impl RegionalAddressing {
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        Self {
            region_count: parameters.region_count(),
            buckets_per_region: parameters.buckets_per_region(),
            fingerprint_mask: parameters.fingerprint_mask(),
            seed: spread(seed),
        }
    }
}

impl Addressing for RegionalAddressing {
    const CANDIDATES: usize = 2;

    #[inline]
    fn locate(&self, digest: Digest) -> (Fingerprint, Candidate) {
        let (region, rest) = scale(digest.get(), self.region_count);
        let (offset, _) = scale(rest, self.buckets_per_region);
        let candidate = Candidate { region_start: region * self.buckets_per_region, offset };
        (Fingerprint::of(digest, self.fingerprint_mask), candidate)
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        let (sum, _) = scale(hash_of_fingerprint(fingerprint, self.seed), self.buckets_per_region);
        let difference = sum.wrapping_sub(candidate.offset);
        let offset = if sum < candidate.offset { difference.wrapping_add(self.buckets_per_region) } else { difference };
        Candidate { offset, ..candidate }
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_candidates_form_a_cycle;
    use super::*;

    fn addressing(region_count: u64, buckets_per_region: u64, fingerprint_mask: u32) -> RegionalAddressing {
        RegionalAddressing { region_count, buckets_per_region, fingerprint_mask, seed: spread(3) }
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
    fn one_or_two_buckets_of_a_region_are_their_own_alternate() {
        for size in [1u64, 2, 3, 8, 101, 1000] {
            let addressing = addressing(1, size, 255);
            for value in 1..=255 {
                let fingerprint = Fingerprint::new(value).expect("counted from 1");
                let own = (0..size).filter(|&offset| {
                    let candidate = Candidate { region_start: 0, offset };
                    addressing.alternate(candidate, fingerprint) == candidate
                });
                // 2o = H mod s has one solution for odd s, none or two for even s.
                let solutions = own.count();
                assert!(if size % 2 == 1 { solutions == 1 } else { solutions == 0 || solutions == 2 });
            }
        }
    }

    #[test]
    fn a_bucket_that_is_its_own_alternate_is_one_candidate() {
        let addressing = addressing(1, 1, 255);
        let (fingerprint, primary) = addressing.locate(Digest::new(0x1234_5678_9abc_def0));
        assert_eq!(addressing.distinct_candidates(primary, fingerprint).count(), 1);
    }
}
