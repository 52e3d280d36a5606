//! The bits of the slots, one file per layout. A table knows buckets, slots and fingerprints, and nothing of keys.

#[cfg(feature = "concurrent")]
mod atomic;
#[cfg(feature = "concurrent")]
mod copying;
mod fallible;
mod living;
mod packed;
mod semi_sorted;
#[cfg(feature = "concurrent")]
mod shared_living;
mod sorted_codes;
mod sorted_insertion;
mod splitting;
mod storage;
mod unfolding;
mod valued;

use core::hint::select_unpredictable;
use core::ops::Deref;

#[cfg(feature = "concurrent")]
use atomic::Watched;
#[cfg(feature = "concurrent")]
pub(crate) use atomic::{BitsOfSlot, SharedSlots};
#[cfg(feature = "concurrent")]
pub(crate) use copying::{Copies, Copying};
#[cfg(feature = "concurrent")]
pub(crate) use fallible::{Counted, try_collect};
pub(crate) use fallible::{ask_for, try_arc, try_box};
pub(crate) use living::{Living, LivingTable, Overwritten};
pub(crate) use packed::{AnyWidths, ConstantWidths, PackedTable, Widths};
pub(crate) use semi_sorted::{AnyFingerprintBits, ConstantFingerprintBits};
#[cfg(feature = "concurrent")]
pub(crate) use shared_living::{SharedLivingTable, SharedNumbers};
pub(crate) use splitting::SplittingTable;
#[cfg(feature = "std")]
pub(crate) use storage::OwnedTable;
pub(crate) use storage::{Borrowed, OutOfMemory, Storage, is_zero_from, use_global_allocator_only};
pub(crate) use valued::{ValuedTable, ValuedWidths};

use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::to_usize;
use crate::parameters::Parameters;
#[cfg(feature = "concurrent")]
pub(crate) use crate::probe::Words;
use crate::probe::{Word, prefetch};

/// The most slots of a bucket.
pub(crate) const MOST_SLOTS: usize = 8;

/// A slot within its bucket. What the number means is up to the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u32);

/// A slot of the table: a bucket and a slot in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) bucket: BucketIndex,
    pub(crate) slot: Slot,
}

/// An empty slot of a bucket, and how full the bucket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vacancy {
    /// An empty slot, unless the bucket is full.
    pub(crate) slot: Slot,
    /// Greater the fewer slots are empty, on a scale of the layout's own.
    ///
    /// Which of several buckets is the emptiest is hard to predict, so they are compared by this number, without a branch.
    pub(crate) fullness: u32,
}

impl Vacancy {
    /// The least fullness of a bucket without an empty slot.
    pub(crate) const FULL: u32 = u64::BITS;

    /// The empty slot, if there is one.
    #[inline]
    pub(crate) fn slot(self) -> Option<Slot> {
        (self.fullness < Self::FULL).then_some(self.slot)
    }
}

/// Buckets of slots, each empty or holding one fingerprint.
pub(crate) trait Table {
    /// Whether a bucket holds this fingerprint.
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool;

