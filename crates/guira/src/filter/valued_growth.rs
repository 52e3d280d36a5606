//! Growth of filters with values. Their tables are doubled at once.

use super::growth::is_crowded;
use super::{Growth, ValuedFilter};
use crate::addressing::{Addressing as _, BucketIndex, DoublingAddressing};
use crate::cast::to_usize;
use crate::cuckoo::{Crowd, CuckooTable, Filled, NoRoom, with_table};
use crate::digest::Digest;
use crate::error::{InsertError, OutOfMemory, ReserveError};
use crate::parameters::Parameters;
use crate::table::{AnyWidths, Fits as _, Living, Place, Table, ValuedTable, ValuedWidths};

/// The widths of a table before or after a doubling, for words that have room for any bucket.
pub(super) fn widths(parameters: &Parameters) -> ValuedWidths<AnyWidths<u128>> {
    ValuedWidths::fitting(parameters).expect("all buckets fit some words")
}

impl ValuedFilter {
    /// Stores a fingerprint for which the table has no room: its limit is reached, or no slot can be freed. Dead ones are
    /// left out of the larger table.
    #[cold]
    pub(super) fn insert_growing(&mut self, digest: Digest, value: u32, living: Living) -> Result<Filled, InsertError> {
        self.refuse_without_hope(digest, living)?;
        // One doubling may not be enough, and the next may fail. So the table is replaced only when the key is stored
        // (invariant 2).
        let mut grown = self.grown(self.len(), living)?;
        loop {
            match grown.insert_into_table(digest, value, living) {
                Err(NoRoom::Full) => grown = grown.grown(grown.len(), living)?,
                Err(reason) => return Err(grown.filter.insert_error(reason)),
                Ok(filled) => {
                    *self = grown;
                    return Ok(filled);
                }
            }
        }
    }

    /// Refuses a key that the largest table would refuse too, before any table is made.
    fn refuse_without_hope(&self, digest: Digest, living: Living) -> Result<(), InsertError> {
        let mut copies = 0;
        self.visit_values(digest, |value| copies += usize::from(!living.is_dead(value)));
        // The two buckets of a key are never the same in a table that grows.
        if copies >= 2 * self.parameters().slots_per_bucket() as usize {
            return Err(InsertError::TooManyCopies { copies });
        }
        let Some(growth) = self.growth() else { return Err(self.filter.insert_error(NoRoom::Full)) };
        growth.refuse_without_hope(self.parameters(), self.len(), copies, self.crowd(digest, living))
    }

    fn crowd(&self, digest: Digest, living: Living) -> Option<Crowd> {
        with_table!(self.filter.scheme, valued(&self.filter.storage[..]), table => {
            let table = table.living(living);
            Crowd::around(digest, self.parameters(), self.hasher().seed(), |bucket| {
                table.slots.filled_slots(bucket).map(|(_, fingerprint)| (bucket, fingerprint)).collect()
            })
        })
    }

    /// The living fingerprints in the next larger table, if the filter may grow so far, for `len` fingerprints in the end.
    pub(super) fn grown(&self, len: usize, living: Living) -> Result<Self, InsertError> {
        let full = || self.filter.insert_error(NoRoom::Full);
        let growth = self.growth().filter(|growth| !growth.is_last(self.parameters())).ok_or_else(full)?;
        if is_crowded(len, self.parameters().slot_count()) {
            let slot_count = to_usize(self.parameters().slot_count());
            return Err(InsertError::Crowded { len, slot_count });
        }
        self.doubled(growth, living)?.ok_or_else(full)
    }

