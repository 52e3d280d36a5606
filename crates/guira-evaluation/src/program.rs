//! From the command line to the exit status.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use crate::arguments::{Arguments, Page, RecordArguments, Task};
use crate::documents::{record, splice};
use crate::failure::Failure;
use crate::journal::{Beginning, Journal};
use crate::report::{
    Machine, Measured, Run, Verdict, draw_pictures, read_earlier, settle, write_measured, write_page, write_report,
};
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
        Some(folder) => read_earlier(folder, name.name(), arguments.scale_of_earlier()),
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
    let mut extent = arguments.extent();
    let all = loop {
        let mut all = Vec::new();
        for (name, earlier) in &results {
            all.push(match earlier {
                Some(measured) => judged_again(*name, measured),
                None => measure(arguments, &extent, &machine, &journal, *name)?,
            });
        }
        settle(all.iter_mut().flat_map(|measured| &mut measured.reproduction.claims));
        let open = undecided(&results, &all);
        if open == 0 || extent.fills >= arguments.most_fills() {
            break all;
        }
        extent.fills += 1;
        writeln!(io::stderr().lock(), "{open} claims are undecided: filling {} follows", extent.fills).ok();
    };
    for (measured, (_, earlier)) in all.iter().zip(&results) {
        let folder = match arguments.page() {
            Some(Page::Folder(folder)) => Some(folder),
            _ if earlier.is_none() => arguments.results(),
            _ => None,
        };
        if let Some(folder) = folder {
            write_measured(folder, measured)?;
        }
        if arguments.page().is_none() {
            // A closed pipe, as with `| head`, is no reason to stop measuring.
            writeln!(io::stdout().lock(), "{}", measured.reproduction.to_markdown()).ok();
        }
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

/// An earlier result with the claims of today, judged by its tables.
fn judged_again(name: Name, measured: &Measured) -> Measured {
    let mut measured = measured.clone();
    measured.reproduction.claims = name.claims(&measured.reproduction.tables, measured.run.scale);
    measured
}

/// The undecided claims that more fillings may decide.
fn undecided(results: &[(Name, Option<Measured>)], all: &[Measured]) -> usize {
    let filled = results.iter().zip(all).filter(|((name, earlier), _)| earlier.is_none() && name.takes_courses());
    let claims = filled.flat_map(|(_, measured)| &measured.reproduction.claims);
    claims.filter(|claim| claim.verdict == Verdict::Undecided).count()
}

/// Measures one reproduction, reports its time on standard error, and writes its files.
fn measure(
    arguments: &Arguments,
    extent: &Extent,
    machine: &Machine,
    journal: &Journal,
    name: Name,
) -> Result<Measured, Failure> {
    let start = Instant::now();
    let mut reproduction = name.reproduce(extent, journal)?;
    settle(&mut reproduction.claims);
    let seconds = start.elapsed().as_secs_f64() + journal.take_seconds_before();
    let seconds = journal.seconds_of(name.name(), seconds);
    if extent.fills == arguments.extent().fills {
        writeln!(io::stderr().lock(), "{}: {seconds:.1} seconds", name.name()).ok();
    }
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
