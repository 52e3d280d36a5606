//! One error type per activity, with the numbers that explain it.

use core::fmt;

use crate::Digest;

/// Why a key was not stored. All keys that were stored still are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Full {
    /// The keys that are stored.
    pub len: usize,
    /// The number of slots; some may be empty.
    pub slots: u64,
}

impl fmt::Display for Full {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "full: there is no room for one more key beside {} in {} slots", self.len, self.slots)
    }
}

impl core::error::Error for Full {}

/// Why a filter could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A parameter is out of range.
    OutOfRange {
        /// The parameter.
        measure: &'static str,
        /// The value given.
        given: u64,
        /// The least value allowed.
        least: u64,
        /// The greatest value allowed.
        most: u64,
    },
    /// A size is not a power of two.
    NotPowerOfTwo {
        /// The parameter.
        measure: &'static str,
        /// The value given.
        given: u64,
    },
    /// There is not enough memory for the table.
    OutOfMemory {
        /// The bits of the table.
        bits: u64,
    },
    /// A key was given two values.
    Contradiction {
        /// The key.
        digest: Digest,
        /// Two of its values.
        values: [u64; 2],
    },
    /// No hash was found with which the keys can be arranged. This does not happen by chance.
    NoHashFound {
        /// The hashes that were tried.
        attempts: u64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { measure, given, least, most } => {
                write!(formatter, "{measure} cannot be {given}; it can be {least} to {most}")
            }
            Self::NotPowerOfTwo { measure, given } => {
                write!(formatter, "{measure} cannot be {given}; it must be a power of two")
            }
            Self::OutOfMemory { bits } => write!(formatter, "no memory for a table of {bits} bits"),
            Self::Contradiction { digest, values: [one, other] } => {
                write!(formatter, "the key with digest {:#x} has two values, {one} and {other}", digest.get())
            }
            Self::NoHashFound { attempts } => {
                write!(formatter, "the keys could not be arranged with any of {attempts} hashes")
            }
        }
    }
}

impl core::error::Error for BuildError {}

/// Returns an error if a parameter is out of range.
pub(crate) const fn in_range(measure: &'static str, given: u64, least: u64, most: u64) -> Result<(), BuildError> {
    if given < least || given > most {
        return Err(BuildError::OutOfRange { measure, given, least, most });
    }
    Ok(())
}

/// The exponent of a size that has to be a power of two.
pub(crate) const fn exponent_of(measure: &'static str, given: u64) -> Result<u32, BuildError> {
    if !given.is_power_of_two() {
        return Err(BuildError::NotPowerOfTwo { measure, given });
    }
    Ok(given.trailing_zeros())
}
