use crate::cast::{approximate, saturating_floor};
use crate::error::{exponent_of, in_range};
use crate::fields::MAX_BITS;
use crate::memory::Memory;
use crate::word::Word;
use crate::{BuildError, Digest, Filter, Full, Insert, Remove};

const METADATA_BITS: u32 = 3;

/// The load factor at which the filter is full. The paper's evaluation stops there, since clusters grow without bound.
const MAX_LOAD: f64 = 0.9;

/// The slots of a block, whose metadata are three words.
const BLOCK_SLOTS: u64 = 64;
const WORD_BYTES: u64 = 8;

/// The quotient filter, the paper's QF: section 2.1; Bender et al., "Don't Thrash: How to Cache Your Hash on Flash" (2012).
///
/// 2^q slots hold fingerprints of q + r bits in order: the high q bits, the quotient, number the slot where a fingerprint
/// belongs, and the low r bits, the remainder, are stored. The fingerprints of a quotient are a run; runs are pushed behind
/// each other into clusters. Three bits per slot tell where runs start and to which quotients they belong.
///
/// The bits of 64 slots are grouped, a word of each kind before their remainders, so that the start of a cluster, the runs
/// before one and its length are found by operations on words (as in Pandey, Bender, Johnson and Patro, "A General-Purpose
/// Counting Filter", 2017), and remainders of a run are compared a word at a time.
///
/// With n keys, the rate is 1 - (1 - 2^-(q + r))^n, or 1 - exp(-α / 2^r) at load α. It takes 2^q (r + 3) bits, and is full
/// at α = 0.9.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotientFilter {
    blocks: Memory,
    slot_count: u64,
    quotient_bits: u32,
    remainder_bits: u32,
    /// The lowest bit of each remainder in a word of remainders.
    lanes: u64,
    most: usize,
    len: usize,
}

/// The three bits of a slot, each in one of the three words of a block.
#[derive(Clone, Copy)]
enum Kind {
    /// The quotient with this slot's number has a run, here or further right. This bit belongs to the slot and stays when its
    /// content is moved; the other two belong to the content.
    Occupied,
    /// The content is not the first of its run.
    Continuation,
    /// The content is not in the slot of its quotient.
    Shifted,
}

/// The content of a slot, which can be moved.
#[derive(Clone, Copy)]
struct Content {
    remainder: u64,
    continuation: u64,
    shifted: u64,
}

/// A mask of the bits from one position on.
#[inline]
const fn from(place: u64) -> u64 {
    u64::MAX << place
}

/// A mask of the bits up to one position, inclusive.
#[inline]
const fn through(place: u64) -> u64 {
    u64::MAX >> (63 - place)
}

