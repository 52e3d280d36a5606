use guira::{CuckooFilter, InsertEachError, InsertError, KeyHasher};

use crate::arguments::AddArguments;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::filter_file::Replacement;
use crate::keys::{Examples, Inputs, NewKeys, SeenDigests};
use crate::render::text::counted;

/// A search for room that fails takes as long as thousands of insertions.
const MOST_KEYS_TRIED_IN_VAIN: u64 = 10_000;

pub(crate) fn run(arguments: &AddArguments) -> Result<ExitStatus, Failure> {
    let (mut filter, replacement) = Replacement::of_filter(&arguments.file)?;
    let outcome = add(&mut filter, &Inputs::named(&arguments.inputs.inputs))?;
    if outcome.added > 0 {
        replacement.commit(&filter)?;
    }

    let (added, repeated) = (counted(outcome.added, "key"), counted(outcome.repeated, "repeated line"));
    report(format_args!("{}: {added} added, {repeated} left out", arguments.file.display()));
    let mut status = ExitStatus::Success;
    for (rejected, reason) in [&outcome.without_room, &outcome.with_too_many_copies].into_iter().flatten() {
        let count = counted(rejected.count(), "key");
        Failure::of_file(&arguments.file, format_args!("{count} not added: {reason}: {rejected}")).report();
        status = ExitStatus::Error;
    }
    Ok(status)
}

#[derive(Default)]
struct Outcome {
    added: u64,
    repeated: u64,
    /// The keys that were not added, with the reason that the first of them met.
    without_room: Option<(Examples, InsertError)>,
    with_too_many_copies: Option<(Examples, InsertError)>,
}

fn add(filter: &mut CuckooFilter, inputs: &Inputs) -> Result<Outcome, Failure> {
    let hasher: KeyHasher = *filter.hasher();
    let mut seen = SeenDigests::default();
    let mut outcome = Outcome::default();
    inputs.for_each_batch(|keys| {
        let new = seen.new_ones(keys, &hasher);
        outcome.repeated += (keys.len() - new.keys.len()) as u64;
        outcome.add(filter, &new);
    })?;
    Ok(outcome)
}

impl Outcome {
    fn add(&mut self, filter: &mut CuckooFilter, new: &NewKeys<'_>) {
        let (mut keys, mut digests) = (&*new.keys, &*new.digests);
        while !keys.is_empty() {
            if let Some((examples, _)) = &mut self.without_room
                && examples.count() >= MOST_KEYS_TRIED_IN_VAIN
            {
                keys.iter().for_each(|key| examples.add(key));
                return;
            }
            let Err(InsertEachError { inserted, reason, .. }) = filter.insert_each_digest(digests) else {
                self.added += keys.len() as u64;
                return;
            };
            self.added += inserted as u64;
            let rejected = match reason {
                InsertError::TooManyCopies { .. } => &mut self.with_too_many_copies,
                _ => &mut self.without_room,
            };
            rejected.get_or_insert_with(|| (Examples::default(), reason)).0.add(keys[inserted]);
            (keys, digests) = (&keys[inserted + 1..], &digests[inserted + 1..]);
        }
    }
}
