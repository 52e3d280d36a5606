//! Which values are one key, and which never are: the tables "Which bytes a value is" of docs/format.md.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use guira::{Digest, Key, KeyHasher};
use proptest::prelude::*;

const HASHERS: [KeyHasher; 2] = [KeyHasher::xxh3(0), KeyHasher::xxh3(u64::MAX)];

/// An integer of either of the two widest types, which together have the values of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Integer {
    Negative(i128),
    NotNegative(u128),
}

impl Integer {
    /// Its bytes by the table of the document.
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::NotNegative(value) if value < 1 << 64 => value.to_le_bytes()[..8].to_vec(),
            Self::NotNegative(value) => value.to_le_bytes().to_vec(),
            Self::Negative(value) => {
                let length = if value >= -(1 << 63) { 8 } else { 16 };
                [&value.to_le_bytes()[..length], &[0xff]].concat()
            }
        }
    }

    /// Its digests as an integer of each type that has it.
    fn digests(self, hasher: &KeyHasher) -> Vec<(&'static str, Digest)> {
        let mut digests = Vec::new();
        macro_rules! of_types {
            ($($integer:ty)*) => {$(
                let value = match self {
                    Self::Negative(value) => <$integer>::try_from(value).ok(),
                    Self::NotNegative(value) => <$integer>::try_from(value).ok(),
                };
                digests.extend(value.map(|value| (stringify!($integer), hasher.digest(&value))));
            )*};
        }
        of_types!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
        match self {
            Self::NotNegative(0) => digests.push(("bool", hasher.digest(&false))),
            Self::NotNegative(1) => digests.push(("bool", hasher.digest(&true))),
            _ => {}
        }
        digests
    }

    fn new(value: i128) -> Self {
        u128::try_from(value).map_or(Self::Negative(value), Self::NotNegative)
    }
}

/// The values around every power of two, and those of which the bits are all the same.
fn integers_at_limits() -> Vec<Integer> {
    let around = |power: u32| {
        let least = (1_u128 << power) - 1;
        [least, least + 1, least + 2].map(Integer::NotNegative).into_iter().chain(
            (power < 127)
                .then(|| [-2, -1, 0, 1].map(|more| Integer::new(more - (1_i128 << power))))
                .into_iter()
                .flatten(),
        )
    };
    let ends = [Integer::NotNegative(u128::MAX), Integer::Negative(i128::MIN), Integer::Negative(i128::MIN + 1)];
    (0..128).flat_map(around).chain(ends).collect()
}

fn assert_digests_are_of_the_bytes(integer: Integer) {
    for hasher in &HASHERS {
        let expected = hasher.digest(&integer.bytes());
        let digests = integer.digests(hasher);
        assert!(!digests.is_empty(), "no type has {integer:?}");
        for (of_type, digest) in digests {
            assert_eq!(digest, expected, "{integer:?} as {of_type}");
        }
    }
}

#[test]
fn equal_integers_are_one_key_and_unequal_ones_have_unequal_bytes() {
    let mut integers_of_bytes = HashMap::new();
    for integer in integers_at_limits() {
        assert_digests_are_of_the_bytes(integer);
        let other = *integers_of_bytes.entry(integer.bytes()).or_insert(integer);
        assert_eq!(other, integer, "they have the same bytes");
    }
    assert!(integers_of_bytes.len() > 700);
}

