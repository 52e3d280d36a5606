use crate::cast::{approximate, in_memory, saturating_floor, scale};
use crate::error::in_range;
use crate::fields::{Fields, MAX_BITS};
use crate::mixing::mixed;
use crate::{BuildError, Digest, Filter, StaticFilter};

const SEGMENTS: usize = 3;
/// Cells per key. Below 1.222, a large random hypergraph of three cells per key can't be peeled.
const CELLS_PER_KEY: f64 = 1.23;
const MORE_CELLS: u64 = 32;
/// With these sizes, an attempt fails with a probability far below 1/2.
const MAX_ATTEMPTS: u64 = 100;

/// The Bloomier filter: section 6 of the paper; Chazelle, Kilian, Rubinfeld and Tal, "The Bloomier Filter" (2004). A static
/// map from keys to values, which finds an absent key at some rate.
///
/// In the modern form (Botelho, Pagh and Ziviani 2007; as a filter, Graf and Lemire, "Xor Filters", 2020): a key's value, with
/// a check of c bits, is the exclusive or of three cells, one from each third of the table. Peeling finds an order of keys in
/// which each has a cell that no later one has; cells are assigned in the reverse order.
///
/// The rate is 2^-c. It takes 1.23 (c + v) bits per key for values of v bits; with v = 0 it is the xor filter.
#[derive(Clone, Debug)]
pub struct BloomierFilter {
    cells: Fields,
    segment_len: u64,
    seed: u64,
    check_bits: u32,
    value_bits: u32,
    len: usize,
}

/// Where a key's cells are, and its check.
#[derive(Clone, Copy)]
struct Place {
    cells: [u64; SEGMENTS],
    check: u64,
}

/// The keys that have a cell: their number, and the exclusive or of their indices, which for a single key is its index.
#[derive(Clone, Copy, Default)]
struct Occupants {
    count: u32,
    keys: u64,
}

impl BloomierFilter {
    /// A map of these entries, with values of up to `value_bits` bits.
    ///
    /// # Errors
    ///
    /// If a key has two values, a value has more bits, a check has none, check and value have more than 57 together, or there
    /// is not enough memory.
    pub fn from_entries(entries: &[(Digest, u64)], check_bits: u32, value_bits: u32) -> Result<Self, BuildError> {
        in_range("the length of values", value_bits.into(), 0, (MAX_BITS - 1).into())?;
        in_range("the length of checks", check_bits.into(), 1, (MAX_BITS - value_bits).into())?;
        let mut entries = entries.to_vec();
        for &(_, value) in &entries {
            in_range("a value", value, 0, (1 << value_bits) - 1)?;
        }
        entries.sort_unstable();
        entries.dedup();
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(BuildError::Contradiction { digest: pair[0].0, values: [pair[0].1, pair[1].1] });
        }

        let cells = saturating_floor(CELLS_PER_KEY * approximate(entries.len() as u64)) + MORE_CELLS;
        let segment_len = cells.div_ceil(SEGMENTS as u64);
        let cells = Fields::zeroed(segment_len * SEGMENTS as u64, check_bits + value_bits)?;
        let mut map = Self { cells, segment_len, seed: 0, check_bits, value_bits, len: entries.len() };
        for seed in 0..MAX_ATTEMPTS {
            map.seed = seed;
            if let Some(order) = map.peel(&entries) {
                map.assign(&entries, &order);
                return Ok(map);
            }
        }
        Err(BuildError::NoHashFound { attempts: MAX_ATTEMPTS })
    }

    /// The value of a key. An absent key is found at the false positive rate, with any value.
    #[inline]
    #[must_use]
    pub fn get(&self, digest: Digest) -> Option<u64> {
        let place = self.place(digest);
        let content = place.cells.into_iter().fold(0, |content, cell| content ^ self.cells.get(cell));
        (content >> self.value_bits == place.check).then_some(content & ((1 << self.value_bits) - 1))
    }

    #[inline]
    fn place(&self, digest: Digest) -> Place {
        let hash = mixed(digest.get(), self.seed);
        let mut segment_start = 0;
        let cells = core::array::from_fn(|segment| {
            let turned = hash.rotate_left(21 * u32::try_from(segment).unwrap_or(0));
            segment_start += self.segment_len;
            segment_start - self.segment_len + scale(turned, self.segment_len).0
        });
        Place { cells, check: mixed(hash, 0) >> (64 - self.check_bits) }
    }

    /// An order of all keys in which each has a cell that no later one has, with these cells; `None` if there is no such
    /// order.
    fn peel(&self, entries: &[(Digest, u64)]) -> Option<Vec<(u64, u64)>> {
        let mut occupants = vec![Occupants::default(); in_memory(self.cells.count())];
        for (number, &(digest, _)) in (0..).zip(entries) {
            for cell in self.place(digest).cells {
                let occupants = &mut occupants[in_memory(cell)];
                occupants.count += 1;
                occupants.keys ^= number;
            }
        }
        let mut single: Vec<u64> =
            (0..self.cells.count()).filter(|&cell| occupants[in_memory(cell)].count == 1).collect();
        let mut order = Vec::with_capacity(entries.len());
        while let Some(cell) = single.pop() {
            let Occupants { count: 1, keys: number } = occupants[in_memory(cell)] else {
                // The last key of this cell was peeled through another cell.
                continue;
            };
            order.push((number, cell));
            for cell in self.place(entries[in_memory(number)].0).cells {
                let occupants = &mut occupants[in_memory(cell)];
                occupants.count -= 1;
                occupants.keys ^= number;
                if occupants.count == 1 {
                    single.push(cell);
                }
            }
        }
        (order.len() == entries.len()).then_some(order)
    }

    /// Sets each key's own cell such that the exclusive or of its three cells is right; the other two are final by then.
    fn assign(&mut self, entries: &[(Digest, u64)], order: &[(u64, u64)]) {
        for &(number, own_cell) in order.iter().rev() {
            let (digest, value) = entries[in_memory(number)];
            let place = self.place(digest);
            let others = place.cells.into_iter().filter(|&cell| cell != own_cell);
            let content =
                others.fold(place.check << self.value_bits | value, |content, cell| content ^ self.cells.get(cell));
            self.cells.set(own_cell, content);
        }
    }
}

impl StaticFilter for BloomierFilter {
    fn build(digests: &[Digest], fingerprint_bits: u32) -> Result<Self, BuildError> {
        let entries: Vec<(Digest, u64)> = digests.iter().map(|&digest| (digest, 0)).collect();
        Self::from_entries(&entries, fingerprint_bits, 0)
    }
}

impl Filter for BloomierFilter {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        self.get(digest).is_some()
    }

    /// The number of distinct keys.
    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.cells.bits()
    }

    fn expected_false_positive_rate(&self) -> f64 {
        (-f64::from(self.check_bits)).exp2()
    }
}
