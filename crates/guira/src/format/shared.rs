//! The filter that threads share, to bytes: a copy of one moment.

use alloc::vec::Vec;
use std::io;

use crate::concurrent::ConcurrentCuckooFilter;
#[cfg(feature = "files")]
use crate::error::SaveError;

/// A copy of one moment is what is written, so that writers wait while memory is copied and not while a disk is written to.
impl ConcurrentCuckooFilter {
    /// Returns the bytes of the file of the filter as it is at one moment, to be loaded by [`from_bytes`](Self::from_bytes), or as
    /// a [`CuckooFilter`](crate::CuckooFilter). Writers wait while the table is copied, readers do not.
    ///
    /// # Panics
    ///
    /// If there is no memory for a copy.
    ///
    /// # Examples
    ///
    /// ```
    /// let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert("ani")?;
    /// let file = seen.to_bytes();
    /// assert!(guira::ConcurrentCuckooFilter::from_bytes(&file)?.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.copy_or_panic().to_bytes()
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
    /// let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// let mut file = Vec::new();
    /// seen.write_to(&mut file)?;
    /// assert_eq!(file, seen.to_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_to<W: io::Write>(&self, writer: W) -> io::Result<()> {
        self.snapshot().map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?.write_to(writer)
    }

    /// Saves the filter as it is at one moment, as [`CuckooFilter::save`](crate::CuckooFilter::save) does. Writers wait while the
    /// table is copied, readers do not, and nobody waits for the disk. It takes the memory of one copy until it returns.
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
    /// let seen = guira::ConcurrentCuckooFilter::with_capacity(100, 0.01)?;
    /// seen.insert("ani")?;
    /// seen.save(&path)?;
    /// assert!(guira::ConcurrentCuckooFilter::open(&path)?.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "files")]
    pub fn save<P: AsRef<std::path::Path>>(&self, path: P) -> Result<(), SaveError> {
        let copy = self.snapshot().map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?;
        copy.save(path)
    }
}
