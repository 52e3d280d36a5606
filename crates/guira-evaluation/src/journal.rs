//! What a long run has measured so far, so that it can be stopped at any time and go on later.
//!
//! The file has a line of JSON for each finished measurement, after a first one that says what is measured and where.

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
    /// Of the file, or what stands for it in messages.
    path: PathBuf,
    growing: Mutex<Growing>,
}

#[derive(Default)]
struct Growing {
    file: Option<File>,
    known: HashMap<String, Measurement>,
    /// That measurements took which were found in the file, since that was asked for last.
    seconds_before: f64,
}

/// What the first line says: only a run of which it is the same goes on with the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Beginning {
    pub(crate) machine: Machine,
    /// Names and values of what was typed, or follows from it.
    pub(crate) parameters: Vec<(String, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Measurement {
    name: String,
    seconds: f64,
    value: Value,
}

impl Journal {
    /// One without a file: what several reproductions take is measured once in a run.
    pub(crate) fn in_memory() -> Self {
        Self { path: "memory".into(), growing: Mutex::default() }
    }

    /// Goes on with the one in a folder, or begins it. Returns the beginning that the file has.
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
        // A line without an end was being written when the program was stopped.
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
        let growing = Mutex::new(Growing { file: Some(file), known, seconds_before: 0.0 });
        Ok((Self { path, growing }, begun))
    }

    /// How many measurements it found.
    pub(crate) fn len(&self) -> usize {
        self.growing().known.len()
    }

    /// What a measurement gave before, or otherwise gives now. Each name is of one measurement.
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

    /// The seconds of measurements that were there already, since the last call.
    pub(crate) fn take_seconds_before(&self) -> f64 {
        core::mem::take(&mut self.growing().seconds_before)
    }

    fn growing(&self) -> std::sync::MutexGuard<'_, Growing> {
        // A thread that panicked has written a whole line or none.
        self.growing.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Growing {
    fn recall(&mut self, name: &str) -> Option<Value> {
        let measurement = self.known.get_mut(name)?;
        // Those of two figures took their time once.
        self.seconds_before += core::mem::take(&mut measurement.seconds);
        Some(measurement.value.clone())
    }
}

impl Beginning {
    /// The beginning of a file, if this run may go on with it.
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

/// Appends a line, which is there when this returns.
fn append(path: &Path, file: &mut File, line: &impl Serialize) -> Result<(), Failure> {
    let mut json = serde_json::to_vec(line).map_err(|error| Failure::not_written(path, error))?;
    json.push(b'\n');
    file.write_all(&json).and_then(|()| file.sync_data()).map_err(|error| Failure::not_written(path, error))
}
