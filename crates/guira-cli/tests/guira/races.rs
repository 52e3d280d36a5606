//! Commands that replace the same file at the same time: each pair ends as if one had run after the other, and each command
//! says what it did.
//!
//! By default a few runs of each pair; `GUIRA_RACES=200 cargo test -p guira-cli --test guira races -- --nocapture` makes more,
//! and says which order was found how often.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::process::Child;

use guira::CuckooFilter;
use rustix::fs::{FlockOperation, flock};

use crate::workplace::{Outcome, Workplace, outcome};

/// Runs of each pair of commands.
fn races() -> u32 {
    std::env::var("GUIRA_RACES").map_or(4, |races| races.parse().expect("a number of runs"))
}

const WAITING: &str = "waiting for another process that changes it";

/// The options of all filters here, so that they can be merged. The rate is so low that no key looks like another one.
const OPTIONS: [&str; 6] = ["--rate", "1e-7", "--capacity", "200", "--max-capacity", "5000"];

fn keys(name: &str, numbers: Range<u32>) -> Vec<String> {
    numbers.map(|number| format!("{name} {number}")).collect()
}

fn lines(keys: &[String]) -> String {
    keys.iter().map(|key| format!("{key}\n")).collect()
}

/// What a filter holds, by the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Contents {
    copies: BTreeMap<String, usize>,
    /// Whether its table is larger than when it was built.
    has_grown: bool,
}

impl Contents {
    fn of(keys: &[String]) -> Self {
        let mut contents = Self::default();
        contents.add(keys);
        contents
    }

    fn add(&mut self, keys: &[String]) {
        for key in keys {
            *self.copies.entry(key.clone()).or_default() += 1;
        }
    }

    fn len(&self) -> usize {
        self.copies.values().sum()
    }

    /// Whether this is what a file holds, of all keys of these tests.
    fn are_in(&self, file: &[u8]) -> bool {
        let filter = CuckooFilter::from_bytes(file).expect("a whole filter");
        let all = [keys("old", 0..40), keys("added", 0..20), keys("other", 0..30), keys("built", 0..25)].concat();
        all.iter().all(|key| filter.count(key.as_bytes()) == self.copies.get(key).copied().unwrap_or(0))
            && filter.len() == self.len()
    }
}

/// A command with its effect, by the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Add,
    Remove,
    Merge,
    MergeNew,
    Build,
    BuildNew,
    Shrink,
}

/// What a command says: its status and the lines on standard error, without those about waiting.
type Said = (i32, Vec<String>);

impl Change {
    fn arguments(self, file: &str) -> Vec<&str> {
        let build = |force| [&["build"][..], force, &OPTIONS, &["-o", file, "built.txt"]].concat();
        match self {
            Self::Add => vec!["add", file, "added.txt"],
            Self::Remove => vec!["remove", file, "removed.txt"],
            Self::Merge => vec!["merge", "--force", "-o", file, file, "other.guira"],
            Self::MergeNew => vec!["merge", "-o", file, "other.guira"],
            Self::Build => build(&["--force"]),
            Self::BuildNew => build(&[]),
            Self::Shrink => vec!["shrink", file],
        }
    }

