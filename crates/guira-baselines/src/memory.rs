//! The memory of a table.

use core::fmt;
use core::ops::{Deref, DerefMut};

use memmap2::MmapMut;

use crate::BuildError;
use crate::cast::in_memory;

/// Bytes behind the last bit, so that a word can be read at every bit.
const PADDING: u64 = 16;

/// Zeroed memory. It starts at a page, hence at a cache line, and large tables ask the system for large pages: otherwise a
/// filter would be slow for a reason that is not its own.
pub(crate) struct Memory(MmapMut);

impl Memory {
    /// Allocates memory for `bits` bits.
    pub(crate) fn zeroed(bits: u64) -> Result<Self, BuildError> {
        let out_of_memory = || BuildError::OutOfMemory { bits };
        let size = usize::try_from(bits.div_ceil(8) + PADDING).map_err(|_| out_of_memory())?;
        Self::map(size).ok_or_else(out_of_memory)
    }

    fn map(size: usize) -> Option<Self> {
        let map = MmapMut::map_anon(size).ok()?;
        #[cfg(target_os = "linux")]
        if map.advise(memmap2::Advice::HugePage).is_err() {
            // A kernel without large pages. The memory is usable all the same.
        }
        Some(Self(map))
    }

    /// Reads bytes from a position on.
    ///
    /// Since the position is below 2^61, nothing overflows, and a single comparison checks the bounds.
    #[inline]
    pub(crate) fn read<const SIZE: usize>(&self, byte: u64) -> [u8; SIZE] {
        let start = in_memory(byte);
        let Some(&bytes) = self.get(start..start + SIZE).and_then(<[u8]>::first_chunk) else {
            panic!("a word beyond the end of the table")
        };
        bytes
    }

    /// Writes bytes from a position on.
    #[inline]
    pub(crate) fn write<const SIZE: usize>(&mut self, byte: u64, bytes: [u8; SIZE]) {
        let start = in_memory(byte);
        let Some(place) = self.get_mut(start..start + SIZE).and_then(<[u8]>::first_chunk_mut) else {
            panic!("a word beyond the end of the table")
        };
        *place = bytes;
    }

    /// Reads a bit.
    #[inline]
    pub(crate) fn bit(&self, bit: u64) -> bool {
        self.bits_from(bit) & 1 == 1
    }

    /// Reads a bit into the lowest one of a byte; the others are undefined.
    #[inline]
    pub(crate) fn bits_from(&self, bit: u64) -> u8 {
        self[in_memory(bit >> 3)] >> (bit & 7)
    }

    /// Sets a bit.
    #[inline]
    pub(crate) fn set_bit(&mut self, bit: u64) {
        self[in_memory(bit >> 3)] |= 1 << (bit & 7);
    }
}

impl Deref for Memory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Memory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        let Some(mut copy) = Self::map(self.len()) else { panic!("no memory for a copy of {} bytes", self.len()) };
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Memory({} bytes)", self.len())
    }
}
