//! From the command line to the exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::arguments::{Arguments, Command};
use crate::commands::{
    add, build, check, completions, convert, count, diff, info, man, merge, plan, remove, shrink, unique, verify,
};
#[cfg(feature = "redis")]
use crate::commands::{pull, push};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::signals;

/// Runs the command line of this process. Returns the exit status.
#[must_use]
pub fn run() -> ExitCode {
    status().into()
}

fn status() -> ExitStatus {
    let arguments = match Arguments::of_process() {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error),
    };
    execute(&arguments.command).unwrap_or_else(|failure| {
        failure.report();
        ExitStatus::Error
    })
}

fn execute(command: &Command) -> Result<ExitStatus, Failure> {
    signals::let_writes_fail_at_size_limit()?;
    if command.replaces_files() {
        signals::remove_temporary_files_when_ended()?;
    }
    match command {
        Command::Build(arguments) => build::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Unique(arguments) => unique::run(arguments),
        Command::Add(arguments) => add::run(arguments),
        Command::Remove(arguments) => remove::run(arguments),
        Command::Count(arguments) => count::run(arguments),
        Command::Merge(arguments) => merge::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Shrink(arguments) => shrink::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Plan(arguments) => plan::run(arguments),
        #[cfg(feature = "redis")]
        Command::Push(arguments) => push::run(arguments),
        #[cfg(feature = "redis")]
        Command::Pull(arguments) => pull::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
    }
}

/// Shows the help that was asked for, or what is wrong with the arguments.
fn explain(error: &clap::Error) -> ExitStatus {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return match error.print() {
            // A closed pipe is no reason to fail: `guira --help | head -1`.
            Err(unwritten) if unwritten.kind() != io::ErrorKind::BrokenPipe => {
                Failure::of_io("standard output", &unwritten).report();
                ExitStatus::Error
            }
            _ if error.use_stderr() => ExitStatus::Error,
            _ => ExitStatus::Success,
        };
    }
    // Without colours, and with no control characters of an argument that is quoted but line ends.
    let plain = error.to_string();
    let plain = plain.strip_prefix("error: ").unwrap_or(&plain).trim_end();
    if error.kind() == ErrorKind::ValueValidation {
        // For an invalid value the first line says everything; the usage would only hide it.
        report(plain.lines().next().unwrap_or_default());
        return ExitStatus::Error;
    }
    let tip = match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name))) => tip_for(name),
        _ => None,
    };
    let mut stderr = io::stderr().lock();
    match tip {
        None => writeln!(stderr, "guira: {}", with_true_tip(plain)),
        Some(tip) => {
            let first = plain.lines().next().unwrap_or_default();
            writeln!(stderr, "guira: {first}\n\n  tip: {tip}\n\nFor more information, try 'guira --help'.")
        }
    }
    .ok();
    ExitStatus::Error
}

/// An error with another tip than "to pass '-x' as a value, use '-- -x'", which is wrong for the value of an option; none for an
/// unknown option with a long name.
fn with_true_tip(plain: &str) -> String {
    const TIP: &str = "  tip: a file whose name begins with - is written ./-NAME, the value of an option as in --note=-VALUE, and a key \
                       stands behind --";
    let Some((before, tip)) = plain.split_once("  tip: to pass '") else { return plain.to_owned() };
    match tip.split_once('\n') {
        Some((_, behind)) if tip.starts_with("--") => format!("{before}{}", behind.trim_start_matches('\n')),
        Some((_, behind)) => format!("{before}{TIP}\n{behind}"),
        None => plain.to_owned(),
    }
}

/// What to do instead of a command that other programs have.
fn tip_for(command: &str) -> Option<&'static str> {
    let tips: [(&[&str], &str); 11] = [
        (
            &["uniq", "dedupe", "dedup", "distinct"],
            "\"guira unique LIST\" prints each line the first time that it comes",
        ),
        (&["stat", "stats", "show", "inspect", "describe", "size"], "\"guira info FILE\" says what a filter holds"),
        (
            &["list", "ls", "keys", "dump", "export", "cat", "print"],
            "a filter keeps no keys that could be listed: \"guira info FILE\" says how many it holds, and \"guira check FILE \
             LIST\" which lines of a list it has",
        ),
        (&["create", "new", "make", "init"], "\"guira build -o FILE LIST\" makes a filter"),
        (
            &["test", "query", "grep", "contains", "lookup", "search", "find", "has", "get"],
            "\"guira check FILE LIST\" prints the lines that are probably in a filter",
        ),
        (&["insert", "append", "put", "update"], "\"guira add FILE LIST\" adds lines to a filter"),
        (&["delete", "rm", "del", "drop"], "\"guira remove FILE LIST\" removes lines that were added"),
        (&["union", "join", "combine"], "\"guira merge -o FILE FIRST SECOND\" makes one filter of several"),
        (&["compare", "cmp"], "\"guira diff FIRST SECOND\" compares two filters"),
        (&["validate", "fsck", "checksum"], "\"guira verify FILE\" reads a whole file and checks it"),
        (&["compact", "resize", "trim"], "\"guira shrink FILE\" gives back what a filter has grown by"),
    ];
    tips.iter().find(|(names, _)| names.contains(&command)).map(|&(_, tip)| tip)
}
