//! Why commands are refused. Texts that clients may compare with are RedisBloom's, letter by letter.

use std::fmt;

use guira::{BuildError, InsertError, LoadError, MergeError};

use crate::memory::Boxed;

/// Why a command was refused. The filter is as it was.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CommandError {
    /// Too few arguments, or too many.
    Arity {
        /// The command, in lower case.
        command: &'static str,
    },
    /// The key holds something else than a filter.
    WrongType,
    /// There is no filter to change or describe.
    NotFound,
    /// There is no filter to remove items from.
    NothingToRemoveFrom,
    /// There is no filter to compact.
    NothingToCompact,
    /// There is a filter already.
    Exists,
    /// The capacity is no number.
    BadCapacity,
    /// The capacity is out of range.
    CapacityRange,
    /// The value of an option is no number.
    Unparsable {
        /// The option.
        option: &'static str,
    },
    /// The value of an option is out of range.
    OptionRange {
        /// The option.
        option: &'static str,
        /// The least value.
        least: u64,
        /// The greatest value.
        most: u64,
    },
    /// The rate is not between 0 and 1.
    RateRange,
    /// The maximum capacity is below the capacity, or is given for a filter that does not grow.
    MaxCapacity,
    /// The name of a hash is unknown.
    UnknownHash,
    /// The secret key is malformed.
    BadKey,
    /// A secret key was given where none is used.
    KeyNotUsed,
    /// A secret key was given with another chunk than the first of a dump that lacks it.
    KeyNotTaken,
    /// The filter of the dump has a secret key, which was not given.
    KeyMissing,
    /// The secret key is not that of the filter.
    KeyDiffers,
    /// An option is unknown.
    UnknownArgument,
    /// The position in a dump is no number, or out of range.
    InvalidPosition,
    /// The first chunk of a dump is no header.
    InvalidHeader,
    /// A chunk does not follow the one before, or the dump is damaged.
    InvalidChunk,
    /// Only a part of the filter's dump has been loaded.
    Incomplete {
        /// The bytes that have been loaded.
        received: u64,
        /// The bytes of the whole dump.
        expected: u64,
    },
    /// The filter is full and does not grow.
    Full,
    /// The filter is full and has grown as far as it can.
    MaximumExpansions,
    /// The filter holds as many copies of the item as fit.
    TooManyCopies {
        /// The copies that are stored.
        copies: usize,
    },
    /// Copies of other items fill the buckets of this item.
    Crowded,
    /// The filter would take more memory than the limit for one filter.
    MemoryLimit {
        /// The bytes that the filter would take.
        needed: u64,
        /// The greatest number of bytes allowed.
        limit: u64,
    },
    /// The server has no more memory.
    OutOfMemory,
    /// Nothing may be changed at the moment.
    Paused,
    /// The server has become a replica since the command came.
    Demoted,
    /// A filter that a command began with is gone, perhaps to another node of the cluster.
    Gone,
    /// A filter was to be merged into itself.
    MergeWithItself,
    /// Imported filters can't be merged.
    MergeImported,
    /// Filters with different secret keys can't be merged.
    MergeKeys,
    /// An imported filter can't be the example for a new one.
    LikeImported,
    /// LIKE was given with a capacity or with options.
    LikeAlone,
    /// A filter whose items expire was to grow.
    GrowingExpiring,
    /// A filter whose items expire and one whose items do not can't be merged.
    MergeExpiring,
    /// Filters whose items expire have nothing to give back.
    CompactExpiring,
    /// A resolution was given for a filter whose items do not expire.
    ResolutionNotUsed,
    /// A resolution that is too fine or too coarse for the lifetime.
    ResolutionRange,
    /// A time was given where there is no filter whose items expire.
    TimeNotUsed,
    /// A time was given that is still to come.
    TimeToCome,
    /// The filters are not compatible.
    Merge(Boxed<MergeError>),
    /// No filter can be built with these parameters.
    Build(BuildError),
}

