use core::fmt;
use core::hash::Hasher;

use siphasher::sip::SipHasher13;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

use super::Key;

/// The 64-bit hash of a key.
///
/// A digest is a key, too, and stands for itself: hash a key once to ask several filters, or with a hash of your own. All 64
/// bits must be well mixed: the high ones choose the bucket, the low 32 the fingerprint, and both together what a fingerprint has
/// above 32 bits.
///
/// ```
/// use guira::{CuckooFilter, KeyHasher};
///
/// let mut filter = CuckooFilter::with_capacity(100, 0.01)?;
/// let digest = filter.hasher().digest("ani");
/// filter.insert(&digest)?;
/// assert!(filter.contains("ani"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(u64);

impl Digest {
    /// Takes 64 well-mixed bits as they are.
    #[must_use]
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the 64 bits.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({:#018x})", self.0)
    }
}

/// How keys become digests: a hash, with its seed or its secret key. It is the same on every machine and in every release.
///
/// # Examples
///
/// ```
/// use guira::{CuckooFilter, Digest, KeyHasher};
///
/// let hasher = KeyHasher::xxh3(0);
/// // An integer is hashed as its eight little-endian bytes, on every machine.
/// assert_eq!(hasher.digest(&1), hasher.digest(&[1u8, 0, 0, 0, 0, 0, 0, 0]));
/// assert_eq!(hasher.digest(""), Digest::new(0x2d06_8005_38d3_94c2));
///
/// let builder = CuckooFilter::builder().capacity(1000).false_positive_rate(0.01);
/// let filter = builder.hasher(KeyHasher::sip_hash_13(*b"16 random bytes!")).build()?;
/// assert!(filter.hasher().secret_key().is_some());
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyHasher {
    secret_key: Option<[u8; 16]>,
    seed: u64,
}

impl KeyHasher {
    /// Makes the hash XXH3-64 with this seed: fast, for keys that no attacker chooses.
    #[must_use]
    pub const fn xxh3(seed: u64) -> Self {
        Self { secret_key: None, seed }
    }

    /// Makes the hash SipHash-1-3 with a secret key, 16 bytes from a good random source, for keys that an attacker may
    /// choose.
    ///
    /// The seed is derived from the secret, so that nobody without it can tell which keys share buckets. It is never
    /// written to a file: see [`LoadOptions::secret_key`](crate::LoadOptions::secret_key).
    #[must_use]
    pub fn sip_hash_13(secret_key: [u8; 16]) -> Self {
        Self { secret_key: Some(secret_key), seed: sip_hash_13(&secret_key, b"guira: alternates") }
    }

    /// Returns the digest of a key.
    #[inline]
    #[must_use]
    pub fn digest<K: Key + ?Sized>(&self, key: &K) -> Digest {
        key.digest(self)
    }

    /// This hash if it is XXH3, as one of which the compiler knows that: in a loop over keys it is asked for once.
    #[inline(always)]
    pub(crate) const fn as_xxh3(&self) -> Option<Self> {
        match self.secret_key {
            None => Some(Self::xxh3(self.seed)),
            Some(_) => None,
        }
    }

    /// The digest of a key that is these bytes.
    #[inline]
    pub(super) fn digest_bytes(&self, bytes: &[u8]) -> Digest {
        Digest(match &self.secret_key {
            None => xxh3_64_with_seed(bytes, self.seed),
            Some(key) => sip_hash_13(key, bytes),
        })
    }

    /// The digest of a value by its own [`Hash`](core::hash::Hash).
    pub(super) fn digest_hashable<T: core::hash::Hash + ?Sized>(&self, value: &T) -> Digest {
        Digest(match &self.secret_key {
            None => {
                let mut hasher = Xxh3::with_seed(self.seed);
                value.hash(&mut hasher);
                hasher.finish()
            }
            Some(key) => {
                let mut hasher = SipHasher13::new_with_key(key);
                value.hash(&mut hasher);
                hasher.finish()
            }
        })
    }