/// The position of the set bit of this number, counted from 0, in a word that has it: the byte by sums over bytes (Vigna,
/// "Broadword Implementation of Rank/Select Queries", 2008), and within it bit by bit.
#[inline]
const fn select(word: u64, number: u64) -> u64 {
    const BYTES: u64 = 0x0101_0101_0101_0101;
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let sums = ((nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(BYTES);
    // Marks the highest bit of each byte up to which there are not more set bits than `number`.
    let before = ((number.wrapping_mul(BYTES) | BYTES << 7).wrapping_sub(sums)) & BYTES << 7;
    let start = before.count_ones() as u64 * 8;
    let mut left = number - ((sums << 8) >> start & 0xff);
    let mut rest = word >> start;
    while left > 0 {
        rest &= rest - 1;
        left -= 1;
    }
    start + rest.trailing_zeros() as u64
}

impl QuotientFilter {
    /// A filter of `slot_count` slots, each with a remainder of `remainder_bits` bits.
    ///
    /// # Errors
    ///
    /// If the number of slots is no power of two or below two, remainders have no bits or more than 54, fingerprints have more
    /// than 64 bits, or there is not enough memory.
    pub fn new(slot_count: u64, remainder_bits: u32) -> Result<Self, BuildError> {
        in_range("the number of slots", slot_count, 2, 1 << 40)?;
        let quotient_bits = exponent_of("the number of slots", slot_count)?;
        let longest = (MAX_BITS - METADATA_BITS).min(64 - quotient_bits);
        in_range("the length of remainders", remainder_bits.into(), 1, longest.into())?;
        let bits = slot_count.div_ceil(BLOCK_SLOTS) * BLOCK_SLOTS * u64::from(remainder_bits + METADATA_BITS);
        let most = usize::try_from(saturating_floor(MAX_LOAD * approximate(slot_count))).unwrap_or(usize::MAX);
        let lanes = u64::lanes(u64::USABLE_BITS / remainder_bits, remainder_bits, 1);
        Ok(Self { blocks: Memory::zeroed(bits)?, slot_count, quotient_bits, remainder_bits, lanes, most, len: 0 })
    }

    /// The number of slots.
    #[must_use]
    pub const fn slot_count(&self) -> u64 {
        self.slot_count
    }

    /// The keys that fit: nine tenths of the slots.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.most
    }

    /// Keys per slot.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        approximate(self.len as u64) / approximate(self.slot_count())
    }

    /// Quotient and remainder: the highest q + r bits of the digest.
    #[inline]
    const fn locate(&self, digest: Digest) -> (u64, u64) {
        let quotient = digest.get() >> (64 - self.quotient_bits);
        let remainder = (digest.get() << self.quotient_bits) >> (64 - self.remainder_bits);
        (quotient, remainder)
    }

    /// The byte where a block starts.
    #[inline]
    const fn block_start(&self, block: u64) -> u64 {
        block * WORD_BYTES * (METADATA_BITS + self.remainder_bits) as u64
    }

    #[inline]
    fn word(&self, block: u64, kind: Kind) -> u64 {
        u64::from_le_bytes(self.blocks.read(self.block_start(block) + WORD_BYTES * kind as u64))
    }

    #[inline]
    fn set_word(&mut self, block: u64, kind: Kind, word: u64) {
        let byte = self.block_start(block) + WORD_BYTES * kind as u64;
        self.blocks.write(byte, word.to_le_bytes());
    }

    #[inline]
    fn has(&self, at: u64, kind: Kind) -> bool {
        self.word(at / BLOCK_SLOTS, kind) >> (at % BLOCK_SLOTS) & 1 == 1
    }

    #[inline]
    fn put(&mut self, at: u64, kind: Kind, bit: u64) {
        let (block, place) = (at / BLOCK_SLOTS, at % BLOCK_SLOTS);
        let word = self.word(block, kind);
        self.set_word(block, kind, word & !(1 << place) | bit << place);
    }

    /// The bit where the remainder of a slot starts.
    #[inline]
    const fn remainder_at(&self, at: u64) -> u64 {
        let block = self.block_start(at / BLOCK_SLOTS) + METADATA_BITS as u64 * WORD_BYTES;
        8 * block + at % BLOCK_SLOTS * self.remainder_bits as u64
    }

    #[inline]
    fn remainder(&self, at: u64) -> u64 {
        u64::read(&self.blocks, self.remainder_at(at)) & u64::ones(self.remainder_bits)
    }

    #[inline]
    fn set_remainder(&mut self, at: u64, remainder: u64) {
        let bit = self.remainder_at(at);
        remainder.write(&mut self.blocks, bit, u64::ones(self.remainder_bits));
    }

    #[inline]
    fn content(&self, at: u64) -> Content {
        let bit = |kind| u64::from(self.has(at, kind));
        let [continuation, shifted] = [Kind::Continuation, Kind::Shifted].map(bit);
        Content { remainder: self.remainder(at), continuation, shifted }
    }

    #[inline]
    fn set(&mut self, at: u64, content: Content) {
        self.set_remainder(at, content.remainder);
        self.put(at, Kind::Continuation, content.continuation);
        self.put(at, Kind::Shifted, content.shifted);
    }

    #[inline]
    fn is_empty_at(&self, at: u64) -> bool {
        !(self.has(at, Kind::Occupied) | self.has(at, Kind::Continuation) | self.has(at, Kind::Shifted))
    }

    /// The next slot; the first one follows the last.
    #[inline]
    const fn after(&self, at: u64) -> u64 {
        (at + 1) & (self.slot_count - 1)
    }

    /// The index of the last slot in a block; a small table fills less than one.
    #[inline]
    const fn last_of_block(&self) -> u64 {
        if self.slot_count < BLOCK_SLOTS { self.slot_count - 1 } else { BLOCK_SLOTS - 1 }
    }

    #[inline]
    const fn block_count(&self) -> u64 {
        self.slot_count.div_ceil(BLOCK_SLOTS)
    }

    /// The start of the run of a quotient, or where it would start. The quotient's slot must be marked as occupied, and not be
    /// empty.
    #[inline]
    fn run_start(&self, quotient: u64) -> u64 {
        let (mut block, mut place) = (quotient / BLOCK_SLOTS, quotient % BLOCK_SLOTS);
        // Go back to the start of the cluster, counting the quotients behind it that have runs.
        let mut runs = 0;
        let start = loop {
            let occupied = self.word(block, Kind::Occupied) & through(place);
            let unshifted = !self.word(block, Kind::Shifted) & through(place);
            if unshifted != 0 {
                let start = u64::from(u64::BITS - 1 - unshifted.leading_zeros());
                runs += (occupied & !through(start)).count_ones();
                break start;
            }
            runs += occupied.count_ones();
            block = if block == 0 { self.block_count() - 1 } else { block - 1 };
            place = self.last_of_block();
        };
        if runs == 0 {
            return block * BLOCK_SLOTS + start;
        }
        // Go forward over as many starts of runs.
        let mut runs = u64::from(runs);
        let mut starts = !self.word(block, Kind::Continuation) & through(self.last_of_block()) & !through(start);
        loop {
            let here = u64::from(starts.count_ones());
            if runs <= here {
                return block * BLOCK_SLOTS + select(starts, runs - 1);
            }
            runs -= here;
            block = if block + 1 == self.block_count() { 0 } else { block + 1 };
            starts = !self.word(block, Kind::Continuation) & through(self.last_of_block());
        }
    }

    /// The next quotient that has a run.
    #[inline]
    fn next_occupied(&self, quotient: u64) -> u64 {
        let next = self.after(quotient);
        let (mut block, mut mask) = (next / BLOCK_SLOTS, from(next % BLOCK_SLOTS));
        loop {
            let occupied = self.word(block, Kind::Occupied) & mask;
            if occupied != 0 {
                return block * BLOCK_SLOTS + u64::from(occupied.trailing_zeros());
            }
            block = if block + 1 == self.block_count() { 0 } else { block + 1 };
            mask = u64::MAX;
        }
    }

    /// Returns `true` if the run of a quotient holds a remainder.
    #[inline]
    fn holds(&self, quotient: u64, remainder: u64) -> bool {
        if !self.has(quotient, Kind::Occupied) {
            return false;
        }
        let start = self.run_start(quotient);
        let place = start % BLOCK_SLOTS;
        // The run's continuations in this block.
        let following = self.word(start / BLOCK_SLOTS, Kind::Continuation) >> place >> 1;
        let len = following.trailing_ones() + 1;
        let lanes = u64::USABLE_BITS / self.remainder_bits;
        if len <= lanes && place + u64::from(len) <= self.last_of_block() {
            let low = self.lanes & u64::ones(len * self.remainder_bits);
            let difference = u64::read(&self.blocks, self.remainder_at(start)) ^ low.wrapping_mul(remainder);
            let high = low << (self.remainder_bits - 1);
            return difference.wrapping_sub(low) & !difference & high != 0;
        }
        self.find_from(start, remainder).is_some()
    }

    /// The slot in the run of a quotient that holds a remainder.
    #[inline]
    fn find(&self, quotient: u64, remainder: u64) -> Option<u64> {
        if !self.has(quotient, Kind::Occupied) {
            return None;
        }
        self.find_from(self.run_start(quotient), remainder)
    }

    /// The slot with a remainder in the run that starts in slot `start`.
    fn find_from(&self, start: u64, remainder: u64) -> Option<u64> {
        let mut at = start;
        loop {
            let found = self.remainder(at);
            if found >= remainder {
                return (found == remainder).then_some(at);
            }
            at = self.after(at);
            if !self.has(at, Kind::Continuation) {
                return None;
            }
        }
    }

    /// Puts a content into a slot, and shifts the contents from there to the first empty slot by one to the right.
    #[inline]
    fn push(&mut self, at: u64, content: Content) {
        let (mut block, mut place, mut moving) = (at / BLOCK_SLOTS, at % BLOCK_SLOTS, content);
        loop {
            let words = [Kind::Occupied, Kind::Continuation, Kind::Shifted].map(|kind| self.word(block, kind));
            let empty = !(words[0] | words[1] | words[2]) & from(place) & through(self.last_of_block());
            let is_last = empty != 0;
            let end = if is_last { u64::from(empty.trailing_zeros()) } else { self.last_of_block() };
            let start = block * BLOCK_SLOTS;
            let pushed_out = Content { shifted: 1, ..self.content(start + end) };

            // The bits from `place` to `end` move up by one; all moved contents are shifted now.
            let moved = from(place) & through(end);
            let one = 1 << place;
            let up = |word: u64, bit: u64| word & !moved | (word << 1) & moved & !one | bit << place;
            self.set_word(block, Kind::Continuation, up(words[1], moving.continuation));
            self.set_word(block, Kind::Shifted, (words[2] | moved) & !one | moving.shifted << place);
            self.move_remainders_up(start + place, start + end);
            self.set_remainder(start + place, moving.remainder);
            if is_last {
                return;
            }
            moving = pushed_out;
            block = if block + 1 == self.block_count() { 0 } else { block + 1 };
            place = 0;
        }
    }

    /// Moves remainders in a block up by one. That of the last slot is overwritten.
    #[inline]
    fn move_remainders_up(&mut self, first: u64, last: u64) {
        let (bottom, mut top) = (self.remainder_at(first), self.remainder_at(last));
        let by = u64::from(self.remainder_bits);
        while top > bottom {
            let width = (top - bottom).min(u64::USABLE_BITS.into());
            top -= width;
            let mask = u64::MAX >> (64 - width);
            u64::read(&self.blocks, top).write(&mut self.blocks, top + by, mask);
        }
    }
}

