//! Keys in lines of JSON.

use std::borrow::Cow;
use std::fmt;
use std::io;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::block::{Block, Lines, Row, for_each_record};
use super::form::RecordEnd;
use super::memory;

/// Finds the keys of records that are JSON objects.
pub(crate) struct JsonRows<'paths> {
    paths: &'paths [String],
    end: RecordEnd,
    rows: Vec<Row>,
    unquoted: Vec<u8>,
    /// The number of records so far, and what was wrong with them.
    records: u64,
    faults: JsonFaults,
}

/// Records without a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonFaults {
    pub(crate) not_json: Fault,
    pub(crate) without_value: Fault,
}

impl JsonFaults {
    pub(crate) const NONE: Self = Self { not_json: Fault::NONE, without_value: Fault::NONE };
}

/// How many records have a fault, and the number of the first of them, from 1 on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) count: u64,
    pub(crate) first: u64,
}

impl Fault {
    const NONE: Self = Self { count: 0, first: 0 };
}

impl<'paths> JsonRows<'paths> {
    pub(crate) const fn new(end: RecordEnd, paths: &'paths [String]) -> Self {
        Self { paths, end, rows: Vec::new(), unquoted: Vec::new(), records: 0, faults: JsonFaults::NONE }
    }

    /// Makes a block of these records. A record that is not JSON has no key. Fails if there is not enough memory for a record.
    pub(crate) fn block<'block>(&'block mut self, bytes: &'block [u8]) -> io::Result<Block<'block>> {
        self.rows.clear();
        self.unquoted.clear();
        let mut result = Ok(());
        for_each_record(bytes, self.end, |record, end| {
            if result.is_ok() {
                result = self.push(record, end);
            }
        });
        result?;
        Ok(Block::of_rows(bytes, &self.rows, &self.unquoted, Lines::One).with_faults(self.faults))
    }

    fn push(&mut self, record: &[u8], end: usize) -> io::Result<()> {
        memory::expect_free(record, MEMORY_OF_PARSER)?;
        self.records += 1;
        let (rows_before, size_before) = (self.rows.len(), self.unquoted.len());
        let mut found = Found { rows: &mut self.rows, unquoted: &mut self.unquoted, end, result: Ok(()) };
        let is_valid = self.paths.iter().all(|path| find(record, path, &mut found).is_ok());
        found.result?;
        if !is_valid {
            self.rows.truncate(rows_before);
            self.unquoted.truncate(size_before);
        }
        if self.rows.len() == rows_before {
            memory::push(&mut self.rows, Row { key: None, end }, end)?;
            let faults = &mut self.faults;
            let fault = if is_valid { &mut faults.without_value } else { &mut faults.not_json };
            if fault.count == 0 {
                fault.first = self.records;
            }
            fault.count += 1;
        }
        Ok(())
    }
}

/// The parser may take this many times the length of a record: for a string without its escapes, in a buffer that doubles
/// while it is copied, and once more for the string itself.
const MEMORY_OF_PARSER: usize = 4;

/// Where the keys of a record go.
struct Found<'to> {
    rows: &'to mut Vec<Row>,
    unquoted: &'to mut Vec<u8>,
    /// Where the record ends.
    end: usize,
    /// An error if memory ran out; the parser hides its kind.
    result: io::Result<()>,
}

impl Found<'_> {
    fn take(&mut self, key: &[u8]) -> serde_json::Result<()> {
        if self.result.is_ok() {
            self.result = self.push(key);
        }
        match self.result {
            Ok(()) => Ok(()),
            Err(_) => Err(serde_json::Error::custom("not enough memory")),
        }
    }

    fn push(&mut self, key: &[u8]) -> io::Result<()> {
        let start = self.unquoted.len();
        memory::extend(self.unquoted, key)?;
        let key = Some(start..self.unquoted.len());
        memory::push(self.rows, Row { key, end: self.end }, self.end)
    }
}

fn find(record: &[u8], path: &str, found: &mut Found<'_>) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_slice(record);
    At { rest: path, found }.deserialize(&mut json)?;
    json.end()
}

/// A value, with the rest of the path from there.
struct At<'path, 'found, 'to> {
    rest: &'path str,
    found: &'found mut Found<'to>,
}

impl<'json> DeserializeSeed<'json> for At<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'json>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'json> Visitor<'json> for At<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<M: MapAccess<'json>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(name) = map.next_key::<Text<'json>>()? {
            // A name may contain dots, as `id.orig_h` in the logs of Zeek.
            match self.rest.strip_prefix(&*name.0) {
                Some("") => map.next_value_seed(Leaf { found: &mut *self.found, depth: 0 })?,
                Some(behind) if behind.starts_with('.') => {
                    map.next_value_seed(At { rest: &behind[1..], found: &mut *self.found })?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'json>>(self, mut array: S) -> Result<(), S::Error> {
        while array.next_element_seed(At { rest: self.rest, found: &mut *self.found })?.is_some() {}
        Ok(())
    }

    // The path goes on, but these values have no members.
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Arrays in arrays up to this depth: each takes a part of the stack. The parser has this limit too, but starts anew at each.
const MAX_DEPTH: usize = 128;

/// The value at the end of the path, or an element of an array there.
struct Leaf<'found, 'to> {
    found: &'found mut Found<'to>,
    /// The number of arrays around it.
    depth: usize,
}

impl<'json> DeserializeSeed<'json> for Leaf<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'json>>(self, json: D) -> Result<(), D::Error> {
        // Numbers are keys exactly as written.
        take_value(<&RawValue>::deserialize(json)?, self.found, self.depth).map_err(D::Error::custom)
    }
}

