use guira::KeyHasher;
use serde::Serialize;

use super::warnings::{WithoutKey, refuse_to_ignore_case, warn_of_missing_keys};
use crate::arguments::RemoveArguments;
use crate::edited_filter::EditedFilter;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::keys::{Examples, Normalization, SeenDigests};
use crate::render::text::counted;
use crate::render::{Report, tell};
use crate::secret_key::SecretKey;

pub(crate) fn run(arguments: &RemoveArguments) -> Result<ExitStatus, Failure> {
    arguments.inputs.refuse_contradictions()?;
    arguments.inputs.inputs(Normalization::default(), true).refuse_filters()?;
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let mut filter = EditedFilter::open(&arguments.file, key, arguments.wait.with(arguments.quiet))?;
    filter.bring(arguments.now)?;
    let normalization = filter.provenance().normalization;
    refuse_to_ignore_case(arguments.ignore_case, &arguments.file, normalization)?;
    let inputs = arguments.inputs.inputs(normalization, arguments.quiet.quiet);
    let hasher: KeyHasher = *filter.hasher();
    // Otherwise a line that occurs twice could remove another key that collides with it.
    let mut seen = SeenDigests::default();
    let (mut removed, mut repeated) = (0, 0);
    let mut missing = Examples::default();
    let mut answers = Vec::new();
    let empty_counts = inputs.for_each_batch(|keys| {
        let new = seen.new_ones(keys, &hasher);
        repeated += (keys.len() - new.keys.len()) as u64;
        answers.resize(new.digests.len(), false);
        filter.remove_many_into(&new.digests, &mut answers)?;
        for (key, &was_there) in new.keys.iter().zip(&answers) {
            if was_there { removed += 1 } else { missing.add(key) }
        }
        Ok(())
    })?;
    if removed > 0 {
        filter.commit()?;
    }

    let removal = Removal {
        file: arguments.file.display().to_string(),
        removed_count: removed,
        repeated_count: repeated,
        without_key_count: empty_counts.without_key,
        not_found_count: missing.count(),
        key_count: filter.len() as u64,
    };
    tell(&removal, arguments.json, arguments.quiet)?;
    warn_of_missing_keys(&arguments.inputs, &inputs, empty_counts.without_key, WithoutKey::LeftOut);
    if missing.count() == 0 {
        return Ok(ExitStatus::Success);
    }
    report(format_args!("{}: {} not in the filter: {missing}", removal.file, counted(missing.count(), "key")));
    Ok(ExitStatus::NotFound)
}

/// What was done. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Removal {
    file: String,
    removed_count: u64,
    repeated_count: u64,
    without_key_count: u64,
    not_found_count: u64,
    /// The keys in the filter now.
    key_count: u64,
}

impl Report for Removal {
    fn text(&self) -> String {
        let (keys, repeated) = (counted(self.removed_count, "key"), counted(self.repeated_count, "repeated line"));
        format!("{}: {keys} removed, {repeated} left out", self.file)
    }
}
