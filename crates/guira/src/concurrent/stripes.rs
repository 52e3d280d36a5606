//! The locks of the buckets, and how much is stored.

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::PoisonError;

use arrayvec::ArrayVec;

use crate::addressing::BucketIndex;
use crate::cast::to_usize;
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

/// So many neighbouring buckets have one lock, and are split under it.
pub(super) const RUN: u64 = if cfg!(loom) {
    1
} else if cfg!(test) {
    4
} else {
    16
};

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
    /// How many fingerprints were ever stored under this lock. Written only under it.
    stored: AtomicU64,
    /// How many were ever removed under this lock, whichever lock they were stored under. Both counts only rise: a sum of their
    /// differences would be wrong while others write, see [`Stripes::stored`].
    removed: AtomicU64,
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
            removed: AtomicU64::new(0),
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
    pub(super) fn lock_each(&self, buckets: impl Iterator<Item = BucketIndex>) -> Result<StripeGuards<'_>, Stale> {
        let mut numbers: ArrayVec<usize, MAX_LOCKED> = buckets.map(|bucket| self.number_of(bucket)).collect();
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

    #[cfg(all(test, not(loom)))]
    pub(super) fn whole_locks(&self) -> usize {
        self.whole_locks.load(Ordering::Relaxed)
    }

    /// Counts what an empty table got at once, which no other thread writes meanwhile.
    pub(super) fn count_all(&self, stored: usize) {
        if let Some(first) = self.of_buckets.first() {
            raise(&first.stored, stored as u64);
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

    /// How many fingerprints are stored. While others write, it is as many as at one moment of this call, or more: at most one for
    /// each operation that ends meanwhile.
    ///
    /// What was removed is added up first: what is stored and removed again in between then counts as stored, however much it is.
    ///
    /// A fingerprint counts only after it was written. If another thread removes it before that, in place of a copy of a key that shares it,
    /// one fewer is counted than there are, until its insertion ends.
    pub(super) fn stored(&self) -> usize {
        self.stored_while(|| ())
    }

    /// See [`stored`](Self::stored); `meanwhile` is called between the two sums.
    fn stored_while(&self, meanwhile: impl FnOnce()) -> usize {
        let removed = self.sum(|stripe| &stripe.removed);
        meanwhile();
        difference(self.sum(|stripe| &stripe.stored), removed)
    }

    /// So many fingerprints are stored, at least at one moment of this call. While others write, it may be fewer than are: by at most
    /// one for each operation that ends meanwhile.
    ///
    /// What was removed is added up last: what is stored and removed again in between then does not count as stored.
    pub(super) fn surely_stored(&self) -> usize {
        self.surely_stored_while(|| ())
    }

    /// See [`surely_stored`](Self::surely_stored); `meanwhile` is called between the two sums.
    fn surely_stored_while(&self, meanwhile: impl FnOnce()) -> usize {
        let stored = self.sum(|stripe| &stripe.stored);
        meanwhile();
        difference(stored, self.sum(|stripe| &stripe.removed))
    }

    /// Acquire: what is read after it is no older, and whoever has seen a count rise sees all that was counted before.
    fn sum(&self, count: impl Fn(&Stripe) -> &AtomicU64) -> u64 {
        self.all().map(|stripe| count(stripe).load(Ordering::Acquire)).sum()
    }
}

/// How many of those that were ever stored are left. None, where more was removed by the time at which that was added up.
fn difference(stored: u64, removed: u64) -> usize {
    to_usize(stored.saturating_sub(removed))
}

/// Adds to a count that nobody else writes meanwhile.
///
/// Release: see [`Stripes::sum`].
#[inline]
fn raise(count: &AtomicU64, by: u64) {
    count.store(count.load(Ordering::Relaxed) + by, Ordering::Release);
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

    /// Counts a fingerprint that was stored.
    #[inline]
    pub(super) fn count_stored(&self) {
        raise(&self.stripe.stored, 1);
    }

    /// Counts a fingerprint that was removed.
    #[inline]
    pub(super) fn count_removed(&self) {
        raise(&self.stripe.removed, 1);
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

    /// Counts all fingerprints as removed.
    pub(super) fn count_none(&self) {
        let sum = |count: fn(&Stripe) -> &AtomicU64| -> u64 {
            // Relaxed: whoever raised a count held its lock before.
            self.0.iter().map(|guard| count(guard.stripe).load(Ordering::Relaxed)).sum()
        };
        raise(&self.one().stripe.removed, sum(|stripe| &stripe.stored) - sum(|stripe| &stripe.removed));
    }

    /// Marks the table as stale and unlocks it, so that waiting writers look for the table that replaced it.
    pub(super) fn retire(self) {
        for mut guard in self.0 {
            *guard.state = State::Stale;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Keys come and go under the locks of threads and of buckets, as those of other threads do while one adds up.
    #[test]
    fn while_keys_come_and_go_one_sum_is_never_too_low_and_the_other_never_too_high() {
        const STORED: usize = 1000;
        let stripes = Stripes::new(1 << 20, STORED).expect("small");
        let (first, last) = (BucketIndex::new(0), BucketIndex::new(RUN * (MAX_STRIPES - 1)));
        let change = |buckets: [(BucketIndex, bool); 2]| {
            for _ in 0..STORED {
                for (bucket, in_one_step) in buckets {
                    stripes.lock_to_fill(bucket, in_one_step).expect("it is current").count_stored();
                    stripes.lock(bucket).expect("it is current").count_removed();
                }
            }
        };
        let (by_thread, by_bucket) = ([(first, true), (last, true)], [(last, false), (first, false)]);
        for buckets in [by_thread, by_bucket] {
            assert_eq!(stripes.stored_while(|| change(buckets)), STORED + 2 * STORED);
            assert_eq!(stripes.surely_stored_while(|| change(buckets)), 0);
            assert_eq!((stripes.stored(), stripes.surely_stored()), (STORED, STORED));
        }
        let Ok(all) = stripes.lock_all() else { panic!("it is current") };
        all.count_none();
        assert_eq!((stripes.stored(), stripes.surely_stored()), (0, 0));
        stripes.count_all(STORED);
        assert_eq!((stripes.stored(), stripes.surely_stored()), (STORED, STORED));
    }
}
