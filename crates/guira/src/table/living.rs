//! A table in which some fingerprints are dead, as their values say.

use core::ops::Range;

use super::{Memory, MemoryMut, Place, Slot, Table, TableMut, Vacancy, ValuedTable, Widths};
use crate::addressing::{BucketIndex, Fingerprint};

/// Which values say that their fingerprint lives: the numbers of generations, counted modulo a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Living {
    /// The number of the youngest generation.
    pub(crate) current: u32,
    /// The greatest number, one less than a power of two.
    pub(crate) greatest: u32,
    /// How many generations before the current one live.
    pub(crate) older: u32,
    /// How many generations before the current one may be in the table; no fewer.
    pub(crate) oldest: u32,
}

impl Living {
    /// All values.
    pub(crate) const ALL: Self = Self { current: 0, greatest: 0, older: 0, oldest: 0 };

    /// How many generations a number is behind the current one.
    #[inline]
    pub(crate) const fn age(self, number: u32) -> u32 {
        self.current.wrapping_sub(number) & self.greatest
    }

    /// The number of the generation that is so many behind the current one.
    #[inline]
    pub(crate) const fn number(self, age: u32) -> u32 {
        self.current.wrapping_sub(age) & self.greatest
    }

    /// Whether there may be dead fingerprints.
    #[inline]
    pub(crate) const fn may_have_dead(self) -> bool {
        self.older < self.oldest
    }

    /// Whether a fingerprint with this value is dead.
    #[inline]
    pub(crate) const fn is_dead(self, number: u32) -> bool {
        self.age(number) > self.older
    }
}

/// A table with values, some of which say that their fingerprint is dead: it is not found any more, and its slot is taken like
/// an empty one.
#[derive(Clone, Copy)]
pub(crate) struct LivingTable<G: Widths, M, D> {
    pub(super) slots: ValuedTable<G, M>,
    pub(super) living: Living,
    pub(super) dead: D,
}

/// Who hears of dead fingerprints that go.
pub(crate) trait Dead {
    /// A dead fingerprint with this value was emptied or overwritten.
    fn leaves(&mut self, value: u32);
}

/// The value of the dead fingerprint that was overwritten since the table was made, if one was. An insertion overwrites one at the
/// most: it fills a single slot, and moves living fingerprints between the others.
///
/// Not a cell: with one, a sweep takes a tenth more instructions.
pub(crate) type Overwritten = Option<u32>;

impl Dead for Overwritten {
    #[inline]
    fn leaves(&mut self, value: u32) {
        *self = Some(value);
    }
}

impl<G: Widths, M> LivingTable<G, M, Overwritten> {
    #[inline]
    pub(crate) const fn overwritten(&self) -> Option<u32> {
        self.dead
    }
}

impl<G: Widths, M, D> LivingTable<G, M, D> {
    /// A table in which other fingerprints than these are dead.
    #[inline]
    pub(crate) const fn new(slots: ValuedTable<G, M>, living: Living, dead: D) -> Self {
        Self { slots, living, dead }
    }
}

impl<G: Widths, M: Memory, D> LivingTable<G, M, D> {
    /// Whether a bucket may hold dead fingerprints. Mostly they are of one generation.
    #[inline(always)]
    pub(crate) fn may_have_dead(&self, bucket: BucketIndex) -> bool {
        let mut ages = self.living.older..self.living.oldest;
        ages.any(|age| self.slots.may_have_value(bucket, self.living.number(age + 1)))
    }

    /// How many of some buckets, from the first on, hold no dead fingerprint.
    #[inline(always)]
    pub(crate) fn without_dead(&self, buckets: Range<u64>) -> u64 {
        let mut numbers = buckets.start..buckets.end;
        let found = if self.living.older + 1 == self.living.oldest {
            // Mostly one generation is dead: what is looked for stays in registers.
            let value = self.living.number(self.living.oldest);
            numbers.find(|&number| self.slots.may_have_value(BucketIndex::new(number), value))
        } else {
            numbers.find(|&number| self.may_have_dead(BucketIndex::new(number)))
        };
        found.unwrap_or(buckets.end) - buckets.start
    }

