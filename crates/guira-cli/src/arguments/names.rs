//! Choices that have a name on the command line.

use clap::ValueEnum;
use guira::{Layout, Preference};

use crate::keys::Compression;

/// What matters more where layouts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prefer {
    /// The fastest operations
    Speed,
    /// The least memory
    Space,
}

impl From<Prefer> for Preference {
    fn from(prefer: Prefer) -> Self {
        match prefer {
            Prefer::Speed => Self::Speed,
            Prefer::Space => Self::Space,
        }
    }
}

/// How fingerprints are kept, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutName {
    /// Buckets of slots, one after the other
    Packed,
    /// Buckets of four, coded to save a bit per key
    SemiSorted,
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Self {
        match name {
            LayoutName::Packed => Self::Packed,
            LayoutName::SemiSorted => Self::SemiSorted,
        }
    }
}

/// What is done with lines that have no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Untimed {
    /// The first one is an error
    Refuse,
    /// They are taken as if they had the time of the line before them
    Keep,
    /// They are left out, and counted
    Skip,
}

/// How an input is compressed, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompressionName {
    /// What the first bytes say, or else the ends .gz and .zst of a name
    Auto,
    /// Not at all: the bytes are the keys, whatever they look like, but for a byte order mark at the start
    None,
    /// Gzip, of one member or several
    Gzip,
    /// Zstandard, of one frame or several
    Zstd,
}

impl From<CompressionName> for Option<Compression> {
    fn from(name: CompressionName) -> Self {
        match name {
            CompressionName::Auto => None,
            CompressionName::None => Some(Compression::None),
            CompressionName::Gzip => Some(Compression::Gzip),
            CompressionName::Zstd => Some(Compression::Zstandard),
        }
    }
}

/// How keys are hashed, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HashName {
    /// XXH3-64: fast, for keys that no attacker chooses
    Xxh3,
    /// SipHash-1-3 with a secret key: for keys that an attacker may choose
    #[value(name = "siphash")]
    SipHash,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_typed_as_it_is_reported() {
        for name in LayoutName::value_variants() {
            let typed = name.to_possible_value().expect("none is hidden");
            assert_eq!(typed.get_name(), Layout::from(*name).to_string());
        }
    }
}
