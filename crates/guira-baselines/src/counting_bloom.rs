use crate::cast::approximate;
use crate::error::in_range;
use crate::fields::Fields;
use crate::probes::{MAX_PROBES, best_probes, bits_for, bloom_rate, probes};
use crate::{BuildError, Digest, Filter, Full, Insert, Remove};

/// The bits of a counter. With the best k, a counter passes 15 with probability below 1.4e-15 (Fan et al.).
const COUNTER_BITS: u32 = 4;
const SATURATED: u64 = (1 << COUNTER_BITS) - 1;

/// The counting Bloom filter: section 2.1 of the paper; Fan, Cao, Almeida and Broder, "Summary Cache" (2000).
///
/// m counters of 4 bits, of which a key increments k; so it has the rate of a [`BloomFilter`] of m bits, (1 - (1 -
/// 1/m)^(kn))^k, and takes 4 m bits.
///
/// A counter that has reached 15 stays there, also when keys are removed. So no key is lost, but one that was inserted 15
/// times is found for ever.
///
/// [`BloomFilter`]: crate::BloomFilter
#[derive(Clone, Debug)]
pub struct CountingBloomFilter {
    counters: Fields,
    probe_count: u32,
    len: usize,
}

impl CountingBloomFilter {
    /// A filter of `counter_count` counters, of which each key increments `probe_count`.
    ///
    /// # Errors
    ///
    /// If there are no counters, no probes or more than 32, or not enough memory.
    pub fn new(counter_count: u64, probe_count: u32) -> Result<Self, BuildError> {
        in_range("the number of counters", counter_count, 1, u64::MAX)?;
        in_range("the number of probes", probe_count.into(), 1, MAX_PROBES.into())?;
        Ok(Self { counters: Fields::zeroed(counter_count, COUNTER_BITS)?, probe_count, len: 0 })
    }

    /// A filter for this many keys, with the number of probes that gives the lowest rate. It takes four bits per counter.
    ///
    /// # Errors
    ///
    /// If there are no counters, or not enough memory.
    pub fn with_capacity(keys: u64, counters_per_key: f64) -> Result<Self, BuildError> {
        Self::new(bits_for(keys, counters_per_key), best_probes(counters_per_key))
    }

    /// The share of the counters that are 15 and stay so.
    #[must_use]
    pub fn saturated_ratio(&self) -> f64 {
        let saturated = (0..self.counters.count()).filter(|&at| self.counters.get(at) == SATURATED).count();
        approximate(saturated as u64) / approximate(self.counters.count())
    }

    #[inline]
    fn positions(&self, digest: Digest) -> impl Iterator<Item = u64> + use<> {
        probes(digest, self.probe_count, self.counters.count())
    }
}

impl Filter for CountingBloomFilter {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        self.positions(digest).all(|at| self.counters.get(at) > 0)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.counters.bits()
    }

    fn expected_false_positive_rate(&self) -> f64 {
        bloom_rate(approximate(self.len as u64), approximate(self.counters.count()), self.probe_count)
    }
}

impl Insert for CountingBloomFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        for at in self.positions(digest) {
            let count = self.counters.get(at);
            self.counters.set(at, (count + 1).min(SATURATED));
        }
        self.len += 1;
        Ok(())
    }
}

impl Remove for CountingBloomFilter {
    #[inline]
    fn remove(&mut self, digest: Digest) -> bool {
        if !self.contains(digest) {
            return false;
        }
        for at in self.positions(digest) {
            let count = self.counters.get(at);
            if count < SATURATED {
                // A position that occurs twice was incremented twice, unless the key was never inserted.
                self.counters.set(at, count.saturating_sub(1));
            }
        }
        self.len = self.len.saturating_sub(1);
        true
    }
}
