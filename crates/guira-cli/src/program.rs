//! From the command line to the exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::arguments::{Arguments, Command};
use crate::commands::{
    add, build, check, completions, convert, count, diff, info, man, merge, plan, remove, shrink, verify,
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
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error),
    };
    execute(&arguments.command).unwrap_or_else(|failure| {
        failure.report();
        ExitStatus::Error
    })
}

fn execute(command: &Command) -> Result<ExitStatus, Failure> {
    if command.replaces_files() {
        signals::remove_temporary_files_when_ended()?;
    }
    match command {
        Command::Build(arguments) => build::run(arguments),
        Command::Check(arguments) => check::run(arguments),
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
    let plain = error.to_string();
    if error.kind() == ErrorKind::ValueValidation {
        // For an invalid value the first line says everything; the usage would only hide it.
        let line = plain.lines().next().unwrap_or_default();
        report(line.strip_prefix("error: ").unwrap_or(line));
    } else if error.use_stderr()
        && std::env::args_os().any(|argument| argument.to_string_lossy().contains(char::is_control))
    {
        // The message may quote an argument with control characters, which may do anything to a terminal. In the plain text
        // only line ends are left of them.
        writeln!(io::stderr().lock(), "{}", plain.trim_end()).ok();
    } else if let Err(unwritten) = error.print()
        // A closed pipe is no reason to fail: `guira --help | head -1`.
        && unwritten.kind() != io::ErrorKind::BrokenPipe
    {
        Failure::of_io("standard output", &unwritten).report();
        return ExitStatus::Error;
    }
    if error.use_stderr() { ExitStatus::Error } else { ExitStatus::Success }
}
