//! Filters in chunks, as CF.SCANDUMP gives them: position 0 is the header, and position n > 0 is byte n - 1 behind it.

use std::ops::Range;

use guira::FileHeader;
use guira::raw::{FileEnds, RawFilter as _, TablePiece};
use smallvec::SmallVec;

use super::incoming::{expiring_header, go_on_with_doubling, growing_header};
use super::{Incoming, StoredFilter};
use crate::cast::{in_memory, wide};
use crate::command::Secret;
use crate::error::CommandError;
use crate::secret::SecretKey;

/// The largest chunk, which a server sends without delaying other clients or growing its buffers.
pub(crate) const LARGEST_CHUNK: usize = 1 << 20;

/// The first chunk, without an allocation: a server that saves a filter can't be told that there is no memory.
pub(crate) type DumpHeader = SmallVec<[u8; 8 + FileHeader::MIN_SIZE + SecretKey::SIZE]>;

/// A piece of a dump.
pub(crate) struct Chunk<'filter> {
    /// The position of the next chunk, by which CF.LOADCHUNK identifies this one.
    pub(crate) next: u64,
    pub(crate) bytes: Bytes<'filter>,
}

/// The bytes of a chunk.
#[expect(clippy::large_enum_variant, reason = "it takes no memory but the stack's")]
pub(crate) enum Bytes<'filter> {
    /// Part of a filter's memory.
    Borrowed(&'filter [u8]),
    /// Some of a table that is being doubled, which are not in memory like this.
    PutTogether(TablePiece<'filter>),
    /// Part of the times of a filter whose items expire.
    OfTimes(FileEnds, Range<usize>),
}

impl Bytes<'_> {
    pub(crate) fn get(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::PutTogether(piece) => piece,
            Self::OfTimes(ends, range) => ends.times().get(range.clone()).unwrap_or_default(),
        }
    }
}

impl StoredFilter {
    /// The header, which is the first chunk, made of the ends of the file if they are known.
    pub(crate) fn header(&self, secret: Secret, ends: Option<FileEnds>) -> DumpHeader {
        match self {
            Self::Growing(growing) => growing_header(growing, secret, ends),
            Self::Expiring(expiring) => expiring_header(expiring, secret),
            Self::Imported(imported) => imported.header(),
            Self::Incoming(incoming) => DumpHeader::from_slice(incoming.header()),
        }
    }

    /// Gives the whole filter, with its secret key, in the chunks that load it: each with its position.
    pub(crate) fn save(&self, mut chunk: impl FnMut(u64, &[u8])) {
        let mut header = self.header(Secret::Kept, None);
        if !self.is_settled() {
            go_on_with_doubling(&mut header);
        }
        chunk(1, &header);
        self.chunks_from(1).for_each(|Chunk { next, bytes }| chunk(next, bytes.get()));
    }

    /// Gives what tells the filter from others: its header, and what no checksum in that covers.
    pub(crate) fn sum_up(&self, mut add: impl FnMut(&[u8])) {
        let first = match self {
            Self::Growing(growing) => 1 + growing.filter.parameters().table_size(),
            Self::Expiring(expiring) => 1 + wide(expiring.table().len()),
            Self::Imported(_) => 1,
            Self::Incoming(incoming) => {
                add(incoming.header());
                incoming.sum_up(add);
                return;
            }
        };
        add(&self.header(Secret::Kept, None));
        self.chunks_from(first).for_each(|chunk| add(chunk.bytes.get()));
    }

