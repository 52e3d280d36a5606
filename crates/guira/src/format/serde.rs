//! Filters in the data formats of serde: as the bytes of their files, never as their fields, which change from release to
//! release.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde_core::de::{Error, SeqAccess, Visitor};

use super::contents::Contents;
use super::load::LoadOptions;
use crate::error::FileKind;

/// Takes the bytes of a file of this kind, in one piece or one by one.
pub(super) struct FileVisitor<C>(pub(super) PhantomData<C>);

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
