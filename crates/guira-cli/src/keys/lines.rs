//! A key is a line without its line feed, or its carriage return and line feed: any bytes, of any length. A last line
//! needs no line feed.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::ops::ControlFlow;

use bstr::ByteSlice;

use crate::failure::Failure;

const BLOCK_SIZE: usize = 1 << 20;

/// Calls `take` with one block of whole lines after the other, as they arrive. Only the last block may end without a
/// line feed.
pub(crate) fn for_each_block(
    source: impl Read,
    explain: impl Fn(&io::Error) -> Failure,
    mut take: impl FnMut(&[u8]) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    let mut reader = BufReader::with_capacity(BLOCK_SIZE, source);
    // A line whose end has not been read yet.
    let mut begun = Vec::new();
    loop {
        let mut rest = match reader.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(explain(&error)),
        };
        let read = rest.len();
        if read == 0 {
            return if begun.is_empty() { Ok(ControlFlow::Continue(())) } else { take(&begun) };
        }
        if !begun.is_empty()
            && let Some(end) = rest.find_byte(b'\n')
        {
            begun.extend_from_slice(&rest[..=end]);
            rest = &rest[end + 1..];
            if take(&begun)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            begun.clear();
        }
        if let Some(end) = rest.rfind_byte(b'\n') {
            if take(&rest[..=end])?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            rest = &rest[end + 1..];
        }
        begun.extend_from_slice(rest);
        reader.consume(read);
    }
}

/// Calls `take` with the key of each line of a block, and where in the block the line ends.
#[inline]
pub(crate) fn for_each_key_of_block<'block>(block: &'block [u8], mut take: impl FnMut(&'block [u8], usize)) {
    let mut start = 0;
    while start < block.len() {
        let rest = &block[start..];
        let (key, length) = match rest.find_byte(b'\n') {
            Some(end) => (rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]), end + 1),
            None => (rest, rest.len()),
        };
        start += length;
        take(key, start);
    }
}
