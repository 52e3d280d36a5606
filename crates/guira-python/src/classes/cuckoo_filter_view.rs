use std::path::PathBuf;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use super::methods::methods_of_tables;
use crate::error::{load_error, load_file_error};
use crate::keys::key_of;
use crate::memory::{map_file, view_of_buffer};
use crate::operations::{CountMany, look_up_many};
use crate::options::load_options;
use crate::saving::FilePath;
use crate::table::Locked;

/// A memory-mapped file of a filter or a set: opened at once whatever its size, and shared by all processes that open it. Made
/// by ``open``; ``from_bytes`` makes one of a file that is in memory.
///
/// It has the lookups of a filter, and can't be changed. When it is made, only the header is checked; ``verify`` reads the
/// whole file.
#[pyclass(frozen, module = "guira_filters", weakref)]
pub(crate) struct CuckooFilterView {
    table: Locked<guira::CuckooFilterView<'static>>,
    /// Where the file is, unless it is in memory.
    path: Option<PathBuf>,
}

methods_of_tables!(CuckooFilterView);

#[pymethods]
impl CuckooFilterView {
    /// A view of the bytes of a file of a ``CuckooFilter`` or a ``CuckooSet``, which are not copied: of any object with a
    /// read-only buffer, such as ``bytes`` or an array in memory that processes share.
    ///
    /// While there is the view, nobody may change the bytes. The other arguments are those of ``open``.
    ///
    /// >>> seen = CuckooFilter(1000)
    /// >>> seen.add("ani")
    /// >>> "ani" in CuckooFilterView.from_bytes(seen.to_bytes())
    /// True
    #[staticmethod]
    #[pyo3(signature = (data, key=None, *, normalized=false))]
    fn from_bytes(data: &Bound<'_, PyAny>, key: Option<&[u8]>, normalized: bool) -> PyResult<Self> {
        let view = view_of_buffer(data, load_options(key, normalized)?)?;
        Ok(Self { table: Locked::new(view.map_err(load_error)?), path: None })
    }

    /// How many copies of a key are stored.
    #[pyo3(signature = (key, /))]
    pub(crate) fn count(&self, key: &Bound<'_, PyAny>) -> PyResult<usize> {
        let key = key_of(self.table.hasher(), key)?;
        Ok(self.table.read().count(&key))
    }

    /// The number of copies of each of many keys, as a NumPy array of uint64.
    fn count_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        look_up_many(&CountMany(&self.table), keys)
    }

    /// Reads the whole file and makes all checks that loading makes. Raises ``CorruptFileError``.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.table.read().verify()).map_err(|error| match &self.path {
            Some(path) => load_file_error(error, path),
            None => load_error(error),
        })
    }
}

/// Opens a file of a ``CuckooFilter`` or a ``CuckooSet`` as a ``CuckooFilterView``, without loading it. What is no regular file,
/// such as a pipe, raises ``OSError``.
///
/// While it is open, nobody may write to the file or truncate it. Replacing it, as ``save`` does, is safe: the view keeps the
/// old file. ``key`` is the secret key, if keys are hashed with one; no file contains it. ``normalized=True`` is for a file of
/// ``guira build --lowercase`` or ``--trim``: it says that you do the same to keys. Such a file raises ``ParameterError`` without it.
#[pyfunction]
#[pyo3(signature = (path, key=None, *, normalized=false))]
pub(crate) fn open(path: FilePath, key: Option<&[u8]>, normalized: bool) -> PyResult<CuckooFilterView> {
    // A pipe would be waited for, and could not be mapped then.
    if path.0.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        let message = format!("{}: not a regular file, which alone can be mapped: load it", path.0.display());
        return Err(PyOSError::new_err(message));
    }
    let view = map_file(&path.0, load_options(key, normalized)?).map_err(|error| load_file_error(error, &path.0))?;
    Ok(CuckooFilterView { table: Locked::new(view), path: Some(path.0) })
}
