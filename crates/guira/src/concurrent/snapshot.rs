//! A filter as it is at one moment, copied while threads go on writing it.
//!
//! The moment is one at which all locks are held, just as long as it takes to leave a note behind each of them. A writer who finds
//! the note sees to it that what it writes is copied first ([`Copying`]). Where a doubling begins or ends meanwhile, whoever does
//! that hands the note on to the locks that are taken from then on. When all is copied, the notes are taken away, one after the
//! other.

use alloc::boxed::Box;
use std::sync::PoisonError;

use super::doubling::{Doubling, Underway};
use super::generation::Generation;
use super::growing::Growing;
use super::shared_table::SharedTable;
use super::update::Refusal;
use crate::filter::CuckooFilter;
use crate::sync::{Arc, Mutex, MutexGuard};
use crate::table::{Copies, Copying, OutOfMemory, try_box};

/// Snapshots of a filter are made one after the other.
///
/// In a box, so that the compiler knows that what a filter is made of stays the same.
pub(super) struct Snapshots(Box<Mutex<()>>);

impl Snapshots {
    pub(super) fn new() -> Result<Self, OutOfMemory> {
        try_box(Mutex::new(())).map(Self)
    }

    /// Waits for the snapshot that another thread is making.
    pub(super) fn wait(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedTable {
    /// A copy of one moment. `meanwhile` is called when that is past; `end` takes away the notes.
    pub(super) fn snapshot(
        &self,
        meanwhile: impl FnOnce(),
        end: impl FnOnce(),
    ) -> Result<CuckooFilter, Refusal<OutOfMemory>> {
        let copying = Copying::of(&self.words)?;
        let len = {
            let mut all = self.guards.stripes.lock_all()?;
            all.begin_copies(&Copies::of_table(&copying));
            self.len()
        };
        meanwhile();
        copying.finish(&self.words);
        end();
        let storage = Copying::into_storage(copying)?;
        Ok(CuckooFilter::from_parts(self.parameters, self.hasher, storage, len))
    }
}

impl Growing {
    /// A copy of one moment. `meanwhile` is called when that is past.
    pub(super) fn snapshot(&self, meanwhile: impl Fn()) -> Result<CuckooFilter, OutOfMemory> {
        self.change(|generation| {
            Refusal::unless_stale(match self.underway(generation) {
                None => {
                    let copy = generation.table.snapshot(&meanwhile, || generation.end_copies());
                    copy.map(|copy| copy.with_growth(Some(self.growth)))
                }
                Some(underway) => underway.snapshot(&meanwhile),
            })
        })
    }
}

impl Generation {
    /// Takes away the notes behind the locks of this table, and of those that have come of it.
    fn end_copies(&self) {
        self.table.guards.stripes.end_copies();
        // A doubling that begins after that finds no note to hand on.
        if let Some(doubling) = self.doubling.get() {
            doubling.stripes.end_copies();
            doubling.next.end_copies();
        }
    }
}

impl Underway<'_> {
    /// A copy of one moment, which goes on with the doubling.
    fn snapshot(&self, meanwhile: impl FnOnce()) -> Result<CuckooFilter, Refusal<OutOfMemory>> {
        let Doubling { splitting, stripes, next, .. } = self.doubling;
        let (old, next) = (&self.old.table, &next.table);
        let (of_old, of_next) = (Copying::of(&old.words)?, Copying::of(&next.words)?);
        let (waiting, len) = {
            let mut all = stripes.lock_all()?;
            let waiting = self.old.waiting();
            let bits = |buckets: u64, table: &SharedTable| buckets * u64::from(table.parameters.bucket_bits());
            // The bucket that is split next is written to the new table in front of those that are copied.
            let [of_waiting, of_moved] = splitting.places_of(waiting);
            of_old.restrict(&old.words, 0, bits(of_waiting, old));
            of_next.restrict(&next.words, bits(of_moved, next), u64::MAX);
            all.begin_copies(&Copies { table: Arc::clone(&of_old), next: Some(Arc::clone(&of_next)) });
            (waiting, stripes.stored())
        };
        meanwhile();
        of_old.finish(&old.words);
        of_next.finish(&next.words);
        self.old.end_copies();
        let copy = CuckooFilter::from_parts(next.parameters, next.hasher, Copying::into_storage(of_next)?, len);
        let (copy, of_old) = (copy.with_growth(Some(self.growing.growth)), Copying::into_storage(of_old)?);
        Ok(CuckooFilter::while_doubling(copy, splitting.when(waiting), of_old, old.parameters)?)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec::Vec;

    use crate::concurrent::ConcurrentCuckooFilter;
    use crate::cuckoo::Repeated;
    use crate::filter::{CuckooFilter, FilterBuilder};

    /// A filter that may be in the midst of a doubling.
    fn filled(builder: &FilterBuilder, keys: u64) -> ConcurrentCuckooFilter {
        let filter = builder.for_kind::<ConcurrentCuckooFilter>().build().expect("small");
        filter.try_extend((0..keys).collect::<Vec<u64>>()).expect("there is room");
        filter
    }

    /// Changes a filter in some way between the moment of a copy and the copying.
    fn assert_is_of_the_moment(filter: &ConcurrentCuckooFilter, change: impl Fn(&ConcurrentCuckooFilter)) {
        let before = filter.snapshot().expect("small");
        let copy = filter.snapshot_while(|| change(filter)).expect("small");
        assert!(copy == before && copy.len() == before.len());
        assert_eq!(copy.check_invariants(), Ok(()));
        // The notes are gone, so that the filter can be copied again.
        assert_eq!(filter.check_invariants(), Ok(()));
    }

    #[test]
    fn whatever_is_done_meanwhile_the_copy_is_of_the_moment() {
        // Slots in one word and in two, and several segments.
        for fingerprint_bits in [16, 12, 13] {
            let builder = CuckooFilter::builder().bucket_count(20_000).slots_per_bucket(4);
            let builder = builder.fingerprint_bits(fingerprint_bits);
            let keys = 75_000;
            let filter = || filled(&builder, keys);
            let others = 1 << 40..(1_u64 << 40) + 1000;
            assert_is_of_the_moment(&filter(), |filter| {
                others.clone().for_each(|key| filter.insert(&key).expect("there is room"));
            });
            assert_is_of_the_moment(&filter(), |filter| {
                filter.try_extend(others.clone().collect::<Vec<u64>>()).expect("there is room");
            });
            assert_is_of_the_moment(&filter(), |filter| {
                let absent = others.clone().filter(|key| filter.insert_if_absent(key) == Ok(true)).count();
                assert!(absent > 900);
            });
            assert_is_of_the_moment(&filter(), |filter| assert!((0..1000_u64).all(|key| filter.remove(&key))));
            assert_is_of_the_moment(&filter(), |filter| {
                let mut removed = [false; 1000];
                filter.remove_many_into(&(0..1000).collect::<Vec<u64>>(), &mut removed);
                assert!(removed.iter().all(|&is_removed| is_removed));
            });
            assert_is_of_the_moment(&filter(), ConcurrentCuckooFilter::clear);
            // To the last slot that can be freed, by ever longer paths.
            assert_is_of_the_moment(&filter(), |filter| {
                assert!((1_u64 << 50..).take_while(|key| filter.insert(key).is_ok()).count() > 1000);
            });
        }
    }

    #[test]
    fn however_far_a_table_is_doubled_meanwhile_the_copy_is_of_the_moment() {
        let builder = CuckooFilter::builder().capacity(20_000).max_capacity(1_000_000).false_positive_rate(1e-6);
        let filled_to = |keys| filled(&builder, keys);
        let insert = |filter: &ConcurrentCuckooFilter, count| {
            ((1 << 40)..(1_u64 << 40) + count).for_each(|key| filter.insert(&key).expect("it grows"));
        };
        // Before a doubling, at many places of one, and behind it; a few insertions, up to the next doubling and further ones.
        let first = {
            let filter = filled_to(0);
            let size = filter.size_in_bytes();
            (0_u64..).take_while(|key| filter.insert(key).is_ok() && filter.size_in_bytes() == size).count() as u64
        };
        for keys in (first - 5..first + 4000).step_by(401) {
            for count in [1, 100, 3000, 30_000, 200_000] {
                assert_is_of_the_moment(&filled_to(keys), |filter| insert(filter, count));
            }
            assert_is_of_the_moment(&filled_to(keys), |filter| {
                insert(filter, 500);
                assert!((0..keys).all(|key| filter.remove(&key)), "a key was lost");
            });
            assert_is_of_the_moment(&filled_to(keys), ConcurrentCuckooFilter::clear);
            assert_is_of_the_moment(&filled_to(keys), |filter| {
                filter.reserve(500_000).expect("it may grow");
                insert(filter, 1000);
            });
        }
    }

    #[test]
    fn what_is_stored_under_all_locks_is_copied_first() {
        let filter = filled(&CuckooFilter::builder().bucket_count(20_000).fingerprint_bits(16), 60_000);
        let super::super::concurrent_cuckoo_filter::Tables::Fixed(table) = &filter.table else { panic!("it is fixed") };
        let digest = |key: u64| filter.hasher().digest(&key);
        assert_is_of_the_moment(&filter, |_| {
            let all = table.guards.stripes.lock_all();
            let Ok(all) = all else { panic!("it is never replaced") };
            assert!((1 << 40..(1 << 40) + 15_000).all(|key| table.insert_locked(digest(key), &all)));
        });
        assert_eq!(filter.store(digest(1 << 40), Repeated::LeftOut), Ok(false));
    }
}