impl Filter for QuotientFilter {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let (quotient, remainder) = self.locate(digest);
        self.holds(quotient, remainder)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.slot_count * u64::from(self.remainder_bits + METADATA_BITS)
    }

    fn expected_false_positive_rate(&self) -> f64 {
        let fingerprints = f64::from(self.quotient_bits + self.remainder_bits).exp2();
        -(approximate(self.len as u64) * (-1.0 / fingerprints).ln_1p()).exp_m1()
    }
}

impl Insert for QuotientFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        if self.len >= self.most {
            return Err(Full { len: self.len, slots: self.slot_count() });
        }
        self.len += 1;
        let (quotient, remainder) = self.locate(digest);
        let has_run = self.has(quotient, Kind::Occupied);
        let is_empty = self.is_empty_at(quotient);
        self.put(quotient, Kind::Occupied, 1);
        if is_empty {
            self.set_remainder(quotient, remainder);
            return Ok(());
        }
        let start = self.run_start(quotient);
        let mut at = start;
        let mut continuation = 0;
        if has_run {
            while self.remainder(at) < remainder {
                at = self.after(at);
                if !self.has(at, Kind::Continuation) {
                    break;
                }
            }
            if at == start {
                self.put(start, Kind::Continuation, 1);
            } else {
                continuation = 1;
            }
        }
        self.push(at, Content { remainder, continuation, shifted: u64::from(at != quotient) });
        Ok(())
    }
}

