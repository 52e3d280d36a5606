//! Semi-sorted buckets, section 5.2 of the paper: four slots in the space of four shorter by a bit.
//!
//! The order of the fingerprints in a bucket means nothing, so it can be given up: the four low nibbles, sorted, take
//! one of 3876 values, which fit 12 bits instead of 16. The other bits stand beside them in the same order.

use core::ops::{Deref, DerefMut};

use super::{OwnedTable, Slot, Storage, StoredTable, Table, TableMut, Vacancy, byte_of, prefetch_bits};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::in_memory;
use crate::parameters::Parameters;
use crate::probe::{Lanes, Word};

/// The bits of a fingerprint that are sorted and coded.
const NIBBLE_BITS: u32 = 4;
const CODE_BITS: u32 = 12;
/// How many multisets of four nibbles there are: C(19, 4).
const CODES: usize = 3876;

/// Bucket i stands at bit i · 4(f - 1): 12 bits of code, then the four fingerprints' high f - 4 bits.
///
/// Reading a bucket gives a word of four lanes of f bits, which is what all operations work on: see [`Unfolding`]. With
/// `ONE_WORD` a bucket is read at once (f up to 15), else the code and the rest by themselves.
#[derive(Clone, Debug)]
pub(crate) struct SemiSortedTable<S, W, const ONE_WORD: bool> {
    storage: S,
    lanes: Lanes<W>,
    unfolding: Unfolding<W>,
    fingerprint_bits: u32,
    bucket_bits: u32,
}

impl<S: Deref<Target = [u8]>, W: Word, const ONE_WORD: bool> SemiSortedTable<S, W, ONE_WORD> {
    /// Whether a whole bucket fits one word, wherever it starts in its byte.
    pub(crate) const fn holds_bucket(parameters: &Parameters) -> bool {
        parameters.bucket_bits() <= W::BITS - 7
    }

    /// The bit of the table that is bit `at` of a bucket.
    #[inline]
    fn bit(&self, bucket: BucketIndex, at: u32) -> u64 {
        bucket.get() * u64::from(self.bucket_bits) + u64::from(at)
    }

    /// The code of a bucket, and a word with the high bits of its fingerprints behind 12 other bits.
    #[inline]
    fn parts(&self, bucket: BucketIndex) -> (u32, W) {
        let (byte, before) = byte_of(self.bit(bucket, 0));
        if ONE_WORD {
            let word = W::read(&self.storage, byte) >> before;
            (word.low_32() & 0xfff, word)
        } else {
            let code = (u64::read(&self.storage, byte) >> before).low_32() & 0xfff;
            let (byte, before) = byte_of(self.bit(bucket, CODE_BITS));
            (code, (W::read(&self.storage, byte) >> before) << CODE_BITS)
        }
    }

    /// The four fingerprints of a bucket, in lanes of f bits, sorted by their low nibbles.
    #[inline]
    fn fingerprints(&self, bucket: BucketIndex) -> W {
        let (code, high_bits) = self.parts(bucket);
        self.unfolding.unfold(NIBBLES[in_memory(u64::from(code))], high_bits)
    }

    /// The value in a slot of a bucket that was read.
    #[inline]
    fn value(&self, fingerprints: W, slot: Slot) -> u32 {
        self.unfolding.value_of(self.lanes.get(fingerprints, slot.0), slot)
    }
}

