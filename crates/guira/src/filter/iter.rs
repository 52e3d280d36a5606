use alloc::borrow::Cow;

use super::CuckooFilter;
use crate::addressing::{Addressing, BucketIndex, Fingerprint};
use crate::cuckoo::with_table;

/// A fingerprint and the bucket that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredFingerprint {
    /// The bucket.
    pub bucket: BucketIndex,
    /// The fingerprint.
    pub fingerprint: Fingerprint,
}

/// The fingerprints of a filter, bucket by bucket. Made by [`CuckooFilter::fingerprints`].
#[derive(Clone, Debug)]
pub struct Fingerprints<'filter> {
    filter: Cow<'filter, CuckooFilter>,
    /// The number of the next bucket to look at; where buckets overlap, of those that follow one another without a gap.
    next_bucket: u64,
    bucket_count: u64,
    /// The fingerprints of the bucket before `next_bucket` that are still to come, last first.
    rest: [Option<StoredFingerprint>; 8],
    rest_len: usize,
    remaining: usize,
}

impl<'filter> Fingerprints<'filter> {
    pub(super) fn new(filter: &'filter CuckooFilter) -> Self {
        let filter = filter.settled();
        let (remaining, bucket_count) = with_table!(filter.scheme(), over(filter.bytes()), table => {
            (filter.len(), table.addressing.grid().bucket_count())
        });
        Self { filter, next_bucket: 0, bucket_count, rest: [None; 8], rest_len: 0, remaining }
    }
}

impl Iterator for Fingerprints<'_> {
    type Item = StoredFingerprint;

    fn next(&mut self) -> Option<StoredFingerprint> {
        while self.rest_len == 0 {
            if self.next_bucket == self.bucket_count {
                return None;
            }
            with_table!(self.filter.scheme(), over(self.filter.bytes()), table => {
                for (bucket, fingerprint) in table.stored_in(self.next_bucket) {
                    self.rest[self.rest_len] = Some(StoredFingerprint { bucket, fingerprint });
                    self.rest_len += 1;
                }
            });
            self.rest[..self.rest_len].reverse();
            self.next_bucket += 1;
        }
        self.rest_len -= 1;
        self.remaining -= 1;
        self.rest[self.rest_len]
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl ExactSizeIterator for Fingerprints<'_> {}
impl core::iter::FusedIterator for Fingerprints<'_> {}
