//! Columns of Arrow: strings, bytes, integers and truth values, also in dictionaries and in runs. A null is no key.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryViewType, ByteArrayType, ByteViewType, GenericBinaryType, GenericStringType, Int8Type, Int16Type, Int32Type,
    Int64Type, RunEndIndexType, StringViewType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType};
use guira::{Digest, Key, KeyHasher};
use pyo3::PyErr;
use pyo3::PyResult;
use pyo3::exceptions::{PyTypeError, PyValueError};

use crate::array::widened;
use crate::batch::{BLOCK, Rows, Visit, reserve, visit_rows};

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(crate) fn error(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow data could not be read: {error}"))
}

/// How the values of a column are read, beyond what their physical type says.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Values {
    #[default]
    AsStored,
    /// Bytes of which all but 0 are true: the extension type arrow.bool8.
    TruthInBytes,
}

/// A column whose values are keys.
pub(crate) struct Column {
    chunks: Vec<ArrayRef>,
    values: Values,
}

/// What a column is to be called in an error, and whether its producer says that it is a table.
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) is_table: bool,
}

/// Whether and how values are keys, by the schema of their column. It is asked before a value is read, and sees extension
/// types wherever they are, also within dictionaries.
#[derive(Default)]
pub(crate) struct Meaning {
    is_table: bool,
    values: Values,
}

impl Meaning {
    pub(crate) fn of(schema: &FFI_ArrowSchema, described: &Described) -> PyResult<Self> {
        if !(described.is_table && schema.format() == "+s") {
            return Ok(Self { is_table: false, values: values(schema, &described.name)? });
        }
        let mut columns = schema.children();
        match (columns.next(), columns.count()) {
            (Some(column), 0) => {
                Ok(Self { is_table: true, values: values(column, column.name().unwrap_or_default())? })
            }
            (first, others) => Err(PyTypeError::new_err(format!(
                "a table with {} columns: pass the one with the keys, as table['name']",
                usize::from(first.is_some()) + others
            ))),
        }
    }

    pub(crate) fn column(self, mut chunks: Vec<ArrayRef>) -> PyResult<Column> {
        for chunk in &mut chunks {
            let column = match chunk.as_struct_opt().filter(|_| self.is_table) {
                Some(table) if table.null_count() > 0 => {
                    return Err(PyTypeError::new_err("a table with rows that are null"));
                }
                Some(table) => table.column(0).clone(),
                None => continue,
            };
            *chunk = column;
        }
        Ok(Column { chunks, values: self.values })
    }
}

fn values(schema: &FFI_ArrowSchema, name: &str) -> PyResult<Values> {
    use DataType as T;
    let Ok(data_type) = DataType::try_from(schema) else {
        let what = format_args!("with the format {:?}", schema.format());
        return Err(refused(name, what, "which is not a type of Arrow: cast it to integers, strings or bytes"));
    };
    let metadata = schema.metadata().map_err(error)?;
    if let Some(extension) = metadata.get("ARROW:extension:name") {
        return match (extension.as_str(), &data_type) {
            ("arrow.uuid", T::FixedSizeBinary(16)) => Ok(Values::AsStored),
            ("arrow.json", T::Utf8 | T::LargeUtf8 | T::Utf8View) => Ok(Values::AsStored),
            ("arrow.bool8", T::Int8) => Ok(Values::TruthInBytes),
            _ => {
                let what = format_args!("of the extension type {extension}");
                let advice = "what its values stand for is not known here; pass what they are stored as, by .storage or a cast, \
                              if that is what is looked up later";
                Err(refused(name, what, advice))
            }
        };
    }
    let within = match &data_type {
        T::Dictionary(..) => schema.dictionary(),
        T::RunEndEncoded(..) => schema.children().nth(1),
        _ => None,
    };
    match &data_type {
        T::Dictionary(..) | T::RunEndEncoded(..) => within.map_or(Ok(Values::AsStored), |within| values(within, name)),
        data_type if data_type.is_integer() => Ok(Values::AsStored),
        T::Null | T::Boolean | T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView => {
            Ok(Values::AsStored)
        }
        T::FixedSizeBinary(8) => Err(refused(
            name,
            format_args!("of type {data_type}"),
            "that may be the addresses of objects in a column of Polars; pass the objects, as by .to_list(), or cast bytes to \
             the type binary",
        )),
        T::FixedSizeBinary(_) => Ok(Values::AsStored),
        data_type => Err(refused(name, format_args!("of type {data_type}"), advice(data_type))),
    }
}

