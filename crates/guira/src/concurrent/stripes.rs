//! The locks of the buckets, and how much is stored.

use core::fmt;

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::PoisonError;

use crate::addressing::BucketIndex;
use crate::cast::in_memory;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, number_of_this_thread};

/// So many that writers seldom meet, and few enough to take them all where a table is to stand still.
const MOST_STRIPES: u64 = if cfg!(loom) { 4 } else { 256 };

/// How many desks there are at the most: threads in excess of that share them.
const MOST_DESKS: u64 = if cfg!(loom) { 4 } else { 64 };

/// Small tables have fewer, so that these take less memory than the table.
const LEAST_BUCKETS_PER_STRIPE: u64 = if cfg!(loom) { 1 } else { 64 };

/// The locks of a table.
pub(super) struct Stripes {
    /// Every bucket belongs to one of a power of two of stripes: neighbours to different ones. Whoever moves or removes a
    /// fingerprint, or fills a slot that straddles words, holds the stripes of the buckets that are written.
    of_buckets: Box<[Stripe]>,
    /// Whoever only fills an empty slot of one word does so in one step, and needs no lock but one by which others make
    /// it wait who need the whole table. That is one of its thread's own: the lock of a bucket would have to come from
    /// the processor of the thread that held it last, which takes longer than all the rest.
    desks: Box<[Stripe]>,
}

/// By itself in the two cache lines that processors fetch together, so that writers of others don't slow it down.
#[repr(align(128))]
struct Stripe {
    lock: Mutex<Standing>,
    /// How many fingerprints were stored under this lock, less those that were removed under it, modulo 2^64: a
    /// fingerprint may be stored under one and removed under another. Written only under the lock.
    stored: AtomicU64,
}

/// Whether a table is the one that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Current,
    /// A larger one took its place.
    Retired,
}

/// A larger table took the place of the one whose lock was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retired;

impl Stripes {
    /// Those of a table with so many buckets, in which `stored` fingerprints are stored.
    pub(super) fn new(buckets: u64, stored: usize) -> Self {
        let count = (buckets / LEAST_BUCKETS_PER_STRIPE).clamp(1, MOST_STRIPES).next_power_of_two();
        let stripe = |number| Stripe {
            lock: Mutex::new(Standing::Current),
            stored: AtomicU64::new(if number == 0 { stored as u64 } else { 0 }),
        };
        let desks = (0..count.min(MOST_DESKS)).map(|_| stripe(1)).collect();
        Self { of_buckets: (0..count).map(stripe).collect(), desks }
    }

    fn number_of(&self, bucket: BucketIndex) -> usize {
        in_memory(bucket.get()) & (self.of_buckets.len() - 1)
    }

    /// Locks one bucket. Whoever holds it takes no other lock.
    #[inline]
    pub(super) fn lock(&self, bucket: BucketIndex) -> Result<Held<'_>, Retired> {
        self.of_buckets[self.number_of(bucket)].hold()
    }

    /// Keeps the whole table from being locked. Whoever holds it takes no other lock.
    #[inline]
    pub(super) fn lock_desk(&self) -> Result<Held<'_>, Retired> {
        self.desks[number_of_this_thread() & (self.desks.len() - 1)].hold()
    }

    /// Locks several buckets, in the order of the stripes, so that no two threads wait for each other.
    pub(super) fn lock_each(&self, buckets: impl Iterator<Item = BucketIndex>) -> Result<HeldTogether<'_>, Retired> {
        let mut numbers: Vec<usize> = buckets.map(|bucket| self.number_of(bucket)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|number| self.of_buckets[number].hold()).collect::<Result<_, _>>().map(HeldTogether)
    }

    fn all(&self) -> impl Iterator<Item = &Stripe> {
        self.of_buckets.iter().chain(&self.desks)
    }

    /// Locks the whole table, in the same order.
    pub(super) fn lock_all(&self) -> Result<HeldTogether<'_>, Retired> {
        self.all().map(Stripe::hold).collect::<Result<_, _>>().map(HeldTogether)
    }

    /// How many fingerprints are stored: a number that was right at no one moment, while others write.
    ///
    /// Relaxed: each count is right by itself, and who writes no more has been waited for by other means.
    pub(super) fn stored(&self) -> usize {
        let sum = self.all().fold(0_u64, |sum, stripe| sum.wrapping_add(stripe.stored.load(Ordering::Relaxed)));
        // A removal that was counted before the insertion it undoes.
        in_memory(if sum > u64::MAX / 2 { 0 } else { sum })
    }
}

impl Stripe {
    #[inline]
    fn hold(&self) -> Result<Held<'_>, Retired> {
        // Nothing panics between the writes of an operation, so who panicked left the table whole.
        let standing = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if *standing == Standing::Retired { Err(Retired) } else { Ok(Held { stripe: self, standing }) }
    }
}

/// A stripe that is locked.
pub(super) struct Held<'stripes> {
    stripe: &'stripes Stripe,
    standing: MutexGuard<'stripes, Standing>,
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

    /// Counts that nothing is stored any more, where these are all there are.
    ///
    /// Relaxed, as where one is counted.
    pub(super) fn count_none(&self) {
        for held in &self.0 {
            held.stripe.stored.store(0, Ordering::Relaxed);
        }
    }

    /// Unlocks them for writers to find that they must look for the table that took the place of this one.
    pub(super) fn retire(self) {
        for mut held in self.0 {
            *held.standing = Standing::Retired;
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
