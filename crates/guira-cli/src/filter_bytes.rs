//! The bytes of filter files, decompressed if they were compressed as a whole.

use std::io::{self, Read};

use guira::{FileHeader, LoadError};

use crate::keys::Compression;

/// A filter file's contents, and how it is compressed.
pub(crate) fn decompressed<'file>(file: impl Read + 'file) -> io::Result<(Compression, Box<dyn Read + 'file>)> {
    Compression::of_filter(file)
}

/// Returns `true` if these bytes of a file are not compressed.
pub(crate) fn is_uncompressed(bytes: &[u8]) -> bool {
    decompressed(bytes).is_ok_and(|(compression, _)| compression == Compression::None)
}

/// Reads a file, to one byte more than its header says: that suffices to refuse longer ones.
pub(crate) fn read(file: impl Read) -> Result<(FileHeader, Vec<u8>), LoadError> {
    let (_, mut contents) = decompressed(file)?;
    let mut bytes = Vec::new();
    contents.by_ref().take(FileHeader::SIZE as u64).read_to_end(&mut bytes)?;
    let header = FileHeader::of_bytes(&bytes)?;
    let rest = header.file_size().saturating_sub(FileHeader::SIZE as u64);
    contents.take(rest.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((header, bytes))
}
