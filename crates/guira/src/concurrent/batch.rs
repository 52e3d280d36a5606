use core::ops::Range;

use super::ConcurrentCuckooFilter;
use super::concurrent_cuckoo_filter::still_current;
use super::lookup::{look_again, look_again_in};
use super::stripes::Retired;
use super::update::{Refusal, Repeated};
use crate::batch::{OWN_CACHE, change_each, hash_each, look_up_each, look_up_in_cache};
use crate::cast::Whole;
use crate::cuckoo::{CuckooTable, with_shared_table};
use crate::digest::{Digest, Key};
use crate::error::InsertEachError;

impl ConcurrentCuckooFilter {
    /// Whether each of many keys is probably in the set; `false` is certain. In a table larger than the processor's cache
    /// this is several times as fast as as many calls of [`contains`](Self::contains).
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
        self.look_up_all(answers, |numbers, digests| hash_each(&hasher, &keys[numbers], digests));
    }

    /// Whether each of many keys, given their digests, is probably in the set. See [`contains_each`](Self::contains_each).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn contains_each_digest(&self, digests: &[Digest], answers: &mut [bool]) {
        assert_eq!(digests.len(), answers.len(), "as many answers as digests");
        self.look_up_all(answers, |numbers, block| block.copy_from_slice(&digests[numbers]));
    }

    /// Stores a copy of each of many keys, in order. Other threads may see some of them stored and others not.
    ///
    /// # Errors
    ///
    /// For the first key that can't be stored, why not and how many were stored before it; these are kept.
    pub fn insert_each<K: Key>(&self, keys: &[K]) -> Result<(), InsertEachError> {
        let hasher = *self.hasher();
        self.store_each(keys.len(), move |number| hasher.digest(&keys[number]))
    }

    /// Stores a copy of each of many keys, given their digests, in order. See [`insert_each`](Self::insert_each).
    ///
    /// # Errors
    ///
    /// Those of [`insert_each`](Self::insert_each).
    pub fn insert_each_digest(&self, digests: &[Digest]) -> Result<(), InsertEachError> {
        self.store_each(digests.len(), |number| digests[number])
    }

    #[inline]
    fn store_each(&self, count: usize, digest: impl Fn(usize) -> Digest) -> Result<(), InsertEachError> {
        let (inserted, stored) = self.store_run(count, digest, |_| Ok(()));
        stored.map_err(|reason| InsertEachError { inserted, reason: self.insert_error(reason) })
    }

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
        let stored = with_shared_table!(&self.scheme, &*self.words, table => {
            self.change_each(count, digest, |_, digest| {
                admit(digest)?;
                table.insert_concurrent(digest, Repeated::Stored, &self.guards)?;
                inserted += 1;
                Ok(())
            })
        });
        (inserted, stored)
    }

    /// Removes one copy of each of many keys, in order; whether there was one, for each.
    ///
    /// Only remove what was inserted: see [`remove`](Self::remove).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    pub fn remove_each<K: Key>(&self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "as many answers as keys");
        let hasher = *self.hasher();
        self.remove_all(removed, move |number| hasher.digest(&keys[number]));
    }

    /// Removes one copy of each of many keys, given their digests. See [`remove_each`](Self::remove_each).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn remove_each_digest(&self, digests: &[Digest], removed: &mut [bool]) {
        assert_eq!(digests.len(), removed.len(), "as many answers as digests");
        self.remove_all(removed, |number| digests[number]);
    }

    #[inline]
    fn remove_all(&self, removed: &mut [bool], digest: impl Fn(usize) -> Digest) {
        still_current(self.remove_run(removed, digest).1);
    }

    /// Removes keys in order until the table is found to be replaced: how many were looked for before.
    #[inline]
    pub(super) fn remove_run(
        &self,
        removed: &mut [bool],
        digest: impl Fn(usize) -> Digest,
    ) -> (usize, Result<(), Retired>) {
        let mut done = 0;
        let all = with_shared_table!(&self.scheme, &*self.words, table => {
            self.change_each(removed.len(), digest, |number, digest| {
                removed[number] = table.remove_concurrent(digest, &self.guards)?;
                done += 1;
                Ok(())
            })
        });
        (done, all)
    }

    #[inline]
    fn look_up_all(&self, answers: &mut [bool], digest: impl Fn(Range<usize>, &mut [Digest])) {
        if self.is_in_own_cache() {
            return look_up_in_cache(answers, digest, |digests, answers| {
                with_shared_table!(&self.scheme, &*self.words, table => {
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
                with_shared_table!(&self.scheme, &*self.words, table => table.locate_each::<Whole>(digests, located));
            },
            |located, next, answers| {
                with_shared_table!(&self.scheme, &*self.words, table => {
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
                with_shared_table!(&self.scheme, &*self.words, table => {
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
