use super::stripes::{AllGuards, Stale, StripeGuard, StripeGuards, Stripes};
use super::versions::Versions;
use crate::addressing::BucketIndex;
use crate::parameters::Parameters;
use crate::sync::{AtomicU64, Ordering};
use crate::table::OutOfMemory;

/// The locks by which writers exclude each other from buckets, and the versions that tell readers what leaves a slot.
///
/// A lock is refused if the table is no longer as the writer saw it.
pub(super) trait Guard {
    fn stripes(&self) -> &Stripes;

    fn versions(&self) -> &Versions;

    /// The bucket by whose number the stripe of a bucket is found.
    #[inline(always)]
    fn lock_of(bucket: BucketIndex) -> BucketIndex {
        bucket
    }

    /// Refuses locks that are held, of these buckets or of the whole table, if what they protect has changed since the writer saw it.
    #[inline(always)]
    fn check(&self, _locked: Option<&[BucketIndex]>) -> Result<(), Stale> {
        Ok(())
    }

    /// Locks one bucket. The holder takes no other lock.
    #[inline]
    fn lock(&self, bucket: BucketIndex) -> Result<StripeGuard<'_>, Stale> {
        let held = self.stripes().lock(Self::lock_of(bucket))?;
        self.check(Some(&[bucket])).map(|()| held)
    }

    /// Takes the lock that is needed to fill a slot of a bucket: see [`Stripes::lock_to_fill`]. The holder takes no other lock.
    #[inline(always)]
    fn lock_to_fill(&self, bucket: BucketIndex, in_one_step: bool) -> Result<StripeGuard<'_>, Stale> {
        let held = self.stripes().lock_to_fill(bucket, in_one_step)?;
        self.check(Some(&[bucket])).map(|()| held)
    }

    /// Locks several buckets: see [`Stripes::lock_each`].
    fn lock_each(&self, buckets: &[BucketIndex]) -> Result<StripeGuards<'_>, Stale> {
        let held = self.stripes().lock_each(buckets.iter().copied().map(Self::lock_of))?;
        self.check(Some(buckets)).map(|()| held)
    }

    /// Locks the whole table.
    fn lock_all(&self) -> Result<AllGuards<'_>, Stale> {
        let held = self.stripes().lock_all()?;
        self.check(None).map(|()| held)
    }

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
    fn stripes(&self) -> &Stripes {
        &self.stripes
    }

    #[inline]
    fn versions(&self) -> &Versions {
        &self.versions
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

impl Guard for SplittingGuards<'_> {
    fn stripes(&self) -> &Stripes {
        self.stripes
    }

    fn versions(&self) -> &Versions {
        self.versions
    }

    /// The number that a bucket had before any became two, given that of its first half.
    fn lock_of(bucket: BucketIndex) -> BucketIndex {
        BucketIndex::new(bucket.get() / 2)
    }

    /// Refuses buckets that were split since the writer saw how many waited.
    ///
    /// Relaxed: whoever split one held its lock before.
    fn check(&self, locked: Option<&[BucketIndex]>) -> Result<(), Stale> {
        let split = self.waiting.load(Ordering::Relaxed)..self.seen;
        let is_split = |&bucket: &BucketIndex| split.contains(&Self::lock_of(bucket).get());
        if locked.map_or(!split.is_empty(), |buckets| buckets.iter().any(is_split)) { Err(Stale) } else { Ok(()) }
    }

    /// A slot that is filled while its bucket is being split would be lost, so this takes the bucket's lock.
    fn lock_to_fill(&self, bucket: BucketIndex, _in_one_step: bool) -> Result<StripeGuard<'_>, Stale> {
        self.lock(bucket)
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
