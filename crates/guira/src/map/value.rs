/// A type of values in a [`CuckooMap`](crate::CuckooMap): numbers of few bits, or what such numbers can stand for.
///
/// # Examples
///
/// ```
/// use guira::MapValue;
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Shelf { Upper, Lower, Unknown }
///
/// impl MapValue for Shelf {
///     const BITS: u32 = 2;
///
///     fn to_bits(self) -> u32 {
///         self as u32
///     }
///
///     fn from_bits(bits: u32) -> Self {
///         match bits {
///             0 => Self::Upper,
///             1 => Self::Lower,
///             _ => Self::Unknown,
///         }
///     }
/// }
/// ```
pub trait MapValue: Copy {
    /// The most bits that a value takes, and how many are kept unless the builder is told otherwise. Beside a fingerprint
    /// of f bits there is room for 56 - f.
    const BITS: u32;

    /// The number that stands for this value, of at most `BITS` bits.
    fn to_bits(self) -> u32;

    /// The value that a number of at most `BITS` bits stands for.
    ///
    /// The number need not come from [`to_bits`](Self::to_bits): a file from an untrusted source can hold any.
    fn from_bits(bits: u32) -> Self;
}

impl MapValue for bool {
    const BITS: u32 = 1;

    #[inline]
    fn to_bits(self) -> u32 {
        u32::from(self)
    }

    #[inline]
    fn from_bits(bits: u32) -> Self {
        bits != 0
    }
}

impl MapValue for u8 {
    const BITS: u32 = Self::BITS;

    #[inline]
    fn to_bits(self) -> u32 {
        u32::from(self)
    }

    #[inline]
    fn from_bits(bits: u32) -> Self {
        bits.to_le_bytes()[0]
    }
}

impl MapValue for u16 {
    const BITS: u32 = Self::BITS;

    #[inline]
    fn to_bits(self) -> u32 {
        u32::from(self)
    }

    #[inline]
    fn from_bits(bits: u32) -> Self {
        let [low, high, ..] = bits.to_le_bytes();
        Self::from_le_bytes([low, high])
    }
}

/// Each bit takes memory beside every fingerprint: say with [`value_bits`](crate::FilterBuilder::value_bits) how many are needed.
impl MapValue for u32 {
    const BITS: Self = Self::BITS;

    #[inline]
    fn to_bits(self) -> u32 {
        self
    }

    #[inline]
    fn from_bits(bits: u32) -> Self {
        bits
    }
}
