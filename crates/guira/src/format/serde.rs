//! Filters in the data formats of serde: as the bytes of their files, never as their fields, which change from release to
//! release.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde_core::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_core::ser::{Serialize, Serializer};

use super::any_filter::AnyFilter;
use super::contents::Contents;
use super::load::LoadOptions;
#[cfg(feature = "concurrent")]
use crate::concurrent::{ConcurrentCuckooFilter, ConcurrentExpiringCuckooFilter};
use crate::counting::CountingCuckooFilter;
use crate::error::FileKind;
use crate::expiring::ExpiringCuckooFilter;
use crate::filter::CuckooFilter;
use crate::map::{CuckooMap, MapValue};
use crate::set::CuckooSet;

macro_rules! is_its_file {
    ([$($generic:tt)*] $type:ty) => {
        /// As the bytes of [`to_bytes`](Self::to_bytes). A secret hash key is not among them.
        impl<$($generic)*> Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.to_bytes())
            }
        }

        /// From the bytes of a file, with the checks of [`from_bytes`](Self::from_bytes). A file with a secret hash key is
        /// refused, since there is no way to give the key: deserialize plain bytes, and load them with [`LoadOptions`].
        impl<'de, $($generic)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_bytes(FileVisitor(PhantomData))
            }
        }
    };
}

is_its_file!([] CuckooFilter);
is_its_file!([] CuckooSet);
is_its_file!([] CountingCuckooFilter);
is_its_file!([V: MapValue] CuckooMap<V>);
is_its_file!([] ExpiringCuckooFilter);
is_its_file!([] AnyFilter);
#[cfg(feature = "concurrent")]
is_its_file!([] ConcurrentCuckooFilter);
#[cfg(feature = "concurrent")]
is_its_file!([] ConcurrentExpiringCuckooFilter);

/// Takes the bytes of a file of this kind, in one piece or one by one.
struct FileVisitor<C>(PhantomData<C>);

impl<'de, C: Contents> Visitor<'de> for FileVisitor<C> {
    type Value = C;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the bytes of a guira file that holds a {}", C::KINDS.first().unwrap_or(&FileKind::Filter))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<C, E> {
        LoadOptions::new().from_bytes(bytes).map_err(E::custom)
    }

    /// Text formats have no bytes, and write a sequence of numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<C, A::Error> {
        // The length that the sequence announces is not trusted: memory is only taken for bytes that came.
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.try_reserve(1).map_err(A::Error::custom)?;
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
