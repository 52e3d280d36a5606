//! The operations on batches of keys, whose answers are written into an array of NumPy.

use bytemuck::{CheckedBitPattern, NoUninit};
use guira::{Key, KeyHasher};
use pyo3::exceptions::{PyImportError, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::batch::{Batch, Rows, Visit, iterate, pause, reserve};
use crate::error::insert_error;
use crate::keys::key_of;
use crate::table::{Change, Count, Expire, InsertUnique, Locked, Lookup, Refused};
use crate::times::Moment;

/// An operation of a table on each of many keys.
pub(crate) trait Operation: Send + Sync {
    /// The answer for each key; the default, whose bytes are 0, for null keys.
    type Answer: Copy + Default + Send;
    fn hasher(&self) -> &KeyHasher;
    /// Prepares the table for keys that have just come.
    fn begin(&self, _py: Python<'_>) -> PyResult<()> {
        Ok(())
    }
    fn apply<K: Key>(&self, keys: &[K], answers: &mut [Self::Answer]) -> Result<(), Refused>;
}

macro_rules! operation {
    ($(#[$what:meta])* $name:ident, $of:ident, $answer:ty, |$table:ident, $keys:ident, $answers:ident| $body:expr) => {
        $(#[$what])*
        pub(crate) struct $name<'table, T>(pub(crate) &'table Locked<T>);

        impl<T: $of + Send + Sync> Operation for $name<'_, T> {
            type Answer = $answer;

            fn hasher(&self) -> &KeyHasher {
                self.0.hasher()
            }

            fn apply<K: Key>(&self, $keys: &[K], $answers: &mut [$answer]) -> Result<(), Refused> {
                let Self($table) = self;
                $body
            }
        }
    };
}

operation! {
    /// Looks up keys.
    ContainsMany, Lookup, bool, |table, keys, answers| {
        table.read().contains_many_into(keys, answers);
        Ok(())
    }
}

operation! {
    /// Stores keys.
    AddMany, Change, (), |table, keys, _answers| table.write().insert_each(keys)
}

operation! {
    /// Stores keys that are not present yet. Answers `true` for each key that was stored.
    AddUniqueMany, InsertUnique, bool, |table, keys, answers| {
        let mut table = table.write();
        for (inserted, (key, answer)) in keys.iter().zip(answers).enumerate() {
            *answer = table.insert_if_absent(key).map_err(|reason| Refused { inserted, reason })?;
        }
        Ok(())
    }
}

operation! {
    /// Removes keys. Answers `true` for each that was present.
    RemoveMany, Change, bool, |table, keys, answers| {
        table.write().remove_many_into(keys, answers);
        Ok(())
    }
}

operation! {
    /// Counts the copies of keys.
    CountMany, Count, u64, |table, keys, answers| {
        let table = table.read();
        for (key, answer) in keys.iter().zip(answers) {
            *answer = table.count(key);
        }
        Ok(())
    }
}

operation! {
    /// Stores keys, or renews those that are present. Answers `true` for each key that was stored.
    RenewMany, Expire, bool, |table, keys, answers| {
        let mut table = table.write();
        for (inserted, (key, answer)) in keys.iter().zip(answers).enumerate() {
            *answer = table.insert_or_renew(key).map_err(|reason| Refused { inserted, reason })?;
        }
        Ok(())
    }
}

/// A filter whose time is moved on before keys are stored or removed: to the time that is told, or to that of its clock.
pub(crate) trait Moving: Sync {
    fn move_on(&self, py: Python<'_>, now: Option<Moment>) -> PyResult<()>;
}

/// An operation that changes a filter, at a time.
pub(crate) struct At<'filter, F, O> {
    pub(crate) filter: &'filter F,
    pub(crate) now: Option<Moment>,
    pub(crate) operation: O,
}

impl<F: Moving, O: Operation> Operation for At<'_, F, O> {
    type Answer = O::Answer;

    fn hasher(&self) -> &KeyHasher {
        self.operation.hasher()
    }

    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.filter.move_on(py, self.now)
    }

    fn apply<K: Key>(&self, keys: &[K], answers: &mut [Self::Answer]) -> Result<(), Refused> {
        self.operation.apply(keys, answers)
    }
}

/// Looks up keys that expire, at a time.
pub(crate) struct ContainsManyAt<'table, T> {
    pub(crate) table: &'table Locked<T>,
    pub(crate) now: u64,
}

impl<T: Expire + Send + Sync> Operation for ContainsManyAt<'_, T> {
    type Answer = bool;

    fn hasher(&self) -> &KeyHasher {
        self.table.hasher()
    }

    fn apply<K: Key>(&self, keys: &[K], answers: &mut [bool]) -> Result<(), Refused> {
        self.table.read().contains_many_at_into(keys, answers, self.now);
        Ok(())
    }
}

/// Counts the copies of keys that expire, at a time.
pub(crate) struct CountManyAt<'table, T> {
    pub(crate) table: &'table Locked<T>,
    pub(crate) now: u64,
}

impl<T: Expire + Send + Sync> Operation for CountManyAt<'_, T> {
    type Answer = u64;

    fn hasher(&self) -> &KeyHasher {
        self.table.hasher()
    }

    fn apply<K: Key>(&self, keys: &[K], answers: &mut [u64]) -> Result<(), Refused> {
        let table = self.table.read();
        for (key, answer) in keys.iter().zip(answers) {
            *answer = table.count_at(key, self.now);
        }
        Ok(())
    }
}

