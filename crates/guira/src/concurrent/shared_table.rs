use super::guards::Guards;
use super::stripes::{AllGuards, Stale};
use super::versions::Versions;
use crate::addressing::{Addressing as _, Fingerprint};
use crate::cuckoo::{Crowd, NoRoom, Scheme, with_table};
use crate::digest::{Digest, KeyHasher};
use crate::error::{self, InsertError};
use crate::filter::CuckooFilter;
use crate::parameters::Parameters;
use crate::table::{OutOfMemory, Words};

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
    /// The bits of a filter in the packed layout, which is not being doubled, shared; so many of its fingerprints are counted. Large tables
    /// are not copied.
    pub(super) fn new(len: usize, filter: CuckooFilter) -> Result<Self, error::OutOfMemory> {
        let size = filter.parameters().table_size();
        let table = Versions::new().and_then(|versions| Self::with_versions(len, filter, versions));
        table.map_err(|OutOfMemory| error::OutOfMemory::new(size))
    }

    /// A table with the versions of another one.
    pub(super) fn with_versions(len: usize, filter: CuckooFilter, versions: Versions) -> Result<Self, OutOfMemory> {
        let (parameters, hasher) = (*filter.parameters(), *filter.hasher());
        Self::of_words(len, parameters, hasher, Words::from_storage(filter.into_storage())?, versions)
    }

    /// An empty table that is to replace the one with these versions.
    pub(super) fn empty(parameters: Parameters, hasher: KeyHasher, versions: Versions) -> Result<Self, OutOfMemory> {
        Self::of_words(0, parameters, hasher, Words::zeroed(parameters.table_bits())?, versions)
    }

    fn of_words(
        len: usize,
        parameters: Parameters,
        hasher: KeyHasher,
        words: Words,
        versions: Versions,
    ) -> Result<Self, OutOfMemory> {
        let guards = Guards::new(&parameters, len, versions)?;
        Ok(Self { parameters, hasher, scheme: Scheme::new(&parameters, hasher.seed()), words, guards })
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The fingerprint of a key.
    pub(super) fn fingerprint(&self, digest: Digest) -> Fingerprint {
        with_table!(self.scheme, packed(&*self.words), table => table.addressing.locate(digest).fingerprint)
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
            |bucket| with_table!(self.scheme, packed(&*self.words), table => table.stored_in(bucket.get()).collect()),
        )
    }

    /// A copy of a table that nobody writes.
    pub(super) fn copy(&self, _all: &AllGuards<'_>) -> Result<CuckooFilter, error::OutOfMemory> {
        let out_of_memory = |OutOfMemory| error::OutOfMemory::new(self.parameters.table_size());
        let storage = self.words.to_storage().map_err(out_of_memory)?;
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
