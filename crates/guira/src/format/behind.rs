//! What is behind the table of a file: chunks and a journal.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::FileHeader;
use super::chunks::{Normalization, read_chunks};
use super::journal::Journal;
use super::load::no_memory;
#[cfg(feature = "std")]
use super::load::{read_part, read_up_to};
use crate::error::LoadError;
use crate::expiring::Times;
use crate::filter::{Change, Kept};
use crate::table::try_arc;

/// What was read behind the table of a file.
pub(super) struct Behind {
    /// What a filter keeps of its file.
    pub(super) kept: Option<Arc<Kept>>,
    /// The times of a filter whose keys expire.
    pub(super) times: Option<Times>,
    /// What is to be done to the table; nothing where it is no filter's.
    pub(super) changes: Vec<Change>,
}

impl Behind {
    /// Checks the chunks, and the `rest` of the file, which is a journal or nothing.
    pub(super) fn of(
        header: &FileHeader,
        chunks: &[u8],
        rest: &[u8],
        normalization: Normalization,
    ) -> Result<Self, LoadError> {
        let changes = Journal::read(header, rest)?.into_changes();
        let (kept, times) = read_chunks(chunks, header.kind(), normalization)?;
        let kept = Kept { flags: header.flags, rate: header.rate, ..kept };
        let kept = if kept == Kept::default() { None } else { Some(try_arc(kept).map_err(no_memory)?) };
        Ok(Self { kept, times, changes })
    }

    /// Reads what is behind the table from a reader that has come to its end.
    #[cfg(feature = "std")]
    pub(super) fn read(
        header: &FileHeader,
        mut reader: impl std::io::Read,
        normalization: Normalization,
    ) -> Result<Self, LoadError> {
        let chunks = read_part(&mut reader, header, header.chunks_at(), header.chunks_size)?;
        // One byte more than may be there shows that there are too many.
        let rest = read_up_to(reader, Journal::max_size(header).saturating_add(1))?;
        Self::of(header, &chunks, &rest, normalization)
    }
}
