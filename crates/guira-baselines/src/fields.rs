//! An array of fields of any number of bits.

use crate::BuildError;
use crate::memory::Memory;
use crate::word::Word;

/// The widest field that can be read at once, wherever it starts.
pub(crate) const MAX_BITS: u32 = u64::USABLE_BITS;

/// An array of fields of up to [`MAX_BITS`] bits, one after the other without a gap.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fields {
    memory: Memory,
    width: u32,
    count: u64,
}

impl Fields {
    /// Fields that are 0.
    pub(crate) fn zeroed(count: u64, width: u32) -> Result<Self, BuildError> {
        debug_assert!((1..=MAX_BITS).contains(&width));
        Ok(Self { memory: Memory::zeroed(count.saturating_mul(width.into()))?, width, count })
    }

    #[inline]
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn bits(&self) -> u64 {
        self.count * u64::from(self.width)
    }

    #[inline]
    pub(crate) fn get(&self, index: u64) -> u64 {
        u64::read(&self.memory, index * u64::from(self.width)) & u64::ones(self.width)
    }

    #[inline]
    pub(crate) fn set(&mut self, index: u64, value: u64) {
        value.write(&mut self.memory, index * u64::from(self.width), u64::ones(self.width));
    }
}