/// An integer of any type: those of few bits are as frequent as those of many.
fn any_integer() -> impl Strategy<Value = Integer> {
    prop_oneof![
        (any::<u128>(), 0..128_u32).prop_map(|(bits, shift)| Integer::NotNegative(bits >> shift)),
        (any::<i128>(), 0..128_u32).prop_map(|(bits, shift)| Integer::new(bits >> shift)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn integers_are_the_bytes_of_the_document_whatever_their_type(integer in any_integer()) {
        assert_digests_are_of_the_bytes(integer);
    }

    #[test]
    fn two_integers_have_the_same_bytes_only_if_they_are_equal(first in any_integer(), second in any_integer()) {
        prop_assert_eq!(first.bytes() == second.bytes(), first == second);
        // The same bits in another type are another number, unless both are small.
        if let Integer::Negative(value) = first {
            let wide = Integer::NotNegative(value.cast_unsigned());
            prop_assert_ne!(first.bytes(), wide.bytes());
            let narrow = value.to_le_bytes();
            let low = u64::from_le_bytes(*narrow.first_chunk().expect("16 bytes"));
            prop_assert_ne!(first.bytes(), Integer::NotNegative(low.into()).bytes());
        }
    }
}

/// Values of different kinds that are one key, in the order of the document.
#[test]
fn values_of_different_kinds_are_one_key_where_the_document_says_so() {
    fn assert_one(what: &str, first: &(impl Key + ?Sized), second: &(impl Key + ?Sized)) {
        for hasher in HASHERS.iter().chain([&KeyHasher::sip_hash_13([5; 16])]) {
            assert_eq!(hasher.digest(first), hasher.digest(second), "{what}");
        }
    }
    assert_one("text and its UTF-8", "żółw", "żółw".as_bytes());
    assert_one("a character and its text", &'ż', "ż");
    assert_one("an integer and its 8 bytes", &1, &[1, 0, 0, 0, 0, 0, 0, 0]);
    assert_one("an integer and its 16 bytes", &u128::MAX, &[255; 16]);
    assert_one("a negative integer and its 9 bytes", &-1, &[255; 9]);
    assert_one("a negative integer and its 17 bytes", &i128::MIN, &[[0; 15].as_slice(), &[128, 255]].concat());
    assert_one("an integer and the text of its bytes", &u64::from_le_bytes(*b"sparrows"), "sparrows");
    assert_one("false and 0", &false, &0);
    assert_one("true and 1", &true, &1);
    let (four, sixteen) = (Ipv4Addr::new(192, 0, 2, 1), Ipv6Addr::from([7; 16]));
    assert_one("an address and its bytes", &four, &[192, 0, 2, 1]);
    assert_one("an address of either kind", &IpAddr::V6(sixteen), &[7; 16]);
    assert_one("an address and an integer", &sixteen, &u128::from_le_bytes([7; 16]));
    #[cfg(feature = "uuid")]
    assert_one("a UUID and an address", &uuid::Uuid::from_bytes([7; 16]), &sixteen);
    for hasher in &HASHERS {
        let parts = [hasher.digest("ani"), hasher.digest(&7)].map(|part| part.get().to_le_bytes());
        assert_eq!(
            hasher.digest(&("ani", 7)),
            hasher.digest(parts.as_flattened()),
            "a tuple and the digests of its parts"
        );
        assert_eq!(hasher.digest(&hasher.digest("ani")), hasher.digest("ani"), "a digest and its key");
    }
    assert_one("a value behind references", &&&Arc::new(Box::new(7)), &7);
}

/// Pairs that one might take for one key.
#[test]
fn values_with_unequal_bytes_are_different_keys() {
    fn assert_two(what: &str, first: &(impl Key + ?Sized), second: &(impl Key + ?Sized)) {
        for hasher in &HASHERS {
            assert_ne!(hasher.digest(first), hasher.digest(second), "{what}");
        }
    }
    assert_two("-1 and the largest of 64 bits", &-1, &u64::MAX);
    assert_two("-1 and the largest of 128 bits", &-1, &u128::MAX);
    assert_two("the same bits of 128", &(i128::from(i64::MIN) - 1), &(i128::from(i64::MIN) - 1).cast_unsigned());
    assert_two("an integer and its text", &1, "1");
    assert_two("a byte and bytes", &1_u8, &[1_u8]);
    assert_two("an address of 4 bytes and the same in 16", &Ipv4Addr::LOCALHOST, &Ipv4Addr::LOCALHOST.to_ipv6_mapped());
    assert_two("tuples that are nested otherwise", &(1, (2, 3)), &(1, 2, 3));
    assert_two("a tuple and its text", &("a", "b"), "ab");
}
