use crate::cast::{approximate, scale};
use crate::error::in_range;
use crate::memory::Memory;
use crate::mixing::mixed;
use crate::random::Random;
use crate::{BuildError, Digest, Filter, Full, Insert, Remove};

/// How many keys an insertion relocates before it gives up: section 2.2 of the paper.
const MAX_RELOCATIONS: usize = 500;
const KEY_BITS: u64 = 64;
const MAX_HASHES: u32 = 8;
const MAX_SLOTS_PER_BUCKET: u32 = 16;

/// The parameters of a [`CuckooHashTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashTableMeasures {
    /// m, the number of buckets: any number.
    pub bucket_count: u64,
    /// b: 1 to 16.
    pub slots_per_bucket: u32,
    /// The number of hashes, each of which gives a key a bucket: 2 to 8.
    pub hash_count: u32,
    /// The seed of the hashes and the random walks.
    pub seed: u64,
}

/// The cuckoo hash table with whole keys: section 2.2 of the paper; Pagh and Rodler, "Cuckoo Hashing" (2004), with several
/// slots per bucket (Dietzfelbinger and Weidling 2007).
///
/// A key is in one of its buckets, which independent hashes of the key give, as is possible since the key itself is stored; so
/// its load is what a cuckoo filter with long fingerprints can at best reach (figure 2). Room is made by a random walk of at
/// most 500 relocations. A walk that ends without room is undone, so that [`insert`] keeps all keys and reports that the table
/// is full; [`insert_or_rehash`] then moves them to a table of twice the size with other hashes.
///
/// A key is the whole digest, so there are no false positives. It takes 64 bm bits, for αbm keys. The load that two hashes
/// can reach in a large table is 0.5, 0.897, 0.9768 or 0.9974 for b = 1, 2, 4 or 8 (Fernholz and Ramachandran 2007; Cain,
/// Sanders and Wormald 2007); a short walk gives up a little below.
///
/// [`insert`]: Insert::insert
/// [`insert_or_rehash`]: CuckooHashTable::insert_or_rehash
#[derive(Clone, Debug)]
pub struct CuckooHashTable {
    slots: Memory,
    measures: HashTableMeasures,
    /// The slots of the current walk.
    walk: Vec<u64>,
    random: Random,
    /// The number of copies of key 0, which in a slot would mean that it is empty.
    zeros: usize,
    len: usize,
}

impl CuckooHashTable {
    /// An empty table.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, or there is not enough memory.
    pub fn new(measures: HashTableMeasures) -> Result<Self, BuildError> {
        in_range("the number of buckets", measures.bucket_count, 1, 1 << 40)?;
        in_range("the number of slots per bucket", measures.slots_per_bucket.into(), 1, MAX_SLOTS_PER_BUCKET.into())?;
        in_range("the number of hashes", measures.hash_count.into(), 2, MAX_HASHES.into())?;
        let slot_count = measures.bucket_count * u64::from(measures.slots_per_bucket);
        Ok(Self {
            slots: Memory::zeroed(slot_count * KEY_BITS)?,
            measures,
            walk: Vec::with_capacity(MAX_RELOCATIONS),
            random: Random::new(measures.seed),
            zeros: 0,
            len: 0,
        })
    }

    /// The slots of all buckets.
    #[must_use]
    pub const fn slot_count(&self) -> u64 {
        self.measures.bucket_count * self.measures.slots_per_bucket as u64
    }

