//! The bits of the slots, one file per layout. A table knows buckets, slots and fingerprints, and nothing of keys.

mod packed;
mod storage;

pub(crate) use packed::PackedTable;
pub(crate) use storage::Storage;

use crate::addressing::{BucketIndex, Fingerprint};

/// The place of a fingerprint in its bucket; what the number means is the layout's own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u32);

/// Buckets of slots, each empty or holding one fingerprint.
pub(crate) trait Table {
    /// Whether a bucket holds this fingerprint.
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool;

    /// How many slots of a bucket hold this fingerprint.
    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32;

    /// A slot of a bucket that holds this fingerprint.
    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot>;

    /// An empty slot of a bucket.
    fn empty_slot(&self, bucket: BucketIndex) -> Option<Slot>;

    /// How many slots of a bucket are empty.
    fn empty_slots(&self, bucket: BucketIndex) -> u32;

    /// All slots of a bucket, in order.
    fn slots(&self) -> impl Iterator<Item = Slot>;

    /// The fingerprint in a slot, or `None` where it is empty.
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint>;

    /// Fills or overwrites a slot; `None` empties it.
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>);

    /// Brings a bucket towards the processor without waiting for it.
    fn prefetch(&self, bucket: BucketIndex);

    /// The bytes that hold the slots, with the padding behind them.
    fn storage(&self) -> &Storage;

    /// The same, to be overwritten.
    fn storage_mut(&mut self) -> &mut Storage;
}