    fn chunks_from(&self, first: u64) -> impl Iterator<Item = Chunk<'_>> {
        let chunk = |position| self.chunk(position).ok().flatten();
        std::iter::successors(chunk(first), move |before| chunk(before.next))
    }

    /// The chunk at a position of at least 1; `None` behind the last. Those that are put together are small.
    ///
    /// # Errors
    ///
    /// If the position is out of range.
    pub(crate) fn chunk(&self, position: u64) -> Result<Option<Chunk<'_>>, CommandError> {
        let offset = position.checked_sub(1).ok_or(CommandError::InvalidPosition)?;
        match self {
            Self::Growing(growing) => {
                let (table_size, chunks) = (growing.filter.parameters().table_size(), growing.filter.chunks());
                let sizes = [in_memory(table_size), chunks.len()];
                let Some(Place { part, range, next }) = Place::among(sizes, offset)? else { return Ok(None) };
                if part > 0 {
                    return Ok(Some(Chunk { next, bytes: Bytes::Borrowed(chunks.get(range).unwrap_or_default()) }));
                }
                let piece = growing.filter.table_from(range.start);
                Ok(Some(match piece.in_memory() {
                    Some(bytes) => Chunk { next, bytes: Bytes::Borrowed(bytes.get(..range.len()).unwrap_or(bytes)) },
                    None => {
                        Chunk { next: position.saturating_add(wide(piece.len())), bytes: Bytes::PutTogether(piece) }
                    }
                }))
            }
            Self::Expiring(expiring) => {
                let (ends, table, chunks) = (expiring.filter.file_ends(), expiring.table(), expiring.filter.chunks());
                let sizes = [table.len(), ends.times().len(), chunks.len()];
                let Some(Place { part, range, next }) = Place::among(sizes, offset)? else { return Ok(None) };
                let bytes = match part {
                    0 => Bytes::Borrowed(table.get(range).unwrap_or_default()),
                    1 => Bytes::OfTimes(ends, range),
                    _ => Bytes::Borrowed(chunks.get(range).unwrap_or_default()),
                };
                Ok(Some(Chunk { next, bytes }))
            }
            Self::Imported(imported) => chunk_of(imported.layers().iter().map(Vec::as_slice), offset),
            Self::Incoming(incoming) => chunk_of(incoming.received(), offset),
        }
    }

    /// Returns `true` if only a part of the filter has been loaded.
    pub(crate) const fn is_incoming(&self) -> bool {
        matches!(self, Self::Incoming(Incoming { .. }))
    }
}

/// The chunk at an offset into consecutive parts; no chunk crosses the end of a part.
fn chunk_of<'filter>(
    parts: impl IntoIterator<Item = &'filter [u8], IntoIter: Clone>,
    offset: u64,
) -> Result<Option<Chunk<'filter>>, CommandError> {
    let mut parts = parts.into_iter();
    let Some(Place { part, range, next }) = Place::among(parts.clone().map(<[u8]>::len), offset)? else {
        return Ok(None);
    };
    let bytes = Bytes::Borrowed(parts.nth(part).and_then(|part| part.get(range)).unwrap_or_default());
    Ok(Some(Chunk { next, bytes }))
}

/// Where a chunk is.
struct Place {
    /// The number of its part.
    part: usize,
    range: Range<usize>,
    /// The position behind it.
    next: u64,
}

impl Place {
    /// The place at an offset into parts of these sizes; `None` at the end.
    fn among(sizes: impl IntoIterator<Item = usize>, offset: u64) -> Result<Option<Self>, CommandError> {
        let mut start = 0;
        for (part, size) in sizes.into_iter().enumerate() {
            let end = start + wide(size);
            if offset < end {
                let first = in_memory(offset - start);
                let range = first..size.min(first + LARGEST_CHUNK);
                let next = 1 + offset + wide(range.len());
                return Ok(Some(Self { part, range, next }));
            }
            start = end;
        }
        if offset == start { Ok(None) } else { Err(CommandError::InvalidPosition) }
    }
}

#[cfg(test)]
mod tests {
    use guira::ExpiringCuckooFilter;

    use super::*;
    use crate::settings::Limits;
    use crate::stored::Expiring;

    fn loaded(filter: &mut StoredFilter) -> Result<StoredFilter, CommandError> {
        let mut chunks = Vec::new();
        filter.save(|position, bytes| chunks.push((position, bytes.to_vec())));
        let (_, header) = chunks.first().expect("a header");
        let mut incoming = Incoming::new(header, None, Limits::Lifted)?;
        chunks.iter().skip(1).try_for_each(|(position, bytes)| incoming.take(*position, bytes))?;
        assert!(chunks.iter().all(|(_, bytes)| bytes.len() <= LARGEST_CHUNK));
        incoming.finish()
    }

    #[test]
    fn a_filter_whose_items_expire_is_loaded_as_it_was_saved_unless_it_grows() {
        let builder = ExpiringCuckooFilter::builder().capacity(1_000_000).false_positive_rate(0.001).lifetime(1000);
        let mut filter = builder.build().expect("it is made");
        for time in 0..3000 {
            filter.jump(time);
            filter.insert(&time).expect("there is room");
        }
        assert!(filter.size_in_bytes() > 2 * LARGEST_CHUNK);
        let mut stored = StoredFilter::of_expiring(Expiring { filter, removed: 7 }).expect("memory");
        assert_eq!(loaded(&mut stored).expect("sound"), stored);
        let growing = builder.capacity(100).max_capacity(100_000).build().expect("it is made");
        let mut stored = StoredFilter::of_expiring(Expiring { filter: growing, removed: 0 }).expect("memory");
        assert!(matches!(loaded(&mut stored), Err(CommandError::InvalidHeader)));
    }
}
