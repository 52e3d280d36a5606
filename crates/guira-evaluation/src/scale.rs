use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::contender::Memory;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    /// Small tables: everything in a minute or two, to see that it works
    Quick,
    /// Tables of 24 MB: all claims of times, in about twelve minutes
    Medium,
    /// The paper's sizes: tables of 192 MB
    Paper,
}

impl Scale {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Medium => "medium",
            Self::Paper => "paper",
        }
    }

    pub(crate) const fn is_quick(self) -> bool {
        matches!(self, Self::Quick)
    }

    /// The memory of each filter of a line-up: 192 MB at the paper's scale.
    pub(crate) const fn memory(self) -> Memory {
        Memory {
            bucket_exponent: match self {
                Self::Quick => 16,
                Self::Medium => 22,
                Self::Paper => 25,
            },
        }
    }

    /// The number of absent keys by which a rate is measured.
    pub(crate) const fn rate_queries(self) -> u64 {
        match self {
            Self::Quick => 500_000,
            Self::Medium => 4_000_000,
            Self::Paper => 10_000_000,
        }
    }

    /// The number of lookups or removals that are timed at a time.
    pub(crate) const fn timed_queries(self) -> u64 {
        match self {
            Self::Quick => 1 << 15,
            Self::Medium => 1 << 19,
            Self::Paper => 1 << 22,
        }
    }

    /// The parts in which lookups, insertions and removals are timed. A part takes some milliseconds, in which the speed of the
    /// machine hardly changes.
    pub(crate) const fn parts(self) -> u64 {
        match self {
            Self::Quick | Self::Medium => 8,
            Self::Paper => 64,
        }
    }

    /// How often filters are filled for tables and figures: ten times in the paper.
    pub(crate) const fn rounds(self) -> u64 {
        match self {
            Self::Quick => 3,
            Self::Medium | Self::Paper => 10,
        }
    }

    /// How often filled filters are asked beside the floors, which takes less time than filling them.
    pub(crate) const fn asks(self) -> u64 {
        match self {
            Self::Quick => 3,
            Self::Medium => 16,
            Self::Paper => 24,
        }
    }

    /// How often they are at most, where a claim is undecided before.
    pub(crate) const fn most_rounds(self) -> u64 {
        match self {
            Self::Quick => 3,
            Self::Medium | Self::Paper => 24,
        }
    }

    /// The places of the filters of peers, with their numbers of keys. Only at the paper's scale some exceed all caches.
    #[cfg(feature = "peers")]
    pub(crate) const fn peer_keys(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Quick => &[("in cache", 200_000)],
            Self::Medium => &[("in cache", 200_000), ("beyond most caches", 4_000_000)],
            Self::Paper => &[("in cache", 200_000), ("in memory", 60_000_000)],
        }
    }

    /// The exponent of the power of two around which the capacities of peers are measured.
    #[cfg(feature = "peers")]
    pub(crate) const fn peer_power(self) -> u32 {
        match self {
            Self::Quick => 14,
            Self::Medium => 17,
            Self::Paper => 20,
        }
    }

    /// The number of independent tables of which the lowest load counts, in figure 2.
    pub(crate) const fn runs(self) -> u64 {
        match self {
            Self::Quick => 2,
            Self::Medium => 3,
            Self::Paper => 10,
        }
    }

    /// The lengths of fingerprints of figure 2: 1 to 20 bits.
    pub(crate) const fn load_fingerprint_bits(self) -> core::ops::RangeInclusive<u32> {
        match self {
            Self::Quick => 1..=12,
            Self::Medium => 1..=16,
            Self::Paper => 1..=20,
        }
    }

    /// The exponents of the table sizes of figure 2.
    pub(crate) const fn load_exponents(self) -> &'static [u32] {
        match self {
            Self::Quick => &[10, 14],
            Self::Medium => &[12, 16],
            Self::Paper => &[15, 20, 25, 30],
        }
    }

    /// The exponents of the table sizes for which equation (3) is tried.
    pub(crate) const fn bound_exponents(self) -> &'static [u32] {
        match self {
            Self::Quick => &[10, 12, 14],
            Self::Medium => &[10, 12, 14, 16],
            Self::Paper => &[10, 12, 14, 16, 18, 20],
        }
    }

    /// The number of tables of which the lowest load counts for equation (3).
    pub(crate) const fn bound_runs(self) -> u64 {
        match self {
            Self::Quick | Self::Medium | Self::Paper => 3,
        }
    }

    /// The memory of tables with 2^[`Self::space_exponent`] buckets.
    pub(crate) const fn space_memory(self) -> Memory {
        Memory { bucket_exponent: self.space_exponent() }
    }

    /// The exponent of the number of buckets in figures 3 and 4 and in table 2, for loads and rates.
    pub(crate) const fn space_exponent(self) -> u32 {
        match self {
            Self::Quick => 14,
            Self::Medium => 17,
            Self::Paper => 20,
        }
    }
}
