use serde::Serialize;

use super::Output;
use crate::failure::Failure;

/// A report that people read too.
pub(crate) trait Report: Serialize {
    fn text(&self) -> String;
}

/// Prints a report, as text or as JSON.
pub(crate) fn print(report: &impl Report, json: bool) -> Result<(), Failure> {
    let mut output = Output::new();
    if json {
        let json = serde_json::to_string_pretty(report).map_err(Failure::new)?;
        output.write(json.as_bytes())?;
        output.write(b"\n")?;
    } else {
        output.write(report.text().as_bytes())?;
    }
    output.finish()
}
