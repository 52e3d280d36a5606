//! A directory of its own for each test, and the program run in it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use tempfile::TempDir;

/// The program, or what runs it where it is for another machine, as `tools/other-machines` has it.
pub(crate) const GUIRA: &str = match option_env!("GUIRA_TESTED") {
    Some(program) => program,
    None => env!("CARGO_BIN_EXE_guira"),
};

pub(crate) struct Workplace(TempDir);

/// The folder of the repository. None in a package of the program alone, which has no documents to be tested.
#[cfg(unix)]
pub(crate) fn repository() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("its parents can be read");
    let is_there = folder.join("ARCHITECTURE.md").exists();
    if !is_there {
        eprintln!("skipped: {} is no clone of the repository", folder.display());
    }
    is_there.then_some(folder)
}

/// What a run came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("writable");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("readable")
    }

    /// The names of all files, hidden ones too.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("readable");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("readable").file_name();
        let mut names: Vec<_> = entries.map(|entry| name(entry).into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, program: &str, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn start<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Child {
        self.command(GUIRA, arguments).spawn().expect("the program starts")
    }

    pub(crate) fn guira<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Outcome {
        self.guira_with(arguments, b"")
    }

    /// The same with bytes on standard input.
    pub(crate) fn guira_with<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>, input: &[u8]) -> Outcome {
        outcome(self.start(arguments), input)
    }

    /// Builds `set.guira` anew from lines, so precise that no test meets a false positive: 32-bit fingerprints.
    pub(crate) fn build(&self, lines: impl AsRef<[u8]>) {
        self.build_with(&[], lines.as_ref());
    }

    /// The same with more arguments.
    pub(crate) fn build_with(&self, arguments: &[&str], input: &[u8]) {
        let arguments = [&["build", "--force", "--fingerprint-bits", "32", "-o", "set.guira"], arguments].concat();
        let built = self.guira_with(arguments, input);
        assert_eq!(built.status, 0, "{}", built.stderr);
    }

    /// The selected lines of an input.
    pub(crate) fn check(&self, lines: impl AsRef<[u8]>) -> Vec<u8> {
        let checked = self.guira_with(["check", "set.guira"], lines.as_ref());
        assert_eq!(checked.stderr, "");
        assert_eq!(checked.status, i32::from(checked.stdout.is_empty()));
        checked.stdout
    }
}

/// Feeds a program that runs, and waits for it.
pub(crate) fn outcome(mut child: Child, input: &[u8]) -> Outcome {
    let mut stdin = child.stdin.take().expect("a pipe");
    thread::scope(|scope| {
        // A program that stops early does not read to the end; that is its right.
        scope.spawn(move || stdin.write_all(input).ok());
        let output = child.wait_with_output().expect("the program ends");
        Outcome {
            status: output.status.code().expect("not killed"),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    })
}
