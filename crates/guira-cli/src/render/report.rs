use serde::Serialize;

use super::Output;
use crate::arguments::QuietArguments;
use crate::failure::{self, Failure};

/// A report with a text for people besides its JSON.
pub(crate) trait Report: Serialize {
    fn text(&self) -> String;
}

/// Prints a report, as text or as JSON.
pub(crate) fn print(report: &impl Report, json: bool) -> Result<(), Failure> {
    let mut output = Output::new();
    if json {
        output.write_json(report)?;
    } else {
        output.write(report.text().as_bytes())?;
    }
    output.finish()
}

/// Prints what was done: JSON on standard output, or text on standard error, where it is not part of the output.
pub(crate) fn tell(report: &impl Report, json: bool, quiet: QuietArguments) -> Result<(), Failure> {
    if json {
        return print(report, json).map_err(Failure::after_all_was_done);
    }
    if !quiet.quiet {
        failure::report(report.text());
    }
    Ok(())
}
