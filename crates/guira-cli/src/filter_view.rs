//! Filters that are only asked: where they stand in a file, they are asked there.

use std::fs;
use std::path::Path;

use guira::{CuckooFilterView, LoadError};

use crate::failure::Failure;
use crate::filter_bytes;
use crate::keys::Normalization;
use crate::provenance::Provenance;
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
    ask: impl FnOnce(&CuckooFilterView<'_>, Normalization) -> Result<T, Failure>,
) -> Result<T, Failure> {
    ask_all(&[path], key, trust, |views, normalization| ask(&views[0], normalization))
}

/// Asks several filters. Where there is more than one, the key is for those that have one.
pub(crate) fn ask_all<T>(
    paths: &[impl AsRef<Path>],
    key: Option<SecretKey>,
    trust: Trust,
    ask: impl FnOnce(&[CuckooFilterView<'_>], Normalization) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let explain = |path: &Path, error: LoadError| Failure::of_loading(path, &error);
    let open = |path: &Path| match Opened::new(path, key) {
        Err(LoadError::KeyNotUsed) if paths.len() > 1 => Opened::new(path, None),
        opened => opened,
    };
    let mut opened = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        opened.push(open(path).map_err(|error| explain(path, error))?);
    }
    let normalization = opened.first().map(|opened| opened.normalization).unwrap_or_default();
    if let Some(unlike) = opened.iter().position(|opened| opened.normalization != normalization) {
        let text =
            "keys are not treated as in the first filter, by --lowercase or --trim: check the filters one by one";
        return Err(Failure::of_file(paths[unlike].as_ref(), text));
    }
    let mut views = Vec::new();
    for (path, opened) in paths.iter().map(AsRef::as_ref).zip(&opened) {
        let view = opened.view().map_err(|error| explain(path, error))?;
        if trust == Trust::Verified {
            view.verify_checksum().map_err(|error| explain(path, error))?;
        }
        views.push(view);
    }
    ask(&views, normalization)
}

/// A filter that can be asked, and what is done to keys before.
struct Opened {
    bytes: Bytes,
    normalization: Normalization,
}

enum Bytes {
    Mapped(Box<CuckooFilterView<'static>>),
    /// What comes through a pipe, or is compressed, is nowhere else.
    Read(Vec<u8>, Option<SecretKey>),
}

impl Opened {
    fn new(path: &Path, key: Option<SecretKey>) -> Result<Self, LoadError> {
        if fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) && filter_bytes::is_uncompressed(path) {
            let bytes = Bytes::Mapped(Box::new(map(path, key)?));
            return Ok(Self { bytes, normalization: Provenance::of_file(path)?.normalization });
        }
        let (header, bytes) = filter_bytes::read(path)?;
        header.hasher(key.map(SecretKey::bytes))?;
        header.check_file_size(bytes.len() as u64)?;
        let normalization = Provenance::of_file_bytes(&header, &bytes)?.normalization;
        Ok(Self { bytes: Bytes::Read(bytes, key), normalization })
    }

    fn view(&self) -> Result<CuckooFilterView<'_>, LoadError> {
        match &self.bytes {
            Bytes::Mapped(view) => Ok((**view).clone()),
            Bytes::Read(bytes, Some(key)) => CuckooFilterView::with_key(bytes, key.bytes()),
            Bytes::Read(bytes, None) => CuckooFilterView::new(bytes),
        }
    }
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
