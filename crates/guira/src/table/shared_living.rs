//! A table that threads share, in which some fingerprints are dead, as their values say.

use super::{
    Copies, Living, LivingTable, MemoryMut, Place, SharedSlots, Slot, Table, TableMut, Vacancy, ValuedTable, Values,
    ValuesMut, Widths,
};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::to_usize;
use crate::sync::{AtomicU64, Count, Ordering};

/// How many fingerprints have each number, but for the one that new keys get.
#[derive(Clone, Copy)]
pub(crate) struct SharedNumbers<'table>(pub(crate) &'table [Count]);

impl SharedNumbers<'_> {
    /// Notes that a fingerprint with this number is no longer stored.
    ///
    /// Relaxed: whoever needs an exact count has all locks, and the caller has that of the fingerprint's bucket.
    pub(crate) fn leave(self, number: u32) {
        self.0[to_usize(u64::from(number))].fetch_add(u64::MAX, Ordering::Relaxed);
    }
}

/// A table with values in words that threads share. A slot is vacant if it is empty or dead; new keys get the current number.
///
/// Dead fingerprints are overwritten without a word to readers, since none needs to find them. The caller's locks keep the
/// current number, and what is dead, as they were when the table was made.
#[derive(Clone, Copy)]
pub(crate) struct SharedLivingTable<'table, G: Widths> {
    slots: ValuedTable<G, &'table [AtomicU64]>,
    living: Living,
    numbers: SharedNumbers<'table>,
}

impl<'table, G: Widths> SharedLivingTable<'table, G> {
    #[inline]
    pub(crate) const fn new(
        slots: ValuedTable<G, &'table [AtomicU64]>,
        living: Living,
        numbers: SharedNumbers<'table>,
    ) -> Self {
        Self { slots, living, numbers }
    }

    #[inline(always)]
    const fn among_living(&self) -> LivingTable<ValuedTable<G, &'table [AtomicU64]>> {
        LivingTable::new(self.slots, self.living)
    }

    /// Puts what is not 0 into a slot that is vacant. Returns `true` if it was.
    #[inline(always)]
    fn put(&self, place: Place, content: u64) -> bool {
        let old = self.slots.slots().content(place.bucket, place.slot);
        if old == 0 {
            return self.slots.slots().fill_with(place, content);
        }
        // Of the same read: without the bucket's lock, another thread may have emptied the slot by now.
        let number = self.slots.value_of(old);
        let is_dead = self.living.is_dead(number);
        if is_dead {
            self.slots.slots().flip(place, old ^ content);
            self.numbers.leave(number);
        }
        is_dead
    }

    /// The oldest living copy of a fingerprint in some buckets, of several the last, with its number.
    pub(crate) fn oldest(
        &self,
        buckets: impl Iterator<Item = BucketIndex>,
        fingerprint: Fingerprint,
    ) -> Option<(Place, u32)> {
        let living = self.among_living();
        let mut oldest: Option<(Place, u32)> = None;
        for bucket in buckets {
            for (slot, stored) in living.filled_slots(bucket) {
                let place = Place { bucket, slot };
                let number = self.slots.value(place);
                if stored == fingerprint
                    && oldest.is_none_or(|(_, other)| self.living.age(number) >= self.living.age(other))
                {
                    oldest = Some((place, number));
                }
            }
        }
        oldest
    }

    /// Whether the number of a slot is in two words, so that it can't be replaced at one moment.
    #[inline]
    pub(crate) fn number_straddles(&self, place: Place) -> bool {
        self.slots.value_straddles(place)
    }

    /// Gives a fingerprint the current number. The caller holds the lock of its bucket.
    pub(crate) fn renew(&self, place: Place, leaves: impl Fn(Fingerprint)) {
        self.slots.over_watched(leaves).set_value(place, self.living.current);
    }

    /// Whether a bucket may hold dead fingerprints.
    #[inline]
    pub(crate) fn may_have_dead(&self, bucket: BucketIndex) -> bool {
        self.among_living().may_have_dead(bucket)
    }

    /// Empties the slots of a bucket that hold dead fingerprints. The caller holds its lock.
    pub(crate) fn sweep(&self, bucket: BucketIndex) {
        for slot in self.slots() {
            let place = Place { bucket, slot };
            let old = self.slots.slots().content(bucket, slot);
            let number = self.slots.value_of(old);
            if old != 0 && self.living.is_dead(number) {
                self.slots.slots().flip(place, old);
                self.numbers.leave(number);
            }
        }
    }
}

