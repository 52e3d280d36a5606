use super::engine::with_nest;
use super::{CuckooFilter, Engine};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::parameters::Parameters;

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
    parameters: &'filter Parameters,
    /// The next group of slots to look at.
    next_group: u64,
    group_count: u64,
    /// The fingerprints of the group before `next_group` that are still to come, last first.
    rest: [Option<StoredFingerprint>; 8],
    rest_len: usize,
    remaining: usize,
}

impl<'filter> Fingerprints<'filter> {
    pub(super) fn new(filter: &'filter CuckooFilter) -> Self {
        Self {
            engine: filter.engine(),
            parameters: filter.parameters(),
            next_group: 0,
            group_count: filter.parameters().slot_count() / u64::from(filter.parameters().slots_per_bucket()),
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
            if self.next_group == self.group_count {
                return None;
            }
            with_nest!(self.engine, nest => {
                for (bucket, fingerprint) in nest.view().stored_in(self.next_group, self.parameters) {
                    self.rest[self.rest_len] = Some(StoredFingerprint { bucket, fingerprint });
                    self.rest_len += 1;
                }
            });
            self.rest[..self.rest_len].reverse();
            self.next_group += 1;
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
