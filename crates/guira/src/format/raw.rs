//! For programs that manage memory, or the pieces of a file, themselves. Nobody else needs any of this, and it may change in any
//! release: it is not part of what versions promise.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use arrayvec::ArrayVec;

pub use super::arriving::{Arriving, Mark};
pub use super::chunks::{Chunk, chunks_of};
use super::chunks::{Normalization, TimesChunk, read_chunks};
use super::contents::{Contents, Parts, Written};
use super::header::{FileHeader, HEADER_SIZE};
pub use super::journal::Journal;
use super::load::load_from_parts;
use crate::digest::{Checksum, Key};
use crate::error::{FileKind, InsertError, LoadError, OutOfMemory, TryExtendError};
use crate::expiring::ExpiringCuckooFilter;
use crate::filter::{CuckooFilter, CuckooFilterView};

pub use crate::filter::{Change, FilterPlan, Merging, PlannedFilter, Shrinking, Step, TablePiece};

/// From now on, the memory of all tables comes from the global allocator. Without this call, and with the feature `std`,
/// that of large tables is mapped, in large pages, where an allocator that counts what a program takes does not see it.
///
/// Call it before any filter is made: what has been mapped stays where it is. It can't be undone.
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
/// use guira::raw::{self, RawFilter};
///
/// raw::use_global_allocator_only();
/// let mut filter = CuckooFilter::with_capacity(10_000_000, 0.001)?;
/// let mut moved = 0;
/// filter.move_table(|table| {
///     moved = table.len();
///     table
/// });
/// assert_eq!(moved, filter.size_in_bytes());
/// # Ok::<(), guira::BuildError>(())
/// ```
pub fn use_global_allocator_only() {
    crate::table::use_global_allocator_only();
}

/// The file of a filter that is about to be written, for programs that need to know its size first.
///
/// # Examples
///
/// ```
/// use guira::raw::FileToWrite;
///
/// let filter = guira::CuckooFilter::with_capacity(100, 0.01)?;
/// let file = FileToWrite::of(&filter);
/// let mut bytes = vec![0; usize::try_from(file.size())?];
/// file.write_to(&mut bytes[..])?;
/// assert_eq!(bytes, filter.to_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "std")]
pub struct FileToWrite<'filter> {
    header: ArrayVec<u8, HEADER_SIZE>,
    size: u64,
    parts: Parts<'filter>,
}

#[cfg(feature = "std")]
#[expect(private_bounds, reason = "what can be written is a matter of the library")]
impl<'filter> FileToWrite<'filter> {
    /// Makes the header of the file.
    pub fn of(filter: &'filter impl Written) -> Self {
        let parts = filter.parts();
        let header = FileHeader::of(&parts);
        let size = header.file_size();
        Self { header: header.encode(), size, parts }
    }

    /// Returns the size of the file in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Writes the file, as [`CuckooFilter::write_to`] does.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_to(&self, mut writer: impl std::io::Write) -> std::io::Result<()> {
        writer.write_all(&self.header)?;
        self.parts.table.try_each_piece(|piece| writer.write_all(piece))?;
        self.parts.chunks().try_for_each(|chunks| writer.write_all(chunks))
    }
}

#[cfg(feature = "std")]
impl core::fmt::Debug for FileToWrite<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("FileToWrite").field("size", &self.size).finish_non_exhaustive()
    }
}

/// What a filter's file has before and behind the table, apart from chunks that came with a file: the header, and where keys expire
/// the chunk of their times. See [`RawFilter::file_ends`].
#[derive(Clone, Debug)]
pub struct FileEnds {
    header: ArrayVec<u8, HEADER_SIZE>,
    times: TimesChunk,
}

impl FileEnds {
    fn of(parts: Parts<'_>) -> Self {
        Self { header: FileHeader::of(&parts).encode(), times: parts.times }
    }

    /// Returns the header, of 128 bytes.
    #[must_use]
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Returns the chunk of the times where keys expire, otherwise nothing.
    #[must_use]
    pub fn times(&self) -> &[u8] {
        &self.times
    }
}

/// [`RawFilter::file_ends`], in steps: most of it is the checksum of the table.
///
/// # Examples
///
/// ```
/// use guira::raw::{RawFilter, Step, Summing};
///
/// let filter = guira::CuckooFilter::with_capacity(100, 0.01)?;
/// let mut summing = Summing::default();
/// let ends = loop {
///     if let Step::Done(ends) = summing.step(&filter) {
///         break ends;
///     }
/// };
/// assert_eq!(ends.header(), filter.file_ends().header());
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Default)]
pub struct Summing {
    checksum: Checksum,
    /// The bytes that it is of.
    summed: usize,
}

/// How many bytes are summed up in a step.
const SUMMED_AT_A_TIME: usize = 1 << 20;

