use crate::buckets::{Buckets, PlainBuckets, SemiSortedBuckets};
use crate::cast::{approximate, low_32, scale};
use crate::error::{exponent_of, in_range};
use crate::random::Random;
use crate::{BuildError, Digest, Filter, Full, Insert, Remove};

/// How many fingerprints an insertion relocates before it gives up: section 2.2 of the paper.
const MAX_RELOCATIONS: u32 = 500;

const SEMI_SORTED_SLOTS: u32 = 4;

/// The parameters of a [`CuckooFilter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CuckooMeasures {
    /// m: a power of two, up to 2^32.
    pub bucket_count: u64,
    /// b: 1, 2, 4 or 8; only 4 in semi-sorted buckets.
    pub slots_per_bucket: u32,
    /// f: 1 to 32 bits; 4 to 31 in semi-sorted buckets.
    pub fingerprint_bits: u32,
    /// The seed of the random walks.
    pub seed: u64,
}

/// The cuckoo filter as the paper prints it: its CF, and with semi-sorted buckets its ss-CF.
///
/// A fingerprint of f bits is in one of two buckets of b slots, i1 = hash(x) and i2 = i1 ⊕ hash(fingerprint): equations
/// (1) and (2), for which the number m of buckets is a power of two. Algorithm 1 makes room by a random walk of at most
/// 500 relocations.
///
/// As printed, that algorithm loses a fingerprint when it gives up. As in the authors' published code, the last one that was
/// evicted is kept beside the table, as the victim; it is found, counted and removed like the others, and while there is one,
/// the filter is full. The digest is used as in that code, too: i1 is in its high 32 bits, the fingerprint in its low bits,
/// and a fingerprint of 0, which would be an empty slot, becomes 1.
///
/// With n = αbm keys, the rate is close to 2bα / 2^f, and below the bound (5), 1 - (1 - 1/2^f)^(2b);
/// [`expected_false_positive_rate`] is exact for large tables. It takes bmf bits, or bm(f - 1) with semi-sorted buckets. At
/// the first victim the load is about 0.5, 0.84, 0.95 or 0.98 for b = 1, 2, 4 or 8 (section 5.1), if f is not too short
/// (section 4).
///
/// [`expected_false_positive_rate`]: Filter::expected_false_positive_rate
#[derive(Clone, Debug)]
pub struct CuckooFilter {
    table: Table,
    measures: CuckooMeasures,
    memory_bits: u64,
}

/// Shapes that the paper measures and the authors' program compiles as constants are constants here too; others are chosen at
/// run time.
#[derive(Clone, Debug)]
enum Table {
    Of8(Cuckoo<PlainBuckets<u64, 8>>),
    Of12(Cuckoo<PlainBuckets<u64, 12>>),
    Of16(Cuckoo<PlainBuckets<u64, 16>>),
    SemiSortedOf13(Cuckoo<SemiSortedBuckets<u64, 13>>),
    Narrow(Cuckoo<PlainBuckets<u64, 0>>),
    Wide(Cuckoo<PlainBuckets<u128, 0>>),
    NarrowSemiSorted(Cuckoo<SemiSortedBuckets<u64, 0>>),
    WideSemiSorted(Cuckoo<SemiSortedBuckets<u128, 0>>),
}

macro_rules! with_table {
    ($table:expr, $cuckoo:ident => $body:expr) => {
        match $table {
            Table::Of8($cuckoo) => $body,
            Table::Of12($cuckoo) => $body,
            Table::Of16($cuckoo) => $body,
            Table::SemiSortedOf13($cuckoo) => $body,
            Table::Narrow($cuckoo) => $body,
            Table::Wide($cuckoo) => $body,
            Table::NarrowSemiSorted($cuckoo) => $body,
            Table::WideSemiSorted($cuckoo) => $body,
        }
    };
}

impl CuckooFilter {
    /// The paper's CF.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, or there is not enough memory.
    pub fn new(measures: CuckooMeasures) -> Result<Self, BuildError> {
        let CuckooMeasures { bucket_count, slots_per_bucket: slots, fingerprint_bits, .. } = measures;
        in_range("the number of slots per bucket", slots.into(), 1, 8)?;
        exponent_of("the number of slots per bucket", slots.into())?;
        in_range("the length of fingerprints", fingerprint_bits.into(), 1, 32)?;
        let addressing = Addressing::new(measures)?;
        macro_rules! plain {
            ($kind:ident) => {{
                let buckets = PlainBuckets::empty(bucket_count, slots, fingerprint_bits)?;
                Table::$kind(Cuckoo::new(buckets, addressing, measures))
            }};
        }
        let table = match (slots, fingerprint_bits) {
            (4, 8) => plain!(Of8),
            (4, 12) => plain!(Of12),
            (4, 16) => plain!(Of16),
            _ if PlainBuckets::<u64, 0>::fits(slots, fingerprint_bits) => plain!(Narrow),
            _ => plain!(Wide),
        };
        Ok(Self { table, measures, memory_bits: bucket_count * u64::from(slots * fingerprint_bits) })
    }

