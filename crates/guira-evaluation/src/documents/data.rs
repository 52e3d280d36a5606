//! Data files: results, and how they were measured.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::printed::take_apart;
use crate::failure::Failure;
use crate::report::{Machine, Table};

/// A data file of any program. Those of reproductions contain more.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Data {
    pub(super) run: Run,
    pub(super) tables: Vec<Table>,
    /// Lines that are in no table.
    #[serde(default)]
    pub(super) text: Vec<String>,
}

/// How the data was measured.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) machine: Machine,
    /// The command line.
    pub(super) command: String,
}

impl Data {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let json = fs::read(path).map_err(|error| Failure::not_read(path, error))?;
        serde_json::from_slice(&json).map_err(|error| Failure::not_read(path, error))
    }
}

impl Run {
    /// A sentence that says how the data was measured.
    pub(super) fn to_markdown(&self) -> String {
        format!("By `{}`, on {}.\n", self.command, self.machine.in_short())
    }
}

/// Runs a program, shows what it prints, and writes that to a data file.
pub(crate) fn record(path: &Path, words: &[OsString], machine: Machine) -> Result<(), Failure> {
    let command = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let not_run = |reason: String| Failure::NotRun { command: command.clone(), reason };
    let (program, arguments) = words.split_first().ok_or_else(|| not_run("no program is named".to_owned()))?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| not_run(error.to_string()))?;
    let mut printed = String::new();
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        let line = line.map_err(|error| not_run(error.to_string()))?;
        // An error is ignored: nobody needs to read along.
        writeln!(io::stdout().lock(), "{line}").ok();
        printed += &line;
        printed.push('\n');
    }
    let status = child.wait().map_err(|error| not_run(error.to_string()))?;
    if !status.success() {
        return Err(not_run(status.to_string()));
    }
    let (tables, text) = take_apart(&printed);
    let data = Data { run: Run { machine, command: command.clone() }, tables, text };
    let mut json = serde_json::to_vec_pretty(&data).map_err(|error| Failure::not_written(path, error))?;
    json.push(b'\n');
    fs::write(path, json).map_err(|error| Failure::not_written(path, error))
}
