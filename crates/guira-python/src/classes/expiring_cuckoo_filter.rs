use guira::LoadError;
use guira::raw::{self, RawFilter as _};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDelta};

use super::methods::{Class, built, measures_of_tables, merged_in_place, methods_of_files, methods_of_growth};
use crate::error::{MergeError, advance_error, insert_error};
use crate::keys::key_of;
use crate::numbers;
use crate::operations::{
    AddMany, AddUniqueMany, At, ContainsManyAt, CountManyAt, Moving, RemoveMany, RenewMany, apply_to_iterable,
    change_many, look_up_many,
};
use crate::options::Options;
use crate::table::{Locked, builder};
use crate::times::{Moment, Span, clock, seconds};

/// A filter whose keys expire: each is found for a ``lifetime`` after it came, and then forgotten.
///
/// ``lifetime`` and ``resolution`` are a ``datetime.timedelta`` or a number of seconds. A key that came less than a lifetime
/// ago and was not removed is always found; after a lifetime and one resolution, by chance only. The resolution is a
/// fourteenth of the lifetime unless another one is given, of which a lifetime may have up to 254. ``capacity`` is how many
/// keys are alive at a time; the other arguments are those of ``CuckooFilter``.
///
/// The time is that of the system's clock, ``time.time()``, unless a method is told ``now``: an aware ``datetime.datetime``, or
/// seconds since 1970. With ``clock=False`` it is the latest that any method that stores, removes or advances was told, for
/// events with times of their own. It never goes back: what comes late is taken as if it came at the time that was reached.
/// ``in``, ``len`` and every method without ``now`` ask for the time of the clock or, with ``clock=False``, for the time that
/// was reached. A ``now`` by which all keys would have expired raises ``AdvanceError``, since it may be a mistake; the clock is
/// believed.
///
/// Two filters are equal (``==``) if they have the same parameters, hash, ``clock`` and time, and the same bits in their tables.
/// With the same keys in another order, they can be unequal, since what comes later finds other room.
///
/// >>> from datetime import datetime, timedelta, timezone
/// >>> seen = ExpiringCuckooFilter(1000, lifetime=timedelta(hours=24), clock=False)
/// >>> morning = datetime(2026, 11, 25, 8, tzinfo=timezone.utc)
/// >>> seen.add_unique("event 1", now=morning), seen.add_unique("event 1", now=morning + timedelta(hours=12))
/// (True, False)
/// >>> seen.advance(morning + timedelta(hours=26))
/// >>> "event 1" in seen
/// False
#[pyclass(frozen, module = "guira_filters", weakref)]
pub(crate) struct ExpiringCuckooFilter {
    table: Locked<guira::ExpiringCuckooFilter>,
    /// Whether the time is that of the clock where none is told.
    has_clock: bool,
}

/// How often an operation that moves the time on goes on with sweeping: some 80 µs in all.
const MOST_SWEEPS: u32 = 4;

/// How many buckets are swept between two checks for Ctrl-C, in steps of the library.
const SWEEPS_AT_ONCE: u32 = 256;

/// The chunk of a file with what the program `guira` notes. The name in it says where the time comes from.
const NOTES: [u8; 4] = *b"NOTE";

const fn notes(has_clock: bool) -> &'static [u8] {
    if has_clock { br#"{"time_source":"clock"}"# } else { br#"{"time_source":"data"}"# }
}

impl Class for ExpiringCuckooFilter {
    type Table = guira::ExpiringCuckooFilter;

    fn table(&self) -> &Locked<Self::Table> {
        &self.table
    }

    /// Finds out where the time comes from. A file that does not say it has the time of its keys.
    fn of_file(py: Python<'_>, table: Locked<Self::Table>) -> Result<Self, LoadError> {
        let damaged = |_| LoadError::Inconsistent { what: "the notes behind the table are not what was written" };
        let kept = table.read().chunks().to_vec();
        let chunks = raw::chunks_of(&kept)?;
        let mut has_clock = false;
        if let Some(notes) = chunks.iter().find(|chunk| chunk.tag == NOTES) {
            let loads = || py.import("json")?.call_method1("loads", (PyBytes::new(py, notes.data),));
            let source = loads().and_then(|notes| notes.call_method1("get", ("time_source",))).map_err(damaged)?;
            has_clock = source.eq("clock").map_err(damaged)?;
        }
        Ok(Self { table, has_clock })
    }

    fn with_table(&self, table: Locked<Self::Table>) -> Self {
        Self { table, has_clock: self.has_clock }
    }

    fn before_change(&self, py: Python<'_>) -> PyResult<()> {
        self.move_on(py, None)
    }

