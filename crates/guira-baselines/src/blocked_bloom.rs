use crate::cast::{approximate, in_memory, saturating_floor, scale};
use crate::error::in_range;
use crate::memory::Memory;
use crate::probes::{best_probes, bits_for};
use crate::{BuildError, Digest, Filter, Full, Insert};

const BLOCK_BYTES: usize = 64;
const BLOCK_BITS: u64 = 512;
const WORDS: u64 = BLOCK_BITS / 64;

/// With more probes, the expected rate would be a sum of too many terms to be worth taking.
const MOST_PROBES: u32 = 16;

/// The blocked Bloom filter, the paper's blk-BF: section 2.1; Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient
/// Bloom Filters" (2007).
///
/// Blocks of 64 bytes, a cache line, each a small Bloom filter for the keys that hash to it. A block has i keys with the
/// probability of a Poisson distribution of mean λ = 512 n/m, and m bits have the rate Σ Poisson(λ, i) · (1 - (1 -
/// 1/512)^(ki))^k, which is higher than that of a [`BloomFilter`] with as many bits.
///
/// That formula takes the k probes for independent. As in the paper, they are made from two hashes by equation (8), here
/// modulo 512 and with odd steps, which lets whole keys coincide: the rate is a little higher still, and
/// [`expected_false_positive_rate`] has what it is.
///
/// [`BloomFilter`]: crate::BloomFilter
/// [`expected_false_positive_rate`]: Filter::expected_false_positive_rate
#[derive(Clone, Debug)]
pub struct BlockedBloomFilter {
    memory: Memory,
    block_count: u64,
    probe_count: u32,
    len: usize,
}

/// The bits of a key in its block: h1 and h2 of equation (8).
#[derive(Clone, Copy)]
struct Steps {
    first: u64,
    step: u64,
}

impl Steps {
    /// What is left of a digest when its block has been taken from it. The step is odd, so that k bits are k bits.
    #[inline]
    const fn of(fraction: u64) -> Self {
        Self { first: fraction >> 55, step: (fraction >> 46) | 1 }
    }

    /// The word and the place in it of each bit.
    #[inline]
    fn bits(self, count: u32) -> impl Iterator<Item = (usize, u64)> {
        let mut bit = self.first;
        (0..count).map(move |_| {
            let place = (in_memory(bit / 64 % WORDS), bit % 64);
            bit = bit.wrapping_add(self.step);
            place
        })
    }
}

impl BlockedBloomFilter {
    /// A filter of so many bits in whole blocks, rounded up, where each key sets `probe_count` bits.
    ///
    /// # Errors
    ///
    /// For no bit, for no probe or more than 16, and where there is no memory.
    pub fn new(bit_count: u64, probe_count: u32) -> Result<Self, BuildError> {
        in_range("the number of bits", bit_count, 1, u64::MAX - BLOCK_BITS)?;
        in_range("the number of probes", probe_count.into(), 1, MOST_PROBES.into())?;
        let block_count = bit_count.div_ceil(BLOCK_BITS);
        Ok(Self { memory: Memory::zeroed(block_count * BLOCK_BITS)?, block_count, probe_count, len: 0 })
    }

    /// A filter for so many keys, with the number of probes that is best for a standard Bloom filter, as in the paper.
    ///
    /// # Errors
    ///
    /// For no bit, for so many bits per key that it would take more than 16 probes, and where there is no memory.
    pub fn with_capacity(keys: u64, bits_per_key: f64) -> Result<Self, BuildError> {
        Self::new(bits_for(keys, bits_per_key), best_probes(bits_per_key))
    }

    /// k, the bits that a key sets.
    #[must_use]
    pub const fn probe_count(&self) -> u32 {
        self.probe_count
    }

    /// The rate with k independent probes: the Poisson mixture of Putze et al.
    #[must_use]
    pub fn rate_with_independent_probes(&self) -> f64 {
        let mean = approximate(self.len as u64) / approximate(self.block_count);
        let probes = f64::from(self.probe_count);
        let bits = approximate(BLOCK_BITS);
        let most = in_memory(saturating_floor(mean + 40.0 * (mean.sqrt() + 1.0)));
        let mut poisson = (-mean).exp();
        let mut rate = 0.0;
        for keys in 0..most {
            let keys = approximate(keys as u64);
            rate += poisson * (-(probes * keys * (-1.0 / bits).ln_1p()).exp_m1()).powf(probes);
            poisson *= mean / (keys + 1.0);
        }
        rate
    }

    #[inline]
    fn locate(&self, digest: Digest) -> (usize, Steps) {
        let (block, fraction) = scale(digest.get(), self.block_count);
        (in_memory(block), Steps::of(fraction))
    }
}

impl Filter for BlockedBloomFilter {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let (block, steps) = self.locate(digest);
        let words = self.memory.as_chunks::<BLOCK_BYTES>().0[block].as_chunks::<8>().0;
        // All bits, without a branch: they are in one cache line, and a wrong guess costs more than looking at them.
        steps.bits(self.probe_count).fold(1, |all, (word, bit)| all & (u64::from_le_bytes(words[word]) >> bit)) & 1 == 1
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.block_count * BLOCK_BITS
    }

    /// Exact for these probes.
    ///
    /// A query asks for k bits T; by inclusion and exclusion, all are set with probability Σ (-1)^|S| · P(no key has set a
    /// bit of S), over all subsets S of T. A key sets none of S unless it is in the same block (probability 1/B) and its
    /// pattern meets S. Multiplying all bits of a block by the inverse of the query's step, modulo 512, turns T into
    /// 0, 1, …, k - 1 and leaves the other keys' patterns uniform, so that one count of all 512 · 256 patterns serves.
    fn expected_false_positive_rate(&self) -> f64 {
        let subsets = 1_usize << self.probe_count;
        // How many patterns meet T in exactly this subset, then: in any part of this subset.
        let mut patterns = vec![0_u32; subsets];
        for first in 0..BLOCK_BITS {
            for step in (1..BLOCK_BITS).step_by(2) {
                let bits = (0..u64::from(self.probe_count)).map(|i| (first + i * step) % BLOCK_BITS);
                let met = bits.filter(|&bit| bit < self.probe_count.into()).fold(0, |met, bit| met | 1 << bit);
                patterns[met] += 1;
            }
        }
        for bit in 0..self.probe_count {
            for subset in 0..subsets {
                if subset >> bit & 1 == 1 {
                    patterns[subset] += patterns[subset ^ (1 << bit)];
                }
            }
        }
        let all_patterns = f64::from(patterns[subsets - 1]);
        let (keys, blocks) = (approximate(self.len as u64), approximate(self.block_count));
        let term = |subset: usize| {
            // The patterns that meet S are all but those that keep within its complement.
            let avoiding = f64::from(patterns[subsets - 1 - subset]);
            let unmet = (keys * (-(1.0 - avoiding / all_patterns) / blocks).ln_1p()).exp();
            if subset.count_ones().is_multiple_of(2) { unmet } else { -unmet }
        };
        (0..subsets).map(term).sum::<f64>().max(0.0)
    }
}

impl Insert for BlockedBloomFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        let (block, steps) = self.locate(digest);
        let words = self.memory.as_chunks_mut::<BLOCK_BYTES>().0[block].as_chunks_mut::<8>().0;
        for (word, bit) in steps.bits(self.probe_count) {
            words[word] = (u64::from_le_bytes(words[word]) | 1 << bit).to_le_bytes();
        }
        self.len += 1;
        Ok(())
    }
}
