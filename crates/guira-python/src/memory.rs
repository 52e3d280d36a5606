//! Memory that Python's objects own, and what they say of themselves.
//!
//! Arrays, Arrow columns and mapped files are read in place and without the interpreter's lock. Rust can't guarantee that this
//! is safe: the buffer protocol and the Arrow C data interface do, as each block says.

#![expect(unsafe_code, reason = "the buffer protocol and the Arrow C data interface hand out pointers")]

use std::ops::Range;
use std::path::Path;
use std::slice;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use arrow_array::ffi::{FFI_ArrowArray, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayRef, make_array};
use arrow_schema::ArrowError;
use arrow_schema::ffi::FFI_ArrowSchema;
use guira::{CuckooFilterView, LoadError, LoadOptions};
use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyInt, PyMemoryView};

/// The items of a one-dimensional buffer, of any size and with any stride. The exporter neither frees nor moves them while
/// this value lives.
pub(crate) struct Items {
    buffer: PyUntypedBuffer,
    len: usize,
    stride: isize,
}

impl Items {
    /// `None` if there is not exactly one dimension, or if items are behind pointers.
    pub(crate) fn of_buffer(buffer: PyUntypedBuffer) -> Option<Self> {
        let (&[len], &[stride], None) = (buffer.shape(), buffer.strides(), buffer.suboffsets()) else { return None };
        Some(Self { buffer, len, stride })
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn item_size(&self) -> usize {
        self.buffer.item_size()
    }

    /// The bytes of an item.
    ///
    /// # Panics
    ///
    /// If there is no such item.
    #[inline]
    pub(crate) fn bytes(&self, number: usize) -> &[u8] {
        // SAFETY: the buffer protocol promises an item there, which lives as long as the buffer is exported.
        unsafe { slice::from_raw_parts(self.address(number), self.item_size()) }
    }

    /// An item as an array of its bytes.
    ///
    /// # Panics
    ///
    /// If there is no such item, or if items are smaller.
    #[inline]
    pub(crate) fn array<const N: usize>(&self, number: usize) -> [u8; N] {
        assert!(N <= self.item_size(), "items are as large as their format says");
        // SAFETY: the buffer protocol promises an item there, of at least N bytes; an array of bytes needs no alignment.
        unsafe { self.address(number).cast::<[u8; N]>().read() }
    }

    /// The bytes of several items, if they are contiguous.
    ///
    /// # Panics
    ///
    /// If there are no such items.
    pub(crate) fn side_by_side(&self, numbers: Range<usize>) -> Option<&[u8]> {
        assert!(numbers.end <= self.len, "items of the buffer");
        if numbers.is_empty() || self.stride != self.item_size().cast_signed() {
            return None;
        }
        // SAFETY: the buffer protocol promises these items, one behind the other, as long as the buffer is exported.
        Some(unsafe { slice::from_raw_parts(self.address(numbers.start), numbers.len() * self.item_size()) })
    }

    #[inline]
    fn address(&self, number: usize) -> *const u8 {
        assert!(number < self.len, "an item of the buffer");
        let distance = number.cast_signed() * self.stride;
        // SAFETY: the buffer protocol promises that items are that far apart, in one allocation.
        unsafe { self.buffer.buf_ptr().cast::<u8>().cast_const().offset(distance) }
    }
}

/// The integer that an object says it is, by its `__index__`; `None` if it says nothing of the kind.
pub(crate) fn index_of<'py>(object: &Bound<'py, PyAny>) -> Option<PyResult<Bound<'py, PyInt>>> {
    // SAFETY: the object is there, and the interpreter's lock is held.
    if unsafe { ffi::PyIndex_Check(object.as_ptr()) } == 0 {
        return None;
    }
    // SAFETY: as before.
    let integer = unsafe { ffi::PyNumber_Index(object.as_ptr()) };
    // SAFETY: a new reference, or null and an exception is set.
    let integer = unsafe { Bound::from_owned_ptr_or_err(object.py(), integer) };
    Some(integer.and_then(|integer| Ok(integer.cast_into::<PyInt>()?)))
}

/// The value of an integer from -2^63 to 2^63 - 1, and `None` for others, without the exception that would be made for those
/// elsewhere.
#[inline]
pub(crate) fn value_of(integer: &Bound<'_, PyInt>) -> Option<i64> {
    let mut overflow = 0;
    // SAFETY: the object is there and an integer, and the interpreter's lock is held.
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(integer.as_ptr(), &raw mut overflow) };
    (overflow == 0).then_some(value)
}

/// Whether the interpreter is the one that the process began with, and not one that it made later.
pub(crate) fn is_in_main_interpreter(_py: Python<'_>) -> bool {
    // SAFETY: the interpreter's lock is held, so that there is a current interpreter.
    let interpreter = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: the pointer is to the current interpreter. The first has the number 0.
    unsafe { ffi::PyInterpreterState_GetID(interpreter) == 0 }
}

