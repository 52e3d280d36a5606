//! Where the times of records stand, which are no keys.

use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;

use bstr::ByteSlice;

use super::csv::CsvRows;
use super::form::{FieldChoice, Fields, KeyPart, RecordEnd, Separator};
use super::json::JsonRows;
use super::records::named_fields;

/// Finds the time of each record.
pub(crate) struct TimeField {
    end: RecordEnd,
    /// The name of the field, if the header of an input says which it is.
    named: Option<Name>,
    place: Place,
    /// The time found last, where it does not stand in its record as it is.
    unquoted: Vec<u8>,
}

struct Name {
    name: String,
    separator: Separator,
    csv: bool,
}

enum Place {
    Field {
        index: usize,
        separator: Separator,
    },
    Csv(Box<CsvRows>),
    Json(Vec<String>),
    /// Before the header.
    Unknown,
}

/// A time as its record has it.
pub(crate) struct RecordTime<'record> {
    pub(crate) text: &'record [u8],
    /// What stands before and behind it in the record without its end; nothing in records of CSV and JSON.
    pub(crate) around: [&'record [u8]; 2],
}

impl TimeField {
    /// The field that a text chooses: a number or, where keys are chosen so, a name in the header or a path in JSON. `None` if
    /// it is no number where one is needed.
    pub(crate) fn new(text: &str, end: RecordEnd, keys: &KeyPart, separator: Separator) -> Option<Self> {
        let index = || text.parse::<NonZeroUsize>().ok().map(|number| number.get() - 1);
        let (mut named, mut place) = (None, Place::Unknown);
        match (keys, separator) {
            (KeyPart::Json(_), _) => place = Place::Json(vec![text.to_owned()]),
            (&KeyPart::Named { separator, csv, .. }, _) => named = Some(Name { name: text.to_owned(), separator, csv }),
            (KeyPart::CsvFields(_), Separator::Byte(delimiter)) => place = Place::csv(index()?, delimiter, end),
            _ => place = Place::Field { index: index()?, separator },
        }
        Some(Self { end, named, place, unquoted: Vec::new() })
    }

    /// Finds out from the header of an input which of its fields has the name.
    pub(crate) fn read_header(&mut self, header: &[u8]) -> io::Result<()> {
        let Some(Name { name, separator, csv }) = &self.named else { return Ok(()) };
        let found = named_fields(header, std::slice::from_ref(name), *separator, *csv, self.end)?;
        self.place = match found {
            KeyPart::Fields(Fields { choice: FieldChoice::Listed(indices), separator }) if indices.len() == 1 => {
                Place::Field { index: indices[0], separator }
            }
            KeyPart::CsvFields(Fields {
                choice: FieldChoice::Listed(indices),
                separator: Separator::Byte(delimiter),
            }) if indices.len() == 1 => Place::csv(indices[0], delimiter, self.end),
            _ => Place::Unknown,
        };
        Ok(())
    }

    /// The time of a whole record, if it has that field. Fails if there is not enough memory for it.
    pub(crate) fn of<'record>(&'record mut self, record: &'record [u8]) -> io::Result<Option<RecordTime<'record>>> {
        self.unquoted.clear();
        let (unquoted, mut is_found) = (&mut self.unquoted, false);
        let mut take = |time: Option<&[u8]>, _| {
            if let (Some(time), false) = (time, is_found) {
                is_found = true;
                unquoted.extend_from_slice(time);
            }
        };
        match &mut self.place {
            &mut Place::Field { index, separator } => {
                let content = self.end.strip(record);
                return Ok(field(content, index, separator).map(|range| RecordTime {
                    text: &content[range.clone()],
                    around: [&content[..range.start], &content[range.end..]],
                }));
            }
            Place::Csv(rows) => {
                rows.push(record)?;
                if record.last() != Some(&self.end.byte()) {
                    rows.push(&[self.end.byte()])?;
                }
                rows.take(|block| block.for_each_key(take));
            }
            Place::Json(paths) => JsonRows::new(self.end, paths).block(record)?.for_each_key(&mut take),
            Place::Unknown => {}
        }
        Ok(is_found.then_some(RecordTime { text: &self.unquoted, around: [b"", b""] }))
    }
}

impl Place {
    fn csv(index: usize, delimiter: u8, end: RecordEnd) -> Self {
        Self::Csv(Box::new(CsvRows::new(end, delimiter, FieldChoice::listed(vec![index]), 0)))
    }
}

