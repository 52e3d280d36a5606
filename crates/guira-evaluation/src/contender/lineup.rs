use guira::{CuckooFilter, FilterBuilder, Layout};
use guira_baselines::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, CuckooFilter as PrintedCuckooFilter, CuckooMeasures,
    DLeftCountingBloomFilter, QuotientFilter, SplitBlockBloomFilter,
};

use super::{Contender, Cuckoo, GrowOnly, Shrinkable};
use crate::cast::{approximate, saturating_floor};
use crate::failure::Failure;
use crate::report::Style;

/// Slots of 12 bits, as in table 3 of the paper.
const BITS_PER_SLOT: u64 = 12;
const SLOTS_PER_BUCKET: u64 = 4;
/// The bits per key of Bloom filters: with nine probes, 13 are best.
const BLOOM_BITS_PER_KEY: f64 = 13.0;

/// The memory that each filter of a line-up gets: 2^exponent buckets of four slots of 12 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) bucket_exponent: u32,
}

impl Memory {
    /// The slots of 12 bits.
    pub(crate) const fn slots(self) -> u64 {
        SLOTS_PER_BUCKET << self.bucket_exponent
    }

    pub(crate) const fn bits(self) -> u64 {
        BITS_PER_SLOT * self.slots()
    }

    /// A name such as "192 MB" for 2^25 buckets.
    pub(crate) fn name(self) -> String {
        let kibibytes = self.bits() >> 13;
        if kibibytes >= 1024 { format!("{} MB", kibibytes >> 10) } else { format!("{kibibytes} KB") }
    }

    const fn bloom_capacity(self) -> u64 {
        saturating_floor(approximate(self.bits()) / BLOOM_BITS_PER_KEY)
    }
}

/// The filters of the paper's section 7, its cuckoo filters as printed and as the library has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    Printed,
    PrintedSemiSorted,
    Packed,
    SemiSorted,
    Bloom,
    BlockedBloom,
    /// The form of blocked Bloom filters that is in use today, beside the paper's.
    SplitBlockBloom,
    Quotient,
    DLeft,
    /// In table 1 only.
    CountingBloom,
}

/// When filling a filter stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// At the first that it refuses.
    FirstRefusal,
    /// At its capacity.
    Keys(u64),
}

impl Kind {
    pub(crate) const ALL: [Self; 9] = [
        Self::Printed,
        Self::PrintedSemiSorted,
        Self::Packed,
        Self::SemiSorted,
        Self::Bloom,
        Self::BlockedBloom,
        Self::SplitBlockBloom,
        Self::Quotient,
        Self::DLeft,
    ];

