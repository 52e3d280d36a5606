use std::ops::Range;

use bstr::ByteSlice;

use super::form::{FieldChoice, Fields, KeyForm, KeyPart, RecordEnd, Separator};
use super::json::JsonFaults;
use crate::failure::Failure;
use crate::render::Output;

/// Consecutive whole records of an input. Only the last record of the input may lack its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'input> {
    bytes: &'input [u8],
    keys: Keys<'input>,
    /// What was wrong so far with the records of the input, if they are JSON.
    faults: JsonFaults,
}

/// How to find the keys of a block.
#[derive(Clone, Copy, Debug)]
enum Keys<'input> {
    /// The block is the header of the input and has no keys.
    None,
    /// Each record is a key.
    Whole(RecordEnd),
    /// One field of each record.
    Field(RecordEnd, Field),
    Fields(RecordEnd, &'input Fields),
    /// The keys were found before, and are stored outside the block, without their quotes.
    Found {
        rows: &'input [Row],
        unquoted: &'input [u8],
        lines: Lines,
    },
}

/// One field of a record, by its index from 0, and the byte between fields: the most common choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    index: usize,
    delimiter: u8,
}

/// A key that was found before, with its record. A record with several keys has several rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The position of the key in the unquoted bytes, if the row has one.
    pub(crate) key: Option<Range<usize>>,
    /// The end of the row: bytes from the start of the input's buffer.
    pub(crate) end: usize,
}

/// How the lines of a record are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// It is a line, whatever it contains.
    One,
    /// It has as many as line ends, as in CSV.
    AsWritten,
}

impl<'input> Block<'input> {
    /// A block whose keys are found while it is iterated over.
    pub(crate) fn of_records(bytes: &'input [u8], form: &'input KeyForm) -> Self {
        let keys = match &form.part {
            KeyPart::Fields(fields) => match (&fields.choice, fields.separator) {
                (FieldChoice::Listed(indices), Separator::Byte(delimiter)) if indices.len() == 1 => {
                    Keys::Field(form.end, Field { index: indices[0], delimiter })
                }
                _ => Keys::Fields(form.end, fields),
            },
            _ => Keys::Whole(form.end),
        };
        Self { bytes, keys, faults: JsonFaults::NONE }
    }

    /// The first record of an input, which names its fields.
    pub(crate) const fn of_header(bytes: &'input [u8]) -> Self {
        Self { bytes, keys: Keys::None, faults: JsonFaults::NONE }
    }

    /// A block whose keys were found before.
    pub(crate) const fn of_rows(
        bytes: &'input [u8],
        rows: &'input [Row],
        unquoted: &'input [u8],
        lines: Lines,
    ) -> Self {
        Self { bytes, keys: Keys::Found { rows, unquoted, lines }, faults: JsonFaults::NONE }
    }

    /// This block of an input with such faults so far.
    pub(crate) const fn with_faults(self, faults: JsonFaults) -> Self {
        Self { faults, ..self }
    }

    pub(crate) const fn faults(&self) -> JsonFaults {
        self.faults
    }

    /// This block with other keys.
    pub(crate) const fn with_keys(&self, rows: &'input [Row], unquoted: &'input [u8]) -> Self {
        Self::of_rows(self.bytes, rows, unquoted, self.lines())
    }

    const fn lines(&self) -> Lines {
        match self.keys {
            Keys::Whole(_) | Keys::Field(..) | Keys::Fields(..) => Lines::One,
            Keys::None => Lines::AsWritten,
            Keys::Found { lines, .. } => lines,
        }
    }

    /// Returns `true` if this is the first record of an input, which names its fields.
    pub(crate) const fn is_header(&self) -> bool {
        matches!(self.keys, Keys::None)
    }

