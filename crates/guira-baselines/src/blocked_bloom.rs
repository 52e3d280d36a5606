use std::sync::LazyLock;

use crate::cast::{approximate, in_memory, saturating_floor, scale};
use crate::error::in_range;
use crate::memory::Memory;
use crate::probes::bits_for;
use crate::{BuildError, Digest, Filter, Full, Insert};

const BLOCK_BYTES: usize = 64;
const BLOCK_BITS: u64 = 512;
const WORD_BITS: u64 = 64;
/// k: the best number of probes for 13 bits per key, which table 3 has.
const PROBES: usize = 9;
/// How many probes a lookup makes between two branches, as in a [`BloomFilter`](crate::BloomFilter).
const AT_A_TIME: usize = 3;
/// An odd factor, 2^64 over the golden ratio: the high bits of the product depend on all bits of a digest.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The blocked Bloom filter, the paper's blk-BF: section 2.1; Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient
/// Bloom Filters" (2007).
///
/// Blocks of 64 bytes, a cache line; a key sets nine bits anywhere in its block, the probes of equation (8) within it:
/// h1 + i · h2 modulo 512. The paper does not say which h2 it takes. It is odd here, so that all nine bits differ; with this,
/// the rate at 13 bits per key is the paper's 0.43 %.
///
/// Since an odd h2 has an inverse modulo 512, all sets of nine probes are alike, and the rate is known exactly: with n keys in
/// a block, Σ (-1)^|S| q(S)^n over all subsets S of {0, …, 8}, where q(S) is the share of all h1 and h2 whose probes avoid S.
/// A block has n of all keys with the probability of a binomial distribution.
///
/// Nine bits are tested three at a time, and the first three that are not all set end a lookup.
#[derive(Clone, Debug)]
pub struct BlockedBloomFilter {
    memory: Memory,
    block_count: u64,
    len: usize,
}

/// The positions of a key's bits in its block.
#[inline(always)]
fn probes(digest: Digest) -> [u64; PROBES] {
    let product = digest.get().wrapping_mul(FACTOR);
    let (first, step) = (product >> 55, (product >> 46) | 1);
    let mut next = first;
    core::array::from_fn(|_| {
        let probe = next % BLOCK_BITS;
        next = next.wrapping_add(step);
        probe
    })
}

impl BlockedBloomFilter {
    /// A filter of `bit_count` bits, rounded up to whole blocks.
    ///
    /// # Errors
    ///
    /// If there are no bits or more than 2^41, or not enough memory.
    pub fn new(bit_count: u64) -> Result<Self, BuildError> {
        // The block takes the high bits of a digest; the bits within it need others.
        in_range("the number of bits", bit_count, 1, BLOCK_BITS << 32)?;
        let block_count = bit_count.div_ceil(BLOCK_BITS);
        Ok(Self { memory: Memory::zeroed(block_count * BLOCK_BITS)?, block_count, len: 0 })
    }

    /// A filter for this many keys.
    ///
    /// # Errors
    ///
    /// If there are no bits or more than 2^41, or not enough memory.
    pub fn with_capacity(keys: u64, bits_per_key: f64) -> Result<Self, BuildError> {
        Self::new(bits_for(keys, bits_per_key))
    }

    /// How many bits are set in the blocks that have any.
    #[doc(hidden)]
    #[must_use]
    pub fn bits_set_by_block(&self) -> Vec<u32> {
        let blocks = self.memory.as_chunks::<BLOCK_BYTES>().0.iter();
        let ones = blocks.map(|block| block.iter().map(|byte| byte.count_ones()).sum());
        ones.filter(|&ones| ones > 0).collect()
    }

    #[inline]
    fn block(&self, digest: Digest) -> usize {
        in_memory(scale(digest.get(), self.block_count).0)
    }
}

impl Filter for BlockedBloomFilter {
    #[inline(always)]
    fn contains(&self, digest: Digest) -> bool {
        let words = self.memory.as_chunks::<BLOCK_BYTES>().0[self.block(digest)].as_chunks::<8>().0;
        let probes = probes(digest);
        for some in probes.as_chunks::<AT_A_TIME>().0 {
            let mut bits = 1;
            for &probe in some {
                bits &= u64::from_le_bytes(words[in_memory(probe / WORD_BITS)]) >> (probe % WORD_BITS);
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
        self.block_count * BLOCK_BITS
    }

    fn expected_false_positive_rate(&self) -> f64 {
        mean_over_blocks(self.len as u64, self.block_count, rate_of_block)
    }
}

impl Insert for BlockedBloomFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        let block = self.block(digest);
        let words = self.memory.as_chunks_mut::<BLOCK_BYTES>().0[block].as_chunks_mut::<8>().0;
        for probe in probes(digest) {
            let word = &mut words[in_memory(probe / WORD_BITS)];
            *word = (u64::from_le_bytes(*word) | 1 << (probe % WORD_BITS)).to_le_bytes();
        }
        self.len += 1;
        Ok(())
    }
}

/// For each subset S of the probes {0, …, 8}, a bit for each: the share of all h1 and odd h2 whose probes avoid S.
static AVOIDING: LazyLock<[f64; 1 << PROBES]> = LazyLock::new(|| {
    let mut shares = [0.0; 1 << PROBES];
    let pairs = (0..BLOCK_BITS).flat_map(|first| (1..BLOCK_BITS).step_by(2).map(move |step| (first, step)));
    for (first, step) in pairs {
        let probes = (0..PROBES as u64).map(|number| (first + number * step) % BLOCK_BITS);
        let hit = probes.filter(|&probe| probe < PROBES as u64).fold(0, |hit, probe| hit | 1 << probe);
        shares[hit] += 2.0 / approximate(BLOCK_BITS * BLOCK_BITS);
    }
    // From the share that hits exactly a set to the share that hits nothing outside of it, a probe at a time.
    for probe in 0..PROBES {
        for set in (0..1 << PROBES).filter(|set| set >> probe & 1 == 1) {
            shares[set] += shares[set ^ 1 << probe];
        }
    }
    // What avoids S hits nothing outside of its complement.
    shares.reverse();
    shares
});

/// The rate of a block with this many keys, by inclusion and exclusion.
fn rate_of_block(keys: f64) -> f64 {
    let term = |(set, share): (usize, &f64)| {
        let sign = if set.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * share.powf(keys)
    };
    // Terms that nearly cancel each other leave an error of some 1e-14.
    AVOIDING.iter().enumerate().map(term).sum::<f64>().max(0.0)
}

/// The mean of a block's rate, where a block has each of so many keys with the same probability.
pub(crate) fn mean_over_blocks(len: u64, block_count: u64, rate_with: impl Fn(f64) -> f64) -> f64 {
    let (keys, blocks) = (approximate(len), approximate(block_count));
    if block_count == 1 {
        return rate_with(keys);
    }
    let mean = keys / blocks;
    let most = saturating_floor(mean + 40.0 * (mean.sqrt() + 1.0)).min(len);
    // Terms of the binomial distribution, each from the one before. In logarithms, since the first may underflow in a small
    // filter.
    let (mut log_share, mut rate) = (keys * (-1.0 / blocks).ln_1p(), 0.0);
    for stored in 0..=most {
        let stored = approximate(stored);
        rate += log_share.exp() * rate_with(stored);
        log_share += ((keys - stored) / (stored + 1.0) / (blocks - 1.0)).ln();
    }
    rate
}
