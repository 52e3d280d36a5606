//! Conversions between widths that saturate where they can't hold the value.

/// A size or a count as 64 bits.
pub(crate) fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// A size in memory, or the greatest `usize` if it does not fit.
pub(crate) fn in_memory(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A count as a signed number, which replies need.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
