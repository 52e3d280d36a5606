//! Packed slots with a value beside the fingerprint: f + v bits, the fingerprint in the low f.

use super::packed::Numbers;
use super::{AnyWidths, ConstantWidths, Fits, Memory, MemoryMut, PackedTable, Place, Widths};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::low_32;
use crate::parameters::Parameters;
use crate::probe::Word;
#[cfg(feature = "concurrent")]
use crate::sync::AtomicU64;

/// The widths of a table with values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValuedWidths<G: Widths> {
    slots: G,
    /// The bits of a word that belong to fingerprints.
    fingerprints: G::Word,
    fingerprint_bits: u32,
    /// 2^f - 1.
    fingerprint_mask: u64,
}

impl<W: Word> Fits for ValuedWidths<AnyWidths<W>> {
    fn fitting(parameters: &Parameters) -> Option<Self> {
        debug_assert!(parameters.value_bits() > 0);
        let slots = AnyWidths::fitting(parameters)?;
        let fingerprint_mask = parameters.fingerprint_mask();
        let fingerprints = slots.numbers().lanes.broadcast(fingerprint_mask);
        Some(Self { slots, fingerprints, fingerprint_bits: parameters.fingerprint_bits(), fingerprint_mask })
    }
}

/// The widths of slots as constants.
impl<W: Word, const SLOTS: u32, const SLOT_BITS: u32> From<ValuedWidths<AnyWidths<W>>>
    for ValuedWidths<ConstantWidths<W, SLOTS, SLOT_BITS>>
{
    #[inline(always)]
    fn from(widths: ValuedWidths<AnyWidths<W>>) -> Self {
        let ValuedWidths { slots, fingerprints, fingerprint_bits, fingerprint_mask } = widths;
        Self { slots: slots.into(), fingerprints, fingerprint_bits, fingerprint_mask }
    }
}

impl<G: Widths> Widths for ValuedWidths<G> {
    type Word = G::Word;
    const ONE_WORD: bool = G::ONE_WORD;
    const WHOLE_BYTES: bool = G::WHOLE_BYTES;
    const VALUED: bool = true;

    #[inline(always)]
    fn numbers(self) -> Numbers<G::Word> {
        self.slots.numbers()
    }

    #[inline(always)]
    fn fingerprints(self, word: G::Word) -> G::Word {
        word & self.fingerprints
    }

    #[inline(always)]
    fn fingerprint(self, content: u64) -> u64 {
        content & self.fingerprint_mask
    }
}

/// A slot is empty where its fingerprint is 0; its value is then 0 too, so that equal contents are equal bits.
///
/// Comparing takes one more instruction per word than without values: all but the fingerprints is masked away.
pub(crate) type ValuedTable<G, M> = PackedTable<ValuedWidths<G>, M>;

impl<G: Widths, M> ValuedTable<G, M> {
    /// All that a slot holds of a fingerprint with a value.
    #[inline]
    pub(super) const fn content_of(&self, fingerprint: Fingerprint, value: u32) -> u64 {
        fingerprint.get() | ((value as u64) << self.widths().fingerprint_bits)
    }

    /// The value of what a slot holds.
    #[inline]
    pub(super) const fn value_of(&self, content: u64) -> u32 {
        low_32(content >> self.widths().fingerprint_bits)
    }
}

#[cfg(feature = "concurrent")]
impl<G: Widths> ValuedTable<G, &[AtomicU64]> {
    /// Whether the value of a slot is in two words.
    #[inline]
    pub(super) fn value_straddles(&self, place: Place) -> bool {
        self.straddles(place, self.widths().fingerprint_bits)
    }
}

impl<G: Widths, M: Memory> ValuedTable<G, M> {
    /// The value in a slot, 0 if that is empty or was just filled.
    #[inline]
    pub(crate) fn value(&self, place: Place) -> u32 {
        self.value_of(self.content(place.bucket, place.slot))
    }

    /// Whether a slot of a bucket has this value. An empty slot has the value 0, so with 0 it need not be one with a fingerprint.
    #[inline]
    pub(super) fn may_have_value(&self, bucket: BucketIndex, value: u32) -> bool {
        let ValuedWidths { fingerprints, fingerprint_bits, .. } = self.widths();
        let (lanes, pattern) = (self.lanes(), self.lanes().broadcast(u64::from(value) << fingerprint_bits));
        self.any_word(bucket, |word| lanes.any_equal(word & !fingerprints, pattern))
    }
}

impl<G: Widths, M: MemoryMut> ValuedTable<G, M> {
    /// Replaces the value in a slot that is filled.
    #[inline]
    pub(crate) fn set_value(&mut self, place: Place, value: u32) {
        let fingerprint = self.widths().fingerprint(self.content(place.bucket, place.slot));
        let value = u64::from(value) << self.widths().fingerprint_bits;
        self.set_content(place.bucket, place.slot, fingerprint | value);
    }