    /// Applies it to the contents of a file, if there is one.
    fn apply(self, contents: Option<Contents>) -> (Option<Contents>, Said) {
        let said = |status: i32, texts: &[String]| {
            (status, texts.iter().map(|text| format!("guira: set.guira: {text}")).collect::<Vec<_>>())
        };
        let exists = || said(2, &["there is such a file already: give --force to replace it".to_owned()]);
        let replaced =
            contents.as_ref().map_or(String::new(), |old| format!("; replaced a filter of {} keys", old.len()));
        match (self, contents) {
            (Self::Add, Some(mut contents)) => {
                contents.add(&keys("added", 0..20));
                (Some(contents), said(0, &["20 keys added, 0 repeated lines left out".to_owned()]))
            }
            (Self::Remove, Some(mut contents)) => {
                let mut removed = 0;
                for key in keys("old", 0..10) {
                    if let Some(copies) = contents.copies.get_mut(&key).filter(|copies| **copies > 0) {
                        *copies -= 1;
                        removed += 1;
                    }
                }
                let mut texts = vec![format!("{removed} keys removed, 0 repeated lines left out")];
                if removed < 10 {
                    let examples = r#""old 0", "old 1", "old 2" and 7 more"#;
                    texts.push(format!("{} keys not in the filter: {examples}", 10 - removed));
                }
                (Some(contents), said(i32::from(removed < 10), &texts))
            }
            (Self::Merge, Some(mut contents)) => {
                contents.add(&keys("other", 0..30));
                let text = format!("{} keys of 2 files{replaced}", contents.len());
                (Some(contents), said(0, &[text]))
            }
            (Self::Shrink, Some(contents)) => {
                let text = if contents.has_grown { "shrunk" } else { "as small as it can be" };
                (Some(Contents { has_grown: false, ..contents }), said(0, &[text.to_owned()]))
            }
            (Self::MergeNew, None) => {
                (Some(Contents::of(&keys("other", 0..30))), said(0, &["30 keys of 1 file".to_owned()]))
            }
            (Self::Build, _) | (Self::BuildNew, None) => {
                let text = format!("25 keys, 0 repeated lines left out{replaced}");
                (Some(Contents::of(&keys("built", 0..25))), said(0, &[text]))
            }
            (Self::BuildNew | Self::MergeNew, Some(contents)) => (Some(contents), exists()),
            (Self::Add | Self::Remove | Self::Shrink | Self::Merge, None) => {
                (None, said(2, &["No such file or directory".to_owned()]))
            }
        }
    }
}

/// What was said, as the model says it.
fn said(outcome: &Outcome) -> Said {
    let lines = outcome.stderr.lines().map(|line| line.replace("link.guira", "set.guira"));
    let simple =
        |line: String| if line.contains(" undone, from ") { "guira: set.guira: shrunk".to_owned() } else { line };
    // What `add` says of lines that were there already depends on false positives, and is tested by itself.
    let is_modelled = |line: &String| !line.ends_with(WAITING) && !line.contains(" were probably there already. ");
    (outcome.status, lines.filter(is_modelled).map(simple).collect())
}

/// A directory with the inputs of all commands, a link to the filter, and what the filter is at the beginning.
fn prepared() -> (Workplace, Vec<u8>, Contents) {
    let place = Workplace::new();
    place.write("old.txt", lines(&keys("old", 0..40)));
    place.write("removed.txt", lines(&keys("old", 0..10)));
    place.write("added.txt", lines(&keys("added", 0..20)));
    place.write("other.txt", lines(&keys("other", 0..30)));
    place.write("built.txt", lines(&keys("built", 0..25)));
    place.write("gone.txt", lines(&keys("gone", 0..800)));
    let run = |arguments: &[&str]| {
        let outcome = place.guira(arguments);
        assert_eq!(outcome.status, 0, "{arguments:?}: {}", outcome.stderr);
    };
    for (file, input) in [("set.guira", "old.txt"), ("other.guira", "other.txt")] {
        run(&[&["build"][..], &OPTIONS, &["-o", file, input]].concat());
    }
    // Something to shrink.
    run(&["add", "set.guira", "gone.txt"]);
    run(&["remove", "set.guira", "gone.txt"]);
    std::os::unix::fs::symlink("set.guira", place.path("link.guira")).expect("a link");
    let contents = Contents { has_grown: true, ..Contents::of(&keys("old", 0..40)) };
    let file = place.read("set.guira");
    assert!(contents.are_in(&file));
    (place, file, contents)
}

/// A process of which some standard error has been read.
struct Started {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    text: String,
}

impl Started {
    fn new(mut child: Child) -> Self {
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        Self { child, stderr, text: String::new() }
    }

    /// Returns when the process has said that it waits.
    fn until_it_waits(mut self) -> Self {
        self.stderr.read_line(&mut self.text).expect("UTF-8");
        assert!(self.text.trim_end().ends_with(WAITING), "it does not wait: {:?}", self.text);
        self
    }

