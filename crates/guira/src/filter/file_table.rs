//! The table of a filter as its file has it.

use core::convert::Infallible;
use core::fmt;
use core::ops::{Deref, Range};

use super::CuckooFilter;
use crate::cast::to_usize;
use crate::cuckoo::Splitting;
use crate::table::BytesFrom;

/// The bytes of a table as a file has them: those in memory, or, of a table that is being doubled, those that it has when that is over.
#[derive(Clone, Copy)]
pub(crate) struct FileTable<'filter> {
    /// The table, or the doubled one, in which only zeros are where the buckets that wait come.
    bytes: &'filter [u8],
    waiting: Option<Waiting<'filter>>,
}

/// The buckets that wait, and where they come.
#[derive(Clone, Copy)]
struct Waiting<'filter> {
    splitting: &'filter Splitting,
    old: &'filter [u8],
    /// The bits of a bucket of the doubled table.
    bucket_bits: u64,
    /// How many of them are put together at a time: a multiple of 8, so that they begin with a byte of the doubled table.
    at_a_time: u64,
}

/// Bytes of the table of a file: a part of the table in memory, or, of one that is being doubled, some that were put together of buckets
/// that wait.
pub struct TablePiece<'filter>(Bytes<'filter>);

#[expect(clippy::large_enum_variant, reason = "it takes no memory but the stack's")]
enum Bytes<'filter> {
    InMemory(&'filter [u8]),
    PutTogether([u8; PUT_TOGETHER], Range<usize>),
}

/// The bytes for what is put together at a time.
const PUT_TOGETHER: usize = 8 << 10;

/// What is read behind a slot, at most.
const PADDING: usize = 16;

impl<'filter> TablePiece<'filter> {
    /// Returns the bytes if they are a part of the table in memory.
    #[must_use]
    pub const fn in_memory(&self) -> Option<&'filter [u8]> {
        match self.0 {
            Bytes::InMemory(bytes) => Some(bytes),
            Bytes::PutTogether(..) => None,
        }
    }
}

impl Deref for TablePiece<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::InMemory(bytes) => bytes,
            Bytes::PutTogether(bytes, range) => bytes.get(range.clone()).unwrap_or_default(),
        }
    }
}

impl fmt::Debug for TablePiece<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TablePiece").field(&self.len()).finish()
    }
}

impl CuckooFilter {
    pub(crate) fn file_table(&self) -> FileTable<'_> {
        let bucket_bits = u64::from(self.parameters().bucket_bits());
        // Each becomes two at most.
        let fitting = ((PUT_TOGETHER - PADDING) * 8) as u64 / (2 * bucket_bits);
        let waiting = self.splitting().map(|(splitting, old, _)| Waiting {
            splitting,
            old,
            bucket_bits,
            at_a_time: fitting / 8 * 8,
        });
        FileTable { bytes: &self.storage, waiting }
    }
}

impl<'filter> FileTable<'filter> {
    /// The bytes of the whole table.
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The table, if all of it is in memory.
    pub(crate) const fn in_memory(&self) -> Option<&'filter [u8]> {
        if self.waiting.is_none() { Some(self.bytes) } else { None }
    }

    /// Bytes of the table from an offset on, as many as are in one piece; none behind its end.
    pub(crate) fn piece(&self, offset: usize) -> TablePiece<'filter> {
        TablePiece(match &self.waiting {
            Some(waiting) if offset < waiting.size() => {
                let mut bytes = [0; PUT_TOGETHER];
                let range = waiting.put_together(offset, self.bytes, &mut bytes);
                Bytes::PutTogether(bytes, range)
            }
            _ => Bytes::InMemory(self.bytes.get(offset..).unwrap_or_default()),
        })
    }

    /// Goes through the bytes of the table, piece by piece.
    pub(crate) fn each_piece(&self, mut visit: impl FnMut(&[u8])) {
        let Ok(()) = self.try_each_piece(|piece| -> Result<(), Infallible> {
            visit(piece);
            Ok(())
        });
    }

    /// Goes through the bytes of the table, piece by piece, up to an error.
    pub(crate) fn try_each_piece<E>(&self, mut visit: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut offset = 0;
        while offset < self.len() {
            let piece = self.piece(offset);
            offset += piece.len();
            visit(&piece)?;
        }
        Ok(())
    }
}

impl PartialEq for FileTable<'_> {
    fn eq(&self, other: &Self) -> bool {
        let mut offset = 0;
        while offset < self.len().max(other.len()) {
            let (ours, theirs) = (self.piece(offset), other.piece(offset));
            let common = ours.len().min(theirs.len());
            if common == 0 || ours.get(..common) != theirs.get(..common) {
                return false;
            }
            offset += common;
        }
        true
    }
}

impl Waiting<'_> {
    /// The first bit behind what becomes of the buckets below a number.
    fn end_of(&self, number: u64) -> u64 {
        let [_, end] = self.splitting.places_of(number);
        end * self.bucket_bits
    }

    /// The bytes of the doubled table that hold what becomes of those that wait. A part of the last one may be that of others.
    fn size(&self) -> usize {
        to_usize(self.end_of(self.splitting.waiting()).div_ceil(8))
    }

    /// Puts together what becomes of the buckets of which one comes at a byte. Returns where among these bytes, which were 0, that one and
    /// those behind it are.
    fn put_together(&self, offset: usize, doubled: &[u8], bytes: &mut [u8]) -> Range<usize> {
        let (all, size) = (self.splitting.waiting(), self.size());
        let first_byte = |group: u64| to_usize(self.end_of(group * self.at_a_time) / 8);
        let (mut group, mut behind) = (0, all.div_ceil(self.at_a_time));
        while behind - group > 1 {
            let middle = group.midpoint(behind);
            if first_byte(middle) <= offset { group = middle } else { behind = middle }
        }
        let numbers = group * self.at_a_time..all.min((group + 1) * self.at_a_time);
        let start = first_byte(group);
        let end = if numbers.end == all { size } else { to_usize(self.end_of(numbers.end) / 8) };
        let length = end - start;
        self.splitting.split_buckets(numbers.clone(), self.old, BytesFrom { start, bytes: &mut *bytes });
        if numbers.end == all
            && let (Some(last), Some(others)) = (bytes.get_mut(length - 1), doubled.get(end - 1))
        {
            *last |= others;
        }
        offset - start..length
    }
}
