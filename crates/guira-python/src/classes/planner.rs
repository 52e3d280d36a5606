use guira::{CuckooFilter, Parameters};
use pyo3::prelude::*;

use super::methods::ratio;
use crate::error::build_error;
use crate::options::preference;

/// What a filter would cost, without making one. Made by ``plan``.
#[pyclass(frozen, module = "guira")]
pub(crate) struct Plan {
    table: Parameters,
}

#[pymethods]
impl Plan {
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

/// What a filter for a capacity and a rate would cost.
///
/// >>> plan(1_000_000, 0.001).bits_per_key < 14
/// True
#[pyfunction]
#[pyo3(signature = (capacity, rate=0.001, *, prefer="speed"))]
pub(crate) fn plan(capacity: usize, rate: f64, prefer: &str) -> PyResult<Plan> {
    let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(rate).preference(preference(prefer)?);
    Ok(Plan { table: builder.parameters().map_err(|error| build_error(&error))? })
}
