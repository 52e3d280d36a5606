//! The plain layout: slots of f bits, one after the other, without a gap. Slots of a [`ValuedTable`](super::ValuedTable) have a
//! value above the fingerprint.

use core::hint::select_unpredictable;
use core::marker::PhantomData;

use super::{Fits, Layout, Memory, MemoryMut, Place, Slot, Table, TableMut, Vacancy, byte_of};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::to_usize;
use crate::parameters::{Parameters, most_bits_before};
use crate::probe::{Lanes, Word};

/// Bucket i starts at bit i * b * f, its slots from the lowest bit up.
///
/// A bucket is read as one or more words, each of which holds equally many of its slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedTable<G, M> {
    widths: G,
    memory: M,
}

/// The widths of a packed table.
///
/// Either numbers ([`AnyWidths`]), or constants of the type ([`ConstantWidths`]), which make shifts and masks constant too.
pub(crate) trait Widths: Copy {
    /// The word that a bucket, or a part of it, is read in.
    type Word: Word;

    /// Whether each bucket is read in a single word.
    const ONE_WORD: bool;

    /// Whether each bucket starts at a byte.
    const WHOLE_BYTES: bool;

    /// Whether slots hold more than fingerprints.
    const VALUED: bool = false;

    /// The widths of slots, of buckets and of the words that buckets are read in.
    fn numbers(self) -> Numbers<Self::Word>;

    /// A word of slots, with 0 for what is beside fingerprints.
    #[inline(always)]
    fn fingerprints(self, word: Self::Word) -> Self::Word {
        word
    }

    /// The fingerprint in a slot with these bits, or 0.
    #[inline(always)]
    fn fingerprint(self, content: u64) -> u64 {
        content
    }
}

/// The widths of a packed table as numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<W> {
    /// How a word is divided into slots.
    pub(crate) lanes: Lanes<W>,
    /// The bits of a slot: f, and those of a value where there is one.
    pub(super) slot_bits: u32,
    /// The slots of a bucket.
    pub(super) slots_per_bucket: u32,
    /// The bits of a bucket.
    pub(super) bucket_bits: u32,
    /// The bits of a word that hold slots.
    word_bits: u32,
}

impl<W: Word> Numbers<W> {
    #[inline(always)]
    fn new(slots_per_bucket: u32, slots_per_word: u32, slot_bits: u32) -> Self {
        Self {
            lanes: Lanes::new(slots_per_word, slot_bits),
            slot_bits,
            slots_per_bucket,
            bucket_bits: slots_per_bucket * slot_bits,
            word_bits: slots_per_word * slot_bits,
        }
    }

    /// The slots of a bucket, and the bits of a slot.
    #[inline]
    pub(crate) const fn slots_and_bits(&self) -> (u32, u32) {
        (self.slots_per_bucket, self.slot_bits)
    }
}

/// Widths that are known when a filter is made.
///
/// A word is read from a byte on, so up to 7 of its bits come before the first slot: 64 bits hold a bucket of up to 57 bits, or of 58,
/// 60 or 64, which never start so far in their byte; 128 bits hold one of up to 121. Wider buckets are read in several words of 128
/// bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyWidths<W, const WHOLE_BYTES: bool = false>(Numbers<W>);

impl<W: Word, const WHOLE_BYTES: bool> Fits for AnyWidths<W, WHOLE_BYTES> {
    fn fitting(parameters: &Parameters) -> Option<Self> {
        let (slot_bits, bucket_bits) = (parameters.bits_per_slot(), parameters.bucket_bits());
        // Where several words may be read, they start at any bit of a byte.
        let usable_bits = W::BITS - if Self::ONE_WORD { most_bits_before(bucket_bits) } else { 7 };
        let fits = !Self::ONE_WORD || bucket_bits <= usable_bits;
        if !fits || (WHOLE_BYTES && !bucket_bits.is_multiple_of(8)) {
            return None;
        }
        // All words of a bucket have equally many slots, so that one set of masks serves them all.
        let slots_per_bucket = parameters.slots_per_bucket();
        let shares = |lanes: &u32| slots_per_bucket.is_multiple_of(*lanes);
        let lanes_per_word = (1..=usable_bits / slot_bits).rev().find(shares).unwrap_or(1);
        Some(Self(Numbers::new(slots_per_bucket, lanes_per_word, slot_bits)))
    }
}

