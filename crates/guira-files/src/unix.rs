//! Locks, identity and attributes of files on Unix.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Dir, FlockOperation, Mode, OFlags, flock};
use rustix::io::{Errno, retry_on_intr};
use tempfile::{Builder, NamedTempFile};

use super::replacement::Notice;
use super::temporary::Access;

/// Creates a temporary file in a directory.
// The builder's own way leaves the number of an error out.
pub(crate) fn create(builder: &Builder<'_, '_>, directory: &Path, access: Access) -> io::Result<NamedTempFile> {
    let mode = match access {
        Access::Private => 0o600,
        Access::NewFile => 0o666,
    };
    builder.make_in(directory, |path| OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path))
}

/// A directory that can be flushed to disk. Without that, a power failure may bring back the old name of a file.
pub(crate) struct Directory(File);

impl Directory {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        match self.0.sync_all() {
            // File systems that can't flush a directory, as some of networks and of FUSE.
            Err(error)
                if matches!(Errno::from_io_error(&error), Some(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS)) =>
            {
                Ok(())
            }
            result => result,
        }
    }
}

/// Returns `true` if this error of making a link means that a file system has none.
pub(crate) fn has_no_links(error: &io::Error) -> bool {
    // Linux says that it is not permitted.
    matches!(Errno::from_io_error(error), Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS))
}

/// Opens a file and locks it if that is possible. Returns `None` if another process holds the lock beyond the deadline.
pub(crate) fn open_locked(
    path: &Path,
    deadline: Option<Instant>,
    notify: &dyn Fn(Notice<'_>),
) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    let error = match lock_or_wait(&file, deadline, notify) {
        Ok(is_locked) => return Ok(is_locked.then_some(file)),
        Err(error) => error,
    };
    // On NFS only a file that was opened for writing can be locked exclusively.
    if Errno::from_io_error(&error) == Some(Errno::BADF)
        && let Ok(file) = OpenOptions::new().read(true).write(true).open(path)
        && let Ok(is_locked) = lock_or_wait(&file, deadline, notify)
    {
        return Ok(is_locked.then_some(file));
    }
    notify(Notice::NotLocked(&error));
    Ok(Some(file))
}

/// Opens a file that is locked to append to it, unless it has other names, or is not to be written to: a mode says so to root too.
pub(crate) fn open_to_append(path: &Path, locked: &File) -> Option<File> {
    let metadata = locked.metadata().ok()?;
    if metadata.nlink() != 1 || metadata.mode() & 0o222 == 0 {
        return None;
    }
    let file = OpenOptions::new().append(true).open(path).ok()?;
    let opened = file.metadata().ok()?;
    ((opened.dev(), opened.ino()) == (metadata.dev(), metadata.ino())).then_some(file)
}

/// Returns `false` if another process holds the lock beyond the deadline.
fn lock_or_wait(file: &File, deadline: Option<Instant>, notify: &dyn Fn(Notice<'_>)) -> io::Result<bool> {
    /// Between two tries, since a lock can't be waited for with a deadline.
    const PAUSE: Duration = Duration::from_millis(10);

    if try_lock(file)? {
        return Ok(true);
    }
    let is_late = |deadline| Instant::now() >= deadline;
    if deadline.is_some_and(is_late) {
        return Ok(false);
    }
    notify(Notice::Waiting);
    let Some(deadline) = deadline else { return lock(file).map(|()| true) };
    loop {
        thread::sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now())));
        if try_lock(file)? {
            return Ok(true);
        }
        if is_late(deadline) {
            return Ok(false);
        }
    }
}

/// Returns `false` if another process holds the lock.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn lock(file: &File) -> io::Result<()> {
    Ok(retry_on_intr(|| flock(file, FlockOperation::LockExclusive))?)
}

/// The names of files in a directory that are asked for, as far as it can be read.
///
/// Not by `std::fs::read_dir`, which panics if closing the directory fails.
pub(crate) fn names_in(directory: &Path, is_asked_for: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
    let directory = File::open(directory).and_then(|file| Ok(Dir::new(file)?));
    let entries = directory.into_iter().flatten().flatten();
    let names = entries.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    names.filter(|name| is_asked_for(name)).collect()
}

/// Opens what is probably a temporary file that was left behind, but may be anything.
pub(crate) fn open_left_over(path: &Path) -> io::Result<File> {
    // On NFS only a file that was opened for writing can be locked exclusively.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(Errno::INVAL.into()) }
}

