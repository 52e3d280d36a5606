use super::Buckets;
use crate::BuildError;
use crate::memory::Memory;
use crate::word::Word;

/// Slots of f bits, one after the other, without a gap; 0 is an empty slot.
///
/// A bucket is read as one word where it fits, else as several with as many slots each.
#[derive(Clone, Debug)]
pub(crate) struct PlainBuckets<W> {
    memory: Memory,
    fingerprint_bits: u32,
    bucket_bits: u32,
    word_bits: u32,
    /// The lowest bit of each lane of a word, and the highest.
    low: W,
    high: W,
}

impl<W: Word> PlainBuckets<W> {
    /// Whether a bucket fits one word.
    pub(crate) const fn fits(slots_per_bucket: u32, fingerprint_bits: u32) -> bool {
        slots_per_bucket * fingerprint_bits <= W::USABLE_BITS
    }

    pub(crate) fn empty(bucket_count: u64, slots_per_bucket: u32, fingerprint_bits: u32) -> Result<Self, BuildError> {
        // A power of two of slots can be halved until it fits.
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
    fn start(&self, bucket: u64) -> u64 {
        bucket * u64::from(self.bucket_bits)
    }

    /// Marks the highest bit of lanes that equal a value: rightly the lowest of them, and at least none if there is none.
    ///
    /// Where the difference is 0, subtracting 1 sets the highest bit, which was clear; a borrow can do so wrongly, but only
    /// above such a lane.
    #[inline]
    fn equal_lanes(&self, at: u64, value: u32) -> W {
        let difference = W::read(&self.memory, at) ^ self.low.times(W::from(value));
        difference.minus(self.low) & !difference & self.high
    }

    /// The words of a bucket, by the bits that they start at.
    #[inline]
    fn words(&self, bucket: u64) -> impl Iterator<Item = u64> + use<W> {
        let (start, step) = (self.start(bucket), self.word_bits);
        (0..self.bucket_bits / step).map(move |word| start + u64::from(word * step))
    }

    /// The bit where the first slot starts that holds a value.
    #[inline]
    fn find(&self, bucket: u64, value: u32) -> Option<u64> {
        self.words(bucket).find_map(|at| {
            let lanes = self.equal_lanes(at, value);
            (lanes != W::ZERO).then(|| at + u64::from(lanes.lowest_one() + 1 - self.fingerprint_bits))
        })
    }

    #[inline]
    fn set(&mut self, at: u64, value: u32) {
        W::from(value).write(&mut self.memory, at, W::ones(self.fingerprint_bits));
    }

    /// Overwrites a slot that holds a value, if there is one.
    #[inline]
    fn replace(&mut self, bucket: u64, old: u32, new: u32) -> bool {
        let found = self.find(bucket, old);
        if let Some(at) = found {
            self.set(at, new);
        }
        found.is_some()
    }
}

impl<W: Word> Buckets for PlainBuckets<W> {
    #[inline]
    fn contains(&self, bucket: u64, fingerprint: u32) -> bool {
        self.words(bucket).fold(W::ZERO, |found, at| found | self.equal_lanes(at, fingerprint)) != W::ZERO
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
        let at = self.start(bucket) + u64::from(slot * self.fingerprint_bits);
        let old = (W::read(&self.memory, at) & W::ones(self.fingerprint_bits)).low_32();
        self.set(at, fingerprint);
        old
    }
}
