//! Keys: present ones are counted from 0, absent ones from 2^40.

pub(crate) const FIRST_ABSENT: u64 = 1 << 40;

/// Spreads queries over all present keys, so that a round doesn't follow the order in which they were inserted.
pub(crate) fn present(count: u64, first: u64, keys: u64) -> Vec<u64> {
    (first..first + count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % keys).collect()
}

/// Keys that were never inserted.
pub(crate) fn absent(count: u64, first: u64) -> Vec<u64> {
    (first..first + count).map(|number| FIRST_ABSENT + number).collect()
}

/// Every second key present.
pub(crate) fn half(count: u64, first: u64, keys: u64) -> Vec<u64> {
    let both = present(count, first, keys).into_iter().zip(absent(count, first));
    both.enumerate().map(|(number, (present, absent))| if number % 2 == 0 { present } else { absent }).collect()
}
