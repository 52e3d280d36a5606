use std::sync::atomic::{AtomicUsize, Ordering};

use guira::raw::{Arriving, FileEnds, Mark, RawFilter as _};
use guira::{BuildError, FileHeader, FileKind};

use super::dump::DumpHeader;
use super::imported::ImportedHeader;
use super::{Expiring, Growing, StoredFilter};
use crate::cast::{in_memory, wide};
use crate::command::Secret;
use crate::error::CommandError;
use crate::memory::{Boxed, copied};
use crate::secret::SecretKey;
use crate::settings::Limits;

/// A partly loaded filter. It can't be queried, since the missing part would make items seem absent.
#[derive(Debug, PartialEq)]
pub struct Incoming {
    header: Vec<u8>,
    kind: Kind,
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

#[derive(Debug, PartialEq)]
enum Kind {
    /// A filter of this module. Its header is the number of removals, the header of the library's file, and the secret key if
    /// there is one.
    OfLibrary { removed: u64, goes_on: bool, file: Boxed<Arriving> },
    /// A filter of RedisBloom, and what has come of its layers, one behind the other.
    Imported { header: ImportedHeader, layers: Vec<u8> },
}

/// How far a filter had come.
#[expect(clippy::large_enum_variant, reason = "it takes no memory but the stack's")]
pub(crate) enum Before {
    OfLibrary(Mark),
    Imported(usize),
}

/// The size of the number of removals, which precedes the header of a file.
const COUNT_SIZE: usize = 8;

/// The bit beside the number of removals that says that the doubling of a table goes on when it is loaded.
///
/// That takes as long as the table is large, so it is not so in what CF.SCANDUMP gives: other clients would wait.
const GOES_ON: u64 = 1 << 63;

/// Makes the doubling go on when a filter is loaded that has this header.
pub(super) fn go_on_with_doubling(header: &mut DumpHeader) {
    if let Some(removed) = header.first_chunk_mut::<COUNT_SIZE>() {
        *removed = (u64::from_le_bytes(*removed) | GOES_ON).to_le_bytes();
    }
}

/// The header of this module's dumps.
pub(super) fn growing_header(growing: &Growing, secret: Secret, ends: Option<FileEnds>) -> DumpHeader {
    let key = growing.key().filter(|_| secret == Secret::Kept);
    let ends = ends.unwrap_or_else(|| growing.filter.file_ends());
    header_of(growing.removed, ends.header(), key)
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
    /// If it is no header, the secret key is missing or wrong, the filter would be too large, or there is no memory for it.
    pub fn new(header: &[u8], key: Option<SecretKey>, limits: Limits) -> Result<Self, CommandError> {
        let mut header = copied(header)?;
        let kind = match ImportedHeader::decode(&header) {
            Some(_) if key.is_some() => return Err(CommandError::KeyNotTaken),
            Some(imported) => {
                imported.size().ok_or(CommandError::InvalidHeader)?;
                Kind::Imported { header: imported, layers: Vec::new() }
            }
            None => {
                if let Some(key) = key {
                    if header.len() != COUNT_SIZE + FileHeader::MIN_SIZE {
                        // It has a key already, if it is a header at all.
                        Self::kind_of_library(&header)?;
                        return Err(CommandError::KeyNotTaken);
                    }
                    header.try_reserve(SecretKey::SIZE).map_err(|_| CommandError::OutOfMemory)?;
                    header.extend(key.bytes());
                }
                Self::kind_of_library(&header)?
            }
        };
        let mut incoming = Self { header, kind, _counted: Counted::new() };
        limits.check(incoming.expected())?;
        // Where nobody limits it, memory is taken only as chunks come, whatever the header says.
        if matches!(limits, Limits::Bytes(limit) if limit > 0) {
            match &mut incoming.kind {
                Kind::OfLibrary { file, .. } => file.reserve().map_err(BuildError::from)?,
                Kind::Imported { header, layers } => {
                    let size = in_memory(header.size().unwrap_or(u64::MAX));
                    layers.try_reserve_exact(size).map_err(|_| CommandError::OutOfMemory)?;
                }
            }
        }
        Ok(incoming)
    }

    /// How many filters are partly loaded.
    pub(crate) fn count() -> usize {
        COUNT.load(Ordering::Relaxed)
    }

    pub(super) fn try_clone(&self) -> Result<Self, CommandError> {
        let kind = match &self.kind {
            Kind::OfLibrary { removed, goes_on, file } => {
                let file = Boxed::new(file.try_clone().map_err(BuildError::from)?)?;
                Kind::OfLibrary { removed: *removed, goes_on: *goes_on, file }
            }
            Kind::Imported { header, layers } => Kind::Imported { header: header.clone(), layers: copied(layers)? },
        };
        Ok(Self { header: copied(&self.header)?, kind, _counted: Counted::new() })
    }

    /// How many bytes come behind the header.
    fn expected(&self) -> u64 {
        match &self.kind {
            Kind::OfLibrary { file, .. } => file.expected(),
            Kind::Imported { header, .. } => header.size().unwrap_or(u64::MAX),
        }
    }

    /// How many of them have come.
    pub(super) fn size(&self) -> u64 {
        self.received().into_iter().map(|part| wide(part.len())).sum()
    }

    fn kind_of_library(bytes: &[u8]) -> Result<Kind, CommandError> {
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
        let file = Boxed::new(Arriving::new(&file, key.map(SecretKey::bytes))?)?;
        let removed = u64::from_le_bytes(*removed);
        Ok(Kind::OfLibrary { removed: removed & !GOES_ON, goes_on: removed & GOES_ON > 0, file })
    }

    /// Appends the chunk whose next position is `position`, which identifies it, and checks what can be checked of it.
    ///
    /// # Errors
    ///
    /// If this is not the next chunk, or there is no memory for it. Nothing has changed then. What is wrong in a chunk is told
    /// when all have come.
    pub fn take(&mut self, position: u64, chunk: &[u8]) -> Result<(), CommandError> {
        let end = self.size().saturating_add(wide(chunk.len()));
        if chunk.is_empty() || position.checked_sub(1) != Some(end) || end > self.expected() {
            return Err(CommandError::InvalidChunk);
        }
        match &mut self.kind {
            Kind::OfLibrary { file, .. } => file.take(chunk)?,
            Kind::Imported { layers, .. } => {
                layers.try_reserve(chunk.len()).map_err(|_| CommandError::OutOfMemory)?;
                layers.extend_from_slice(chunk);
            }
        }
        Ok(())
    }

    /// How far it has come, for [`go_back`](Self::go_back).
    pub(crate) fn mark(&self) -> Before {
        match &self.kind {
            Kind::OfLibrary { file, .. } => Before::OfLibrary(file.mark()),
            Kind::Imported { layers, .. } => Before::Imported(layers.len()),
        }
    }

    /// Forgets the chunks that have come since.
    pub(crate) fn go_back(&mut self, before: Before) {
        match (&mut self.kind, before) {
            (Kind::OfLibrary { file, .. }, Before::OfLibrary(mark)) => file.go_back(mark),
            (Kind::Imported { layers, .. }, Before::Imported(size)) => layers.truncate(size),
            (Kind::OfLibrary { .. } | Kind::Imported { .. }, _) => {}
        }
    }

    /// The position of the next byte to come.
    pub(crate) fn position(&self) -> u64 {
        self.size().saturating_add(1)
    }

    /// Returns `true` if all chunks have come.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.size() == self.expected()
    }

