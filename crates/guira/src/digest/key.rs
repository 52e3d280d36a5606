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
/// | `u8` to `u64`, `i8` to `i64`, `usize`, `isize`, `bool` | the value in two's complement, 8 bytes, little-endian |
/// | `u128`, `i128` | likewise if the value fits 64 bits, signed or unsigned, else 16 bytes |
/// | `IpAddr`, `Ipv4Addr`, `Ipv6Addr` | the 4 or 16 octets |
/// | `Uuid` (with the feature `uuid`) | its 16 bytes |
/// | tuples of keys | the digests of their parts, 8 bytes each, little-endian |
/// | [`Digest`] | none: it stands for itself |
///
/// References, boxes, `Rc`, `Arc` and `Cow` are the key that they point to. So an integer is the same key whatever its type:
///
/// ```
/// let mut filter = guira::CuckooFilter::with_capacity(100, 0.01)?;
/// filter.insert(&42)?;
/// assert!(filter.contains(&42_u8) && filter.contains(&42_usize) && filter.contains(&42_i128));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

impl Key for [u8] {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        hasher.digest_bytes(self)
    }
}

impl Key for str {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        hasher.digest_bytes(self.as_bytes())
    }
}

impl<const N: usize> Key for [u8; N] {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        hasher.digest_bytes(self)
    }
}

impl Key for String {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        self.as_str().digest(hasher)
    }
}

impl Key for Vec<u8> {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        self.as_slice().digest(hasher)
    }
}

impl Key for char {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        self.encode_utf8(&mut [0; 4]).digest(hasher)
    }
}

impl Key for Ipv4Addr {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        hasher.digest_bytes(&self.octets())
    }
}

impl Key for Ipv6Addr {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        hasher.digest_bytes(&self.octets())
    }
}

impl Key for IpAddr {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        match self {
            Self::V4(address) => address.digest(hasher),
            Self::V6(address) => address.digest(hasher),
        }
    }
}

#[cfg(feature = "uuid")]
impl Key for uuid::Uuid {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        hasher.digest_bytes(self.as_bytes())
    }
}

impl<K: Key + ToOwned + ?Sized> Key for Cow<'_, K> {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        self.as_ref().digest(hasher)
    }
}

macro_rules! key_behind_pointer {
    ($($pointer:ty),*) => {$(
        impl<K: Key + ?Sized> Key for $pointer {
            #[inline]
            fn digest(&self, hasher: &KeyHasher) -> Digest {
                (**self).digest(hasher)
            }
        }
    )*};
}

key_behind_pointer!(&K, &mut K, Box<K>, Rc<K>, Arc<K>);

/// Integers as their value in eight bytes.
macro_rules! integer_key {
    ($($integer:ty),* as $wide:ty) => {$(
        impl Key for $integer {
            #[inline]
            #[expect(clippy::as_conversions, clippy::allow_attributes, reason = "no type here is wider")]
            #[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "one of them is as wide")]
            fn digest(&self, hasher: &KeyHasher) -> Digest {
                hasher.digest_bytes(&(*self as $wide).to_le_bytes())
            }
        }
    )*};
}

integer_key!(u8, u16, u32, u64, usize, bool as u64);
integer_key!(i8, i16, i32, i64, isize as i64);

impl Key for u128 {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        match u64::try_from(*self) {
            Ok(value) => value.digest(hasher),
            Err(_) => hasher.digest_bytes(&self.to_le_bytes()),
        }
    }
}

impl Key for i128 {
    #[inline]
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        match (i64::try_from(*self), u128::try_from(*self)) {
            (Ok(value), _) => value.digest(hasher),
            (_, Ok(value)) => value.digest(hasher),
            _ => hasher.digest_bytes(&self.to_le_bytes()),
        }
    }
}

macro_rules! tuple_key {
    ($($part:ident)*) => {
        impl<$($part: Key),*> Key for ($($part,)*) {
            #[inline]
            #[expect(non_snake_case, reason = "parts are named as their types")]
            fn digest(&self, hasher: &KeyHasher) -> Digest {
                let ($($part,)*) = self;
                let digests = [$($part.digest(hasher).get().to_le_bytes()),*];
                hasher.digest_bytes(digests.as_flattened())
            }
        }
    };
}

tuple_key!(A B);
tuple_key!(A B C);
tuple_key!(A B C D);
tuple_key!(A B C D E);
tuple_key!(A B C D E F);

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
    fn an_integer_is_its_value_whatever_its_type() {
        let one = HASHER.digest(&[1, 0, 0, 0, 0, 0, 0, 0]);
        assert!(
            [HASHER.digest(&1_u8), HASHER.digest(&1_u16), HASHER.digest(&1_u32), HASHER.digest(&1_u64)] == [one; 4]
        );
        assert!(
            [HASHER.digest(&1_i8), HASHER.digest(&1_i16), HASHER.digest(&1_i32), HASHER.digest(&1_i64)] == [one; 4]
        );
        assert!([HASHER.digest(&1_usize), HASHER.digest(&1_isize), HASHER.digest(&true)] == [one; 3]);
        assert!([HASHER.digest(&1_u128), HASHER.digest(&1_i128)] == [one; 2]);
        let minus_two = HASHER.digest(&[254, 255, 255, 255, 255, 255, 255, 255]);
        assert!([HASHER.digest(&-2_i8), HASHER.digest(&-2_i64), HASHER.digest(&-2_i128)] == [minus_two; 3]);
        let large = 1_u64 << 63;
        assert!([HASHER.digest(&u128::from(large)), HASHER.digest(&i128::from(large))] == [HASHER.digest(&large); 2]);
        let larger = 1_u128 << 64;
        assert_eq!(HASHER.digest(&larger), HASHER.digest(&larger.to_le_bytes()));
        assert_eq!(HASHER.digest(&(1_i128 << 64)), HASHER.digest(&larger));
        assert_eq!(HASHER.digest(&i128::MIN), HASHER.digest(&i128::MIN.to_le_bytes()));
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
