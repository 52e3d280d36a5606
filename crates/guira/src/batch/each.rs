use core::convert::Infallible;
use core::ops::Range;

use arrayvec::ArrayVec;

use super::blocks::{change_each, each_block, look_up_each, look_up_in_cache};
use super::tally::Tally;
use crate::cuckoo::{BLOCK, LocatedBlock, NoRoom, Scheme, with_table};
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::TryExtendError;
use crate::filter::{CuckooFilter, CuckooFilterView, many};
use crate::probe::vectorized;
use crate::table::OWN_CACHE;

impl CuckooFilter {
    #[inline]
    pub(crate) fn look_up_many<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        let hasher = *self.hasher();
        let digest = |numbers: Range<usize>, digests: &mut [Digest]| hash_each(&hasher, &keys[numbers], digests);
        match self.splitting() {
            None => self.scheme().contains_many_into(self.bytes(), answers, digest),
            Some((splitting, old, new)) => look_up_each(
                answers,
                digest,
                |digests, located| splitting.locate_block(old, new, digests, located),
                |block, next, answers| splitting.answer(old, new, &block.located, next, answers),
            ),
        }
    }

    /// Stores a copy of each of many keys, in order, up to the first that can't be stored.
    pub(crate) fn insert_in_order<K: Key>(&mut self, keys: &[K]) -> Result<(), TryExtendError> {
        if self.growth().is_none() {
            let hasher = *self.hasher();
            let (inserted, refused) = self.store_run(keys.len(), move |number| hasher.digest(&keys[number]));
            return refused
                .map_or(Ok(()), |reason| Err(TryExtendError { inserted, reason: self.insert_error(reason) }));
        }
        self.insert_in_order_growing(keys)
    }

    #[inline(never)]
    fn insert_in_order_growing<K: Key>(&mut self, keys: &[K]) -> Result<(), TryExtendError> {
        let hasher = *self.hasher();
        let digest = |number: usize| hasher.digest(&keys[number]);
        let mut inserted = 0;
        while inserted < keys.len() {
            // Runs of keys for which the table is large enough are stored together. The key after a run is stored alone,
            // and makes the table grow.
            inserted += self.store_run(keys.len() - inserted, |number| digest(inserted + number)).0;
            if inserted < keys.len() {
                let stored = self.insert_digest(digest(inserted));
                stored.map_err(|reason| TryExtendError { inserted, reason })?;
                inserted += 1;
            }
        }
        Ok(())
    }

    /// Stores a copy of each of many keys, in order, as long as the table takes them as it is; never doubles it.
    pub(crate) fn insert_each_without_growing<K: Key>(&mut self, keys: &[K]) -> Result<(), TryExtendError> {
        let hasher = *self.hasher();
        let digest = |number: usize| hasher.digest(&keys[number]);
        let (inserted, refused) = self.store_run(keys.len(), digest);
        let refused = match refused {
            Some(reason) => Err(self.insert_error(reason)),
            None if inserted < keys.len() => self.insert_digest_without_growing(digest(inserted)),
            None => Ok(()),
        };
        refused.map_err(|reason| TryExtendError { inserted, reason })
    }

    /// Stores each of many keys, in order, that is not found, and says which were stored, up to the first that can't be.
    pub(crate) fn insert_each_if_absent<K: Key>(
        &mut self,
        keys: &[K],
        stored: &mut [bool],
    ) -> Result<(), TryExtendError> {
        assert_eq!(keys.len(), stored.len(), "as many answers as keys");
        let mut done = 0;
        while done < keys.len() {
            done += self.store_run_if_absent(&keys[done..], &mut stored[done..]);
            // The key after a run is stored alone, and makes the table grow.
            if let Some(key) = keys.get(done) {
                let is_stored = self.insert_if_absent(key);
                stored[done] = is_stored.map_err(|reason| TryExtendError { inserted: done, reason })?;
                done += 1;
            }
        }
        Ok(())
    }

    /// Stores keys that are not found, in order, until the table should be doubled or one is refused. Returns the number of that
    /// key.
    fn store_run_if_absent<K: Key>(&mut self, keys: &[K], stored: &mut [bool]) -> usize {
        let count = keys.len().min(self.room());
        if self.is_doubling() || count == 0 {
            return 0;
        }
        let hasher = *self.hasher();
        let digest = |numbers: Range<usize>, digests: &mut [Digest]| hash_each(&hasher, &keys[numbers], digests);
        let (scheme, bytes, len) = self.scheme_bytes_and_len();
        scheme.insert_each_if_absent(bytes, &mut stored[..count], digest, &mut Tally::of(len))
    }

    /// Stores keys in order until the table should be doubled or one is refused. Returns how many were stored, and why
    /// the next was refused.
    #[inline]
    fn store_run(&mut self, count: usize, digest: impl Fn(usize) -> Digest) -> (usize, Option<NoRoom>) {
        let (before, refused) = self.store_run_while_doubling(count, &digest);
        if refused.is_some() {
            return (before, refused);
        }
        let count = (count - before).min(self.room());
        if self.is_doubling() || count == 0 {
            return (before, None);
        }
        let (scheme, bytes, len) = self.scheme_bytes_and_len();
        let (inserted, refused) = scheme.insert_each(bytes, count, |number| digest(before + number), Tally::of(len));
        (before + inserted, refused)
    }

    /// Stores keys one by one until the doubling is over.
    pub(super) fn store_run_while_doubling(
        &mut self,
        count: usize,
        digest: impl Fn(usize) -> Digest,
    ) -> (usize, Option<NoRoom>) {
        let mut inserted = 0;
        while self.is_doubling() && inserted < count {
            match self.insert_while_doubling(digest(inserted)) {
                Ok(()) => inserted += 1,
                Err(NoRoom::Full) => break,
                Err(reason) => return (inserted, Some(reason)),
            }
        }
        (inserted, None)
    }

    #[inline]
    fn remove_in_order<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        let hasher = *self.hasher();
        let digest = move |number: usize| hasher.digest(&keys[number]);
        if self.is_doubling() {
            for (number, removed) in removed.iter_mut().enumerate() {
                *removed = self.remove_digest(digest(number));
            }
            return;
        }
        let (scheme, bytes, len) = self.scheme_bytes_and_len();
        let mut tally = Tally::of(len);
        let prefetch = scheme.prefetch_block(bytes.len());
        let Ok::<(), Infallible>(()) = change_each(bytes, removed.len(), digest, prefetch, |bytes, number, digest| {
            removed[number] = scheme.remove(bytes, digest);
            tally.added -= isize::from(removed[number]);
            Ok(())
        });
    }
}

