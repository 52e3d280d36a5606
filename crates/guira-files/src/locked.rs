use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::ReplaceError;
use super::replacement::{Notice, Replacement, Wait, lock_current, refuse_irregular};
use super::system;
use super::temporary::remove_left_overs;

/// A file that is locked, to be changed: by what is appended to it, or by another that takes its place. Other writers wait until
/// it is dropped.
pub struct LockedFile {
    /// The file behind the path; symbolic links stay as they are.
    target: PathBuf,
    file: File,
    /// Not on file systems without locks.
    is_locked: bool,
}

/// A file that can be appended to. It must not outlive the lock.
pub struct Appendable<'locked> {
    locked: &'locked LockedFile,
    file: File,
}

impl LockedFile {
    /// Locks a file. Another process that holds the lock is waited for so long at the most, if there is a limit.
    pub fn within(path: &Path, at_most: Option<Duration>, notify: &dyn Fn(Notice<'_>)) -> Result<Self, ReplaceError> {
        let is_locked = Cell::new(true);
        let notify = |notice: Notice<'_>| {
            is_locked.set(is_locked.get() && !matches!(notice, Notice::NotLocked(_)));
            notify(notice);
        };
        let wait = Wait::new(at_most, &notify);
        loop {
            let target = fs::canonicalize(path)?;
            refuse_irregular(&fs::metadata(&target)?)?;
            is_locked.set(true);
            if let Some(file) = lock_current(&target, &wait)? {
                remove_left_overs(&target);
                return Ok(Self { target, file, is_locked: is_locked.get() });
            }
        }
    }

    /// The file, to be read.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Prepares to put another file in the place of this one.
    pub fn into_replacement(self) -> Result<Replacement, ReplaceError> {
        Replacement::of_locked(self.target, self.file)
    }

    /// Opens the file to append to it. `None` where it has to be replaced instead: it can't be locked or written to, the
    /// system is not known to append as is needed, or the file has other names, which are to keep what they name.
    #[must_use]
    pub fn appendable(&self) -> Option<Appendable<'_>> {
        let file = self.is_locked.then(|| system::open_to_append(&self.target, &self.file))??;
        Some(Appendable { locked: self, file })
    }
}

impl Appendable<'_> {
    /// Appends to a file of `size` bytes, in two steps: when the second is written, the first is on disk. When this returns, both
    /// are. Where it fails otherwise than with [`NotDurable`](ReplaceError::NotDurable), a part of one of them may have been
    /// appended, and stays.
    pub fn append(self, size: u64, first: &[u8], second: &[u8]) -> Result<(), ReplaceError> {
        let Self { locked, mut file } = self;
        if !system::names(&locked.target, &file)? || file.metadata()?.len() != size {
            return Err(ReplaceError::Changed);
        }
        if !first.is_empty() {
            file.write_all(first)?;
            file.sync_data()?;
        }
        file.write_all(second)?;
        file.sync_data().map_err(ReplaceError::NotDurable)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    fn locked(path: &Path) -> LockedFile {
        LockedFile::within(path, Some(Duration::ZERO), &|_| {}).expect("nobody holds the lock")
    }

    #[test]
    fn what_is_appended_is_behind_what_was_there_in_one_file() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("file");
        fs::write(&path, "old").expect("writable");
        let number = fs::metadata(&path).expect("a file").ino();
        let file = locked(&path);
        file.appendable().expect("nothing prevents it").append(3, b" and", b" new").expect("no obstacle");
        assert!(LockedFile::within(&path, Some(Duration::ZERO), &|_| {}).is_err(), "it is locked still");
        let wrong_size = file.appendable().expect("nothing prevents it").append(3, b"", b"");
        assert!(matches!(wrong_size, Err(ReplaceError::Changed)));
        drop(file);
        assert_eq!(fs::read(&path).expect("readable"), b"old and new");
        assert_eq!(fs::metadata(&path).expect("a file").ino(), number);
    }

    #[test]
    fn a_file_with_two_names_or_one_that_may_not_be_written_to_is_replaced() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, other) = (directory.path().join("file"), directory.path().join("other"));
        fs::write(&path, "old").expect("writable");
        fs::hard_link(&path, &other).expect("the file system has links");
        assert!(locked(&path).appendable().is_none());
        fs::remove_file(&other).expect("it is there");
        assert!(locked(&path).appendable().is_some());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("ours");
        assert!(locked(&path).appendable().is_none(), "also for root");
    }

    #[test]
    fn a_file_that_was_replaced_without_the_lock_is_left_alone() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, other) = (directory.path().join("file"), directory.path().join("other"));
        fs::write(&path, "old").expect("writable");
        let file = locked(&path);
        let appendable = file.appendable().expect("nothing prevents it");
        fs::write(&other, "new").expect("writable");
        fs::rename(&other, &path).expect("one directory");
        assert!(matches!(appendable.append(3, b"", b" more"), Err(ReplaceError::Changed)));
        assert!(file.appendable().is_none());
        assert_eq!(fs::read(&path).expect("readable"), b"new");
    }
}
