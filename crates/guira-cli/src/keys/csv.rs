use std::io;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::block::{Block, Lines, Row};
use super::form::{FieldChoice, RecordEnd};
use super::memory;

/// Finds the rows of CSV and their keys in an input that comes in pieces.
///
/// The parser's state is kept between pieces, so that a row of many pieces is parsed once.
pub(crate) struct CsvRows {
    parser: Reader,
    end: RecordEnd,
    delimiter: u8,
    choice: FieldChoice,
    /// Input that was not handed on yet: whole rows, and the start of one.
    buffer: Vec<u8>,
    /// How many bytes of `buffer` were parsed.
    parsed: usize,
    /// The keys of the whole rows.
    rows: Vec<Row>,
    unquoted: Vec<u8>,
    /// The number of line ends that were handed on.
    lines: u64,
    /// The fields of the row that is being parsed, without quotes, one after the other. `ends` has their ends.
    fields: Vec<u8>,
    fields_size: usize,
    ends: Vec<usize>,
    ends_count: usize,
}

impl CsvRows {
    /// `lines` is the number of lines before the first row.
    pub(crate) fn new(end: RecordEnd, delimiter: u8, choice: FieldChoice, lines: u64) -> Self {
        // Not the parser's default, for which a carriage return alone ends a line: it does not anywhere else in this program.
        let terminator = Terminator::Any(end.byte());
        let mut parser = ReaderBuilder::new().delimiter(delimiter).terminator(terminator).build();
        // The parser skips this record as an empty line, and no longer looks for a byte order mark: it would find one only
        // within a piece, and would then skip the end of the first row.
        let _skipped = parser.read_record(&[end.byte()], &mut [0], &mut [0]);
        Self {
            parser,
            end,
            delimiter,
            choice,
            buffer: Vec::new(),
            parsed: 0,
            rows: Vec::new(),
            unquoted: Vec::new(),
            lines,
            fields: Vec::new(),
            fields_size: 0,
            // Grows for rows with more fields.
            ends: vec![0; 16],
            ends_count: 0,
        }
    }

