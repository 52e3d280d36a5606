//! Half of a doubling, in steps, while threads read and write the table.
//!
//! Writers split a few buckets with each operation. A run of buckets is split under its lock: they stay as they are, and are copied
//! to where nobody has looked yet; then the number of buckets that wait is lowered below them, and from then on nobody
//! writes them any more. So what can mislead others is only that they have seen an older number.
//!
//! A writer reads the number again when it has the locks: see [`SplittingGuards`].
//!
//! A reader finds in a bucket that was split meanwhile what was in it at that moment, which is one of its lookup. Were that
//! all, it could miss a key that has left another bucket since and stands in a half of this one; but then the version of
//! its class is another, unless the reader has seen that the key left before it read the number. As that increment followed
//! the split, it then reads a number at which the bucket is split. So a reader watches the version first, and reads the
//! number then: with these two, what `versions.rs` says of one table is true of both.

use std::sync::TryLockError;

use super::generation::Generation;
use super::guards::SplittingGuards;
use super::shared_table::SharedTable;
use super::stripes::{AllGuards, RUN, Stale, Stripes};
use super::update::{Refusal, Repeated};
use crate::addressing::{Addressing as _, BucketIndex};
use crate::cast::to_usize;
use crate::cuckoo::{BLOCK, Located, NoRoom, Splitting, with_splitting};
use crate::digest::Digest;
use crate::error::InsertError;
use crate::filter::{CuckooFilter, Growth};
use crate::sync::{Arc, Count, Mutex, Ordering, Replaceable, into_inner};
use crate::table::{Copies, Counted, Words, ask_for};

/// The doubling of a table, from the moment at which it began.
pub(super) struct Doubling {
    /// How the table is split; of no use for how much of it is.
    pub(super) splitting: Splitting,
    /// How far the filter grows.
    growth: Growth,
    /// The larger table, with all that is stored when the doubling is over.
    pub(super) next: Arc<Generation>,
    /// The locks of the buckets of the old table and of what they became, and how much is stored in both.
    pub(super) stripes: Stripes,
    /// Whoever splits buckets, which are split in order.
    turn: Mutex<()>,
    /// 1 while somebody does, otherwise 0. Others only read that: asking for the lock would take it out of the cache of the one who
    /// has it.
    is_taken: Count,
}

/// Both tables, as they are when so many buckets wait.
#[derive(Clone, Copy)]
pub(super) struct Tables<'table> {
    pub(super) splitting: Splitting,
    pub(super) old: &'table Words,
    pub(super) new: &'table Words,
}

impl Doubling {
    /// Takes the memory for the next larger table, and splits the first buckets of one that nobody writes; `None` where
    /// there would be no room for this key then, or no larger table at all.
    pub(super) fn begin(
        generation: &Generation,
        growth: &Growth,
        digest: Digest,
        locked: &AllGuards<'_>,
    ) -> Option<(Self, u64)> {
        let table = &generation.table;
        let parameters = growth.after_doubling(&table.parameters)?;
        let versions = table.guards.versions.clone();
        let next = SharedTable::empty(parameters, table.hasher, versions).ok()?;
        let splitting = Splitting::new(&table.parameters, &parameters, table.hasher.seed());
        let stripes = Stripes::new(splitting.bucket_count(), table.len()).ok()?;
        ask_for::<Counted<Generation>>().ok()?;
        let doubling = Self {
            splitting,
            growth: *growth,
            next: Arc::new(Generation::new(next, growth)),
            stripes,
            turn: Mutex::new(()),
            is_taken: Count::new(0),
        };
        let all = splitting.waiting();
        let waiting = all.saturating_sub(Splitting::AT_A_TIME);
        splitting.split_buckets(waiting..all, &*table.words, doubling.next.table.words.unseen());
        if let Some(copies) = locked.one().copies() {
            doubling.stripes.begin_copies(copies);
        }
        doubling.tables(table, waiting).has_room(digest).then_some((doubling, waiting))
    }

    pub(super) fn tables<'table>(&'table self, old: &'table SharedTable, waiting: u64) -> Tables<'table> {
        Tables { splitting: self.splitting.when(waiting), old: &old.words, new: &self.next.table.words }
    }

