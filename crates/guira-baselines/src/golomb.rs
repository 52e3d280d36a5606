use crate::cast::{approximate, saturating_floor, scale};
use crate::error::in_range;
use crate::fields::Fields;
use crate::memory::Memory;
use crate::word::Word;
use crate::{BuildError, Digest, Filter, StaticFilter};

/// The average number of keys in a block, as a power of two: with 2^7 the index takes some 0.2 bits per key.
const KEYS_PER_BLOCK_BITS: u32 = 7;

/// The Golomb-compressed sequence: section 2.1 of the paper; Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient
/// Bloom Filters" (2007). Static.
///
/// The keys' hashes are n sorted numbers below n · 2^f. The difference of each from the one before is stored in a Golomb code,
/// which is optimal for such differences. An index has the position in the code of each block of the range of hashes, so that
/// a query decodes a block of 128 numbers on average.
///
/// The rate is 1 - (1 - 2^-f / n)^n, a little below 2^-f. It takes f + 1.47 bits per key, and less than 0.4 for the index;
/// no such sequence takes less than f + 1.44.
#[derive(Clone, Debug)]
pub struct GolombSequence {
    code: Memory,
    code_bits: u64,
    golomb: Golomb,
    /// The position of each block in the code, then the end of the code.
    block_starts: Fields,
    /// Hashes are below this.
    range: u64,
    /// A block spans 2^`block_bits` numbers of the range.
    block_bits: u32,
    len: usize,
    /// The number of distinct hashes.
    stored: u64,
}

impl GolombSequence {
    #[inline]
    const fn hash(digest: Digest, range: u64) -> u64 {
        scale(digest.get(), range).0
    }

    /// The block of each hash, and its difference from the one before in the block, or from the least number of the block.
    fn differences(hashes: &[u64], block_bits: u32) -> impl Iterator<Item = (u64, u64)> {
        let mut least = 0;
        hashes.iter().map(move |&hash| {
            let block = hash >> block_bits;
            let difference = hash - least.max(block << block_bits);
            least = hash + 1;
            (block, difference)
        })
    }
}

impl StaticFilter for GolombSequence {
    fn build(digests: &[Digest], fingerprint_bits: u32) -> Result<Self, BuildError> {
        let len = digests.len();
        // Without keys, the range is that of one key.
        let keys = (len as u64).max(1);
        let longest = keys.leading_zeros().saturating_sub(1).min(40);
        in_range("the length of fingerprints", fingerprint_bits.into(), 1, longest.into())?;
        let range = keys << fingerprint_bits;
        let mut hashes: Vec<u64> = digests.iter().map(|&digest| Self::hash(digest, range)).collect();
        hashes.sort_unstable();
        hashes.dedup();

        let golomb = Golomb::for_mean_difference(fingerprint_bits);
        let block_bits = fingerprint_bits + KEYS_PER_BLOCK_BITS;
        let block_count = ((range - 1) >> block_bits) + 1;
        let code_bits = Self::differences(&hashes, block_bits).map(|(_, difference)| golomb.length(difference)).sum();
        let mut code = Memory::zeroed(code_bits)?;
        let start_bits = (u64::BITS - code_bits.leading_zeros()).max(1);
        let mut block_starts = Fields::zeroed(block_count + 1, start_bits)?;
        let (mut at, mut next_block) = (0, 0);
        for (block, difference) in Self::differences(&hashes, block_bits) {
            while next_block <= block {
                block_starts.set(next_block, at);
                next_block += 1;
            }
            at = golomb.write(&mut code, at, difference);
        }
        (next_block..=block_count).for_each(|block| block_starts.set(block, at));
        Ok(Self { code, code_bits, golomb, block_starts, range, block_bits, len, stored: hashes.len() as u64 })
    }
}

impl Filter for GolombSequence {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let hash = Self::hash(digest, self.range);
        let block = hash >> self.block_bits;
        let (mut at, end) = (self.block_starts.get(block), self.block_starts.get(block + 1));
        let mut least = block << self.block_bits;
        while at < end {
            let (difference, next) = self.golomb.read(&self.code, at);
            let found = least + difference;
            if found >= hash {
                return found == hash;
            }
            (least, at) = (found + 1, next);
        }
        false
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.code_bits + self.block_starts.bits()
    }

    fn expected_false_positive_rate(&self) -> f64 {
        approximate(self.stored) / approximate(self.range)
    }
}

