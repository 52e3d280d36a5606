//! Columns of Arrow: strings, bytes and integers, also in dictionaries. A null is no key.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryViewType, ByteArrayType, ByteViewType, GenericBinaryType, GenericStringType, Int8Type, Int16Type, Int32Type,
    Int64Type, StringViewType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::{ArrowError, DataType};
use guira::{Digest, Key, KeyHasher};
use pyo3::PyErr;
use pyo3::PyResult;
use pyo3::exceptions::{PyTypeError, PyValueError};

use crate::array::widened;
use crate::batch::{Rows, Visit, visit_rows};

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(crate) fn error(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow data could not be read: {error}"))
}

/// The chunks of the column; for a table with a single column, of that one.
pub(crate) fn columns(chunks: Vec<ArrayRef>) -> PyResult<Vec<ArrayRef>> {
    let column = |chunk: ArrayRef| match chunk.as_struct_opt() {
        Some(table) if table.num_columns() == 1 && table.null_count() == 0 => Ok(table.column(0).clone()),
        Some(table) => Err(PyTypeError::new_err(format!(
            "a table with {} columns: pass the one with the keys, as table['name']",
            table.num_columns()
        ))),
        None => Ok(chunk),
    };
    let chunks = chunks.into_iter().map(column).collect::<PyResult<Vec<_>>>()?;
    // Checked before any key is stored.
    match chunks.iter().find(|chunk| !has_keys(chunk.data_type())) {
        Some(chunk) => Err(no_keys(chunk.data_type())),
        None => Ok(chunks),
    }
}

fn has_keys(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Dictionary(_, values) => has_keys(values),
        data_type if data_type.is_integer() => true,
        T::Null | T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView => true,
        T::FixedSizeBinary(_) => true,
        _ => false,
    }
}

fn no_keys(data_type: &DataType) -> PyErr {
    PyTypeError::new_err(format!(
        "a column of type {data_type}: keys are strings, bytes or integers; cast it to one of them, as you like it to be \
         hashed"
    ))
}

/// Hands the keys of all chunks to a visitor.
pub(crate) fn visit(chunks: &[ArrayRef], hasher: &KeyHasher, visitor: &mut impl Visit) -> PyResult<()> {
    let mut first = 0;
    for chunk in chunks {
        visit_chunk(chunk, first, hasher, visitor)?;
        first += chunk.len();
    }
    Ok(())
}

fn visit_chunk(chunk: &dyn Array, first: usize, hasher: &KeyHasher, visitor: &mut impl Visit) -> PyResult<()> {
    use DataType as T;
    match chunk.data_type() {
        T::Null => Ok(()),
        T::Utf8 => visit_bytes::<GenericStringType<i32>>(chunk, first, visitor),
        T::LargeUtf8 => visit_bytes::<GenericStringType<i64>>(chunk, first, visitor),
        T::Binary => visit_bytes::<GenericBinaryType<i32>>(chunk, first, visitor),
        T::LargeBinary => visit_bytes::<GenericBinaryType<i64>>(chunk, first, visitor),
        T::Utf8View => visit_views::<StringViewType>(chunk, first, visitor),
        T::BinaryView => visit_views::<BinaryViewType>(chunk, first, visitor),
        T::FixedSizeBinary(_) => {
            let column = chunk.as_fixed_size_binary();
            visit_rows(chunk.len(), first, chunk.nulls(), visitor, |row| Ok(column.value(row)))
        }
        T::Int8 => visit_integers::<Int8Type>(chunk, first, visitor, widened),
        T::Int16 => visit_integers::<Int16Type>(chunk, first, visitor, widened),
        T::Int32 => visit_integers::<Int32Type>(chunk, first, visitor, widened),
        T::Int64 => visit_integers::<Int64Type>(chunk, first, visitor, widened),
        T::UInt8 => visit_integers::<UInt8Type>(chunk, first, visitor, u64::from),
        T::UInt16 => visit_integers::<UInt16Type>(chunk, first, visitor, u64::from),
        T::UInt32 => visit_integers::<UInt32Type>(chunk, first, visitor, u64::from),
        T::UInt64 => visit_integers::<UInt64Type>(chunk, first, visitor, |value| value),
        T::Dictionary(..) => visit_dictionary(chunk, first, hasher, visitor),
        other => Err(no_keys(other)),
    }
}

fn visit_bytes<T: ByteArrayType>(chunk: &dyn Array, first: usize, visitor: &mut impl Visit) -> PyResult<()> {
    let column = chunk.as_bytes::<T>();
    visit_rows(chunk.len(), first, chunk.nulls(), visitor, |row| Ok(AsRef::<[u8]>::as_ref(column.value(row))))
}

fn visit_views<T: ByteViewType>(chunk: &dyn Array, first: usize, visitor: &mut impl Visit) -> PyResult<()> {
    let column = chunk.as_byte_view::<T>();
    visit_rows(chunk.len(), first, chunk.nulls(), visitor, |row| Ok(AsRef::<[u8]>::as_ref(column.value(row))))
}

fn visit_integers<T: ArrowPrimitiveType>(
    chunk: &dyn Array,
    first: usize,
    visitor: &mut impl Visit,
    value: impl Fn(T::Native) -> u64,
) -> PyResult<()> {
    let values = chunk.as_primitive::<T>().values();
    visit_rows(chunk.len(), first, chunk.nulls(), visitor, |row| Ok(value(values[row])))
}

/// Visits a dictionary. Each of its values is hashed once, however often it occurs.
fn visit_dictionary(chunk: &dyn Array, first: usize, hasher: &KeyHasher, visitor: &mut impl Visit) -> PyResult<()> {
    let column = chunk.as_any_dictionary();
    if column.values().is_empty() {
        return Ok(());
    }
    let mut values = HashedValues { hasher: *hasher, values: vec![hasher.digest(b""); column.values().len()] };
    visit_chunk(column.values(), 0, hasher, &mut values)?;
    let numbers = column.normalized_keys();
    let nulls = chunk.logical_nulls();
    visit_rows(chunk.len(), first, nulls.as_ref(), visitor, |row| Ok(values.values[numbers[row]]))
}

/// Collects the digests of a dictionary's values; those of nulls are never used.
struct HashedValues {
    hasher: KeyHasher,
    values: Vec<Digest>,
}

impl Visit for HashedValues {
    fn block<K: Key>(&mut self, keys: &[K], rows: Rows<'_>) -> PyResult<()> {
        for (number, key) in keys.iter().enumerate() {
            self.values[rows.row(number)] = self.hasher.digest(key);
        }
        Ok(())
    }
}
