//! Files that are queried in place, without loading them.

use alloc::vec::Vec;

use super::check::{check_bytes, check_fingerprints, check_removals, check_waiting};
#[cfg(feature = "std")]
use super::load::no_memory;
use super::{FileHeader, LoadOptions};
use crate::error::{FileKind, LoadError};
use crate::filter::{Change, CuckooFilterView, Description};
use crate::table::Borrowed;
#[cfg(feature = "std")]
use crate::table::{OwnedTable, try_arc, try_box};

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
        let (description, changes, table) = options.look_at(bytes)?;
        Ok(Self::from_parts(description, Borrowed::Slice(table), &changes))
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
        check_fingerprints(self.scheme(), self.bytes(), self.parameters(), self.kind(), self.table_len(), true)?;
        check_waiting(self.scheme(), self.bytes(), self.parameters(), self.waiting())?;
        self.pending().map_or(Ok(()), |pending| check_removals(self.scheme(), self.bytes(), pending))
    }
}

#[cfg(feature = "std")]
impl CuckooFilterView<'static> {
    /// Makes a view that owns what it looks at: a vector, a part of a file that was mapped, or an `Arc` of either. So it can be
    /// kept beside it, in a struct or in another thread; its clones share it.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, CuckooFilterView};
    ///
    /// struct Table { filter: CuckooFilterView<'static> }
    ///
    /// let mut filter = CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// let table = Table { filter: CuckooFilterView::from_owner(filter.to_bytes())? };
    /// assert!(table.filter.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_owner(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self, LoadError> {
        LoadOptions::new().view_from_owner(owner)
    }
}

#[cfg(feature = "std")]
impl LoadOptions {
    /// Makes a view that owns what it looks at. See [`CuckooFilterView::from_owner`].
    ///
    /// # Errors
    ///
    /// Those of [`view`](Self::view).
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// assert!(guira::LoadOptions::new().view_from_owner(file)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn view_from_owner(
        self,
        owner: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<CuckooFilterView<'static>, LoadError> {
        let mut found = None;
        let table = OwnedTable::try_new(try_box(owner).map_err(no_memory)?, |owner| {
            // Once, so that the bytes that are checked are those that are queried.
            let (description, changes, table) = self.look_at((**owner).as_ref())?;
            found = Some((description, changes));
            Ok::<_, LoadError>(table)
        })?;
        let (description, changes) = found.ok_or(LoadError::NotGuira)?;
        let table = Borrowed::Owned(try_arc(table).map_err(no_memory)?);
        Ok(CuckooFilterView::from_parts(description, table, &changes))
    }
}

impl LoadOptions {
    /// What a view needs of the bytes of a file: besides its table, the changes that have not been made in it.
    fn look_at<'bytes>(&self, bytes: &'bytes [u8]) -> Result<(Description, Vec<Change>, &'bytes [u8]), LoadError> {
        let header = FileHeader::from_bytes(bytes)?;
        let description = header.describe(self.key)?;
        let (table, behind) = header.split(bytes, self.normalization)?;
        Ok((description, behind.changes, table))
    }
}

impl FileHeader {
    /// What a view needs, if the file is of a kind that can be queried in place.
    pub(super) fn describe(&self, key: Option<[u8; 16]>) -> Result<Description, LoadError> {
        let kind = match self.kind() {
            kind @ (FileKind::Filter | FileKind::Set | FileKind::Growing) => kind,
            found @ (FileKind::Counting | FileKind::Map | FileKind::Expiring) => {
                return Err(LoadError::OtherKind { found, expected: FileKind::Filter });
            }
        };
        let hasher = self.hasher(key)?;
        let len = self.len_in_memory()?;
        let Self { parameters, waiting, table_checksum, .. } = *self;
        Ok(Description { kind, parameters, hasher, len, waiting, table_checksum })
    }
}
