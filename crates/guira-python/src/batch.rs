//! Many keys at once: which objects are batches, and how their keys are passed to a table, in blocks.

use std::sync::Arc;

use guira::{Digest, Key, KeyHasher};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyIterator, PyList, PyMemoryView, PyString, PyTuple};

use crate::array::Array;
use crate::arrow::{self, Column, Described, Meaning};
use crate::keys::key_of;
use crate::libraries::{Objects, Reading, is_missing, name_of, reading};
use crate::memory;
use crate::uuids::{self, Uuids};
use crate::waiting::{attached, detached};

/// How many keys a table gets at once: enough to overlap cache misses, few enough to stay in the nearest cache.
pub(crate) const BLOCK: usize = 2048;

/// How many objects are hashed before the interpreter's lock is released to look them up. Releasing it may cost 5 ms if other
/// threads wait for it.
const HASHED: usize = 1 << 16;

/// Below this number of keys, releasing the lock takes longer than the work.
const FEW: usize = 256;

/// How many keys are processed between two checks for Ctrl-C.
const UNINTERRUPTED: usize = 1 << 20;

/// How many objects are.
const OBJECTS_UNINTERRUPTED: usize = 1 << 12;

/// Lets other threads have their turn now and then, and looks for Ctrl-C more often, while objects are processed, of which so many
/// are done.
pub(crate) fn pause(py: Python<'_>, done: usize) -> PyResult<()> {
    if done.is_multiple_of(HASHED) {
        detached(py, || ());
    }
    if done.is_multiple_of(OBJECTS_UNINTERRUPTED) { py.check_signals() } else { Ok(()) }
}

