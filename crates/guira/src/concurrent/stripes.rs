//! The locks of the buckets, and how much is stored.

use core::fmt;

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::PoisonError;

use crate::addressing::BucketIndex;
use crate::cast::in_memory;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// So many that writers seldom meet, and few enough to take them all where a table is to stand still.
const MOST_STRIPES: u64 = if cfg!(loom) { 4 } else { 256 };

/// Small tables have fewer, so that these take less memory than the table.
const LEAST_BUCKETS_PER_STRIPE: u64 = if cfg!(loom) { 1 } else { 64 };

/// Every bucket belongs to one of a power of two of stripes: neighbours to different ones.
pub(super) struct Stripes(Box<[Stripe]>);

/// By itself in the two cache lines that processors fetch together, so that writers of others don't slow it down.
#[repr(align(128))]
struct Stripe {
    lock: Mutex<()>,
    /// How many fingerprints were stored under this lock, less those that were removed under it, modulo 2^64: a
    /// fingerprint may be stored under one and removed under another. Written only under the lock.
    stored: AtomicU64,
}

impl Stripes {
    /// Those of a table with so many buckets, in which `stored` fingerprints are stored.
    pub(super) fn new(buckets: u64, stored: usize) -> Self {
        let count = (buckets / LEAST_BUCKETS_PER_STRIPE).clamp(1, MOST_STRIPES).next_power_of_two();
        let stripe = |number| Stripe {
            lock: Mutex::new(()),
            stored: AtomicU64::new(if number == 0 { stored as u64 } else { 0 }),
        };
        Self((0..count).map(stripe).collect())
    }

    fn number_of(&self, bucket: BucketIndex) -> usize {
        in_memory(bucket.get()) & (self.0.len() - 1)
    }

    /// Locks one bucket. Whoever holds it takes no other lock.
    #[inline]
    pub(super) fn lock(&self, bucket: BucketIndex) -> Held<'_> {
        self.0[self.number_of(bucket)].hold()
    }

    /// Locks several buckets, in the order of the stripes, so that no two threads wait for each other.
    pub(super) fn lock_each(&self, buckets: impl Iterator<Item = BucketIndex>) -> HeldTogether<'_> {
        let mut numbers: Vec<usize> = buckets.map(|bucket| self.number_of(bucket)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        HeldTogether(numbers.into_iter().map(|number| self.0[number].hold()).collect())
    }

    /// Locks the whole table, in the same order.
    pub(super) fn lock_all(&self) -> HeldTogether<'_> {
        HeldTogether(self.0.iter().map(Stripe::hold).collect())
    }

    /// How many fingerprints are stored: a number that was right at no one moment, while others write.
    ///
    /// Relaxed: each count is right by itself, and who writes no more has been waited for by other means.
    pub(super) fn stored(&self) -> usize {
        let sum = self.0.iter().fold(0_u64, |sum, stripe| sum.wrapping_add(stripe.stored.load(Ordering::Relaxed)));
        // A removal that was counted before the insertion it undoes.
        in_memory(if sum > u64::MAX / 2 { 0 } else { sum })
    }
}

impl Stripe {
    #[inline]
    fn hold(&self) -> Held<'_> {
        // Nothing panics between the writes of an operation, so who panicked left the table whole.
        Held { stripe: self, _guard: self.lock.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

/// A stripe that is locked.
pub(super) struct Held<'stripes> {
    stripe: &'stripes Stripe,
    _guard: MutexGuard<'stripes, ()>,
}

impl Held<'_> {
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
pub(super) struct HeldTogether<'stripes>(Vec<Held<'stripes>>);

impl<'stripes> HeldTogether<'stripes> {
    /// Any of them, to count with.
    pub(super) fn one(&self) -> &Held<'stripes> {
        &self.0[0]
    }
}

impl fmt::Debug for Stripes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stripes").field("count", &self.0.len()).field("stored", &self.stored()).finish()
    }
}
