use crate::cast::{approximate, scale};
use crate::error::in_range;
use crate::fields::MAX_BITS;
use crate::memory::Memory;
use crate::word::Word;
use crate::{BuildError, Digest, Filter, Full, Insert, Remove};

/// The buckets of a bin, which share an index; and its slots. A load of about 0.8 fingerprints per bucket leaves room for
/// chance.
const BUCKETS_PER_BIN: u64 = 512;
const SLOTS_PER_BIN: u64 = 512;
const INDEX_BITS: u64 = BUCKETS_PER_BIN + SLOTS_PER_BIN;

/// Rank-indexed hashing: section 2.1 of the paper; Hua, Zhao, Lin and Xu, "Rank-Indexed Hashing: A Compact Construction of
/// Bloom Filters and Variants" (2008).
///
/// A hash table whose buckets are chains of fingerprints, without pointers. In each bin of 512 buckets the fingerprints are
/// ordered by their depth in their chains: first the first of each chain, then the second ones, and so on. An index has a bit
/// for each bucket, which says whether it has a fingerprint, then one for each fingerprint, which says whether its chain goes
/// on. So the next fingerprint is found by counting the set bits before a bit (its rank). Insertion and removal move
/// everything behind in both arrays, which makes them expensive.
///
/// With n keys, the rate is 1 - (1 - 1/(m · 2^f))^n, or α / 2^f at α keys per bucket. It takes f + 2 bits for each slot, and
/// there are as many slots as buckets. The authors' bins borrow room when they are full; here the filter is full when a bin
/// is, which in a table of a million bins happens at a load of about 0.8.
#[derive(Clone, Debug, PartialEq)]
pub struct RankIndexedFilter {
    bins: Memory,
    bin_count: u64,
    fingerprint_bits: u32,
    len: usize,
}

/// A key: its bin, its bucket there, and its fingerprint.
#[derive(Clone, Copy)]
struct Place {
    /// The bit where the index of the bin starts.
    index: u64,
    bucket: u64,
    fingerprint: u64,
}

/// A fingerprint in a bin: its number, and the bit of the index that leads to it.
#[derive(Clone, Copy)]
struct Link {
    pointer: u64,
    number: u64,
}

impl RankIndexedFilter {
    /// A filter of `bin_count` bins of 512 buckets, with fingerprints of `fingerprint_bits` bits.
    ///
    /// # Errors
    ///
    /// If there are no bins, fingerprints have no bits or more than 32, or there is not enough memory.
    pub fn new(bin_count: u64, fingerprint_bits: u32) -> Result<Self, BuildError> {
        in_range("the number of bins", bin_count, 1, 1 << 31)?;
        in_range("the length of fingerprints", fingerprint_bits.into(), 1, 32)?;
        let bits = bin_count * (INDEX_BITS + SLOTS_PER_BIN * u64::from(fingerprint_bits));
        Ok(Self { bins: Memory::zeroed(bits)?, bin_count, fingerprint_bits, len: 0 })
    }

    /// The slots of all bins; there are as many buckets.
    #[must_use]
    pub const fn slot_count(&self) -> u64 {
        self.bin_count * SLOTS_PER_BIN
    }

