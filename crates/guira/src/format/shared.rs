//! The filters that threads share, to bytes and back. A copy of one moment is what is written, so that nobody waits for
//! a disk.

use alloc::vec::Vec;
use std::io;

use super::Header;
use super::contents::{Contents, Loaded};
use crate::concurrent::{ConcurrentCuckooFilter, ConcurrentExpiringCuckooFilter};
#[cfg(feature = "files")]
use crate::error::SaveError;
use crate::error::{BuildError, FileKind, LoadError};
use crate::expiring::ExpiringCuckooFilter;

macro_rules! can_be_saved_while_shared {
    ($type:ident, $made:literal) => {
        impl $type {
            /// Returns the bytes of the file of the filter as it is at one moment, to be loaded by [`from_bytes`](Self::from_bytes), also
            /// of the filter for one thread. Others go on meanwhile: see [`snapshot`](Self::snapshot).
            ///
            /// # Panics
            ///
            /// If there is no memory for a copy.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("let seen = guira::", stringify!($type), "::", $made, ";")]
            /// seen.insert("ani")?;
            /// let file = seen.to_bytes();
            #[doc = concat!("assert!(guira::", stringify!($type), "::from_bytes(&file)?.contains(\"ani\"));")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                self.snapshot().expect("memory for a copy of the filter").to_bytes()
            }

            /// Writes the bytes of [`to_bytes`](Self::to_bytes). It takes the memory of one copy of the table until it returns.
            ///
            /// # Errors
            ///
            /// Those of the writer, and [`OutOfMemory`](io::ErrorKind::OutOfMemory).
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("let seen = guira::", stringify!($type), "::", $made, ";")]
            /// let mut file = Vec::new();
            /// seen.write_to(&mut file)?;
            /// assert_eq!(file, seen.to_bytes());
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn write_to<W: io::Write>(&self, writer: W) -> io::Result<()> {
                self.snapshot().map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?.write_to(writer)
            }

            /// Saves the filter as it is at one moment, as [`CuckooFilter::save`](crate::CuckooFilter::save) does. Others go on
            /// meanwhile: see [`snapshot`](Self::snapshot). It takes the memory of one copy until it returns.
            ///
            /// # Errors
            ///
            /// A [`SaveError`] where the file could not be written or replaced, or where there is no memory for a copy.
            ///
            /// # Examples
            ///
            /// ```
            /// # let directory = tempfile::tempdir()?;
            /// # let path = directory.path().join("seen.guira");
            #[doc = concat!("let seen = guira::", stringify!($type), "::", $made, ";")]
            /// seen.insert("ani")?;
            /// seen.save(&path)?;
            #[doc = concat!("assert!(guira::", stringify!($type), "::open(&path)?.contains(\"ani\"));")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[cfg(feature = "files")]
            pub fn save<P: AsRef<std::path::Path>>(&self, path: P) -> Result<(), SaveError> {
                let copy = self.snapshot().map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?;
                copy.save(path)
            }
        }
    };
}

can_be_saved_while_shared!(ConcurrentCuckooFilter, "with_capacity(100, 0.01)?");
can_be_saved_while_shared!(ConcurrentExpiringCuckooFilter, "with_capacity(100, 0.01, 60)?");

impl Contents for ConcurrentExpiringCuckooFilter {
    const KINDS: &'static [FileKind] = ExpiringCuckooFilter::KINDS;

    fn checked(header: &Header, loaded: Loaded) -> Result<Self, LoadError> {
        ExpiringCuckooFilter::checked(header, loaded)?.try_into().map_err(|error| match error {
            BuildError::OutOfMemory { bytes } => LoadError::OutOfMemory { bytes },
            error => LoadError::Parameters(error),
        })
    }
    #[cfg(feature = "files")]
    fn lifetime_and_resolution(&self) -> Option<(u64, u64)> {
        Some((self.lifetime(), self.resolution()))
    }
}
