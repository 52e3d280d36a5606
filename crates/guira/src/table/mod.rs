//! The bits of the slots, one file per layout. A table knows buckets, slots and fingerprints, and nothing of keys.

#[cfg(feature = "std")]
mod atomic;
mod packed;
mod semi_sorted;
mod storage;
mod valued;

#[cfg(feature = "std")]
pub(crate) use atomic::Words;
pub(crate) use packed::PackedTable;
pub(crate) use semi_sorted::SemiSortedTable;
pub(crate) use storage::{Borrowed, Storage, is_zero_from};
pub(crate) use valued::ValuedTable;

use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::in_memory;
use crate::parameters::Parameters;
use crate::probe::{Word, prefetch};

/// The place of a fingerprint in its bucket; what the number means is the layout's own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u32);

/// A slot of the table: that of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) bucket: BucketIndex,
    pub(crate) slot: Slot,
}

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

    /// The first slot of a bucket that holds this fingerprint, or with 0 the first that is empty.
    fn find(&self, bucket: BucketIndex, fingerprint_or_empty: u32) -> Option<Slot>;

    /// How many slots of a bucket hold this fingerprint, or with 0 how many are empty.
    fn count_of(&self, bucket: BucketIndex, fingerprint_or_empty: u32) -> u32;

    /// An empty slot of a bucket, and how full the bucket is.
    fn vacancy(&self, bucket: BucketIndex) -> Option<Vacancy>;

    /// All slots of a bucket, in order.
    fn slots(&self) -> impl Iterator<Item = Slot>;

    /// The filled slots of a bucket in order, each with its number and its fingerprint.
    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (u64, Slot, Fingerprint)>;

    /// The fingerprint in a slot, or `None` where it is empty.
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint>;

    /// Brings a bucket towards the processor without waiting for it.
    fn prefetch(&self, bucket: BucketIndex);

    /// How many slots of a bucket hold this fingerprint.
    #[inline]
    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32 {
        self.count_of(bucket, fingerprint.get())
    }

    /// A slot of a bucket that holds this fingerprint.
    #[inline]
    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot> {
        self.find(bucket, fingerprint.get())
    }

    /// How many slots of a bucket are empty.
    #[inline]
    fn empty_slots(&self, bucket: BucketIndex) -> u32 {
        self.count_of(bucket, 0)
    }

    /// Whether the bits of a bucket are such that some fingerprints give.
    fn is_well_formed(&self, _bucket: BucketIndex) -> bool {
        true
    }
}

/// Where in the bytes of a table its bit `bit` is: the byte at which to read a word, and how many bits stand before it
/// there.
#[inline]
fn byte_of(bit: u64) -> (usize, u32) {
    (in_memory(bit >> 3), u32::from(bit.to_le_bytes()[0] & 7))
}

/// Brings the bits from `first` to `last` towards the processor. Both ends are asked for: a bucket that straddles two cache
/// lines waits for the second as long as for the first.
#[inline]
fn prefetch_bits(bytes: &[u8], first: u64, last: u64) {
    prefetch(bytes, byte_of(first).0);
    prefetch(bytes, byte_of(last).0);
}

/// Memory of slots, read at any bit.
pub(crate) trait Bits {
    /// The word that starts at bit `bit`, of which the low `bits` are asked for. What stands above them is anything.
    fn word<W: Word>(&self, bit: u64, bits: u32) -> W;

    /// Brings the bits from `first` to `last` towards the processor without waiting for them.
    fn prefetch(&self, first: u64, last: u64);
}

impl Bits for [u8] {
    #[inline]
    fn word<W: Word>(&self, bit: u64, _bits: u32) -> W {
        let (byte, before) = byte_of(bit);
        W::read(self, byte) >> before
    }

    #[inline]
    fn prefetch(&self, first: u64, last: u64) {
        prefetch_bits(self, first, last);
    }
}

/// A table whose slots can be written.
pub(crate) trait TableMut: Table {
    /// Fills or overwrites a slot; `None` empties it.
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>);

    /// Writes all that a slot holds to another one, and leaves it where it was too.
    #[inline]
    fn copy(&mut self, from: Place, to: Place) {
        let fingerprint = self.get(from.bucket, from.slot);
        self.set(to.bucket, to.slot, fingerprint);
    }
}

/// A table whose slots hold a value beside the fingerprint. An empty slot has the value 0, and so has one that was just
/// filled.
pub(crate) trait Values: Table {
    /// The value in a slot.
    fn value(&self, place: Place) -> u32;
}

/// The same, to be written.
pub(crate) trait ValuesMut: Values + TableMut {
    /// Replaces the value in a slot that is filled.
    fn set_value(&mut self, place: Place, value: u32);
}

/// A table over the bytes that it was made with, whoever they belong to.
///
/// Where its bytes are is looked up once for each operation, or each batch of them, by working on a view.
pub(crate) trait StoredTable: Table {
    /// What keeps the bytes.
    type Storage;

    /// The table over borrowed bytes.
    type View<'table>: Table
    where
        Self: 'table;

    /// A table over bytes that are as many as its measures say; of a whole filter, or of one of its regions.
    fn over(parameters: &Parameters, storage: Self::Storage) -> Self;

    /// The table, to be read.
    fn view(&self) -> Self::View<'_>;

    /// The bytes that hold the slots, with the padding behind them.
    fn storage(&self) -> &Self::Storage;

    /// The same, without the table.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "only tables that threads share are converted"))]
    fn into_storage(self) -> Self::Storage;
}

/// A table with memory of its own, which can be written.
pub(crate) trait OwnedTable: StoredTable<Storage = Storage> + TableMut {
    /// The table over borrowed bytes that can be written.
    type ViewMut<'table>: TableMut
    where
        Self: 'table;

    /// The table, to be read and written.
    fn view_mut(&mut self) -> Self::ViewMut<'_>;

    /// The bytes that hold the slots, to be overwritten.
    fn storage_mut(&mut self) -> &mut Storage;
}
