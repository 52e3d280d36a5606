//! Filters that are only asked: where they stand in a file, they are asked there.

use std::fs;
use std::path::Path;

use guira::{CuckooFilterView, LoadError};

use crate::failure::Failure;
use crate::filter_file;
use crate::secret_key::SecretKey;

/// Whether a table is believed to be what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Its checksum says so. For that all of it is read once, at the speed of memory or of the disk; a damaged table would
    /// miss keys that are in the set, and nobody would know.
    Verified,
    /// Without a look, so that the first answer comes at once however large the file is.
    Blind,
}

/// Asks a filter, a set or a growing filter.
pub(crate) fn ask<T>(
    path: &Path,
    key: Option<SecretKey>,
    trust: Trust,
    ask: impl FnOnce(&CuckooFilterView<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let explain = |error: LoadError| Failure::of_loading(path, &error);
    let verify = |view: &CuckooFilterView<'_>| match trust {
        Trust::Verified => view.verify_checksum().map_err(explain),
        Trust::Blind => Ok(()),
    };
    if fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        let view = map(path, key).map_err(explain)?;
        verify(&view)?;
        return ask(&view);
    }
    // What comes through a pipe is nowhere else.
    let (_, bytes) = filter_file::read_bytes(path).map_err(explain)?;
    let view = match key {
        Some(key) => CuckooFilterView::with_key(&bytes, key.bytes()),
        None => CuckooFilterView::new(&bytes),
    };
    let view = view.map_err(explain)?;
    verify(&view)?;
    ask(&view)
}

#[expect(unsafe_code, reason = "that others leave a file alone can be asked of them, and not be seen to")]
fn map(path: &Path, key: Option<SecretKey>) -> Result<CuckooFilterView<'static>, LoadError> {
    // This program never writes into a filter file. It puts a new one in its place, and the old one stays as it is for as
    // long as it is mapped. The help of `check` asks the same of whoever else writes to it.
    match key {
        // SAFETY: as far as can be known here, nobody changes the file while it is mapped: see above.
        Some(key) => unsafe { CuckooFilterView::open_with_key(path, key.bytes()) },
        // SAFETY: the same.
        None => unsafe { CuckooFilterView::open(path) },
    }
}
