//! Packed slots in atomic words, which are read while other threads write them.

use core::ops::Deref;

use alloc::vec::Vec;

#[cfg(not(loom))]
use zerocopy::FromZeros as _;

#[cfg(not(loom))]
use super::storage::huge_pages;
use super::{
    Copies, Copying, Memory, MemoryMut, OutOfMemory, PackedTable, Place, Storage, Table, TableMut, Widths, byte_of,
    is_large, storage,
};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::{low_32, low_64, to_usize};
use crate::parameters::bytes_for;
use crate::probe::{PrefetchToWrite, Word, WordMemory, Words, prefetch};
use crate::sync::{AtomicU64, Ordering};

/// The memory of a table as words of 64 bits, each little-endian like the bytes of [`Storage`].
impl Words {
    /// Turns the bytes of a table into words. A large table is not copied.
    pub(crate) fn from_storage(storage: Storage) -> Result<Self, OutOfMemory> {
        let bytes = match storage.0 {
            #[cfg(not(loom))]
            storage::Memory::HugePages(pages) => return Ok(Self::new(WordMemory::Pages(pages))),
            #[cfg(loom)]
            storage::Memory::HugePages(pages) => pages.to_vec(),
            storage::Memory::Heap(bytes) => bytes,
        };
        let mut words = Vec::new();
        words.try_reserve_exact(bytes.len() / 8).map_err(|_| OutOfMemory)?;
        let (chunks, _) = bytes.as_chunks();
        words.extend(chunks.iter().map(|&bytes| AtomicU64::new(u64::from_le_bytes(bytes).to_le())));
        Ok(Self::new(WordMemory::Heap(words)))
    }

    /// Turns the words into the bytes of a table. A large table is not copied.
    ///
    /// # Panics
    ///
    /// Where there is no memory for a copy.
    pub(crate) fn into_storage(self) -> Storage {
        self.try_into_storage().expect("no memory for a copy of the table")
    }

    /// Turns the words into the bytes of a table, if there is memory for the copy of a small one. A large one is not copied.
    pub(super) fn try_into_storage(self) -> Result<Storage, OutOfMemory> {
        match self.into_memory() {
            WordMemory::Heap(words) => copied(&words),
            #[cfg(not(loom))]
            WordMemory::Pages(pages) => Ok(Storage(storage::Memory::HugePages(pages))),
        }
    }

    /// Memory for slots of `bits` bits, all 0, which is not touched if it comes from the system.
    pub(crate) fn zeroed(bits: u64) -> Result<Self, OutOfMemory> {
        Self::zeroed_bytes(usize::try_from(bytes_for(bits)).map_err(|_| OutOfMemory)?)
    }

    /// So many bytes, all 0.
    pub(super) fn zeroed_bytes(size: usize) -> Result<Self, OutOfMemory> {
        #[cfg(not(loom))]
        match huge_pages(size) {
            Some(pages) => Ok(Self::new(WordMemory::Pages(pages))),
            None => {
                let words = AtomicU64::new_vec_zeroed(size / 8).map_err(|_| OutOfMemory)?;
                Ok(Self::new(WordMemory::Heap(words)))
            }
        }
        #[cfg(loom)]
        Self::from_storage(Storage::zeroed_bytes(size)?)
    }

    /// The words, for filling slots that no other thread has seen yet.
    pub(crate) fn unseen(&self) -> impl MemoryMut {
        // Nothing leaves an empty slot.
        Watched { words: self, leaves: |_| {} }
    }

    /// Empties all slots, while nobody else writes.
    ///
    /// Release, as in [`flip`]: whoever sees an emptied slot sees what was announced before.
    pub(crate) fn clear(&self) {
        for word in &**self {
            word.store(0, Ordering::Release);
        }
    }

    /// A copy of the table, as it is at one moment if nobody writes meanwhile.
    pub(crate) fn to_storage(&self) -> Result<Storage, OutOfMemory> {
        copied(self)
    }
}

/// The bytes of some words.
fn copied(words: &[AtomicU64]) -> Result<Storage, OutOfMemory> {
    let mut storage = Storage::zeroed_bytes(size_of_val(words))?;
    let (chunks, _) = storage.as_chunks_mut();
    for (bytes, word) in chunks.iter_mut().zip(words) {
        *bytes = load(word).to_le_bytes();
    }
    Ok(storage)
}

/// Reads a word.
///
/// Relaxed: a caller that must order the reads of several words does so with an acquire fence after the last. Under the
/// lock of a bucket its filled slots don't change.
#[inline]
fn load(word: &AtomicU64) -> u64 {
    u64::from_le(word.load(Ordering::Relaxed))
}