    /// α, keys per slot.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        approximate(self.len as u64) / approximate(self.slot_count())
    }

    /// Adds a key, or another copy of one. If there is no room, all keys first move to a table of twice the size.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for that. All keys are then still in the old table.
    pub fn insert_or_rehash(&mut self, digest: Digest) -> Result<(), BuildError> {
        while self.insert(digest).is_err() {
            *self = self.rehashed()?;
        }
        Ok(())
    }

    /// Moves the keys to a table of at least twice the size, with other hashes.
    fn rehashed(&self) -> Result<Self, BuildError> {
        let mut measures = self.measures;
        loop {
            measures = HashTableMeasures {
                bucket_count: measures.bucket_count * 2,
                seed: mixed(measures.seed, measures.bucket_count),
                ..measures
            };
            let mut table = Self::new(measures)?;
            let mut keys = (0..self.slot_count()).map(|slot| self.key(slot)).filter(|&key| key != 0);
            if keys.all(|key| table.insert(Digest::new(key)).is_ok()) {
                table.zeros = self.zeros;
                table.len = self.len;
                return Ok(table);
            }
        }
    }

    /// Returns `true` if all slots of both tables are equal.
    #[doc(hidden)]
    #[must_use]
    pub fn holds_the_same_as(&self, other: &Self) -> bool {
        (self.len, self.zeros) == (other.len, other.zeros) && self.slots == other.slots
    }

    #[inline]
    fn key(&self, slot: u64) -> u64 {
        u64::from_le_bytes(self.slots.read(slot * 8))
    }

    #[inline]
    fn set(&mut self, slot: u64, key: u64) {
        self.slots.write(slot * 8, key.to_le_bytes());
    }

    /// The slots of a key's bucket by one of its hashes.
    #[inline]
    fn bucket(&self, key: u64, hash: u32) -> core::ops::Range<u64> {
        let bucket = scale(mixed(key ^ self.measures.seed, hash.into()), self.measures.bucket_count).0;
        let slots = u64::from(self.measures.slots_per_bucket);
        bucket * slots..(bucket + 1) * slots
    }

    /// A slot in the buckets of `key` that holds `content`: the key itself, or 0 for an empty slot.
    #[inline]
    fn find(&self, key: u64, content: u64) -> Option<u64> {
        let mut buckets = (0..self.measures.hash_count).map(|hash| self.bucket(key, hash));
        buckets.find_map(|mut bucket| bucket.find(|&slot| self.key(slot) == content))
    }

    /// Lets each key evict the next until one finds an empty slot. If none does, everything is left as it was.
    fn insert_by_relocation(&mut self, key: u64) -> bool {
        self.walk.clear();
        let mut homeless = key;
        // The bucket that the current key was evicted from.
        let mut left = None;
        for _ in 0..MAX_RELOCATIONS {
            let bucket = self.bucket_to_enter(homeless, left);
            let slot = bucket.start + u64::from(self.random.below(self.measures.slots_per_bucket));
            let evicted = self.key(slot);
            self.set(slot, homeless);
            self.walk.push(slot);
            (homeless, left) = (evicted, Some(bucket.start));
            if let Some(empty) = self.find(homeless, 0) {
                self.set(empty, homeless);
                return true;
            }
        }
        while let Some(slot) = self.walk.pop() {
            let evicting = self.key(slot);
            self.set(slot, homeless);
            homeless = evicting;
        }
        false
    }

    /// One of a key's buckets at random, but not the one that it was just evicted from, unless it has no other.
    #[inline]
    fn bucket_to_enter(&mut self, key: u64, left: Option<u64>) -> core::ops::Range<u64> {
        let hashes = self.measures.hash_count;
        let first = self.random.below(hashes);
        let in_turn = (0..hashes).map(|turn| self.bucket(key, (first + turn) % hashes));
        let mut others = in_turn.filter(|bucket| Some(bucket.start) != left);
        others.next().unwrap_or_else(|| self.bucket(key, first))
    }
}

impl Filter for CuckooHashTable {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let key = digest.get();
        if key == 0 { self.zeros > 0 } else { self.find(key, key).is_some() }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory_bits(&self) -> u64 {
        self.slot_count() * KEY_BITS
    }

    fn expected_false_positive_rate(&self) -> f64 {
        0.0
    }
}

impl Insert for CuckooHashTable {
    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<(), Full> {
        let key = digest.get();
        if key == 0 {
            self.zeros += 1;
        } else if let Some(empty) = self.find(key, 0) {
            self.set(empty, key);
        } else if !self.insert_by_relocation(key) {
            return Err(Full { len: self.len, slots: self.slot_count() });
        }
        self.len += 1;
        Ok(())
    }
}

impl Remove for CuckooHashTable {
    #[inline]
    fn remove(&mut self, digest: Digest) -> bool {
        let key = digest.get();
        let removed = if key == 0 {
            let had_one = self.zeros > 0;
            self.zeros -= usize::from(had_one);
            had_one
        } else if let Some(slot) = self.find(key, key) {
            self.set(slot, 0);
            true
        } else {
            false
        };
        self.len -= usize::from(removed);
        removed
    }
}
