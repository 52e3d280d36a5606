use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet};

use super::methods::{
    built, class_of_table, methods_of_files, methods_of_growth, methods_of_tables, methods_of_unique_keys,
};
use crate::error::insert_error;
use crate::keys::key_of;
use crate::numbers;
use crate::operations::{AddUniqueMany, apply_to_iterable};
use crate::options::Options;
use crate::table::{Locked, builder};

/// A set of keys to which keys are only added: each is stored once, however often it is added, and none is removed.
///
/// With a ``max_capacity``, its table grows; see ``CuckooFilter``. It has the methods of Python's own sets, as far as it can.
///
/// Two sets are equal (``==``), unlike Python's own, if they have the same parameters and hash, and the same bits in their
/// tables. With the same keys in another order, they can be unequal, since what comes later finds other room.
///
/// >>> seen = CuckooSet(1000)
/// >>> [word for word in ["ani", "guira", "ani"] if seen.add(word)]
/// ['ani', 'guira']
#[pyclass(frozen, module = "guira_filters", weakref)]
pub(crate) struct CuckooSet {
    table: Locked<guira::CuckooSet>,
}

class_of_table!(CuckooSet, guira::CuckooSet);
methods_of_tables!(CuckooSet);
methods_of_files!(CuckooSet);
methods_of_growth!(
    CuckooSet,
    "Adds all keys of another set, which was made with the same parameters; sets that grow may have grown differently.",
    "",
    "Raises ``MergeError`` if they were made with different parameters, and ``FilterFullError`` if the keys of both don't fit;",
    "both are then unchanged.",
    "",
    ">>> monday, tuesday = CuckooSet(1000), CuckooSet(1000)",
    ">>> monday.update([\"ani\", \"guira\"])",
    ">>> tuesday.update([\"ani\", \"koel\"])",
    ">>> monday.merge(tuesday)",
    ">>> len(monday), \"koel\" in monday",
    "(3, True)"
);
methods_of_unique_keys!(
    CuckooSet,
    "Adds many keys; which were probably not there before, as a NumPy array of bools.",
    add_many
);

#[pymethods]
impl CuckooSet {
    #[new]
    #[pyo3(signature = (
        capacity, rate=0.001, *, max_capacity=None, growth_policy=None, prefer="speed", hash="xxh3", key=None, seed=0
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::capacity)] capacity: usize,
        rate: f64,
        #[pyo3(from_py_with = numbers::max_capacity)] max_capacity: Option<usize>,
        growth_policy: Option<&str>,
        prefer: &str,
        hash: &str,
        key: Option<&[u8]>,
        #[pyo3(from_py_with = numbers::seed)] seed: u64,
    ) -> PyResult<Self> {
        let options = Options::new((capacity, rate), (max_capacity, growth_policy), prefer, (hash, key, seed))?;
        Ok(Self { table: built(py, &builder(&options))? })
    }

    /// Adds a key. Returns ``False`` if it was probably present before.
    ///
    /// Raises ``FilterFullError``; the set is then unchanged.
    #[pyo3(signature = (key, /))]
    pub(crate) fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = key_of(self.table.hasher(), key)?;
        self.table.write().insert(&key).map_err(|error| insert_error(&error, 0))
    }

    /// Adds all keys of an iterable. A null of a column of Arrow, pandas, Polars or DuckDB is left out; ``None`` in a list raises
    /// ``TypeError``.
    ///
    /// Raises ``FilterFullError`` for the first key that does not fit, with its ``index``; the keys before it are stored. Of a
    /// list or another iterable, so are the keys before an object that is no key, which raises ``TypeError``, or
    /// ``OverflowError`` for an integer that is too large; of a column, none is stored then.
    fn update(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        apply_to_iterable(&AddUniqueMany(&self.table), keys)
    }

    /// Adds all keys of one of Python's own sets, or of another set that was made with the same parameters: see ``merge``.
    fn __ior__(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(other) = keys.cast::<Self>() {
            return self.merge(keys.py(), other.get());
        }
        if keys.is_instance_of::<PySet>() || keys.is_instance_of::<PyFrozenSet>() {
            return self.update(keys);
        }
        let name = keys.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "|= takes a CuckooSet, set or frozenset, not {name}; update takes anything with keys"
        )))
    }

    /// The methods of Python's sets that there can't be, each with the reason.
    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        let reason = match name {
            "remove"
            | "discard"
            | "pop"
            | "difference_update"
            | "intersection_update"
            | "symmetric_difference_update" => {
                "removing a key would lose others that look the same; CuckooFilter and CountingCuckooFilter remove keys"
            }
            "isdisjoint"
            | "issubset"
            | "issuperset"
            | "union"
            | "intersection"
            | "difference"
            | "symmetric_difference" => {
                "its keys can't be listed, since it does not store them; contains_many says which of other keys it has"
            }
            _ => return Err(PyAttributeError::new_err(format!("'CuckooSet' object has no attribute '{name}'"))),
        };
        Err(PyAttributeError::new_err(format!("'CuckooSet' object has no attribute '{name}': {reason}")))
    }
}