    pub(crate) const fn bytes(&self) -> &'input [u8] {
        self.bytes
    }

    /// The number of lines from byte `start` to byte `end`, where a record starts and one ends.
    pub(crate) fn lines_between(&self, start: usize, end: usize) -> u64 {
        match self.lines() {
            Lines::One => 1,
            Lines::AsWritten => self.bytes[start..end].find_iter(b"\n").count().max(1) as u64,
        }
    }

    /// Calls `take` with each key of each record and with where in the block the record ends, and once with no key for a
    /// record that has none. Calls with equal ends are for the same record.
    #[inline]
    pub(crate) fn for_each_key(&self, mut take: impl FnMut(Option<&'input [u8]>, usize)) {
        // One loop for each form, so that the form is not matched again for every record.
        match self.keys {
            Keys::None => {}
            Keys::Whole(RecordEnd::Line) => {
                for_each_record(self.bytes, RecordEnd::Line, |record, end| take(Some(record), end));
            }
            Keys::Whole(RecordEnd::Null) => {
                for_each_record(self.bytes, RecordEnd::Null, |record, end| take(Some(record), end));
            }
            Keys::Field(record_end, field) => {
                for_each_record(self.bytes, record_end, |record, end| take(field.of(record), end));
            }
            Keys::Fields(record_end, fields) => {
                for_each_record(self.bytes, record_end, |record, end| {
                    let mut has_key = false;
                    fields.for_each(record, |field| {
                        has_key = true;
                        take(Some(field), end);
                    });
                    if !has_key {
                        take(None, end);
                    }
                });
            }
            Keys::Found { rows, unquoted, .. } => {
                for row in rows {
                    take(row.key.clone().map(|key| &unquoted[key]), row.end);
                }
            }
        }
    }

    /// Writes these records, each with an end.
    pub(crate) fn write_runs(
        &self,
        output: &mut Output,
        runs: &[Range<usize>],
        record_end: RecordEnd,
    ) -> Result<(), Failure> {
        for run in runs {
            output.write(&self.bytes[run.clone()])?;
        }
        // Only the last record of a block may have no end.
        match runs.last() {
            Some(run) if self.bytes[..run.end].last() != Some(&record_end.byte()) => output.write(&[record_end.byte()]),
            _ => Ok(()),
        }
    }

    /// Splits the block into this many blocks of about equal size, or into fewer. `for_each_key` of a piece counts from the
    /// start of the piece.
    pub(crate) fn pieces(&self, count: usize) -> Vec<Self> {
        let record_end = match self.keys {
            Keys::Whole(end) | Keys::Field(end, _) | Keys::Fields(end, _) => end,
            // Rows count their ends from the start of the whole block.
            Keys::None | Keys::Found { .. } => return vec![*self],
        };
        let mut pieces = Vec::with_capacity(count);
        let mut rest = self.bytes;
        for left in (1..=count).rev() {
            let start_of_next = match rest[rest.len() / left..].find_byte(record_end.byte()) {
                Some(end) if left > 1 => rest.len() / left + end + 1,
                _ => rest.len(),
            };
            let (piece, next) = rest.split_at(start_of_next);
            if !piece.is_empty() {
                pieces.push(Self { bytes: piece, ..*self });
            }
            rest = next;
        }
        pieces
    }
}

impl Field {
    /// The field of a record, if it has that many.
    #[inline]
    fn of(self, record: &[u8]) -> Option<&[u8]> {
        let mut rest = record;
        for _ in 0..self.index {
            rest = &rest[rest.find_byte(self.delimiter)? + 1..];
        }
        Some(rest.find_byte(self.delimiter).map_or(rest, |end| &rest[..end]))
    }
}

impl Fields {
    /// Calls `take` with the fields of a record that are keys, in order.
    pub(crate) fn for_each<'record>(&self, record: &'record [u8], mut take: impl FnMut(&'record [u8])) {
        let end = self.choice.end();
        let mut take_listed = |(index, field)| {
            if self.choice.contains(index) {
                take(field);
            }
        };
        match self.separator {
            Separator::Byte(delimiter) => {
                record.split(|&byte| byte == delimiter).take(end).enumerate().for_each(&mut take_listed);
            }
            Separator::Blanks => {
                let fields = record.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty());
                fields.take(end).enumerate().for_each(&mut take_listed);
            }
        }
    }
}

