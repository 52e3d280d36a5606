//! The bytes of filter files, decompressed if they were compressed as a whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use guira::raw::{Change, Journal};
use guira::{FileHeader, LoadError};

use crate::keys::Compression;

/// Opens a filter file that is only read; "-" is standard input.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if is_standard_input(path) { standard_input() } else { File::open(path) }
}

/// What a filter that is only read is called in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}

pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Standard input as a file of its own, without the buffer of the standard library: it may be mapped, or waited for.
#[cfg(unix)]
pub(crate) fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
pub(crate) fn standard_input() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

/// A filter file's contents, and how it is compressed.
pub(crate) fn decompressed<'file>(file: impl Read + 'file) -> io::Result<(Compression, Box<dyn Read + 'file>)> {
    Compression::of_filter(file)
}

/// Returns `true` if these bytes of a file are not compressed.
pub(crate) fn is_uncompressed(bytes: &[u8]) -> bool {
    decompressed(bytes).is_ok_and(|(compression, _)| compression == Compression::None)
}

/// How many keys a filter holds.
pub(crate) fn key_count(header: &FileHeader, journal: &Journal) -> u64 {
    journal.changes().iter().fold(header.len(), |keys, change| match change {
        Change::Insert(_) => keys.saturating_add(1),
        _ => keys.saturating_sub(1),
    })
}

/// Reads a file, to one byte more than may be in it: that suffices to refuse longer ones.
pub(crate) fn read(file: impl Read) -> Result<(FileHeader, Vec<u8>), LoadError> {
    let (_, mut contents) = decompressed(file)?;
    let mut bytes = Vec::new();
    contents.by_ref().take(FileHeader::MIN_SIZE as u64).read_to_end(&mut bytes)?;
    let header = FileHeader::from_bytes(&bytes)?;
    let most = header.file_size().saturating_add(Journal::max_size(&header));
    let rest = most.saturating_sub(FileHeader::MIN_SIZE as u64);
    contents.take(rest.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((header, bytes))
}
