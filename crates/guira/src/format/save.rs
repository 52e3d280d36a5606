//! Filters to bytes.

use alloc::vec::Vec;

use super::Header;
use super::header::HEADER_SIZE;
use crate::filter::CuckooFilter;

impl CuckooFilter {
    /// The filter as a file of format version 1: header and table, to be read by [`from_bytes`](Self::from_bytes) on any
    /// machine and by any later release. A secret hash key is not in it.
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::with_capacity(100, 0.01)?;
    /// filter.insert("ani")?;
    /// assert_eq!(CuckooFilter::from_bytes(&filter.to_bytes())?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_SIZE + self.size_in_bytes());
        Header::of(self).encode(&mut bytes);
        bytes.extend_from_slice(self.storage());
        bytes
    }

    /// Writes the bytes of [`to_bytes`](Self::to_bytes) without a copy of the table.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to<W: std::io::Write>(&self, mut writer: W) -> std::io::Result<()> {
        let mut header = Vec::with_capacity(HEADER_SIZE);
        Header::of(self).encode(&mut header);
        writer.write_all(&header)?;
        writer.write_all(self.storage())
    }
}
