use core::fmt;

use thiserror::Error;

use super::{BuildError, InsertError};

/// The kind of a file: what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A [`CuckooFilter`](crate::CuckooFilter).
    Filter,
    /// A [`CuckooSet`](crate::CuckooSet).
    Set,
    /// A [`CuckooFilter`](crate::CuckooFilter) that grows.
    Growing,
    /// A [`CountingCuckooFilter`](crate::CountingCuckooFilter).
    Counting,
    /// A [`CuckooMap`](crate::CuckooMap).
    Map,
    /// An [`ExpiringCuckooFilter`](crate::ExpiringCuckooFilter).
    Expiring,
}

impl fmt::Display for FileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Filter => "filter",
            Self::Set => "set without removal",
            Self::Growing => "growing filter",
            Self::Counting => "counting filter",
            Self::Map => "map",
            Self::Expiring => "filter with keys that expire",
        })
    }
}

/// Why bytes are not a filter.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The first bytes are not those of a guira file.
    #[error("not a guira filter: the first bytes are something else")]
    NotGuira,
    /// The file was written by a later version of the format.
    #[error(
        "written in version {found} of the format, and this program reads up to version {supported}: use a later release"
    )]
    LaterVersion {
        /// The version in the file.
        found: u16,
        /// The latest version that is understood.
        supported: u16,
    },
    /// The bytes end too early.
    #[error("cut off: {found} bytes where there should be at least {expected}")]
    Truncated {
        /// The bytes that there should be, as far as is known.
        expected: u64,
        /// The bytes that there are.
        found: u64,
    },
    /// There are more bytes than the filter has.
    #[error("more bytes than the {expected} of the filter: something was appended")]
    TrailingBytes {
        /// The bytes of the filter.
        expected: u64,
    },
    /// The header was damaged: its checksum differs.
    #[error("damaged: the checksum of the header does not match")]
    HeaderChecksum,
    /// The table was damaged: its checksum differs.
    #[error("damaged: the checksum of the table does not match")]
    TableChecksum,
    /// The header asks for something that this version does not know.
    #[error("unknown {what} {found}: needs a later release")]
    Unknown {
        /// What it is, such as "kind", "layout", "addressing" or "hash".
        what: &'static str,
        /// The number in the file.
        found: u64,
    },
    /// Behind the table is a chunk that this version does not know, and that must be known to read the filter.
    #[error("unknown chunk \"{}\", which must be known: needs a later release", .tag.escape_ascii())]
    UnknownChunk {
        /// Its name.
        tag: [u8; 4],
    },
    /// A chunk behind the table was damaged: its checksum differs.
    #[error("damaged: the checksum of the chunk \"{}\" does not match", .tag.escape_ascii())]
    ChunkChecksum {
        /// Its name.
        tag: [u8; 4],
    },
    /// Something was done to the file's keys before they were hashed, which the library does not do: see
    /// [`LoadOptions::normalized_keys`](crate::LoadOptions::normalized_keys).
    #[error(fmt = keys_normalized)]
    KeysNormalized {
        /// The ASCII letters A to Z were made lower case.
        lowercase: bool,
        /// Spaces, tabs, carriage returns, vertical tabs and form feeds at both ends were left out.
        trim: bool,
    },
    /// The file holds something else than it was loaded as.
    #[error("the file holds a {found}, and a {expected} is expected: load it as what it is")]
    OtherKind {
        /// What it holds.
        found: FileKind,
        /// What it was loaded as.
        expected: FileKind,
    },
    /// The values in the file have more bits than those of the type they were loaded as.
    #[error(
        "the values in the file have {found} bits, and the type that they are loaded as has {most}: load them as a wider \
         type"
    )]
    ValueBits {
        /// The bits of a value in the file.
        found: u32,
        /// The bits of a value of the type.
        most: u32,
    },
    /// A field of the header contradicts another or the table, or must be 0; or the table holds what no file of its kind
    /// can hold.
    #[error("malformed: {what}")]
    Inconsistent {
        /// What is wrong.
        what: &'static str,
    },
    /// The parameters in the header are those of no filter.
    #[error("malformed: {0}")]
    Parameters(BuildError),
    /// The filter's keys were hashed with a secret key, which was not given.
    #[error("made with a secret hash key: give the key")]
    SecretKeyMissing,
    /// The filter's keys were hashed with a secret key that is not the one given.
    #[error("made with another secret hash key than the one given")]
    SecretKeyDiffers,
    /// A secret key was given for a filter that has none.
    #[error("made without a secret hash key: give none")]
    SecretKeyNotUsed,
    /// The filter was made otherwise than was asked for.
    #[error(
        "the filter in the file was made with another {what} than is asked for: open it as it is, or make a new one"
    )]
    MadeOtherwise {
        /// What differs: "seed", "false positive rate", "growth", "number of value bits", "lifetime" or "resolution".
        what: &'static str,
    },
    /// A key of the journal, behind the table, finds no room in the table. Views answer for it all the same.
    #[error(
        "a key that was added finds no room in the table: {reason}. It is in the file, so lookups in a view find it"
    )]
    JournalDoesNotFit {
        /// Why it finds none.
        reason: InsertError,
    },
    /// The memory for the table could not be allocated.
    #[error("no memory for a table of {bytes} bytes")]
    OutOfMemory {
        /// The bytes of the table.
        bytes: u64,
    },
    /// Reading failed.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

fn keys_normalized(lowercase: &bool, trim: &bool, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let done = match (lowercase, trim) {
        (true, false) => "its keys were made lower case",
        (false, true) => "blanks at the ends of its keys were left out",
        _ => "its keys were made lower case, and blanks at their ends left out,",
    };
    write!(
        formatter,
        "{done} before they were hashed: do the same to keys, and load it with LoadOptions::normalized_keys"
    )
}
