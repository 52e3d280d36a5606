use guira::{Addressing, CuckooFilter, KeyHasher};
use guira_baselines::{CuckooFilter as PrintedCuckooFilter, CuckooHashTable, CuckooMeasures, HashTableMeasures};

use super::{Contender, Cuckoo, Shrinkable};
use crate::failure::Failure;

/// When a table counts as full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The paper's: an insertion has relocated 500 fingerprints.
    Walk,
    /// The library's: a breadth-first search has found no empty slot.
    Search,
    /// The paper's, in a table of whole keys with two independent hashes.
    WalkOfKeys,
}

impl Rule {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Walk => "500 relocations",
            Self::Search => "guira's search",
            Self::WalkOfKeys => "independent hashes",
        }
    }
}

/// The parameters of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measures {
    pub(crate) rule: Rule,
    pub(crate) bucket_exponent: u32,
    pub(crate) slots_per_bucket: u32,
    /// Unused in tables of whole keys.
    pub(crate) fingerprint_bits: u32,
}

impl Measures {
    pub(crate) const fn slots(self) -> u64 {
        (self.slots_per_bucket as u64) << self.bucket_exponent
    }

    /// An empty table.
    pub(crate) fn build(self, seed: u64) -> Result<Box<dyn Contender>, Failure> {
        let Self { slots_per_bucket, fingerprint_bits, .. } = self;
        let bucket_count = 1 << self.bucket_exponent;
        let not_built = |error: guira_baselines::BuildError| Failure::not_built(self.rule.name(), error);
        Ok(match self.rule {
            Rule::Walk => {
                let measures = CuckooMeasures { bucket_count, slots_per_bucket, fingerprint_bits, seed };
                Box::new(Shrinkable::new(PrintedCuckooFilter::new(measures).map_err(not_built)?))
            }
            // The paper's addressing, so that nothing but the search differs.
            Rule::Search => {
                let builder = CuckooFilter::builder().addressing(Addressing::PowerOfTwo).bucket_count(bucket_count);
                let builder = builder
                    .slots_per_bucket(slots_per_bucket)
                    .fingerprint_bits(fingerprint_bits)
                    .hasher(KeyHasher::xxh3(seed));
                Box::new(Cuckoo::new(builder.build().map_err(|error| Failure::not_built(self.rule.name(), error))?))
            }
            Rule::WalkOfKeys => {
                let measures = HashTableMeasures { bucket_count, slots_per_bucket, hash_count: 2, seed };
                Box::new(Shrinkable::new(CuckooHashTable::new(measures).map_err(not_built)?))
            }
        })
    }
}
