//! The memory of a table.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use crate::cast::in_memory;

/// How many bytes follow the last slot at the least, so that a 128-bit word can be read at the last slot's byte.
const PADDING: u64 = 15;

/// The bytes of a table: its slots, bit after bit, and zeros behind them up to a multiple of 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Storage(Vec<u8>);

impl Storage {
    /// How many bytes a table of `bits` bits takes, padding included.
    pub(crate) const fn size_for(bits: u64) -> u64 {
        (bits.div_ceil(8) + PADDING).next_multiple_of(8)
    }

    /// Memory for `bits` bits, all 0.
    pub(crate) fn zeroed(bits: u64) -> Result<Self, TryReserveError> {
        let size = in_memory(Self::size_for(bits));
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size)?;
        bytes.resize(size, 0);
        Ok(Self(bytes))
    }

    /// A copy of a table's bytes.
    pub(crate) fn copied_from(table: &[u8]) -> Result<Self, TryReserveError> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(table.len())?;
        bytes.extend_from_slice(table);
        Ok(Self(bytes))
    }

    /// A table's bytes.
    #[cfg(feature = "std")]
    pub(crate) const fn from_vec(table: Vec<u8>) -> Self {
        Self(table)
    }

    /// Whether all bits from bit `bits` on are 0 (invariant 4).
    pub(crate) fn is_zero_from(&self, bits: u64) -> bool {
        let (whole, partial) = (in_memory(bits / 8), bits % 8);
        self.0.get(whole..).is_some_and(|rest| {
            rest.iter().enumerate().all(|(index, &byte)| if index == 0 { byte >> partial == 0 } else { byte == 0 })
        })
    }
}

impl Deref for Storage {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Storage {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_can_be_read_at_the_last_bit() {
        for bits in 1..=200 {
            let storage = Storage::zeroed(bits).expect("small");
            let last_byte = in_memory((bits - 1) / 8);
            assert!(last_byte + 16 <= storage.len(), "{bits} bits");
        }
    }

    #[test]
    fn padding_is_checked_to_the_bit() {
        let mut storage = Storage::zeroed(11).expect("small");
        storage[1] = 0b0000_0111;
        assert!(storage.is_zero_from(11));
        storage[1] = 0b0000_1000;
        assert!(!storage.is_zero_from(11));
        storage[1] = 0;
        *storage.last_mut().expect("not empty") = 1;
        assert!(!storage.is_zero_from(11));
    }
}
