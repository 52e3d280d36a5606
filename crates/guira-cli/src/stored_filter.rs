use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use guira::{Digest, FileHeader, LoadError, LoadOptions, TryExtendError};

use crate::filter::Filter;
use crate::filter_bytes::decompressed;
use crate::keys::Compression;
use crate::progress::{Progress, Watched};
use crate::provenance::{Provenance, Tail, table_end};
use crate::secret_key::SecretKey;

/// A filter of a file, with the file's compression and notes.
pub(crate) struct StoredFilter {
    pub(crate) filter: Filter,
    compression: Compression,
    pub(crate) provenance: Provenance,
}

/// What to do with keys for which a growing filter has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    Allowed,
    Refused,
}

/// Between two looks at the clock.
const WRITTEN_AT_ONCE: usize = 1 << 24;

impl StoredFilter {
    /// A filter for a new file, compressed if its name says so.
    pub(crate) fn for_output(filter: impl Into<Filter>, provenance: Provenance, output: &Path) -> Self {
        Self { filter: filter.into(), compression: Compression::named(Some(output)), provenance }
    }

    /// A filter that is not in a file yet.
    pub(crate) fn in_memory(filter: Filter) -> Self {
        Self { filter, compression: Compression::None, provenance: Provenance::default() }
    }

    pub(crate) fn read(file: impl Read, key: Option<SecretKey>) -> Result<Self, LoadError> {
        let (compression, mut file) = decompressed(file)?;
        let mut start = Vec::new();
        file.by_ref().take(FileHeader::MIN_SIZE as u64).read_to_end(&mut start)?;
        let header = FileHeader::from_bytes(&start)?;
        let mut section = Vec::new();
        let whole = Tail { source: io::Cursor::new(start).chain(file), before: table_end(&header), tail: &mut section };
        let options = LoadOptions::new().normalized_keys();
        let options = match key {
            Some(key) => options.secret_key(key.bytes()),
            None => options,
        };
        let filter = Filter::read(options, header.kind(), whole)?;
        Ok(Self { filter, compression, provenance: Provenance::of_file(&header, &section)? })
    }

    /// Merges the filter with that of a file, of which a part is in memory at a time. `None` where that does not do.
    pub(crate) fn merged_with_file(self, path: &Path) -> Result<Option<Self>, LoadError> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let progress = Progress::of_bytes(Some(size));
        let (_, mut file) = decompressed(Watched { source: &file, progress: &progress })?;
        let mut start = Vec::new();
        file.by_ref().take(FileHeader::MIN_SIZE as u64).read_to_end(&mut start)?;
        let header = FileHeader::from_bytes(&start)?;
        let Self { filter, compression, mut provenance } = self;
        if header.requested_rate() != provenance.rate {
            provenance.rate = None;
        }
        let merged = filter.merged_with_file(io::Cursor::new(start).chain(file))?;
        Ok(merged.map(|filter| Self { filter, compression, provenance }))
    }

    /// Writes the file with the compression of the filter.
    pub(crate) fn write_to(&self, mut file: impl Write) -> io::Result<()> {
        if self.compression != Compression::None {
            let mut bytes = Vec::new();
            self.write_uncompressed(&mut bytes)?;
            return self.compression.compress(&bytes, file);
        }
        self.write_uncompressed(&mut file)
    }

    /// Writes the file, not compressed.
    pub(crate) fn write_uncompressed(&self, file: &mut impl Write) -> io::Result<()> {
        let (mut header, table, times) = self.filter.file_parts();
        let section = self.provenance.write_into(&mut header, times)?;
        file.write_all(&header)?;
        let progress = Progress::of_writing(table.len());
        for piece in table.chunks(WRITTEN_AT_ONCE) {
            file.write_all(piece)?;
            progress.advance(piece.len());
        }
        file.write_all(&section)
    }

    pub(crate) fn grows(&self) -> bool {
        self.filter.grows()
    }

    /// The false positive rate with so many keys, also where the table grows for them: then fingerprints lose the bit that
    /// tells where they go.
    pub(crate) fn rate_of(&self, len: u64) -> f64 {
        self.filter.parameters().expected_false_positive_rate(len)
    }

    /// How many keys it may hold, so that its rate is the one that was asked for: those up to which it grows, or of its capacity,
    /// and more where its table has slots for them and the rate still holds. No limit if no rate was asked for, as where a length
    /// of fingerprints was.
    pub(crate) fn promised_len(&self) -> usize {
        let (promised, parameters) = (self.filter.max_capacity(), self.filter.parameters());
        let Some(asked) = self.provenance.rate else { return usize::MAX };
        // The largest that keeps the rate is sought by halves, since the rate rises with the number of keys.
        let (mut kept, mut raised) = (promised as u64, parameters.slot_count() + 1);
        while kept + 1 < raised {
            let middle = kept + (raised - kept) / 2;
            if self.rate_of(middle) <= asked { kept = middle } else { raised = middle }
        }
        usize::try_from(kept).unwrap_or(usize::MAX)
    }

    pub(crate) fn insert_each(&mut self, digests: &[Digest], growth: Growth) -> Result<(), TryExtendError> {
        match growth {
            Growth::Allowed => self.filter.try_extend(digests),
            Growth::Refused => self.filter.try_extend_without_growing(digests),
        }
    }
}
