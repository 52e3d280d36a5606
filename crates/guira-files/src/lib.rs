//! Files that are replaced as a whole, or appended to: durably, and under a lock.
//!
//! Every writer that replaces a file follows one protocol:
//!
//! 1. Open the file, lock it exclusively, and check that the path still names the locked file. If another writer has
//!    replaced it in between, open the new one. A writer whose new content depends on the old one does this before it
//!    reads; a writer whose content doesn't does it before step 4.
//! 2. Create a temporary file in the same directory, private to the user and locked. Locks of processes that have ended
//!    are released by the system, so a temporary file without a lock is a left-over and is removed.
//! 3. Write the new content to the temporary file.
//! 4. Give it the owner, group and permissions of the old file, flush it to disk, and rename it to the path. Where there
//!    is no old file, the rename fails if one has appeared; on file systems without links that is looked at just before.
//! 5. Flush the directory to disk, where the file system can. Only then are both locks released: that of the old file, for which other writers wait,
//!    and that of the new one.
//!
//! Readers take no lock: whoever opens the path gets either the old file or the new one, and both are complete.
//!
//! A writer that appends to a file locks it as in step 1, and flushes what it appended before it releases the lock. Bytes
//! that are there never change, and a file is never cut off: whoever has it mapped is not disturbed. So the content must tell
//! what was appended as a whole from what was not.
//!
//! ```
//! use std::io::Write;
//!
//! use guira_files::Replacement;
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("set");
//! let replacement = Replacement::of_any(&path)?;
//! replacement.commit(|mut file| file.write_all(b"new"), &|_notice| {})?;
//! assert_eq!(std::fs::read(&path)?, b"new");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod locked;
mod replacement;
#[cfg(not(unix))]
#[path = "portable.rs"]
mod system;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;
mod temporary;

pub use error::ReplaceError;
pub use locked::{Appendable, LockedFile};
pub use replacement::{Notice, Replacement};
#[cfg(unix)]
pub use temporary::{remove_temporary_files, try_remove_temporary_files};
