//! Packed slots with a value beside the fingerprint: f + v bits, the fingerprint in the low f.

#[cfg(feature = "concurrent")]
use super::Watched;
use super::{
    AnyWidths, ConstantWidths, Fits, Layout, Memory, MemoryMut, PackedTable, Place, Slot, Table, TableMut, Vacancy,
    Values, ValuesMut, Widths,
};
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
        let fingerprints = PackedTable::new(slots, ()).lanes().broadcast(fingerprint_mask);
        Some(Self { slots, fingerprints, fingerprint_bits: parameters.fingerprint_bits(), fingerprint_mask })
    }
}

impl<W: Word> ValuedWidths<AnyWidths<W>> {
    /// The widths of the slots, values included.
    #[inline(always)]
    pub(crate) const fn slots(self) -> AnyWidths<W> {
        self.slots
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

impl<G: Widths> Layout for ValuedWidths<G> {
    #[inline]
    fn over<M: Memory>(self, memory: M) -> impl Table {
        ValuedTable::new(self, memory)
    }

    #[inline]
    fn over_mut(self, memory: &mut [u8]) -> impl TableMut {
        ValuedTable::new(self, memory)
    }
}

/// A slot is empty where its fingerprint is 0; its value is then 0 too, so that equal contents are equal bits.
///
/// Comparing takes one more instruction per word than without values: all but the fingerprints is masked away.
#[derive(Clone, Copy)]
pub(crate) struct ValuedTable<G: Widths, M> {
    slots: PackedTable<G, M>,
    widths: ValuedWidths<G>,
}

impl<G: Widths, M> ValuedTable<G, M> {
    /// The table that this memory holds.
    #[inline]
    pub(crate) fn new(widths: ValuedWidths<G>, memory: M) -> Self {
        Self { slots: PackedTable::new(widths.slots, memory), widths }
    }

    /// All that a slot holds of a fingerprint with a value.
    #[inline]
    pub(super) const fn content_of(&self, fingerprint: Fingerprint, value: u32) -> u64 {
        fingerprint.get() | ((value as u64) << self.widths.fingerprint_bits)
    }

    /// The value of what a slot holds.
    #[inline]
    pub(super) const fn value_of(&self, content: u64) -> u32 {
        low_32(content >> self.widths.fingerprint_bits)
    }
}

#[cfg(feature = "concurrent")]
impl<G: Widths, M> ValuedTable<G, M> {
    /// The slots, values and all.
    #[inline]
    pub(super) const fn packed(&self) -> &PackedTable<G, M> {
        &self.slots
    }
}

#[cfg(feature = "concurrent")]
impl<G: Widths, M: MemoryMut> ValuedTable<G, M> {
    /// Replaces all that a slot holds.
    pub(super) fn overwrite(&mut self, place: Place, content: u64) {
        self.slots.set_content(place.bucket, place.slot, content);
    }
}

#[cfg(feature = "concurrent")]
impl<'table, G: Widths> ValuedTable<G, &'table [AtomicU64]> {
    /// Whether the value of a slot is in two words.
    #[inline]
    pub(super) fn value_straddles(&self, place: Place) -> bool {
        self.slots.straddles(place, self.widths.fingerprint_bits)
    }

    /// The table, to be written. `leaves` is called as [`Watched`] says, with the fingerprint alone.
    #[inline]
    pub(super) fn over_watched(
        self,
        leaves: impl Fn(Fingerprint),
    ) -> ValuedTable<G, Watched<'table, impl Fn(Fingerprint)>> {
        let (widths, mask) = (self.widths, self.widths.fingerprint_mask);
        let leaves = move |content: Fingerprint| Fingerprint::new(content.get() & mask).into_iter().for_each(&leaves);
        ValuedTable { slots: self.slots.over_watched(leaves), widths }
    }
}

impl<G: Widths, M: Memory> Table for ValuedTable<G, M> {
    #[inline]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        let (lanes, pattern) = (self.slots.lanes(), self.slots.lanes().broadcast(fingerprint.get()));
        self.slots.any_word(bucket, |word| lanes.any_equal(word & self.widths.fingerprints, pattern))
    }

