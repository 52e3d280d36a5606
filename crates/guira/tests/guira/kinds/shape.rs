//! The parameters of tables with values.

use std::fmt;

use guira::{Addressing, CountingCuckooFilter, CuckooFilter, CuckooMap, KeyHasher, Layout};

use crate::oracle::case::Case;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ValuedCase {
    pub(crate) slots_per_bucket: u32,
    pub(crate) fingerprint_bits: u32,
    pub(crate) value_bits: u32,
    pub(crate) bucket_count: u64,
}

impl ValuedCase {
    /// The filter without values whose keys look the same as those of this table.
    pub(crate) fn without_values(&self) -> Case {
        Case {
            layout: Layout::Packed,
            addressing: Addressing::Regional,
            slots_per_bucket: self.slots_per_bucket,
            fingerprint_bits: self.fingerprint_bits,
            bucket_count: self.bucket_count,
            seed: self.seed(),
        }
    }

    pub(crate) fn map(&self) -> CuckooMap<u32> {
        CuckooFilter::builder()
            .bucket_count(self.bucket_count)
            .fingerprint_bits(self.fingerprint_bits)
            .slots_per_bucket(self.slots_per_bucket)
            .hasher(KeyHasher::xxh3(self.seed()))
            .value_bits(self.value_bits)
            .for_kind::<CuckooMap<_>>()
            .build()
            .unwrap_or_else(|error| panic!("{self}: {error}"))
    }

    pub(crate) fn counting(&self) -> CountingCuckooFilter {
        CuckooFilter::builder()
            .bucket_count(self.bucket_count)
            .fingerprint_bits(self.fingerprint_bits)
            .slots_per_bucket(self.slots_per_bucket)
            .hasher(KeyHasher::xxh3(self.seed()))
            .value_bits(self.value_bits)
            .for_kind::<CountingCuckooFilter>()
            .build()
            .unwrap_or_else(|error| panic!("{self}: {error}"))
    }

    pub(crate) fn seed(&self) -> u64 {
        u64::from(self.fingerprint_bits) << 32 | u64::from(self.value_bits) << 16 | self.bucket_count
    }
}

impl fmt::Display for ValuedCase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, v = {}", self.without_values(), self.value_bits)
    }
}

/// Every bucket size and fingerprint length, with short, middling and the longest values, in small tables of which an odd
/// one has a bucket that is its own alternate.
pub(crate) fn small_tables() -> impl Iterator<Item = ValuedCase> {
    [1, 2, 3, 4, 8].into_iter().flat_map(|slots_per_bucket| {
        (2..=31).flat_map(move |fingerprint_bits| {
            let longest = 32 - fingerprint_bits;
            let mut lengths = vec![1, 2, 3, 8, longest / 2, longest];
            lengths.retain(|&bits| (1..=longest).contains(&bits));
            lengths.sort_unstable();
            lengths.dedup();
            lengths.into_iter().enumerate().map(move |(number, value_bits)| {
                let sizes = [1, 2, 3, 7, 16, 33];
                let bucket_count = sizes[(number + fingerprint_bits as usize) % sizes.len()];
                ValuedCase { slots_per_bucket, fingerprint_bits, value_bits, bucket_count }
            })
        })
    })
}

/// Prints the case when a panic passes by.
pub(crate) struct Announced(pub(crate) ValuedCase);

impl Drop for Announced {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the failing case: {}", self.0);
        }
    }
}
