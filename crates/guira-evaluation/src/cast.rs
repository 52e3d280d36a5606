//! The one place where a conversion may lose bits; each function's name says which.

/// The nearest `f64`; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "figures for people, of counts below 2^53")]
pub(crate) const fn approximate(count: u64) -> f64 {
    count as f64
}

/// The integer part; 0 for negative values and NaN.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
pub(crate) const fn saturating_floor(value: f64) -> u64 {
    value as u64
}

/// A count of things in memory.
#[expect(clippy::cast_possible_truncation, reason = "callers count what is in memory")]
pub(crate) const fn in_memory(count: u64) -> usize {
    debug_assert!(count <= usize::MAX as u64);
    count as usize
}

/// `fraction / 2^64 * range`: a number below `range`, as uniform as `fraction`.
pub(crate) const fn scale(fraction: u64, range: u64) -> u64 {
    ((fraction as u128 * range as u128) >> 64) as u64
}

/// The number of digits before the decimal point; -1 for 0.05. Exact except within rounding of a power of 10.
#[expect(clippy::cast_possible_truncation, reason = "the logarithm of an f64 is small")]
pub(crate) fn whole_digits(number: f64) -> i32 {
    number.abs().log10().floor() as i32 + 1
}
