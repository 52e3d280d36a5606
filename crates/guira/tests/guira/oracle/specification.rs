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
    /// How often all buckets became two.
    pub(crate) doublings: u8,
    /// 1 if those with odd offsets did once more.
    pub(crate) mark: u64,
}

pub(crate) const SEMI_SORTED: u8 = 2;
pub(crate) const REGIONAL: u8 = 1;
pub(crate) const POWER_OF_TWO: u8 = 2;
pub(crate) const TERNARY: u8 = 3;
pub(crate) const QUATERNARY: u8 = 4;
pub(crate) const DOUBLING: u8 = 5;
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
        bytes.extend([0, self.doublings]);
        bytes.extend([0; 30]);
        bytes.extend(self.mark.to_le_bytes());
        bytes.extend([0; 8]);
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
            doublings: bytes[65],
            mark: number(96),
        }
    }

    fn slots(&self) -> u128 {
        (u128::from(self.regions) * u128::from(self.buckets_per_region)).saturating_mul(self.slots_per_bucket.into())
    }

    /// The table size that the parameters give.
    pub(crate) fn size_of_table(&self) -> u128 {
        (self.slots().saturating_mul(self.fingerprint_bits.into()).div_ceil(8) + 15).next_multiple_of(8)
    }

    pub(crate) fn fingerprint(&self, digest: u64) -> u64 {
        let values = (1 << self.fingerprint_bits.min(32)) - 1;
        let short = 1 + (((digest & 0xffff_ffff) * values) >> 32);
        match self.fingerprint_bits {
            longer @ 33.. => high_bits(digest.wrapping_mul(GOLDEN), u32::from(longer) - 32) << 32 | short,
            _ => short,
        }
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
        let hash = hash_of(fingerprint & 0xffff_ffff, seed);
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
        bits_at(table, (bucket * u64::from(self.slots_per_bucket) + slot) * bits, bits)
    }

    pub(crate) fn set_slot(&self, table: &mut [u8], bucket: u64, slot: u64, fingerprint: u64) {
        let bits = u64::from(self.fingerprint_bits);
        let first = (bucket * u64::from(self.slots_per_bucket) + slot) * bits;
        for bit in (0..bits).filter(|bit| fingerprint >> bit & 1 == 1) {
            table[index((first + bit) / 8)] |= 1 << ((first + bit) % 8);
        }
    }

    pub(crate) fn contains(&self, table: &[u8], digest: u64, seed: u64) -> bool {
        let (fingerprint, candidates) = self.fingerprint_and_buckets(digest, seed);
        candidates.into_iter().any(|bucket| self.bucket(table, bucket).contains(&fingerprint))
    }

    /// The fingerprint of a key and all its buckets.
    pub(crate) fn fingerprint_and_buckets(&self, digest: u64, seed: u64) -> (u64, Vec<u64>) {
        if self.addressing == DOUBLING {
            return self.fingerprint_and_buckets_doubled(digest, seed);
        }
        let (fingerprint, primary) = (self.fingerprint(digest), self.primary_bucket(digest));
        let base = match self.addressing {
            TERNARY => 3,
            QUATERNARY => 4,
            _ => return (fingerprint, vec![primary, self.alternate_bucket(primary, fingerprint, seed)]),
        };
        let size = self.buckets_per_region;
        let step = if size == 1 { 0 } else { high_product(hash_of(fingerprint, seed), size - 1) + 1 };
        let region_start = primary / size * size;
        let next = |bucket: &u64| Some(region_start + sum_of_digits(bucket - region_start, step, base));
        let buckets = std::iter::successors(Some(primary), next);
        (fingerprint, buckets.take(usize::try_from(base).expect("3 or 4")).collect())
    }

    /// The section "Tables that are doubled".
    fn fingerprint_and_buckets_doubled(&self, digest: u64, seed: u64) -> (u64, Vec<u64>) {
        let product = (digest & 0xffff_ffff) * 255;
        let core = 1 + (product >> 32);
        let rest = (product >> 8 & 0xff_ffff) << 40 | high_bits(digest.wrapping_mul(GOLDEN), 40);
        let g = u32::from(self.doublings);
        let spare = high_bits(rest << g, u32::from(self.fingerprint_bits) - 8);
        let (size, hash) = (self.buckets_per_region, hash_of(core, seed));
        // The topmost bits of X, wherever e has its own.
        let x = (hash & 0xffff_ffff) << 32;
        let of_each_offset = 1 << g;
        let first_size = if self.mark == 1 { 2 * size / (3 * of_each_offset) } else { size / of_each_offset };
        let region_start = high_product(digest, self.regions) * size;
        let offset = high_product(digest.wrapping_mul(self.regions), first_size);
        let other = (2 * high_product(hash, first_size / 2) + 1 + first_size - offset) % first_size;
        let bucket = |offset: u64| {
            let is_odd = offset % 2 == 1;
            let bits = if is_odd { rest ^ x } else { rest };
            region_start
                + match (self.mark, is_odd) {
                    (0, _) => offset * of_each_offset + high_bits(bits, g),
                    (_, false) => offset / 2 * 3 * of_each_offset + high_bits(bits, g),
                    (_, true) => (offset / 2 * 3 + 1) * of_each_offset + high_bits(bits, g + 1),
                }
        };
        (spare << 8 | core, vec![bucket(offset), bucket(other)])
    }

    /// What is in the slots of a bucket.
    fn bucket(&self, table: &[u8], bucket: u64) -> Vec<u64> {
        let (slots, bits) = (u64::from(self.slots_per_bucket), u64::from(self.fingerprint_bits));
        match self.layout {
            SEMI_SORTED => {
                let start = bucket * 4 * (bits - 1);
                let nibbles = nibbles_of(bits_at(table, start, 12));
                let high = |slot| bits_at(table, start + 12 + slot * (bits - 4), bits - 4);
                (0..4).zip(nibbles).map(|(slot, nibble)| high(slot) << 4 | nibble).collect()
            }
            _ => (0..slots).map(|slot| self.slot(table, bucket, slot)).collect(),
        }
    }
}

/// So many bits of the table, from this one on.
fn bits_at(table: &[u8], first: u64, count: u64) -> u64 {
    (0..count).map(|bit| (u64::from(table[index((first + bit) / 8)]) >> ((first + bit) % 8) & 1) << bit).sum()
}

/// The four sorted nibbles with this code, found by computing the codes of all.
fn nibbles_of(code: u64) -> [u64; 4] {
    let binomial = |n: u64, k: u64| (0..k).fold(1, |product, i| product * (n - i) / (i + 1));
    // The greatest nibble is the greatest whose share of the code is not above it; and so on.
    let mut rest = code;
    let mut greatest = |k: u64| {
        let found = (0..16).rev().find(|n| binomial(n + k - 1, k) <= rest).expect("0 has no share");
        rest -= binomial(found + k - 1, k);
        found
    };
    let (d, c, b) = (greatest(4), greatest(3), greatest(2));
    [greatest(1), b, c, d]
}

/// The sum of the digits of two numbers to a base, without carry.
fn sum_of_digits(x: u64, y: u64, base: u64) -> u64 {
    if x == 0 && y == 0 { 0 } else { (x % base + y % base) % base + base * sum_of_digits(x / base, y / base, base) }
}

/// H of a fingerprint, or of a core.
fn hash_of(fingerprint: u64, seed: u64) -> u64 {
    let mixed = fingerprint ^ spread(seed);
    high_product(mixed, GOLDEN) ^ mixed.wrapping_mul(GOLDEN)
}

/// P.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

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
