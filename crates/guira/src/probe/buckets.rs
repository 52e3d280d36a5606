//! Buckets that are read without comparing each with the end of the table: their numbers are known to be below that of all
//! buckets from how they are computed here, and the table to be as long once for all of them.

use core::hint::select_unpredictable;

use super::bytes::{Bytes, End};

/// The number of a bucket that is less than the number of all buckets. Only [`Buckets`] make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Below {
    number: u64,
    count: u64,
}

/// So many buckets of equally many bits, one after the other, in equal regions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    regions: u64,
    /// The buckets of a region.
    size: u64,
    count: u64,
    bits: u64,
    /// The bytes of a bucket, if it starts at one.
    stride: u64,
    /// Where the 64 bits end that start in the byte in which the upper half of the last bucket starts; behind all memory if there
    /// is no such bucket.
    end: End,
    ways: Ways,
}

/// In which regions buckets are read, and how; nothing where they are not to be read.
///
/// What the first four say follows from the others. They are there for lookups, so that each is asked for in one step: in a loop over keys
/// the compiler then asks once, and makes a loop for each answer, where it would look at a single number to choose by for each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ways {
    pub(crate) bytes_of_65536: bool,
    pub(crate) bits_of_65536: bool,
    pub(crate) bytes_of_one: bool,
    pub(crate) bits_of_one: bool,
    /// Each bucket as one word, in regions of 2^16 buckets.
    pub(crate) words_of_65536: bool,
    /// In a single region of another size.
    pub(crate) words_of_one: bool,
    /// In several regions of another size.
    pub(crate) words_of_several: bool,
    pub(crate) start_at_bytes: bool,
    /// Each bucket in two halves, in regions of any kind.
    pub(crate) halves: bool,
    pub(crate) halves_of_65536: bool,
}

impl Ways {
    /// Each bucket is read as one word or, in halves, as two; as none it is not read.
    fn new(regions: u64, size: u64, bits: u64, words: Option<u32>) -> Self {
        let at_bytes = bits.is_multiple_of(8);
        let (words, halves) = (words == Some(1), words == Some(2));
        let bytes = words && at_bytes;
        let of_65536 = size == 1 << 16;
        let of_one = regions == 1 && !of_65536;
        Self {
            bytes_of_65536: bytes && of_65536,
            bits_of_65536: words && !bytes && of_65536,
            bytes_of_one: bytes && of_one,
            bits_of_one: words && !bytes && of_one,
            words_of_65536: words && of_65536,
            words_of_one: words && of_one,
            words_of_several: words && !of_65536 && !of_one,
            start_at_bytes: at_bytes && (words || halves),
            halves,
            halves_of_65536: halves && of_65536,
        }
    }
}

impl Extent {
    /// `regions` regions of `size` buckets of `bits` bits, each of which is read as one word, or in halves as two. Without words it has no
    /// way, and its buckets are not to be read.
    pub(crate) fn new(regions: u64, size: u64, bits: u32, words: Option<u32>) -> Self {
        let (count, bits) = (regions.saturating_mul(size), u64::from(bits));
        let end = match count.saturating_sub(1).checked_mul(bits) {
            Some(last) if count > 0 && count < u64::MAX => (last + bits / 2) / 8 + 8,
            _ => u64::MAX,
        };
        let (end, ways) = (End::after(end), Ways::new(regions, size, bits, words));
        Self { regions, size, count, bits, stride: bits / 8, end, ways }
    }

    #[inline(always)]
    pub(crate) const fn ways(&self) -> &Ways {
        &self.ways
    }

    /// The buckets in this memory, which must not end before the last one.
    #[inline(always)]
    pub(crate) fn over<M: Bytes>(self, memory: M) -> Buckets<M> {
        if !memory.reaches(self.end) {
            too_few_bytes();
        }
        Buckets { memory, extent: self }
    }
}

#[cold]
#[inline(never)]
const fn too_few_bytes() -> ! {
    panic!("a table that ends before its last bucket")
}

/// Kinds of equal regions.
pub(crate) trait Regions: Copy {
    /// Whether all regions are of this kind, and are read in one of its ways.
    fn are_of(extent: &Extent) -> bool;

    /// The bucket to which a digest leads, read as a fraction of 1, and the opposite one in its region: the sum of their offsets there is
    /// what a hash picks of the sums modulo the size, of the odd ones where that is even, of all where it is odd.
    fn candidates(extent: &Extent, digest: u64, hash: u64) -> [u64; 2];
}

