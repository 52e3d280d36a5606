//! The plain layout: slots of f bits, one after the other, without a gap. With values beside the fingerprints, the slots
//! of [`ValuedTable`](super::ValuedTable) are kept the same way.

use core::ops::{Deref, DerefMut};

use super::{Bits, OwnedTable, Slot, Storage, StoredTable, Table, TableMut, Vacancy, byte_of};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::parameters::{Layout, Parameters};
use crate::probe::{Lanes, Word};

/// Bucket i stands at bit i * b * f, its slots from the lowest bit up. Windows overlap: the one whose first slot is slot i
/// stands at bit i * f.
///
/// A bucket is read as one or more words of W, each holding as many of its slots. A word starts at any byte, so
/// the 7 bits before its first slot are lost: 64 bits hold a bucket of up to 57 bits, 128 bits one of up to 121. A table
/// with `ONE_WORD` has only buckets that fit one word, and no loop over words.
#[derive(Clone, Debug)]
pub(crate) struct PackedTable<S, W, const ONE_WORD: bool> {
    storage: S,
    lanes: Lanes<W>,
    /// The bits of a slot: f, and those of a value where there is one.
    slot_bits: u32,
    bucket_bits: u32,
    word_bits: u32,
    /// The bits from one bucket to the next.
    stride: u32,
}

impl<S: Deref<Target: Bits>, W: Word, const ONE_WORD: bool> PackedTable<S, W, ONE_WORD> {
    /// The bits of a word that hold slots, wherever the first slot starts in its byte.
    const USABLE_BITS: u32 = W::BITS - 7;

    /// Whether a whole bucket fits one word.
    pub(crate) const fn holds_bucket(parameters: &Parameters) -> bool {
        parameters.bucket_bits() <= Self::USABLE_BITS
    }

    /// The bit of the table that is bit `at` of a bucket.
    #[inline]
    pub(super) fn bit(&self, bucket: BucketIndex, at: u32) -> u64 {
        bucket.get() * u64::from(self.stride) + u64::from(at)
    }

    /// The word of a bucket that starts at its bit `at`; what stands above its slots is not theirs.
    #[inline]
    fn word(&self, bucket: BucketIndex, at: u32) -> W {
        self.storage.word(self.bit(bucket, at), self.word_bits)
    }

    /// How the words of the table are divided.
    #[inline]
    pub(super) const fn lanes(&self) -> &Lanes<W> {
        &self.lanes
    }

    /// The bits at which the words of a bucket start, but for the first.
    #[inline]
    fn further_words(&self) -> impl Iterator<Item = u32> + use<S, W, ONE_WORD> {
        let end = if ONE_WORD { self.word_bits } else { self.bucket_bits };
        let word_bits = self.word_bits;
        core::iter::successors(Some(word_bits), move |at| Some(at + word_bits)).take_while(move |&at| at < end)
    }

    /// Whether any word of a bucket matches.
    #[inline]
    pub(super) fn any_word(&self, bucket: BucketIndex, matches: impl Fn(W) -> bool) -> bool {
        let matches = |at| matches(self.word(bucket, at));
        // Not `||`: whether a word matches is hard to guess, and a wrong guess costs more than reading the next one.
        self.further_words().fold(matches(0), |found, at| found | matches(at))
    }

    /// The first slot that is found in a word of a bucket, given the bit at which it starts there.
    #[inline]
    pub(super) fn first_slot(&self, bucket: BucketIndex, find: impl Fn(W) -> Option<u32>) -> Option<Slot> {
        let found = |at| find(self.word(bucket, at)).map(|bit| Slot(at + bit));
        found(0).or_else(|| self.further_words().find_map(found))
    }

    /// What is counted in the words of a bucket.
    #[inline]
    pub(super) fn total(&self, bucket: BucketIndex, count: impl Fn(W) -> u32) -> u32 {
        let count = |at| count(self.word(bucket, at));
        count(0) + self.further_words().map(count).sum::<u32>()
    }

    /// The bits of each slot of a bucket in order, with the number of the slot.
    #[inline]
    pub(super) fn contents(&self, bucket: BucketIndex) -> impl Iterator<Item = (u64, Slot, u32)> {
        let (slot_bits, bucket_bits) = (self.slot_bits, self.bucket_bits);
        let mut word = self.word(bucket, 0);
        (0..bucket_bits / slot_bits).map(move |number| {
            let bit = number * slot_bits;
            if !ONE_WORD && bit > 0 && bit.is_multiple_of(self.word_bits) {
                word = self.word(bucket, bit);
            }
            let in_word = if ONE_WORD { bit } else { bit % self.word_bits };
            (u64::from(number), Slot(bit), self.lanes.get(word, in_word))
        })
    }

    /// The bits of a slot.
    #[inline]
    pub(super) fn content(&self, bucket: BucketIndex, slot: Slot) -> u32 {
        // One slot of at most 32 bits fits 64 bits from any byte on.
        self.lanes.get(self.storage.word(self.bit(bucket, slot.0), self.slot_bits), 0)
    }
}

impl<S, W: Copy, const ONE_WORD: bool> PackedTable<S, W, ONE_WORD> {
    /// What keeps the slots.
    #[cfg(feature = "std")]
    #[inline]
    pub(super) const fn kept_in(&self) -> &S {
        &self.storage
    }

    /// The bits of a slot.
    #[cfg(feature = "std")]
    #[inline]
    pub(super) const fn slot_bits(&self) -> u32 {
        self.slot_bits
    }

