use pyo3::prelude::*;

use super::methods::{methods_of_files, methods_of_tables, methods_of_unique_keys};
use crate::error::{build_error, insert_error};
use crate::keys::key_of;
use crate::operations::{AddUniqueMany, apply_to_iterable};
use crate::options::{Options, hasher, preference};
use crate::table::{Locked, new_set};

/// A set of keys that only grows: each key is stored once, however often it is added, and none is removed.
///
/// >>> seen = CuckooSet(1000)
/// >>> [word for word in ["ani", "guira", "ani"] if seen.add(word)]
/// ['ani', 'guira']
#[pyclass(frozen, module = "guira", weakref)]
pub(crate) struct CuckooSet {
    table: Locked<guira::CuckooSet>,
}

methods_of_tables!(CuckooSet);
methods_of_files!(CuckooSet);
methods_of_unique_keys!(
    CuckooSet,
    "Adds many keys; which were probably not there before, as a NumPy array of bools.",
    add_many
);

#[pymethods]
impl CuckooSet {
    #[new]
    #[pyo3(signature = (capacity, rate=0.001, *, prefer="speed", hash="xxh3", key=None, seed=0))]
    fn new(
        py: Python<'_>,
        capacity: usize,
        rate: f64,
        prefer: &str,
        hash: &str,
        key: Option<&[u8]>,
        seed: u64,
    ) -> PyResult<Self> {
        let (preference, hasher) = (preference(prefer)?, hasher(hash, key, seed)?);
        let options = Options { capacity, rate, max_capacity: None, preference, hasher };
        let set = py.detach(|| new_set(&options));
        Ok(Self { table: Locked::new(set.map_err(|error| build_error(&error))?) })
    }

    /// Adds a key. Returns ``False`` if it was probably present before.
    ///
    /// Raises ``FilterFullError``; the set is then unchanged.
    fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = key_of(self.table.hasher(), key)?;
        self.table.write().insert(&key).map_err(|error| insert_error(&error, 0))
    }

    /// Adds all keys of an iterable. A null is left out.
    ///
    /// Raises ``FilterFullError`` for the first key that does not fit, with its ``index``; the keys before it are stored.
    fn update(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        apply_to_iterable(&AddUniqueMany(&self.table), keys)
    }
}