impl Summing {
    /// Does a part of the work. The filter is to be the same at each step.
    pub fn step(&mut self, filter: &CuckooFilter) -> Step<FileEnds> {
        let parts = filter.parts();
        let end = self.summed.saturating_add(SUMMED_AT_A_TIME);
        while self.summed < parts.table.len() {
            if self.summed >= end {
                return Step::More;
            }
            let piece = parts.table.piece(self.summed);
            let part = piece.get(..end - self.summed).unwrap_or(&piece);
            self.checksum.update(part);
            self.summed += part.len();
        }
        let header = FileHeader::summed(&parts, self.checksum.digest()).encode();
        Step::Done(FileEnds { header, times: parts.times })
    }
}

impl core::fmt::Debug for Summing {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Summing").field("summed", &self.summed).finish_non_exhaustive()
    }
}

/// The parts of a filter's file, and the memory of its table, where keys stay or expire.
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
/// use guira::raw::{Chunk, RawFilter};
///
/// let mut filter = CuckooFilter::with_capacity(100, 0.01)?;
/// filter.insert("ani")?;
/// let mut chunks = Vec::new();
/// Chunk::new(*b"NOTE", 0, b"{}").append_to(&mut chunks);
/// filter.set_chunks(chunks);
///
/// let (header, table, times) = filter.file_parts();
/// assert_eq!([&header, &*table, &times, filter.chunks()].concat(), filter.to_bytes());
/// let copy = CuckooFilter::from_file_parts(&header, table.to_vec(), filter.chunks())?;
/// assert_eq!(copy, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(private_bounds, reason = "so that nobody else implements it, and it can have more methods")]
pub trait RawFilter: Sized + Contents + Written {
    /// Returns what [`CuckooFilter::to_bytes`] consists of, but for the [`chunks`](Self::chunks) behind it: the header, of 128
    /// bytes, which counts those; the table, borrowed, or if it is being doubled a copy of the doubled one; and the chunk of the
    /// times where keys expire, otherwise nothing.
    fn file_parts(&self) -> (Vec<u8>, Cow<'_, [u8]>, Vec<u8>) {
        let parts = self.parts();
        let header = FileHeader::of(&parts).encode().to_vec();
        let table = match parts.table.in_memory() {
            Some(table) => Cow::Borrowed(table),
            None => {
                let mut table = Vec::with_capacity(parts.table.len());
                parts.table.each_piece(|piece| table.extend_from_slice(piece));
                Cow::Owned(table)
            }
        };
        (header, table, parts.times.to_vec())
    }

    /// Returns bytes of the table of the [`file_parts`](Self::file_parts) from an offset on, as many as are in one piece, and without an
    /// allocation; none behind its end.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::raw::RawFilter;
    ///
    /// let filter = guira::CuckooFilter::with_capacity(100, 0.01)?;
    /// let mut table = Vec::new();
    /// while !filter.table_from(table.len()).is_empty() {
    ///     table.extend_from_slice(&filter.table_from(table.len()));
    /// }
    /// assert_eq!(table, *filter.file_parts().1);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    fn table_from(&self, offset: usize) -> TablePiece<'_> {
        self.parts().table.piece(offset)
    }

    /// Returns the first and the last of the [`file_parts`](Self::file_parts), without an allocation.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::raw::RawFilter;
    ///
    /// let filter = guira::ExpiringCuckooFilter::with_capacity(100, 0.01, 60)?;
    /// let (header, table, times) = filter.file_parts();
    /// let ends = filter.file_ends();
    /// assert_eq!((ends.header(), ends.times()), (&header[..], &times[..]));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    fn file_ends(&self) -> FileEnds {
        FileEnds::of(self.parts())
    }

    /// Returns the chunks of the file that the filter was loaded from, often none, without its times and without reading the table.
    fn chunks(&self) -> &[u8];

    /// Sets the [`chunks`](Self::chunks), which are written when the filter is saved. One that readers must know is to be one of
    /// docs/format.md.
    fn set_chunks(&mut self, chunks: Vec<u8>);

    /// Loads a filter from the header, the table and all chunks behind it. The table stays where it is; it is not copied.
    ///
    /// # Errors
    ///
    /// Those of [`CuckooFilter::from_bytes`].
    fn from_file_parts(header: &[u8], table: Vec<u8>, chunks: &[u8]) -> Result<Self, LoadError> {
        load_from_parts(header, table, chunks)
    }

    /// Returns the memory of the filter: its table, and what is left of the old table during a doubling, otherwise nothing.
    /// Each begins where an allocation of the global allocator begins, if [`use_global_allocator_only`] was called.
    fn memory(&self) -> [&[u8]; 2];

    /// Returns where the allocation of the times begins, and its bytes, if keys expire; otherwise nothing.
    fn memory_of_times(&self) -> Option<(*const u8, usize)> {
        None
    }

    /// Lets the caller move the bytes of the table elsewhere in memory, as servers do to defragment it. The same bytes
    /// must come back; others would make it another filter. Tables in large pages stay where they are, unless
    /// [`use_global_allocator_only`] was called, and `elsewhere` is not called; nor is it for a table that is being doubled.
    ///
    /// # Panics
    ///
    /// If more bytes come back, or fewer.
    fn move_table(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>);
}

impl RawFilter for CuckooFilter {
    fn chunks(&self) -> &[u8] {
        self.kept().map_or(&[], |kept| &kept.chunks)
    }

