//! Words as rows of equal lanes, and the test whether a lane holds a value, for all lanes at once.

use core::hint::select_unpredictable;
use core::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// A machine word: 64 or 128 bits, read and written little-endian at any byte.
pub(crate) trait Word:
    Copy
    + Eq
    + From<u32>
    + From<u64>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The width in bits.
    const BITS: u32;
    /// All bits 0.
    const ZERO: Self;

    /// The word that starts at `bytes[at]`.
    fn read(bytes: &[u8], at: usize) -> Self;

    /// Inverts the bits of the word that starts at `bytes[at]` where those of this one are 1.
    fn flip(self, bytes: &mut [u8], at: usize);

    /// `self + other` modulo 2^BITS.
    fn plus(self, other: Self) -> Self;

    /// `self - other` modulo 2^BITS.
    fn minus(self, other: Self) -> Self;

    /// `self * other` modulo 2^BITS.
    fn times(self, other: Self) -> Self;

    /// The place of the lowest bit that is 1, from 0; `BITS` if there is none.
    fn lowest_one(self) -> u32;

    /// How many bits are 1.
    fn ones(self) -> u32;

    /// The low 32 bits.
    fn low_32(self) -> u32;

    /// The low 64 bits.
    fn low_64(self) -> u64;
}

/// The message has no numbers: passing them would cost every call, and only a bug leads here.
#[cold]
#[inline(never)]
fn word_beyond_end() -> ! {
    panic!("a word beyond the end of the table")
}

/// Panics unless a word that starts at `bytes[at]` ends inside the slice.
#[inline(always)]
fn check_word_starts<W>(bytes: &[u8], at: usize) {
    // The positions at which a word starts that ends inside: below them, `at` plus its size is at most the length.
    let starts = bytes.len().saturating_sub(size_of::<W>() - 1);
    if at >= starts {
        word_beyond_end();
    }
}

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            const BITS: u32 = <$word>::BITS;
            const ZERO: Self = 0;

            #[inline]
            #[expect(unsafe_code, reason = "slicing first takes three comparisons in place of one, in every lookup")]
            fn read(bytes: &[u8], at: usize) -> Self {
                check_word_starts::<$word>(bytes, at);
                let start = bytes.as_ptr().wrapping_add(at).cast::<$word>();
                // SAFETY: the word ends inside the slice, all of which may be read. The read needs no alignment.
                <$word>::from_le(unsafe { start.read_unaligned() })
            }

            #[inline]
            #[expect(unsafe_code, reason = "slicing first takes three comparisons in place of one, in every change")]
            fn flip(self, bytes: &mut [u8], at: usize) {
                check_word_starts::<$word>(bytes, at);
                let start = bytes.as_mut_ptr().wrapping_add(at).cast::<$word>();
                // SAFETY: the word ends inside the slice, all of which may be read and written, and nobody else does. Neither
                // needs alignment.
                unsafe { start.write_unaligned(start.read_unaligned() ^ self.to_le()) };
            }

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline]
            fn lowest_one(self) -> u32 {
                self.trailing_zeros()
            }

            #[inline]
            fn ones(self) -> u32 {
                self.count_ones()
            }

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "the low half is asked for")]
            fn low_32(self) -> u32 {
                self as u32
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "the low half is asked for")]
            fn low_64(self) -> u64 {
                self as u64
            }
        }
    };
}

word!(u64);
word!(u128);

/// How a word is divided: `count` lanes of `width` bits from the lowest bit up; bits above them are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lanes<W> {
    /// The lowest bit of every lane.
    low: W,
    /// The highest bit of every lane.
    high: W,
    /// All bits of the lowest lane.
    lane: W,
    /// The number of the last bit of the lowest lane.
    last: u32,
}

impl Lanes<u64> {
    /// `count` lanes of `width` bits each, 1 to 64, as a constant.
    pub(crate) const fn of_64(count: u32, width: u32) -> Self {
        let (mut low, mut lane) = (0, 0);
        while lane < count {
            low |= 1 << (lane * width);
            lane += 1;
        }
        Self { low, high: low << (width - 1), lane: u64::MAX >> (64 - width), last: width - 1 }
    }
}

impl<W: Word> Lanes<W> {
    /// `count` lanes of `width` bits each, 1 to 64.
    #[inline(always)]
    pub(crate) fn new(count: u32, width: u32) -> Self {
        debug_assert!(count > 0 && (1..=64).contains(&width) && count * width <= W::BITS);
        let low = (0..count).fold(W::ZERO, |low, lane| low | (W::from(1_u32) << (lane * width)));
        Self { low, high: low << (width - 1), lane: W::from(u64::MAX >> (64 - width)), last: width - 1 }
    }

    /// `value` in every lane.
    #[inline]
    pub(crate) fn broadcast(&self, value: u64) -> W {
        self.low.times(W::from(value))
    }

