//! Arguments that are integers, each by a function of its name, which an error names too.

use std::fmt::Display;

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// An integer of a type whose integers have so many bits and no sign.
trait Unsigned: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr> {
    const BITS: u32;
}

impl Unsigned for u32 {
    const BITS: u32 = Self::BITS;
}

impl Unsigned for u64 {
    const BITS: u32 = Self::BITS;
}

impl Unsigned for usize {
    const BITS: u32 = Self::BITS;
}

fn number<T: Unsigned>(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<T> {
    object.extract().map_err(|error: PyErr| {
        if !error.is_instance_of::<PyOverflowError>(object.py()) {
            return error;
        }
        let refused = |value: &dyn Display| {
            PyOverflowError::new_err(format!("{argument} is an integer from 0 to 2**{} - 1, not {value}", T::BITS))
        };
        // Python does not write integers with thousands of digits.
        object.str().map_or_else(|_| refused(&"this one"), |value| refused(&value))
    })
}

macro_rules! numbers {
    ($($argument:ident: $type:ty),*) => {$(
        pub(crate) fn $argument(object: &Bound<'_, PyAny>) -> PyResult<$type> {
            number(stringify!($argument), object)
        }
    )*};
}

numbers! { additional: usize, capacity: usize, counter_bits: u32, seed: u64, value: u32, value_bits: u32 }

pub(crate) fn max_capacity(object: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if object.is_none() { Ok(None) } else { number("max_capacity", object).map(Some) }
}