    fn outcome(mut self, input: &[u8]) -> Outcome {
        let mut rest = String::new();
        let mut outcome = std::thread::scope(|scope| {
            scope.spawn(|| self.stderr.read_to_string(&mut rest).expect("UTF-8"));
            outcome_without_stderr(self.child, input)
        });
        outcome.stderr = self.text + &rest;
        outcome
    }
}

fn outcome_without_stderr(mut child: Child, input: &[u8]) -> Outcome {
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input).ok();
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    Outcome { status: output.status.code().expect("not killed"), stdout: output.stdout, stderr: String::new() }
}

/// The order in which two commands seem to have run, 1 if the first was the first one, or neither.
fn order(
    changes: [Change; 2],
    before: Option<&Contents>,
    after: Option<&[u8]>,
    outcomes: &[Outcome; 2],
) -> Option<usize> {
    [[0, 1], [1, 0]].iter().position(|order| {
        let mut contents = before.cloned();
        for &index in order {
            let (next, expected) = changes[index].apply(contents);
            if said(&outcomes[index]) != expected {
                return false;
            }
            contents = next;
        }
        match (contents, after) {
            (Some(contents), Some(file)) => contents.are_in(file),
            (None, None) => true,
            _ => false,
        }
    })
}

fn pairs(changes: &[Change]) -> impl Iterator<Item = [Change; 2]> {
    changes.iter().enumerate().flat_map(|(index, &first)| changes[..=index].iter().map(move |&second| [first, second]))
}

/// In every second run both wait for the lock, which a third process holds, until it is released.
#[test]
fn two_changes_at_the_same_time_are_one_after_the_other() {
    let (place, file, contents) = prepared();
    for changes in pairs(&[Change::Add, Change::Remove, Change::Merge, Change::Build, Change::Shrink]) {
        let mut orders = [0; 2];
        for run in 0..races() {
            place.write("set.guira", &file);
            let third = (run % 2 == 0).then(|| {
                let third = File::open(place.path("set.guira")).expect("it is there");
                flock(&third, FlockOperation::LockExclusive).expect("nobody keeps it");
                third
            });
            // In half of these, one of them comes through a link.
            let names = ["set.guira", if run % 4 < 2 { "set.guira" } else { "link.guira" }];
            let mut started = [0, 1].map(|index| Started::new(place.start(changes[index].arguments(names[index]))));
            if let Some(third) = third {
                started = started.map(Started::until_it_waits);
                drop(third);
            }
            let outcomes = started.map(|started| started.outcome(b""));
            let after = place.read("set.guira");
            let Some(order) = order(changes, Some(&contents), Some(&after), &outcomes) else {
                panic!("{changes:?}, run {run}: neither order: {outcomes:?}");
            };
            orders[order] += 1;
            assert!(!place.files().iter().any(|name| name.ends_with("tmp")), "{:?}", place.files());
        }
        println!("{changes:?}: {} runs, {} and {} in the two orders", races(), orders[0], orders[1]);
    }
}

#[test]
fn of_two_that_make_a_new_file_one_wins_or_replaces_what_the_other_made() {
    let (place, ..) = prepared();
    for changes in pairs(&[Change::BuildNew, Change::Build, Change::MergeNew, Change::Add]) {
        let mut orders = [0; 2];
        for run in 0..races() {
            if place.path("set.guira").exists() {
                fs::remove_file(place.path("set.guira")).expect("it is there");
            }
            let started = changes.map(|change| Started::new(place.start(change.arguments("set.guira"))));
            let outcomes = started.map(|started| started.outcome(b""));
            let after = place.path("set.guira").exists().then(|| place.read("set.guira"));
            let Some(order) = order(changes, None, after.as_deref(), &outcomes) else {
                panic!("{changes:?}, run {run}: neither order: {outcomes:?}");
            };
            orders[order] += 1;
            assert!(!place.files().iter().any(|name| name.ends_with("tmp")), "{:?}", place.files());
        }
        println!("{changes:?}, no file: {} runs, {} and {} in the two orders", races(), orders[0], orders[1]);
    }
}

