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
use super::growing::Growing;
use super::guards::SplittingGuards;
use super::shared_table::SharedTable;
use super::stripes::{AllGuards, RUN, Stale, Stripes};
use super::update::Refusal;
use crate::addressing::{Addressing as _, BucketIndex};
use crate::cast::to_usize;
use crate::cuckoo::{BLOCK, LocatedBlock, NoRoom, Repeated, Splitting, with_splitting};
use crate::digest::Digest;
use crate::error::InsertError;
use crate::filter::{CuckooFilter, Growth};
use crate::sync::{Arc, Count, Mutex, Ordering};
use crate::table::{Copies, Counted, OutOfMemory, Words, ask_for};

/// The doubling of a table, from the moment at which it began.
pub(super) struct Doubling {
    /// How the table is split; of no use for how much of it is.
    pub(super) splitting: Splitting,
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

/// A doubling with what it is the doubling of.
#[derive(Clone, Copy)]
pub(super) struct Underway<'table> {
    pub(super) doubling: &'table Doubling,
    /// The table that is doubled, and how many of its buckets wait.
    pub(super) old: &'table Generation,
    /// The filter, whose table the larger one becomes.
    pub(super) growing: &'table Growing,
}

/// Both tables, as they are when so many buckets wait.
#[derive(Clone, Copy)]
pub(super) struct BothTables<'table> {
    splitting: Splitting,
    old: &'table Words,
    new: &'table Words,
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
        let doubling = Self::new(splitting, Generation::new(next, growth), table.len()).ok()?;
        let all = splitting.waiting();
        let waiting = all.saturating_sub(Splitting::AT_A_TIME);
        splitting.split_buckets(waiting..all, &*table.words, doubling.next.table.words.unseen());
        if let Some(copies) = locked.one().copies() {
            doubling.stripes.begin_copies(copies);
        }
        doubling.tables(table, waiting).has_room(digest).then_some((doubling, waiting))
    }

    /// The doubling of a table, of which buckets may have been split before threads shared it. So much is stored in both tables.
    pub(super) fn new(splitting: Splitting, next: Generation, len: usize) -> Result<Self, OutOfMemory> {
        let stripes = Stripes::new(splitting.bucket_count(), len)?;
        ask_for::<Counted<Generation>>()?;
        Ok(Self { splitting, next: Arc::new(next), stripes, turn: Mutex::new(()), is_taken: Count::new(0) })
    }

    /// Both tables, of which `old` is the one that is doubled, as they are when so many of its buckets wait.
    pub(super) fn tables<'table>(&'table self, old: &'table SharedTable, waiting: u64) -> BothTables<'table> {
        BothTables { splitting: self.splitting.when(waiting), old: &old.words, new: &self.next.table.words }
    }

    /// Both tables as they are now, of which that of `old` is the one that is doubled.
    pub(super) fn tables_of<'table>(&'table self, old: &'table Generation) -> BothTables<'table> {
        self.tables(&old.table, old.waiting())
    }

    /// The filter, given the old table.
    pub(super) fn into_filter(self, old: SharedTable, waiting: u64, growth: Growth) -> CuckooFilter {
        let Self { splitting, next, stripes, .. } = self;
        let next = Arc::try_unwrap(next).ok().expect("nobody else has the filter");
        let mut next = next.table.into_filter();
        next.add_to_len(stripes.stored());
        let next = next.with_growth(Some(growth));
        CuckooFilter::while_doubling(next, splitting.when(waiting), old.words.into_storage(), old.parameters)
            .expect("memory for a few words")
    }
}

