//! Reads bytes as an input of the program, in every form that it knows, and compares its records with those of a model
//! that has all of the input at hand and looks at one byte after the other.
//!
//! The first four bytes choose the form, and in what pieces the input comes; the rest is the input.

use std::io::{self, Read};

use guira_cli::keys::{Field, KeyForm, KeyPart, Record, RecordEnd};

/// Longer ones find nothing that these don't.
const MOST_BYTES: usize = 4096;

pub(crate) fn run(data: &[u8]) {
    let Some((&[form, field, delimiter, pace], input)) = data.split_first_chunk() else { return };
    let input = &input[..input.len().min(MOST_BYTES)];
    let form = form_of(form, field, delimiter);
    let (piece_size, threads) = (1 + usize::from(pace & 0x3f), 1 + usize::from(pace >> 6));
    let read = |bytes: &[u8]| Record::all_of(Pieces { rest: bytes, size: piece_size }, form, threads);
    let expected = model(input, form);

    let plain = read(input);
    if starts_like_compressed(input) {
        // What comes of it is the decoder's to say. If anything does, it is an input like others.
        drop(plain);
    } else {
        assert_eq!(plain.expect("nothing can go wrong"), expected, "{form:?}");
    }
    // Parts that were compressed one by one are one input.
    let (first, second) = input.split_at(input.len() / 3);
    for compress in [gzip, zstandard] {
        let compressed = [compress(first), compress(second)].concat();
        assert_eq!(read(&compressed).expect("whole"), expected, "{form:?}");
        for size in [1, 2, 5] {
            let cut_off = &compressed[..compressed.len() - size.min(compress(second).len())];
            assert!(read(cut_off).is_err(), "{form:?}: {size} bytes are missing");
        }
    }
}

/// Every form that the command line can ask for.
fn form_of(form: u8, field: u8, delimiter: u8) -> KeyForm {
    let end = if form & 1 == 0 { RecordEnd::Line } else { RecordEnd::Null };
    // Small numbers more often: long rows are rare.
    let index = usize::from(if field < 0xf0 { field % 4 } else { field });
    let delimiter = match delimiter {
        0 => b',',
        // The command line takes no line end for a delimiter.
        b'\n' | b'\r' => b'\t',
        other => other,
    };
    let field = Field { index, delimiter };
    let part = match form >> 1 & 3 {
        0 => KeyPart::Whole,
        1 => KeyPart::Field(field),
        _ => KeyPart::CsvField(field),
    };
    KeyForm { end, part }
}

/// What the records of an input are.
fn model(input: &[u8], form: KeyForm) -> Vec<Record> {
    let end = if form.end == RecordEnd::Line { b'\n' } else { 0 };
    let rows = match form.part {
        KeyPart::CsvField(field) => return csv_model(input, end, field),
        KeyPart::Whole | KeyPart::Field(_) => input.split_inclusive(|&byte| byte == end),
    };
    rows.map(|bytes| {
        let mut record = bytes;
        if record.last() == Some(&end) {
            record = &record[..record.len() - 1];
            if end == b'\n' && record.last() == Some(&b'\r') {
                record = &record[..record.len() - 1];
            }
        }
        let key = match form.part {
            KeyPart::Field(field) => record.split(|&byte| byte == field.delimiter).nth(field.index),
            KeyPart::Whole | KeyPart::CsvField(_) => Some(record),
        };
        Record { key: key.map(<[u8]>::to_vec), bytes: bytes.to_vec() }
    })
    .collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    FieldStart,
    Plain,
    Quoted,
    /// Behind a quote in quotes, which closes them or is the first of two.
    QuoteInQuotes,
}

/// Rows of CSV: a quote is one only at the start of a field and in a field that starts with one, and what stands between
/// the closing quote and the end of a field belongs to it.
fn csv_model(input: &[u8], end: u8, field: Field) -> Vec<Record> {
    let mut records = Vec::new();
    let mut place = Place::FieldStart;
    let mut fields = vec![Vec::new()];
    let mark = if input.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut start = 0;
    for (at, &byte) in input.iter().enumerate().skip(mark) {
        let current = fields.last_mut().expect("one at least");
        match place {
            Place::Quoted if byte == b'"' => place = Place::QuoteInQuotes,
            Place::Quoted => current.push(byte),
            Place::QuoteInQuotes if byte == b'"' => {
                current.push(byte);
                place = Place::Quoted;
            }
            Place::FieldStart if byte == b'"' => place = Place::Quoted,
            Place::FieldStart | Place::Plain | Place::QuoteInQuotes => {
                place = Place::Plain;
                if byte == field.delimiter {
                    fields.push(Vec::new());
                    place = Place::FieldStart;
                } else if byte == end {
                    if end == b'\n' && at > start && input[at - 1] == b'\r' && current.last() == Some(&b'\r') {
                        current.pop();
                    }
                    records.push(Record { key: fields.get(field.index).cloned(), bytes: input[start..=at].to_vec() });
                    (fields, place, start) = (vec![Vec::new()], Place::FieldStart, at + 1);
                } else {
                    current.push(byte);
                }
            }
        }
    }
    if start < input.len() {
        // A byte order mark with nothing behind it is no field.
        let key = if start == 0 && input.len() == mark { None } else { fields.get(field.index).cloned() };
        records.push(Record { key, bytes: input[start..].to_vec() });
    }
    records
}

fn starts_like_compressed(input: &[u8]) -> bool {
    let is_skipped = matches!(input, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    input.starts_with(b"\x1f\x8b\x08") || input.starts_with(b"\x28\xb5\x2f\xfd") || is_skipped
}

/// A member of gzip as RFC 1952 has it, in one stored block of RFC 1951.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let size = u16::try_from(bytes.len()).expect("a few thousand");
    let mut member = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01".to_vec();
    member.extend(size.to_le_bytes());
    member.extend((!size).to_le_bytes());
    member.extend(bytes);
    member.extend(crc_32(bytes).to_le_bytes());
    member.extend(u32::from(size).to_le_bytes());
    member
}

fn crc_32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}

/// A frame of Zstandard as RFC 8878 has it: one segment whose size takes four bytes, in one raw block.
fn zstandard(bytes: &[u8]) -> Vec<u8> {
    let size = u32::try_from(bytes.len()).expect("a few thousand");
    let mut frame = b"\x28\xb5\x2f\xfd\xa0".to_vec();
    frame.extend(size.to_le_bytes());
    frame.extend(&(size << 3 | 1).to_le_bytes()[..3]);
    frame.extend(bytes);
    frame
}

/// A source that gives a few bytes at a time.
struct Pieces<'input> {
    rest: &'input [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.size.min(buffer.len());
        (&mut self.rest).take(size as u64).read(&mut buffer[..size])
    }
}
