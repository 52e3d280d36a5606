use arrayvec::ArrayVec;

use super::stripes::{AllGuards, MAX_LOCKED, Stale, StripeGuard, StripeGuards, Stripes};
use super::versions::Versions;
use crate::addressing::BucketIndex;
use crate::parameters::Parameters;
use crate::sync::{AtomicU64, Ordering};
use crate::table::OutOfMemory;

/// The locks by which writers exclude each other from buckets, and the versions that tell readers what leaves a slot.
///
/// A lock is refused if the table is no longer as the writer saw it.
pub(super) trait Guard {
    fn versions(&self) -> &Versions;

    /// Locks one bucket. The holder takes no other lock.
    fn lock(&self, bucket: BucketIndex) -> Result<StripeGuard<'_>, Stale>;

    /// Takes the lock that is needed to fill a slot of a bucket, which is a single atomic step or not. The holder takes no other lock.
    fn lock_to_fill(&self, bucket: BucketIndex, in_one_step: bool) -> Result<StripeGuard<'_>, Stale>;

    /// Locks several buckets: see [`Stripes::lock_each`].
    fn lock_each(&self, buckets: &[BucketIndex]) -> Result<StripeGuards<'_>, Stale>;

    /// Locks the whole table.
    fn lock_all(&self) -> Result<AllGuards<'_>, Stale>;

    /// Counts a fingerprint that was stored under a lock that is held.
    #[inline]
    fn note_stored(&self, held: &StripeGuard<'_>) {
        held.count_stored();
    }
}

/// The guards of a table that is not being doubled.
pub(super) struct Guards {
    pub(super) stripes: Stripes,
    pub(super) versions: Versions,
}

impl Guards {
    /// The guards of a table that holds `stored` fingerprints.
    pub(super) fn new(parameters: &Parameters, stored: usize, versions: Versions) -> Result<Self, OutOfMemory> {
        Ok(Self { stripes: Stripes::new(parameters.bucket_count(), stored)?, versions })
    }
}

impl Guard for Guards {
    #[inline]
    fn versions(&self) -> &Versions {
        &self.versions
    }

    #[inline]
    fn lock(&self, bucket: BucketIndex) -> Result<StripeGuard<'_>, Stale> {
        self.stripes.lock(bucket)
    }

    /// A single step need only exclude those who lock the whole table.
    #[inline(always)]
    fn lock_to_fill(&self, bucket: BucketIndex, in_one_step: bool) -> Result<StripeGuard<'_>, Stale> {
        self.stripes.lock_to_fill(bucket, in_one_step)
    }

    fn lock_each(&self, buckets: &[BucketIndex]) -> Result<StripeGuards<'_>, Stale> {
        self.stripes.lock_each(buckets)
    }

    fn lock_all(&self) -> Result<AllGuards<'_>, Stale> {
        self.stripes.lock_all()
    }
}

/// The guards of a table that is being doubled, for a writer that saw `seen` of its buckets wait.
///
/// A bucket is split under its lock. So if a writer has locked a bucket and finds it as it was seen, it stays so as long
/// as the lock is held. Both halves of a bucket have the lock of that bucket.
pub(super) struct SplittingGuards<'table> {
    pub(super) stripes: &'table Stripes,
    pub(super) versions: &'table Versions,
    /// How many buckets wait.
    pub(super) waiting: &'table AtomicU64,
    pub(super) seen: u64,
}

impl SplittingGuards<'_> {
    /// The number of a bucket before any became two, given that of its first half.
    fn before_halves(bucket: BucketIndex) -> BucketIndex {
        BucketIndex::new(bucket.get() / 2)
    }

    /// Refuses a locked bucket that was split since the writer saw how many waited.
    ///
    /// Relaxed: whoever split it held the lock before.
    fn check(&self, bucket: BucketIndex) -> Result<(), Stale> {
        let now = self.waiting.load(Ordering::Relaxed);
        if (now..self.seen).contains(&Self::before_halves(bucket).get()) { Err(Stale) } else { Ok(()) }
    }
}

impl Guard for SplittingGuards<'_> {
    fn versions(&self) -> &Versions {
        self.versions
    }

    fn lock(&self, bucket: BucketIndex) -> Result<StripeGuard<'_>, Stale> {
        let guard = self.stripes.lock(Self::before_halves(bucket))?;
        self.check(bucket).map(|()| guard)
    }

    /// A slot that is filled while its bucket is being split would be lost, so this takes the bucket's lock.
    fn lock_to_fill(&self, bucket: BucketIndex, _in_one_step: bool) -> Result<StripeGuard<'_>, Stale> {
        self.lock(bucket)
    }

    fn lock_each(&self, buckets: &[BucketIndex]) -> Result<StripeGuards<'_>, Stale> {
        let old: ArrayVec<BucketIndex, MAX_LOCKED> = buckets.iter().copied().map(Self::before_halves).collect();
        let guards = self.stripes.lock_each(&old)?;
        buckets.iter().try_for_each(|&bucket| self.check(bucket)).map(|()| guards)
    }

    fn lock_all(&self) -> Result<AllGuards<'_>, Stale> {
        let guards = self.stripes.lock_all()?;
        // Relaxed: see `check`.
        if self.waiting.load(Ordering::Relaxed) == self.seen { Ok(guards) } else { Err(Stale) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn whoever_saw_a_bucket_wait_that_was_split_since_gets_no_lock_of_it() {
        let stripes = Stripes::new(1000, 0).expect("small");
        let (versions, waiting) = (Versions::new().expect("small"), AtomicU64::new(600));
        let guards = |seen| SplittingGuards { stripes: &stripes, versions: &versions, waiting: &waiting, seen };
        let bucket = BucketIndex::new;
        // Buckets of the doubled table: those made of 599, of 600, of 699 and of 700.
        for (number, is_refused) in [(1199, false), (1200, true), (1399, true), (1400, false)] {
            let seen_earlier = guards(700);
            assert_eq!(seen_earlier.lock(bucket(number)).is_err(), is_refused, "{number}");
            assert_eq!(seen_earlier.lock_to_fill(bucket(number), true).is_err(), is_refused, "{number}");
            let path = [0, number, 1999].map(bucket);
            assert_eq!(seen_earlier.lock_each(&path).is_err(), is_refused, "{number}");
            let seen_now = guards(600);
            assert!(seen_now.lock(bucket(number)).is_ok() && seen_now.lock_to_fill(bucket(number), true).is_ok());
            assert!(seen_now.lock_each(&path).is_ok());
        }
        assert!(guards(700).lock_all().is_err());
        assert!(guards(600).lock_all().is_ok());
    }
}
