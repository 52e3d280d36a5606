//! Bytes, to what was in memory.

use alloc::vec::Vec;

use super::Header;
use super::check::check_bytes;
use super::contents::Contents;
use super::header::{HEADER_SIZE, check_file_size, table_of};
use crate::counting::CountingCuckooFilter;
use crate::digest::KeyHasher;
use crate::error::LoadError;
use crate::filter::CuckooFilter;
use crate::growing::GrowingCuckooFilter;
use crate::map::{CuckooMap, Value};
use crate::set::CuckooSet;
use crate::table::Storage;

macro_rules! can_be_loaded {
    ([$($generic:tt)*] $type:ty) => {
        impl<$($generic)*> $type {
            /// What [`to_bytes`](Self::to_bytes) turned into these bytes.
            ///
            /// # Errors
            ///
            /// A [`LoadError`] where the bytes are anything else: every byte is covered by a checksum, and every number is
            /// checked. Nothing is allocated before that but for the table itself.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
                load_from_slice(bytes, None)
            }

            /// The same where keys are hashed with a secret key, which no file holds.
            ///
            /// # Errors
            ///
            /// Those of [`from_bytes`](Self::from_bytes); [`LoadError::KeyDiffers`] where the file has another key.
            pub fn from_bytes_with_key(bytes: &[u8], key: [u8; 16]) -> Result<Self, LoadError> {
                load_from_slice(bytes, Some(key))
            }

            /// The same from the two parts that [`header_bytes`](Self::header_bytes) and
            /// [`table_bytes`](Self::table_bytes) give. The table stays where it is; nothing is copied.
            ///
            /// # Errors
            ///
            /// Those of [`from_bytes`](Self::from_bytes).
            pub fn from_header_and_table(header: &[u8], table: Vec<u8>) -> Result<Self, LoadError> {
                load_from_parts(header, table)
            }

            /// Reads what [`write_to`](Self::write_to) wrote, to the end of the stream.
            ///
            /// # Errors
            ///
            /// [`LoadError::Io`] where reading fails, and those of [`from_bytes`](Self::from_bytes). However large a table
            /// the header promises, memory is only taken for bytes that came, and 16 MiB more at the most.
            #[cfg(feature = "std")]
            pub fn read_from<R: std::io::Read>(reader: R) -> Result<Self, LoadError> {
                load_from_stream(reader, None)
            }

            /// The same where keys are hashed with a secret key, which no file holds.
            ///
            /// # Errors
            ///
            /// Those of [`read_from`](Self::read_from); [`LoadError::KeyDiffers`] where the file has another key.
            #[cfg(feature = "std")]
            pub fn read_from_with_key<R: std::io::Read>(reader: R, key: [u8; 16]) -> Result<Self, LoadError> {
                load_from_stream(reader, Some(key))
            }
        }
    };
}

can_be_loaded!([] CuckooFilter);
can_be_loaded!([] CuckooSet);
can_be_loaded!([] GrowingCuckooFilter);
can_be_loaded!([] CountingCuckooFilter);
can_be_loaded!([V: Value] CuckooMap<V>);

pub(super) fn load_from_slice<C: Contents>(bytes: &[u8], key: Option<[u8; 16]>) -> Result<C, LoadError> {
    let header = Header::decode(bytes)?.of_kind(C::KIND)?;
    let hasher = header.hash.hasher(key)?;
    let table = table_of(bytes, &header)?;
    let storage = Storage::copied_from(table).map_err(|_| LoadError::OutOfMemory { bytes: header.table_size() })?;
    checked(&header, hasher, storage)
}

fn load_from_parts<C: Contents>(bytes: &[u8], table: Vec<u8>) -> Result<C, LoadError> {
    let header = Header::decode(bytes)?.of_kind(C::KIND)?;
    let hasher = header.hash.hasher(None)?;
    if bytes.len() > HEADER_SIZE {
        return Err(LoadError::TrailingBytes { expected: header.file_size() });
    }
    check_file_size(&header, u64::try_from(bytes.len().saturating_add(table.len())).unwrap_or(u64::MAX))?;
    checked(&header, hasher, Storage::from_vec(table))
}

#[cfg(feature = "std")]
fn load_from_stream<C: Contents, R: std::io::Read>(mut reader: R, key: Option<[u8; 16]>) -> Result<C, LoadError> {
    use std::io::Read;

    /// How much is asked of the stream, and of the allocator, at a time.
    const CHUNK: u64 = 16 << 20;

    let mut start = Vec::with_capacity(HEADER_SIZE);
    let header_size = u64::try_from(HEADER_SIZE).unwrap_or(u64::MAX);
    reader.by_ref().take(header_size).read_to_end(&mut start)?;
    let header = Header::decode(&start)?.of_kind(C::KIND)?;
    let hasher = header.hash.hasher(key)?;
    let (expected, table_size) = (header.file_size(), header.table_size());
    let out_of_memory = |_| LoadError::OutOfMemory { bytes: table_size };

    let mut table = Vec::new();
    let mut missing = table_size;
    while missing > 0 {
        let chunk = missing.min(CHUNK);
        table.try_reserve_exact(usize::try_from(chunk).unwrap_or(usize::MAX)).map_err(out_of_memory)?;
        let read = reader.by_ref().take(chunk).read_to_end(&mut table)?;
        missing = missing.saturating_sub(u64::try_from(read).unwrap_or(chunk));
        if read == 0 {
            let unread = missing.saturating_add(header.section_size());
            return Err(LoadError::Truncated { expected, found: expected.saturating_sub(unread) });
        }
    }
    let section_size = header.section_size();
    let skipped = std::io::copy(&mut reader.by_ref().take(section_size), &mut std::io::sink())?;
    if skipped < section_size {
        return Err(LoadError::Truncated { expected, found: expected.saturating_sub(section_size - skipped) });
    }
    // Unlike `read`, this does not give up where it is interrupted.
    if reader.take(1).read_to_end(&mut Vec::new())? != 0 {
        return Err(LoadError::TrailingBytes { expected });
    }
    checked(&header, hasher, Storage::from_vec(table))
}

/// The checks that need the table.
fn checked<C: Contents>(header: &Header, hasher: KeyHasher, storage: Storage) -> Result<C, LoadError> {
    check_bytes(&storage, &header.parameters, header.table_checksum)?;
    C::checked(header, hasher, storage, header.len_in_memory()?)
}
