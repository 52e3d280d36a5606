use super::GrowingCuckooFilter;
use crate::digest::{Digest, Key};
use crate::error::{InsertBulkError, InsertEachError, InsertError};
use crate::filter::CuckooFilter;

impl GrowingCuckooFilter {
    /// Whether each of many keys is probably in the set. See [`CuckooFilter::contains_each`](crate::CuckooFilter::contains_each).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    pub fn contains_each<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        self.as_filter().contains_each(keys, answers);
    }

    /// Whether each of many keys, given their digests, is probably in the set.
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn contains_each_digest(&self, digests: &[Digest], answers: &mut [bool]) {
        self.as_filter().contains_each_digest(digests, answers);
    }

    /// Stores a copy of each of many keys, in order, growing where needed.
    ///
    /// # Errors
    ///
    /// For the first key that can't be stored, why not and how many were stored before it; these are kept.
    pub fn insert_each<K: Key>(&mut self, keys: &[K]) -> Result<(), InsertEachError> {
        let hasher = *self.hasher();
        self.store_each(
            keys,
            |filter, keys| filter.insert_each(keys),
            |filter, key| filter.insert_digest(hasher.digest(key)),
        )
    }

    /// Stores a copy of each of many keys, given their digests. See [`insert_each`](Self::insert_each).
    ///
    /// # Errors
    ///
    /// Those of [`insert_each`](Self::insert_each).
    pub fn insert_each_digest(&mut self, digests: &[Digest]) -> Result<(), InsertEachError> {
        self.store_each(
            digests,
            |filter, digests| filter.insert_each_digest(digests),
            |filter, &digest| filter.insert_digest(digest),
        )
    }

    /// Stores a copy of each of many keys, given their digests, in order, as long as the table takes them as it is.
    ///
    /// # Errors
    ///
    /// For the first key that can't be stored, why not and how many were stored before it; these are kept.
    pub fn insert_each_digest_without_growing(&mut self, digests: &[Digest]) -> Result<(), InsertEachError> {
        let (run, behind) = digests.split_at(self.room().min(digests.len()));
        self.filter_mut().insert_each_digest(run)?;
        match behind {
            [] => Ok(()),
            [next, ..] => self
                .insert_digest_without_growing(*next)
                .map_err(|reason| InsertEachError { inserted: run.len(), reason }),
        }
    }

    /// Runs of keys for which the table is large enough go in together, and the one after such a run by itself, which
    /// makes the table grow.
    fn store_each<K>(
        &mut self,
        keys: &[K],
        insert_run: impl Fn(&mut CuckooFilter, &[K]) -> Result<(), InsertEachError>,
        insert_one: impl Fn(&mut Self, &K) -> Result<(), InsertError>,
    ) -> Result<(), InsertEachError> {
        let mut rest = keys;
        while !rest.is_empty() {
            let (run, behind) = rest.split_at(self.room().min(rest.len()));
            let stored = match insert_run(self.filter_mut(), run) {
                Ok(()) => run.len(),
                Err(error) => error.inserted,
            };
            rest = if stored == run.len() { behind } else { &rest[stored..] };
            if let [next, following @ ..] = rest {
                let inserted = keys.len() - rest.len();
                insert_one(self, next).map_err(|reason| InsertEachError { inserted, reason })?;
                rest = following;
            }
        }
        Ok(())
    }

    /// Stores a copy of each of many keys, region by region where the table has several. See
    /// [`CuckooFilter::insert_bulk`](crate::CuckooFilter::insert_bulk); [`reserve`](Self::reserve) first where the keys are
    /// known to be distinct, so that the table grows only once.
    ///
    /// # Errors
    ///
    /// All keys that fit are stored; the error has the digests of the others.
    pub fn insert_bulk<K: Key + Sync>(&mut self, keys: &[K]) -> Result<(), InsertBulkError> {
        let hasher = *self.hasher();
        self.store_bulk(keys, |filter, keys| filter.insert_bulk(keys), |key| hasher.digest(key))
    }

    /// Stores a copy of each of many keys, given their digests. See [`insert_bulk`](Self::insert_bulk).
    ///
    /// # Errors
    ///
    /// Those of [`insert_bulk`](Self::insert_bulk).
    pub fn insert_bulk_digests(&mut self, digests: &[Digest]) -> Result<(), InsertBulkError> {
        self.store_bulk(digests, |filter, digests| filter.insert_bulk_digests(digests), |&digest| digest)
    }

    /// As [`Self::store_each`]; what finds no room in a run is tried by itself, which may make the table grow.
    fn store_bulk<K>(
        &mut self,
        keys: &[K],
        insert_run: impl Fn(&mut CuckooFilter, &[K]) -> Result<(), InsertBulkError>,
        digest: impl Fn(&K) -> Digest,
    ) -> Result<(), InsertBulkError> {
        let mut outcome = Ok(());
        let mut rest = keys;
        while !rest.is_empty() {
            let (run, behind) = rest.split_at(self.room().min(rest.len()));
            if let Err(error) = insert_run(self.filter_mut(), run) {
                for digest in error.rejected {
                    self.store_or_reject(digest, &mut outcome);
                }
            }
            rest = behind;
            if let [next, following @ ..] = rest {
                self.store_or_reject(digest(next), &mut outcome);
                rest = following;
            }
        }
        outcome
    }

    fn store_or_reject(&mut self, digest: Digest, outcome: &mut Result<(), InsertBulkError>) {
        if let Err(reason) = self.insert_digest(digest) {
            match outcome {
                Ok(()) => *outcome = Err(InsertBulkError { rejected: alloc::vec![digest], reason }),
                Err(error) => error.rejected.push(digest),
            }
        }
    }

    /// Removes one copy of each of many keys, in order; whether there was one, for each.
    ///
    /// # Panics
    ///
    /// If there are not as many answers as keys.
    pub fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        self.filter_mut().remove_each(keys, removed);
    }

    /// Removes one copy of each of many keys, given their digests.
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn remove_each_digest(&mut self, digests: &[Digest], removed: &mut [bool]) {
        self.filter_mut().remove_each_digest(digests, removed);
    }
}
