//! Semi-sorted buckets, section 5.2 of the paper: a slot takes a bit less than its fingerprint has.
//!
//! The order of the fingerprints in a bucket means nothing. Sorted, their four low nibbles have one of 3876 values, which
//! fit 12 bits instead of 16. The other bits are stored beside them in the same order.

use core::hint::select_unpredictable;

use super::sorted_codes::{CODE_BITS, CODES, NIBBLE_BITS, NIBBLES, code_of};
use super::sorted_insertion::{Insertion, inserted};
use super::unfolding::Unfolding;
use super::{Fits, Layout, Memory, Place, Slot, Table, TableMut, Vacancy, byte_of};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::{low_32, to_usize};
use crate::parameters::Parameters;
use crate::probe::{Lanes, Word};

/// Bucket i starts at bit i · 4(f - 1): 12 bits of code, then the four fingerprints' high f - 4 bits.
///
/// Searches read a bucket as a word of four lanes of f bits: see [`Unfolding`]. Words of 64 bits hold a whole bucket (f up
/// to 15); with words of 128 bits the code and the rest are read separately.
#[derive(Clone, Copy, Debug)]
struct SemiSortedTable<F, M> {
    widths: F,
    memory: M,
}

/// f, with all that follows from it: numbers ([`AnyFingerprintBits`]) or constants ([`ConstantFingerprintBits`]).
trait FingerprintBits: Copy {
    /// The word that a bucket is unfolded to.
    type Word: Word;

    /// Masks for insertions, where f is a constant.
    const INSERTIONS: Option<&'static [Insertion; 4]> = None;

    /// f and what follows from it.
    fn numbers(self) -> AnyFingerprintBits<Self::Word>;
}

/// f, as it is known when a filter is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyFingerprintBits<W> {
    fingerprint_bits: u32,
    /// How an unfolded bucket is divided.
    lanes: Lanes<W>,
    /// How a bucket is unfolded.
    unfolding: Unfolding<W>,
}

impl<W: Word> AnyFingerprintBits<W> {
    const ONE_WORD: bool = W::BITS == 64;

    /// f.
    pub(crate) const fn get(&self) -> u32 {
        self.fingerprint_bits
    }

    /// The bits of a bucket.
    #[inline]
    const fn bucket_bits(&self) -> u32 {
        4 * (self.fingerprint_bits - 1)
    }

    /// The widths for fingerprints of f bits; `None` where a bucket does not fit these words.
    fn new(fingerprint_bits: u32) -> Option<Self> {
        (!Self::ONE_WORD || 4 * (fingerprint_bits - 1) <= W::BITS - 7).then(|| Self {
            fingerprint_bits,
            lanes: Lanes::new(4, fingerprint_bits),
            unfolding: Unfolding::new(fingerprint_bits),
        })
    }
}

impl<W: Word> Fits for AnyFingerprintBits<W> {
    fn fitting(parameters: &Parameters) -> Option<Self> {
        Self::new(parameters.fingerprint_bits())
    }
}

impl<W: Word> FingerprintBits for AnyFingerprintBits<W> {
    type Word = W;

    #[inline]
    fn numbers(self) -> Self {
        self
    }
}

/// f, from 5 to 15, as a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstantFingerprintBits<const F: u32>;

/// f as a constant, which must be equal to the number.
impl<const F: u32> From<AnyFingerprintBits<u64>> for ConstantFingerprintBits<F> {
    #[inline(always)]
    fn from(bits: AnyFingerprintBits<u64>) -> Self {
        debug_assert_eq!(bits.get(), F);
        Self
    }
}

impl<const F: u32> FingerprintBits for ConstantFingerprintBits<F> {
    type Word = u64;
    const INSERTIONS: Option<&'static [Insertion; 4]> = Some(&const { Insertion::all(F - NIBBLE_BITS) });

    #[inline(always)]
    fn numbers(self) -> AnyFingerprintBits<u64> {
        const { assert!(F >= 5 && F <= 15) };
        let lanes = const { Lanes::of_64(4, F) };
        AnyFingerprintBits { fingerprint_bits: F, lanes, unfolding: Unfolding::new(F) }
    }
}

impl<W: Word> Layout for AnyFingerprintBits<W> {
    #[inline]
    fn over<M: Memory>(self, memory: M) -> impl Table {
        SemiSortedTable::new(self, memory)
    }

