use guira::Parameters;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::CuckooFilter;
use super::methods::ratio;
use crate::error::{SecretKeyError, build_error};
use crate::numbers;
use crate::options::Options;
use crate::table::builder;

/// How a filter is made, and what it would cost. Made by ``plan``.
///
/// It can be pickled, and so travel to other processes and machines, where ``build`` makes filters that can be merged with
/// each other.
#[pyclass(frozen, module = "guira_filters")]
pub(crate) struct Plan {
    options: Options,
    table: Parameters,
}

impl Plan {
    fn new(options: Options) -> PyResult<Self> {
        let table = builder::<guira::CuckooFilter>(&options).parameters().map_err(|error| build_error(&error))?;
        Ok(Self { options, table })
    }
}

#[pymethods]
impl Plan {
    /// Makes a filter, with the keys that are given: an array, a list, a column or another iterable.
    ///
    /// The filters that one plan makes can be merged, wherever they were made. A filter that was merged of parts answers
    /// every key as a single filter with all keys does, as long as neither has grown; so it has the same rate. Their bytes
    /// may differ, since keys lie where there was room when they came.
    ///
    /// >>> import functools, operator
    /// >>> day = plan(1000)
    /// >>> parts = [day.build(["ani", "guira"]), day.build(["koel"])]
    /// >>> functools.reduce(operator.or_, parts).contains_many(["ani", "koel", "hoopoe"]).tolist()
    /// [True, True, False]
    #[pyo3(signature = (keys=None))]
    fn build<'py>(&self, py: Python<'py>, keys: Option<&Bound<'py, PyAny>>) -> PyResult<CuckooFilter> {
        let filter = CuckooFilter::of_options(py, &self.options)?;
        keys.map_or(Ok(()), |keys| filter.update(keys))?;
        Ok(filter)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.options == other.options
    }

    fn __hash__(&self) -> u64 {
        self.options.capacity as u64 ^ self.options.rate.to_bits()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, options) = (slf.py(), &slf.get().options);
        if options.hasher.secret_key().is_some() {
            let message = "a plan with a secret key can't be pickled: make it where it is needed, from the key";
            return Err(SecretKeyError::new_err(message));
        }
        let rest = PyDict::new(py);
        rest.set_item("max_capacity", options.max_capacity)?;
        rest.set_item("growth_policy", options.growth_policy())?;
        rest.set_item("prefer", options.prefer())?;
        rest.set_item("seed", options.hasher.seed())?;
        let plan = py.import("guira_filters")?.getattr("plan")?;
        let call =
            py.import("functools")?.getattr("partial")?.call((plan, options.capacity, options.rate), Some(&rest))?;
        Ok((call, PyTuple::empty(py)))
    }

    /// How many distinct keys fit.
    #[getter]
    fn capacity(&self) -> u64 {
        self.table.capacity()
    }

    /// The false positive rate when ``capacity`` keys are stored.
    #[getter]
    fn expected_rate(&self) -> f64 {
        self.table.expected_false_positive_rate(self.table.capacity())
    }

    /// The bytes of the table.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.table.table_size()
    }

    /// The bits of the table for each key.
    #[getter]
    fn bits_per_key(&self) -> f64 {
        self.table.bits_per_key()
    }

    /// The share of the slots that are occupied when ``capacity`` keys are stored.
    #[getter]
    fn load_factor(&self) -> f64 {
        ratio(self.table.capacity(), self.table.slot_count())
    }

    /// How fingerprints are stored: "packed" or "semi-sorted".
    #[getter]
    fn layout(&self) -> String {
        self.table.layout().to_string()
    }

    /// The slots of a bucket.
    #[getter]
    fn slots_per_bucket(&self) -> u32 {
        self.table.slots_per_bucket()
    }

    /// The bits of a fingerprint.
    #[getter]
    fn fingerprint_bits(&self) -> u32 {
        self.table.fingerprint_bits()
    }

    fn __repr__(&self) -> String {
        format!(
            "Plan(capacity={}, expected_rate={:.3e}, nbytes={}, bits_per_key={:.2}, layout='{}')",
            self.capacity(),
            self.expected_rate(),
            self.nbytes(),
            self.bits_per_key(),
            self.layout()
        )
    }
}

/// Plans a filter: how it is made, and what it would cost. The arguments are those of ``CuckooFilter``.
///
/// >>> plan(1_000_000, 0.001).bits_per_key < 14
/// True
#[pyfunction]
#[pyo3(signature = (
    capacity, rate=0.001, *, max_capacity=None, growth_policy=None, prefer="speed", hash="xxh3", key=None, seed=0
))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn plan(
    #[pyo3(from_py_with = numbers::capacity)] capacity: usize,
    rate: f64,
    #[pyo3(from_py_with = numbers::max_capacity)] max_capacity: Option<usize>,
    growth_policy: Option<&str>,
    prefer: &str,
    hash: &str,
    key: Option<&[u8]>,
    #[pyo3(from_py_with = numbers::seed)] seed: u64,
) -> PyResult<Plan> {
    Plan::new(Options::new((capacity, rate), (max_capacity, growth_policy), prefer, (hash, key, seed))?)
}
