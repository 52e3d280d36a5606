use super::guards::Guards;
use super::stripes::{AllGuards, Stale};
use super::versions::Versions;
use crate::addressing::{Addressing as _, Fingerprint};
use crate::cuckoo::{Crowd, NoRoom, Scheme, with_table};
use crate::digest::{Digest, KeyHasher};
use crate::error::{BuildError, InsertError};
use crate::filter::CuckooFilter;
use crate::parameters::{Layout, Parameters};
use crate::table::Words;

/// A table that threads share. If the filter grows, it is replaced by a larger one, and writers that come too late find
/// it stale.
pub(super) struct SharedTable {
    pub(super) parameters: Parameters,
    pub(super) hasher: KeyHasher,
    pub(super) scheme: Scheme,
    pub(super) words: Words,
    pub(super) guards: Guards,
}

impl SharedTable {
    /// The bits of a filter, shared. Large tables are not copied.
    pub(super) fn new(mut filter: CuckooFilter) -> Result<Self, BuildError> {
        filter.settle();
        let (parameters, hasher, len) = (*filter.parameters(), *filter.hasher(), filter.len());
        let layout = parameters.layout();
        if layout != Layout::Packed {
            return Err(BuildError::ConcurrentLayout { layout });
        }
        let no_memory = |_| out_of_memory(&parameters);
        let words = Words::from_storage(filter.into_storage()).map_err(no_memory)?;
        let guards = Versions::new().and_then(|versions| Guards::new(&parameters, len, versions)).map_err(no_memory)?;
        Ok(Self::of_parts(parameters, hasher, words, guards))
    }

    /// An empty table that is to replace the one with these versions.
    pub(super) fn empty(parameters: Parameters, hasher: KeyHasher, versions: Versions) -> Result<Self, BuildError> {
        let no_memory = |_| out_of_memory(&parameters);
        let words = Words::zeroed(parameters.table_bits()).map_err(no_memory)?;
        let guards = Guards::new(&parameters, 0, versions).map_err(no_memory)?;
        Ok(Self::of_parts(parameters, hasher, words, guards))
    }

    pub(super) fn of_parts(parameters: Parameters, hasher: KeyHasher, words: Words, guards: Guards) -> Self {
        let scheme = Scheme::new(&parameters, hasher.seed());
        Self { parameters, hasher, scheme, words, guards }
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The fingerprint of a key.
    pub(super) fn fingerprint(&self, digest: Digest) -> Fingerprint {
        with_table!(self.scheme, shared(&*self.words), table => table.addressing.locate(digest).0)
    }

    /// Removes all keys while nobody writes. No version is incremented: a key that a lookup misses meanwhile was absent
    /// at some moment of that lookup.
    pub(super) fn clear(&self) -> Result<(), Stale> {
        let all = self.guards.stripes.lock_all()?;
        if let Some(copies) = all.one().copies() {
            copies.table.finish(&self.words);
        }
        self.words.clear();
        all.count_none();
        Ok(())
    }

    /// What keeps a key out of a table that nobody writes.
    pub(super) fn crowd(&self, digest: Digest, _all: &AllGuards<'_>) -> Option<Crowd> {
        Crowd::around(
            digest,
            &self.parameters,
            self.hasher.seed(),
            |bucket| with_table!(self.scheme, shared(&*self.words), table => table.stored_in(bucket.get()).collect()),
        )
    }

    /// A copy of a table that nobody writes.
    pub(super) fn copy(&self, _all: &AllGuards<'_>) -> Result<CuckooFilter, BuildError> {
        let storage = self.words.to_storage().map_err(|_| out_of_memory(&self.parameters))?;
        Ok(CuckooFilter::from_parts(self.parameters, self.hasher, storage, self.len()))
    }

    pub(super) fn into_filter(self) -> CuckooFilter {
        let (parameters, hasher, len) = (self.parameters, self.hasher, self.len());
        CuckooFilter::from_parts(parameters, hasher, self.words.into_storage(), len)
    }

    pub(super) fn len(&self) -> usize {
        self.guards.stripes.stored()
    }

    #[cold]
    pub(super) fn insert_error(&self, reason: NoRoom) -> InsertError {
        reason.as_error(self.len(), &self.parameters)
    }
}

pub(super) const fn out_of_memory(parameters: &Parameters) -> BuildError {
    BuildError::OutOfMemory { bytes: parameters.table_size() }
}