impl<S: Deref<Target = [u8]>, W: Word, const ONE_WORD: bool> Table for SemiSortedTable<S, W, ONE_WORD> {
    #[inline]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        self.lanes.any_equal(self.fingerprints(bucket), self.unfolding.broadcast(fingerprint.get()))
    }

    #[inline]
    fn find(&self, bucket: BucketIndex, fingerprint_or_empty: u32) -> Option<Slot> {
        self.lanes.lowest_equal(self.fingerprints(bucket), self.unfolding.broadcast(fingerprint_or_empty)).map(Slot)
    }

    #[inline]
    fn count_of(&self, bucket: BucketIndex, fingerprint_or_empty: u32) -> u32 {
        self.lanes.count_equal(self.fingerprints(bucket), self.unfolding.broadcast(fingerprint_or_empty))
    }

    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Option<Vacancy> {
        let fingerprints = self.fingerprints(bucket);
        let slot = self.lanes.lowest_equal(fingerprints, W::ZERO).map(Slot)?;
        Some(Vacancy { slot, fullness: 4 - self.lanes.count_equal(fingerprints, W::ZERO) })
    }

    #[inline]
    fn slots(&self) -> impl Iterator<Item = Slot> {
        let fingerprint_bits = self.fingerprint_bits;
        (0..4).map(move |index| Slot(index * fingerprint_bits))
    }

    #[inline]
    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (u64, Slot, Fingerprint)> {
        let fingerprints = self.fingerprints(bucket);
        (0..)
            .zip(self.slots())
            .filter_map(move |(number, slot)| Some((number, slot, Fingerprint::new(self.value(fingerprints, slot))?)))
    }

    #[inline]
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        Fingerprint::new(self.value(self.fingerprints(bucket), slot))
    }

    #[inline]
    fn prefetch(&self, bucket: BucketIndex) {
        prefetch_bits(&self.storage, self.bit(bucket, 0), self.bit(bucket, self.bucket_bits - 1));
    }

    fn is_well_formed(&self, bucket: BucketIndex) -> bool {
        in_memory(u64::from(self.parts(bucket).0)) < CODES
    }
}

impl<S: DerefMut<Target = [u8]>, W: Word, const ONE_WORD: bool> TableMut for SemiSortedTable<S, W, ONE_WORD> {
    /// Sorts the bucket anew: what the other slots hold afterwards may be another slot's before.
    #[inline]
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        let value = fingerprint.map_or(0, Fingerprint::get);
        let lane = self.unfolding.lane_of(value, slot);
        let fingerprints = self.lanes.with(self.fingerprints(bucket), slot.0, lane);
        self.store(bucket, fingerprints);
    }
}

impl<S: DerefMut<Target = [u8]>, W: Word, const ONE_WORD: bool> SemiSortedTable<S, W, ONE_WORD> {
    /// Stores four fingerprints, in any order.
    fn store(&mut self, bucket: BucketIndex, fingerprints: W) {
        let value = |index| self.value(fingerprints, Slot(index * self.fingerprint_bits));
        let mut sorted = [value(0), value(1), value(2), value(3)];
        // Among equal nibbles by the rest, so that equal contents are equal bits.
        sorted.sort_unstable_by_key(|&fingerprint| (fingerprint & 0xf, fingerprint));
        let code = W::from(code_of(sorted.map(|fingerprint| fingerprint & 0xf)));

        let high_width = self.fingerprint_bits - NIBBLE_BITS;
        let mut high_bits = W::ZERO;
        for (index, fingerprint) in (0..).zip(sorted) {
            high_bits = high_bits | (W::from(fingerprint >> NIBBLE_BITS) << (index * high_width));
        }
        let all_high_bits = !((!W::ZERO << (2 * high_width)) << (2 * high_width));
        let all_code_bits = W::from(0xfff_u32);
        let (byte, before) = byte_of(self.bit(bucket, 0));
        if ONE_WORD {
            let word = W::read(&self.storage, byte);
            let mask = (all_code_bits | (all_high_bits << CODE_BITS)) << before;
            let new = (code | (high_bits << CODE_BITS)) << before;
            ((word & !mask) | new).write(&mut self.storage, byte);
        } else {
            let word = W::read(&self.storage, byte);
            ((word & !(all_code_bits << before)) | (code << before)).write(&mut self.storage, byte);
            let (byte, before) = byte_of(self.bit(bucket, CODE_BITS));
            let word = W::read(&self.storage, byte);
            ((word & !(all_high_bits << before)) | (high_bits << before)).write(&mut self.storage, byte);
        }
    }
}

impl<S: Deref<Target = [u8]>, W: Word, const ONE_WORD: bool> StoredTable for SemiSortedTable<S, W, ONE_WORD> {
    type Storage = S;
    type View<'table>
        = SemiSortedTable<&'table [u8], W, ONE_WORD>
    where
        Self: 'table;

