use pyo3::prelude::*;

use crate::error::build_error;
use crate::options::preference;

/// What a filter would cost, without making one. Made by ``plan``.
#[pyclass(frozen, module = "guira")]
pub(crate) struct Plan {
    plan: guira::analysis::Plan,
}

#[pymethods]
impl Plan {
    /// How many distinct keys fit.
    #[getter]
    fn capacity(&self) -> u64 {
        self.plan.parameters().capacity()
    }

    /// The share of absent keys that are taken for present ones when ``capacity`` keys are stored.
    #[getter]
    fn expected_rate(&self) -> f64 {
        self.plan.expected_false_positive_rate()
    }

    /// The bytes of the table.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.plan.size_in_bytes()
    }

    /// The bits of the table for each key.
    #[getter]
    fn bits_per_key(&self) -> f64 {
        self.plan.bits_per_key()
    }

    /// The share of the slots that are filled when ``capacity`` keys are stored.
    #[getter]
    fn load_factor(&self) -> f64 {
        self.plan.load_factor()
    }

    /// How fingerprints are stored: "packed", "semi-sorted" or "windowed".
    #[getter]
    fn layout(&self) -> &'static str {
        self.plan.parameters().layout().name()
    }

    /// The slots of a bucket.
    #[getter]
    fn slots_per_bucket(&self) -> u32 {
        self.plan.parameters().slots_per_bucket()
    }

    /// The bits of a fingerprint.
    #[getter]
    fn fingerprint_bits(&self) -> u32 {
        self.plan.parameters().fingerprint_bits()
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
pub(crate) fn plan(capacity: u64, rate: f64, prefer: &str) -> PyResult<Plan> {
    let plan = guira::analysis::Plan::new(capacity, rate, preference(prefer)?);
    Ok(Plan { plan: plan.map_err(|error| build_error(&error))? })
}
