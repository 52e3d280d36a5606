//! Fingerprints of more than 32 bits. An absent key is found if it has the fingerprint that a table of 32 bits would store of
//! it, in the same buckets, and the bits above as well; the first is as likely as in such a table, and is tried there.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

use guira::{BuildError, CuckooFilter, Digest, FilterBuilder};

use crate::oracle::binomial::assert_share;

/// Below the 16 bits that choose one of 2^16 buckets and above the low half, the bits of a digest that only the bits above of a
/// fingerprint depend on.
const MIDDLES: u64 = 1 << 16;

fn digest_with(middle: u64) -> Digest {
    Digest::new(0xa1b2 << 48 | middle << 32 | 0x1234_5678)
}

/// Stores one of the digests that differ in the middle alone, and asks for all others.
fn assert_told_apart(builder: &FilterBuilder, bits: u32, what: &str) {
    let mut filter = builder.build().expect("parameters in range");
    let parameters = *filter.parameters();
    assert_eq!((parameters.bucket_count(), parameters.region_count()), (MIDDLES, 1), "{what}");
    let stored = digest_with(0x4321);
    assert_eq!(filter.insert(&stored), Ok(()), "{what}");
    assert!(filter.contains(&stored), "{what}");
    let found = (0..MIDDLES).map(digest_with).filter(|digest| *digest != stored && filter.contains(digest)).count();
    let expected = 0.5_f64.powi(i32::try_from(bits).expect("small"));
    assert_share(found as u64, MIDDLES - 1, expected, expected, what);
}

#[test]
fn the_bits_above_tell_digests_apart_that_have_the_low_half_and_the_bucket_in_common() {
    for bits in 0..=24 {
        let builder = CuckooFilter::builder().bucket_count(MIDDLES).slots_per_bucket(4).fingerprint_bits(32 + bits);
        assert_told_apart(&builder, bits, &format!("32 bits and {bits}"));
        let doubling = builder.addressing(guira::Addressing::Doubling);
        assert_told_apart(&doubling, bits, &format!("32 bits and {bits}, doubling"));
    }
}

#[test]
fn a_longer_fingerprint_costs_its_bits_and_one_for_each_doubling() {
    let at = |rate| CuckooFilter::builder().capacity(1_000_000).false_positive_rate(rate);
    for (rate, most) in [(1e-9, 35.5), (1e-10, 39.0), (1e-11, 42.0), (1e-12, 46.0)] {
        let fixed = at(rate).parameters().expect("there are such tables");
        assert!(fixed.expected_false_positive_rate(1_000_000) <= rate, "{fixed}");
        assert!(fixed.bits_per_key() <= most, "{rate}: {fixed}");
        if rate > 1e-11 {
            let growing = at(rate).max_capacity(16_000_000).parameters().expect("there are such tables");
            let ratio = growing.bits_per_key() / fixed.bits_per_key();
            assert!(ratio <= 1.25, "{rate}: {ratio} times the fixed one, {growing}");
        }
    }
}

#[test]
fn the_least_rate_is_that_of_digests_of_64_bits() {
    for (capacity, possible, refused) in
        [(1000, 1e-15, 5e-17), (1_000_000, 6e-14, 5e-14), (1_000_000_000, 6e-11, 5e-11)]
    {
        let at = |rate| CuckooFilter::builder().capacity(capacity).false_positive_rate(rate).parameters();
        let parameters = at(possible).unwrap_or_else(|error| panic!("{capacity}: {error}"));
        assert!(parameters.expected_false_positive_rate(capacity as u64) <= possible, "{capacity}");
        // Of the keys, capacity / 2^64 have the digest of a stored one.
        let of_digests = capacity as f64 / 2.0_f64.powi(64);
        let Err(BuildError::RateTooLow { least, .. }) = at(refused) else { panic!("{capacity} at {refused}") };
        assert!(of_digests < least && least < 1.2 * of_digests.max(2.0_f64.powi(-53)), "{capacity}: {least}");
    }
}

/// A filter that grows from a few keys, with fingerprints that begin longer than 32 bits and end shorter.
#[test]
fn keys_are_found_and_removed_at_every_length_of_a_fingerprint() {
    let builder = CuckooFilter::builder().capacity(100).max_capacity(100_000).false_positive_rate(1e-8);
    let mut filter = builder.build().expect("parameters in range");
    let mut lengths = vec![filter.parameters().fingerprint_bits()];
    for key in 0..100_000_u64 {
        assert_eq!(filter.insert(&key), Ok(()), "{key}");
        let bits = filter.parameters().fingerprint_bits();
        if lengths.last() != Some(&bits) {
            lengths.push(bits);
            assert!((0..=key).all(|key| filter.contains(&key)), "{bits} bits");
            assert_eq!(filter.check_invariants(), Ok(()));
        }
    }
    assert!(lengths[0] > 36 && lengths[lengths.len() - 1] < 33, "{lengths:?}");
    let loaded = CuckooFilter::from_bytes(&filter.to_bytes()).expect("just written");
    assert_eq!(loaded, filter);
    for key in 1000..100_000_u64 {
        assert!(filter.remove(&key), "{key}");
    }
    filter.shrink_to_fit();
    assert!(filter.parameters().fingerprint_bits() > 33, "{}", filter.parameters());
    assert!((0..1000_u64).all(|key| filter.contains(&key)));
    assert!((0..1000_u64).all(|key| filter.remove(&key)) && filter.is_empty());
}
