//! The d-ary cuckoo filter of Xie et al. (2017): d candidate buckets, one digit-wise addition apart.

use super::{Addressing, Candidate, Fingerprint, Grid, Located, MOST_CANDIDATES, hash_of_fingerprint, mix};
use crate::cast::{Product, Whole, multiply_shift};
use crate::digest::Digest;
use crate::parameters::Parameters;

/// Regions of D^p buckets. The next candidate of an offset is the sum of its base-D digits and those of a hash of the
/// fingerprint, each modulo D and without carry. Adding the same digits D times gives the offset again, so the
/// candidates are a cycle of D; exclusive or is the case D = 2.
///
/// The hash is never 0, which would make all candidates one. With D = 3 they are always three; with D = 4 they are two
/// where all digits of the hash are even, which for p digits is one fingerprint in 2^p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DaryAddressing<const D: u64> {
    region_count: u64,
    buckets_per_region: u64,
    fingerprint_mask: u32,
    seed: u64,
}

impl<const D: u64> DaryAddressing<D> {
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        Self {
            region_count: parameters.region_count(),
            buckets_per_region: parameters.buckets_per_region(),
            fingerprint_mask: parameters.short_fingerprint_mask(),
            seed: mix(seed),
        }
    }
}

/// The sum of two numbers, base-D digit by digit, each modulo D.
fn sum_without_carry<const D: u64>(mut a: u64, mut b: u64) -> u64 {
    let (mut sum, mut place) = (0, 1);
    while a != 0 || b != 0 {
        let digit = a % D + b % D;
        sum += place * if digit >= D { digit - D } else { digit };
        (a, b, place) = (a / D, b / D, place * D);
    }
    sum
}

impl<const D: u64> Addressing for DaryAddressing<D> {
    const CANDIDATES: usize = {
        assert!(D >= 2 && D <= MOST_CANDIDATES as u64);
        D.to_le_bytes()[0] as usize
    };

    fn grid(&self) -> Grid {
        Grid { region_count: self.region_count, buckets_per_region: self.buckets_per_region }
    }

    #[inline]
    fn locate_by<P: Product>(&self, digest: Digest) -> Located {
        let (region, rest) = multiply_shift(digest.get(), self.region_count);
        let (offset, _) = multiply_shift(rest, self.buckets_per_region);
        let primary = Candidate::at(region * self.buckets_per_region, offset);
        self.located(Fingerprint::of(digest, self.fingerprint_mask), primary)
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        let hash = hash_of_fingerprint::<Whole>(fingerprint.get(), self.seed);
        // 1 to D^p - 1; a region of one bucket has only that one.
        let (hash, _) = multiply_shift(hash, self.buckets_per_region - 1);
        let step = if self.buckets_per_region == 1 { 0 } else { hash + 1 };
        candidate.with_offset(sum_without_carry::<D>(candidate.offset(), step))
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_candidates_form_a_cycle;
    use super::*;

    fn addressing<const D: u64>(buckets_per_region: u64) -> DaryAddressing<D> {
        DaryAddressing { region_count: 2, buckets_per_region, fingerprint_mask: 63, seed: mix(3) }
    }

    #[test]
    fn sums_are_those_of_the_table_for_three() {
        // The table of xor_3: 1 and 1 make 2, 1 and 2 make 0, 2 and 2 make 1.
        let table = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];
        for (a, row) in (0..).zip(table) {
            for (b, sum) in (0..).zip(row) {
                assert_eq!(sum_without_carry::<3>(a, b), sum);
                assert_eq!(sum_without_carry::<3>(27 * a + 2, 27 * b + 2), 27 * sum + 1);
            }
        }
    }

    #[test]
    fn two_is_exclusive_or() {
        for a in 0..64 {
            for b in 0..64 {
                assert_eq!(sum_without_carry::<2>(a, b), a ^ b);
            }
        }
    }

    #[test]
    fn as_many_steps_as_candidates_lead_back() {
        for size in [1, 3, 9, 27, 81, 243] {
            assert_candidates_form_a_cycle(&addressing::<3>(size), &[0, size], size, 63);
        }
        for size in [1, 4, 16, 64, 256] {
            assert_candidates_form_a_cycle(&addressing::<4>(size), &[0, size], size, 63);
        }
    }

    #[test]
    fn candidates_differ_but_for_even_digits_with_four() {
        let count = |candidates: usize, even_digits: bool| candidates == 4 || (even_digits && candidates == 2);
        for value in 1..=63 {
            let fingerprint = Fingerprint::new(value).expect("counted from 1");
            for offset in 0..81 {
                let three = addressing::<3>(81);
                let located = three.located(fingerprint, Candidate::at(0, offset));
                assert_eq!(three.distinct_candidates(located).len(), 3);
            }
            let four = addressing::<4>(64);
            let step = four.alternate(Candidate::at(0, 0), fingerprint).offset();
            let even_digits = step & 0b01_01_01 == 0;
            for offset in 0..64 {
                let located = four.located(fingerprint, Candidate::at(0, offset));
                assert!(count(four.distinct_candidates(located).len(), even_digits));
            }
        }
    }
}
