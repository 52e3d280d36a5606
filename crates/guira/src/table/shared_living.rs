//! A table that threads share, in which some fingerprints are dead, as their values say.

use super::{
    Copies, Living, LivingTable, Memory, MemoryMut, Place, SharedSlots, Slot, Table, TableMut, Vacancy, ValuedTable,
    Values, ValuesMut, Widths,
};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::to_usize;
use crate::sync::{AtomicU64, Ordering};

/// How many fingerprints have each number, but for the one that new keys get.
#[derive(Clone, Copy)]
pub(crate) struct SharedNumbers<'table>(pub(crate) &'table [AtomicU64]);

impl SharedNumbers<'_> {
    /// Notes that a fingerprint with this number is no longer stored. The caller has the lock of its bucket.
    ///
    /// Release: whoever reads that none is left, perhaps without a lock, sees a slot of none.
    pub(crate) fn leave(self, number: u32) {
        self.0[to_usize(u64::from(number))].fetch_add(u64::MAX, Ordering::Release);
    }
}

/// A table with values that threads share. A slot is vacant if it is empty or dead; new keys get the current number.
///
/// Dead fingerprints are overwritten without a word to readers, since none needs to find them. The caller's locks keep the
/// current number, and what is dead, as they were when the table was made.
#[derive(Clone, Copy)]
pub(crate) struct SharedLivingTable<'table, G: Widths, M> {
    table: LivingTable<ValuedTable<G, M>>,
    numbers: SharedNumbers<'table>,
}

impl<'table, G: Widths, M: Memory> SharedLivingTable<'table, G, M> {
    #[inline]
    pub(crate) const fn new(slots: ValuedTable<G, M>, living: Living, numbers: SharedNumbers<'table>) -> Self {
        Self { table: LivingTable::new(slots, living), numbers }
    }

    /// Calls `replace` if the fingerprint of a slot with this content is dead, then counts it as no longer stored. Returns `true` if
    /// it is dead.
    ///
    /// Not before: once the last dead one is counted, it is forgotten which numbers are of the dead, and one that is left would be
    /// found. The slot is not read again: without its bucket's lock, another thread may have emptied it by now.
    #[inline(always)]
    fn leave_dead(&self, content: u64, replace: impl FnOnce()) -> bool {
        let number = self.table.slots.value_of(content);
        let is_dead = content != 0 && self.table.living.is_dead(number);
        if is_dead {
            replace();
            self.numbers.leave(number);
        }
        is_dead
    }
}

impl<G: Widths> SharedLivingTable<'_, G, &[AtomicU64]> {
    /// Puts what is not 0 into a slot that is vacant. Returns `true` if it was.
    #[inline(always)]
    fn put(&self, place: Place, content: u64) -> bool {
        let slots = self.table.slots;
        let old = slots.content(place.bucket, place.slot);
        if old == 0 {
            return slots.fill_with(place, content);
        }
        self.leave_dead(old, || slots.flip(place, old ^ content))
    }

    /// The oldest living copy of a fingerprint in some buckets, of several the last, with its number.
    pub(crate) fn oldest(
        &self,
        buckets: impl Iterator<Item = BucketIndex>,
        fingerprint: Fingerprint,
    ) -> Option<(Place, u32)> {
        let mut oldest: Option<(Place, u32)> = None;
        for bucket in buckets {
            for slot in self.table.copies(bucket, fingerprint) {
                let place = Place { bucket, slot };
                let number = self.table.value(place);
                let age = self.table.living.age(number);
                if oldest.is_none_or(|(_, other)| age >= self.table.living.age(other)) {
                    oldest = Some((place, number));
                }
            }
        }
        oldest
    }

    /// Whether the number of a slot is in two words, so that it can't be replaced at one moment.
    #[inline]
    pub(crate) fn number_straddles(&self, place: Place) -> bool {
        self.table.slots.value_straddles(place)
    }

    /// Gives a fingerprint the current number. The caller holds the lock of its bucket.
    pub(crate) fn renew(&self, place: Place, leaves: impl Fn(Fingerprint)) {
        self.table.slots.over_watched(leaves).set_value(place, self.table.living.current);
    }

    /// Whether a bucket may hold dead fingerprints.
    #[inline]
    pub(crate) fn may_have_dead(&self, bucket: BucketIndex) -> bool {
        self.table.may_have_dead(bucket)
    }

    /// Empties the slots of a bucket that hold dead fingerprints. The caller holds its lock.
    pub(crate) fn sweep(&self, bucket: BucketIndex) {
        for slot in self.slots() {
            let old = self.table.slots.content(bucket, slot);
            self.leave_dead(old, || self.table.slots.flip(Place { bucket, slot }, old));
        }
    }
}

impl<G: Widths, M: Memory> Table for SharedLivingTable<'_, G, M> {
    #[inline]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        self.table.contains(bucket, fingerprint)
    }

    #[inline(always)]
    fn either_contains(&self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> bool {
        self.table.either_contains(first, second, fingerprint)
    }

    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot> {
        self.table.slot_of(bucket, fingerprint)
    }

    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32 {
        self.table.count(bucket, fingerprint)
    }

    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Vacancy {
        self.table.vacancy(bucket)
    }

    #[inline]
    fn slots(&self) -> impl Iterator<Item = Slot> {
        self.table.slots()
    }

    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, Fingerprint)> {
        self.table.filled_slots(bucket)
    }

    #[inline]
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        self.table.get(bucket, slot)
    }

    #[inline]
    fn prefetch(&self, bucket: BucketIndex) {
        self.table.prefetch(bucket);
    }
}

impl<G: Widths> SharedSlots for SharedLivingTable<'_, G, &[AtomicU64]> {
    #[inline]
    fn is_filled_locked(&self, place: Place) -> bool {
        let slots = self.table.slots;
        slots.straddles(place, 0) || slots.content(place.bucket, place.slot) != 0
    }

    #[inline(always)]
    fn fill(&self, place: Place, fingerprint: Fingerprint) -> bool {
        self.put(place, self.table.slots.content_of(fingerprint, self.table.living.current))
    }

    fn fill_from(&self, from: Place, to: Place) -> bool {
        let content = self.table.slots.content(from.bucket, from.slot);
        self.get(from.bucket, from.slot).is_some() && self.put(to, content)
    }

    #[cold]
    #[inline(never)]
    fn keep(self, bucket: BucketIndex, copies: &Copies) {
        self.table.slots.keep_in(bucket, &copies.table);
    }

    #[inline]
    fn watched(self, leaves: impl Fn(Fingerprint) + Copy) -> impl TableMut {
        SharedLivingTable::new(self.table.slots.over_watched(leaves), self.table.living, self.numbers)
    }
}

/// To be written under the locks of its buckets. Fingerprints that are set have the current number.
impl<G: Widths, M: MemoryMut> TableMut for SharedLivingTable<'_, G, M> {
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        let content = fingerprint.map_or(0, |it| self.table.slots.content_of(it, self.table.living.current));
        self.overwrite(Place { bucket, slot }, content);
    }

    fn copy(&mut self, from: Place, to: Place) {
        let content = self.table.slots.content(from.bucket, from.slot);
        self.overwrite(to, content);
    }
}

impl<G: Widths, M: MemoryMut> SharedLivingTable<'_, G, M> {
    /// Replaces all that a slot holds.
    fn overwrite(&mut self, place: Place, content: u64) {
        let old = self.table.slots.content(place.bucket, place.slot);
        self.table.slots.set_content(place.bucket, place.slot, content);
        self.leave_dead(old, || ());
    }
}
