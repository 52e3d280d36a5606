/// The 64-bit hash of a key, computed by the caller: baselines never see the key.
///
/// Its bits are assumed to be uniform and independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(u64);

impl Digest {
    /// A digest of these 64 bits.
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