/// A single region of any size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneRegion;

/// Regions of 2^16 buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Regions65536;

/// Any number of regions of any size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyRegions;

impl Regions for OneRegion {
    #[inline(always)]
    fn are_of(extent: &Extent) -> bool {
        extent.ways.bytes_of_one | extent.ways.bits_of_one | extent.ways.words_of_one
    }

    #[inline(always)]
    fn candidates(extent: &Extent, digest: u64, hash: u64) -> [u64; 2] {
        candidates_in(0, extent.count, digest, hash)
    }
}

impl Regions for Regions65536 {
    #[inline(always)]
    fn are_of(extent: &Extent) -> bool {
        let ways = &extent.ways;
        ways.bytes_of_65536 | ways.bits_of_65536 | ways.words_of_65536 | ways.halves_of_65536
    }

    #[inline(always)]
    fn candidates(extent: &Extent, digest: u64, hash: u64) -> [u64; 2] {
        // The fraction is less than 1, so the product is less than the count.
        let bucket = high(digest, extent.count);
        // Other low bits of a number, whose region is one of those that end before the count.
        [bucket, (bucket & !0xffff) | (((hash >> 48) | 1).wrapping_sub(bucket) & 0xffff)]
    }
}

impl Regions for AnyRegions {
    #[inline(always)]
    fn are_of(_extent: &Extent) -> bool {
        true
    }

    #[inline(always)]
    fn candidates(extent: &Extent, digest: u64, hash: u64) -> [u64; 2] {
        // A region is less than their number, and what is left of the fraction leads to a bucket of it.
        let (region, fraction) = (high(digest, extent.regions), digest.wrapping_mul(extent.regions));
        candidates_in(region * extent.size, extent.size, fraction, hash)
    }
}

/// [`Regions::candidates`] in a region that starts with bucket `start`.
#[inline(always)]
fn candidates_in(start: u64, size: u64, fraction: u64, hash: u64) -> [u64; 2] {
    let offset = high(fraction, size);
    // Less than the size: an even number below an even one is at least 2 less.
    let sum = high(hash, size) | (!size & 1);
    // The difference of two numbers below the size is between its negative and itself.
    let (difference, borrowed) = sum.overflowing_sub(offset);
    // True for every second key, at random: a branch would be mispredicted half of the time.
    let opposite = difference.wrapping_add(select_unpredictable(borrowed, size, 0));
    [start + offset, start + opposite]
}

/// Memory that holds buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets<M> {
    memory: M,
    extent: Extent,
}

impl<M> Buckets<M> {
    /// Whether all regions are of this kind.
    #[inline(always)]
    fn are_in<R: Regions>(&self) -> bool {
        R::are_of(&self.extent)
    }

    /// The bucket that a digest leads to, read as a fraction of 1, and the opposite one in its region that a hash picks. The regions
    /// [are](Self::are_in) of this kind.
    #[inline(always)]
    pub(crate) fn candidates<R: Regions>(&self, digest: u64, hash: u64) -> [Below; 2] {
        if !self.are_in::<R>() {
            other_buckets();
        }
        let count = self.extent.count;
        R::candidates(&self.extent, digest, hash).map(|number| Below { number, count })
    }

    /// The number of a bucket, and those of the first bits of its lower and upper half, 0 or 1, in the table.
    #[cfg(feature = "concurrent")]
    #[inline(always)]
    pub(crate) fn number_and_bit(&self, bucket: Below, half: u64) -> (u64, u64) {
        (bucket.number, bucket.number * self.extent.bits + half * (self.extent.bits / 2))
    }

    /// The byte in which a bucket starts, and how many bits come before it there.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a position in memory")]
    fn position<const WHOLE_BYTES: bool>(&self, bucket: Below) -> (usize, u64) {
        if bucket.count != self.extent.count {
            other_buckets();
        }
        if WHOLE_BYTES {
            ((bucket.number * self.extent.stride) as usize, 0)
        } else {
            let bit = bucket.number * self.extent.bits;
            ((bit / 8) as usize, bit % 8)
        }
    }

