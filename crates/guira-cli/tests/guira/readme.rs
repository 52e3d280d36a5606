//! The commands that README.md and docs/tool.md show, run as they show them, and the output that they show.
//!
//! A fence of `sh` has a command on each line, or on several where lines end with `|`. A fence of `text` that comes after it
//! has what they print, and a line that begins with `# ` what the command before it writes to standard output.

use std::fs;
use std::process::Command as Process;

use crate::workplace::{GUIRA, Outcome, Workplace, outcome, repository};

const DOCUMENTS: [&str; 2] = ["README.md", "docs/tool.md"];
const CARGO_RUN: &str = "cargo run --release -p guira-cli --no-default-features -- ";
/// Programs with tests of their own.
const TESTED_ELSEWHERE: [&str; 2] =
    ["cargo run --release -p guira-evaluation ", "cargo run --release -p guira --example "];

/// What a command line is for this test.
#[derive(Debug, PartialEq, Eq)]
enum Command {
    /// To be run by the shell.
    Run(String),
    /// Of cargo, whose work is not this test's.
    Cargo,
}

/// A command line, with the program that is tested in the place of the one that is shown.
fn understood(line: &str) -> Command {
    let quoted = format!("'{GUIRA}' ");
    let mut parts = Vec::new();
    for part in line.split(" | ") {
        let part = part.trim();
        if let Some(arguments) = part.strip_prefix(CARGO_RUN).or_else(|| part.strip_prefix("guira ")) {
            parts.push(format!("{quoted}{arguments}"));
        } else if TESTED_ELSEWHERE.iter().any(|program| line.starts_with(program)) {
            return Command::Cargo;
        } else if let Some(arguments) = part.strip_prefix("cargo ") {
            let verb = arguments.split(' ').next().unwrap_or_default();
            assert!(
                ["bench", "build", "clippy", "doc", "fmt", "install", "test"].contains(&verb),
                "cargo {verb}: {line}"
            );
            assert_eq!(part, line, "a command of cargo stands alone");
            return Command::Cargo;
        } else {
            assert!(part.starts_with("printf "), "an unknown command: {line}");
            parts.push(part.to_owned());
        }
    }
    Command::Run(parts.join(" | "))
}

/// The fences of `sh`, each with the fence of `text` behind it, if any.
fn sessions(markdown: &str) -> Vec<(String, Option<String>)> {
    let mut sessions: Vec<(String, Option<String>)> = Vec::new();
    // Between the marks stand prose and fences in turn.
    for (language, body) in markdown.split("```").skip(1).step_by(2).filter_map(|fence| fence.split_once('\n')) {
        match (language, sessions.last_mut()) {
            ("sh", _) => sessions.push((body.to_owned(), None)),
            ("text", Some((_, output))) => {
                assert!(output.replace(body.to_owned()).is_none(), "two outputs of one session: {body}");
            }
            _ => {}
        }
    }
    sessions
}

/// The commands of a session, each on one line.
fn commands_of(session: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in session.lines() {
        match commands.last_mut().filter(|command| command.ends_with('|')) {
            Some(command) => *command += &format!(" {}", line.trim()),
            None => commands.push(line.to_owned()),
        }
    }
    commands
}

/// Runs the commands of a session, and returns how many they are and what they print.
fn run_session(place: &Workplace, session: &str) -> (usize, String) {
    let (mut run, mut printed, mut last) = (0, String::new(), String::new());
    for line in commands_of(session) {
        if let Some(expected) = line.strip_prefix("# ") {
            assert_eq!(last, format!("{expected}\n"), "{session}");
            continue;
        }
        let Command::Run(script) = understood(&line) else { continue };
        let child = place.command("sh", ["-c", &script]).spawn().expect("a shell");
        let Outcome { status, stdout, stderr } = outcome(child, b"");
        assert_eq!(status, 0, "{line}: {stderr}");
        last = String::from_utf8(stdout).expect("UTF-8");
        printed += &stderr;
        printed += &last;
        run += 1;
    }
    (run, printed)
}

#[test]
fn commands_of_documents_work_and_print_what_they_say() {
    let Some(repository) = repository() else { return };
    for document in DOCUMENTS {
        let place = Workplace::new();
        let (mut run, mut compared) = (0, 0);
        for (commands, expected) in sessions(&fs::read_to_string(repository.join(document)).expect(document)) {
            let (commands_run, printed) = run_session(&place, &commands);
            run += commands_run;
            if let Some(expected) = expected {
                assert_eq!(printed, expected, "{commands}");
                compared += 1;
            }
        }
        // Else this test has lost what it is about.
        assert!(run >= 2 && compared >= 1, "{document}: {run} commands were run, {compared} outputs compared");
    }
}

/// What is committed must not be in the way of the first commands, as a filter file of their name would be. The tested
/// program takes the place of the one that cargo would build there.
#[test]
fn the_first_commands_work_in_a_clone() {
    let Some(repository) = repository().filter(|repository| repository.join(".git").exists()) else { return };
    let place = Workplace::new();
    let mut git = Process::new("git");
    git.args(["clone", "--quiet", "--depth", "1"]).arg(format!("file://{}", repository.display())).arg(place.path(""));
    let cloned = git.output().expect("git");
    assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
    let readme = String::from_utf8(place.read("README.md")).expect("UTF-8");
    let mut sessions = sessions(&readme).into_iter();
    let (commands, expected) =
        sessions.find(|(commands, _)| commands.contains(CARGO_RUN)).expect("README.md has commands");
    let (_, printed) = run_session(&place, &commands);
    assert_eq!(Some(printed), expected, "{commands}");
    // What they leave is ignored.
    let status = place.command("git", ["status", "--short"]).output().expect("git");
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
}

#[test]
fn fences_are_told_apart() {
    let markdown = "prose\n\n```sh\na\nb\n```\n\nprints\n\n```text\nc\n```\n\n```rust\nd\n```\n\n```sh\ne\n```\n";
    assert_eq!(sessions(markdown), [("a\nb\n".to_owned(), Some("c\n".to_owned())), ("e\n".to_owned(), None)]);
}

#[test]
fn the_tested_program_takes_the_place_of_the_shown_one() {
    let run = |script: String| Command::Run(script);
    assert_eq!(
        understood("printf x | cargo run --release -p guira-cli --no-default-features -- info f"),
        run(format!("printf x | '{GUIRA}' info f"))
    );
    assert_eq!(understood("guira info f"), run(format!("'{GUIRA}' info f")));
    assert_eq!(understood("cargo test --workspace"), Command::Cargo);
    assert_eq!(understood("cargo run --release -p guira-evaluation -- report"), Command::Cargo);
}

#[test]
fn a_command_goes_on_behind_a_pipe() {
    assert_eq!(commands_of("printf x |\n  guira build -o f\n# x\n"), ["printf x | guira build -o f", "# x"]);
}

#[test]
#[should_panic(expected = "assertion")]
fn output_that_differs_is_noticed() {
    let _ = run_session(&Workplace::new(), "printf 'ani\\n'\n# koel\n");
}

#[test]
#[should_panic(expected = "an unknown command")]
fn an_unknown_command_is_not_run() {
    understood("rm -r x");
}
