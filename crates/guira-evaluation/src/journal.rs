//! The results of a long run so far, so that it can be stopped at any time and continued later.
//!
//! The file has a first line that says what is measured and where, then a line of JSON for each finished measurement.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::report::Machine;

/// The name of the file, in the folder of the results.
const FILE: &str = "state.jsonl";

/// Finished measurements by their names, and the file that more are appended to.
pub(crate) struct Journal {
    /// The path of the file, or a name for messages.
    path: PathBuf,
    growing: Mutex<Growing>,
}

#[derive(Default)]
struct Growing {
    file: Option<File>,
    known: HashMap<String, Measurement>,
    /// The time of measurements that were found in the file, since this was last asked for.
    seconds_before: f64,
    /// The time of each reproduction so far.
    seconds_of: HashMap<String, f64>,
}

/// The first line. Only a run with an equal one continues the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Beginning {
    pub(crate) machine: Machine,
    /// Names and values of the arguments, and of parameters that follow from them.
    pub(crate) parameters: Vec<(String, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Measurement {
    name: String,
    seconds: f64,
    value: Value,
}

impl Journal {
    /// A journal without a file, so that measurements that several reproductions share are made once.
    pub(crate) fn in_memory() -> Self {
        Self { path: "memory".into(), growing: Mutex::default() }
    }

    /// Continues the journal in a folder, or creates it. Returns the first line of the file.
    ///
    /// # Errors
    /// The file is of another machine, program or parameters, or can't be read or written.
    pub(crate) fn open(folder: &Path, beginning: Beginning) -> Result<(Self, Beginning), Failure> {
        let path = folder.join(FILE);
        fs::create_dir_all(folder).map_err(|error| Failure::not_written(folder, error))?;
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| Failure::not_read(&path, error))?,
        };
        // A line without an end was cut off when the program was stopped.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = whole.lines();
        let begun = match lines.next() {
            Some(line) => beginning.continued(&path, parsed(&path, 1, line)?)?,
            None => beginning,
        };
        let mut known = HashMap::new();
        for (line, number) in lines.zip(2..) {
            let measurement: Measurement = parsed(&path, number, line)?;
            known.insert(measurement.name.clone(), measurement);
        }
        let not_written = |error| Failure::not_written(&path, error);
        let mut file = File::options().append(true).create(true).open(&path).map_err(not_written)?;
        file.set_len(whole.len() as u64).map_err(not_written)?;
        if whole.is_empty() {
            append(&path, &mut file, &begun)?;
        }
        let growing = Mutex::new(Growing { file: Some(file), known, ..Growing::default() });
        Ok((Self { path, growing }, begun))
    }

    /// The number of measurements found.
    pub(crate) fn len(&self) -> usize {
        self.growing().known.len()
    }

    /// Returns the earlier result of a measurement, or measures it now. Names are unique.
    pub(crate) fn measure<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        measure: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(value) = self.growing().recall(name) {
            return serde_json::from_value(value)
                .map_err(|error| Failure::not_read(&self.path, format!("the measurement {name:?}: {error}")));
        }
        let start = Instant::now();
        let measured = measure()?;
        let value = serde_json::to_value(&measured).map_err(|error| Failure::not_written(&self.path, error))?;
        let measurement = Measurement { name: name.to_owned(), seconds: start.elapsed().as_secs_f64(), value };
        let mut growing = self.growing();
        if let Some(file) = &mut growing.file {
            append(&self.path, file, &measurement)?;
        }
        growing.known.insert(name.to_owned(), Measurement { seconds: 0.0, ..measurement });
        Ok(measured)
    }

    /// The seconds of measurements found in the file, since the last call.
    pub(crate) fn take_seconds_before(&self) -> f64 {
        core::mem::take(&mut self.growing().seconds_before)
    }

    /// Adds to the time of a reproduction, which may be measured in several parts. Returns all of it.
    pub(crate) fn seconds_of(&self, name: &str, more: f64) -> f64 {
        let mut growing = self.growing();
        let seconds = growing.seconds_of.entry(name.to_owned()).or_default();
        *seconds += more;
        *seconds
    }

    fn growing(&self) -> std::sync::MutexGuard<'_, Growing> {
        // A thread that panicked has written a whole line or none.
        self.growing.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Growing {
    fn recall(&mut self, name: &str) -> Option<Value> {
        let measurement = self.known.get_mut(name)?;
        // The time of a measurement that two figures share counts once.
        self.seconds_before += core::mem::take(&mut measurement.seconds);
        Some(measurement.value.clone())
    }
}

impl Beginning {
    /// The first line of a file, if this run may continue it.
    fn continued(&self, path: &Path, begun: Self) -> Result<Self, Failure> {
        let facts = |beginning: &Self| {
            let of_machine =
                beginning.machine.lasting_facts().into_iter().map(|(name, value)| (name.to_owned(), value));
            of_machine.chain(beginning.parameters.clone()).collect::<Vec<_>>()
        };
        let [there, here] = [facts(&begun), facts(self)];
        let differing = there.iter().zip(&here).filter(|(there, here)| there != here);
        let differing: Vec<String> =
            differing.map(|((name, there), (_, here))| format!("{name} {there}, which is now {here}")).collect();
        if differing.is_empty() && there.len() == here.len() {
            return Ok(begun);
        }
        let reason = format!(
            "it was begun with {}; take another folder for these measurements, or remove the file to lose those",
            differing.join("; ")
        );
        Err(Failure::not_read(path, reason))
    }
}

fn parsed<T: DeserializeOwned>(path: &Path, number: u32, line: &str) -> Result<T, Failure> {
    serde_json::from_str(line).map_err(|error| Failure::not_read(path, format!("line {number}: {error}")))
}

/// Appends a line. It is on disk when this returns.
fn append(path: &Path, file: &mut File, line: &impl Serialize) -> Result<(), Failure> {
    let mut json = serde_json::to_vec(line).map_err(|error| Failure::not_written(path, error))?;
    json.push(b'\n');
    file.write_all(&json).and_then(|()| file.sync_data()).map_err(|error| Failure::not_written(path, error))
}
