//! For servers that manage memory and send filters in pieces themselves. Nobody else needs any of this.

use alloc::vec::Vec;

use super::contents::Contents;
use super::load::load_from_parts;
use super::save::header_bytes;
use crate::error::LoadError;
use crate::filter::CuckooFilter;

/// The two parts of a filter's file, and the memory of its table.
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
/// use guira::raw::RawFilter;
///
/// let mut filter = CuckooFilter::with_capacity(100, 0.01)?;
/// filter.insert("ani")?;
/// let copy = CuckooFilter::from_header_and_table(&filter.header_bytes(), filter.table_bytes().to_vec())?;
/// assert_eq!(copy, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait RawFilter: Sized {
    /// Returns the first part of [`CuckooFilter::to_bytes`], which has 128 bytes.
    fn header_bytes(&self) -> Vec<u8>;

    /// Returns the second part of [`CuckooFilter::to_bytes`], where it is.
    fn table_bytes(&self) -> &[u8];

    /// Loads a filter from the two parts. The table stays where it is; nothing is copied.
    ///
    /// # Errors
    ///
    /// Those of [`CuckooFilter::from_bytes`].
    fn from_header_and_table(header: &[u8], table: Vec<u8>) -> Result<Self, LoadError>;

    /// Lets the caller put the bytes of the table elsewhere in memory, as servers do to defragment it. The same bytes must
    /// come back; with others it is another filter. Large pages, which the feature `std` takes for large tables, stay where
    /// they are, and `elsewhere` is not called.
    ///
    /// # Panics
    ///
    /// If more bytes come back, or fewer.
    fn move_table(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>);
}

impl RawFilter for CuckooFilter {
    fn header_bytes(&self) -> Vec<u8> {
        header_bytes(self)
    }

    fn table_bytes(&self) -> &[u8] {
        self.parts().storage
    }

    fn from_header_and_table(header: &[u8], table: Vec<u8>) -> Result<Self, LoadError> {
        load_from_parts(header, table)
    }

    fn move_table(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        self.storage_mut().move_bytes(elsewhere);
    }
}
