//! Filters whose table is replaced by a larger one when it is full.

use alloc::boxed::Box;

use super::doubling::{Doubling, Underway};
use super::generation::Generation;
use super::shared_table::SharedTable;
use super::stripes::{AllGuards, Stale};
use super::update::Refusal;
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, Repeated, Splitting};
use crate::digest::Digest;
use crate::error::{self, InsertError};
use crate::filter::{CuckooFilter, Growth};
use crate::sync::{Arc, Replaceable};
use crate::table::{Counted, OutOfMemory, ask_for, try_box};

/// A table that grows.
pub(super) struct Growing {
    pub(super) current: Box<Replaceable<Generation>>,
    pub(super) growth: Growth,
}

impl Growing {
    pub(super) fn new(filter: CuckooFilter, growth: Growth) -> Result<Self, error::OutOfMemory> {
        let out_of_memory = error::OutOfMemory::new(filter.parameters().table_size());
        let generation = Generation::of(filter, &growth)?;
        let asked = ask_for::<Counted<Generation>>();
        let current = asked.and_then(|()| try_box(Replaceable::new(generation)));
        Ok(Self { current: current.map_err(|OutOfMemory| out_of_memory)?, growth })
    }

    /// The doubling of a generation, once it has begun.
    #[inline]
    pub(super) fn underway<'table>(&'table self, old: &'table Generation) -> Option<Underway<'table>> {
        old.doubling().map(|doubling| Underway { doubling, old, growing: self })
    }

    /// Calls `change` with the current generation, and again with the next one if that was replaced meanwhile.
    #[inline]
    pub(super) fn change<R>(&self, change: impl Fn(&Generation) -> Result<R, Stale>) -> R {
        loop {
            if let Ok(changed) = change(&self.current.load()) {
                return changed;
            }
        }
    }

    /// Not inlined, so that lookups in tables that never grow take fewer instructions.
    #[cold]
    #[inline(never)]
    pub(super) fn contains(&self, digest: Digest) -> bool {
        self.current.load().contains(digest)
    }

    #[inline(never)]
    pub(super) fn remove(&self, digest: Digest) -> bool {
        self.change(|generation| match self.underway(generation) {
            None => generation.table.remove(digest),
            Some(underway) => underway.remove(digest),
        })
    }

    pub(super) fn clear(&self) {
        self.change(|generation| match self.underway(generation) {
            None => generation.table.clear(),
            Some(underway) => underway.clear(),
        });
    }

    #[inline(never)]
    pub(super) fn store(&self, digest: Digest, repeated: Repeated) -> Result<bool, InsertError> {
        self.change(|generation| Refusal::unless_stale(self.store_in(generation, digest, repeated)))
    }

    #[inline]
    fn store_in(
        &self,
        generation: &Generation,
        digest: Digest,
        repeated: Repeated,
    ) -> Result<bool, Refusal<InsertError>> {
        match self.underway(generation) {
            Some(underway) => underway.store(digest, repeated),
            None => match generation.insert(digest, repeated) {
                Ok(stored) => Ok(stored),
                Err(Refusal::For(NoRoom::Full)) => self.double_and_store(generation, digest, repeated),
                Err(Refusal::For(reason)) => Err(generation.table.insert_error(reason).into()),
                Err(Refusal::Stale) => Err(Refusal::Stale),
            },
        }
    }

    /// Stores a copy of a key for which the table has no room: its limit is reached, or no slot can be freed.
    #[cold]
    fn double_and_store(
        &self,
        generation: &Generation,
        digest: Digest,
        repeated: Repeated,
    ) -> Result<bool, Refusal<InsertError>> {
        let (growth, table) = (&self.growth, &generation.table);
        // If it is certain that there is no room and no larger table would be made, other writers need not wait.
        if growth.is_last(&table.parameters) && generation.is_surely_full() && table.count(digest)? == 0 {
            return Err(table.insert_error(NoRoom::Full).into());
        }
        let all = table.guards.stripes.lock_all()?;
        // Counted while nobody writes, so that a copy that is being moved does not count twice.
        let copies = table.count(digest)?;
        if repeated == Repeated::LeftOut && copies > 0 {
            return Ok(false);
        }
        if copies >= 2 * to_usize(u64::from(table.parameters.slots_per_bucket())) {
            return Err(InsertError::TooManyCopies { copies }.into());
        }
        // Others may have removed keys meanwhile, and the number that was compared with the limit may have been too high.
        if !generation.is_full() && table.insert_locked(digest, &all) {
            return Ok(true);
        }
        growth.refuse_without_hope(&table.parameters, table.len(), copies, table.crowd(digest, &all))?;
        if Splitting::is_for(table.size_in_bytes())
            && let Some((doubling, waiting)) = Doubling::begin(generation, growth, digest, &all)
        {
            let doubling = generation.begin_doubling(doubling, waiting);
            all.retire();
            return Underway { doubling, old: generation, growing: self }.store_split(digest, repeated);
        }
        let mut next = self.copy(table, &all)?;
        let stored = match repeated {
            Repeated::Stored => next.insert(&digest).map(|()| true),
            Repeated::LeftOut => next.insert_if_absent(&digest),
        }?;
        self.replace(next, all)?;
        Ok(stored)
    }

