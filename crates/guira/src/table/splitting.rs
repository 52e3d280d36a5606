//! A table that is being doubled in steps: its buckets below a number are where they were, those made of the others stand in
//! the doubled table.

use core::hint::select_unpredictable;

use super::{Slot, Table, TableMut, Vacancy};
use crate::addressing::{BucketIndex, Fingerprint, SplittingAddressing};

/// Both tables as one, in which buckets and fingerprints are those of [`SplittingAddressing`].
///
/// In which of the two a bucket is can't be guessed, so nothing branches on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplittingTable<T> {
    addressing: SplittingAddressing,
    old: T,
    new: T,
}

impl<T> SplittingTable<T> {
    pub(crate) const fn new(addressing: SplittingAddressing, old: T, new: T) -> Self {
        Self { addressing, old, new }
    }

    /// The table that a bucket is in, and its number there.
    #[inline(always)]
    fn at(&self, bucket: BucketIndex) -> (&T, BucketIndex) {
        let is_whole = self.addressing.is_whole(bucket);
        (select_unpredictable(is_whole, &self.old, &self.new), self.addressing.index_in_table(bucket))
    }

    #[inline(always)]
    fn at_mut(&mut self, bucket: BucketIndex) -> (&mut T, BucketIndex) {
        let is_whole = self.addressing.is_whole(bucket);
        (if is_whole { &mut self.old } else { &mut self.new }, self.addressing.index_in_table(bucket))
    }
}

impl<T: Table> Table for SplittingTable<T> {
    #[inline]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        let (table, index) = self.at(bucket);
        table.contains(index, self.addressing.stored(bucket, fingerprint))
    }

    #[inline]
    fn find(&self, bucket: BucketIndex, fingerprint_or_empty: u32) -> Option<Slot> {
        let (table, index) = self.at(bucket);
        let stored = Fingerprint::new(fingerprint_or_empty).map(|it| self.addressing.stored(bucket, it));
        table.find(index, stored.map_or(0, Fingerprint::get))
    }

    #[inline]
    fn count_of(&self, bucket: BucketIndex, fingerprint_or_empty: u32) -> u32 {
        let (table, index) = self.at(bucket);
        let stored = Fingerprint::new(fingerprint_or_empty).map(|it| self.addressing.stored(bucket, it));
        table.count_of(index, stored.map_or(0, Fingerprint::get))
    }

    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Vacancy {
        let (table, index) = self.at(bucket);
        table.vacancy(index)
    }

    /// Those of a bucket in the doubled table; in the old one there are as many.
    fn slots(&self) -> impl Iterator<Item = Slot> {
        self.new.slots()
    }

    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (u64, Slot, Fingerprint)> {
        let (table, index) = self.at(bucket);
        let addressing = self.addressing;
        table.filled_slots(index).map(move |(number, slot, stored)| (number, slot, addressing.restored(bucket, stored)))
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

impl<T: TableMut> TableMut for SplittingTable<T> {
    #[inline]
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        let stored = fingerprint.map(|fingerprint| self.addressing.stored(bucket, fingerprint));
        let (table, index) = self.at_mut(bucket);
        table.set(index, slot, stored);
    }
}
