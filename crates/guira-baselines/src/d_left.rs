use crate::cast::{approximate, low_32, scale};
use crate::error::in_range;
use crate::memory::Memory;
use crate::word::Word;
use crate::{BuildError, Digest, Filter, Full, Insert, Remove};

/// d, the number of tables, in each of which a key has one bucket.
const TABLES: usize = 4;
const SLOTS_PER_BUCKET: u32 = 4;
/// Multipliers that spread remainders well enough: fractions of the golden ratio, √2, √3 and √5.
const MULTIPLIERS: [u64; TABLES] =
    [0x9e37_79b9_7f4a_7c15, 0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b];
/// Counts to 3; 0 is the empty slot.
const DEFAULT_COUNTER_BITS: u32 = 2;
const MAX_REMAINDER_BITS: u32 = 28;

/// The d-left counting Bloom filter, the paper's dl-CBF: section 2.1; Bonomi, Mitzenmacher, Panigrahy, Singh and
/// Varghese, "An Improved Construction for Counting Bloom Filters" (2006).
///
/// Four tables of B buckets of four slots. A key's fingerprint is a bucket and a remainder of r bits; each table has a
/// permutation that turns them into its own bucket and remainder. A key goes into the emptiest of its four buckets, the
/// leftmost of several; nothing is ever moved. Different fingerprints never have the same remainder in the same bucket, since
/// they are permuted; equal ones share a slot, which counts them to 3, or with counters of one bit to 1, before they take another. So a removal never takes the
/// wrong one of two keys with a bucket and a remainder in common (footnote 1 of the paper).
///
/// With n keys, the rate is 1 - (1 - 1/(B · 2^r))^n, or 16 α / 2^r at load α; it takes 16 B (r + 2) bits, or 16 B (r + 1). In a large table
/// the first key finds no room at a load somewhat below 0.8.
#[derive(Clone, Debug)]
pub struct DLeftCountingBloomFilter {
    cells: Cells,
    buckets_per_table: u64,
    remainder_bits: u32,
    counter_bits: u32,
    len: usize,
}

/// The slots, with a compile-time constant for the length that is measured; otherwise in words that hold a bucket wherever it
/// starts.
#[derive(Clone, Debug)]
enum Cells {
    Of10(CellTable<u64, 10, 2>),
    Narrow(CellTable<u64, 0, 2>),
    Wide(CellTable<u128, 0, 2>),
    Of11Uncounted(CellTable<u64, 11, 1>),
    NarrowUncounted(CellTable<u64, 0, 1>),
    WideUncounted(CellTable<u128, 0, 1>),
}

macro_rules! with_cells {
    ($cells:expr, $table:ident => $body:expr) => {
        match $cells {
            Cells::Of10($table) => $body,
            Cells::Narrow($table) => $body,
            Cells::Wide($table) => $body,
            Cells::Of11Uncounted($table) => $body,
            Cells::NarrowUncounted($table) => $body,
            Cells::WideUncounted($table) => $body,
        }
    };
}

/// Where a key may be.
#[derive(Clone, Copy)]
struct Places {
    /// A bucket of each table, counted through all tables.
    buckets: [u64; TABLES],
    remainder: u32,
}

impl DLeftCountingBloomFilter {
    /// A filter of four tables, each of `buckets_per_table` buckets of four slots, with remainders of `remainder_bits` bits
    /// and counters of two.
    ///
    /// # Errors
    ///
    /// If there are no buckets, remainders have no bits or more than 28, or there is not enough memory.
    pub fn new(buckets_per_table: u64, remainder_bits: u32) -> Result<Self, BuildError> {
        Self::with_counters(buckets_per_table, remainder_bits, DEFAULT_COUNTER_BITS)
    }

    /// A filter with counters of one or two bits.
    ///
    /// # Errors
    ///
    /// As of [`Self::new`], and for counters of another length.
    pub fn with_counters(buckets_per_table: u64, remainder_bits: u32, counter_bits: u32) -> Result<Self, BuildError> {
        in_range("the number of buckets per table", buckets_per_table, 1, 1 << 36)?;
        in_range("the length of remainders", remainder_bits.into(), 1, MAX_REMAINDER_BITS.into())?;
        in_range("the length of counters", counter_bits.into(), 1, DEFAULT_COUNTER_BITS.into())?;
        let buckets = buckets_per_table * TABLES as u64;
        let is_narrow = SLOTS_PER_BUCKET * (remainder_bits + counter_bits) <= u64::USABLE_BITS;
        macro_rules! empty {
            ($cells:ident) => {
                Cells::$cells(CellTable::empty(buckets, remainder_bits)?)
            };
        }
        let cells = match (counter_bits, remainder_bits) {
            (1, 11) => empty!(Of11Uncounted),
            (1, _) if is_narrow => empty!(NarrowUncounted),
            (1, _) => empty!(WideUncounted),
            (_, 10) => empty!(Of10),
            _ if is_narrow => empty!(Narrow),
            _ => empty!(Wide),
        };
        Ok(Self { cells, buckets_per_table, remainder_bits, counter_bits, len: 0 })
    }