impl CuckooFilterView<'_> {
    #[inline]
    fn look_up_many<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        let hasher = *self.hasher();
        self.scheme()
            .contains_many_into(self.bytes(), answers, |numbers, digests| hash_each(&hasher, &keys[numbers], digests));
        if let Some(pending) = self.pending() {
            for (key, answer) in keys.iter().zip(answers) {
                let digest = hasher.digest(key);
                if pending.more_copies(self.scheme(), digest) != 0 {
                    *answer = self.count_digest(digest) > 0;
                }
            }
        }
    }
}

impl Scheme {
    /// Looks up many keys in a table.
    #[inline]
    pub(crate) fn contains_many_into(
        &self,
        bytes: &[u8],
        answers: &mut [bool],
        digest: impl Fn(Range<usize>, &mut [Digest]),
    ) {
        if bytes.len() <= OWN_CACHE {
            look_up_in_cache(answers, digest, |digests, answers| self.look_up(bytes, digests, answers));
        } else {
            look_up_each(
                answers,
                digest,
                |digests, located| self.locate_block(bytes, digests, located),
                |block, next, answers| self.answer(bytes, &block.located, next, answers),
            );
        }
    }

    /// Inserts keys that are not found, in order, until one is refused. Returns its number, or that of all keys.
    fn insert_each_if_absent(
        &self,
        bytes: &mut [u8],
        stored: &mut [bool],
        digest: impl Fn(Range<usize>, &mut [Digest]),
        tally: &mut Tally<'_>,
    ) -> usize {
        let stored_all = each_block(
            bytes,
            stored.len(),
            digest,
            |bytes, digests, located| self.locate_block(bytes, digests, located),
            |bytes, block, next, numbers| match numbers {
                Some(numbers) => {
                    let stored = &mut stored[numbers.clone()];
                    let done = self.insert_absent(bytes, &block.digests, [&block.located, next], stored);
                    tally.added += stored[..done].iter().map(|&is_stored| isize::from(is_stored)).sum::<isize>();
                    if done < stored.len() { Err(numbers.start + done) } else { Ok(()) }
                }
                None => {
                    // It looks for nothing, and prefetches the first block.
                    self.answer(bytes, &block.located, next, &mut [false; BLOCK]);
                    Ok(())
                }
            },
        );
        stored_all.err().unwrap_or(stored.len())
    }