impl<W: Word, const WHOLE_BYTES: bool> Widths for AnyWidths<W, WHOLE_BYTES> {
    type Word = W;
    const ONE_WORD: bool = W::BITS == 64;
    const WHOLE_BYTES: bool = WHOLE_BYTES;

    #[inline]
    fn numbers(self) -> Numbers<W> {
        self.0
    }
}

/// Buckets of `SLOTS` slots of `SLOT_BITS` bits that are read in a single word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstantWidths<W, const SLOTS: u32, const SLOT_BITS: u32>(PhantomData<W>);

impl<W: Word, const SLOTS: u32, const SLOT_BITS: u32> ConstantWidths<W, SLOTS, SLOT_BITS> {
    const fn new() -> Self {
        const { assert!(SLOTS * SLOT_BITS + most_bits_before(SLOTS * SLOT_BITS) <= W::BITS) }
        Self(PhantomData)
    }
}

/// The widths as constants, which must be equal to the numbers.
impl<W: Word, const SLOTS: u32, const SLOT_BITS: u32> From<AnyWidths<W>> for ConstantWidths<W, SLOTS, SLOT_BITS> {
    #[inline(always)]
    fn from(widths: AnyWidths<W>) -> Self {
        debug_assert_eq!(widths.numbers().slots_and_bits(), (SLOTS, SLOT_BITS));
        Self::new()
    }
}

impl<W: Word, const SLOTS: u32, const SLOT_BITS: u32> Widths for ConstantWidths<W, SLOTS, SLOT_BITS> {
    type Word = W;
    const ONE_WORD: bool = true;
    const WHOLE_BYTES: bool = (SLOTS * SLOT_BITS).is_multiple_of(8);

    #[inline(always)]
    fn numbers(self) -> Numbers<W> {
        Numbers::new(SLOTS, SLOTS, SLOT_BITS)
    }
}

/// All slots of a bucket, in order.
#[inline]
pub(super) fn slots<G: Widths>(widths: G) -> impl Iterator<Item = Slot> {
    let Numbers { slots_per_bucket, slot_bits, .. } = widths.numbers();
    (0..slots_per_bucket).map(move |number| Slot(number * slot_bits))
}

impl<G: Widths> Layout for G {
    #[inline]
    fn over<M: Memory>(self, memory: M) -> impl Table {
        PackedTable::new(self, memory)
    }

    #[inline]
    fn over_mut(self, memory: &mut [u8]) -> impl TableMut {
        PackedTable::new(self, memory)
    }
}

impl<G: Widths, M> PackedTable<G, M> {
    /// The table that this memory holds.
    #[inline]
    pub(crate) const fn new(widths: G, memory: M) -> Self {
        Self { widths, memory }
    }

    /// The bit of the table that is bit `at` of a bucket.
    #[inline]
    pub(super) fn bit(&self, bucket: BucketIndex, at: u32) -> u64 {
        bucket.get() * u64::from(self.numbers().bucket_bits) + u64::from(at)
    }

    /// How many slots one read or write takes, whichever bit they start at: a power of two.
    #[inline(always)]
    fn slots_at_a_time(&self) -> u32 {
        let (slots, slot_bits) = self.numbers().slots_and_bits();
        let of_half = if G::ONE_WORD { slots } else { slots / 2 };
        if of_half * slot_bits + 7 > u64::BITS { 1 } else { of_half }
    }

    /// How the words of the table are divided.
    #[inline]
    pub(super) fn lanes(&self) -> Lanes<G::Word> {
        self.numbers().lanes
    }

    #[inline]
    pub(super) fn numbers(&self) -> Numbers<G::Word> {
        self.widths.numbers()
    }

    #[inline]
    pub(super) const fn widths(&self) -> G {
        self.widths
    }

    #[cfg(feature = "concurrent")]
    #[inline]
    pub(super) const fn memory(&self) -> &M {
        &self.memory
    }

