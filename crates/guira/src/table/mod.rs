//! The bits of the slots, one file per layout. A table knows buckets, slots and fingerprints, and nothing of keys.

mod packed;
mod semi_sorted;
mod storage;

pub(crate) use packed::PackedTable;
pub(crate) use semi_sorted::SemiSortedTable;
pub(crate) use storage::Storage;

use crate::addressing::{BucketIndex, Fingerprint};
use crate::parameters::Parameters;

/// The place of a fingerprint in its bucket; what the number means is the layout's own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u32);

/// An empty slot of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vacancy {
    pub(crate) slot: Slot,
    /// The greater, the fewer slots of the bucket are empty, by the layout's own measure.
    pub(crate) fullness: u32,
}

/// Buckets of slots, each empty or holding one fingerprint.
pub(crate) trait Table {
    /// Whether a bucket holds this fingerprint.
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool;

    /// How many slots of a bucket hold this fingerprint.
    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32;

    /// A slot of a bucket that holds this fingerprint.
    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot>;

    /// An empty slot of a bucket, and how full the bucket is.
    fn vacancy(&self, bucket: BucketIndex) -> Option<Vacancy>;

    /// How many slots of a bucket are empty.
    fn empty_slots(&self, bucket: BucketIndex) -> u32;

    /// All slots of a bucket, in order.
    fn slots(&self) -> impl Iterator<Item = Slot>;

    /// The filled slots of a bucket in order, each with its number and its fingerprint.
    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (u64, Slot, Fingerprint)>;

    /// The fingerprint in a slot, or `None` where it is empty.
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint>;

    /// Brings a bucket towards the processor without waiting for it.
    fn prefetch(&self, bucket: BucketIndex);

    /// Whether the bits of a bucket are such that some fingerprints give.
    fn is_well_formed(&self, _bucket: BucketIndex) -> bool {
        true
    }
}

/// A table whose slots can be written.
pub(crate) trait TableMut: Table {
    /// Fills or overwrites a slot; `None` empties it.
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>);
}

/// A table with memory of its own.
///
/// Where its bytes are is looked up once for each operation, or each batch of them, by working on a view; the same views
/// serve bytes that belong to someone else.
pub(crate) trait OwnedTable: TableMut {
    /// The table over borrowed bytes.
    type View<'table>: Table
    where
        Self: 'table;

    /// The table over borrowed bytes that can be written.
    type ViewMut<'table>: TableMut
    where
        Self: 'table;

    /// A table over memory that was allocated for it; of a whole filter, or of one of its regions.
    fn over(parameters: &Parameters, storage: Storage) -> Self;

    /// The table, to be read.
    fn view(&self) -> Self::View<'_>;

    /// The table, to be read and written.
    fn view_mut(&mut self) -> Self::ViewMut<'_>;

    /// The bytes that hold the slots, with the padding behind them.
    fn storage(&self) -> &Storage;

    /// The same, to be overwritten.
    fn storage_mut(&mut self) -> &mut Storage;
}