    /// Whether any lane of `word` equals its lane of `pattern`.
    ///
    /// In x, the difference of the two, the lanes sought are 0. Subtracting 1 from every lane at once sets the high
    /// bit of a lane where it was clear before only if the lane was 0, or if a lane below it was and borrowed. So the
    /// answer is exact, and so is the place of the lowest such lane, though higher ones may be reported wrongly.
    #[inline]
    pub(crate) fn any_equal(&self, word: W, pattern: W) -> bool {
        self.equal_or_borrowing(word, pattern) != W::ZERO
    }

    /// Whether any lane of either word equals its lane of `pattern`.
    #[inline]
    pub(crate) fn any_equal_of_two(&self, first: W, second: W, pattern: W) -> bool {
        (self.borrowing(first, pattern) | self.borrowing(second, pattern)) & self.high != W::ZERO
    }

    /// The bit at which the lowest lane of either word starts that equals its lane of `pattern`, and whether it is in the
    /// first word. A lane of that one comes before those of the other.
    #[inline]
    pub(crate) fn lowest_equal_of_two(&self, first: W, second: W, pattern: W) -> Option<(bool, u32)> {
        let (in_first, in_second) = (self.borrowing(first, pattern), self.borrowing(second, pattern));
        let is_first = in_first & self.high != W::ZERO;
        let found = select_unpredictable(is_first, in_first, in_second) & self.high;
        (found != W::ZERO).then(|| (is_first, found.lowest_one() - self.last))
    }

    /// The bit at which the lowest lane that is 0 starts in one of two words, and whether it is in the first: in the word where it
    /// starts lower, or in the first one where it starts equally low in both.
    #[inline]
    pub(crate) fn lowest_zero_of_two(&self, first: W, second: W) -> Option<(bool, u32)> {
        let [in_first, in_second] = [first, second].map(|word| self.end_of_lowest_equal(word, W::ZERO));
        let end = in_first.min(in_second);
        (end < W::BITS).then(|| (in_first <= in_second, end - self.last))
    }

    /// The bit at which the lowest lane starts that equals its lane of `pattern`.
    #[inline]
    pub(crate) fn lowest_equal(&self, word: W, pattern: W) -> Option<u32> {
        let end = self.end_of_lowest_equal(word, pattern);
        (end < W::BITS).then(|| end - self.last)
    }

    /// The last bit of the lowest lane that equals its lane of `pattern`; the number of bits of a word if there is none.
    #[inline]
    pub(crate) fn end_of_lowest_equal(&self, word: W, pattern: W) -> u32 {
        self.equal_or_borrowing(word, pattern).lowest_one()
    }

    /// The last bit of the lowest lane that equals its lane of `pattern`, in two words of which the second holds the higher bits;
    /// the number of bits of both if there is none.
    #[inline]
    pub(crate) fn end_of_lowest_equal_in_halves(&self, [lower, upper]: [W; 2], pattern: W) -> u32 {
        let (in_lower, in_upper) = (self.end_of_lowest_equal(lower, pattern), self.end_of_lowest_equal(upper, pattern));
        in_lower + select_unpredictable(in_lower == W::BITS, in_upper, 0)
    }

    /// As many low bits of a value as a lane has.
    #[inline]
    pub(crate) fn low_bits(&self, value: u64) -> u64 {
        value & self.lane.low_64()
    }

    /// The width of a lane in bits.
    #[inline]
    pub(crate) const fn width(&self) -> u32 {
        self.last + 1
    }

    /// How many lanes of `word` equal their lane of `pattern`.
    #[inline]
    pub(crate) fn count_equal(&self, word: W, pattern: W) -> u32 {
        (!self.differing(word, pattern) & self.high).ones()
    }

    /// Says in the highest bit of each lane whether it differs from its lane of `pattern`. The other bits are undefined.
    #[inline]
    pub(crate) fn differing(&self, word: W, pattern: W) -> W {
        // Adding all ones below the high bit carries into it unless they were all 0; no carry leaves its lane.
        let x = word ^ pattern;
        let below_high = self.high.minus(self.low);
        (x & below_high).plus(below_high) | x
    }

    /// The highest bit of every lane.
    #[inline]
    pub(crate) fn high(&self) -> W {
        self.high
    }

    /// The value of the lane that starts at bit `at`.
    #[inline]
    pub(crate) fn get(&self, word: W, at: u32) -> u64 {
        ((word >> at) & self.lane).low_64()
    }

    #[inline(always)]
    fn equal_or_borrowing(&self, word: W, pattern: W) -> W {
        self.borrowing(word, pattern) & self.high
    }

