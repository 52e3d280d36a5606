//! The locks of the buckets, and how much is stored.

use core::fmt;

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::PoisonError;

use crate::addressing::BucketIndex;
use crate::cast::to_usize;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, number_of_this_thread};

/// So many that writers seldom meet, and few enough to take them all where a table is to stand still.
const MAX_STRIPES: u64 = if cfg!(loom) { 4 } else { 256 };

/// At most so many locks of threads: threads in excess of that share them.
const MAX_THREAD_LOCKS: u64 = if cfg!(loom) { 4 } else { 64 };

/// Small tables have fewer, so that these take less memory than the table.
const MIN_BUCKETS_PER_STRIPE: u64 = if cfg!(loom) { 1 } else { 64 };

/// The locks of a table.
pub(super) struct Stripes {
    /// Every bucket belongs to one of a power of two of stripes: neighbours to different ones. Whoever moves or removes a
    /// fingerprint, or fills a slot that straddles words, holds the stripes of the buckets that are written.
    of_buckets: Box<[Stripe]>,
    /// Whoever only fills an empty slot of one word does so in one step, and needs no lock but one by which others make
    /// it wait who need the whole table. That is one of its thread's own: the lock of a bucket would have to come from
    /// the processor of the thread that held it last, which takes longer than all the rest.
    thread_locks: Box<[Stripe]>,
    /// How often the whole table was locked.
    #[cfg(test)]
    whole_locks: core::sync::atomic::AtomicUsize,
}

/// By itself in the two cache lines that processors fetch together, so that writers of others don't slow it down.
#[repr(align(128))]
struct Stripe {
    state: Mutex<State>,
    /// How many fingerprints were stored under this lock, less those that were removed under it, modulo 2^64: a
    /// fingerprint may be stored under one and removed under another. Written only under the lock.
    stored: AtomicU64,
}

/// Whether a table is the current one, which is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Current,
    /// A larger one took its place.
    Stale,
}

/// A larger table took the place of the one whose lock was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stale;

impl Stripes {
    /// Those of a table with so many buckets, in which `stored` fingerprints are stored.
    pub(super) fn new(buckets: u64, stored: usize) -> Self {
        let count = (buckets / MIN_BUCKETS_PER_STRIPE).clamp(1, MAX_STRIPES).next_power_of_two();
        let stripe = |number| Stripe {
            state: Mutex::new(State::Current),
            stored: AtomicU64::new(if number == 0 { stored as u64 } else { 0 }),
        };
        let thread_locks = (0..count.min(MAX_THREAD_LOCKS)).map(|_| stripe(1)).collect();
        Self {
            of_buckets: (0..count).map(stripe).collect(),
            thread_locks,
            #[cfg(test)]
            whole_locks: Default::default(),
        }
    }

    fn number_of(&self, bucket: BucketIndex) -> usize {
        to_usize(bucket.get()) & (self.of_buckets.len() - 1)
    }

    /// Locks one bucket. Whoever holds it takes no other lock.
    #[inline]
    pub(super) fn lock(&self, bucket: BucketIndex) -> Result<StripeGuard<'_>, Stale> {
        self.of_buckets[self.number_of(bucket)].lock()
    }

    /// Keeps the whole table from being locked. Whoever holds it takes no other lock.
    #[inline]
    pub(super) fn lock_of_this_thread(&self) -> Result<StripeGuard<'_>, Stale> {
        self.thread_locks[number_of_this_thread() & (self.thread_locks.len() - 1)].lock()
    }

    /// Locks several buckets, in the order of the stripes, so that no two threads wait for each other.
    pub(super) fn lock_each(&self, buckets: impl Iterator<Item = BucketIndex>) -> Result<StripeGuards<'_>, Stale> {
        let mut numbers: Vec<usize> = buckets.map(|bucket| self.number_of(bucket)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|number| self.of_buckets[number].lock()).collect::<Result<_, _>>().map(StripeGuards)
    }

    fn all(&self) -> impl Iterator<Item = &Stripe> {
        self.of_buckets.iter().chain(&self.thread_locks)
    }

    /// Locks the whole table, in the same order.
    pub(super) fn lock_all(&self) -> Result<StripeGuards<'_>, Stale> {
        #[cfg(test)]
        self.whole_locks.fetch_add(1, Ordering::Relaxed);
        self.all().map(Stripe::lock).collect::<Result<_, _>>().map(StripeGuards)
    }

    #[cfg(test)]
    pub(super) fn whole_locks(&self) -> usize {
        self.whole_locks.load(Ordering::Relaxed)
    }

    /// Counts what is stored in a table that nobody else has yet.
    pub(super) fn count_all(&self, stored: usize) {
        if let Some(first) = self.of_buckets.first() {
            first.stored.store(stored as u64, Ordering::Relaxed);
        }
    }

    /// How many fingerprints are stored: a number that was right at no one moment, while others write.
    ///
    /// Relaxed: each count is right by itself, and who writes no more has been waited for by other means.
    pub(super) fn stored(&self) -> usize {
        let sum = self.all().fold(0_u64, |sum, stripe| sum.wrapping_add(stripe.stored.load(Ordering::Relaxed)));
        // A removal that was counted before the insertion it undoes.
        to_usize(if sum > u64::MAX / 2 { 0 } else { sum })
    }
}

impl Stripe {
    #[inline]
    fn lock(&self) -> Result<StripeGuard<'_>, Stale> {
        // Nothing panics between the writes of an operation, so who panicked left the table whole.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Stale { Err(Stale) } else { Ok(StripeGuard { stripe: self, state }) }
    }
}

/// A stripe that is locked.
pub(super) struct StripeGuard<'stripes> {
    stripe: &'stripes Stripe,
    state: MutexGuard<'stripes, State>,
}

impl StripeGuard<'_> {
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

/// Several stripes that are locked, at least one.
pub(super) struct StripeGuards<'stripes>(Vec<StripeGuard<'stripes>>);

impl<'stripes> StripeGuards<'stripes> {
    /// Any of them, to count with.
    pub(super) fn one(&self) -> &StripeGuard<'stripes> {
        &self.0[0]
    }

    /// Counts that nothing is stored any more, where these are all there are.
    ///
    /// Relaxed, as where one is counted.
    pub(super) fn count_none(&self) {
        for guard in &self.0 {
            guard.stripe.stored.store(0, Ordering::Relaxed);
        }
    }

    /// Unlocks them for writers to find that they must look for the table that took the place of this one.
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
