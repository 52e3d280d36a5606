use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::ops::ControlFlow;

use bstr::ByteSlice;

use super::block::Block;
use super::csv::CsvRows;
use super::form::{KeyForm, KeyPart};
use crate::failure::Failure;

const BLOCK_SIZE: usize = 1 << 20;

/// Calls `take` with one block of whole records after the other, as they arrive. Only the last block may end without the
/// end of a record. A record that an error cuts off is no record.
pub(crate) fn for_each_block(
    source: impl Read,
    form: KeyForm,
    explain: impl Fn(&io::Error) -> Failure,
    mut take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    let reader = BufReader::with_capacity(BLOCK_SIZE, source);
    if let KeyPart::CsvField(field) = form.part {
        return for_each_block_of_rows(reader, CsvRows::new(form.end, field), explain, take);
    }
    let end_byte = form.end.byte();
    let mut take = |bytes: &[u8]| take(&Block::of_records(bytes, form));
    // A record whose end has not been read yet.
    let mut begun = Vec::new();
    for_each_piece(reader, explain, |piece| {
        let Some(mut rest) = piece else {
            return if begun.is_empty() { Ok(ControlFlow::Continue(())) } else { take(&begun) };
        };
        if !begun.is_empty()
            && let Some(end) = rest.find_byte(end_byte)
        {
            begun.extend_from_slice(&rest[..=end]);
            rest = &rest[end + 1..];
            if take(&begun)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            begun.clear();
        }
        if let Some(end) = rest.rfind_byte(end_byte) {
            if take(&rest[..=end])?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            rest = &rest[end + 1..];
        }
        begun.extend_from_slice(rest);
        Ok(ControlFlow::Continue(()))
    })
}

fn for_each_block_of_rows(
    reader: impl BufRead,
    mut rows: CsvRows,
    explain: impl Fn(&io::Error) -> Failure,
    mut take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    for_each_piece(reader, explain, |piece| {
        match piece {
            Some(bytes) => rows.push(bytes),
            None => rows.finish(),
        }
        rows.take(&mut take).unwrap_or(Ok(ControlFlow::Continue(())))
    })
}

/// Calls `take` with what arrives, and with nothing at the end.
fn for_each_piece(
    mut reader: impl BufRead,
    explain: impl Fn(&io::Error) -> Failure,
    mut take: impl FnMut(Option<&[u8]>) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    loop {
        let piece = match reader.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(explain(&error)),
        };
        let size = piece.len();
        let flow = take((size > 0).then_some(piece))?;
        if size == 0 || flow.is_break() {
            return Ok(flow);
        }
        reader.consume(size);
    }
}