/// What to do with a column whose values are no keys.
fn advice(data_type: &DataType) -> &'static str {
    use DataType as T;
    match data_type {
        data_type if data_type.is_temporal() => {
            "a time is no key, since it has several spellings; cast it to int64, for the number of its units, or to strings"
        }
        T::Struct(_) | T::Map(..) | T::Union(..) => "pass the field with the keys",
        T::List(_) | T::LargeList(_) | T::FixedSizeList(..) | T::ListView(_) | T::LargeListView(_) => {
            "pass its items, flattened"
        }
        _ => "keys are strings, bytes or integers; cast it to one of them, as you like it to be hashed",
    }
}

/// The error for a column whose values are no keys.
pub(crate) fn refused(name: &str, what: impl Display, advice: &str) -> PyErr {
    PyTypeError::new_err(match name {
        "" => format!("a column {what}: {advice}"),
        name => format!("the column {name:?} {what}: {advice}"),
    })
}

impl Column {
    pub(crate) fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Hands the keys of all chunks to a visitor.
    pub(crate) fn visit(&self, hasher: &KeyHasher, visitor: &mut impl Visit) -> PyResult<()> {
        let mut first = 0;
        for chunk in &self.chunks {
            visit_chunk(chunk, self.values, first, hasher, visitor)?;
            first += chunk.len();
        }
        Ok(())
    }