/// Calls `take` with each record, without its end, and where it ends.
#[inline]
pub(super) fn for_each_record<'input>(
    bytes: &'input [u8],
    record_end: RecordEnd,
    mut take: impl FnMut(&'input [u8], usize),
) {
    let mut start = 0;
    while start < bytes.len() {
        let rest = &bytes[start..];
        let (record, length) = match (rest.find_byte(record_end.byte()), record_end) {
            (Some(end), RecordEnd::Line) => (rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]), end + 1),
            (Some(end), RecordEnd::Null) => (&rest[..end], end + 1),
            (None, _) => (rest, rest.len()),
        };
        start += length;
        take(record, start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(end: RecordEnd, part: KeyPart) -> KeyForm {
        KeyForm { end, part }
    }

    fn fields(choice: FieldChoice, separator: Separator) -> KeyPart {
        KeyPart::Fields(Fields { choice, separator })
    }

    #[test]
    fn each_listed_field_is_a_key_and_a_record_without_any_has_none() {
        let form = form(RecordEnd::Line, fields(FieldChoice::listed(vec![3, 0, 3]), Separator::Byte(b',')));
        let found = keys(&Block::of_records(b"a,b,c,d,e\nf\n,,,\n", &form));
        let expected = [(Some(&b"a"[..]), 10), (Some(b"d"), 10), (Some(b"f"), 12), (Some(b""), 16), (Some(b""), 16)];
        assert_eq!(found, expected);
        let second = KeyForm { part: fields(FieldChoice::listed(vec![1, 2]), Separator::Byte(b',')), ..form };
        assert_eq!(keys(&Block::of_records(b"a\nb,c\n", &second)), [(None, 2), (Some(&b"c"[..]), 6)]);
    }

    #[test]
    fn blanks_of_any_number_separate_fields_and_those_at_the_ends_nothing() {
        let part = |choice| fields(choice, Separator::Blanks);
        let all = form(RecordEnd::Line, part(FieldChoice::All));
        let found = keys(&Block::of_records(b"  a \t b\t\n \t\nc", &all));
        assert_eq!(found, [(Some(&b"a"[..]), 9), (Some(b"b"), 9), (None, 12), (Some(b"c"), 13)]);
        let second = form(RecordEnd::Line, part(FieldChoice::listed(vec![1])));
        assert_eq!(keys(&Block::of_records(b" a  b c\n", &second)), [(Some(&b"b"[..]), 8)]);
    }

    fn keys<'input>(block: &Block<'input>) -> Vec<(Option<&'input [u8]>, usize)> {
        let mut keys = Vec::new();
        block.for_each_key(|key, end| keys.push((key, end)));
        keys
    }

    #[test]
    fn a_field_is_between_delimiters_or_missing() {
        let field = |index| Field { index, delimiter: b';' }.of(b"a;;b\xff;");
        assert_eq!([0, 1, 2, 3].map(field), [b"a", &b""[..], b"b\xff", b""].map(Some));
        assert_eq!(field(4), None);
        assert_eq!(Field { index: 0, delimiter: b'\t' }.of(b""), Some(&b""[..]));
    }

    #[test]
    fn a_carriage_return_is_no_part_of_the_last_field() {
        let form = form(RecordEnd::Line, fields(FieldChoice::listed(vec![1]), Separator::Byte(b'\t')));
        let found = keys(&Block::of_records(b"1\tani\r\n2\tkoel\n3", &form));
        assert_eq!(found, [(Some(&b"ani"[..]), 7), (Some(b"koel"), 14), (None, 15)]);
    }

    #[test]
    fn between_nul_bytes_all_others_are_part_of_the_key() {
        let form = form(RecordEnd::Null, KeyPart::Whole);
        let found = keys(&Block::of_records(b"a\r\n\0\0b", &form));
        assert_eq!(found, [(Some(&b"a\r\n"[..]), 4), (Some(b""), 5), (Some(b"b"), 6)]);
    }

    #[test]
    fn a_record_between_nul_bytes_is_one_line_also_where_its_key_is_another() {
        let form = form(RecordEnd::Null, KeyPart::Whole);
        let block = Block::of_records(b"a\nb\nc\0d\0", &form);
        let normalized = block.with_keys(&[], b"");
        for block in [block, normalized] {
            assert_eq!([block.lines_between(0, 6), block.lines_between(6, 8)], [1, 1]);
        }
        let rows = Block::of_rows(b"\"a\nb\",c\n", &[], b"", Lines::AsWritten);
        assert_eq!([rows, rows.with_keys(&[], b"")].map(|rows| rows.lines_between(0, 8)), [2, 2]);
    }

    #[test]
    fn pieces_are_the_block_cut_at_ends_of_records() {
        let bytes = b"one\ntwo\nthree\n\n\nfour\nfive";
        let form = form(RecordEnd::Line, KeyPart::Whole);
        let block = Block::of_records(bytes, &form);
        for count in 1..=30 {
            let pieces = block.pieces(count);
            assert!((1..=count).contains(&pieces.len()), "{count}");
            assert_eq!(pieces.iter().map(Block::bytes).collect::<Vec<_>>().concat(), bytes);
            let (last, others) = pieces.split_last().expect("a piece");
            assert!(others.iter().all(|piece| piece.bytes().ends_with(b"\n")) && !last.bytes().is_empty());
        }
        assert_eq!(block.pieces(2).len(), 2);
        assert_eq!(Block::of_records(b"", &form).pieces(2).len(), 0);
    }
}
