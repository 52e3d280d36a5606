//! What the server's operator chooses, and what becomes of it when a filter is created.

use guira::{GrowingCuckooFilter, GrowingCuckooFilterBuilder};

use crate::cast::in_memory;
use crate::command::Creation;
use crate::error::CommandError;

/// What a filter is made with where the command that creates it does not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How many distinct items fit before the first doubling.
    pub capacity: u64,
    /// The share of absent items that may be answered with "present".
    pub error_rate: f64,
    /// How many times its first capacity a filter grows to while the rate holds.
    pub growth: u64,
    /// The bytes that one filter may take; 0 for any number.
    pub memory_limit: u64,
}

impl Settings {
    /// What the settings are unless the operator changes them. The memory of one filter is that of the largest string.
    pub const DEFAULT: Self = Self { capacity: 1024, error_rate: 0.001, growth: 1024, memory_limit: 512 << 20 };

    /// The capacities that can be set.
    pub const CAPACITIES: (u64, u64) = (4, crate::command::MOST_CAPACITY);
    /// The growths that can be set: 24 doublings are as many as the longest fingerprints have bits to give.
    pub const GROWTHS: (u64, u64) = (1, 1 << 24);
    /// The memory limits that can be set.
    pub const MEMORY_LIMITS: (u64, u64) = (0, i64::MAX as u64);

    /// A rate as it is written in commands and settings; `None` where it is none.
    #[must_use]
    pub fn parse_rate(text: &[u8]) -> Option<f64> {
        let rate: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        (rate > 0.0 && rate < 1.0).then_some(rate)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How much memory a filter may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limits {
    /// As much as the operator allows.
    Bytes(u64),
    /// As much as it needs: what a primary or a file on disk says was accepted already.
    Lifted,
}

impl Limits {
    /// Refuses what needs more.
    pub(crate) const fn check(self, needed: u64) -> Result<(), CommandError> {
        match self {
            Self::Bytes(limit) if limit != 0 && needed > limit => Err(CommandError::MemoryLimit { needed, limit }),
            _ => Ok(()),
        }
    }
}

/// All that a new filter is made from: told to replicas, it gives the same filter there, whatever their settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// How many distinct items fit before the first doubling.
    pub capacity: u64,
    /// The share of absent items that may be answered with "present".
    pub error_rate: f64,
    /// 2, 4 or 8.
    pub slots_per_bucket: u32,
    /// How many distinct items fit in the end, at that rate.
    pub largest_capacity: u64,
}

/// A bucket has four slots unless BUCKETSIZE is given: the fullest table for its rate.
const SLOTS_PER_BUCKET: u32 = 4;

impl Measures {
    pub(crate) fn new(creation: &Creation, settings: &Settings) -> Result<Self, CommandError> {
        let capacity = creation.capacity.unwrap_or(settings.capacity);
        let slots_per_bucket = creation.bucket_size.map_or(SLOTS_PER_BUCKET, |size| match size {
            ..=2 => 2,
            3 | 4 => 4,
            _ => 8,
        });
        let grows = creation.expansion != Some(0);
        // The largest table has 2^32 buckets, and is filled to less than a half here.
        let most = u64::from(slots_per_bucket) << 31;
        let usual = if grows { capacity.saturating_mul(settings.growth).min(most) } else { capacity };
        let largest_capacity = creation.max_capacity.unwrap_or(usual);
        if largest_capacity < capacity || (!grows && largest_capacity != capacity) {
            return Err(CommandError::MaxCapacity);
        }
        let error_rate = creation.error_rate.unwrap_or(settings.error_rate);
        Ok(Self { capacity, error_rate, slots_per_bucket, largest_capacity })
    }

    fn builder(&self) -> GrowingCuckooFilterBuilder {
        GrowingCuckooFilter::builder()
            .capacity(in_memory(self.capacity))
            .largest_capacity(in_memory(self.largest_capacity))
            .false_positive_rate(self.error_rate)
            .slots_per_bucket(self.slots_per_bucket)
    }

    /// An empty filter, if it may take the memory.
    pub(crate) fn build(&self, limits: Limits) -> Result<GrowingCuckooFilter, CommandError> {
        let builder = self.builder();
        limits.check(builder.parameters()?.table_size())?;
        Ok(builder.build()?)
    }

    /// The arguments of the CF.RESERVE that creates the same filter, behind its key.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let pairs = [
            ("ERROR", self.error_rate.to_string()),
            ("BUCKETSIZE", self.slots_per_bucket.to_string()),
            ("MAXCAPACITY", self.largest_capacity.to_string()),
        ];
        let options = pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        std::iter::once(self.capacity.to_string()).chain(options).collect()
    }
}
