use std::cell::Cell;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::ReplaceError;
use super::locked::LockedFile;
use super::system;
use super::temporary::{Access, IfExists, Temporary, directory, remove_left_overs};

/// What a caller may want to tell its user while a lock is taken.
#[derive(Debug)]
pub enum Notice<'error> {
    /// Another process holds the lock.
    Waiting,
    /// The file could not be locked, for instance because its file system has no locks. The work goes on without.
    NotLocked(&'error io::Error),
}

/// A file that is about to be replaced or created. It stays as it is until [`commit`](Self::commit) succeeds.
pub struct Replacement {
    /// The file behind the path; symbolic links stay as they are.
    target: PathBuf,
    current: Current,
    temporary: Temporary,
    /// How long to wait for the lock during the commit.
    patience: Option<Duration>,
    /// Opened before the work, so that a directory that can't be flushed is an error before anything has changed.
    directory: system::Directory,
}

/// What the path must name when the new file is renamed to it.
enum Current {
    /// This file, which was locked before it was read.
    Locked(File),
    /// Nothing. If a file has appeared, it is not replaced.
    Missing(IfAppeared),
    /// Nothing, or a regular file, which is locked during the commit.
    Any,
}

/// Which error it is if a file has appeared.
#[derive(Clone, Copy)]
enum IfAppeared {
    /// The caller wants to create a file.
    Exists,
    /// The new content may depend on the old, and this file was not read.
    Changed,
}

