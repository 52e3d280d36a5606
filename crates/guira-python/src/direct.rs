//! `in`, and the methods whose only argument is a key, without what PyO3 does around each call.
//!
//! They are called once per key. PyO3's functions for them look for arguments by name and note that the thread holds the
//! interpreter's lock, a sixth of the instructions of a lookup and three tenths of those of `add`. These stay where a wheel is built
//! for the stable interface, which has no access to a class's function for `in`.
//!
//! What PyO3 has not noted it believes not to be: it releases objects later that are dropped meanwhile, when it notes the next time. So
//! only what drops none is done without: the keys that are most common, as long as there is no error.

#![expect(unsafe_code, reason = "the interpreter passes pointers to an object and its argument")]

use std::any::Any;
use std::ffi::{CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::types::{PyBytes, PyInt, PyModule, PyString, PyTuple};
use pyo3::{IntoPyObjectExt, PyClass, ffi};

use crate::classes::{
    CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet, ExpiringCuckooFilter,
};
use crate::memory::value_of;

/// A class of which `in` and some methods are called directly.
trait Direct: PyClass<Frozen = True> + Sync {
    /// The function for `in`.
    const CONTAINS: ffi::objobjproc;
    /// The names and functions of the methods.
    const METHODS: &'static [(&'static str, ffi::PyCFunction)];

    /// Replaces the functions by which the interpreter calls the class.
    fn call_directly(py: Python<'_>) -> PyResult<()> {
        let class = py.get_type::<Self>();
        for &(name, function) in Self::METHODS {
            let replaced = class.getattr(name)?;
            let (signature, text) = (replaced.getattr("__text_signature__")?, replaced.getattr("__doc__")?);
            // As the interpreter finds a signature within a text.
            let documentation = format!("{name}{signature}\n--\n\n{text}");
            // They are needed for as long as the class is there, which is until the process ends.
            let definition = Box::leak(Box::new(ffi::PyMethodDef {
                ml_name: CString::new(name)?.into_raw(),
                ml_meth: ffi::PyMethodDefPointer { PyCFunction: function },
                ml_flags: ffi::METH_O,
                ml_doc: CString::new(documentation)?.into_raw(),
            }));
            // SAFETY: the function takes an object of this class and one argument, as the flags say, and the definition is never
            // freed.
            let method = unsafe { ffi::PyDescr_NewMethod(class.as_type_ptr(), definition) };
            // SAFETY: a new reference, or null and an exception is set.
            class.setattr(name, unsafe { Bound::from_owned_ptr_or_err(py, method)? })?;
        }
        // SAFETY: a class is there as long as its object.
        let functions = unsafe { (*class.as_type_ptr()).tp_as_sequence };
        // SAFETY: a class that is made at run time has memory of its own for these, and nobody uses it before the module is made.
        unsafe { (*functions).sq_contains = Some(Self::CONTAINS) };
        Ok(())
    }
}

macro_rules! direct {
    ($class:ident: $($method:ident),*) => {
        impl Direct for $class {
            const CONTAINS: ffi::objobjproc = {
                unsafe extern "C" fn contains(object: *mut ffi::PyObject, key: *mut ffi::PyObject) -> c_int {
                    // SAFETY: the interpreter calls this with an object of the class, and a key.
                    let answer = unsafe { call(object, key, |class: &$class, key| class.__contains__(key)) };
                    answer.map_or(-1, c_int::from)
                }
                contains
            };

            const METHODS: &'static [(&'static str, ffi::PyCFunction)] = &[$((stringify!($method), {
                unsafe extern "C" fn method(object: *mut ffi::PyObject, key: *mut ffi::PyObject) -> *mut ffi::PyObject {
                    // SAFETY: the interpreter calls this with an object of the class, and a key.
                    let answer = unsafe {
                        call(object, key, |class: &$class, key| class.$method(key)?.into_object(key.py()))
                    };
                    answer.map_or(ptr::null_mut(), Py::into_ptr)
                }
                method
            })),*];
        }
    };
}

direct!(CuckooFilter: add, add_unique, remove, discard, count);
direct!(CuckooSet: add);
direct!(CountingCuckooFilter: add, remove, discard, count);
direct!(CuckooMap: get);
// Its other methods may be given a time.
direct!(ExpiringCuckooFilter:);
direct!(CuckooFilterView: count);

/// Has the interpreter call the classes of the module directly, which is being made.
pub(crate) fn call_directly(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    CuckooFilter::call_directly(py)?;
    CuckooSet::call_directly(py)?;
    CountingCuckooFilter::call_directly(py)?;
    CuckooMap::call_directly(py)?;
    ExpiringCuckooFilter::call_directly(py)?;
    CuckooFilterView::call_directly(py)
}

/// What a method returns to Python.
trait Answer {
    fn into_object(self, py: Python<'_>) -> PyResult<Py<PyAny>>;
}

impl Answer for () {
    fn into_object(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(py.None())
    }
}

macro_rules! answer {
    ($($type:ty),*) => {$(
        impl Answer for $type {
            fn into_object(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                self.into_py_any(py)
            }
        }
    )*};
}

answer!(bool, u64, usize, Bound<'_, PyTuple>);

/// Calls a method with a key. Where it fails, returns `None`, and its exception is set.
///
/// # Safety
///
/// The interpreter's lock is held, and the pointers are to an object of the class and to any object.
#[inline(always)]
unsafe fn call<C: PyClass<Frozen = True> + Sync, T>(
    object: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
    method: impl FnOnce(&C, &Bound<'_, PyAny>) -> PyResult<T>,
) -> Option<T> {
    // SAFETY: the caller promises it.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: the caller promises it; whoever calls a function keeps what it is given.
    let object = unsafe { Bound::ref_from_ptr(py, &object) };
    // SAFETY: as before.
    let key = unsafe { Bound::ref_from_ptr(py, &key) };
    // SAFETY: the caller promises it.
    let object = unsafe { object.cast_unchecked::<C>() };
    let run = AssertUnwindSafe(|| {
        if makes_no_objects(key) { method(object.get(), key) } else { Python::attach(|_| method(object.get(), key)) }
    });
    // What a panic leaves behind can't be used any more: the lock of the table says so.
    let error = match catch_unwind(run) {
        Ok(Ok(answer)) => return Some(answer),
        Ok(Err(error)) => error,
        Err(panic) => panicked(&*panic),
    };
    Python::attach(|py| error.restore(py));
    None
}

/// Whether a key is one of those that are hashed without making objects on the way.
#[inline]
fn makes_no_objects(key: &Bound<'_, PyAny>) -> bool {
    key.is_exact_instance_of::<PyBytes>()
        || key.is_exact_instance_of::<PyString>()
        || key.cast_exact::<PyInt>().is_ok_and(|integer| value_of(integer).is_some())
}

/// The exception that PyO3 raises for a panic.
#[cold]
fn panicked(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    PanicException::new_err(text.unwrap_or("a panic").to_owned())
}
