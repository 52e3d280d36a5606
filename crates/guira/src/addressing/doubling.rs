//! Regional addressing for tables that can be doubled without their keys.

use core::hint::select_unpredictable;

use super::regional::{AnySize, RegionalAddressing};
use super::{Addressing, BucketIndex, Candidate, Fingerprint, Grid, extension, hash_of_fingerprint, mix};
use crate::cast::{Product, Whole, low_32};
use crate::digest::Digest;
use crate::parameters::Parameters;

/// A table that began with regions of s buckets, s even, and was doubled g times.
///
/// A fingerprint consists of a core of 8 bits, which is never 0 and is never given away, and of spare bits above it. A
/// doubling makes two buckets of each; the topmost spare bit says which of them a fingerprint goes to, and is not stored
/// any more. So a bucket of a region is (o, p): o below s as with regional addressing, and p the g bits that were given
/// away. The digest gives (o, γ) and the core gives H and X; the candidates of a key are
///
/// ```text
/// (o, γ) or, where o is odd, (o, γ xor X)      and      (H - o mod s, the one of the two that is left)
/// ```
///
/// Why a fingerprint in either of them tells its next spare bit from the bucket that it goes to: H is odd and s even,
/// so of the two offsets one is even and one odd, and each says by itself whether p is γ or γ xor X.
///
/// Why X: without it a doubling would split each region in two, and the many small regions of a table that began small
/// would have to be filled less and less far. With it a region's candidates stay spread over all of it, however often it
/// is doubled.
///
/// The digest's low 32 bits give the core and 24 bits more: γ and then the spare bits. Where these are more, f + g above 32, the
/// others are an [`extension`], and `LONG` is true. It may be true for other tables too, and whatever no digest is needed for
/// is computed alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoublingAddressing<const LONG: bool = false> {
    /// The table as it began.
    beginning: RegionalAddressing,
    seed: u64,
    doublings: u32,
    /// 2^g: the buckets that were made of each. To multiply by it takes fewer instructions than to shift by g.
    buckets_of_each: u64,
    /// 2^(f - 8): the values of the spare bits.
    spare_values: u64,
    fingerprint_bits: u32,
}

/// The bits of a fingerprint that are never given away. 255 alternates per bucket fill a table as far as any number does.
const CORE_BITS: u32 = Parameters::CORE_BITS;

/// The greatest core.
const CORES: u64 = u64::MAX >> (64 - CORE_BITS);

/// The bits that the low half of a digest has beside the core.
const SHORT_REST_BITS: u32 = Parameters::SHORT_FINGERPRINT_BITS - CORE_BITS;

