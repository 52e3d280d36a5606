//! The methods of all that files hold: to bytes and back.

use alloc::vec::Vec;
#[cfg(feature = "serde")]
use core::marker::PhantomData;

use super::any_filter::AnyFilter;
use super::contents::{Contents, Written as _};
use super::header::HEADER_SIZE;
use super::{FileHeader, LoadOptions};
#[cfg(feature = "concurrent")]
use crate::concurrent::{ConcurrentCuckooFilter, ConcurrentExpiringCuckooFilter};
use crate::counting::CountingCuckooFilter;
use crate::digest::checksum;
use crate::error::LoadError;
#[cfg(feature = "files")]
use crate::error::SaveError;
use crate::expiring::ExpiringCuckooFilter;
use crate::filter::CuckooFilter;
use crate::map::{CuckooMap, MapValue};
use crate::set::CuckooSet;

/// A type that can be loaded from a file: [`CuckooFilter`], `ConcurrentCuckooFilter`, [`CuckooSet`], [`CountingCuckooFilter`], [`CuckooMap`],
/// [`ExpiringCuckooFilter`], `ConcurrentExpiringCuckooFilter`, and [`AnyFilter`] for a file of any of these kinds.
#[expect(private_bounds, reason = "so that nobody else implements it")]
pub trait FilterFile: Contents {}

impl<C: Contents> FilterFile for C {}