/// More than any pipe holds: when it is written, the program is reading.
fn read_begins(child: &mut Child) {
    let stdin = child.stdin.as_mut().expect("a pipe");
    stdin.write_all("built 0\n".repeat(1 << 18).as_bytes()).expect("the program reads");
}

/// Both have seen that there is no file before either has made it.
#[test]
fn of_two_builds_that_see_no_file_exactly_one_makes_it() {
    let (place, ..) = prepared();
    for run in 0..races() {
        for force in [&[][..], &["--force"]] {
            fs::remove_file(place.path("set.guira")).expect("it is there");
            let arguments = [&["build"][..], force, &OPTIONS, &["-o", "set.guira"]].concat();
            let mut builds = [place.start(&arguments), place.start(&arguments)];
            builds.iter_mut().for_each(read_begins);
            let rests = [keys("first", 0..10), keys("second", 0..20)];
            let [first, second] = builds;
            let outcomes = std::thread::scope(|scope| {
                let first = scope.spawn(|| outcome(first, lines(&rests[0]).as_bytes()));
                let second = outcome(second, lines(&rests[1]).as_bytes());
                [first.join().expect("no panic"), second]
            });
            let winner = (0..2).find(|&index| outcomes[index].stderr.trim_end().ends_with("left out"));
            let winner = winner.unwrap_or_else(|| panic!("run {run}: nobody made the file: {outcomes:?}"));
            let loser = &outcomes[1 - winner];
            let holds = |index: usize| {
                let counted = place.guira_with(["check", "-c", "set.guira"], lines(&rests[index]).as_bytes());
                counted.stdout == format!("{}\n", rests[index].len()).as_bytes()
            };
            if force.is_empty() {
                let expected = "guira: set.guira: there is such a file already: give --force to replace it\n";
                assert_eq!((loser.status, &*loser.stderr), (2, expected));
                assert!(holds(winner) && !holds(1 - winner));
            } else {
                let expected = format!("; replaced a filter of {} keys\n", rests[winner].len() + 1);
                assert!(loser.status == 0 && loser.stderr.ends_with(&expected), "{outcomes:?}");
                assert!(holds(1 - winner) && !holds(winner));
            }
        }
    }
}

#[test]
fn a_build_says_how_many_keys_it_replaced_and_counts_those_added_before() {
    let (place, ..) = prepared();
    let mut addition = place.start(["add", "set.guira"]);
    read_begins(&mut addition);
    let build = Started::new(place.start(Change::Build.arguments("set.guira"))).until_it_waits();
    assert_eq!(outcome(addition, lines(&keys("added", 0..19)).as_bytes()).status, 0);
    // 40 at the beginning, "built 0", and 19 more.
    let expected = Change::Build.apply(Some(Contents::of(&keys("any", 0..60))));
    assert_eq!(said(&build.outcome(b"")), expected.1);
    assert!(expected.0.is_some_and(|contents| contents.are_in(&place.read("set.guira"))));
}

#[test]
fn the_keys_of_a_compressed_filter_that_is_replaced_are_counted() {
    let place = Workplace::new();
    let build = |keys: &str| place.guira_with(["build", "--force", "-o", "set.guira.gz"], keys.as_bytes()).stderr;
    assert_eq!(build("ani\nkoel\n"), "guira: set.guira.gz: 2 keys, 0 repeated lines left out\n");
    let expected = "guira: set.guira.gz: 1 key, 0 repeated lines left out; replaced a filter of 2 keys\n";
    assert_eq!(build("guira\n"), expected);
}

/// Returns when the program has created its temporary file, which it does when it has the lock.
fn until_it_has_begun(place: &Workplace, child: &mut Child) {
    while !place.files().iter().any(|name| name.starts_with(".set.guira.")) {
        assert!(child.try_wait().expect("a child of this process").is_none(), "it has ended");
        std::thread::yield_now();
    }
}

