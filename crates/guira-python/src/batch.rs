//! Many keys at once: which objects are batches, and how their keys are passed to a table, in blocks.

use arrow_array::ArrayRef;
use guira::{Digest, Key, KeyHasher};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyIterator, PyList, PyMemoryView, PyString, PyTuple};

use crate::array::Array;
use crate::arrow;
use crate::keys::key_of;
use crate::memory;

/// How many keys a table gets at once: enough to overlap cache misses, few enough to stay in the nearest cache.
pub(crate) const BLOCK: usize = 2048;

/// How many objects are hashed before the interpreter's lock is released to look them up. Releasing it may cost 5 ms if other
/// threads wait for it.
const HASHED: usize = 1 << 16;

/// Below this number of keys, releasing the lock takes longer than the work.
const FEW: usize = 256;

/// How many keys are processed between two checks for Ctrl-C.
const UNINTERRUPTED: usize = 1 << 20;

/// An operation on the keys of a batch.
pub(crate) trait Visit: Send {
    /// Processes a block of keys, which are in these rows.
    fn block<K: Key>(&mut self, keys: &[K], rows: Rows<'_>) -> PyResult<()>;
}

/// The rows of a batch that keys are from. Null rows have no key and are left out.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'rows> {
    /// Consecutive rows from this one on, one for each key.
    From(usize),
    Listed(&'rows [usize]),
}

impl Rows<'_> {
    /// The row of a key.
    pub(crate) fn row(&self, number: usize) -> usize {
        match self {
            Self::From(first) => first + number,
            Self::Listed(rows) => rows[number],
        }
    }
}

/// The keys of a Python object.
pub(crate) enum Batch<'py> {
    List(Bound<'py, PyList>),
    Tuple(Bound<'py, PyTuple>),
    Array(Array),
    Arrow(Vec<ArrayRef>),
}

impl<'py> Batch<'py> {
    /// The keys of an object that stores them together; `None` if it can only be iterated over.
    pub(crate) fn of_columns(keys: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(list) = keys.cast::<PyList>() {
            return Ok(Some(Self::List(list.clone())));
        }
        if let Ok(tuple) = keys.cast::<PyTuple>() {
            return Ok(Some(Self::Tuple(tuple.clone())));
        }
        if keys.is_instance_of::<PyBytes>()
            || keys.is_instance_of::<PyString>()
            || keys.is_instance_of::<PyByteArray>()
            || keys.is_instance_of::<PyMemoryView>()
        {
            let name = keys.get_type().name()?;
            let message = format!("a {name} is one key, not many: put it in a list, or use add, remove or `in`");
            return Err(PyTypeError::new_err(message));
        }
        if keys.hasattr("__arrow_c_stream__")? {
            return Self::of_arrow_stream(keys).map(Some);
        }
        if keys.hasattr("__arrow_c_array__")? {
            return Self::of_arrow_array(keys).map(Some);
        }
        if let Some(batch) = Self::of_buffer(keys)? {
            return Ok(Some(batch));
        }
        if keys.hasattr("__array__")? {
            let array = keys.py().import("numpy")?.call_method1("asarray", (keys,))?;
            return Self::of_buffer(&array);
        }
        Ok(None)
    }

    /// The keys of any object with several keys. If it can only be iterated over, they are collected.
    pub(crate) fn of_any(keys: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Some(batch) = Self::of_columns(keys)? {
            return Ok(batch);
        }
        Ok(Self::List(iterate(keys)?.collect::<PyResult<Vec<_>>>().and_then(|keys_| PyList::new(keys.py(), keys_))?))
    }

    fn of_arrow_stream(keys: &Bound<'py, PyAny>) -> PyResult<Self> {
        let capsule = keys.call_method0("__arrow_c_stream__")?;
        let stream = memory::arrow_stream(capsule.cast::<PyCapsule>()?)?;
        // The producer of the stream may compute it now, and may need the lock for that.
        let chunks = keys.py().detach(|| stream?.collect::<Result<Vec<_>, _>>());
        arrow::columns(chunks.map_err(arrow::error)?).map(Self::Arrow)
    }

    fn of_arrow_array(keys: &Bound<'py, PyAny>) -> PyResult<Self> {
        let capsules = keys.call_method0("__arrow_c_array__")?;
        let (schema, array) = capsules.extract::<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)>()?;
        let array = memory::arrow_array(&schema, &array)?.map_err(arrow::error)?;
        arrow::columns(vec![array]).map(Self::Arrow)
    }

    /// The items of an array of NumPy or another object with a buffer; `None` if there is no buffer.
    fn of_buffer(keys: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let is_numpy = keys.hasattr("dtype")? && keys.hasattr("tolist")?;
        if is_numpy && keys.hasattr("mask")? {
            return Err(PyTypeError::new_err("an array with a mask: pass its compressed()"));
        }
        if is_numpy {
            check_dimensions(keys.getattr("ndim")?.extract()?)?;
        }
        let buffer = match PyUntypedBuffer::get(keys) {
            Ok(buffer) => buffer,
            // NumPy's arrays of variable-length strings have no buffer.
            Err(_) if is_numpy => return Self::of_items(keys).map(Some),
            Err(_) => return Ok(None),
        };
        check_dimensions(buffer.dimensions())?;
        match buffer.format().to_bytes() {
            b"O" => Self::of_items(keys).map(Some),
            _ => Array::of_buffer(buffer).map(|array| Some(Self::Array(array))),
        }
    }

    /// The items of a NumPy array, as Python objects.
    fn of_items(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
        if !matches!(kind, 'O' | 'T') {
            let message = format!(
                "an array of dtype {}: keys are integers, strings or bytes; pass array.view('int64') or \
                 array.astype(str), as you like them to be hashed",
                array.getattr("dtype")?
            );
            return Err(PyTypeError::new_err(message));
        }
        Ok(Self::List(array.call_method0("tolist")?.cast_into::<PyList>()?))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Tuple(tuple) => tuple.len(),
            Self::Array(array) => array.len(),
            Self::Arrow(chunks) => chunks.iter().map(|chunk| chunk.len()).sum(),
        }
    }

    /// Passes all keys to a visitor, in order and in blocks, without the interpreter's lock if that pays.
    pub(crate) fn visit(&self, py: Python<'_>, hasher: &KeyHasher, visitor: &mut impl Visit) -> PyResult<()> {
        match self {
            Self::List(list) => visit_objects(py, list.iter(), hasher, visitor),
            Self::Tuple(tuple) => visit_objects(py, tuple.iter(), hasher, visitor),
            Self::Array(array) => py.detach(|| array.visit(hasher, &mut Interruptible::new(visitor))),
            Self::Arrow(chunks) => py.detach(|| arrow::visit(chunks, hasher, &mut Interruptible::new(visitor))),
        }
    }
}

