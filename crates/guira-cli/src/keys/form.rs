/// How an input holds keys: in records, each a key or with keys in its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyForm {
    /// What ends a record.
    pub end: RecordEnd,
    /// The part of a record that is the key.
    pub part: KeyPart,
}

/// What ends a record. The last record of an input needs no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordEnd {
    /// LF, or CR LF: the carriage return is part of the end.
    Line,
    /// A NUL byte, and nothing else.
    Null,
}

/// The part of a record that is the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// All of it but its end.
    Whole,
    /// Some of its fields, each of which is a key.
    Fields(Fields),
    /// Some of the fields of a CSV row. A field in quotes may hold delimiters, ends of records and doubled quotes.
    CsvFields(Fields),
    /// The fields with these names in the first record of each input, which holds no key.
    Named {
        /// The names, at least one.
        names: Vec<String>,
        /// What separates the fields.
        separator: Separator,
        /// Whether the input is CSV.
        csv: bool,
    },
    /// The values at these paths in a JSON object, such as `source.ip`. A value that is an array gives one key for each of
    /// its elements.
    Json(Vec<String>),
}

/// Which fields of a record are keys, and what separates them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Which fields are keys.
    pub choice: FieldChoice,
    /// What separates the fields.
    pub separator: Separator,
}

/// Which fields of a record are keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldChoice {
    /// Those with these indices, counted from 0, ascending and without repetition.
    Listed(Vec<usize>),
    /// All of them.
    All,
}

/// What separates fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// A byte that is no line end. Between two such bytes is an empty field.
    Byte(u8),
    /// Spaces and tabs, any number of them. Those at the start and at the end of a record separate nothing.
    Blanks,
}

impl RecordEnd {
    /// The last byte of a record that has its end.
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Line => b'\n',
            Self::Null => 0,
        }
    }

    /// Returns `true` if a record of these bytes and this end is read as just these bytes.
    pub(crate) fn delimits(self, bytes: &[u8]) -> bool {
        let takes_more = self == Self::Line && bytes.last() == Some(&b'\r');
        !takes_more && !bytes.contains(&self.byte())
    }

    /// A record without its end, if it has one.
    pub(crate) fn strip(self, record: &[u8]) -> &[u8] {
        let Some(content) = record.strip_suffix(&[self.byte()]) else { return record };
        match self {
            Self::Line => content.strip_suffix(b"\r").unwrap_or(content),
            Self::Null => content,
        }
    }
}

impl FieldChoice {
    /// The fields with these indices.
    #[must_use]
    pub fn listed(mut indices: Vec<usize>) -> Self {
        indices.sort_unstable();
        indices.dedup();
        Self::Listed(indices)
    }

    /// Returns `true` if the field with this index is a key.
    pub(crate) fn contains(&self, index: usize) -> bool {
        match self {
            Self::Listed(indices) => indices.binary_search(&index).is_ok(),
            Self::All => true,
        }
    }

    /// The index behind the last field that is a key.
    pub(crate) fn end(&self) -> usize {
        match self {
            Self::Listed(indices) => indices.last().map_or(0, |last| last + 1),
            Self::All => usize::MAX,
        }
    }
}

impl Separator {
    /// The byte between printed fields.
    pub(crate) const fn printed(self) -> u8 {
        match self {
            Self::Byte(byte) => byte,
            Self::Blanks => b' ',
        }
    }
}
