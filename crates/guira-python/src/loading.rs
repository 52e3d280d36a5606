//! Opening and reading a file, where Ctrl-C ends the wait for whoever writes to a pipe, and for a slow disk.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use guira::{FilterFile, LoadError, LoadOptions};
use pyo3::prelude::*;

use crate::waiting::{attached, detached};

/// How many bytes are read between two checks for Ctrl-C. Each may take 5 ms, if other threads want the interpreter's lock.
const UNINTERRUPTED: usize = 1 << 24;

/// Loads a file, as the library's `open` does. The error for Ctrl-C is within that of the system: see [`raised`].
pub(crate) fn load<T: FilterFile + Send>(py: Python<'_>, options: LoadOptions, path: &Path) -> Result<T, LoadError> {
    detached(py, || options.read_from(Interruptible { file: open(path)?, done: 0 }))
}

/// The exception that was raised while a file was opened or read, if it was not the system that refused it.
pub(crate) fn raised(error: io::Error) -> Result<PyErr, io::Error> {
    error.downcast()
}

/// A system call goes on where it was, once a signal's function has been called; but it ends if that raises an exception, as Ctrl-C
/// does.
fn check_signals() -> io::Result<()> {
    attached(|py| py.check_signals()).map_err(io::Error::other)
}

/// Opens a file to be read. That waits, if it is a pipe that nobody has opened to write to.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    loop {
        // The standard library's function would go on to wait.
        match rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
            Err(Errno::INTR) => check_signals()?,
            opened => return Ok(opened?.into()),
        }
    }
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// A file that is being read, by functions that go on to read when the system says that a signal has come.
struct Interruptible {
    file: File,
    /// How many bytes were read since signals were looked for.
    done: usize,
}

impl Read for Interruptible {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes);
        match &read {
            Ok(size) => self.done = self.done.saturating_add(*size),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => self.done = UNINTERRUPTED,
            Err(_) => {}
        }
        if self.done >= UNINTERRUPTED {
            self.done = 0;
            check_signals()?;
        }
        read
    }
}
