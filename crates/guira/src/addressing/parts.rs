//! Regions that fall into parts: sets of buckets from which nearly all fingerprints lead to the same few.

use super::regional::{AnySize, RegionSize};
use super::{hash_of_fingerprint, mix};
use crate::cast::{Whole, to_usize};
use crate::parameters::{Addressing, Parameters, Regions, Shape};

/// How many fingerprints are looked at: if these lead everywhere, more of them do too.
const MAX_FINGERPRINTS: u32 = 255;

/// Fewer fingerprints belong to tables of a few buckets, where what they have in common is counted.
const MIN_FINGERPRINTS: u32 = 15;

/// The most parts that are looked for.
const MAX_PARTS: usize = 64;

/// The prime numbers up to [`MAX_PARTS`].
const PRIMES: [u64; 18] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61];

/// The share of fingerprints, one in so many, that must lead from one part of a region to others. Tables of 448, 576 and 672
/// buckets with 6-bit fingerprints kept their promise with one in 16, and not with one in 32.
const CROSSING: u32 = 8;

/// Into how many parts each region of a table nearly falls with this seed; 1 if it is whole.
///
/// The hash of a fingerprint is one product. Products of consecutive numbers are evenly spaced rather than random, and in
/// regions of some sizes, with some seeds, the spacing makes all of them equal modulo a divisor of the size. Then sums of
/// offsets are equal, too, so the offsets of one class and of its opposite form a table of their own, and several small
/// tables take fewer keys than a large one.
pub(crate) fn parts_of_regions(regions: Regions, shape: Shape, fingerprint_bits: u32, seed: u64) -> u64 {
    let fingerprints = match shape.addressing() {
        Addressing::Regional => (u32::MAX >> 32_u32.saturating_sub(fingerprint_bits)).min(MAX_FINGERPRINTS),
        Addressing::Doubling => u32::MAX >> (32 - Parameters::CORE_BITS),
        Addressing::PowerOfTwo | Addressing::Ternary | Addressing::Quaternary => return 1,
    };
    if fingerprints < MIN_FINGERPRINTS {
        return 1;
    }
    let (size, seed) = (AnySize::new(regions.buckets), mix(seed));
    // Odd sums differ by even numbers only.
    let step = if regions.buckets.is_multiple_of(2) { 2 } else { 1 };
    let steps = |fingerprint| size.sum::<Whole>(hash_of_fingerprint::<Whole>(u64::from(fingerprint), seed)) / step;
    let falls_into = |parts: &u64| {
        let (mut in_class, mut largest) = ([0_u32; MAX_PARTS], 0);
        // How many cross over never falls again, so it is known early of most regions that enough do.
        (1..=fingerprints).all(|fingerprint| {
            let class = &mut in_class[to_usize(steps(fingerprint) % parts)];
            *class += 1;
            largest = largest.max(*class);
            (fingerprint - largest) * CROSSING < fingerprints
        })
    };
    let divides = |parts: &u64| (regions.buckets / step).is_multiple_of(*parts);
    // What falls into some parts falls into as many as each divisor of their number says. So most regions are known to be whole
    // from the few prime numbers that divide their size.
    if !PRIMES.iter().filter(|prime| divides(prime)).any(falls_into) {
        return 1;
    }
    (2..=MAX_PARTS as u64).rev().filter(divides).find(falls_into).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::super::Candidate;
    use super::*;
    use crate::parameters::Layout;

    fn parts(buckets: u64, fingerprint_bits: u32, seed: u64) -> u64 {
        let shape = Shape::new(Layout::Packed, Addressing::Regional, 4).expect("there is such a table");
        parts_of_regions(Regions::single(buckets), shape, fingerprint_bits, seed)
    }

    /// The sets of offsets that fingerprints lead to from one another, by following all of them.
    fn connected_sets(buckets: u64, fingerprint_bits: u32, seed: u64) -> usize {
        let size = AnySize::new(buckets);
        let mut set_of: alloc::vec::Vec<u64> = (0..buckets).collect();
        loop {
            let before = set_of.clone();
            for fingerprint in 1..=u32::MAX >> (32 - fingerprint_bits) {
                let sum = size.sum::<Whole>(hash_of_fingerprint::<Whole>(u64::from(fingerprint), mix(seed)));
                for offset in 0..buckets {
                    let other = to_usize(size.opposite(Candidate::at(0, offset), sum).offset());
                    let least = set_of[to_usize(offset)].min(set_of[other]);
                    set_of[to_usize(offset)] = least;
                    set_of[other] = least;
                }
            }
            if set_of == before {
                set_of.sort_unstable();
                set_of.dedup();
                return set_of.len();
            }
        }
    }

    #[test]
    fn regions_that_fall_apart_are_found() {
        let mut found = 0;
        for buckets in [448, 450, 576] {
            for seed in 0..300 {
                let sets = connected_sets(buckets, 6, seed);
                let parts = parts(buckets, 6, seed);
                assert!(parts >= sets as u64, "{buckets} buckets, seed {seed}: {sets} sets, {parts} parts");
                found += usize::from(sets > 1);
            }
        }
        assert!(found >= 8, "{found} of 900 tables fall apart");
    }

    #[test]
    fn most_regions_are_whole() {
        let whole = |bits| (2..1000).filter(|half| parts(2 * half, bits, 7 * half) == 1).count();
        assert!(whole(6) > 940 && whole(8) > 970 && whole(16) > 970, "{} {} {}", whole(6), whole(8), whole(16));
    }
}