    /// Makes the filter of all chunks. It may take their memory over, so nothing else is to be done here afterwards.
    ///
    /// # Errors
    ///
    /// If chunks are missing or damaged, or there is no memory. Nothing has changed then.
    pub fn finish(&mut self) -> Result<StoredFilter, CommandError> {
        match &mut self.kind {
            Kind::Imported { header, layers } => header.filled(layers).map(StoredFilter::Imported),
            Kind::OfLibrary { removed, goes_on, file } => match file.kind() {
                FileKind::Expiring => {
                    let filter = file.finish_expiring()?;
                    StoredFilter::of_expiring(Expiring { filter, removed: *removed })
                }
                _ => {
                    let filter = if *goes_on { file.finish()? } else { file.finish_settled()? };
                    let removed = *removed;
                    Ok(StoredFilter::Growing(Growing { removed, ..Growing::new(filter) }))
                }
            },
        }
    }

    pub(super) fn header(&self) -> &[u8] {
        &self.header
    }

    /// What has come, in consecutive parts.
    pub(super) fn received(&self) -> [&[u8]; 2] {
        match &self.kind {
            Kind::OfLibrary { file, .. } => file.parts(),
            Kind::Imported { layers, .. } => [layers, &[]],
        }
    }

    /// What tells what has come from others: of a table its checksum, which is known already.
    pub(super) fn sum_up(&self, mut add: impl FnMut(&[u8])) {
        let [table, rest] = self.received();
        match &self.kind {
            Kind::OfLibrary { file, .. } => {
                add(&wide(table.len()).to_le_bytes());
                add(&file.checksum().to_le_bytes());
            }
            Kind::Imported { .. } => add(table),
        }
        add(rest);
    }

    /// Its allocations.
    pub(super) fn pieces(&self) -> [&[u8]; 3] {
        let [first, second] = self.received();
        [&self.header, first, second]
    }

    /// Its box, if it has one, and the size of that.
    pub(super) fn boxed(&self) -> Option<(*const u8, usize)> {
        match &self.kind {
            Kind::OfLibrary { file, .. } => Some((std::ptr::from_ref(&**file).cast(), size_of::<Arriving>())),
            Kind::Imported { .. } => None,
        }
    }

    pub(super) fn move_tables(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        match &mut self.kind {
            Kind::OfLibrary { file, .. } => file.move_table(elsewhere),
            Kind::Imported { layers, .. } => *layers = elsewhere(std::mem::take(layers)),
        }
    }

    /// The error that says how much of the filter has come.
    pub(crate) fn refusal(&self) -> CommandError {
        CommandError::Incomplete { received: self.size(), expected: self.expected() }
    }
}
