//! The text of UUIDs as the keys that UUIDs are.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use uuid::Uuid;

use crate::arrow::{Column, Value};
use crate::batch::{BLOCK, Batch, Interruptions, Rows, Visit, pause, reserve};
use crate::libraries::is_missing;
use crate::waiting::detached;

/// UUIDs as keys, made by ``guira_filters.keys.uuid`` of a column of them or of their text. Pass it to ``update``,
/// ``contains_many`` and the like.
#[pyclass(frozen, module = "guira_filters", name = "Uuids")]
pub(crate) struct Uuids {
    uuids: Arc<Vec<Option<[u8; 16]>>>,
}

impl Uuids {
    pub(crate) fn share(&self) -> Arc<Vec<Option<[u8; 16]>>> {
        Arc::clone(&self.uuids)
    }
}

#[pymethods]
impl Uuids {
    fn __len__(&self) -> usize {
        self.uuids.len()
    }

    fn __repr__(&self) -> String {
        format!("Uuids(len={})", self.uuids.len())
    }
}

/// The UUIDs of a column or another iterable, whose items are ``uuid.UUID``, their text, or 16 bytes.
#[pyfunction]
pub(crate) fn uuids(keys: &Bound<'_, PyAny>) -> PyResult<Uuids> {
    let py = keys.py();
    let uuids = match Batch::of_any(keys)? {
        Batch::Uuids(uuids) => uuids,
        Batch::Arrow(column) => of_column(py, &column)?.into(),
        Batch::List(list) => of_objects(py, list.iter())?.into(),
        Batch::Tuple(tuple) => of_objects(py, tuple.iter())?.into(),
        Batch::Objects(objects) => of_objects(py, objects.list.iter())?.into(),
        Batch::Array(array) => of_values(py, array.len(), |visit| array.visit_values(visit))?.into(),
    };
    Ok(Uuids { uuids })
}

/// The UUIDs of a column of their text, or of their bytes.
pub(crate) fn of_column(py: Python<'_>, column: &Column) -> PyResult<Vec<Option<[u8; 16]>>> {
    of_values(py, column.len(), |visit| column.visit_values(visit))
}

/// The UUIDs of so many values, which are visited without the interpreter's lock.
fn of_values(
    py: Python<'_>,
    count: usize,
    visit_values: impl FnOnce(&mut dyn FnMut(Option<Value<'_>>) -> PyResult<()>) -> PyResult<()> + Send,
) -> PyResult<Vec<Option<[u8; 16]>>> {
    detached(py, || {
        let (mut uuids, mut interruptions) = (Vec::new(), Interruptions::default());
        reserve(&mut uuids, count)?;
        visit_values(&mut |value| {
            let uuid = value.map(|value| match value {
                Value::Text(text) => of_text(text),
                Value::Bytes(bytes) => of_16(bytes),
            });
            uuids.push(uuid.transpose()?);
            interruptions.look(1)
        })?;
        Ok(uuids)
    })
}

fn of_16(bytes: &[u8]) -> PyResult<[u8; 16]> {
    let refused = || PyValueError::new_err(format!("a UUID has 16 bytes, not {}", bytes.len()));
    bytes.try_into().map_err(|_| refused())
}

pub(crate) fn visit(uuids: &[Option<[u8; 16]>], visitor: &mut impl Visit) -> PyResult<()> {
    let (mut keys, mut rows) = (Vec::new(), Vec::new());
    reserve(&mut keys, BLOCK.min(uuids.len()))?;
    reserve(&mut rows, BLOCK.min(uuids.len()))?;
    for (number, block) in uuids.chunks(BLOCK).enumerate() {
        keys.clear();
        rows.clear();
        for (row, uuid) in block.iter().enumerate() {
            if let Some(uuid) = uuid {
                keys.push(*uuid);
                rows.push(number * BLOCK + row);
            }
        }
        visitor.block(&keys, Rows::Listed(&rows))?;
    }
    Ok(())
}

/// The UUID of a text, which need not be UTF-8: where a column comes from a file, nobody may have looked.
fn of_text(text: &[u8]) -> PyResult<[u8; 16]> {
    match Uuid::try_parse_ascii(text) {
        Ok(uuid) => Ok(uuid.into_bytes()),
        Err(error) => {
            let text = String::from_utf8_lossy(text);
            Err(PyValueError::new_err(format!("{text:?} is not the text of a UUID: {error}")))
        }
    }
}

fn of_objects<'py>(
    py: Python<'py>,
    objects: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Vec<Option<[u8; 16]>>> {
    let mut uuids = Vec::new();
    reserve(&mut uuids, objects.len())?;
    for object in objects {
        // A list that gets longer meanwhile.
        if uuids.len() == uuids.capacity() {
            reserve(&mut uuids, 1)?;
        }
        uuids.push(of_object(&object)?);
        pause(py, uuids.len())?;
    }
    Ok(uuids)
}

fn of_object(object: &Bound<'_, PyAny>) -> PyResult<Option<[u8; 16]>> {
    if let Ok(text) = object.cast::<PyString>() {
        return of_text(text.to_str()?.as_bytes()).map(Some);
    }
    let bytes = match object.cast::<PyBytes>() {
        Ok(bytes) => bytes.clone(),
        Err(_) if is_missing(object)? => return Ok(None),
        Err(_) => {
            let class = object.py().import("uuid")?.getattr("UUID")?;
            if !object.is_instance(&class)? {
                let message = format!("a UUID is uuid.UUID, its text or 16 bytes, not {}", object.get_type().name()?);
                return Err(PyTypeError::new_err(message));
            }
            object.getattr("bytes")?.cast_into::<PyBytes>()?
        }
    };
    of_16(bytes.as_bytes()).map(Some)
}
