//! Which file a path leads to.

use std::fs;
use std::path::Path;

/// A file, whatever it is called. Two are equal if they are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SameFile(#[cfg(unix)] [u64; 2], #[cfg(not(unix))] std::path::PathBuf);

impl SameFile {
    /// The file that a path leads to, if there is one. It is not opened: it may be a pipe.
    #[cfg(unix)]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::of_metadata(&metadata))
    }

    #[cfg(unix)]
    pub(crate) fn of_standard_input() -> Option<Self> {
        Self::of_stream(std::io::stdin())
    }

    #[cfg(unix)]
    pub(crate) fn of_standard_output() -> Option<Self> {
        Self::of_stream(std::io::stdout())
    }

    #[cfg(unix)]
    fn of_stream(stream: impl std::os::fd::AsFd) -> Option<Self> {
        let file = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
        let metadata = file.metadata().ok()?;
        metadata.is_file().then(|| Self::of_metadata(&metadata))
    }

    #[cfg(unix)]
    fn of_metadata(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self([metadata.dev(), metadata.ino()])
    }

    /// Without another way to tell, by its name behind all links.
    #[cfg(not(unix))]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::canonicalize(path).ok().map(Self)
    }

    #[cfg(not(unix))]
    pub(crate) const fn of_standard_input() -> Option<Self> {
        None
    }

    #[cfg(not(unix))]
    pub(crate) const fn of_standard_output() -> Option<Self> {
        None
    }
}
