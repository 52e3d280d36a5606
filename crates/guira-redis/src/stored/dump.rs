//! Filters in chunks, as CF.SCANDUMP gives them: position 0 is the header, and position n > 0 is byte n - 1 behind it.

use super::incoming::growing_header;
use super::{Incoming, StoredFilter};
use crate::cast::{in_memory, wide};
use crate::command::Secret;
use crate::error::CommandError;
use guira::raw::RawFilter as _;

/// The largest chunk, which a server sends without delaying other clients or growing its buffers.
pub(crate) const LARGEST_CHUNK: usize = 1 << 20;

/// A piece of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk<'filter> {
    /// The position of the next chunk, by which CF.LOADCHUNK identifies this one.
    pub(crate) next: u64,
    pub(crate) bytes: &'filter [u8],
}

impl StoredFilter {
    /// The header, which is the first chunk.
    pub(crate) fn header(&mut self, secret: Secret) -> Vec<u8> {
        self.settle();
        match self {
            Self::Growing(growing) => growing_header(growing, secret),
            Self::Imported(imported) => imported.header(),
            Self::Incoming(incoming) => incoming.header().to_vec(),
        }
    }

    /// What is behind the header, and not covered by a checksum in it.
    pub(crate) fn unsummed(&mut self) -> impl Iterator<Item = &[u8]> {
        self.settle();
        let settled = &*self;
        let first = match settled {
            Self::Growing(growing) => 1 + wide(growing.filter.size_in_bytes()),
            Self::Imported(_) | Self::Incoming(_) => 1,
        };
        settled.chunks_from(first).map(|chunk| chunk.bytes)
    }

    /// The chunk at a position of at least 1; `None` behind the last.
    ///
    /// # Errors
    ///
    /// If the position is out of range.
    pub(crate) fn chunk(&mut self, position: u64) -> Result<Option<Chunk<'_>>, CommandError> {
        self.settle();
        self.chunk_of_settled(position)
    }

    /// All chunks behind the header.
    pub(crate) fn chunks(&mut self) -> impl Iterator<Item = Chunk<'_>> {
        self.settle();
        self.chunks_from(1)
    }

    fn chunks_from(&self, first: u64) -> impl Iterator<Item = Chunk<'_>> {
        let chunk = |position| self.chunk_of_settled(position).ok().flatten();
        std::iter::successors(chunk(first), move |before| chunk(before.next))
    }

    /// Finishes the doubling of a table, so that its bytes are those of its dump.
    fn settle(&mut self) {
        if let Self::Growing(growing) = self {
            growing.filter.settle();
        }
    }

    fn chunk_of_settled(&self, position: u64) -> Result<Option<Chunk<'_>>, CommandError> {
        let offset = position.checked_sub(1).ok_or(CommandError::InvalidPosition)?;
        match self {
            Self::Growing(growing) => {
                chunk_of(growing.filter.memory().into_iter().chain([growing.filter.chunks()]), offset)
            }
            Self::Imported(imported) => chunk_of(imported.layers().iter().map(Vec::as_slice), offset),
            Self::Incoming(incoming) => chunk_of([incoming.received()].into_iter(), offset),
        }
    }

    /// Returns `true` if only a part of the filter has been loaded.
    pub(crate) const fn is_incoming(&self) -> bool {
        matches!(self, Self::Incoming(Incoming { .. }))
    }
}

/// The chunk at an offset into consecutive parts; no chunk crosses the end of a part.
fn chunk_of<'filter>(
    parts: impl Iterator<Item = &'filter [u8]>,
    offset: u64,
) -> Result<Option<Chunk<'filter>>, CommandError> {
    let mut start = 0;
    for part in parts {
        let end = start + wide(part.len());
        if offset < end {
            let rest = part.get(in_memory(offset - start)..).unwrap_or_default();
            let bytes = rest.get(..LARGEST_CHUNK).unwrap_or(rest);
            return Ok(Some(Chunk { next: 1 + offset + wide(bytes.len()), bytes }));
        }
        start = end;
    }
    if offset == start { Ok(None) } else { Err(CommandError::InvalidPosition) }
}
