//! Filters that are only queried: memory-mapped if the file is not compressed.

use std::fs::File;
use std::io;
use std::path::Path;

use guira::{CuckooFilterView, FileHeader, LoadError, LoadOptions};
use memmap2::Mmap;

use crate::failure::Failure;
use crate::filter_bytes;
use crate::keys::Normalization;
use crate::provenance::Provenance;
use crate::secret_key::SecretKey;

/// Whether the checksum of a table is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Verified. This reads all of the table once, at the speed of memory or disk. A damaged table would silently miss keys.
    Verified,
    /// Not verified, so that the first answer comes at once however large the file is.
    Blind,
}

/// Opens a filter, a set or a growing filter, and calls `ask` with it.
pub(crate) fn ask<T>(
    path: &Path,
    key: Option<SecretKey>,
    trust: Trust,
    ask: impl FnOnce(&CuckooFilterView<'_>, Normalization) -> Result<T, Failure>,
) -> Result<T, Failure> {
    ask_all(&[path], key, trust, |views, normalization| ask(&views[0], normalization))
}

/// Opens several filters, and calls `ask` with them. If there is more than one, the key is for those that need one.
pub(crate) fn ask_all<T>(
    paths: &[impl AsRef<Path>],
    key: Option<SecretKey>,
    trust: Trust,
    ask: impl FnOnce(&[CuckooFilterView<'_>], Normalization) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let explain = |path: &Path, error: LoadError| Failure::of_loading(path, &error);
    let mut opened = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let file = File::open(path).map_err(|error| explain(path, error.into()))?;
        opened.push(Opened::new(file).map_err(|error| explain(path, error))?);
    }
    let mut views = Vec::new();
    for (path, opened) in paths.iter().map(AsRef::as_ref).zip(&opened) {
        let view = match opened.view(key) {
            Err(LoadError::KeyNotUsed) if paths.len() > 1 => opened.view(None),
            view => view,
        };
        views.push(view.map_err(|error| explain(path, error))?);
    }
    let normalization = opened.first().map(|opened| opened.normalization).unwrap_or_default();
    if let Some(unlike) = opened.iter().position(|opened| opened.normalization != normalization) {
        let text =
            "keys are not treated as in the first filter, by --lowercase or --trim: check the filters one by one";
        return Err(Failure::of_file(paths[unlike].as_ref(), text));
    }
    if trust == Trust::Verified {
        for (path, view) in paths.iter().map(AsRef::as_ref).zip(&views) {
            view.verify_checksum().map_err(|error| explain(path, error))?;
        }
    }
    ask(&views, normalization)
}

/// A filter file's bytes, and what is done to keys before they are hashed.
///
/// Everything is read from one open file: the path may be replaced at any time, and the table of one file with the notes of
/// another would miss keys.
struct Opened {
    bytes: Bytes,
    normalization: Normalization,
}

enum Bytes {
    Mapped(Mmap),
    /// Bytes from a pipe or a compressed file, which can't be mapped.
    Read(Vec<u8>),
}

impl Opened {
    fn new(file: File) -> Result<Self, LoadError> {
        let (header, bytes) = if file.metadata()?.is_file() {
            let mapped = map(&file)?;
            if filter_bytes::is_uncompressed(&mapped) {
                (FileHeader::of_bytes(&mapped)?, Bytes::Mapped(mapped))
            } else {
                let (header, bytes) = filter_bytes::read(&*mapped)?;
                (header, Bytes::Read(bytes))
            }
        } else {
            let (header, bytes) = filter_bytes::read(file)?;
            (header, Bytes::Read(bytes))
        };
        // If the size is wrong, the view reports that.
        let is_whole = bytes.as_slice().len() as u64 == header.file_size();
        let provenance =
            if is_whole { Provenance::of_file_bytes(&header, bytes.as_slice())? } else { Provenance::default() };
        let normalization = provenance.normalization;
        Ok(Self { bytes, normalization })
    }

    fn view(&self, key: Option<SecretKey>) -> Result<CuckooFilterView<'_>, LoadError> {
        match key {
            Some(key) => LoadOptions::new().key(key.bytes()).view(self.bytes.as_slice()),
            None => CuckooFilterView::new(self.bytes.as_slice()),
        }
    }
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Read(bytes) => bytes,
        }
    }
}

#[expect(unsafe_code, reason = "that others leave a file alone can be asked of them, and not be seen to")]
fn map(file: &File) -> io::Result<Mmap> {
    // This program never writes into a filter file: it replaces the file, and the old one stays unchanged while it is mapped.
    // The help of `check` asks the same of other programs.
    // SAFETY: hence nobody changes the file while it is mapped, as far as can be known here.
    unsafe { Mmap::map(file) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use guira::CuckooFilter;
    use guira::raw::RawFilter as _;

    use super::*;

    /// The file of a filter with one key, and with notes that say whether keys are made lower case.
    fn file_of(key: &str, lowercase: bool) -> Vec<u8> {
        let mut filter = CuckooFilter::with_capacity(10, 1e-9).expect("valid");
        filter.insert(key).expect("room");
        let normalization = Normalization { lowercase, trim: false };
        let (mut header, table) = filter.header_and_table();
        let section = Provenance { normalization, ..Provenance::default() }.write_into(&mut header).expect("memory");
        [&header[..], &table, &section].concat()
    }

    #[test]
    fn a_file_that_is_replaced_once_it_is_open_is_no_part_of_the_answer() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, other) = (directory.path().join("set.guira"), directory.path().join("other.guira"));
        for lowercase in [false, true] {
            fs::write(&path, file_of("Ani", lowercase)).expect("writable");
            let file = File::open(&path).expect("readable");
            fs::write(&other, file_of("koel", !lowercase)).expect("writable");
            fs::rename(&other, &path).expect("the same directory");

            let opened = Opened::new(file).expect("whole");
            assert_eq!(opened.normalization.lowercase, lowercase);
            let view = opened.view(None).expect("whole");
            assert!(view.contains("Ani") && !view.contains("koel"));
        }
    }
}