    #[inline]
    fn over_mut(self, memory: &mut [u8]) -> impl TableMut {
        SemiSortedTable::new(self, memory)
    }
}

impl<const F: u32> Layout for ConstantFingerprintBits<F> {
    #[inline]
    fn over<M: Memory>(self, memory: M) -> impl Table {
        SemiSortedTable::new(self, memory)
    }

    #[inline]
    fn over_mut(self, memory: &mut [u8]) -> impl TableMut {
        SemiSortedTable::new(self, memory)
    }
}

impl<F: FingerprintBits, M> SemiSortedTable<F, M> {
    const ONE_WORD: bool = F::Word::BITS == 64;

    /// The table that this memory holds.
    #[inline]
    const fn new(widths: F, memory: M) -> Self {
        Self { widths, memory }
    }

    #[inline]
    fn numbers(&self) -> AnyFingerprintBits<F::Word> {
        self.widths.numbers()
    }

    /// The bit of the table that is bit `at` of a bucket.
    #[inline]
    fn bit(&self, bucket: BucketIndex, at: u32) -> u64 {
        bucket.get() * u64::from(self.numbers().bucket_bits()) + u64::from(at)
    }

    /// The byte in which a bucket starts, and how many bits come before it there.
    #[inline(always)]
    fn start(&self, bucket: BucketIndex) -> (usize, u32) {
        let bucket_bits = self.numbers().bucket_bits();
        if bucket_bits.is_multiple_of(8) {
            (to_usize(bucket.get() * u64::from(bucket_bits / 8)), 0)
        } else {
            byte_of(self.bit(bucket, 0))
        }
    }

    /// The value in a slot of a bucket that was read.
    #[inline]
    fn value(&self, fingerprints: F::Word, slot: Slot) -> u32 {
        self.numbers().unfolding.value_of(low_32(self.numbers().lanes.get(fingerprints, slot.0)), slot)
    }
}

impl<F: FingerprintBits, M: Memory> SemiSortedTable<F, M> {
    /// The code of a bucket, and a word with the high bits of its fingerprints behind 12 other bits.
    #[inline]
    fn parts(&self, bucket: BucketIndex) -> (u32, F::Word) {
        let bucket_bits = self.numbers().bucket_bits();
        let (byte, before) = self.start(bucket);
        if Self::ONE_WORD {
            let word: F::Word = self.memory.word(byte, before, bucket_bits);
            (word.low_32() & 0xfff, word)
        } else {
            let code = self.memory.word::<u64>(byte, before, CODE_BITS).low_32() & 0xfff;
            let (byte, before) = byte_of(self.bit(bucket, CODE_BITS));
            (code, self.memory.word::<F::Word>(byte, before, bucket_bits - CODE_BITS) << CODE_BITS)
        }
    }

    /// Compares the fingerprints of two buckets with the one that is sought. In each result, the highest bits of four lanes
    /// of f - 4 bits say which fingerprints differ; the other bits are undefined. Fingerprints have at least 8 bits.
    ///
    /// This takes fewer steps than unfolding the buckets: nibbles, of both buckets at once, and high bits are compared
    /// separately, and the results are combined.
    #[inline(always)]
    fn differing(&self, buckets: [BucketIndex; 2], fingerprint: Fingerprint) -> [u64; 2] {
        let [(first_code, first), (second_code, second)] = buckets.map(|bucket| self.parts(bucket));
        let nibbles_of = |code| u64::from(NIBBLES[to_usize(u64::from(code))]);
        let lanes = Lanes::of_64(8, NIBBLE_BITS);
        let nibbles = nibbles_of(first_code) | (nibbles_of(second_code) << 16);
        let nibbles = lanes.differing(nibbles, lanes.broadcast(fingerprint.get() & 0xf)) & lanes.high();

        let lanes = Lanes::of_64(4, self.high_width());
        let pattern = lanes.broadcast(fingerprint.get() >> NIBBLE_BITS);
        let differing =
            |word: F::Word, nibbles| lanes.differing(word.low_64() >> CODE_BITS, pattern) | self.at_high_bits(nibbles);
        [differing(first, nibbles & 0xffff), differing(second, nibbles >> 16)]
    }

