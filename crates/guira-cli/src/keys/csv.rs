use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::block::{Block, Row};
use super::form::{Field, RecordEnd};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Finds the rows of CSV and their keys in an input that comes in pieces.
///
/// The state of the parser lives from one piece to the next, so that a row that is as long as many of them is read once.
pub(crate) struct CsvRows {
    parser: Reader,
    end: RecordEnd,
    field: Field,
    /// What is not handed on yet: whole rows, and the start of one.
    buffer: Vec<u8>,
    /// How much of it the parser has seen.
    parsed: usize,
    /// The size of the byte order mark at its start, which is 0 where there is none; not known before three bytes came.
    mark_size: Option<usize>,
    rows: Vec<Row>,
    /// The keys of these rows.
    unquoted: Vec<u8>,
    /// The fields of a row that has begun, without quotes, one after the other, and where each of them ends.
    fields: Vec<u8>,
    fields_size: usize,
    ends: Vec<usize>,
    ends_count: usize,
}

impl CsvRows {
    pub(crate) fn new(end: RecordEnd, field: Field) -> Self {
        // Any byte but the end would not do: a carriage return alone ends no line anywhere else in this program.
        let terminator = Terminator::Any(end.byte());
        let mut parser = ReaderBuilder::new().delimiter(field.delimiter).terminator(terminator).build();
        // It skips what it takes for an empty line. From now on it looks for no byte order mark, which it would find
        // only in one piece, and with which it would skip the end of the first row.
        let _skipped = parser.read_record(&[end.byte()], &mut [0], &mut [0]);
        Self {
            parser,
            end,
            field,
            buffer: Vec::new(),
            parsed: 0,
            mark_size: None,
            rows: Vec::new(),
            unquoted: Vec::new(),
            fields: Vec::new(),
            fields_size: 0,
            // The row ends the field at least; more are made when they are met.
            ends: vec![0; field.index + 2],
            ends_count: 0,
        }
    }

