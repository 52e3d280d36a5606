//! The buckets of a cuckoo filter, one file per layout.

mod plain;
mod semi_sorted;

pub(crate) use plain::PlainBuckets;
pub(crate) use semi_sorted::SemiSortedBuckets;

/// Buckets of a few slots, each empty or with a non-zero fingerprint.
pub(crate) trait Buckets {
    /// f.
    fn fingerprint_bits(&self) -> u32;

    /// Returns `true` if one of two buckets holds a fingerprint.
    fn contains_either(&self, buckets: [u64; 2], fingerprint: u32) -> bool;

    /// Puts a fingerprint into an empty slot. Returns `false` if there is none.
    fn put(&mut self, bucket: u64, fingerprint: u32) -> bool;

    /// Removes a copy of a fingerprint. Returns `false` if there is none.
    fn take(&mut self, bucket: u64, fingerprint: u32) -> bool;

    /// Puts a fingerprint into a slot, numbered from 0, and returns the one that was there.
    fn exchange(&mut self, bucket: u64, slot: u32, fingerprint: u32) -> u32;
}
