//! Algorithms 1 and 3 under locks.

use arrayvec::ArrayVec;

use super::guards::Guard;
use super::shared_table::SharedTable;
use super::stripes::{AllGuards, MAX_LOCKED, Stale, StripeGuard, StripeGuards};
use crate::addressing::{Addressing, BucketIndex, Located};
use crate::cuckoo::{Change, CuckooTable, Found, NoRoom, Repeated, with_table};
use crate::digest::Digest;
use crate::error::InsertError;
use crate::relocation::{Move, Path, Search};
use crate::table::{OutOfMemory, Place, SharedSlots, Table, TableMut};

/// How often a path is searched for beside other writers, before they are made to wait.
const MAX_SEARCHES: usize = 16;

/// Why nothing was done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal<R = NoRoom> {
    /// For this reason.
    For(R),
    /// The table is no longer the one that was seen.
    Stale,
}

impl<R> Refusal<R> {
    /// Sets a refusal for a reason apart from a stale table, with which the caller has to begin again.
    #[inline]
    pub(super) fn unless_stale<T>(done: Result<T, Self>) -> Result<Result<T, R>, Stale> {
        match done {
            Ok(done) => Ok(Ok(done)),
            Err(Self::For(reason)) => Ok(Err(reason)),
            Err(Self::Stale) => Err(Stale),
        }
    }
}

impl From<NoRoom> for Refusal {
    fn from(reason: NoRoom) -> Self {
        Self::For(reason)
    }
}

impl From<InsertError> for Refusal<InsertError> {
    fn from(reason: InsertError) -> Self {
        Self::For(reason)
    }
}

impl From<OutOfMemory> for Refusal<OutOfMemory> {
    fn from(reason: OutOfMemory) -> Self {
        Self::For(reason)
    }
}

impl<R> From<Stale> for Refusal<R> {
    fn from(Stale: Stale) -> Self {
        Self::Stale
    }
}

impl SharedTable {
    /// Stores a copy of a key's fingerprint. Returns `true` if it was stored.
    #[inline]
    pub(super) fn insert(&self, digest: Digest, repeated: Repeated) -> Result<bool, Refusal> {
        let is_stored = match repeated {
            Repeated::Stored => match self.scheme.planned.find(&*self.words, digest, Change::Fill) {
                Some(found) => self.fill_found(found)?,
                None => self.fill_elsewhere(digest)?,
            },
            Repeated::LeftOut => false,
        };
        if is_stored { Ok(true) } else { self.insert_with_several_locks(digest, repeated) }
    }

    /// Stores a copy if there is an empty slot, in tables that are not planned by default.
    #[inline(never)]
    fn fill_elsewhere(&self, digest: Digest) -> Result<bool, Stale> {
        match self.scheme.planned.find_in_halves(&*self.words, digest, Change::Fill) {
            Some(found) => self.fill_found(found),
            None => {
                with_table!(self.scheme, packed(&*self.words), table => table.fill_concurrent(digest, &self.guards))
            }
        }
    }

    /// See [`fill_locked`].
    #[inline(always)]
    fn fill_found(&self, (fingerprint, slot): Found) -> Result<bool, Stale> {
        let Some((bucket, bits)) = slot else { return Ok(false) };
        fill_locked(&self.guards, bucket, !bits.straddle(), || bits.fill(&self.words, fingerprint.get()))
    }

    /// Stores a copy if a slot has to be freed, or if the key must not be stored twice.
    ///
    /// It is not given the cuckoo table: that would have to be written to memory in every insertion.
    #[cold]
    #[inline(never)]
    pub(super) fn insert_with_several_locks(&self, digest: Digest, repeated: Repeated) -> Result<bool, Refusal> {
        with_table!(self.scheme, packed(&*self.words), table => {
            table.insert_with_several_locks(digest, repeated, &self.guards)
        })
    }

    /// See [`CuckooTable::is_stored`].
    #[cold]
    #[inline(never)]
    pub(super) fn is_stored(&self, digest: Digest) -> Result<bool, Stale> {
        with_table!(self.scheme, packed(&*self.words), table => table.is_stored(digest, &self.guards))
    }

    /// Stores a copy of a key in a table that nobody else writes, unless there is no room. Returns `true` if it was stored.
    pub(super) fn insert_locked(&self, digest: Digest, all: &AllGuards<'_>) -> bool {
        let is_stored = with_table!(self.scheme, packed(&*self.words), table => {
            table.insert_locked(table.addressing.locate(digest), &self.guards, all).is_ok()
        });
        if is_stored {
            all.one().count_stored();
        }
        is_stored
    }

