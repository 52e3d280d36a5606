//! Each allocation of each command fails, alone or with all that follow: the program ends with status 2 and a message, the file is
//! the old one, and no temporary file is left.
//!
//! This program is both the test and the program that is tested, with an allocator that fails the n-th time, or from then on. By default a part of
//! the cases is tried; `GUIRA_ALLOCATIONS=all cargo test -p guira-cli --test memory` tries all of them, and `GUIRA_ALLOCATIONS=N` every N-th.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many allocations succeed before one fails.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Whether all allocations fail after the first that does.
static IS_LASTING: AtomicBool = AtomicBool::new(false);

const LEFT_VARIABLE: &str = "GUIRA_ALLOCATIONS_LEFT";
const LASTING_VARIABLE: &str = "GUIRA_ALLOCATIONS_END";
const COUNT_VARIABLE: &str = "GUIRA_ALLOCATION_COUNT";

struct FailsOnce;

#[expect(unsafe_code, reason = "an allocator is")]
// SAFETY: memory is the system's.
unsafe impl GlobalAlloc for FailsOnce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller promises what this asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller promises what this asks for.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller promises what this asks for.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn fails() -> bool {
    if IS_LASTING.load(Ordering::Relaxed) {
        return LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err();
    }
    LEFT.fetch_sub(1, Ordering::Relaxed) == 0
}

#[global_allocator]
static ALLOCATOR: guira_cli::Ending<FailsOnce> = guira_cli::Ending(FailsOnce);

fn main() -> ExitCode {
    match std::env::var(LEFT_VARIABLE) {
        Ok(left) => {
            let left: usize = left.parse().expect("a number");
            let is_lasting = std::env::var_os(LASTING_VARIABLE).is_some();
            LEFT.store(left, Ordering::Relaxed);
            IS_LASTING.store(is_lasting, Ordering::Relaxed);
            let status = guira_cli::run();
            IS_LASTING.store(false, Ordering::Relaxed);
            let made = left.wrapping_sub(LEFT.swap(usize::MAX, Ordering::Relaxed));
            if let Some(path) = std::env::var_os(COUNT_VARIABLE) {
                fs::write(path, made.to_string()).expect("writable");
            }
            status
        }
        Err(_) => {
            let trial = |scene: &'static Scene| {
                libtest_mimic::Trial::test(scene.arguments.join(" "), || {
                    scene.try_all();
                    Ok(())
                })
            };
            let arguments = libtest_mimic::Arguments::from_args();
            libtest_mimic::run(&arguments, SCENES.iter().map(trial).collect()).exit_code()
        }
    }
}

struct Scene {
    arguments: &'static [&'static str],
    input: &'static str,
}

const fn scene(arguments: &'static [&'static str], input: &'static str) -> Scene {
    Scene { arguments, input }
}

const SCENES: &[Scene] = &[
    scene(&["build", "--threads", "1", "-o", "new.guira"], "keys.txt"),
    scene(&["build", "--threads", "1", "--force", "-o", "set.guira"], "more.txt"),
    scene(&["build", "--threads", "1", "--note", "of birds", "-o", "new.guira.gz"], "keys.txt"),
    scene(&["build", "--threads", "1", "--csv", "--field", "1", "-o", "new.guira"], "keys.txt"),
    scene(&["build", "--threads", "1", "--json-field", "key", "-o", "new.guira"], "keys.json"),
    scene(&["build", "--threads", "1", "--rate", "1e-6", "--never", "more.txt", "-o", "new.guira"], "keys.txt"),
    scene(&["add", "set.guira"], "more.txt"),
    scene(&["add", "--unique", "set.guira"], "more.txt"),
    scene(&["add", "wide.guira"], "keys.txt"),
    scene(&["add", "--keep-fitting", "--rejected", "left.txt", "small.guira"], "keys.txt"),
    scene(&["add", "--no-grow", "small.guira"], "keys.txt"),
    scene(&["unique"], "more.txt"),
    scene(&["unique", "--state", "new.guira"], "more.txt"),
    scene(&["unique", "--state", "set.guira"], "more.txt"),
    scene(&["remove", "set.guira"], "keys.txt"),
    scene(&["merge", "--force", "-o", "set.guira", "set.guira", "other.guira"], ""),
    scene(&["merge", "-o", "new.guira", "set.guira", "other.guira"], ""),
    scene(&["merge", "-o", "new.guira", "wide.guira", "wider.guira"], ""),
    scene(&["convert", "--fingerprint-bits", "12", "-o", "new.guira", "set.guira"], ""),
    scene(&["convert", "--layout", "packed", "-o", "new.guira", "sorted.guira"], ""),
    scene(&["shrink", "wider.guira"], ""),
    scene(&["diff", "set.guira", "other.guira"], ""),
    scene(&["check", "--threads", "1", "set.guira"], "more.txt"),
    scene(&["check", "-c", "--csv", "--field", "1", "set.guira"], "more.txt"),
    scene(&["count", "set.guira", "key 7", "koel"], ""),
    scene(&["info", "set.guira"], ""),
    scene(&["info", "packed.guira.gz"], ""),
    scene(&["verify", "set.guira", "packed.guira.gz"], ""),
    scene(&["plan", "--capacity", "1000", "--rate", "0.01"], ""),
    scene(&["build", "-h"], ""),
    scene(&["frobnicate"], ""),
    scene(&["completions", "bash"], ""),
    scene(&["man"], ""),
];

type Files = BTreeMap<String, Vec<u8>>;

