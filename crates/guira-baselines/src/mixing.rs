//! Independent hashes of a digest.

/// Hash number `seed`: the digest, moved by the seed, through the finalizer of `SplitMix64`.
#[inline]
pub(crate) const fn mixed(bits: u64, seed: u64) -> u64 {
    let bits = bits.wrapping_add(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
