use std::path::Path;

use guira::MergeError;
use serde::Serialize;

use super::likeness::{OTHER_EXPIRY, OTHER_KIND, difference_of_files, difference_of_filters, way_to_likeness};
use super::warnings::warn_of_excess;
use crate::arguments::MergeArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::filter_file::{self, Existing, Replaced};
use crate::filter_output::{self, FilterOutput};
use crate::provenance::Provenance;
use crate::render::text::{count, counted};
use crate::render::{Report, tell};
use crate::secret_key::SecretKey;
use crate::stored_filter::StoredFilter;

pub(crate) fn run(arguments: &MergeArguments) -> Result<ExitStatus, Failure> {
    arguments.key.refuse_as_output(&arguments.output)?;
    // The output may be one of the inputs.
    let existing = if arguments.force { Existing::LockedAndReplaced } else { Existing::Refused };
    let output = FilterOutput::new(&arguments.output, existing, arguments.json, arguments.wait.with(arguments.quiet))?;
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let merged = match merged_in_parts(arguments, key)? {
        Some(merged) => merged,
        None => merged_in_memory(arguments, key)?,
    };
    // Notes describe a single file, so they are dropped.
    let Provenance { rate, normalization, time_source, .. } = merged.provenance;
    let provenance = Provenance { rate, normalization, time_source, ..Provenance::default() };
    let merged = output.filter(merged.filter, provenance);
    let replaced = output.commit(&merged)?;
    let merger = Merger {
        file: filter_output::name(&arguments.output),
        file_count: arguments.files.len() as u64,
        key_count: merged.filter.len() as u64,
        capacity: merged.filter.capacity() as u64,
        replaced_key_count: replaced.and_then(|replaced| replaced.key_count),
        replaced,
    };
    tell(&merger, arguments.json, arguments.quiet)?;
    warn_of_excess(&arguments.output, &merged);
    Ok(ExitStatus::Success)
}

/// Merges files with the first, of each of the others only a part being in memory at a time. `None` where that does not do, and where
/// something is wrong, which `merged_in_memory` explains.
fn merged_in_parts(arguments: &MergeArguments, key: Option<SecretKey>) -> Result<Option<StoredFilter>, Failure> {
    let Some((first, others)) = arguments.files.split_first() else { return Ok(None) };
    // A stream can't be read again; a time is for keys that expire, which are merged in memory.
    if arguments.now.given().is_some() || !arguments.files.iter().all(|file| file.is_file()) {
        return Ok(None);
    }
    let mut merged = filter_file::load(first, key)?;
    for file in others {
        match merged.merged_with_file(file) {
            Ok(Some(both)) => merged = both,
            Ok(None) | Err(_) => return Ok(None),
        }
    }
    Ok(Some(merged))
}

fn merged_in_memory(arguments: &MergeArguments, key: Option<SecretKey>) -> Result<StoredFilter, Failure> {
    let mut merged: Option<StoredFilter> = None;
    for file in &arguments.files {
        let mut next = filter_file::load(file, key)?;
        arguments.now.bring(file, &mut next)?;
        merged = Some(match merged {
            None => next,
            Some(mut merged) => {
                merge(&mut merged, &next).map_err(|refusal| refusal.explain(file, arguments, &merged, &next))?;
                merged
            }
        });
    }
    merged.ok_or_else(|| Failure::new("nothing to merge: give the filter files"))
}

/// Why a filter can't be merged with those before it.
enum Refusal {
    /// They were built with other options.
    Unlike(String),
    Other(MergeError),
}

fn merge(merged: &mut StoredFilter, next: &StoredFilter) -> Result<(), Refusal> {
    if let Some(difference) = difference_of_files(merged, next) {
        return Err(Refusal::Unlike(difference));
    }
    if merged.provenance.rate != next.provenance.rate {
        merged.provenance.rate = None;
    }
    if merged.grows() != next.grows() {
        return Err(Refusal::Unlike(OTHER_KIND.to_owned()));
    }
    let together = match (&mut merged.filter, &next.filter) {
        (Filter::Lasting(merged), Filter::Lasting(next)) => merged.merge(next),
        (Filter::Expiring(merged), Filter::Expiring(next)) => merged.merge(next),
        _ => return Err(Refusal::Unlike(OTHER_EXPIRY.to_owned())),
    };
    together.map_err(|error| match difference_of_filters(&error) {
        Some(difference) => Refusal::Unlike(difference),
        None => Refusal::Other(error),
    })
}

impl Refusal {
    fn explain(&self, file: &Path, arguments: &MergeArguments, merged: &StoredFilter, next: &StoredFilter) -> Failure {
        let text = match self {
            Self::Other(error @ (MergeError::Crowded { .. } | MergeError::TooManyCopies { .. })) => format!(
                "{}: one filter that guira build makes of the lists of all their keys holds each once",
                match error {
                    MergeError::TooManyCopies { .. } => error.to_string(),
                    _ => "copies of some keys fill the buckets of others, and a larger table would not help".to_owned(),
                },
            ),
            Self::Other(MergeError::Full { len, other_len, slot_count }) => format!(
                "{} and {} do not fit {}: build the first filter larger",
                count(*len as u64),
                counted(*other_len as u64, "fingerprint"),
                counted(*slot_count as u64, "slot")
            ),
            Self::Other(error) => error.to_string(),
            Self::Unlike(difference) => way_to_likeness(difference, [&arguments.files[0], file], [merged, next]),
        };
        Failure::of_file(file, format_args!("not merged with those before it: {text}"))
    }
}

/// What was done. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Merger {
    file: String,
    file_count: u64,
    /// The keys in the merged filter.
    key_count: u64,
    capacity: u64,
    /// The keys of a filter that was replaced.
    replaced_key_count: Option<u64>,
    #[serde(skip)]
    replaced: Option<Replaced>,
}

impl Report for Merger {
    fn text(&self) -> String {
        let (keys, files) = (counted(self.key_count, "key"), counted(self.file_count, "file"));
        format!("{}: {keys} of {files}{}", self.file, Replaced::text(self.replaced))
    }
}
