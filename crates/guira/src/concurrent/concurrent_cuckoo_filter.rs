use alloc::sync::Arc;
use core::fmt;

use super::growing::Growing;
use super::shared_table::SharedTable;
use super::snapshot::Snapshots;
use super::stripes::{Stale, never_stale};
use super::update::Refusal;
use crate::cuckoo::{NoRoom, Repeated};
use crate::digest::{Digest, Key, KeyHasher};
use crate::error::{BuildError, InsertError, OutOfMemory, ReserveError};
use crate::filter::{Built, Chosen, CuckooFilter, Growth, Kept, methods};
use crate::parameters::{Layout, Parameters};

/// A [`CuckooFilter`] for several threads: every operation takes it by shared reference.
///
/// Lookups take no lock and never wait, and they never miss a key, not even one that is being moved. Most insertions fill an
/// empty slot in one step, for which a thread takes one of 64 locks that it seldom shares. Other insertions, and removals, lock the
/// stripes of their buckets, each 1 in 256 of a large table. So writers seldom meet. Bits, files and errors are those of a
/// [`CuckooFilter`], and the two can be turned into each other; the layout is always [packed](crate::Layout::Packed).
///
/// # What you can rely on
///
/// Everything here holds as soon as one operation happens before another, by any means of synchronisation: joining,
/// channels, locks, atomics that acquire and release.
///
/// - **A key that is in the set is found.** If its insertion happened before the lookup began, and its removal had not
///   begun when the lookup ended, the answer is "probably".
/// - **The operations on each key are linearizable**: [`insert`](Self::insert), [`insert_if_absent`](Self::insert_if_absent),
///   [`contains`](Self::contains) and [`remove`](Self::remove) take effect at one moment between their call and their
///   return. So of several threads that call `insert_if_absent` with the same new key, one is told that it stored it. Absent
///   keys may get the answer "probably" at any moment; a lookup that overlaps with writes may give it to a key for which
///   the table gives it at no single moment, about as rarely as any false positive. `insert_if_absent` leaves no key out for that.
/// - **A failed operation changes nothing.** A "full" of a table that never grows was true at a moment when no other thread
///   was writing. One that has grown as far as it may also refuses a key if its number of keys was at its limit at one moment of the
///   call. Keys whose removal has not ended still count: there may be room once others have finished.
///
/// # What you can't
///
/// - There is no order of all operations on different keys that all threads agree on. Two threads that each insert a key and
///   then look up the other's may both be told that it is absent.
/// - [`count`](Self::count) is never too low, but may count a copy that is being moved twice.
/// - [`len`](Self::len) is exact while nobody writes. Otherwise it is as many as are stored at one moment of the call, or more: at
///   most one for each operation that ends meanwhile. A key may count only when its insertion ends. [`is_empty`](Self::is_empty), [`load_factor`](Self::load_factor) and the
///   expected rate are computed from it.
/// - A batch is not atomic: each of its keys is an operation of its own.
/// - Which slots fingerprints get depends on who comes first; with one thread the bytes are those of a [`CuckooFilter`].
///
/// # How long it takes
///
/// A lookup that finds nothing looks again if a fingerprint of the same class, of which there are 256, was moved or
/// removed meanwhile. After 64 looks that were all disturbed like this it answers "probably", so it always ends. Writers
/// wait for others that hold the same lock. An insertion that finds no slot to free makes all other writers wait until
/// that is certain; readers never wait.
///
/// # Growth
///
/// A filter that was built with a [`max_capacity`](crate::FilterBuilder::max_capacity) enlarges its table when it is
/// full, from 64 KiB on in steps: each insertion and removal moves 32 buckets to a table that is larger by a half or a third, unless
/// another thread is splitting some, and all operations work on both tables meanwhile. An operation waits for a few
/// buckets to be split, and an insertion that finds no room meanwhile for 4096 at a time. The old table is freed as a whole
/// when the doubling is over and the last operation in it has ended; until then both take memory.
///
/// A table is copied into a larger one at once, while writers wait and readers go on in the old one, if it is smaller
/// than 64 KiB, by [`reserve`](Self::reserve), and if copies of other keys are so many that one doubling would not make
/// room for a key.
///
/// A doubling changes no answers except false positives. While several threads insert, the table may exceed the number of
/// keys at which it is doubled, or full, by up to one key per thread. Only some insertions, chosen by their digests, compare with that
/// number: where a program chooses digests itself, they may exceed it further, at worst until no slot can be freed. A lookup takes some
/// nanoseconds more than in a table that never grows, to find the table, and about twice as long while it is being doubled.
///
/// # Examples
///
/// ```
/// use guira::ConcurrentCuckooFilter;
///
/// let seen = ConcurrentCuckooFilter::with_capacity(1000, 0.001)?;
/// std::thread::scope(|threads| {
///     let writer = threads.spawn(|| (0..500u64).try_for_each(|key| seen.insert(&key)));
///     threads.spawn(|| (0..500u64).filter(|key| seen.contains(key)).count());
///     writer.join().expect("it does not panic")
/// })?;
/// assert!((0..500u64).all(|key| seen.contains(&key)));
/// assert_eq!(seen.len(), 500);
///
/// let file = seen.snapshot()?.to_bytes();
/// # let _ = file;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ConcurrentCuckooFilter {
    pub(super) table: Tables,
    hasher: KeyHasher,
    /// What the file of the filter that it was made of says besides.
    kept: Option<Arc<Kept>>,
    snapshots: Snapshots,
}

