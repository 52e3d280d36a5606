use crate::Digest;
use crate::cast::high_half;
use crate::mixing::mixed;

/// The hash of the authors' program: 64 bits of a·x + b, with a and b of 128 bits (Dietzfelbinger, "Universal hashing and
/// k-wise independent random variables via integer arithmetic without primes", 1996).
///
/// Two multiplications for a key of 64 bits. The hashes are pairwise independent.
#[derive(Clone, Copy, Debug)]
pub struct MultiplyShift {
    factor: u128,
    summand: u128,
}

impl MultiplyShift {
    /// The hash with a and b derived from a seed.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let wide = |number| u128::from(mixed(seed, number)) << 64 | u128::from(mixed(seed, number + 1));
        Self { factor: wide(0), summand: wide(2) }
    }

    /// The hash of a key.
    #[inline]
    #[must_use]
    pub const fn digest(&self, key: u64) -> Digest {
        Digest::new(high_half(self.factor.wrapping_mul(key as u128).wrapping_add(self.summand)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_multiplied_and_added_in_128_bits() {
        let hash = MultiplyShift { factor: (3 << 64) | (1 << 63), summand: (7 << 64) | 5 };
        // 3x + x/2 + 7, with carries from the low halves.
        assert_eq!(hash.digest(0), Digest::new(7));
        assert_eq!(hash.digest(10), Digest::new(30 + 5 + 7));
        assert_eq!(hash.digest(11), Digest::new(33 + 5 + 7));
        assert_eq!(hash.digest(u64::MAX), Digest::new((u64::MAX / 2).wrapping_sub(3).wrapping_add(7)));
    }
}
