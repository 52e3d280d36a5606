use std::path::Path;

use guira::MergeError;
use serde::Serialize;

use super::warnings::warn_of_excess;
use crate::arguments::MergeArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_file::{self, Existing, Replaced};
use crate::filter_output::{self, FilterOutput};
use crate::provenance::Provenance;
use crate::render::text::counted;
use crate::render::{Report, tell};
use crate::secret_key::SecretKey;
use crate::stored_filter::{Contents, StoredFilter};

pub(crate) fn run(arguments: &MergeArguments) -> Result<ExitStatus, Failure> {
    // The output may be one of the inputs.
    let existing = if arguments.force { Existing::LockedAndReplaced } else { Existing::Refused };
    let output = FilterOutput::new(&arguments.output, existing, arguments.json)?;
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let mut merged: Option<StoredFilter> = None;
    for file in &arguments.files {
        let next = filter_file::load(file, key)?;
        merged = Some(match merged {
            None => next,
            Some(mut merged) => {
                merge(&mut merged, &next).map_err(|refusal| refusal.explain(file, arguments, &merged, &next))?;
                merged
            }
        });
    }
    let Some(merged) = merged else { return Err(Failure::new("nothing to merge: give the filter files")) };
    // Notes are of one file, and not of all.
    let Provenance { rate, normalization, .. } = merged.provenance;
    let provenance = Provenance { rate, normalization, ..Provenance::default() };
    let merged = output.filter(merged.contents, provenance);
    let replaced = output.commit(&merged)?;
    let merger = Merger {
        file: filter_output::name(&arguments.output),
        file_count: arguments.files.len() as u64,
        key_count: merged.as_filter().len() as u64,
        capacity: merged.as_filter().capacity() as u64,
        replaced_key_count: replaced.and_then(|replaced| replaced.key_count),
        replaced,
    };
    tell(&merger, arguments.json, arguments.quiet)?;
    warn_of_excess(&arguments.output, &merged);
    Ok(ExitStatus::Success)
}

/// Why a filter is not merged with those before it.
enum Refusal {
    /// They have other parameters.
    Unlike(String),
    Other(MergeError),
}

fn merge(merged: &mut StoredFilter, next: &StoredFilter) -> Result<(), Refusal> {
    let explain = |error| match error {
        MergeError::Differs { what, .. } if what.contains("buckets per region") => {
            Refusal::Unlike("they were built for different numbers of keys".to_owned())
        }
        MergeError::Differs { what, ours, theirs } => {
            Refusal::Unlike(format!("they differ in {what}, {ours} and {theirs}"))
        }
        error => Refusal::Other(error),
    };
    if merged.provenance.normalization != next.provenance.normalization {
        return Err(Refusal::Unlike("keys are not treated alike in both, by --lowercase or --trim".to_owned()));
    }
    if merged.provenance.rate != next.provenance.rate {
        merged.provenance.rate = None;
    }
    match (&mut merged.contents, &next.contents) {
        (Contents::Fixed(merged), Contents::Fixed(next)) => merged.merge(next).map_err(explain),
        (Contents::Growing(merged), Contents::Growing(next)) => merged.merge(next).map_err(explain),
        _ => Err(Refusal::Unlike("one of them was built to grow, and the other was not".to_owned())),
    }
}

impl Refusal {
    fn explain(&self, file: &Path, arguments: &MergeArguments, merged: &StoredFilter, next: &StoredFilter) -> Failure {
        let difference = match self {
            Self::Other(error) => {
                return Failure::of_file(file, format_args!("not merged with those before it: {error}"));
            }
            Self::Unlike(difference) => difference,
        };
        // The larger one has room for the keys of the other.
        let first = &arguments.files[0];
        let is_larger = next.as_filter().capacity() > merged.as_filter().capacity();
        let (like, again) = if is_larger { (file, &**first) } else { (&**first, file) };
        Failure::of_file(
            file,
            format_args!(
                "not merged with those before it: {difference}, so a key has another place in each. Build one of them again \
                 like the other, from the list of its keys: guira build --force --like {} -o {} LIST",
                quoted(like),
                quoted(again)
            ),
        )
    }
}

/// A path as it is typed in a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    shlex::try_quote(&path).map(std::borrow::Cow::into_owned).unwrap_or(path)
}

/// What was done. The names of the fields are those of the JSON output, and stay.
#[derive(Debug, Serialize)]
struct Merger {
    file: String,
    file_count: u64,
    /// What the merged filter holds.
    key_count: u64,
    capacity: u64,
    /// Of a filter that was replaced.
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