    /// α, keys per bucket.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        approximate(self.len as u64) / approximate(self.slot_count())
    }

    const fn bin_bits(&self) -> u64 {
        INDEX_BITS + SLOTS_PER_BIN * self.fingerprint_bits as u64
    }

    #[inline]
    fn place(&self, digest: Digest) -> Place {
        let (bucket, fraction) = scale(digest.get(), self.slot_count());
        Place {
            index: bucket / BUCKETS_PER_BIN * self.bin_bits(),
            bucket: bucket % BUCKETS_PER_BIN,
            fingerprint: fraction >> (64 - self.fingerprint_bits),
        }
    }

    /// The number of set bits among the first bits of an index.
    #[inline]
    fn rank(&self, index: u64, bits: u64) -> u64 {
        let word = |number: u64| u64::from_le_bytes(self.bins.read(index / 8 + number * 8));
        let whole: u32 = (0..bits / 64).map(|number| word(number).count_ones()).sum();
        let rest = bits % 64;
        // If no bits are left, their word may be behind the index.
        let partial = if rest == 0 { 0 } else { (word(bits / 64) & ((1 << rest) - 1)).count_ones() };
        u64::from(whole + partial)
    }

    /// The chain of a bucket, from its first fingerprint on.
    #[inline]
    fn chain(&self, place: Place) -> impl Iterator<Item = Link> {
        let mut pointer = place.bucket;
        core::iter::from_fn(move || {
            if !self.bins.bit(place.index + pointer) {
                return None;
            }
            let link = Link { pointer, number: self.rank(place.index, pointer) };
            pointer = BUCKETS_PER_BIN + link.number;
            Some(link)
        })
    }

    /// The bit where a fingerprint starts.
    #[inline]
    fn fingerprint_at(&self, index: u64, number: u64) -> u64 {
        index + INDEX_BITS + number * u64::from(self.fingerprint_bits)
    }

    #[inline]
    fn fingerprint(&self, index: u64, number: u64) -> u64 {
        u64::read(&self.bins, self.fingerprint_at(index, number)) & u64::ones(self.fingerprint_bits)
    }

    #[inline]
    fn set_fingerprint(&mut self, index: u64, number: u64, fingerprint: u64) {
        let at = self.fingerprint_at(index, number);
        fingerprint.write(&mut self.bins, at, u64::ones(self.fingerprint_bits));
    }

    #[inline]
    fn set_pointer(&mut self, index: u64, pointer: u64, leads_on: u64) {
        leads_on.write(&mut self.bins, index + pointer, 1);
    }

    /// Moves all bits from `start` to `end` up by `by`.
    fn push_up(&mut self, start: u64, end: u64, by: u64) {
        let mut top = end;
        while top > start {
            let (width, bits) = chunk(top - start);
            top -= bits;
            u64::read(&self.bins, top).write(&mut self.bins, top + by, u64::ones(width));
        }
    }

    /// Moves all bits from `start` to `end` down by `by`, and leaves zeros behind.
    fn pull_down(&mut self, start: u64, end: u64, by: u32) {
        let mut bottom = start;
        while bottom < end {
            let (width, bits) = chunk(end - bottom);
            u64::read(&self.bins, bottom).write(&mut self.bins, bottom - u64::from(by), u64::ones(width));
            bottom += bits;
        }
        u64::ZERO.write(&mut self.bins, end - u64::from(by), u64::ones(by));
    }
}

/// How many of `bits` bits are moved at once.
#[inline]
fn chunk(bits: u64) -> (u32, u64) {
    let width = u32::try_from(bits).unwrap_or(MAX_BITS).min(MAX_BITS);
    (width, width.into())
}

impl Filter for RankIndexedFilter {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let place = self.place(digest);
        self.chain(place).any(|link| self.fingerprint(place.index, link.number) == place.fingerprint)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.bin_count * self.bin_bits()
    }

    fn expected_false_positive_rate(&self) -> f64 {
        let fingerprints = approximate(self.slot_count()) * f64::from(self.fingerprint_bits).exp2();
        -(approximate(self.len as u64) * (-1.0 / fingerprints).ln_1p()).exp_m1()
    }
}

impl Insert for RankIndexedFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        let place = self.place(digest);
        let index = place.index;
        let stored = self.rank(index, INDEX_BITS);
        if stored == SLOTS_PER_BIN {
            return Err(Full { len: self.len, slots: self.slot_count() });
        }
        // Behind the last fingerprint of the chain.
        let pointer = self.chain(place).last().map_or(place.bucket, |link| BUCKETS_PER_BIN + link.number);
        let number = self.rank(index, pointer);
        let (start, end) = (self.fingerprint_at(index, number), self.fingerprint_at(index, stored));
        self.push_up(start, end, self.fingerprint_bits.into());
        self.set_fingerprint(index, number, place.fingerprint);
        self.push_up(index + BUCKETS_PER_BIN + number, index + BUCKETS_PER_BIN + stored, 1);
        self.set_pointer(index, BUCKETS_PER_BIN + number, 0);
        self.set_pointer(index, pointer, 1);
        self.len += 1;
        Ok(())
    }
}

impl Remove for RankIndexedFilter {
    #[inline]
    fn remove(&mut self, digest: Digest) -> bool {
        let place = self.place(digest);
        let index = place.index;
        let holds_it = |link: &Link| self.fingerprint(index, link.number) == place.fingerprint;
        let Some(found) = self.chain(place).find(holds_it) else { return false };
        // The last fingerprint of the chain replaces it, so that no chain has a gap.
        let Some(last) = self.chain(place).last() else { return false };
        self.set_fingerprint(index, found.number, self.fingerprint(index, last.number));

        let stored = self.rank(index, INDEX_BITS);
        let (start, end) = (self.fingerprint_at(index, last.number + 1), self.fingerprint_at(index, stored));
        self.pull_down(start, end, self.fingerprint_bits);
        self.set_pointer(index, last.pointer, 0);
        let pointers = index + BUCKETS_PER_BIN;
        self.pull_down(pointers + last.number + 1, pointers + stored, 1);
        self.len -= 1;
        true
    }
}
