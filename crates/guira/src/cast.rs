//! The one place where a conversion may lose bits; each function's name says which.

/// The low 32 bits; the others are dropped.
#[expect(clippy::cast_possible_truncation, reason = "dropping the high half is what it is for")]
pub(crate) const fn low_32(value: u64) -> u32 {
    value as u32
}

/// The low 64 bits; the others are dropped.
#[cfg(feature = "std")]
#[expect(clippy::cast_possible_truncation, reason = "dropping the high half is what it is for")]
pub(crate) const fn low_64(value: u128) -> u64 {
    value as u64
}

/// The integer part and the fraction (in units of 2^-64) of `(fraction / 2^64) * range`.
///
/// This is Lemire's multiply-shift range reduction: it maps 64 uniform bits to `0..range` without a
/// division, and what is left over is uniform again (but for the `log2(range)` bits that were used).
#[expect(clippy::cast_possible_truncation, reason = "splits a product into its two halves")]
pub(crate) const fn scale(fraction: u64, range: u64) -> (u64, u64) {
    let product = (fraction as u128) * (range as u128);
    ((product >> 64) as u64, product as u64)
}

/// Both halves of the 128-bit product, combined by exclusive or.
pub(crate) const fn folded_product(a: u64, b: u64) -> u64 {
    let (high, low) = scale(a, b);
    high ^ low
}

/// A count or an index that is known to fit the address space, because memory for it was allocated.
#[expect(clippy::cast_possible_truncation, reason = "callers index memory that exists")]
pub(crate) const fn in_memory(value: u64) -> usize {
    debug_assert!(value <= usize::MAX as u64);
    value as usize
}

/// The nearest `f64`; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "used where a relative error of 2^-53 does not matter")]
pub(crate) const fn approximate(value: u64) -> f64 {
    value as f64
}

/// The least integer that is not less than `value`; 0 for negative values and NaN, `u64::MAX` beyond the range.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float-to-integer cast saturates, which is what the name says"
)]
pub(crate) fn saturating_ceil(value: f64) -> u64 {
    libm::ceil(value) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_splits_into_integer_part_and_fraction() {
        let half = 1 << 63;
        assert_eq!(scale(half, 10), (5, 0));
        assert_eq!(scale(half, 5), (2, half));
        assert_eq!(scale(u64::MAX, 7).0, 6);
        assert_eq!(scale(12345, 0), (0, 0));
    }

    #[test]
    fn ceiling_saturates() {
        assert_eq!(saturating_ceil(2.1), 3);
        assert_eq!(saturating_ceil(-1.0), 0);
        assert_eq!(saturating_ceil(f64::NAN), 0);
        assert_eq!(saturating_ceil(f64::INFINITY), u64::MAX);
    }
}
