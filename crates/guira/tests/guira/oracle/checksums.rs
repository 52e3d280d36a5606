//! What makes changed bytes look whole.

use xxhash_rust::xxh3::xxh3_64;

pub(crate) const HEADER_LEN: usize = 128;

/// Computes both checksums of a file again, as who wants to do harm would.
pub(crate) fn fix_checksums(bytes: &mut [u8]) {
    if bytes.len() >= HEADER_LEN {
        // Behind the table there may be chunks, which have checksums of their own.
        let size = u64::from_le_bytes(bytes[56..64].try_into().expect("eight bytes"));
        let behind = &bytes[HEADER_LEN..];
        let table = xxh3_64(usize::try_from(size).ok().and_then(|size| behind.get(..size)).unwrap_or(behind));
        bytes[112..120].copy_from_slice(&table.to_le_bytes());
        let header = xxh3_64(&bytes[..120]);
        bytes[120..128].copy_from_slice(&header.to_le_bytes());
    }
}
