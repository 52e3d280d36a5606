//! The methods that several classes have in common.

use std::path::Path;

use guira::{FilterBuilder, FilterKind, LoadError};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMemoryView, PyTuple, PyType};

use crate::error::{SecretKeyError, build_error, load_error, load_file_error, merge_error};
use crate::loading;
use crate::memory::buffer_of_bytes;
use crate::options::load_options;
use crate::saving;
use crate::table::{Locked, Measures, Stored};

impl Measures {
    pub(crate) fn rate(&self) -> f64 {
        self.parameters.expected_false_positive_rate(self.capacity)
    }

    pub(crate) fn expected_rate(&self) -> f64 {
        self.parameters.expected_false_positive_rate(self.occupied)
    }

    pub(crate) fn load_factor(&self) -> f64 {
        ratio(self.occupied, self.parameters.slot_count())
    }

    pub(crate) fn nbytes(&self) -> u64 {
        self.parameters.table_size()
    }

    pub(crate) fn bits_per_key(&self) -> f64 {
        self.parameters.bits_per_key() * ratio(self.parameters.capacity(), self.capacity)
    }

    pub(crate) fn repr(&self, name: &str, len: u64) -> String {
        let growth = self.growth.map_or_else(String::new, |(keys, _)| format!(", max_capacity={keys}"));
        format!(
            "{name}(len={len}, capacity={}{growth}, rate={:.3e}, load_factor={:.3}, nbytes={})",
            self.capacity,
            self.rate(),
            self.load_factor(),
            self.nbytes()
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio is a double, and so has 53 bits")]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// A class that can be changed, over a table of the library.
pub(crate) trait Class: Sized + Sync {
    type Table: Stored + 'static;

    fn table(&self) -> &Locked<Self::Table>;
    fn of_file(py: Python<'_>, table: Locked<Self::Table>) -> Result<Self, LoadError>;
    /// Another one that differs in its table only.
    fn with_table(&self, table: Locked<Self::Table>) -> Self;
    /// Does what is to be done before the size of the table changes.
    fn before_change(&self, _py: Python<'_>) -> PyResult<()> {
        Ok(())
    }
    /// Refuses what is not to be merged though the tables could be, and so is not equal.
    fn refuse_to_merge(&self, _other: &Self) -> PyResult<()> {
        Ok(())
    }
}

/// A new table.
pub(crate) fn built<T: FilterKind + Stored + 'static>(
    py: Python<'_>,
    builder: &FilterBuilder<T>,
) -> PyResult<Locked<T>> {
    let table = py.detach(|| builder.build());
    table.map(Locked::new).map_err(|error| build_error(&error))
}

/// The bytes of any object with a buffer, as a file.
pub(crate) fn from_bytes<C: Class>(data: &Bound<'_, PyAny>, key: Option<&[u8]>, normalized: bool) -> PyResult<C> {
    let py = data.py();
    let options = load_options(key, normalized)?;
    let table = if let Ok(bytes) = data.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        py.detach(|| options.from_bytes(bytes))
    } else {
        let bytes = copied_from(data)?;
        py.detach(|| options.from_bytes(&bytes))
    };
    table.and_then(|table| C::of_file(py, Locked::new(table))).map_err(load_error)
}

/// The file at a path.
pub(crate) fn load<C: Class>(py: Python<'_>, path: &Path, key: Option<&[u8]>, normalized: bool) -> PyResult<C> {
    let table = loading::load(py, load_options(key, normalized)?, path);
    table.and_then(|table| C::of_file(py, Locked::new(table))).map_err(|error| load_file_error(error, path))
}

/// The bytes of any object with a buffer.
fn copied_from(data: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match buffer_of_bytes(data) {
        Ok(buffer) => copied(data.py(), &buffer),
        Err(error) => {
            // Arrays of ctypes name the order of the bytes of an item, also where it has one.
            let view = PyMemoryView::from(data)?;
            if !view.getattr("itemsize")?.eq(1)? {
                return Err(error);
            }
            copied(data.py(), &PyBuffer::get(&view.call_method0("tobytes")?)?)
        }
    }
}

/// The bytes of a buffer.
pub(crate) fn copied(py: Python<'_>, buffer: &PyBuffer<u8>) -> PyResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let size = buffer.item_count();
    bytes.try_reserve_exact(size).map_err(|_| PyMemoryError::new_err(format!("no memory for {size} bytes")))?;
    bytes.resize(size, 0);
    buffer.copy_to_slice(py, &mut bytes)?;
    Ok(bytes)
}

pub(crate) fn to_bytes<'py, T: Stored>(py: Python<'py>, table: &Locked<T>) -> PyResult<Bound<'py, PyBytes>> {
    let snapshot = py.detach(|| table.snapshot())?;
    let file = py.detach(|| snapshot.file());
    let size = usize::try_from(file.size());
    let size = size.map_err(|_| PyMemoryError::new_err(format!("a file of {} bytes", file.size())))?;
    PyBytes::new_with(py, size, |bytes| Ok(py.detach(|| file.write_to(bytes))?))
}

