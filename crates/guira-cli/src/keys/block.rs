use std::ops::Range;

use bstr::ByteSlice;

use super::form::{Field, KeyForm, KeyPart, RecordEnd};

/// Some whole records of an input, one after the other. Only the last record of the input may lack its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'input> {
    bytes: &'input [u8],
    keys: Keys<'input>,
}

/// How to find the keys of a block.
#[derive(Clone, Copy, Debug)]
enum Keys<'input> {
    /// Each record is one.
    Whole(RecordEnd),
    Field(RecordEnd, Field),
    /// They are found already, and without their quotes stand elsewhere.
    Found {
        rows: &'input [Row],
        unquoted: &'input [u8],
    },
}

/// A record whose key is found already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Where the key stands among the unquoted ones, if the row has one.
    pub(crate) key: Option<Range<usize>>,
    /// Where the row ends: bytes from the start of the input's buffer.
    pub(crate) end: usize,
}

impl<'input> Block<'input> {
    pub(crate) fn of_records(bytes: &'input [u8], form: KeyForm) -> Self {
        let keys = match form.part {
            KeyPart::Whole => Keys::Whole(form.end),
            KeyPart::Field(field) | KeyPart::CsvField(field) => Keys::Field(form.end, field),
        };
        Self { bytes, keys }
    }

    pub(crate) fn of_rows(bytes: &'input [u8], rows: &'input [Row], unquoted: &'input [u8]) -> Self {
        Self { bytes, keys: Keys::Found { rows, unquoted } }
    }

    pub(crate) const fn bytes(&self) -> &'input [u8] {
        self.bytes
    }

    /// Calls `take` with the key of each record, if it has one, and where in the block the record ends.
    #[inline]
    pub(crate) fn for_each_key(&self, mut take: impl FnMut(Option<&'input [u8]>, usize)) {
        // One loop for each form, so that the form is not asked for again at every record.
        match self.keys {
            Keys::Whole(RecordEnd::Line) => {
                for_each_record(self.bytes, RecordEnd::Line, |record, end| take(Some(record), end));
            }
            Keys::Whole(RecordEnd::Null) => {
                for_each_record(self.bytes, RecordEnd::Null, |record, end| take(Some(record), end));
            }
            Keys::Field(record_end, field) => {
                for_each_record(self.bytes, record_end, |record, end| take(field.of(record), end));
            }
            Keys::Found { rows, unquoted } => {
                for row in rows {
                    take(row.key.clone().map(|key| &unquoted[key]), row.end);
                }
            }
        }
    }

    /// The same records in this many blocks of about the same size, or in fewer. `for_each_key` of a piece counts from
    /// the start of the piece.
    pub(crate) fn pieces(&self, count: usize) -> Vec<Self> {
        let record_end = match self.keys {
            Keys::Whole(end) | Keys::Field(end, _) => end,
            // Their ends are counted from the start of the whole block.
            Keys::Found { .. } => return vec![*self],
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
                pieces.push(Self { bytes: piece, keys: self.keys });
            }
            rest = next;
        }
        pieces
    }
}

impl Field {
    /// The field of a record, if it has so many.
    #[inline]
    fn of(self, record: &[u8]) -> Option<&[u8]> {
        let mut rest = record;
        for _ in 0..self.index {
            rest = &rest[rest.find_byte(self.delimiter)? + 1..];
        }
        Some(rest.find_byte(self.delimiter).map_or(rest, |end| &rest[..end]))
    }
}

/// Calls `take` with each record, without its end, and where it ends.
#[inline]
fn for_each_record<'input>(bytes: &'input [u8], record_end: RecordEnd, mut take: impl FnMut(&'input [u8], usize)) {
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
        let form = form(RecordEnd::Line, KeyPart::Field(Field { index: 1, delimiter: b'\t' }));
        let found = keys(&Block::of_records(b"1\tani\r\n2\tkoel\n3", form));
        assert_eq!(found, [(Some(&b"ani"[..]), 7), (Some(b"koel"), 14), (None, 15)]);
    }

    #[test]
    fn between_nul_bytes_all_others_are_part_of_the_key() {
        let found = keys(&Block::of_records(b"a\r\n\0\0b", form(RecordEnd::Null, KeyPart::Whole)));
        assert_eq!(found, [(Some(&b"a\r\n"[..]), 4), (Some(b""), 5), (Some(b"b"), 6)]);
    }

    #[test]
    fn pieces_are_the_block_cut_at_ends_of_records() {
        let bytes = b"one\ntwo\nthree\n\n\nfour\nfive";
        let block = Block::of_records(bytes, form(RecordEnd::Line, KeyPart::Whole));
        for count in 1..=30 {
            let pieces = block.pieces(count);
            assert!((1..=count).contains(&pieces.len()), "{count}");
            assert_eq!(pieces.iter().map(Block::bytes).collect::<Vec<_>>().concat(), bytes);
            let (last, others) = pieces.split_last().expect("a piece");
            assert!(others.iter().all(|piece| piece.bytes().ends_with(b"\n")) && !last.bytes().is_empty());
        }
        assert_eq!(block.pieces(2).len(), 2);
        assert_eq!(Block::of_records(b"", form(RecordEnd::Line, KeyPart::Whole)).pieces(2).len(), 0);
    }
}
