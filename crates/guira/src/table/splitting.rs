//! A table that is being doubled in steps: the buckets below a number are still in the old table, the others are in the
//! new one.

use core::ops::Deref;

use super::packed::slots;
#[cfg(feature = "concurrent")]
use super::{Copies, Place, SharedSlots, Watched};
use super::{Memory, MemoryMut, PackedTable, Slot, Table, TableMut, Vacancy, Widths};
use crate::addressing::{BucketIndex, Fingerprint, SplittingAddressing};
#[cfg(feature = "concurrent")]
use crate::sync::AtomicU64;

/// Both tables as one, in which buckets and fingerprints are those of [`SplittingAddressing`].
///
/// Which of the two holds a bucket can't be predicted, so lookups don't branch on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplittingTable<'widths, G, M, const LONG: bool> {
    addressing: SplittingAddressing<LONG>,
    /// Of the new table and of the old one, as is their memory.
    widths: &'widths [G; 2],
    memory: [M; 2],
}

impl<'widths, G: Widths, M, const LONG: bool> SplittingTable<'widths, G, M, LONG> {
    pub(crate) const fn new(addressing: SplittingAddressing<LONG>, widths: &'widths [G; 2], memory: [M; 2]) -> Self {
        Self { addressing, widths, memory }
    }
}

impl<G: Widths, M: Deref, const LONG: bool> SplittingTable<'_, G, M, LONG> {
    /// The table that a bucket is in, and its number there.
    #[inline(always)]
    fn at(&self, bucket: BucketIndex) -> (PackedTable<G, &M::Target>, BucketIndex) {
        let which = usize::from(self.addressing.is_waiting(bucket));
        (PackedTable::new(self.widths[which], &*self.memory[which]), self.addressing.index_in_table(bucket))
    }
}

impl<G: Widths, M: Memory + Deref<Target: Memory>, const LONG: bool> Table for SplittingTable<'_, G, M, LONG> {
    #[inline(always)]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        let (table, index) = self.at(bucket);
        table.contains_low_bits(index, fingerprint)
    }

    #[inline]
    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot> {
        let (table, index) = self.at(bucket);
        table.slot_of(index, self.addressing.stored(bucket, fingerprint))
    }

    #[inline]
    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32 {
        let (table, index) = self.at(bucket);
        table.count(index, self.addressing.stored(bucket, fingerprint))
    }

    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Vacancy {
        let (table, index) = self.at(bucket);
        table.vacancy(index)
    }

    /// The slots of a bucket in the new table; the old one has as many.
    fn slots(&self) -> impl Iterator<Item = Slot> {
        slots(self.widths[0])
    }

    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, Fingerprint)> {
        let (addressing, (table, index)) = (self.addressing, self.at(bucket));
        slots(table.widths()).filter_map(move |slot| Some((slot, addressing.restored(bucket, table.get(index, slot)?))))
    }

    #[inline]
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        let (table, index) = self.at(bucket);
        table.get(index, slot).map(|stored| self.addressing.restored(bucket, stored))
    }

    #[inline]
    fn prefetch(&self, bucket: BucketIndex) {
        let (table, index) = self.at(bucket);
        table.prefetch(index);
    }
}

impl<G: Widths, M: MemoryMut + Deref<Target: Memory>, const LONG: bool> TableMut for SplittingTable<'_, G, M, LONG> {
    #[inline]
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        let stored = fingerprint.map(|fingerprint| self.addressing.stored(bucket, fingerprint));
        let index = self.addressing.index_in_table(bucket);
        let which = usize::from(self.addressing.is_waiting(bucket));
        PackedTable::new(self.widths[which], &mut self.memory[which]).set(index, slot, stored);
    }
}

#[cfg(feature = "concurrent")]
impl<G: Widths, const LONG: bool> SharedSlots for SplittingTable<'_, G, &[AtomicU64], LONG> {
    #[inline]
    fn is_filled_locked(&self, Place { bucket, slot }: Place) -> bool {
        let (table, index) = self.at(bucket);
        table.is_filled_locked(Place { bucket: index, slot })
    }

    #[inline]
    fn fill(&self, Place { bucket, slot }: Place, fingerprint: Fingerprint) -> bool {
        let (table, index) = self.at(bucket);
        table.fill(Place { bucket: index, slot }, self.addressing.stored(bucket, fingerprint))
    }

    #[cold]
    #[inline(never)]
    fn keep(self, bucket: BucketIndex, copies: &Copies) {
        let (table, index) = self.at(bucket);
        if self.addressing.is_waiting(bucket) {
            table.keep_in(index, &copies.table);
        } else if let Some(next) = &copies.next {
            table.keep_in(index, next);
        }
    }

    #[inline]
    fn watched(self, leaves: impl Fn(Fingerprint) + Copy) -> impl TableMut {
        SplittingTable {
            addressing: self.addressing,
            widths: self.widths,
            memory: self.memory.map(|words| Watched::new(words, leaves)),
        }
    }
}