/// Makes room for so many items more, or raises `MemoryError`.
pub(crate) fn reserve<T>(items: &mut Vec<T>, more: usize) -> PyResult<()> {
    let size = more.saturating_mul(size_of::<T>());
    items.try_reserve_exact(more).map_err(|_| PyMemoryError::new_err(format!("no memory for {size} bytes")))
}

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
    Objects(Objects<'py>),
    Array(Array),
    Arrow(Column),
    /// The bytes of UUIDs, of which some may be null.
    Uuids(Arc<Vec<Option<[u8; 16]>>>),
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
            return Err(one_key(keys));
        }
        if let Ok(uuids) = keys.cast::<Uuids>() {
            return Ok(Some(Self::Uuids(uuids.get().share())));
        }
        match reading(keys)? {
            Some(Reading::Objects(objects)) => return Ok(Some(Self::Objects(objects))),
            Some(Reading::Array { array, name }) => return Self::of_numpy(&array, &name).map(Some),
            Some(Reading::Arrow { column, is_table }) => {
                return Self::of_arrow_stream(&column, is_table).map(|column| Some(Self::Arrow(column)));
            }
            Some(Reading::Uuids(column)) => return Self::of_uuids(&column).map(Some),
            None => {}
        }
        // What has names of columns is a table; what has none may be a column of structures.
        let is_table = || Ok::<_, PyErr>(keys.hasattr("columns")? || keys.hasattr("schema")?);
        if keys.hasattr("__arrow_c_stream__")? {
            return Self::of_arrow_stream(keys, is_table()?).map(|column| Some(Self::Arrow(column)));
        }
        if keys.hasattr("__arrow_c_array__")? {
            return Self::of_arrow_array(keys, is_table()?).map(|column| Some(Self::Arrow(column)));
        }
        if let Ok(buffer) = PyUntypedBuffer::get(keys) {
            check_dimensions(buffer.dimensions())?;
            // Arrays of small integers; other memory of single bytes, such as a mapped file, is one key.
            if buffer.item_size() == 1 && !keys.hasattr("typecode")? && !keys.hasattr("_type_")? {
                let message = "memory of single bytes is one key, not many: pass bytes() of it to add, or in a list";
                return Err(PyTypeError::new_err(message));
            }
            return Array::of_buffer(buffer, "", false).map(|array| Some(Self::Array(array)));
        }
        if keys.hasattr("__array__")? {
            let array = keys.py().import("numpy")?.call_method1("asarray", (keys,))?;
            return match reading(&array)? {
                Some(Reading::Array { array, name }) => Self::of_numpy(&array, &name).map(Some),
                Some(Reading::Objects(objects)) => Ok(Some(Self::Objects(objects))),
                _ => Ok(None),
            };
        }
        Ok(None)
    }

    /// The keys of any object with several keys. If it can only be iterated over, they are collected.
    pub(crate) fn of_any(keys: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Some(batch) = Self::of_columns(keys)? {
            return Ok(batch);
        }
        let list = keys.py().get_type::<PyList>().call1((iterate(keys)?,))?;
        Ok(Self::List(list.cast_into::<PyList>()?))
    }

    fn of_arrow_stream(keys: &Bound<'py, PyAny>, is_table: bool) -> PyResult<Column> {
        let Some(export) = keys.getattr_opt("__arrow_c_stream__")? else {
            let kind = keys.get_type().fully_qualified_name()?;
            let message = format!(
                "a {kind} without __arrow_c_stream__, which later releases have: upgrade, or pass a list of its values"
            );
            return Err(PyTypeError::new_err(message));
        };
        let capsule = export.call0()?;
        let (schema, stream) = memory::arrow_stream(capsule.cast::<PyCapsule>()?)?;
        let described = Described { name: name_of(keys), is_table };
        let meaning = schema.map(|schema| Meaning::of(&schema, &described)).transpose()?;
        // The producer of the stream may compute it now, and may need the lock for that.
        let chunks = detached(keys.py(), || {
            let (mut chunks, mut interruptions) = (Vec::new(), Interruptions::default());
            for chunk in stream.map_err(arrow::error)? {
                let chunk = chunk.map_err(arrow::error)?;
                interruptions.look(chunk.len())?;
                let count = chunks.len();
                if count == chunks.capacity() {
                    reserve(&mut chunks, count.max(4))?;
                }
                chunks.push(chunk);
            }
            Ok::<_, PyErr>(chunks)
        });
        meaning.unwrap_or_default().column(chunks?)
    }

    fn of_arrow_array(keys: &Bound<'py, PyAny>, is_table: bool) -> PyResult<Column> {
        let capsules = keys.call_method0("__arrow_c_array__")?;
        let (schema, array) = capsules.extract::<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)>()?;
        let described = Described { name: name_of(keys), is_table };
        let (meaning, array) = memory::arrow_array(&schema, &array, |schema| Meaning::of(schema, &described))?;
        meaning.column(vec![array.map_err(arrow::error)?])
    }

    /// The UUIDs of a column of them, or of their text.
    fn of_uuids(keys: &Bound<'py, PyAny>) -> PyResult<Self> {
        uuids::of_column(keys.py(), &Self::of_arrow_stream(keys, true)?).map(|uuids| Self::Uuids(uuids.into()))
    }

    /// The items of an array of NumPy.
    fn of_numpy(array: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        check_dimensions(array.getattr("ndim")?.extract()?)?;
        if array.getattr("dtype")?.getattr("kind")?.extract::<char>()? == 'O' {
            return Ok(Self::List(array.call_method0("tolist")?.cast_into::<PyList>()?));
        }
        Array::of_buffer(PyUntypedBuffer::get(array)?, name, true).map(Self::Array)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Tuple(tuple) => tuple.len(),
            Self::Objects(objects) => objects.list.len(),
            Self::Array(array) => array.len(),
            Self::Arrow(column) => column.len(),
            Self::Uuids(uuids) => uuids.len(),
        }
    }

    /// Passes all keys to a visitor, in order and in blocks, without the interpreter's lock if that pays. There were `count`, for which the
    /// visitor is prepared; other threads may have made a list longer since.
    pub(crate) fn visit(
        &self,
        py: Python<'_>,
        count: usize,
        hasher: &KeyHasher,
        visitor: &mut impl Visit,
    ) -> PyResult<()> {
        match self {
            Self::List(list) => visit_objects(py, list.iter().take(count), hasher, visitor),
            Self::Tuple(tuple) => visit_objects(py, tuple.iter(), hasher, visitor),
            // All of a column are keys before any is processed.
            Self::Objects(objects) => hash_column(py, objects, hasher)?.visit(py, visitor),
            Self::Array(array) => detached(py, || array.visit(hasher, &mut Interruptible::new(visitor))),
            Self::Arrow(column) => detached(py, || column.visit(hasher, &mut Interruptible::new(visitor))),
            Self::Uuids(uuids) => detached(py, || uuids::visit(uuids, &mut Interruptible::new(visitor))),
        }
    }

    /// The keys of all objects, of which there were `count`, or an error if one of them is no key; `None` for what holds no
    /// objects.
    pub(crate) fn hash_objects(&self, py: Python<'_>, count: usize, hasher: &KeyHasher) -> PyResult<Option<Hashed>> {
        match self {
            Self::List(list) => hash_list(py, list.iter().take(count), count, hasher).map(Some),
            Self::Tuple(tuple) => hash_list(py, tuple.iter(), count, hasher).map(Some),
            Self::Objects(objects) => hash_column(py, objects, hasher).map(Some),
            Self::Array(_) | Self::Arrow(_) | Self::Uuids(_) => Ok(None),
        }
    }
}

/// The digests of objects, which are all keys.
pub(crate) struct Hashed {
    keys: Vec<Digest>,
    /// The row of each, where some rows are null.
    rows: Option<Vec<usize>>,
}