    /// The same table over other storage.
    #[inline]
    pub(super) const fn with_storage<T>(&self, storage: T) -> PackedTable<T, W, ONE_WORD> {
        let Self { lanes, slot_bits, bucket_bits, word_bits, stride, .. } = *self;
        PackedTable { storage, lanes, slot_bits, bucket_bits, word_bits, stride }
    }
}

impl<S: Deref<Target: Bits>, W: Word, const ONE_WORD: bool> Table for PackedTable<S, W, ONE_WORD> {
    #[inline]
    fn contains(&self, bucket: BucketIndex, fingerprint: Fingerprint) -> bool {
        let pattern = self.lanes.broadcast(fingerprint.get());
        self.any_word(bucket, |word| self.lanes.any_equal(word, pattern))
    }

    #[inline]
    fn find(&self, bucket: BucketIndex, fingerprint_or_empty: u32) -> Option<Slot> {
        let pattern = self.lanes.broadcast(fingerprint_or_empty);
        self.first_slot(bucket, |word| self.lanes.lowest_equal(word, pattern))
    }

    #[inline]
    fn count_of(&self, bucket: BucketIndex, fingerprint_or_empty: u32) -> u32 {
        let pattern = self.lanes.broadcast(fingerprint_or_empty);
        self.total(bucket, |word| self.lanes.count_equal(word, pattern))
    }

    #[inline]
    fn vacancy(&self, bucket: BucketIndex) -> Option<Vacancy> {
        // Slots fill from the first on, so the place of the first empty one tells how many are full. Where some in between
        // were emptied it tells fewer, which costs nothing but the evenness that it is asked for.
        self.find(bucket, 0).map(|slot| Vacancy { slot, fullness: slot.0 })
    }

    #[inline]
    fn slots(&self) -> impl Iterator<Item = Slot> {
        let (bucket_bits, slot_bits) = (self.bucket_bits, self.slot_bits);
        (0..bucket_bits / slot_bits).map(move |index| Slot(index * slot_bits))
    }

    #[inline]
    fn filled_slots(&self, bucket: BucketIndex) -> impl Iterator<Item = (u64, Slot, Fingerprint)> {
        self.contents(bucket).filter_map(|(number, slot, content)| Some((number, slot, Fingerprint::new(content)?)))
    }

    #[inline]
    fn get(&self, bucket: BucketIndex, slot: Slot) -> Option<Fingerprint> {
        Fingerprint::new(self.content(bucket, slot))
    }

    #[inline]
    fn prefetch(&self, bucket: BucketIndex) {
        self.storage.prefetch(self.bit(bucket, 0), self.bit(bucket, self.bucket_bits - 1));
    }
}

impl<S: DerefMut<Target = [u8]>, W: Word, const ONE_WORD: bool> TableMut for PackedTable<S, W, ONE_WORD> {
    #[inline]
    fn set(&mut self, bucket: BucketIndex, slot: Slot, fingerprint: Option<Fingerprint>) {
        self.set_content(bucket, slot, fingerprint.map_or(0, Fingerprint::get));
    }
}

impl<S: DerefMut<Target = [u8]>, W: Word, const ONE_WORD: bool> PackedTable<S, W, ONE_WORD> {
    /// Replaces the bits of a slot.
    #[inline]
    pub(super) fn set_content(&mut self, bucket: BucketIndex, slot: Slot, content: u32) {
        let (byte, before) = byte_of(self.bit(bucket, slot.0));
        let word = W::read(&self.storage, byte);
        self.lanes.with(word, before, content).write(&mut self.storage, byte);
    }
}

impl<S: Deref<Target: Bits>, W: Word, const ONE_WORD: bool> StoredTable for PackedTable<S, W, ONE_WORD> {
    type Storage = S;
    type View<'table>
        = PackedTable<&'table S::Target, W, ONE_WORD>
    where
        Self: 'table;

    fn over(parameters: &Parameters, storage: S) -> Self {
        debug_assert!(!ONE_WORD || Self::holds_bucket(parameters));
        let slot_bits = parameters.bits_per_slot();
        let lanes_that_fit = Self::USABLE_BITS / slot_bits;
        // All words of a bucket have as many slots, so that one set of masks serves them all.
        let shares = |lanes: &u32| parameters.slots_per_bucket().is_multiple_of(*lanes);
        let lanes_per_word = (1..=lanes_that_fit).rev().find(shares).unwrap_or(1);
        Self {
            storage,
            lanes: Lanes::new(lanes_per_word, slot_bits),
            slot_bits,
            bucket_bits: parameters.bucket_bits(),
            stride: if parameters.layout() == Layout::Windowed { slot_bits } else { parameters.bucket_bits() },
            word_bits: lanes_per_word * slot_bits,
        }
    }

    #[inline]
    fn view(&self) -> Self::View<'_> {
        self.with_storage(&*self.storage)
    }

    fn storage(&self) -> &S {
        &self.storage
    }

    fn into_storage(self) -> S {
        self.storage
    }
}

impl<W: Word, const ONE_WORD: bool> OwnedTable for PackedTable<Storage, W, ONE_WORD> {
    type ViewMut<'table>
        = PackedTable<&'table mut [u8], W, ONE_WORD>
    where
        Self: 'table;

    #[inline]
    fn view_mut(&mut self) -> Self::ViewMut<'_> {
        let Self { ref mut storage, lanes, slot_bits, bucket_bits, word_bits, stride } = *self;
        PackedTable { storage, lanes, slot_bits, bucket_bits, word_bits, stride }
    }

    fn storage_mut(&mut self) -> &mut Storage {
        &mut self.storage
    }
}
