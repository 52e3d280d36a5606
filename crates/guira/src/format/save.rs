//! What is in memory, to bytes.

use alloc::vec::Vec;

use super::Header;
use super::any_filter::AnyFilter;
use super::contents::{Contents, Parts};
use super::header::HEADER_SIZE;
use crate::counting::CountingCuckooFilter;
#[cfg(feature = "files")]
use crate::error::SaveError;
use crate::filter::CuckooFilter;
use crate::map::{CuckooMap, Value};
use crate::set::CuckooSet;

macro_rules! can_be_saved {
    ($(#[$example:meta])* [$($generic:tt)*] $type:ty) => {
        impl<$($generic)*> $type {
            /// Returns the bytes of its file, in format version 1, to be loaded by [`from_bytes`](Self::from_bytes) on any
            /// machine and by any later release. A secret hash key is not in it.
            ///
            $(#[$example])*
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                let parts = self.parts();
                let mut bytes = Vec::with_capacity(HEADER_SIZE + parts.table.len());
                Header::of(&parts).encode(&mut bytes);
                bytes.extend_from_slice(&parts.table);
                bytes
            }

            /// Writes the bytes of [`to_bytes`](Self::to_bytes) without a copy of the table, unless that is being doubled.
            ///
            /// # Errors
            ///
            /// Those of the writer.
            #[cfg(feature = "std")]
            pub fn write_to<W: std::io::Write>(&self, mut writer: W) -> std::io::Result<()> {
                let parts = self.parts();
                writer.write_all(&header_bytes(&parts))?;
                writer.write_all(&parts.table)
            }

            /// Saves it to a file, in place of what the path named before. Whoever opens the path gets either the old file
            /// or the new one, both whole, also after a crash; when this returns, the new one is on disk. It waits for other
            /// processes that are replacing the same file. Permissions of the old file are kept.
            ///
            /// # Errors
            ///
            /// A [`SaveError`] where the file could not be written or replaced. Unless it is
            /// [`NotDurable`](SaveError::NotDurable), the old file is still there.
            #[cfg(feature = "files")]
            pub fn save<P: AsRef<std::path::Path>>(&self, path: P) -> Result<(), SaveError> {
                let replacement = guira_files::Replacement::of_any(path.as_ref())?;
                replacement.commit(|file| self.write_to(file), &|_| {}).map(drop)
            }
        }
    };
}

can_be_saved! {
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::with_capacity(100, 0.01)?;
    /// filter.insert("ani")?;
    /// assert_eq!(CuckooFilter::from_bytes(&filter.to_bytes())?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [] CuckooFilter
}

can_be_saved! {
    /// ```
    /// use guira::CuckooSet;
    ///
    /// let mut set = CuckooSet::with_capacity(100, 0.01)?;
    /// set.insert("ani")?;
    /// assert_eq!(CuckooSet::from_bytes(&set.to_bytes())?, set);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [] CuckooSet
}

can_be_saved! {
    /// ```
    /// use guira::CountingCuckooFilter;
    ///
    /// let mut filter = CountingCuckooFilter::with_capacity(100, 0.01)?;
    /// filter.insert("ani")?;
    /// assert_eq!(CountingCuckooFilter::from_bytes(&filter.to_bytes())?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [] CountingCuckooFilter
}

can_be_saved! {
    /// The file says how many bits values have, not of which type they are.
    ///
    /// ```
    /// use guira::CuckooMap;
    ///
    /// let mut map = CuckooMap::<u8>::with_capacity(100, 0.01)?;
    /// map.insert("ani", 7)?;
    /// assert_eq!(CuckooMap::from_bytes(&map.to_bytes())?, map);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [V: Value] CuckooMap<V>
}

can_be_saved! {
    [] AnyFilter
}

/// The first part of a file, of [`HEADER_SIZE`] bytes; the table is the rest.
pub(super) fn header_bytes(parts: &Parts<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_SIZE);
    Header::of(parts).encode(&mut bytes);
    bytes
}
