use core::time::Duration;
use std::{fmt, io};

use guira_files::ReplaceError;

/// Why a filter was not saved. Except with [`NotDurable`](Self::NotDurable), the old file is still there.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaveError {
    /// The system refused something.
    Io(io::Error),
    /// The path is a symbolic link to a file that does not exist.
    DanglingLink,
    /// The path is a directory.
    IsDirectory,
    /// The path is a device, a pipe or a socket.
    NotRegular,
    /// Another process holds the file's lock, and did not release it in time.
    Locked {
        /// How long was waited.
        waited: Duration,
    },
    /// Another program, which does not take the file's lock, has created, replaced or removed the file meanwhile.
    Changed,
    /// The file was replaced, but flushing its directory to disk failed.
    NotDurable(io::Error),
}

impl SaveError {
    /// From the error of the crate that replaces files, which is no part of the interface.
    pub(crate) fn of(error: ReplaceError) -> Self {
        match error {
            ReplaceError::Io(error) => Self::Io(error),
            ReplaceError::DanglingLink => Self::DanglingLink,
            ReplaceError::IsDirectory => Self::IsDirectory,
            ReplaceError::NotRegular => Self::NotRegular,
            ReplaceError::Locked { waited } => Self::Locked { waited },
            // The first is never returned where any file may be replaced.
            ReplaceError::Exists | ReplaceError::Changed => Self::Changed,
            ReplaceError::NotDurable(error) => Self::NotDurable(error),
        }
    }
}

impl fmt::Display for SaveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(formatter),
            Self::DanglingLink => formatter.write_str("the path is a symbolic link to a file that does not exist"),
            Self::IsDirectory => formatter.write_str("Is a directory"),
            Self::NotRegular => formatter.write_str("not a regular file, so it can't be replaced"),
            Self::Locked { waited } => {
                write!(formatter, "another process changes the file, and was not done within {waited:?}: nothing was written")
            }
            Self::Changed => formatter.write_str(
                "the file was created, replaced or removed by another program meanwhile, so nothing was written: save again",
            ),
            Self::NotDurable(error) => {
                write!(formatter, "the file was replaced, but a power failure may bring back the old one: {error}")
            }
        }
    }
}

/// What the system said is part of the message, so the source is what is behind that. Beside a text that adds to it, this can't be
/// derived.
impl core::error::Error for SaveError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Io(error) | Self::NotDurable(error) => error.source(),
            _ => None,
        }
    }
}

impl From<io::Error> for SaveError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
