/// How keys stand in an input: in records, each a key or with a key in one of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyForm {
    /// What ends a record.
    pub end: RecordEnd,
    /// What part of it is the key.
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

/// What part of a record is the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// All of it but its end.
    Whole,
    /// One of the fields that a byte separates.
    Field(Field),
    /// The same in CSV, where a field in quotes may hold delimiters, ends of records, and doubled quotes.
    CsvField(Field),
}

/// One of the fields of a record, and what is between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// From 0.
    pub index: usize,
    /// No line end.
    pub delimiter: u8,
}

impl RecordEnd {
    /// The last byte of a record that has its end.
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Line => b'\n',
            Self::Null => 0,
        }
    }
}
