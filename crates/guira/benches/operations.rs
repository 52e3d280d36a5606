//! Nanoseconds per operation, one call at a time, on a table of 192 MB (2^25 buckets of 4 slots of 12 bits) filled to 95 %,
//! which is the table of the paper's section 7.
//!
//! Keys are counted `u64`s, hashed in the timed loop; every query has a fresh key, and every answer is checked.

use std::hint::black_box;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use guira::CuckooFilter;

const BUCKETS: u64 = 1 << 25;
const KEYS: u64 = BUCKETS * 4 * 95 / 100;
/// How many keys are asked for in one timed run.
const QUERIES: u64 = 1 << 20;
/// Keys from here on were never inserted.
const FIRST_ABSENT: u64 = 1 << 40;

static FULL: LazyLock<CuckooFilter> = LazyLock::new(filled);

fn main() {
    divan::main();
}

fn empty() -> CuckooFilter {
    CuckooFilter::builder().bucket_count(BUCKETS).fingerprint_bits(12).build().expect("192 MB can be had")
}

fn filled() -> CuckooFilter {
    let mut filter = empty();
    for key in 0..KEYS {
        filter.insert(&key).expect("below the rated load");
    }
    filter
}

/// The first of `QUERIES` keys of each run, so that no run asks for the keys of another.
fn runs(first: u64, most: u64) -> impl FnMut() -> u64 {
    let mut run = 0;
    move || {
        run += 1;
        first + (run * QUERIES) % (most - QUERIES)
    }
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn contains_absent(bencher: Bencher<'_, '_>) {
    let filter = &*FULL;
    bencher.counter(ItemsCount::new(QUERIES)).with_inputs(runs(FIRST_ABSENT, 1 << 40)).bench_local_values(|first| {
        let found = (first..first + QUERIES).filter(|key| filter.contains(black_box(key))).count();
        // The rate expected is 0.19 %.
        assert!(found < usize::try_from(QUERIES / 400).expect("small"), "{found}");
    });
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn contains_present(bencher: Bencher<'_, '_>) {
    let filter = &*FULL;
    bencher.counter(ItemsCount::new(QUERIES)).with_inputs(runs(0, KEYS)).bench_local_values(|first| {
        assert!((first..first + QUERIES).all(|key| filter.contains(black_box(&key))));
    });
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn insert_to_95_percent(bencher: Bencher<'_, '_>) {
    let mut filter = empty();
    bencher.counter(ItemsCount::new(KEYS)).bench_local(|| {
        filter.clear();
        for key in 0..KEYS {
            filter.insert(black_box(&key)).expect("below the rated load");
        }
    });
    assert_eq!(filter.len() as u64, KEYS);
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn remove_from_95_percent(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(QUERIES)).with_inputs(|| FULL.clone()).bench_local_refs(|filter| {
        assert!((0..QUERIES).all(|key| filter.remove(black_box(&key))));
    });
}