    /// Makes room for `additional` fingerprints at once, if they may be stored.
    pub(super) fn make_room(&self, additional: usize) -> Result<(), InsertError> {
        let needed = |stored: usize| stored.saturating_add(additional) as u64;
        loop {
            let generation = self.current.load();
            // Refused before a doubling is finished, and not because of keys that only came and went while others were counted.
            let (surely_needed, latest) = (needed(generation.surely_stored()), &generation.latest().parameters);
            if self.growth.up_to_capacity(latest, surely_needed).is_none() {
                return Err(NoRoom::Full.as_error(generation.len(), latest));
            }
            if let Some(underway) = self.underway(&generation) {
                underway.finish();
                continue;
            }
            if needed(generation.len()) <= latest.capacity() {
                return Ok(());
            }
            if let Ok(all) = generation.table.guards.stripes.lock_all() {
                let mut next = self.copy(&generation.table, &all)?;
                next.make_room(additional)?;
                return self.replace(next, all);
            }
        }
    }

    /// A copy of the filter, while nobody writes.
    fn copy(&self, table: &SharedTable, all: &AllGuards<'_>) -> Result<CuckooFilter, InsertError> {
        Ok(table.copy(all)?.with_growth(Some(self.growth)))
    }

    /// Replaces the table, all of whose locks are held, by `next`.
    fn replace(&self, next: CuckooFilter, all: AllGuards<'_>) -> Result<(), InsertError> {
        let out_of_memory = error::OutOfMemory::new(next.parameters().table_size());
        let next = Generation::of(next, &self.growth)?;
        ask_for::<Counted<Generation>>().map_err(|OutOfMemory| out_of_memory)?;
        self.current.replace(Arc::new(next));
        all.retire();
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::concurrent_cuckoo_filter::Tables;
    use super::*;
    use crate::concurrent::ConcurrentCuckooFilter;

    /// A filter for so many keys at first and at last.
    fn filter(capacity: usize, max_capacity: usize) -> ConcurrentCuckooFilter {
        let builder = CuckooFilter::builder().capacity(capacity).max_capacity(max_capacity);
        let builder = builder.false_positive_rate(0.001).for_kind::<ConcurrentCuckooFilter>();
        builder.build().expect("memory for the table")
    }

    /// What becomes of a key that finds no room.
    fn store(filter: &ConcurrentCuckooFilter, key: u64, repeated: Repeated) -> Result<bool, InsertError> {
        let Tables::Growing(growing) = &filter.table else { panic!("it grows") };
        let stored = growing.double_and_store(&growing.current.load(), filter.hasher().digest(&key), repeated);
        Refusal::unless_stale(stored).expect("nobody else makes it grow")
    }

    const fn is_full(stored: &Result<bool, InsertError>) -> bool {
        matches!(stored, Err(InsertError::Full { .. }))
    }

    fn whole_locks(filter: &ConcurrentCuckooFilter) -> usize {
        let Tables::Growing(growing) = &filter.table else { panic!("it grows") };
        growing.current.load().table.guards.stripes.whole_locks()
    }

    /// While others write, a count may be too high for a moment.
    #[test]
    fn a_table_that_is_found_to_have_room_is_not_doubled() {
        for capacity in [100, 100_000] {
            let filter = filter(capacity, 10 * capacity);
            assert_eq!(store(&filter, 1, Repeated::Stored), Ok(true));
            assert_eq!(store(&filter, 2, Repeated::LeftOut), Ok(true));
            assert_eq!(store(&filter, 2, Repeated::LeftOut), Ok(false));
            assert_eq!((filter.len(), filter.parameters().doublings()), (2, 0));
            assert!(filter.contains(&1_u64) && filter.contains(&2_u64));
        }
    }

    /// A key that was refused by a count that was too high.
    #[test]
    fn the_last_table_refuses_no_key_while_it_has_room() {
        let filter = filter(1000, 4000);
        filter.reserve(4000).expect("it may grow so far");
        let keys = 0..filter.max_capacity() as u64;
        for key in keys.clone() {
            assert_eq!(store(&filter, key, Repeated::Stored), Ok(true), "{key}");
        }
        assert_eq!(filter.len(), filter.max_capacity());
        assert!(keys.clone().all(|key| filter.contains(&key)));
        assert!(is_full(&store(&filter, keys.end, Repeated::Stored)));
    }

    #[test]
    fn a_key_that_a_full_filter_refuses_makes_no_writer_wait() {
        let filter = filter(1000, 4000);
        let keys = 0..filter.max_capacity() as u64;
        keys.clone().for_each(|key| filter.insert(&key).expect("it grows"));
        let before = whole_locks(&filter);
        let mut taken_for_others = 0;
        for key in keys.end..keys.end + 1000 {
            taken_for_others += usize::from(filter.contains(&key));
            let stored = store(&filter, key, Repeated::LeftOut);
            assert!(if filter.contains(&key) { stored == Ok(false) } else { is_full(&stored) }, "{key}: {stored:?}");
            assert!(is_full(&store(&filter, key, Repeated::Stored)), "{key}");
        }
        // Only under all locks is it certain of these whether they are there.
        assert_eq!(whole_locks(&filter) - before, 2 * taken_for_others);
    }
}
