//! The extension module of the Python package `guira`, which README.md describes.

mod array;
mod arrow;
mod batch;
mod classes;
mod error;
mod keys;
mod libraries;
mod memory;
mod operations;
mod options;
mod table;
mod uuids;

/// The compiled part of the package `guira`.
#[pyo3::pymodule(gil_used = false)]
mod _guira {
    #[pymodule_export]
    use crate::classes::{
        CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet, Plan, open, plan,
    };

    #[pymodule_export]
    use crate::uuids::{Uuids, uuids};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "it is the name of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
