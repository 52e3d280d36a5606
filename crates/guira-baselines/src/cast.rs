//! The one place where a conversion may lose bits; each function's name says which.

/// The integer part and the fraction (in units of 2^-64) of `fraction / 2^64 * range`: a number below `range`, as uniform
/// as `fraction`, without a division.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "splits a product into its two halves")]
pub(crate) const fn scale(fraction: u64, range: u64) -> (u64, u64) {
    let product = (fraction as u128) * (range as u128);
    ((product >> 64) as u64, product as u64)
}

/// An index into memory, or a count of things in it.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "callers count what is in memory")]
pub(crate) const fn in_memory(value: u64) -> usize {
    debug_assert!(value <= usize::MAX as u64);
    value as usize
}

/// The upper half; the lower one is dropped.
#[inline]
pub(crate) const fn high_half(value: u128) -> u64 {
    (value >> 64) as u64
}

/// The low 32 bits; the others are dropped.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "dropping the high half is what it is for")]
pub(crate) const fn low_32(value: u64) -> u32 {
    value as u32
}

/// The nearest `f64`; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "used where a relative error of 2^-53 does not matter")]
pub(crate) const fn approximate(value: u64) -> f64 {
    value as f64
}

/// The integer part; 0 for negative values and NaN, `u64::MAX` beyond the range.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
pub(crate) const fn saturating_floor(value: f64) -> u64 {
    value as u64
}