    /// Moves the highest bits of four nibbles, whose other bits are 0, to the highest bits of four lanes of f - 4 bits.
    /// Other bits of the result are undefined.
    #[inline(always)]
    fn at_high_bits(&self, nibbles: u64) -> u64 {
        // By how much a lane is wider than a nibble: bit 4i + 3 goes to bit (4 + s)i + 3 + s.
        let s = self.high_width() - NIBBLE_BITS;
        if s == 0 {
            nibbles
        } else if s % 2 == 1 {
            // A copy for each lane. With s odd no two copied bits collide: 4i + sk is different for all i and k below 4.
            nibbles.wrapping_mul((1 | (1 << s) | (1 << (2 * s)) | (1 << (3 * s))) << s)
        } else {
            // First in pairs, then one by one.
            let pairs = (nibbles & 0x0088) | ((nibbles & 0x8800) << (2 * s));
            let (even, odd) = (0x0008 | (0x0800 << (2 * s)), 0x0080 | (0x8000 << (2 * s)));
            ((pairs & even) | ((pairs & odd) << s)) << s
        }
    }

    /// Whether [`differing`](Self::differing) can be used.
    #[inline]
    fn is_compared_in_parts(&self) -> bool {
        Self::ONE_WORD && self.high_width() >= NIBBLE_BITS
    }

    /// The bits of a fingerprint that are not coded.
    #[inline]
    fn high_width(&self) -> u32 {
        self.numbers().fingerprint_bits - NIBBLE_BITS
    }

    /// The four fingerprints of a bucket, in lanes of f bits, sorted by their low nibbles.
    #[inline(always)]
    fn fingerprints(&self, bucket: BucketIndex) -> F::Word {
        let (code, high_bits) = self.parts(bucket);
        self.numbers().unfolding.unfold(NIBBLES[to_usize(u64::from(code))], high_bits)
    }
}

impl<F: FingerprintBits, M: Memory> Table for SemiSortedTable<F, M> {
    #[inline]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        let pattern = self.numbers().unfolding.broadcast(fingerprint.low_half());
        self.numbers().lanes.any_equal(self.fingerprints(bucket), pattern)
    }

    #[inline(always)]
    fn either_contains(&self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> bool {
        if self.is_compared_in_parts() {
            let [first, second] = self.differing([first, second], fingerprint);
            return !(first & second) & Lanes::of_64(4, self.high_width()).high() != 0;
        }
        let pattern = self.numbers().unfolding.broadcast(fingerprint.low_half());
        self.numbers().lanes.any_equal_of_two(self.fingerprints(first), self.fingerprints(second), pattern)
    }

    #[inline]
    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot> {
        let pattern = self.numbers().unfolding.broadcast(fingerprint.low_half());
        self.numbers().lanes.lowest_equal(self.fingerprints(bucket), pattern).map(Slot)
    }

    #[inline]
    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32 {
        let pattern = self.numbers().unfolding.broadcast(fingerprint.low_half());
        self.numbers().lanes.count_equal(self.fingerprints(bucket), pattern)
    }

    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Vacancy {
        // Empty slots are 0, so they come first: there are as many as both parts have leading lanes of 0.
        let (code, high_bits) = self.parts(bucket);
        let empty_nibbles = (u32::from(NIBBLES[to_usize(u64::from(code))]) | 1 << 16).trailing_zeros() / NIBBLE_BITS;
        let end = F::Word::from(1_u32) << (4 * self.high_width());
        let empty_high_bits = ((high_bits >> CODE_BITS) | end).lowest_one() / self.high_width();
        let filled = 4 - empty_nibbles.min(empty_high_bits);
        Vacancy { slot: Slot(0), fullness: filled * (Vacancy::FULL / 4) }
    }

    #[inline]
    fn slots(&self) -> impl Iterator<Item = Slot> {
        let fingerprint_bits = self.numbers().fingerprint_bits;
        (0..4).map(move |index| Slot(index * fingerprint_bits))
    }

    #[inline]
    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, Fingerprint)> {
        let fingerprints = self.fingerprints(bucket);
        self.slots().filter_map(move |slot| Some((slot, Fingerprint::new(self.value(fingerprints, slot).into())?)))
    }

    #[inline]
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        Fingerprint::new(self.value(self.fingerprints(bucket), slot).into())
    }

    #[inline]
    fn is_worth_prefetching(&self) -> bool {
        self.memory.is_large()
    }

    #[inline]
    fn prefetch(&self, bucket: BucketIndex) {
        let last = self.bit(bucket, self.numbers().bucket_bits() - 1);
        self.memory.prefetch(byte_of(self.bit(bucket, 0)).0, byte_of(last).0);
    }

    fn is_well_formed(&self, bucket: BucketIndex) -> bool {
        // Insertion relies on the order.
        let fingerprints = self.fingerprints(bucket);
        let is_in_order = self.slots().map(|slot| self.value(fingerprints, slot).rotate_right(NIBBLE_BITS)).is_sorted();
        is_in_order && to_usize(u64::from(self.parts(bucket).0)) < CODES
    }
}