    /// The slots of all tables.
    #[must_use]
    pub const fn slot_count(&self) -> u64 {
        self.buckets_per_table * TABLES as u64 * SLOTS_PER_BUCKET as u64
    }

    /// Keys per slot. This is a little more than the share of occupied slots, since equal fingerprints share one.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        approximate(self.len as u64) / approximate(self.slot_count())
    }

    /// The fingerprint of a key, permuted for each table.
    ///
    /// Adding a number that only depends on the remainder to the bucket, modulo B, is a permutation for every B.
    #[inline]
    fn places(&self, digest: Digest) -> Places {
        let (bucket, fraction) = scale(digest.get(), self.buckets_per_table);
        let remainder = fraction >> (64 - self.remainder_bits);
        let mut table_start = 0;
        let buckets = core::array::from_fn(|table| {
            let sum = bucket + scale(MULTIPLIERS[table].wrapping_mul(remainder + 1), self.buckets_per_table).0;
            let permuted = if sum < self.buckets_per_table { sum } else { sum - self.buckets_per_table };
            table_start += self.buckets_per_table;
            table_start - self.buckets_per_table + permuted
        });
        Places { buckets, remainder: low_32(remainder) }
    }
}

impl Filter for DLeftCountingBloomFilter {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let places = self.places(digest);
        with_cells!(&self.cells, table => table.contains(places))
    }

    #[inline(always)]
    fn count_contained(&self, digests: impl Iterator<Item = Digest>) -> u64 {
        with_cells!(&self.cells, table => {
            let mut found = 0;
            for digest in digests {
                found += u64::from(table.contains(self.places(digest)));
            }
            found
        })
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.slot_count() * u64::from(self.remainder_bits + self.counter_bits)
    }

    fn expected_false_positive_rate(&self) -> f64 {
        let fingerprints = approximate(self.buckets_per_table) * f64::from(self.remainder_bits).exp2();
        -(approximate(self.len as u64) * (-1.0 / fingerprints).ln_1p()).exp_m1()
    }
}

impl Insert for DLeftCountingBloomFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        let places = self.places(digest);
        if !with_cells!(&mut self.cells, table => table.insert(places)) {
            return Err(Full { len: self.len, slots: self.slot_count() });
        }
        self.len += 1;
        Ok(())
    }
}

impl Remove for DLeftCountingBloomFilter {
    #[inline]
    fn remove(&mut self, digest: Digest) -> bool {
        let places = self.places(digest);
        let removed = with_cells!(&mut self.cells, table => table.remove(places));
        self.len -= usize::from(removed);
        removed
    }
}

/// Buckets of four slots, each a remainder with its counter above it.
///
/// A bucket is a word of four lanes. Searches mark lanes by the lowest bit of their counters.
#[derive(Clone, Debug)]
struct CellTable<W, const BITS: u32, const COUNTER: u32> {
    memory: Memory,
    remainder_bits: u32,
    /// All bits of the remainders.
    remainders: W,
    /// The lowest bit of each lane.
    low: W,
}

impl<W: Word, const BITS: u32, const COUNTER: u32> CellTable<W, BITS, COUNTER> {
    const MAX_COPIES: u32 = (1 << COUNTER) - 1;

    fn empty(buckets: u64, remainder_bits: u32) -> Result<Self, BuildError> {
        let width = remainder_bits + COUNTER;
        debug_assert!(SLOTS_PER_BUCKET * width <= W::USABLE_BITS);
        Ok(Self {
            memory: Memory::zeroed(buckets * u64::from(SLOTS_PER_BUCKET * width))?,
            remainder_bits,
            remainders: W::lanes(SLOTS_PER_BUCKET, width, W::ones(remainder_bits)),
            low: W::lanes(SLOTS_PER_BUCKET, width, W::from(1)),
        })
    }

    #[inline]
    const fn remainder_bits(&self) -> u32 {
        if BITS > 0 { BITS } else { self.remainder_bits }
    }

    #[inline]
    fn remainders(&self) -> W {
        if BITS > 0 { W::lanes(SLOTS_PER_BUCKET, BITS + COUNTER, W::ones(BITS)) } else { self.remainders }
    }

    #[inline]
    fn low(&self) -> W {
        if BITS > 0 { W::lanes(SLOTS_PER_BUCKET, BITS + COUNTER, W::from(1)) } else { self.low }
    }

    #[inline]
    const fn width(&self) -> u32 {
        self.remainder_bits() + COUNTER
    }

