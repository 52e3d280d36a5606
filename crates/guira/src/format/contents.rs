//! What a file can hold: the parts that are written, and the checks when they are loaded.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::FileHeader;
use super::any_filter::AnyFilter;
use super::behind::Behind;
use super::check::{REMOVES_WHAT_IS_NOT_THERE, check_fingerprints, check_len, check_waiting};
use super::chunks::TimesChunk;
#[cfg(feature = "concurrent")]
use crate::concurrent::{ConcurrentCuckooFilter, ConcurrentExpiringCuckooFilter};
use crate::counting::CountingCuckooFilter;
use crate::digest::KeyHasher;
#[cfg(feature = "concurrent")]
use crate::error::BuildError;
use crate::error::{FileKind, LoadError};
use crate::expiring::{ExpiringCuckooFilter, Generations, Times};
use crate::filter::{Change, CuckooFilter, FileTable, Growth, Kept, ValuedFilter};
use crate::map::{CuckooMap, MapValue};
use crate::parameters::Parameters;
use crate::set::CuckooSet;
use crate::table::Storage;

pub(super) trait Contents: Sized {
    /// The kinds of files that can be loaded as this type; the first one gives it its name in errors.
    const KINDS: &'static [FileKind];

    /// Puts the parts together again, after the checks that need the table.
    fn checked(header: &FileHeader, hasher: KeyHasher, storage: Storage, behind: Behind) -> Result<Self, LoadError>;
}

/// What can be written as it is. The filter that threads share is copied first.
pub(super) trait Written {
    /// Returns the parts that are written.
    fn parts(&self) -> Parts<'_>;
}

pub(super) struct Parts<'contents> {
    pub(super) kind: FileKind,
    pub(super) parameters: &'contents Parameters,
    pub(super) hasher: &'contents KeyHasher,
    pub(super) table: FileTable<'contents>,
    /// The fingerprints stored.
    pub(super) len: usize,
    /// The buckets that wait to become two, if it is being doubled.
    pub(super) waiting: u64,
    /// How far a filter grows.
    pub(super) growth: Option<Growth>,
    /// The chunk of the times, of a filter whose keys expire.
    pub(super) times: TimesChunk,
    /// What the file says besides.
    pub(super) kept: Option<&'contents Kept>,
}

impl Parts<'_> {
    /// The chunks behind the table, one piece after the other.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        [self.times.as_slice(), self.kept.map_or(&[], |kept| &kept.chunks)].into_iter()
    }
}

impl Contents for CuckooFilter {
    const KINDS: &'static [FileKind] = &[FileKind::Filter, FileKind::Growing];

    fn checked(header: &FileHeader, hasher: KeyHasher, storage: Storage, behind: Behind) -> Result<Self, LoadError> {
        let len = header.len_in_memory()?;
        let mut filter = Self::from_parts(header.parameters, hasher, storage, len).with_growth(header.growth);
        check_fingerprints(filter.scheme(), filter.bytes(), &header.parameters, header.kind(), len, true)?;
        check_waiting(filter.scheme(), filter.bytes(), &header.parameters, header.waiting)?;
        filter.resume_doubling(header.waiting).map_err(|_| header.out_of_memory())?;
        make_changes(&mut filter, behind.changes)?;
        Ok(filter.with_kept(behind.kept))
    }
}

impl Written for CuckooFilter {
    fn parts(&self) -> Parts<'_> {
        let growth = self.growth().copied();
        let kind = if growth.is_some() { FileKind::Growing } else { FileKind::Filter };
        let (parameters, hasher) = (self.parameters(), self.hasher());
        let kept = self.kept().map(|kept| &**kept);
        let (table, len, waiting) = (self.file_table(), self.len(), self.waiting());
        Parts { kind, parameters, hasher, table, len, waiting, growth, times: TimesChunk::new(), kept }
    }
}

impl Contents for CuckooSet {
    const KINDS: &'static [FileKind] = &[FileKind::Set];

