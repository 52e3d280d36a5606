//! The commands that are tried, and the files and the server that they work with.

use std::fs;
use std::process::Command;

use guira::CuckooFilter;

use super::Files;
use super::server::{Keys, Server, Value};
use crate::workplace::{GUIRA, Workplace};

/// Files that are so large that changes are appended to them: one without a journal, and one with.
const WITH_JOURNALS: [&str; 2] = ["large.guira", "journal.guira"];

/// The variable that names an interpreter which has the Python package.
const PYTHON: &str = "GUIRA_FAULTS_PYTHON";

/// Who reads and writes files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Tool,
    /// The library, in a process that does nothing else: `library.rs`.
    Library,
    /// The Python package: `saves.py`.
    Python,
}

/// What a command replaces or creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Nothing,
    File(&'static str),
    /// A key of the server.
    Key(&'static str),
}

/// A command on prepared files.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) program: Program,
    pub(super) arguments: Vec<String>,
    pub(super) input: &'static [u8],
    pub(super) target: Target,
}

fn case(program: Program, arguments: &[&str], target: Target) -> Case {
    let input: &[u8] = if target == Target::Nothing { b"key 7\nkoel\n" } else { b"key 7\n" };
    Case { program, arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(), input, target }
}

/// Every command of the tool, and saves and loads of the library; or those of the Python package, where
/// `GUIRA_FAULTS_PYTHON` names an interpreter that has it.
pub(super) fn cases(server: &Server) -> Vec<Case> {
    if std::env::var_os(PYTHON).is_some() {
        return [
            saves_and_loads(Program::Python),
            vec![case(Program::Python, &["map-filter", "set.guira"], Target::Nothing)],
        ]
        .concat();
    }
    let reads = |arguments: &[&str]| case(Program::Tool, arguments, Target::Nothing);
    let changes = |arguments: &[&str], target| case(Program::Tool, arguments, Target::File(target));
    let mut cases = vec![
        changes(&["build", "--threads", "1", "--output", "new.guira", "keys.txt"], "new.guira"),
        changes(&["build", "--threads", "1", "--force", "--output", "set.guira", "more.txt"], "set.guira"),
        changes(&["add", "set.guira", "more.txt"], "set.guira"),
        changes(&["remove", "set.guira"], "set.guira"),
        changes(&["merge", "--force", "--output", "set.guira", "set.guira", "other.guira"], "set.guira"),
        changes(&["merge", "--output", "new.guira", "set.guira", "other.guira"], "new.guira"),
        changes(&["convert", "--layout", "packed", "--output", "new.guira", "other.guira"], "new.guira"),
        changes(&["shrink", "wide.guira"], "wide.guira"),
        changes(&["add", "-q", "large.guira", "few.txt"], "large.guira"),
        changes(&["remove", "-q", "large.guira"], "large.guira"),
        changes(&["add", "-q", "journal.guira"], "journal.guira"),
        reads(&["check", "journal.guira"]),
        reads(&["check", "set.guira"]),
        reads(&["unique"]),
        reads(&["diff", "set.guira", "other.guira"]),
        reads(&["count", "set.guira", "key 7", "koel"]),
        reads(&["info", "set.guira"]),
        reads(&["verify", "set.guira", "other.guira"]),
        reads(&["plan", "--capacity", "1000", "--rate", "0.01"]),
        reads(&["completions", "bash"]),
        reads(&["man"]),
    ];
    if cfg!(feature = "redis") {
        let url = |key: &str| server.url(key);
        cases.extend([
            changes(&["pull", &url("birds"), "--output", "new.guira"], "new.guira"),
            changes(&["pull", "--force", &url("birds"), "--output", "set.guira"], "set.guira"),
            case(Program::Tool, &["push", "wide.guira", &url("new")], Target::Key("new")),
            case(Program::Tool, &["push", "--force", "wide.guira", &url("birds")], Target::Key("birds")),
        ]);
    }
    cases.extend(saves_and_loads(Program::Library));
    cases
}

fn saves_and_loads(program: Program) -> Vec<Case> {
    let writes = |call: &str, file| case(program, &[call, file], Target::File(file));
    vec![
        writes("save-filter", "new.guira"),
        writes("save-filter", "set.guira"),
        writes("update-filter", "set.guira"),
        writes("save-set", "new.guira"),
        writes("save-map", "new.guira"),
        writes("save-counting", "new.guira"),
        case(program, &["load-filter", "set.guira"], Target::Nothing),
    ]
}

impl Case {
    /// The program and its arguments.
    pub(super) fn words(&self) -> Vec<String> {
        words(self.program, self.arguments.clone())
    }

    /// A command that leaves the target as it is, and has to remove what others have left beside it.
    pub(super) fn next(&self, target: &str) -> Vec<String> {
        let again = self.arguments[0].split_once('-').map(|(_, kind)| format!("again-{kind}"));
        let next = match self.program {
            Program::Tool => vec!["add".to_owned(), "-q".to_owned(), target.to_owned()],
            _ => vec![again.expect("a call and a kind"), target.to_owned()],
        };
        words(self.program, next)
    }

    pub(super) const fn file(&self) -> Option<&'static str> {
        match self.target {
            Target::File(name) => Some(name),
            Target::Nothing | Target::Key(_) => None,
        }
    }
}

