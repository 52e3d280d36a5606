use core::fmt;

use super::BuildError;
use crate::parameters::Addressing;

/// Why a filter was not converted. It is as it was before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConvertError {
    /// Longer fingerprints have bits that are not stored.
    LongerFingerprints {
        /// The bits of the fingerprints that are stored.
        stored: u32,
        /// The bits asked for.
        given: u32,
    },
    /// Shorter fingerprints have other candidate buckets, except with doubling addressing.
    ShorterFingerprints {
        /// The bits of the fingerprints that are stored.
        stored: u32,
        /// The bits asked for.
        given: u32,
        /// The addressing of the filter.
        addressing: Addressing,
    },
    /// There is no such table, or no memory for it.
    Build(BuildError),
    /// The fingerprints don't fit the table.
    Full {
        /// How many there are.
        len: usize,
        /// The slots of the table.
        slot_count: usize,
    },
    /// There are more copies of a key than its buckets would hold.
    TooManyCopies {
        /// The most copies that fit.
        copies: usize,
    },
}

impl fmt::Display for ConvertError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongerFingerprints { stored, given } => {
                write!(formatter, "{stored} bits of each fingerprint are stored, and {given} are asked for")
            }
            Self::ShorterFingerprints { stored, given, addressing } => write!(
                formatter,
                "with {addressing} addressing, fingerprints of {given} bits are in other buckets than those of {stored}, and \
                 which is not stored"
            ),
            Self::Build(error) => error.fmt(formatter),
            Self::Full { len, slot_count } => write!(formatter, "{len} fingerprints do not fit {slot_count} slots"),
            Self::TooManyCopies { copies } => write!(
                formatter,
                "there are more than {copies} copies of a key (or of keys that share its fingerprint and buckets), which is \
                 as many as fit"
            ),
        }
    }
}

impl core::error::Error for ConvertError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Build(error) => error.source(),
            _ => None,
        }
    }
}

impl From<BuildError> for ConvertError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}
