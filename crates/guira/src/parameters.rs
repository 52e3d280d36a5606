//! The validated measures of a filter.

use crate::analysis;
use crate::cast::approximate;
use crate::error::BuildError;

/// How the two candidate buckets of a key are related.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Addressing {
    /// Equal regions of any size, with the alternate bucket at (H(fingerprint) - offset) mod size in the same region:
    /// any capacity costs what it needs.
    #[default]
    Regional,
    /// The paper's own: 2^p buckets and exclusive or. Just above a power of two it takes nearly twice the memory.
    PowerOfTwo,
}

/// The measures of a filter: what [`CuckooFilterBuilder::build`](crate::CuckooFilterBuilder::build) chose and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    addressing: Addressing,
    slots_per_bucket: u32,
    fingerprint_bits: u32,
    region_count: u64,
    buckets_per_region: u64,
    capacity: u64,
}

impl Parameters {
    /// The bucket sizes there are.
    pub const SLOTS_PER_BUCKET: [u32; 4] = [1, 2, 4, 8];

    /// The fingerprint lengths there are, in bits.
    pub const FINGERPRINT_BITS: core::ops::RangeInclusive<u32> = 2..=32;

    /// The most buckets that a table can have; a digest has 32 bits to choose one.
    pub const MOST_BUCKETS: u64 = 1 << 32;

    /// Checks the measures of a table, wherever they come from.
    pub(crate) fn new(
        addressing: Addressing,
        slots_per_bucket: u32,
        fingerprint_bits: u32,
        region_count: u64,
        buckets_per_region: u64,
        capacity: u64,
    ) -> Result<Self, BuildError> {
        if !Self::SLOTS_PER_BUCKET.contains(&slots_per_bucket) {
            return Err(BuildError::SlotsPerBucket { given: slots_per_bucket });
        }
        if !Self::FINGERPRINT_BITS.contains(&fingerprint_bits) {
            return Err(BuildError::FingerprintBits { given: fingerprint_bits });
        }
        let bucket_count = region_count.saturating_mul(buckets_per_region);
        if bucket_count == 0 || bucket_count > Self::MOST_BUCKETS {
            return Err(BuildError::BucketCount { given: bucket_count });
        }
        if addressing == Addressing::PowerOfTwo && !(region_count == 1 && bucket_count.is_power_of_two()) {
            return Err(BuildError::BucketCountNotPowerOfTwo { given: bucket_count });
        }
        if capacity > bucket_count * u64::from(slots_per_bucket) {
            return Err(BuildError::Capacity { given: capacity, most: bucket_count * u64::from(slots_per_bucket) });
        }
        Ok(Self { addressing, slots_per_bucket, fingerprint_bits, region_count, buckets_per_region, capacity })
    }

    /// How the candidate buckets of a key are related.
    #[must_use]
    pub const fn addressing(&self) -> Addressing {
        self.addressing
    }

    /// b, the slots of a bucket.
    #[must_use]
    pub const fn slots_per_bucket(&self) -> u32 {
        self.slots_per_bucket
    }

    /// f, the bits of a fingerprint.
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// How many regions the table has; both candidate buckets of a key are in the same one.
    #[must_use]
    pub const fn region_count(&self) -> u64 {
        self.region_count
    }

    /// The buckets of a region.
    #[must_use]
    pub const fn buckets_per_region(&self) -> u64 {
        self.buckets_per_region
    }

    /// m, the buckets of the table.
    #[must_use]
    pub const fn bucket_count(&self) -> u64 {
        self.region_count * self.buckets_per_region
    }

    /// The slots of the table.
    #[must_use]
    pub const fn slot_count(&self) -> u64 {
        self.bucket_count() * self.slots_per_bucket as u64
    }

    /// The number of distinct keys promised to fit.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The bits of the table, without padding.
    #[must_use]
    pub const fn table_bits(&self) -> u64 {
        self.bucket_count() * self.bucket_bits() as u64
    }

    /// The rate of false positives among absent keys that is expected with `len` stored fingerprints.
    #[must_use]
    pub fn expected_false_positive_rate(&self, len: u64) -> f64 {
        let load_factor = approximate(len) / approximate(self.slot_count());
        analysis::expected_false_positive_rate(self.fingerprint_bits, 2 * self.slots_per_bucket, load_factor)
    }

    /// The bits of a bucket.
    pub(crate) const fn bucket_bits(&self) -> u32 {
        self.slots_per_bucket * self.fingerprint_bits
    }

    /// 2^f - 1, the greatest fingerprint.
    pub(crate) const fn fingerprint_mask(&self) -> u32 {
        u32::MAX >> (32 - self.fingerprint_bits)
    }
}
