//! What is behind the table: a chain of chunks, each with a checksum.

use alloc::vec::Vec;

use arrayvec::ArrayVec;

use super::fields::Fields;
use super::load::no_memory;
use crate::cast::wide;
use crate::digest::checksum_of_two;
use crate::error::{FileKind, LoadError};
use crate::expiring::{MOST_NUMBERS, Pass, Times};
use crate::filter::Kept;

/// The bytes before the data of a chunk: tag, flags, length and checksum.
pub(super) const START_SIZE: usize = 24;

/// A part of a file behind the table, with a name that says what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk<'bytes> {
    /// The name.
    pub tag: [u8; 4],
    /// Of these, [`MUST_KNOW`](Self::MUST_KNOW) and [`OF_TABLE`](Self::OF_TABLE) have a meaning so far.
    pub flags: u32,
    /// What the chunk holds.
    pub data: &'bytes [u8],
}

impl<'bytes> Chunk<'bytes> {
    /// The flag of a chunk without which the filter is misread: a reader that doesn't know it refuses the file.
    pub const MUST_KNOW: u32 = 1;

    /// The flag of a chunk that holds only for this table: a program that doesn't know it leaves it out when it saves the
    /// filter.
    pub const OF_TABLE: u32 = 2;

    /// The chunk that says what was done to keys before they were hashed. It has one byte: 1 if the letters A to Z were made
    /// lower case, 2 if blanks at both ends were left out, 3 if both.
    pub const NORMALIZED: [u8; 4] = *b"NORM";

    /// The chunk of a filter whose keys expire: its times, laid out as docs/format.md says.
    pub(super) const EXPIRING: [u8; 4] = *b"EXPR";

    /// Makes a chunk.
    #[must_use]
    pub const fn new(tag: [u8; 4], flags: u32, data: &'bytes [u8]) -> Self {
        Self { tag, flags, data }
    }

    /// Appends the chunk to the chunks of a file.
    pub fn append_to(&self, chunks: &mut impl Extend<u8>) {
        chunks.extend(self.start(wide(self.data.len())));
        chunks.extend(self.data.iter().copied());
    }

    /// What stands before the data, with this length of them.
    pub(super) fn start(&self, length: u64) -> ArrayVec<u8, START_SIZE> {
        let mut start = ArrayVec::new();
        start.extend(self.tag);
        start.extend(self.flags.to_le_bytes());
        start.extend(length.to_le_bytes());
        let sum = checksum_of_two(&start, self.data);
        start.extend(sum.to_le_bytes());
        start
    }

    const fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// Reads the chunks behind a table, and checks their checksums.
///
/// # Errors
///
/// [`LoadError::ChunkChecksum`] for a damaged chunk, [`LoadError::Inconsistent`] where the bytes end within one.
pub fn chunks_of(bytes: &[u8]) -> Result<Vec<Chunk<'_>>, LoadError> {
    const CUT_OFF: LoadError = LoadError::Inconsistent { what: "a chunk behind the table is longer than the file" };
    let mut chunks = Vec::new();
    let mut rest = Fields(bytes);
    while !rest.0.is_empty() {
        let start: [u8; START_SIZE] = rest.take().ok_or(CUT_OFF)?;
        let mut fields = Fields(&start);
        let tag = fields.take().ok_or(CUT_OFF)?;
        let flags = u32::from_le_bytes(fields.take().ok_or(CUT_OFF)?);
        let length = fields.number().ok_or(CUT_OFF)?;
        let (data, behind) =
            usize::try_from(length).ok().and_then(|length| rest.0.split_at_checked(length)).ok_or(CUT_OFF)?;
        let chunk = Chunk { tag, flags, data };
        if chunk.start(length)[..] != start {
            return Err(LoadError::ChunkChecksum { tag });
        }
        chunks.try_reserve(1).map_err(no_memory)?;
        chunks.push(chunk);
        rest = Fields(behind);
    }
    Ok(chunks)
}

/// Whether the caller does to keys what was done to those of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Normalization {
    /// Not that one knows: then the file must not ask for it.
    #[default]
    Unknown,
    ByCaller,
}