    /// The digests of many keys. The algorithm is chosen once for all of them, so that the compiler can vectorise the loop.
    ///
    /// # Panics
    ///
    /// If `keys` and `digests` differ in length.
    #[inline(always)]
    pub(crate) fn digest_each<K: Key>(&self, keys: &[K], digests: &mut [Digest]) {
        assert_eq!(keys.len(), digests.len(), "as many digests as keys");
        if let Some(hasher) = self.as_xxh3() {
            for (key, digest) in keys.iter().zip(digests) {
                *digest = hasher.digest(key);
            }
        } else {
            for (key, digest) in keys.iter().zip(digests) {
                *digest = self.digest(key);
            }
        }
    }

    /// Returns the secret key, or `None` where the hash has none.
    #[must_use]
    pub const fn secret_key(&self) -> Option<[u8; 16]> {
        self.secret_key
    }

    /// Returns the seed: the one given, or with a secret key one that is derived from it, and as secret.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The number that a file holds in place of the secret, so that a wrong key is noticed; `None` where there is no secret.
    pub(crate) fn key_check(&self) -> Option<u64> {
        self.secret_key.as_ref().map(|key| sip_hash_13(key, b"guira: key check"))
    }
}

/// XXH3-64 with the seed 0.
impl Default for KeyHasher {
    fn default() -> Self {
        Self::xxh3(0)
    }
}

/// Shows the seed of XXH3-64, and nothing of a secret key.
impl fmt::Debug for KeyHasher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.secret_key {
            None => write!(formatter, "KeyHasher::xxh3({})", self.seed),
            Some(_) => formatter.write_str("KeyHasher::sip_hash_13(hidden)"),
        }
    }
}

/// The name of the hash.
impl fmt::Display for KeyHasher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(if self.secret_key.is_some() { "SipHash-1-3" } else { "XXH3-64" })
    }
}

fn sip_hash_13(key: &[u8; 16], bytes: &[u8]) -> u64 {
    // Unlike what takes the key as bytes, this is inlined.
    let half = |first: usize| u64::from_le_bytes(core::array::from_fn(|index| key[first + index]));
    SipHasher13::new_with_keys(half(0), half(8)).hash(bytes)
}

/// The checksum of the file format: XXH3-64 with seed 0.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// A checksum of the file format with a seed: XXH3-64.
pub(crate) fn seeded_checksum(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

/// The checksum of bytes that are in two pieces.
pub(crate) fn checksum_of_two(first: &[u8], second: &[u8]) -> u64 {
    let mut checksum = Xxh3::default();
    checksum.update(first);
    checksum.update(second);
    checksum.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xxh3_gives_the_published_digests() {
        // From the test vectors of the xxHash specification: XXH3-64 of "" and of "abc", seed 0.
        let hasher = KeyHasher::xxh3(0);
        assert_eq!(hasher.digest(""), Digest::new(0x2d06_8005_38d3_94c2));
        assert_eq!(hasher.digest("abc"), Digest::new(0x78af_5f94_892f_3950));
    }

    #[test]
    fn sip_hash_gives_the_reference_digest() {
        // SipHash-1-3 of the empty string under the key 00..0f, from the reference implementation's vectors.
        let key = core::array::from_fn(|index| u8::try_from(index).expect("16 bytes"));
        let hasher = KeyHasher::sip_hash_13(key);
        assert_eq!(hasher.digest(b""), Digest::new(0xabac_0158_050f_c4dc));
    }

    #[test]
    fn seeds_and_secrets_change_every_digest() {
        assert_ne!(KeyHasher::xxh3(1).digest("a"), KeyHasher::xxh3(2).digest("a"));
        assert_ne!(KeyHasher::sip_hash_13([1; 16]).digest("a"), KeyHasher::sip_hash_13([2; 16]).digest("a"));
        assert_ne!(KeyHasher::sip_hash_13([1; 16]).seed(), KeyHasher::sip_hash_13([2; 16]).seed());
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let text = alloc::format!("{:?}", KeyHasher::sip_hash_13([77; 16]));
        assert!(!text.contains("77") && text.contains("hidden"), "{text}");
        let seed = alloc::format!("{}", KeyHasher::sip_hash_13([77; 16]).seed());
        assert!(!text.contains(&seed), "{text}");
    }
}
