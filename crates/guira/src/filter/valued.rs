use arrayvec::ArrayVec;

use super::{CuckooFilter, Growth};
use crate::addressing::{Addressing, BucketIndex};
use crate::cuckoo::{BLOCK, CuckooTable, Filled, LivingOperations, NoRoom, with_table};
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::{InsertError, OutOfMemory};
use crate::parameters::Parameters;
use crate::table::{Living, MOST_SLOTS, Memory, Place, Table, TableMut, ValuedTable, Widths, is_zero_from};

/// A filter with a value beside each fingerprint. Maps and counting filters are made of it, and decide what a value means.
#[derive(Clone)]
pub(crate) struct ValuedFilter {
    /// The filter of the fingerprints. It is never doubled in steps: its own insertions and doublings know nothing of values.
    pub(super) filter: CuckooFilter,
    operations: &'static LivingOperations,
}

impl<A: Addressing, G: Widths, M: Memory> CuckooTable<A, ValuedTable<G, M>> {
    /// The slots that hold a key's fingerprint, each with its value.
    fn values(&self, digest: Digest) -> impl Iterator<Item = (Place, u32)> {
        let located = self.addressing.locate(digest);
        let (candidates, fingerprint) = (self.addressing.distinct_buckets(located), located.fingerprint);
        // One comparison rules out most buckets.
        let holding = candidates.filter(move |&bucket| self.slots.contains(bucket, fingerprint));
        holding.flat_map(move |bucket| {
            let slots = self.slots.filled_slots(bucket).filter(move |&(_, stored)| stored == fingerprint);
            slots.map(move |(slot, _)| {
                let place = Place { bucket, slot };
                (place, self.slots.value(place))
            })
        })
    }
}

impl ValuedFilter {
    /// The filter with this table, which has values.
    pub(crate) fn of(filter: CuckooFilter) -> Self {
        let operations = LivingOperations::of(&filter.scheme().pair);
        Self { filter, operations }
    }

    /// A copy, unless there is no memory for it.
    pub(crate) fn try_clone(&self) -> Result<Self, OutOfMemory> {
        self.filter.try_clone().map(Self::of)
    }

    /// An empty one that began with the same parameters, and has the same hash.
    pub(crate) fn empty_like(&self) -> Result<Self, OutOfMemory> {
        self.filter.empty_like().map(Self::of)
    }

    pub(crate) const fn as_filter(&self) -> &CuckooFilter {
        &self.filter
    }

    /// The filter, for what neither stores nor removes fingerprints.
    pub(crate) const fn as_filter_mut(&mut self) -> &mut CuckooFilter {
        &mut self.filter
    }

    #[cfg(feature = "concurrent")]
    pub(crate) fn into_filter(self) -> CuckooFilter {
        self.filter
    }

    /// Stores a copy of a key's fingerprint with a value of at most v bits.
    #[inline]
    pub(crate) fn insert(&mut self, digest: Digest, value: u32) -> Result<(), InsertError> {
        self.insert_among_living(digest, value, 0, Living::ALL, false).map(|_| ())
    }

    /// Stores a copy of a key's fingerprint with a value of at most v bits, in an empty slot or in place of a dead
    /// fingerprint, of which there are `dead`; with `if_absent`, only if there is no living copy.
    #[inline]
    pub(crate) fn insert_among_living(
        &mut self,
        digest: Digest,
        value: u32,
        dead: usize,
        living: Living,
        if_absent: bool,
    ) -> Result<Filled, InsertError> {
        debug_assert!(value <= self.greatest_value());
        if self.filter.len - dead >= self.filter.limit {
            let is_there = if_absent && self.contains_living(digest, living);
            return if is_there { Ok(Filled::AlreadyThere) } else { self.insert_growing(digest, value, living) };
        }
        let CuckooFilter { scheme, storage, .. } = &mut self.filter;
        let filled = (self.operations.fill)(&scheme.pair, storage, digest, value, living, if_absent);
        match filled {
            Filled::Empty => self.filter.len += 1,
            Filled::AlreadyThere | Filled::Dead(_) => {}
            Filled::NoRoom => return self.insert_by_moving(digest, value, living),
        }
        Ok(filled)
    }

    /// Stores a fingerprint whose buckets are full.
    #[cold]
    fn insert_by_moving(&mut self, digest: Digest, value: u32, living: Living) -> Result<Filled, InsertError> {
        match self.insert_by_relocation(digest, value, living) {
            Err(NoRoom::Full) if self.growth().is_some() => self.insert_growing(digest, value, living),
            stored => stored.map_err(|reason| self.filter.insert_error(reason)),
        }
    }

