use std::sync::atomic::{AtomicUsize, Ordering};

use guira::raw::RawFilter as _;
use guira::{ExpiringCuckooFilter, FileHeader, FileKind, LoadOptions};

use super::dump::DumpHeader;
use super::imported::ImportedHeader;
use super::{Expiring, Growing, StoredFilter};
use crate::cast::{in_memory, wide};
use crate::command::Secret;
use crate::error::CommandError;
use crate::memory::copied;
use crate::secret::SecretKey;
use crate::settings::Limits;

/// A partly loaded filter. It can't be queried, since the missing part would make items seem absent.
#[derive(Debug, PartialEq)]
pub struct Incoming {
    header: Vec<u8>,
    kind: Kind,
    expected: u64,
    /// The header of the library's file, if it is one of this module's filters, and the chunks behind it.
    file: Vec<u8>,
    _counted: Counted,
}

/// How many filters are partly loaded.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Counts a filter as long as it is partly loaded.
#[derive(Debug, PartialEq, Eq)]
struct Counted(());

impl Counted {
    fn new() -> Self {
        COUNT.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A filter of this module. Its header is the number of removals, the header of the library's file, and the secret key if
    /// there is one.
    OfLibrary { file: FileKind, removed: u64, key: Option<SecretKey> },
    /// A filter of RedisBloom.
    Imported(ImportedHeader),
}

/// The size of the number of removals, which precedes the header of a file.
const COUNT_SIZE: usize = 8;

/// The header of this module's dumps.
pub(super) fn growing_header(growing: &Growing, secret: Secret) -> DumpHeader {
    let key = growing.key().filter(|_| secret == Secret::Kept);
    header_of(growing.removed, growing.filter.file_ends().header(), key)
}

/// The header of the dump of a filter whose items expire.
pub(super) fn expiring_header(expiring: &Expiring, secret: Secret) -> DumpHeader {
    let key = expiring.key().filter(|_| secret == Secret::Kept);
    header_of(expiring.removed, expiring.filter.file_ends().header(), key)
}

fn header_of(removed: u64, file_header: &[u8], key: Option<SecretKey>) -> DumpHeader {
    let mut header = DumpHeader::from_slice(&removed.to_le_bytes());
    header.extend_from_slice(file_header);
    if let Some(key) = key {
        header.extend(key.bytes());
    }
    header
}

impl Incoming {
    /// Begins with the header, the first chunk, which is checked as far as possible without the rest.
    ///
    /// # Errors
    ///
    /// If it is no header, the secret key is missing or wrong, or the filter would be too large.
    pub fn new(header: &[u8], key: Option<SecretKey>, limits: Limits) -> Result<Self, CommandError> {
        let mut header = copied(header)?;
        let (kind, expected) = match ImportedHeader::decode(&header) {
            Some(_) if key.is_some() => return Err(CommandError::KeyNotUsed),
            Some(imported) => {
                let size = imported.size().ok_or(CommandError::InvalidHeader)?;
                (Kind::Imported(imported), size)
            }
            None => {
                if let Some(key) = key {
                    if header.len() != COUNT_SIZE + FileHeader::MIN_SIZE {
                        return Err(CommandError::KeyNotUsed);
                    }
                    header.try_reserve(SecretKey::SIZE).map_err(|_| CommandError::OutOfMemory)?;
                    header.extend(key.bytes());
                }
                Self::kind_of_library(&header)?
            }
        };
        limits.check(expected)?;
        let mut incoming = Self { header, kind, expected, file: Vec::new(), _counted: Counted::new() };
        // Where nobody limits it, memory is taken only for bytes that have come, whatever the header says.
        if matches!(limits, Limits::Bytes(limit) if limit > 0) {
            let size = in_memory(expected).saturating_add(incoming.file_header().len());
            incoming.file.try_reserve_exact(size).map_err(|_| CommandError::OutOfMemory)?;
        }
        let start = copied(incoming.file_header())?;
        incoming.file.try_reserve(start.len()).map_err(|_| CommandError::OutOfMemory)?;
        incoming.file.extend(start);
        Ok(incoming)
    }

    /// How many filters are partly loaded.
    pub(crate) fn count() -> usize {
        COUNT.load(Ordering::Relaxed)
    }

    pub(super) fn try_clone(&self) -> Result<Self, CommandError> {
        let Self { ref header, ref kind, expected, ref file, .. } = *self;
        let (header, kind) = (copied(header)?, kind.clone());
        Ok(Self { header, kind, expected, file: copied(file)?, _counted: Counted::new() })
    }

