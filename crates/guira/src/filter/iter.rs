use super::engine::with_nest;
use super::{CuckooFilter, Engine};
use crate::addressing::{BucketIndex, Fingerprint};

/// A fingerprint and the bucket that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredFingerprint {
    /// The bucket.
    pub bucket: BucketIndex,
    /// The fingerprint.
    pub fingerprint: Fingerprint,
}

/// The fingerprints of a filter, bucket by bucket. Made by [`CuckooFilter::iter`].
#[derive(Clone, Debug)]
pub struct Fingerprints<'filter> {
    engine: &'filter Engine,
    next_bucket: u64,
    bucket_count: u64,
    /// The fingerprints of the bucket before `next_bucket` that are still to come, last first.
    rest: [Option<Fingerprint>; 8],
    rest_len: usize,
    remaining: usize,
}

impl<'filter> Fingerprints<'filter> {
    pub(super) fn new(filter: &'filter CuckooFilter) -> Self {
        Self {
            engine: filter.engine(),
            next_bucket: 0,
            bucket_count: filter.parameters().bucket_count(),
            rest: [None; 8],
            rest_len: 0,
            remaining: filter.len(),
        }
    }
}

impl Iterator for Fingerprints<'_> {
    type Item = StoredFingerprint;

    fn next(&mut self) -> Option<StoredFingerprint> {
        while self.rest_len == 0 {
            if self.next_bucket == self.bucket_count {
                return None;
            }
            let bucket = BucketIndex::new(self.next_bucket);
            with_nest!(self.engine, nest => for fingerprint in nest.fingerprints(bucket) {
                self.rest[self.rest_len] = Some(fingerprint);
                self.rest_len += 1;
            });
            self.rest[..self.rest_len].reverse();
            self.next_bucket += 1;
        }
        self.rest_len -= 1;
        self.remaining -= 1;
        let bucket = BucketIndex::new(self.next_bucket - 1);
        self.rest[self.rest_len].map(|fingerprint| StoredFingerprint { bucket, fingerprint })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl ExactSizeIterator for Fingerprints<'_> {}
impl core::iter::FusedIterator for Fingerprints<'_> {}
