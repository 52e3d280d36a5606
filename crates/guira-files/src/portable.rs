//! Systems other than Unix: files are replaced atomically, and not locked.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::Path;
use std::time::Instant;

use tempfile::{Builder, NamedTempFile};

use super::replacement::Notice;
use super::temporary::Access;

pub(crate) fn create(builder: &Builder<'_, '_>, directory: &Path, _access: Access) -> io::Result<NamedTempFile> {
    builder.tempfile_in(directory)
}

pub(crate) struct Directory;

impl Directory {
    pub(crate) fn open(_path: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) const fn has_no_links(_error: &io::Error) -> bool {
    false
}

/// Does not lock: a lock of Windows would keep readers out too.
pub(crate) fn open_locked(
    path: &Path,
    _deadline: Option<Instant>,
    notify: &dyn Fn(Notice<'_>),
) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    notify(Notice::NotLocked(&io::ErrorKind::Unsupported.into()));
    Ok(Some(file))
}

/// Never succeeds: without a lock, two processes could append at once.
pub(crate) fn open_to_append(_path: &Path, _locked: &File) -> Option<File> {
    None
}

/// Never succeeds, so that no temporary file is taken for a left-over.
pub(crate) fn try_lock(_file: &File) -> io::Result<bool> {
    Ok(false)
}

pub(crate) fn lock(_file: &File) -> io::Result<()> {
    Ok(())
}

pub(crate) fn names_in(directory: &Path, is_asked_for: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).filter(|name| is_asked_for(name)).collect()
}

pub(crate) fn open_left_over(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(crate) fn names(path: &Path, _file: &File) -> io::Result<bool> {
    path.try_exists()
}

/// An old file that may be replaced. Windows refuses that while it is open, so this is a copy without a name.
pub(crate) fn replaceable(mut old: File) -> io::Result<File> {
    let mut copy = tempfile::tempfile()?;
    old.rewind()?;
    io::copy(&mut old, &mut copy)?;
    Ok(copy)
}

pub(crate) fn copy_attributes(old: &File, new: &File) -> io::Result<()> {
    copy_permissions(old, new)
}

pub(crate) fn copy_permissions(example: &File, new: &File) -> io::Result<()> {
    new.set_permissions(example.metadata()?.permissions())
}