impl<F: FingerprintBits> TableMut for SemiSortedTable<F, &mut [u8]> {
    /// Sorts the bucket anew, so other slots may hold each other's fingerprints afterwards.
    #[inline]
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        self.exchange(bucket, slot.0 / self.numbers().fingerprint_bits, fingerprint.map_or(0, Fingerprint::low_half));
    }

    #[inline]
    fn fill(&mut self, place: Place, fingerprint: Fingerprint) {
        debug_assert!(self.get(place.bucket, Slot(0)).is_none(), "empty slots come first");
        self.exchange(place.bucket, 0, fingerprint.low_half());
    }

    #[inline(always)]
    fn fills_emptier(&self) -> bool {
        Self::ONE_WORD && self.high_width() >= MIN_TELLING_BITS
    }

    /// Which bucket is emptier, the high bits say alone: a fingerprint that has none of them, one in 2^(f - 4), counts as an empty
    /// slot if it follows those.
    #[inline(always)]
    fn fill_emptier(&mut self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> Option<Place> {
        let high_width = self.high_width();
        let ((first_byte, first_before), (second_byte, second_before)) = (self.start(first), self.start(second));
        let (first_word, second_word) =
            (u64::read(self.memory, first_byte) >> first_before, u64::read(self.memory, second_byte) >> second_before);
        let empty_bits = |word: u64| ((word & !0xfff) | 1 << (CODE_BITS + 4 * high_width)).trailing_zeros();
        let is_first = empty_bits(first_word) >= empty_bits(second_word);
        let word = select_unpredictable(is_first, first_word, second_word);
        let nibbles = u64::from(NIBBLES[to_usize(word & 0xfff)]);
        let high_bits = word >> CODE_BITS & ((1 << high_width) - 1);
        if nibbles & 0xf | high_bits != 0 {
            return None;
        }
        let bucket = select_unpredictable(is_first, first, second);
        match F::INSERTIONS {
            Some(insertions) => {
                let changed = inserted(insertions, high_width, word, nibbles, fingerprint.low_half());
                let byte = select_unpredictable(is_first, first_byte, second_byte);
                let before = select_unpredictable(is_first, first_before, second_before);
                ((word ^ changed) << before).flip(self.memory, byte);
            }
            None => self.exchange(bucket, 0, fingerprint.low_half()),
        }
        Some(Place { bucket, slot: Slot(0) })
    }
}

/// With how many high bits they alone say how full a bucket is.
const MIN_TELLING_BITS: u32 = 8;

impl<F: FingerprintBits> SemiSortedTable<F, &mut [u8]> {
    /// Takes the fingerprint at `index` out of a bucket, or the 0 that stands for none, and puts another one in order.
    ///
    /// The order is that of the nibbles, and among equal ones that of the high bits: equal contents are equal bits.
    #[inline(always)]
    fn exchange(&mut self, bucket: BucketIndex, index: u32, value: u32) {
        let high_width = self.high_width();
        let (code, word) = self.parts(bucket);
        let nibbles = u64::from(NIBBLES[to_usize(u64::from(code))]);
        let all_high_bits = !((!F::Word::ZERO << (2 * high_width)) << (2 * high_width));
        let high_bits = (word >> CODE_BITS) & all_high_bits;

        let (nibble, high) = (value & 0xf, value >> NIBBLE_BITS);
        let nibble_of = |nibbles: u64, index: u32| (nibbles >> (index * NIBBLE_BITS)).low_32() & 0xf;
        let high_of =
            |index: u32| (high_bits >> (index * high_width)).low_32() & (u32::MAX >> (u32::BITS - high_width));
        let in_order = |nibble, high| (nibble << high_width) | high;
        let is_less = |other| in_order(nibble_of(nibbles, other), high_of(other)) < in_order(nibble, high);
        let less = (0..4).map(|other| u32::from(other != index && is_less(other))).sum();

        let nibbles = exchanged(nibbles, NIBBLE_BITS, index, less, nibble);
        let high_bits = exchanged(high_bits, high_width, index, less, high);
        let code = F::Word::from(code_of([0, 1, 2, 3].map(|index| nibble_of(nibbles, index))));
        let all_code_bits = F::Word::from(0xfff_u32);
        if Self::ONE_WORD {
            self.replace(bucket, 0, all_code_bits | (all_high_bits << CODE_BITS), code | (high_bits << CODE_BITS));
        } else {
            self.replace(bucket, 0, all_code_bits, code);
            self.replace(bucket, CODE_BITS, all_high_bits, high_bits);
        }
    }

