use guira::KeyHasher;

use crate::arguments::RemoveArguments;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::filter_file::Replacement;
use crate::keys::{Examples, Inputs, SeenDigests};
use crate::render::text::counted;

pub(crate) fn run(arguments: &RemoveArguments) -> Result<ExitStatus, Failure> {
    let (mut filter, replacement) = Replacement::of_filter(&arguments.file)?;
    let hasher: KeyHasher = *filter.hasher();
    // Without this a line that comes twice would remove another key that looks like it.
    let mut seen = SeenDigests::default();
    let (mut removed, mut repeated) = (0, 0);
    let mut missing = Examples::default();
    let mut answers = Vec::new();
    Inputs::named(&arguments.inputs.inputs).for_each_batch(|keys| {
        let new = seen.new_ones(keys, &hasher);
        repeated += (keys.len() - new.keys.len()) as u64;
        answers.resize(new.digests.len(), false);
        filter.remove_each_digest(&new.digests, &mut answers);
        for (key, &was_there) in new.keys.iter().zip(&answers) {
            if was_there { removed += 1 } else { missing.add(key) }
        }
    })?;
    if removed > 0 {
        replacement.commit(&filter)?;
    }

    let file = arguments.file.display();
    let (keys, repeated) = (counted(removed, "key"), counted(repeated, "repeated line"));
    report(format_args!("{file}: {keys} removed, {repeated} left out"));
    if missing.count() == 0 {
        return Ok(ExitStatus::Success);
    }
    report(format_args!("{file}: {} not in the filter: {missing}", counted(missing.count(), "key")));
    Ok(ExitStatus::NotFound)
}
