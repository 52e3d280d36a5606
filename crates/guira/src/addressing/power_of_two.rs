//! The paper's own addressing: one region of 2^p buckets, and exclusive or.

use super::{Addressing, Candidate, Fingerprint, Grid, Located, hash_of_fingerprint, mix};
use crate::cast::{Product, Whole};
use crate::digest::Digest;
use crate::parameters::Parameters;

/// Equations (1) and (2) of the paper: h2(x) = h1(x) xor hash(fingerprint of x), which needs 2^p buckets.
///
/// Kept for the reproduction of the paper and for comparison with other filters; just above a power of two it takes
/// nearly twice the memory of [`RegionalAddressing`](super::RegionalAddressing).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PowerOfTwoAddressing {
    /// p, the bits of a bucket index: 0 to 32.
    index_bits: u32,
    fingerprint_mask: u32,
    seed: u64,
}

impl PowerOfTwoAddressing {
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        Self {
            index_bits: parameters.bucket_count().trailing_zeros(),
            fingerprint_mask: parameters.short_fingerprint_mask(),
            seed: mix(seed),
        }
    }

    /// The high p bits of a hash; 0 for p = 0, where a shift by 64 would overflow.
    #[inline]
    const fn index(&self, hash: u64) -> u64 {
        (hash >> 1) >> (63 - self.index_bits)
    }
}

impl Addressing for PowerOfTwoAddressing {
    const CANDIDATES: usize = 2;

    fn grid(&self) -> Grid {
        Grid { region_count: 1, buckets_per_region: 1 << self.index_bits }
    }

    #[inline]
    fn locate_by<P: Product>(&self, digest: Digest) -> Located {
        let primary = Candidate::at(0, self.index(digest.get()));
        self.located(Fingerprint::of(digest, self.fingerprint_mask), primary)
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        let difference = self.index(hash_of_fingerprint::<Whole>(fingerprint.get(), self.seed));
        candidate.with_offset(candidate.offset() ^ difference)
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_candidates_form_a_cycle;
    use super::*;

    #[test]
    fn the_alternate_is_an_involution_for_every_power_of_two() {
        for index_bits in 0..=10 {
            let addressing = PowerOfTwoAddressing { index_bits, fingerprint_mask: 63, seed: mix(3) };
            assert_candidates_form_a_cycle(&addressing, &[0], 1 << index_bits, 63);
        }
    }

    #[test]
    fn digests_reach_the_first_and_the_last_bucket_and_none_beyond() {
        for index_bits in [0, 1, 20, 32] {
            let addressing = PowerOfTwoAddressing { index_bits, fingerprint_mask: 63, seed: 0 };
            assert_eq!(addressing.locate(Digest::new(0)).primary.bucket().get(), 0);
            assert_eq!(addressing.locate(Digest::new(u64::MAX)).primary.bucket().get(), (1 << index_bits) - 1);
        }
    }
}
