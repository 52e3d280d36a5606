//! The columns of NumPy, pandas, Polars and DuckDB: in which of several ways each is read, so that a column's keys are those
//! of the objects that it consists of in Python.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PySlice};

use crate::arrow::refused;

/// How a column is read.
pub(crate) enum Reading<'py> {
    /// By its Arrow data.
    Arrow { column: Bound<'py, PyAny>, is_table: bool },
    /// By its buffer.
    Array { array: Bound<'py, PyAny>, name: String },
    /// One object after the other, where what is missing has no key.
    Objects(Objects<'py>),
    /// By its Arrow data, whose strings are the text of UUIDs.
    Uuids(Bound<'py, PyAny>),
}

/// The objects of a column.
pub(crate) struct Objects<'py> {
    pub(crate) list: Bound<'py, PyList>,
    /// What the column is called in an error.
    pub(crate) column: String,
}

/// The name of a column, if it has one.
pub(crate) fn name_of(column: &Bound<'_, PyAny>) -> String {
    let name = column.getattr("name").and_then(|name| name.extract::<String>());
    name.unwrap_or_default()
}

/// A class of a module, if the module was imported; objects of it can't be there otherwise.
fn class<'py>(modules: &Bound<'py, PyDict>, module: &str, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    match modules.get_item(module)? {
        // A module that is being imported may lack it still.
        Some(module) => module.getattr_opt(name),
        None => Ok(None),
    }
}

/// How a column of one of the libraries is read; `None` for any other object.
pub(crate) fn reading<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Option<Reading<'py>>> {
    let modules = keys.py().import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    let is = |module: &str, name: &str| match class(&modules, module, name)? {
        Some(class) => keys.is_instance(&class),
        None => Ok(false),
    };
    if is("numpy", "ndarray")? {
        return of_numpy(keys).map(Some);
    }
    if is("pandas", "Series")? {
        return of_pandas(keys).map(Some);
    }
    if is("pandas", "DataFrame")? {
        let columns = keys.getattr("shape")?.get_item(1)?.extract()?;
        check_is_one(columns)?;
        return of_pandas(&keys.getattr("iloc")?.get_item((PySlice::full(keys.py()), 0))?).map(Some);
    }
    if is("pandas", "MultiIndex")? {
        let message = "an index of several levels: pass the one with the keys, as index.get_level_values('name')";
        return Err(PyTypeError::new_err(message));
    }
    if is("pandas", "Index")? || is("pandas.api.extensions", "ExtensionArray")? {
        let series = keys.py().import("pandas")?.getattr("Series")?;
        return of_pandas(&series.call1((keys,))?).map(Some);
    }
    if is("polars", "Series")? {
        return of_polars(keys).map(Some);
    }
    if is("polars", "DataFrame")? {
        check_is_one(keys.getattr("width")?.extract()?)?;
        return of_polars(&keys.call_method1("to_series", (0,))?).map(Some);
    }
    if is("polars", "LazyFrame")? {
        return Err(PyTypeError::new_err("a query that has not been run: pass its collect()"));
    }
    if is("duckdb", "DuckDBPyRelation")? {
        return of_duckdb(keys).map(Some);
    }
    Ok(None)
}

fn check_is_one(columns: usize) -> PyResult<()> {
    if columns == 1 {
        return Ok(());
    }
    let message = format!("a table with {columns} columns: pass the one with the keys, as table['name']");
    Err(PyTypeError::new_err(message))
}

fn objects<'py>(column: &Bound<'py, PyAny>, method: &str) -> PyResult<Reading<'py>> {
    let list = column.call_method0(method)?.cast_into::<PyList>()?;
    let (name, dtype) = (name_of(column), column.getattr("dtype")?);
    let column =
        if name.is_empty() { format!("a column of {dtype}") } else { format!("the column {name:?} of {dtype}") };
    Ok(Reading::Objects(Objects { list, column }))
}

fn of_numpy<'py>(array: &Bound<'py, PyAny>) -> PyResult<Reading<'py>> {
    if array.hasattr("mask")? {
        return Err(PyTypeError::new_err("an array with a mask: pass its compressed()"));
    }
    let dtype = array.getattr("dtype")?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    match dtype.getattr("kind")?.extract::<char>()? {
        // A structure is stored as bytes too.
        'V' if !dtype.getattr("fields")?.is_none() => {
            Err(refused("", format_args!("of dtype {dtype}"), "pass the field with the keys"))
        }
        // Strings of any length may have a value that says that there is none.
        'T' if dimensions == 1 => objects(array, "tolist"),
        'M' | 'm' => Err(refused(
            "",
            format_args!("of dtype {dtype}"),
            "a time is no key, since it has several spellings; pass array.view('int64'), for the number of its units, or \
             array.astype(str)",
        )),
        _ => Ok(Reading::Array { array: array.clone(), name: String::new() }),
    }
}