    /// The byte at which to read bit `at` of a bucket, and how many bits come before that bit, counted from this byte. If
    /// a bucket is read in one word, it is the byte of that word for all bits.
    #[inline(always)]
    fn byte_of(&self, bucket: BucketIndex, at: u32) -> (usize, u32) {
        if !G::ONE_WORD {
            return byte_of(self.bit(bucket, at));
        }
        let (byte, before) = if G::WHOLE_BYTES {
            (to_usize(bucket.get() * u64::from(self.numbers().bucket_bits / 8)), 0)
        } else {
            byte_of(self.bit(bucket, 0))
        };
        (byte, before + at)
    }
}

impl<G: Widths, M: Memory> PackedTable<G, M> {
    /// The word of a bucket that starts at its bit `at`; the bits above its slots belong to others.
    #[inline(always)]
    fn word(&self, bucket: BucketIndex, at: u32) -> G::Word {
        let (byte, before) = self.byte_of(bucket, at);
        self.memory.word(byte, before, self.numbers().word_bits)
    }

    /// The word of a bucket that is read in a single one, with 0 for what is beside fingerprints.
    #[inline(always)]
    fn fingerprints(&self, bucket: BucketIndex) -> G::Word {
        self.widths.fingerprints(self.word(bucket, 0))
    }

    /// Goes through the words of a bucket with what `next` makes of the value so far.
    #[inline(always)]
    fn fold_words<T>(&self, bucket: BucketIndex, first: T, next: impl Fn(T, G::Word) -> T) -> T {
        let mut value = next(first, self.word(bucket, 0));
        if !G::ONE_WORD {
            let mut at = self.numbers().word_bits;
            while at < self.numbers().bucket_bits {
                value = next(value, self.word(bucket, at));
                at += self.numbers().word_bits;
            }
        }
        value
    }

    /// Whether any word of a bucket matches.
    #[inline(always)]
    pub(super) fn any_word(&self, bucket: BucketIndex, matches: impl Fn(G::Word) -> bool) -> bool {
        // Not `||`: whether a word matches is hard to guess, and a wrong guess costs more than reading the next one.
        self.fold_words(bucket, false, |found, word| found | matches(word))
    }

    /// The first slot of a bucket that `find` finds in one of its words, given the bit at which the slot starts there.
    #[inline(always)]
    fn first_slot(&self, bucket: BucketIndex, find: impl Fn(G::Word) -> Option<u32>) -> Option<Slot> {
        let found = |at| find(self.word(bucket, at)).map(|bit| Slot(at + bit));
        let mut slot = found(0);
        if !G::ONE_WORD {
            let mut at = self.numbers().word_bits;
            while slot.is_none() && at < self.numbers().bucket_bits {
                slot = found(at);
                at += self.numbers().word_bits;
            }
        }
        slot
    }

    /// The sum of `count` over the words of a bucket.
    #[inline(always)]
    fn total(&self, bucket: BucketIndex, count: impl Fn(G::Word) -> u32) -> u32 {
        self.fold_words(bucket, 0, |sum, word| sum + count(word))
    }

    /// Each slot of a bucket in order, with its bits.
    #[inline]
    pub(crate) fn contents(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, u64)> {
        let (slot_bits, lanes) = (self.numbers().slot_bits, self.lanes());
        let word = if G::ONE_WORD { self.word(bucket, 0) } else { G::Word::ZERO };
        let (mut at, end) = (0, self.numbers().bucket_bits);
        core::iter::from_fn(move || {
            let slot = Slot(at);
            at += slot_bits;
            // A shift of 128 bits takes longer than to read the 64 that a slot is in.
            let content = || if G::ONE_WORD { lanes.get(word, slot.0) } else { self.content(bucket, slot) };
            (at <= end).then(|| (slot, content()))
        })
    }

    /// Whether a bucket has the low bits of a fingerprint, as many as its slots have.
    #[inline(always)]
    pub(super) fn contains_low_bits(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        let lanes = self.lanes();
        let pattern = lanes.broadcast(lanes.low_bits(fingerprint.get()));
        self.any_word(bucket, |word| lanes.any_equal(word, pattern))
    }