fn take_value(value: &RawValue, found: &mut Found<'_>, depth: usize) -> serde_json::Result<()> {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'"') => found.take(serde_json::from_str::<Text<'_>>(text)?.0.as_bytes()),
        Some(b'[') if depth == MAX_DEPTH => Err(serde_json::Error::custom("too many arrays in each other")),
        Some(b'[') => serde_json::Deserializer::from_str(text).deserialize_seq(Elements { found, depth: depth + 1 }),
        // Objects and null are no keys.
        Some(b'{' | b'n') | None => Ok(()),
        Some(_) => found.take(text.as_bytes()),
    }
}

/// The elements of an array, one at a time: a list of them could take more memory than the array.
struct Elements<'found, 'to> {
    found: &'found mut Found<'to>,
    depth: usize,
}

impl<'json> Visitor<'json> for Elements<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<S: SeqAccess<'json>>(self, mut array: S) -> Result<(), S::Error> {
        while array.next_element_seed(Leaf { found: &mut *self.found, depth: self.depth })?.is_some() {}
        Ok(())
    }
}

/// A string, borrowed where nothing is escaped in it.
#[derive(Deserialize)]
struct Text<'json>(#[serde(borrow)] Cow<'json, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(paths: &[&str], lines: &str) -> Vec<(Option<String>, usize)> {
        let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        let mut rows = JsonRows::new(RecordEnd::Line, &paths);
        let mut keys = Vec::new();
        let text = |key: &[u8]| String::from_utf8(key.to_vec()).expect("UTF-8");
        rows.block(lines.as_bytes()).expect("memory").for_each_key(|key, end| keys.push((key.map(text), end)));
        keys
    }

    #[track_caller]
    fn assert_keys(path: &str, line: &str, expected: &[&str]) {
        let found: Vec<_> = keys(&[path], line).into_iter().filter_map(|(key, _)| key).collect();
        assert_eq!(found, expected, "{path} in {line}");
    }

    #[test]
    fn a_path_leads_through_objects_to_a_value() {
        let line = r#"{"x":1,"a":{"c":0,"b":"k"},"b":"no"}"#;
        assert_keys("a.b", line, &["k"]);
        assert_keys("b", line, &["no"]);
        assert_keys("a", line, &[]);
        assert_keys("a.b.c", line, &[]);
        assert_keys("x.y", line, &[]);
        assert_keys("z", line, &[]);
        assert_keys("id.orig_h", r#"{"id.orig_h":"10.0.0.1","id.orig_p":80}"#, &["10.0.0.1"]);
        assert_keys("a.b.c", r#"{"a.b":{"c":"one"},"a":{"b.c":"two"}}"#, &["one", "two"]);
        assert_keys("ab", r#"{"a":{"b":"no"},"abc":"no"}"#, &[]);
    }

    #[test]
    fn strings_are_keys_without_escapes_and_numbers_as_they_are_written() {
        assert_keys("k", r#"{"k":"a\"\u00e9\n"}"#, &["a\"\u{e9}\n"]);
        assert_keys("\u{e9}", r#"{"\u00e9":"k"}"#, &["k"]);
        assert_keys("k", r#"{"k":1.50e3}"#, &["1.50e3"]);
        assert_keys("k", r#"{"k":123456789012345678901234567890}"#, &["123456789012345678901234567890"]);
        assert_keys("k", r#"{"k":true}"#, &["true"]);
        assert_keys("k", r#"{"k":null}"#, &[]);
        assert_keys("k", r#"{"k":""}"#, &[""]);
    }

    #[test]
    fn each_element_of_an_array_is_a_key() {
        assert_keys("k", r#"{"k":["a",2,null,["b"]]}"#, &["a", "2", "b"]);
        assert_keys("k.x", r#"{"k":[{"x":"a"},{"y":"no"},7,{"x":["b"]}]}"#, &["a", "b"]);
    }

    #[test]
    fn arrays_in_each_other_give_keys_up_to_a_depth_and_none_beyond() {
        let nested = |depth: usize| format!("{{\"k\":{}\"a\"{}}}", "[".repeat(depth), "]".repeat(depth));
        assert_keys("k", &nested(MAX_DEPTH), &["a"]);
        for depth in [MAX_DEPTH + 1, 100_000] {
            assert_keys("k", &nested(depth), &[]);
            assert_keys("k.x", &nested(depth), &[]);
        }
    }

    #[test]
    fn what_is_not_json_has_no_key() {
        let lines = "{\"k\":\"a\"}\nnot JSON\n{\"k\":\"b\"} x\n{\"k\":\"c\"\n\n{\"k\":\"d\"}";
        let found = keys(&["k"], lines);
        let expected = [(Some("a"), 10), (None, 19), (None, 31), (None, 40), (None, 41), (Some("d"), 50)];
        assert_eq!(found, expected.map(|(key, end)| (key.map(str::to_owned), end)));
    }

    #[test]
    fn several_paths_give_the_keys_of_one_record() {
        let found = keys(&["b", "a"], "{\"a\":\"1\",\"b\":\"2\"}\n{\"a\":\"3\"}\n{}\n");
        let expected = [(Some("2"), 18), (Some("1"), 18), (Some("3"), 28), (None, 31)];
        assert_eq!(found, expected.map(|(key, end)| (key.map(str::to_owned), end)));
    }
}