impl Replacement {
    /// Locks a file, to replace it by content that depends on it. Other writers of the file wait until the replacement is
    /// dropped or committed. The file is to be read through [`file`](Self::file).
    pub fn of_existing(path: &Path, notify: &dyn Fn(Notice<'_>)) -> Result<Self, ReplaceError> {
        Self::of_existing_within(path, None, notify)
    }

    /// The same, where another process is waited for so long at the most, if there is a limit.
    pub fn of_existing_within(
        path: &Path,
        at_most: Option<Duration>,
        notify: &dyn Fn(Notice<'_>),
    ) -> Result<Self, ReplaceError> {
        LockedFile::within(path, at_most, notify)?.into_replacement()
    }

    /// Locks a file if it exists, to replace it by content that may depend on it. Otherwise there must be none when the new
    /// file is committed.
    pub fn of_existing_or_new(path: &Path, notify: &dyn Fn(Notice<'_>)) -> Result<Self, ReplaceError> {
        Self::of_existing_or_new_within(path, None, notify)
    }

    /// The same, where another process is waited for so long at the most, if there is a limit.
    pub fn of_existing_or_new_within(
        path: &Path,
        at_most: Option<Duration>,
        notify: &dyn Fn(Notice<'_>),
    ) -> Result<Self, ReplaceError> {
        if let Some(target) = resolve(path)?
            && let Some(file) = lock_current(&target, &Wait::new(at_most, notify))?
        {
            return Self::new(target, Current::Locked(file));
        }
        Self::new(path.to_owned(), Current::Missing(IfAppeared::Changed))
    }

    /// Prepares a new file. There must be none now, and none when it is committed.
    pub fn of_new(path: &Path) -> Result<Self, ReplaceError> {
        match resolve(path)? {
            Some(_) => Err(ReplaceError::Exists),
            None => Self::new(path.to_owned(), Current::Missing(IfAppeared::Exists)),
        }
    }

    /// Prepares a file that replaces whatever is there when it is committed, and does not depend on it. The lock is held
    /// only during the commit.
    pub fn of_any(path: &Path) -> Result<Self, ReplaceError> {
        let target = resolve(path)?.unwrap_or_else(|| path.to_owned());
        Self::new(target, Current::Any)
    }

    /// Prepares to replace a file that is locked already.
    pub(crate) fn of_locked(target: PathBuf, file: File) -> Result<Self, ReplaceError> {
        Self::beside(target, Current::Locked(file))
    }

    fn new(target: PathBuf, current: Current) -> Result<Self, ReplaceError> {
        remove_left_overs(&target);
        Self::beside(target, current)
    }

    fn beside(target: PathBuf, current: Current) -> Result<Self, ReplaceError> {
        let directory = system::Directory::open(directory(&target))?;
        let temporary = Temporary::new(&target, Access::Private)?;
        Ok(Self { target, current, temporary, patience: None, directory })
    }

    /// Limits how long [`commit`](Self::commit) waits for another process that changes the file.
    #[must_use]
    pub fn waiting_at_most(self, patience: Option<Duration>) -> Self {
        Self { patience, ..self }
    }

    /// The locked file, if there is one.
    #[must_use]
    pub const fn file(&self) -> Option<&File> {
        match &self.current {
            Current::Locked(file) => Some(file),
            Current::Missing(_) | Current::Any => None,
        }
    }

    /// The new file, for what is written before [`commit`](Self::commit).
    pub fn new_file(&self) -> io::Result<&File> {
        self.temporary.file()
    }

    /// Writes the new file and puts it in the place of the old one. When this returns, it is on disk. Returns the file that
    /// was replaced, if there was one; other writers wait until it is closed.
    pub fn commit(
        self,
        write: impl FnOnce(&File) -> io::Result<()>,
        notify: &dyn Fn(Notice<'_>),
    ) -> Result<Option<File>, ReplaceError> {
        let Self { target, current, mut temporary, patience, directory } = self;
        write(temporary.file()?)?;
        let replaced = match current {
            Current::Locked(old) => {
                let Some(old) = replace(old, &target, &mut temporary)? else {
                    return Err(ReplaceError::Changed);
                };
                Some(old)
            }
            Current::Missing(if_appeared) => {
                if !create(&target, &mut temporary)? {
                    return Err(match if_appeared {
                        IfAppeared::Exists => ReplaceError::Exists,
                        IfAppeared::Changed => ReplaceError::Changed,
                    });
                }
                None
            }
            Current::Any => {
                let wait = Wait::new(patience, notify);
                loop {
                    // Each turn after the first means that another writer has finished.
                    if let Some(old) = lock_current(&target, &wait)? {
                        if let Some(old) = replace(old, &target, &mut temporary)? {
                            break Some(old);
                        }
                    } else if create(&target, &mut temporary)? {
                        break None;
                    }
                }
            }
        };
        directory.sync().map_err(ReplaceError::NotDurable)?;
        // Only now is the lock of the new file released, and that of the old one when the caller drops it.
        drop(temporary);
        Ok(replaced)
    }
}

/// How long another process is waited for that holds the lock, and who is told so.
pub(crate) struct Wait<'notify> {
    at_most: Option<Duration>,
    deadline: Option<Instant>,
    notify: &'notify dyn Fn(Notice<'_>),
    /// Whether somebody knows that others are waited for.
    is_told: Cell<bool>,
}

impl<'notify> Wait<'notify> {
    pub(crate) fn new(at_most: Option<Duration>, notify: &'notify dyn Fn(Notice<'_>)) -> Self {
        // A deadline beyond the end of time is none.
        let deadline = at_most.and_then(|at_most| Instant::now().checked_add(at_most));
        Self { at_most, deadline, notify, is_told: Cell::new(false) }
    }

    /// Passes a notice on, but that others are waited for only once, though there may be several of them, one after the other.
    fn tell(&self, notice: Notice<'_>) {
        if !matches!(notice, Notice::Waiting) || !self.is_told.replace(true) {
            (self.notify)(notice);
        }
    }
}

/// The regular file that a path leads to, without symbolic links, or nothing where a file can be created.
fn resolve(path: &Path) -> Result<Option<PathBuf>, ReplaceError> {
    loop {
        match fs::metadata(path) {
            Ok(metadata) => {
                refuse_irregular(&metadata)?;
                return Ok(Some(fs::canonicalize(path)?));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(path) {
                Ok(metadata) if metadata.is_symlink() => return Err(ReplaceError::DanglingLink),
                // The file has appeared between the two calls.
                Ok(_) => {}
                Err(_) => return Ok(None),
            },
            Err(error) => return Err(error.into()),
        }
    }
}

/// Refuses everything but regular files: renaming would replace a device by a file.
pub(crate) fn refuse_irregular(metadata: &Metadata) -> Result<(), ReplaceError> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(ReplaceError::IsDirectory)
    } else {
        Err(ReplaceError::NotRegular)
    }
}

/// Opens and locks the file that a path names, if it names one. It still names that file when this returns.
pub(crate) fn lock_current(target: &Path, wait: &Wait<'_>) -> Result<Option<File>, ReplaceError> {
    loop {
        match fs::symlink_metadata(target) {
            // Anything else could block when it is opened.
            Ok(metadata) if !metadata.is_file() => return Err(ReplaceError::NotRegular),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let file = match system::open_locked(target, wait.deadline, &|notice| wait.tell(notice)) {
            Ok(Some(file)) => file,
            Ok(None) => return Err(ReplaceError::Locked { waited: wait.at_most.unwrap_or_default() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Whoever held the lock may have put another file in the place of this one.
        if system::names(target, &file)? {
            return Ok(Some(file));
        }
    }
}

/// Renames the new file over the locked old one, and returns that. Returns nothing if the path no longer names it.
fn replace(old: File, target: &Path, temporary: &mut Temporary) -> io::Result<Option<File>> {
    let new = temporary.file()?;
    system::copy_attributes(&old, new)?;
    new.sync_all()?;
    if !system::names(target, &old)? {
        return Ok(None);
    }
    let old = system::replaceable(old)?;
    temporary.rename(target, IfExists::Replace)?;
    Ok(Some(old))
}

/// Renames the new file to a path that names none. Returns `false` if it names one by now.
fn create(target: &Path, temporary: &mut Temporary) -> io::Result<bool> {
    // An empty file shows which permissions the umask and the directory give to new files.
    let example = Temporary::new(target, Access::NewFile)?;
    let new = temporary.file()?;
    system::copy_permissions(example.file()?, new)?;
    drop(example);
    new.sync_all()?;
    match temporary.rename(target, IfExists::Fail) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(file: &File) -> u32 {
        file.metadata().expect("an open file").permissions().mode() & 0o777
    }

    #[test]
    fn the_new_file_is_private_until_all_is_written_and_has_the_old_mode_then() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("file");
        for permissions in [0o600, 0o644, 0o444, 0o666] {
            fs::write(&path, "old").expect("writable");
            fs::set_permissions(&path, fs::Permissions::from_mode(permissions)).expect("ours");
            for begin in [|path| Replacement::of_existing(path, &|_| {}), Replacement::of_any] {
                let is_written = Cell::new(false);
                let write = |mut file: &File| {
                    assert_eq!(mode(file), 0o600);
                    file.write_all(b"new")?;
                    assert_eq!(mode(file), 0o600);
                    is_written.set(true);
                    Ok(())
                };
                let replaced = begin(&path).expect("a file").commit(write, &|_| {}).expect("no obstacle");
                assert_eq!((is_written.get(), replaced.map(|file| mode(&file))), (true, Some(permissions)));
                assert_eq!(mode(&File::open(&path).expect("a file")), permissions);
                assert_eq!(fs::read(&path).expect("readable"), b"new");
            }
            fs::remove_file(&path).expect("it is there");
        }
    }

    #[test]
    fn whoever_holds_the_lock_longer_than_others_wait_stops_them() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("file");
        fs::write(&path, "old").expect("writable");
        let holder = Replacement::of_existing(&path, &|_| {}).expect("a file");
        for at_most in [Duration::ZERO, Duration::from_millis(30)] {
            let is_told = Cell::new(false);
            let refused = |result: Result<_, ReplaceError>| match result {
                Err(ReplaceError::Locked { waited }) => waited == at_most,
                _ => false,
            };
            let notify = |notice: Notice<'_>| is_told.set(matches!(notice, Notice::Waiting));
            assert!(refused(Replacement::of_existing_within(&path, Some(at_most), &notify).map(drop)));
            assert_eq!(is_told.get(), !at_most.is_zero());
            assert!(refused(Replacement::of_existing_or_new_within(&path, Some(at_most), &notify).map(drop)));
            let any = Replacement::of_any(&path).expect("a file").waiting_at_most(Some(at_most));
            assert!(refused(any.commit(|mut file| file.write_all(b"new"), &notify).map(drop)));
        }
        drop(holder);
        assert_eq!(fs::read(&path).expect("readable"), b"old");
        assert!(Replacement::of_existing_within(&path, Some(Duration::ZERO), &|_| {}).is_ok());
    }

    #[test]
    fn who_waits_for_several_others_says_so_once() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, next) = (directory.path().join("file"), directory.path().join("next"));
        fs::write(&path, "old").expect("writable");
        fs::write(&next, "new").expect("writable");
        let lock = |path| LockedFile::within(path, None, &|_| {}).expect("nobody else has it");
        let (holder, next_holder, told) = (Cell::new(Some(lock(&path))), Cell::new(None), Cell::new(0));
        // While it waits, the file is replaced by one that somebody else has locked.
        let notify = |_: Notice<'_>| {
            told.set(told.get() + 1);
            if let Some(holder) = holder.take() {
                fs::rename(&next, &path).expect("writable");
                next_holder.set(Some(lock(&path)));
                drop(holder);
            }
        };
        let refused = LockedFile::within(&path, Some(Duration::from_millis(30)), &notify);
        assert!(matches!(refused, Err(ReplaceError::Locked { .. })) && next_holder.take().is_some());
        assert_eq!(told.get(), 1);
    }

