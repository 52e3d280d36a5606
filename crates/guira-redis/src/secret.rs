//! The secret key of a filter.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use guira::KeyHasher;

/// 128 random bits, without which nobody can tell which items collide. `Debug` does not show them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SecretKey([u8; Self::SIZE]);

impl SecretKey {
    /// The bytes of a key.
    pub const SIZE: usize = 16;

    /// A key of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; Self::SIZE]) -> Self {
        Self(bytes)
    }

    /// A new key, from the random numbers of the standard library, which come from the system.
    #[must_use]
    pub fn of_system() -> Self {
        let half = || RandomState::new().hash_one(()).to_le_bytes();
        let mut bytes = [0; Self::SIZE];
        let (low, high) = bytes.split_at_mut(Self::SIZE / 2);
        low.copy_from_slice(&half());
        high.copy_from_slice(&half());
        Self(bytes)
    }

    /// Parses a key of 32 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let digit = |&digit: &u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pairs: &[[u8; 2]; Self::SIZE] =
            text.as_chunks().0.try_into().ok().filter(|_| text.len() == 2 * Self::SIZE)?;
        let mut bytes = [0; Self::SIZE];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(high)? << 4 | digit(low)?;
        }
        Some(Self(bytes))
    }

    /// The key as hexadecimal digits, which [`Self::parse`] reads.
    #[must_use]
    pub fn hex(self) -> [u8; 2 * Self::SIZE] {
        let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
        let mut digits = [0; 2 * Self::SIZE];
        for ([high, low], byte) in digits.as_chunks_mut().0.iter_mut().zip(self.0) {
            (*high, *low) = (digit(byte >> 4), digit(byte));
        }
        digits
    }

    pub(crate) const fn bytes(self) -> [u8; Self::SIZE] {
        self.0
    }

    /// The hash with this key.
    #[must_use]
    pub fn hasher(self) -> KeyHasher {
        KeyHasher::sip_hash_13(self.0)
    }

    /// The key of a hash, if it has one.
    pub(crate) fn of_hasher(hasher: &KeyHasher) -> Option<Self> {
        hasher.secret_key().map(Self)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretKey(hidden)")
    }
}