    /// Removes a copy of a key's fingerprint. Returns `true` if there was one.
    #[inline]
    pub(super) fn remove(&self, digest: Digest) -> Result<bool, Stale> {
        let is_removed = match self.scheme.planned.find(&*self.words, digest, Change::Remove) {
            Some(found) => self.empty_found(found)?,
            None => self.remove_elsewhere(digest)?,
        };
        if is_removed { Ok(true) } else { self.remove_with_several_locks(digest) }
    }

    /// Removes a copy if a look finds one, in tables that are not planned by default.
    #[inline(never)]
    fn remove_elsewhere(&self, digest: Digest) -> Result<bool, Stale> {
        match self.scheme.planned.find_in_halves(&*self.words, digest, Change::Remove) {
            Some(found) => self.empty_found(found),
            None => {
                with_table!(self.scheme, packed(&*self.words), table => table.remove_concurrent(digest, &self.guards))
            }
        }
    }

    /// See [`empty_locked`].
    #[inline(always)]
    fn empty_found(&self, (fingerprint, slot): Found) -> Result<bool, Stale> {
        let Some((bucket, bits)) = slot else { return Ok(false) };
        empty_locked(&self.guards, bucket, || {
            bits.empty(&self.words, fingerprint.get(), || self.guards.versions.bump(fingerprint))
        })
    }

    /// Removes a copy after one look found none.
    #[cold]
    #[inline(never)]
    fn remove_with_several_locks(&self, digest: Digest) -> Result<bool, Stale> {
        with_table!(self.scheme, packed(&*self.words), table => table.remove_with_several_locks(digest, &self.guards))
    }
}

/// Fills a slot that a look found empty, unless its bucket may have to be copied first. Returns `true` if it was filled.
#[inline(always)]
fn fill_locked(
    guards: &impl Guard,
    bucket: BucketIndex,
    in_one_step: bool,
    fill: impl FnOnce() -> bool,
) -> Result<bool, Stale> {
    let guard = guards.lock_to_fill(bucket, in_one_step)?;
    if guard.copies().is_some() {
        return Ok(false);
    }
    // It fails if another thread has filled the slot since the look.
    let is_stored = fill();
    if is_stored {
        guards.note_stored(&guard);
    }
    Ok(is_stored)
}

/// Empties a slot in which a look found the fingerprint of a key, unless its bucket may have to be copied first. Returns `true` if it was
/// emptied.
#[inline(always)]
fn empty_locked(guards: &impl Guard, bucket: BucketIndex, empty: impl FnOnce() -> bool) -> Result<bool, Stale> {
    let guard = guards.lock(bucket)?;
    if guard.copies().is_some() {
        return Ok(false);
    }
    // It fails if the fingerprint has moved since the look, or others have removed it.
    let is_removed = empty();
    if is_removed {
        guard.count_removed();
    }
    Ok(is_removed)
}

impl<A: Addressing, S: SharedSlots> CuckooTable<A, S> {
    /// The table, to be written under locks that the caller holds.
    #[inline]
    pub(super) fn writer(&self, guards: &impl Guard) -> CuckooTable<A, impl TableMut> {
        let Self { addressing, slots } = *self;
        CuckooTable { addressing, slots: slots.watched(|leaving| guards.versions().bump(leaving)) }
    }

    /// Stores a copy of a key's fingerprint if a look finds an empty slot that is still empty when it is filled, unless its bucket
    /// may have to be copied first. Returns `true` if it was stored.
    #[inline]
    pub(super) fn fill_concurrent(&self, digest: Digest, guards: &impl Guard) -> Result<bool, Stale> {
        let located = self.addressing.locate(digest);
        // The look fetches the buckets before a lock is held that others may wait for.
        let Some(place) = self.vacant_place(located) else { return Ok(false) };
        let in_one_step = !self.slots.is_filled_locked(place);
        fill_locked(guards, place.bucket, in_one_step, || self.slots.fill(place, located.fingerprint))
    }

    /// Stores a copy if a slot has to be freed, or if the key must not be stored twice.
    pub(super) fn insert_with_several_locks(
        &self,
        digest: Digest,
        repeated: Repeated,
        guards: &impl Guard,
    ) -> Result<bool, Refusal> {
        let located = self.addressing.locate(digest);
        let is_left_out = || repeated == Repeated::LeftOut && self.place_of(located).is_some();
        self.insert_unless(located, repeated, |_held| is_left_out(), guards)
    }

    /// Whether a copy of a key is stored, at a moment at which nobody moves or removes one. Where a look finds none, others may have
    /// moved it meanwhile.
    ///
    /// A look is not enough where a key is left out for it: in a slot in two words, it may find halves of two other fingerprints.
    pub(super) fn is_stored(&self, digest: Digest, guards: &impl Guard) -> Result<bool, Stale> {
        let located = self.addressing.locate(digest);
        if self.place_of(located).is_none() {
            return Ok(false);
        }
        let buckets: ArrayVec<BucketIndex, MAX_LOCKED> = self.addressing.distinct_buckets(located).collect();
        let _held = guards.lock_each(&buckets)?;
        Ok(self.place_of(located).is_some())
    }

