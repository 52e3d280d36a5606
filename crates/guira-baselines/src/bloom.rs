use crate::cast::approximate;
use crate::error::in_range;
use crate::memory::Memory;
use crate::probes::{MAX_PROBES, best_probes, bits_for, bloom_rate, probes};
use crate::{BuildError, Digest, Filter, Full, Insert};

/// How many probes a lookup makes between two branches.
const AT_A_TIME: usize = 3;

/// The standard Bloom filter, the paper's BF: section 2.1, with the probes of equation (8).
///
/// m bits, of which a key sets k. With n keys, the rate is (1 - (1 - 1/m)^(kn))^k. The best k is ln 2 · m/n, with which the
/// rate is 2^-k, so that a rate ε takes 1.44 log2(1/ε) bits per key.
///
/// It is never full: with more keys than planned, its rate grows.
#[derive(Clone, Debug)]
pub struct BloomFilter {
    memory: Memory,
    bit_count: u64,
    probe_count: u32,
    len: usize,
}

impl BloomFilter {
    /// A filter of `bit_count` bits, of which each key sets `probe_count`.
    ///
    /// # Errors
    ///
    /// If there are no bits, no probes or more than 32, or not enough memory.
    pub fn new(bit_count: u64, probe_count: u32) -> Result<Self, BuildError> {
        in_range("the number of bits", bit_count, 1, u64::MAX)?;
        in_range("the number of probes", probe_count.into(), 1, MAX_PROBES.into())?;
        Ok(Self { memory: Memory::zeroed(bit_count)?, bit_count, probe_count, len: 0 })
    }

    /// A filter for this many keys, with the number of probes that gives the lowest rate.
    ///
    /// # Errors
    ///
    /// If there are no bits, or not enough memory.
    pub fn with_capacity(keys: u64, bits_per_key: f64) -> Result<Self, BuildError> {
        Self::new(bits_for(keys, bits_per_key), best_probes(bits_per_key))
    }

    /// k, the number of bits that a key sets.
    #[must_use]
    pub const fn probe_count(&self) -> u32 {
        self.probe_count
    }

    /// The share of the bits that are set: expected to be 1 - (1 - 1/m)^(kn), and 1/2 in the best filter.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        let ones: u64 = self.memory.iter().map(|byte| u64::from(byte.count_ones())).sum();
        approximate(ones) / approximate(self.bit_count)
    }
}

impl Filter for BloomFilter {
    #[inline(always)]
    fn contains(&self, digest: Digest) -> bool {
        // An absent key meets a 0 after two probes on average, so the rest is not read. Several at a time: which of them is
        // 0 can't be predicted, and after a misprediction a processor waits for memory.
        let mut probes = probes(digest, self.probe_count, self.bit_count);
        while let Some(first) = probes.next() {
            let mut bits = self.memory.bits_from(first);
            for _ in 1..AT_A_TIME {
                bits &= self.memory.bits_from(probes.next().unwrap_or(first));
            }
            if bits & 1 == 0 {
                return false;
            }
        }
        true
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.bit_count
    }

    fn expected_false_positive_rate(&self) -> f64 {
        bloom_rate(approximate(self.len as u64), approximate(self.bit_count), self.probe_count)
    }
}

impl Insert for BloomFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        probes(digest, self.probe_count, self.bit_count).for_each(|bit| self.memory.set_bit(bit));
        self.len += 1;
        Ok(())
    }
}
