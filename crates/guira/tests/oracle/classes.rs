//! Which keys a filter can't tell apart, learnt from outside.

use std::collections::BTreeMap;

use guira::{CuckooFilter, Digest, InsertError};

/// What a filter knows of a key: its fingerprint and its candidate buckets, which may be one and the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Class {
    pub(crate) fingerprint: u32,
    pub(crate) lower_bucket: u64,
    pub(crate) upper_bucket: u64,
}

impl Class {
    /// How many different buckets the candidates are.
    pub(crate) const fn bucket_count(&self) -> usize {
        if self.lower_bucket == self.upper_bucket { 1 } else { 2 }
    }
}

/// Learns the class of a key by filling an empty filter with copies of it: they go to all its candidate buckets, and
/// nowhere else.
pub(crate) struct Prober {
    empty: CuckooFilter,
}

impl Prober {
    /// For keys of filters with the same parameters, hash and seed as this one.
    pub(crate) fn for_filters_like(filter: &CuckooFilter) -> Self {
        let mut empty = filter.clone();
        empty.clear();
        Self { empty }
    }

    pub(crate) fn class_of(&mut self, digest: Digest) -> Class {
        let error = loop {
            if let Err(error) = self.empty.insert_digest(digest) {
                break error;
            }
        };
        let copies = self.empty.len();
        assert_eq!(error, InsertError::TooManyCopies { copies }, "{digest:?} alone in a filter");

        let mut copies_in = BTreeMap::new();
        let mut fingerprint = None;
        for stored in &self.empty {
            *copies_in.entry(stored.bucket.get()).or_insert(0) += 1;
            let value = stored.fingerprint.get();
            assert_eq!(*fingerprint.get_or_insert(value), value, "{digest:?} has one fingerprint");
        }
        self.empty.clear();

        let buckets: Vec<u64> = copies_in.keys().copied().collect();
        assert!(buckets.len() <= 2, "{digest:?} has two candidate buckets, not {buckets:?}");
        let slots_per_bucket = self.empty.parameters().slots_per_bucket();
        for (bucket, &copies) in &copies_in {
            assert_eq!(copies, slots_per_bucket, "{digest:?} fills bucket {bucket}");
        }
        Class {
            fingerprint: fingerprint.expect("an empty filter takes any key once"),
            lower_bucket: buckets[0],
            upper_bucket: buckets[buckets.len() - 1],
        }
    }
}
