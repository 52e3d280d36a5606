//! The file that takes the place of the old one, and what is left of such files when a process is killed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::TryLockError;
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(unix)]
use std::{thread, time::Duration};

use tempfile::NamedTempFile;

use super::system;

/// Ends the name of every temporary file.
const SUFFIX: &str = ".guira-tmp";
const RANDOM_CHARACTERS: usize = 12;
/// Longer names are cut, so that the name of a temporary file is never longer than a file system allows.
const MAX_BYTES_OF_NAME: usize = 100;

/// The temporary files of this process that have not been renamed.
static CURRENT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn current() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of this process, for a process that is about to end because of a signal. Call it from a
/// thread and not from a signal handler: it takes a lock.
///
/// From now on no temporary file is created or renamed: a thread that tries to waits forever. So nothing is left behind,
/// and no thread reports the loss of its temporary file as an error.
#[cfg(unix)]
pub fn remove_temporary_files() {
    let current = current();
    for path in &*current {
        fs::remove_file(path).ok();
    }
    std::mem::forget(current);
}

/// Removes them where a thread may hold the lock that ends here, so that it is waited for a second at most. Allocates nothing but for
/// long paths. Returns `false` if it could not.
#[cfg(unix)]
pub fn try_remove_temporary_files() -> bool {
    const ATTEMPTS: u32 = 100;
    for _ in 0..ATTEMPTS {
        let current = match CURRENT.try_lock() {
            Ok(current) => current,
            Err(TryLockError::Poisoned(current)) => current.into_inner(),
            // Mostly another thread's, which is about to have made or renamed a file.
            Err(TryLockError::WouldBlock) => {
                thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        for path in &*current {
            fs::remove_file(path).ok();
        }
        std::mem::forget(current);
        return true;
    }
    false
}

/// Who may read a temporary file, by the permissions it is created with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The user who created it.
    Private,
    /// Whoever may read new files, by the umask and the directory's default access control list.
    NewFile,
}

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfExists {
    Replace,
    Fail,
}

/// A temporary file beside a target. It is removed when it is dropped, unless it was renamed. While it is open, it is
/// locked, also under its new name.
pub(crate) struct Temporary(Option<Stage>);

enum Stage {
    Named(NamedTempFile),
    Renamed(File),
}

impl Temporary {
    /// Makes an empty file beside its target, and locks it.
    pub(crate) fn new(target: &Path, access: Access) -> io::Result<Self> {
        /// More are not needed where other writers alone remove the file.
        const MOST_ATTEMPTS: usize = 100;
        for _ in 0..MOST_ATTEMPTS {
            let mut builder = tempfile::Builder::new();
            let prefix = prefix(target);
            builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM_CHARACTERS);
            let mut current = current();
            let file = system::create(&builder, directory(target), access)?;
            current.insert(file.path().to_owned());
            drop(current);
            let temporary = Self(Some(Stage::Named(file)));
            // Where files can't be locked, other writers leave all temporary files alone.
            system::lock(temporary.file()?).ok();
            // Before the lock was taken, another writer may have removed the file as a left-over.
            if temporary.is_in_place()? {
                return Ok(temporary);
            }
        }
        Err(io::Error::other("a temporary file is not found where it was just made"))
    }

    pub(crate) fn file(&self) -> io::Result<&File> {
        match &self.0 {
            Some(Stage::Named(file)) => Ok(file.as_file()),
            Some(Stage::Renamed(file)) => Ok(file),
            // Only while it is renamed.
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn is_in_place(&self) -> io::Result<bool> {
        match &self.0 {
            Some(Stage::Named(file)) => system::names(file.path(), file.as_file()),
            _ => Ok(false),
        }
    }

    /// Renames it to the target. It stays open, and locked.
    pub(crate) fn rename(&mut self, target: &Path, if_exists: IfExists) -> io::Result<()> {
        let mut current = current();
        let Some(Stage::Named(file)) = self.0.take() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let path = file.path().to_owned();
        let renamed = match if_exists {
            IfExists::Replace => file.persist(target),
            IfExists::Fail => file.persist_noclobber(target).or_else(|error| {
                // Where a file system has neither such a rename nor links, another writer could come between these two.
                let is_impossible = system::has_no_links(&error.error) && matches!(target.try_exists(), Ok(false));
                if is_impossible { error.file.persist(target) } else { Err(error) }
            }),
        };
        match renamed {
            Ok(file) => {
                current.remove(&path);
                self.0 = Some(Stage::Renamed(file));
                Ok(())
            }
            Err(error) => {
                self.0 = Some(Stage::Named(error.file));
                Err(error.error)
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(Stage::Named(file)) = self.0.take() {
            // The lock is held until the file is removed, so that a signal finds it either listed or gone.
            let mut current = current();
            current.remove(file.path());
            drop(file);
        }
    }
}

/// Removes the temporary files that killed processes have left beside a target. What can't be read or locked is left
/// alone.
pub(crate) fn remove_left_overs(target: &Path) {
    let prefix = prefix(target);
    for name in system::names_in(directory(target), |name| is_temporary(name, &prefix)) {
        let path = directory(target).join(name);
        if let Ok(file) = system::open_left_over(&path)
            && system::try_lock(&file).is_ok_and(|is_locked| is_locked)
            // Before the lock was taken, its writer may have renamed it.
            && system::names(&path, &file).is_ok_and(|is_same| is_same)
        {
            fs::remove_file(path).ok();
        }
    }
}

/// How the names of a target's temporary files begin.
fn prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let start = name.char_indices().take_while(|(index, character)| index + character.len_utf8() <= MAX_BYTES_OF_NAME);
    format!(".{}.", start.map(|(_, character)| character).collect::<String>())
}

fn is_temporary(name: &OsStr, prefix: &str) -> bool {
    let name = name.as_encoded_bytes();
    name.strip_prefix(prefix.as_bytes())
        .and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()))
        .is_some_and(|random| random.len() == RANDOM_CHARACTERS && random.iter().all(u8::is_ascii_alphanumeric))
}

pub(crate) fn directory(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn names_of_temporary_files_are_told_from_others() {
        let prefix = prefix(Path::new("a/set.guira"));
        assert!(is_temporary(OsStr::new(".set.guira.aB3defghijkl.guira-tmp"), &prefix));
        for other in [".set.guira.aB3defghijk.guira-tmp", ".set.guir.aB3defghijkl.guira-tmp", ".set.guira.aB3defghijkl"]
        {
            assert!(!is_temporary(OsStr::new(other), &prefix), "{other}");
        }
    }

    #[test]
    fn an_error_of_the_system_has_its_number() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let error =
            Temporary::new(&directory.path().join("missing/file"), Access::Private).err().expect("no directory");
        assert_eq!(error.raw_os_error(), Some(2));
    }

    #[test]
    fn whoever_removes_left_overs_takes_none_from_a_writer() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let target = directory.path().join("file");
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    remove_left_overs(&target);
                }
            });
            for _ in 0..2000 {
                let temporary = Temporary::new(&target, Access::Private).expect("a writable directory");
                let is_in_place = temporary.is_in_place().expect("a readable directory");
                if !is_in_place {
                    is_done.store(true, Ordering::Relaxed);
                }
                assert!(is_in_place);
            }
            is_done.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 0);
    }
}
