use core::convert::Infallible;
use core::ops::Deref;

use super::ring::pipeline;
use crate::addressing::{Addressing, BucketIndex, Candidate, Fingerprint};
use crate::digest::{Digest, Key};
use crate::error::InsertEachError;
use crate::filter::{CuckooFilter, CuckooFilterView, Engine, Nest, NoRoom, with_nest};
use crate::relocation::Search;
use crate::table::{Table, TableMut};

/// Tables of up to this many bytes are answered one call after another: they are in the processor's own cache, where
/// there is nothing to wait for.
pub(crate) const OWN_CACHE: usize = 512 << 10;

impl CuckooFilter {
    /// Whether each of many keys is probably in the set; `false` is certain. In a table larger than the processor's cache
    /// this is several times as fast as as many calls of [`contains`](Self::contains).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    ///
    /// # Examples
    ///
    /// ```
    /// # let mut filter = guira::CuckooFilter::with_capacity(10, 0.001)?;
    /// filter.insert("ani")?;
    /// let mut answers = [false; 2];
    /// filter.contains_each(&["ani", "cuckoo"], &mut answers);
    /// assert_eq!(answers, [true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains_each<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "as many answers as keys");
        let hasher = *self.hasher();
        self.engine().answer_each(answers, move |number| hasher.digest(&keys[number]));
    }

    /// Whether each of many keys, given their digests, is probably in the set. See [`contains_each`](Self::contains_each).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn contains_each_digest(&self, digests: &[Digest], answers: &mut [bool]) {
        assert_eq!(digests.len(), answers.len(), "as many answers as digests");
        self.engine().answer_each(answers, |number| digests[number]);
    }

    /// Stores a copy of each of many keys, in order.
    ///
    /// # Errors
    ///
    /// For the first key that can't be stored, why not and how many were stored before it; these are kept.
    pub fn insert_each<K: Key>(&mut self, keys: &[K]) -> Result<(), InsertEachError> {
        let hasher = *self.hasher();
        self.store_each(keys.len(), move |number| hasher.digest(&keys[number]))
    }

    /// Stores a copy of each of many keys, given their digests, in order. See [`insert_each`](Self::insert_each).
    ///
    /// # Errors
    ///
    /// Those of [`insert_each`](Self::insert_each).
    pub fn insert_each_digest(&mut self, digests: &[Digest]) -> Result<(), InsertEachError> {
        self.store_each(digests.len(), |number| digests[number])
    }

    #[inline]
    fn store_each(&mut self, count: usize, digest: impl Fn(usize) -> Digest) -> Result<(), InsertEachError> {
        let in_cache = self.is_in_own_cache();
        let (engine, search) = self.engine_and_search();
        let (inserted, reason) =
            with_nest!(engine, nest => nest.view_mut().insert_each(count, digest, search, in_cache));
        self.add_to_len(inserted);
        reason.map_or(Ok(()), |reason| Err(InsertEachError { inserted, reason: self.insert_error(reason) }))
    }

    /// Removes one copy of each of many keys, in order; whether there was one, for each.
    ///
    /// Only remove what was inserted: see [`remove`](Self::remove).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    pub fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "as many answers as keys");
        let hasher = *self.hasher();
        self.remove_all(removed, move |number| hasher.digest(&keys[number]));
    }

    /// Removes one copy of each of many keys, given their digests. See [`remove_each`](Self::remove_each).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn remove_each_digest(&mut self, digests: &[Digest], removed: &mut [bool]) {
        assert_eq!(digests.len(), removed.len(), "as many answers as digests");
        self.remove_all(removed, |number| digests[number]);
    }

    #[inline]
    fn remove_all(&mut self, removed: &mut [bool], digest: impl Fn(usize) -> Digest) {
        let in_cache = self.is_in_own_cache();
        let (engine, _) = self.engine_and_search();
        let count = with_nest!(engine, nest => nest.view_mut().remove_each(removed, digest, in_cache));
        self.subtract_from_len(count);
    }

    fn is_in_own_cache(&self) -> bool {
        self.size_in_bytes() <= OWN_CACHE
    }
}

impl CuckooFilterView<'_> {
    /// Whether each of many keys is probably in the set. See [`CuckooFilter::contains_each`].
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    pub fn contains_each<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "as many answers as keys");
        let hasher = *self.hasher();
        self.engine().answer_each(answers, move |number| hasher.digest(&keys[number]));
    }

    /// Whether each of many keys, given their digests, is probably in the set.
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn contains_each_digest(&self, digests: &[Digest], answers: &mut [bool]) {
        assert_eq!(digests.len(), answers.len(), "as many answers as digests");
        self.engine().answer_each(answers, |number| digests[number]);
    }
}

