//! Warnings of results that were asked for but may not be what was meant.

use std::path::Path;

use crate::arguments::InputArguments;
use crate::failure::{Failure, report};
use crate::filter_output;
use crate::keys::{EmptyKeys, Inputs, Normalization};
use crate::render::text::{counted, rate};
use crate::stored_filter::StoredFilter;

/// What happens to records without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WithoutKey {
    LeftOut,
    /// They are answered as if their keys were certainly not in the filter.
    Answered,
    /// They can't be told apart.
    Printed,
}

/// Warns of records without a key.
pub(super) fn warn_of_missing_keys(arguments: &InputArguments, inputs: &Inputs, count: u64, consequence: WithoutKey) {
    if let Some(lines) = without_key(arguments, inputs, count) {
        let consequence = match consequence {
            WithoutKey::LeftOut => "left out",
            WithoutKey::Answered => "taken for keys that are not in the filter",
            WithoutKey::Printed => "printed each time",
        };
        report(format_args!("warning: {lines}, {consequence}"));
    }
}

/// The records of the inputs without a key, of which there are so many, in words: `2 lines without field 3`.
pub(super) fn without_key(arguments: &InputArguments, inputs: &Inputs, count: u64) -> Option<String> {
    let skips_empty = arguments.empty_keys() == EmptyKeys::Skipped;
    let without = if skips_empty { "with nothing in" } else { "without" };
    match (count, arguments.fields()) {
        (0, _) => None,
        (_, None) => skips_empty.then(|| counted(count, "empty line")),
        (_, Some(fields)) if !arguments.are_json() => Some(format!("{} {without} {fields}", counted(count, "line"))),
        (_, Some(fields)) => {
            let faults = inputs.json_faults();
            // Whoever does not read on, or leaves out what is empty, has another number of them.
            if faults.iter().map(|(count, _)| count).sum::<u64>() != count {
                return Some(format!("{} {without} {fields}, or not JSON", counted(count, "line")));
            }
            let [not_json, without_value] = faults.map(|(count, first)| {
                let place = if count == 1 { format!(" ({first})") } else { format!(" (the first is {first})") };
                (count, place)
            });
            let mut texts = Vec::new();
            if let (count @ 1.., place) = not_json {
                let verb = if count == 1 { "is" } else { "are" };
                texts.push(format!("{} that {verb} not JSON{place}", counted(count, "line")));
            }
            if let (count @ 1.., place) = without_value {
                texts.push(format!("{} without {fields}{place}", counted(count, "line")));
            }
            Some(texts.join(" and "))
        }
    }
}

/// Warns of keys that are empty, which few lists are meant to have.
pub(super) fn warn_of_empty_keys(count: u64) {
    if count > 0 {
        report(format_args!(
            "warning: {} (of empty lines or fields), so every empty one matches: --skip-empty leaves them out",
            counted(count, "empty key")
        ));
    }
}

/// Refuses to ignore case where a filter does not: it has no keys that could be compared otherwise.
pub(super) fn refuse_to_ignore_case(
    is_asked_for: bool,
    file: &Path,
    normalization: Normalization,
) -> Result<(), Failure> {
    if !is_asked_for || normalization.lowercase {
        return Ok(());
    }
    Err(Failure::of_file(
        file,
        "does not ignore case: it was built without --lowercase, from whose keys it can be built again",
    ))
}

/// Warns of a filter that holds more keys than it promises to.
pub(super) fn warn_of_excess(file: &Path, filter: &StoredFilter) {
    // No warning if the rate that was asked for still holds.
    if filter.provenance.rate.is_some_and(|asked| filter.filter.expected_false_positive_rate() <= asked) {
        return;
    }
    let (filter, may_grow) = (&filter.filter, filter.grows());
    if may_grow && filter.len() > filter.max_capacity() {
        let largest = counted(filter.max_capacity() as u64, "key");
        let now = rate(filter.expected_false_positive_rate());
        report(format_args!(
            "warning: {}: holds more than the {largest} up to which its rate was promised: it has risen to {now}",
            filter_output::name(file)
        ));
        return;
    }
    if filter.len() <= filter.capacity() || may_grow {
        return;
    }
    let (keys, capacity) = (counted(filter.len() as u64, "key"), counted(filter.capacity() as u64, "key"));
    let parameters = filter.parameters();
    let promised = rate(parameters.expected_false_positive_rate(parameters.capacity()));
    let now = rate(filter.expected_false_positive_rate());
    report(format_args!(
        "warning: {}: holds {keys}, and its capacity is {capacity}: more may not fit, and the expected rate has risen to \
         {now} from {promised}",
        filter_output::name(file)
    ));
}
