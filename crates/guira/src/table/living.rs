//! A table in which some fingerprints are dead, as their values say.

use core::ops::Range;

use super::{Place, Slot, Table, TableMut, Vacancy, Values, ValuesMut};
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
pub(crate) struct LivingTable<T> {
    pub(super) slots: T,
    pub(super) living: Living,
    /// The value of the dead fingerprint that was overwritten, if one was.
    overwritten: Option<u32>,
}

impl<T: Values> LivingTable<T> {
    /// A table in which other fingerprints than these are dead.
    #[inline]
    pub(crate) const fn new(slots: T, living: Living) -> Self {
        Self { slots, living, overwritten: None }
    }

    /// The value of the dead fingerprint that was overwritten since the table was made, if one was. An insertion overwrites
    /// one at the most: it fills a single slot, and moves living fingerprints between the others.
    #[inline]
    pub(crate) const fn overwritten(&self) -> Option<u32> {
        self.overwritten
    }

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

    /// Remembers what a slot held that is about to be overwritten, if that is dead.
    #[inline]
    fn note(&mut self, bucket: BucketIndex, slot: Slot) {
        let place = Place { bucket, slot };
        if self.slots.get(bucket, slot).is_some() && self.is_dead(place) {
            self.overwritten = Some(self.slots.value(place));
        }
    }
}

impl<T: Values> Table for LivingTable<T> {
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

impl<T: ValuesMut> TableMut for LivingTable<T> {
    #[inline]
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        self.note(bucket, slot);
        self.slots.set(bucket, slot, fingerprint);
    }

    #[inline]
    fn copy(&mut self, from: Place, to: Place) {
        self.note(to.bucket, to.slot);
        self.slots.copy(from, to);
    }
}

impl<T: Values> Values for LivingTable<T> {
    #[inline]
    fn value(&self, place: Place) -> u32 {
        self.slots.value(place)
    }

    #[inline]
    fn may_have_value(&self, bucket: BucketIndex, value: u32) -> bool {
        self.slots.may_have_value(bucket, value)
    }
}

impl<T: ValuesMut> ValuesMut for LivingTable<T> {
    #[inline]
    fn set_value(&mut self, place: Place, value: u32) {
        self.slots.set_value(place, value);
    }

    /// Fills a slot that is empty or dead.
    #[inline]
    fn fill_with_value(&mut self, place: Place, fingerprint: Fingerprint, value: u32) {
        if self.living.may_have_dead() && self.slots.get(place.bucket, place.slot).is_some() {
            self.set(place.bucket, place.slot, None);
        }
        self.slots.fill_with_value(place, fingerprint, value);
    }
}
