use std::io;

use serde::{Deserialize, Serialize};

use super::block::{Block, Row};
use super::memory;

/// What is done to keys before they are hashed. The field names are those of the file format and must not change.
///
/// ASCII only: Unicode's lower case changes from version to version, and a key would be lost.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
pub(crate) struct Normalization {
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) lowercase: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) trim: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Normalization {
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Appends the normalized key to `to`.
    pub(crate) fn apply(self, mut key: &[u8], to: &mut Vec<u8>) {
        if self.trim {
            let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
            let start = key.iter().position(|byte| !is_blank(byte)).unwrap_or(key.len());
            let end = key.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
            key = &key[start..end];
        }
        let start = to.len();
        to.extend_from_slice(key);
        if self.lowercase {
            to[start..].make_ascii_lowercase();
        }
    }
}

/// What becomes of keys that are empty, as those of blank lines and of empty fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EmptyKeys {
    /// They are keys like others.
    #[default]
    Taken,
    /// They are none.
    Skipped,
}

/// The normalized keys of a block.
pub(crate) struct Normalized {
    normalization: Normalization,
    empty: EmptyKeys,
    rows: Vec<Row>,
    keys: Vec<u8>,
}

impl Normalized {
    pub(crate) const fn new(normalization: Normalization, empty: EmptyKeys) -> Self {
        Self { normalization, empty, rows: Vec::new(), keys: Vec::new() }
    }

    /// A block of the same records with normalized keys. Fails if there is not enough memory for a key.
    pub(crate) fn block<'block>(&'block mut self, block: &Block<'block>) -> io::Result<Block<'block>> {
        if block.is_header() {
            return Ok(*block);
        }
        self.rows.clear();
        self.keys.clear();
        let mut result = Ok(());
        block.for_each_key(|key, end| {
            if result.is_ok() {
                result = self.push(key, end);
            }
        });
        result?;
        Ok(block.with_keys(&self.rows, &self.keys))
    }

    fn push(&mut self, key: Option<&[u8]>, end: usize) -> io::Result<()> {
        let start = self.keys.len();
        if let Some(key) = key {
            memory::reserve(&mut self.keys, key.len())?;
            self.normalization.apply(key, &mut self.keys);
        }
        let mut key = key.map(|_| start..self.keys.len());
        if self.empty == EmptyKeys::Skipped {
            key = key.filter(|key| !key.is_empty());
            // A record has one row without a key if it has no key, and none otherwise.
            match self.rows.last() {
                Some(last) if last.end == end && key.is_none() => return Ok(()),
                Some(last) if last.end == end && last.key.is_none() => drop(self.rows.pop()),
                _ => {}
            }
        }
        memory::push(&mut self.rows, Row { key, end }, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{FieldChoice, Fields, KeyForm, KeyPart, RecordEnd, Separator};

    #[test]
    fn empty_keys_are_skipped_once_blanks_are_left_out_and_a_record_of_nothing_else_has_none() {
        let fields = Fields { choice: FieldChoice::All, separator: Separator::Byte(b',') };
        let form = KeyForm { end: RecordEnd::Line, part: KeyPart::Fields(fields) };
        let block = Block::of_records(b"a,,b\n, ,c\n,\n\n", &form);
        let found = |empty| {
            let mut normalized = Normalized::new(Normalization { lowercase: false, trim: true }, empty);
            let mut found = Vec::new();
            normalized.block(&block).expect("memory").for_each_key(|key, end| {
                found.push((key.map(|key| String::from_utf8_lossy(key).into_owned()), end));
            });
            found
        };
        let key = |key: &str| Some(key.to_owned());
        assert_eq!(found(EmptyKeys::Skipped), [(key("a"), 5), (key("b"), 5), (key("c"), 10), (None, 12), (None, 13)]);
        assert_eq!(found(EmptyKeys::Taken).iter().filter(|(found, _)| *found == key("")).count(), 6);
    }

    #[test]
    fn ascii_letters_are_made_lower_case_and_blanks_at_the_ends_left_out() {
        let applied = |lowercase, trim, key: &[u8]| {
            let mut to = b"before".to_vec();
            Normalization { lowercase, trim }.apply(key, &mut to);
            to.split_off(b"before".len())
        };
        let key = " \tGr\u{dc}n A\x0b\x0c\r ".as_bytes();
        assert_eq!(applied(false, false, key), key);
        assert_eq!(applied(true, false, key), " \tgr\u{dc}n a\x0b\x0c\r ".as_bytes());
        assert_eq!(applied(false, true, key), "Gr\u{dc}n A".as_bytes());
        assert_eq!(applied(true, true, key), "gr\u{dc}n a".as_bytes());
        assert_eq!(applied(true, true, b" \t "), b"");
        assert_eq!(applied(true, true, b""), b"");
        assert_eq!(applied(true, true, b"\xffA"), b"\xffa");
    }
}
