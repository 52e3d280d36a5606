//! Whether two filters were built alike, so that they can be merged or compared.

use std::path::Path;

use guira::MergeError;

use crate::shell::quoted;
use crate::stored_filter::StoredFilter;

/// The difference between a filter that grows and one that does not.
pub(super) const OTHER_KIND: &str =
    "one of them was built to grow, and the other was not, so a key has another place in each";

/// The difference between a filter whose keys expire and one whose keys don't.
pub(super) const OTHER_EXPIRY: &str = "in one of them keys expire, and in the other they do not";

/// A difference between two files that is not in their tables, if there is one.
pub(super) fn difference_of_files(first: &StoredFilter, second: &StoredFilter) -> Option<String> {
    if first.provenance.normalization != second.provenance.normalization {
        return Some(
            "keys are not treated alike in both, by --lowercase or --trim, so a key has another place in each"
                .to_owned(),
        );
    }
    if first.filter.as_expiring().is_some() != second.filter.as_expiring().is_some() {
        return Some(OTHER_EXPIRY.to_owned());
    }
    if first.provenance.time_source != second.provenance.time_source {
        return Some("the time of one is that of the clock, and of the other that of its keys".to_owned());
    }
    match (first.grows(), second.grows()) {
        (false, false) | (true, true) => None,
        _ => Some(OTHER_KIND.to_owned()),
    }
}

/// The difference between two tables that prevents a merge, if that is the error.
pub(super) fn difference_of_filters(error: &MergeError) -> Option<String> {
    match error {
        MergeError::Differs { what, .. } if what.contains("buckets per region") || *what == "size" => {
            Some("they were built for different numbers of keys, so a key has another place in each".to_owned())
        }
        MergeError::Differs { what: what @ ("lifetime" | "resolution"), ours, theirs } => {
            Some(format!("they differ in {what}, {ours} and {theirs}"))
        }
        MergeError::Differs { what, ours, theirs } => {
            Some(format!("they differ in {what}, {ours} and {theirs}, so a key has another place in each"))
        }
        _ => None,
    }
}

/// The command that would make two filters alike.
pub(super) fn way_to_likeness(
    difference: &str,
    [first, second]: [&Path; 2],
    [first_filter, second_filter]: [&StoredFilter; 2],
) -> String {
    // The larger one has room for the keys of the other.
    let is_larger = second_filter.filter.capacity() > first_filter.filter.capacity();
    let (like, again) = if is_larger { (second, first) } else { (first, second) };
    let key_file = if first_filter.filter.hasher().secret_key().is_some() { " --key-file KEYFILE" } else { "" };
    format!(
        "{difference}. Build one of them again like the other, from the list of its keys: guira build --force --like {}{key_file} -o {} LIST",
        quoted(like),
        quoted(again)
    )
}