    fn checked(header: &FileHeader, hasher: KeyHasher, storage: Storage, behind: Behind) -> Result<Self, LoadError> {
        let filter = CuckooFilter::checked(header, hasher, storage, behind)?;
        Ok(Self::from_filter(filter))
    }
}

impl Written for CuckooSet {
    fn parts(&self) -> Parts<'_> {
        Parts { kind: FileKind::Set, ..self.as_filter().parts() }
    }
}

impl Contents for CountingCuckooFilter {
    const KINDS: &'static [FileKind] = &[FileKind::Counting];

    fn checked(header: &FileHeader, hasher: KeyHasher, storage: Storage, behind: Behind) -> Result<Self, LoadError> {
        let filter = checked_valued_filter(header, Some(hasher), storage, behind.kept)?;
        check_counters(&filter, header.kind())?;
        Ok(Self::from_filter(filter))
    }
}

impl Written for CountingCuckooFilter {
    fn parts(&self) -> Parts<'_> {
        Parts { kind: FileKind::Counting, ..self.as_filter().parts() }
    }
}

impl<V: MapValue> Contents for CuckooMap<V> {
    const KINDS: &'static [FileKind] = &[FileKind::Map];

    fn checked(header: &FileHeader, hasher: KeyHasher, storage: Storage, behind: Behind) -> Result<Self, LoadError> {
        let value_bits = header.parameters.value_bits();
        if value_bits > V::BITS {
            return Err(LoadError::ValueBits { found: value_bits, most: V::BITS });
        }
        checked_valued_filter(header, Some(hasher), storage, behind.kept).map(Self::from_filter)
    }
}

impl<V: MapValue> Written for CuckooMap<V> {
    fn parts(&self) -> Parts<'_> {
        Parts { kind: FileKind::Map, ..self.as_filter().parts() }
    }
}

impl Contents for ExpiringCuckooFilter {
    const KINDS: &'static [FileKind] = &[FileKind::Expiring];

    fn checked(header: &FileHeader, hasher: KeyHasher, storage: Storage, behind: Behind) -> Result<Self, LoadError> {
        let filter = checked_valued_filter(header, Some(hasher), storage, behind.kept)?;
        let generations = checked_generations(&filter, behind.times.as_ref())?;
        Ok(Self::from_parts(filter, generations))
    }
}

/// The generations of a filter whose keys expire, with its fingerprints counted.
pub(super) fn checked_generations(filter: &ValuedFilter, times: Option<&Times>) -> Result<Generations, LoadError> {
    let bucket_count = filter.parameters().bucket_count();
    let fits = |times: &&Times| times.pass.is_none_or(|pass| pass.next < bucket_count);
    let generations = times.filter(fits).map_or(Ok(None), Generations::of_times)?;
    let generations =
        generations.filter(|found| u32::checked_ilog2(found.numbers()) == Some(filter.parameters().value_bits()));
    let Some(mut generations) = generations else {
        return Err(LoadError::Inconsistent { what: "the times are none that a filter can have" });
    };
    let mut is_possible = true;
    filter.visit_all_values(|bucket, number| {
        is_possible &= generations.count(number) && generations.may_be_in(bucket, number);
    });
    if !is_possible {
        return Err(LoadError::Inconsistent { what: "a key is older than all that the times speak of" });
    }
    Ok(generations)
}

impl Written for ExpiringCuckooFilter {
    fn parts(&self) -> Parts<'_> {
        let times = self.generations().times().chunk();
        Parts { kind: FileKind::Expiring, times, ..self.as_filter().parts() }
    }
}

impl Contents for AnyFilter {
    const KINDS: &'static [FileKind] =
        &[FileKind::Filter, FileKind::Growing, FileKind::Set, FileKind::Counting, FileKind::Map, FileKind::Expiring];