pub(crate) fn save<T: Stored>(py: Python<'_>, table: &Locked<T>, path: &Path) -> PyResult<()> {
    let snapshot = py.detach(|| table.snapshot())?;
    saving::save(py, &py.detach(|| snapshot.file()), path)
}

/// Adds what another one holds.
pub(crate) fn merge<C: Class>(py: Python<'_>, one: &C, other: &C) -> PyResult<()> {
    one.refuse_to_merge(other)?;
    // One lock after the other: they may be one.
    let other = py.detach(|| other.table().snapshot())?;
    let merged = py.detach(|| one.table().write().merge(&other));
    merged.map_err(|error| merge_error(&error))
}

/// The function that `pickle` calls, and its argument: `from_bytes` of the class, and the bytes of the file.
pub(crate) fn reduce<'py, T: Stored>(
    py: Python<'py>,
    class: &Bound<'py, PyType>,
    table: &Locked<T>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    if table.hasher().secret_key().is_some() {
        let message = "a filter with a secret key can't be pickled, since its bytes don't hold the key: pass to_bytes() on, \
                       and give the key to from_bytes()";
        return Err(SecretKeyError::new_err(message));
    }
    let keywords = PyDict::new(py);
    // Whoever has the object knows what is done to its keys.
    keywords.set_item("normalized", true)?;
    let from_bytes = py.import("operator")?.getattr("methodcaller")?;
    let from_bytes = from_bytes.call(("from_bytes", to_bytes(py, table)?), Some(&keywords))?;
    Ok((from_bytes, PyTuple::new(py, [class])?))
}

/// The methods of every class whose answers do not depend on the time.
macro_rules! methods_of_tables {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            #[inline]
            pub(crate) fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
                let key = crate::keys::key_of(self.table.hasher(), key)?;
                Ok(crate::table::Lookup::contains(&*self.table.read(), &key))
            }

            /// Looks up many keys. Returns a NumPy array of bools: ``True`` for keys that are probably present; ``False`` is
            /// certain.
            ///
            /// The keys are a NumPy array, a list, a column of Arrow (of pyarrow, Polars, pandas or DuckDB) or another
            /// iterable. A null of a column is never present; ``None`` in a list raises ``TypeError``.
            fn contains_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::operations::look_up_many(&crate::operations::ContainsMany(&self.table), keys)
            }

            fn __len__(&self) -> usize {
                usize::try_from(crate::table::Lookup::len(&*self.table.read())).unwrap_or(usize::MAX)
            }

            fn __repr__(&self) -> String {
                self.measures().repr(stringify!($class), crate::table::Lookup::len(&*self.table.read()))
            }
        }

        crate::classes::methods::measures_of_tables!($class);
    };
}

/// The numbers of every class.
macro_rules! measures_of_tables {
    ($class:ident) => {
        impl $class {
            fn measures(&self) -> crate::table::Measures {
                crate::table::Lookup::measures(&*self.table.read())
            }
        }

        #[pymethods]
        impl $class {
            /// The number of distinct keys that are promised to fit, or, if the filter grows, to fit before it grows next.
            #[getter]
            fn capacity(&self) -> u64 {
                self.measures().capacity
            }

            /// The false positive rate when ``capacity`` keys are stored: at most the rate that was asked for.
            #[getter]
            fn rate(&self) -> f64 {
                self.measures().rate()
            }

            /// The false positive rate at present.
            #[getter]
            fn expected_rate(&self) -> f64 {
                self.measures().expected_rate()
            }

            /// The share of the slots that are occupied.
            #[getter]
            fn load_factor(&self) -> f64 {
                self.measures().load_factor()
            }

            /// The bytes of the table in memory.
            #[getter]
            fn nbytes(&self) -> u64 {
                self.measures().nbytes()
            }

            /// The bits of the table for each key, when ``capacity`` keys are stored.
            #[getter]
            fn bits_per_key(&self) -> f64 {
                self.measures().bits_per_key()
            }
        }
    };
}