    /// See [`any_equal`](Self::any_equal). The bits below the highest of each lane are undefined.
    #[inline(always)]
    fn borrowing(&self, word: W, pattern: W) -> W {
        let x = word ^ pattern;
        x.minus(self.low) & !x
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// The lanes of a word, one after the other: the oracle.
    fn naive<W: Word>(word: W, count: u32, width: u32) -> Vec<u64> {
        (0..count).map(|lane| (word >> (lane * width)).low_64() & (u64::MAX >> (64 - width))).collect()
    }

    fn assert_agrees_with_loop<W: Word>(word: W, value: u64, count: u32, width: u32) {
        let lanes = Lanes::<W>::new(count, width);
        let values = naive(word, count, width);
        let pattern = lanes.broadcast(value);
        let place = values.iter().position(|&lane| lane == value);
        let found = values.iter().filter(|&&lane| lane == value).count();
        assert_eq!(lanes.any_equal(word, pattern), place.is_some(), "{values:?} {value} f = {width}");
        let bit = place.map(|lane| u32::try_from(lane).expect("at most 64") * width);
        assert_eq!(lanes.lowest_equal(word, pattern), bit, "{values:?} {value} f = {width}");
        // Beside a word without the value, before it and after it, and beside one that has it in its first lane.
        let (without, with) = (!pattern, pattern);
        let of_two = |first, second| lanes.lowest_equal_of_two(first, second, pattern);
        assert_eq!(of_two(word, without), bit.map(|bit| (true, bit)), "{values:?} {value} f = {width}");
        assert_eq!(of_two(without, word), bit.map(|bit| (false, bit)), "{values:?} {value} f = {width}");
        assert_eq!(
            of_two(word, with),
            Some(bit.map_or((false, 0), |bit| (true, bit))),
            "{values:?} {value} f = {width}"
        );
        assert_eq!(of_two(with, word), Some((true, 0)), "{values:?} {value} f = {width}");
        // Where empty lanes are sought, beside a word without any, one whose first lane is empty, and itself.
        let empty =
            values.iter().position(|&lane| lane == 0).map(|lane| u32::try_from(lane).expect("at most 64") * width);
        let (full, zero) = (!W::ZERO, W::ZERO);
        let cases = [
            ((word, full), empty.map(|bit| (true, bit))),
            ((full, word), empty.map(|bit| (false, bit))),
            ((word, zero), Some((empty == Some(0), 0))),
            ((word, word), empty.map(|bit| (true, bit))),
        ];
        for ((first, second), expected) in cases {
            assert_eq!(lanes.lowest_zero_of_two(first, second), expected, "{values:?} f = {width}");
        }
        let end = |halves| lanes.end_of_lowest_equal_in_halves(halves, pattern);
        let in_word = lanes.end_of_lowest_equal(word, pattern);
        assert_eq!(end([word, with]), if place.is_some() { in_word } else { W::BITS + width - 1 });
        assert_eq!(end([without, word]), W::BITS + in_word);
        let count_equal = usize::try_from(lanes.count_equal(word, pattern)).expect("at most 64");
        assert_eq!(count_equal, found, "{values:?} {value} f = {width}");
    }

    #[test]
    fn every_bucket_of_four_4_bit_lanes_matches_as_a_loop_does() {
        for word in 0..=u64::from(u16::MAX) {
            for value in 0..16 {
                // Whatever stands above the lanes must not matter.
                assert_agrees_with_loop(word, value, 4, 4);
                assert_agrees_with_loop(word | !u64::from(u16::MAX), value, 4, 4);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn every_width_and_count_matches_as_a_loop_does(
            words in proptest::collection::vec(proptest::prelude::any::<u128>(), 1..20),
            equal_lanes in proptest::prelude::any::<u64>(),
            chosen in 0u32..64,
        ) {
            for word in words {
                for width in 1..=64 {
                    for count in 1..=(128 / width) {
                        // A value that is there, one that probably is not, and empty lanes between.
                        let full = Lanes::<u128>::new(count, width);
                        let value = full.get(word, (chosen % count) * width);
                        let emptied = (0..count)
                            .filter(|lane| equal_lanes >> (lane % 64) & 1 == 1)
                            .fold(word, |word, lane| word & !(full.lane << (lane * width)));
                        for sought in [value, value ^ 1, 0] {
                            assert_agrees_with_loop(emptied, sought, count, width);
                            if count * width <= 64 {
                                let low = u64::try_from(emptied & u128::from(u64::MAX)).expect("masked");
                                assert_agrees_with_loop(low, sought, count, width);
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn words_are_little_endian_at_any_byte() {
        let mut bytes: Vec<u8> = (0..32).collect();
        assert_eq!(u64::read(&bytes, 3), 0x0a09_0807_0605_0403);
        u128::read(&bytes, 5).flip(&mut bytes, 5);
        assert_eq!(u64::read(&bytes, 3), 0x0000_0000_0000_0403);
        assert_eq!(bytes[21], 21);
    }
    #[test]
    fn the_last_word_is_written() {
        let mut bytes = [0; 12];
        u64::MAX.flip(&mut bytes, 4);
        assert_eq!(bytes, [0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    }

    #[test]
    #[should_panic(expected = "a word beyond the end of the table")]
    fn no_word_is_written_that_ends_behind_the_slice() {
        u64::MAX.flip(&mut [0; 12], 5);
    }
}
