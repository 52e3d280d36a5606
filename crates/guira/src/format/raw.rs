//! For programs that manage memory, or the pieces of a file, themselves. Nobody else needs any of this, and it may change in any
//! release: it is not part of what versions promise.

use alloc::borrow::Cow;
use alloc::vec::Vec;

#[cfg(feature = "std")]
use arrayvec::ArrayVec;

pub use super::chunks::{Chunk, chunks_of};
#[cfg(feature = "std")]
use super::contents::Parts;
use super::contents::{Contents, Written};
#[cfg(feature = "std")]
use super::header::{HEADER_SIZE, Header};
pub use super::journal::Journal;
use super::load::load_from_parts;
use super::save::header_bytes;
use crate::digest::Key;
#[cfg(feature = "std")]
use crate::error::OutOfMemory;
use crate::error::{InsertError, LoadError, TryExtendError};
use crate::expiring::ExpiringCuckooFilter;
use crate::filter::{CuckooFilter, CuckooFilterView};

pub use crate::filter::{Change, FilterPlan, PlannedFilter};

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

/// Returns the three parts of [`ExpiringCuckooFilter::to_bytes`]: the header, of 128 bytes, the table, and the chunk of the times.
/// Other chunks of the file that the filter was loaded from are left out, though the header counts them.
///
/// # Examples
///
/// ```
/// let filter = guira::ExpiringCuckooFilter::with_capacity(100, 0.01, 60)?;
/// let (header, table, times) = guira::raw::expiring_file_parts(&filter);
/// assert_eq!([&header, table, &times].concat(), filter.to_bytes());
/// # Ok::<(), guira::BuildError>(())
/// ```
#[must_use]
#[expect(clippy::expect_used, reason = "a table with values is not doubled in steps, so nothing is copied")]
pub fn expiring_file_parts(filter: &ExpiringCuckooFilter) -> (Vec<u8>, &[u8], Vec<u8>) {
    let parts = filter.parts().expect("its table is not being doubled");
    (header_bytes(&parts), filter.filter().storage(), parts.times)
}

/// The file of a filter that is about to be written, for programs that need to know its size first.
///
/// # Examples
///
/// ```
/// use guira::raw::FileToWrite;
///
/// let filter = guira::CuckooFilter::with_capacity(100, 0.01)?;
/// let file = FileToWrite::of(&filter)?;
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
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`], where the table is being doubled.
    pub fn of(filter: &'filter impl Written) -> Result<Self, OutOfMemory> {
        let parts = filter.parts().map_err(|_| OutOfMemory::new(u64::try_from(HEADER_SIZE).unwrap_or(u64::MAX)))?;
        let header = Header::of(&parts);
        let size = header.file_size();
        Ok(Self { header: header.encode(), size, parts })
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
        writer.write_all(&self.parts.table)?;
        self.parts.chunks().try_for_each(|chunks| writer.write_all(chunks))
    }
}

#[cfg(feature = "std")]
impl core::fmt::Debug for FileToWrite<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("FileToWrite").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Returns the chunks of the file that the filter was loaded from, without its times. They are written again when it is saved.
///
/// # Examples
///
/// ```
/// use guira::raw::{self, Chunk};
///
/// let mut filter = guira::ExpiringCuckooFilter::with_capacity(100, 0.01, 60)?;
/// let mut chunks = Vec::new();
/// Chunk::new(*b"NOTE", 0, b"{}").append_to(&mut chunks);
/// raw::set_expiring_chunks(&mut filter, chunks.clone());
/// let loaded = guira::ExpiringCuckooFilter::from_bytes(&filter.to_bytes())?;
/// assert_eq!(raw::expiring_chunks(&loaded), chunks);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn expiring_chunks(filter: &ExpiringCuckooFilter) -> &[u8] {
    filter.filter().kept().map_or(&[], |kept| &kept.chunks)
}

/// Sets the chunks that are written to the file of a filter behind its times, in place of those that there were: see
/// [`expiring_chunks`]. A chunk that readers must know is to be one of docs/format.md.
pub fn set_expiring_chunks(filter: &mut ExpiringCuckooFilter, chunks: Vec<u8>) {
    filter.set_chunks(chunks);
}

/// Returns the table of a filter whose keys expire, as its file has it: its memory, which begins where an allocation of the global
/// allocator begins, if [`use_global_allocator_only`] was called.
#[must_use]
pub fn expiring_table(filter: &ExpiringCuckooFilter) -> &[u8] {
    filter.filter().storage()
}