    /// The bits of a slot.
    #[inline]
    pub(super) fn content(&self, bucket: BucketIndex, slot: Slot) -> u64 {
        let (byte, before) = byte_of(self.bit(bucket, slot.0));
        // One slot of at most 56 bits fits 64 bits from any byte on.
        let word: u64 = self.memory.word(byte, before, self.numbers().slot_bits);
        word & (u64::MAX >> (64 - self.numbers().slot_bits))
    }
}

impl<G: Widths, M: Memory> Table for PackedTable<G, M> {
    #[inline]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        let (lanes, pattern) = (self.lanes(), self.lanes().broadcast(fingerprint.get()));
        self.any_word(bucket, |word| lanes.any_equal(self.widths.fingerprints(word), pattern))
    }

    // Always inlined: a table that is passed to a function has to be written to memory first.
    #[inline(always)]
    fn either_contains(&self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> bool {
        if G::ONE_WORD {
            let (lanes, pattern) = (self.lanes(), self.lanes().broadcast(fingerprint.get()));
            lanes.any_equal_of_two(self.fingerprints(first), self.fingerprints(second), pattern)
        } else {
            self.contains(first, fingerprint) | self.contains(second, fingerprint)
        }
    }

    #[inline(always)]
    fn find_in_either(&self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> Option<Place> {
        if !G::ONE_WORD {
            return super::find_in_either(self, first, second, fingerprint);
        }
        let (lanes, pattern) = (self.lanes(), self.lanes().broadcast(fingerprint.get()));
        let (first_word, second_word) = (self.fingerprints(first), self.fingerprints(second));
        let (is_first, bit) = lanes.lowest_equal_of_two(first_word, second_word, pattern)?;
        Some(Place { bucket: select_unpredictable(is_first, first, second), slot: Slot(bit) })
    }

    #[inline]
    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot> {
        let (lanes, pattern) = (self.lanes(), self.lanes().broadcast(fingerprint.get()));
        self.first_slot(bucket, |word| lanes.lowest_equal(self.widths.fingerprints(word), pattern))
    }

    #[inline]
    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32 {
        let (lanes, pattern) = (self.lanes(), self.lanes().broadcast(fingerprint.get()));
        self.total(bucket, |word| lanes.count_equal(self.widths.fingerprints(word), pattern))
    }

    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Vacancy {
        // An empty slot is 0 as a whole. Slots are filled from the first on, so the position of the first empty one tells how many are full. If slots
        // before the last were emptied it tells fewer, and buckets only fill less evenly.
        if G::ONE_WORD {
            let end = self.lanes().end_of_lowest_equal(self.word(bucket, 0), G::Word::ZERO);
            let fullness = end / (G::Word::BITS / Vacancy::FULL);
            Vacancy { slot: Slot((end + 1).wrapping_sub(self.numbers().slot_bits)), fullness }
        } else {
            // Buckets of several words, or of 128 bits, have slots of at least 8 bits and at most 56, so these numbers differ, and
            // are below 64.
            let lanes = self.lanes();
            let first_empty = self.first_slot(bucket, |word| lanes.lowest_equal(word, G::Word::ZERO));
            let slot = first_empty.unwrap_or(Slot(0));
            Vacancy { slot, fullness: select_unpredictable(first_empty.is_some(), slot.0 / 8, Vacancy::FULL) }
        }
    }

    #[inline]
    fn slots(&self) -> impl Iterator<Item = Slot> {
        slots(self.widths)
    }

    #[inline]
    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, Fingerprint)> {
        let fingerprint = |content| Fingerprint::new(self.widths.fingerprint(content));
        self.contents(bucket).filter_map(move |(slot, content)| Some((slot, fingerprint(content)?)))
    }

    /// Without a branch on what is in a slot, which can't be predicted.
    #[inline]
    fn count_filled(&self, bucket: BucketIndex, telling: u64) -> (u64, bool) {
        let each = |(filled, may_be), (_, content): (Slot, u64)| {
            let fingerprint = self.widths.fingerprint(content);
            let is_filled = fingerprint != 0;
            (filled + u64::from(is_filled), may_be & (!is_filled | (fingerprint & telling != 0)))
        };
        self.contents(bucket).fold((0, true), each)
    }

    #[inline]
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        Fingerprint::new(self.widths.fingerprint(self.content(bucket, slot)))
    }

    #[inline]
    fn is_worth_prefetching(&self) -> bool {
        self.memory.is_large()
    }

    #[inline]
    fn prefetch(&self, bucket: BucketIndex) {
        if G::WHOLE_BYTES {
            let first = to_usize(bucket.get() * u64::from(self.numbers().bucket_bits / 8));
            self.memory.prefetch(first, first + to_usize(u64::from((self.numbers().bucket_bits - 1) / 8)));
        } else {
            let last = self.bit(bucket, self.numbers().bucket_bits - 1);
            self.memory.prefetch(byte_of(self.bit(bucket, 0)).0, byte_of(last).0);
        }
    }

    /// Whether no empty slot has a value.
    fn is_well_formed(&self, bucket: BucketIndex) -> bool {
        !G::VALUED || self.contents(bucket).all(|(_, it)| it == 0 || self.widths.fingerprint(it) != 0)
    }
}