/// A class that is its table alone.
macro_rules! class_of_table {
    ($class:ident, $table:ty) => {
        impl crate::classes::methods::Class for $class {
            type Table = $table;

            fn table(&self) -> &Locked<$table> {
                &self.table
            }

            fn of_file(_py: Python<'_>, table: Locked<$table>) -> Result<Self, guira::LoadError> {
                Ok(Self { table })
            }

            fn with_table(&self, table: Locked<$table>) -> Self {
                Self { table }
            }
        }
    };
}

/// The methods of every class that can be saved.
macro_rules! methods_of_files {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// The bytes of the file, which every later release of guira reads, also in Rust.
            fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
                crate::classes::methods::to_bytes(py, &self.table)
            }

            /// Loads the bytes of a file, from any object with a buffer. Every byte is checked.
            ///
            /// ``key`` is the secret key, if keys are hashed with one; no file contains it. ``normalized=True`` is for a file
            /// of ``guira build --lowercase`` or ``--trim``: it says that you do the same to keys. Such a file raises
            /// ``ParameterError`` without it.
            #[staticmethod]
            #[pyo3(signature = (data, key=None, *, normalized=false))]
            fn from_bytes(data: &Bound<'_, PyAny>, key: Option<&[u8]>, normalized: bool) -> PyResult<Self> {
                crate::classes::methods::from_bytes(data, key, normalized)
            }

            /// Writes the file, atomically: whoever opens ``path`` finds the old file or the new one, also after a crash.
            ///
            /// It replaces what is there, also what another process has added since the file was loaded: load it, change it and
            /// save it again. While another process holds the file's lock, such as a ``guira add`` that is running, it waits, as
            /// long as that takes; Ctrl-C ends the wait, and the old file stays.
            ///
            /// Raises ``OSError``.
            fn save(&self, py: Python<'_>, path: crate::saving::FilePath) -> PyResult<()> {
                crate::classes::methods::save(py, &self.table, &path.0)
            }

            /// Reads a file. Every byte is checked. Ctrl-C ends it.
            ///
            /// ``key`` is the secret key, if keys are hashed with one; no file contains it. ``normalized=True`` is for a file
            /// of ``guira build --lowercase`` or ``--trim``: it says that you do the same to keys. Such a file raises
            /// ``ParameterError`` without it.
            #[staticmethod]
            #[pyo3(signature = (path, key=None, *, normalized=false))]
            fn load(
                py: Python<'_>,
                path: crate::saving::FilePath,
                key: Option<&[u8]>,
                normalized: bool,
            ) -> PyResult<Self> {
                crate::classes::methods::load(py, &path.0, key, normalized)
            }

            /// Removes all keys.
            fn clear(&self, py: Python<'_>) {
                py.detach(|| crate::table::Stored::clear(&mut *self.table.write()));
            }

            /// A copy, which shares nothing with this one.
            fn copy(&self, py: Python<'_>) -> PyResult<Self> {
                let copy = crate::table::Locked::new(py.detach(|| self.table.snapshot())?);
                Ok(crate::classes::methods::Class::with_table(self, copy))
            }

            fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
                self.copy(py)
            }

            fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
                self.copy(py)
            }

            fn __reduce__<'py>(
                slf: &Bound<'py, Self>,
            ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, pyo3::types::PyTuple>)> {
                crate::classes::methods::reduce(slf.py(), &slf.get_type(), &slf.get().table)
            }

            /// What the documentation of the class says, since Python shows none of this method.
            fn __eq__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                let Ok(other) = other.cast::<Self>() else {
                    return Ok(py.NotImplemented().into_bound(py));
                };
                let other = other.get();
                let is_alike = crate::classes::methods::Class::refuse_to_merge(self, other).is_ok();
                let other = &other.table;
                // One lock after the other: two threads that hold one each and wait for the other would deadlock.
                let equal = py.detach(|| {
                    let other = other.snapshot()?;
                    Ok::<_, PyErr>(*self.table.read() == other)
                })?;
                Ok(pyo3::types::PyBool::new(py, equal && is_alike).to_owned().into_any())
            }
        }
    };
}