impl Remove for QuotientFilter {
    #[inline]
    fn remove(&mut self, digest: Digest) -> bool {
        let (quotient, remainder) = self.locate(digest);
        let Some(mut hole) = self.find(quotient, remainder) else { return false };
        let is_first = !self.has(hole, Kind::Continuation);
        let mut next = self.after(hole);
        let mut following = self.content(next);
        let mut starts_run = following.shifted == 1 && following.continuation == 0;

        // The run may lose its first fingerprint, or its only one.
        if is_first {
            if following.continuation == 1 {
                following.continuation = 0;
            } else {
                self.put(quotient, Kind::Occupied, 0);
            }
        }

        // Shifted contents move back by one slot, up to the first that is in its own slot.
        let mut quotient = quotient;
        while following.shifted == 1 {
            if starts_run {
                quotient = self.next_occupied(quotient);
            }
            self.set(hole, Content { shifted: u64::from(hole != quotient), ..following });
            hole = next;
            next = self.after(next);
            following = self.content(next);
            starts_run = following.continuation == 0;
        }
        // No quotient has the last slot of a shifted cluster as its own, so that nothing is left of the slot.
        debug_assert!(!self.has(hole, Kind::Occupied));
        self.set(hole, Content { remainder: 0, continuation: 0, shifted: 0 });
        self.len -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ones_of_a_word_are_found_by_their_number() {
        for word in
            [1, 0x8000_0000_0000_0000, u64::MAX, 0x0123_4567_89ab_cdef, 0xf0f0_0000_0000_0101, 0xff00_00ff << 20]
        {
            let ones = (0..64).filter(|place| word >> place & 1 == 1);
            for (number, place) in (0..).zip(ones) {
                assert_eq!(select(word, number), place, "one {number} of {word:#x}");
            }
        }
    }
}
