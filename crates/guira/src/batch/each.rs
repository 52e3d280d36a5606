use core::convert::Infallible;
use core::ops::Range;

use super::blocks::{BLOCK, Located, OWN_CACHE, change_each, look_up_each, look_up_in_cache};
use crate::addressing::Addressing;
use crate::cast::{Halves, Whole};
use crate::cuckoo::{CuckooTable, NoRoom, Scheme, with_constants, with_table};
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::InsertEachError;
use crate::filter::{CuckooFilter, CuckooFilterView};
use crate::probe::vectorized;
use crate::table::Layout;

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
        self.scheme()
            .contains_each(self.bytes(), answers, |numbers, digests| hash_each(&hasher, &keys[numbers], digests));
    }

    /// Whether each of many keys, given their digests, is probably in the set. See [`contains_each`](Self::contains_each).
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn contains_each_digest(&self, digests: &[Digest], answers: &mut [bool]) {
        assert_eq!(digests.len(), answers.len(), "as many answers as digests");
        self.scheme().contains_each(self.bytes(), answers, |numbers, block| block.copy_from_slice(&digests[numbers]));
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
        let (scheme, bytes) = self.scheme_and_bytes();
        let (inserted, reason) = scheme.insert_each(bytes, count, digest);
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
        let (scheme, bytes) = self.scheme_and_bytes();
        let mut count = 0;
        let prefetch = scheme.prefetch_block(bytes.len());
        let all: Result<(), Infallible> =
            change_each(bytes, removed.len(), digest, prefetch, |bytes, number, digest| {
                removed[number] = scheme.remove(bytes, digest);
                count += usize::from(removed[number]);
                Ok(())
            });
        match all {
            Ok(()) => self.subtract_from_len(count),
        }
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
        self.scheme()
            .contains_each(self.bytes(), answers, |numbers, digests| hash_each(&hasher, &keys[numbers], digests));
    }

    /// Whether each of many keys, given their digests, is probably in the set.
    ///
    /// # Panics
    ///
    /// If there are not as many answers as digests.
    pub fn contains_each_digest(&self, digests: &[Digest], answers: &mut [bool]) {
        assert_eq!(digests.len(), answers.len(), "as many answers as digests");
        self.scheme().contains_each(self.bytes(), answers, |numbers, block| block.copy_from_slice(&digests[numbers]));
    }
}

impl Scheme {
    /// Looks for many keys in a table.
    #[inline]
    pub(crate) fn contains_each(
        &self,
        bytes: &[u8],
        answers: &mut [bool],
        digest: impl Fn(Range<usize>, &mut [Digest]),
    ) {
        if bytes.len() <= OWN_CACHE {
            look_up_in_cache(answers, digest, |digests, answers| {
                with_constants!(self, (addressing, layout) => look_up(addressing, layout, bytes, digests, answers));
            });
        } else {
            look_up_each(
                answers,
                digest,
                |digests, located| self.locate_block(bytes, digests, located),
                |located, next, answers| {
                    with_constants!(self, (addressing, layout) => {
                        answer(addressing, layout, bytes, located, next, answers);
                    });
                },
            );
        }
    }

    #[inline(never)]
    fn locate_block(&self, bytes: &[u8], digests: &[Digest; BLOCK], located: &mut Located) {
        with_table!(self, over(bytes), table => vectorized(
            #[inline(always)]
            |has_vectors| {
                if has_vectors {
                    table.locate_each::<Halves>(digests, located);
                } else {
                    table.locate_each::<Whole>(digests, located);
                }
            },
        ));
    }

    /// Inserts keys in order: how many were inserted, and why the next one was not.
    #[inline]
    fn insert_each(&self, bytes: &mut [u8], count: usize, digest: impl Fn(usize) -> Digest) -> (usize, Option<NoRoom>) {
        let mut inserted = 0;
        let result = change_each(bytes, count, digest, self.prefetch_block(bytes.len()), |bytes, _, digest| {
            self.insert(bytes, digest)?;
            inserted += 1;
            Ok(())
        });
        (inserted, result.err())
    }

    /// What asks for the buckets of keys, in a table of so many bytes.
    pub(super) fn prefetch_block(&self, size: usize) -> impl Fn(&[u8], &[Digest]) {
        move |bytes, digests| {
            if size > OWN_CACHE {
                with_table!(self, over(bytes), table => table.prefetch_each(digests));
            }
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

/// Looks for keys.
#[inline(never)]
fn look_up<A: Addressing, L: Layout>(
    addressing: &A,
    layout: &L,
    bytes: &[u8],
    digests: &[Digest; BLOCK],
    answers: &mut [bool],
) {
    let table = CuckooTable { addressing: *addressing, slots: layout.over(bytes) };
    vectorized(
        #[inline(always)]
        |has_vectors| {
            if has_vectors {
                let mut located = Located::NOTHING;
                table.locate_each::<Halves>(digests, &mut located);
                for (number, answer) in answers.iter_mut().enumerate().take(BLOCK) {
                    let (fingerprint, first, second) = located.get(number);
                    *answer = table.contains_in(fingerprint, first, second);
                }
            } else {
                for (answer, &digest) in answers.iter_mut().zip(digests) {
                    *answer = table.contains(digest);
                }
            }
        },
    );
}

/// Looks for keys whose buckets have come, and asks for those of the next ones.
#[inline(never)]
fn answer<A: Addressing, L: Layout>(
    addressing: &A,
    layout: &L,
    bytes: &[u8],
    located: &Located,
    next: &Located,
    answers: &mut [bool],
) {
    let table = CuckooTable { addressing: *addressing, slots: layout.over(bytes) };
    table.contains_each(located, next, answers);
}
