//! Reads bytes as an input of the program, in every form that it knows, and compares its records with those of a model
//! that has all of the input at hand and looks at one byte after the other.
//!
//! The first four bytes choose the form, and in what pieces the input comes; the rest is the input.

use std::io::{self, Read};

use guira_cli::keys::{FieldChoice, Fields, KeyForm, KeyPart, Record, RecordEnd, Separator};

/// Longer ones find nothing that these don't.
const MAX_BYTES: usize = 4096;

pub(crate) fn run(data: &[u8]) {
    let Some((&[form, field, delimiter, pace], input)) = data.split_first_chunk() else { return };
    let input = &input[..input.len().min(MAX_BYTES)];
    let form = form_of(form, field, delimiter);
    let (piece_size, threads) = (1 + usize::from(pace & 0x3f), 1 + usize::from(pace >> 6));
    let read = |bytes: &[u8]| Record::all_of(Pieces { rest: bytes, size: piece_size }, &form, threads);
    // A byte order mark is no part of the input.
    let expected = model(input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input), &form);

    let plain = read(input);
    if starts_like_compressed(input) {
        // What comes of it is the decoder's to say. If anything does, it is an input like others.
        drop(plain);
    } else if starts_like_something_else(input) {
        assert!(plain.is_err(), "{form:?}");
    } else {
        assert_eq!(plain.ok(), expected, "{form:?}");
    }
    if starts_like_compressed(input) || starts_like_something_else(input) {
        // Nor is it a list of keys within compressed data.
        assert!([gzip, zstandard].iter().all(|compress| read(&compress(input)).is_err()), "{form:?}");
        return;
    }
    // Parts that were compressed one by one are one input.
    let (first, second) = input.split_at(input.len() / 3);
    for compress in [gzip, zstandard] {
        let compressed = [compress(first), compress(second)].concat();
        assert_eq!(read(&compressed).ok(), expected, "{form:?}");
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
    let choice = match form >> 3 & 3 {
        0 | 1 => FieldChoice::listed(vec![index]),
        2 => FieldChoice::listed(vec![index + 2, index]),
        _ => FieldChoice::All,
    };
    let is_csv = form >> 1 & 3 >= 2;
    let separator = if form >> 5 & 1 == 1 && !is_csv { Separator::Blanks } else { Separator::Byte(delimiter) };
    let part = match form >> 1 & 3 {
        0 => KeyPart::Whole,
        1 => KeyPart::Fields(Fields { choice, separator }),
        _ => KeyPart::CsvFields(Fields { choice, separator }),
    };
    KeyForm { end, part }
}

/// The fields of a record that are keys.
fn chosen<'field>(fields: impl Iterator<Item = &'field [u8]>, choice: &FieldChoice) -> Vec<Vec<u8>> {
    let is_chosen = |index: &usize| match choice {
        FieldChoice::All => true,
        FieldChoice::Listed(indices) => indices.contains(index),
    };
    fields.enumerate().filter(|(index, _)| is_chosen(index)).map(|(_, field)| field.to_vec()).collect()
}

/// What the records of an input are; nothing where its last row ends within quotes.
fn model(input: &[u8], form: &KeyForm) -> Option<Vec<Record>> {
    let end = if form.end == RecordEnd::Line { b'\n' } else { 0 };
    let rows = match &form.part {
        KeyPart::CsvFields(fields) => return csv_model(input, end, fields),
        _ => input.split_inclusive(|&byte| byte == end),
    };
    let records = rows.map(|bytes| {
        let mut record = bytes;
        if record.last() == Some(&end) {
            record = &record[..record.len() - 1];
            if end == b'\n' && record.last() == Some(&b'\r') {
                record = &record[..record.len() - 1];
            }
        }
        let keys = match &form.part {
            KeyPart::Fields(Fields { choice, separator: Separator::Byte(delimiter) }) => {
                chosen(record.split(|byte| byte == delimiter), choice)
            }
            KeyPart::Fields(Fields { choice, separator: Separator::Blanks }) => {
                let words = record.split(|&byte| byte == b' ' || byte == b'\t');
                chosen(words.filter(|word| !word.is_empty()), choice)
            }
            _ => vec![record.to_vec()],
        };
        Record { keys, bytes: bytes.to_vec() }
    });
    Some(records.collect())
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
fn csv_model(input: &[u8], end: u8, chosen_fields: &Fields) -> Option<Vec<Record>> {
    let Fields { choice, separator: Separator::Byte(delimiter) } = chosen_fields else {
        unreachable!("no form of CSV")
    };
    let mut records = Vec::new();
    let mut place = Place::FieldStart;
    let mut fields = vec![Vec::new()];
    let keys = |fields: &[Vec<u8>]| chosen(fields.iter().map(Vec::as_slice), choice);
    let mut start = 0;
    for (at, &byte) in input.iter().enumerate() {
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
                if byte == *delimiter {
                    fields.push(Vec::new());
                    place = Place::FieldStart;
                } else if byte == end {
                    if end == b'\n' && at > start && input[at - 1] == b'\r' && current.last() == Some(&b'\r') {
                        current.pop();
                    }
                    records.push(Record { keys: keys(&fields), bytes: input[start..=at].to_vec() });
                    (fields, place, start) = (vec![Vec::new()], Place::FieldStart, at + 1);
                } else {
                    current.push(byte);
                }
            }
        }
    }
    if place == Place::Quoted {
        return None;
    }
    if start < input.len() {
        records.push(Record { keys: keys(&fields), bytes: input[start..].to_vec() });
    }
    Some(records)
}

/// What is refused by name: the inputs of this target are too random to be any of it in full, but for these.
fn starts_like_something_else(input: &[u8]) -> bool {
    const OTHERS: [&[u8]; 13] = [
        b"\xfd7zXZ\0",
        b"\x04\x22\x4d\x18",
        b"\x02\x21\x4c\x18",
        b"7z\xbc\xaf\x27\x1c",
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\0\0\xfe\xff",
        b"\x89GUIRA\r\n",
        b"BZh1\x17rE8P\x90",
        b"BZh6\x17rE8P\x90",
        b"BZh9\x17rE8P\x90",
    ];
    let is_bzip2 = matches!(input, [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..]);
    is_bzip2 || OTHERS.iter().any(|magic| input.starts_with(magic))
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
