use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

/// Why a file was not changed. Except with [`NotDurable`](Self::NotDurable), nothing has changed.
#[derive(Debug)]
pub enum ReplaceError {
    /// The system refused something.
    Io(io::Error),
    /// A file exists and was not to be replaced.
    Exists,
    /// The path is a symbolic link to a file that does not exist.
    DanglingLink,
    /// A directory.
    IsDirectory,
    /// A device, a pipe or a socket.
    NotRegular,
    /// Another process holds the lock, and did not release it in the time that was given.
    Locked {
        /// How long was waited.
        waited: Duration,
    },
    /// A file that was read, or that was known to be missing, is no longer what the path names: a program that does not
    /// take the lock has created, replaced or removed it.
    Changed,
    /// The file was replaced or appended to, but flushing that to disk failed.
    NotDurable(io::Error),
}

impl fmt::Display for ReplaceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(formatter),
            Self::Exists => formatter.write_str("the file exists"),
            Self::DanglingLink => formatter.write_str("a symbolic link to a file that does not exist"),
            Self::IsDirectory => formatter.write_str("Is a directory"),
            Self::NotRegular => formatter.write_str("not a regular file, so it can't be replaced"),
            Self::Locked { waited } => {
                if waited.is_zero() {
                    return formatter.write_str("another process changes it: nothing was written");
                }
                write!(formatter, "another process changes it, and was not done within {waited:?}: nothing was written")
            }
            Self::Changed => formatter.write_str(
                "was created, replaced or removed by another program in the meantime, so nothing was written: run the \
                 command again",
            ),
            Self::NotDurable(error) => {
                write!(formatter, "was changed, but a power failure may bring back the old file: {error}")
            }
        }
    }
}

impl Error for ReplaceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) | Self::NotDurable(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReplaceError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
