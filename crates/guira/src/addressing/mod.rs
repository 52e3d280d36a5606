//! From a digest to the candidate buckets of its key, and from one candidate bucket to the next.
//!
//! A table stores fingerprints, not keys, so whoever finds a fingerprint in a bucket must be able to tell where else it
//! may live from those two numbers alone (the paper's "partial-key cuckoo hashing"). An [`Addressing`] is that rule: a
//! cycle through the candidate buckets of a key, walked with the fingerprint.

mod dary;
mod doubling;
mod long;
mod parts;
mod power_of_two;
mod regional;
mod splitting;

pub(crate) use dary::DaryAddressing;
pub(crate) use doubling::{DoublingAddressing, Half};
pub(crate) use long::LongAddressing;
pub(crate) use parts::parts_of_regions;
pub(crate) use power_of_two::PowerOfTwoAddressing;
pub(crate) use regional::{AnySize, RegionSize, RegionalAddressing, Size65536};
pub(crate) use splitting::SplittingAddressing;

use core::num::NonZeroU64;

use arrayvec::ArrayVec;

use crate::cast::{Product, Whole, low_32};
use crate::digest::Digest;

/// The bits of a digest that are stored: 1 to 2^f - 1, never 0, which is the empty slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint(NonZeroU64);

impl Fingerprint {
    /// The least fingerprint, which every width has.
    pub(crate) const LEAST: Self = Self(NonZeroU64::MIN);

    /// The fingerprint with this value; `None` for 0.
    pub(crate) const fn new(value: u64) -> Option<Self> {
        match NonZeroU64::new(value) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }

    /// The value, at least 1.
    #[inline]
    pub(crate) const fn get(self) -> u64 {
        self.0.get()
    }

    /// The low 32 bits, which are the value where fingerprints have no more.
    #[inline]
    pub(crate) const fn low_half(self) -> u32 {
        low_32(self.get())
    }

    /// The fingerprint with further bits.
    #[inline]
    fn with_bits(self, bits: u64) -> Self {
        Self(self.0 | bits)
    }

    /// The fingerprint of a digest, uniform on 1 to `mask` = 2^f - 1, with f at most 32, from the digest's low 32 bits.
    #[inline]
    const fn of(digest: Digest, mask: u32) -> Self {
        Self::with_rest(digest, mask).0
    }

    /// The fingerprint of a digest, and what is left of the digest's low 32 bits: 32 - f bits that are as good as new, at
    /// the top of 32.
    ///
    /// Multiply-shift spreads the 2^32 values evenly; the common trick of adding 1 to a 0 makes 1 twice as likely.
    #[inline]
    const fn with_rest(digest: Digest, mask: u32) -> (Self, u32) {
        let product = low_32(digest.get()) as u64 * mask as u64;
        match NonZeroU64::new((product >> 32) + 1) {
            Some(value) => (Self(value), low_32(product)),
            None => panic!("a value plus 1 is not 0"),
        }
    }
}

/// The place of a bucket in the table, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BucketIndex(u64);

impl BucketIndex {
    pub(crate) const fn new(index: u64) -> Self {
        Self(index)
    }

    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    /// The bucket behind this one.
    #[inline]
    pub(crate) const fn following(self) -> Self {
        Self(self.0 + 1)
    }
}

/// One of a key's candidate buckets, with the start of its region, so that the next one is found without a division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The index of the bucket in the table.
    bucket: u64,
    /// The first bucket of the region that holds all candidate buckets of the key.
    region_start: u64,
}

impl Candidate {
    /// The bucket `offset` buckets behind the start of its region.
    #[inline]
    pub(crate) const fn at(region_start: u64, offset: u64) -> Self {
        Self { bucket: region_start + offset, region_start }
    }

    /// The index of the bucket in the table.
    #[inline]
    pub(crate) const fn bucket(self) -> BucketIndex {
        BucketIndex(self.bucket)
    }

    /// The index of the bucket in its region.
    #[inline]
    pub(crate) const fn offset(self) -> u64 {
        self.bucket - self.region_start
    }

    /// The first bucket of the region.
    #[inline]
    pub(crate) const fn region_start(self) -> u64 {
        self.region_start
    }

    /// The bucket with this offset in the region of this one.
    #[inline]
    const fn with_offset(self, offset: u64) -> Self {
        Self::at(self.region_start, offset)
    }
}

/// A fingerprint with the first two of its candidate buckets; further ones follow from these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) primary: Candidate,
    pub(crate) second: Candidate,
}

/// The buckets of a table, counted through all regions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) region_count: u64,
    pub(crate) buckets_per_region: u64,
}

impl Grid {
    pub(crate) const fn bucket_count(self) -> u64 {
        self.region_count * self.buckets_per_region
    }

    /// The bucket with this number, below [`bucket_count`](Self::bucket_count).
    pub(crate) const fn bucket(self, number: u64) -> Candidate {
        let in_region = number % self.buckets_per_region;
        Candidate::at(number - in_region, in_region)
    }

    /// All buckets in order.
    pub(crate) fn buckets(self) -> impl Iterator<Item = Candidate> {
        (0..self.bucket_count()).map(move |number| self.bucket(number))
    }

    /// The candidate with this index in the table.
    pub(crate) const fn candidate(self, bucket: BucketIndex) -> Candidate {
        let region_start = bucket.get() - bucket.get() % self.buckets_per_region;
        Candidate { bucket: bucket.get(), region_start }
    }
}

/// The most candidate buckets of a key.
pub(crate) const MOST_CANDIDATES: usize = 4;

/// Where the fingerprints of keys may live.
pub(crate) trait Addressing: Copy {
    /// How many candidate buckets a key has; a bucket that occurs twice counts twice.
    const CANDIDATES: usize;

