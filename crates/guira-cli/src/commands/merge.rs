use guira::MergeError;
use serde::Serialize;

use super::warnings::warn_of_excess;
use crate::arguments::MergeArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_file::{self, Existing, Replacement};
use crate::render::text::counted;
use crate::render::{Report, tell};
use crate::secret_key::SecretKey;
use crate::stored_filter::StoredFilter;

pub(crate) fn run(arguments: &MergeArguments) -> Result<ExitStatus, Failure> {
    let existing = if arguments.force { Existing::Replaced } else { Existing::Refused };
    let replacement = Replacement::of_output(&arguments.output, existing)?;
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let mut merged: Option<StoredFilter> = None;
    for file in &arguments.files {
        let next = filter_file::load(file, key)?;
        merged = Some(match merged {
            None => next,
            Some(mut merged) => {
                merge(&mut merged, &next).map_err(|error| {
                    Failure::of_file(file, format_args!("not merged with those before it: {error}"))
                })?;
                merged
            }
        });
    }
    let Some(merged) = merged else { return Err(Failure::new("nothing to merge: give the filter files")) };
    replacement.commit(&merged)?;
    let merger = Merger {
        file: arguments.output.display().to_string(),
        file_count: arguments.files.len() as u64,
        key_count: merged.as_filter().len() as u64,
        capacity: merged.as_filter().capacity() as u64,
    };
    tell(&merger, arguments.json, arguments.quiet)?;
    warn_of_excess(&arguments.output, &merged);
    Ok(ExitStatus::Success)
}

fn merge(merged: &mut StoredFilter, next: &StoredFilter) -> Result<(), String> {
    let explain = |error: MergeError| error.to_string();
    match (merged, next) {
        (StoredFilter::Fixed(merged), StoredFilter::Fixed(next)) => merged.merge(next).map_err(explain),
        (StoredFilter::Growing(merged), StoredFilter::Growing(next)) => merged.merge(next).map_err(explain),
        _ => Err("one of them was built to grow, and the other was not".to_owned()),
    }
}

/// What was done. The names of the fields are those of the JSON output, and stay.
#[derive(Debug, Serialize)]
struct Merger {
    file: String,
    file_count: u64,
    /// What the merged filter holds.
    key_count: u64,
    capacity: u64,
}

impl Report for Merger {
    fn text(&self) -> String {
        let (keys, files) = (counted(self.key_count, "key"), counted(self.file_count, "file"));
        format!("{}: {keys} of {files}", self.file)
    }
}
