use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::methods::{built, class_of_table, merged_in_place, methods_of_files, methods_of_growth, methods_of_tables};
use crate::batch::pause;
use crate::error::insert_error;
use crate::keys::key_of;
use crate::numbers;
use crate::options::Options;
use crate::table::{Locked, Map, builder};

/// A map from keys to small numbers of ``value_bits`` bits each, which takes a few more bits per key.
///
/// A lookup returns the values of all keys that the map can't tell apart: the values of a key that was added are always among
/// them, and an absent key has none, except with probability ``rate``. With a ``max_capacity``, its table grows; see
/// ``CuckooFilter``.
///
/// Two maps are equal (``==``) if they have the same parameters and hash, and the same bits in their tables. With the same
/// pairs in another order, they can be unequal, since what comes later finds other room.
///
/// >>> shards = CuckooMap(1000, value_bits=8)
/// >>> shards.add("ani", 7)
/// >>> shards.get("ani"), shards.get("koel")
/// ((7,), ())
#[pyclass(frozen, module = "guira_filters", weakref)]
pub(crate) struct CuckooMap {
    table: Locked<Map>,
}

class_of_table!(CuckooMap, Map);
methods_of_tables!(CuckooMap);
methods_of_files!(CuckooMap);
methods_of_growth!(
    CuckooMap,
    "Adds all pairs of another map, which was made with the same parameters; maps that grow may have grown differently. A pair",
    "that both have is stored twice.",
    "",
    "Raises ``MergeError`` if they were made with different parameters, and ``FilterFullError`` or ``TooManyCopiesError`` if not",
    "all pairs fit; both are then unchanged."
);
merged_in_place!(CuckooMap);

#[pymethods]
impl CuckooMap {
    #[new]
    #[pyo3(signature = (
        capacity, rate=0.001, *, value_bits=8, max_capacity=None, growth_policy=None, hash="xxh3", key=None, seed=0
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::capacity)] capacity: usize,
        rate: f64,
        #[pyo3(from_py_with = numbers::value_bits)] value_bits: u32,
        #[pyo3(from_py_with = numbers::max_capacity)] max_capacity: Option<usize>,
        growth_policy: Option<&str>,
        hash: &str,
        key: Option<&[u8]>,
        #[pyo3(from_py_with = numbers::seed)] seed: u64,
    ) -> PyResult<Self> {
        let options = Options::new((capacity, rate), (max_capacity, growth_policy), "speed", (hash, key, seed))?;
        Ok(Self { table: built(py, &builder(&options).value_bits(value_bits))? })
    }

    /// Adds a value to those of a key.
    ///
    /// Raises ``FilterFullError``, ``TooManyCopiesError`` for one value more than the key's buckets hold, or
    /// ``ParameterError`` for a value with too many bits, which is ``OverflowError`` below 0 and from 2**32 on; the map is then
    /// unchanged.
    #[pyo3(signature = (key, /, value))]
    fn add(&self, key: &Bound<'_, PyAny>, #[pyo3(from_py_with = numbers::value)] value: u32) -> PyResult<()> {
        let key = key_of(self.table.hasher(), key)?;
        self.table.write().insert(&key, value).map_err(|error| insert_error(&error, 0))
    }

    /// Adds pairs, each a tuple of a key and a value, or the items of a dict. The pairs before one that is refused are stored.
    fn update(&self, pairs: &Bound<'_, PyAny>) -> PyResult<()> {
        let pairs = if pairs.hasattr("items")? { pairs.call_method0("items")? } else { pairs.clone() };
        for (number, pair) in pairs.try_iter()?.enumerate() {
            let pair = pair?;
            let (key, value) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>().map_err(|error| {
                let wrong = PyValueError::new_err("update takes tuples of a key and a value, or a dict");
                wrong.set_cause(pairs.py(), Some(error));
                wrong
            })?;
            let (key, value) = (key_of(self.table.hasher(), &key)?, numbers::value(&value)?);
            self.table.write().insert(&key, value).map_err(|error| insert_error(&error, number))?;
            pause(pairs.py(), number + 1)?;
        }
        Ok(())
    }

    /// The values of a key, and of keys that the map can't tell from it, in no particular order.
    #[pyo3(signature = (key, /))]
    pub(crate) fn get<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let hashed = key_of(self.table.hasher(), key)?;
        let values = self.table.read().get_all(&hashed);
        PyTuple::new(key.py(), values)
    }

    /// Removes one copy of a value from a key, or raises ``KeyError`` if the key does not have it. Remove only pairs that were
    /// added.
    #[pyo3(signature = (key, /, value))]
    fn remove(&self, key: &Bound<'_, PyAny>, #[pyo3(from_py_with = numbers::value)] value: u32) -> PyResult<()> {
        let hashed = key_of(self.table.hasher(), key)?;
        let removed = self.table.write().remove_value(&hashed, value);
        if removed { Ok(()) } else { Err(PyKeyError::new_err((key.clone().unbind(), value))) }
    }

    /// Removes one copy of a value from a key, if the key has it. Remove only pairs that were added.
    #[pyo3(signature = (key, /, value))]
    fn discard(&self, key: &Bound<'_, PyAny>, #[pyo3(from_py_with = numbers::value)] value: u32) -> PyResult<()> {
        let key = key_of(self.table.hasher(), key)?;
        self.table.write().remove_value(&key, value);
        Ok(())
    }

    /// The number of bits of a value.
    #[getter]
    fn value_bits(&self) -> u32 {
        self.measures().parameters.value_bits()
    }
}