    /// Fills an empty slot with a fingerprint and its value.
    #[inline]
    pub(crate) fn fill_with_value(&mut self, place: Place, fingerprint: Fingerprint, value: u32) {
        let content = self.content_of(fingerprint, value);
        self.replace(place, 0, content);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::{Storage, Table, TableMut, is_zero_from};
    use super::*;
    use crate::cast::to_usize;
    use crate::parameters::{self, Addressing, Regions, Shape};

    const BUCKETS: u32 = 5;

    fn parameters(slots_per_bucket: u32, fingerprint_bits: u32, value_bits: u32) -> Parameters {
        let shape = Shape::new(parameters::Layout::Packed, Addressing::Regional, slots_per_bucket)
            .expect("there is such a table");
        let parameters = Parameters::new(shape, fingerprint_bits, Regions::single(BUCKETS.into()), 0).expect("valid");
        parameters.with_value_bits(value_bits).expect("at most 56 bits together")
    }

    /// Fills every second slot, and compares all that a table can say with a plain list of fingerprints and values.
    fn assert_agrees_with_list<W: Word>(parameters: &Parameters) {
        let what = alloc::format!("{parameters:?}");
        let mut storage = Storage::zeroed(parameters.table_bits()).expect("small");
        let widths = ValuedWidths::<AnyWidths<W>>::fitting(parameters).expect("buckets that fit the words");
        let mut table = ValuedTable::new(widths, &mut storage[..]);
        let greatest_value = u32::MAX >> (32 - parameters.value_bits());
        let mixed = |number: u32| number.wrapping_add(1).wrapping_mul(0x9e37_79b9);
        let places: Vec<Place> = (0..BUCKETS)
            .map(|bucket| BucketIndex::new(bucket.into()))
            .flat_map(|bucket| table.slots().map(move |slot| Place { bucket, slot }).collect::<Vec<_>>())
            .collect();
        let mut list: Vec<(u64, u32)> = Vec::new();
        for (number, place) in (0..).zip(&places) {
            // Few different fingerprints, so that there are copies; the least and the greatest of both are among them.
            let fingerprint = [1, parameters.fingerprint_mask(), 1 + u64::from(mixed(number) % 2)][number as usize % 3];
            let value = [greatest_value, 0, mixed(number) & greatest_value][number as usize % 3];
            if number % 2 == 0 {
                table.set(place.bucket, place.slot, Fingerprint::new(fingerprint));
                assert_eq!(table.value(*place), 0, "{what}: of a slot just filled");
                table.set_value(*place, value);
                list.push((fingerprint, value));
            } else {
                list.push((0, 0));
            }
        }
        // All are written before any is read, so that neighbours are seen to be left alone.
        let slots = to_usize(parameters.slots_per_bucket().into());
        for (bucket, expected) in (0..).zip(list.chunks(slots)) {
            let bucket = BucketIndex::new(bucket);
            for (slot, &(fingerprint, value)) in table.slots().zip(expected) {
                let place = Place { bucket, slot };
                assert_eq!(table.get(bucket, slot).map_or(0, Fingerprint::get), fingerprint, "{what}");
                assert_eq!(table.value(place), value, "{what}");
            }
            let filled: Vec<u64> = table.filled_slots(bucket).map(|(_, fingerprint)| fingerprint.get()).collect();
            assert!(expected.iter().map(|pair| pair.0).filter(|&fingerprint| fingerprint > 0).eq(filled), "{what}");
            for sought in [1, 2, 3, parameters.fingerprint_mask()] {
                let Some(fingerprint) = Fingerprint::new(sought & parameters.fingerprint_mask()) else { continue };
                let copies = expected.iter().filter(|pair| pair.0 == fingerprint.get()).count();
                assert_eq!(to_usize(table.count(bucket, fingerprint).into()), copies, "{what}: {sought}");
                assert_eq!(table.contains(bucket, fingerprint), copies > 0, "{what}: {sought}");
                let first = table.slots().zip(expected).find(|(_, pair)| pair.0 == fingerprint.get());
                assert_eq!(table.slot_of(bucket, fingerprint), first.map(|(slot, _)| slot), "{what}: {sought}");
            }
            let empty = table.slots().zip(expected).find(|(_, pair)| pair.0 == 0).map(|(slot, _)| slot);
            assert_eq!(table.vacancy(bucket).slot(), empty, "{what}");
            assert!(table.is_well_formed(bucket), "{what}");
        }
        assert!(is_zero_from(table.memory(), parameters.table_bits()), "{what}: padding");

        // A copy takes the value along; an empty slot with a value is noticed.
        let (from, to) = (places[0], places[places.len() - 1]);
        table.copy(from, to);
        assert_eq!(table.get(to.bucket, to.slot), table.get(from.bucket, from.slot), "{what}");
        assert_eq!(table.value(to), list[0].1, "{what}");
        table.set(from.bucket, from.slot, None);
        assert_eq!(table.value(from), 0, "{what}: of an emptied slot");
        table.set_value(from, 1);
        assert!(!table.is_well_formed(from.bucket), "{what}: an empty slot with a value");
    }

    #[test]
    fn every_width_of_fingerprints_and_values_is_kept_and_compared_as_in_a_list() {
        for slots_per_bucket in [1, 2, 3, 4, 8] {
            for fingerprint_bits in 2..=55 {
                for value_bits in 1..=(56 - fingerprint_bits).min(32) {
                    let parameters = parameters(slots_per_bucket, fingerprint_bits, value_bits);
                    assert_agrees_with_list::<u128>(&parameters);
                    if ValuedWidths::<AnyWidths<u64>>::fitting(&parameters).is_some() {
                        assert_agrees_with_list::<u64>(&parameters);
                    }
                }
            }
        }
    }
}
