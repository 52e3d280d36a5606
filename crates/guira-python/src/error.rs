//! The library's errors as Python exceptions: with the library's texts, in the classes of `python/guira_filters/_errors.py`.

use std::io;
use std::path::Path;

use guira::{
    AdvanceError as WouldEmpty, BuildError, FileKind, InsertError, LoadError, MergeError as Refused, ReserveError,
};
use guira_files::ReplaceError;
use pyo3::exceptions::{PyMemoryError, PyOSError};
use pyo3::prelude::*;

use crate::loading;
use crate::times::seconds;

pyo3::import_exception!(guira_filters._errors, AdvanceError);
pyo3::import_exception!(guira_filters._errors, CorruptFileError);
pyo3::import_exception!(guira_filters._errors, CounterFullError);
pyo3::import_exception!(guira_filters._errors, FilterFullError);
pyo3::import_exception!(guira_filters._errors, MergeError);
pyo3::import_exception!(guira_filters._errors, ParameterError);
pyo3::import_exception!(guira_filters._errors, SecretKeyError);
pyo3::import_exception!(guira_filters._errors, TooManyCopiesError);
pyo3::import_exception!(guira_filters._errors, WrongKindError);

pub(crate) fn build_error(error: &BuildError) -> PyErr {
    match error {
        BuildError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        BuildError::Resolution { given, lifetime } => ParameterError::new_err(format!(
            "a resolution of {} s for a lifetime of {} s: give at least a 254th of the lifetime, and at most all of it",
            seconds(*given),
            seconds(*lifetime)
        )),
        _ => ParameterError::new_err(error.to_string()),
    }
}

/// The exception for a key that was not stored; `index` is its position in the batch.
pub(crate) fn insert_error(error: &InsertError, index: usize) -> PyErr {
    let arguments = (error.to_string(), index);
    match error {
        InsertError::TooManyCopies { .. } => TooManyCopiesError::new_err(arguments),
        InsertError::CounterFull { .. } => CounterFullError::new_err(arguments),
        InsertError::ValueTooLarge { .. } => ParameterError::new_err(error.to_string()),
        InsertError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        _ => FilterFullError::new_err(arguments),
    }
}

pub(crate) fn merge_error(error: &Refused) -> PyErr {
    match error {
        Refused::Full { .. } | Refused::Crowded { .. } => FilterFullError::new_err(error.to_string()),
        Refused::TooManyCopies { .. } => TooManyCopiesError::new_err(error.to_string()),
        Refused::CounterFull { .. } => CounterFullError::new_err(error.to_string()),
        Refused::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        _ => MergeError::new_err(error.to_string()),
    }
}

pub(crate) fn advance_error(error: &WouldEmpty) -> PyErr {
    let [ahead, time, lifetime] = [error.now - error.time, error.time, error.lifetime].map(seconds);
    AdvanceError::new_err(format!(
        "all keys would have expired: now is {ahead} s after {time}, the time of the filter, and keys live for {lifetime} s; if \
         that is no mistake, call advance(now, jump=True) first"
    ))
}

pub(crate) fn reserve_error(error: &ReserveError) -> PyErr {
    match error {
        ReserveError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        _ => FilterFullError::new_err(error.to_string()),
    }
}

/// The exception for bytes that are not loaded.
pub(crate) fn load_error(error: LoadError) -> PyErr {
    unloaded("", error)
}

/// The exception for a file that was not loaded, which names it.
pub(crate) fn load_file_error(error: LoadError, path: &Path) -> PyErr {
    match error {
        LoadError::Io(error) => loading::raised(error).unwrap_or_else(|error| file_error(&error, path)),
        error => unloaded(&format!("{}: ", path.display()), error),
    }
}

/// The exception for what was not loaded. Its text begins with what says where it is.
fn unloaded(place: &str, error: LoadError) -> PyErr {
    let text = format!("{place}{error}");
    match error {
        LoadError::OtherKind { found, .. } => {
            let class = match found {
                FileKind::Filter | FileKind::Growing => "CuckooFilter",
                FileKind::Set => "CuckooSet",
                FileKind::Counting => "CountingCuckooFilter",
                FileKind::Map => "CuckooMap",
                FileKind::Expiring => "ExpiringCuckooFilter",
                _ => return WrongKindError::new_err(text),
            };
            WrongKindError::new_err(format!("{text}, by {class}.load or {class}.from_bytes"))
        }
        LoadError::ValueBits { .. } => WrongKindError::new_err(text),
        LoadError::SecretKeyMissing | LoadError::SecretKeyDiffers | LoadError::SecretKeyNotUsed => {
            SecretKeyError::new_err(text)
        }
        // The file is as it should be, and the library's text names what a program in Rust calls.
        LoadError::KeysNormalized { lowercase, trim } => {
            let done = match (lowercase, trim) {
                (true, false) => "A to Z were made lower case in its keys",
                (false, true) => "blanks at the ends of its keys were left out",
                _ => "A to Z were made lower case in its keys, and blanks at their ends left out,",
            };
            ParameterError::new_err(format!(
                "{place}{done} before they were hashed: do the same to keys, and pass normalized=True, which says that you do"
            ))
        }
        LoadError::OutOfMemory { .. } => PyMemoryError::new_err(text),
        LoadError::Io(error) => error.into(),
        _ => CorruptFileError::new_err(text),
    }
}

/// The `OSError` that Python itself raises for a file: with number, text and path. Where the system gave no number, the path is in
/// the text.
pub(crate) fn file_error(error: &io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(number) => numbered_error(number, &error.to_string(), path),
        None => io::Error::new(error.kind(), format!("{}: {error}", path.display())).into(),
    }
}

fn numbered_error(number: i32, text: &str, path: &Path) -> PyErr {
    // The text ends with the number, which Python adds too.
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((number, text, path.as_os_str().to_owned()))
}

/// The exception for a file that was not saved: an `OSError`.
pub(crate) fn save_error(py: Python<'_>, error: &ReplaceError, path: &Path) -> PyErr {
    let number = match error {
        ReplaceError::Io(error) => return file_error(error, path),
        ReplaceError::NotDurable(error) => error.raw_os_error(),
        // It was noticed before the system could refuse it.
        ReplaceError::IsDirectory => py.import("errno").and_then(|errno| errno.getattr("EISDIR")?.extract()).ok(),
        _ => None,
    };
    match number {
        Some(number) => numbered_error(number, &error.to_string(), path),
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}