    #[inline]
    fn start(&self, bucket: u64) -> u64 {
        bucket * u64::from(SLOTS_PER_BUCKET * self.width())
    }

    #[inline]
    fn word(&self, bucket: u64) -> W {
        W::read(&self.memory, self.start(bucket))
    }

    /// The lanes that are not empty.
    #[inline]
    fn taken(&self, word: W) -> W {
        let counted = if COUNTER > 1 { word | (word >> 1) } else { word };
        counted & (self.low() << self.remainder_bits())
    }

    /// The lanes that hold a remainder.
    #[inline]
    fn matches(&self, word: W, remainder: u32) -> W {
        // Adding all ones to a remainder that differs carries into the bit above it, and no further.
        let difference = (word ^ self.low().times(W::from(remainder))) & self.remainders();
        !difference.plus(self.remainders()) & self.taken(word)
    }

    #[inline]
    fn contains(&self, places: Places) -> bool {
        let matches = places.buckets.map(|bucket| self.matches(self.word(bucket), places.remainder));
        matches.into_iter().fold(W::ZERO, |all, found| all | found) != W::ZERO
    }

    /// Writes the counter of the lane that `lane` marks. With no copies left, the remainder is cleared too.
    #[inline]
    fn set(&mut self, bucket: u64, lane: u32, remainder: u32, copies: u32) {
        let cell = if copies == 0 { W::ZERO } else { W::from(remainder) | (W::from(copies) << self.remainder_bits()) };
        let bit = self.start(bucket) + u64::from(lane - self.remainder_bits());
        let mask = W::ones(self.width());
        cell.write(&mut self.memory, bit, mask);
    }

    /// The lanes that hold a remainder: bucket, marked bit, copies.
    #[inline]
    fn holders(&self, places: Places) -> impl Iterator<Item = (u64, u32, u32)> {
        places.buckets.into_iter().flat_map(move |bucket| {
            let word = self.word(bucket);
            let mut matches = self.matches(word, places.remainder);
            core::iter::from_fn(move || {
                let lane = (matches != W::ZERO).then(|| matches.lowest_one())?;
                matches = matches & matches.minus(W::from(1));
                Some((bucket, lane, (word >> lane).low_32() & Self::MAX_COPIES))
            })
        })
    }

    /// Adds a copy, and returns `true` if there was room.
    #[inline]
    fn insert(&mut self, places: Places) -> bool {
        let words = places.buckets.map(|bucket| self.word(bucket));
        // Hardly any key has its fingerprint stored already, so this branch is predicted.
        let holders = words.map(|word| self.matches(word, places.remainder));
        if holders.into_iter().fold(W::ZERO, |all, found| all | found) != W::ZERO {
            let mut counters = self.holders(places).filter(|&(_, _, copies)| copies < Self::MAX_COPIES);
            if let Some((bucket, lane, copies)) = counters.next() {
                drop(counters);
                self.set(bucket, lane, places.remainder, copies + 1);
                return true;
            }
        }
        let marks = self.low() << self.remainder_bits();
        let empty = words.map(|word| !self.taken(word) & marks);
        // The first of the emptiest buckets, without a branch.
        let mut chosen = (places.buckets[0], empty[0], empty[0].one_count());
        for (&bucket, &lanes) in places.buckets.iter().zip(&empty).skip(1) {
            let count = lanes.one_count();
            chosen = if count > chosen.2 { (bucket, lanes, count) } else { chosen };
        }
        let (bucket, lanes, count) = chosen;
        if count > 0 {
            self.set(bucket, lanes.lowest_one(), places.remainder, 1);
        }
        count > 0
    }

    /// Removes a copy. Returns `true` if there was one.
    #[inline]
    fn remove(&mut self, places: Places) -> bool {
        let holder = self.holders(places).next();
        if let Some((bucket, lane, copies)) = holder {
            self.set(bucket, lane, places.remainder, copies - 1);
        }
        holder.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_table_permutes_the_fingerprints() {
        for buckets in 1..=24 {
            let filter = DLeftCountingBloomFilter::new(buckets, 4).expect("valid");
            let mut seen: [HashSet<(u64, u32)>; TABLES] = core::array::from_fn(|_| HashSet::new());
            // A digest from the middle of the range of each fingerprint.
            let share = u64::MAX / (16 * buckets);
            for fingerprint in 0..16 * buckets {
                let places = filter.places(Digest::new(fingerprint * share + share / 2 + fingerprint));
                for (table, (seen, bucket)) in seen.iter_mut().zip(places.buckets).enumerate() {
                    assert_eq!(bucket / buckets, table as u64, "{buckets} buckets");
                    assert!(seen.insert((bucket, places.remainder)), "{buckets} buckets, table {table}");
                }
            }
        }
    }
}
