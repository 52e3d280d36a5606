use core::ops::Range;

use super::ConcurrentCuckooFilter;
use super::concurrent_cuckoo_filter::Tables;
use super::doubling::Underway;
use super::generation::Generation;
use super::growing::Growing;
use super::lookup::look;
use super::shared_table::SharedTable;
use super::stripes::{Stale, never_stale};
use super::update::Refusal;
use super::versions::Versions;
use crate::addressing::Addressing;
use crate::batch::{Block, change_each, extend_in_runs, hash_each, look_up_each, look_up_in_cache};
use crate::cuckoo::{CuckooTable, LocatedBlock, Repeated, with_table};
use crate::digest::{Digest, Key};
use crate::error::{InsertManyError, Rejected, TryExtendError};
use crate::filter::many;
use crate::table::{OWN_CACHE, Table};

impl ConcurrentCuckooFilter {
    fn look_up_many<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        let hasher = *self.hasher();
        let digest = |numbers: Range<usize>, digests: &mut [Digest]| hash_each(&hasher, &keys[numbers], digests);
        match &self.table {
            Tables::Fixed(table) => table.look_up_all(answers, digest),
            Tables::Growing(growing) => growing.current.load().look_up_all(answers, digest),
        }
    }

    /// Stores a copy of each of many keys, and enlarges the table when it is full, if the filter grows. Other threads may see
    /// some of them stored and others not.
    ///
    /// # Errors
    ///
    /// All keys that fit are stored; the error has the digests of the others.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert_many(&["ani", "guira"])?;
    /// assert_eq!(seen.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_many<K: Key>(&self, keys: &[K]) -> Result<(), InsertManyError> {
        let mut rejected = Rejected::default();
        let mut rest = keys;
        while let Err(error) = self.insert_in_order(rest) {
            rejected.note(self.hasher().digest(&rest[error.inserted]), error.reason)?;
            rest = &rest[error.inserted + 1..];
        }
        rejected.into_result()
    }

    /// Stores a copy of each of many keys, in order, up to the first that can't be stored.
    fn insert_in_order<K: Key>(&self, keys: &[K]) -> Result<(), TryExtendError> {
        let hasher = *self.hasher();
        match &self.table {
            Tables::Fixed(table) => {
                let digest = move |number| hasher.digest(&keys[number]);
                let insert = |_, digest| table.insert(digest, Repeated::Stored).map(|_stored| ());
                let (inserted, stored) = table.change_each(keys.len(), digest, insert);
                let stored = never_stale(Refusal::unless_stale(stored));
                stored.map_err(|reason| TryExtendError { inserted, reason: table.insert_error(reason) })
            }
            Tables::Growing(growing) => growing.insert_in_order(keys.len(), |number| hasher.digest(&keys[number])),
        }
    }

    fn remove_in_order<K: Key>(&self, keys: &[K], removed: &mut [bool]) {
        let hasher = *self.hasher();
        match &self.table {
            Tables::Fixed(table) => {
                never_stale(table.remove_run(removed, |number| hasher.digest(&keys[number])).1);
            }
            Tables::Growing(growing) => growing.remove_in_order(removed, |number| hasher.digest(&keys[number])),
        }
    }
}

impl Growing {
    /// Stores runs of keys together, as long as the table is large enough. The key after a run is stored alone, and makes
    /// the table grow.
    #[inline(never)]
    fn insert_in_order(&self, count: usize, digest: impl Fn(usize) -> Digest) -> Result<(), TryExtendError> {
        let mut inserted = 0;
        while inserted < count {
            let (generation, next) = (self.current.load(), |number| digest(inserted + number));
            // Why a run ends is found out with the key after it.
            inserted += match self.underway(&generation) {
                None => {
                    let insert = |_, digest| generation.insert(digest, Repeated::Stored).map(|_stored| ());
                    generation.table.change_each(count - inserted, next, insert).0
                }
                Some(underway) => {
                    let insert = |_, digest| underway.store(digest, Repeated::Stored).map(|_stored| ());
                    underway.change_each(count - inserted, next, insert).0
                }
            };
            if inserted < count {
                let stored = self.store(digest(inserted), Repeated::Stored);
                stored.map_err(|reason| TryExtendError { inserted, reason })?;
                inserted += 1;
            }
        }
        Ok(())
    }

    /// Removes a copy of each of some keys, in order.
    fn remove_in_order(&self, removed: &mut [bool], digest: impl Fn(usize) -> Digest) {
        let mut done = 0;
        while done < removed.len() {
            let (generation, next) = (self.current.load(), |number| digest(done + number));
            let (left, removed) = (removed.len() - done, &mut removed[done..]);
            // Each ends early where the table is replaced meanwhile.
            done += match self.underway(&generation) {
                None => generation.table.remove_run(removed, next).0,
                Some(underway) => {
                    let remove = |number: usize, digest| -> Result<(), Stale> {
                        removed[number] = underway.remove(digest)?;
                        Ok(())
                    };
                    underway.change_each(left, next, remove).0
                }
            };
        }
    }
}

impl Generation {
    /// See [`SharedTable::look_up_all`].
    #[inline]
    fn look_up_all(&self, answers: &mut [bool], digest: impl Fn(Range<usize>, &mut [Digest])) {
        match self.doubling() {
            None => self.table.look_up_all_here(
                answers,
                digest,
                |digest| if self.is_settled() { None } else { Some(self.contains_now(digest)) },
                |digest| self.look_again(digest),
            ),
            Some(doubling) => look_up_each(
                answers,
                digest,
                |digests, located| doubling.tables_of(self).locate_block(digests, located),
                |block, next, answers| {
                    doubling.tables_of(self).prefetch_located(next, answers.len());
                    for (answer, &digest) in answers.iter_mut().zip(&block.digests) {
                        *answer = self.contains(digest);
                    }
                },
            ),
        }
    }
}

