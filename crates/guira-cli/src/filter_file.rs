//! Filter files: read as a whole, and replaced as a whole under a lock.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use guira::FileHeader;
use guira::raw::Journal;
use guira_files::{LockedFile, Notice, ReplaceError, Replacement};

use crate::arguments::WaitArguments;
use crate::failure::{Failure, report, without_code};
use crate::filter_bytes::{self, decompressed};
use crate::keys::Compression;
use crate::progress::{Progress, Watched};
use crate::render::text::counted;
use crate::secret_key::SecretKey;
use crate::stored_filter::StoredFilter;

/// Reads a filter, with its secret key if it has one.
pub(crate) fn load(path: &Path, key: Option<SecretKey>) -> Result<StoredFilter, Failure> {
    let file = filter_bytes::open(path).map_err(|error| failure(path, &error))?;
    read(path, &file, key)
}

fn read(path: &Path, file: &File, key: Option<SecretKey>) -> Result<StoredFilter, Failure> {
    let size = file.metadata().ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len());
    let progress = Progress::of_bytes(size);
    let filter = StoredFilter::read(Watched { source: file, progress: &progress }, key);
    filter.map_err(|error| Failure::of_loading(path, &error))
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::of_io(filter_bytes::name(path), error)
}

/// What to do with an output file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Refused,
    /// Replaced by a filter that does not depend on it. It is locked when the new one is complete.
    Replaced,
    /// Replaced by a filter that may depend on it. It is locked now.
    LockedAndReplaced,
}

/// A filter file that is about to be replaced or created. It stays as it is until [`commit`](Self::commit) succeeds.
pub(crate) struct FilterReplacement {
    /// The path as it was given, for messages.
    path: PathBuf,
    replacement: Replacement,
    wait: WaitArguments,
}

/// A file that was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// The number of keys of the old filter; `None` if the file was no filter, or damaged.
    pub(crate) key_count: Option<u64>,
}

impl FilterReplacement {
    /// Prepares to write a filter to a path. A missing directory or permission is reported here, before the work.
    pub(crate) fn of_output(path: &Path, existing: Existing, wait: WaitArguments) -> Result<Self, Failure> {
        let replacement = match existing {
            Existing::Refused => Replacement::of_new(path),
            Existing::Replaced => Replacement::of_any(path),
            Existing::LockedAndReplaced => {
                Replacement::of_existing_or_new_within(path, wait.at_most, &|notice| tell(path, wait, &notice))
            }
        };
        let replacement = replacement.map_err(|error| match error {
            ReplaceError::NotRegular => {
                Failure::of_file(path, "not a regular file: give another output, or \"-\" for standard output")
            }
            error => explain(path, error),
        });
        let replacement = replacement?.waiting_at_most(wait.at_most);
        Ok(Self { path: path.to_owned(), replacement, wait })
    }

    /// Reads a filter in order to change it. Until the replacement is dropped, others who want to change it wait, so that none
    /// overwrites another's keys.
    pub(crate) fn of_filter(
        path: &Path,
        key: Option<SecretKey>,
        wait: WaitArguments,
    ) -> Result<(StoredFilter, Self), Failure> {
        Self::of_locked(path, lock(path, wait)?, key, wait)
    }

    /// Reads a filter whose file is locked already.
    pub(crate) fn of_locked(
        path: &Path,
        locked: LockedFile,
        key: Option<SecretKey>,
        wait: WaitArguments,
    ) -> Result<(StoredFilter, Self), Failure> {
        let replacement = locked.into_replacement().map_err(|error| explain(path, error))?;
        let locked = replacement.file().ok_or_else(|| explain(path, ReplaceError::Changed))?;
        let filter = read(path, locked, key)?;
        Ok((filter, Self { path: path.to_owned(), replacement, wait }))
    }

    /// The file as it is, if there is one.
    pub(crate) fn old(&self) -> Option<&File> {
        self.replacement.file()
    }

    /// The new file, for what is written before [`commit_written`](Self::commit_written).
    pub(crate) fn new_file(&self) -> io::Result<&File> {
        self.replacement.new_file()
    }

