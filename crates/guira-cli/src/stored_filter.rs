use std::io::{self, Read, Write};
use std::path::Path;

use guira::{CuckooFilter, Digest, FileHeader, FileKind, GrowingCuckooFilter, InsertEachError, InsertError, LoadError};

use crate::filter_bytes::decompressed;
use crate::keys::Compression;
use crate::provenance::{Provenance, Tail, table_end};
use crate::secret_key::SecretKey;

/// A filter from a file, and how the file keeps it.
pub(crate) struct StoredFilter {
    pub(crate) contents: Contents,
    compression: Compression,
    pub(crate) provenance: Provenance,
}

/// A filter of one of the kinds that this program makes.
pub(crate) enum Contents {
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
    /// A filter for a file that is to be written, compressed if its name says so.
    pub(crate) fn for_output(contents: Contents, provenance: Provenance, output: &Path) -> Self {
        Self { contents, compression: Compression::named(Some(output)), provenance }
    }

    /// A filter that is not in a file yet.
    pub(crate) fn in_memory(contents: Contents) -> Self {
        Self { contents, compression: Compression::None, provenance: Provenance::default() }
    }

    pub(crate) fn read(file: impl Read, key: Option<SecretKey>) -> Result<Self, LoadError> {
        let (compression, mut file) = decompressed(file)?;
        let mut start = Vec::new();
        file.by_ref().take(FileHeader::SIZE as u64).read_to_end(&mut start)?;
        let header = FileHeader::of_bytes(&start)?;
        let is_growing = header.kind() == FileKind::Growing;
        let mut section = Vec::new();
        let whole = Tail { source: io::Cursor::new(start).chain(file), before: table_end(&header), tail: &mut section };
        let contents = match (is_growing, key) {
            (true, Some(key)) => GrowingCuckooFilter::read_from_with_key(whole, key.bytes()).map(Contents::Growing),
            (true, None) => GrowingCuckooFilter::read_from(whole).map(Contents::Growing),
            (false, Some(key)) => CuckooFilter::read_from_with_key(whole, key.bytes()).map(Contents::Fixed),
            (false, None) => CuckooFilter::read_from(whole).map(Contents::Fixed),
        };
        Ok(Self { contents: contents?, compression, provenance: Provenance::of_section(&section)? })
    }

    /// Writes the file, compressed as the one that it was read from.
    pub(crate) fn write_to(&self, mut file: impl Write) -> io::Result<()> {
        if self.compression != Compression::None {
            let mut bytes = Vec::new();
            self.contents.write_to(&self.provenance, &mut bytes)?;
            return self.compression.compress(&bytes, file);
        }
        self.contents.write_to(&self.provenance, &mut file)
    }

    /// The filter as it is now.
    pub(crate) const fn as_filter(&self) -> &CuckooFilter {
        match &self.contents {
            Contents::Fixed(filter) => filter,
            Contents::Growing(filter) => filter.as_filter(),
        }
    }

    pub(crate) fn contains_each(&self, digests: &[Digest], answers: &mut [bool]) {
        self.as_filter().contains_each_digest(digests, answers);
    }

    pub(crate) fn insert_each(&mut self, digests: &[Digest], growth: Growth) -> Result<(), InsertEachError> {
        match (&mut self.contents, growth) {
            (Contents::Fixed(filter), _) => filter.insert_each_digest(digests),
            (Contents::Growing(filter), Growth::Allowed) => filter.insert_each_digest(digests),
            (Contents::Growing(filter), Growth::Refused) => filter.insert_each_digest_without_growing(digests),
        }
    }

    pub(crate) fn insert_bulk(&mut self, digests: &[Digest]) -> Result<(), InsertError> {
        let result = match &mut self.contents {
            Contents::Fixed(filter) => filter.insert_bulk_digests(digests),
            Contents::Growing(filter) => filter.insert_bulk_digests(digests),
        };
        result.map_err(|error| error.reason)
    }

    pub(crate) fn remove_each(&mut self, digests: &[Digest], removed: &mut [bool]) {
        match &mut self.contents {
            Contents::Fixed(filter) => filter.remove_each_digest(digests, removed),
            Contents::Growing(filter) => filter.remove_each_digest(digests, removed),
        }
    }

    /// Removes all keys, and gives back what the table has grown by.
    pub(crate) fn clear(&mut self) {
        match &mut self.contents {
            Contents::Fixed(filter) => filter.clear(),
            Contents::Growing(filter) => {
                filter.clear();
                filter.shrink_to_fit();
            }
        }
    }
}

impl Contents {
    fn write_to(&self, provenance: &Provenance, file: &mut impl Write) -> io::Result<()> {
        let (mut header, table) = match self {
            Self::Fixed(filter) => (filter.header_bytes(), filter.table_bytes()),
            Self::Growing(filter) => (filter.header_bytes(), filter.table_bytes()),
        };
        let section = provenance.write_into(&mut header)?;
        file.write_all(&header)?;
        file.write_all(table)?;
        file.write_all(&section)
    }
}