    /// Bits of which every fingerprint that a key has has at least one.
    const TELLING_BITS: u64 = u64::MAX;

    /// The buckets of the table.
    fn grid(&self) -> Grid;

    /// The fingerprint of a key and its candidate buckets. `P` computes products; where several keys are located in a loop, it decides
    /// whether the compiler can make vectors of them.
    fn locate_by<P: Product>(&self, digest: Digest) -> Located;

    /// The fingerprint of a key and its candidate buckets.
    #[inline(always)]
    fn locate(&self, digest: Digest) -> Located {
        self.locate_by::<Whole>(digest)
    }

    /// A fingerprint with its candidate buckets, given any of them.
    #[inline(always)]
    fn located(&self, fingerprint: Fingerprint, candidate: Candidate) -> Located {
        Located { fingerprint, primary: candidate, second: self.alternate(candidate, fingerprint) }
    }

    /// The next candidate bucket of a fingerprint that is, or might be, in this one.
    ///
    /// [`Self::CANDIDATES`] steps lead back to where they started (invariant 3).
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate;

    /// Whether there are fingerprints that keys have, and that some buckets can't hold.
    fn is_choosy(&self) -> bool {
        false
    }

    /// Says of fingerprints whether a key may have them in this bucket. Bytes from outside may have others.
    fn may_hold(&self, _bucket: BucketIndex) -> impl Fn(Fingerprint) -> bool {
        |fingerprint| fingerprint.get() & Self::TELLING_BITS != 0
    }

    /// The candidate buckets that are different from each other.
    #[inline]
    fn distinct_candidates(self, located: Located) -> ArrayVec<Candidate, MOST_CANDIDATES> {
        let Located { fingerprint, primary, second } = located;
        let (mut candidates, mut next) = (ArrayVec::new(), second);
        candidates.push(primary);
        // They are one cycle, so the first bucket to come again is the primary one.
        while next != primary {
            candidates.push(next);
            if candidates.len() == Self::CANDIDATES {
                break;
            }
            next = self.alternate(next, fingerprint);
        }
        candidates
    }

    /// Runs through [`distinct_candidates`](Self::distinct_candidates) as places in the table.
    #[inline]
    fn distinct_buckets(self, located: Located) -> impl Iterator<Item = BucketIndex> {
        self.distinct_candidates(located).into_iter().map(Candidate::bucket)
    }
}

/// The hash of a fingerprint that the alternate bucket is computed with: 64 mixed bits.
///
/// The filter's seed is mixed in, so that which buckets are paired is not public. One folded multiplication is enough,
/// since the offset of the alternate takes its high bits; what growing filters take of its low ones decides only which half
/// of a bucket a fingerprint goes to.
#[inline(always)]
fn hash_of_fingerprint<P: Product>(fingerprint: u64, seed: u64) -> u64 {
    P::folded(fingerprint ^ seed, HASH_MULTIPLIER)
}

/// Further bits of a digest, from the top of 64 down, for fingerprints that take more than its low 32 bits.
///
/// Below the bits that choose a bucket there are others in a digest's upper half, how many depends on the table. The product
/// has all of them in its high bits, so that two digests with one bucket and equal low halves mostly differ there.
#[inline(always)]
const fn extension(digest: Digest) -> u64 {
    digest.get().wrapping_mul(HASH_MULTIPLIER)
}

/// 2^64 divided by the golden ratio.
const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads a seed over 64 bits, so that seeds 0, 1, 2, … are as good as random ones (the finalizer of MurmurHash3).
const fn mix(seed: u64) -> u64 {
    let mut bits = seed ^ 0x6a09_e667_f3bc_c909;
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}

/// Invariant 3, checked for every bucket and every fingerprint of a small table.
#[cfg(test)]
fn assert_candidates_form_a_cycle(addressing: &impl Addressing, region_starts: &[u64], region_size: u64, mask: u64) {
    fn steps_back_to<A: Addressing>(addressing: &A, start: Candidate, fingerprint: Fingerprint, size: u64) {
        let mut candidate = start;
        for _ in 0..A::CANDIDATES {
            candidate = addressing.alternate(candidate, fingerprint);
            assert_eq!(candidate.region_start, start.region_start, "left its region");
            assert!(candidate.offset() < size, "left the table");
        }
        assert_eq!(candidate, start, "{fingerprint:?} of {size} buckets");
    }
    for &region_start in region_starts {
        for offset in 0..region_size {
            for value in 1..=mask {
                let fingerprint = Fingerprint::new(value).expect("counted from 1");
                steps_back_to(addressing, Candidate::at(region_start, offset), fingerprint, region_size);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_never_zero_and_reach_both_ends() {
        for bits in 2..=32 {
            let mask = u32::MAX >> (32 - bits);
            assert_eq!(Fingerprint::of(Digest::new(0), mask).get(), 1);
            assert_eq!(Fingerprint::of(Digest::new(u64::MAX), mask).get(), u64::from(mask));
        }
    }

    #[test]
    fn short_fingerprints_are_equally_likely() {
        // 2^16 equally spaced digests over 2^f - 1 values: each comes up floor or ceil of the share.
        for bits in 2..=8 {
            let mask = u32::MAX >> (32 - bits);
            let mut counts = [0u32; 256];
            for low in 0..=u32::from(u16::MAX) {
                let value = Fingerprint::of(Digest::new(u64::from(low << 16)), mask).get();
                counts[usize::try_from(value).expect("at most 255")] += 1;
            }
            let share = 65_536 / mask;
            let values = &counts[1..=usize::try_from(mask).expect("at most 255")];
            assert!(values.iter().all(|&count| count == share || count == share + 1), "f = {bits}");
            assert_eq!(counts[0], 0);
        }
    }
}
