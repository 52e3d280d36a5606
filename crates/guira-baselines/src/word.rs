//! Machine words that are read at any bit of memory.

use core::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use crate::memory::Memory;

/// A machine word that is read from a whole byte, so that up to 7 bits are lost.
pub(crate) trait Word:
    Copy
    + Eq
    + From<u32>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The bits that can be read or written at every position.
    const USABLE_BITS: u32;
    /// All bits 0.
    const ZERO: Self;

    /// Reads the word whose lowest bit is at `bit`; its upper 7 bits are undefined.
    fn read(memory: &Memory, bit: u64) -> Self;

    /// Writes to the memory at `bit` the bits that are set in the mask.
    fn write(self, memory: &mut Memory, bit: u64, mask: Self);

    /// The sum modulo 2^width.
    fn plus(self, other: Self) -> Self;

    /// The difference modulo 2^width.
    fn minus(self, other: Self) -> Self;

    /// The product modulo 2^width.
    fn times(self, other: Self) -> Self;

    /// The position of the lowest set bit; the width if there is none.
    fn lowest_one(self) -> u32;

    /// The number of set bits.
    fn one_count(self) -> u32;

    /// The low 32 bits.
    fn low_32(self) -> u32;

    /// The word whose lowest `bits` bits are set.
    #[inline]
    fn ones(bits: u32) -> Self {
        // In two steps, since a shift by the whole width would overflow.
        !((!Self::ZERO << (bits / 2)) << (bits - bits / 2))
    }

    /// A value in each of `count` lanes of a width, from the lowest bit up.
    fn lanes(count: u32, width: u32, value: Self) -> Self {
        (0..count).fold(Self::ZERO, |lanes, lane| lanes | (value << (lane * width)))
    }
}

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            const USABLE_BITS: u32 = Self::BITS - 7;
            const ZERO: Self = 0;

            #[inline]
            fn read(memory: &Memory, bit: u64) -> Self {
                Self::from_le_bytes(memory.read(bit >> 3)) >> (bit & 7)
            }

            #[inline]
            fn write(self, memory: &mut Memory, bit: u64, mask: Self) {
                let before = bit & 7;
                let word = Self::from_le_bytes(memory.read(bit >> 3));
                let word = (word & !(mask << before)) | ((self & mask) << before);
                memory.write(bit >> 3, word.to_le_bytes());
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
            fn one_count(self) -> u32 {
                self.count_ones()
            }

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "the low bits are asked for")]
            fn low_32(self) -> u32 {
                self as u32
            }
        }
    };
}

word!(u64);
word!(u128);