impl<G: Widths, M: MemoryMut> TableMut for PackedTable<G, M> {
    #[inline]
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        self.set_content(bucket, slot, fingerprint.map_or(0, Fingerprint::get));
    }

    #[inline]
    fn fill(&mut self, place: Place, fingerprint: Fingerprint) {
        self.replace(place, 0, fingerprint.get());
    }

    #[inline]
    fn erase(&mut self, place: Place, fingerprint: Fingerprint) {
        if G::VALUED {
            self.set(place.bucket, place.slot, None);
        } else {
            self.replace(place, fingerprint.get(), 0);
        }
    }

    #[inline]
    fn copy(&mut self, from: Place, to: Place) {
        let content = self.content(from.bucket, from.slot);
        self.set_content(to.bucket, to.slot, content);
    }
}

impl<G: Widths, M: MemoryMut> PackedTable<G, M> {
    /// Fills a bucket and the one behind it, both empty, with what the slots of one bucket held: each fingerprint goes to its slot of the
    /// first of them, or of the second where it comes with `true`, and 0 to neither. So what became two can be [taken](Self::take) back.
    ///
    /// Which of the two a fingerprint goes to can't be predicted, so nothing branches on it, and buckets are put together before they
    /// are written: what was just written in part has to leave the processor's store buffer before it can be read again.
    #[inline(always)]
    pub(crate) fn fill_pair(&mut self, first: BucketIndex, fingerprints: impl Iterator<Item = (u64, bool)>) {
        let (slots, slot_bits) = self.numbers().slots_and_bits();
        let pair = [first, first.following()];
        let at_a_time = self.slots_at_a_time();
        if at_a_time == 1 {
            for (number, (fingerprint, is_second)) in (0..).zip(fingerprints).filter(|&(_, (it, _))| it != 0) {
                let place = Place { bucket: pair[usize::from(is_second)], slot: Slot(number * slot_bits) };
                self.replace(place, 0, fingerprint);
            }
            return;
        }
        let parts = at_a_time.next_power_of_two().trailing_zeros();
        let mut contents = [[0; 4]; 2];
        for (number, (fingerprint, is_second)) in (0_u32..).zip(fingerprints) {
            let part = &mut contents[usize::from(is_second)][to_usize(u64::from(number >> parts & 3))];
            *part |= fingerprint << ((number & (at_a_time - 1)) * slot_bits);
        }
        for (bucket, contents) in pair.into_iter().zip(contents) {
            for (number, content) in (0..slots / at_a_time).zip(contents) {
                self.replace(Place { bucket, slot: Slot(number * at_a_time * slot_bits) }, 0, content);
            }
        }
    }

    /// Fills an empty bucket with what one of another table holds, whose slots may be a bit wider, which is left out: the highest.
    #[inline(always)]
    pub(crate) fn copy_bucket<N: Memory>(
        &mut self,
        bucket: BucketIndex,
        from: &PackedTable<G, N>,
        copied: BucketIndex,
    ) {
        let ((slots, narrow), wide) = (self.numbers().slots_and_bits(), from.numbers().slot_bits);
        let at_a_time = from.slots_at_a_time();
        debug_assert!(narrow == wide || narrow + 1 == wide);
        let mut slot = 0;
        while slot < slots {
            let (byte, before) = byte_of(from.bit(copied, slot * wide));
            let mut word: u64 = from.memory.word(byte, before, at_a_time * wide);
            let mut content = word & (u64::MAX >> (64 - at_a_time * narrow));
            if wide > narrow {
                // Each slot is a bit lower than the one before it.
                let (mut low_bits, mut all) = (u64::MAX >> (64 - narrow), 0);
                for _ in 0..at_a_time {
                    all |= word & low_bits;
                    word >>= 1;
                    low_bits <<= narrow;
                }
                content = all;
            }
            self.replace(Place { bucket, slot: Slot(slot * narrow) }, 0, content);
            slot += at_a_time;
        }
    }

