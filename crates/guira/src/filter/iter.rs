use alloc::borrow::Cow;

use arrayvec::ArrayVec;

use super::CuckooFilter;
use crate::addressing::{BucketIndex, Fingerprint};
use crate::cuckoo::with_table;

/// A fingerprint and the bucket that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct StoredFingerprint {
    /// The number of the bucket in the table, counted from 0.
    pub bucket: u64,
    /// The fingerprint, at least 1.
    pub fingerprint: u64,
}

/// The fingerprints of a filter, bucket by bucket. Made by [`CuckooFilter::fingerprints`].
#[derive(Clone, Debug)]
pub struct Fingerprints<'filter> {
    filter: Cow<'filter, CuckooFilter>,
    /// The number of the next bucket to look at, in the grid of the addressing.
    next_bucket: u64,
    /// The fingerprints of the bucket before `next_bucket` that are still to come, last first.
    rest: ArrayVec<(BucketIndex, Fingerprint), 8>,
    remaining: usize,
}

impl<'filter> Fingerprints<'filter> {
    pub(super) fn new(filter: &'filter CuckooFilter) -> Self {
        let filter = filter.settled();
        Self { remaining: filter.len(), filter, next_bucket: 0, rest: ArrayVec::new() }
    }
}

impl Fingerprints<'_> {
    /// The next fingerprint, in types that can't be mixed up.
    pub(super) fn next_stored(&mut self) -> Option<(BucketIndex, Fingerprint)> {
        while self.rest.is_empty() {
            if self.next_bucket == self.filter.parameters().bucket_count() {
                return None;
            }
            with_table!(self.filter.scheme(), over(self.filter.bytes()), table => {
                self.rest.extend(table.stored_in(self.next_bucket));
            });
            self.rest.reverse();
            self.next_bucket += 1;
        }
        self.remaining -= 1;
        self.rest.pop()
    }

    /// All of them, in types that can't be mixed up.
    pub(super) fn typed(mut self) -> impl Iterator<Item = (BucketIndex, Fingerprint)> {
        core::iter::from_fn(move || self.next_stored())
    }
}

impl Iterator for Fingerprints<'_> {
    type Item = StoredFingerprint;

    fn next(&mut self) -> Option<StoredFingerprint> {
        let (bucket, fingerprint) = self.next_stored()?;
        Some(StoredFingerprint { bucket: bucket.get(), fingerprint: fingerprint.get() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl ExactSizeIterator for Fingerprints<'_> {}
impl core::iter::FusedIterator for Fingerprints<'_> {}