/// The table of a filter; the current one, if the filter grows.
///
/// Which of them it is, is a byte, which takes an instruction less to ask for than a value that no pointer has.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one in each filter, and behind a pointer lookups would take longer"
)]
#[repr(u8)]
pub(super) enum Tables {
    Fixed(SharedTable),
    /// In a box, so that no pointer into the filter is handed to a function that is not inlined. The compiler then knows
    /// that what a fixed table is made of stays the same, and need not load it again for each lookup in a loop.
    Growing(Growing),
}

/// The layout is packed unless another was given, which is refused with [`BuildError::ConcurrentLayout`].
impl Built for ConcurrentCuckooFilter {
    fn chosen(given: &Chosen) -> Result<Chosen, BuildError> {
        match given.layout.unwrap_or_default() {
            Layout::Packed => Ok(Chosen { layout: Some(Layout::Packed), ..CuckooFilter::chosen(given)? }),
            layout => Err(BuildError::ConcurrentLayout { layout }),
        }
    }

    fn of(filter: CuckooFilter, _: &Chosen) -> Result<Self, BuildError> {
        filter.try_into()
    }
}

impl ConcurrentCuckooFilter {
    methods! { "guira::ConcurrentCuckooFilter" "::with_capacity(1000, 0.001)?": with_capacity, builder }

