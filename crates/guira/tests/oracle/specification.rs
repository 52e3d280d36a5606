//! A second reader and writer of guira files, made from docs/format.md alone. It goes bit by bit, and shares nothing with
//! the library but the crates that hash.

use xxhash_rust::xxh3::xxh3_64;

/// The fields of a header, in the order of the table in docs/format.md.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) version: u16,
    pub(crate) kind: u8,
    pub(crate) layout: u8,
    pub(crate) addressing: u8,
    pub(crate) hash: u8,
    pub(crate) slots_per_bucket: u8,
    pub(crate) fingerprint_bits: u8,
    pub(crate) regions: u64,
    pub(crate) buckets_per_region: u64,
    pub(crate) capacity: u64,
    pub(crate) len: u64,
    /// The seed, or with SipHash-1-3 the key check.
    pub(crate) seed: u64,
    pub(crate) table_size: u64,
}

pub(crate) const REGIONAL: u8 = 1;
pub(crate) const POWER_OF_TWO: u8 = 2;
pub(crate) const XXH3: u8 = 1;
pub(crate) const SIP_HASH_13: u8 = 2;

impl Header {
    /// Both checksums are computed, the one of the table over these bytes.
    pub(crate) fn to_bytes(self, table: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x89GUIRA\r\n".to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend([
            self.kind,
            self.layout,
            self.addressing,
            self.hash,
            self.slots_per_bucket,
            self.fingerprint_bits,
        ]);
        for field in [self.regions, self.buckets_per_region, self.capacity, self.len, self.seed, self.table_size] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend([0; 48]);
        bytes.extend(xxh3_64(table).to_le_bytes());
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        Self {
            version: u16::from_le_bytes([bytes[8], bytes[9]]),
            kind: bytes[10],
            layout: bytes[11],
            addressing: bytes[12],
            hash: bytes[13],
            slots_per_bucket: bytes[14],
            fingerprint_bits: bytes[15],
            regions: number(16),
            buckets_per_region: number(24),
            capacity: number(32),
            len: number(40),
            seed: number(48),
            table_size: number(56),
        }
    }

    fn slots(&self) -> u128 {
        (u128::from(self.regions) * u128::from(self.buckets_per_region)).saturating_mul(self.slots_per_bucket.into())
    }

    /// The table size that the measures give.
    pub(crate) fn size_of_table(&self) -> u128 {
        (self.slots().saturating_mul(self.fingerprint_bits.into()).div_ceil(8) + 15).next_multiple_of(8)
    }

    pub(crate) fn fingerprint(&self, digest: u64) -> u64 {
        let values = (1 << self.fingerprint_bits) - 1;
        1 + (((digest & 0xffff_ffff) * values) >> 32)
    }

    pub(crate) fn primary_bucket(&self, digest: u64) -> u64 {
        if self.addressing == POWER_OF_TWO {
            return high_bits(digest, self.buckets_per_region.ilog2());
        }
        let region = high_product(digest, self.regions);
        let offset = high_product(digest.wrapping_mul(self.regions), self.buckets_per_region);
        region * self.buckets_per_region + offset
    }

    /// The other candidate bucket of a fingerprint; the seed is that of the alternates, which with SipHash-1-3 is not
    /// in the header.
    pub(crate) fn alternate_bucket(&self, bucket: u64, fingerprint: u64, seed: u64) -> u64 {
        let mixed = fingerprint ^ spread(seed);
        let golden = 0x9e37_79b9_7f4a_7c15;
        let hash = high_product(mixed, golden) ^ mixed.wrapping_mul(golden);
        let size = self.buckets_per_region;
        if self.addressing == POWER_OF_TWO {
            return bucket ^ high_bits(hash, size.ilog2());
        }
        let (region, offset) = (bucket / size, bucket % size);
        let sum = if size % 2 == 1 { high_product(hash, size) } else { 2 * high_product(hash, size / 2) + 1 };
        region * size + (sum + size - offset) % size
    }

    /// The fingerprint in a slot; 0 where it is empty.
    pub(crate) fn slot(&self, table: &[u8], bucket: u64, slot: u64) -> u64 {
        let bits = u64::from(self.fingerprint_bits);
        let first = (bucket * u64::from(self.slots_per_bucket) + slot) * bits;
        (0..bits).map(|bit| (u64::from(table[index((first + bit) / 8)]) >> ((first + bit) % 8) & 1) << bit).sum()
    }

    pub(crate) fn set_slot(&self, table: &mut [u8], bucket: u64, slot: u64, fingerprint: u64) {
        let bits = u64::from(self.fingerprint_bits);
        let first = (bucket * u64::from(self.slots_per_bucket) + slot) * bits;
        for bit in (0..bits).filter(|bit| fingerprint >> bit & 1 == 1) {
            table[index((first + bit) / 8)] |= 1 << ((first + bit) % 8);
        }
    }

    pub(crate) fn contains(&self, table: &[u8], digest: u64, seed: u64) -> bool {
        let fingerprint = self.fingerprint(digest);
        let primary = self.primary_bucket(digest);
        let candidates = [primary, self.alternate_bucket(primary, fingerprint, seed)];
        let slots = 0..u64::from(self.slots_per_bucket);
        candidates.iter().any(|&bucket| slots.clone().any(|slot| self.slot(table, bucket, slot) == fingerprint))
    }
}

/// The high 64 bits of the product: `mulhi`.
fn high_product(x: u64, y: u64) -> u64 {
    u64::try_from((u128::from(x) * u128::from(y)) >> 64).expect("64 bits")
}

/// The p high bits.
fn high_bits(x: u64, p: u32) -> u64 {
    u64::try_from(u128::from(x) >> (64 - p)).expect("64 bits")
}

fn spread(seed: u64) -> u64 {
    let x = seed ^ 0x6a09_e667_f3bc_c909;
    let x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

fn index(byte: u64) -> usize {
    usize::try_from(byte).expect("a table in memory")
}
