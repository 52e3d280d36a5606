//! The filters that "Cuckoo Filter: Practically Better Than Bloom" compares with, and its own as printed.
//!
//! They exist to be measured by one program, so each is as its source describes it, takes no more memory than its formula
//! says, and is as fast as its authors' own program: shapes that are measured are compile-time constants, buckets are compared
//! as words, and loops over many keys match the kind of table once. None shares code with the library that is measured against
//! them. [`MultiplyShift`] is the hash of the paper's program.
//!
//! | filter | source | removal |
//! |---|---|---|
//! | [`BloomFilter`] | the paper's BF: section 2.1, equation (8) | no |
//! | [`BlockedBloomFilter`] | its blk-BF: Putze, Sanders and Singler 2007 | no |
//! | [`SplitBlockBloomFilter`] | blk-BF as it is built today: Impala, Kudu, Parquet | no |
//! | [`CountingBloomFilter`] | Fan, Cao, Almeida and Broder 2000 | yes |
//! | [`DLeftCountingBloomFilter`] | its dl-CBF: Bonomi et al. 2006 | yes |
//! | [`QuotientFilter`] | its QF: Bender et al. 2012 | yes |
//! | [`CuckooFilter`] | its CF and ss-CF: sections 3 and 5.2 | yes |
//! | [`RankIndexedFilter`] | section 2.1: Hua et al. 2008 | yes |
//! | [`GolombSequence`] | section 2.1: Putze, Sanders and Singler 2007 | static |
//! | [`BloomierFilter`] | section 6: Chazelle et al. 2004, by peeling | static, with values |
//! | [`CuckooHashTable`] | section 2.2: whole keys, independent hashes | yes |

mod blocked_bloom;
mod bloom;
mod bloomier;
mod buckets;
mod cast;
mod counting_bloom;
mod cuckoo;
mod d_left;
mod digest;
mod error;
mod fields;
mod filter;
mod golomb;
mod hash_table;
mod memory;
mod mixing;
mod multiply_shift;
mod probes;
mod quotient;
mod random;
mod rank_indexed;
mod split_block_bloom;
mod word;

pub use blocked_bloom::BlockedBloomFilter;
pub use bloom::BloomFilter;
pub use bloomier::BloomierFilter;
pub use counting_bloom::CountingBloomFilter;
pub use cuckoo::{CuckooFilter, CuckooMeasures};
pub use d_left::DLeftCountingBloomFilter;
pub use digest::Digest;
pub use error::{BuildError, Full};
pub use filter::{Filter, Insert, Remove, StaticFilter};
pub use golomb::GolombSequence;
pub use hash_table::{CuckooHashTable, HashTableMeasures};
pub use multiply_shift::MultiplyShift;
pub use quotient::QuotientFilter;
pub use rank_indexed::RankIndexedFilter;
pub use split_block_bloom::SplitBlockBloomFilter;
