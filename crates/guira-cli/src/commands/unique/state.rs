//! The file from which a run goes on, and in which it is remembered for the next.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use guira::FileHeader;

use super::times::Times;
use super::{new_filter, provenance_of, resolution};
use crate::arguments::{UniqueArguments, WaitArguments};
use crate::commands::warnings::refuse_to_ignore_case;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::filter_file::{Existing, FilterReplacement, refuse_standard_input};
use crate::provenance::TimeSource;
use crate::secret_key::SecretKey;
use crate::stored_filter::StoredFilter;
use crate::time;

pub(super) struct State<'arguments> {
    path: &'arguments Path,
    wait: WaitArguments,
    /// What the file was when it was read or written last; `None` if there was none.
    contents: Option<Contents>,
    /// The keys that it held then, and how many lines had been taken.
    len: usize,
    taken: u64,
}

impl<'arguments> State<'arguments> {
    /// Reads the filter of a file, or makes one if there is no file.
    pub(super) fn open(path: &'arguments Path, arguments: &UniqueArguments) -> Result<(StoredFilter, Self), Failure> {
        let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
        let wait = WaitArguments { is_quiet: arguments.quiet, ..arguments.wait };
        refuse_standard_input(path)?;
        if !path.exists() {
            // A directory or a permission that is missing is told before the work.
            FilterReplacement::of_output(path, Existing::Refused, wait)?;
            let filter = StoredFilter::for_output(new_filter(arguments, key)?, provenance_of(arguments), path);
            return Ok((filter, Self { path, wait, contents: None, len: 0, taken: 0 }));
        }
        let (filter, replacement) = FilterReplacement::of_filter(path, key, wait)?;
        let contents = replacement.old().map(contents_of).transpose().map_err(|error| explain(path, &error))?;
        if arguments.rate.is_some_and(|rate| filter.provenance.rate != Some(rate)) {
            let text = "has another rate, which can't be changed: leave out --rate, or give another --state";
            return Err(Failure::of_file(path, text));
        }
        refuse_other_times(path, arguments, &filter)?;
        refuse_to_ignore_case(arguments.ignore_case, path, filter.provenance.normalization)?;
        if arguments.trim && !filter.provenance.normalization.trim {
            return Err(Failure::of_file(
                path,
                "does not ignore blanks at the ends of keys: it was made without --trim",
            ));
        }
        let len = filter.filter.len();
        Ok((filter, Self { path, wait, contents, len, taken: 0 }))
    }

    pub(super) const fn path(&self) -> &Path {
        self.path
    }

    /// Replaces the file if the filter may have changed since then, unless another process has replaced it. So many lines have
    /// been taken.
    pub(super) fn save(&mut self, filter: &StoredFilter, taken: u64) -> Result<(), Failure> {
        let len = filter.filter.len();
        // What is forgotten or renewed changes a filter too.
        let is_unchanged = match filter.filter {
            Filter::Lasting(_) => len == self.len,
            Filter::Expiring(_) => taken == self.taken,
        };
        if self.contents.is_some() && is_unchanged {
            return Ok(());
        }
        let replacement = FilterReplacement::of_output(self.path, Existing::LockedAndReplaced, self.wait)?;
        let contents = replacement.old().map(contents_of).transpose().map_err(|error| explain(self.path, &error))?;
        if contents != self.contents {
            let text = "was changed by another process meanwhile, so it is not replaced: what came since then is not \
                        remembered; give each run a --state of its own";
            return Err(Failure::of_file(self.path, text));
        }
        replacement.commit(filter)?;
        let contents = File::open(self.path).and_then(|file| contents_of(&file));
        self.contents = Some(contents.map_err(|error| explain(self.path, &error))?);
        (self.len, self.taken) = (len, taken);
        Ok(())
    }
}

/// Refuses a file whose lines are forgotten otherwise than the arguments say. They need not say it again.
fn refuse_other_times(path: &Path, arguments: &UniqueArguments, filter: &StoredFilter) -> Result<(), Failure> {
    let refused = |text: &str| Err(Failure::of_file(path, text));
    let Some(expiring) = filter.filter.as_expiring() else {
        return match arguments.lifetime {
            Some(_) => refused("remembers lines for good: leave out --for, or give another --state"),
            None => Ok(()),
        };
    };
    match (filter.provenance.time_source, Times::source_of(arguments)) {
        (Some(TimeSource::Clock), TimeSource::Data) => {
            return refused("its time is that of the clock: leave out --time-field, or give another --state");
        }
        (Some(TimeSource::Data), TimeSource::Clock) => {
            return refused(
                "its time is that of lines: say with --time-field where it stands, or give another --state",
            );
        }
        (Some(_), _) => {}
        (None, _) => {
            return refused(
                "was not made by this program, and does not say in which unit its time is: give another --state",
            );
        }
    }
    let (lifetime, resolution) = match arguments.lifetime {
        // A lifetime is rounded up to whole resolutions.
        Some(given) => {
            let resolution = resolution(arguments, given);
            (given.div_ceil(resolution) * resolution, resolution)
        }
        None => (expiring.lifetime(), arguments.resolution.unwrap_or(expiring.resolution())),
    };
    if (lifetime, resolution) != (expiring.lifetime(), expiring.resolution()) {
        let [lifetime, resolution] = [expiring.lifetime(), expiring.resolution()].map(time::duration);
        return Err(Failure::of_file(
            path,
            format_args!(
                "remembers lines for {lifetime}, with a resolution of {resolution}: leave out --for and --resolution, or give \
                 another --state"
            ),
        ));
    }
    arguments.now.warn_of_time_ahead(path, expiring, Some(Times::source_of(arguments)));
    Ok(())
}

/// What tells one content of a file from others: its header, which has checksums, and its size, which grows with the journal.
#[derive(Debug, PartialEq, Eq)]
struct Contents {
    header: Vec<u8>,
    size: u64,
}

fn explain(path: &Path, error: &io::Error) -> Failure {
    Failure::of_io(path.display().to_string(), error)
}

fn contents_of(mut file: &File) -> io::Result<Contents> {
    let mut header = Vec::new();
    file.rewind()?;
    file.take(FileHeader::MIN_SIZE as u64).read_to_end(&mut header)?;
    Ok(Contents { header, size: file.metadata()?.len() })
}
