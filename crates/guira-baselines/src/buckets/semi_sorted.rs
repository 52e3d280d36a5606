use core::marker::PhantomData;

use super::Buckets;
use crate::BuildError;
use crate::cast::in_memory;
use crate::memory::Memory;
use crate::word::Word;

const SLOTS: usize = 4;
/// The highest bits of a fingerprint, which are sorted and coded.
const NIBBLE_BITS: u32 = 4;
/// There are 3876 sorted rows of four nibbles, so their numbers fit 12 bits instead of 16.
const CODE_BITS: u32 = 12;

/// Semi-sorted buckets, section 5.2 of the paper: four slots of f bits in 4(f - 1).
///
/// The four fingerprints are sorted, with 0 for an empty slot. First comes the code of their highest four bits each, then the
/// other f - 4 bits of each.
///
/// `BITS` is f if it is known at compile time, or 0.
#[derive(Clone, Debug)]
pub(crate) struct SemiSortedBuckets<W, const BITS: u32> {
    memory: Memory,
    rest_bits: u32,
    word: PhantomData<W>,
}

impl<W: Word, const BITS: u32> SemiSortedBuckets<W, BITS> {
    /// The bits of a bucket.
    const fn bucket_bits(fingerprint_bits: u32) -> u32 {
        CODE_BITS + 4 * (fingerprint_bits - NIBBLE_BITS)
    }

    /// Returns `true` if a bucket fits one word.
    pub(crate) const fn fits(fingerprint_bits: u32) -> bool {
        Self::bucket_bits(fingerprint_bits) <= W::USABLE_BITS
    }

    pub(crate) fn empty(bucket_count: u64, fingerprint_bits: u32) -> Result<Self, BuildError> {
        debug_assert!(Self::fits(fingerprint_bits) && (BITS == 0 || fingerprint_bits == BITS));
        let memory = Memory::zeroed(bucket_count * u64::from(Self::bucket_bits(fingerprint_bits)))?;
        let rest_bits = fingerprint_bits - NIBBLE_BITS;
        Ok(Self { memory, rest_bits, word: PhantomData })
    }

    #[inline]
    const fn rest_bits(&self) -> u32 {
        if BITS > 0 { BITS - NIBBLE_BITS } else { self.rest_bits }
    }

    #[inline]
    const fn rest_mask(&self) -> u32 {
        (1 << self.rest_bits()) - 1
    }

    #[inline]
    fn start(&self, bucket: u64) -> u64 {
        bucket * u64::from(Self::bucket_bits(self.rest_bits() + NIBBLE_BITS))
    }

    /// The fingerprints of a bucket, in order.
    #[inline]
    fn fingerprints(&self, bucket: u64) -> [u32; SLOTS] {
        let word = W::read(&self.memory, self.start(bucket));
        let mut nibbles = u32::from(NIBBLES[in_memory(u64::from(word.low_32() & 0xfff))]);
        let mut rests = word >> CODE_BITS;
        [(); SLOTS].map(|()| {
            let fingerprint = (nibbles & 0xf) << self.rest_bits() | rests.low_32() & self.rest_mask();
            nibbles >>= NIBBLE_BITS;
            rests = rests >> self.rest_bits();
            fingerprint
        })
    }

    #[inline(always)]
    fn contains(&self, bucket: u64, fingerprint: u32) -> bool {
        let word = W::read(&self.memory, self.start(bucket));
        let nibbles = u32::from(NIBBLES[in_memory(u64::from(word.low_32() & 0xfff))]);
        let rests = word >> CODE_BITS;
        let (nibble, rest) = (fingerprint >> self.rest_bits(), fingerprint & self.rest_mask());
        (0..4).fold(false, |found, slot| {
            let has_rest = (rests >> (slot * self.rest_bits())).low_32() & self.rest_mask() == rest;
            found | ((nibbles >> (slot * NIBBLE_BITS) & 0xf == nibble) & has_rest)
        })
    }