    /// Moves all that a bucket of another table holds to the slots with these numbers of a bucket of this one, which are empty, as what
    /// `restored` makes of it.
    pub(crate) fn take<N: MemoryMut>(
        &mut self,
        bucket: BucketIndex,
        from: &mut PackedTable<G, N>,
        taken: BucketIndex,
        restored: impl Fn(Fingerprint) -> Fingerprint,
    ) {
        for (slot, other) in slots(self.widths).zip(slots(from.widths)) {
            if let Some(fingerprint) = Fingerprint::new(from.content(taken, other)) {
                self.replace(Place { bucket, slot }, 0, restored(fingerprint).get());
                from.replace(Place { bucket: taken, slot: other }, fingerprint.get(), 0);
            }
        }
    }

    /// Replaces the bits of a slot.
    #[inline]
    pub(super) fn set_content(&mut self, bucket: BucketIndex, slot: Slot, content: u64) {
        let old = self.content(bucket, slot);
        self.replace(Place { bucket, slot }, old, content);
    }

    /// Replaces the bits of a slot, given what they are.
    #[inline]
    pub(super) fn replace(&mut self, place: Place, old: u64, new: u64) {
        debug_assert_eq!(self.content(place.bucket, place.slot), old);
        let (byte, before) = self.byte_of(place.bucket, place.slot.0);
        if G::Word::BITS == u64::BITS {
            self.memory.replace(byte, before, old, new);
        } else {
            self.memory.replace(byte + to_usize(u64::from(before / 8)), before % 8, old, new);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::parameters::{Addressing, Layout, Regions, Shape};

    /// Fills a bucket slot by slot, and checks its vacancy each time.
    fn fill_up<W: Word>(slots_per_bucket: u32, fingerprint_bits: u32)
    where
        AnyWidths<W>: Widths,
    {
        let case = format!("{slots_per_bucket} slots of {fingerprint_bits} bits");
        let shape = Shape::new(Layout::Packed, Addressing::Regional, slots_per_bucket).expect("there is such a table");
        let parameters = Parameters::new(shape, fingerprint_bits, Regions::single(2), 0).expect("valid");
        let widths = AnyWidths::<W>::fitting(&parameters).expect("the words are wide enough");
        let mut bytes = vec![0; to_usize(parameters.table_size())];
        let mut table = PackedTable::new(widths, bytes.as_mut_slice());
        let bucket = BucketIndex::new(1);
        let mut before = None;
        for _ in 0..slots_per_bucket {
            let vacancy = table.vacancy(bucket);
            let slot = vacancy.slot().unwrap_or_else(|| panic!("{case}: no room"));
            assert!(before < Some(vacancy.fullness), "{case}: {before:?}, then {}", vacancy.fullness);
            before = Some(vacancy.fullness);
            table.fill(Place { bucket, slot }, Fingerprint::LEAST);
        }
        assert_eq!(table.vacancy(bucket).slot(), None, "{case}");
        assert_eq!(table.count(bucket, Fingerprint::LEAST), slots_per_bucket, "{case}");
    }

    #[test]
    fn the_fewer_slots_are_empty_the_fuller_is_a_bucket() {
        for fingerprint_bits in 2..=56 {
            for slots_per_bucket in [1, 2, 3, 4, 8] {
                if slots_per_bucket * fingerprint_bits <= 56 {
                    fill_up::<u64>(slots_per_bucket, fingerprint_bits);
                } else if fingerprint_bits >= 8 {
                    fill_up::<u128>(slots_per_bucket, fingerprint_bits);
                }
            }
        }
    }
}