    fn over(parameters: &Parameters, storage: S) -> Self {
        debug_assert!(!ONE_WORD || Self::holds_bucket(parameters));
        let fingerprint_bits = parameters.fingerprint_bits();
        Self {
            storage,
            lanes: Lanes::new(4, fingerprint_bits),
            unfolding: Unfolding::new(fingerprint_bits),
            fingerprint_bits,
            bucket_bits: parameters.bucket_bits(),
        }
    }

    #[inline]
    fn view(&self) -> Self::View<'_> {
        SemiSortedTable {
            storage: &self.storage,
            lanes: self.lanes,
            unfolding: self.unfolding,
            fingerprint_bits: self.fingerprint_bits,
            bucket_bits: self.bucket_bits,
        }
    }

    fn storage(&self) -> &S {
        &self.storage
    }

    fn into_storage(self) -> S {
        self.storage
    }
}

impl<W: Word, const ONE_WORD: bool> OwnedTable for SemiSortedTable<Storage, W, ONE_WORD> {
    type ViewMut<'table>
        = SemiSortedTable<&'table mut [u8], W, ONE_WORD>
    where
        Self: 'table;

    #[inline]
    fn view_mut(&mut self) -> Self::ViewMut<'_> {
        SemiSortedTable {
            storage: &mut self.storage,
            lanes: self.lanes,
            unfolding: self.unfolding,
            fingerprint_bits: self.fingerprint_bits,
            bucket_bits: self.bucket_bits,
        }
    }

    fn storage_mut(&mut self) -> &mut Storage {
        &mut self.storage
    }
}