/// Returns `true` if the path, which is no symbolic link, names this open file.
pub(crate) fn names(path: &Path, file: &File) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// An old file that may be replaced: it stays open, and locked.
#[expect(clippy::unnecessary_wraps, reason = "other systems have to copy it")]
pub(crate) fn replaceable(old: File) -> io::Result<File> {
    Ok(old)
}

/// Gives a new file the owner, group, permissions and access control list of an old one, as far as the system permits.
/// Where it doesn't, the new file is less accessible, never more.
pub(crate) fn copy_attributes(old: &File, new: &File) -> io::Result<()> {
    let (old_metadata, new_metadata) = (old.metadata()?, new.metadata()?);
    let mode = old_metadata.mode() & 0o777;
    let (owner, group) = (old_metadata.uid(), old_metadata.gid());
    let has_group = new_metadata.gid() == group || fchown(new, None, Some(group)).is_ok();
    let mode = match (copy_access_control_list(old, new), has_group) {
        (AccessControlList::None | AccessControlList::Copied, true) => mode,
        (AccessControlList::None, false) => mode_in_other_group(mode),
        (AccessControlList::Copied, false) | (AccessControlList::Lost, _) => mode & 0o700,
    };
    set_mode(new, mode)?;
    if new_metadata.uid() != owner {
        // Only root may give files away. A file that another user replaces becomes theirs.
        fchown(new, Some(owner), None).ok();
    }
    Ok(())
}

/// The permissions of a file that could not be given its group. Members of the old group are now "others", and members of the
/// new group were: both classes get what both had.
const fn mode_in_other_group(mode: u32) -> u32 {
    let both = (mode >> 3) & mode & 0o7;
    mode & 0o700 | both << 3 | both
}

/// Gives a new file the permissions of an example.
pub(crate) fn copy_permissions(example: &File, new: &File) -> io::Result<()> {
    set_mode(new, example.metadata()?.mode() & 0o777)
}

fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    // File systems without permissions refuse to set them.
    if file.metadata()?.mode() & 0o777 == mode { Ok(()) } else { file.set_permissions(Permissions::from_mode(mode)) }
}

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has lists that are copied"))]
enum AccessControlList {
    /// The old file has none, and now the new one has none.
    None,
    Copied,
    /// The old file may have one, and the new one could not be given it.
    Lost,
}

/// A list restricts what the permissions of the group mean, and a new file may get one from its directory.
#[cfg(target_os = "linux")]
fn copy_access_control_list(old: &File, new: &File) -> AccessControlList {
    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr};
    const NAME: &str = "system.posix_acl_access";
    /// The most that Linux allows.
    const MAX_BYTES: usize = 1 << 16;

    let mut list = vec![0; MAX_BYTES];
    match fgetxattr(old, NAME, &mut list[..]) {
        Ok(size) => match fsetxattr(new, NAME, &list[..size], XattrFlags::empty()) {
            Ok(()) => AccessControlList::Copied,
            Err(_) => AccessControlList::Lost,
        },
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => {
            if fgetxattr(new, NAME, &mut list[..]).is_ok() && fremovexattr(new, NAME).is_err() {
                AccessControlList::Lost
            } else {
                AccessControlList::None
            }
        }
        Err(_) => AccessControlList::Lost,
    }
}

#[cfg(not(target_os = "linux"))]
fn copy_access_control_list(_old: &File, _new: &File) -> AccessControlList {
    AccessControlList::None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_another_group_nobody_may_do_more_than_before() {
        for mode in 0..=0o777 {
            let narrowed = mode_in_other_group(mode);
            let (owner, group, others) = (mode >> 6, mode >> 3 & 7, mode & 7);
            assert_eq!(narrowed >> 6, owner, "{mode:o}");
            // Members of the new group were others, or of the old group too.
            assert_eq!((narrowed >> 3 & 7) & !(group & others), 0, "{mode:o}");
            // Others may have been members of the old group.
            assert_eq!((narrowed & 7) & !(group & others), 0, "{mode:o}");
        }
        assert_eq!([0o640, 0o664, 0o644, 0o604, 0o777].map(mode_in_other_group), [0o600, 0o644, 0o644, 0o600, 0o777]);
    }
}