/// The Golomb code of parameter M: a number's quotient by M in unary, and its remainder in a truncated binary code.
#[derive(Clone, Copy, Debug)]
struct Golomb {
    divisor: u64,
    /// The bits of a long remainder; short ones, which are below `short`, have one less.
    remainder_bits: u32,
    short: u64,
}

impl Golomb {
    /// The best code for differences that are 2^f on average: M = ln 2 · 2^f.
    fn for_mean_difference(fingerprint_bits: u32) -> Self {
        let best = core::f64::consts::LN_2 * f64::from(fingerprint_bits).exp2();
        let divisor = saturating_floor(best.round()).max(1);
        let remainder_bits = u64::BITS - (divisor - 1).leading_zeros();
        Self { divisor, remainder_bits, short: (1 << remainder_bits) - divisor }
    }

    /// The quotient, the code of the remainder, and its length in bits.
    const fn parts(self, number: u64) -> (u64, u64, u32) {
        let (quotient, remainder) = (number / self.divisor, number % self.divisor);
        if remainder < self.short {
            return (quotient, remainder, self.remainder_bits - 1);
        }
        // First the highest bits, which differ from those of all short ones; then the lowest bit.
        let written = remainder + self.short;
        let lowest = (written & 1) << (self.remainder_bits.saturating_sub(1));
        (quotient, written >> 1 | lowest, self.remainder_bits)
    }

    /// The length of a number's code in bits.
    fn length(self, number: u64) -> u64 {
        let (quotient, _, bits) = self.parts(number);
        quotient + 1 + u64::from(bits)
    }

    /// Writes a number to zeroed memory, and returns the position behind it.
    fn write(self, code: &mut Memory, at: u64, number: u64) -> u64 {
        let (quotient, remainder, bits) = self.parts(number);
        let end_of_unary = at + quotient;
        code.set_bit(end_of_unary);
        remainder.write(code, end_of_unary + 1, u64::ones(bits));
        end_of_unary + 1 + u64::from(bits)
    }

    /// Reads a number, and returns it with the position behind it.
    #[inline]
    fn read(self, code: &Memory, mut at: u64) -> (u64, u64) {
        let mut quotient = 0;
        loop {
            let word = u64::read(code, at) & u64::ones(u64::USABLE_BITS);
            if word != 0 {
                let zeros = u64::from(word.trailing_zeros());
                (quotient, at) = (quotient + zeros, at + zeros + 1);
                break;
            }
            quotient += u64::from(u64::USABLE_BITS);
            at += u64::from(u64::USABLE_BITS);
        }
        if self.remainder_bits == 0 {
            return (quotient, at);
        }
        let word = u64::read(code, at);
        let short_bits = self.remainder_bits - 1;
        let first = word & u64::ones(short_bits);
        if first < self.short {
            return (quotient * self.divisor + first, at + u64::from(short_bits));
        }
        let remainder = (first << 1 | (word >> short_bits & 1)) - self.short;
        (quotient * self.divisor + remainder, at + u64::from(self.remainder_bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for fingerprint_bits in 1..=40 {
            let golomb = Golomb::for_mean_difference(fingerprint_bits);
            let mean = 1 << fingerprint_bits;
            let numbers: Vec<u64> = (0..200).chain((0..200).map(|i| i * mean / 7)).chain([150 * mean]).collect();
            let bits = numbers.iter().map(|&number| golomb.length(number)).sum();
            let mut code = Memory::zeroed(bits).expect("small");
            let end = numbers.iter().fold(0, |at, &number| golomb.write(&mut code, at, number));
            assert_eq!(end, bits, "f = {fingerprint_bits}");
            let mut at = 0;
            for &number in &numbers {
                let (found, next) = golomb.read(&code, at);
                assert_eq!(found, number, "f = {fingerprint_bits}");
                at = next;
            }
            assert_eq!(at, end);
        }
    }

    #[test]
    fn codes_are_those_of_the_textbook() {
        // M = 3: remainder 0 in one bit, 1 and 2 in two, after the quotient in unary: 0 is 1·0, 4 is 01·10, 8 is 001·11.
        let golomb = Golomb::for_mean_difference(2);
        assert_eq!((golomb.divisor, golomb.remainder_bits, golomb.short), (3, 2, 1));
        assert_eq!([0, 1, 2, 3, 4, 8].map(|number| golomb.length(number)), [2, 3, 3, 3, 4, 5]);
    }
}