/// Puts the parts of a bucket into four lanes of f bits, with few moves: in lanes 0 and 2 the nibble stands below the
/// high bits, in lanes 1 and 3 above them.
///
/// So high bits stay beside each other by twos, the upper two just where they are stored, and so do the middle nibbles.
/// Lanes that are all in the same order take three quarters more instructions to unfold.
#[derive(Clone, Copy, Debug)]
struct Unfolding<W> {
    /// What moves the middle nibbles and the last one to their places: a multiplication, which takes fewer instructions
    /// than a shift by a distance that is not a constant.
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
    fn new(fingerprint_bits: u32) -> Self {
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

    /// The lanes of four nibbles and of the high bits that stand behind 12 other bits.
    #[inline]
    fn unfold(&self, nibbles: u16, high_bits: W) -> W {
        let nibbles = |mask: u16| W::from(u32::from(nibbles & mask));
        let nibbles = nibbles(0x000f) | nibbles(0x0ff0).times(self.middle) | nibbles(0xf000).times(self.last);
        let lower = (high_bits >> (CODE_BITS - NIBBLE_BITS)) & self.lower;
        nibbles | lower | (high_bits & self.upper)
    }

    /// A fingerprint in every lane.
    #[inline]
    fn broadcast(&self, value: u32) -> W {
        self.nibbles.times(W::from(value & 0xf)) | self.high_bits.times(W::from(value >> NIBBLE_BITS))
    }

    /// How a fingerprint stands in a slot's lane.
    #[inline]
    fn lane_of(&self, value: u32, slot: Slot) -> u32 {
        if self.has_nibble_above(slot) { (value >> NIBBLE_BITS) | ((value & 0xf) << self.high_width) } else { value }
    }

    /// The fingerprint that stands in a slot's lane.
    #[inline]
    fn value_of(&self, lane: u32, slot: Slot) -> u32 {
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

/// The nibbles of each code, lowest first. Codes from [`CODES`] on don't occur; 12 bits can't index past the end.
static NIBBLES: [u16; 4096] = {
    let mut nibbles = [0; 4096];
    let mut sorted: [u32; 4] = [0; 4];
    loop {
        let code = code_of(sorted) as usize;
        let mut word = 0;
        let mut index = 4;
        while index > 0 {
            index -= 1;
            // Below 16, so that nothing is lost.
            word = (word << NIBBLE_BITS) | sorted[index].to_le_bytes()[0] as u16;
        }
        nibbles[code] = word;
        // The next four in order: raise the first one that is below its successor, and set those before it to 0.
        let mut index = 0;
        while index < 3 && sorted[index] == sorted[index + 1] {
            sorted[index] = 0;
            index += 1;
        }
        if sorted[index] == 15 {
            break;
        }
        sorted[index] += 1;
    }
    nibbles
};

/// The rank of four sorted nibbles a ≤ b ≤ c ≤ d: C(d + 3, 4) + C(c + 2, 3) + C(b + 1, 2) + a. Four zeros have rank 0,
/// so an empty table is all zeros.
const fn code_of([a, b, c, d]: [u32; 4]) -> u32 {
    (d + 3) * (d + 2) * (d + 1) * d / 24 + (c + 2) * (c + 1) * c / 6 + (b + 1) * b / 2 + a
}

#[cfg(test)]
mod tests {
    use super::super::is_zero_from;
    use super::*;
    use crate::parameters::{Addressing, Layout, Regions, Shape};

    #[test]
    fn every_bucket_of_four_nibbles_has_a_code_of_its_own() {
        let mut seen = [false; CODES];
        for word in 0..=u16::MAX {
            let nibble = |index: u16| u32::from(word >> (4 * index) & 0xf);
            let mut sorted = [nibble(0), nibble(1), nibble(2), nibble(3)];
            let is_sorted = sorted.is_sorted();
            sorted.sort_unstable();
            let code = in_memory(u64::from(code_of(sorted)));
            seen[code] = true;
            if is_sorted {
                assert_eq!(NIBBLES[code], word);
            }
        }
        assert!(seen.iter().all(|&seen| seen));
    }

    fn assert_buckets_are_kept<W: Word, const ONE_WORD: bool>(fingerprint_bits: u32) {
        let shape = Shape::new(Layout::SemiSorted, Addressing::Regional, 4).expect("there is such a table");
        let parameters = Parameters::new(shape, fingerprint_bits, Regions::single(9), 0).expect("valid");
        assert_eq!(parameters.table_bits(), 9 * 4 * (u64::from(fingerprint_bits) - 1));
        let storage = Storage::zeroed(parameters.table_bits()).expect("small");
        let mut table = SemiSortedTable::<Storage, W, ONE_WORD>::over(&parameters, storage);
        let mask = parameters.fingerprint_mask();
        let value = |bucket: u32, index: u32| {
            ((bucket + 1).wrapping_mul(0x9e37_79b9) ^ (index + 1).wrapping_mul(0x85eb_ca6b)) >> 7 & mask
        };
        // Neighbours must not disturb each other, so all buckets are filled before any is looked at.
        for bucket in 0..9 {
            for index in 0..4 {
                if let Some(vacancy) = table.vacancy(BucketIndex::new(bucket.into())) {
                    table.set(BucketIndex::new(bucket.into()), vacancy.slot, Fingerprint::new(value(bucket, index)));
                }
            }
        }
        for bucket in 0..9 {
            let mut expected: [u32; 4] =
                core::array::from_fn(|index| value(bucket, u32::try_from(index).expect("small")));
            let place = BucketIndex::new(bucket.into());
            let mut found = [0; 4];
            for (found, slot) in found.iter_mut().zip(table.slots()) {
                *found = table.get(place, slot).map_or(0, Fingerprint::get);
            }
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "f = {fingerprint_bits}");
            for value in expected.into_iter().filter_map(Fingerprint::new) {
                assert!(table.contains(place, value));
                let copies = expected.iter().filter(|&&other| other == value.get()).count();
                assert_eq!(in_memory(u64::from(table.count(place, value))), copies);
            }
            assert!(table.is_well_formed(place));
        }
        assert!(is_zero_from(table.storage(), parameters.table_bits()));
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
                    assert_eq!(lane, unfolding.lane_of(value, slot), "f = {fingerprint_bits}, {slot:?}");
                    assert_eq!(unfolding.value_of(lane, slot), value, "f = {fingerprint_bits}, {slot:?}");
                }
            }
        }
    }

    #[test]
    fn every_width_keeps_its_buckets() {
        for fingerprint_bits in 5..=32 {
            assert_buckets_are_kept::<u128, false>(fingerprint_bits);
            if fingerprint_bits <= 15 {
                assert_buckets_are_kept::<u64, true>(fingerprint_bits);
            }
        }
    }
}
