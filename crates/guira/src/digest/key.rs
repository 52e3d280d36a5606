use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::Hash;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Digest, KeyHasher};

/// A type whose values can be keys of a filter.
///
/// A key is a sequence of bytes, and its digest depends on nothing else, so that it is the same on every machine and in every
/// program that reads the file. Which types are keys, and which bytes they stand for:
///
/// | type | bytes |
/// |---|---|
/// | `[u8]`, `[u8; N]`, `Vec<u8>` | themselves |
/// | `str`, `String`, `char` | UTF-8 |
/// | integers of every type, `bool` | the value, little-endian: 8 bytes below 2^64, otherwise 16 |
/// | negative integers | two's complement, little-endian, in 8 bytes from -2^63 on and otherwise in 16; then a byte 255 |
/// | `IpAddr`, `Ipv4Addr`, `Ipv6Addr` | the 4 or 16 octets |
/// | `Uuid` (with the feature `uuid`) | its 16 bytes |
/// | tuples of keys | the digests of their parts, 8 bytes each, little-endian |
/// | [`Digest`] | none: it stands for itself |
///
/// References, boxes, `Rc`, `Arc` and `Cow` are the key that they point to. So an integer is the same key whatever its type, and
/// no other integer is:
///
/// ```
/// let mut filter = guira::CuckooFilter::with_capacity(100, 1e-6)?;
/// filter.insert(&42)?;
/// assert!(filter.contains(&42_u8) && filter.contains(&42_usize) && filter.contains(&42_i128));
/// filter.insert(&u64::MAX)?;
/// assert!(!filter.contains(&-1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Values of different kinds are the same key where their bytes are: `"ani"` and `b"ani"`, an IPv4 address and its four bytes, 1
/// and the eight bytes of it. A filter whose keys are of several kinds takes tuples: `(1, "ani")`. The repository's
/// `docs/format.md` lists all such pairs.
///
/// # Types of your own
///
/// A struct becomes a key by saying what it is made of:
///
/// ```
/// use guira::{Digest, Key, KeyHasher};
///
/// struct Connection { host: String, port: u16 }
///
/// impl Key for Connection {
///     fn digest(&self, hasher: &KeyHasher) -> Digest {
///         hasher.digest(&(&self.host, self.port))
///     }
/// }
/// ```
///
/// For types that have a [`Hash`] and filters that are never saved, see [`ByHash`]. Floating-point numbers are not keys, since
/// equal ones may have different bits; decide which are equal and take [`f64::to_bits`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key",
    label = "not a key",
    note = "keys are bytes, strings, integers, `bool`, `char`, IP addresses, tuples of keys and `Digest`",
    note = "for a type of your own, implement `guira::Key`: `fn digest(&self, hasher: &KeyHasher) -> Digest {{ \
            hasher.digest(&(&self.one_field, &self.another)) }}`",
    note = "for a type with a `Hash`, in a filter that is never saved, wrap the key: `guira::ByHash(&key)`"
)]
pub trait Key {
    /// Returns the digest of this key.
    ///
    /// Keys that are equal must have equal digests. Make it with [`KeyHasher::digest`] from other keys, such as bytes or a tuple.
    fn digest(&self, hasher: &KeyHasher) -> Digest;
}

impl Key for Digest {
    #[inline]
    fn digest(&self, _hasher: &KeyHasher) -> Digest {
        *self
    }
}