fn check_dimensions(dimensions: usize) -> PyResult<()> {
    if dimensions == 1 {
        return Ok(());
    }
    let message = format!("keys are in one dimension, not in {dimensions}: pass array.ravel()");
    Err(PyValueError::new_err(message))
}

/// Iterates over an object, or raises an error that says what is expected.
pub(crate) fn iterate<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    keys.try_iter().map_err(|error| {
        let py = keys.py();
        if !error.is_instance_of::<PyTypeError>(py) {
            return error;
        }
        let name = keys.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "many keys are a list, an array of NumPy, a column of Arrow or anything else to iterate over, not {name}"
        ))
    })
}

fn visit_objects<'py>(
    py: Python<'py>,
    objects: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
    hasher: &KeyHasher,
    visitor: &mut impl Visit,
) -> PyResult<()> {
    let mut first = 0;
    let mut keys = Vec::with_capacity(objects.len().min(HASHED));
    for object in objects {
        match key_of(hasher, &object) {
            Ok(key) => keys.push(key),
            // As in `set.update`, the keys before an object that is no key are processed.
            Err(error) => return visit_hashed(py, &keys, first, visitor).and(Err(error)),
        }
        if keys.len() == HASHED {
            visit_hashed(py, &keys, first, visitor)?;
            py.check_signals()?;
            first += keys.len();
            keys.clear();
        }
    }
    visit_hashed(py, &keys, first, visitor)
}

fn visit_hashed(py: Python<'_>, keys: &[Digest], first: usize, visitor: &mut impl Visit) -> PyResult<()> {
    let mut visit_all = || {
        let mut blocks = keys.chunks(BLOCK).enumerate();
        blocks.try_for_each(|(number, block)| visitor.block(block, Rows::From(first + number * BLOCK)))
    };
    if keys.len() < FEW { visit_all() } else { py.detach(visit_all) }
}

/// Passes the keys of all rows that are not null to a visitor; `key` returns the key of a row.
pub(crate) fn visit_rows<K: Key>(
    count: usize,
    first: usize,
    nulls: Option<&arrow_buffer::NullBuffer>,
    visitor: &mut impl Visit,
    mut key: impl FnMut(usize) -> PyResult<K>,
) -> PyResult<()> {
    let mut keys = Vec::with_capacity(BLOCK.min(count));
    let mut rows = Vec::new();
    for start in (0..count).step_by(BLOCK) {
        let block = start..count.min(start + BLOCK);
        keys.clear();
        if let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) {
            rows.clear();
            for row in block.filter(|&row| nulls.is_valid(row)) {
                keys.push(key(row)?);
                rows.push(first + row);
            }
            visitor.block(&keys, Rows::Listed(&rows))?;
        } else {
            for row in block {
                keys.push(key(row)?);
            }
            visitor.block(&keys, Rows::From(first + start))?;
        }
    }
    Ok(())
}

/// A visitor that can be interrupted by Ctrl-C. It takes the interpreter's lock only for a moment now and then.
struct Interruptible<'visitor, V> {
    visitor: &'visitor mut V,
    done: usize,
}

impl<'visitor, V> Interruptible<'visitor, V> {
    fn new(visitor: &'visitor mut V) -> Self {
        Self { visitor, done: 0 }
    }
}

impl<V: Visit> Visit for Interruptible<'_, V> {
    #[inline]
    fn block<K: Key>(&mut self, keys: &[K], rows: Rows<'_>) -> PyResult<()> {
        self.done += keys.len();
        if self.done >= UNINTERRUPTED {
            self.done = 0;
            Python::attach(|py| py.check_signals())?;
        }
        self.visitor.block(keys, rows)
    }
}
