//! MurmurHash64A, by which RedisBloom finds its items.

const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;

/// MurmurHash64A of some bytes.
pub(super) fn murmur_64a(bytes: &[u8], seed: u64) -> u64 {
    let mix = |value: u64| {
        let value = value.wrapping_mul(MULTIPLIER);
        (value ^ (value >> 47)).wrapping_mul(MULTIPLIER)
    };
    let mut hash = seed ^ crate::cast::wide(bytes.len()).wrapping_mul(MULTIPLIER);
    let (words, rest) = bytes.as_chunks::<8>();
    for &word in words {
        hash = (hash ^ mix(u64::from_le_bytes(word))).wrapping_mul(MULTIPLIER);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(MULTIPLIER);
    }
    hash = (hash ^ (hash >> 47)).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 47)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_the_published_verification_value() {
        // SMHasher: the hashes of {}, {0}, {0, 1}, … with the seeds 256, 255, …, hashed with seed 0; the low 32 bits.
        let bytes: Vec<u8> = (0..=255).collect();
        let hashes = (0..256).flat_map(|length: u64| {
            murmur_64a(&bytes[..usize::try_from(length).expect("small")], 256 - length).to_le_bytes()
        });
        assert_eq!(murmur_64a(&hashes.collect::<Vec<u8>>(), 0) & 0xffff_ffff, 0x1f0d_3804);
    }
}