/// The digest of a key of each type, by an expression.
macro_rules! keys {
    ($key:ident, $hasher:ident: $($(#[$attribute:meta])? [$($generic:tt)*] $type:ty => $digest:expr;)+) => {$(
        $(#[$attribute])?
        impl<$($generic)*> Key for $type {
            #[inline]
            fn digest(&self, $hasher: &KeyHasher) -> Digest {
                let $key = self;
                $digest
            }
        }
    )+};
}

keys! { key, hasher:
    [] [u8] => hasher.digest_bytes(key);
    [const N: usize] [u8; N] => hasher.digest_bytes(key);
    [] Vec<u8> => key.as_slice().digest(hasher);
    [] str => hasher.digest_bytes(key.as_bytes());
    [] String => key.as_str().digest(hasher);
    [] char => key.encode_utf8(&mut [0; 4]).digest(hasher);
    [] Ipv4Addr => hasher.digest_bytes(&key.octets());
    [] Ipv6Addr => hasher.digest_bytes(&key.octets());
    [] IpAddr => match key {
        Self::V4(address) => address.digest(hasher),
        Self::V6(address) => address.digest(hasher),
    };
    #[cfg(feature = "uuid")]
    [] uuid::Uuid => hasher.digest_bytes(key.as_bytes());

    [K: Key + ?Sized] &K => (**key).digest(hasher);
    [K: Key + ?Sized] &mut K => (**key).digest(hasher);
    [K: Key + ?Sized] Box<K> => (**key).digest(hasher);
    [K: Key + ?Sized] Rc<K> => (**key).digest(hasher);
    [K: Key + ?Sized] Arc<K> => (**key).digest(hasher);
    [K: Key + ToOwned + ?Sized] Cow<'_, K> => key.as_ref().digest(hasher);

    [] bool => u64::from(*key).digest(hasher);
    [] u8 => u64::from(*key).digest(hasher);
    [] u16 => u64::from(*key).digest(hasher);
    [] u32 => u64::from(*key).digest(hasher);
    [] u64 => hasher.digest_bytes(&key.to_le_bytes());
    [] usize => u64_of(*key).digest(hasher);
    [] i8 => i64::from(*key).digest(hasher);
    [] i16 => i64::from(*key).digest(hasher);
    [] i32 => i64::from(*key).digest(hasher);
    [] i64 => match u64::try_from(*key) {
        Ok(key) => key.digest(hasher),
        Err(_) => {
            let mut bytes = [NEGATIVE; 9];
            bytes[..8].copy_from_slice(&key.to_le_bytes());
            hasher.digest_bytes(&bytes)
        }
    };
    [] isize => i64_of(*key).digest(hasher);
    [] u128 => match u64::try_from(*key) {
        Ok(key) => key.digest(hasher),
        Err(_) => hasher.digest_bytes(&key.to_le_bytes()),
    };
    [] i128 => match (i64::try_from(*key), u128::try_from(*key)) {
        (Ok(key), _) => key.digest(hasher),
        (_, Ok(key)) => key.digest(hasher),
        _ => {
            let mut bytes = [NEGATIVE; 17];
            bytes[..16].copy_from_slice(&key.to_le_bytes());
            hasher.digest_bytes(&bytes)
        }
    };

    [A: Key, B: Key] (A, B) => digest_parts([key.0.digest(hasher), key.1.digest(hasher)], hasher);
    [A: Key, B: Key, C: Key] (A, B, C) => digest_parts([
        key.0.digest(hasher), key.1.digest(hasher), key.2.digest(hasher),
    ], hasher);
    [A: Key, B: Key, C: Key, D: Key] (A, B, C, D) => digest_parts([
        key.0.digest(hasher), key.1.digest(hasher), key.2.digest(hasher), key.3.digest(hasher),
    ], hasher);
    [A: Key, B: Key, C: Key, D: Key, E: Key] (A, B, C, D, E) => digest_parts([
        key.0.digest(hasher), key.1.digest(hasher), key.2.digest(hasher), key.3.digest(hasher), key.4.digest(hasher),
    ], hasher);
    [A: Key, B: Key, C: Key, D: Key, E: Key, F: Key] (A, B, C, D, E, F) => digest_parts([
        key.0.digest(hasher), key.1.digest(hasher), key.2.digest(hasher), key.3.digest(hasher),
        key.4.digest(hasher), key.5.digest(hasher),
    ], hasher);
}

/// The byte behind a negative integer. With it the integer has 9 or 17 bytes, and those that are not negative have 8 or 16.
const NEGATIVE: u8 = 0xff;

#[expect(clippy::as_conversions, reason = "no machine has wider ones")]
const fn u64_of(value: usize) -> u64 {
    value as u64
}

#[expect(clippy::as_conversions, reason = "no machine has wider ones")]
const fn i64_of(value: isize) -> i64 {
    value as i64
}

/// The digest of a tuple, by those of its parts.
#[inline]
fn digest_parts<const N: usize>(parts: [Digest; N], hasher: &KeyHasher) -> Digest {
    hasher.digest_bytes(parts.map(|digest| digest.get().to_le_bytes()).as_flattened())
}

/// A key by its [`Hash`], for filters that never leave the process.
///
/// What a type passes to its hasher differs between machines, and may differ between releases of Rust and of the crate that
/// the type is from. So never save such a filter, and never share it with another program: keys would not be found again.
///
/// # Examples
///
/// ```
/// use guira::{ByHash, CuckooFilter};
///
/// #[derive(Hash)]
/// enum Event { Login { user: u32 }, Logout }
///
/// let mut seen = CuckooFilter::with_capacity(1000, 0.01)?;
/// seen.insert(&ByHash(Event::Login { user: 7 }))?;
/// assert!(seen.contains(&ByHash(Event::Login { user: 7 })));
/// assert!(!seen.contains(&ByHash(Event::Logout)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByHash<T>(pub T);

impl<T: Hash> Key for ByHash<T> {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        hasher.digest_hashable(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    const HASHER: KeyHasher = KeyHasher::xxh3(7);

    #[test]
    fn a_key_is_its_bytes_whatever_holds_them() {
        let digest = HASHER.digest("guira");
        assert_eq!(HASHER.digest(b"guira"), digest);
        assert_eq!(HASHER.digest(&String::from("guira")), digest);
        assert_eq!(HASHER.digest(&Vec::from(b"guira")), digest);
        assert_eq!(HASHER.digest(&Cow::Borrowed("guira")), digest);
        assert_eq!(HASHER.digest(&Box::<str>::from("guira")), digest);
        assert_eq!(HASHER.digest(&&&"guira"), digest);
        assert_eq!(HASHER.digest(&digest), digest);
        assert_eq!(HASHER.digest(&'ß'), HASHER.digest("ß"));
        assert_eq!(HASHER.digest(&IpAddr::from([192, 0, 2, 1])), HASHER.digest(&[192_u8, 0, 2, 1]));
        assert_eq!(
            HASHER.digest(&Ipv6Addr::LOCALHOST),
            HASHER.digest(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        );
    }

    #[test]
    fn a_tuple_is_the_digests_of_its_parts() {
        let parts = [HASHER.digest("ab").get().to_le_bytes(), HASHER.digest(&7).get().to_le_bytes()];
        assert_eq!(HASHER.digest(&("ab", 7)), HASHER.digest(parts.as_flattened()));
        assert_ne!(HASHER.digest(&("ab", "c")), HASHER.digest(&("a", "bc")));
        assert_ne!(HASHER.digest(&("a", "b")), HASHER.digest(&("b", "a")));
        assert_ne!(HASHER.digest(&("a", "b", "c")), HASHER.digest(&("a", ("b", "c"))));
    }

    #[test]
    fn equal_values_have_equal_digests_by_their_hash() {
        assert_eq!(HASHER.digest(&ByHash("guira")), HASHER.digest(&ByHash(String::from("guira"))));
        assert_ne!(HASHER.digest(&ByHash(1.to_string())), HASHER.digest(&ByHash(2.to_string())));
        let keyed = KeyHasher::sip_hash_13([1; 16]);
        assert_eq!(keyed.digest(&ByHash(7)), keyed.digest(&ByHash(7)));
        assert_ne!(keyed.digest(&ByHash(7)), KeyHasher::sip_hash_13([2; 16]).digest(&ByHash(7)));
    }
}
