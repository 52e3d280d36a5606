use guira::MergeError;
use serde::Serialize;

use super::likeness::{difference_of_files, difference_of_filters, way_to_likeness};
use crate::arguments::DiffArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::filter_file;
use crate::render::{Report, print, text};
use crate::secret_key::SecretKey;
use crate::stored_filter::StoredFilter;

pub(crate) fn run(arguments: &DiffArguments) -> Result<ExitStatus, Failure> {
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let first = filter_file::load(&arguments.first, key)?;
    let second = filter_file::load(&arguments.second, key)?;
    let common = intersection_len(arguments, &first, &second)?;
    let difference = Difference {
        first: arguments.first.display().to_string(),
        second: arguments.second.display().to_string(),
        common_count: common as u64,
        only_in_first_count: (first.filter.len() - common) as u64,
        only_in_second_count: (second.filter.len() - common) as u64,
    };
    if !arguments.quiet {
        print(&difference, arguments.json)?;
    }
    let is_same = difference.only_in_first_count == 0 && difference.only_in_second_count == 0;
    Ok(if is_same { ExitStatus::Success } else { ExitStatus::NotFound })
}

fn intersection_len(arguments: &DiffArguments, first: &StoredFilter, second: &StoredFilter) -> Result<usize, Failure> {
    let explain = |difference: &str| {
        let way = way_to_likeness(difference, [&arguments.first, &arguments.second], [first, second]);
        Failure::of_file(&arguments.second, format_args!("can't be compared with the first: {way}"))
    };
    let (Filter::Lasting(first_filter), Filter::Lasting(second_filter)) = (&first.filter, &second.filter) else {
        let text = "can't be compared with the first: a fingerprint whose key expires stands for a time too, and only files \
                    whose keys stay are compared; guira info says how many keys each has";
        return Err(Failure::of_file(&arguments.second, text));
    };
    if let Some(difference) = difference_of_files(first, second) {
        return Err(explain(&difference));
    }
    first_filter.intersection_len(second_filter).map_err(|error: MergeError| match difference_of_filters(&error) {
        Some(difference) => explain(&difference),
        None => Failure::of_file(&arguments.second, format_args!("can't be compared with the first: {error}")),
    })
}

/// The comparison of two filters. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Difference {
    first: String,
    second: String,
    common_count: u64,
    only_in_first_count: u64,
    only_in_second_count: u64,
}

impl Report for Difference {
    fn text(&self) -> String {
        let [first, second] =
            [&self.first, &self.second].map(|file| format!("only in {}", crate::render::escaped(file)));
        let counts = [
            ("in both", self.common_count),
            (&*first, self.only_in_first_count),
            (&*second, self.only_in_second_count),
        ];
        text::table(&counts.map(|(label, number)| (label, text::counted(number, "fingerprint"))))
    }
}