    fn refuse_to_merge(&self, other: &Self) -> PyResult<()> {
        if self.has_clock == other.has_clock {
            return Ok(());
        }
        Err(MergeError::new_err("the time of one is that of the clock, and of the other that of its keys"))
    }
}

measures_of_tables!(ExpiringCuckooFilter);
methods_of_files!(ExpiringCuckooFilter);
methods_of_growth!(
    ExpiringCuckooFilter,
    "Adds the living keys of another filter, which was made with the same parameters, at the later of both times. No key dies",
    "early by that, and none is found for longer than one more resolution. A key that both have is stored twice.",
    "",
    "Raises ``MergeError`` if they were made with different parameters, and ``FilterFullError`` or ``TooManyCopiesError`` if not",
    "all keys fit; both are then unchanged."
);
merged_in_place!(ExpiringCuckooFilter);

impl ExpiringCuckooFilter {
    /// The time that a question is asked for. One before that which was reached stands for that.
    fn asked(&self, py: Python<'_>, now: Option<Moment>) -> PyResult<u64> {
        match now {
            Some(Moment(now)) => Ok(now),
            None if self.has_clock => clock(py),
            None => Ok(0),
        }
    }
}

impl Moving for ExpiringCuckooFilter {
    fn move_on(&self, py: Python<'_>, now: Option<Moment>) -> PyResult<()> {
        let (now, is_told) = match now {
            Some(Moment(now)) => (now, true),
            None if self.has_clock => (clock(py)?, false),
            None => return Ok(()),
        };
        let mut table = self.table.write();
        if now > table.time() {
            // Looking at the clock is no mistake, however long ago that was done last.
            let is_swept =
                if is_told { table.advance(now).map_err(|error| advance_error(&error))? } else { table.jump(now) };
            // What is not swept yet is not found, but keys that come meanwhile are found for longer.
            let is_swept = is_swept || (1..MOST_SWEEPS).any(|_| table.jump(now));
            // The generation that they join may be dead too: then all is, and nothing comes to life with them.
            if !is_swept && table.len_at(now) == 0 {
                table.clear();
            }
        }
        Ok(())
    }
}

