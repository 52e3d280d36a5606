use std::fs::File;
use std::io::{self, Read};

use guira::{CuckooFilter, Digest, FileHeader, FileKind, GrowingCuckooFilter, InsertEachError, InsertError, LoadError};

use crate::secret_key::SecretKey;

/// A filter from a file, of one of the kinds that this program makes.
pub(crate) enum StoredFilter {
    /// Of the size it was built with.
    Fixed(CuckooFilter),
    Growing(GrowingCuckooFilter),
}

/// What becomes of keys for which a growing filter has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    Allowed,
    Refused,
}

impl StoredFilter {
    pub(crate) fn read(mut file: impl Read, key: Option<SecretKey>) -> Result<Self, LoadError> {
        let mut start = Vec::new();
        file.by_ref().take(FileHeader::SIZE as u64).read_to_end(&mut start)?;
        let is_growing = FileHeader::of_bytes(&start)?.kind() == FileKind::Growing;
        let whole = io::Cursor::new(start).chain(file);
        match (is_growing, key) {
            (true, Some(key)) => GrowingCuckooFilter::read_from_with_key(whole, key.bytes()).map(Self::Growing),
            (true, None) => GrowingCuckooFilter::read_from(whole).map(Self::Growing),
            (false, Some(key)) => CuckooFilter::read_from_with_key(whole, key.bytes()).map(Self::Fixed),
            (false, None) => CuckooFilter::read_from(whole).map(Self::Fixed),
        }
    }

    pub(crate) fn write_to(&self, file: &File) -> io::Result<()> {
        match self {
            Self::Fixed(filter) => filter.write_to(file),
            Self::Growing(filter) => filter.write_to(file),
        }
    }

    /// The filter as it is now.
    pub(crate) const fn as_filter(&self) -> &CuckooFilter {
        match self {
            Self::Fixed(filter) => filter,
            Self::Growing(filter) => filter.as_filter(),
        }
    }

    pub(crate) fn insert_each(&mut self, digests: &[Digest], growth: Growth) -> Result<(), InsertEachError> {
        match (self, growth) {
            (Self::Fixed(filter), _) => filter.insert_each_digest(digests),
            (Self::Growing(filter), Growth::Allowed) => filter.insert_each_digest(digests),
            (Self::Growing(filter), Growth::Refused) => filter.insert_each_digest_without_growing(digests),
        }
    }

    pub(crate) fn insert_bulk(&mut self, digests: &[Digest]) -> Result<(), InsertError> {
        let result = match self {
            Self::Fixed(filter) => filter.insert_bulk_digests(digests),
            Self::Growing(filter) => filter.insert_bulk_digests(digests),
        };
        result.map_err(|error| error.reason)
    }

    pub(crate) fn remove_each(&mut self, digests: &[Digest], removed: &mut [bool]) {
        match self {
            Self::Fixed(filter) => filter.remove_each_digest(digests, removed),
            Self::Growing(filter) => filter.remove_each_digest(digests, removed),
        }
    }
}
