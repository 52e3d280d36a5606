use core::convert::Infallible;

use super::ConcurrentCuckooFilter;
use super::concurrent_cuckoo_filter::still_current;
use super::engine::{Engine, Guards, SharedNest, with_shared_nest};
use super::stripes::Retired;
use super::update::{Refusal, Repeated};
use crate::addressing::Addressing;
use crate::batch::{Awaited, OWN_CACHE, pipeline};
use crate::digest::{Digest, Key};
use crate::error::InsertEachError;
use crate::filter::Nest;
use crate::probe::Word;

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
        self.engine.answer_each(answers, move |number| hasher.digest(&keys[number]), &self.guards);
    }

    /// Whether each of many keys, given their digests, is probably in the set. See [`contains_each`](Self::contains_each).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn contains_each_digest(&self, digests: &[Digest], answers: &mut [bool]) {
        assert_eq!(digests.len(), answers.len(), "as many answers as digests");
        self.engine.answer_each(answers, |number| digests[number], &self.guards);
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
        let stored = with_shared_nest!(&self.engine, nest => nest.each_in_order(count, digest, |_, digest| {
            admit(digest)?;
            nest.insert_beside_others(digest, Repeated::Stored, &self.guards)?;
            inserted += 1;
            Ok(())
        }));
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
        let all = with_shared_nest!(&self.engine, nest => {
            nest.each_in_order(removed.len(), digest, |number, digest| {
                removed[number] = nest.remove_beside_others(digest, &self.guards)?;
                done += 1;
                Ok(())
            })
        });
        (done, all)
    }
}

impl Engine {
    #[inline]
    fn answer_each(&self, answers: &mut [bool], digest: impl Fn(usize) -> Digest, guards: &Guards) {
        with_shared_nest!(self, nest => {
            if nest.is_in_own_cache() {
                for (number, answer) in answers.iter_mut().enumerate() {
                    *answer = nest.contains_beside_writers(digest(number), &guards.versions);
                }
            } else {
                let view = nest.view();
                let prepare = |number| view.await_digest(digest(number));
                let answered: Result<(), Infallible> =
                    pipeline(answers.len(), Awaited::NOTHING, prepare, |number, awaited| {
                        answers[number] = nest.contains_awaited_beside_writers(&view, awaited, &guards.versions);
                        Ok(())
                    });
                match answered {
                    Ok(()) => {}
                }
            }
        });
    }
}

impl<A: Addressing, W: Word, const ONE_WORD: bool> SharedNest<A, W, ONE_WORD> {
    fn is_in_own_cache(&self) -> bool {
        size_of_val(&**self.storage()) <= OWN_CACHE
    }

    /// Does something that changes the table with every digest, in order, when its buckets have come.
    #[inline]
    fn each_in_order<E>(
        &self,
        count: usize,
        digest: impl Fn(usize) -> Digest,
        mut change: impl FnMut(usize, Digest) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_in_own_cache() {
            return (0..count).try_for_each(|number| change(number, digest(number)));
        }
        let words = self.table.to_write();
        let nest = Nest { addressing: self.addressing, table: self.table.awaited(&words) };
        let prepare = |number| {
            let digest = digest(number);
            nest.await_digest(digest);
            digest
        };
        pipeline(count, Digest::new(0), prepare, change)
    }
}
