//! Bytes that stay where they are, to be asked.

use super::Header;
use super::check::{check_bytes, check_fingerprints};
use super::header::table_of;
use crate::error::{FileKind, LoadError};
use crate::filter::{CuckooFilter, CuckooFilterView, Description};
use crate::table::{Borrowed, Storage};

impl<'bytes> CuckooFilterView<'bytes> {
    /// A view of the bytes that `to_bytes` of a [`CuckooFilter`], a [`CuckooSet`](crate::CuckooSet) or a
    /// [`GrowingCuckooFilter`](crate::GrowingCuckooFilter) gave.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] where the header is damaged, contradicts itself or is that of another kind, or where there are not
    /// as many bytes as it says. The table is not looked at.
    pub fn new(bytes: &'bytes [u8]) -> Result<Self, LoadError> {
        Self::of(bytes, None)
    }

    /// The same where keys are hashed with a secret key, which no file holds.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new); [`LoadError::KeyDiffers`] where the file has another key.
    pub fn with_key(bytes: &'bytes [u8], key: [u8; 16]) -> Result<Self, LoadError> {
        Self::of(bytes, Some(key))
    }

    fn of(bytes: &'bytes [u8], key: Option<[u8; 16]>) -> Result<Self, LoadError> {
        let header = Header::decode(bytes)?;
        let description = header.describe(key)?;
        let table = table_of(bytes, &header)?;
        Ok(Self::from_parts(description, Borrowed::Slice(table)))
    }

    /// Checks that the table is the one that was written: one pass over it, for its checksum. What no damage but only a
    /// forger can do, [`verify`](Self::verify) finds.
    ///
    /// # Errors
    ///
    /// [`LoadError::TableChecksum`] where the table was damaged.
    pub fn verify_checksum(&self) -> Result<(), LoadError> {
        check_bytes(self.bytes(), self.parameters(), self.table_checksum())
    }

    /// Makes the checks that loading makes beyond those of [`new`](Self::new): one pass over the table for its checksum,
    /// and one for what stands in it.
    ///
    /// # Errors
    ///
    /// [`LoadError::TableChecksum`] where the table was damaged, [`LoadError::Inconsistent`] where it is what no filter
    /// of this kind holds.
    pub fn verify(&self) -> Result<(), LoadError> {
        self.verify_checksum()?;
        check_fingerprints(self.scheme(), self.bytes(), self.kind(), self.len())
    }

    /// The filter itself, in memory of its own, verified; equal to what [`CuckooFilter::from_bytes`] gives.
    ///
    /// # Errors
    ///
    /// [`LoadError::OtherKind`] for a set or a growing filter, which have a `from_bytes` of their own;
    /// [`LoadError::OutOfMemory`]; and those of [`verify`](Self::verify).
    pub fn to_filter(&self) -> Result<CuckooFilter, LoadError> {
        if self.kind() != FileKind::Filter {
            return Err(LoadError::OtherKind { found: self.kind(), expected: FileKind::Filter });
        }
        self.verify()?;
        let out_of_memory = |_| LoadError::OutOfMemory { bytes: self.parameters().table_size() };
        let storage = Storage::copied_from(self.bytes()).map_err(out_of_memory)?;
        Ok(CuckooFilter::from_parts(*self.parameters(), *self.hasher(), storage, self.len()))
    }
}

impl Header {
    /// What a view must know, of a file that can be asked by fingerprints alone.
    pub(super) fn describe(&self, key: Option<[u8; 16]>) -> Result<Description, LoadError> {
        let kind = match self.kind() {
            kind @ (FileKind::Filter | FileKind::Set | FileKind::Growing) => kind,
            found @ (FileKind::Counting | FileKind::Map) => {
                return Err(LoadError::OtherKind { found, expected: FileKind::Filter });
            }
        };
        let hasher = self.hash.hasher(key)?;
        let len = self.len_in_memory()?;
        let (parameters, table_checksum) = (self.parameters, self.table_checksum);
        Ok(Description { kind, parameters, hasher, len, table_checksum })
    }
}
