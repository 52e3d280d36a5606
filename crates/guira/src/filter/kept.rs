use alloc::vec::Vec;

/// What a file says beside its filter. The filter doesn't use it, and gives it back when it is saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kept {
    /// Flags of the header that a reader need not know.
    pub(crate) flags: u16,
    /// The false positive rate that was asked for; 0 if that is not known.
    pub(crate) rate: f64,
    /// What was done to keys before they were hashed: 0 for nothing, else what [`NORMALIZED`](crate::raw::Chunk::NORMALIZED)
    /// says.
    pub(crate) treatment: u8,
    /// The chunks behind the table, as they are in the file.
    pub(crate) chunks: Vec<u8>,
}