    fn set_chunks(&mut self, chunks: Vec<u8>) {
        // Chunks that can't be read tell nothing: a file with them is refused.
        let read = read_chunks(&chunks, FileKind::Filter, Normalization::ByCaller);
        self.set_chunks(chunks, read.map_or(0, |(kept, _)| kept.treatment));
    }

    fn memory(&self) -> [&[u8]; 2] {
        match self.splitting() {
            None => [self.bytes(), &[]],
            Some((_, old, new)) => [new, old],
        }
    }

    fn move_table(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        if !self.is_doubling() {
            self.storage_mut().move_bytes(elsewhere);
        }
    }
}

impl RawFilter for ExpiringCuckooFilter {
    fn chunks(&self) -> &[u8] {
        self.as_filter().chunks()
    }

    fn set_chunks(&mut self, chunks: Vec<u8>) {
        RawFilter::set_chunks(self.as_filter_mut(), chunks);
    }

    fn memory(&self) -> [&[u8]; 2] {
        self.as_filter().memory()
    }

    fn memory_of_times(&self) -> Option<(*const u8, usize)> {
        Some(self.generations().memory())
    }

    fn move_table(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        self.as_filter_mut().move_table(elsewhere);
    }
}

/// Insertions that take no more memory, and merging with a file that is never in memory as a whole.
pub trait RawInsert: RawFilter {
    /// Finishes the doubling of the table, if it is being doubled. Then the first part of [`memory`](RawFilter::memory) is the
    /// table of the file.
    fn settle(&mut self);

    /// Shrinks the table as [`CuckooFilter::shrink_to_fit`] does, which leaves it as it is where there is no memory for a smaller one.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`]. The filter is as it was.
    fn try_shrink_to_fit(&mut self) -> Result<(), OutOfMemory>;

    /// Stores a copy of a key if the table takes it as it is; never doubles it. So a server can look at its memory before
    /// it lets the table grow.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`] where the table would have to be doubled, and [`InsertError::TooManyCopies`]. In both cases
    /// the filter is as it was.
    fn insert_without_growing<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError>;

    /// Stores a copy of each of many keys, in order, as long as the table takes them as it is; never doubles it.
    ///
    /// # Errors
    ///
    /// [`TryExtendError`] for the first key that can't be stored: why, and how many were stored before it and are kept.
    fn insert_each_without_growing<K: Key>(&mut self, keys: &[K]) -> Result<(), TryExtendError>;

    /// Stores each of many keys unless it is found, in order, as [`CuckooFilter::insert_if_absent`] does for one, and writes to
    /// `stored`, for each, whether it was stored. In a table larger than the processor's cache this is several times as fast as
    /// calling that for each key.
    ///
    /// # Errors
    ///
    /// [`TryExtendError`] for the first key that can't be stored: why, and its number, which here counts keys that were found as
    /// well. What `stored` says of those before it holds.
    ///
    /// # Panics
    ///
    /// If `keys` and `stored` differ in length.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::CuckooFilter;
    /// use guira::raw::RawInsert;
    ///
    /// let mut filter = CuckooFilter::with_capacity(100, 0.01)?;
    /// let mut stored = [false; 3];
    /// filter.insert_each_if_absent(&["ani", "koel", "ani"], &mut stored)?;
    /// assert_eq!(stored, [true, true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn insert_each_if_absent<K: Key>(&mut self, keys: &[K], stored: &mut [bool]) -> Result<(), TryExtendError>;

    /// Returns the filter merged with that in a file, as [`CuckooFilter::merge`] makes it, of which about 1 MiB is in memory at a
    /// time; `None` where their tables have other parameters, or not all keys fit: then `merge` may do more, and says why not.
    ///
    /// # Errors
    ///
    /// Those of [`LoadOptions::read_from`](crate::LoadOptions::read_from). Keys must be treated as the file says.
    #[cfg(feature = "std")]
    fn merged_with_file(self, file: impl std::io::Read) -> Result<Option<Self>, LoadError>;
}

impl RawInsert for CuckooFilter {
    fn settle(&mut self) {
        self.settle();
    }

    fn try_shrink_to_fit(&mut self) -> Result<(), OutOfMemory> {
        self.try_shrink_to_fit()
    }

    #[inline]
    fn insert_without_growing<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_without_growing(key)
    }

    #[inline]
    fn insert_each_without_growing<K: Key>(&mut self, keys: &[K]) -> Result<(), TryExtendError> {
        self.insert_each_without_growing(keys)
    }

    fn insert_each_if_absent<K: Key>(&mut self, keys: &[K], stored: &mut [bool]) -> Result<(), TryExtendError> {
        self.insert_each_if_absent(keys, stored)
    }

    #[cfg(feature = "std")]
    fn merged_with_file(self, file: impl std::io::Read) -> Result<Option<Self>, LoadError> {
        super::merge::merged_with(self, file)
    }
}

/// Changes of a view that are in memory only.
pub trait RawView {
    /// Answers from now on as if a change had been made. One that removes a key must have found it.
    fn push(&mut self, change: Change);
}

impl RawView for CuckooFilterView<'_> {
    fn push(&mut self, change: Change) {
        self.push(change);
    }
}
