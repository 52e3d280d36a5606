use core::fmt;

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
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The first bytes are not those of a guira file.
    NotGuira,
    /// The file was written by a later version of the format.
    LaterVersion {
        /// The version in the file.
        found: u16,
        /// The latest version that is understood.
        supported: u16,
    },
    /// The bytes end too early.
    Truncated {
        /// The bytes that there should be, as far as is known.
        expected: u64,
        /// The bytes that there are.
        found: u64,
    },
    /// There are more bytes than the filter has.
    TrailingBytes {
        /// The bytes of the filter.
        expected: u64,
    },
    /// The header was damaged: its checksum differs.
    HeaderChecksum,
    /// The table was damaged: its checksum differs.
    TableChecksum,
    /// The header asks for something that this version does not know.
    Unknown {
        /// What it is, such as "kind", "layout", "addressing" or "hash".
        what: &'static str,
        /// The number in the file.
        found: u64,
    },
    /// Behind the table is a chunk that this version does not know, and that must be known to read the filter.
    UnknownChunk {
        /// Its name.
        tag: [u8; 4],
    },
    /// A chunk behind the table was damaged: its checksum differs.
    ChunkChecksum {
        /// Its name.
        tag: [u8; 4],
    },
    /// Something was done to the file's keys before they were hashed, which the library does not do: see
    /// [`LoadOptions::normalized_keys`](crate::LoadOptions::normalized_keys).
    KeysNormalized {
        /// The ASCII letters A to Z were made lower case.
        lowercase: bool,
        /// Spaces, tabs, carriage returns, vertical tabs and form feeds at both ends were left out.
        trim: bool,
    },
    /// The file holds something else than it was loaded as.
    OtherKind {
        /// What it holds.
        found: FileKind,
        /// What it was loaded as.
        expected: FileKind,
    },
    /// The values in the file have more bits than those of the type they were loaded as.
    ValueBits {
        /// The bits of a value in the file.
        found: u32,
        /// The bits of a value of the type.
        most: u32,
    },
    /// A field of the header contradicts another or the table, or must be 0; or the table holds what no file of its kind
    /// can hold.
    Inconsistent {
        /// What is wrong.
        what: &'static str,
    },
    /// The parameters in the header are those of no filter.
    Parameters(BuildError),
    /// The filter's keys were hashed with a secret key, which was not given.
    SecretKeyMissing,
    /// The filter's keys were hashed with a secret key that is not the one given.
    SecretKeyDiffers,
    /// A secret key was given for a filter that has none.
    SecretKeyNotUsed,
    /// The filter was made otherwise than was asked for.
    MadeOtherwise {
        /// What differs: "seed", "false positive rate", "growth", "number of value bits", "lifetime" or "resolution".
        what: &'static str,
    },
    /// A key of the journal, behind the table, finds no room in the table. Views answer for it all the same.
    JournalDoesNotFit {
        /// Why it finds none.
        reason: InsertError,
    },
    /// The memory for the table could not be allocated.
    OutOfMemory {
        /// The bytes of the table.
        bytes: u64,
    },
    /// Reading failed.
    #[cfg(feature = "std")]
    Io(std::io::Error),
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGuira => formatter.write_str("not a guira filter: the first bytes are something else"),
            Self::LaterVersion { found, supported } => write!(
                formatter,
                "written in version {found} of the format, and this program reads up to version {supported}: use a \
                 later release"
            ),
            Self::Truncated { expected, found } => {
                write!(formatter, "cut off: {found} bytes where there should be at least {expected}")
            }
            Self::TrailingBytes { expected } => {
                write!(formatter, "more bytes than the {expected} of the filter: something was appended")
            }
            Self::HeaderChecksum => formatter.write_str("damaged: the checksum of the header does not match"),
            Self::TableChecksum => formatter.write_str("damaged: the checksum of the table does not match"),
            Self::Unknown { what, found } => {
                write!(formatter, "unknown {what} {found}: needs a later release")
            }
            Self::UnknownChunk { tag } => {
                write!(
                    formatter,
                    "unknown chunk \"{}\", which must be known: needs a later release",
                    tag.escape_ascii()
                )
            }
            Self::ChunkChecksum { tag } => {
                write!(formatter, "damaged: the checksum of the chunk \"{}\" does not match", tag.escape_ascii())
            }
            Self::KeysNormalized { lowercase, trim } => {
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
            Self::OtherKind { found, expected } => {
                write!(formatter, "the file holds a {found}, and a {expected} is expected: load it as what it is")
            }
            Self::ValueBits { found, most } => write!(
                formatter,
                "the values in the file have {found} bits, and the type that they are loaded as has {most}: load them \
                 as a wider type"
            ),
            Self::Inconsistent { what } => write!(formatter, "malformed: {what}"),
            Self::Parameters(error) => write!(formatter, "malformed: {error}"),
            Self::SecretKeyMissing => formatter.write_str("made with a secret hash key: give the key"),
            Self::SecretKeyDiffers => formatter.write_str("made with another secret hash key than the one given"),
            Self::SecretKeyNotUsed => formatter.write_str("made without a secret hash key: give none"),
            Self::MadeOtherwise { what } => {
                write!(
                    formatter,
                    "the filter in the file was made with another {what} than is asked for: open it as it is, or make a new one"
                )
            }
            Self::JournalDoesNotFit { reason } => write!(
                formatter,
                "a key that was added finds no room in the table: {reason}. It is in the file, so lookups in a view find it"
            ),
            Self::OutOfMemory { bytes } => write!(formatter, "no memory for a table of {bytes} bytes"),
            #[cfg(feature = "std")]
            Self::Io(error) => write!(formatter, "{error}"),
        }
    }
}

/// What the cause says is part of the message, so the source is what is behind the cause.
impl core::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Parameters(error) => error.source(),
            #[cfg(feature = "std")]
            Self::Io(error) => error.source(),
            _ => None,
        }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for LoadError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