impl<G: Widths> Table for SharedLivingTable<'_, G> {
    #[inline]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        self.among_living().contains(bucket, fingerprint)
    }

    #[inline(always)]
    fn either_contains(&self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> bool {
        self.among_living().either_contains(first, second, fingerprint)
    }

    fn find(&self, bucket: BucketIndex, fingerprint_or_empty: u64) -> Option<Slot> {
        self.among_living().find(bucket, fingerprint_or_empty)
    }

    fn count_of(&self, bucket: BucketIndex, fingerprint_or_empty: u64) -> u32 {
        self.among_living().count_of(bucket, fingerprint_or_empty)
    }

    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Vacancy {
        self.among_living().vacancy(bucket)
    }

    #[inline]
    fn slots(&self) -> impl Iterator<Item = Slot> {
        Table::slots(&self.slots)
    }

    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, Fingerprint)> {
        let filled = self.slots.filled_slots(bucket);
        filled.filter(move |&(slot, _)| !self.living.is_dead(self.slots.value(Place { bucket, slot })))
    }

    #[inline]
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        self.among_living().get(bucket, slot)
    }

    #[inline]
    fn prefetch(&self, bucket: BucketIndex) {
        self.slots.prefetch(bucket);
    }
}

impl<G: Widths> SharedSlots for SharedLivingTable<'_, G> {
    #[inline]
    fn is_filled_locked(&self, place: Place) -> bool {
        self.slots.slots().straddles(place, 0) || self.slots.slots().content(place.bucket, place.slot) != 0
    }

    #[inline(always)]
    fn fill(&self, place: Place, fingerprint: Fingerprint) -> bool {
        self.put(place, self.slots.content_of(fingerprint, self.living.current))
    }

    fn fill_from(&self, from: Place, to: Place) -> bool {
        self.get(from.bucket, from.slot).is_some() && self.put(to, self.slots.slots().content(from.bucket, from.slot))
    }

    #[cold]
    #[inline(never)]
    fn keep(self, bucket: BucketIndex, copies: &Copies) {
        self.slots.slots().keep_in(bucket, &copies.table);
    }

    #[inline]
    fn watched(self, leaves: impl Fn(Fingerprint) + Copy) -> impl TableMut {
        Writer { slots: self.slots.over_watched(leaves), table: self }
    }
}

/// The table, to be written under the locks of its buckets. Fingerprints that are set have the current number.
struct Writer<'table, G: Widths, M> {
    slots: ValuedTable<G, M>,
    table: SharedLivingTable<'table, G>,
}

impl<G: Widths, M> Writer<'_, G, M> {
    /// Counts the fingerprint in a slot that is about to be overwritten, if it is dead.
    fn note_dead(&self, place: Place) {
        let number = self.table.slots.value(place);
        if self.table.slots.get(place.bucket, place.slot).is_some() && self.table.living.is_dead(number) {
            self.table.numbers.leave(number);
        }
    }
}

impl<G: Widths, M> Table for Writer<'_, G, M> {
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        self.table.contains(bucket, fingerprint)
    }

    fn find(&self, bucket: BucketIndex, fingerprint_or_empty: u64) -> Option<Slot> {
        self.table.find(bucket, fingerprint_or_empty)
    }

    fn count_of(&self, bucket: BucketIndex, fingerprint_or_empty: u64) -> u32 {
        self.table.count_of(bucket, fingerprint_or_empty)
    }

    fn vacancy(&self, bucket: BucketIndex) -> Vacancy {
        self.table.vacancy(bucket)
    }

    fn slots(&self) -> impl Iterator<Item = Slot> {
        Table::slots(&self.table)
    }

    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, Fingerprint)> {
        self.table.filled_slots(bucket)
    }

    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        self.table.get(bucket, slot)
    }

    fn prefetch(&self, bucket: BucketIndex) {
        self.table.prefetch(bucket);
    }
}

impl<G: Widths, M: MemoryMut> TableMut for Writer<'_, G, M> {
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        let place = Place { bucket, slot };
        self.note_dead(place);
        let content = fingerprint.map_or(0, |it| self.table.slots.content_of(it, self.table.living.current));
        self.slots.overwrite(place, content);
    }

    fn copy(&mut self, from: Place, to: Place) {
        self.note_dead(to);
        self.slots.copy(from, to);
    }
}
