//! Growth: no key is lost, removal stays exact, rates and sizes are those promised.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

mod batches;
mod copies;
mod doublings;
mod losses;
mod merging;
mod model;
mod promise;

use guira::CuckooFilter;

const RATES: [f64; 3] = [0.05, 0.01, 0.001];

/// A filter for these rates that starts small and may become large.
fn growing(rate: f64) -> CuckooFilter {
    CuckooFilter::builder()
        .capacity(1000)
        .max_capacity(1024 * 1000)
        .false_positive_rate(rate)
        .build()
        .expect("there is such a filter")
}

fn filled(rate: f64, keys: u64) -> CuckooFilter {
    let mut filter = growing(rate);
    for key in 0..keys {
        filter.insert(&key).unwrap_or_else(|error| panic!("key {key} at rate {rate}: {error}"));
    }
    filter
}

fn assert_holds(filter: &CuckooFilter, keys: impl IntoIterator<Item = u64>, what: &str) {
    for key in keys {
        assert!(filter.contains(&key), "{what}: {key} is lost");
    }
    filter.check_invariants().unwrap_or_else(|broken| panic!("{what}: {broken}"));
}

/// A key that is never inserted.
fn absent(number: u64) -> u64 {
    (1 << 40) + number
}

/// How many keys there are just before each half of a doubling, up to a number of keys, which is the last of them.
fn keys_before_doublings(mut filter: CuckooFilter, most: u64) -> Vec<u64> {
    let mut points = Vec::new();
    for key in 0..most {
        let doublings = filter.parameters().half_doublings();
        filter.insert(&key).unwrap_or_else(|error| panic!("key {key}: {error}"));
        if filter.parameters().half_doublings() != doublings {
            points.push(key);
        }
    }
    points.push(most);
    points
}