impl<const LONG: bool> DoublingAddressing<LONG> {
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        let (doublings, seed) = (parameters.doublings(), mix(seed));
        let buckets_in_the_beginning = parameters.buckets_per_region() >> doublings;
        Self {
            beginning: RegionalAddressing::with_measures(
                parameters.region_count(),
                AnySize::new(buckets_in_the_beginning),
                low_32(CORES),
                seed,
            ),
            seed,
            doublings,
            buckets_of_each: 1 << doublings,
            spare_values: 1 << (parameters.fingerprint_bits() - CORE_BITS),
            fingerprint_bits: parameters.fingerprint_bits(),
        }
    }

    /// H, as 64 bits of which the high ones count, and X, whose topmost bit belongs to the first doubling.
    #[inline]
    fn hashes<P: Product>(&self, fingerprint: Fingerprint) -> (u64, u32) {
        let hash = hash_of_fingerprint::<P>(fingerprint.get() & CORES, self.seed);
        (hash, low_32(hash))
    }

    /// The fingerprint of a key, its core, and 32 further bits of the digest, of which the first g are γ.
    #[inline(always)]
    fn fingerprint(&self, digest: Digest) -> (Fingerprint, Fingerprint, u32) {
        let (core, rest) = Fingerprint::with_rest(digest, low_32(CORES));
        if LONG {
            let short = (u64::from(rest) << 32) & !(u64::MAX >> SHORT_REST_BITS);
            let rest = short | (extension(digest) >> SHORT_REST_BITS);
            let spare = Whole::high(rest.wrapping_mul(self.buckets_of_each), self.spare_values);
            (core.with_bits(spare << CORE_BITS), core, low_32(rest >> 32))
        } else {
            let kept = low_32(u64::from(rest) * self.buckets_of_each);
            let spare = (u64::from(kept) * self.spare_values) >> 32;
            (core.with_bits(spare << CORE_BITS), core, rest)
        }
    }

    /// The fingerprint of a key, and the candidates of what the next doubling leaves of it, in the doubled table.
    #[inline(always)]
    pub(crate) fn locate_halves<P: Product>(&self, digest: Digest) -> (Fingerprint, Candidate, Candidate) {
        let (fingerprint, _, _) = self.fingerprint(digest);
        let (_, primary, alternate) = self.after_doubling().locate_pair::<P>(digest);
        (fingerprint, primary, alternate)
    }

    /// The addressing of the doubled table.
    #[inline(always)]
    const fn after_doubling(&self) -> Self {
        Self {
            doublings: self.doublings + 1,
            buckets_of_each: 2 * self.buckets_of_each,
            spare_values: self.spare_values / 2,
            fingerprint_bits: self.fingerprint_bits - 1,
            ..*self
        }
    }

    /// The bucket (o, p), given the bucket o of the table as it began, and 32 bits of which the first g are p.
    ///
    /// One shift moves them behind o, since tables have at most 2^32 buckets.
    #[inline]
    const fn doubled(&self, beginning: Candidate, bits: u32) -> Candidate {
        Candidate {
            bucket: (((beginning.bucket << 32) | bits as u64) * self.buckets_of_each) >> 32,
            region_start: beginning.region_start * self.buckets_of_each,
        }
    }

    /// The bucket o of the table as it began, given the bucket (o, p).
    #[inline]
    const fn beginning_of(&self, bucket: Candidate) -> Candidate {
        Candidate { bucket: bucket.bucket >> self.doublings, region_start: bucket.region_start >> self.doublings }
    }

    /// To which of the two buckets that are made of this one a fingerprint goes: 0 or 1.
    #[inline]
    pub(crate) fn half(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u64 {
        (fingerprint.get() >> (self.fingerprint_bits - 1)) ^ self.next_bit_of_x(bucket, fingerprint)
    }

    /// The bits of a fingerprint that are stored after the next doubling: all but the topmost.
    #[inline]
    pub(crate) const fn rest_bits(&self) -> u64 {
        (1 << (self.fingerprint_bits - 1)) - 1
    }

    /// What is stored of a fingerprint after the next doubling.
    #[inline]
    pub(crate) const fn rest(&self, fingerprint: Fingerprint) -> Fingerprint {
        match Fingerprint::new(fingerprint.get() & self.rest_bits()) {
            Some(rest) => rest,
            // The core is not 0.
            None => fingerprint,
        }
    }

    /// The fingerprint of which only the [`rest`](Self::rest) is stored, in the half of a bucket with this number in the
    /// doubled table.
    #[inline]
    pub(crate) fn restored(&self, half: BucketIndex, rest: Fingerprint) -> Fingerprint {
        let bucket = BucketIndex::new(half.get() / 2);
        let spare_bit = half.get() & 1 ^ self.next_bit_of_x(bucket, rest);
        rest.with_bits(spare_bit << (self.fingerprint_bits - 1))
    }

    /// A fingerprint without so many of its lowest spare bits. No candidate depends on them.
    pub(crate) const fn shortened(fingerprint: Fingerprint, left_out: u32) -> Fingerprint {
        let (core, spare) = (fingerprint.get() & CORES, fingerprint.get() >> CORE_BITS);
        match Fingerprint::new((spare >> left_out) << CORE_BITS | core) {
            Some(shortened) => shortened,
            None => fingerprint,
        }
    }

    /// The exclusive or of the next spare bit of a fingerprint and the half of its bucket that it goes to.
    #[inline]
    fn next_bit_of_x(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u64 {
        let (_, x) = self.hashes::<Whole>(fingerprint);
        // Both bits are those of random numbers, so nothing branches on them.
        u64::from(x >> (31 - self.doublings)) & (bucket.get() >> self.doublings) & 1
    }
}

/// Whether o is odd, given the number of the bucket in the table as it began: regions begin at an even one.
#[inline]
const fn is_odd(beginning: u64) -> bool {
    beginning & 1 == 1
}

impl<const LONG: bool> Addressing for DoublingAddressing<LONG> {
    const CANDIDATES: usize = 2;
    const TELLING_BITS: u64 = CORES;

    fn grid(&self) -> Grid {
        let Grid { region_count, buckets_per_region } = self.beginning.grid();
        Grid { region_count, buckets_per_region: buckets_per_region << self.doublings }
    }

    #[inline]
    fn locate(&self, digest: Digest) -> (Fingerprint, Candidate) {
        let (fingerprint, primary, _) = self.locate_pair::<Whole>(digest);
        (fingerprint, primary)
    }

    #[inline(always)]
    fn locate_pair<P: Product>(&self, digest: Digest) -> (Fingerprint, Candidate, Candidate) {
        let (fingerprint, core, rest) = self.fingerprint(digest);
        let (hash, x) = self.hashes::<P>(core);
        let beginning = self.beginning.primary::<P>(digest);
        let p = rest ^ select_unpredictable(is_odd(beginning.bucket), x, 0);
        let primary = self.doubled(beginning, p);
        let alternate = self.doubled(self.beginning.opposite::<P>(beginning, hash), p ^ x);
        (fingerprint, primary, alternate)
    }

    #[inline]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        let (hash, x) = self.hashes::<Whole>(fingerprint);
        let p = low_32(candidate.bucket << (32 - self.doublings));
        self.doubled(self.beginning.opposite::<Whole>(self.beginning_of(candidate), hash), p ^ x)
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_candidates_form_a_cycle;
    use super::*;
    use crate::parameters::{self, Layout, Regions, Shape};

    fn addressing(regions: u64, beginning: u64, fingerprint_bits: u32, doublings: u32) -> DoublingAddressing {
        any_addressing(regions, beginning, fingerprint_bits, doublings)
    }

    fn any_addressing<const LONG: bool>(
        regions: u64,
        beginning: u64,
        fingerprint_bits: u32,
        doublings: u32,
    ) -> DoublingAddressing<LONG> {
        let shape = Shape::new(Layout::Packed, parameters::Addressing::Doubling, 4).expect("there is such a table");
        let regions = Regions { count: regions, buckets: beginning << doublings };
        let parameters = Parameters::new(shape, fingerprint_bits, regions, 0)
            .and_then(|parameters| parameters.doubled(doublings))
            .expect("there is such a table");
        DoublingAddressing::new(&parameters, 5)
    }

    fn digests() -> impl Iterator<Item = Digest> {
        (1..2000u64).map(|number| Digest::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    #[test]
    fn candidates_form_a_cycle_after_any_number_of_doublings() {
        for beginning in [2, 4, 6, 10, 36] {
            for doublings in 0..4 {
                let size = beginning << doublings;
                let addressing = addressing(2, beginning, 10, doublings);
                assert_candidates_form_a_cycle(&addressing, &[0, size], size, CORES);
            }
        }
    }

    fn assert_both_candidates_split<const LONG: bool>(bits: u32, beginning: u64, doublings: u32) {
        let before = any_addressing::<LONG>(3, beginning, bits, doublings);
        let after = any_addressing::<LONG>(3, beginning, bits - 1, doublings + 1);
        for digest in digests() {
            let (fingerprint, primary) = before.locate(digest);
            let alternate = before.alternate(primary, fingerprint);
            let (rest, new_primary) = after.locate(digest);
            let new_alternate = after.alternate(new_primary, rest);
            assert_eq!(before.rest(fingerprint), rest);
            for (bucket, half) in [(primary, new_primary), (alternate, new_alternate)] {
                let (bucket, half) = (bucket.bucket(), half.bucket());
                assert_eq!(2 * bucket.get() + before.half(bucket, fingerprint), half.get());
                assert_eq!(before.restored(half, rest), fingerprint);
            }
        }
    }

    #[test]
    fn both_candidates_of_a_key_split_into_its_candidates_in_the_doubled_table() {
        for beginning in [2, 6, 50] {
            for doublings in 0..12 {
                assert_both_candidates_split::<false>(20, beginning, doublings);
                assert_both_candidates_split::<true>(44, beginning, doublings);
            }
        }
        // With more places given away than the low half of a digest has bits for.
        for doublings in 20..26 {
            assert_both_candidates_split::<true>(30, 2, doublings);
        }
    }

    #[test]
    fn a_shorter_fingerprint_has_the_same_candidates() {
        for doublings in [0, 1, 5] {
            for (bits, left_out) in [(20, 1), (20, 12), (9, 1), (27, 3), (51, 1), (40, 20), (51, 43)] {
                let long = any_addressing::<true>(3, 10, bits, doublings);
                let short = any_addressing::<true>(3, 10, bits - left_out, doublings);
                for digest in digests() {
                    let (fingerprint, primary) = long.locate(digest);
                    let (expected, same_primary) = short.locate(digest);
                    assert_eq!(DoublingAddressing::<true>::shortened(fingerprint, left_out), expected);
                    assert_eq!(primary, same_primary);
                    assert_eq!(long.alternate(primary, fingerprint), short.alternate(primary, expected));
                }
            }
        }
    }

    #[test]
    fn the_low_half_of_a_digest_gives_short_fingerprints_in_both_ways() {
        for (bits, doublings) in [(8, 0), (32, 0), (8, 24), (9, 23), (13, 4)] {
            let short = addressing(3, 10, bits, doublings);
            let long = any_addressing::<true>(3, 10, bits, doublings);
            for digest in digests() {
                assert_eq!(short.locate_pair::<Whole>(digest), long.locate_pair::<Whole>(digest), "{bits} {doublings}");
            }
        }
    }

    fn assert_all_bits_are_possible<const LONG: bool>(bits: u32, doublings: u32) {
        let addressing = any_addressing::<LONG>(1, 2, bits, doublings);
        let mut all = 0;
        for digest in digests() {
            let (fingerprint, primary) = addressing.locate(digest);
            assert_ne!(fingerprint.get() & CORES, 0);
            assert!(fingerprint.get() < 1 << bits);
            assert!(primary.offset() < 2 << doublings);
            all |= fingerprint.get();
        }
        assert_eq!(all, u64::MAX >> (64 - bits), "some of {bits} bits are never set");
    }

    #[test]
    fn a_fingerprint_of_the_core_alone_and_the_longest_are_possible() {
        for (bits, doublings) in [(8, 0), (32, 0), (8, 24), (9, 23)] {
            assert_all_bits_are_possible::<false>(bits, doublings);
        }
        for (bits, doublings) in [(56, 0), (33, 0), (32, 24), (8, 31)] {
            assert_all_bits_are_possible::<true>(bits, doublings);
        }
    }

    #[test]
    fn the_bits_that_were_given_away_are_spread_evenly() {
        // 64 places, 2^18 digests: binomial with a mean of 4096 and a standard deviation of 64; six of them are
        // exceeded once in 10^9.
        let addressing = addressing(1, 2, 13, 5);
        let mut counts = [0i64; 64];
        for number in 0..1 << 18 {
            let (fingerprint, primary) = addressing.locate(Digest::new(mix(number)));
            counts[usize::try_from(addressing.alternate(primary, fingerprint).offset()).expect("small")] += 1;
        }
        assert!(counts.iter().all(|count| (count - 4096).abs() < 6 * 64), "{counts:?}");
    }
}
