//! How the bits of a semi-sorted bucket become the lanes of a word, in which all of its slots are searched at once.

use super::Slot;
use super::sorted_codes::{CODE_BITS, NIBBLE_BITS};
use crate::probe::Word;

/// Puts the parts of a bucket into four lanes of f bits, with few moves: in lanes 0 and 2 the nibble stands below the
/// high bits, in lanes 1 and 3 above them.
///
/// So high bits stay together in pairs, the upper pair just where it is stored, and so do the middle nibbles. Lanes that
/// are all in the same order take three quarters more instructions to unfold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unfolding<W> {
    /// Factors that move the middle nibbles and the last one to their places: multiplying takes fewer instructions than
    /// shifting by a distance that is not a constant.
    middle: W,
    last: W,
    /// The high bits of lanes 0 and 1, and those of lanes 2 and 3.
    lower: W,
    upper: W,
    /// The lowest bits of all nibbles, and of all high bits.
    nibbles: W,
    high_bits: W,
    /// The width of a fingerprint's high bits.
    high_width: u32,
}

impl<W: Word> Unfolding<W> {
    #[inline]
    pub(super) fn new(fingerprint_bits: u32) -> Self {
        let high_width = fingerprint_bits - NIBBLE_BITS;
        let bit = |at| W::from(1_u32) << at;
        let two = !((!W::ZERO << high_width) << high_width);
        let (pair, above_high) = (2 * fingerprint_bits, fingerprint_bits + high_width);
        Self {
            middle: bit(2 * high_width),
            last: bit(4 * high_width),
            lower: two << NIBBLE_BITS,
            upper: two << (pair + NIBBLE_BITS),
            nibbles: bit(0) | bit(above_high) | bit(pair) | bit(pair + above_high),
            high_bits: bit(NIBBLE_BITS)
                | bit(fingerprint_bits)
                | bit(pair + NIBBLE_BITS)
                | bit(pair + fingerprint_bits),
            high_width,
        }
    }

    /// Unfolds four nibbles, and the high bits behind the first 12 bits of a word, into lanes.
    #[inline]
    pub(super) fn unfold(&self, nibbles: u16, high_bits: W) -> W {
        let nibbles = |mask: u16| W::from(u32::from(nibbles & mask));
        let nibbles = nibbles(0x000f) | nibbles(0x0ff0).times(self.middle) | nibbles(0xf000).times(self.last);
        let lower = (high_bits >> (CODE_BITS - NIBBLE_BITS)) & self.lower;
        nibbles | lower | (high_bits & self.upper)
    }

    /// A fingerprint in every lane.
    #[inline]
    pub(super) fn broadcast(&self, value: u32) -> W {
        self.nibbles.times(W::from(value & 0xf)) | self.high_bits.times(W::from(value >> NIBBLE_BITS))
    }

    /// The fingerprint in the lane of a slot.
    #[inline]
    pub(super) fn value_of(&self, lane: u32, slot: Slot) -> u32 {
        if !self.has_nibble_above(slot) {
            return lane;
        }
        let nibble = lane >> self.high_width;
        ((lane ^ (nibble << self.high_width)) << NIBBLE_BITS) | nibble
    }

    #[inline]
    fn has_nibble_above(&self, slot: Slot) -> bool {
        let fingerprint_bits = self.high_width + NIBBLE_BITS;
        slot.0 == fingerprint_bits || slot.0 == 3 * fingerprint_bits
    }
}