impl Memory for [AtomicU64] {
    /// Bits of one word are read at one moment. Bits that straddle words need not be: where a slot is being written, its
    /// lower bits may be old and its upper ones new, or the other way round.
    #[inline]
    fn word<W: Word>(&self, byte: usize, before: u32, bits: u32) -> W {
        let (first, last) = (byte >> 3, (byte + to_usize(u64::from((before + bits - 1) / 8))) >> 3);
        let before = 8 * low_32(byte as u64 & 7) + before;
        // If the last bit is in an earlier word, that word is read again: the read is free, and what it adds is above the
        // bits that are asked for. The word after it might be in another cache line.
        let mut word = W::from(load(&self[first])) >> before;
        for further in 1..=W::BITS / 64 {
            let is_last = further == W::BITS / 64;
            let index = if is_last { last } else { last.min(first + 1) };
            // In two steps, since a shift by all bits of a word would overflow.
            word = word | (W::from(load(&self[index])) << 1 << (64 * further - 1 - before));
        }
        word
    }

    #[inline]
    fn prefetch(&self, first: usize, last: usize) {
        prefetch(self, first >> 3);
        prefetch(self, last >> 3);
    }

    #[inline]
    fn is_large(&self) -> bool {
        is_large(size_of_val(self))
    }
}

/// The words of a table, prefetched for writing.
///
/// Two writers of a table that fits their caches then store a sixth more in batches than if lines are fetched for
/// reading, and fetched again to be written.
#[derive(Clone, Copy)]
pub(crate) struct ToWrite<'table> {
    words: &'table [AtomicU64],
    hint: PrefetchToWrite,
}

impl Memory for ToWrite<'_> {
    #[inline]
    fn word<W: Word>(&self, byte: usize, before: u32, bits: u32) -> W {
        self.words.word(byte, before, bits)
    }

    #[inline]
    fn prefetch(&self, first: usize, last: usize) {
        self.hint.fetch(self.words, first >> 3);
        self.hint.fetch(self.words, last >> 3);
    }
}

/// The words of a table, for a writer that holds the locks of the buckets it writes.
///
/// `leaves` is called with a fingerprint before its slot is overwritten or emptied, and if it moves, after its new slot
/// was written.
pub(crate) struct Watched<'table, L> {
    words: &'table [AtomicU64],
    leaves: L,
}

impl<'table, L> Watched<'table, L> {
    #[inline]
    pub(super) const fn new(words: &'table [AtomicU64], leaves: L) -> Self {
        Self { words, leaves }
    }
}

impl<L> Deref for Watched<'_, L> {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        self.words
    }
}

impl<L: Fn(Fingerprint)> MemoryMut for Watched<'_, L> {
    #[inline]
    fn replace(&mut self, byte: usize, before: u32, old: u64, new: u64) {
        if let Some(leaving) = Fingerprint::new(old) {
            (self.leaves)(leaving);
        }
        flip(self.words, 8 * byte as u64 + u64::from(before), old ^ new);
    }
}

/// Slots in words that other threads read and write.
pub(crate) trait SharedSlots: Table + Copy {
    /// Whether a slot is filled under the lock of its bucket only: one that is in two words, or that holds what may be
    /// overwritten.
    fn is_filled_locked(&self, place: Place) -> bool;

    /// Fills a slot if it is vacant. Returns `true` if it was. If several threads fill an empty slot in one word at a time,
    /// one succeeds; for others, the caller holds the lock of their bucket.
    fn fill(&self, place: Place, fingerprint: Fingerprint) -> bool;

    /// Copies what a slot holds to another one if that is vacant. Returns `true` if it was. The caller holds the locks of
    /// both buckets.
    fn fill_from(&self, from: Place, to: Place) -> bool {
        self.get(from.bucket, from.slot).is_some_and(|fingerprint| self.fill(to, fingerprint))
    }

    /// Sees to it that a bucket is copied before it is written.
    ///
    /// The table is handed over by value: a reference to it would be written to memory in every insertion.
    fn keep(self, bucket: BucketIndex, copies: &Copies);

    /// The table, for writing. `leaves` is called as [`Watched`] says.
    fn watched(self, leaves: impl Fn(Fingerprint) + Copy) -> impl TableMut;
}

impl<'table, G: Widths> PackedTable<G, &'table [AtomicU64]> {
    /// The table over words that are prefetched for writing.
    #[inline]
    pub(crate) fn to_write(self) -> PackedTable<G, ToWrite<'table>> {
        PackedTable::new(self.widths(), ToWrite { words: self.memory(), hint: PrefetchToWrite::of_this_processor() })
    }

    /// The table, to be written. `leaves` is called as [`Watched`] says, with the fingerprint alone.
    #[inline]
    pub(super) fn over_watched(
        self,
        leaves: impl Fn(Fingerprint),
    ) -> PackedTable<G, Watched<'table, impl Fn(Fingerprint)>> {
        let widths = self.widths();
        let leaves = move |content: Fingerprint| {
            Fingerprint::new(widths.fingerprint(content.get())).into_iter().for_each(&leaves);
        };
        PackedTable::new(widths, Watched::new(self.memory(), leaves))
    }
}