    /// Stores a copy of a key. Where the filter grows, it enlarges the table first if that is full.
    ///
    /// A key that is inserted again is stored again, up to 2b times (d · b with d candidate buckets), and must be removed as
    /// often.
    ///
    /// # Errors
    ///
    /// Those of [`CuckooFilter::insert`]. In all cases the filter is as it was; but for want of memory, a doubling of its table
    /// may have begun.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| seen.insert("ani"));
    ///     threads.spawn(|| seen.insert("guira"));
    /// });
    /// assert!(seen.contains("ani") && seen.contains("guira"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<(), InsertError> {
        self.store(self.hasher.digest(key), Repeated::Stored).map(|_stored| ())
    }

    /// Stores a key unless [`contains`](Self::contains) returns `true` for it already. Returns `true` if it was stored. Of
    /// several threads that do this with one key at the same time, one stores it.
    ///
    /// Never combine this with removal: see [`CuckooFilter::insert_if_absent`].
    ///
    /// # Errors
    ///
    /// Those of [`CuckooFilter::insert_if_absent`]. In all cases the filter is as it was; but for want of memory, a doubling of its
    /// table may have begun.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// assert!(seen.insert_if_absent("ani")?);
    /// assert!(!seen.insert_if_absent("ani")?);
    /// assert_eq!(seen.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_if_absent<K: Key + ?Sized>(&self, key: &K) -> Result<bool, InsertError> {
        self.store(self.hasher.digest(key), Repeated::LeftOut)
    }

    #[inline]
    pub(super) fn store(&self, digest: Digest, repeated: Repeated) -> Result<bool, InsertError> {
        match &self.table {
            // In fewer instructions than with `Refusal::unless_stale`.
            Tables::Fixed(table) => match table.insert(digest, repeated) {
                Ok(stored) => Ok(stored),
                Err(Refusal::For(reason)) => Err(table.insert_error(reason)),
                Err(Refusal::Stale) => never_stale(Err(Stale)),
            },
            Tables::Growing(growing) => growing.store(digest, repeated),
        }
    }

    /// Makes room for `additional` more distinct keys at once, after finishing any doubling in progress. Writers wait
    /// meanwhile, readers do not.
    ///
    /// # Errors
    ///
    /// [`ReserveError::Full`] if the filter may not grow so far, and [`ReserveError::OutOfMemory`]. In both cases the filter
    /// is as it was; but for want of memory, or where others insert meanwhile, a doubling of its table may have ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::ConcurrentCuckooFilter;
    ///
    /// let builder = ConcurrentCuckooFilter::builder().capacity(100).max_capacity(10_000).false_positive_rate(0.01);
    /// let seen = builder.build()?;
    /// seen.reserve(5000)?;
    /// assert!(seen.capacity() >= 5000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve(&self, additional: usize) -> Result<(), ReserveError> {
        self.make_room(additional).map_err(|error| ReserveError::of(&error, self.len(), additional, self.capacity()))
    }

    fn make_room(&self, additional: usize) -> Result<(), InsertError> {
        match &self.table {
            Tables::Fixed(table) => {
                let needed = table.guards.stripes.surely_stored().saturating_add(additional) as u64;
                let has_room = needed <= table.parameters.capacity();
                if has_room { Ok(()) } else { Err(table.insert_error(NoRoom::Full)) }
            }
            Tables::Growing(growing) => growing.make_room(additional),
        }
    }

    /// Returns `true` if a key is probably present; `false` is certain. It takes no lock and waits for nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert("ani")?;
    /// assert!(seen.contains("ani"));
    /// assert!(!seen.contains("cuckoo"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        match self.hasher.as_xxh3() {
            Some(hasher) => self.contains_digest(hasher.digest(key)),
            None => self.contains_keyed(key),
        }
    }

    /// Not inlined, so that callers hold fewer values in registers.
    #[inline(never)]
    fn contains_keyed<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_digest(self.hasher.digest(key))
    }

    #[inline(always)]
    fn contains_digest(&self, digest: Digest) -> bool {
        match &self.table {
            Tables::Fixed(table) => table.contains(digest),
            Tables::Growing(growing) => growing.contains(digest),
        }
    }

    /// Returns how many copies of a key are stored, including those of keys that share its fingerprint and buckets.
    ///
    /// It is never fewer than were inserted and not removed, and at most 2b (or d · b). A copy that is being moved may
    /// count twice. It takes no lock, unless fingerprints of its class are moved or removed 64 times while it looks.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert("ani")?;
    /// seen.insert("ani")?;
    /// assert_eq!(seen.count("ani"), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        let digest = self.hasher.digest(key);
        match &self.table {
            Tables::Fixed(table) => never_stale(table.count(digest)),
            Tables::Growing(growing) => growing.change(|generation| generation.count(digest)),
        }
    }

    /// Removes one copy of a key. Returns `true` if there was one. The table stays as large as it is; but a doubling that is under
    /// way goes on.
    ///
    /// Only remove what was inserted, and at most as often as it was inserted: see [`CuckooFilter::remove`]. Here that means
    /// that the insertion happened before the removal.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert("ani")?;
    /// assert!(seen.remove("ani"));
    /// assert!(!seen.remove("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn remove<K: Key + ?Sized>(&self, key: &K) -> bool {
        let digest = self.hasher.digest(key);
        match &self.table {
            Tables::Fixed(table) => never_stale(table.remove(digest)),
            Tables::Growing(growing) => growing.remove(digest),
        }
    }

    /// Removes all keys that are stored at one moment. The table stays as large as it is; but a doubling that is under way ends.
    /// Writers wait meanwhile, readers do not: a lookup that overlaps with it finds some keys and not others.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert("ani")?;
    /// seen.clear();
    /// assert!(seen.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clear(&self) {
        match &self.table {
            Tables::Fixed(table) => never_stale(table.clear()),
            Tables::Growing(growing) => growing.clear(),
        }
    }

    /// Copies the filter as it is at one moment, to be saved, merged or looked through, while other threads go on. A copy that is
    /// taken during a doubling goes on with it.
    ///
    /// Readers never wait. A writer waits for a moment at which nobody writes, and then copies what it is about to write, up to 8 KiB
    /// at a time, unless that is copied already: a microsecond or two. A second snapshot of one filter waits for the first.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert("ani")?;
    /// let copy = seen.snapshot()?;
    /// seen.remove("ani");
    /// assert!(copy.contains("ani") && !seen.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Result<CuckooFilter, OutOfMemory> {
        self.snapshot_while(|| ())
    }

    /// A snapshot; `meanwhile` is called between its moment and the copying.
    pub(super) fn snapshot_while(&self, meanwhile: impl Fn()) -> Result<CuckooFilter, OutOfMemory> {
        let _turn = self.snapshots.wait();
        let copy = match &self.table {
            Tables::Fixed(table) => {
                let copy = table.snapshot(meanwhile, || table.guards.stripes.end_copies());
                never_stale(Refusal::unless_stale(copy))
            }
            Tables::Growing(growing) => growing.snapshot(meanwhile),
        };
        let copy = copy.map_err(|_| OutOfMemory::new(self.parameters().table_size()))?;
        Ok(copy.with_kept(self.kept.clone()))
    }

    /// Turns it into a filter for one thread, with the same bits. Tables that are in large pages, which is where a filter of
    /// 2 MiB or more is built, are not copied.
    ///
    /// # Panics
    ///
    /// Where there is no memory for a copy of a smaller one; [`snapshot`](Self::snapshot) returns an error.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert("ani")?;
    /// let mut filter = seen.into_filter();
    /// assert!(filter.remove("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_filter(self) -> CuckooFilter {
        let filter = match self.table {
            Tables::Fixed(table) => table.into_filter(),
            Tables::Growing(Growing { current, growth }) => current.into_current().into_filter(growth),
        };
        filter.with_kept(self.kept)
    }

    const fn growth(&self) -> Option<&Growth> {
        match &self.table {
            Tables::Fixed(_) => None,
            Tables::Growing(growing) => Some(&growing.growth),
        }
    }

    /// Returns how many fingerprints are stored, each copy counted. It takes no lock: while others write, it is as many as are stored
    /// at one moment of the call, or more: at most one for each operation that ends meanwhile. A key may count only when its insertion
    /// ends, though it is found before.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert("ani")?;
    /// seen.insert("ani")?;
    /// assert_eq!(seen.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.table {
            Tables::Fixed(table) => table.len(),
            Tables::Growing(growing) => growing.current.load().len(),
        }
    }

    methods! { "guira::ConcurrentCuckooFilter" "::with_capacity(1000, 0.001)?":
        is_empty, capacity, load_factor, expected_false_positive_rate, hasher(self, &self.hasher), max_capacity, growth_policy,
    }

    /// Returns the size of the table in bytes, padding included, or of both tables during a doubling. Locks and versions
    /// take at most 45 KB more for each.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentCuckooFilter::with_capacity(1_000_000, 0.001)?;
    /// assert!(seen.size_in_bytes() < 1_750_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        match &self.table {
            Tables::Fixed(table) => table.size_in_bytes(),
            Tables::Growing(growing) => growing.current.load().size_in_bytes(),
        }
    }

    /// Returns the parameters of the table as it is now.
    ///
    /// # Examples
    ///
    /// ```
    /// # let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// assert_eq!(seen.parameters().layout(), guira::Layout::Packed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        match &self.table {
            Tables::Fixed(table) => table.parameters,
            Tables::Growing(growing) => growing.current.load().latest().parameters,
        }
    }

    /// Checks what must hold of every filter; meant for tests.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        self.snapshot().map_err(|_| "no memory for a copy")?.check_invariants()
    }
}

