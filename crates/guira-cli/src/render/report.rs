use serde::Serialize;

use super::{Output, text};
use crate::failure::Failure;

/// A report that people read too, as rows of a label and a value.
pub(crate) trait Rows: Serialize {
    fn rows(&self) -> Vec<(&'static str, String)>;
}

/// Prints a report, as rows or as JSON.
pub(crate) fn print(report: &impl Rows, json: bool) -> Result<(), Failure> {
    let mut output = Output::new();
    if json {
        let json = serde_json::to_string_pretty(report).map_err(Failure::new)?;
        output.write(json.as_bytes())?;
        output.write(b"\n")?;
    } else {
        output.write(text::table(&report.rows()).as_bytes())?;
    }
    output.finish()
}
