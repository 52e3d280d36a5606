//! The fields of a header, one after the other, little-endian.

/// A field that is a number.
pub(super) trait Field: Sized {
    fn take(fields: &mut Fields<'_>) -> Option<Self>;
}

macro_rules! field {
    ($($integer:ty),*) => {$(
        impl Field for $integer {
            fn take(fields: &mut Fields<'_>) -> Option<Self> {
                fields.take_bytes().map(<$integer>::from_le_bytes)
            }
        }
    )*};
}

field!(u8, u16, u32, u64);

/// The part of a header that is still to be read.
pub(super) struct Fields<'bytes>(pub(super) &'bytes [u8]);

impl Fields<'_> {
    /// The next field; `None` at the end.
    pub(super) fn take<F: Field>(&mut self) -> Option<F> {
        F::take(self)
    }

    /// The next N bytes.
    pub(super) fn take_bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }
}
