use alloc::sync::Arc;
use core::fmt;

use super::guards::Guard as _;
use super::lookup::{MAX_LOOKS, count_at_rest};
use super::shared_table::SharedTable;
use super::snapshot::Snapshots;
use super::stripes::{Stale, never_stale};
use super::times::{SharedTimes, TimedGuards};
use super::update::Refusal;
use crate::addressing::{Addressing, BucketIndex, Located};
use crate::cuckoo::{BLOCK, CuckooTable, Repeated, with_table};
use crate::digest::{Digest, Key};
use crate::error::{AdvanceError, BuildError, InsertError, OutOfMemory};
use crate::expiring::{Expires, ExpiringCuckooFilter, Generations, SWEPT_BY_ADVANCE, SWEPT_BY_INSERTION};
use crate::filter::{Built, Chosen, CuckooFilter, Growth, Kept, ValuedFilter, many, methods};
use crate::sync::AtomicU64;
use crate::table::{Copies, Copying, LivingTable, Place, SharedLivingTable, TableMut as _, ValuedTable, Widths};

/// An [`ExpiringCuckooFilter`] for several threads: every operation takes it by shared reference.
///
/// Lookups take no lock, wait for nobody, and never miss a living key, not even while it is moved or renewed, time moves on, or
/// the table is swept. Bits, files and errors are those of an [`ExpiringCuckooFilter`], and the two can be turned into each other.
///
/// # What you can rely on
///
/// Everything here holds as soon as one operation happens before another, by any means of synchronisation.
///
/// - **A living key is found.** If it was inserted or renewed before a lookup began, less than a lifetime before the time that was
///   reached when the lookup ended, and not removed by then, the answer is "probably".
/// - **The operations on each key are linearizable.** Of several threads that call [`insert_if_absent`](Self::insert_if_absent)
///   with a key that is not alive, one is told that it stored it.
/// - **Any thread may call [`advance`](Self::advance).** Time never goes back: of two threads that move it on at once, the later
///   time stays. A key that is inserted meanwhile came at the time before or after.
/// - **A failed operation changes nothing.**
///
/// # What you can't
///
/// - [`len`](Self::len) is exact while nobody writes; [`count`](Self::count) is never too low, but may count a copy that is being
///   moved twice.
/// - It doesn't grow while it is shared. One that was made with a [`max_capacity`](crate::FilterBuilder::max_capacity) is full when
///   its table is, and grows again once it is turned [back](Self::into_filter).
///
/// # How long it takes
///
/// Writers wait for others that hold the same lock, and once in a resolution for all others, while a generation begins.
/// `advance` waits for another that is sweeping, 4096 buckets at most. Insertions leave sweeping to whoever is at it.
///
/// # Examples
///
/// ```
/// use guira::ConcurrentExpiringCuckooFilter;
///
/// let seen = ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
/// let new = std::thread::scope(|threads| {
///     let count = || (0..500_u64).filter(|key| seen.insert_if_absent(key) == Ok(true)).count();
///     [threads.spawn(count), threads.spawn(count)].map(|thread| thread.join().expect("it does not panic"))
/// });
/// assert_eq!((new[0] + new[1], seen.len()), (500, 500));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ConcurrentExpiringCuckooFilter {
    table: SharedTable,
    times: SharedTimes,
    growth: Option<Growth>,
    /// What the file of the filter that it was made of says besides.
    kept: Option<Arc<Kept>>,
    snapshots: Snapshots,
}

impl Expires for ConcurrentExpiringCuckooFilter {}

impl Built for ConcurrentExpiringCuckooFilter {
    fn chosen(given: &Chosen) -> Result<Chosen, BuildError> {
        ExpiringCuckooFilter::chosen(given)
    }

    fn of(filter: CuckooFilter, chosen: &Chosen) -> Result<Self, BuildError> {
        ExpiringCuckooFilter::of(filter, chosen)?.try_into()
    }
}

/// What becomes of a key that is alive already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IfAlive {
    Stored,
    LeftOut,
    Renewed,
}

impl<'table, A: Addressing, G: Widths> CuckooTable<A, SharedLivingTable<'table, G>> {
    fn among(table: CuckooTable<A, ValuedTable<G, &'table [AtomicU64]>>, guards: &TimedGuards<'table>) -> Self {
        let living = guards.times.living(guards.seen);
        let slots = LivingTable::new(table.slots, living, guards.times.numbers());
        Self { addressing: table.addressing, slots }
    }