/// Shares the bits; a doubling that is under way goes on. Tables that are in large pages, which is where a filter of 2 MiB or
/// more is built, or loaded by `from_bytes`, are not copied; those that a stream or a file was read into are, and both copies
/// take memory meanwhile.
impl TryFrom<CuckooFilter> for ConcurrentCuckooFilter {
    type Error = BuildError;

    /// # Errors
    ///
    /// [`BuildError::ConcurrentLayout`] where the table is not packed; [`BuildError::OutOfMemory`].
    fn try_from(filter: CuckooFilter) -> Result<Self, BuildError> {
        let layout = filter.parameters().layout();
        if layout != Layout::Packed {
            return Err(BuildError::ConcurrentLayout { layout });
        }
        let (growth, hasher, kept) = (filter.growth().copied(), *filter.hasher(), filter.kept().cloned());
        let out_of_memory = OutOfMemory::new(filter.parameters().table_size());
        let snapshots = Snapshots::new().map_err(|_| out_of_memory)?;
        let table = match growth {
            None => Tables::Fixed(SharedTable::new(filter.len(), filter)?),
            Some(growth) => Tables::Growing(Growing::new(filter, growth)?),
        };
        Ok(Self { table, hasher, kept, snapshots })
    }
}

impl From<ConcurrentCuckooFilter> for CuckooFilter {
    fn from(filter: ConcurrentCuckooFilter) -> Self {
        filter.into_filter()
    }
}

/// A copy of one moment, as by [`snapshot`](ConcurrentCuckooFilter::snapshot), which returns an error where there is no
/// memory for it; `clone` panics.
impl Clone for ConcurrentCuckooFilter {
    fn clone(&self) -> Self {
        self.snapshot().ok().and_then(|copy| Self::try_from(copy).ok()).expect("no memory for a copy of the filter")
    }
}

impl fmt::Debug for ConcurrentCuckooFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConcurrentCuckooFilter")
            .field("len", &self.len())
            .field("load_factor", &self.load_factor())
            .field("parameters", &self.parameters())
            .field("hasher", &self.hasher)
            .field("growth", &self.growth())
            .finish_non_exhaustive()
    }
}
