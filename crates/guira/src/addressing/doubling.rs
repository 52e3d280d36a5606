//! Regional addressing for tables that can be doubled without their keys.

use core::hint::select_unpredictable;

use super::regional::{AnySize, RegionalAddressing};
use super::{Addressing, BucketIndex, Candidate, Fingerprint, Grid, Located, extension, hash_of_fingerprint, mix};
use crate::cast::{Product, Whole, low_32};
use crate::digest::Digest;
use crate::parameters::{Parameters, Regions};

/// A table that began with regions of s buckets, s even, and was doubled g times, and perhaps half a time more.
///
/// A fingerprint consists of a core of 8 bits, which is never 0 and is never given away, and of spare bits above it. A
/// doubling makes two buckets of each; the topmost spare bit says which of them a fingerprint goes to, and is not stored
/// any more. So a bucket of a region is (o, p): o below s as with regional addressing, and p the g bits that were given
/// away. The digest gives o and γ, and the core gives H and X. H is odd and s even, so of o and H - o mod s one is even and one odd,
/// and the candidates of a key are
///
/// ```text
/// (the even one, γ)      and      (the odd one, γ xor X)
/// ```
///
/// of which the first counts as the primary bucket. So each tells a fingerprint's next spare bit from the bucket that it goes to.
///
/// Why X: without it a doubling would split each region in two, and the many small regions of a table that began small
/// would have to be filled less and less far. With it a region's candidates stay spread over all of it, however often it
/// is doubled.
///
/// A table is doubled in two halves. In the first, the buckets with odd o become two: their p has g + 1 bits, and
/// fingerprints keep the bit that says which, since it is needed where o is even. As every key has one candidate of either kind, all of
/// them have a bucket that is half as full as before. In the second half the others follow, and the bit is given away. In between, a pair of
/// an even and an odd o has three buckets for each p of g bits, in this order.
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
    /// Those of each with an odd offset: as many, or 2^(g + 1) where these have been doubled once more.
    buckets_of_odd: u64,
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
        let Regions { count, buckets } = parameters.regions_at_first();
        Self {
            beginning: RegionalAddressing::with_measures(count, AnySize::new(buckets), low_32(CORES), seed),
            seed,
            doublings,
            buckets_of_each: 1 << doublings,
            buckets_of_odd: 1 << (doublings + u32::from(parameters.shape().is_half_doubled())),
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

    /// The fingerprint of a key, and its candidates among the [`Half`]s that the doubling ends with.
    #[inline(always)]
    pub(crate) fn locate_halves<P: Product>(&self, digest: Digest) -> Located {
        let (fingerprint, _, _) = self.fingerprint(digest);
        Located { fingerprint, ..self.after_doubling().locate_by::<P>(digest) }
    }

    /// The other candidate of a fingerprint that belongs to this half.
    #[inline(always)]
    pub(crate) fn other_half(&self, half: Candidate, fingerprint: Fingerprint) -> Candidate {
        self.after_doubling().alternate(half, fingerprint)
    }

    /// All [`Half`]s.
    pub(crate) fn halves(&self) -> Grid {
        self.after_doubling().grid()
    }

    /// The addressing of the doubled table.
    #[inline(always)]
    const fn after_doubling(&self) -> Self {
        Self {
            beginning: self.beginning,
            seed: self.seed,
            doublings: self.doublings + 1,
            buckets_of_each: 2 * self.buckets_of_each,
            buckets_of_odd: 2 * self.buckets_of_each,
            spare_values: self.spare_values / 2,
            fingerprint_bits: self.fingerprint_bits - 1,
        }
    }

    /// The buckets that were made of all below o; of the pair that an odd o is in, half.
    #[inline(always)]
    const fn buckets_below(&self, o: u64) -> u64 {
        (o * (self.buckets_of_each + self.buckets_of_odd)) / 2
    }

    /// The bucket (o, p) where o is even, given 32 bits that p begins.
    #[inline(always)]
    const fn of_even(&self, o: u64, bits: u32) -> u64 {
        self.buckets_below(o) + ((bits as u64 * self.buckets_of_each) >> 32)
    }

    /// The bucket (o, p) where o is odd, given 32 bits that p begins.
    #[inline(always)]
    const fn of_odd(&self, o: u64, bits: u32) -> u64 {
        // Half a pair may be more than what is below it of its own pair. Where o is even, nobody asks for the result.
        let start = self.buckets_below(o).wrapping_sub((self.buckets_of_odd - self.buckets_of_each) / 2);
        start.wrapping_add((bits as u64 * self.buckets_of_odd) >> 32)
    }

    /// The bucket o of the table as it began, and 32 bits that p begins, given the bucket (o, p) of a table that is half doubled. Where o
    /// is even, the fingerprint has the last bit of p.
    #[inline]
    fn beginning_of(&self, bucket: u64, fingerprint: Fingerprint) -> (u64, u32) {
        let (thirds, p) = self.split_off(bucket);
        let (pair, third) = (thirds / 3, thirds % 3);
        let of_even = p | low_32(fingerprint.get() >> (self.fingerprint_bits - 1)) << (31 - self.doublings);
        let of_odd = p >> 1 | low_32(third >> 1) << 31;
        (2 * pair + u64::from(third > 0), select_unpredictable(third > 0, of_odd, of_even))
    }

    /// The high bits of a bucket's number, and the g low ones, which 32 bits begin with.
    #[inline(always)]
    const fn split_off(&self, bucket: u64) -> (u64, u32) {
        (bucket >> self.doublings, low_32(bucket << (32 - self.doublings)))
    }

    /// How many buckets the table had when all had been doubled as often.
    pub(crate) fn buckets_before_halves(&self) -> u64 {
        self.beginning.grid().bucket_count() * self.buckets_of_each
    }

    /// The bucket that a half is, or is a part of.
    #[inline(always)]
    pub(crate) fn bucket_of_half(&self, half: Half) -> BucketIndex {
        let half = half.get();
        BucketIndex::new(if self.is_half_doubled() { self.among_thirds(half) } else { half / 2 })
    }

    /// The bucket that a half is, or is a part of, in the table that comes after this one.
    #[inline(always)]
    pub(crate) fn next_bucket_of_half(&self, half: Half) -> BucketIndex {
        let half = half.get();
        BucketIndex::new(if self.is_half_doubled() { half } else { self.among_thirds(half) })
    }

    /// The bucket that a half is, or is a part of, where odd buckets have become two.
    #[inline(always)]
    fn among_thirds(&self, half: u64) -> u64 {
        let of_pair = half & (4 * self.buckets_of_each - 1);
        let is_odd = of_pair >= 2 * self.buckets_of_each;
        // Two parts in four are those of the even bucket, which take one in three.
        let third = select_unpredictable(is_odd, of_pair.wrapping_sub(self.buckets_of_each), of_pair / 2);
        3 * ((half - of_pair) / 4) + third
    }

    /// The first half of which a bucket consists.
    pub(crate) fn half_of_bucket(&self, bucket: BucketIndex) -> Half {
        Half::new(if self.is_half_doubled() { self.of_thirds(bucket.get()) } else { 2 * bucket.get() })
    }

    /// The first half of which a bucket consists in the table that comes after this one.
    pub(crate) fn half_of_next_bucket(&self, bucket: BucketIndex) -> Half {
        Half::new(if self.is_half_doubled() { bucket.get() } else { self.of_thirds(bucket.get()) })
    }

    fn of_thirds(&self, bucket: u64) -> u64 {
        let pair = (bucket >> self.doublings) / 3;
        let third = bucket - 3 * pair * self.buckets_of_each;
        let of_pair = if third < self.buckets_of_each { 2 * third } else { third + self.buckets_of_each };
        4 * pair * self.buckets_of_each + of_pair
    }

    /// Whether the bucket with this half is one with an odd offset, which becomes two first.
    #[inline(always)]
    pub(crate) const fn is_of_odd(&self, half: Half) -> bool {
        half.get() & (2 * self.buckets_of_each) != 0
    }

    /// Whether odd buckets have become two already, so that the others do next.
    #[inline(always)]
    pub(crate) const fn is_half_doubled(&self) -> bool {
        self.buckets_of_odd != self.buckets_of_each
    }

    /// The half that a fingerprint goes to of two that were one bucket when all had been doubled as often, given either.
    #[inline]
    pub(crate) fn half(&self, either: Half, fingerprint: Fingerprint) -> Half {
        let second = u64::from(self.is_second_of_even(fingerprint.get())) ^ self.next_bit_of_x(either, fingerprint);
        Half::new(either.get() & !1 | second)
    }

    /// Whether a fingerprint, or what an empty slot holds, goes to the second of the two that become of a bucket with an even offset.
    #[inline(always)]
    pub(crate) const fn is_second_of_even(&self, fingerprint_or_empty: u64) -> bool {
        fingerprint_or_empty >> (self.fingerprint_bits - 1) & 1 == 1
    }

    /// Whether a fingerprint, or what an empty slot holds, goes to the second of the two that become of a bucket with an odd offset.
    #[inline(always)]
    pub(crate) fn is_second_of_odd(&self, fingerprint_or_empty: u64) -> bool {
        self.is_second_of_even(fingerprint_or_empty) ^ (self.bit_of_x(fingerprint_or_empty) == 1)
    }

    /// The bit of X that belongs to the next doubling.
    #[inline(always)]
    fn bit_of_x(&self, fingerprint_or_empty: u64) -> u64 {
        let x = low_32(hash_of_fingerprint::<Whole>(fingerprint_or_empty & CORES, self.seed));
        u64::from(x >> (31 - self.doublings) & 1)
    }

    /// The bits of a fingerprint that are stored in the next table: all but the topmost, unless only odd buckets become two.
    #[inline]
    pub(crate) fn rest_bits(&self) -> u64 {
        (1 << (self.fingerprint_bits - u32::from(self.is_half_doubled()))) - 1
    }

    /// What is stored of a fingerprint in the next table.
    #[inline]
    pub(crate) fn rest(&self, fingerprint: Fingerprint) -> Fingerprint {
        match Fingerprint::new(fingerprint.get() & self.rest_bits()) {
            Some(rest) => rest,
            // The core is not 0.
            None => fingerprint,
        }
    }

    /// The bucket of the next table that a fingerprint goes to, and what is stored of it there.
    pub(crate) fn moved(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> (BucketIndex, Fingerprint) {
        let half = self.half(self.half_of_bucket(bucket), fingerprint);
        (self.next_bucket_of_half(half), self.rest(fingerprint))
    }

    /// The fingerprint of which only the [`rest`](Self::rest) is stored, in this half.
    #[inline]
    pub(crate) fn restored(&self, half: Half, rest: Fingerprint) -> Fingerprint {
        if !self.is_half_doubled() {
            return rest;
        }
        let spare_bit = half.get() & 1 ^ self.next_bit_of_x(half, rest);
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
    fn next_bit_of_x(&self, half: Half, fingerprint: Fingerprint) -> u64 {
        // Both bits are those of random numbers, so nothing branches on them.
        self.bit_of_x(fingerprint.get()) & u64::from(self.is_of_odd(half))
    }
}

/// Half of a bucket of the table before a doubling: its number is that of a bucket when the doubling is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half(u64);

impl Half {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    pub(crate) const fn get(self) -> u64 {
        self.0
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

    fn is_choosy(&self) -> bool {
        self.is_half_doubled()
    }

    /// Where odd buckets have become two, a bit of the fingerprint says which of them it is in.
    #[inline]
    fn may_hold(&self, bucket: BucketIndex) -> impl Fn(Fingerprint) -> bool {
        let half = self.half_of_bucket(bucket);
        let is_one_of_two = self.is_half_doubled() & self.is_of_odd(half);
        move |fingerprint| {
            fingerprint.get() & Self::TELLING_BITS != 0 && (!is_one_of_two || self.half(half, fingerprint) == half)
        }
    }

    fn grid(&self) -> Grid {
        let Grid { region_count, buckets_per_region } = self.beginning.grid();
        Grid { region_count, buckets_per_region: self.buckets_below(buckets_per_region) }
    }

    #[inline(always)]
    fn locate_by<P: Product>(&self, digest: Digest) -> Located {
        let (fingerprint, core, rest) = self.fingerprint(digest);
        let (hash, x) = self.hashes::<P>(core);
        let first = self.beginning.primary::<P>(digest);
        let second = self.beginning.opposite::<P>(first, hash).bucket;
        let is_odd = is_odd(first.bucket);
        let even = select_unpredictable(is_odd, second, first.bucket);
        let odd = select_unpredictable(is_odd, first.bucket, second);
        let region_start = self.buckets_below(first.region_start);
        let [primary, second] =
            [self.of_even(even, rest), self.of_odd(odd, rest ^ x)].map(|bucket| Candidate { bucket, region_start });
        Located { fingerprint, primary, second }
    }

    #[inline(always)]
    fn alternate(&self, candidate: Candidate, fingerprint: Fingerprint) -> Candidate {
        let (hash, x) = self.hashes::<Whole>(fingerprint);
        // Within the region, so that its start need not be found in the table as it began.
        let opposite = |o| self.beginning.opposite::<Whole>(Candidate::at(0, o), hash).bucket;
        candidate.with_offset(if self.is_half_doubled() {
            let (o, p) = self.beginning_of(candidate.offset(), fingerprint);
            let (opposite, bits) = (opposite(o), p ^ x);
            select_unpredictable(is_odd(o), self.of_even(opposite, bits), self.of_odd(opposite, bits))
        } else {
            // One shift moves the bits of p behind o, since tables have at most 2^32 buckets.
            let (o, p) = self.split_off(candidate.offset());
            (((opposite(o) << 32) | u64::from(p ^ x)) * self.buckets_of_each) >> 32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_candidates_form_a_cycle;
    use super::*;
    use crate::parameters::{self, Layout, Shape};

    fn addressing(regions: u64, beginning: u64, fingerprint_bits: u32, doublings: u32) -> DoublingAddressing {
        any_addressing(regions, beginning, fingerprint_bits, 2 * doublings)
    }

    fn any_addressing<const LONG: bool>(
        regions: u64,
        beginning: u64,
        fingerprint_bits: u32,
        half_doublings: u32,
    ) -> DoublingAddressing<LONG> {
        let is_half_doubled = half_doublings % 2 == 1;
        let shape = Shape::new(Layout::Packed, parameters::Addressing::Doubling, 4).expect("there is such a table");
        let regions = Regions { count: regions, buckets: beginning << (half_doublings / 2) };
        let regions = if is_half_doubled { regions.half_doubled() } else { regions };
        let parameters = Parameters::new(shape.half_doubled(is_half_doubled), fingerprint_bits, regions, 0)
            .and_then(|parameters| parameters.half_doubled(half_doublings))
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

    /// A fingerprint of a table that is half doubled says itself in which of the odd buckets it can be.
    #[test]
    fn candidates_form_a_cycle_in_tables_that_are_half_doubled() {
        for (beginning, doublings) in [2, 6, 50].into_iter().flat_map(|beginning| [0, 1, 5].map(|it| (beginning, it))) {
            let addressing = any_addressing::<false>(3, beginning, 20, 2 * doublings + 1);
            let size = addressing.grid().buckets_per_region;
            assert_eq!(size, (beginning << doublings) / 2 * 3);
            let mut reached = [0_u32; 3];
            for digest in digests() {
                let located = addressing.locate(digest);
                let Located { fingerprint, primary, second: alternate } = located;
                assert_eq!(addressing.located(fingerprint, primary), located);
                assert_eq!(addressing.alternate(alternate, fingerprint), primary);
                assert!(primary.offset() < size && alternate.offset() < size && primary != alternate);
                let third =
                    |candidate: Candidate| usize::try_from((candidate.bucket().get() >> doublings) % 3).expect("2");
                assert_eq!(third(primary), 0);
                reached[third(alternate)] += 1;
            }
            // Half of all alternate buckets are each of the odd ones; the binomial law leaves six deviations of 22.4 once in 10^9.
            assert!(reached[0] == 0 && reached[1].abs_diff(reached[2]) < 2 * 6 * 22, "{reached:?}");
        }
    }

    /// From a table to the one that is half doubled, and on to the one that is doubled.
    fn assert_both_candidates_split<const LONG: bool>(bits: u32, beginning: u64, doublings: u32) {
        let before = any_addressing::<LONG>(3, beginning, bits, 2 * doublings);
        let between = any_addressing::<LONG>(3, beginning, bits, 2 * doublings + 1);
        let after = any_addressing::<LONG>(3, beginning, bits - 1, 2 * doublings + 2);
        for digest in digests() {
            assert_next_holds(&before, &between, digest);
            assert_next_holds(&between, &after, digest);
        }
    }

    fn assert_next_holds<const LONG: bool>(
        before: &DoublingAddressing<LONG>,
        after: &DoublingAddressing<LONG>,
        digest: Digest,
    ) {
        let [located, next] = [before, after].map(|addressing| {
            let located = addressing.locate(digest);
            assert_eq!(addressing.located(located.fingerprint, located.primary), located);
            located
        });
        let (fingerprint, rest) = (located.fingerprint, next.fingerprint);
        let halves = before.locate_halves::<Whole>(digest);
        for (bucket, next, half) in
            [(located.primary, next.primary, halves.primary), (located.second, next.second, halves.second)]
        {
            let (bucket, next, half) = (bucket.bucket(), next.bucket(), Half::new(half.bucket().get()));
            assert_eq!(before.moved(bucket, fingerprint), (next, rest));
            assert_eq!(before.restored(before.half_of_next_bucket(next), rest), fingerprint);
            assert_eq!(before.bucket_of_half(half), bucket);
            assert_eq!(before.next_bucket_of_half(half), next);
            assert_eq!(before.bucket_of_half(before.half_of_bucket(bucket)), bucket);
            assert_eq!(before.next_bucket_of_half(before.half_of_next_bucket(next)), next);
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
    fn halves_are_counted_through_in_both_tables() {
        let even = any_addressing::<false>(3, 10, 20, 6);
        let half_doubled = any_addressing::<false>(3, 10, 20, 7);
        assert_eq!(even.buckets_before_halves(), 240);
        assert_eq!(half_doubled.buckets_before_halves(), 240);
        let mut bucket = 0;
        for half in (0..480).map(Half::new) {
            // Of eight buckets that were one at first, these have even offsets, and are one bucket as long as they can be.
            let (is_second, is_odd) = (half.get() % 2 == 1, half.get() / 16 % 2 == 1);
            assert_eq!(even.is_of_odd(half), is_odd);
            assert_eq!(even.bucket_of_half(half).get(), half.get() / 2);
            assert_eq!(half_doubled.next_bucket_of_half(half).get(), half.get());
            if half.get() > 0 && (is_odd || !is_second) {
                bucket += 1;
            }
            assert_eq!(even.next_bucket_of_half(half).get(), bucket);
            assert_eq!(half_doubled.bucket_of_half(half).get(), bucket);
        }
        assert_eq!(bucket, 359);
    }

    #[test]
    fn a_shorter_fingerprint_has_the_same_candidates() {
        for doublings in [0, 1, 5] {
            for (bits, left_out) in [(20, 1), (20, 12), (9, 1), (27, 3), (51, 1), (40, 20), (51, 43)] {
                let long = any_addressing::<true>(3, 10, bits, 2 * doublings);
                let short = any_addressing::<true>(3, 10, bits - left_out, 2 * doublings);
                for digest in digests() {
                    let (located, expected) = (long.locate(digest), short.locate(digest));
                    let fingerprint = DoublingAddressing::<true>::shortened(located.fingerprint, left_out);
                    assert_eq!(Located { fingerprint, ..located }, expected);
                    assert_eq!(long.located(located.fingerprint, located.primary), located);
                    assert_eq!(short.located(expected.fingerprint, expected.primary), expected);
                }
            }
        }
    }

    #[test]
    fn the_low_half_of_a_digest_gives_short_fingerprints_in_both_ways() {
        for (bits, doublings) in [(8, 0), (32, 0), (8, 24), (9, 23), (13, 4)] {
            let short = addressing(3, 10, bits, doublings);
            let long = any_addressing::<true>(3, 10, bits, 2 * doublings);
            for digest in digests() {
                assert_eq!(short.locate(digest), long.locate(digest), "{bits} {doublings}");
            }
        }
    }

    fn assert_all_bits_are_possible<const LONG: bool>(bits: u32, doublings: u32) {
        let addressing = any_addressing::<LONG>(1, 2, bits, 2 * doublings);
        let mut all = 0;
        for digest in digests() {
            let Located { fingerprint, primary, .. } = addressing.locate(digest);
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
        // 64 places, 2^18 digests, two of each, one in the first half of the places: binomial with a mean of 8192 and a standard
        // deviation of 89; six of them are exceeded once in 10^9.
        let addressing = addressing(1, 2, 13, 5);
        let mut counts = [0i64; 64];
        for number in 0..1 << 18 {
            let Located { primary, second, .. } = addressing.locate(Digest::new(mix(number)));
            for candidate in [primary, second] {
                counts[usize::try_from(candidate.offset()).expect("small")] += 1;
            }
        }
        assert!(counts.iter().all(|count| (count - 8192).abs() < 6 * 89), "{counts:?}");
    }
}
