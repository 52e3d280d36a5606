//! From filters to bytes.

use alloc::vec::Vec;

use super::Header;
use super::any_filter::AnyFilter;
use super::contents::{Parts, Written};
use crate::counting::CountingCuckooFilter;
#[cfg(feature = "files")]
use crate::error::SaveError;
use crate::expiring::ExpiringCuckooFilter;
use crate::filter::CuckooFilter;
use crate::map::{CuckooMap, MapValue};
use crate::set::CuckooSet;

macro_rules! can_be_saved {
    ($(#[$note:meta])* [$($generic:tt)*] $type:ty, $name:literal, $made:literal) => {
        impl<$($generic)*> $type {
            /// Returns the bytes of its file, in format version 1, to be loaded by [`from_bytes`](Self::from_bytes) on any
            /// machine and by any later release. A secret hash key is not in it. Where there is no memory for them, the process
            /// ends; [`write_to`](Self::write_to) returns an error.
            $(#[$note])*
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("let filter = ", $made, ";")]
            #[doc = concat!("assert_eq!(", $name, "::from_bytes(&filter.to_bytes())?, filter);")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                let parts = self.parts().expect("memory for a copy of the filter");
                let header = Header::of(&parts);
                let mut bytes = Vec::with_capacity(usize::try_from(header.file_size()).unwrap_or(0));
                bytes.extend_from_slice(&header.encode());
                bytes.extend_from_slice(&parts.table);
                parts.chunks().for_each(|chunks| bytes.extend_from_slice(chunks));
                bytes
            }

            /// Writes the bytes of [`to_bytes`](Self::to_bytes), without copying the table unless it is being doubled.
            ///
            /// # Errors
            ///
            /// Those of the writer; [`OutOfMemory`](std::io::ErrorKind::OutOfMemory).
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("let filter = ", $made, ";")]
            /// let mut file = Vec::new();
            /// filter.write_to(&mut file)?;
            /// assert_eq!(file, filter.to_bytes());
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[cfg(feature = "std")]
            pub fn write_to<W: std::io::Write>(&self, writer: W) -> std::io::Result<()> {
                super::raw::FileToWrite::of(self).map_err(|_| std::io::ErrorKind::OutOfMemory)?.write_to(writer)
            }

            /// Saves it to a file, which atomically replaces any file at the path: whoever opens the path gets either the
            /// old file or the new one, never a part, even after a crash. When this returns, the new one is on disk. It
            /// waits for other processes that are replacing the same file. Permissions of the old file are kept. On Windows
            /// the directory is not flushed, so that a crash of the system may bring the old file back; there, and on file
            /// systems without locks, it waits for nobody.
            ///
            /// # Errors
            ///
            /// A [`SaveError`] where the file could not be written or replaced. Unless it is
            /// [`NotDurable`](SaveError::NotDurable), the old file is still there.
            ///
            /// # Examples
            ///
            /// ```
            /// # let directory = tempfile::tempdir()?;
            /// # let path = directory.path().join("seen.guira");
            #[doc = concat!("let filter = ", $made, ";")]
            /// filter.save(&path)?;
            /// assert_eq!(std::fs::read(&path)?, filter.to_bytes());
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[cfg(feature = "files")]
            pub fn save<P: AsRef<std::path::Path>>(&self, path: P) -> Result<(), SaveError> {
                let replacement = guira_files::Replacement::of_any(path.as_ref()).map_err(SaveError::of)?;
                replacement.commit(|file| self.write_to(file), &|_| {}).map(drop).map_err(SaveError::of)
            }
        }
    };
}

can_be_saved! { [] CuckooFilter, "guira::CuckooFilter", "guira::CuckooFilter::with_capacity(100, 0.01)?" }
can_be_saved! { [] CuckooSet, "guira::CuckooSet", "guira::CuckooSet::with_capacity(100, 0.01)?" }
can_be_saved! { [] CountingCuckooFilter, "guira::CountingCuckooFilter", "guira::CountingCuckooFilter::with_capacity(100, 0.01)?" }
can_be_saved! {
    ///
    /// The file says how many bits values have, not of which type they are.
    [V: MapValue] CuckooMap<V>, "guira::CuckooMap::<u8>", "guira::CuckooMap::<u8>::with_capacity(100, 0.01)?"
}
can_be_saved! { [] ExpiringCuckooFilter, "guira::ExpiringCuckooFilter", "guira::ExpiringCuckooFilter::with_capacity(100, 0.01, 60)?" }
can_be_saved! { [] AnyFilter, "guira::AnyFilter", "guira::AnyFilter::Filter(guira::CuckooFilter::with_capacity(100, 0.01)?)" }

impl Parts<'_> {
    /// The chunks behind the table, one piece after the other.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        [self.times.as_slice(), self.kept.map_or(&[], |kept| &kept.chunks)].into_iter()
    }
}
