//! What a file can hold: the parts that are written, and what must hold of them when they come back.

use super::Header;
use super::check::{check_fingerprints, check_len};
use crate::counting::CountingCuckooFilter;
use crate::digest::KeyHasher;
use crate::error::{FileKind, LoadError};
use crate::filter::{CuckooFilter, ValuedFilter};
use crate::growing::{GrowingCuckooFilter, Promise};
use crate::map::{CuckooMap, Value};
use crate::parameters::Parameters;
use crate::set::CuckooSet;
use crate::table::Storage;

pub(super) trait Contents: Sized {
    const KIND: FileKind;

    /// What is written.
    fn parts(&self) -> Parts<'_>;

    /// What was written, after the checks that need the table.
    fn checked(header: &Header, hasher: KeyHasher, storage: Storage, len: usize) -> Result<Self, LoadError>;
}

pub(super) struct Parts<'contents> {
    pub(super) parameters: &'contents Parameters,
    pub(super) hasher: &'contents KeyHasher,
    pub(super) storage: &'contents Storage,
    /// The fingerprints stored.
    pub(super) len: usize,
    /// How far a growing filter grows.
    pub(super) promise: Option<Promise>,
}

impl Contents for CuckooFilter {
    const KIND: FileKind = FileKind::Filter;

    fn parts(&self) -> Parts<'_> {
        let (parameters, hasher) = (self.parameters(), self.hasher());
        Parts { parameters, hasher, storage: self.storage(), len: self.len(), promise: None }
    }

    fn checked(header: &Header, hasher: KeyHasher, storage: Storage, len: usize) -> Result<Self, LoadError> {
        let filter = Self::from_parts(header.parameters, hasher, storage, len);
        check_fingerprints(filter.scheme(), filter.bytes(), header.kind(), len)?;
        Ok(filter)
    }
}

impl Contents for CuckooSet {
    const KIND: FileKind = FileKind::Set;

    fn parts(&self) -> Parts<'_> {
        self.as_filter().parts()
    }

    fn checked(header: &Header, hasher: KeyHasher, storage: Storage, len: usize) -> Result<Self, LoadError> {
        let filter = CuckooFilter::checked(header, hasher, storage, len)?;
        Ok(Self::from_filter_without_copies(filter))
    }
}

impl Contents for GrowingCuckooFilter {
    const KIND: FileKind = FileKind::Growing;

    fn parts(&self) -> Parts<'_> {
        Parts { promise: Some(*self.promise()), ..self.as_filter().parts() }
    }

    fn checked(header: &Header, hasher: KeyHasher, storage: Storage, len: usize) -> Result<Self, LoadError> {
        let Some(promise) = header.promise else {
            return Err(LoadError::Inconsistent { what: "a growing filter does not say how far it grows" });
        };
        let filter = CuckooFilter::checked(header, hasher, storage, len)?;
        Ok(Self::from_parts(filter, promise))
    }
}

impl Contents for CountingCuckooFilter {
    const KIND: FileKind = FileKind::Counting;

    fn parts(&self) -> Parts<'_> {
        valued_parts(self.filter())
    }

    fn checked(header: &Header, hasher: KeyHasher, storage: Storage, len: usize) -> Result<Self, LoadError> {
        let filter = checked_valued_filter(header, hasher, storage, len)?;
        check_counters(&filter, Self::KIND)?;
        Ok(Self::from_filter(filter))
    }
}

impl<V: Value> Contents for CuckooMap<V> {
    const KIND: FileKind = FileKind::Map;

    fn parts(&self) -> Parts<'_> {
        valued_parts(self.filter())
    }

    fn checked(header: &Header, hasher: KeyHasher, storage: Storage, len: usize) -> Result<Self, LoadError> {
        let value_bits = header.parameters.value_bits();
        if value_bits > V::BITS {
            return Err(LoadError::ValueBits { found: value_bits, most: V::BITS });
        }
        checked_valued_filter(header, hasher, storage, len).map(Self::from_filter)
    }
}

fn valued_parts(filter: &ValuedFilter) -> Parts<'_> {
    let (parameters, hasher) = (filter.parameters(), filter.hasher());
    Parts { parameters, hasher, storage: filter.storage(), len: filter.len(), promise: None }
}

/// In a filter that counts, every fingerprint has one counter; in a map it may have several values.
pub(super) fn check_counters(filter: &ValuedFilter, kind: FileKind) -> Result<(), LoadError> {
    if kind == FileKind::Counting && !filter.has_no_copies() {
        return Err(LoadError::Inconsistent { what: "a fingerprint has two counters" });
    }
    Ok(())
}

pub(super) fn checked_valued_filter(
    header: &Header,
    hasher: KeyHasher,
    storage: Storage,
    len: usize,
) -> Result<ValuedFilter, LoadError> {
    let filter = ValuedFilter::from_parts(header.parameters, hasher, storage, len);
    if !filter.is_well_formed() {
        return Err(LoadError::Inconsistent { what: "an empty slot has a value" });
    }
    check_len(filter.occupied_slots(), len)?;
    Ok(filter)
}