    fn checked(header: &FileHeader, hasher: KeyHasher, storage: Storage, behind: Behind) -> Result<Self, LoadError> {
        Ok(match header.kind() {
            FileKind::Filter | FileKind::Growing => {
                Self::Filter(CuckooFilter::checked(header, hasher, storage, behind)?)
            }
            FileKind::Set => Self::Set(CuckooSet::checked(header, hasher, storage, behind)?),
            FileKind::Counting => Self::Counting(CountingCuckooFilter::checked(header, hasher, storage, behind)?),
            FileKind::Map => Self::Map(CuckooMap::checked(header, hasher, storage, behind)?),
            FileKind::Expiring => Self::Expiring(ExpiringCuckooFilter::checked(header, hasher, storage, behind)?),
        })
    }
}

impl Written for AnyFilter {
    fn parts(&self) -> Parts<'_> {
        match self {
            Self::Filter(filter) => filter.parts(),
            Self::Set(set) => set.parts(),
            Self::Counting(filter) => filter.parts(),
            Self::Map(map) => map.parts(),
            Self::Expiring(filter) => filter.parts(),
        }
    }
}

#[cfg(feature = "concurrent")]
impl Contents for ConcurrentCuckooFilter {
    const KINDS: &'static [FileKind] = CuckooFilter::KINDS;

    fn checked(header: &FileHeader, hasher: KeyHasher, storage: Storage, behind: Behind) -> Result<Self, LoadError> {
        CuckooFilter::checked(header, hasher, storage, behind)?.try_into().map_err(not_shared)
    }
}

#[cfg(feature = "concurrent")]
impl Contents for ConcurrentExpiringCuckooFilter {
    const KINDS: &'static [FileKind] = ExpiringCuckooFilter::KINDS;

    fn checked(header: &FileHeader, hasher: KeyHasher, storage: Storage, behind: Behind) -> Result<Self, LoadError> {
        ExpiringCuckooFilter::checked(header, hasher, storage, behind)?.try_into().map_err(not_shared)
    }
}

/// Why a filter that was loaded can't be shared.
#[cfg(feature = "concurrent")]
fn not_shared(error: BuildError) -> LoadError {
    match error {
        BuildError::OutOfMemory { bytes } => LoadError::OutOfMemory { bytes },
        error => LoadError::Parameters(error),
    }
}

/// Makes the changes of a journal in the table.
pub(super) fn make_changes(filter: &mut CuckooFilter, changes: Vec<Change>) -> Result<(), LoadError> {
    for change in changes {
        match change {
            Change::Insert(digest) => {
                filter.insert_digest(digest).map_err(|reason| LoadError::JournalDoesNotFit { reason })?;
            }
            Change::Remove(digest) if filter.remove_digest(digest) => {}
            Change::Remove(_) => return Err(REMOVES_WHAT_IS_NOT_THERE),
        }
    }
    Ok(())
}

/// Checks that in a filter that counts every fingerprint has one counter. In a map it may have several values.
pub(super) fn check_counters(filter: &ValuedFilter, kind: FileKind) -> Result<(), LoadError> {
    if kind == FileKind::Counting && !filter.has_no_copies() {
        return Err(LoadError::Inconsistent { what: "a fingerprint has two counters" });
    }
    Ok(())
}

pub(super) fn checked_valued_filter(
    header: &FileHeader,
    hasher: Option<KeyHasher>,
    storage: Storage,
    kept: Option<Arc<Kept>>,
) -> Result<ValuedFilter, LoadError> {
    let knows_seed = hasher.is_some();
    let hasher = hasher.unwrap_or(KeyHasher::xxh3(0));
    let len = header.len_in_memory()?;
    let filter = CuckooFilter::from_parts(header.parameters, hasher, storage, len).with_growth(header.growth);
    let malformed = LoadError::Inconsistent { what: "an empty slot has a value" };
    check_len(filter.occupied_if_well_formed(knows_seed).ok_or(malformed)?, len)?;
    Ok(ValuedFilter::of(filter.with_kept(kept)))
}
