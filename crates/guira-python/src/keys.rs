//! One Python object to one key: which values are keys, and which bytes they stand for.

use guira::{Digest, KeyHasher};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyMemoryView, PyString, PyType};

use crate::classes::copied;
use crate::memory::{index_of, value_of};

/// The key of a Python object, as its digest, since the object can't be used without the interpreter's lock.
pub(crate) fn key_of(hasher: &KeyHasher, object: &Bound<'_, PyAny>) -> PyResult<Digest> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(hasher.digest(bytes.as_bytes()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(hasher.digest(text.to_str()?));
    }
    if let Ok(integer) = object.cast::<PyInt>() {
        return key_of_integer(hasher, integer);
    }
    match index_of(object) {
        Some(Ok(integer)) => key_of_integer(hasher, &integer),
        // NumPy's truth values say that they are integers, and refuse to say which. So do arrays of several, and of other items.
        Some(Err(error)) => key_of_truth(hasher, object).ok_or_else(|| no_integer(object, error)),
        None => key_of_other(hasher, object),
    }
}

/// Hashes an integer by its value, as the library does, whatever its type in Python.
fn key_of_integer(hasher: &KeyHasher, integer: &Bound<'_, PyInt>) -> PyResult<Digest> {
    if let Some(value) = value_of(integer) {
        Ok(hasher.digest(&value))
    } else if let Ok(value) = integer.extract::<u64>() {
        Ok(hasher.digest(&value))
    } else if let Ok(value) = integer.extract::<i128>() {
        Ok(hasher.digest(&value))
    } else if let Ok(value) = integer.extract::<u128>() {
        Ok(hasher.digest(&value))
    } else {
        let message = "an int is a key from -2**127 to 2**128 - 1; pass a larger one as bytes, with int.to_bytes";
        Err(PyOverflowError::new_err(message))
    }
}

#[cold]
fn key_of_other(hasher: &KeyHasher, object: &Bound<'_, PyAny>) -> PyResult<Digest> {
    let py = object.py();
    if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
        let bytes = PyBuffer::<u8>::get(object).map_err(|_| {
            PyTypeError::new_err("a memoryview is a key if its items are bytes: pass it with .cast('B')")
        })?;
        return Ok(hasher.digest(&copied(py, &bytes)?));
    }
    for (kind, attribute) in kinds_with_bytes(py)? {
        if object.is_instance(kind)? {
            let bytes = object.getattr(attribute)?;
            return Ok(hasher.digest(bytes.cast::<PyBytes>()?.as_bytes()));
        }
    }
    key_of_truth(hasher, object).ok_or_else(|| no_key(object))
}

/// The key of a truth value, Python's or NumPy's.
fn key_of_truth(hasher: &KeyHasher, object: &Bound<'_, PyAny>) -> Option<Digest> {
    object.extract::<bool>().ok().map(|value| hasher.digest(&u64::from(value)))
}

/// The types whose values are keys by the bytes of an attribute.
fn kinds_with_bytes(py: Python<'_>) -> PyResult<[(&Bound<'_, PyType>, &'static str); 3]> {
    static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static IPV4: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static IPV6: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Ok([
        (UUID.import(py, "uuid", "UUID")?, "bytes"),
        (IPV4.import(py, "ipaddress", "IPv4Address")?, "packed"),
        (IPV6.import(py, "ipaddress", "IPv6Address")?, "packed"),
    ])
}

/// The error for an object that said that it was an integer.
#[cold]
fn no_integer(key: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyTypeError>(key.py()) {
        return error;
    }
    let no_key = no_key(key);
    no_key.set_cause(key.py(), Some(error));
    no_key
}

fn no_key(key: &Bound<'_, PyAny>) -> PyErr {
    let kind = key.get_type();
    let kind = kind.name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "a key is bytes, bytearray, memoryview, str, int, uuid.UUID or an address of ipaddress, not {kind}; turn it into \
         bytes or str first (many keys at once are for update and contains_many)"
    ))
}