/// The schema of the stream in a capsule from `__arrow_c_stream__`, if it has one, and the stream, which is moved out.
pub(crate) fn arrow_stream(
    capsule: &Bound<'_, PyCapsule>,
) -> PyResult<(Option<FFI_ArrowSchema>, Result<ArrayStreamReader, ArrowError>)> {
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name points to a stream of the C stream interface, of which this is the only reader.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr().cast()) };
    // What is left of a stream that was moved out before has functions still, which must not be called.
    let get_schema = stream.release().and_then(|_| stream.get_schema());
    let schema = get_schema.and_then(|get_schema| {
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the function belongs to this stream, and writes a schema to where an empty one is.
        let failed = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        (failed == 0).then_some(schema)
    });
    Ok((schema, ArrayStreamReader::try_new(stream)))
}

/// The array in the capsules from `__arrow_c_array__`, which is moved out, and what its schema says, which is asked first. An
/// array that was moved out before is an error: its pointers are dangling.
pub(crate) fn arrow_array<T>(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
    ask: impl FnOnce(&FFI_ArrowSchema) -> PyResult<T>,
) -> PyResult<(T, Result<ArrayRef, ArrowError>)> {
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: a capsule of this name points to a schema, which belongs to the capsule.
    let schema = unsafe { schema.as_ref() };
    // SAFETY: a capsule of this name points to an array of the C data interface, which belongs to the capsule.
    let given = unsafe { array.as_ref() };
    if schema.release().is_none() || given.is_released() {
        return Err(PyValueError::new_err(
            "the Arrow array was read already: what __arrow_c_array__ gives can be read once",
        ));
    }
    let said = ask(schema)?;
    // SAFETY: the capsule points to an array; this is its only reader, and it was not read before.
    let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
    // SAFETY: the producer made the array as its schema says.
    Ok((said, unsafe { from_ffi(array, schema) }.map(make_array)))
}

/// A lock that is held, together with what it locks.
pub(crate) struct Held<T: 'static> {
    /// Dropped first, since fields are dropped in order.
    _guard: RwLockWriteGuard<'static, T>,
    _lock: Arc<RwLock<T>>,
}

impl<T> Held<T> {
    pub(crate) fn new(lock: Arc<RwLock<T>>) -> Self {
        let guard = lock.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock is not moved, being behind an `Arc`, and lives until the guard is dropped, since both are kept
        // together and the guard is dropped first.
        let guard = unsafe { std::mem::transmute::<RwLockWriteGuard<'_, T>, RwLockWriteGuard<'static, T>>(guard) };
        Self { _guard: guard, _lock: lock }
    }
}

/// Bytes that an object of Python keeps, as long as this value lives.
struct Exported {
    buffer: PyBuffer<u8>,
}

impl AsRef<[u8]> for Exported {
    fn as_ref(&self) -> &[u8] {
        let size = self.buffer.item_count();
        if size == 0 {
            return &[];
        }
        // SAFETY: the buffer protocol promises these bytes, one behind the other, as long as the buffer is exported. They are
        // read-only, and the documentation of `from_bytes` requires that nobody changes them in another way.
        unsafe { slice::from_raw_parts(self.buffer.buf_ptr().cast::<u8>().cast_const(), size) }
    }
}

/// The buffer of an object with items of one byte, whatever it calls them: those of pyarrow are signed.
pub(crate) fn buffer_of_bytes(data: &Bound<'_, PyAny>) -> PyResult<PyBuffer<u8>> {
    PyBuffer::get(data).or_else(|error| {
        let bytes = PyMemoryView::from(data).and_then(|view| view.call_method1("cast", ("B",)));
        bytes.and_then(|view| PyBuffer::get(&view)).map_err(|_| error)
    })
}

/// A view of the bytes of an object, where they are.
pub(crate) fn view_of_buffer(
    data: &Bound<'_, PyAny>,
    options: LoadOptions,
) -> PyResult<Result<CuckooFilterView<'static>, LoadError>> {
    let buffer = buffer_of_bytes(data)?;
    if !buffer.readonly() {
        let message =
            "the memory can be written to: if nobody does, pass memoryview(data).toreadonly(); else pass bytes(data)";
        return Err(PyValueError::new_err(message));
    }
    if !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err("the bytes are not side by side: pass bytes(data)"));
    }
    Ok(options.view_from_owner(Exported { buffer }))
}

/// A file mapped to memory.
pub(crate) fn map_file(path: &Path, options: LoadOptions) -> Result<CuckooFilterView<'static>, LoadError> {
    // SAFETY: the documentation of `open` requires of its caller what the library requires: nobody may change the file while
    // it is open. Replacing it, as `save` does, leaves the mapped file unchanged.
    unsafe { options.map(path) }
}
