use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::contender::Memory;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    /// Small tables: everything in a minute or two, to see that it works
    Quick,
    /// The paper's sizes: tables of 192 MB
    Paper,
}

impl Scale {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }

    pub(crate) const fn is_quick(self) -> bool {
        matches!(self, Self::Quick)
    }

    /// What each filter of a line-up gets: at the paper's scale 192 MB.
    pub(crate) const fn memory(self) -> Memory {
        Memory {
            bucket_exponent: match self {
                Self::Quick => 16,
                Self::Paper => 25,
            },
        }
    }

    /// The absent keys by which a rate is measured.
    pub(crate) const fn rate_queries(self) -> u64 {
        match self {
            Self::Quick => 500_000,
            Self::Paper => 10_000_000,
        }
    }

    /// The lookups, or removals, that are timed at a time.
    pub(crate) const fn timed_queries(self) -> u64 {
        match self {
            Self::Quick => 1 << 15,
            Self::Paper => 1 << 22,
        }
    }

    /// How often filled filters are asked beside the floors, and how often filters are filled in tables and figures: ten
    /// times in the paper.
    pub(crate) const fn rounds(self) -> u64 {
        match self {
            Self::Quick => 3,
            Self::Paper => 10,
        }
    }

    /// Where the filters of peers are, and of how many keys: so many that no cache holds them only at the paper's scale.
    #[cfg(feature = "peers")]
    pub(crate) const fn peer_keys(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Quick => &[("in cache", 200_000)],
            Self::Paper => &[("in cache", 200_000), ("in memory", 60_000_000)],
        }
    }

    /// The exponent of the power of two around which peers are asked for capacities.
    #[cfg(feature = "peers")]
    pub(crate) const fn peer_power(self) -> u32 {
        match self {
            Self::Quick => 14,
            Self::Paper => 20,
        }
    }

    /// The independent tables of which the lowest load counts: figure 2 of the paper.
    pub(crate) const fn runs(self) -> u64 {
        match self {
            Self::Quick => 2,
            Self::Paper => 10,
        }
    }

    /// The lengths of fingerprints of figure 2: 1 to 20 bits.
    pub(crate) const fn load_fingerprint_bits(self) -> core::ops::RangeInclusive<u32> {
        match self {
            Self::Quick => 1..=12,
            Self::Paper => 1..=20,
        }
    }

    /// The exponents of the table sizes of figure 2.
    pub(crate) const fn load_exponents(self) -> &'static [u32] {
        match self {
            Self::Quick => &[10, 14],
            Self::Paper => &[15, 20, 25, 30],
        }
    }

    /// The exponents of the table sizes for which equation (3) is tried.
    pub(crate) const fn bound_exponents(self) -> &'static [u32] {
        match self {
            Self::Quick => &[10, 12, 14],
            Self::Paper => &[10, 12, 14, 16, 18, 20],
        }
    }

    /// The tables of which the lowest load counts there.
    pub(crate) const fn bound_runs(self) -> u64 {
        match self {
            Self::Quick => 3,
            Self::Paper => 3,
        }
    }

    /// The same as memory.
    pub(crate) const fn space_memory(self) -> Memory {
        Memory { bucket_exponent: self.space_exponent() }
    }

    /// The exponent of the buckets of the tables whose loads and rates figures 3 and 4 and table 2 take.
    pub(crate) const fn space_exponent(self) -> u32 {
        match self {
            Self::Quick => 14,
            Self::Paper => 20,
        }
    }
}