    /// Takes the next piece of the input.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        if self.mark_size.is_none() {
            if BYTE_ORDER_MARK.starts_with(&self.buffer) && self.buffer != BYTE_ORDER_MARK {
                return;
            }
            self.pass_mark();
        }
        self.parse_rows();
    }

    fn pass_mark(&mut self) {
        self.parsed = if self.buffer.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        self.mark_size = Some(self.parsed);
    }

    fn parse_rows(&mut self) {
        while self.parsed < self.buffer.len() {
            if self.is_between_rows() && self.buffer[self.parsed] == self.end.byte() {
                // The parser would skip it, and it is a row with one field.
                self.parsed += 1;
                self.rows.push(Row { key: (self.field.index == 0).then_some(0..0), end: self.parsed });
            } else {
                self.parse(self.buffer.len());
            }
        }
    }

    /// Takes what has come as the whole input: the last row needs no end.
    pub(crate) fn finish(&mut self) {
        if self.mark_size.is_none() {
            self.pass_mark();
        }
        self.parse_rows();
        while !self.is_between_rows() {
            self.parse(self.parsed);
        }
        if self.rows.is_empty() && self.parsed > 0 {
            // A byte order mark, and nothing behind it.
            self.rows.push(Row { key: None, end: self.parsed });
        }
    }

    /// Hands on the rows that are whole, unless there are none.
    pub(crate) fn take<T>(&mut self, take: impl FnOnce(&Block<'_>) -> T) -> Option<T> {
        let end = self.rows.last()?.end;
        let taken = take(&Block::of_rows(&self.buffer[..end], &self.rows, &self.unquoted));
        self.buffer.drain(..end);
        self.parsed -= end;
        self.mark_size = Some(0);
        self.rows.clear();
        self.unquoted.clear();
        Some(taken)
    }

    fn is_between_rows(&self) -> bool {
        self.parsed == self.rows.last().map_or(self.mark_size.unwrap_or(0), |row| row.end)
    }

    /// Parses to the end of a row or to `end`; where that is where the parser stands, the input ends.
    fn parse(&mut self, end: usize) {
        let input = &self.buffer[self.parsed..end];
        // The parser never writes more than it reads; it asks for a byte to spare.
        self.fields.resize(self.fields.len().max(self.fields_size + input.len() + 1), 0);
        let (result, read, written, ended) =
            self.parser.read_record(input, &mut self.fields[self.fields_size..], &mut self.ends[self.ends_count..]);
        self.parsed += read;
        self.fields_size += written;
        self.ends_count += ended;
        match result {
            ReadRecordResult::Record => self.end_row(),
            ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
            ReadRecordResult::InputEmpty | ReadRecordResult::OutputFull | ReadRecordResult::End => {}
        }
    }

    fn end_row(&mut self) {
        let row = &self.buffer[..self.parsed];
        let ends = &self.ends[..self.ends_count];
        let key = ends.get(self.field.index).map(|&end| {
            let start = self.field.index.checked_sub(1).map_or(0, |before| ends[before]);
            let mut key = &self.fields[start..end];
            if self.end == RecordEnd::Line && self.field.index + 1 == ends.len() && row.ends_with(b"\r\n") {
                key = key.strip_suffix(b"\r").unwrap_or(key);
            }
            let start = self.unquoted.len();
            self.unquoted.extend_from_slice(key);
            start..self.unquoted.len()
        });
        self.rows.push(Row { key, end: self.parsed });
        (self.fields_size, self.ends_count) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = Vec<(Option<Vec<u8>>, Vec<u8>)>;

    /// Each key with its row as it stands, the input coming in pieces of this size.
    fn found(input: &[u8], index: usize, size: usize) -> Found {
        let mut rows = CsvRows::new(RecordEnd::Line, Field { index, delimiter: b',' });
        let mut found = Found::new();
        let mut collect = |rows: &mut CsvRows| {
            rows.take(|block| {
                let mut start = 0;
                block.for_each_key(|key, end| {
                    found.push((key.map(<[u8]>::to_vec), block.bytes()[start..end].to_vec()));
                    start = end;
                });
            });
        };
        for piece in input.chunks(size) {
            rows.push(piece);
            collect(&mut rows);
        }
        rows.finish();
        collect(&mut rows);
        found
    }

    #[track_caller]
    fn assert_found(input: &[u8], index: usize, expected: &[(Option<&[u8]>, &[u8])]) {
        let expected: Found = expected.iter().map(|(key, row)| (key.map(<[u8]>::to_vec), row.to_vec())).collect();
        for size in 1..=input.len().max(1) {
            assert_eq!(found(input, index, size), expected, "in pieces of {size} bytes");
        }
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_doubled_quotes() {
        let input = b"1,\"a,b\",x\n2,\"c\nd\",y\n3,\"say \"\"hi\"\"\",z\n";
        assert_found(
            input,
            1,
            &[
                (Some(b"a,b"), b"1,\"a,b\",x\n"),
                (Some(b"c\nd"), b"2,\"c\nd\",y\n"),
                (Some(b"say \"hi\""), b"3,\"say \"\"hi\"\"\",z\n"),
            ],
        );
    }

    #[test]
    fn the_last_row_needs_no_end() {
        assert_found(b"a,b\nc,d", 1, &[(Some(b"b"), b"a,b\n"), (Some(b"d"), b"c,d")]);
        assert_found(b"a", 0, &[(Some(b"a"), b"a")]);
        assert_found(b"a,", 1, &[(Some(b""), b"a,")]);
        assert_found(b"\"a", 0, &[(Some(b"a"), b"\"a")]);
        assert_found(b"", 0, &[]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_key() {
        assert_found(b"\xef\xbb\xbfa,b\nc", 0, &[(Some(b"a"), b"\xef\xbb\xbfa,b\n"), (Some(b"c"), b"c")]);
        assert_found(b"\xef\xbb\xbf", 0, &[(None, b"\xef\xbb\xbf")]);
        assert_found(b"\xef\xbb", 0, &[(Some(b"\xef\xbb"), b"\xef\xbb")]);
        assert_found(b"\xef\xbb\xbf\na\n", 0, &[(Some(b""), b"\xef\xbb\xbf\n"), (Some(b"a"), b"a\n")]);
        // One mark is enough: what looks like one behind it is text.
        assert_found(b"\xef\xbb\xbf\xef\xbb\xbfa", 0, &[(Some(b"\xef\xbb\xbfa"), b"\xef\xbb\xbf\xef\xbb\xbfa")]);
        assert_found(b"a\n\xef\xbb\xbf\n", 0, &[(Some(b"a"), b"a\n"), (Some(b"\xef\xbb\xbf"), b"\xef\xbb\xbf\n")]);
    }

    #[test]
    fn an_empty_line_is_a_row_with_an_empty_field() {
        assert_found(
            b"\na\n\n\r\n",
            0,
            &[(Some(b""), b"\n"), (Some(b"a"), b"a\n"), (Some(b""), b"\n"), (Some(b""), b"\r\n")],
        );
        assert_found(b"\na,b\n", 1, &[(None, b"\n"), (Some(b"b"), b"a,b\n")]);
    }

    #[test]
    fn a_row_with_too_few_fields_has_no_key_and_one_with_many_has() {
        let many = [&b"x,".repeat(100)[..], b"y\n"].concat();
        let input = [b"a,b\n", &*many].concat();
        assert_found(&input, 2, &[(None, b"a,b\n"), (Some(b"x"), &many)]);
    }

    #[test]
    fn a_carriage_return_belongs_to_the_line_end_and_nowhere_else() {
        assert_found(b"a,b\r\nc,d\r\n", 1, &[(Some(b"b"), b"a,b\r\n"), (Some(b"d"), b"c,d\r\n")]);
        assert_found(b"a,b\r\n", 0, &[(Some(b"a"), b"a,b\r\n")]);
        assert_found(b"a,\"b\"\r\n", 1, &[(Some(b"b"), b"a,\"b\"\r\n")]);
        assert_found(b"a,\"b\r\"\n", 1, &[(Some(b"b\r"), b"a,\"b\r\"\n")]);
        assert_found(b"a\rb,c\rd\n", 1, &[(Some(b"c\rd"), b"a\rb,c\rd\n")]);
    }
}