    /// Stores a copy unless `is_left_out` returns `true`, which is asked when the candidates are locked, with one of the locks, and returns
    /// `false` if a copy is to be stored whatever there is.
    pub(super) fn insert_unless(
        &self,
        located: Located,
        repeated: Repeated,
        is_left_out: impl Fn(&StripeGuard<'_>) -> bool,
        guards: &impl Guard,
    ) -> Result<bool, Refusal> {
        for _ in 0..MAX_SEARCHES {
            // No room is searched for, and others need not wait, where a key is probably left out.
            let needs_none = || repeated == Repeated::LeftOut && self.place_of(located).is_some();
            let found = if self.vacant_place(located).is_some() || needs_none() {
                None
            } else {
                match self.path_to_make_room(located)? {
                    None => break,
                    found => found,
                }
            };
            let moves = found.map_or_else(ArrayVec::new, |(search, path)| first_moves(&search, &path));
            if A::CANDIDATES + moves.len() > MAX_LOCKED {
                break;
            }
            let guard = self.lock_path(located, &moves, guards)?;
            if is_left_out(guard.one()) {
                return Ok(false);
            }
            if self.fill_by(&moves, located, guards) {
                guards.note_stored(guard.one());
                return Ok(true);
            }
        }
        // No path was found, or only a long one, or none was still there when it was locked. Only while nobody else writes is it certain
        // whether there is one.
        let guard = guards.lock_all()?;
        if guard.one().copies().is_some() {
            self.keep_candidates(located, guard.one());
        }
        if is_left_out(guard.one()) {
            return Ok(false);
        }
        self.insert_locked(located, guards, &guard)?;
        guards.note_stored(guard.one());
        Ok(true)
    }

    /// Stores a copy in a table that the caller has locked.
    fn insert_locked(&self, located: Located, guards: &impl Guard, all: &AllGuards<'_>) -> Result<(), NoRoom> {
        if all.one().copies().is_some() {
            let found = match self.vacant_place(located) {
                Some(_) => None,
                None => self.path_to_make_room(located)?,
            };
            if let Some((search, path)) = found {
                self.keep_each(search.moves(&path).map(|made| made.to().bucket), all.one());
            }
            self.keep_candidates(located, all.one());
        }
        self.writer(guards).insert_located(located).map(|_place| ())
    }

    /// Sees to it that the candidate buckets of a fingerprint are copied before they are written.
    fn keep_candidates(&self, located: Located, held: &StripeGuard<'_>) {
        self.keep_each(self.addressing.distinct_buckets(located), held);
    }

    /// Sees to it that some buckets are copied before they are written.
    #[cold]
    #[inline(never)]
    fn keep_each(&self, buckets: impl Iterator<Item = BucketIndex>, held: &StripeGuard<'_>) {
        { buckets }.for_each(|bucket| held.keep(self.slots, bucket));
    }

    /// Makes the moves of a path and puts a fingerprint into the slot that they free, or without moves into any empty
    /// slot of a candidate. The caller has locked all these buckets. Returns `false`, and changes nothing, if that is no
    /// longer possible.
    fn fill_by(&self, moves: &[Move], located: Located, guards: &impl Guard) -> bool {
        let fingerprint = located.fingerprint;
        let Some((first, others)) = moves.split_first() else {
            return self.vacant_place(located).is_some_and(|place| self.slots.fill(place, fingerprint));
        };
        if !moves.iter().all(|made| made.is_possible(&self.addressing, &self.slots)) {
            return false;
        }
        // The locks protect filled slots, but others may still fill the empty one at the far end.
        let is_filled = self.slots.fill_from(first.from(), first.to());
        if is_filled {
            let mut writer = self.writer(guards);
            let mut freed = first.from();
            for made in others {
                writer.slots.copy(made.from(), made.to());
                freed = made.from();
            }
            let Place { bucket, slot } = freed;
            writer.slots.set(bucket, slot, Some(fingerprint));
        }
        is_filled
    }

    /// Locks the candidate buckets of a fingerprint and all buckets of a path, to write them.
    pub(super) fn lock_path<'guards>(
        &self,
        located: Located,
        moves: &[Move],
        guards: &'guards impl Guard,
    ) -> Result<StripeGuards<'guards>, Stale> {
        let ends = moves.iter().map(|made| made.to().bucket);
        let buckets: ArrayVec<BucketIndex, MAX_LOCKED> =
            self.addressing.distinct_buckets(located).chain(ends).collect();
        let guard = guards.lock_each(&buckets)?;
        if guard.one().copies().is_some() {
            self.keep_each(buckets.into_iter(), guard.one());
        }
        Ok(guard)
    }

    /// Removes a copy of a key's fingerprint if a look finds one that is still in its bucket when that is locked, unless the bucket
    /// may have to be copied first. Returns `true` if it was removed.
    #[inline]
    pub(super) fn remove_concurrent(&self, digest: Digest, guards: &impl Guard) -> Result<bool, Stale> {
        let located = self.addressing.locate(digest);
        let Some(Place { bucket, .. }) = self.place_of(located) else { return Ok(false) };
        empty_locked(guards, bucket, || {
            let slot = self.slots.slot_of(bucket, located.fingerprint);
            if let Some(slot) = slot {
                self.writer(guards).slots.erase(Place { bucket, slot }, located.fingerprint);
            }
            slot.is_some()
        })
    }

    /// Removes a copy after one look found none: with all candidates locked it can't move from one to the other.
    pub(super) fn remove_with_several_locks(&self, digest: Digest, guards: &impl Guard) -> Result<bool, Stale> {
        let located = self.addressing.locate(digest);
        let guard = self.lock_path(located, &[], guards)?;
        let place = self.place_of(located);
        if let Some(place) = place {
            self.writer(guards).slots.erase(place, located.fingerprint);
            guard.one().count_removed();
        }
        Ok(place.is_some())
    }
}