impl<A: Addressing, T: Table> CuckooTable<A, T> {
    /// Looks up the located keys of a block, and asks for the buckets of the next one: see [`SharedTable::look_up_all_here`].
    ///
    /// A function of its own for each table: in one for all of them, a loop has registers for what others need.
    #[inline(never)]
    fn look_up_block(
        &self,
        versions: &Versions,
        block: &Block,
        next: &LocatedBlock,
        answers: &mut [bool],
        elsewhere: &impl Fn(Digest) -> Option<bool>,
        look_on: &impl Fn(Digest) -> bool,
    ) {
        for (number, answer) in answers.iter_mut().enumerate() {
            self.prefetch_located(next, number);
            let key = block.located.get(number);
            let found = look(versions, key.fingerprint, || {
                elsewhere(block.digests[number]).unwrap_or_else(|| self.contains_located(key))
            });
            *answer = found.unwrap_or_else(|| look_on(block.digests[number]));
        }
    }
}

/// Calls `change` with the number and the digest of each key, in order, after prefetching its buckets, up to its first error. Returns how
/// many were changed before that.
#[inline]
fn change_until<E>(
    count: usize,
    digest: impl Fn(usize) -> Digest,
    prefetch: impl Fn(&[Digest]),
    mut change: impl FnMut(usize, Digest) -> Result<(), E>,
) -> (usize, Result<(), E>) {
    // With this signature of `change_each`, `insert_many` of a plain filter takes 4 instructions more for each key.
    let changed = change_each(
        &mut (),
        count,
        digest,
        |(), digests| prefetch(digests),
        |(), number, digest| change(number, digest).map_err(|error| (number, error)),
    );
    match changed {
        Ok(()) => (count, Ok(())),
        Err((number, error)) => (number, Err(error)),
    }
}

impl Underway<'_> {
    /// See [`change_until`].
    fn change_each<E>(
        &self,
        count: usize,
        digest: impl Fn(usize) -> Digest,
        change: impl FnMut(usize, Digest) -> Result<(), E>,
    ) -> (usize, Result<(), E>) {
        change_until(count, digest, |digests| self.tables().prefetch_each(digests), change)
    }
}

impl SharedTable {
    /// Removes keys in order until the table is found to be stale. Returns how many were looked for, and whether it was.
    #[inline]
    fn remove_run(&self, removed: &mut [bool], digest: impl Fn(usize) -> Digest) -> (usize, Result<(), Stale>) {
        self.change_each(removed.len(), digest, |number, digest| {
            removed[number] = self.remove(digest)?;
            Ok(())
        })
    }

    /// Looks up many keys; `digest` computes the digests of the keys with these numbers.
    #[inline]
    fn look_up_all(&self, answers: &mut [bool], digest: impl Fn(Range<usize>, &mut [Digest])) {
        let look_on = |digest| self.look_again(digest);
        self.look_up_all_here(answers, digest, |_| None, look_on);
    }

    /// Looks up many keys. What `elsewhere` returns when a look has begun is taken instead, if it returns something; if a look was
    /// disturbed, `look_on` decides.
    #[inline(always)]
    fn look_up_all_here(
        &self,
        answers: &mut [bool],
        digest: impl Fn(Range<usize>, &mut [Digest]),
        elsewhere: impl Fn(Digest) -> Option<bool>,
        look_on: impl Fn(Digest) -> bool,
    ) {
        let versions = &self.guards.versions;
        if self.is_in_own_cache() {
            return look_up_in_cache(answers, digest, |digests, answers| {
                with_table!(self.scheme, packed(&*self.words), table => {
                    for (answer, &digest) in answers.iter_mut().zip(digests) {
                        let located = table.addressing.locate(digest);
                        let found = look(versions, located.fingerprint, || {
                            elsewhere(digest).unwrap_or_else(|| table.contains_located(located))
                        });
                        *answer = found.unwrap_or_else(|| look_on(digest));
                    }
                });
            });
        }
        look_up_each(
            answers,
            digest,
            |digests, located| {
                with_table!(self.scheme, packed(&*self.words), table => table.locate_block(digests, located));
            },
            |block, next, answers| {
                with_table!(self.scheme, packed(&*self.words), table => {
                    table.look_up_block(versions, block, next, answers, &elsewhere, &look_on);
                });
            },
        );
    }

    /// See [`change_until`].
    #[inline]
    fn change_each<E>(
        &self,
        count: usize,
        digest: impl Fn(usize) -> Digest,
        change: impl FnMut(usize, Digest) -> Result<(), E>,
    ) -> (usize, Result<(), E>) {
        let in_own_cache = self.is_in_own_cache();
        let prefetch = |digests: &[Digest]| {
            if !in_own_cache {
                with_table!(self.scheme, packed(&*self.words), table => {
                    let table = CuckooTable { addressing: table.addressing, slots: table.slots.to_write() };
                    table.prefetch_each(digests);
                });
            }
        };
        change_until(count, digest, prefetch, change)
    }

    fn is_in_own_cache(&self) -> bool {
        size_of_val(&*self.words) <= OWN_CACHE
    }
}

impl ConcurrentCuckooFilter {
    many! { "let filter = guira::ConcurrentCuckooFilter::with_capacity(100, 0.001)?;" r#"filter.insert("ani")?;"#:
        answers(), counts(usize), removes(), extends(),
    }
}