    /// The byte in which the lower or upper half of a bucket, 0 or 1, starts, and how many bits come before it there.
    #[inline(always)]
    fn position_of_half<const WHOLE_BYTES: bool>(&self, bucket: Below, half: u64) -> (usize, u64) {
        let (byte, before) = self.position::<WHOLE_BYTES>(bucket);
        let bit = before + half * (self.extent.bits / 2);
        (byte + (bit / 8) as usize, bit % 8)
    }
}

#[expect(
    unsafe_code,
    reason = "a comparison for each word takes two instructions, and keeps loops from being vectorised"
)]
impl<M: Bytes> Buckets<M> {
    /// The word whose lowest bit is the first of a bucket. Unless buckets start at a byte, only its low 57 bits are defined.
    #[inline(always)]
    pub(crate) fn word<const WHOLE_BYTES: bool>(&self, bucket: Below) -> u64 {
        let (byte, before) = self.position::<WHOLE_BYTES>(bucket);
        // SAFETY: the number is below the count, so the word starts no later than that of the last bucket, and `over` found a later
        // one to end inside the memory.
        unsafe { self.memory.word(byte) >> before }
    }

    /// The words whose lowest bits are the first of each half of a bucket.
    #[inline(always)]
    pub(crate) fn halves<const WHOLE_BYTES: bool>(&self, bucket: Below) -> [u64; 2] {
        [0, 1].map(|half| {
            let (byte, before) = self.position_of_half::<WHOLE_BYTES>(bucket, half);
            // SAFETY: the number is below the count, so the word starts no later than that of the upper half of the last bucket, which
            // `over` found to end inside the memory.
            unsafe { self.memory.word(byte) >> before }
        })
    }
}

#[expect(unsafe_code, reason = "the word was read from there")]
impl Buckets<&mut [u8]> {
    /// Inverts bits of a bucket where those of `difference`, all of them bits of the bucket, are 1.
    #[inline(always)]
    pub(crate) fn flip<const WHOLE_BYTES: bool>(&mut self, bucket: Below, difference: u64) {
        let position = self.position::<WHOLE_BYTES>(bucket);
        // SAFETY: a word that `word` reads.
        unsafe { self.flip_at(position, difference) };
    }

    /// Inverts bits of the lower or upper half of a bucket, 0 or 1, where those of `difference`, all of them bits of that half, are 1.
    #[inline(always)]
    pub(crate) fn flip_half<const WHOLE_BYTES: bool>(&mut self, bucket: Below, half: u64, difference: u64) {
        let position = self.position_of_half::<WHOLE_BYTES>(bucket, half & 1);
        // SAFETY: a word that `halves` reads.
        unsafe { self.flip_at(position, difference) };
    }

    /// # Safety
    ///
    /// The 64 bits that start in this byte must be in the memory.
    #[inline(always)]
    unsafe fn flip_at(&mut self, (byte, before): (usize, u64), difference: u64) {
        let start = self.memory.as_mut_ptr().wrapping_add(byte).cast::<u64>();
        // SAFETY: the caller's.
        let word = unsafe { self.memory.word(byte) } ^ (difference << before);
        // SAFETY: this word ends inside the memory, which nobody else reads or writes. The write needs no alignment.
        unsafe { start.write_unaligned(word.to_le()) };
    }
}

impl Below {
    /// Selects one of two buckets of the same memory, without a branch.
    #[inline(always)]
    pub(crate) fn select(is_first: bool, first: Self, second: Self) -> Self {
        if first.count != second.count {
            other_buckets();
        }
        Self { number: select_unpredictable(is_first, first.number, second.number), count: first.count }
    }
}

