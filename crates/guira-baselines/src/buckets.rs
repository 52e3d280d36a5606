//! Where a cuckoo filter keeps its fingerprints: one file per way to do that.

mod plain;
mod semi_sorted;

pub(crate) use plain::PlainBuckets;
pub(crate) use semi_sorted::SemiSortedBuckets;

/// Buckets of a few slots, each empty or with a fingerprint that is not 0.
pub(crate) trait Buckets {
    /// f.
    fn fingerprint_bits(&self) -> u32;

    /// Returns `true` if one of two buckets holds a fingerprint.
    fn contains_either(&self, buckets: [u64; 2], fingerprint: u32) -> bool;

    /// Puts a fingerprint into an empty slot, if there is one.
    fn put(&mut self, bucket: u64, fingerprint: u32) -> bool;

    /// Takes a copy of a fingerprint out, if there is one.
    fn take(&mut self, bucket: u64, fingerprint: u32) -> bool;

    /// Puts a fingerprint into the slot of this number, counted from 0, and gives the one that was there.
    fn exchange(&mut self, bucket: u64, slot: u32, fingerprint: u32) -> u32;
}
