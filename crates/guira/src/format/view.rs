//! Files that are queried in place, without loading them.

use super::check::{check_bytes, check_fingerprints};
use super::chunks::kept_chunks;
use super::header::{chunks_in, table_of};
use super::{Header, LoadOptions};
use crate::error::{FileKind, LoadError};
use crate::filter::{CuckooFilterView, Description};
use crate::table::Borrowed;

impl<'bytes> CuckooFilterView<'bytes> {
    /// Makes a view of the bytes that `to_bytes` of a [`CuckooFilter`](crate::CuckooFilter) or a [`CuckooSet`](crate::CuckooSet) made. For keys
    /// that were hashed with a secret key, see [`LoadOptions::view`](crate::LoadOptions::view).
    ///
    /// # Errors
    ///
    /// A [`LoadError`] where the header is damaged, contradicts itself or is that of another kind, or where there are not
    /// as many bytes as it says, and where a chunk behind the table is damaged, or must be known and isn't. The table is not
    /// looked at.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// let file = filter.to_bytes();
    /// let view = guira::CuckooFilterView::new(&file)?;
    /// assert!(view.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(bytes: &'bytes [u8]) -> Result<Self, LoadError> {
        Self::of(bytes, LoadOptions::new())
    }

    pub(super) fn of(bytes: &'bytes [u8], options: LoadOptions) -> Result<Self, LoadError> {
        let header = Header::decode(bytes)?;
        let description = header.describe(options.given_secret_key())?;
        let table = table_of(bytes, &header)?;
        kept_chunks(chunks_in(bytes, &header), options.normalization)?;
        Ok(Self::from_parts(description, Borrowed::Slice(table)))
    }

    /// Checks that the table is the one that was written: one pass over it, for its checksum. Against tables that were
    /// forged, use [`verify`](Self::verify).
    ///
    /// # Errors
    ///
    /// [`LoadError::TableChecksum`] where the table was damaged, and [`LoadError::Inconsistent`] where bits behind its
    /// last slot are set.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut file = guira::CuckooFilter::with_capacity(1000, 0.001)?.to_bytes();
    /// guira::CuckooFilterView::new(&file)?.verify_checksum()?;
    ///
    /// file[200] ^= 1;
    /// assert!(guira::CuckooFilterView::new(&file)?.verify_checksum().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify_checksum(&self) -> Result<(), LoadError> {
        check_bytes(self.bytes(), self.parameters(), self.table_checksum())
    }

    /// Makes the checks that loading makes beyond those of [`new`](Self::new): one pass over the table for its checksum,
    /// and one for its fingerprints.
    ///
    /// # Errors
    ///
    /// [`LoadError::TableChecksum`] where the table was damaged, [`LoadError::Inconsistent`] where it holds what no
    /// filter of this kind can hold.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut file = guira::CuckooFilter::with_capacity(1000, 0.001)?.to_bytes();
    /// guira::CuckooFilterView::new(&file)?.verify()?;
    ///
    /// file[200] ^= 1;
    /// assert!(guira::CuckooFilterView::new(&file)?.verify().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify(&self) -> Result<(), LoadError> {
        self.verify_checksum()?;
        check_fingerprints(self.scheme(), self.bytes(), self.kind(), self.len())
    }
}

impl Header {
    /// What a view needs, if the file is of a kind that can be queried in place.
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