    /// Writes the filter and replaces the old file. When this returns, the new one is on disk. Returns what was replaced, if
    /// anything.
    pub(crate) fn commit(self, filter: &StoredFilter) -> Result<Option<Replaced>, Failure> {
        self.commit_written(|file| filter.write_to(file))
    }

    /// Like [`commit`](Self::commit), for a filter that `write` writes.
    pub(crate) fn commit_written(
        self,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<Option<Replaced>, Failure> {
        let Self { path, replacement, wait } = self;
        let replaced = replacement.commit(write, &|notice| tell(&path, wait, &notice));
        Ok(replaced.map_err(|error| explain(&path, error))?.map(|old| Replaced { key_count: key_count(old) }))
    }
}

impl Replaced {
    /// The text about the replaced file at the end of a report.
    pub(crate) fn text(replaced: Option<Self>) -> String {
        match replaced {
            None => String::new(),
            Some(Self { key_count: Some(keys) }) => format!("; replaced a filter of {}", counted(keys, "key")),
            Some(Self { key_count: None }) => "; replaced a file that was no filter".to_owned(),
        }
    }
}

/// Refuses to change a filter that comes from standard input.
pub(crate) fn refuse_standard_input(path: &Path) -> Result<(), Failure> {
    if filter_bytes::is_standard_input(path) {
        return Err(Failure::of("standard input", "can't be changed: give the path of a filter file"));
    }
    Ok(())
}

/// Locks a file that is to be changed.
pub(crate) fn lock(path: &Path, wait: WaitArguments) -> Result<LockedFile, Failure> {
    refuse_standard_input(path)?;
    let locked = LockedFile::within(path, wait.at_most, &|notice| tell(path, wait, &notice));
    locked.map_err(|error| explain(path, error))
}

/// How many keys a filter holds, by its header, and its journal if it is not compressed; `None` for a file that is no filter.
pub(crate) fn key_count(mut file: File) -> Option<u64> {
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    let (compression, contents) = decompressed(&file).ok()?;
    contents.take(FileHeader::MIN_SIZE as u64).read_to_end(&mut bytes).ok()?;
    let header = FileHeader::from_bytes(&bytes).ok()?;
    let mut behind = Vec::new();
    if compression == Compression::None {
        file.seek(SeekFrom::Start(header.file_size())).ok()?;
        file.take(Journal::max_size(&header).saturating_add(1)).read_to_end(&mut behind).ok()?;
    }
    let journal = Journal::read(&header, &behind).unwrap_or_default();
    Some(filter_bytes::key_count(&header, &journal))
}

pub(crate) fn explain(path: &Path, error: ReplaceError) -> Failure {
    match error {
        ReplaceError::Io(error) if error.kind() == io::ErrorKind::NotFound => match missing_directory(path) {
            Some(directory) => Failure::of_file(path, format_args!("there is no directory {}", directory.display())),
            None => failure(path, &error),
        },
        ReplaceError::Io(error) if error.kind() == io::ErrorKind::PermissionDenied && is_accessible(path) => {
            Failure::of_file(path, "no new file can be written into its directory: Permission denied")
        }
        ReplaceError::Io(error) => failure(path, &error),
        ReplaceError::Exists => Failure::of_file(path, "there is such a file already: give --force to replace it"),
        ReplaceError::DanglingLink => Failure::of_file(path, "a link to a file that is not there: give another output"),
        ReplaceError::NotRegular => Failure::of_file(path, "not a regular file: give another"),
        error => Failure::of_file(path, error),
    }
}

/// The directory of a path, if there is none.
fn missing_directory(path: &Path) -> Option<&Path> {
    path.parent().filter(|directory| !directory.as_os_str().is_empty() && !directory.exists())
}

/// Whether a file itself can be read, or its directory be looked into for it.
fn is_accessible(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(metadata) => metadata.is_file() && File::open(path).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn tell(path: &Path, wait: WaitArguments, notice: &Notice<'_>) {
    let path = path.display();
    match notice {
        Notice::Waiting if wait.is_quiet => {}
        Notice::Waiting => report(format_args!("{path}: waiting for another process that changes it")),
        Notice::NotLocked(error) => report(format_args!(
            "warning: {path}: can't be locked ({}): if another process changes it at the same time, one of both \
             changes is lost",
            without_code(error)
        )),
    }
}