/// Returns the chunk of the times that is behind the table in the file of a filter whose keys expire.
#[must_use]
pub fn expiring_times(filter: &ExpiringCuckooFilter) -> Vec<u8> {
    filter.generations().times().chunk()
}

/// Does with the table of a filter whose keys expire what [`RawFilter::move_table`] does.
///
/// # Panics
///
/// If more bytes come back, or fewer.
pub fn move_expiring_table(filter: &mut ExpiringCuckooFilter, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    filter.move_table(elsewhere);
}

/// The three parts of a filter's file, the memory of its table, and insertions that take no more of it.
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
/// use guira::raw::RawFilter;
///
/// let mut filter = CuckooFilter::with_capacity(100, 0.01)?;
/// filter.insert("ani")?;
/// let (header, table, chunks) = filter.file_parts();
/// let copy = CuckooFilter::from_file_parts(&header, table.to_vec(), chunks)?;
/// assert_eq!(copy, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(private_bounds, reason = "so that nobody else implements it, and it can have more methods")]
pub trait RawFilter: Sized + Contents {
    /// Returns the three parts of [`CuckooFilter::to_bytes`]: the header, of 128 bytes, the table, borrowed, and the chunks of
    /// the file that the filter was loaded from, often none. If the table is being doubled, it is a copy of the doubled one.
    fn file_parts(&self) -> (Vec<u8>, Cow<'_, [u8]>, &[u8]);

    /// Returns the chunks of the file that the filter was loaded from, often none, without reading the table.
    fn chunks(&self) -> &[u8];

    /// Finishes the doubling of the table, if it is being doubled. Then the first part of [`memory`](Self::memory) is the
    /// table of the file.
    fn settle(&mut self);

    /// Returns the memory of the filter: its table, and what is left of the old table during a doubling, otherwise nothing.
    /// Each begins where an allocation of the global allocator begins, if [`use_global_allocator_only`] was called.
    fn memory(&self) -> [&[u8]; 2];

    /// Loads a filter from the three parts. The table stays where it is; it is not copied.
    ///
    /// # Errors
    ///
    /// Those of [`CuckooFilter::from_bytes`].
    fn from_file_parts(header: &[u8], table: Vec<u8>, chunks: &[u8]) -> Result<Self, LoadError>;

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

    /// Returns the filter merged with that in a file, as [`CuckooFilter::merge`] makes it, of which about 1 MiB is in memory at a
    /// time; `None` where their tables have other parameters, or not all keys fit: then `merge` may do more, and says why not.
    ///
    /// # Errors
    ///
    /// Those of [`LoadOptions::read_from`](crate::LoadOptions::read_from). Keys must be treated as the file says.
    #[cfg(feature = "std")]
    fn merged_with_file(self, file: impl std::io::Read) -> Result<Option<Self>, LoadError>;

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
    #[expect(clippy::expect_used, reason = "as in `to_bytes`")]
    fn file_parts(&self) -> (Vec<u8>, Cow<'_, [u8]>, &[u8]) {
        let parts = self.parts().expect("memory for a copy of the filter");
        let header = header_bytes(&parts);
        let table = match parts.table {
            Cow::Borrowed(table) => Cow::Borrowed(&**table),
            Cow::Owned(table) => Cow::Owned(table.to_vec()),
        };
        (header, table, self.chunks())
    }

    fn chunks(&self) -> &[u8] {
        self.kept().map_or(&[], |kept| &kept.chunks)
    }

    fn settle(&mut self) {
        self.settle();
    }

    fn memory(&self) -> [&[u8]; 2] {
        match self.splitting() {
            None => [self.bytes(), &[]],
            Some((_, old, new)) => [new, old],
        }
    }

    fn from_file_parts(header: &[u8], table: Vec<u8>, chunks: &[u8]) -> Result<Self, LoadError> {
        load_from_parts(header, table, chunks)
    }

    #[inline]
    fn insert_without_growing<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_without_growing(key)
    }

    #[inline]
    fn insert_each_without_growing<K: Key>(&mut self, keys: &[K]) -> Result<(), TryExtendError> {
        self.insert_each_without_growing(keys)
    }

    #[cfg(feature = "std")]
    fn merged_with_file(self, file: impl std::io::Read) -> Result<Option<Self>, LoadError> {
        super::merge::merged_with(self, file)
    }

    fn move_table(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        if !self.is_doubling() {
            self.storage_mut().move_bytes(elsewhere);
        }
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