    /// Visits the values of a column of strings or bytes, wherever they are; `None` for a null.
    pub(crate) fn visit_values(&self, mut visit: impl FnMut(Option<Value<'_>>) -> PyResult<()>) -> PyResult<()> {
        for chunk in &self.chunks {
            // In blocks, since the numbers of values are copied.
            for start in (0..chunk.len()).step_by(BLOCK) {
                let block = chunk.slice(start, BLOCK.min(chunk.len() - start));
                let rows: Vec<_> = (0..block.len()).map(Some).collect();
                visit_values(&block, &rows, &mut visit)?;
            }
        }
        Ok(())
    }
}

/// A value of a column of strings or bytes.
pub(crate) enum Value<'column> {
    /// The bytes of text, which are UTF-8 as far as its producer says.
    Text(&'column [u8]),
    Bytes(&'column [u8]),
}

/// Visits the values in some rows, of which some are null. Values that no row has are not looked at.
fn visit_values(
    chunk: &dyn Array,
    rows: &[Option<usize>],
    visit: &mut impl FnMut(Option<Value<'_>>) -> PyResult<()>,
) -> PyResult<()> {
    use DataType as T;
    let mut rows = rows.iter().map(|row| row.filter(|&row| chunk.is_valid(row)));
    macro_rules! each {
        ($column:expr, $value:path) => {{
            let column = $column;
            rows.try_for_each(|row| visit(row.map(|row| $value(column.value(row).as_ref()))))
        }};
    }
    macro_rules! each_of_runs {
        ($run_ends:ty) => {{
            let column = chunk.as_run::<$run_ends>();
            let rows: Vec<_> = rows.map(|row| row.map(|row| column.get_physical_index(row))).collect();
            visit_values(column.values(), &rows, visit)
        }};
    }
    match chunk.data_type() {
        T::Null => rows.try_for_each(|_| visit(None)),
        T::Utf8 => each!(chunk.as_string::<i32>(), Value::Text),
        T::LargeUtf8 => each!(chunk.as_string::<i64>(), Value::Text),
        T::Utf8View => each!(chunk.as_string_view(), Value::Text),
        T::Binary => each!(chunk.as_binary::<i32>(), Value::Bytes),
        T::LargeBinary => each!(chunk.as_binary::<i64>(), Value::Bytes),
        T::BinaryView => each!(chunk.as_binary_view(), Value::Bytes),
        T::FixedSizeBinary(_) => each!(chunk.as_fixed_size_binary(), Value::Bytes),
        T::Dictionary(..) => {
            let column = chunk.as_any_dictionary();
            let numbers = if column.values().is_empty() { Vec::new() } else { column.normalized_keys() };
            let rows: Vec<_> = rows.map(|row| numbers.get(row?).copied()).collect();
            visit_values(column.values(), &rows, visit)
        }
        T::RunEndEncoded(ends, _) => match ends.data_type() {
            T::Int16 => each_of_runs!(Int16Type),
            T::Int32 => each_of_runs!(Int32Type),
            _ => each_of_runs!(Int64Type),
        },
        other => Err(refused("", format_args!("of type {other}"), "strings or bytes are expected")),
    }
}

fn visit_chunk(
    chunk: &dyn Array,
    values: Values,
    first: usize,
    hasher: &KeyHasher,
    visitor: &mut impl Visit,
) -> PyResult<()> {
    use DataType as T;
    match chunk.data_type() {
        T::Null => Ok(()),
        T::Boolean => {
            let column = chunk.as_boolean();
            visit_rows(chunk.len(), first, chunk.nulls(), visitor, |row| Ok(u64::from(column.value(row))))
        }
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
        T::Int8 if values == Values::TruthInBytes => {
            visit_integers::<Int8Type, _>(chunk, first, visitor, |value| u64::from(value != 0))
        }
        T::Int8 => visit_integers::<Int8Type, _>(chunk, first, visitor, widened),
        T::Int16 => visit_integers::<Int16Type, _>(chunk, first, visitor, widened),
        T::Int32 => visit_integers::<Int32Type, _>(chunk, first, visitor, widened),
        T::Int64 => visit_integers::<Int64Type, _>(chunk, first, visitor, widened),
        T::UInt8 => visit_integers::<UInt8Type, _>(chunk, first, visitor, u64::from),
        T::UInt16 => visit_integers::<UInt16Type, _>(chunk, first, visitor, u64::from),
        T::UInt32 => visit_integers::<UInt32Type, _>(chunk, first, visitor, u64::from),
        T::UInt64 => visit_integers::<UInt64Type, _>(chunk, first, visitor, |value| value),
        T::Dictionary(..) => visit_dictionary(chunk, values, first, hasher, visitor),
        T::RunEndEncoded(ends, _) => match ends.data_type() {
            T::Int16 => visit_runs::<Int16Type>(chunk, values, first, hasher, visitor),
            T::Int32 => visit_runs::<Int32Type>(chunk, values, first, hasher, visitor),
            _ => visit_runs::<Int64Type>(chunk, values, first, hasher, visitor),
        },
        // The schema said so before; this is for a chunk that is not as its schema says.
        other => Err(refused("", format_args!("of type {other}"), advice(other))),
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

fn visit_integers<T: ArrowPrimitiveType, K: Key>(
    chunk: &dyn Array,
    first: usize,
    visitor: &mut impl Visit,
    value: impl Fn(T::Native) -> K,
) -> PyResult<()> {
    let values = chunk.as_primitive::<T>().values();
    visit_rows(chunk.len(), first, chunk.nulls(), visitor, |row| Ok(value(values[row])))
}

/// Visits a dictionary. Each of its values is hashed once, however often it occurs.
fn visit_dictionary(
    chunk: &dyn Array,
    values: Values,
    first: usize,
    hasher: &KeyHasher,
    visitor: &mut impl Visit,
) -> PyResult<()> {
    let column = chunk.as_any_dictionary();
    if column.values().is_empty() {
        return Ok(());
    }
    let digests = digests_of(column.values(), values, hasher)?;
    // In blocks, since the numbers of values are copied.
    for start in (0..chunk.len()).step_by(BLOCK) {
        let block = chunk.slice(start, BLOCK.min(chunk.len() - start));
        let numbers = block.as_any_dictionary().normalized_keys();
        let nulls = block.logical_nulls();
        visit_rows(block.len(), first + start, nulls.as_ref(), visitor, |row| Ok(digests[numbers[row]]))?;
    }
    Ok(())
}

/// Visits runs of equal values. Each value is hashed once for a run.
fn visit_runs<R: RunEndIndexType>(
    chunk: &dyn Array,
    values: Values,
    first: usize,
    hasher: &KeyHasher,
    visitor: &mut impl Visit,
) -> PyResult<()> {
    let column = chunk.as_run::<R>();
    let digests = digests_of(column.values(), values, hasher)?;
    let nulls = chunk.logical_nulls();
    visit_rows(chunk.len(), first, nulls.as_ref(), visitor, |row| Ok(digests[column.get_physical_index(row)]))
}

/// The digests of all values; those of nulls are never used.
fn digests_of(column: &dyn Array, values: Values, hasher: &KeyHasher) -> PyResult<Vec<Digest>> {
    let mut digests = Vec::new();
    reserve(&mut digests, column.len())?;
    digests.resize(column.len(), hasher.digest(b""));
    let mut hashed = HashedValues { hasher: *hasher, values: digests };
    visit_chunk(column, values, 0, hasher, &mut hashed)?;
    Ok(hashed.values)
}

/// Collects the digests of values.
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