/// An answer that NumPy's arrays hold.
pub(crate) trait Item: NoUninit + CheckedBitPattern {
    /// NumPy's name of the type.
    const DTYPE: &str;
}

impl Item for bool {
    const DTYPE: &str = "?";
}

impl Item for u64 {
    const DTYPE: &str = "=u8";
}

/// Looks up all keys of a batch. Returns an array of NumPy with an answer for each row.
pub(crate) fn look_up_many<'py, O: Operation<Answer: Item>>(
    operation: &O,
    keys: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, numpy, batch, count) = batch_to_answer(keys)?;
    answers(&numpy, operation, count, |application| batch.visit(py, count, operation.hasher(), application))
}

/// Changes a table by all keys of a batch. Returns an array of NumPy with an answer for each row. Nothing is changed where there can
/// be no answers: without NumPy, and if one of several objects is no key.
pub(crate) fn change_many<'py, O: Operation<Answer: Item>>(
    operation: &O,
    keys: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, numpy, batch, count) = batch_to_answer(keys)?;
    let hashed = batch.hash_objects(py, count, operation.hasher())?;
    operation.begin(py)?;
    answers(&numpy, operation, count, |application| match &hashed {
        Some(hashed) => hashed.visit(py, application),
        None => batch.visit(py, count, operation.hasher(), application),
    })
}

/// A batch and its length, and NumPy, whose arrays hold the answers.
fn batch_to_answer<'py>(keys: &Bound<'py, PyAny>) -> PyResult<(Python<'py>, Bound<'py, PyModule>, Batch<'py>, usize)> {
    let py = keys.py();
    let numpy = py.import("numpy").map_err(|error| {
        let needed = PyImportError::new_err("the answers for many keys are an array of NumPy: pip install numpy");
        needed.set_cause(py, Some(error));
        needed
    })?;
    let batch = Batch::of_any(keys)?;
    let count = batch.len();
    Ok((py, numpy, batch, count))
}

/// The answers of an operation that visits so many rows.
fn answers<'py, O: Operation<Answer: Item>>(
    numpy: &Bound<'py, PyModule>,
    operation: &O,
    count: usize,
    visit: impl FnOnce(&mut Application<'_, O>) -> PyResult<()>,
) -> PyResult<Bound<'py, PyAny>> {
    let size = count.checked_mul(size_of::<O::Answer>()).filter(|&size| isize::try_from(size).is_ok());
    let size = size.ok_or_else(|| PyMemoryError::new_err(format!("no memory for answers for {count} keys")))?;
    let answers = PyByteArray::new_with(numpy.py(), size, |bytes| {
        // The bytes are 0 now, which are the default answers. Where there are none, they are not aligned.
        let answers = if bytes.is_empty() { &mut [] } else { bytemuck::checked::cast_slice_mut(bytes) };
        visit(&mut Application { operation, answers, block: Vec::new() })
    })?;
    numpy.call_method1("frombuffer", (answers, O::Answer::DTYPE))
}

/// Applies an operation to all keys of an iterable. If it is a mere iterator, each key is processed before the next one is
/// requested.
pub(crate) fn apply_to_iterable<O: Operation>(operation: &O, keys: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = keys.py();
    let hasher = operation.hasher();
    if let Some(batch) = Batch::of_columns(keys)? {
        operation.begin(py)?;
        let (count, answers) = (batch.len(), &mut Vec::new());
        reserve(answers, count)?;
        answers.resize(count, O::Answer::default());
        return batch.visit(py, count, hasher, &mut Application { operation, answers, block: Vec::new() });
    }
    let keys = iterate(keys)?;
    // Time moves on also where no key comes.
    operation.begin(py)?;
    for (number, key) in keys.enumerate() {
        let key = key_of(hasher, &key?)?;
        operation.begin(py)?;
        let applied = operation.apply(&[key], &mut [O::Answer::default()]);
        applied.map_err(|refused| insert_error(&refused.reason, number))?;
        pause(py, number + 1)?;
    }
    Ok(())
}

/// An operation in progress on a batch.
struct Application<'operation, O: Operation> {
    operation: &'operation O,
    answers: &'operation mut [O::Answer],
    /// The answers for a block with null rows.
    block: Vec<O::Answer>,
}

impl<O: Operation> Visit for Application<'_, O> {
    fn block<K: Key>(&mut self, keys: &[K], rows: Rows<'_>) -> PyResult<()> {
        let applied = match rows {
            Rows::From(first) => self.operation.apply(keys, &mut self.answers[first..first + keys.len()]),
            Rows::Listed(rows) => {
                self.block.clear();
                reserve(&mut self.block, keys.len())?;
                self.block.resize(keys.len(), O::Answer::default());
                let applied = self.operation.apply(keys, &mut self.block);
                for (row, answer) in rows.iter().zip(&self.block) {
                    self.answers[*row] = *answer;
                }
                applied
            }
        };
        applied.map_err(|refused| insert_error(&refused.reason, rows.row(refused.inserted)))
    }
}