    /// The paper's ss-CF: buckets of four slots that take a bit less each (section 5.2).
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, or there is not enough memory.
    pub fn semi_sorted(measures: CuckooMeasures) -> Result<Self, BuildError> {
        let CuckooMeasures { bucket_count, slots_per_bucket: slots, fingerprint_bits, .. } = measures;
        in_range("the number of slots per semi-sorted bucket", slots.into(), 4, SEMI_SORTED_SLOTS.into())?;
        in_range("the length of semi-sorted fingerprints", fingerprint_bits.into(), 4, 31)?;
        let addressing = Addressing::new(measures)?;
        macro_rules! semi_sorted {
            ($kind:ident) => {{
                let buckets = SemiSortedBuckets::empty(bucket_count, fingerprint_bits)?;
                Table::$kind(Cuckoo::new(buckets, addressing, measures))
            }};
        }
        let table = match fingerprint_bits {
            13 => semi_sorted!(SemiSortedOf13),
            _ if SemiSortedBuckets::<u64, 0>::fits(fingerprint_bits) => semi_sorted!(NarrowSemiSorted),
            _ => semi_sorted!(WideSemiSorted),
        };
        Ok(Self { table, measures, memory_bits: bucket_count * u64::from(slots * (fingerprint_bits - 1)) })
    }

    /// The parameters that the filter was made with.
    #[must_use]
    pub const fn measures(&self) -> &CuckooMeasures {
        &self.measures
    }

    /// The slots of all buckets; the victim is in none.
    #[must_use]
    pub const fn slot_count(&self) -> u64 {
        self.measures.bucket_count * self.measures.slots_per_bucket as u64
    }

    /// α, keys per slot.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        approximate(self.len() as u64) / approximate(self.slot_count())
    }

    /// Returns `true` if an insertion has relocated more than 500 fingerprints: the paper's condition for a full table. The
    /// key of that insertion is stored; no other is until one has been removed.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        with_table!(&self.table, cuckoo => cuckoo.victim.is_some())
    }
}

impl Filter for CuckooFilter {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        with_table!(&self.table, cuckoo => cuckoo.contains(digest))
    }

    #[inline(always)]
    fn count_contained(&self, digests: impl Iterator<Item = Digest>) -> u64 {
        with_table!(&self.table, cuckoo => {
            let mut found = 0;
            if cuckoo.victim.is_none() {
                for digest in digests {
                    found += u64::from(cuckoo.is_in_buckets(cuckoo.locate(digest)));
                }
            } else {
                for digest in digests {
                    found += u64::from(cuckoo.contains(digest));
                }
            }
            found
        })
    }

    fn len(&self) -> usize {
        with_table!(&self.table, cuckoo => cuckoo.len)
    }

    fn memory_bits(&self) -> u64 {
        self.memory_bits
    }

    /// A key is found if a stored one has the same fingerprint and the same two buckets. Fingerprint 1 occurs twice as often
    /// as the others: 1 - (1 - 2/2^f) exp(-2n / (m 2^f)) - 2/2^f · exp(-4n / (m 2^f)).
    fn expected_false_positive_rate(&self) -> f64 {
        let values = f64::from(self.measures.fingerprint_bits).exp2();
        let keys_per_class = 2.0 * approximate(self.len() as u64) / (approximate(self.measures.bucket_count) * values);
        -((1.0 - 2.0 / values) * (-keys_per_class).exp_m1() + 2.0 / values * (-2.0 * keys_per_class).exp_m1())
    }
}

impl Insert for CuckooFilter {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        if with_table!(&mut self.table, cuckoo => cuckoo.insert(digest)) {
            return Ok(());
        }
        Err(Full { len: self.len(), slots: self.slot_count() })
    }

    #[inline(always)]
    fn insert_each(&mut self, digests: impl Iterator<Item = Digest>) -> usize {
        with_table!(&mut self.table, cuckoo => {
            let mut inserted = 0;
            for digest in digests {
                if !cuckoo.insert(digest) {
                    break;
                }
                inserted += 1;
            }
            inserted
        })
    }
}

impl Remove for CuckooFilter {
    #[inline]
    fn remove(&mut self, digest: Digest) -> bool {
        with_table!(&mut self.table, cuckoo => cuckoo.remove(digest))
    }

    #[inline(always)]
    fn remove_many_into(&mut self, digests: impl Iterator<Item = Digest>) -> u64 {
        with_table!(&mut self.table, cuckoo => {
            let mut removed = 0;
            for digest in digests {
                removed += u64::from(cuckoo.remove(digest));
            }
            removed
        })
    }
}

/// Equations (1) and (2).
#[derive(Clone, Copy, Debug)]
struct Addressing {
    /// m, a power of two.
    bucket_count: u64,
}