/// The high half of a product.
#[inline(always)]
const fn high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// Callers take buckets from where they look them up, so that the compiler leaves this out.
#[cold]
#[inline(never)]
const fn other_buckets() -> ! {
    panic!("the number of one of other buckets")
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// The least fraction of 2^64 that is scaled to `number` below `count`.
    fn fraction(number: u64, count: u64) -> u64 {
        u64::try_from((u128::from(number) << 64).div_ceil(u128::from(count))).expect("a number below the count")
    }

    fn assert_opposites_are_in_their_region<R: Regions>(regions: u64, size: u64, bytes: &[u8]) {
        let buckets = Extent::new(regions, size, 8, Some(1)).over(bytes);
        let count = regions * size;
        let step = if size > 1000 { 4099 } else { 1 };
        for number in (0..count).step_by(step).chain([count - 1]) {
            let last = if number + 1 == count { u64::MAX } else { fraction(number + 1, count) - 1 };
            for digest in [fraction(number, count), last] {
                for sum in (0..size).step_by(step).chain([size - 1]) {
                    let [first, second] = buckets.candidates::<R>(digest, fraction(sum, size));
                    assert_eq!(first.number, number);
                    let used_sum = if size.is_multiple_of(2) { sum | 1 } else { sum };
                    let offset = (size + used_sum - number % size) % size;
                    assert_eq!(second.number, number / size * size + offset, "{regions} times {size}");
                }
            }
        }
    }

    #[test]
    fn candidates_are_in_one_region() {
        let bytes = [0; 64];
        (1..=40).for_each(|size| assert_opposites_are_in_their_region::<OneRegion>(1, size, &bytes));
        for (regions, size) in [(2, 3), (2, 8), (3, 10), (7, 7), (40, 1)] {
            assert_opposites_are_in_their_region::<AnyRegions>(regions, size, &bytes);
        }
        let bytes = vec![0; 3 << 16 | 7];
        for regions in 1..=3 {
            assert_opposites_are_in_their_region::<Regions65536>(regions, 1 << 16, &bytes);
        }
    }

    #[test]
    fn regions_are_of_the_kind_in_whose_ways_they_are_read() {
        let bytes = vec![0; 4 << 16];
        let kinds = |(regions, size), bits, words| {
            let buckets = Extent::new(regions, size, bits, words).over(&bytes[..]);
            [buckets.are_in::<OneRegion>(), buckets.are_in::<Regions65536>(), buckets.are_in::<AnyRegions>()]
        };
        for (bits, words, are_of_one) in [(8, Some(1), true), (9, Some(1), true), (10, Some(2), false)] {
            assert_eq!(kinds((1, 100), bits, words), [are_of_one, false, true]);
            assert_eq!(kinds((1, 1 << 16), bits, words), [false, true, true]);
            assert_eq!(kinds((2, 1 << 16), bits, words), [false, true, true]);
            assert_eq!(kinds((2, 1 << 15), bits, words), [false, false, true]);
        }
        for regions in [(1, 100), (1, 1 << 16), (2, 1 << 16), (2, 1 << 15)] {
            assert_eq!(kinds(regions, 8, None), [false, false, true]);
        }
    }

    #[test]
    fn a_table_has_one_way_and_lookups_find_it() {
        for (regions, size) in [(3, 1 << 16), (1, 1 << 16), (1, 7), (2, 7)] {
            let of_65536 = size == 1 << 16;
            let (of_one, of_several) = (!of_65536 && regions == 1, !of_65536 && regions > 1);
            let ways = |bits, words| *Extent::new(regions, size, bits, words).ways();
            for (bits, bytes) in [(48, true), (52, false)] {
                let expected = Ways {
                    bytes_of_65536: bytes && of_65536,
                    bits_of_65536: !bytes && of_65536,
                    bytes_of_one: bytes && of_one,
                    bits_of_one: !bytes && of_one,
                    words_of_65536: of_65536,
                    words_of_one: of_one,
                    words_of_several: of_several,
                    start_at_bytes: bytes,
                    ..Ways::default()
                };
                assert_eq!(ways(bits, Some(1)), expected, "{regions} times {size}");
            }
            for (bits, start_at_bytes) in [(104, true), (100, false)] {
                let expected = Ways { halves: true, halves_of_65536: of_65536, start_at_bytes, ..Ways::default() };
                assert_eq!(ways(bits, Some(2)), expected, "{regions} times {size}");
            }
            assert_eq!(ways(8, None), Ways::default(), "{regions} times {size}");
        }
    }

    #[test]
    #[should_panic(expected = "other buckets")]
    fn there_are_no_candidates_in_regions_of_another_kind() {
        let _ = Extent::new(2, 3, 8, Some(1)).over(&[0_u8; 64][..]).candidates::<OneRegion>(0, 0);
    }

    #[test]
    fn buckets_are_read_up_to_the_last() {
        let bytes: Vec<u8> = (1..=100).collect();
        for (count, bits, end) in [(1, 48, 11), (2, 48, 17), (9, 12, 20), (9, 13, 21), (3, 57, 25), (5, 104, 66)] {
            let extent = Extent::new(1, count, bits, Some(1));
            assert_eq!(extent.end.bytes, end, "{count} of {bits} bits");
            let buckets = extent.over(&bytes[..]);
            for number in 0..count {
                let word_at = |bit: u64| (0..8).fold(0, |word, at| word | (bit / 8 + at + 1) << (8 * at)) >> (bit % 8);
                let first_bit = number * u64::from(bits);
                let (word, upper) = (word_at(first_bit), word_at(first_bit + u64::from(bits / 2)));
                let [bucket, _] = buckets.candidates::<OneRegion>(fraction(number, count), 0);
                assert_eq!(buckets.word::<false>(bucket), word);
                assert_eq!(buckets.halves::<false>(bucket), [word, upper]);
                if bits.is_multiple_of(8) {
                    assert_eq!(buckets.word::<true>(bucket), word);
                    assert_eq!(buckets.halves::<true>(bucket), [word, upper]);
                }
            }
        }
    }

    #[test]
    fn bits_of_one_bucket_are_inverted() {
        for bits in [48, 52] {
            let mut bytes = [0; 64];
            for (number, chosen) in [(3, true), (1, false)] {
                let mut buckets = Extent::new(1, 5, bits, Some(1)).over(&mut bytes[..]);
                let [first, _] = buckets.candidates::<OneRegion>(fraction(3, 5), 0);
                let [second, _] = buckets.candidates::<OneRegion>(fraction(1, 5), 0);
                let bucket = Below::select(chosen, first, second);
                assert_eq!(bucket.number, number);
                let difference = 0x8000_0000_0abc;
                if bits == 48 {
                    buckets.flip::<true>(bucket, difference);
                } else {
                    buckets.flip::<false>(bucket, difference);
                }
                assert_eq!(buckets.word::<false>(bucket) & ((1 << bits) - 1), difference);
            }
            assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 2 * 0x8000_0000_0abc_u64.count_ones());
        }
    }

    #[test]
    fn bits_of_a_half_are_inverted() {
        for (bits, half) in [68, 100, 104, 112, 120].into_iter().flat_map(|bits| [(bits, 0), (bits, 1)]) {
            for whole_bytes in [false, true].into_iter().filter(|whole| !whole || bits % 8 == 0) {
                let mut bytes = [0; 40];
                let mut buckets = Extent::new(1, 2, bits, Some(1)).over(&mut bytes[..]);
                let [last, _] = buckets.candidates::<OneRegion>(u64::MAX, 0);
                let all = (1 << (bits / 2)) - 1;
                let halves = if whole_bytes {
                    buckets.flip_half::<true>(last, half, all);
                    buckets.halves::<true>(last)
                } else {
                    buckets.flip_half::<false>(last, half, all);
                    buckets.halves::<false>(last)
                };
                assert_eq!(halves.map(|word| word & all)[to_index(half)], all);
                let expected: Vec<bool> = (0..320).map(|bit| in_half(bit, bits, half)).collect();
                let inverted = (0..320).map(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 1);
                assert!(inverted.eq(expected), "half {half} of {bits} bits");
            }
        }
    }

    fn to_index(half: u64) -> usize {
        usize::try_from(half).expect("0 or 1")
    }

    /// Whether a bit of a table of two buckets is in this half of the second.
    fn in_half(bit: usize, bucket_bits: u32, half: u64) -> bool {
        let bits = u64::from(bucket_bits);
        let start = bits + half * bits / 2;
        (start..start + bits / 2).contains(&(bit as u64))
    }

    #[test]
    #[should_panic(expected = "ends before its last bucket")]
    fn a_table_that_is_a_byte_too_short_is_not_read() {
        let _ = Extent::new(1, 2, 48, Some(1)).over(&[0_u8; 16][..]);
    }

    #[test]
    fn there_are_no_bytes_for_no_buckets_or_for_more_than_there_can_be() {
        for (regions, size) in [(0, 8), (0, 1 << 16), (1, 0), (2, 0), (u64::MAX, 2), (1 << 33, 1 << 31)] {
            assert_eq!(Extent::new(regions, size, 48, Some(1)).end.bytes, u64::MAX, "{regions} times {size}");
        }
    }

    #[test]
    #[should_panic(expected = "other buckets")]
    fn the_number_of_another_bucket_is_not_read() {
        let [more, _] = Extent::new(1, 3, 48, Some(1)).over(&[0_u8; 64][..]).candidates::<OneRegion>(u64::MAX, 0);
        Extent::new(1, 2, 48, Some(1)).over(&[0_u8; 64][..]).word::<true>(more);
    }
}
