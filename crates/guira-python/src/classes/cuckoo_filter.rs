use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use super::methods::{
    built, class_of_table, merged_in_place, methods_of_copies, methods_of_files, methods_of_growth, methods_of_tables,
    methods_of_unique_keys,
};
use crate::error::insert_error;
use crate::keys::key_of;
use crate::numbers;
use crate::options::Options;
use crate::table::{Locked, builder};

/// A set of keys that answers "certainly not" or "probably", in a few bits per key, and that supports removal.
///
/// A key that was added and not removed is always found. An absent key is reported as present with a probability of at most
/// ``rate``, while the filter holds no more than ``capacity`` distinct keys, or ``max_capacity`` if it may grow that far.
///
/// With ``growth_policy="raise-rate"`` it takes still more keys, at a rate that doubles each time their number does, until
/// fingerprints have no bit left to give; then, at 1 to 3 %, the filter is full.
///
/// ``prefer`` is "speed", or "space" for the least memory. ``hash`` is "xxh3" with a ``seed``, or "siphash" with a secret
/// ``key`` of 16 bytes and no seed, for keys that an attacker may choose.
///
/// Two filters are equal (``==``) if they have the same parameters and hash, and the same bits in their tables. With the same
/// keys in another order, they can be unequal, since what comes later finds other room.
///
/// >>> seen = CuckooFilter(1000)
/// >>> seen.add("ani")
/// >>> "ani" in seen, "koel" in seen
/// (True, False)
/// >>> seen.remove("ani")
/// >>> len(seen)
/// 0
#[pyclass(frozen, module = "guira_filters", weakref)]
pub(crate) struct CuckooFilter {
    table: Locked<guira::CuckooFilter>,
}

class_of_table!(CuckooFilter, guira::CuckooFilter);
methods_of_tables!(CuckooFilter);
methods_of_files!(CuckooFilter);
methods_of_copies!(CuckooFilter);
methods_of_growth!(
    CuckooFilter,
    "Adds all keys of another filter, which was made with the same parameters; filters that grow may have grown differently.",
    "",
    "Raises ``MergeError`` if they were made with different parameters, and ``FilterFullError`` if not all keys fit; both",
    "are then unchanged."
);
merged_in_place!(CuckooFilter);
methods_of_unique_keys!(
    CuckooFilter,
    "Adds those of many keys that are probably not there; which were added, as a NumPy array of bools.",
    add_unique_many
);

impl CuckooFilter {
    pub(crate) fn of_options(py: Python<'_>, options: &Options) -> PyResult<Self> {
        Ok(Self { table: built(py, &builder(options))? })
    }
}

#[pymethods]
impl CuckooFilter {
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
        Self::of_options(py, &options)
    }

    /// Adds a copy of a key.
    ///
    /// A key that is added again is stored again, as often as its buckets have slots (usually 8 times), and has to be removed
    /// as often; for keys that occur many times use ``add_unique``, ``CuckooSet`` or ``CountingCuckooFilter``.
    ///
    /// Raises ``FilterFullError``, or ``TooManyCopiesError`` for one copy too many; the filter is then unchanged.
    #[pyo3(signature = (key, /))]
    pub(crate) fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = key_of(self.table.hasher(), key)?;
        self.table.write().insert(&key).map_err(|error| insert_error(&error, 0))
    }

    /// Adds a key unless it is probably present. Returns ``True`` if it was added.
    ///
    /// Never combine this with removal: two keys that the filter can't tell apart then share one copy, and removing either
    /// loses the other.
    ///
    /// >>> seen = CuckooFilter(1000)
    /// >>> seen.add_unique("ani"), seen.add_unique("ani")
    /// (True, False)
    #[pyo3(signature = (key, /))]
    pub(crate) fn add_unique(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = key_of(self.table.hasher(), key)?;
        self.table.write().insert_if_absent(&key).map_err(|error| insert_error(&error, 0))
    }

    /// Removes one copy of a key, or raises ``KeyError`` if there is none.
    ///
    /// Remove only what was added: removing an absent key that the filter reports as present removes another key's copy.
    ///
    /// >>> CuckooFilter(1000).remove("ani")
    /// Traceback (most recent call last):
    ///     ...
    /// KeyError: 'ani'
    #[pyo3(signature = (key, /))]
    pub(crate) fn remove(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let hashed = key_of(self.table.hasher(), key)?;
        if self.table.write().remove(&hashed) { Ok(()) } else { Err(PyKeyError::new_err(key.clone().unbind())) }
    }

    /// Removes one copy of a key if there is one. Remove only what was added.
    #[pyo3(signature = (key, /))]
    pub(crate) fn discard(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = key_of(self.table.hasher(), key)?;
        self.table.write().remove(&key);
        Ok(())
    }

    /// How many copies of a key are stored: at least as many as were added and not removed.
    #[pyo3(signature = (key, /))]
    pub(crate) fn count(&self, key: &Bound<'_, PyAny>) -> PyResult<usize> {
        let key = key_of(self.table.hasher(), key)?;
        Ok(self.table.read().count(&key))
    }
}
