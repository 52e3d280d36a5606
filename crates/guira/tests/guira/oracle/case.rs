//! The parameters of a filter under test, which every failure prints.

use std::fmt;

use guira::{Addressing, CuckooFilter, KeyHasher, Layout};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) layout: Layout,
    pub(crate) addressing: Addressing,
    pub(crate) slots_per_bucket: u32,
    pub(crate) fingerprint_bits: u32,
    pub(crate) bucket_count: u64,
    pub(crate) seed: u64,
}

impl Case {
    pub(crate) fn build(&self) -> CuckooFilter {
        CuckooFilter::builder()
            .bucket_count(self.bucket_count)
            .fingerprint_bits(self.fingerprint_bits)
            .slots_per_bucket(self.slots_per_bucket)
            .layout(self.layout)
            .addressing(self.addressing)
            .hasher(KeyHasher::xxh3(self.seed))
            .build()
            .unwrap_or_else(|error| panic!("{self}: {error}"))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "f = {}, b = {}, {:?}, {:?}, {} buckets, seed {}",
            self.fingerprint_bits, self.slots_per_bucket, self.layout, self.addressing, self.bucket_count, self.seed
        )
    }
}

/// Prints the case when a panic passes by, wherever it comes from.
pub(crate) struct Announced(pub(crate) Case);

impl Drop for Announced {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the failing case: {}", self.0);
        }
    }
}
