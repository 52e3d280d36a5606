use std::path::Path;

use guira::{InsertEachError, InsertError, KeyHasher};
use serde::Serialize;

use super::warnings::{WithoutKey, warn_of_excess, warn_of_missing_fields};
use crate::arguments::AddArguments;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::filter_file::FilterReplacement;
use crate::keys::{Examples, Inputs, NewKeys, Normalization, SeenDigests};
use crate::render::text::{self, counted};
use crate::render::{Report, tell};
use crate::secret_key::SecretKey;
use crate::stored_filter::{Growth, StoredFilter};

/// After this many keys without room, the rest is not tried: a failed search takes as long as thousands of insertions.
const MAX_KEYS_TRIED_IN_VAIN: u64 = 10_000;

pub(crate) fn run(arguments: &AddArguments) -> Result<ExitStatus, Failure> {
    arguments.inputs.refuse_contradictions()?;
    arguments.inputs.inputs(Normalization::default(), true).refuse_filters()?;
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let (mut filter, replacement) = FilterReplacement::of_filter(&arguments.file, key)?;
    let inputs = arguments.inputs.inputs(filter.provenance.normalization, arguments.quiet.quiet);
    let growth = if arguments.no_grow { Growth::Refused } else { Growth::Allowed };
    let size_before = filter.filter.size_in_bytes();
    let outcome = add(&mut filter, growth, arguments.unique, &inputs)?;
    if outcome.added > 0 {
        replacement.commit(&filter)?;
    }

    let rejected = |reason: &Option<(Examples, InsertError)>| reason.as_ref().map_or(0, |(keys, _)| keys.count());
    let addition = Addition {
        file: arguments.file.display().to_string(),
        is_unique: arguments.unique,
        added_count: outcome.added,
        already_present_count: outcome.already_present,
        repeated_count: outcome.repeated,
        without_key_count: outcome.without_key,
        without_room_count: rejected(&outcome.without_room),
        too_many_copies_count: rejected(&outcome.with_too_many_copies),
        key_count: filter.filter.len() as u64,
        capacity: filter.filter.capacity() as u64,
        has_grown: filter.filter.size_in_bytes() > size_before,
    };
    tell(&addition, arguments.json, arguments.quiet)?;
    warn_of_missing_fields(&arguments.inputs, outcome.without_key, WithoutKey::LeftOut);
    if !arguments.unique {
        warn_of_copies(&arguments.file, &outcome, &filter);
    }
    warn_of_excess(&arguments.file, &filter);
    let mut status = ExitStatus::Success;
    for (rejected, reason) in [&outcome.without_room, &outcome.with_too_many_copies].into_iter().flatten() {
        let count = counted(rejected.count(), "key");
        Failure::of_file(&arguments.file, format_args!("{count} not added: {reason}: {rejected}")).report();
        status = ExitStatus::Error;
    }
    if outcome.without_room.is_some() {
        let file = arguments.file.display();
        report(format_args!("{file}: {}", way_to_more_room(&filter, growth)));
    }
    if outcome.with_too_many_copies.is_some() {
        report(format_args!(
            "{}: add --unique leaves out keys that are there already; the copies that are stored go when the filter is built \
             again from the list of its keys, with guira build --force",
            arguments.file.display()
        ));
    }
    Ok(status)
}

/// Advice on how to make room for more keys.
fn way_to_more_room(filter: &StoredFilter, growth: Growth) -> &'static str {
    match (filter.grows(), growth) {
        (true, Growth::Refused) => "without --no-grow there may be room for them",
        _ => {
            "there is room for them in a filter that is built with a greater --capacity, or so that it can grow, with \
             --max-capacity"
        }
    }
}

