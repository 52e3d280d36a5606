use crate::blocked_bloom::mean_over_blocks;
use crate::cast::{approximate, in_memory, scale};
use crate::error::in_range;
use crate::memory::Memory;
use crate::probes::bits_for;
use crate::{BuildError, Digest, Filter, Full, Insert};

const BLOCK_BYTES: usize = 64;
const BLOCK_BITS: u64 = 512;
/// A key sets one bit in each word of its block: k = 8.
const WORDS: usize = 8;
const WORD_BITS: u64 = 64;
/// An odd factor, 2^64 over the golden ratio: the high bits of the product depend on all bits of a digest.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The blocked Bloom filter in the split form that is in use today, as in Impala, Kudu and Parquet: section 2.1 of Broder and
/// Mitzenmacher, "Network Applications of Bloom Filters: A Survey" (2004), within a block. [`BlockedBloomFilter`] is the
/// paper's.
///
/// Blocks of 64 bytes, a cache line, each of eight words; a key sets one bit of each word of its block, so that a lookup is
/// eight shifts that do not depend on each other. A block has i of n keys with the probability of a binomial distribution
/// with share 1/B, B being the number of blocks; hence the rate is Σ P(i) · (1 - (1 - 1/64)^i)^8, which is higher than that
/// of a [`BloomFilter`] with as many bits.
///
/// [`BlockedBloomFilter`]: crate::BlockedBloomFilter
/// [`BloomFilter`]: crate::BloomFilter
#[derive(Clone, Debug)]
pub struct SplitBlockBloomFilter {
    memory: Memory,
    block_count: u64,
    len: usize,
}

/// The positions in a product of the numbers of a key's bits, one for each word. Not up to its last bit: then all numbers are
/// masked, and compilers do all words alike.
const SHIFTS: [u64; WORDS] = [57, 51, 45, 39, 33, 27, 21, 15];

/// The bit of a key in each word of its block, from six bits of a product each. Loops over arrays without branches, which
/// compilers vectorize.
#[inline(always)]
fn masks(digest: Digest) -> [u64; WORDS] {
    let product = digest.get().wrapping_mul(FACTOR);
    SHIFTS.map(|shift| 1 << ((product >> shift) % WORD_BITS))
}

impl SplitBlockBloomFilter {
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

    /// How many bits are set in the first words of all blocks, in the second ones, and so on.
    #[doc(hidden)]
    #[must_use]
    pub fn bits_set_by_word(&self) -> [u64; WORDS] {
        let blocks = self.memory.as_chunks::<BLOCK_BYTES>().0;
        core::array::from_fn(|word| {
            let ones = blocks
                .iter()
                .map(|block| block[8 * word..8 * word + 8].iter().map(|byte| byte.count_ones()).sum::<u32>());
            ones.map(u64::from).sum()
        })
    }

    #[inline]
    fn block(&self, digest: Digest) -> usize {
        in_memory(scale(digest.get(), self.block_count).0)
    }
}

impl Filter for SplitBlockBloomFilter {
    #[inline(always)]
    fn contains(&self, digest: Digest) -> bool {
        let words = self.memory.as_chunks::<BLOCK_BYTES>().0[self.block(digest)].as_chunks::<8>().0;
        // All bits without a branch: they are in one cache line, and a misprediction costs more than testing them.
        let masks = masks(digest);
        let mut missing = 0;
        for (word, mask) in words.iter().zip(masks) {
            missing |= !u64::from_le_bytes(*word) & mask;
        }
        missing == 0
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.block_count * BLOCK_BITS
    }

    fn expected_false_positive_rate(&self) -> f64 {
        let rate_with =
            |keys: f64| (-(keys * (-1.0 / approximate(WORD_BITS)).ln_1p()).exp_m1()).powf(approximate(WORDS as u64));
        mean_over_blocks(self.len as u64, self.block_count, rate_with)
    }
}

impl Insert for SplitBlockBloomFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        let block = self.block(digest);
        let words = self.memory.as_chunks_mut::<BLOCK_BYTES>().0[block].as_chunks_mut::<8>().0;
        for (word, mask) in words.iter_mut().zip(masks(digest)) {
            *word = (u64::from_le_bytes(*word) | mask).to_le_bytes();
        }
        self.len += 1;
        Ok(())
    }
}