/// A fingerprint and one of its two buckets.
#[derive(Clone, Copy, Debug)]
struct Placed {
    bucket: u64,
    fingerprint: u32,
}

impl Addressing {
    fn new(measures: CuckooMeasures) -> Result<Self, BuildError> {
        in_range("the number of buckets", measures.bucket_count, 1, 1 << 32)?;
        exponent_of("the number of buckets", measures.bucket_count)?;
        Ok(Self { bucket_count: measures.bucket_count })
    }

    #[inline]
    const fn locate(self, digest: Digest, fingerprint_bits: u32) -> Placed {
        let fingerprint = low_32(digest.get()) & (u32::MAX >> (32 - fingerprint_bits));
        let bucket = (digest.get() >> 32) & (self.bucket_count - 1);
        Placed { bucket, fingerprint: fingerprint + (fingerprint == 0) as u32 }
    }

    /// The other bucket. The hash of a fingerprint is the high end of its product with 2^64 over the golden ratio.
    #[inline]
    const fn alternate(self, placed: Placed) -> Placed {
        let hash = (placed.fingerprint as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Since the compiler sees that it is below 2^32, positions of buckets take two additions.
        let difference = low_32(scale(hash, self.bucket_count).0) as u64;
        Placed { bucket: placed.bucket ^ difference, ..placed }
    }
}

/// Algorithms 1 to 3, over either kind of buckets.
#[derive(Clone, Debug)]
struct Cuckoo<B> {
    buckets: B,
    addressing: Addressing,
    slots_per_bucket: u32,
    /// The fingerprint that found no slot, with one of its buckets.
    victim: Option<Placed>,
    random: Random,
    len: usize,
}

impl<B: Buckets> Cuckoo<B> {
    const fn new(buckets: B, addressing: Addressing, measures: CuckooMeasures) -> Self {
        let random = Random::new(measures.seed);
        Self { buckets, addressing, slots_per_bucket: measures.slots_per_bucket, victim: None, random, len: 0 }
    }

    /// Algorithm 2. Both buckets are always read, so that their cache misses overlap (footnote 7), and nothing branches on
    /// their contents, which can't be predicted.
    #[inline(always)]
    fn contains(&self, digest: Digest) -> bool {
        let placed = self.locate(digest);
        self.is_in_buckets(placed) | self.is_victim(placed)
    }

    #[inline(always)]
    fn locate(&self, digest: Digest) -> Placed {
        self.addressing.locate(digest, self.buckets.fingerprint_bits())
    }

    #[inline(always)]
    fn is_in_buckets(&self, placed: Placed) -> bool {
        let other = self.addressing.alternate(placed);
        self.buckets.contains_either([placed.bucket, other.bucket], placed.fingerprint)
    }

    /// Returns `true` if the victim is of the same fingerprint and the same two buckets.
    #[inline]
    fn is_victim(&self, placed: Placed) -> bool {
        // Most filters have no victim, so this branch is predicted.
        self.victim.is_some_and(|victim| {
            (victim.fingerprint == placed.fingerprint)
                & ((victim.bucket == placed.bucket) | (victim.bucket == self.addressing.alternate(placed).bucket))
        })
    }

    /// Algorithm 1, except that the last fingerprint evicted becomes the victim. Returns `true` if there was room.
    #[inline]
    fn insert(&mut self, digest: Digest) -> bool {
        if self.victim.is_some() {
            return false;
        }
        let placed = self.locate(digest);
        self.place(placed);
        self.len += 1;
        true
    }

    #[inline]
    fn place(&mut self, placed: Placed) {
        let other = self.addressing.alternate(placed);
        if !self.buckets.put(placed.bucket, placed.fingerprint) && !self.buckets.put(other.bucket, other.fingerprint) {
            let start = if self.random.below(2) == 0 { placed } else { other };
            self.victim = self.walk(start);
        }
    }

    /// Lets each fingerprint evict the next. Returns the last one if none found a slot.
    #[inline(never)]
    fn walk(&mut self, mut placed: Placed) -> Option<Placed> {
        for _ in 0..MAX_RELOCATIONS {
            let slot = self.random.below(self.slots_per_bucket);
            placed.fingerprint = self.buckets.exchange(placed.bucket, slot, placed.fingerprint);
            placed = self.addressing.alternate(placed);
            if self.buckets.put(placed.bucket, placed.fingerprint) {
                return None;
            }
        }
        Some(placed)
    }

    /// Algorithm 3. Afterwards there may be room for the victim.
    #[inline]
    fn remove(&mut self, digest: Digest) -> bool {
        let placed = self.locate(digest);
        let other = self.addressing.alternate(placed);
        let taken =
            self.buckets.take(placed.bucket, placed.fingerprint) || self.buckets.take(other.bucket, other.fingerprint);
        if taken {
            if let Some(victim) = self.victim.take() {
                self.place(victim);
            }
        } else if self.is_victim(placed) {
            self.victim = None;
        } else {
            return false;
        }
        self.len -= 1;
        true
    }
}
