//! The locks of the buckets, and how much is stored.

use core::fmt;

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::PoisonError;

use arrayvec::ArrayVec;

use crate::addressing::BucketIndex;
use crate::cast::to_usize;
use crate::cuckoo::Splitting;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, number_of_this_thread};
use crate::table::{Copies, OutOfMemory, SharedSlots, try_collect};

/// Enough that writers seldom meet, and few enough that one thread can take them all.
const MAX_STRIPES: u64 = if cfg!(loom) { 4 } else { 256 };

/// The most locks of threads. If there are more threads, they share them.
const MAX_THREAD_LOCKS: u64 = if cfg!(loom) { 4 } else { 64 };

/// The most locks of a table, of both kinds. Stacks in models are small.
const MAX_LOCKS: usize = if cfg!(loom) { 4 + 4 } else { 256 + 64 };

/// The most buckets that are locked together: the candidates of a key and the ends of nearly all paths. Whoever needs more
/// locks the whole table.
pub(super) const MAX_LOCKED: usize = 16;

/// So many neighbouring buckets have one lock: as many as are split at a time, so that a single lock is enough for that.
pub(super) const RUN: u64 = Splitting::AT_A_TIME;

/// Small tables have fewer stripes, so that locks take less memory than the table.
const MIN_BUCKETS_PER_STRIPE: u64 = if cfg!(loom) { 1 } else { 64 };

/// The locks of a table.
pub(super) struct Stripes {
    /// A power of two of stripes; each run of buckets belongs to one, and neighbouring runs to different ones. Whoever moves or
    /// removes a fingerprint, or fills a slot that straddles words, holds the stripes of the buckets that are written.
    of_buckets: Box<[Stripe]>,
    /// Filling an empty slot within one word is a single atomic step. It needs a lock only to exclude those who lock the
    /// whole table, and takes the one of its thread: the lock of a bucket would have to come from the cache of the thread
    /// that held it last, which takes longer than all the rest.
    thread_locks: Box<[Stripe]>,
    /// How often the whole table was locked.
    #[cfg(test)]
    whole_locks: core::sync::atomic::AtomicUsize,
}

/// Alone in the two cache lines that processors fetch together, so that writers of other stripes don't slow it down.
#[repr(align(128))]
struct Stripe {
    state: Mutex<State>,
    /// How many fingerprints were stored under this lock, less those that were removed under it, modulo 2^64: a
    /// fingerprint may be stored under one and removed under another. Written only under the lock.
    stored: AtomicU64,
}

/// Whether a table is the current one, which is written.
#[repr(u8)]
enum State {
    Current,
    /// It is, and before a bucket is written, it must be copied.
    Copied(Copies),
    /// A larger one took its place.
    Stale,
}

/// A larger table took the place of the one whose lock was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stale;

/// Returns the result of an operation on a table that is never replaced.
#[inline]
pub(super) fn never_stale<T>(done: Result<T, Stale>) -> T {
    done.unwrap_or_else(|Stale| unreachable!("only the tables of filters that grow are replaced"))
}

impl Stripes {
    /// The locks of a table with so many buckets and `stored` fingerprints.
    pub(super) fn new(buckets: u64, stored: usize) -> Result<Self, OutOfMemory> {
        let stripes = (buckets / MIN_BUCKETS_PER_STRIPE).clamp(1, MAX_STRIPES).next_power_of_two();
        let stripe = |number| Stripe {
            state: Mutex::new(State::Current),
            stored: AtomicU64::new(if number == 0 { stored as u64 } else { 0 }),
        };
        let locks =
            |count, first: usize| try_collect((first..first + to_usize(count)).map(stripe)).map(Vec::into_boxed_slice);
        Ok(Self {
            of_buckets: locks(stripes, 0)?,
            thread_locks: locks(stripes.min(MAX_THREAD_LOCKS), 1)?,
            #[cfg(test)]
            whole_locks: Default::default(),
        })
    }

    fn number_of(&self, bucket: BucketIndex) -> usize {
        to_usize(bucket.get() / RUN) & (self.of_buckets.len() - 1)
    }