/// The position of a field. One that begins with a bracket ends with the next one, as `[10/Oct/2000:13:55:36 -0700]` does in the
/// common log format, between blanks.
fn field(content: &[u8], index: usize, separator: Separator) -> Option<Range<usize>> {
    let is_end = |byte: &u8| match separator {
        Separator::Byte(delimiter) => *byte == delimiter,
        Separator::Blanks => matches!(byte, b' ' | b'\t'),
    };
    let mut rest = 0;
    for number in 0..=index {
        let skipped = match separator {
            Separator::Byte(_) => 0,
            Separator::Blanks => content[rest..].iter().position(|byte| !is_end(byte))?,
        };
        let start = rest + skipped;
        let end = content[start..].iter().position(is_end).map(|length| start + length);
        if number == index {
            let end = end.unwrap_or(content.len());
            let closed = content[start..].find_byte(b']').map(|length| start + length + 1);
            return match content.get(start) {
                Some(b'[') => Some(start..closed.unwrap_or(end)),
                _ => Some(start..end),
            };
        }
        rest = end? + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAB: Separator = Separator::Byte(b'\t');
    const COMMA: Separator = Separator::Byte(b',');

    fn fields(separator: Separator) -> Fields {
        Fields { choice: FieldChoice::listed(vec![0]), separator }
    }

    fn time_in(times: &mut TimeField, record: &[u8]) -> Option<String> {
        let time = times.of(record).expect("memory")?;
        Some(String::from_utf8(time.text.to_vec()).expect("text"))
    }

    #[test]
    fn a_time_is_a_field_and_the_rest_stands_around_it() {
        let mut times = TimeField::new("2", RecordEnd::Line, &KeyPart::Whole, TAB).expect("a number");
        let time = times.of(b"ani\t5\tx\r\n").expect("memory").expect("a time");
        assert_eq!((time.text, time.around), (&b"5"[..], [&b"ani\t"[..], b"\tx"]));
        let time = times.of(b"ani\t5").expect("memory").expect("a time");
        assert_eq!((time.text, time.around), (&b"5"[..], [&b"ani\t"[..], b""]));
        assert_eq!(time_in(&mut times, b"ani\t\n").as_deref(), Some(""));
        assert_eq!(time_in(&mut times, b"ani\n"), None);
        assert!(TimeField::new("0", RecordEnd::Line, &KeyPart::Whole, TAB).is_none());
        assert!(TimeField::new("time", RecordEnd::Line, &KeyPart::Fields(fields(TAB)), TAB).is_none());
    }

    #[test]
    fn a_time_in_brackets_has_blanks() {
        let mut times = TimeField::new("4", RecordEnd::Line, &KeyPart::Whole, Separator::Blanks).expect("a number");
        let line = b"10.0.0.1 -  - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 5\n";
        assert_eq!(time_in(&mut times, line).as_deref(), Some("[10/Oct/2000:13:55:36 -0700]"));
        assert_eq!(time_in(&mut times, b"a b c [d e\n").as_deref(), Some("[d"));
        assert_eq!(time_in(&mut times, b" a b  c \n"), None);
        assert_eq!(time_in(&mut times, b" a b  c 7 \n").as_deref(), Some("7"));
    }

    #[test]
    fn times_of_csv_and_json_are_unquoted() {
        let mut csv =
            TimeField::new("2", RecordEnd::Line, &KeyPart::CsvFields(fields(COMMA)), COMMA).expect("a number");
        for (row, time) in [
            (&b"a,\"5,\n6\"\n"[..], Some("5,\n6")),
            (b"a\n", None),
            (b"\n", None),
            (b"a,7\r\n", Some("7")),
            (b"a,8", Some("8")),
            (b"b,9\n", Some("9")),
        ] {
            assert_eq!(time_in(&mut csv, row).as_deref(), time, "{row:?}");
        }
        let keys = KeyPart::Json(vec!["id".to_owned()]);
        let mut json = TimeField::new("at.t", RecordEnd::Line, &keys, TAB).expect("a path");
        assert_eq!(time_in(&mut json, b"{\"id\":1,\"at\":{\"t\":\"2026\\u002d1\"}}\n").as_deref(), Some("2026-1"));
        assert_eq!(time_in(&mut json, b"{\"at\":{\"t\":[5,6]}}").as_deref(), Some("5"));
        assert_eq!(time_in(&mut json, b"no JSON\n"), None);
    }

    #[test]
    fn the_header_of_each_input_says_which_field_it_is() {
        for csv in [false, true] {
            let keys = KeyPart::Named { names: vec!["id".to_owned()], separator: COMMA, csv };
            let mut times = TimeField::new("time", RecordEnd::Line, &keys, COMMA).expect("a name");
            assert_eq!(time_in(&mut times, b"1,2\n"), None);
            times.read_header(b"id,time\n").expect("it is there");
            assert_eq!(time_in(&mut times, b"1,2\n").as_deref(), Some("2"));
            times.read_header(b"time,id\n").expect("it is there");
            assert_eq!(time_in(&mut times, b"1,2\n").as_deref(), Some("1"));
            assert!(times.read_header(b"when,id\n").is_err());
        }
    }
}