    /// The default list of a directory does not replace the list of the old file.
    #[test]
    #[cfg(target_os = "linux")]
    fn an_access_control_list_is_kept_and_none_is_added() {
        use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
        use rustix::io::Errno;

        /// Tags and permissions as the kernel has them; the user 12345 may read, the group may not.
        fn list(user: u16) -> Vec<u8> {
            let any = u32::MAX;
            let entries = [(0x01, 6, any), (0x02, user, 12345), (0x04, 0, any), (0x10, 4, any), (0x20, 0, any)];
            let bytes = |(tag, permissions, id): (u16, u16, u32)| {
                [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
            };
            [&2u32.to_le_bytes()[..], &entries.map(bytes).concat()].concat()
        }
        let get = |path: &Path| {
            let mut list = [0; 1 << 10];
            let size = fgetxattr(File::open(path).expect("a file"), "system.posix_acl_access", &mut list[..])?;
            Ok::<_, Errno>(list[..size].to_vec())
        };
        let set = |path: &Path, name, list: &[u8]| {
            fsetxattr(File::open(path).expect("a file"), name, list, XattrFlags::empty())
        };
        let replace = |path: &Path| {
            let replacement = Replacement::of_existing(path, &|_| {}).expect("a file");
            replacement.commit(|mut file| file.write_all(b"new"), &|_| {}).expect("no obstacle");
        };
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("file");
        fs::write(&path, "old").expect("writable");
        if set(&path, "system.posix_acl_access", &list(4)).is_err() {
            println!("skipped: no access control lists here");
            return;
        }
        replace(&path);
        assert_eq!(get(&path), Ok(list(4)));

        fs::remove_file(&path).expect("it is there");
        fs::write(&path, "old").expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours");
        set(directory.path(), "system.posix_acl_default", &list(6)).expect("as above");
        replace(&path);
        assert_eq!(get(&path), Err(Errno::NODATA));
        assert_eq!(mode(&File::open(&path).expect("a file")), 0o640);
    }
}
