//! Filters whose table is replaced by a larger one when it is full.

use super::doubling::Doubling;
use super::generation::Generation;
use super::shared_table::SharedTable;
use super::stripes::{AllGuards, Stale};
use super::update::{Refusal, Repeated};
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, Splitting};
use crate::digest::Digest;
use crate::error::InsertError;
use crate::filter::{CuckooFilter, Growth};
use crate::parameters::Parameters;
use crate::sync::{Arc, Replaceable};
use crate::table::{Counted, OutOfMemory, ask_for};

/// Calls `change` with the current generation, and again with the next one if that was replaced meanwhile.
#[inline]
pub(super) fn change_current<R>(
    current: &Replaceable<Generation>,
    change: impl Fn(&Generation) -> Result<R, Stale>,
) -> R {
    loop {
        if let Ok(changed) = change(&current.load()) {
            return changed;
        }
    }
}

/// Not inlined, so that lookups in tables that never grow take fewer instructions.
#[cold]
#[inline(never)]
pub(super) fn contains_in_current(current: &Replaceable<Generation>, digest: Digest) -> bool {
    current.load().contains(digest)
}

#[inline(never)]
pub(super) fn remove_in_current(current: &Replaceable<Generation>, digest: Digest) -> bool {
    change_current(current, |generation| match generation.doubling() {
        None => generation.table.remove(digest),
        Some(doubling) => doubling.remove(generation, current, digest),
    })
}

#[inline(never)]
pub(super) fn store_in_growing(
    current: &Replaceable<Generation>,
    growth: &Growth,
    digest: Digest,
    repeated: Repeated,
) -> Result<bool, InsertError> {
    loop {
        let generation = current.load();
        let outcome = match generation.doubling() {
            Some(doubling) => doubling.store(&generation, current, digest, repeated),
            None => match generation.insert(digest, repeated) {
                Ok(stored) => return Ok(stored),
                Err(Refusal::NoRoom(NoRoom::Full)) => double_and_store(current, growth, &generation, digest, repeated),
                Err(Refusal::NoRoom(reason)) => return Err(generation.table.insert_error(reason)),
                Err(Refusal::Stale) => Err(Stale),
            },
        };
        // Otherwise the table was replaced before its locks were free.
        if let Ok(stored) = outcome {
            return stored;
        }
    }
}

/// Stores a copy of a key for which the table has no room: its limit is reached, or no slot can be freed.
#[cold]
fn double_and_store(
    current: &Replaceable<Generation>,
    growth: &Growth,
    generation: &Generation,
    digest: Digest,
    repeated: Repeated,
) -> Result<Result<bool, InsertError>, Stale> {
    let table = &generation.table;
    // If it is certain that there is no room and no larger table would be made, other writers need not wait.
    if growth.is_last(&table.parameters) && generation.is_surely_full() && table.count(digest)? == 0 {
        return Ok(Err(table.insert_error(NoRoom::Full)));
    }
    let all = table.guards.stripes.lock_all()?;
    // Counted while nobody writes, so that a copy that is being moved does not count twice.
    let copies = table.count(digest)?;
    if repeated == Repeated::LeftOut && copies > 0 {
        return Ok(Ok(false));
    }
    if copies >= 2 * to_usize(u64::from(table.parameters.slots_per_bucket())) {
        return Ok(Err(InsertError::TooManyCopies { copies }));
    }
    // Others may have removed keys meanwhile, and the number that was compared with the limit may have been too high.
    if !generation.is_full() && table.insert_locked(digest, &all) {
        return Ok(Ok(true));
    }
    if let Err(refused) = growth.refuse_without_hope(&table.parameters, table.len(), copies, table.crowd(digest, &all))
    {
        return Ok(Err(refused));
    }
    if Splitting::is_for(table.size_in_bytes())
        && let Some((doubling, waiting)) = Doubling::begin(generation, growth, digest, &all)
    {
        let doubling = generation.begin_doubling(doubling, waiting);
        all.retire();
        return doubling.store_split(generation, current, digest, repeated);
    }
    Ok(store_in_next(current, growth, table, digest, repeated, all))
}

/// Copies a table that nobody writes, stores a key in the copy, which grows to take it, and replaces the table by the copy.
fn store_in_next(
    current: &Replaceable<Generation>,
    growth: &Growth,
    table: &SharedTable,
    digest: Digest,
    repeated: Repeated,
    all: AllGuards<'_>,
) -> Result<bool, InsertError> {
    let mut next = copy(table, growth, &all)?;
    let stored = match repeated {
        Repeated::Stored => next.insert(&digest).map(|()| true),
        Repeated::LeftOut => next.insert_if_absent(&digest),
    }?;
    replace(current, growth, next, all)?;
    Ok(stored)
}

/// A copy of the filter, while nobody writes.
pub(super) fn copy(table: &SharedTable, growth: &Growth, all: &AllGuards<'_>) -> Result<CuckooFilter, InsertError> {
    let copy = table.copy(all).map_err(|_| no_memory(&table.parameters))?;
    Ok(copy.with_growth(Some(*growth)))
}

/// Replaces the table, all of whose locks are held, by `next`.
pub(super) fn replace(
    current: &Replaceable<Generation>,
    growth: &Growth,
    next: CuckooFilter,
    all: AllGuards<'_>,
) -> Result<(), InsertError> {
    let parameters = *next.parameters();
    let table = SharedTable::new(next).map_err(|_| no_memory(&parameters))?;
    ask_for::<Counted<Generation>>().map_err(|OutOfMemory| no_memory(&parameters))?;
    current.replace(Arc::new(Generation::new(table, growth)));
    all.retire();
    Ok(())
}

const fn no_memory(parameters: &Parameters) -> InsertError {
    InsertError::OutOfMemory { bytes: parameters.table_size() }
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
        let Tables::Growing(current, growth) = &filter.table else { panic!("it grows") };
        let stored = double_and_store(current, growth, &current.load(), filter.hasher().digest(&key), repeated);
        stored.expect("nobody else makes it grow")
    }

    const fn is_full(stored: &Result<bool, InsertError>) -> bool {
        matches!(stored, Err(InsertError::Full { .. }))
    }

    fn whole_locks(filter: &ConcurrentCuckooFilter) -> usize {
        let Tables::Growing(current, _) = &filter.table else { panic!("it grows") };
        current.load().table.guards.stripes.whole_locks()
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