    fn store(&self, digest: Digest, if_alive: IfAlive, guards: &TimedGuards<'_>) -> Result<bool, Refusal> {
        let located = self.addressing.locate(digest);
        if if_alive == IfAlive::Stored && self.fill_concurrent(digest, guards)? {
            return Ok(true);
        }
        self.insert_unless(
            located,
            if if_alive == IfAlive::Stored { Repeated::Stored } else { Repeated::LeftOut },
            |held| {
                let oldest = if if_alive == IfAlive::Stored { None } else { self.oldest(located) };
                let Some((place, number)) = oldest else { return false };
                if if_alive == IfAlive::Renewed && number == guards.times.living(guards.seen).current {
                    guards.times.join(guards.seen);
                } else if if_alive == IfAlive::Renewed {
                    let renew = || self.slots.renew(place, |leaving| guards.versions().bump(leaving));
                    if self.slots.number_straddles(place) {
                        guards.times.replace_in_two_words(renew);
                    } else {
                        renew();
                    }
                    guards.leave(number, held);
                    guards.join(held);
                }
                true
            },
            guards,
        )
    }

    fn oldest(&self, located: Located) -> Option<(Place, u32)> {
        self.slots.oldest(self.addressing.distinct_buckets(located), located.fingerprint)
    }

    fn remove_oldest(&self, digest: Digest, guards: &TimedGuards<'_>) -> Result<bool, Stale> {
        let located = self.addressing.locate(digest);
        // With all candidates locked none of them can move from one to the other.
        let held = self.lock_path(located, &[], guards)?;
        let Some((place, number)) = self.oldest(located) else { return Ok(false) };
        self.writer(guards).slots.erase(place, located.fingerprint);
        guards.leave(number, held.one());
        Ok(true)
    }
}

impl ConcurrentExpiringCuckooFilter {
    methods! { "guira::ConcurrentExpiringCuckooFilter" "::with_capacity(1000, 0.001, 60)?": builder(".lifetime(60)") }