impl<G: Widths> PackedTable<G, &[AtomicU64]> {
    /// Whether bits of a slot, from one of them on, are in two words.
    #[inline]
    pub(super) fn straddles(&self, Place { bucket, slot }: Place, from: u32) -> bool {
        BitsOfSlot { first: self.bit(bucket, slot.0 + from), count: self.numbers().slot_bits - from }.straddle()
    }

    /// Sees to it that a bucket is copied, in a copy of this table's words.
    pub(super) fn keep_in(&self, bucket: BucketIndex, copying: &Copying) {
        let first = self.bit(bucket, 0);
        let last = first + u64::from(self.numbers().bucket_bits) - 1;
        copying.keep(self.memory(), to_usize(first >> 6), to_usize(last >> 6));
    }

    /// Inverts bits of a slot that the caller has locked.
    pub(super) fn flip(&self, Place { bucket, slot }: Place, difference: u64) {
        flip(self.memory(), self.bit(bucket, slot.0), difference);
    }

    /// Writes bits that are not all 0 to a slot that is empty; see [`SharedSlots::fill`].
    #[inline(always)]
    pub(super) fn fill_with(&self, Place { bucket, slot }: Place, content: u64) -> bool {
        BitsOfSlot { first: self.bit(bucket, slot.0), count: self.numbers().slot_bits }.fill(self.memory(), content)
    }
}

/// Where a slot is in words that threads share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BitsOfSlot {
    /// The number of the first bit in the table.
    pub(crate) first: u64,
    pub(crate) count: u32,
}

impl BitsOfSlot {
    /// Whether they are in two words.
    #[inline(always)]
    pub(crate) fn straddle(self) -> bool {
        (self.first & 63) + u64::from(self.count) > 64
    }

    /// Empties a slot that holds `content`, after `leaves`. Returns `true` if it held that. The caller holds the lock of its bucket.
    #[inline(always)]
    pub(crate) fn empty(self, words: &[AtomicU64], content: u64, leaves: impl FnOnce()) -> bool {
        let holds_it = self.content(words) == content;
        if holds_it {
            leaves();
            flip(words, self.first, content);
        }
        holds_it
    }

    #[inline(always)]
    fn content(self, words: &[AtomicU64]) -> u64 {
        let (byte, before) = byte_of(self.first);
        words.word::<u64>(byte, before, self.count) & (u64::MAX >> (64 - self.count))
    }

    /// Writes bits that are not all 0 to a slot that is empty; see [`SharedSlots::fill`].
    #[inline(always)]
    pub(crate) fn fill(self, words: &[AtomicU64], content: u64) -> bool {
        let Self { first, count } = self;
        if self.straddle() {
            let is_empty = self.content(words) == 0;
            if is_empty {
                flip(words, first, content);
            }
            return is_empty;
        }
        let word = &words[to_usize(first >> 6)];
        let mut found = load(word);
        let (before, ones) = (first.to_le_bytes()[0] & 63, u64::MAX >> (64 - count));
        while (found >> before) & ones == 0 {
            let filled = found | (content << before);
            // Release, as in `flip`, though no answer depends on it: a fill hides nothing that was there, and continues
            // the release sequence of the word. Relaxed if it fails: the word is only compared again.
            match word.compare_exchange_weak(found.to_le(), filled.to_le(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(other) => found = u64::from_le(other),
            }
        }
        false
    }
}

impl<G: Widths> SharedSlots for PackedTable<G, &[AtomicU64]> {
    #[inline]
    fn is_filled_locked(&self, place: Place) -> bool {
        self.straddles(place, 0)
    }

    #[inline(always)]
    fn fill(&self, place: Place, fingerprint: Fingerprint) -> bool {
        self.fill_with(place, fingerprint.get())
    }

    #[cold]
    #[inline(never)]
    fn keep(self, bucket: BucketIndex, copies: &Copies) {
        self.keep_in(bucket, &copies.table);
    }

    #[inline]
    fn watched(self, leaves: impl Fn(Fingerprint) + Copy) -> impl TableMut {
        self.over_watched(leaves)
    }
}

/// Inverts the bits of a slot that starts at bit `bit` where those of `difference` are 1. The other slots of its words may
/// be written at the same time, under other locks.
///
/// Release: whoever sees that a fingerprint has left its slot, and fences, sees what was done before: the announcement
/// that it leaves, and before that the copy in its new slot.
#[inline]
fn flip(words: &[AtomicU64], bit: u64, difference: u64) {
    let shifted = u128::from(difference) << (bit.to_le_bytes()[0] & 63);
    let first = to_usize(bit >> 6);
    for (index, part) in [(first, low_64(shifted)), (first + 1, low_64(shifted >> 64))] {
        if part != 0 {
            words[index].fetch_xor(part.to_le(), Ordering::Release);
        }
    }
}
