use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use serde::Serialize;

/// What measured, and of what.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    processor: String,
    processors: usize,
    system: String,
    /// The revision of the source.
    commit: String,
}

impl Machine {
    /// This machine. The commit is what git says of the working directory, unless it is given.
    pub(crate) fn here(commit: Option<&str>) -> Self {
        let unknown = || "unknown".to_owned();
        Self {
            processor: processor().unwrap_or_else(unknown),
            processors: available_parallelism().map_or(1, usize::from),
            system: format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH),
            commit: commit.map(str::to_owned).or_else(git_commit).unwrap_or_else(unknown),
        }
    }

    pub(crate) fn to_markdown(&self) -> String {
        let Self { processor, processors, system, commit } = self;
        format!("- processor: {processor}, {processors} of them\n- system: {system}\n- commit: {commit}\n")
    }
}

/// As Linux tells it.
fn processor() -> Option<String> {
    let description = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = description.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// With "-dirty" where files differ from it.
fn git_commit() -> Option<String> {
    let output = Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=40"]).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !commit.is_empty()).then_some(commit)
}