    /// The paper's name, or one with `guira` for the library's own filters.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Printed => "CF, as printed",
            Self::PrintedSemiSorted => "ss-CF, as printed",
            Self::Packed => "CF, guira",
            Self::SemiSorted => "ss-CF, guira",
            Self::Bloom => "BF",
            Self::BlockedBloom => "blk-BF",
            Self::SplitBlockBloom => "split block, as built today",
            Self::Quotient => "QF",
            Self::DLeft => "dl-CBF",
            Self::CountingBloom => "counting BF",
        }
    }

    /// An empty filter with this memory.
    pub(crate) fn build(self, memory: Memory) -> Result<Box<dyn Contender>, Failure> {
        let bucket_count = 1 << memory.bucket_exponent;
        let measures =
            |fingerprint_bits| CuckooMeasures { bucket_count, slots_per_bucket: 4, fingerprint_bits, seed: 0 };
        let not_built = |error: guira_baselines::BuildError| Failure::not_built(self.name(), error);
        let capacity = memory.bloom_capacity();
        Ok(match self {
            Self::Printed => Box::new(Shrinkable::new(PrintedCuckooFilter::new(measures(12)).map_err(not_built)?)),
            Self::PrintedSemiSorted => {
                Box::new(Shrinkable::new(PrintedCuckooFilter::semi_sorted(measures(13)).map_err(not_built)?))
            }
            Self::Packed | Self::SemiSorted => {
                let Some(builder) = self.cuckoo_builder(memory) else {
                    unreachable!("{} is the library's", self.name())
                };
                let filter = builder.build().map_err(|error| Failure::not_built(self.name(), error))?;
                Box::new(Cuckoo::new(filter))
            }
            Self::Bloom => {
                Box::new(GrowOnly::new(BloomFilter::with_capacity(capacity, BLOOM_BITS_PER_KEY).map_err(not_built)?))
            }
            // Rounding a capacity up to whole blocks would take a little more memory than the others have.
            Self::BlockedBloom => Box::new(GrowOnly::new(BlockedBloomFilter::new(memory.bits()).map_err(not_built)?)),
            Self::SplitBlockBloom => {
                Box::new(GrowOnly::new(SplitBlockBloomFilter::new(memory.bits()).map_err(not_built)?))
            }
            // Three bits of a slot say where runs are.
            Self::Quotient => Box::new(Shrinkable::new(QuotientFilter::new(memory.slots(), 9).map_err(not_built)?)),
            // There are four tables of buckets of four slots. The paper does not say how it splits their 12 bits: remainders
            // of 11, beside counters of one, come nearest to its rate.
            Self::DLeft => {
                let filter = DLeftCountingBloomFilter::with_counters(memory.slots() / 16, 11, 1).map_err(not_built)?;
                Box::new(Shrinkable::new(filter))
            }
            Self::CountingBloom => {
                let filter = CountingBloomFilter::with_capacity(self.design_capacity(memory), BLOOM_BITS_PER_KEY);
                Box::new(Shrinkable::new(filter.map_err(not_built)?))
            }
        })
    }

    /// The style of the filter's curves in all figures.
    pub(crate) const fn style(self) -> Style {
        match self {
            Self::Printed => Style::solid(0),
            Self::Packed => Style::dashed(0),
            Self::PrintedSemiSorted => Style::solid(1),
            Self::SemiSorted => Style::dashed(1),
            Self::Bloom => Style::solid(3),
            Self::BlockedBloom => Style::solid(4),
            Self::SplitBlockBloom => Style::solid(7),
            Self::Quotient => Style::solid(6),
            Self::DLeft => Style::solid(5),
            Self::CountingBloom => Style::solid(9),
        }
    }

    /// The least number of cache lines that a lookup reads; most buckets are in one.
    pub(crate) const fn lines(self) -> usize {
        match self {
            Self::Bloom | Self::BlockedBloom | Self::SplitBlockBloom | Self::Quotient | Self::CountingBloom => 1,
            Self::Printed | Self::PrintedSemiSorted | Self::Packed | Self::SemiSorted => 2,
            Self::DLeft => 4,
        }
    }

    /// Returns `true` if the paper has this filter: the paper's claims do not apply to others.
    pub(crate) const fn is_of_paper(self) -> bool {
        !matches!(self, Self::Packed | Self::SemiSorted | Self::SplitBlockBloom)
    }

    /// Whose algorithm it is.
    pub(crate) const fn algorithm(self) -> &'static str {
        match self {
            Self::Packed | Self::SemiSorted => "guira",
            Self::SplitBlockBloom => "today's",
            _ => "paper",
        }
    }

    /// The builder, for the library's own filters.
    pub(crate) fn cuckoo_builder(self, memory: Memory) -> Option<FilterBuilder> {
        let (layout, slots_per_bucket, fingerprint_bits) = match self {
            Self::Packed => (Layout::Packed, 4, 12),
            Self::SemiSorted => (Layout::SemiSorted, 4, 13),
            _ => return None,
        };
        let builder = CuckooFilter::builder().layout(layout).slots_per_bucket(slots_per_bucket);
        let buckets = memory.slots() / u64::from(slots_per_bucket);
        Some(builder.fingerprint_bits(fingerprint_bits).bucket_count(buckets))
    }

    /// When filling stops in table 3 of the paper.
    pub(crate) fn limit(self, memory: Memory) -> Limit {
        match self {
            Self::Bloom | Self::BlockedBloom | Self::SplitBlockBloom => Limit::Keys(memory.bloom_capacity()),
            Self::CountingBloom => Limit::Keys(self.design_capacity(memory)),
            // The quotient filter itself stops at nine tenths of its slots.
            _ => Limit::FirstRefusal,
        }
    }

    /// The keys of a filled filter in figures 5 to 8: few enough that nearly always all of them fit.
    pub(crate) fn design_capacity(self, memory: Memory) -> u64 {
        let share = |share: f64| saturating_floor(share * approximate(memory.slots()));
        match self {
            Self::Printed | Self::PrintedSemiSorted | Self::Packed | Self::SemiSorted => share(0.95),
            Self::Bloom | Self::BlockedBloom | Self::SplitBlockBloom => memory.bloom_capacity(),
            Self::Quotient => share(0.9),
            Self::DLeft => share(0.75),
            // It has counters of four bits instead of bits.
            Self::CountingBloom => memory.bloom_capacity() / 4,
        }
    }
}