#[test]
fn an_addition_that_waits_for_a_merge_is_made_to_what_was_merged() {
    let (place, _, contents) = prepared();
    let other = place.read("other.guira");
    let mut merge = place.start(["merge", "--force", "-o", "set.guira", "set.guira", "/dev/stdin"]);
    // A part of the file: the output is locked before any input is read.
    let start = merge.stdin.as_mut().expect("a pipe").write_all(&other[..64]);
    start.expect("the program reads");
    until_it_has_begun(&place, &mut merge);
    let file = File::open(place.path("set.guira")).expect("it is there");
    assert!(flock(&file, FlockOperation::NonBlockingLockExclusive).is_err(), "the output is not locked");
    let addition = Started::new(place.start(Change::Add.arguments("set.guira"))).until_it_waits();
    let merged = outcome(merge, &other[64..]);
    let added = addition.outcome(b"");
    let outcomes = [merged, added];
    let after = place.read("set.guira");
    assert_eq!(order([Change::Merge, Change::Add], Some(&contents), Some(&after), &outcomes), Some(0), "{outcomes:?}");
}

/// A program that knows nothing of locks.
#[test]
fn what_another_program_does_to_a_locked_file_is_noticed() {
    let (place, file, _) = prepared();
    let refused = "guira: set.guira: was created, replaced or removed by another program in the meantime, so nothing was \
                   written: run the command again\n";
    for is_replaced in [true, false] {
        place.write("set.guira", &file);
        let mut addition = place.start(["add", "set.guira"]);
        read_begins(&mut addition);
        if is_replaced {
            place.write("another", "of another");
            fs::rename(place.path("another"), place.path("set.guira")).expect("a file");
        } else {
            fs::remove_file(place.path("set.guira")).expect("it is there");
        }
        let outcome = outcome(addition, b"");
        assert_eq!((outcome.status, &*outcome.stderr), (2, refused));
        assert_eq!(place.path("set.guira").exists(), is_replaced);
        if is_replaced {
            assert_eq!(place.read("set.guira"), b"of another");
        }
    }
}

#[test]
fn a_merge_does_not_replace_a_file_that_came_after_it_began() {
    let (place, file, _) = prepared();
    fs::remove_file(place.path("set.guira")).expect("it is there");
    let mut merge = place.start(["merge", "--force", "-o", "set.guira", "other.guira", "/dev/stdin"]);
    until_it_has_begun(&place, &mut merge);
    place.write("set.guira", &file);
    let outcome = outcome(merge, &place.read("other.guira"));
    assert!(outcome.status == 2 && outcome.stderr.contains("in the meantime, so nothing was written"), "{outcome:?}");
    assert_eq!(place.read("set.guira"), file);
}

#[test]
fn a_filter_that_is_built_like_the_one_it_replaces_is_built_under_its_lock() {
    let (place, ..) = prepared();
    let mut build = place.start(["build", "--force", "--like", "set.guira", "-o", "set.guira"]);
    read_begins(&mut build);
    let addition = Started::new(place.start(["add", "set.guira"])).until_it_waits();
    let built = outcome(build, b"");
    assert!(built.status == 0 && built.stderr.ends_with("; replaced a filter of 40 keys\n"), "{built:?}");
    assert_eq!(addition.outcome(lines(&keys("added", 0..20)).as_bytes()).status, 0);
    let mut expected = Contents::of(&keys("built", 0..1));
    expected.add(&keys("added", 0..20));
    assert!(expected.are_in(&place.read("set.guira")));
}

/// Its keys would have been hashed with one seed and looked up with another.
#[test]
fn a_filter_is_not_built_like_one_whose_hash_has_changed_since_its_keys_were_read() {
    let (place, ..) = prepared();
    let mut build = place.start(["build", "--like", "set.guira", "-o", "new.guira"]);
    read_begins(&mut build);
    assert_eq!(place.guira_with(["build", "--force", "--seed", "5", "-o", "set.guira"], b"ani\n").status, 0);
    let built = outcome(build, b"");
    let refused = "guira: set.guira: was replaced by another program in the meantime: run the command again\n";
    assert_eq!((built.status, &*built.stderr), (2, refused));
    assert!(!place.path("new.guira").exists());
}
