use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use super::methods::{
    built, class_of_table, merged_in_place, methods_of_copies, methods_of_files, methods_of_growth, methods_of_tables,
};
use crate::error::insert_error;
use crate::keys::key_of;
use crate::numbers;
use crate::options::Options;
use crate::table::{Locked, builder};

/// A filter that counts keys, for keys that occur many times.
///
/// A key is counted up to 2 ** ``counter_bits`` times. ``len`` is how many keys are counted, and ``total()`` the sum of
/// their counts, as with ``collections.Counter``. With a ``max_capacity``, its table grows; see ``CuckooFilter``.
///
/// Two filters are equal (``==``) if they have the same parameters and hash, and the same bits in their tables. With the same
/// keys in another order, they can be unequal, since what comes later finds other room.
///
/// >>> sightings = CountingCuckooFilter(1000)
/// >>> sightings.update(["ani"] * 100)
/// >>> sightings.count("ani"), sightings.total(), len(sightings)
/// (100, 100, 1)
#[pyclass(frozen, module = "guira_filters", weakref)]
pub(crate) struct CountingCuckooFilter {
    table: Locked<guira::CountingCuckooFilter>,
}

class_of_table!(CountingCuckooFilter, guira::CountingCuckooFilter);
methods_of_tables!(CountingCuckooFilter);
methods_of_files!(CountingCuckooFilter);
methods_of_copies!(CountingCuckooFilter);
methods_of_growth!(
    CountingCuckooFilter,
    "Adds all counts of another filter, which was made with the same parameters; filters that grow may have grown differently.",
    "",
    "Raises ``MergeError`` if they were made with different parameters, ``FilterFullError`` if not all keys fit, and",
    "``CounterFullError`` if a key is counted too often; both are then unchanged.",
    "",
    ">>> monday = CountingCuckooFilter(1000)",
    ">>> tuesday = monday.empty_like()",
    ">>> monday.add(\"ani\")",
    ">>> tuesday.update([\"ani\", \"koel\"])",
    ">>> (monday | tuesday).count(\"ani\")",
    "2"
);
merged_in_place!(CountingCuckooFilter);

#[pymethods]
impl CountingCuckooFilter {
    #[new]
    #[pyo3(signature = (
        capacity, rate=0.001, *, counter_bits=8, max_capacity=None, growth_policy=None, hash="xxh3", key=None, seed=0
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::capacity)] capacity: usize,
        rate: f64,
        #[pyo3(from_py_with = numbers::counter_bits)] counter_bits: u32,
        #[pyo3(from_py_with = numbers::max_capacity)] max_capacity: Option<usize>,
        growth_policy: Option<&str>,
        hash: &str,
        key: Option<&[u8]>,
        #[pyo3(from_py_with = numbers::seed)] seed: u64,
    ) -> PyResult<Self> {
        let options = Options::new((capacity, rate), (max_capacity, growth_policy), "speed", (hash, key, seed))?;
        Ok(Self { table: built(py, &builder(&options).value_bits(counter_bits))? })
    }

    /// Counts a key once more.
    ///
    /// Raises ``FilterFullError`` for a new key that does not fit, and ``CounterFullError`` for a key whose counter is at its
    /// maximum; the filter is then unchanged.
    #[pyo3(signature = (key, /))]
    pub(crate) fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = key_of(self.table.hasher(), key)?;
        self.table.write().insert(&key).map_err(|error| insert_error(&error, 0))
    }

    /// Counts a key once less, or raises ``KeyError`` if it is not counted. Remove only what was added.
    #[pyo3(signature = (key, /))]
    pub(crate) fn remove(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let hashed = key_of(self.table.hasher(), key)?;
        if self.table.write().remove(&hashed) { Ok(()) } else { Err(PyKeyError::new_err(key.clone().unbind())) }
    }

    /// Counts a key once less if it is counted. Remove only what was added.
    #[pyo3(signature = (key, /))]
    pub(crate) fn discard(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = key_of(self.table.hasher(), key)?;
        self.table.write().remove(&key);
        Ok(())
    }

    /// The count of a key: at least as often as it was added and not removed.
    #[pyo3(signature = (key, /))]
    pub(crate) fn count(&self, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let key = key_of(self.table.hasher(), key)?;
        Ok(self.table.read().count(&key))
    }

    /// The sum of all counts.
    fn total(&self) -> u64 {
        self.table.read().total()
    }

    /// The greatest count of a key.
    #[getter]
    fn max_count(&self) -> u64 {
        self.table.read().max_count()
    }
}
