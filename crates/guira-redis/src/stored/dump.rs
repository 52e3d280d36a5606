//! Filters in chunks, as CF.SCANDUMP gives them: position 0 is the header, and position n > 0 is byte n - 1 behind it.

use std::borrow::Cow;

use guira::raw::{RawFilter as _, RawInsert as _};

use super::incoming::{expiring_header, growing_header};
use super::{Incoming, StoredFilter};
use crate::cast::{in_memory, wide};
use crate::command::Secret;
use crate::error::CommandError;

/// The largest chunk, which a server sends without delaying other clients or growing its buffers.
pub(crate) const LARGEST_CHUNK: usize = 1 << 20;

/// A piece of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk<'filter> {
    /// The position of the next chunk, by which CF.LOADCHUNK identifies this one.
    pub(crate) next: u64,
    pub(crate) bytes: Cow<'filter, [u8]>,
}

impl StoredFilter {
    /// The header, which is the first chunk.
    pub(crate) fn header(&mut self, secret: Secret) -> Vec<u8> {
        self.settle();
        match self {
            Self::Growing(growing) => growing_header(growing, secret),
            Self::Expiring(expiring) => expiring_header(expiring, secret),
            Self::Imported(imported) => imported.header(),
            Self::Incoming(incoming) => incoming.header().to_vec(),
        }
    }

    /// Gives the whole filter, with its secret key, in the chunks that load it: each with its position.
    pub(crate) fn save(&mut self, mut chunk: impl FnMut(u64, &[u8])) {
        chunk(1, &self.header(Secret::Kept));
        self.chunks_from(1).for_each(|Chunk { next, bytes }| chunk(next, &bytes));
    }

    /// Gives what tells the filter from others: its header, and what no checksum in that covers.
    pub(crate) fn sum_up(&mut self, mut add: impl FnMut(&[u8])) {
        let first = match self {
            Self::Growing(growing) => {
                growing.filter.settle();
                1 + wide(growing.filter.size_in_bytes())
            }
            Self::Expiring(expiring) => 1 + wide(expiring.table().len()),
            Self::Imported(_) | Self::Incoming(_) => 1,
        };
        add(&self.header(Secret::Kept));
        self.chunks_from(first).for_each(|chunk| add(&chunk.bytes));
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
                let parts = growing.filter.memory().into_iter().chain([growing.filter.chunks()]);
                chunk_of(parts.map(Cow::from), offset)
            }
            Self::Expiring(expiring) => chunk_of(expiring.pieces_of_file(), offset),
            Self::Imported(imported) => chunk_of(imported.layers().iter().map(Cow::from), offset),
            Self::Incoming(incoming) => chunk_of([incoming.received().into()], offset),
        }
    }

    /// Returns `true` if only a part of the filter has been loaded.
    pub(crate) const fn is_incoming(&self) -> bool {
        matches!(self, Self::Incoming(Incoming { .. }))
    }
}

/// The chunk at an offset into consecutive parts; no chunk crosses the end of a part.
fn chunk_of<'filter>(
    parts: impl IntoIterator<Item = Cow<'filter, [u8]>>,
    offset: u64,
) -> Result<Option<Chunk<'filter>>, CommandError> {
    let mut start = 0;
    for part in parts {
        let end = start + wide(part.len());
        if offset < end {
            let (first, last) = (in_memory(offset - start), part.len());
            let range = first..last.min(first + LARGEST_CHUNK);
            let next = 1 + offset + wide(range.len());
            let bytes = match part {
                Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(range).unwrap_or_default()),
                Cow::Owned(bytes) => Cow::Owned(bytes.get(range).unwrap_or_default().to_vec()),
            };
            return Ok(Some(Chunk { next, bytes }));
        }
        start = end;
    }
    if offset == start { Ok(None) } else { Err(CommandError::InvalidPosition) }
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
        incoming.to_filter()
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
        let mut stored = StoredFilter::from(Expiring { filter, removed: 7 });
        assert_eq!(loaded(&mut stored).expect("sound"), stored);
        let growing = builder.capacity(100).max_capacity(100_000).build().expect("it is made");
        let mut stored = StoredFilter::from(Expiring { filter: growing, removed: 0 });
        assert!(matches!(loaded(&mut stored), Err(CommandError::InvalidHeader)));
    }
}