    /// Stores a fingerprint where the table has room for it as it is.
    pub(super) fn insert_into_table(&mut self, digest: Digest, value: u32, living: Living) -> Result<Filled, NoRoom> {
        let CuckooFilter { scheme, storage, .. } = &mut self.filter;
        let filled = (self.operations.fill)(&scheme.pair, storage, digest, value, living, false);
        if matches!(filled, Filled::NoRoom) {
            return self.insert_by_relocation(digest, value, living);
        }
        self.filter.len += usize::from(matches!(filled, Filled::Empty));
        Ok(filled)
    }

    #[cold]
    fn insert_by_relocation(&mut self, digest: Digest, value: u32, living: Living) -> Result<Filled, NoRoom> {
        let CuckooFilter { scheme, storage, .. } = &mut self.filter;
        let filled = (self.operations.relocate)(&scheme.pair, storage, digest, value, living)?;
        self.filter.len += usize::from(matches!(filled, Filled::Empty));
        Ok(filled)
    }

    /// Whether a key's fingerprint is stored.
    #[inline]
    pub(crate) fn contains(&self, digest: Digest) -> bool {
        self.contains_living(digest, Living::ALL)
    }

    /// Whether a key's fingerprint is stored and lives.
    #[inline]
    pub(crate) fn contains_living(&self, digest: Digest, living: Living) -> bool {
        (self.operations.contains)(&self.filter.scheme.pair, &self.filter.storage, digest, living)
    }

    /// For each of many keys, whether its fingerprint is stored and lives.
    pub(crate) fn look_up_many<K: Key>(&self, keys: &[K], answers: &mut [bool], living: Living) {
        let mut digests = [Digest::new(0); BLOCK];
        for (keys, answers) in keys.chunks(BLOCK).zip(answers.chunks_mut(BLOCK)) {
            let digests = &mut digests[..keys.len()];
            digests.iter_mut().zip(keys).for_each(|(digest, key)| *digest = self.hasher().digest(key));
            with_table!(self.filter.scheme, valued(&self.filter.storage[..]), table => table.prefetch_each(digests));
            for (digest, answer) in digests.iter().zip(answers) {
                *answer = self.contains_living(*digest, living);
            }
        }
    }

    /// Calls `visit` with the value of each copy of a key's fingerprint.
    #[inline]
    pub(crate) fn visit_values(&self, digest: Digest, visit: impl FnMut(u32)) {
        with_table!(self.filter.scheme, valued(&self.filter.storage[..]), table => {
            table.values(digest).map(|(_, value)| value).for_each(visit);
        });
    }

    /// The first copy of a key's fingerprint whose value is accepted.
    #[inline]
    pub(crate) fn find(&self, digest: Digest, accepts: impl Fn(u32) -> bool) -> Option<(Place, u32)> {
        with_table!(self.filter.scheme, valued(&self.filter.storage[..]), table => {
            table.values(digest).find(|&(_, value)| accepts(value))
        })
    }

    /// The copy of a key's fingerprint whose value has the greatest rank, of those that have one.
    #[inline]
    pub(crate) fn greatest(&self, digest: Digest, rank: impl Fn(u32) -> Option<u32>) -> Option<(Place, u32)> {
        with_table!(self.filter.scheme, valued(&self.filter.storage[..]), table => {
            let ranked = table.values(digest).filter_map(|(place, value)| Some((rank(value)?, (place, value))));
            ranked.max_by_key(|&(rank, _)| rank).map(|(_, found)| found)
        })
    }

    /// Calls `visit` with the number of the bucket and the value of every fingerprint.
    pub(crate) fn visit_all_values(&self, mut visit: impl FnMut(u64, u32)) {
        with_table!(self.filter.scheme, valued(&self.filter.storage[..]), table => {
            let filled = table.places().filter(|place| table.slots.get(place.bucket, place.slot).is_some());
            filled.for_each(|place| visit(place.bucket.get(), table.slots.value(place)));
        });
    }

    /// Empties all slots that hold dead fingerprints.
    pub(super) fn remove_dead(&mut self, living: Living) {
        if living.may_have_dead() {
            self.sweep(0..self.parameters().bucket_count(), living, |_| {});
        }
    }