/// The methods of a kind that is `saved` as it is, with what else is to be said of its bytes, or `shared` by threads. What is saved of
/// the latter is a copy of one moment, so that nobody waits for a disk. Examples are of the type that is named, and make an empty one as is
/// said behind the name.
macro_rules! file_methods {
    ([$($generic:tt)*] $type:ty, $name:literal $made:literal, $saved:ident $(($note:literal))?) => {
        impl<$($generic)*> $type {
            file_methods!(@$saved $name $made $($note)?);

            /// Loads it from the bytes that [`to_bytes`](Self::to_bytes) made. For keys that were hashed with a secret key,
            /// see [`LoadOptions`].
            ///
            /// # Errors
            ///
            /// A [`LoadError`] where the bytes are anything else: every byte is covered by a checksum, and every number
            /// is checked. Before that, no memory is allocated except for the table itself.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("let filter = ", $name, $made, ";")]
            #[doc = concat!("let again = ", $name, "::from_bytes(&filter.to_bytes())?;")]
            /// assert_eq!(again.to_bytes(), filter.to_bytes());
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
                LoadOptions::new().from_bytes(bytes)
            }

            /// Reads what [`write_to`](Self::write_to) wrote, to the end of the stream.
            ///
            /// # Errors
            ///
            /// [`LoadError::Io`] where reading fails, and those of [`from_bytes`](Self::from_bytes). However large a table
            /// the header asks for, memory is only taken for bytes that came, and at most 16 MiB more.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("let filter = ", $name, $made, ";")]
            /// let file = filter.to_bytes();
            #[doc = concat!("assert_eq!(", $name, "::read_from(&file[..])?.to_bytes(), file);")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[cfg(feature = "std")]
            pub fn read_from<R: std::io::Read>(reader: R) -> Result<Self, LoadError> {
                LoadOptions::new().read_from(reader)
            }

            /// Loads it from a file that [`save`](Self::save) wrote. `CuckooFilter` and `ExpiringCuckooFilter` also open those files of
            /// the program `guira` that are not compressed. For keys that were hashed with a secret key, or changed before they were
            /// hashed, as the program does with `--lowercase` and `--trim`, see [`LoadOptions`].
            ///
            /// # Errors
            ///
            /// [`LoadError::Io`] where the file can't be opened or read, and those of [`from_bytes`](Self::from_bytes).
            ///
            /// # Examples
            ///
            /// ```
            /// # let directory = tempfile::tempdir()?;
            /// # let path = directory.path().join("seen.guira");
            #[doc = concat!("let filter = ", $name, $made, ";")]
            /// filter.save(&path)?;
            #[doc = concat!("assert_eq!(", $name, "::open(&path)?.to_bytes(), filter.to_bytes());")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[cfg(feature = "files")]
            pub fn open<P: AsRef<std::path::Path>>(path: P) -> Result<Self, LoadError> {
                LoadOptions::new().open(path)
            }
        }

        /// As the bytes of [`to_bytes`](Self::to_bytes). A secret hash key is not among them.
        #[cfg(feature = "serde")]
        impl<$($generic)*> serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.to_bytes())
            }
        }

        /// From the bytes of a file, with the checks of [`from_bytes`](Self::from_bytes). A file with a secret hash key is
        /// refused, since there is no way to give the key: deserialize plain bytes, and load them with [`LoadOptions`].
        #[cfg(feature = "serde")]
        impl<'de, $($generic)*> serde_core::Deserialize<'de> for $type {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_bytes(super::serde::FileVisitor(PhantomData))
            }
        }
    };
    (@saved $name:literal $made:literal $($note:literal)?) => {
        /// Returns the bytes of its file, in format version 1, to be loaded by [`from_bytes`](Self::from_bytes) on any
        /// machine and by any later release. A secret hash key is not in it. Where there is no memory for them, the process
        /// ends; [`write_to`](Self::write_to) returns an error.
        $(#[doc = "\n"] #[doc = $note])?
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $name, $made, ";")]
        #[doc = concat!("assert_eq!(", $name, "::from_bytes(&filter.to_bytes())?, filter);")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn to_bytes(&self) -> Vec<u8> {
            let parts = self.parts();
            let mut header = FileHeader::summed(&parts, 0);
            let mut bytes = Vec::with_capacity(usize::try_from(header.file_size()).unwrap_or(0));
            bytes.extend_from_slice(&header.encode());
            parts.table.each_piece(|piece| bytes.extend_from_slice(piece));
            // A table that is being doubled is put together once.
            if let Some((first, table)) = bytes.split_first_chunk_mut::<HEADER_SIZE>() {
                header.table_checksum = checksum(table);
                first.copy_from_slice(&header.encode());
            }
            parts.chunks().for_each(|chunks| bytes.extend_from_slice(chunks));
            bytes
        }

        /// Writes the bytes of [`to_bytes`](Self::to_bytes), without copying the table.
        ///
        /// # Errors
        ///
        /// Those of the writer.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $name, $made, ";")]
        /// let mut file = Vec::new();
        /// filter.write_to(&mut file)?;
        /// assert_eq!(file, filter.to_bytes());
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[cfg(feature = "std")]
        pub fn write_to<W: std::io::Write>(&self, writer: W) -> std::io::Result<()> {
            super::raw::FileToWrite::of(self).write_to(writer)
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
        #[doc = concat!("let filter = ", $name, $made, ";")]
        /// filter.save(&path)?;
        /// assert_eq!(std::fs::read(&path)?, filter.to_bytes());
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[cfg(feature = "files")]
        pub fn save<P: AsRef<std::path::Path>>(&self, path: P) -> Result<(), SaveError> {
            let replacement = guira_files::Replacement::of_any(path.as_ref()).map_err(SaveError::of)?;
            replacement.commit(|file| self.write_to(file), &|_| {}).map(drop).map_err(SaveError::of)
        }
    };
    (@shared $name:literal $made:literal) => {
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
        #[doc = concat!("let seen = ", $name, $made, ";")]
        /// seen.insert("ani")?;
        /// let file = seen.to_bytes();
        #[doc = concat!("assert!(", $name, "::from_bytes(&file)?.contains(\"ani\"));")]
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
        /// Those of the writer, and [`OutOfMemory`](std::io::ErrorKind::OutOfMemory).
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let seen = ", $name, $made, ";")]
        /// let mut file = Vec::new();
        /// seen.write_to(&mut file)?;
        /// assert_eq!(file, seen.to_bytes());
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn write_to<W: std::io::Write>(&self, writer: W) -> std::io::Result<()> {
            self.snapshot().map_err(|error| std::io::Error::new(std::io::ErrorKind::OutOfMemory, error))?.write_to(writer)
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
        #[doc = concat!("let seen = ", $name, $made, ";")]
        /// seen.insert("ani")?;
        /// seen.save(&path)?;
        #[doc = concat!("assert!(", $name, "::open(&path)?.contains(\"ani\"));")]
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[cfg(feature = "files")]
        pub fn save<P: AsRef<std::path::Path>>(&self, path: P) -> Result<(), SaveError> {
            let copy = self.snapshot().map_err(|error| std::io::Error::new(std::io::ErrorKind::OutOfMemory, error))?;
            copy.save(path)
        }
    };
}

file_methods! { [] CuckooFilter, "guira::CuckooFilter" "::with_capacity(100, 0.01)?", saved }
file_methods! { [] CuckooSet, "guira::CuckooSet" "::with_capacity(100, 0.01)?", saved }
file_methods! { [] CountingCuckooFilter, "guira::CountingCuckooFilter" "::with_capacity(100, 0.01)?", saved }
file_methods! {
    [V: MapValue] CuckooMap<V>, "guira::CuckooMap::<u8>" "::with_capacity(100, 0.01)?",
    saved("The file says how many bits values have, not of which type they are.")
}
file_methods! { [] ExpiringCuckooFilter, "guira::ExpiringCuckooFilter" "::with_capacity(100, 0.01, 60)?", saved }
file_methods! { [] AnyFilter, "guira::AnyFilter" "::Filter(guira::CuckooFilter::with_capacity(100, 0.01)?)", saved }
#[cfg(feature = "concurrent")]
file_methods! { [] ConcurrentCuckooFilter, "guira::ConcurrentCuckooFilter" "::with_capacity(100, 0.01)?", shared }
#[cfg(feature = "concurrent")]
file_methods! { [] ConcurrentExpiringCuckooFilter, "guira::ConcurrentExpiringCuckooFilter" "::with_capacity(100, 0.01, 60)?", shared }
