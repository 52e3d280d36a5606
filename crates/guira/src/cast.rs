//! The one place where a conversion may lose bits; each function's name says which.

/// The low 32 bits; the others are dropped.
#[expect(clippy::cast_possible_truncation, reason = "dropping the high half is what it is for")]
pub(crate) const fn low_32(value: u64) -> u32 {
    value as u32
}

/// The low 64 bits; the others are dropped.
#[cfg(feature = "concurrent")]
#[expect(clippy::cast_possible_truncation, reason = "dropping the high half is what it is for")]
pub(crate) const fn low_64(value: u128) -> u64 {
    value as u64
}

/// The integer part and the fraction (in units of 2^-64) of `(fraction / 2^64) * range`.
///
/// This is Lemire's multiply-shift range reduction: it maps 64 uniform bits to `0..range` without a
/// division, and what is left over is uniform again (but for the `log2(range)` bits that were used).
#[expect(clippy::cast_possible_truncation, reason = "splits a product into its two halves")]
pub(crate) const fn multiply_shift(fraction: u64, range: u64) -> (u64, u64) {
    let product = (fraction as u128) * (range as u128);
    ((product >> 64) as u64, product as u64)
}

/// Both halves of the 128-bit product, combined by exclusive or.
pub(crate) const fn folded_multiply(a: u64, b: u64) -> u64 {
    let (high, low) = multiply_shift(a, b);
    high ^ low
}

/// How products of 64-bit numbers are computed. The results are the same.
pub(crate) trait Product {
    /// The high 64 bits of the product of a number and one of at most 2^32.
    fn high(a: u64, b: u64) -> u64;

    /// Both halves of the 128-bit product, combined by exclusive or.
    fn folded(a: u64, b: u64) -> u64;
}

/// By one multiplication of 64 bits: the fastest for one number at a time.
pub(crate) struct Whole;

/// By multiplications of 32 bits, of which processors with vectors do several at a time.
pub(crate) struct Halves;

impl Product for Whole {
    #[inline(always)]
    fn high(a: u64, b: u64) -> u64 {
        multiply_shift(a, b).0
    }

    #[inline(always)]
    fn folded(a: u64, b: u64) -> u64 {
        folded_multiply(a, b)
    }
}

impl Product for Halves {
    #[inline(always)]
    fn high(a: u64, b: u64) -> u64 {
        debug_assert!(b <= 1 << 32);
        ((a >> 32) * b + (((a & LOW_32) * b) >> 32)) >> 32
    }

    #[inline(always)]
    fn folded(a: u64, b: u64) -> u64 {
        let (a_high, a_low, b_high, b_low) = (a >> 32, a & LOW_32, b >> 32, b & LOW_32);
        let middle = a_high * b_low + ((a_low * b_low) >> 32);
        let other_middle = a_low * b_high + (middle & LOW_32);
        let high = a_high * b_high + (middle >> 32) + (other_middle >> 32);
        high ^ a.wrapping_mul(b)
    }
}

const LOW_32: u64 = u32::MAX as u64;

/// A count or an index that is known to fit the address space, because memory for it was allocated.
#[expect(clippy::cast_possible_truncation, reason = "callers index memory that exists")]
pub(crate) const fn to_usize(value: u64) -> usize {
    debug_assert!(value <= usize::MAX as u64);
    value as usize
}

/// A size in memory, which is at most 64 bits long.
pub(crate) fn wide(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// The nearest `f64`; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "used where a relative error of 2^-53 does not matter")]
pub(crate) const fn to_f64(value: u64) -> f64 {
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
        assert_eq!(multiply_shift(half, 10), (5, 0));
        assert_eq!(multiply_shift(half, 5), (2, half));
        assert_eq!(multiply_shift(u64::MAX, 7).0, 6);
        assert_eq!(multiply_shift(12345, 0), (0, 0));
    }

    #[test]
    fn products_are_the_same_by_halves() {
        let numbers = (0..2000u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).chain([0, 1, u64::MAX]);
        for a in numbers {
            for b in [1, 2, 3, 65_535, 65_536, 1_000_003, u64::from(u32::MAX), 1 << 32] {
                assert_eq!(Halves::high(a, b), Whole::high(a, b), "{a} times {b}");
            }
            for b in [0x9e37_79b9_7f4a_7c15, u64::MAX, 1, 1 << 32, a] {
                assert_eq!(Halves::folded(a, b), Whole::folded(a, b), "{a} times {b}");
            }
        }
    }

    #[test]
    fn ceiling_saturates() {
        assert_eq!(saturating_ceil(2.1), 3);
        assert_eq!(saturating_ceil(-1.0), 0);
        assert_eq!(saturating_ceil(f64::NAN), 0);
        assert_eq!(saturating_ceil(f64::INFINITY), u64::MAX);
    }
}