    #[inline(never)]
    fn locate_block(&self, bytes: &[u8], digests: &[Digest; BLOCK], located: &mut LocatedBlock) {
        with_table!(self, over(bytes), table => table.locate_block(digests, located));
    }

    /// Inserts keys in order until one is refused. Returns how many were inserted, and why the next was refused.
    #[inline]
    fn insert_each(
        &self,
        bytes: &mut [u8],
        count: usize,
        digest: impl Fn(usize) -> Digest,
        mut tally: Tally<'_>,
    ) -> (usize, Option<NoRoom>) {
        let result = change_each(bytes, count, digest, self.prefetch_block(bytes.len()), |bytes, _, digest| {
            self.insert(bytes, digest)?;
            tally.added += 1;
            Ok(())
        });
        (tally.added.unsigned_abs(), result.err())
    }

    /// Returns a function that prefetches the buckets of keys, unless a table of `size` bytes is in the core's own cache.
    pub(super) fn prefetch_block(&self, size: usize) -> impl Fn(&[u8], &[Digest]) {
        move |bytes, digests| {
            if size > OWN_CACHE {
                self.prefetch_each(bytes, digests);
            }
        }
    }
}

/// Stores the digests that an iterator gives in runs, up to the first that can't be stored.
pub(crate) fn extend_in_runs(
    mut digests: impl Iterator<Item = Digest>,
    mut insert: impl FnMut(&[Digest]) -> Result<(), TryExtendError>,
) -> Result<(), TryExtendError> {
    const RUN: usize = 512;
    let mut run = ArrayVec::<Digest, RUN>::new();
    let mut inserted = 0;
    loop {
        run.clear();
        run.extend(digests.by_ref().take(RUN));
        insert(&run).map_err(|error| TryExtendError { inserted: inserted + error.inserted, reason: error.reason })?;
        inserted += run.len();
        // An iterator that has ended may go on if it is asked again.
        if !run.is_full() {
            return Ok(());
        }
    }
}

/// The digests of keys, computed several at a time where the processor can.
#[inline]
pub(crate) fn hash_each<K: Key>(hasher: &KeyHasher, keys: &[K], digests: &mut [Digest]) {
    vectorized(
        #[inline(always)]
        |_| hasher.digest_each(keys, digests),
    );
}

impl CuckooFilter {
    many! { "let mut filter = guira::CuckooFilter::with_capacity(100, 0.001)?;" r#"filter.insert("ani")?;"#:
        answers(), counts(usize), removes(mut), extends(mut),
    }
}

impl CuckooFilterView<'_> {
    many! {
        "let mut made = guira::CuckooFilter::with_capacity(100, 0.001)?;\nmade.insert(\"ani\")?;\nlet file = made.to_bytes();"
        "let filter = guira::CuckooFilterView::new(&file)?;":
        answers(), counts(usize),
    }
}
