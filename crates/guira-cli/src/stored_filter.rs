use std::fs::File;
use std::io::{self, Read};

use guira::{CuckooFilter, Digest, GrowingCuckooFilter, InsertEachError, InsertError, LoadError};

use crate::secret_key::SecretKey;

/// A filter from a file, of one of the kinds that this program makes.
pub(crate) enum StoredFilter {
    /// Of the size it was built with.
    Fixed(CuckooFilter),
    Growing(GrowingCuckooFilter),
}

// Offsets and numbers are those of docs/format.md.
const HEADER_SIZE: u64 = 128;
const KIND_AT: usize = 10;
const KIND_GROWING: u8 = 3;

/// The header of a file, or all of a file that is shorter.
pub(crate) fn header(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    file.take(HEADER_SIZE).read_to_end(&mut header)?;
    Ok(header)
}

/// What becomes of keys for which a growing filter has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    Allowed,
    Refused,
}

impl StoredFilter {
    pub(crate) fn read(mut file: impl Read, key: Option<SecretKey>) -> Result<Self, LoadError> {
        let header = header(&mut file)?;
        Self::read_behind(header, file, key)
    }

    /// Reads a filter of which the header was read already.
    pub(crate) fn read_behind(header: Vec<u8>, rest: impl Read, key: Option<SecretKey>) -> Result<Self, LoadError> {
        let is_growing = header.get(KIND_AT) == Some(&KIND_GROWING);
        let whole = io::Cursor::new(header).chain(rest);
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

    pub(crate) fn into_filter(self) -> CuckooFilter {
        match self {
            Self::Fixed(filter) => filter,
            Self::Growing(filter) => filter.into_filter(),
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