    /// Replaces the value in a slot that [`find`](Self::find) found.
    #[inline]
    pub(crate) fn set_value(&mut self, place: Place, value: u32) {
        debug_assert!(value <= self.greatest_value());
        with_table!(self.filter.scheme, valued(&mut self.filter.storage[..]), table => {
            table.slots.set_value(place, value);
        });
    }

    /// Replaces the value of every fingerprint.
    pub(super) fn change_values(&mut self, changed: impl Fn(u32) -> u32) {
        with_table!(self.filter.scheme, valued(&mut self.filter.storage[..]), table => {
            let grid = table.addressing.grid();
            let slots: ArrayVec<_, MOST_SLOTS> = table.slots.slots().collect();
            for bucket in (0..grid.bucket_count()).map(BucketIndex::new) {
                for place in slots.iter().map(|&slot| Place { bucket, slot }) {
                    if table.slots.get(bucket, place.slot).is_some() {
                        let value = changed(table.slots.value(place));
                        table.slots.set_value(place, value);
                    }
                }
            }
        });
    }

    /// Empties the slots of some buckets that hold dead fingerprints, and calls `removed` with each of their values.
    pub(crate) fn sweep(&mut self, buckets: core::ops::Range<u64>, living: Living, mut removed: impl FnMut(u32)) {
        let CuckooFilter { scheme, storage, len, .. } = &mut self.filter;
        let mut buckets = buckets;
        loop {
            // Most buckets have no fingerprint of a dead generation.
            buckets.start += (self.operations.swept)(&scheme.pair, storage, buckets.clone(), living);
            let Some(bucket) = buckets.next() else { return };
            with_table!(scheme, valued(&mut storage[..]), table => {
                while let Some((place, value)) = first_dead(&table.slots, BucketIndex::new(bucket), living) {
                    table.slots.set(place.bucket, place.slot, None);
                    removed(value);
                    *len -= 1;
                }
            });
        }
    }

    /// Empties a slot that [`find`](Self::find) found.
    #[inline]
    pub(crate) fn empty(&mut self, place: Place) {
        with_table!(self.filter.scheme, valued(&mut self.filter.storage[..]), table => {
            table.slots.set(place.bucket, place.slot, None);
        });
        self.filter.len -= 1;
    }

    pub(crate) fn clear(&mut self) {
        self.filter.clear();
    }

    /// How many fingerprints are stored, each copy counted.
    pub(crate) const fn len(&self) -> usize {
        self.filter.len()
    }

    pub(crate) const fn parameters(&self) -> &Parameters {
        self.filter.parameters()
    }

    pub(crate) const fn hasher(&self) -> &KeyHasher {
        self.filter.hasher()
    }

    pub(crate) const fn growth(&self) -> Option<&Growth> {
        self.filter.growth()
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        self.filter.size_in_bytes()
    }

    /// 2^v - 1.
    pub(crate) const fn greatest_value(&self) -> u32 {
        u32::MAX >> (32 - self.parameters().value_bits())
    }

    /// Whether every fingerprint is stored once.
    pub(crate) fn has_no_copies(&self) -> bool {
        self.filter.has_no_copies()
    }

    pub(crate) fn sum_of_values(&self) -> u64 {
        with_table!(self.filter.scheme, valued(&self.filter.storage[..]), table => {
            let value = |place| u64::from(table.slots.value(place));
            table.places().map(value).sum()
        })
    }

    pub(crate) fn check_invariants(&self) -> Result<(), &'static str> {
        if !is_zero_from(&self.filter.storage, self.parameters().table_bits()) {
            return Err("invariant 4: padding bits are 0");
        }
        match self.filter.occupied_if_well_formed(true) {
            None => Err("an empty slot has no value"),
            Some(occupied) if occupied != self.len() as u64 => Err("invariant 4: len is the number of occupied slots"),
            Some(_) => Ok(()),
        }
    }
}

/// The first dead fingerprint of a bucket, with its value.
fn first_dead<G: Widths, M: Memory>(
    slots: &ValuedTable<G, M>,
    bucket: BucketIndex,
    living: Living,
) -> Option<(Place, u32)> {
    let with_values = slots.filled_slots(bucket).map(|(slot, _)| {
        let place = Place { bucket, slot };
        (place, slots.value(place))
    });
    { with_values }.find(|&(_, value)| living.is_dead(value))
}

impl PartialEq for ValuedFilter {
    fn eq(&self, other: &Self) -> bool {
        self.filter == other.filter
    }
}