    /// Whether one of two buckets holds this fingerprint.
    ///
    /// Both are read, whatever the first one holds: both are fetched from memory at once, and no branch has to be predicted.
    #[inline(always)]
    fn either_contains(&self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> bool {
        self.contains(first, fingerprint) | self.contains(second, fingerprint)
    }

    /// The first slot of a bucket that holds this fingerprint.
    fn slot_of(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> Option<Slot>;

    /// How many slots of a bucket hold this fingerprint.
    fn count(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> u32;

    /// An empty slot of a bucket, if there is one, and how full the bucket is.
    fn vacancy(&self, bucket: BucketIndex) -> Vacancy;

    /// All slots of a bucket, in order.
    fn slots(&self) -> impl Iterator<Item = Slot>;

    /// The filled slots of a bucket in order, each with its fingerprint.
    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (Slot, Fingerprint)>;

    /// How many slots of a bucket are not empty, and whether each of them has one of the bits of `telling`.
    #[inline]
    fn count_filled(&self, bucket: BucketIndex, telling: u64) -> (u64, bool) {
        let each = |(filled, may_be), (_, fingerprint): (Slot, Fingerprint)| {
            (filled + 1, may_be & (fingerprint.get() & telling != 0))
        };
        self.filled_slots(bucket).fold((0, true), each)
    }

    /// The fingerprint in a slot, or `None` where it is empty.
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint>;

    /// Prefetches a bucket.
    fn prefetch(&self, bucket: BucketIndex);

    /// Whether a bucket that is read is mostly waited for.
    #[inline]
    fn is_worth_prefetching(&self) -> bool {
        true
    }

    /// A slot of one of two buckets that holds this fingerprint, of the first if both do.
    ///
    /// Both are read, without a branch: which of them holds the fingerprint is hard to predict.
    #[inline]
    fn find_in_either(&self, first: BucketIndex, second: BucketIndex, fingerprint: Fingerprint) -> Option<Place> {
        find_in_either(self, first, second, fingerprint)
    }

    /// Whether the bits of a bucket encode some fingerprints.
    fn is_well_formed(&self, _bucket: BucketIndex) -> bool {
        true
    }
}

/// [`Table::find_in_either`] for tables of all kinds.
#[inline]
fn find_in_either(
    table: &(impl Table + ?Sized),
    first: BucketIndex,
    second: BucketIndex,
    fingerprint: Fingerprint,
) -> Option<Place> {
    let (in_first, in_second) = (table.slot_of(first, fingerprint), table.slot_of(second, fingerprint));
    let is_first = in_first.is_some();
    let bucket = select_unpredictable(is_first, first, second);
    select_unpredictable(is_first, in_first, in_second).map(|slot| Place { bucket, slot })
}

/// Where bit `bit` of a table is: the byte at which to read a word, and how many bits of that byte come before it.
#[inline]
fn byte_of(bit: u64) -> (usize, u32) {
    (to_usize(bit >> 3), u32::from(bit.to_le_bytes()[0] & 7))
}

/// Memory of slots, read at any bit.
pub(crate) trait Memory {
    /// The word that starts at bit `before`, 0 to 7, of a byte. Only its low `bits` bits are defined.
    fn word<W: Word>(&self, byte: usize, before: u32, bits: u32) -> W;

    /// Prefetches the first and the last byte of a bucket, which may straddle two cache lines.
    fn prefetch(&self, first: usize, last: usize);

    /// Whether most of it may not be in the core's own cache.
    #[inline]
    fn is_large(&self) -> bool {
        true
    }
}

/// Tables of up to this many bytes are in the core's own cache, and need no prefetching.
pub(crate) const OWN_CACHE: usize = 512 << 10;

/// See [`Memory::is_large`].
#[inline]
const fn is_large(size: usize) -> bool {
    size > 2 * OWN_CACHE
}

impl Memory for [u8] {
    #[inline]
    fn word<W: Word>(&self, byte: usize, before: u32, _bits: u32) -> W {
        W::read(self, byte) >> before
    }

    #[inline]
    fn prefetch(&self, first: usize, last: usize) {
        prefetch(self, first);
        prefetch(self, last);
    }

    #[inline]
    fn is_large(&self) -> bool {
        is_large(self.len())
    }
}

impl<P: Deref<Target: Memory>> Memory for P {
    #[inline]
    fn word<W: Word>(&self, byte: usize, before: u32, bits: u32) -> W {
        (**self).word(byte, before, bits)
    }

    #[inline]
    fn prefetch(&self, first: usize, last: usize) {
        (**self).prefetch(first, last);
    }

    #[inline]
    fn is_large(&self) -> bool {
        (**self).is_large()
    }
}

/// Memory whose slots can be written one by one.
pub(crate) trait MemoryMut: Memory {
    /// Replaces the content `old` of a slot by `new`; the bits of its neighbours stay. The slot starts `before` bits behind
    /// the start of a byte, and ends within 64 bits of that.
    fn replace(&mut self, byte: usize, before: u32, old: u64, new: u64);
}

impl MemoryMut for &mut [u8] {
    #[inline]
    fn replace(&mut self, byte: usize, before: u32, old: u64, new: u64) {
        ((old ^ new) << before).flip(self, byte);
    }
}

impl<M: MemoryMut> MemoryMut for &mut M {
    #[inline]
    fn replace(&mut self, byte: usize, before: u32, old: u64, new: u64) {
        (**self).replace(byte, before, old, new);
    }
}

/// The bytes of a table from one on, of which none before it is asked for.
pub(crate) struct BytesFrom<'bytes> {
    pub(crate) start: usize,
    pub(crate) bytes: &'bytes mut [u8],
}

impl Memory for BytesFrom<'_> {
    #[inline]
    fn word<W: Word>(&self, byte: usize, before: u32, bits: u32) -> W {
        self.bytes.word(byte - self.start, before, bits)
    }

    #[inline]
    fn prefetch(&self, first: usize, last: usize) {
        self.bytes.prefetch(first - self.start, last - self.start);
    }
}

impl MemoryMut for BytesFrom<'_> {
    #[inline]
    fn replace(&mut self, byte: usize, before: u32, old: u64, new: u64) {
        let mut bytes = &mut *self.bytes;
        bytes.replace(byte - self.start, before, old, new);
    }
}

/// A table whose slots can be written.
pub(crate) trait TableMut: Table {
    /// Fills or overwrites a slot; `None` empties it.
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>);

    /// Fills an empty slot.
    #[inline]
    fn fill(&mut self, place: Place, fingerprint: Fingerprint) {
        self.set(place.bucket, place.slot, Some(fingerprint));
    }

    /// Whether [`fill_emptier`](Self::fill_emptier) fills slots in fewer steps than looking for one first.
    #[inline(always)]
    fn fills_emptier(&self) -> bool {
        false
    }

    /// Puts a fingerprint into the one of two buckets that seems to be emptier. `None` if that has no empty slot; the other may have
    /// one.
    #[inline(always)]
    fn fill_emptier(&mut self, _first: BucketIndex, _second: BucketIndex, _fingerprint: Fingerprint) -> Option<Place> {
        None
    }

    /// Empties a slot that holds this fingerprint.
    #[inline]
    fn erase(&mut self, place: Place, _fingerprint: Fingerprint) {
        self.set(place.bucket, place.slot, None);
    }

    /// Copies all that a slot holds to another slot.
    #[inline]
    fn copy(&mut self, from: Place, to: Place) {
        let fingerprint = self.get(from.bucket, from.slot);
        self.set(to.bucket, to.slot, fingerprint);
    }
}

/// Widths that are known when a filter is made.
pub(crate) trait Fits: Sized {
    /// The widths of a table with these parameters; `None` where its buckets don't fit the words.
    fn fitting(parameters: &Parameters) -> Option<Self>;
}

/// A layout with all its widths. It has no memory of its own, and works on any that it is given.
pub(crate) trait Layout: Copy {
    /// The slots that this memory holds.
    fn over<M: Memory>(self, memory: M) -> impl Table;

    /// The slots that these bytes hold, for writing.
    fn over_mut(self, memory: &mut [u8]) -> impl TableMut;
}