    /// The header of the library's file; nothing for a filter of RedisBloom.
    fn file_header(&self) -> &[u8] {
        match self.kind {
            Kind::OfLibrary { .. } => {
                self.header.get(COUNT_SIZE..COUNT_SIZE + FileHeader::MIN_SIZE).unwrap_or_default()
            }
            Kind::Imported(_) => &[],
        }
    }

    fn kind_of_library(bytes: &[u8]) -> Result<(Kind, u64), CommandError> {
        let (removed, header) = bytes.split_first_chunk::<COUNT_SIZE>().ok_or(CommandError::InvalidHeader)?;
        let (header, key) = header.split_at_checked(FileHeader::MIN_SIZE).ok_or(CommandError::InvalidHeader)?;
        let key = match key {
            [] => None,
            key => Some(SecretKey::new(key.try_into().map_err(|_| CommandError::InvalidHeader)?)),
        };
        let file = FileHeader::from_bytes(header).map_err(|_| CommandError::InvalidHeader)?;
        let is_of_server = match file.kind() {
            FileKind::Growing => true,
            // Here they don't grow.
            FileKind::Expiring => file.max_capacity().is_none(),
            _ => false,
        };
        if !is_of_server {
            return Err(CommandError::InvalidHeader);
        }
        file.hasher(key.map(SecretKey::bytes))?;
        let expected = file.file_size().saturating_sub(wide(FileHeader::MIN_SIZE));
        Ok((Kind::OfLibrary { file: file.kind(), removed: u64::from_le_bytes(*removed), key }, expected))
    }

    /// Appends the chunk whose next position is `position`, which identifies it.
    ///
    /// # Errors
    ///
    /// If this is not the next chunk, or there is no memory for it. Nothing has changed then.
    pub fn take(&mut self, position: u64, chunk: &[u8]) -> Result<(), CommandError> {
        let end = wide(self.received().len()).saturating_add(wide(chunk.len()));
        if chunk.is_empty() || position.checked_sub(1) != Some(end) || end > self.expected {
            return Err(CommandError::InvalidChunk);
        }
        self.file.try_reserve(chunk.len()).map_err(|_| CommandError::OutOfMemory)?;
        self.file.extend_from_slice(chunk);
        Ok(())
    }

    /// Removes the last chunk again.
    pub(crate) fn give_back(&mut self, chunk: &[u8]) {
        self.file.truncate(self.file.len().saturating_sub(chunk.len()));
    }

    /// The position of the next byte to come.
    pub(crate) fn position(&self) -> u64 {
        wide(self.received().len()).saturating_add(1)
    }

    /// Returns `true` if all chunks have come.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        wide(self.received().len()) == self.expected
    }

    /// Makes the filter of all chunks, which are copied.
    ///
    /// # Errors
    ///
    /// If chunks are missing or damaged.
    pub fn to_filter(&self) -> Result<StoredFilter, CommandError> {
        match &self.kind {
            Kind::Imported(header) => header.filled(self.received()).map(StoredFilter::Imported),
            &Kind::OfLibrary { file, removed, key } => {
                // What clients do to keys is theirs, and what the file says of it is given back as it came.
                let options = LoadOptions::new().normalized_keys();
                let options = match key {
                    Some(key) => options.secret_key(key.bytes()),
                    None => options,
                };
                match file {
                    FileKind::Expiring => {
                        let filter: ExpiringCuckooFilter = options.from_bytes(&self.file)?;
                        StoredFilter::of_expiring(Expiring { filter, removed })
                    }
                    _ => Ok(StoredFilter::Growing(Growing { filter: options.from_bytes(&self.file)?, removed })),
                }
            }
        }
    }

    pub(super) fn header(&self) -> &[u8] {
        &self.header
    }

    pub(super) fn received(&self) -> &[u8] {
        self.file.get(self.file_header().len()..).unwrap_or_default()
    }

    /// Its allocations.
    pub(super) fn pieces(&self) -> [&[u8]; 2] {
        [&self.header, &self.file]
    }

    pub(super) fn move_file(&mut self, elsewhere: impl Fn(Vec<u8>) -> Vec<u8>) {
        self.file = elsewhere(std::mem::take(&mut self.file));
    }

    /// The error that says how much of the filter has come.
    pub(crate) fn refusal(&self) -> CommandError {
        CommandError::Incomplete { received: wide(self.received().len()), expected: self.expected }
    }
}
