//! Times and durations of Python in milliseconds, as files have them: those of the program `guira` are counted from 1970-01-01
//! 00:00 UTC.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDelta, PyType};

/// Numbers from here on are no seconds: as such they would be after the year 5138, and as milliseconds after 1973.
const END_OF_SECONDS: f64 = 1e11;

/// A time that was given as `now`, in milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Moment(pub(crate) u64);

/// A span of time in milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Span(pub(crate) u64);

impl FromPyObject<'_, '_> for Moment {
    type Error = PyErr;

    fn extract(now: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        static DATETIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let seconds = if now.is_instance(DATETIME.import(now.py(), "datetime", "datetime")?)? {
            if now.call_method0("utcoffset")?.is_none() {
                let message = "now is a datetime without a time zone: pass one that has it, such as \
                               datetime.now(timezone.utc), or naive.astimezone() if it is local time";
                return Err(PyValueError::new_err(message));
            }
            now.call_method0("timestamp")?.extract()?
        } else {
            number(now, "now is a datetime with a time zone, or a number of seconds since 1970 as of time.time()")?
        };
        let of_seconds = milliseconds(seconds);
        let message = || {
            let advice = if seconds >= END_OF_SECONDS { "; if it is in milliseconds, divide it by 1000" } else { "" };
            PyValueError::new_err(format!("now is in seconds since 1970, and not {seconds}{advice}"))
        };
        of_seconds.map(Self).ok_or_else(message)
    }
}

impl FromPyObject<'_, '_> for Span {
    type Error = PyErr;

    fn extract(span: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        static TIMEDELTA: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let seconds = if span.is_instance(TIMEDELTA.import(span.py(), "datetime", "timedelta")?)? {
            span.call_method0("total_seconds")?.extract()?
        } else {
            number(span, "lifetime and resolution are a timedelta, or a number of seconds")?
        };
        let message =
            || format!("lifetime and resolution are more than 0 seconds and less than 1e11, and not {seconds}");
        // Rounded up, so that no key dies early and no lifetime has more resolutions than were asked for.
        let span = milliseconds(((seconds * 1e6).round() / 1e3).ceil() / 1e3).filter(|&span| span > 0);
        span.map(Self).ok_or_else(|| PyValueError::new_err(message()))
    }
}

impl Span {
    pub(crate) fn to_timedelta<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyDelta>> {
        const DAY: u64 = 24 * 60 * 60 * 1000;
        // Python's longest has fewer days, and raises OverflowError for more.
        let days = i32::try_from(self.0 / DAY).unwrap_or(i32::MAX);
        let rest = i32::try_from(self.0 % DAY).unwrap_or(i32::MAX);
        PyDelta::new(py, days, rest / 1000, rest % 1000 * 1000, false)
    }
}

fn number(object: Borrowed<'_, '_, PyAny>, expected: &str) -> PyResult<f64> {
    let name = object.get_type().name()?;
    // The float of a time of NumPy is the number of its units, whichever they are.
    let number = if name == "datetime64" || name == "timedelta64" { None } else { object.extract().ok() };
    number.ok_or_else(|| PyTypeError::new_err(format!("{expected}, not {name}")))
}

/// Seconds in milliseconds, rounded to the nearest; `None` where they are none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn milliseconds(seconds: f64) -> Option<u64> {
    (0.0..END_OF_SECONDS).contains(&seconds).then(|| (seconds * 1000.0).round() as u64)
}

/// Milliseconds in seconds.
#[expect(clippy::cast_precision_loss, reason = "numbers of Python are doubles")]
pub(crate) fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

/// The time of the system's clock, as `time.time()` says, also where that is replaced for a test.
pub(crate) fn clock(py: Python<'_>) -> PyResult<u64> {
    static TIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let module = TIME.get_or_try_init(py, || py.import("time").map(|module| module.into_any().unbind()))?;
    Ok(module.bind(py).call_method0(pyo3::intern!(py, "time"))?.extract::<Moment>()?.0)
}
