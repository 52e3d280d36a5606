//! Many probes from two hashes.

use crate::Digest;
use crate::cast::{approximate, saturating_floor, scale};

/// The most probes that Bloom filters make here; more would be for rates below 2^-32.
pub(crate) const MAX_PROBES: u32 = 32;

/// A key's positions in a table of size `range`: equation (8) of the paper, g_i(x) = h1(x) + i · h2(x) (Kirsch and
/// Mitzenmacher 2006).
///
/// The paper's h1 and h2 are the high and the low 32 bits of the digest. Here each is the high half of a number whose low half
/// is the other one, so that tables of more than 2^32 bits are used evenly.
#[inline]
pub(crate) fn probes(digest: Digest, count: u32, range: u64) -> impl Iterator<Item = u64> {
    let mut hash = digest.get();
    let step = hash.rotate_left(32);
    (0..count).map(move |_| {
        let position = scale(hash, range).0;
        hash = hash.wrapping_add(step);
        position
    })
}

/// The rate of a Bloom filter: (1 - (1 - 1/m)^(kn))^k, for n keys, m bits and k probes.
pub(crate) fn bloom_rate(keys: f64, bits: f64, probes: u32) -> f64 {
    let exponent = f64::from(probes);
    (-(keys * exponent * (-1.0 / bits).ln_1p()).exp_m1()).powf(exponent)
}

/// The k with the lowest rate: one of the two integers next to ln 2 times the bits per key.
pub(crate) fn best_probes(bits_per_key: f64) -> u32 {
    let best = bits_per_key * core::f64::consts::LN_2;
    let below = u32::try_from(saturating_floor(best)).unwrap_or(MAX_PROBES).clamp(1, MAX_PROBES);
    let above = (below + 1).min(MAX_PROBES);
    // For a filter so large that its size does not matter.
    let rate = |probes| bloom_rate(1e9, 1e9 * bits_per_key, probes);
    if rate(above) < rate(below) { above } else { below }
}

/// The number of bits for this many keys.
pub(crate) fn bits_for(keys: u64, bits_per_key: f64) -> u64 {
    saturating_floor((approximate(keys) * bits_per_key).ceil())
}
