//! The fields of a header, one after the other, little-endian.

/// The part of a header that is still to be read.
pub(super) struct Fields<'bytes>(pub(super) &'bytes [u8]);

impl Fields<'_> {
    /// The bytes of the next field; `None` at the end.
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    /// The number in the next field, of 8 bytes.
    pub(super) fn number(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}
