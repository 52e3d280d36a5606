//! The keys that are not added: on standard output, or in a file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::arguments::AddArguments;
use crate::failure::Failure;
use crate::filter_file::{self, Existing, FilterReplacement};
use crate::keys::RecordEnd;
use crate::render::Output;
use crate::same_file::SameFile;

pub(super) struct RejectedKeys {
    destination: Destination,
    end: RecordEnd,
}

enum Destination {
    StandardOutput(Output),
    File {
        path: PathBuf,
        file: BufWriter<File>,
        /// What puts the file in its place when it is complete. A pipe is written to at once, and so is the list of a stream, which has
        /// the keys of each interval before others are stored.
        replacement: Option<FilterReplacement>,
    },
}

impl RejectedKeys {
    /// `None` if such keys are not asked for.
    pub(super) fn new(arguments: &AddArguments) -> Result<Option<Self>, Failure> {
        if !arguments.keep_fitting {
            return Ok(None);
        }
        let end = arguments.inputs.form().end;
        let destination = match &arguments.rejected {
            Some(path) if path.as_os_str() != "-" => {
                let replaced = SameFile::of(path);
                if replaced.is_some() && replaced == SameFile::of(&arguments.file) {
                    return Err(Failure::of_file(path, "the filter itself: give another file for --rejected"));
                }
                arguments.key.refuse_as_output(path)?;
                if is_filter(path) {
                    return Err(Failure::of_file(
                        path,
                        "a filter, which would be replaced: give another file for --rejected",
                    ));
                }
                Destination::of_file(path, arguments)?
            }
            _ if arguments.json => {
                return Err(Failure::new(
                    "--json and the keys that do not fit would both go to standard output: give --rejected FILE",
                ));
            }
            _ => Destination::StandardOutput(Output::new()),
        };
        Ok(Some(Self { destination, end }))
    }

    pub(super) fn write(&mut self, key: &[u8]) -> Result<(), Failure> {
        if !self.end.delimits(key) {
            let advice = "no key was added; leave out --keep-fitting, or such keys";
            return Err(Failure::of_undelimited(self.destination.name(), key, self.end, advice));
        }
        let end = [self.end.byte()];
        match &mut self.destination {
            Destination::StandardOutput(output) => output.write(key).and_then(|()| output.write(&end)),
            Destination::File { path, file, .. } => {
                file.write_all(key).and_then(|()| file.write_all(&end)).map_err(|error| explain(path, &error))
            }
        }
    }

    /// Writes what is still in a buffer.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        match &mut self.destination {
            Destination::StandardOutput(output) => {
                output.finish()?;
                if output.is_closed() {
                    return Err(Failure::of(
                        "standard output",
                        "was closed before all keys that do not fit were written: no key was added",
                    ));
                }
                Ok(())
            }
            Destination::File { path, file, .. } => {
                let flushed = file.flush().and_then(|()| {
                    // A pipe or a terminal can't be flushed to disk.
                    let is_file = file.get_ref().metadata()?.is_file();
                    if is_file { file.get_ref().sync_all() } else { Ok(()) }
                });
                flushed.map_err(|error| explain(path, &error))
            }
        }
    }

    /// When this returns, all of them are written.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        match self.destination {
            // An old list is replaced, also where no key is left out this time: nobody should take it for today's.
            Destination::File { replacement: Some(replacement), .. } => {
                replacement.commit_written(|_| Ok(())).map(drop)
            }
            _ => Ok(()),
        }
    }
}

impl Destination {
    fn of_file(path: &Path, arguments: &AddArguments) -> Result<Self, Failure> {
        let is_regular = fs::metadata(path).map_or(true, |metadata| metadata.is_file() || metadata.is_dir());
        let replacement = if is_regular && !is_live(arguments) {
            let wait = arguments.wait.with(arguments.quiet);
            Some(FilterReplacement::of_output(path, Existing::Replaced, wait)?)
        } else {
            None
        };
        let file = match &replacement {
            Some(replacement) => replacement.new_file().and_then(File::try_clone),
            None => File::create(path),
        };
        let file = BufWriter::new(file.map_err(|error| explain(path, &error))?);
        Ok(Self::File { path: path.to_owned(), file, replacement })
    }

    fn name(&self) -> String {
        match self {
            Self::StandardOutput(_) => "standard output".to_owned(),
            Self::File { path, .. } => path.display().to_string(),
        }
    }
}

#[cfg(unix)]
const fn is_live(arguments: &AddArguments) -> bool {
    arguments.every.is_some()
}

#[cfg(not(unix))]
const fn is_live(_: &AddArguments) -> bool {
    false
}

fn explain(path: &Path, error: &io::Error) -> Failure {
    Failure::of_io(path.display().to_string(), error)
}

/// Pipes are only written to.
fn is_filter(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && File::open(path).ok().and_then(filter_file::key_count).is_some()
}