/// What to do with a column of pandas that has times.
const A_TIME: &str = "a time is no key, since it has several spellings; cast it with .astype('int64'), for the number of its \
                      units, or with .astype(str)";

fn of_pandas<'py>(series: &Bound<'py, PyAny>) -> PyResult<Reading<'py>> {
    let py = series.py();
    let dtype = series.getattr("dtype")?;
    let name = dtype.get_type().name()?.to_string();
    if dtype.is_instance(&py.import("numpy")?.getattr("dtype")?)? {
        return match dtype.getattr("kind")?.extract::<char>()? {
            'O' => objects(series, "tolist"),
            'M' | 'm' => Err(refused(&name_of(series), format_args!("of dtype {dtype}"), A_TIME)),
            _ => Ok(Reading::Array { array: series.call_method0("to_numpy")?, name: name_of(series) }),
        };
    }
    // What Arrow has as well. Without pyarrow, or in an old pandas, the objects do.
    let is_arrow = match name.as_str() {
        "CategoricalDtype" => {
            let categories = dtype.getattr("categories")?.getattr("dtype")?;
            matches!(categories.str()?.to_str()?, "str" | "string" | "int64")
        }
        "ArrowDtype" | "StringDtype" | "BooleanDtype" => true,
        name => name.starts_with("Int") && name != "IntervalDtype" || name.starts_with("UInt"),
    };
    if is_arrow && series.hasattr("__arrow_c_stream__")? && py.import("pyarrow").is_ok() {
        return Ok(Reading::Arrow { column: series.clone(), is_table: false });
    }
    // Of a column in which all is missing, no object would say it.
    if let Some(advice) = advice(&dtype)? {
        return Err(refused(&name_of(series), format_args!("of dtype {dtype}"), advice));
    }
    objects(series, "tolist")
}

/// What to do with a column of pandas whose values are no keys, by its type; `None` if some values of that type may be keys.
fn advice(dtype: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    let name = dtype.get_type().name()?.to_string();
    if name == "CategoricalDtype" {
        let categories = dtype.getattr("categories")?;
        // Where there are none, they are floats: pandas knew of no type.
        return if categories.len()? == 0 { Ok(None) } else { advice(&categories.getattr("dtype")?) };
    }
    Ok(match (name.as_str(), dtype.getattr("kind")?.extract::<char>()?) {
        ("PeriodDtype", _) | (_, 'M' | 'm') => Some(A_TIME),
        ("IntervalDtype", _) => Some("an interval has several values; pass its ends, as .array.left"),
        (_, 'f') => Some(
            "a float is no key, since equal numbers have several spellings; cast it to integers, with .astype('Int64')",
        ),
        (_, 'c') => Some("a complex number is no key; turn it into strings or bytes, as you like it to be hashed"),
        _ => None,
    })
}

fn of_polars<'py>(series: &Bound<'py, PyAny>) -> PyResult<Reading<'py>> {
    let (polars, dtype) = (series.py().import("polars")?, series.getattr("dtype")?);
    // In Arrow, the first are addresses, and the others of types or in a form of Polars' own.
    for name in ["Object", "Int128", "UInt128", "Null"] {
        if let Some(type_) = polars.getattr_opt(name)?
            && dtype.eq(type_)?
        {
            return objects(series, "to_list");
        }
    }
    Ok(Reading::Arrow { column: series.clone(), is_table: false })
}

fn of_duckdb<'py>(relation: &Bound<'py, PyAny>) -> PyResult<Reading<'py>> {
    let types: Vec<Bound<'py, PyAny>> = relation.getattr("types")?.extract()?;
    check_is_one(types.len())?;
    match types[0].str()?.to_str()? {
        // In Arrow, UUIDs are text, unless a setting says otherwise.
        "UUID" => Ok(Reading::Uuids(relation.clone())),
        name @ ("BIT" | "HUGEINT" | "UHUGEINT" | "BIGNUM") => {
            let name_of_column: Vec<String> = relation.getattr("columns")?.extract()?;
            Err(refused(
                &name_of_column[0],
                format_args!("of type {name}"),
                "Arrow has no such type; cast it to BIGINT, UBIGINT or VARCHAR",
            ))
        }
        _ => Ok(Reading::Arrow { column: relation.clone(), is_table: true }),
    }
}

/// Whether an object of a column says that there is no value: `None`, NaN, or pandas' own.
pub(crate) fn is_missing(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.is_none() || object.cast::<PyFloat>().is_ok_and(|float| float.extract().is_ok_and(f64::is_nan)) {
        return Ok(true);
    }
    let modules = object.py().import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    for name in ["NA", "NaT"] {
        if class(&modules, "pandas", name)?.is_some_and(|missing| missing.is(object)) {
            return Ok(true);
        }
    }
    Ok(false)
}
