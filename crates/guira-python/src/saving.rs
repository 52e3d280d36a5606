//! The path of a file, and replacing one, where Ctrl-C ends the wait for another process that holds its lock.

use std::path::{Path, PathBuf};
use std::time::Duration;

use guira::raw::FileToWrite;
use guira_files::{LockedFile, ReplaceError, Replacement};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::save_error;

/// How long is waited between two checks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(100);

/// A path as the functions of Python take them: also `bytes`.
pub(crate) struct FilePath(pub(crate) PathBuf);

impl FromPyObject<'_, '_> for FilePath {
    type Error = PyErr;

    fn extract(path: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let path: PathBuf = path.py().import("os")?.call_method1("fsdecode", (path,))?.extract()?;
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(PyValueError::new_err("a path has no null character"));
        }
        Ok(Self(path))
    }
}

/// Puts a file in the place of any that is there, as the library's `save` does.
pub(crate) fn save(py: Python<'_>, file: &FileToWrite<'_>, path: &Path) -> PyResult<()> {
    loop {
        match py.detach(|| replace(file, path)) {
            Err(ReplaceError::Locked { .. }) => py.check_signals()?,
            replaced => return replaced.map_err(|error| save_error(py, &error, path)),
        }
    }
}

/// The same, unless another process holds the lock for longer than [`PATIENCE`].
fn replace(file: &FileToWrite<'_>, path: &Path) -> Result<(), ReplaceError> {
    // The lock is taken and released before a file is written that could not be put in place. Whatever else is wrong is found
    // again below.
    if let Err(locked @ ReplaceError::Locked { .. }) = LockedFile::within(path, Some(PATIENCE), &|_| {}) {
        return Err(locked);
    }
    let replacement = Replacement::of_any(path)?.waiting_at_most(Some(PATIENCE));
    replacement.commit(|new| file.write_to(new), &|_| {}).map(drop)
}
