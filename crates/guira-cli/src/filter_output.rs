//! Where a new filter is written: a file, or standard output.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::arguments::WaitArguments;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::filter_file::{Existing, FilterReplacement, Replaced};
#[cfg(feature = "redis")]
use crate::keys::Compression;
use crate::provenance::Provenance;
use crate::stored_filter::StoredFilter;

pub(crate) enum FilterOutput {
    StandardOutput,
    /// Where nothing is kept: the filter is made, and reported.
    Null,
    File(PathBuf, Box<FilterReplacement>),
}

impl FilterOutput {
    /// Prepares to write a filter to a path, or for "-" to standard output, which then takes nothing else.
    pub(crate) fn new(
        path: &Path,
        existing: Existing,
        prints_json: bool,
        wait: WaitArguments,
    ) -> Result<Self, Failure> {
        if cfg!(unix) && path.as_os_str() == "/dev/null" {
            return Ok(Self::Null);
        }
        if path.as_os_str() != "-" {
            return Ok(Self::File(path.to_owned(), Box::new(FilterReplacement::of_output(path, existing, wait)?)));
        }
        if prints_json {
            return Err(Failure::new("--json and --output - would both go to standard output: leave one of them out"));
        }
        if io::stdout().is_terminal() {
            return Err(Failure::new("standard output is a terminal, and a filter is no text: give another output"));
        }
        Ok(Self::StandardOutput)
    }

    /// A filter to be written here.
    pub(crate) fn filter(&self, filter: impl Into<Filter>, provenance: Provenance) -> StoredFilter {
        match self {
            Self::StandardOutput | Self::Null => StoredFilter::for_output(filter, provenance, Path::new("")),
            Self::File(path, _) => StoredFilter::for_output(filter, provenance, path),
        }
    }

    /// Writes the filter. Returns what was replaced, if anything.
    pub(crate) fn commit(self, filter: &StoredFilter) -> Result<Option<Replaced>, Failure> {
        match self {
            Self::File(_, replacement) => replacement.commit(filter),
            Self::StandardOutput => print(|output| filter.write_to(output)),
            Self::Null => Ok(None),
        }
    }

    /// Writes the bytes of a filter file, compressed if its name says so. Returns what was replaced, if anything.
    #[cfg(feature = "redis")]
    pub(crate) fn commit_bytes(self, bytes: &[u8]) -> Result<Option<Replaced>, Failure> {
        match self {
            Self::File(path, replacement) => {
                replacement.commit_written(|file| Compression::named(Some(&path)).compress(bytes, file))
            }
            Self::StandardOutput => print(|output| output.write_all(bytes)),
            Self::Null => Ok(None),
        }
    }
}

fn print(write: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>) -> Result<Option<Replaced>, Failure> {
    let mut output = io::stdout().lock();
    let written = write(&mut output).and_then(|()| output.flush());
    written.map_err(|error| Failure::of_io("standard output", &error))?;
    Ok(None)
}

/// What an output is called in messages.
pub(crate) fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard output".to_owned() } else { path.display().to_string() }
}
