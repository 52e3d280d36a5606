//! The extension module of the Python package `guira_filters`, which README.md describes.

mod array;
mod arrow;
mod batch;
mod classes;
#[cfg(not(feature = "abi3"))]
mod direct;
mod error;
mod fork;
mod keys;
mod libraries;
mod loading;
mod memory;
mod numbers;
mod operations;
mod options;
mod saving;
mod table;
mod times;
mod uuids;
mod waiting;

/// The compiled part of the package `guira_filters`.
#[pyo3::pymodule(gil_used = false)]
mod _guira_filters {
    #[pymodule_export]
    use crate::classes::{
        CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet, ExpiringCuckooFilter, Plan, open,
        plan,
    };

    #[pymodule_export]
    use crate::uuids::{Uuids, uuids};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "it is the name of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        // PyO3 takes the interpreter's lock in a way that waits for ever in any other.
        if !crate::memory::is_in_main_interpreter(module.py()) {
            let message = "guira_filters can't be used in a subinterpreter: import it in the main one, as mod_wsgi does with \
                           WSGIApplicationGroup %{GLOBAL}";
            return Err(pyo3::exceptions::PyImportError::new_err(message));
        }
        #[cfg(not(feature = "abi3"))]
        crate::direct::call_directly(module)?;
        crate::fork::register_functions(module)
    }
}