    #[inline]
    fn store(&mut self, bucket: u64, mut fingerprints: [u32; SLOTS]) {
        fingerprints.sort_unstable();
        let code = code_of(fingerprints.map(|fingerprint| fingerprint >> self.rest_bits()));
        let (mut word, mut at) = (W::from(code), CODE_BITS);
        for fingerprint in fingerprints {
            word = word | (W::from(fingerprint & self.rest_mask()) << at);
            at += self.rest_bits();
        }
        let start = self.start(bucket);
        word.write(&mut self.memory, start, W::ones(at));
    }

    /// Overwrites a slot that holds `old`. Returns `false` if none does.
    #[inline]
    fn replace(&mut self, bucket: u64, old: u32, new: u32) -> bool {
        let mut fingerprints = self.fingerprints(bucket);
        let slot = fingerprints.iter().position(|&fingerprint| fingerprint == old);
        if let Some(slot) = slot {
            fingerprints[slot] = new;
            self.store(bucket, fingerprints);
        }
        slot.is_some()
    }
}

impl<W: Word, const BITS: u32> Buckets for SemiSortedBuckets<W, BITS> {
    #[inline]
    fn fingerprint_bits(&self) -> u32 {
        self.rest_bits() + NIBBLE_BITS
    }

    #[inline(always)]
    fn contains_either(&self, [one, other]: [u64; 2], fingerprint: u32) -> bool {
        self.contains(one, fingerprint) | self.contains(other, fingerprint)
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
        let mut fingerprints = self.fingerprints(bucket);
        let old = core::mem::replace(&mut fingerprints[in_memory(slot.into())], fingerprint);
        self.store(bucket, fingerprints);
        old
    }
}

/// For nibble number i from the lowest: how many rows of i + 1 nibbles are below those that begin, at the highest end, with
/// this nibble: C(nibble + i, i + 1).
static ROWS_BELOW: [[u32; 16]; SLOTS] = {
    let mut rows = [[0; 16]; SLOTS];
    let (mut nibble, mut n) = (0, 0);
    while nibble < 16 {
        rows[0][nibble] = n;
        rows[1][nibble] = n * (n + 1) / 2;
        rows[2][nibble] = n * (n + 1) * (n + 2) / 6;
        rows[3][nibble] = n * (n + 1) * (n + 2) * (n + 3) / 24;
        (nibble, n) = (nibble + 1, n + 1);
    }
    rows
};

/// The number of a sorted row of nibbles among all of them; 0 for four zeros, so that an empty table is all zeros.
#[inline]
fn code_of(nibbles: [u32; SLOTS]) -> u32 {
    ROWS_BELOW.iter().zip(nibbles).map(|(rows, nibble)| rows[in_memory(nibble.into())]).sum()
}

/// The row of each code, the first nibble lowest. Codes beyond the last row don't occur; no index of 12 bits is out of
/// bounds.
static NIBBLES: [u16; 1 << CODE_BITS] = {
    let mut nibbles = [0; 1 << CODE_BITS];
    let mut code = 0;
    let (mut a, mut b, mut c, mut d) = (0, 0, 0, 0);
    // In the order of their codes: the last nibble changes slowest.
    while d < 16 {
        nibbles[code] = a | b << 4 | c << 8 | d << 12;
        code += 1;
        if a < b {
            a += 1;
        } else if b < c {
            (a, b) = (0, b + 1);
        } else if c < d {
            (a, b, c) = (0, 0, c + 1);
        } else {
            (a, b, c, d) = (0, 0, 0, d + 1);
        }
    }
    nibbles
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_3876_sorted_rows_are_the_codes_from_0_on() {
        let sorted = (0..=u16::MAX).filter_map(|row| {
            let nibbles = [0, 4, 8, 12].map(|shift| u32::from(row >> shift & 0xf));
            nibbles.is_sorted().then_some((row, nibbles))
        });
        let mut codes: Vec<u32> = sorted
            .map(|(row, nibbles)| {
                let code = code_of(nibbles);
                assert_eq!(NIBBLES[in_memory(code.into())], row);
                code
            })
            .collect();
        codes.sort_unstable();
        assert_eq!(codes, (0..3876).collect::<Vec<_>>());
    }
}
