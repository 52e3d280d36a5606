//! The journal: changes of the keys that are appended to a file, whose other bytes stay as they are.

use alloc::vec::Vec;

use arrayvec::ArrayVec;

use super::FileHeader;
use super::chunks::{Chunk, START_SIZE};
use super::fields::Fields;
use super::load::no_memory;
use crate::cast::wide;
use crate::digest::{Digest, seeded_checksum};
use crate::error::{FileKind, LoadError};
use crate::filter::Change;

const TAG: [u8; 4] = *b"JRNL";

/// The bytes of a record: digest, change, the size of the batch that it ends, checksum.
const RECORD_SIZE: usize = 24;
/// The bytes of a record before its checksum.
const CHECKED_SIZE: usize = 16;
const INSERT: u32 = 1;
const REMOVE: u32 = 2;

/// A journal has at most one record for so many slots, but any may have this many. So it takes no more memory than its table.
const SLOTS_PER_RECORD: u64 = 16;
const MIN_MOST_RECORDS: u64 = 1 << 12;

/// The journal of a file: changes that were appended behind everything that the header counts.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    changes: Vec<Change>,
    end: End,
}

/// How a journal ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// It has not begun.
    #[default]
    Missing,
    /// With a batch, or with nothing behind its start.
    Whole,
    /// With the beginning of something that was not written to its end.
    CutOff,
}

impl Journal {
    /// Reads the journal of a file from all bytes that follow those that its header counts.
    ///
    /// # Errors
    ///
    /// [`LoadError::TrailingBytes`] where they are none, [`LoadError::ChunkChecksum`] where one of its records was damaged, and
    /// [`LoadError::Unknown`] for a change that this release doesn't know.
    pub fn read(header: &FileHeader, bytes: &[u8]) -> Result<Self, LoadError> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let trailing = || LoadError::TrailingBytes { expected: header.file_size() };
        let has_journal = matches!(header.kind(), FileKind::Filter | FileKind::Growing);
        let size = wide(bytes.len());
        if !has_journal || size > Self::max_size(header) {
            return Err(trailing());
        }
        let cut_off = Self { changes: Vec::new(), end: End::CutOff };
        let expected = start();
        let Some((found, records)) = bytes.split_first_chunk::<START_SIZE>() else {
            return if expected.starts_with(bytes) { Ok(cut_off) } else { Err(trailing()) };
        };
        if found[..] != expected[..] {
            // A disk may have been told its length before its bytes.
            let is_missing = |(found, expected): (&u8, &u8)| found == expected || *found == 0;
            let is_cut_off = records.is_empty() && found.iter().zip(&expected).all(is_missing);
            return if is_cut_off { Ok(cut_off) } else { Err(trailing()) };
        }
        Self::of_records(records)
    }

    /// Reads records. Behind the last whole batch may be anything: it was not written to its end. Before it, nothing may be amiss.
    fn of_records(bytes: &[u8]) -> Result<Self, LoadError> {
        let (records, partial) = bytes.as_chunks::<RECORD_SIZE>();
        let mut changes = Vec::new();
        let (mut whole, mut since_damage, mut is_damaged) = (0, 0_usize, false);
        for (number, bytes) in records.iter().enumerate() {
            let Some((digest, change, batch_size)) = decode(number, bytes) else {
                (is_damaged, since_damage) = (true, 0);
                continue;
            };
            since_damage += 1;
            changes.try_reserve(1).map_err(no_memory)?;
            changes.push(match change {
                INSERT => Change::Insert(digest),
                REMOVE => Change::Remove(digest),
                found => return Err(LoadError::Unknown { what: "change in the journal", found: found.into() }),
            });
            let batch_size = usize::try_from(batch_size).unwrap_or(usize::MAX);
            if batch_size == 0 || batch_size > since_damage {
                continue;
            }
            if is_damaged {
                return Err(LoadError::ChunkChecksum { tag: TAG });
            }
            if whole + batch_size != changes.len() {
                return Err(LoadError::Inconsistent { what: "the journal has records of no batch" });
            }
            whole = changes.len();
        }
        changes.truncate(whole);
        let is_whole = whole == records.len() && partial.is_empty();
        Ok(Self { changes, end: if is_whole { End::Whole } else { End::CutOff } })
    }

    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes
    }

    /// Returns the changes, in the order in which they are made.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns `true` if it ends with something that was not written to its end. Nothing may be appended to such a file.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.end == End::CutOff
    }

    /// Returns what is to be appended to a file without a journal before its first batch, and to be on disk before that is
    /// appended; nothing for a file that has one.
    #[must_use]
    pub fn start(&self) -> Vec<u8> {
        if self.end == End::Missing { start().to_vec() } else { Vec::new() }
    }

    /// Returns what is to be appended for changes that are made all or none. They count once all of it is in the file.
    #[must_use]
    pub fn batch(&self, changes: &[Change]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(changes.len() * RECORD_SIZE);
        for (index, &change) in changes.iter().enumerate() {
            let is_last = index + 1 == changes.len();
            let batch_size = if is_last { u32::try_from(changes.len()).unwrap_or(u32::MAX) } else { 0 };
            encode(self.changes.len() + index, change, batch_size, &mut bytes);
        }
        bytes
    }

    /// Returns the most bytes that a file may have behind those that its header counts.
    #[must_use]
    pub fn max_size(header: &FileHeader) -> u64 {
        let records = (header.parameters.slot_count() / SLOTS_PER_RECORD).max(MIN_MOST_RECORDS);
        // Of at most 2^36 slots.
        wide(START_SIZE) + wide(RECORD_SIZE) * records
    }
}

/// The bytes before the first record: those before the data of a chunk that must be known and goes to the end of the file. Their
/// checksum covers no data.
fn start() -> ArrayVec<u8, START_SIZE> {
    Chunk::new(TAG, Chunk::MUST_KNOW | Chunk::OF_TABLE, &[]).start(u64::MAX)
}

/// Appends the record of a change. The batch size is that of the batch that it ends, or 0.
fn encode(number: usize, change: Change, batch_size: u32, bytes: &mut Vec<u8>) {
    let (digest, change) = match change {
        Change::Insert(digest) => (digest, INSERT),
        Change::Remove(digest) => (digest, REMOVE),
    };
    let start = bytes.len();
    bytes.extend(digest.get().to_le_bytes());
    bytes.extend(change.to_le_bytes());
    bytes.extend(batch_size.to_le_bytes());
    let sum = bytes.get(start..).map_or(0, |checked| checksum_of_record(number, checked));
    bytes.extend(sum.to_le_bytes());
}

/// Reads a record: digest, change and batch size; `None` if it is not what was written.
fn decode(number: usize, bytes: &[u8; RECORD_SIZE]) -> Option<(Digest, u32, u32)> {
    let (checked, sum) = bytes.split_first_chunk::<CHECKED_SIZE>()?;
    if checksum_of_record(number, checked).to_le_bytes() != *sum {
        return None;
    }
    let mut fields = Fields(checked);
    let digest = Digest::new(fields.number()?);
    Some((digest, u32::from_le_bytes(fields.take()?), u32::from_le_bytes(fields.take()?)))
}

/// A record at another place has another checksum.
fn checksum_of_record(number: usize, checked: &[u8]) -> u64 {
    seeded_checksum(checked, wide(number))
}