#[pymethods]
impl ExpiringCuckooFilter {
    #[new]
    #[pyo3(signature = (
        capacity, rate=0.001, *, lifetime, resolution=None, clock=true, now=None, max_capacity=None, growth_policy=None,
        hash="xxh3", key=None, seed=0
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::capacity)] capacity: usize,
        rate: f64,
        lifetime: Span,
        resolution: Option<Span>,
        clock: bool,
        now: Option<Moment>,
        #[pyo3(from_py_with = numbers::max_capacity)] max_capacity: Option<usize>,
        growth_policy: Option<&str>,
        hash: &str,
        key: Option<&[u8]>,
        #[pyo3(from_py_with = numbers::seed)] seed: u64,
    ) -> PyResult<Self> {
        let options = Options::new((capacity, rate), (max_capacity, growth_policy), "speed", (hash, key, seed))?;
        let mut builder = builder::<guira::ExpiringCuckooFilter>(&options).lifetime(lifetime.0);
        if let Some(resolution) = resolution {
            builder = builder.resolution(resolution.0);
        }
        let start = match now {
            Some(Moment(now)) => now,
            None if clock => crate::times::clock(py)?,
            None => 0,
        };
        let table = built(py, &builder.start_time(start))?;
        let mut chunks = Vec::new();
        raw::Chunk::new(NOTES, 0, notes(clock)).append_to(&mut chunks);
        table.write().set_chunks(chunks);
        Ok(Self { table, has_clock: clock })
    }

    /// Stores a copy of a key, which is found for a lifetime from now.
    ///
    /// A key that is added again is stored again, as often as its buckets have slots (usually 8 times); where keys come again,
    /// ``add_unique`` or ``add_or_renew`` is what to use. Raises ``FilterFullError``, or ``TooManyCopiesError`` for one copy too
    /// many; only the time has then moved on.
    #[pyo3(signature = (key, /, *, now=None))]
    fn add(&self, key: &Bound<'_, PyAny>, now: Option<Moment>) -> PyResult<()> {
        let digest = key_of(self.table.hasher(), key)?;
        self.move_on(key.py(), now)?;
        self.table.write().insert(&digest).map_err(|error| insert_error(&error, 0))
    }

    /// Stores a key unless it is found, so that its lifetime counts from when it was first seen. Returns ``True`` if it was
    /// stored.
    ///
    /// A new key that looks like a living one, as often as the rate says, is not stored, and found no longer than that one.
    /// Never combine this with removal.
    ///
    /// >>> seen = ExpiringCuckooFilter(1000, lifetime=3600)
    /// >>> seen.add_unique("ani"), seen.add_unique("ani")
    /// (True, False)
    #[pyo3(signature = (key, /, *, now=None))]
    fn add_unique(&self, key: &Bound<'_, PyAny>, now: Option<Moment>) -> PyResult<bool> {
        let digest = key_of(self.table.hasher(), key)?;
        self.move_on(key.py(), now)?;
        self.table.write().insert_if_absent(&digest).map_err(|error| insert_error(&error, 0))
    }

    /// Stores a key, or if it is found, counts its lifetime anew, so that it counts from when the key was last seen. Returns
    /// ``True`` if it was stored.
    ///
    /// A new key that looks like a living one renews that one. Never combine this with removal.
    ///
    /// >>> active = ExpiringCuckooFilter(1000, lifetime=60, clock=False)
    /// >>> active.add_or_renew("ani", now=0), active.add_or_renew("ani", now=50), active.contains("ani", now=100)
    /// (True, False, True)
    #[pyo3(signature = (key, /, *, now=None))]
    fn add_or_renew(&self, key: &Bound<'_, PyAny>, now: Option<Moment>) -> PyResult<bool> {
        let digest = key_of(self.table.hasher(), key)?;
        self.move_on(key.py(), now)?;
        self.table.write().insert_or_renew(&digest).map_err(|error| insert_error(&error, 0))
    }

    /// Removes the oldest copy of a key, or raises ``KeyError`` if none is alive.
    ///
    /// Remove only what ``add`` stored, as often as it was, and before it expires: then no other key dies early.
    #[pyo3(signature = (key, /, *, now=None))]
    fn remove(&self, key: &Bound<'_, PyAny>, now: Option<Moment>) -> PyResult<()> {
        let digest = key_of(self.table.hasher(), key)?;
        self.move_on(key.py(), now)?;
        if self.table.write().remove(&digest) { Ok(()) } else { Err(PyKeyError::new_err(key.clone().unbind())) }
    }

    /// Removes the oldest copy of a key if one is alive. Remove only what ``add`` stored: see ``remove``.
    #[pyo3(signature = (key, /, *, now=None))]
    fn discard(&self, key: &Bound<'_, PyAny>, now: Option<Moment>) -> PyResult<()> {
        let digest = key_of(self.table.hasher(), key)?;
        self.move_on(key.py(), now)?;
        self.table.write().remove(&digest);
        Ok(())
    }

    pub(crate) fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.contains(key, None)
    }

    /// Whether a key is probably alive; ``False`` is certain. It is what ``in`` says, and changes nothing.
    #[pyo3(signature = (key, /, *, now=None))]
    fn contains(&self, key: &Bound<'_, PyAny>, now: Option<Moment>) -> PyResult<bool> {
        let digest = key_of(self.table.hasher(), key)?;
        let now = self.asked(key.py(), now)?;
        Ok(self.table.read().contains_at(&digest, now))
    }

    /// How many copies of a key are alive.
    #[pyo3(signature = (key, /, *, now=None))]
    fn count(&self, key: &Bound<'_, PyAny>, now: Option<Moment>) -> PyResult<usize> {
        let digest = key_of(self.table.hasher(), key)?;
        let now = self.asked(key.py(), now)?;
        Ok(self.table.read().count_at(&digest, now))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.count_alive(py, None)
    }

    /// How many keys are alive, each copy counted. It is what ``len`` says.
    #[pyo3(signature = (*, now=None))]
    fn count_alive(&self, py: Python<'_>, now: Option<Moment>) -> PyResult<usize> {
        let now = self.asked(py, now)?;
        Ok(self.table.read().len_at(now))
    }

    /// Stores many keys, all of which come now: a NumPy array, a list, a column of Arrow (of pyarrow, Polars, pandas or DuckDB)
    /// or another iterable. A null of a column is left out; ``None`` in a list raises ``TypeError``. Of an iterator, each key
    /// comes when it is yielded.
    ///
    /// Raises ``FilterFullError`` for the first key that does not fit, with its ``index``; the keys before it are stored. Of a
    /// list or another iterable, so are the keys before an object that is no key, which raises ``TypeError``, or
    /// ``OverflowError`` for an integer that is too large; of a column, none is stored then.
    #[pyo3(signature = (keys, *, now=None))]
    fn update(&self, keys: &Bound<'_, PyAny>, now: Option<Moment>) -> PyResult<()> {
        apply_to_iterable(&At { filter: self, now, operation: AddMany(&self.table) }, keys)
    }

    /// Stores many keys, like ``update``.
    #[pyo3(signature = (keys, *, now=None))]
    fn add_many(&self, keys: &Bound<'_, PyAny>, now: Option<Moment>) -> PyResult<()> {
        self.update(keys, now)
    }

    /// Stores those of many keys that are not found; which were stored, as a NumPy array of bools.
    ///
    /// Of equal keys in one batch, the first is new and the others are not. Raises ``FilterFullError`` for the first key that
    /// finds no room, with its ``index``; the keys before it are stored. Nothing is changed if one of several objects is no key.
    #[pyo3(signature = (keys, *, now=None))]
    fn add_unique_many<'py>(&self, keys: &Bound<'py, PyAny>, now: Option<Moment>) -> PyResult<Bound<'py, PyAny>> {
        change_many(&At { filter: self, now, operation: AddUniqueMany(&self.table) }, keys)
    }

    /// Stores many keys, or renews those that are found; which were stored, as a NumPy array of bools. Nothing is changed if one
    /// of several objects is no key.
    #[pyo3(signature = (keys, *, now=None))]
    fn add_or_renew_many<'py>(&self, keys: &Bound<'py, PyAny>, now: Option<Moment>) -> PyResult<Bound<'py, PyAny>> {
        change_many(&At { filter: self, now, operation: RenewMany(&self.table) }, keys)
    }

    /// Removes the oldest copy of each of many keys. Returns a NumPy array of bools: ``True`` where one was alive.
    ///
    /// Remove only what ``add`` and ``update`` stored: see ``remove``. Nothing is changed if one of several objects is no key.
    #[pyo3(signature = (keys, *, now=None))]
    fn remove_many<'py>(&self, keys: &Bound<'py, PyAny>, now: Option<Moment>) -> PyResult<Bound<'py, PyAny>> {
        change_many(&At { filter: self, now, operation: RemoveMany(&self.table) }, keys)
    }

    /// Looks up many keys. Returns a NumPy array of bools: ``True`` for keys that are probably alive; ``False`` is certain. A null of
    /// a column is never alive; ``None`` in a list raises ``TypeError``.
    #[pyo3(signature = (keys, *, now=None))]
    fn contains_many<'py>(&self, keys: &Bound<'py, PyAny>, now: Option<Moment>) -> PyResult<Bound<'py, PyAny>> {
        let now = self.asked(keys.py(), now)?;
        look_up_many(&ContainsManyAt { table: &self.table, now }, keys)
    }

    /// How many copies of each of many keys are alive, as a NumPy array of uint64.
    #[pyo3(signature = (keys, *, now=None))]
    fn count_many<'py>(&self, keys: &Bound<'py, PyAny>, now: Option<Moment>) -> PyResult<Bound<'py, PyAny>> {
        let now = self.asked(keys.py(), now)?;
        look_up_many(&CountManyAt { table: &self.table, now }, keys)
    }

    /// Moves the time on, to that of the clock unless ``now`` is given, and sweeps out what has expired. A time before the one
    /// that was reached changes nothing.
    ///
    /// Raises ``AdvanceError`` for a ``now`` by which all keys would have expired, unless ``jump`` is ``True``.
    #[pyo3(signature = (now=None, *, jump=false))]
    fn advance(&self, py: Python<'_>, now: Option<Moment>, jump: bool) -> PyResult<()> {
        let is_told = now.is_some() && !jump;
        let now = self.asked(py, now)?;
        if is_told {
            self.table.write().advance(now).map_err(|error| advance_error(&error))?;
        }
        while !py.detach(|| (0..SWEEPS_AT_ONCE).any(|_| self.table.write().jump(now))) {
            py.check_signals()?;
        }
        Ok(())
    }

    /// The time that was reached, in seconds since 1970.
    #[getter]
    fn time(&self) -> f64 {
        seconds(self.table.read().time())
    }

    /// Whether the time is that of the system's clock where no other one is told.
    #[getter]
    fn clock(&self) -> bool {
        self.has_clock
    }

    /// For how long a key is found after it came: what was asked for, rounded up to whole resolutions.
    #[getter]
    fn lifetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDelta>> {
        Span(self.table.read().lifetime()).to_timedelta(py)
    }

    /// For how long after its lifetime a key may still be found.
    #[getter]
    fn resolution<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDelta>> {
        Span(self.table.read().resolution()).to_timedelta(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let len = self.count_alive(py, None)?;
        let lifetime = seconds(self.table.read().lifetime());
        let repr = self.measures().repr("ExpiringCuckooFilter", len as u64);
        Ok(format!("{}, lifetime={lifetime} s)", repr.trim_end_matches(')')))
    }
}
