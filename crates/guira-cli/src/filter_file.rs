//! Filter files: read whole, and replaced whole, so that whoever looks finds the old one or the new one.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::secret_key::SecretKey;
use crate::stored_filter::StoredFilter;

/// Reads a filter, with its secret key if it has one.
pub(crate) fn load(path: &Path, key: Option<SecretKey>) -> Result<StoredFilter, Failure> {
    let file = File::open(path).map_err(|error| failure(path, &error))?;
    read(path, &file, key)
}

fn read(path: &Path, file: &File, key: Option<SecretKey>) -> Result<StoredFilter, Failure> {
    StoredFilter::read(file, key).map_err(|error| Failure::of_loading(path, &error))
}

fn exists(path: &Path) -> Failure {
    Failure::of_file(path, "there is such a file already: give --force to replace it")
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::of_io(path.display().to_string(), error)
}

/// What is to be done with an output file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Refused,
    Replaced,
}

/// A file that is about to be replaced, or made. It stays as it is until [`commit`](Self::commit) succeeds.
pub(crate) struct Replacement {
    /// The path as it was given, for messages.
    path: PathBuf,
    /// Where it leads: a link stays a link.
    target: PathBuf,
    temporary: NamedTempFile,
    /// What is there now. Where it is nothing, nothing that comes meanwhile is replaced.
    old: Option<Metadata>,
    /// While it is open, its lock is held.
    locked: Option<File>,
}

impl Replacement {
    /// Prepares to write a filter to a path. What would go wrong at the end for want of a directory or of a permission
    /// goes wrong here, before the work.
    pub(crate) fn of_output(path: &Path, existing: Existing) -> Result<Self, Failure> {
        match fs::metadata(path) {
            Ok(old) if old.is_file() && existing == Existing::Refused => Err(exists(path)),
            Ok(old) => Self::new(path, Some(old), None),
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_ok() => {
                Err(Failure::of_file(path, "a link to a file that is not there: give another output"))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::new(path, None, None),
            Err(error) => Err(failure(path, &error)),
        }
    }

    /// Reads a filter that is to be changed. Until the replacement is dropped, others who want to change it wait: none
    /// overwrites what another one has added.
    pub(crate) fn of_filter(path: &Path, key: Option<SecretKey>) -> Result<(StoredFilter, Self), Failure> {
        let locked = lock::open(path)?;
        let filter = read(path, &locked, key)?;
        let old = locked.metadata().map_err(|error| failure(path, &error))?;
        Ok((filter, Self::new(path, Some(old), Some(locked))?))
    }

    fn new(path: &Path, old: Option<Metadata>, locked: Option<File>) -> Result<Self, Failure> {
        let explain = |error: io::Error| failure(path, &error);
        let target = if old.is_some() { fs::canonicalize(path).map_err(explain)? } else { path.to_owned() };
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            // Renaming would put a file in the place of a device.
            return Err(Failure::of_file(path, "not a regular file: give another output"));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".guira-").suffix(".tmp");
        if let Some(permissions) = permissions::of_new_file() {
            builder.permissions(permissions);
        }
        let temporary = builder.tempfile_in(directory(&target)).map_err(explain)?;
        Ok(Self { path: path.to_owned(), target, temporary, old, locked })
    }

    /// Writes the filter and puts it in the place of the old file. When this returns, it is on disk.
    pub(crate) fn commit(self, filter: &StoredFilter) -> Result<(), Failure> {
        let Self { path, target, temporary, old, locked } = self;
        let explain = |error: io::Error| failure(&path, &error);
        let new = temporary.as_file();
        filter.write_to(new).map_err(explain)?;
        if let Some(old) = &old {
            permissions::copy(old, new).map_err(explain)?;
        }
        new.sync_all().map_err(explain)?;
        let persisted = if old.is_some() { temporary.persist(&target) } else { temporary.persist_noclobber(&target) };
        persisted.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => exists(&path),
            _ => explain(error.error),
        })?;
        drop(locked);
        sync_directory(directory(&target)).map_err(explain)
    }
}

fn directory(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Without this a power failure may bring back the old name of the file.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

#[cfg(unix)]
mod permissions {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    use super::{File, Metadata, io};

    /// Temporary files are private by default; these become ordinary ones, within the umask.
    pub(super) fn of_new_file() -> Option<Permissions> {
        Some(Permissions::from_mode(0o666))
    }

    pub(super) fn copy(old: &Metadata, new: &File) -> io::Result<()> {
        let own = new.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            // Only root may give files away. Others who may write to the directory keep what they write.
            fchown(new, Some(old.uid()), Some(old.gid())).ok();
        }
        new.set_permissions(old.permissions())
    }
}

#[cfg(not(unix))]
mod permissions {
    use std::fs::Permissions;

    use super::{File, Metadata, io};

    pub(super) fn of_new_file() -> Option<Permissions> {
        None
    }

    pub(super) fn copy(old: &Metadata, new: &File) -> io::Result<()> {
        new.set_permissions(old.permissions())
    }
}

#[cfg(unix)]
mod lock {
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    use super::{Failure, File, Path, failure, fs, io};
    use crate::failure::report;

    /// Opens a file that nobody else changes until it is closed.
    pub(super) fn open(path: &Path) -> Result<File, Failure> {
        loop {
            let file = File::open(path).map_err(|error| failure(path, &error))?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
                report(format_args!("{}: waiting for another process that changes it", path.display()));
                // Where files can't be locked, it is not for this program to refuse to change them.
                flock(&file, FlockOperation::LockExclusive).ok();
            }
            // Whoever held the lock may have put another file in the place of this one.
            if is_same(&file, path).map_err(|error| failure(path, &error))? {
                return Ok(file);
            }
        }
    }

    fn is_same(file: &File, path: &Path) -> io::Result<bool> {
        let (opened, present) = (file.metadata()?, fs::metadata(path)?);
        Ok((opened.dev(), opened.ino()) == (present.dev(), present.ino()))
    }
}

#[cfg(not(unix))]
mod lock {
    use super::{Failure, File, Path, failure};

    pub(super) fn open(path: &Path) -> Result<File, Failure> {
        File::open(path).map_err(|error| failure(path, &error))
    }
}
