use super::Buckets;
use crate::BuildError;
use crate::memory::Memory;
use crate::word::Word;

/// The slots of a bucket whose shape is a compile-time constant.
const CONSTANT_SLOTS: u32 = 4;

/// Slots of f bits, one after the other without a gap; 0 is an empty slot.
///
/// A bucket is read as one word if it fits, otherwise as several with equal numbers of slots.
///
/// `BITS` is the length of fingerprints, known at compile time as in the authors' program, in buckets of four slots that are
/// one word; or 0 for a shape that is chosen at run time.
#[derive(Clone, Debug)]
pub(crate) struct PlainBuckets<W, const BITS: u32> {
    memory: Memory,
    fingerprint_bits: u32,
    bucket_bits: u32,
    word_bits: u32,
    /// The lowest bit of each lane of a word, and the highest.
    low: W,
    high: W,
}

impl<W: Word, const BITS: u32> PlainBuckets<W, BITS> {
    /// Returns `true` if a bucket fits one word, wherever it starts: a whole word starts at a whole byte.
    pub(crate) const fn fits(slots_per_bucket: u32, fingerprint_bits: u32) -> bool {
        let bits = slots_per_bucket * fingerprint_bits;
        bits <= W::USABLE_BITS || bits == W::USABLE_BITS + 7
    }

    pub(crate) fn empty(bucket_count: u64, slots_per_bucket: u32, fingerprint_bits: u32) -> Result<Self, BuildError> {
        debug_assert!(BITS == 0 || (slots_per_bucket == CONSTANT_SLOTS && fingerprint_bits == BITS));
        // The number of slots is a power of two, so it can be halved until it fits.
        let mut lanes = slots_per_bucket;
        while !Self::fits(lanes, fingerprint_bits) {
            lanes /= 2;
        }
        let bucket_bits = slots_per_bucket * fingerprint_bits;
        let low = W::lanes(lanes, fingerprint_bits, W::from(1));
        Ok(Self {
            memory: Memory::zeroed(bucket_count * u64::from(bucket_bits))?,
            fingerprint_bits,
            bucket_bits,
            word_bits: lanes * fingerprint_bits,
            low,
            high: low << (fingerprint_bits - 1),
        })
    }

    #[inline]
    const fn bucket_bits(&self) -> u32 {
        if BITS > 0 { CONSTANT_SLOTS * BITS } else { self.bucket_bits }
    }

    #[inline]
    const fn word_bits(&self) -> u32 {
        if BITS > 0 { CONSTANT_SLOTS * BITS } else { self.word_bits }
    }

    #[inline]
    fn low(&self) -> W {
        if BITS > 0 { W::lanes(CONSTANT_SLOTS, BITS, W::from(1)) } else { self.low }
    }

    #[inline]
    fn high(&self) -> W {
        if BITS > 0 { self.low() << (BITS - 1) } else { self.high }
    }

    #[inline]
    fn start(&self, bucket: u64) -> u64 {
        bucket * u64::from(self.bucket_bits())
    }

    /// Marks the highest bit of lanes that equal a value. The lowest mark is always right, and there is none if no lane is
    /// equal.
    ///
    /// If the difference is 0, subtracting 1 sets the highest bit, which was clear. A borrow can set others wrongly, but only
    /// above such a lane.
    #[inline]
    fn equal_lanes(&self, at: u64, value: u32) -> W {
        let difference = W::read(&self.memory, at) ^ self.low().times(W::from(value));
        difference.minus(self.low()) & !difference & self.high()
    }

    /// The positions of the words of a bucket, in bits.
    #[inline]
    fn words(&self, bucket: u64) -> impl Iterator<Item = u64> + use<W, BITS> {
        let (start, step) = (self.start(bucket), self.word_bits());
        (0..self.bucket_bits() / step).map(move |word| start + u64::from(word * step))
    }

    /// The position in bits of the first slot that holds a value.
    #[inline]
    fn find(&self, bucket: u64, value: u32) -> Option<u64> {
        self.words(bucket).find_map(|at| {
            let lanes = self.equal_lanes(at, value);
            (lanes != W::ZERO).then(|| at + u64::from(lanes.lowest_one() + 1 - self.fingerprint_bits()))
        })
    }

    #[inline]
    fn set(&mut self, at: u64, value: u32) {
        let mask = W::ones(self.fingerprint_bits());
        W::from(value).write(&mut self.memory, at, mask);
    }

    /// Overwrites a slot that holds `old`. Returns `false` if none does.
    #[inline]
    fn replace(&mut self, bucket: u64, old: u32, new: u32) -> bool {
        let found = self.find(bucket, old);
        if let Some(at) = found {
            self.set(at, new);
        }
        found.is_some()
    }
}

impl<W: Word, const BITS: u32> Buckets for PlainBuckets<W, BITS> {
    #[inline]
    fn fingerprint_bits(&self) -> u32 {
        if BITS > 0 { BITS } else { self.fingerprint_bits }
    }

    #[inline]
    fn contains_either(&self, [one, other]: [u64; 2], fingerprint: u32) -> bool {
        let words = self.words(one).zip(self.words(other));
        let equal = words.map(|(one, other)| self.equal_lanes(one, fingerprint) | self.equal_lanes(other, fingerprint));
        equal.fold(W::ZERO, |found, lanes| found | lanes) != W::ZERO
    }

    #[inline]
    fn put(&mut self, bucket: u64, fingerprint: u32) -> bool {
        self.replace(bucket, 0, fingerprint)
    }

    #[inline]
    fn take(&mut self, bucket: u64, fingerprint: u32) -> bool {
        self.replace(bucket, fingerprint, 0)
    }

    #[inline]
    fn exchange(&mut self, bucket: u64, slot: u32, fingerprint: u32) -> u32 {
        let at = self.start(bucket) + u64::from(slot * self.fingerprint_bits());
        let old = (W::read(&self.memory, at) & W::ones(self.fingerprint_bits())).low_32();
        self.set(at, fingerprint);
        old
    }
}