    /// Parses the next piece of the input. Fails if there is not enough memory for a row.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        memory::extend(&mut self.buffer, bytes)?;
        self.parse_rows()
    }

    fn parse_rows(&mut self) -> io::Result<()> {
        while self.parsed < self.buffer.len() {
            if self.is_between_rows() && self.buffer[self.parsed] == self.end.byte() {
                // The parser would skip an empty line, which is a row with one field.
                self.parsed += 1;
                let key = self.choice.contains(0).then_some(0..0);
                memory::push(&mut self.rows, Row { key, end: self.parsed }, self.parsed)?;
            } else {
                self.parse(self.buffer.len())?;
            }
        }
        Ok(())
    }

    /// Ends the input: the last row needs no end.
    ///
    /// An unclosed quote is an error, which names its line. The rows before it can still be taken.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(line) = self.line_of_open_quote() {
            return Err(io::Error::other(format!(
                "the quote that is opened in line {line} is never closed: close it, or read the input without --csv"
            )));
        }
        while !self.is_between_rows() {
            self.parse(self.parsed)?;
        }
        Ok(())
    }

    /// The line of the opening quote, if the input ends within quotes.
    fn line_of_open_quote(&self) -> Option<u64> {
        let start = self.rows.last().map_or(0, |row| row.end);
        let row = &self.buffer[start..];
        let mut at = 0;
        loop {
            // At the start of a field.
            if row.get(at) == Some(&b'"') {
                let opened = start + at;
                at += 1;
                // A quote closes the field unless a second one follows it.
                loop {
                    match row[at..].iter().position(|&byte| byte == b'"') {
                        None => {
                            let lines = self.buffer[..opened].iter().filter(|&&byte| byte == b'\n').count();
                            return Some(self.lines + lines as u64 + 1);
                        }
                        Some(closing) if row.get(at + closing + 1) == Some(&b'"') => at += closing + 2,
                        Some(closing) => {
                            at += closing + 1;
                            break;
                        }
                    }
                }
            }
            at += row[at..].iter().position(|&byte| byte == self.delimiter)? + 1;
        }
    }

    /// Calls `take` with the whole rows, if there are any.
    pub(crate) fn take<T>(&mut self, take: impl FnOnce(&Block<'_>) -> T) -> Option<T> {
        let end = self.rows.last()?.end;
        let taken = take(&Block::of_rows(&self.buffer[..end], &self.rows, &self.unquoted, Lines::AsWritten));
        self.lines += self.buffer[..end].iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.buffer.drain(..end);
        self.parsed -= end;
        self.rows.clear();
        self.unquoted.clear();
        Some(taken)
    }

    fn is_between_rows(&self) -> bool {
        self.parsed == self.rows.last().map_or(0, |row| row.end)
    }

    /// Parses to the end of a row or to `end`. If nothing is left to parse, this ends the input.
    fn parse(&mut self, end: usize) -> io::Result<()> {
        let input = &self.buffer[self.parsed..end];
        // The parser never writes more than it reads, but requires a spare byte.
        let size = self.fields.len().max(self.fields_size + input.len() + 1);
        let additional = size - self.fields.len();
        memory::reserve(&mut self.fields, additional)?;
        self.fields.resize(size, 0);
        let (result, read, written, ended) =
            self.parser.read_record(input, &mut self.fields[self.fields_size..], &mut self.ends[self.ends_count..]);
        self.parsed += read;
        self.fields_size += written;
        self.ends_count += ended;
        match result {
            ReadRecordResult::Record => self.end_row(),
            ReadRecordResult::OutputEndsFull => {
                let count = self.ends.len();
                memory::reserve_items(&mut self.ends, count, self.parsed)?;
                self.ends.resize(2 * count, 0);
                Ok(())
            }
            ReadRecordResult::InputEmpty | ReadRecordResult::OutputFull | ReadRecordResult::End => Ok(()),
        }
    }

    fn end_row(&mut self) -> io::Result<()> {
        let row = &self.buffer[..self.parsed];
        let ends = &self.ends[..self.ends_count];
        let rows_before = self.rows.len();
        let mut start = 0;
        for (index, &end) in ends.iter().enumerate().take(self.choice.end()) {
            if self.choice.contains(index) {
                let mut key = &self.fields[start..end];
                if self.end == RecordEnd::Line && index + 1 == ends.len() && row.ends_with(b"\r\n") {
                    key = key.strip_suffix(b"\r").unwrap_or(key);
                }
                let start = self.unquoted.len();
                memory::extend(&mut self.unquoted, key)?;
                let key = Some(start..self.unquoted.len());
                memory::push(&mut self.rows, Row { key, end: self.parsed }, self.parsed)?;
            }
            start = end;
        }
        if self.rows.len() == rows_before {
            memory::push(&mut self.rows, Row { key: None, end: self.parsed }, self.parsed)?;
        }
        (self.fields_size, self.ends_count) = (0, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = Vec<(Option<Vec<u8>>, Vec<u8>)>;

    /// Each key with the bytes of its row, for an input in pieces of this size.
    fn found(input: &[u8], index: usize, size: usize) -> Found {
        let mut rows = CsvRows::new(RecordEnd::Line, b',', FieldChoice::listed(vec![index]), 0);
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
            rows.push(piece).expect("memory for a short row");
            collect(&mut rows);
        }
        rows.finish().expect("no quote is open, and memory for a short row");
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
        assert_found(b"\"a\"", 0, &[(Some(b"a"), b"\"a\"")]);
        assert_found(b"", 0, &[]);
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

    #[test]
    fn the_line_of_a_quote_that_is_never_closed_is_said() {
        let line_of = |input: &[u8], size| {
            let mut rows = CsvRows::new(RecordEnd::Line, b',', FieldChoice::listed(vec![0]), 0);
            for piece in input.chunks(size) {
                rows.push(piece).expect("memory for a short row");
                rows.take(|_| ());
            }
            let result = rows.finish().map_err(|error| error.to_string());
            result.err().map(|text| text.split(' ').nth(7).expect("a number").to_owned())
        };
        let cases: [(&[u8], Option<&str>); 10] = [
            (b"\"a", Some("1")),
            (b"a,b\nc,\"d\ne,f\ng\n", Some("2")),
            (b"\"a\nb\",\"c\n", Some("2")),
            (b"x\n\"a\nb\",c\n\n\"", Some("5")),
            (b"a,\"b\"\"", Some("1")),
            (b"a,\"b\"\"\"", None),
            (b"a,\"b\"", None),
            (b"a,b\"", None),
            (b"a,\"b\"c\"", None),
            (b"", None),
        ];
        for (input, expected) in cases {
            for size in 1..=input.len().max(1) {
                assert_eq!(line_of(input, size).as_deref(), expected, "{input:?} in pieces of {size} bytes");
            }
        }
    }

    #[test]
    fn each_listed_field_of_a_row_is_a_key() {
        let mut rows = CsvRows::new(RecordEnd::Line, b',', FieldChoice::listed(vec![0, 2]), 0);
        rows.push(b"a,b,\"c,\"\nd\n").expect("memory for a short row");
        let mut found = Vec::new();
        rows.take(|block| block.for_each_key(|key, end| found.push((key.map(<[u8]>::to_vec), end))));
        assert_eq!(found, [(Some(b"a".to_vec()), 9), (Some(b"c,".to_vec()), 9), (Some(b"d".to_vec()), 11)]);
    }
}