    /// The tables as they are, for a writer, and the locks that are refused where they are not any more.
    fn now<'table>(&'table self, old: &'table Generation) -> (Tables<'table>, SplittingGuards<'table>) {
        let waiting = old.waiting();
        let guards = SplittingGuards {
            stripes: &self.stripes,
            versions: &old.table.guards.versions,
            waiting: old.count_of_waiting(),
            seen: waiting,
        };
        (self.tables(&old.table, waiting), guards)
    }

    pub(super) fn len(&self) -> usize {
        self.stripes.stored()
    }

    /// Stores a copy of a key after splitting some buckets. It begins again where the doubling is over meanwhile.
    pub(super) fn store(
        &self,
        old: &Generation,
        current: &Replaceable<Generation>,
        digest: Digest,
        repeated: Repeated,
    ) -> Result<Result<bool, InsertError>, Stale> {
        // Not found at one look, it may be there all the same: what is locked below decides.
        if repeated == Repeated::LeftOut && old.contains_now(digest) {
            return Ok(Ok(false));
        }
        self.split(old, current, Splitting::AT_A_TIME);
        self.store_split(old, current, digest, repeated)
    }

    /// Stores a copy of a key. Where there is no room, more buckets are split, unless there would be none if all were; when
    /// all are, it begins again.
    pub(super) fn store_split(
        &self,
        old: &Generation,
        current: &Replaceable<Generation>,
        digest: Digest,
        repeated: Repeated,
    ) -> Result<Result<bool, InsertError>, Stale> {
        if self.next.is_at_limit(digest, || self.len()) {
            self.finish(old, current);
        }
        loop {
            match self.insert(old, digest, repeated) {
                Ok(stored) => return Ok(Ok(stored)),
                Err(Refusal::NoRoom(NoRoom::Full)) => match self.refuse_without_hope(old, digest)? {
                    Ok(()) => self.split_for_room(old, current)?,
                    Err(refused) => return Ok(Err(refused)),
                },
                Err(Refusal::NoRoom(reason)) => {
                    return Ok(Err(reason.as_error(self.len(), &self.next.table.parameters)));
                }
                Err(Refusal::Stale) if self.is_over(old) => return Err(Stale),
                Err(Refusal::Stale) => {}
            }
        }
    }

    /// Refuses a key that finds no room and would find none if all buckets were split either, nor in a larger table.
    fn refuse_without_hope(&self, old: &Generation, digest: Digest) -> Result<Result<(), InsertError>, Stale> {
        let _all = self.stripes.lock_all()?;
        let tables = self.tables(&old.table, old.waiting());
        let next = &self.next.table;
        let Tables { splitting, old, new } = tables;
        match splitting.crowd(digest, &next.parameters, next.hasher.seed(), &**old, &**new) {
            None => Ok(Ok(())),
            crowd => {
                let copies = to_usize(u64::from(tables.count(digest)));
                Ok(self.growth.refuse_without_hope(&next.parameters, self.len(), copies, crowd))
            }
        }
    }

    /// Algorithm 1.
    fn insert(&self, old: &Generation, digest: Digest, repeated: Repeated) -> Result<bool, Refusal> {
        let (Tables { splitting, old, new }, guards) = self.now(old);
        with_splitting!(splitting, (&**old, &**new), table => {
            if repeated == Repeated::Stored && table.fill_concurrent(digest, &guards)? {
                return Ok(true);
            }
            let (fingerprint, primary) = table.addressing.locate(digest);
            table.insert_with_several_locks(fingerprint, primary, repeated, &guards)
        })
    }

    /// Removes a copy of a key, then splits some buckets. Returns `true` if there was one.
    pub(super) fn remove(
        &self,
        old: &Generation,
        current: &Replaceable<Generation>,
        digest: Digest,
    ) -> Result<bool, Stale> {
        let removed = loop {
            match self.remove_once(old, digest) {
                Err(Stale) if self.is_over(old) => return Err(Stale),
                Err(Stale) => {}
                Ok(removed) => break removed,
            }
        };
        self.split(old, current, Splitting::AT_A_TIME);
        Ok(removed)
    }

    /// Algorithm 3.
    fn remove_once(&self, old: &Generation, digest: Digest) -> Result<bool, Stale> {
        let (Tables { splitting, old, new }, guards) = self.now(old);
        with_splitting!(splitting, (&**old, &**new), table => {
            if table.remove_concurrent(digest, &guards)? {
                return Ok(true);
            }
            let (fingerprint, primary) = table.addressing.locate(digest);
            table.remove_with_several_locks(fingerprint, primary, &guards)
        })
    }

    /// Returns how many copies of a key there are while nobody writes.
    pub(super) fn count_locked(&self, old: &Generation, digest: Digest) -> Result<usize, Stale> {
        let _all = self.stripes.lock_all()?;
        Ok(old.count_now(digest))
    }

    fn is_over(&self, old: &Generation) -> bool {
        old.waiting() == 0
    }

    /// Asks for the candidate buckets of keys that are to be stored or removed.
    pub(super) fn prefetch_each(&self, old: &Generation, digests: &[Digest]) {
        let (Tables { splitting, old, new }, _) = self.now(old);
        with_splitting!(splitting, (&**old, &**new), table => table.prefetch_each(digests));
    }

    /// Finds the candidate buckets of a block of keys, to be asked for. Where they are may be another matter by then.
    pub(super) fn locate_block(&self, old: &Generation, digests: &[Digest; BLOCK], located: &mut Located) {
        let (Tables { splitting, old, new }, _) = self.now(old);
        with_splitting!(splitting, (&**old, &**new), table => table.locate_block(digests, located));
    }

    /// Asks for the candidate buckets of the first keys of a block.
    pub(super) fn prefetch_located(&self, old: &Generation, located: &Located, count: usize) {
        let (Tables { splitting, old, new }, _) = self.now(old);
        with_splitting!(splitting, (&**old, &**new), table => {
            (0..count).for_each(|number| table.prefetch_located(located, number));
        });
    }

    /// Splits the next buckets, unless another thread is at it.
    fn split(&self, old: &Generation, current: &Replaceable<Generation>, count: u64) {
        // Relaxed: the lock decides.
        if self.is_taken.load(Ordering::Relaxed) != 0 {
            return;
        }
        match self.turn.try_lock() {
            Ok(_turn) => self.split_in_turn(old, current, count),
            Err(TryLockError::Poisoned(_turn)) => self.split_in_turn(old, current, count),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// Splits many buckets, where there was no room.
    fn split_for_room(&self, old: &Generation, current: &Replaceable<Generation>) -> Result<(), Stale> {
        let _turn = self.turn.lock();
        self.split_in_turn(old, current, Splitting::FOR_ROOM);
        if self.is_over(old) { Err(Stale) } else { Ok(()) }
    }

    /// Splits all buckets that are left.
    pub(super) fn finish(&self, old: &Generation, current: &Replaceable<Generation>) {
        let _turn = self.turn.lock();
        self.split_in_turn(old, current, u64::MAX);
    }

    /// Splits the next buckets. The last of them ends the doubling.
    fn split_in_turn(&self, old: &Generation, current: &Replaceable<Generation>, count: u64) {
        let mut end = old.waiting();
        if end == 0 {
            return;
        }
        self.is_taken.store(1, Ordering::Relaxed);
        let last = end.saturating_sub(count);
        while end > last {
            let first = last.max((end - 1) / RUN * RUN);
            let Ok(_guard) = self.stripes.lock(BucketIndex::new(first)) else {
                unreachable!("it is current while a bucket waits")
            };
            self.splitting.split_buckets(first..end, &*old.table.words, self.next.table.words.unseen());
            old.set_waiting(first);
            end = first;
        }
        if last == 0 {
            self.end(current, self.stripes.lock_all());
        }
        self.is_taken.store(0, Ordering::Relaxed);
    }

    /// Lets the doubled table take the place of both.
    fn end(&self, current: &Replaceable<Generation>, all: Result<AllGuards<'_>, Stale>) {
        let Ok(all) = all else { unreachable!("it is current until it ends") };
        let stripes = &self.next.table.guards.stripes;
        stripes.count_all(self.len());
        if let Some(next) = all.one().copies().and_then(|copies| copies.next.as_ref()) {
            stripes.begin_copies(&Copies::of_table(next));
        }
        current.replace(Arc::clone(&self.next));
        all.retire();
    }

    /// Removes all keys, which ends the doubling.
    pub(super) fn clear(&self, old: &Generation, current: &Replaceable<Generation>) -> Result<(), Stale> {
        let _turn = self.turn.lock();
        let all = self.stripes.lock_all()?;
        if let Some(copies) = all.one().copies() {
            copies.table.finish(&old.table.words);
            copies.next.iter().for_each(|next| next.finish(&self.next.table.words));
        }
        old.table.words.clear();
        self.next.table.words.clear();
        old.set_waiting(0);
        all.count_none();
        self.end(current, Ok(all));
        Ok(())
    }

    /// The filter, given the old table.
    pub(super) fn into_filter(self, old: SharedTable, waiting: u64, growth: Growth) -> CuckooFilter {
        let Self { splitting, next, stripes, .. } = self;
        let mut next = into_inner(next).expect("nobody else has the filter").table.into_filter();
        next.add_to_len(stripes.stored());
        let next = next.with_growth(Some(growth));
        CuckooFilter::while_doubling(next, splitting.when(waiting), old.words.into_storage(), old.parameters)
            .expect("memory for a few words")
    }
}

impl Tables<'_> {
    /// Whether a key can be stored, while nobody writes.
    fn has_room(self, digest: Digest) -> bool {
        let Self { splitting, old, new } = self;
        with_splitting!(splitting, (&**old, &**new), table => {
            let (fingerprint, primary) = table.addressing.locate(digest);
            table.vacant_place(fingerprint, primary).is_some()
                || matches!(
                    table.path_to_make_room(&table.addressing.distinct_candidates(primary, fingerprint)),
                    Ok(Some(_))
                )
        })
    }

    /// Algorithm 2, at one look.
    pub(super) fn contains(self, digest: Digest) -> bool {
        let Self { splitting, old, new } = self;
        with_splitting!(splitting, (&**old, &**new), table => table.contains(digest))
    }

    /// How many copies of a key are stored, at one look.
    pub(super) fn count(self, digest: Digest) -> u32 {
        let Self { splitting, old, new } = self;
        with_splitting!(splitting, (&**old, &**new), table => table.count(digest))
    }
}