    #[inline(always)]
    fn either_contains(&self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> bool {
        if !G::ONE_WORD {
            return self.contains(first, fingerprint) | self.contains(second, fingerprint);
        }
        let (lanes, pattern) = (self.slots.lanes(), self.slots.lanes().broadcast(fingerprint.get()));
        let fingerprints = |bucket| self.slots.word(bucket, 0) & self.widths.fingerprints;
        let (first, second) = (fingerprints(first), fingerprints(second));
        lanes.any_equal_of_two(first, second, pattern)
    }

    #[inline]
    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot> {
        let (lanes, pattern) = (self.slots.lanes(), self.slots.lanes().broadcast(fingerprint.get()));
        self.slots.first_slot(bucket, |word| lanes.lowest_equal(word & self.widths.fingerprints, pattern))
    }

    #[inline]
    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32 {
        let (lanes, pattern) = (self.slots.lanes(), self.slots.lanes().broadcast(fingerprint.get()));
        self.slots.total(bucket, |word| lanes.count_equal(word & self.widths.fingerprints, pattern))
    }

    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Vacancy {
        // An empty slot is 0 as a whole, so it is found as in a table without values.
        self.slots.vacancy(bucket)
    }

    #[inline]
    fn slots(&self) -> impl Iterator<Item = Slot> {
        self.slots.slots()
    }

    #[inline]
    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, Fingerprint)> {
        let mask = self.widths.fingerprint_mask;
        let contents = self.slots.contents(bucket);
        contents.filter_map(move |(slot, content)| Some((slot, Fingerprint::new(content & mask)?)))
    }

    #[inline]
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        Fingerprint::new(self.slots.content(bucket, slot) & self.widths.fingerprint_mask)
    }

    #[inline]
    fn is_worth_prefetching(&self) -> bool {
        self.slots.is_worth_prefetching()
    }

    #[inline]
    fn prefetch(&self, bucket: BucketIndex) {
        self.slots.prefetch(bucket);
    }

    /// Whether no empty slot has a value.
    fn is_well_formed(&self, bucket: BucketIndex) -> bool {
        let mut contents = self.slots.contents(bucket);
        contents.all(|(_, content)| content == 0 || content & self.widths.fingerprint_mask != 0)
    }
}

impl<G: Widths, M: MemoryMut> TableMut for ValuedTable<G, M> {
    #[inline]
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        self.slots.set(bucket, slot, fingerprint);
    }

    #[inline]
    fn fill(&mut self, place: Place, fingerprint: Fingerprint) {
        self.slots.fill(place, fingerprint);
    }

    #[inline]
    fn copy(&mut self, from: Place, to: Place) {
        let content = self.slots.content(from.bucket, from.slot);
        self.slots.set_content(to.bucket, to.slot, content);
    }
}

impl<G: Widths, M: Memory> Values for ValuedTable<G, M> {
    #[inline]
    fn value(&self, place: Place) -> u32 {
        self.value_of(self.slots.content(place.bucket, place.slot))
    }

    #[inline]
    fn may_have_value(&self, bucket: BucketIndex, value: u32) -> bool {
        let (lanes, pattern) =
            (self.slots.lanes(), self.slots.lanes().broadcast(u64::from(value) << self.widths.fingerprint_bits));
        self.slots.any_word(bucket, |word| lanes.any_equal(word & !self.widths.fingerprints, pattern))
    }
}

impl<G: Widths, M: MemoryMut> ValuesMut for ValuedTable<G, M> {
    #[inline]
    fn set_value(&mut self, place: Place, value: u32) {
        let fingerprint = self.slots.content(place.bucket, place.slot) & self.widths.fingerprint_mask;
        let value = u64::from(value) << self.widths.fingerprint_bits;
        self.slots.set_content(place.bucket, place.slot, fingerprint | value);
    }

    #[inline]
    fn fill_with_value(&mut self, place: Place, fingerprint: Fingerprint, value: u32) {
        let content = self.content_of(fingerprint, value);
        self.slots.replace(place, 0, content);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::{Storage, is_zero_from};
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
        assert!(is_zero_from(table.slots.memory(), parameters.table_bits()), "{what}: padding");

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