/// The methods of every class that is merged and grows.
macro_rules! methods_of_growth {
    ($class:ident, $($merge:literal),+) => {
        #[pymethods]
        impl $class {
            $(#[doc = $merge])+
            fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
                crate::classes::methods::merge(py, self, other)
            }

            /// A new one with what both hold, which were made with the same parameters: see ``merge``.
            fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                let py = slf.py();
                let Ok(other) = other.cast::<Self>() else {
                    return Ok(py.NotImplemented().into_bound(py));
                };
                let both = slf.get().copy(py)?;
                both.merge(py, other.get())?;
                Ok(Bound::new(py, both)?.into_any())
            }

            /// An empty one with the same parameters, so that the two can be merged; it also grows as far.
            fn empty_like(&self, py: Python<'_>) -> PyResult<Self> {
                let empty = py.detach(|| crate::table::Stored::empty_like(&*self.table.read()));
                let empty = empty.map_err(|error| crate::error::build_error(&error.into()))?;
                Ok(crate::classes::methods::Class::with_table(self, crate::table::Locked::new(empty)))
            }

            /// Makes room for so many distinct keys more, so that the table is not enlarged while they are added.
            ///
            /// Raises ``FilterFullError`` if it may not grow so far; it is then unchanged.
            fn reserve(
                &self,
                py: Python<'_>,
                #[pyo3(from_py_with = crate::numbers::additional)] additional: usize,
            ) -> PyResult<()> {
                crate::classes::methods::Class::before_change(self, py)?;
                let reserved = py.detach(|| crate::table::Stored::reserve(&mut *self.table.write(), additional));
                reserved.map_err(|error| crate::error::reserve_error(&error))
            }

            /// Makes the table smaller as long as an eighth of its capacity stays free, down to the size it had at first. One
            /// that does not grow stays as it is.
            fn shrink_to_fit(&self, py: Python<'_>) -> PyResult<()> {
                crate::classes::methods::Class::before_change(self, py)?;
                py.detach(|| crate::table::Stored::shrink_to_fit(&mut *self.table.write()));
                Ok(())
            }

            /// The number of distinct keys up to which it grows at its rate; ``None`` if it does not grow.
            #[getter]
            fn max_capacity(&self) -> Option<usize> {
                self.measures().growth.map(|(keys, _)| keys)
            }

            /// What it does with more keys than ``max_capacity``: "keep-rate", which refuses them, or "raise-rate"; ``None`` if
            /// it does not grow.
            #[getter]
            fn growth_policy(&self) -> Option<&'static str> {
                self.measures().growth.map(|(_, policy)| crate::options::name_of(policy))
            }
        }
    };
}

/// `|=` for what is of the same class.
macro_rules! merged_in_place {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            fn __ior__(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
                self.merge(py, other)
            }
        }
    };
}

/// The methods of classes that store copies of keys and remove them.
macro_rules! methods_of_copies {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Adds many keys: a NumPy array, a list, a column of Arrow (of pyarrow, Polars, pandas or DuckDB) or another
            /// iterable. A null of a column is left out; ``None`` in a list raises ``TypeError``.
            ///
            /// Raises ``FilterFullError`` for the first key that does not fit, with its ``index``; the keys before it are
            /// stored. Of a list or another iterable, so are the keys before an object that is no key, which raises ``TypeError``,
            /// or ``OverflowError`` for an integer that is too large; of a column, none is stored then. Ctrl-C interrupts it,
            /// between keys.
            pub(crate) fn update(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
                crate::operations::apply_to_iterable(&crate::operations::AddMany(&self.table), keys)
            }

            /// Adds many keys, like ``update``.
            fn add_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
                self.update(keys)
            }

            /// Removes one copy of each of many keys. Returns a NumPy array of bools: ``True`` where there was one.
            ///
            /// Remove only what was added: see ``remove``. Nothing is removed if one of several objects is no key.
            fn remove_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::operations::change_many(&crate::operations::RemoveMany(&self.table), keys)
            }

            /// The number of copies of each of many keys, as a NumPy array of uint64.
            fn count_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::operations::look_up_many(&crate::operations::CountMany(&self.table), keys)
            }
        }
    };
}

/// The methods of classes that store each key once.
macro_rules! methods_of_unique_keys {
    ($class:ident, $doc:literal, $add_many:ident) => {
        #[pymethods]
        impl $class {
            #[doc = $doc]
            ///
            /// Of equal keys in one batch, the first is new and the others are not. Raises ``FilterFullError`` for the first
            /// key that finds no room, with its ``index``; the keys before it are stored. Nothing is stored if one of several
            /// objects is no key.
            fn $add_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::operations::change_many(&crate::operations::AddUniqueMany(&self.table), keys)
            }
        }
    };
}

pub(crate) use class_of_table;
pub(crate) use measures_of_tables;
pub(crate) use merged_in_place;
pub(crate) use methods_of_copies;
pub(crate) use methods_of_files;
pub(crate) use methods_of_growth;
pub(crate) use methods_of_tables;
pub(crate) use methods_of_unique_keys;
