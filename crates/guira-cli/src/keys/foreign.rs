use std::io;

/// Formats that are refused, since they would be read as a few long keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    Xz,
    Bzip2,
    Lz4,
    SevenZip,
    Zip,
    Utf16,
    Utf32,
    Parquet,
    Arrow,
    Avro,
    NumPy,
    Hdf5,
    Sqlite,
    Filter,
}

/// What to do with a file of columns.
const COLUMN: &str = "write the column of the keys as lines first, or build the filter of it in Python";

impl Foreign {
    /// The first bytes of each format.
    pub(super) const ALL: [(&'static [u8], Self); 28] = [
        (b"\xfd7zXZ\0", Self::Xz),
        // Behind the block size are the digits of pi, or of its square root if nothing is compressed.
        (b"BZh11AY&SY", Self::Bzip2),
        (b"BZh21AY&SY", Self::Bzip2),
        (b"BZh31AY&SY", Self::Bzip2),
        (b"BZh41AY&SY", Self::Bzip2),
        (b"BZh51AY&SY", Self::Bzip2),
        (b"BZh61AY&SY", Self::Bzip2),
        (b"BZh71AY&SY", Self::Bzip2),
        (b"BZh81AY&SY", Self::Bzip2),
        (b"BZh91AY&SY", Self::Bzip2),
        (b"BZh1\x17rE8P\x90", Self::Bzip2),
        (b"BZh6\x17rE8P\x90", Self::Bzip2),
        (b"BZh9\x17rE8P\x90", Self::Bzip2),
        (b"\x04\x22\x4d\x18", Self::Lz4),
        (b"\x02\x21\x4c\x18", Self::Lz4),
        (b"7z\xbc\xaf\x27\x1c", Self::SevenZip),
        (b"PK\x03\x04", Self::Zip),
        (b"PK\x05\x06", Self::Zip),
        // Both byte orders. UTF-32 starts alike in one of them.
        (b"\xff\xfe", Self::Utf16),
        (b"\xfe\xff", Self::Utf16),
        (b"\0\0\xfe\xff", Self::Utf32),
        // Behind four letters that a key may begin with comes the type of the first field, of the first page or of the footer.
        (b"PAR1\x15", Self::Parquet),
        (b"ARROW1\0\0", Self::Arrow),
        (b"Obj\x01", Self::Avro),
        (b"\x93NUMPY", Self::NumPy),
        (b"\x89HDF\r\n", Self::Hdf5),
        (b"SQLite format 3\0", Self::Sqlite),
        (b"\x89GUIRA\r\n", Self::Filter),
    ];

    /// The error that says why the format is refused, and what to do.
    pub(super) fn error(self) -> io::Error {
        let (what, remedy) = match self {
            Self::Xz => ("xz data", "decompress it first, as with xz -dc"),
            Self::Bzip2 => ("bzip2 data", "decompress it first, as with bzip2 -dc"),
            Self::Lz4 => ("lz4 data", "decompress it first, as with lz4 -dc"),
            Self::SevenZip => ("a 7z archive", "extract it first, as with 7z x -so"),
            Self::Zip => ("a zip archive", "extract it first, as with unzip -p"),
            Self::Utf16 => (
                "UTF-16 text",
                "convert it first, as with iconv -f UTF-16 -t UTF-8; other keys that begin so are read with --compression none",
            ),
            Self::Utf32 => ("UTF-32 text", "convert it first, as with iconv -f UTF-32 -t UTF-8"),
            Self::Parquet => ("a Parquet file", COLUMN),
            Self::Arrow => ("an Arrow file", COLUMN),
            Self::Avro => ("an Avro file", COLUMN),
            Self::NumPy => ("a NumPy array", COLUMN),
            Self::Hdf5 => ("an HDF5 file", COLUMN),
            Self::Sqlite => ("an SQLite database", "select the keys first, as with sqlite3 FILE 'select …'"),
            Self::Filter => return io::Error::other("a filter, where a list of keys is expected"),
        };
        io::Error::other(format!("{what}, not a list of keys: {remedy}"))
    }
}
