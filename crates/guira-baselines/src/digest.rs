/// The 64-bit hash of a key, made by whoever measures: all that a baseline gets to see of it.
///
/// Its bits are taken to be uniform and independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(u64);

impl Digest {
    /// These 64 bits.
    #[inline]
    #[must_use]
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// The 64 bits.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}