    /// Replaces the bits of `mask` in the word that starts at bit `at` of a bucket.
    #[inline(always)]
    fn replace(&mut self, bucket: BucketIndex, at: u32, mask: F::Word, new: F::Word) {
        let (byte, before) = byte_of(self.bit(bucket, at));
        let old = (F::Word::read(self.memory, byte) >> before) & mask;
        ((old ^ new) << before).flip(self.memory, byte);
    }
}

/// A row of lanes without the one at `from`, and with a new one at `to` of those that are left.
#[inline(always)]
fn exchanged<W: Word>(lanes: W, width: u32, from: u32, to: u32, new: u32) -> W {
    let below = |index: u32| !(!W::ZERO << (index * width));
    let left = (lanes & below(from)) | ((lanes >> width) & !below(from));
    (left & below(to)) | (W::from(new) << (to * width)) | ((left & !below(to)) << width)
}

#[cfg(test)]
mod tests {
    use super::super::{Storage, is_zero_from};
    use super::*;
    use crate::parameters::{self, Addressing, Parameters, Regions, Shape};

    fn short(value: u32) -> Option<Fingerprint> {
        Fingerprint::new(value.into())
    }

    fn assert_buckets_are_kept<W: Word>(fingerprint_bits: u32) {
        let shape = Shape::new(parameters::Layout::SemiSorted, Addressing::Regional, 4).expect("there is such a table");
        let parameters = Parameters::new(shape, fingerprint_bits, Regions::single(9), 0).expect("valid");
        assert_eq!(parameters.table_bits(), 9 * 4 * (u64::from(fingerprint_bits) - 1));
        let mut storage = Storage::zeroed(parameters.table_bits()).expect("small");
        let widths = AnyFingerprintBits::<W>::new(fingerprint_bits).expect("buckets that fit the words");
        let mut table = SemiSortedTable::new(widths, &mut storage[..]);
        let mask = parameters.short_fingerprint_mask();
        let value = |bucket: u32, index: u32| {
            ((bucket + 1).wrapping_mul(0x9e37_79b9) ^ (index + 1).wrapping_mul(0x85eb_ca6b)) >> 7 & mask
        };
        // Neighbours must not disturb each other, so all buckets are filled before any is looked at.
        for bucket in 0..9 {
            for index in 0..4 {
                if let Some(slot) = table.vacancy(BucketIndex::new(bucket.into())).slot() {
                    table.set(BucketIndex::new(bucket.into()), slot, short(value(bucket, index)));
                }
            }
        }
        for bucket in 0..9 {
            let mut expected: [u32; 4] =
                core::array::from_fn(|index| value(bucket, u32::try_from(index).expect("small")));
            let place = BucketIndex::new(bucket.into());
            let mut found = [0; 4];
            for (found, slot) in found.iter_mut().zip(table.slots()) {
                *found = table.get(place, slot).map_or(0, Fingerprint::low_half);
            }
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "f = {fingerprint_bits}");
            for value in expected.into_iter().filter_map(short) {
                assert!(table.contains(place, value));
                // Also beside a bucket without it, in either order.
                assert!(table.either_contains(place, BucketIndex::new(0), value));
                assert!(table.either_contains(BucketIndex::new(0), place, value));
                let copies = expected.iter().filter(|&&other| other == value.low_half()).count();
                assert_eq!(to_usize(u64::from(table.count(place, value))), copies);
            }
            for absent in (1..=mask.min(4095)).filter(|value| !expected.contains(value)).filter_map(short) {
                assert!(!table.contains(place, absent), "f = {fingerprint_bits}: {absent:?} in {expected:?}");
                assert!(!table.either_contains(place, place, absent), "f = {fingerprint_bits}: {absent:?}");
            }
            assert!(table.is_well_formed(place));
        }
        assert!(is_zero_from(table.memory, parameters.table_bits()));
    }

    #[test]
    fn a_fingerprint_in_every_lane_stands_in_each_as_it_is_stored_there() {
        for fingerprint_bits in 5..=32 {
            let (lanes, unfolding) =
                (Lanes::<u128>::new(4, fingerprint_bits), Unfolding::<u128>::new(fingerprint_bits));
            let mask = u32::MAX >> (32 - fingerprint_bits);
            for value in [0x1234_5678, 0x9abc_def1, 1, 0xf, 0x10, u32::MAX].map(|value| value & mask) {
                for slot in (0..4).map(|index| Slot(index * fingerprint_bits)) {
                    let lane = lanes.get(unfolding.broadcast(value), slot.0);
                    assert_eq!(unfolding.value_of(low_32(lane), slot), value, "f = {fingerprint_bits}, {slot:?}");
                }
            }
        }
    }

    /// Sets slots of a bucket in turn, beside a list that is sorted anew each time.
    fn assert_slots_are_set_as_in_a_list<W: Word>(fingerprint_bits: u32) {
        let (bucket, mask) = (BucketIndex::new(2), u32::MAX >> (32 - fingerprint_bits));
        let widths = AnyFingerprintBits::<W>::new(fingerprint_bits).expect("buckets that fit the words");
        let mut storage = Storage::zeroed(8 * u64::from(widths.bucket_bits())).expect("small");
        let mut table = SemiSortedTable::new(widths, &mut storage[..]);
        let mut list = [0; 4];
        let mut random = 1_u32;
        for step in 0..2000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Every fourth value is taken away; others are often equal, or equal in one of their parts.
            let value = if step % 4 == 3 { 0 } else { (random >> 8) & mask & (0xffff_ff33 | (random >> 4)) };
            let index = (random >> 30) as usize;
            let empty = list.iter().filter(|&&value| value == 0).count();
            let vacancy = table.vacancy(bucket);
            assert_eq!(vacancy.fullness, Vacancy::FULL - u32::try_from(empty).expect("small") * (Vacancy::FULL / 4));
            if let (Some(slot), Some(fingerprint), true) = (vacancy.slot(), short(value), step % 2 == 0) {
                table.fill(Place { bucket, slot }, fingerprint);
                list[0] = value;
            } else {
                let slot = table.slots().nth(index).expect("four slots");
                table.set(bucket, slot, short(value));
                list[index] = value;
            }
            list.sort_unstable_by_key(|value| (value & 0xf, value >> 4));
            let found = [0, 1, 2, 3].map(|index| {
                let slot = table.slots().nth(index).expect("four slots");
                table.get(bucket, slot).map_or(0, Fingerprint::low_half)
            });
            assert_eq!(found, list, "f = {fingerprint_bits}, step {step}");
        }
        list.into_iter().for_each(|value| {
            if let Some(fingerprint) = short(value) {
                let slot = table.slot_of(bucket, fingerprint).expect("it is there");
                table.erase(Place { bucket, slot }, fingerprint);
            }
        });
        assert!(is_zero_from(table.memory, 0), "f = {fingerprint_bits}: bits of other buckets changed");
    }

    #[test]
    fn every_width_keeps_its_buckets() {
        for fingerprint_bits in 5..=32 {
            assert_buckets_are_kept::<u128>(fingerprint_bits);
            assert_slots_are_set_as_in_a_list::<u128>(fingerprint_bits);
            if fingerprint_bits <= 15 {
                assert_buckets_are_kept::<u64>(fingerprint_bits);
                assert_slots_are_set_as_in_a_list::<u64>(fingerprint_bits);
            }
        }
    }

    /// Values of f bits, of which many are equal, or equal in one of their parts.
    fn values(fingerprint_bits: u32) -> impl Iterator<Item = u32> {
        let mask = u32::MAX >> (32 - fingerprint_bits);
        (0..).map(move |step: u32| {
            let random = step.wrapping_mul(0x9e37_79b9);
            ((random >> 8) ^ (random << 3)) & mask & (0xffff_ff33 | (random >> 20)) & !((random >> 28 & 1) * 0xfff0)
        })
    }

    fn assert_inserted_as_where_f_is_a_number<const F: u32>() {
        let bucket = BucketIndex::new(1);
        let widths = AnyFingerprintBits::<u64>::new(F).expect("buckets that fit the words");
        let mut storage = Storage::zeroed(4 * u64::from(widths.bucket_bits())).expect("small");
        storage.iter_mut().for_each(|byte| *byte = 0xff);
        let mut table = SemiSortedTable::new(widths, &mut storage[..]);
        let insertions = ConstantFingerprintBits::<F>::INSERTIONS.expect("f is a constant");
        let mut values = values(F).filter_map(short);
        for round in 0..3000 {
            (0..4).for_each(|_| table.set(bucket, Slot(3 * F), None));
            for stored in 0..4 {
                let (_, word) = table.parts(bucket);
                let (value, nibbles) = (values.next().expect("endless"), u64::from(NIBBLES[to_usize(word & 0xfff)]));
                let changed = inserted(insertions, F - NIBBLE_BITS, word, nibbles, value.low_half());
                table.fill(Place { bucket, slot: Slot(0) }, value);
                assert_eq!(changed, table.parts(bucket).1, "f = {F}, round {round}: {value:?} beside {stored}");
            }
        }
    }

    #[test]
    fn a_fingerprint_is_inserted_as_where_f_is_a_number() {
        assert_inserted_as_where_f_is_a_number::<5>();
        assert_inserted_as_where_f_is_a_number::<6>();
        assert_inserted_as_where_f_is_a_number::<7>();
        assert_inserted_as_where_f_is_a_number::<8>();
        assert_inserted_as_where_f_is_a_number::<9>();
        assert_inserted_as_where_f_is_a_number::<10>();
        assert_inserted_as_where_f_is_a_number::<11>();
        assert_inserted_as_where_f_is_a_number::<12>();
        assert_inserted_as_where_f_is_a_number::<13>();
        assert_inserted_as_where_f_is_a_number::<14>();
        assert_inserted_as_where_f_is_a_number::<15>();
    }

    /// Fills two buckets of a table with constant widths, and the same of one with numbers, to the end.
    fn assert_the_emptier_bucket_is_filled<const F: u32>() {
        let any = AnyFingerprintBits::<u64>::new(F).expect("buckets that fit the words");
        let size = 4 * u64::from(any.bucket_bits());
        let buckets = [BucketIndex::new(1), BucketIndex::new(2)];
        for high_bits in [1, 0] {
            let mut values = values(F).map(|value| value | high_bits << NIBBLE_BITS).filter_map(short);
            for _ in 0..1000 {
                let mut memory = [size, size].map(|size| Storage::zeroed(size).expect("small"));
                let [first, second] = &mut memory;
                let mut constant = SemiSortedTable::new(ConstantFingerprintBits::<F>, &mut first[..]);
                let mut table = SemiSortedTable::new(any, &mut second[..]);
                assert!(constant.fills_emptier() && table.fills_emptier());
                for stored in 0..=8 {
                    let value = values.next().expect("endless");
                    let empty = buckets.map(|bucket| 4 - table.filled_slots(bucket).count());
                    let place = table.fill_emptier(buckets[stored % 2], buckets[1 - stored % 2], value);
                    assert_eq!(constant.fill_emptier(buckets[stored % 2], buckets[1 - stored % 2], value), place);
                    match place {
                        Some(place) if high_bits == 1 => {
                            assert_eq!(empty[to_usize(place.bucket.get()) - 1], empty[0].max(empty[1]));
                        }
                        Some(_) => {}
                        // One without high bits may hide that the other bucket has an empty slot.
                        None => assert!(empty == [0, 0] || (high_bits == 0 && empty.contains(&0)), "{empty:?}"),
                    }
                }
                assert!(constant.memory == table.memory && buckets.iter().all(|&bucket| table.is_well_formed(bucket)));
            }
        }
    }

    #[test]
    fn the_emptier_bucket_is_filled() {
        assert_the_emptier_bucket_is_filled::<12>();
        assert_the_emptier_bucket_is_filled::<13>();
        assert_the_emptier_bucket_is_filled::<14>();
        assert_the_emptier_bucket_is_filled::<15>();
    }
}