impl fmt::Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arity { command } => write!(formatter, "ERR wrong number of arguments for '{command}' command"),
            Self::WrongType => formatter.write_str("WRONGTYPE Operation against a key holding the wrong kind of value"),
            Self::NotFound => formatter.write_str("ERR not found"),
            Self::NothingToRemoveFrom => formatter.write_str("Not found"),
            Self::NothingToCompact => formatter.write_str("Cuckoo filter was not found"),
            Self::Exists => formatter.write_str("ERR item exists"),
            Self::BadCapacity => formatter.write_str("Bad capacity"),
            Self::CapacityRange => {
                write!(formatter, "Capacity must be in the range [1, {}]", crate::command::MAX_CAPACITY)
            }
            Self::Unparsable { option } => write!(formatter, "Couldn't parse {option}"),
            Self::OptionRange { option, least, most } => {
                write!(formatter, "{option}: value must be in the range [{least}, {most}]")
            }
            Self::RateRange => formatter.write_str("ERROR: value must be between 0 and 1, both excluded"),
            Self::MaxCapacity => formatter
                .write_str("MAXCAPACITY: value must be at least the capacity, and equal to it with EXPANSION 0"),
            Self::UnknownHash => formatter.write_str("HASH: value must be siphash13 or xxh3"),
            Self::BadKey => formatter.write_str("KEY: value must have 32 hexadecimal digits"),
            Self::KeyNotUsed => formatter.write_str("KEY: a filter that hashes with xxh3 has no secret key"),
            Self::KeyNotTaken => {
                formatter.write_str("KEY: only the first chunk of a dump that was made with NOKEY takes one")
            }
            Self::KeyMissing => formatter.write_str(
                "ERR the dump was made with NOKEY: load its first chunk with KEY and the secret key of its filter",
            ),
            Self::KeyDiffers => formatter.write_str("ERR the secret key is not that of the filter in the dump"),
            Self::UnknownArgument => formatter.write_str("Unknown argument received"),
            Self::InvalidPosition => formatter.write_str("Invalid position"),
            Self::InvalidHeader => formatter.write_str("Invalid header"),
            Self::InvalidChunk => formatter.write_str("Couldn't load chunk!"),
            Self::Incomplete { received, expected } => {
                write!(formatter, "ERR the filter is still being loaded: {received} of {expected} bytes have come")
            }
            Self::Full => formatter.write_str("Filter is full"),
            Self::MaximumExpansions => formatter.write_str("Maximum expansions reached"),
            Self::TooManyCopies { copies } => {
                write!(formatter, "ERR too many copies of this item: {copies} are stored, as many as fit")
            }
            Self::Crowded => formatter.write_str("ERR copies of other items fill the buckets of this one"),
            Self::MemoryLimit { needed, limit } => write!(
                formatter,
                "ERR the filter would take {needed} bytes, more than the {limit} of guira.memory-limit"
            ),
            Self::OutOfMemory => formatter.write_str(
                "ERR no memory for the filter, which is as it was: remove keys or give the server more memory, and try again",
            ),
            Self::Paused => formatter
                .write_str("TRYAGAIN clients are paused, so the filter is as it was: send the command again"),
            Self::Demoted => formatter.write_str(
                "TRYAGAIN this server has become a replica, so nothing has changed: send the command again",
            ),
            Self::Gone => formatter.write_str(
                "TRYAGAIN a filter was removed, or moved to another node, so nothing has changed: send the command again",
            ),
            Self::MergeWithItself => formatter.write_str("ERR a filter can't be merged into itself"),
            Self::MergeImported => {
                formatter.write_str("ERR filters imported from RedisBloom can't be merged: they have no room for it")
            }
            Self::LikeImported => formatter
                .write_str("ERR no filter can be made like one imported from RedisBloom: reserve it with a capacity"),
            Self::LikeAlone => formatter
                .write_str("LIKE: give neither a capacity nor options, since the filter has those of the other one"),
            Self::GrowingExpiring => formatter.write_str(
                "ERR a filter with LIFETIME does not grow: leave out MAXCAPACITY, and EXPANSION or give it 0",
            ),
            Self::MergeExpiring => formatter.write_str("ERR a filter with LIFETIME and one without can't be merged"),
            Self::CompactExpiring => {
                formatter.write_str("ERR a filter with LIFETIME does not grow, so there is nothing to compact")
            }
            Self::ResolutionNotUsed => formatter.write_str("RESOLUTION: only filters with LIFETIME have one"),
            Self::ResolutionRange => {
                formatter.write_str("RESOLUTION: give at least a 254th of LIFETIME, and at most all of it")
            }
            Self::TimeNotUsed => formatter.write_str("AT: only filters with LIFETIME have a time"),
            Self::TimeToCome => formatter.write_str("AT: the time must not be later than that of the server"),
            Self::MergeKeys => formatter.write_str(
                "ERR the filters have different secret keys: reserve filters that are to be merged with LIKE, or with \
                 HASH xxh3",
            ),
            Self::Merge(error) => write!(formatter, "ERR {}", **error),
            Self::Build(error) => write!(formatter, "ERR {error}"),
        }
    }
}

impl std::error::Error for CommandError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Merge(error) => Some(&**error),
            Self::Build(error) => Some(error),
            _ => None,
        }
    }
}

impl CommandError {
    /// Returns `true` if the filter has reached a limit of its growth, so that it takes no more items at all.
    pub(crate) const fn is_limit(&self) -> bool {
        matches!(self, Self::MaximumExpansions | Self::MemoryLimit { .. } | Self::OutOfMemory)
    }
}

impl From<BuildError> for CommandError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::OutOfMemory { .. } => Self::OutOfMemory,
            error => Self::Build(error),
        }
    }
}

impl From<MergeError> for CommandError {
    fn from(error: MergeError) -> Self {
        match error {
            MergeError::OutOfMemory { .. } => Self::OutOfMemory,
            // In a box, since it is several times as large as the others, which are passed on with each command.
            error => Boxed::new(error).map_or_else(|no_memory| no_memory, Self::Merge),
        }
    }
}

impl From<LoadError> for CommandError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::OutOfMemory { .. } => Self::OutOfMemory,
            LoadError::SecretKeyMissing => Self::KeyMissing,
            LoadError::SecretKeyNotUsed => Self::KeyNotUsed,
            LoadError::SecretKeyDiffers => Self::KeyDiffers,
            _ => Self::InvalidChunk,
        }
    }
}

impl From<InsertError> for CommandError {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::TooManyCopies { copies } => Self::TooManyCopies { copies },
            InsertError::Crowded { .. } => Self::Crowded,
            InsertError::OutOfMemory { .. } => Self::OutOfMemory,
            _ => Self::Full,
        }
    }
}
