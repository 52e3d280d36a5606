use guira::{GrowingCuckooFilter, LoadError};

use super::Growing;
use super::StoredFilter;
use super::imported::ImportedHeader;
use crate::cast::wide;
use crate::error::CommandError;
use crate::settings::Limits;

/// A filter that comes in chunks and is not whole yet: it can't be asked, since what is missing would seem absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Incoming {
    header: Vec<u8>,
    kind: Kind,
    expected: u64,
    /// Only what came takes memory, whatever the header promises.
    received: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// This module's: the number of removals, then the header of the library's file.
    Growing { removed: u64 },
    /// RedisBloom's.
    Imported(ImportedHeader),
}

/// The removals, before the header of a file.
const COUNT_SIZE: usize = 8;

/// The header of this module's dumps.
pub(super) fn growing_header(growing: &Growing) -> Vec<u8> {
    [growing.removed.to_le_bytes().to_vec(), growing.filter.header_bytes()].concat()
}

impl Incoming {
    /// Begins with the first chunk, the header, which is checked as far as it can be without the rest.
    ///
    /// # Errors
    ///
    /// Where it is none, or the filter would be too large.
    pub fn new(header: &[u8], limits: Limits) -> Result<Self, CommandError> {
        let (kind, expected) = match ImportedHeader::decode(header) {
            Some(imported) => {
                let size = imported.size().ok_or(CommandError::InvalidHeader)?;
                (Kind::Imported(imported), size)
            }
            None => Self::growing_kind(header).ok_or(CommandError::InvalidHeader)?,
        };
        limits.check(expected)?;
        Ok(Self { header: header.to_vec(), kind, expected, received: Vec::new() })
    }

    fn growing_kind(bytes: &[u8]) -> Option<(Kind, u64)> {
        let (removed, header) = bytes.split_first_chunk::<COUNT_SIZE>()?;
        let size = wide(header.len());
        // A sound header without its table is refused for that alone, and the refusal says how much is missing.
        match GrowingCuckooFilter::from_header_and_table(header, Vec::new()) {
            Err(LoadError::Truncated { expected, found }) if found == size && expected > found => {
                let is_whole_header = size == HEADER_SIZE;
                let kind = Kind::Growing { removed: u64::from_le_bytes(*removed) };
                is_whole_header.then_some((kind, expected - found))
            }
            _ => None,
        }
    }

    /// Takes the chunk behind which a dump goes on at `position`.
    ///
    /// # Errors
    ///
    /// Where it is not the next chunk. Nothing has changed then.
    pub fn take(&mut self, position: u64, chunk: &[u8]) -> Result<(), CommandError> {
        let end = wide(self.received.len()).saturating_add(wide(chunk.len()));
        if chunk.is_empty() || position.checked_sub(1) != Some(end) || end > self.expected {
            return Err(CommandError::InvalidChunk);
        }
        self.received.try_reserve(chunk.len()).map_err(|_| CommandError::OutOfMemory)?;
        self.received.extend_from_slice(chunk);
        Ok(())
    }

    /// Takes back the last bytes that came.
    pub(crate) fn give_back(&mut self, chunk: &[u8]) {
        self.received.truncate(self.received.len().saturating_sub(chunk.len()));
    }

    /// The position behind what came.
    pub(crate) fn position(&self) -> u64 {
        wide(self.received.len()).saturating_add(1)
    }

    /// Whether all of it has come.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        wide(self.received.len()) == self.expected
    }

    /// What the chunks give together.
    ///
    /// # Errors
    ///
    /// Where they are not sound, or not all.
    pub fn into_filter(mut self) -> Result<StoredFilter, CommandError> {
        match self.kind {
            Kind::Imported(header) => {
                header.filled(&self.received).map(StoredFilter::Imported).ok_or(CommandError::InvalidChunk)
            }
            Kind::Growing { removed } => {
                let header = self.header.get(COUNT_SIZE..).unwrap_or_default();
                self.received.shrink_to_fit();
                let filter = GrowingCuckooFilter::from_header_and_table(header, self.received)?;
                Ok(StoredFilter::Growing(Growing { filter, removed }))
            }
        }
    }

    pub(super) fn header(&self) -> &[u8] {
        &self.header
    }

    pub(super) fn received(&self) -> &[u8] {
        &self.received
    }

    pub(super) fn move_received(&mut self, elsewhere: impl Fn(Vec<u8>) -> Vec<u8>) {
        self.received = elsewhere(std::mem::take(&mut self.received));
    }

    /// How much has come, and how much there is.
    pub(super) fn refusal(&self) -> CommandError {
        CommandError::Incomplete { received: wide(self.received.len()), expected: self.expected }
    }
}

/// The header of the library's files, docs/format.md.
const HEADER_SIZE: u64 = 128;