fn words(program: Program, arguments: Vec<String>) -> Vec<String> {
    let begin = match program {
        Program::Tool => vec![GUIRA.to_owned()],
        Program::Library => {
            let tests = std::env::current_exe().expect("the tests are a file");
            let call = format!("GUIRA_LIBRARY_CALL={}", arguments.join(" "));
            let test = "faults::library::saves_and_loads_for_the_tracer";
            let words = ["env", &call, &tests.display().to_string(), "--exact", test, "--ignored", "--nocapture"]
                .map(str::to_owned);
            return [words.to_vec(), vec!["--test-threads=1".to_owned()]].concat();
        }
        Program::Python => {
            let python = std::env::var(PYTHON).expect("it is set");
            vec![python, "-c".to_owned(), include_str!("saves.py").to_owned()]
        }
    };
    [begin, arguments].concat()
}

/// Where commands work.
pub(super) struct World {
    pub(super) place: Workplace,
    pub(super) server: Server,
}

/// All files of a folder, and all keys of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) files: Files,
    pub(super) keys: Keys,
}

impl State {
    /// Returns `true` if what a command replaces or creates is as in another state.
    pub(super) fn agrees_on(&self, target: &Target, other: &Self) -> bool {
        match target {
            Target::Nothing => true,
            Target::File(name) => is_same(name, &self.files, &other.files),
            Target::Key(name) => {
                let [one, other] = [self, other].map(|state| state.keys.get(name.as_bytes()));
                let bytes =
                    |value: Option<&Value>| value.filter(|value| !value.expires).map(|value| value.bytes.clone());
                bytes(one) == bytes(other)
            }
        }
    }

    /// Without the large files that a command does not name, which would be read and compared after each call.
    pub(super) fn before(&self, case: &Case) -> Self {
        let mut before = self.clone();
        let is_left_out = |name: &String| WITH_JOURNALS.contains(&&**name) && !case.arguments.contains(name);
        before.files.retain(|name, _| !is_left_out(name));
        before
    }

    /// Returns `true` if the files have the names and the contents of others.
    pub(super) fn has_files_of(&self, other: &Self) -> bool {
        let is_same = |name: &String| is_same(name, &self.files, &other.files);
        self.files.keys().eq(other.files.keys()) && self.files.keys().all(is_same)
    }
}

/// Returns `true` if a file is the same here and there. One with a journal is as it would be written as a whole, without what was not
/// written to its end.
pub(super) fn is_same(name: &str, here: &Files, there: &Files) -> bool {
    let [here, there] = [here, there].map(|files| files.get(name));
    let content = |bytes: &Vec<u8>| {
        let filter = CuckooFilter::from_bytes(bytes);
        filter.unwrap_or_else(|error| panic!("{name}: {error}")).to_bytes()
    };
    here == there || WITH_JOURNALS.contains(&name) && here.map(content) == there.map(content)
}

impl World {
    /// With the files that the commands work with.
    pub(super) fn new() -> Self {
        let (place, server) = (Workplace::new(), Server::start());
        let lines = |numbers: std::ops::Range<u32>| numbers.map(|number| format!("key {number}\n")).collect::<String>();
        place.write("keys.txt", lines(0..1500));
        place.write("more.txt", lines(1500..2500));
        let done = |arguments: &[&str]| {
            let done = place.guira(arguments);
            assert!(done.status == 0, "{arguments:?}: {}", done.stderr);
        };
        done(&["build", "-q", "--capacity", "3000", "--output", "set.guira", "keys.txt"]);
        done(&["build", "-q", "--capacity", "3000", "--output", "other.guira", "more.txt"]);
        done(&["build", "-q", "--capacity", "10", "--max-capacity", "100000", "--output", "wide.guira"]);
        done(&["add", "-q", "wide.guira", "keys.txt", "more.txt"]);
        if cfg!(feature = "redis") {
            done(&["push", "-q", "wide.guira", &server.url("birds")]);
        }
        done(&["remove", "-q", "wide.guira", "keys.txt"]);
        place.write("few.txt", lines(0..100));
        for file in WITH_JOURNALS {
            done(&["build", "-q", "--capacity", "4200000", "--fingerprint-bits", "32", "--output", file, "few.txt"]);
        }
        done(&["add", "-q", "journal.guira", "more.txt"]);
        Self { place, server }
    }

    pub(super) fn state(&self) -> State {
        let files = self.place.files().into_iter().map(|name| (name.clone(), self.place.read(&name))).collect();
        State { files, keys: self.server.keys() }
    }

    /// Puts these files into the folder, and no others, and these keys into the server.
    pub(super) fn restore(&self, state: &State) {
        self.restore_files(&state.files);
        self.server.restore(&state.keys);
    }

    pub(super) fn restore_files(&self, files: &Files) {
        // What is as it was stays: some files are large.
        let (kept, removed): (Vec<_>, Vec<_>) = self
            .place
            .files()
            .into_iter()
            .partition(|name| files.get(name).is_some_and(|b| *b == self.place.read(name)));
        for name in removed {
            fs::remove_file(self.place.path(&name)).expect("writable");
        }
        for (name, bytes) in files.iter().filter(|(name, _)| !kept.contains(name)) {
            self.place.write(name, bytes);
        }
    }

    pub(super) fn command(&self, words: &[String]) -> Command {
        self.place.command(&words[0], &words[1..])
    }
}