/// Checks the chunks of a file, and returns what is kept of them until it is saved, and the times where keys expire.
pub(super) fn read_chunks(
    bytes: &[u8],
    kind: FileKind,
    normalization: Normalization,
) -> Result<(Kept, Option<Times>), LoadError> {
    let (mut kept, mut times) = (Kept::default(), None);
    for chunk in chunks_of(bytes)? {
        match chunk.tag {
            Chunk::NORMALIZED => {
                if kept.treatment != 0 {
                    return Err(LoadError::Inconsistent { what: "what was done to keys is told twice" });
                }
                let &[treatment @ 1..=3] = chunk.data else {
                    let found = chunk.data.first().map_or(0, |&found| u64::from(found));
                    return Err(LoadError::Unknown { what: "treatment of keys", found });
                };
                kept.treatment = treatment;
                if normalization == Normalization::Unknown {
                    return Err(LoadError::KeysNormalized { lowercase: treatment & 1 != 0, trim: treatment & 2 != 0 });
                }
            }
            Chunk::EXPIRING if kind == FileKind::Expiring => {
                let decoded = Times::decode(chunk.data);
                if times.is_some() || decoded.is_none() || !chunk.has(Chunk::OF_TABLE) {
                    return Err(LoadError::Inconsistent { what: "the times are none that a filter can have" });
                }
                times = decoded;
            }
            tag if chunk.has(Chunk::MUST_KNOW) => return Err(LoadError::UnknownChunk { tag }),
            _ => {}
        }
        if !chunk.has(Chunk::OF_TABLE) {
            kept.chunks.try_reserve(START_SIZE + chunk.data.len()).map_err(no_memory)?;
            chunk.append_to(&mut kept.chunks);
        }
    }
    if kind == FileKind::Expiring && times.is_none() {
        return Err(LoadError::Inconsistent { what: "keys expire, and the times are missing" });
    }
    Ok((kept, times))
}

/// What the chunk of the times has at most: five numbers, the current one and the spared ones, and when each generation ended.
const TIMES_SIZE: usize = 5 * 8 + 2 * 4 + MOST_NUMBERS * 8;

/// The chunk of the times, without an allocation: a server that saves a filter can't report that there is no memory.
pub(super) type TimesChunk = ArrayVec<u8, { START_SIZE + TIMES_SIZE }>;

/// Where there is no pass over the table, the file says so in place of the generations that it spares.
const NO_PASS: u32 = u32::MAX;

impl Times {
    /// The chunk of the times.
    pub(super) fn chunk(&self) -> TimesChunk {
        let (next, spared) = self.pass.map_or((0, NO_PASS), |pass| (pass.next, pass.spared));
        let numbers = [self.lifetime, self.resolution, self.time, self.began, next];
        let mut data = ArrayVec::<u8, TIMES_SIZE>::new();
        data.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        data.extend([self.current, spared].into_iter().flat_map(u32::to_le_bytes));
        data.extend(self.ended.iter().flat_map(|ended| ended.to_le_bytes()));
        let mut chunk = TimesChunk::new();
        Chunk::new(Chunk::EXPIRING, Chunk::MUST_KNOW | Chunk::OF_TABLE, &data).append_to(&mut chunk);
        chunk
    }

    fn decode(data: &[u8]) -> Option<Self> {
        let mut fields = Fields(data);
        let mut number = || fields.take().map(u64::from_le_bytes);
        let (lifetime, resolution, time, began, next) = (number()?, number()?, number()?, number()?, number()?);
        let (current, spared) = (u32::from_le_bytes(fields.take()?), u32::from_le_bytes(fields.take()?));
        let pass = (spared != NO_PASS).then_some(Pass { next, spared });
        if pass.is_none() && next != 0 {
            return None;
        }
        let mut ended = ArrayVec::new();
        while !fields.0.is_empty() {
            ended.try_push(fields.number()?).ok()?;
        }
        Some(Self { lifetime, resolution, time, current, began, pass, ended })
    }
}
