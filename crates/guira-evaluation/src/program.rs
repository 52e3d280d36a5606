//! From the command line to the exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::report::{Machine, write_report, write_reproduction};

pub(crate) fn run() -> ExitCode {
    match reproduce(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::FAILURE
        }
    }
}

fn reproduce(arguments: &Arguments) -> Result<(), Failure> {
    let extent = arguments.extent();
    let mut reproductions = Vec::new();
    for name in arguments.names() {
        let reproduction = name.reproduce(&extent)?;
        // A reader who has gone, as in `| head`, is no reason to stop measuring.
        writeln!(io::stdout().lock(), "{}", reproduction.to_markdown()).ok();
        if let Some(folder) = &arguments.output {
            write_reproduction(folder, &reproduction)?;
        }
        reproductions.push(reproduction);
    }
    if let Some(folder) = &arguments.output
        && arguments.wants_report()
    {
        write_report(folder, &Machine::here(arguments.commit.as_deref()), arguments.scale(), &reproductions)?;
    }
    Ok(())
}