/// Warns of keys that are now stored more than once, if they are more than false positives explain.
#[expect(clippy::cast_precision_loss, reason = "a threshold")]
fn warn_of_copies(file: &Path, outcome: &Outcome, filter: &StoredFilter) {
    let rejected = [&outcome.without_room, &outcome.with_too_many_copies].into_iter().flatten();
    let tried = outcome.added + rejected.map(|(keys, _)| keys.count()).sum::<u64>();
    let mistaken = filter.filter.expected_false_positive_rate() * tried as f64;
    let present = outcome.already_present;
    // False positives are nearly Poisson-distributed: the standard deviation is the root of the mean.
    if present as f64 <= mistaken + 3.0 * mistaken.sqrt() || present < tried / 100 {
        return;
    }
    report(format_args!(
        "warning: {}: {} of {} were probably there already. Each is now stored once more, takes more room and must be \
         removed once more; add --unique leaves such keys out",
        file.display(),
        text::count(present),
        counted(tried, "key"),
    ));
}

/// What was done. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Addition {
    file: String,
    #[serde(skip)]
    is_unique: bool,
    added_count: u64,
    /// Keys that were probably present before: left out with `--unique`, otherwise stored once more.
    already_present_count: u64,
    repeated_count: u64,
    without_key_count: u64,
    /// Keys that were not added, because the filter is full.
    without_room_count: u64,
    /// Keys that were not added, because the filter holds as many copies of them as it can.
    too_many_copies_count: u64,
    /// The keys in the filter now.
    key_count: u64,
    capacity: u64,
    /// Whether the table was doubled.
    has_grown: bool,
}

impl Report for Addition {
    fn text(&self) -> String {
        let (added, repeated) = (counted(self.added_count, "key"), counted(self.repeated_count, "repeated line"));
        let grown = if self.has_grown {
            format!(", grown to a capacity of {}", counted(self.capacity, "key"))
        } else {
            String::new()
        };
        if self.is_unique {
            let present = text::count(self.already_present_count);
            return format!(
                "{}: {added} added, {present} probably there already, {repeated} left out{grown}",
                self.file
            );
        }
        format!("{}: {added} added, {repeated} left out{grown}", self.file)
    }
}

#[derive(Default)]
struct Outcome {
    added: u64,
    already_present: u64,
    repeated: u64,
    without_key: u64,
    /// The keys that were not added, with the error for the first of them.
    without_room: Option<(Examples, InsertError)>,
    with_too_many_copies: Option<(Examples, InsertError)>,
}

fn add(filter: &mut StoredFilter, growth: Growth, unique: bool, inputs: &Inputs) -> Result<Outcome, Failure> {
    let hasher: KeyHasher = *filter.filter.hasher();
    let mut seen = SeenDigests::default();
    let mut outcome = Outcome::default();
    let mut answers = Vec::new();
    let without_key = inputs.for_each_batch(|keys| {
        let mut new = seen.new_ones(keys, &hasher);
        outcome.repeated += (keys.len() - new.keys.len()) as u64;
        answers.resize(new.digests.len(), false);
        filter.filter.contains_each(&new.digests, &mut answers);
        outcome.already_present += answers.iter().filter(|&&answer| answer).count() as u64;
        if unique {
            new.retain(|index| !answers[index]);
        }
        outcome.add(filter, growth, &new);
    })?;
    outcome.without_key = without_key;
    Ok(outcome)
}

impl Outcome {
    fn add(&mut self, filter: &mut StoredFilter, growth: Growth, new: &NewKeys<'_>) {
        let (mut keys, mut digests) = (&*new.keys, &*new.digests);
        while !keys.is_empty() {
            if let Some((examples, _)) = &mut self.without_room
                && examples.count() >= MAX_KEYS_TRIED_IN_VAIN
            {
                keys.iter().for_each(|key| examples.add(key));
                return;
            }
            let Err(InsertEachError { inserted, reason, .. }) = filter.insert_each(digests, growth) else {
                self.added += keys.len() as u64;
                return;
            };
            self.added += inserted as u64;
            let rejected = match reason {
                InsertError::TooManyCopies { .. } | InsertError::Crowded { .. } => &mut self.with_too_many_copies,
                _ => &mut self.without_room,
            };
            rejected.get_or_insert_with(|| (Examples::default(), reason)).0.add(keys[inserted]);
            (keys, digests) = (&keys[inserted + 1..], &digests[inserted + 1..]);
        }
    }
}