    /// Makes an empty filter for `capacity` keys at a time, which are found for a lifetime after they came, with at most this false
    /// positive rate. Its time is 0. For everything else that can be chosen, see [`builder`](Self::builder).
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is out of range, or that there is no memory.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 3600)?;
    /// assert_eq!((seen.capacity(), seen.resolution()), (1000, 258));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn with_capacity(capacity: usize, false_positive_rate: f64, lifetime: u64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).false_positive_rate(false_positive_rate).lifetime(lifetime).build()
    }

    /// Moves the time on to `now`, so that keys expire, and sweeps up to 4096 buckets of the table; see
    /// [`ExpiringCuckooFilter::advance`]. Any thread may call it, at any time.
    ///
    /// # Errors
    ///
    /// [`AdvanceError`] for a time at which no key would be alive any more, a lifetime or more after the present one. The filter is
    /// as it was; [`jump`](Self::jump) goes there.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// assert!(seen.advance(30)? && seen.contains("ani"));
    /// assert!(seen.advance(65)? && !seen.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn advance(&self, now: u64) -> Result<bool, AdvanceError> {
        let mut generations = self.times.lock();
        let (time, lifetime) = (generations.time(), generations.lifetime());
        let is_far = now.saturating_sub(time) >= lifetime;
        // Whether it is empty is decided while nobody inserts a key, but most filters are not even at first sight.
        if is_far && !self.is_empty() || !self.times.advance(&mut generations, now, &self.table.guards.stripes, is_far)
        {
            return Err(AdvanceError { now, time, lifetime });
        }
        Ok(self.sweep_on(&mut generations))
    }

    /// Moves the time on to `now`, like [`advance`](Self::advance), also where all keys expire by that.
    ///
    /// Where it returns `false`, keys that expire by then may still be found until further calls return `true`.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// assert!(seen.advance(1_000_000).is_err());
    /// while !seen.jump(1_000_000) {}
    /// assert!(seen.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn jump(&self, now: u64) -> bool {
        let mut generations = self.times.lock();
        self.times.advance(&mut generations, now, &self.table.guards.stripes, false);
        self.sweep_on(&mut generations)
    }

    /// Sweeps as many buckets as a call that moves the time on does, which returns this.
    fn sweep_on(&self, generations: &mut Generations) -> bool {
        self.sweep(generations, SWEPT_BY_ADVANCE);
        !generations.is_behind()
    }

    /// Empties the slots of dead generations in the next buckets.
    fn sweep(&self, generations: &mut Generations, count: u64) {
        let bucket_count = self.table.parameters.bucket_count();
        generations.set_dead(self.times.dead());
        let buckets = generations.next_buckets(bucket_count, count);
        if buckets.is_empty() {
            self.times.publish(generations);
            return self.times.catch_up(generations, &self.table.guards.stripes);
        }
        let (end, guards) = (buckets.end, self.guards());
        with_table!(self.table.scheme, valued(&*self.table.words), table => {
            let table = CuckooTable::among(table, &guards);
            for bucket in buckets.map(BucketIndex::new) {
                // Most buckets have no dead fingerprint, and none can come to them.
                if table.slots.may_have_dead(bucket) {
                    let held = never_stale(guards.lock(bucket));
                    held.keep(table.slots, bucket);
                    table.slots.sweep(bucket);
                }
            }
        });
        generations.set_dead(self.times.dead());
        generations.swept(end, bucket_count);
        self.times.publish(generations);
        self.times.catch_up(generations, &self.table.guards.stripes);
    }

    fn guards(&self) -> TimedGuards<'_> {
        TimedGuards { guards: &self.table.guards, times: &self.times, seen: self.times.seen() }
    }

    /// Stores a copy of a key, which is found for a lifetime from now. See [`ExpiringCuckooFilter::insert`].
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`] and [`InsertError::TooManyCopies`]. The filter is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// assert!(seen.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<(), InsertError> {
        self.store(self.hasher().digest(key), IfAlive::Stored).map(|_| ())
    }

    /// Stores a key unless it is found, so that its lifetime counts from when it was first seen. Returns `true` if it was stored.
    /// Of several threads that do this with one key at the same time, one stores it.
    ///
    /// See [`ExpiringCuckooFilter::insert_if_absent`] for what shared fingerprints do.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// assert!(seen.insert_if_absent("ani")?);
    /// assert!(!seen.insert_if_absent("ani")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_if_absent<K: Key + ?Sized>(&self, key: &K) -> Result<bool, InsertError> {
        let digest = self.hasher().digest(key);
        // A key that comes again needs no lock, unless its slot is in two words.
        if self.is_surely_alive(digest) {
            return Ok(false);
        }
        self.store(digest, IfAlive::LeftOut)
    }

    /// Stores a key unless it is found, and otherwise makes it found for a lifetime from now. Returns `true` if it was stored.
    ///
    /// See [`ExpiringCuckooFilter::insert_or_renew`] for what shared fingerprints do.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// assert!(seen.insert_or_renew("ani")?);
    /// seen.advance(50)?;
    /// assert!(!seen.insert_or_renew("ani")?);
    /// seen.advance(65)?;
    /// assert!(seen.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_or_renew<K: Key + ?Sized>(&self, key: &K) -> Result<bool, InsertError> {
        self.store(self.hasher().digest(key), IfAlive::Renewed)
    }

    fn store(&self, digest: Digest, if_alive: IfAlive) -> Result<bool, InsertError> {
        let is_stored = loop {
            let guards = self.guards();
            let stored = with_table!(self.table.scheme, valued(&*self.table.words), table => {
                CuckooTable::among(table, &guards).store(digest, if_alive, &guards)
            });
            // Otherwise generations have changed before the locks were taken.
            if let Ok(stored) = Refusal::unless_stale(stored) {
                break stored;
            }
        };
        let is_stored = is_stored.map_err(|reason| {
            let len = self.len();
            reason.as_error(len, &self.table.parameters).with_numbers(len, self.capacity())
        })?;
        if is_stored
            && self.times.dead() > 0
            && let Some((mut generations, count)) = self.times.lock_to_sweep(SWEPT_BY_INSERTION)
        {
            self.sweep(&mut generations, count);
        }
        Ok(is_stored)
    }

    /// Returns `true` if a key is probably alive; `false` is certain. It takes no lock and waits for nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// assert!(seen.contains("ani") && !seen.contains("koel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_digest(self.hasher().digest(key), None)
    }

    /// Returns `true` if a key is probably alive at a later time, without moving there. It takes no lock.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// assert!(seen.contains_at("ani", 59) && !seen.contains_at("ani", 65));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contains_at<K: Key + ?Sized>(&self, key: &K, now: u64) -> bool {
        self.contains_digest(self.hasher().digest(key), Some(now))
    }

    #[inline]
    fn contains_digest(&self, digest: Digest, now: Option<u64>) -> bool {
        (0..MAX_LOOKS).find_map(|_| self.look(digest, now)).unwrap_or(true)
    }

    /// Algorithm 2 among the living of a time, at one look; `None` if it was disturbed.
    #[inline]
    fn look(&self, digest: Digest, now: Option<u64>) -> Option<bool> {
        with_table!(self.table.scheme, valued(&*self.table.words), table => {
            let located = table.addressing.locate(digest);
            let watch = self.times.watch(&self.table.guards.versions, located.fingerprint);
            let living = match now {
                None => Some(self.times.living(watch.seen)),
                Some(now) => self.times.living_at(now),
            };
            let Some(living) = living else { return Some(false) };
            let found = table.living(living).contains_located(located);
            (found || watch.is_undisturbed()).then_some(found)
        })
    }

    /// Whether a key was alive at one moment of this call; `false` says nothing. "Probably" is not enough where a key is left out for it: a
    /// lookup beside writes may return that though the table never said so.
    fn is_surely_alive(&self, digest: Digest) -> bool {
        let living = self.times.living(self.times.seen());
        with_table!(self.table.scheme, valued(&*self.table.words), table => {
            let (table, located) = (table.living(living), table.addressing.locate(digest));
            table.contains_located(located)
                && { table.addressing.distinct_buckets(located) }
                    .any(|bucket| table.slots.surely_contains(bucket, located.fingerprint))
        })
    }

    fn look_up_many<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        let mut digests = [Digest::new(0); BLOCK];
        for (keys, answers) in keys.chunks(BLOCK).zip(answers.chunks_mut(BLOCK)) {
            let digests = &mut digests[..keys.len()];
            digests.iter_mut().zip(keys).for_each(|(digest, key)| *digest = self.hasher().digest(key));
            with_table!(self.table.scheme, valued(&*self.table.words), table => table.prefetch_each(digests));
            for (digest, answer) in digests.iter().zip(answers) {
                *answer = self.contains_digest(*digest, None);
            }
        }
    }

    /// Returns how many living copies of a key are stored, together with those of keys that share its fingerprint and buckets.
    ///
    /// It is never too low; a copy that is being moved may count twice. It takes no lock, unless fingerprints of its class
    /// are moved, renewed or removed 64 times while it looks.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// seen.insert("ani")?;
    /// assert_eq!((seen.count("ani"), seen.count("koel")), (2, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        let digest = self.hasher().digest(key);
        with_table!(self.table.scheme, valued(&*self.table.words), table => {
            let located = table.addressing.locate(digest);
            let look = || {
                let watch = self.times.watch(&self.table.guards.versions, located.fingerprint);
                let copies = table.living(self.times.living(watch.seen)).copies(located);
                (copies, watch.is_undisturbed())
            };
            never_stale(count_at_rest(look, &self.table.guards.stripes))
        })
    }

    /// Removes a copy of a key, the oldest one. Returns `true` if there was a living one.
    ///
    /// Only remove what [`insert`](Self::insert) stored, at most as often as it was, and before it expires: see
    /// [`ExpiringCuckooFilter::remove`]. Here that means that no other thread moves the time on past the end of the key before this
    /// returns; otherwise a copy of another key may go.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// assert!(seen.remove("ani") && !seen.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove<K: Key + ?Sized>(&self, key: &K) -> bool {
        let digest = self.hasher().digest(key);
        loop {
            let guards = self.guards();
            let removed = with_table!(self.table.scheme, valued(&*self.table.words), table => {
                CuckooTable::among(table, &guards).remove_oldest(digest, &guards)
            });
            // Otherwise generations have changed before the locks were taken.
            if let Ok(is_removed) = removed {
                return is_removed;
            }
        }
    }

    /// Copies the filter as it is at one moment, to be saved, merged or looked through, while other threads go on.
    ///
    /// See [`ConcurrentCuckooFilter::snapshot`](crate::ConcurrentCuckooFilter::snapshot) for how long others wait.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// let file = seen.snapshot()?.to_bytes();
    /// assert!(guira::ExpiringCuckooFilter::from_bytes(&file)?.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Result<ExpiringCuckooFilter, OutOfMemory> {
        let SharedTable { parameters, hasher, words, guards, .. } = &self.table;
        let _turn = self.snapshots.wait();
        let out_of_memory = |_| OutOfMemory::new(parameters.table_size());
        let copying = Copying::of(words).map_err(out_of_memory)?;
        let generations = {
            let present = self.times.lock();
            let mut generations = present.try_clone()?;
            let mut all = never_stale(guards.lock_all());
            all.begin_copies(&Copies::of_table(&copying));
            self.times.count(&mut generations, &guards.stripes);
            generations
        };
        copying.finish(words);
        guards.stripes.end_copies();
        let storage = Copying::into_storage(copying).map_err(out_of_memory)?;
        let filter = CuckooFilter::from_parts(*parameters, *hasher, storage, generations.in_table());
        let filter = filter.with_growth(self.growth).with_kept(self.kept.clone());
        Ok(ExpiringCuckooFilter::from_parts(ValuedFilter::of(filter), generations))
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
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// let mut filter = seen.into_filter();
    /// assert!(filter.remove("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_filter(self) -> ExpiringCuckooFilter {
        let Self { table: SharedTable { parameters, hasher, words, guards, .. }, times, growth, kept, .. } = self;
        let mut generations = times.lock().clone();
        times.count(&mut generations, &guards.stripes);
        let filter = CuckooFilter::from_parts(parameters, hasher, words.into_storage(), generations.in_table());
        let filter = filter.with_growth(growth).with_kept(kept);
        ExpiringCuckooFilter::from_parts(ValuedFilter::of(filter), generations)
    }

    /// Returns how many living fingerprints are stored, each copy counted. It takes no lock: while others write, it may be off by
    /// one for each operation that ends meanwhile. Where a generation begins meanwhile, the keys of the one before may count twice.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.insert("ani")?;
    /// assert_eq!(seen.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len() + self.times.older()
    }

    methods! { "guira::ConcurrentExpiringCuckooFilter" "::with_capacity(1000, 0.001, 60)?":
        is_empty, expected_false_positive_rate, lifetime(times), resolution(times),
        parameters(self, &self.table.parameters), hasher(self, &self.table.hasher),
    }

    /// Returns the time that was reached.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// seen.advance(5)?;
    /// assert_eq!(seen.time(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn time(&self) -> u64 {
        self.times.time()
    }

    /// Returns how many keys at a time, all of them younger than a lifetime, are promised to fit. See
    /// [`ExpiringCuckooFilter::capacity`].
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 140)?;
    /// assert_eq!(seen.capacity(), 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        let resolutions = self.lifetime() / self.resolution();
        ExpiringCuckooFilter::living_of(self.table.parameters.capacity(), resolutions)
    }

    /// Returns the size of the table in bytes, padding included. Locks and versions take at most 50 KB more.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(guira::ConcurrentExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?.size_in_bytes() < 2500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.table.size_in_bytes()
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

/// Shares the bits. Tables that are in large pages, which is where a filter of 2 MiB or more is built, are not copied.
impl TryFrom<ExpiringCuckooFilter> for ConcurrentExpiringCuckooFilter {
    type Error = BuildError;

    /// # Errors
    ///
    /// [`BuildError::OutOfMemory`].
    fn try_from(filter: ExpiringCuckooFilter) -> Result<Self, BuildError> {
        let (filter, generations) = filter.into_parts();
        let (growth, kept) = (filter.growth().copied(), filter.kept().cloned());
        // The stripes count the fingerprints of the current generation.
        let table = SharedTable::new(generations.len_of(generations.current()), filter)?;
        let out_of_memory = |_| OutOfMemory::new(table.parameters.table_size());
        let snapshots = Snapshots::new().map_err(out_of_memory)?;
        let times = SharedTimes::new(generations).map_err(out_of_memory)?;
        Ok(Self { table, times, growth, kept, snapshots })
    }
}

impl From<ConcurrentExpiringCuckooFilter> for ExpiringCuckooFilter {
    fn from(filter: ConcurrentExpiringCuckooFilter) -> Self {
        filter.into_filter()
    }
}

impl fmt::Debug for ConcurrentExpiringCuckooFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConcurrentExpiringCuckooFilter")
            .field("len", &self.len())
            .field("time", &self.time())
            .field("lifetime", &self.lifetime())
            .field("resolution", &self.resolution())
            .field("parameters", self.parameters())
            .field("hasher", self.hasher())
            .finish_non_exhaustive()
    }
}

impl ConcurrentExpiringCuckooFilter {
    many! { "let filter = guira::ConcurrentExpiringCuckooFilter::with_capacity(100, 0.001, 60)?;" r#"filter.insert("ani")?;"#:
        answers(), counts(usize), inserts([] r#""ani", "guira""#, item: K => item),
    }
}