    /// The value of what a slot with this content holds, if that is dead.
    #[inline(always)]
    pub(super) const fn dead_value(&self, content: u64) -> Option<u32> {
        let value = self.slots.value_of(content);
        let is_dead = self.living.may_have_dead() && content != 0 && self.living.is_dead(value);
        if is_dead { Some(value) } else { None }
    }

    #[inline]
    fn is_dead(&self, place: Place) -> bool {
        self.living.may_have_dead() && self.living.is_dead(self.slots.value(place))
    }

    /// The slots of a bucket that hold a living copy of this fingerprint.
    #[inline]
    pub(super) fn copies(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> impl Iterator<Item = Slot> {
        let holding = self.slots.filled_slots(bucket).filter(move |&(_, stored)| stored == fingerprint);
        holding.map(|(slot, _)| slot).filter(move |&slot| !self.is_dead(Place { bucket, slot }))
    }

    /// The slots of a bucket that are empty or dead.
    fn vacant_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = Slot> {
        self.slots.slots().filter(move |&slot| self.get(bucket, slot).is_none())
    }
}

impl<G: Widths, M: MemoryMut, D: Dead> LivingTable<G, M, D> {
    /// Replaces all that a slot holds.
    #[inline]
    fn overwrite(&mut self, place: Place, content: u64) {
        let old = self.slots.content(place.bucket, place.slot);
        self.slots.replace(place, old, content);
        if let Some(value) = self.dead_value(old) {
            self.dead.leaves(value);
        }
    }

    /// Replaces the value in a slot that is filled.
    #[inline]
    pub(crate) fn set_value(&mut self, place: Place, value: u32) {
        self.slots.set_value(place, value);
    }

    /// Fills a slot that is empty or dead with a fingerprint and its value.
    #[inline]
    pub(crate) fn fill_with_value(&mut self, place: Place, fingerprint: Fingerprint, value: u32) {
        if self.living.may_have_dead() && self.slots.get(place.bucket, place.slot).is_some() {
            self.set(place.bucket, place.slot, None);
        }
        self.slots.fill_with_value(place, fingerprint, value);
    }
}

impl<G: Widths, M: Memory, D> Table for LivingTable<G, M, D> {
    #[inline]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        self.slots.contains(bucket, fingerprint) && self.copies(bucket, fingerprint).next().is_some()
    }

    #[inline]
    fn either_contains(&self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> bool {
        // One comparison rules out most absent keys.
        self.slots.either_contains(first, second, fingerprint)
            && (self.contains(first, fingerprint) || self.contains(second, fingerprint))
    }

    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot> {
        self.copies(bucket, fingerprint).next()
    }

    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32 {
        self.copies(bucket, fingerprint).map(|_| 1).sum()
    }

    /// An empty slot, or in a bucket that has none a dead one.
    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Vacancy {
        let vacancy = self.slots.vacancy(bucket);
        if vacancy.slot().is_some() || !self.may_have_dead(bucket) {
            return vacancy;
        }
        match self.vacant_slots(bucket).next() {
            Some(slot) => Vacancy { slot, fullness: Vacancy::FULL - 1 },
            None => vacancy,
        }
    }

    #[inline]
    fn slots(&self) -> impl Iterator<Item = Slot> {
        self.slots.slots()
    }

    #[inline]
    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, Fingerprint)> {
        self.slots.filled_slots(bucket).filter(move |&(slot, _)| !self.is_dead(Place { bucket, slot }))
    }

    #[inline]
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        self.slots.get(bucket, slot).filter(|_| !self.is_dead(Place { bucket, slot }))
    }

    #[inline]
    fn is_worth_prefetching(&self) -> bool {
        self.slots.is_worth_prefetching()
    }

    #[inline]
    fn prefetch(&self, bucket: BucketIndex) {
        self.slots.prefetch(bucket);
    }
}

/// Fingerprints that are set have the current value.
impl<G: Widths, M: MemoryMut, D: Dead> TableMut for LivingTable<G, M, D> {
    #[inline]
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        let content = fingerprint.map_or(0, |it| self.slots.content_of(it, self.living.current));
        self.overwrite(Place { bucket, slot }, content);
    }

    #[inline]
    fn copy(&mut self, from: Place, to: Place) {
        self.overwrite(to, self.slots.content(from.bucket, from.slot));
    }
}
