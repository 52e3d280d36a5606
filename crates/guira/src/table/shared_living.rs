//! A table that threads share, in which some fingerprints are dead, as their values say.

use super::living::Dead;
use super::{Copies, LivingTable, Place, SharedSlots, Table, TableMut, Widths};
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

impl Dead for SharedNumbers<'_> {
    #[inline]
    fn leaves(&mut self, number: u32) {
        self.leave(number);
    }
}

/// A table with values that threads share. A slot is vacant if it is empty or dead; new keys get the current number.
///
/// Dead fingerprints are overwritten without a word to readers, since none needs to find them. The caller's locks keep the
/// current number, and what is dead, as they were when the table was made.
pub(crate) type SharedLivingTable<'table, G> = LivingTable<G, &'table [AtomicU64], SharedNumbers<'table>>;

impl<G: Widths> SharedLivingTable<'_, G> {
    /// Calls `replace` if the fingerprint of a slot with this content is dead, then counts it as no longer stored. Returns `true` if
    /// it is dead.
    ///
    /// Not before: once the last dead one is counted, it is forgotten which numbers are of the dead, and one that is left would be
    /// found. The slot is not read again: without its bucket's lock, another thread may have emptied it by now.
    #[inline(always)]
    fn leave_dead(&self, content: u64, replace: impl FnOnce()) -> bool {
        let Some(number) = self.dead_value(content) else { return false };
        replace();
        self.dead.leave(number);
        true
    }

    /// Puts what is not 0 into a slot that is vacant. Returns `true` if it was.
    #[inline(always)]
    fn put(&self, place: Place, content: u64) -> bool {
        let old = self.slots.content(place.bucket, place.slot);
        if old == 0 {
            return self.slots.fill_with(place, content);
        }
        self.leave_dead(old, || self.slots.flip(place, old ^ content))
    }

    /// The oldest living copy of a fingerprint in some buckets, of several the last, with its number.
    pub(crate) fn oldest(
        &self,
        buckets: impl Iterator<Item = BucketIndex>,
        fingerprint: Fingerprint,
    ) -> Option<(Place, u32)> {
        let mut oldest: Option<(Place, u32)> = None;
        for bucket in buckets {
            for slot in self.copies(bucket, fingerprint) {
                let place = Place { bucket, slot };
                let number = self.slots.value(place);
                let age = self.living.age(number);
                if oldest.is_none_or(|(_, other)| age >= self.living.age(other)) {
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

    /// Empties the slots of a bucket that hold dead fingerprints. The caller holds its lock.
    pub(crate) fn sweep(&self, bucket: BucketIndex) {
        for slot in self.slots() {
            let old = self.slots.content(bucket, slot);
            self.leave_dead(old, || self.slots.flip(Place { bucket, slot }, old));
        }
    }
}

impl<G: Widths, D> LivingTable<G, &[AtomicU64], D> {
    /// Whether a slot of a bucket held a living copy of a fingerprint at one moment, though others write. `false` says nothing: a slot in
    /// two words is not read at one moment.
    ///
    /// Not so [`contains`](Table::contains), which reads a fingerprint and then its number: by then, the slot of one that has died may
    /// be another's.
    pub(crate) fn surely_contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        let widths = self.slots.widths();
        self.slots().any(|slot| {
            let content = self.slots.content(bucket, slot);
            widths.fingerprint(content) == fingerprint.get()
                && self.dead_value(content).is_none()
                && !self.slots.straddles(Place { bucket, slot }, 0)
        })
    }
}

impl<G: Widths> SharedSlots for SharedLivingTable<'_, G> {
    #[inline]
    fn is_filled_locked(&self, place: Place) -> bool {
        self.slots.straddles(place, 0) || self.slots.content(place.bucket, place.slot) != 0
    }

    #[inline(always)]
    fn fill(&self, place: Place, fingerprint: Fingerprint) -> bool {
        self.put(place, self.slots.content_of(fingerprint, self.living.current))
    }

    fn fill_from(&self, from: Place, to: Place) -> bool {
        let content = self.slots.content(from.bucket, from.slot);
        self.get(from.bucket, from.slot).is_some() && self.put(to, content)
    }

    #[cold]
    #[inline(never)]
    fn keep(self, bucket: BucketIndex, copies: &Copies) {
        self.slots.keep_in(bucket, &copies.table);
    }

    #[inline]
    fn watched(self, leaves: impl Fn(Fingerprint) + Copy) -> impl TableMut {
        LivingTable::new(self.slots.over_watched(leaves), self.living, self.dead)
    }
}