    /// Locks one bucket. The holder takes no other lock.
    #[inline]
    pub(super) fn lock(&self, bucket: BucketIndex) -> Result<StripeGuard<'_>, Stale> {
        self.of_buckets[self.number_of(bucket)].lock()
    }

    /// Takes the lock that is needed to fill a slot: of its bucket, or if it is filled in one step, of this thread, so that nobody
    /// locks the whole table. The holder takes no other lock.
    #[inline(always)]
    pub(super) fn lock_to_fill(&self, bucket: BucketIndex, in_one_step: bool) -> Result<StripeGuard<'_>, Stale> {
        let stripe = if in_one_step {
            &self.thread_locks[number_of_this_thread() & (self.thread_locks.len() - 1)]
        } else {
            &self.of_buckets[self.number_of(bucket)]
        };
        stripe.lock()
    }

    /// Locks several buckets, in the order of the stripes, so that no two threads wait for each other: at most
    /// [`MAX_LOCKED`].
    pub(super) fn lock_each(&self, buckets: &[BucketIndex]) -> Result<StripeGuards<'_>, Stale> {
        let mut numbers: ArrayVec<usize, MAX_LOCKED> = buckets.iter().map(|&bucket| self.number_of(bucket)).collect();
        numbers.sort_unstable();
        let mut guards = ArrayVec::new();
        for (index, &number) in numbers.iter().enumerate() {
            if index == 0 || number != numbers[index - 1] {
                guards.push(self.of_buckets[number].lock()?);
            }
        }
        Ok(StripeGuards(guards))
    }

    fn all(&self) -> impl Iterator<Item = &Stripe> {
        self.of_buckets.iter().chain(&self.thread_locks)
    }

    /// Locks the whole table, in the same order.
    pub(super) fn lock_all(&self) -> Result<AllGuards<'_>, Stale> {
        #[cfg(test)]
        self.whole_locks.fetch_add(1, Ordering::Relaxed);
        let mut guards = ArrayVec::new();
        for stripe in self.all() {
            guards.push(stripe.lock()?);
        }
        Ok(StripeGuards(guards))
    }

    #[cfg(test)]
    pub(super) fn whole_locks(&self) -> usize {
        self.whole_locks.load(Ordering::Relaxed)
    }

    /// Sets the count of a table that no other thread has yet.
    pub(super) fn count_all(&self, stored: usize) {
        if let Some(first) = self.of_buckets.first() {
            first.stored.store(stored as u64, Ordering::Relaxed);
        }
    }

    /// From now on, whoever writes to this table, which nobody else has yet, sees to it that these copies are made.
    pub(super) fn begin_copies(&self, copies: &Copies) {
        if let Ok(mut all) = self.lock_all() {
            all.begin_copies(copies);
        }
    }

    /// Lets whoever writes know that copies are made.
    pub(super) fn end_copies(&self) {
        for stripe in self.all() {
            if let Ok(mut guard) = stripe.lock()
                && guard.copies().is_some()
            {
                *guard.state = State::Current;
            }
        }
    }

    /// How many fingerprints are stored. While others write, the number need not have been right at any moment.
    ///
    /// Relaxed: each count is right by itself, and for an exact sum the caller has synchronised with the writers by other
    /// means.
    pub(super) fn stored(&self) -> usize {
        let sum = self.all().fold(0_u64, |sum, stripe| sum.wrapping_add(stripe.stored.load(Ordering::Relaxed)));
        // The sum is negative if a removal was counted before the insertion it undoes.
        to_usize(if sum > u64::MAX / 2 { 0 } else { sum })
    }
}

impl Stripe {
    #[inline(always)]
    fn lock(&self) -> Result<StripeGuard<'_>, Stale> {
        // Nothing panics between the writes of an operation, so a thread that panicked left the table consistent.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Stale) { Err(Stale) } else { Ok(StripeGuard { stripe: self, state }) }
    }
}

/// A stripe that is locked.
pub(super) struct StripeGuard<'stripes> {
    stripe: &'stripes Stripe,
    state: MutexGuard<'stripes, State>,
}

impl StripeGuard<'_> {
    /// What must be copied before it is written.
    #[inline]
    pub(super) fn copies(&self) -> Option<&Copies> {
        if let State::Copied(copies) = &*self.state { Some(copies) } else { None }
    }

    /// Sees to it that a bucket of the table is copied before it is written.
    #[inline]
    pub(super) fn keep(&self, slots: impl SharedSlots, bucket: BucketIndex) {
        if let Some(copies) = self.copies() {
            slots.keep(bucket, copies);
        }
    }

    /// Relaxed: the lock orders the writers of the count, and a sum of several counts is of no one moment anyway.
    #[inline]
    fn add(&self, difference: u64) {
        let stored = &self.stripe.stored;
        stored.store(stored.load(Ordering::Relaxed).wrapping_add(difference), Ordering::Relaxed);
    }

    /// Counts a fingerprint that was stored.
    #[inline]
    pub(super) fn count_stored(&self) {
        self.add(1);
    }

    /// Counts a fingerprint that was removed.
    #[inline]
    pub(super) fn count_removed(&self) {
        self.add(u64::MAX);
    }
}

/// Several stripes that are locked, at least one. They are not in memory that could be missing: removal can't fail.
pub(super) struct StripeGuards<'stripes, const MAX: usize = MAX_LOCKED>(ArrayVec<StripeGuard<'stripes>, MAX>);

/// All stripes of a table, locked.
pub(super) type AllGuards<'stripes> = StripeGuards<'stripes, MAX_LOCKS>;

impl<'stripes, const MAX: usize> StripeGuards<'stripes, MAX> {
    /// Any of them, to count with.
    pub(super) fn one(&self) -> &StripeGuard<'stripes> {
        &self.0[0]
    }
}

impl AllGuards<'_> {
    /// From now on, whoever writes sees to it that this moment is copied.
    pub(super) fn begin_copies(&mut self, copies: &Copies) {
        for guard in &mut self.0 {
            *guard.state = State::Copied(copies.clone());
        }
    }

    /// Sets all counts to 0.
    ///
    /// Relaxed: as for a single count.
    pub(super) fn count_none(&self) {
        for guard in &self.0 {
            guard.stripe.stored.store(0, Ordering::Relaxed);
        }
    }

    /// Marks the table as stale and unlocks it, so that waiting writers look for the table that replaced it.
    pub(super) fn retire(self) {
        for mut guard in self.0 {
            *guard.state = State::Stale;
        }
    }
}

impl fmt::Debug for Stripes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Stripes")
            .field("count", &self.of_buckets.len())
            .field("stored", &self.stored())
            .finish()
    }
}