impl<S: Deref<Target = [u8]>> Engine<S> {
    #[inline]
    fn answer_each(&self, answers: &mut [bool], digest: impl Fn(usize) -> Digest) {
        let in_cache = self.storage().len() <= OWN_CACHE;
        with_nest!(self, nest => {
            let nest = nest.view();
            if in_cache {
                for (number, answer) in answers.iter_mut().enumerate() {
                    *answer = nest.contains(digest(number));
                }
            } else {
                nest.contains_each(answers, digest);
            }
        });
    }
}

/// A key that is looked up: its fingerprint and its first two candidate buckets, which are on their way.
#[derive(Clone, Copy)]
pub(crate) struct Awaited {
    pub(crate) fingerprint: Fingerprint,
    primary: BucketIndex,
    pub(crate) second: Candidate,
}

impl Awaited {
    /// What stands in the ring before the first key.
    pub(crate) const NOTHING: Self = Self {
        fingerprint: Fingerprint::LEAST,
        primary: BucketIndex::new(0),
        second: Candidate { region_start: 0, offset: 0 },
    };
}

impl<A: Addressing, T: Table> Nest<A, T> {
    #[inline]
    fn contains_each(&self, answers: &mut [bool], digest: impl Fn(usize) -> Digest) {
        let prepare = |number| self.await_digest(digest(number));
        let answered: Result<(), Infallible> = pipeline(answers.len(), Awaited::NOTHING, prepare, |number, awaited| {
            answers[number] = self.contains_awaited(awaited);
            Ok(())
        });
        match answered {
            Ok(()) => {}
        }
    }

    /// Asks for all candidate buckets of a key.
    #[inline]
    pub(crate) fn await_digest(&self, digest: Digest) -> Awaited {
        let (fingerprint, primary) = self.addressing.locate(digest);
        let second = self.addressing.alternate(primary, fingerprint);
        self.table.prefetch(primary.bucket());
        self.table.prefetch(second.bucket());
        let mut candidate = second;
        for _ in 2..A::CANDIDATES {
            candidate = self.addressing.alternate(candidate, fingerprint);
            self.table.prefetch(candidate.bucket());
        }
        Awaited { fingerprint, primary: primary.bucket(), second }
    }

    #[inline]
    pub(crate) fn contains_awaited(&self, awaited: Awaited) -> bool {
        let Awaited { fingerprint, primary, second } = awaited;
        let mut found = self.table.contains(primary, fingerprint);
        found |= self.table.contains(second.bucket(), fingerprint);
        let mut candidate = second;
        for _ in 2..A::CANDIDATES {
            candidate = self.addressing.alternate(candidate, fingerprint);
            found |= self.table.contains(candidate.bucket(), fingerprint);
        }
        found
    }
}

impl<A: Addressing, T: TableMut> Nest<A, T> {
    /// How many were stored, and why the next one was not.
    #[inline]
    fn insert_each(
        &mut self,
        count: usize,
        digest: impl Fn(usize) -> Digest,
        search: &mut Search,
        in_cache: bool,
    ) -> (usize, Option<NoRoom>) {
        let mut inserted = 0;
        let mut insert = |nest: &mut Self, digest| {
            nest.insert(digest, search)?;
            inserted += 1;
            Ok(())
        };
        let result: Result<(), NoRoom> = if in_cache {
            (0..count).try_for_each(|number| insert(self, digest(number)))
        } else {
            self.pipelined(count, digest, |nest, _, digest| insert(nest, digest))
        };
        (inserted, result.err())
    }

    /// How many were removed.
    #[inline]
    fn remove_each(&mut self, removed: &mut [bool], digest: impl Fn(usize) -> Digest, in_cache: bool) -> usize {
        let count = removed.len();
        let mut remove = |nest: &mut Self, number: usize, digest| {
            removed[number] = nest.remove(digest);
            Ok(())
        };
        let result: Result<(), Infallible> = if in_cache {
            (0..count).try_for_each(|number| remove(self, number, digest(number)))
        } else {
            self.pipelined(count, digest, &mut remove)
        };
        match result {
            Ok(()) => removed.iter().filter(|&&removed| removed).count(),
        }
    }

    /// Does something that changes the table with every digest, in order, when its buckets have come.
    #[inline]
    pub(super) fn pipelined<E>(
        &mut self,
        count: usize,
        digest: impl Fn(usize) -> Digest,
        mut change: impl FnMut(&mut Self, usize, Digest) -> Result<(), E>,
    ) -> Result<(), E> {
        let nest = core::cell::RefCell::new(self);
        pipeline(
            count,
            Digest::new(0),
            |number| {
                let digest = digest(number);
                nest.borrow().await_digest(digest);
                digest
            },
            |number, digest| change(&mut nest.borrow_mut(), number, digest),
        )
    }
}