impl Underway<'_> {
    /// Both tables as they are now.
    pub(super) fn tables(&self) -> BothTables<'_> {
        self.doubling.tables_of(self.old)
    }

    /// The tables as they are, for a writer, and the locks that are refused where they are not any more.
    fn now(&self) -> (BothTables<'_>, SplittingGuards<'_>) {
        let waiting = self.old.waiting();
        let guards = SplittingGuards {
            stripes: &self.doubling.stripes,
            versions: &self.old.table.guards.versions,
            waiting: &self.old.waiting,
            seen: waiting,
        };
        (self.doubling.tables(&self.old.table, waiting), guards)
    }

    /// Stores a copy of a key, then splits some buckets. It is refused as stale where others split its buckets meanwhile.
    pub(super) fn store(self, digest: Digest, repeated: Repeated) -> Result<bool, Refusal<InsertError>> {
        // Not found at one look, it may be there all the same: what is locked below decides.
        if repeated == Repeated::LeftOut && self.is_stored(digest)? {
            return Ok(false);
        }
        let is_stored = self.store_split(digest, repeated)?;
        if is_stored {
            self.split(Splitting::AT_A_TIME);
        }
        Ok(is_stored)
    }

    /// Stores a copy of a key. Where there is no room, more buckets are split, unless there would be none if all were; when
    /// all are, or others split those of the key meanwhile, it is refused as stale.
    pub(super) fn store_split(self, digest: Digest, repeated: Repeated) -> Result<bool, Refusal<InsertError>> {
        let next = &self.doubling.next;
        if next.is_at_limit(digest, || self.doubling.stripes.stored()) {
            self.finish();
        }
        loop {
            match self.insert(digest, repeated) {
                Ok(stored) => return Ok(stored),
                Err(Refusal::Stale) => return Err(Refusal::Stale),
                Err(Refusal::For(NoRoom::Full)) => {
                    self.refuse_without_hope(digest)?;
                    self.split_for_room()?;
                }
                Err(Refusal::For(reason)) => {
                    let stored = self.doubling.stripes.stored();
                    return Err(reason.as_error(stored, &next.table.parameters).into());
                }
            }
        }
    }

    /// Refuses a key that finds no room and would find none if all buckets were split either, nor in a larger table.
    fn refuse_without_hope(&self, digest: Digest) -> Result<(), Refusal<InsertError>> {
        let Doubling { stripes, next, .. } = self.doubling;
        let _all = stripes.lock_all()?;
        let (tables, next) = (self.tables(), &next.table);
        let BothTables { splitting, old, new } = tables;
        let crowd = splitting.crowd(digest, &next.parameters, next.hasher.seed(), &**old, &**new);
        if crowd.is_some() {
            let copies = to_usize(u64::from(tables.count(digest)));
            self.growing.growth.refuse_without_hope(&next.parameters, stripes.stored(), copies, crowd)?;
        }
        Ok(())
    }

    /// See `CuckooTable::is_stored`.
    fn is_stored(&self, digest: Digest) -> Result<bool, Stale> {
        let (BothTables { splitting, old, new }, guards) = self.now();
        with_splitting!(splitting, (&**old, &**new), table => table.is_stored(digest, &guards))
    }

    /// Algorithm 1.
    fn insert(&self, digest: Digest, repeated: Repeated) -> Result<bool, Refusal> {
        let (BothTables { splitting, old, new }, guards) = self.now();
        with_splitting!(splitting, (&**old, &**new), table => {
            if repeated == Repeated::Stored && table.fill_concurrent(digest, &guards)? {
                return Ok(true);
            }
            table.insert_with_several_locks(digest, repeated, &guards)
        })
    }

    /// Removes a copy of a key; returns `true` if there was one, and splits some buckets then. It is refused as stale where others split
    /// buckets of the key meanwhile.
    pub(super) fn remove(self, digest: Digest) -> Result<bool, Stale> {
        let (BothTables { splitting, old, new }, guards) = self.now();
        let is_removed = with_splitting!(splitting, (&**old, &**new), table => {
            table.remove_concurrent(digest, &guards)? || table.remove_with_several_locks(digest, &guards)?
        });
        if is_removed {
            self.split(Splitting::AT_A_TIME);
        }
        Ok(is_removed)
    }

    /// Splits the next buckets, unless another thread is at it.
    fn split(&self, count: u64) {
        // Relaxed: the lock decides.
        if self.doubling.is_taken.load(Ordering::Relaxed) != 0 {
            return;
        }
        match self.doubling.turn.try_lock() {
            Ok(_turn) => self.split_in_turn(count),
            Err(TryLockError::Poisoned(_turn)) => self.split_in_turn(count),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// Splits many buckets, where there was no room.
    fn split_for_room(&self) -> Result<(), Stale> {
        let _turn = self.doubling.turn.lock();
        self.split_in_turn(Splitting::FOR_ROOM);
        if self.old.waiting() == 0 { Err(Stale) } else { Ok(()) }
    }

    /// Splits all buckets that are left.
    pub(super) fn finish(&self) {
        let _turn = self.doubling.turn.lock();
        self.split_in_turn(u64::MAX);
    }

    /// Splits the next buckets. The last of them ends the doubling.
    fn split_in_turn(&self, count: u64) {
        let Self { doubling, old, .. } = self;
        let mut end = old.waiting();
        if end == 0 {
            return;
        }
        doubling.is_taken.store(1, Ordering::Relaxed);
        let last = end.saturating_sub(count);
        while end > last {
            let first = last.max((end - 1) / RUN * RUN);
            let Ok(_guard) = doubling.stripes.lock(BucketIndex::new(first)) else {
                unreachable!("it is current while a bucket waits")
            };
            doubling.splitting.split_buckets(first..end, &*old.table.words, doubling.next.table.words.unseen());
            old.set_waiting(first);
            end = first;
        }
        if last == 0 {
            self.end(doubling.stripes.lock_all());
        }
        doubling.is_taken.store(0, Ordering::Relaxed);
    }

    /// Lets the doubled table take the place of both.
    fn end(&self, all: Result<AllGuards<'_>, Stale>) {
        let Ok(all) = all else { unreachable!("it is current until it ends") };
        let Doubling { stripes, next, .. } = self.doubling;
        let of_next = &next.table.guards.stripes;
        of_next.count_all(stripes.stored());
        if let Some(next) = all.one().copies().and_then(|copies| copies.next.as_ref()) {
            of_next.begin_copies(&Copies::of_table(next));
        }
        self.growing.current.replace(Arc::clone(next));
        all.retire();
    }

    /// Removes all keys, which ends the doubling.
    pub(super) fn clear(&self) -> Result<(), Stale> {
        let Self { doubling: Doubling { stripes, next, turn, .. }, old, .. } = self;
        let (old_words, next_words) = (&old.table.words, &next.table.words);
        let _turn = turn.lock();
        let all = stripes.lock_all()?;
        if let Some(copies) = all.one().copies() {
            copies.table.finish(old_words);
            copies.next.iter().for_each(|next| next.finish(next_words));
        }
        old_words.clear();
        next_words.clear();
        old.set_waiting(0);
        all.count_none();
        self.end(Ok(all));
        Ok(())
    }
}

impl BothTables<'_> {
    /// Whether a key can be stored, while nobody writes.
    fn has_room(self, digest: Digest) -> bool {
        let Self { splitting, old, new } = self;
        with_splitting!(splitting, (&**old, &**new), table => {
            let located = table.addressing.locate(digest);
            table.vacant_place(located).is_some() || matches!(table.path_to_make_room(located), Ok(Some(_)))
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

    /// Asks for the candidate buckets of keys that are to be stored or removed.
    pub(super) fn prefetch_each(self, digests: &[Digest]) {
        let Self { splitting, old, new } = self;
        with_splitting!(splitting, (&**old, &**new), table => table.prefetch_each(digests));
    }

    /// Finds the candidate buckets of a block of keys, to be asked for. Where they are may be another matter by then.
    pub(super) fn locate_block(self, digests: &[Digest; BLOCK], located: &mut LocatedBlock) {
        let Self { splitting, old, new } = self;
        with_splitting!(splitting, (&**old, &**new), table => table.locate_block(digests, located));
    }

    /// Asks for the candidate buckets of the first keys of a block.
    pub(super) fn prefetch_located(self, located: &LocatedBlock, count: usize) {
        let Self { splitting, old, new } = self;
        with_splitting!(splitting, (&**old, &**new), table => {
            (0..count).for_each(|number| table.prefetch_located(located, number));
        });
    }
}