impl Hashed {
    /// Passes all keys to a visitor, as [`Batch::visit`] does.
    pub(crate) fn visit(&self, py: Python<'_>, visitor: &mut impl Visit) -> PyResult<()> {
        match &self.rows {
            None => {
                for (number, keys) in self.keys.chunks(HASHED).enumerate() {
                    py.check_signals()?;
                    visit_hashed(py, keys, number * HASHED, visitor)?;
                }
            }
            Some(rows) => {
                for (keys, rows) in self.keys.chunks(BLOCK).zip(rows.chunks(BLOCK)) {
                    py.check_signals()?;
                    detached(py, || visitor.block(keys, Rows::Listed(rows)))?;
                }
            }
        }
        Ok(())
    }
}

fn one_key(keys: &Bound<'_, PyAny>) -> PyErr {
    let name = keys.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("a {name} is one key, not many: put it in a list, or use add, remove or `in`"))
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
    let mut keys = Vec::new();
    reserve(&mut keys, objects.len().min(HASHED))?;
    for object in objects {
        match key_of(hasher, &object) {
            Ok(key) => {
                // A list that gets longer meanwhile.
                if keys.len() == keys.capacity() {
                    reserve(&mut keys, 1)?;
                }
                keys.push(key);
            }
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

/// Hashes all objects of a list, of which there are so many at the most.
fn hash_list<'py>(
    py: Python<'py>,
    objects: impl Iterator<Item = Bound<'py, PyAny>>,
    count: usize,
    hasher: &KeyHasher,
) -> PyResult<Hashed> {
    let mut keys = Vec::new();
    reserve(&mut keys, count)?;
    for object in objects {
        keys.push(key_of(hasher, &object)?);
        pause(py, keys.len())?;
    }
    Ok(Hashed { keys, rows: None })
}

/// Hashes the objects of a column, of which some may be missing.
fn hash_column(py: Python<'_>, objects: &Objects<'_>, hasher: &KeyHasher) -> PyResult<Hashed> {
    let (mut keys, mut rows) = (Vec::new(), Vec::new());
    reserve(&mut keys, objects.list.len())?;
    reserve(&mut rows, objects.list.len())?;
    for (row, object) in objects.list.iter().enumerate() {
        match key_of(hasher, &object) {
            Ok(key) => {
                keys.push(key);
                rows.push(row);
            }
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                if !is_missing(&object)? {
                    return Err(PyTypeError::new_err(format!("{}: {}", objects.column, error.value(py))));
                }
            }
            Err(error) => return Err(error),
        }
        pause(py, row + 1)?;
    }
    Ok(Hashed { keys, rows: Some(rows) })
}

fn visit_hashed(py: Python<'_>, keys: &[Digest], first: usize, visitor: &mut impl Visit) -> PyResult<()> {
    let mut visit_all = || {
        let mut blocks = keys.chunks(BLOCK).enumerate();
        blocks.try_for_each(|(number, block)| visitor.block(block, Rows::From(first + number * BLOCK)))
    };
    if keys.len() < FEW { visit_all() } else { detached(py, visit_all) }
}

/// Passes the keys of all rows that are not null to a visitor; `key` returns the key of a row.
pub(crate) fn visit_rows<K: Key>(
    count: usize,
    first: usize,
    nulls: Option<&arrow_buffer::NullBuffer>,
    visitor: &mut impl Visit,
    mut key: impl FnMut(usize) -> PyResult<K>,
) -> PyResult<()> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    let (mut keys, mut rows) = (Vec::new(), Vec::new());
    reserve(&mut keys, BLOCK.min(count))?;
    reserve(&mut rows, if nulls.is_some() { BLOCK.min(count) } else { 0 })?;
    for start in (0..count).step_by(BLOCK) {
        let block = start..count.min(start + BLOCK);
        keys.clear();
        if let Some(nulls) = nulls {
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

/// Looks for Ctrl-C now and then while many keys are processed without the interpreter's lock, which it takes for a moment.
#[derive(Default)]
pub(crate) struct Interruptions {
    done: usize,
}

impl Interruptions {
    #[inline]
    pub(crate) fn look(&mut self, keys: usize) -> PyResult<()> {
        self.done += keys;
        if self.done < UNINTERRUPTED {
            return Ok(());
        }
        self.done = 0;
        attached(|py| py.check_signals())
    }
}

/// A visitor that can be interrupted by Ctrl-C.
struct Interruptible<'visitor, V> {
    visitor: &'visitor mut V,
    interruptions: Interruptions,
}

impl<'visitor, V> Interruptible<'visitor, V> {
    fn new(visitor: &'visitor mut V) -> Self {
        Self { visitor, interruptions: Interruptions::default() }
    }
}

impl<V: Visit> Visit for Interruptible<'_, V> {
    #[inline]
    fn block<K: Key>(&mut self, keys: &[K], rows: Rows<'_>) -> PyResult<()> {
        self.interruptions.look(keys.len())?;
        self.visitor.block(keys, rows)
    }
}
