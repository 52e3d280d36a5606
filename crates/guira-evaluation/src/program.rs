//! From the command line to the exit status.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use crate::arguments::{Arguments, Page, RecordArguments, Task};
use crate::documents::{record, splice};
use crate::failure::Failure;
use crate::journal::{Beginning, Journal};
use crate::report::{Machine, Measured, Run, draw_pictures, read_earlier, write_measured, write_page, write_report};
use crate::reproductions::{Cost, Extent, Name};

pub(crate) fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.task() {
        Task::Reproduce => reproduce(&arguments),
        Task::Record(RecordArguments { file, command }) => {
            record(file, command, Machine::here(arguments.commit.as_deref()))
        }
        Task::Splice(documents, writing) => splice(documents, writing),
        Task::Draw(drawn) => draw_pictures(&drawn.file, &drawn.chart, &drawn.folder, drawn.drawing()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::FAILURE
        }
    }
}

fn reproduce(arguments: &Arguments) -> Result<(), Failure> {
    let mut machine = Machine::here(arguments.commit.as_deref());
    let mut journal = Journal::in_memory();
    let earlier = |name: Name| match arguments.earlier() {
        Some(folder) => read_earlier(folder, name.name(), arguments.scale()),
        None => Ok(None),
    };
    let results = arguments.names().into_iter().map(|name| Ok((name, earlier(name)?)));
    let results: Vec<(Name, Option<Measured>)> = results.collect::<Result<_, Failure>>()?;
    if let Some((folder, parameters)) = arguments.journaled() {
        let beginning = Beginning { machine, parameters };
        let (opened, begun) = Journal::open(folder, beginning)?;
        let missing = results.iter().filter(|(_, earlier)| earlier.is_none()).map(|&(name, _)| name);
        announce(&missing.collect::<Vec<_>>(), &arguments.extent(), opened.len());
        // Includes the date of the first run.
        (journal, machine) = (opened, begun.machine);
    }
    let mut all = Vec::new();
    for (name, earlier) in results {
        let measured = match earlier {
            Some(measured) => {
                if let Some(Page::Folder(folder)) = arguments.page() {
                    write_measured(folder, &measured)?;
                }
                measured
            }
            None => measure(arguments, &machine, &journal, name)?,
        };
        if arguments.page().is_none() {
            // A closed pipe, as with `| head`, is no reason to stop measuring.
            writeln!(io::stdout().lock(), "{}", measured.reproduction.to_markdown()).ok();
        }
        all.push(measured);
    }
    match arguments.page() {
        Some(Page::Html(path)) => write_page(path, &all),
        Some(Page::Folder(folder)) => {
            write_page(&folder.join("report.html"), &all)?;
            let seconds = all.iter().map(|measured| measured.run.seconds).sum();
            let run = Run { machine, scale: arguments.scale(), command: arguments.command_for_all(), seconds };
            write_report(folder, &run, &all)
        }
        None => Ok(()),
    }
}

/// Measures one reproduction, reports its time on standard error, and writes its files.
fn measure(arguments: &Arguments, machine: &Machine, journal: &Journal, name: Name) -> Result<Measured, Failure> {
    let start = Instant::now();
    let reproduction = name.reproduce(&arguments.extent(), journal)?;
    let seconds = start.elapsed().as_secs_f64() + journal.take_seconds_before();
    writeln!(io::stderr().lock(), "{}: {seconds:.1} seconds", name.name()).ok();
    let run = Run { machine: machine.clone(), scale: arguments.scale(), command: arguments.command_for(name), seconds };
    let measured = Measured { reproduction, run };
    if let Some(folder) = arguments.results() {
        write_measured(folder, &measured)?;
    }
    Ok(measured)
}

/// Prints the expected time and memory to standard error.
fn announce(names: &[Name], extent: &Extent, known: usize) {
    let mut error = io::stderr().lock();
    // Courses are measured once, for the first reproduction that needs them.
    let first = names.iter().find(|name| name.takes_courses());
    let mut all = Cost::default();
    for name in names {
        let cost = name.cost(extent);
        match first {
            Some(first) if first != name && name.takes_courses() => {
                writeln!(error, "{:<10} from the fillings of {}", name.name(), first.name()).ok();
            }
            _ => {
                writeln!(error, "{:<10} about {cost}", name.name()).ok();
                all = all.then(cost);
            }
        }
    }
    writeln!(error, "all of it  about {all}, estimated for 0.2 µs per insertion; {known} measurements are there").ok();
}
