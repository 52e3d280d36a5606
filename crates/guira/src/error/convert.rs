use thiserror::Error;

use super::BuildError;
use crate::parameters::Addressing;

/// Why a filter was not converted. It is as it was before.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ConvertError {
    /// Longer fingerprints have bits that are not stored.
    #[error("{stored} bits of each fingerprint are stored, and {given} are asked for")]
    LongerFingerprints {
        /// The bits of the fingerprints that are stored.
        stored: u32,
        /// The bits asked for.
        given: u32,
    },
    /// Shorter fingerprints have other candidate buckets, except with doubling addressing.
    #[error(
        "with {addressing} addressing, fingerprints of {given} bits are in other buckets than those of {stored}, and which \
         is not stored"
    )]
    ShorterFingerprints {
        /// The bits of the fingerprints that are stored.
        stored: u32,
        /// The bits asked for.
        given: u32,
        /// The addressing of the filter.
        addressing: Addressing,
    },
    /// There is no such table, or no memory for it.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The fingerprints don't fit the table.
    #[error("{len} fingerprints do not fit {slot_count} slots")]
    Full {
        /// How many there are.
        len: usize,
        /// The slots of the table.
        slot_count: usize,
    },
    /// There are more copies of a key than its buckets would hold.
    #[error(
        "there are more than {copies} copies of a key (or of keys that share its fingerprint and buckets), which is as many \
         as fit"
    )]
    TooManyCopies {
        /// The most copies that fit.
        copies: usize,
    },
}