    /// The living fingerprints in the table in which every second bucket has become two; `None` where no bits are left to give away, or where
    /// there would be too many buckets. The growth is this filter's own, or that of one that began alike.
    pub(super) fn doubled(&self, growth: &Growth, living: Living) -> Result<Option<Self>, OutOfMemory> {
        let Some(parameters) = growth.after_doubling(self.parameters()) else { return Ok(None) };
        let mut doubled = self.filter.empty_with(parameters).map(Self::of)?;
        let addressing = DoublingAddressing::<true>::new(self.parameters(), self.hasher().seed());
        let from = ValuedTable::new(widths(self.parameters()), &self.filter.storage[..]);
        let mut into = ValuedTable::new(widths(&parameters), &mut doubled.filter.storage[..]);
        for bucket in addressing.grid().buckets().map(|bucket| bucket.bucket()) {
            for (slot, fingerprint) in from.filled_slots(bucket) {
                let value = from.value(Place { bucket, slot });
                let (bucket, rest) = addressing.moved(bucket, fingerprint);
                // A bucket has room for all that comes from the one that it is, or is half of.
                if !living.is_dead(value)
                    && let Some(slot) = into.vacancy(bucket).slot()
                {
                    into.fill_with_value(Place { bucket, slot }, rest, value);
                    doubled.filter.len += 1;
                }
            }
        }
        Ok(Some(doubled))
    }

    /// The living fingerprints, of which there are `len`, in the table before half of its buckets became two; `None` where they don't
    /// leave enough room there, or where there was no doubling, or no memory. Copies may fill a few buckets; they don't fit then.
    fn halved(&self, len: usize, living: Living) -> Option<Self> {
        let smaller = self.filter.parameters_with_room_to_spare(len)?;
        let mut halved = self.filter.empty_with(smaller).map(Self::of).ok()?;
        let addressing = DoublingAddressing::<true>::new(halved.parameters(), self.hasher().seed());
        let from = ValuedTable::new(widths(self.parameters()), &self.filter.storage[..]);
        let slots = ValuedTable::new(widths(&smaller), &mut halved.filter.storage[..]);
        let mut into = CuckooTable { addressing, slots };
        for next in (0..self.parameters().bucket_count()).map(BucketIndex::new) {
            let half = addressing.half_of_next_bucket(next);
            let bucket = addressing.grid().candidate(addressing.bucket_of_half(half));
            for (slot, rest) in from.filled_slots(next) {
                let value = from.value(Place { bucket: next, slot });
                if !living.is_dead(value) {
                    let located = addressing.located(addressing.restored(half, rest), bucket);
                    let place = into.insert_located(located).ok()?;
                    into.slots.set_value(place, value);
                    halved.filter.len += 1;
                }
            }
        }
        Some(halved)
    }

    /// Makes room for `additional` more fingerprints where all live.
    pub(crate) fn reserve(&mut self, additional: usize) -> Result<(), ReserveError> {
        self.reserve_among_living(self.len(), additional, Living::ALL).map(drop)
    }

    /// Makes room for `additional` more fingerprints beside `len` living ones. Returns whether the table was doubled, which
    /// leaves the dead out.
    pub(crate) fn reserve_among_living(
        &mut self,
        len: usize,
        additional: usize,
        living: Living,
    ) -> Result<bool, ReserveError> {
        let needed = len.saturating_add(additional) as u64;
        // Find out how far it has to grow, and whether it may, before anything is doubled.
        let full = || ReserveError::Full { len, additional, capacity: to_usize(self.parameters().capacity()) };
        let parameters = self.filter.parameters_for(needed).ok_or_else(full)?;
        let growth = self.growth().copied();
        let mut grown: Option<Self> = None;
        while let ours = grown.as_ref().unwrap_or(self)
            && let Some(growth) = &growth
            && ours.parameters().half_doublings() < parameters.half_doublings()
        {
            let doubled = ours.doubled(growth, living).map_err(|_| OutOfMemory::new(parameters.table_size()))?;
            grown = Some(doubled.ok_or_else(full)?);
        }
        let is_grown = grown.is_some();
        if let Some(grown) = grown {
            *self = grown;
        }
        Ok(is_grown)
    }

    /// Undoes doublings as long as an eighth of the smaller table's capacity stays free, where all fingerprints live.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.shrink_to_living(self.len(), Living::ALL);
    }

    /// Undoes doublings as long as `len` living fingerprints leave an eighth of the smaller table's capacity free. Returns
    /// whether it did, which leaves the dead out.
    pub(crate) fn shrink_to_living(&mut self, len: usize, living: Living) -> bool {
        let before = self.parameters().half_doublings();
        while let Some(halved) = self.halved(len, living) {
            *self = halved;
        }
        self.parameters().half_doublings() < before
    }
}
