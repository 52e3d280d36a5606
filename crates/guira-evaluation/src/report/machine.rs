use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

/// What measured, and of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    processor: String,
    processors: usize,
    /// Such as "L1d 48K, L2 2048K".
    caches: String,
    memory: String,
    /// Whether programs get large pages of memory: such as "always" or "madvise".
    large_pages: String,
    system: String,
    compiler: String,
    /// The revision of the source.
    commit: String,
}

impl Machine {
    /// This machine. The commit is what git says of the working directory, unless it is given.
    pub(crate) fn here(commit: Option<&str>) -> Self {
        let known = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
        Self {
            processor: known(field_of("/proc/cpuinfo", "model name")),
            processors: available_parallelism().map_or(1, usize::from),
            caches: known(caches()),
            memory: known(field_of("/proc/meminfo", "MemTotal")),
            large_pages: known(large_pages()),
            system: format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH),
            compiler: known(said_by("rustc", &["--version"])),
            // With "-dirty" where files differ from it.
            commit: known(
                commit
                    .map(str::to_owned)
                    .or_else(|| said_by("git", &["describe", "--always", "--dirty", "--abbrev=40"])),
            ),
        }
    }

    /// Names and values, for people.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("processor", format!("{}, {} of them", self.processor, self.processors)),
            ("caches", self.caches.clone()),
            ("memory", self.memory.clone()),
            ("large pages", self.large_pages.clone()),
            ("system", self.system.clone()),
            ("compiler", self.compiler.clone()),
            ("commit", self.commit.clone()),
        ]
    }

    pub(crate) fn to_markdown(&self) -> String {
        self.facts().into_iter().map(|(name, value)| format!("- {name}: {value}\n")).collect()
    }
}

/// As Linux tells it, in lines such as "model name : …".
fn field_of(file: &str, name: &str) -> Option<String> {
    let description = fs::read_to_string(file).ok()?;
    let line = description.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Those of the first processor that hold data.
fn caches() -> Option<String> {
    let folder = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let of = |cache: &fs::DirEntry| {
        let read = |file| fs::read_to_string(cache.path().join(file)).ok().map(|text| text.trim().to_owned());
        let kind = read("type")?;
        let letter = if kind == "Data" { "d" } else { "" };
        (kind != "Instruction").then_some(format!("L{}{letter} {}", read("level")?, read("size")?))
    };
    let mut caches: Vec<String> = folder.flatten().filter_map(|cache| of(&cache)).collect();
    caches.sort();
    (!caches.is_empty()).then(|| caches.join(", "))
}

/// The one in brackets of several choices.
fn large_pages() -> Option<String> {
    let choices = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    Some(choices.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// The first line of what a program prints.
fn said_by(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
