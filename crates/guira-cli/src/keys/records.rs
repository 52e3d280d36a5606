use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::ops::ControlFlow;

use bstr::{BStr, ByteSlice};

use super::block::Block;
use super::csv::CsvRows;
use super::form::{FieldChoice, Fields, KeyForm, KeyPart, RecordEnd, Separator};
use super::json::JsonRows;
use super::memory;
use crate::failure::Failure;

/// Enough to be shared between threads.
pub(super) const BLOCK_SIZE: usize = 1 << 20;

/// Calls `take` with blocks of whole records as they arrive, of about so many bytes at most. Only the last block may end without the end of a record. A record
/// that was cut off by an error is dropped.
pub(crate) fn for_each_block(
    source: impl Read,
    form: &KeyForm,
    block_size: usize,
    explain: impl Fn(&io::Error) -> Failure,
    mut take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    let mut reader = BufReader::with_capacity(block_size, source);
    let KeyPart::Named { names, separator, csv } = &form.part else {
        return for_each_block_of(reader, form, 0, explain, take);
    };
    let delimiter = if let (true, Separator::Byte(delimiter)) = (csv, separator) { Some(*delimiter) } else { None };
    let header = read_header(&mut reader, form.end, delimiter).map_err(|error| explain(&error))?;
    if header.is_empty() {
        return Ok(ControlFlow::Continue(()));
    }
    let part = named_fields(&header, names, *separator, *csv, form.end).map_err(|error| explain(&error))?;
    let form = KeyForm { end: form.end, part };
    let block = Block::of_header(&header);
    let lines = block.lines_between(0, header.len());
    if take(&block)?.is_break() {
        return Ok(ControlFlow::Break(()));
    }
    for_each_block_of(reader, &form, lines, explain, take)
}

fn for_each_block_of(
    reader: impl BufRead,
    form: &KeyForm,
    lines: u64,
    explain: impl Fn(&io::Error) -> Failure,
    mut take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    match &form.part {
        KeyPart::CsvFields(Fields { choice, separator: Separator::Byte(delimiter) }) => {
            let rows = CsvRows::new(form.end, *delimiter, choice.clone(), lines);
            for_each_block_of_rows(reader, rows, explain, take)
        }
        KeyPart::Json(paths) => {
            let mut rows = JsonRows::new(form.end, paths);
            for_each_run_of_records(reader, form.end, &explain, |bytes| {
                take(&rows.block(bytes).map_err(|error| explain(&error))?)
            })
        }
        _ => for_each_run_of_records(reader, form.end, explain, |bytes| take(&Block::of_records(bytes, form))),
    }
}

/// Calls `take` with the bytes of whole records as they arrive.
fn for_each_run_of_records(
    reader: impl BufRead,
    end: RecordEnd,
    explain: impl Fn(&io::Error) -> Failure,
    mut take: impl FnMut(&[u8]) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    let end_byte = end.byte();
    // A record whose end has not been read yet.
    let mut begun = Vec::new();
    for_each_piece(reader, &explain, |piece| {
        let Some(mut rest) = piece else {
            return if begun.is_empty() { Ok(ControlFlow::Continue(())) } else { take(&begun) };
        };
        if !begun.is_empty()
            && let Some(end) = rest.find_byte(end_byte)
        {
            memory::extend(&mut begun, &rest[..=end]).map_err(|error| explain(&error))?;
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
        memory::extend(&mut begun, rest).map_err(|error| explain(&error))?;
        Ok(ControlFlow::Continue(()))
    })
}

/// Where in a record of CSV a byte is.
#[derive(Clone, Copy, PartialEq)]
enum InCsv {
    /// At the start of a field, where alone a quote opens one.
    Start,
    Plain,
    /// Within quotes, where the end of a line does not end the record.
    Quoted,
    /// Behind a quote within quotes: it closes the field unless a second one follows.
    Closing,
}

impl InCsv {
    const fn after(self, byte: u8, delimiter: u8) -> Self {
        match (self, byte) {
            (Self::Start | Self::Closing, b'"') => Self::Quoted,
            (Self::Quoted, b'"') => Self::Closing,
            (Self::Quoted, _) => Self::Quoted,
            (_, byte) if byte == delimiter => Self::Start,
            _ => Self::Plain,
        }
    }
}

/// Reads the first record, with its end; of CSV if a delimiter is given.
fn read_header(reader: &mut impl BufRead, end: RecordEnd, delimiter: Option<u8>) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    let mut at = InCsv::Start;
    loop {
        let piece = match reader.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = piece.iter().position(|&byte| {
            let is_end = byte == end.byte() && at != InCsv::Quoted;
            at = delimiter.map_or(at, |delimiter| at.after(byte, delimiter));
            is_end
        });
        let size = end.map_or(piece.len(), |end| end + 1);
        memory::extend(&mut header, &piece[..size])?;
        reader.consume(size);
        if end.is_some() || size == 0 {
            return Ok(header);
        }
    }
}

/// Finds the fields of a header with these names.
pub(super) fn named_fields(
    header: &[u8],
    names: &[String],
    separator: Separator,
    csv: bool,
    end: RecordEnd,
) -> io::Result<KeyPart> {
    let all = Fields { choice: FieldChoice::All, separator };
    let mut found: Vec<Vec<u8>> = Vec::new();
    if let (true, Separator::Byte(delimiter)) = (csv, separator) {
        let mut rows = CsvRows::new(end, delimiter, FieldChoice::All, 0);
        rows.push(header)?;
        rows.finish()?;
        rows.take(|block| block.for_each_key(|name, _| found.extend(name.map(<[u8]>::to_vec))));
    } else {
        all.for_each(end.strip(header), |name| found.push(name.to_vec()));
    }
    let index_of = |name: &String| {
        found.iter().position(|other| other == name.as_bytes()).ok_or_else(|| {
            let found: Vec<String> = found.iter().map(|name| format!("{:?}", BStr::new(name))).collect();
            io::Error::other(format!(
                "no field has the name {name:?} in the first line, which has {}",
                found.join(", ")
            ))
        })
    };
    let choice = FieldChoice::listed(names.iter().map(index_of).collect::<io::Result<_>>()?);
    let fields = Fields { choice, separator };
    Ok(if csv { KeyPart::CsvFields(fields) } else { KeyPart::Fields(fields) })
}

fn for_each_block_of_rows(
    reader: impl BufRead,
    mut rows: CsvRows,
    explain: impl Fn(&io::Error) -> Failure,
    mut take: impl FnMut(&Block<'_>) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    for_each_piece(reader, &explain, |piece| {
        let parsed = match piece {
            Some(bytes) => rows.push(bytes),
            None => rows.finish(),
        };
        parsed.map_err(|error| explain(&error))?;
        rows.take(&mut take).unwrap_or(Ok(ControlFlow::Continue(())))
    })
}

/// Calls `take` with each piece that arrives, and with an empty one at the end.
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
