use core::ops::Range;

use super::ConcurrentCuckooFilter;
use super::concurrent_cuckoo_filter::{Tables, never_stale};
use super::generation::Generation;
use super::lookup::{look_again, look_again_in};
use super::shared_table::SharedTable;
use super::stripes::Stale;
use super::update::{self, Refusal, Repeated, insert_with_several_locks};
use crate::batch::{OWN_CACHE, change_each, hash_each, look_up_each, look_up_in_cache};
use crate::cast::Whole;
use crate::cuckoo::{CuckooTable, with_table};
use crate::digest::{Digest, Key};
use crate::error::InsertEachError;
use crate::sync::Replaceable;

impl ConcurrentCuckooFilter {
    /// Writes to `answers`, for each of many keys, what [`contains`](Self::contains) returns. In a table larger than the
    /// processor's cache this is several times as fast as as many calls of it.
    ///
    /// Every answer is right by itself, as if it were given by one of these calls; all of them together are of no one
    /// moment.
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    pub fn contains_each<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "as many answers as keys");
        let hasher = *self.hasher();
        self.table.with_current(|table| {
            table.look_up_all(answers, |numbers, digests| hash_each(&hasher, &keys[numbers], digests));
        });
    }

    /// Stores a copy of each of many keys, in order, and doubles the table where it may and is full. Other threads may see
    /// some of them stored and others not.
    ///
    /// # Errors
    ///
    /// For the first key that can't be stored, why not and how many were stored before it; these are kept.
    pub fn insert_each<K: Key>(&self, keys: &[K]) -> Result<(), InsertEachError> {
        let hasher = *self.hasher();
        match &self.table {
            Tables::Fixed(table) => {
                match table.store_run(keys.len(), move |number| hasher.digest(&keys[number]), |_| Ok(())) {
                    (_, Ok(())) => Ok(()),
                    (inserted, Err(Refusal::NoRoom(reason))) => {
                        Err(InsertEachError { inserted, reason: table.insert_error(reason) })
                    }
                    (_, Err(Refusal::Stale)) => never_stale(Err(Stale)),
                }
            }
            Tables::Growing(current, _) => self.insert_each_growing(current, keys),
        }
    }

    /// Runs of keys for which the table is large enough go in together, and the one after such a run by itself, which makes
    /// the table grow.
    #[inline(never)]
    fn insert_each_growing<K: Key>(
        &self,
        current: &Replaceable<Generation>,
        keys: &[K],
    ) -> Result<(), InsertEachError> {
        let hasher = *self.hasher();
        let digest = |number: usize| hasher.digest(&keys[number]);
        let mut inserted = 0;
        while inserted < keys.len() {
            inserted += current.load().store_run(keys.len() - inserted, |number| digest(inserted + number));
            if inserted < keys.len() {
                let stored = self.store(digest(inserted), Repeated::Stored);
                stored.map_err(|reason| InsertEachError { inserted, reason })?;
                inserted += 1;
            }
        }
        Ok(())
    }

    /// Removes one copy of each of many keys, in order. Writes to `removed`, for each, whether there was one.
    ///
    /// Only remove what was inserted: see [`remove`](Self::remove).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    pub fn remove_each<K: Key>(&self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "as many answers as keys");
        let hasher = *self.hasher();
        let mut done = 0;
        while done < removed.len() {
            // It ends early where the table is replaced meanwhile.
            done += self.table.with_current(|table| {
                table.remove_run(&mut removed[done..], |number| hasher.digest(&keys[done + number])).0
            });
        }
    }
}

impl SharedTable {
    /// Stores keys in order up to the first that is not admitted, or can't be stored: how many were stored before it, and
    /// why it was not.
    #[inline]
    pub(super) fn store_run(
        &self,
        count: usize,
        digest: impl Fn(usize) -> Digest,
        admit: impl Fn(Digest) -> Result<(), Refusal>,
    ) -> (usize, Result<(), Refusal>) {
        let mut inserted = 0;
        let stored = with_table!(self.scheme, shared(&*self.words), table => {
            self.change_each(count, digest, |_, digest| {
                admit(digest)?;
                if !table.fill_concurrent(digest, &self.guards)? {
                    insert_with_several_locks(&self.scheme, &self.words, digest, Repeated::Stored, &self.guards)?;
                }
                inserted += 1;
                Ok(())
            })
        });
        (inserted, stored)
    }

    /// Removes keys in order until the table is found to be replaced: how many were looked for before.
    #[inline]
    pub(super) fn remove_run(
        &self,
        removed: &mut [bool],
        digest: impl Fn(usize) -> Digest,
    ) -> (usize, Result<(), Stale>) {
        let mut done = 0;
        let all = self.change_each(removed.len(), digest, |number, digest| {
            removed[number] = update::remove(&self.scheme, &self.words, digest, &self.guards)?;
            done += 1;
            Ok(())
        });
        (done, all)
    }

    #[inline]
    fn look_up_all(&self, answers: &mut [bool], digest: impl Fn(Range<usize>, &mut [Digest])) {
        if self.is_in_own_cache() {
            return look_up_in_cache(answers, digest, |digests, answers| {
                with_table!(self.scheme, shared(&*self.words), table => {
                    for (answer, &digest) in answers.iter_mut().zip(digests) {
                        let found = table.contains_concurrent(digest, &self.guards.versions);
                        *answer = found.unwrap_or_else(|| look_again(&self.scheme, &self.words, digest, &self.guards));
                    }
                });
            });
        }
        look_up_each(
            answers,
            digest,
            |digests, located| {
                with_table!(self.scheme, shared(&*self.words), table => table.locate_each::<Whole>(digests, located));
            },
            |located, next, answers| {
                with_table!(self.scheme, shared(&*self.words), table => {
                    for (number, answer) in answers.iter_mut().enumerate() {
                        table.prefetch_located(next, number);
                        let (fingerprint, first, second) = located.get(number);
                        let found =
                            table.contains_in_concurrent((fingerprint, first, second), &self.guards.versions);
                        *answer = found.unwrap_or_else(|| {
                            look_again_in(&self.scheme, &self.words, (fingerprint, second), &self.guards)
                        });
                    }
                });
            },
        );
    }

    /// Does something that changes the table with every digest, in order, when its buckets have come.
    #[inline]
    fn change_each<E>(
        &self,
        count: usize,
        digest: impl Fn(usize) -> Digest,
        mut change: impl FnMut(usize, Digest) -> Result<(), E>,
    ) -> Result<(), E> {
        let in_own_cache = self.is_in_own_cache();
        let prefetch = |(): &(), digests: &[Digest]| {
            if !in_own_cache {
                with_table!(self.scheme, shared(&*self.words), table => {
                    let table = CuckooTable { addressing: table.addressing, slots: table.slots.to_write() };
                    table.prefetch_each(digests);
                });
            }
        };
        change_each(&mut (), count, digest, prefetch, |(), number, digest| change(number, digest))
    }

    fn is_in_own_cache(&self) -> bool {
        size_of_val(&*self.words) <= OWN_CACHE
    }
}