impl<A: Addressing, T: Table> CuckooTable<A, T> {
    /// A path that frees a slot in a candidate bucket, with the search that has its moves. Other writers may make them
    /// impossible.
    pub(super) fn path_to_make_room(&self, located: Located) -> Result<Option<(Search, Path)>, NoRoom> {
        let mut search = Search::default();
        let path = search.find(self, &self.addressing.distinct_candidates(located))?;
        Ok(path.map(|path| (search, path)))
    }
}

// Apart from tables, so that it is compiled once.

/// The moves of a path, as far as they may be made together.
fn first_moves(search: &Search, path: &Path) -> ArrayVec<Move, MAX_LOCKED> {
    search.moves(path).take(MAX_LOCKED).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::filter::CuckooFilter;
    use crate::parameters;

    /// If nobody else writes, one look tells whether there is room, and a path that was found is still there when it is
    /// locked. Locking more would give right answers too, but make other threads wait.
    #[test]
    fn no_more_is_locked_than_must_be_where_nobody_else_writes() {
        use parameters::Addressing::{Doubling, PowerOfTwo, Quaternary, Regional, Ternary};
        for addressing in [Regional, PowerOfTwo, Ternary, Quaternary, Doubling] {
            let builder = CuckooFilter::builder().addressing(addressing).bucket_count(1 << 10).slots_per_bucket(4);
            let filter = builder.fingerprint_bits(16).build().expect("small");
            let hasher = *filter.hasher();
            let shared = SharedTable::new(0, filter).expect("small");
            let SharedTable { scheme, words, guards, parameters, .. } = &shared;
            let digests = (0..parameters.slot_count() * 95 / 100).map(|key: u64| hasher.digest(&key));
            let mut moved = 0;
            for digest in digests.clone() {
                let (has_room, is_stored) = with_table!(scheme, packed(&**words), table => {
                    (table.vacant_place(table.addressing.locate(digest)).is_some(), table.fill_concurrent(digest, guards))
                });
                assert_eq!(is_stored, Ok(has_room), "{addressing:?}");
                if !has_room {
                    moved += 1;
                    let is_stored = shared.insert_with_several_locks(digest, Repeated::Stored);
                    assert_eq!(is_stored, Ok(true), "{addressing:?}");
                }
            }
            assert!(moved > 50, "{addressing:?}: {moved} insertions had to make room");
            for digest in digests {
                let is_removed =
                    with_table!(scheme, packed(&**words), table => table.remove_concurrent(digest, guards));
                assert_eq!(is_removed, Ok(true), "{addressing:?}");
            }
            assert_eq!((guards.stripes.stored(), guards.stripes.whole_locks()), (0, 0), "{addressing:?}");
        }
    }

    #[test]
    fn a_key_that_a_full_table_has_makes_no_writer_wait() {
        let builder = CuckooFilter::builder().bucket_count(1 << 10).slots_per_bucket(4).fingerprint_bits(16);
        let filter = builder.build().expect("small");
        let hasher = *filter.hasher();
        let shared = SharedTable::new(0, filter).expect("small");
        let digests = (0_u64..).map(|key| hasher.digest(&key));
        let stored: Vec<Digest> =
            digests.take_while(|&digest| shared.insert(digest, Repeated::Stored).is_ok()).collect();
        let before = shared.guards.stripes.whole_locks();
        for &digest in &stored {
            assert_eq!(shared.insert(digest, Repeated::LeftOut), Ok(false));
        }
        assert_eq!((stored.len() > 3900, shared.guards.stripes.whole_locks()), (true, before));
    }
}
