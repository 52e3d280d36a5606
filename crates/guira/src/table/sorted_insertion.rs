//! A fingerprint inserted into the word of a semi-sorted bucket, by masks.

use super::sorted_codes::{CODE_BITS, NIBBLE_BITS, RANKS_OF_PAIRS};
use crate::cast::to_usize;

/// What stays and what moves where a fingerprint is inserted behind so many others that are less.
#[derive(Clone, Copy, Debug)]
pub(super) struct Insertion {
    /// Of the high bits, those that move down by one fingerprint's, where they come to be; those that stay, with all that is above
    /// the bucket; and the lowest that is inserted.
    high_moved: u64,
    high_kept: u64,
    high_inserted: u64,
    /// The nibbles, likewise.
    moved: u16,
    kept: u16,
    inserted: u16,
}

impl Insertion {
    /// Behind three others, none, one and two, for fingerprints with so many high bits.
    pub(super) const fn all(high_width: u32) -> [Self; 4] {
        let none = Self { high_moved: 0, high_kept: 0, high_inserted: 0, moved: 0, kept: 0, inserted: 0 };
        let mut all = [none; 4];
        let mut less = 0;
        while less < 4 {
            let (high, low) = (CODE_BITS + less * high_width, less * NIBBLE_BITS);
            all[(less as usize + 1) % 4] = Self {
                high_moved: (1 << high) - (1 << CODE_BITS),
                high_kept: !0 << (high + high_width),
                high_inserted: 1 << high,
                moved: !(u16::MAX << low),
                kept: u16::MAX << low << NIBBLE_BITS,
                inserted: 1 << low,
            };
            less += 1;
        }
        all
    }
}

/// The word of a bucket whose lowest slot is empty, with a fingerprint in order.
#[inline(always)]
pub(super) fn inserted(insertions: &[Insertion; 4], high_width: u32, word: u64, nibbles: u64, value: u32) -> u64 {
    // Lanes of 16 bits whose highest one is 0: the nibble above the high bits.
    let pair = (1 << (2 * high_width)) - 1;
    let high_bits = word >> CODE_BITS;
    let pairs = (high_bits & pair) | ((high_bits << (32 - 2 * high_width)) & (pair << 32));
    let high = 0x0000_0001_0000_0001 * ((1 << high_width) - 1);
    let high_lanes = (pairs & high) | ((pairs << (16 - high_width)) & (high << 16));
    let nibble_pairs = (nibbles | nibbles << 24) & 0x0000_00ff_0000_00ff;
    let nibble_lanes = (nibble_pairs | nibble_pairs << 12) & 0x000f_000f_000f_000f;
    let lanes = (nibble_lanes << high_width) | high_lanes;

    let (nibble, high) = (u64::from(value & 0xf), u64::from(value >> NIBBLE_BITS));
    let highest = 0x8000_8000_8000_8000;
    let not_less = ((lanes | highest) - 0x0001_0001_0001_0001 * (nibble << high_width | high)) & highest;
    // Of the empty slot, which is less, and leaves, this is one more.
    let at = &insertions[to_usize(u64::from(not_less.trailing_zeros() / 16 % 4))];
    let nibbles = (nibbles >> NIBBLE_BITS & u64::from(at.moved))
        | (nibbles & u64::from(at.kept))
        | (nibble * u64::from(at.inserted));
    let [lower, upper, ..] = nibbles.to_le_bytes();
    let code = RANKS_OF_PAIRS[0][usize::from(lower)] + RANKS_OF_PAIRS[1][usize::from(upper)];
    (word >> high_width & at.high_moved) | (word & at.high_kept) | (high * at.high_inserted) | u64::from(code)
}