fn files(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable"));
    let file = |entry: fs::DirEntry| {
        (entry.file_name().into_string().expect("UTF-8"), fs::read(entry.path()).expect("readable"))
    };
    entries.map(file).collect()
}

impl Scene {
    fn run(&self, folder: &Path, left: usize, is_lasting: bool, count: Option<&Path>) -> Output {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(self.arguments).env(LEFT_VARIABLE, left.to_string()).current_dir(folder).stdin(Stdio::null());
        if !self.input.is_empty() {
            command.arg(self.input);
        }
        // A date in a file is that of today otherwise.
        command.env("SOURCE_DATE_EPOCH", "951782400");
        if is_lasting {
            command.env(LASTING_VARIABLE, "");
        }
        if let Some(count) = count {
            command.env(COUNT_VARIABLE, count);
        }
        command.output().expect("it starts")
    }

    fn try_all(&self) {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let (place, count) = (folder.path().join("place"), folder.path().join("count"));
        prepare(&place);
        let before = files(&place);
        let whole = self.run(&place, usize::MAX, false, Some(&count));
        let after = files(&place);
        let count: usize = fs::read_to_string(count).expect("written").parse().expect("a number");
        assert!(count > 0, "{:?}: no allocation was counted", self.arguments);
        let (mut ended, mut tried) = (0, 0);
        let cases = (0..count).flat_map(|left| [(left, false), (left, true)]);
        for (left, is_lasting) in cases.step_by(step()) {
            restore(&place, &before);
            let run = self.run(&place, left, is_lasting, None);
            let stderr = String::from_utf8_lossy(&run.stderr).into_owned();
            let which = if is_lasting { "and all that follow" } else { "alone" };
            let case =
                format!("{:?}, allocation {left} of {count} {which}: {:?}: {stderr}", self.arguments, run.status);
            let found = files(&place);
            tried += 1;
            if run.status.code() == Some(2) && stderr.contains("not enough memory") {
                ended += 1;
                let last = stderr.lines().last().unwrap_or_default();
                assert!(last.starts_with("guira: "), "{case}");
                let changed =
                    found.iter().filter(|(name, bytes)| before.get(*name) != Some(bytes)).map(|(name, _)| name);
                for name in changed {
                    // Keys that do not fit are written before the filter is.
                    let is_left_out = name == "left.txt";
                    // What was printed before a line could not be read is remembered.
                    let is_state = self.arguments == ["unique", "--state", name] && stderr.contains("to read a line");
                    assert!(is_left_out || is_state, "{case}: {name}");
                    assert!(!is_state || is_remembered(&place.join(name), &run.stdout), "{case}: {name}");
                }
            } else {
                // It was done without: with less memory, or from the reserve.
                assert_eq!((run.status, &run.stdout), (whole.status, &whole.stdout), "{case}");
                assert!(found == after, "{case}: done, and the files are others");
            }
        }
        println!("{:?}: {count} allocations, {tried} failed, of which {ended} ended it", self.arguments);
    }
}

/// Whether a state has all lines that were printed, so that none is printed again.
fn is_remembered(state: &Path, printed: &[u8]) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_guira"));
    command.args(["unique", "--quiet", "--state"]).arg(state).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut again = command.spawn().expect("it starts");
    again.stdin.take().expect("piped").write_all(printed).expect("it reads all");
    let output = again.wait_with_output().expect("it ends");
    output.status.success() && output.stdout.is_empty()
}

/// Every how many allocations one fails.
fn step() -> usize {
    match std::env::var("GUIRA_ALLOCATIONS").as_deref() {
        Ok("all") => 1,
        Ok(number) => number.parse().expect("all, or a number"),
        Err(_) => 97,
    }
}

fn restore(place: &Path, files: &Files) {
    fs::remove_dir_all(place).expect("writable");
    fs::create_dir(place).expect("writable");
    for (name, bytes) in files {
        fs::write(place.join(name), bytes).expect("writable");
    }
}

fn prepare(place: &Path) {
    fs::create_dir(place).expect("writable");
    let lines = |numbers: std::ops::Range<u32>| numbers.map(|number| format!("key {number}\n")).collect::<String>();
    let write = |name: &str, text: String| fs::write(place.join(name), text).expect("writable");
    write("keys.txt", lines(0..20_000));
    write("more.txt", lines(20_000..30_000));
    write("keys.json", (0..2000).map(|number| format!("{{\"key\": \"key {number}\"}}\n")).collect());
    let done = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_guira"));
        let output = command.args(arguments).current_dir(place).stdin(Stdio::null()).output().expect("it starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    done(&["build", "-q", "--capacity", "40000", "-o", "set.guira", "keys.txt"]);
    done(&["build", "-q", "--capacity", "40000", "-o", "other.guira", "more.txt"]);
    done(&["build", "-q", "--capacity", "40000", "-o", "packed.guira.gz", "keys.txt"]);
    done(&["build", "-q", "--capacity", "40000", "--layout", "semi-sorted", "-o", "sorted.guira", "keys.txt"]);
    done(&["build", "-q", "--capacity", "1000", "-o", "small.guira"]);
    done(&["build", "-q", "--capacity", "10", "--max-capacity", "100000", "-o", "wide.guira"]);
    done(&["build", "-q", "--capacity", "10", "--max-capacity", "100000", "-o", "wider.guira"]);
    done(&["add", "-q", "wider.guira", "keys.txt", "more.txt"]);
    done(&["remove", "-q", "wider.guira", "keys.txt"]);
}
