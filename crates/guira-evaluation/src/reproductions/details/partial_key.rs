//! Partial-key cuckoo hashing with and without the hash of the fingerprint: how full tables become.

use crate::cast::{approximate, in_memory, scale};
use crate::keys::Keys;

const SLOTS: usize = 4;
/// The relocations after which a table counts as full, as in the paper.
const MOST: u32 = 500;

/// Where a key's second bucket is: at the first one XOR what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addressing {
    /// The hash of the fingerprint.
    Hashed,
    /// The fingerprint itself, so that both buckets are among 2^f neighbours.
    Unhashed,
}

/// The load of a table of 2^exponent buckets at the first key that finds no place.
pub(super) fn load(addressing: Addressing, exponent: u32, bits: u32, seed: u64) -> f64 {
    let mask = (1_u64 << exponent) - 1;
    let mut buckets = vec![[0_u32; SLOTS]; 1 << exponent];
    let other = |bucket: u64, fingerprint: u32| {
        let part = match addressing {
            // An odd factor, 2^64 over the golden ratio; the high bits depend on all bits of a fingerprint.
            Addressing::Hashed => u64::from(fingerprint).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32,
            Addressing::Unhashed => fingerprint.into(),
        };
        bucket ^ (part & mask)
    };
    let mut stored = 0;
    // Bits of further keys choose whom to relocate.
    let chances = Keys::of_seed(2000 + seed);
    for key in (0..).flat_map(|chunk: u64| Keys::of_seed(1000 + seed).present(chunk << 16..(chunk + 1) << 16)) {
        let mut fingerprint = u32::try_from(scale(key << 32, (1 << bits) - 1)).unwrap_or(0) + 1;
        let mut bucket = (key >> 32) & mask;
        let mut left = MOST;
        let placed = loop {
            for place in [bucket, other(bucket, fingerprint)] {
                if let Some(slot) = buckets[in_memory(place)].iter_mut().find(|slot| **slot == 0) {
                    *slot = fingerprint;
                    fingerprint = 0;
                    break;
                }
            }
            if fingerprint == 0 || left == 0 {
                break fingerprint == 0;
            }
            let chance = chances
                .present(stored * u64::from(MOST) + u64::from(left)..stored * u64::from(MOST) + u64::from(left) + 1)[0];
            let from = if chance & 1 == 0 { bucket } else { other(bucket, fingerprint) };
            let slot = &mut buckets[in_memory(from)][in_memory((chance >> 1) % SLOTS as u64)];
            core::mem::swap(slot, &mut fingerprint);
            bucket = other(from, fingerprint);
            left -= 1;
        };
        if !placed {
            break;
        }
        stored += 1;
    }
    approximate(stored) / approximate((SLOTS as u64) << exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashing_the_fingerprint_fills_tables_as_the_paper_says() {
        // Section 5.1: 95 % with four slots. Small tables scatter.
        let hashed = load(Addressing::Hashed, 14, 12, 1);
        assert!((0.94..0.975).contains(&hashed), "{hashed}");
        let unhashed = load(Addressing::Unhashed, 14, 6, 1);
        assert!(unhashed < load(Addressing::Hashed, 14, 6, 1) - 0.05, "{unhashed}");
    }
}
