//! How many values and how many "probably"s keys get, against theory.
//!
//! A table of m buckets has m (2^f - 1) / 2 classes of keys that look the same, since with an even number of buckets no
//! bucket is its own alternate. All are equally likely.

use guira::{CuckooSet, InsertError};

use super::shape::ValuedCase;
use crate::oracle::binomial::{SIGMAS, assert_share};
use crate::oracle::slots::Slots as _;

const ABSENT: std::ops::Range<u32> = 1 << 31..(1 << 31) + (1 << 19);

fn cases() -> impl Iterator<Item = ValuedCase> {
    [1, 2, 3, 4, 8].into_iter().flat_map(|slots_per_bucket| {
        [(7, 4), (8, 1), (10, 22), (12, 8)].map(|(fingerprint_bits, value_bits)| ValuedCase {
            slots_per_bucket,
            fingerprint_bits,
            value_bits,
            bucket_count: 8192,
        })
    })
}

fn classes(case: ValuedCase) -> f64 {
    case.bucket_count as f64 * ((1_u64 << case.fingerprint_bits) - 1) as f64 / 2.0
}

/// Checks a sum of numbers of at most 2b each, by Bernstein's inequality.
fn assert_sum(case: ValuedCase, sum: u64, expected: f64, variance: f64, what: &str) {
    let most = f64::from(2 * case.slots_per_bucket);
    let beyond = SIGMAS * variance.sqrt() + SIGMAS * SIGMAS * most / 3.0;
    let difference = sum as f64 - expected;
    assert!(difference.abs() <= beyond, "{case}, {what}: {sum}, not {expected:.1} by less than {beyond:.1}");
}

/// Section 6 of the paper: 1 + ε values for a present key and ε for an absent one.
#[test]
fn a_map_gives_one_value_and_the_rate_for_present_keys_and_the_rate_for_absent_ones() {
    for case in cases() {
        let mut map = case.map();
        let most = map.slot_count() / 8 * if case.slots_per_bucket == 1 { 3 } else { 6 };
        let keys: Vec<u32> = (0..).filter(|key| map.insert(key, 1).is_ok()).take(most).collect();
        let per_class = keys.len() as f64 / classes(case);

        // An absent key is of each class with the same probability, so on average it gets the average number of values,
        // wherever they are. The squares of these numbers are per_class + per_class² on average, and no more than twice that.
        let absent: u64 = ABSENT.map(|key| map.get_all(&key).len() as u64).sum();
        let queries = ABSENT.len() as f64;
        let variance = 2.0 * queries * (per_class + per_class * per_class);
        assert_sum(case, absent, queries * per_class, variance, "absent keys");

        // Each pair of present keys shares a class with probability 1 / classes, and gives each of the two a value more. The
        // pairs are independent, any two of them.
        let present: u64 = keys.iter().map(|key| map.get_all(key).len() as u64).sum();
        let pairs = keys.len() as f64 * (keys.len() - 1) as f64 / 2.0 / classes(case);
        let others = present - keys.len() as u64;
        assert_sum(case, others / 2, pairs, pairs, "pairs of present keys");

        // The number per absent key is ε, but for keys that match several values, which ε counts once. The formula for ε
        // takes slots for independent, by which it may be too high by what p is below -ln(1 - p).
        let rate = map.expected_false_positive_rate();
        let probability = 1.0 / ((1_u64 << case.fingerprint_bits) - 1) as f64;
        let least = rate * probability / -(-probability).ln_1p();
        assert!((least..=-(-rate).ln_1p()).contains(&per_class), "{case}: {per_class} values for a rate of {rate}");
    }
}

/// Where every class is stored once, the rate is the share of the classes that are.
#[test]
fn counting_filters_and_sets_have_the_rate_of_their_classes() {
    for case in cases() {
        let mut filter = case.counting();
        let mut set = CuckooSet::from(case.without_values().build());
        let most = filter.slot_count() / 8 * if case.slots_per_bucket == 1 { 3 } else { 6 };
        for key in 0_u32.. {
            if filter.len() == most {
                break;
            }
            let counted = filter.insert(&key);
            assert!(matches!(counted, Ok(()) | Err(InsertError::CounterFull { .. })), "{case}: {counted:?}");
            set.insert(&key).expect("the table is not nearly full");
        }
        assert_eq!(filter.len(), set.len(), "{case}: the same classes");
        let rate = set.len() as f64 / classes(case);
        let queries = ABSENT.len() as u64;
        for (what, found) in [
            ("counting", ABSENT.filter(|key| filter.contains(key)).count()),
            ("set", ABSENT.filter(|key| set.contains(key)).count()),
        ] {
            assert_share(found as u64, queries, rate, rate, &format!("{case}, {what}"));
        }
    }
}

/// A capacity is promised for distinct keys, whatever their values.
#[test]
fn promised_capacities_are_kept_at_promised_rates() {
    for capacity in [1, 10, 100, 1000, 4097, 100_000] {
        for rate in [0.05, 0.001] {
            let mut map = guira::CuckooMap::<u16>::with_capacity(capacity, rate).expect("parameters in range");
            let mut filter = guira::CountingCuckooFilter::with_capacity(capacity, rate).expect("parameters in range");
            for key in 0..capacity as u64 {
                map.insert(&key, 5).expect("the capacity is promised");
                filter.insert(&key).expect("the capacity is promised");
            }
            assert_eq!((map.len(), map.capacity(), filter.capacity()), (capacity, capacity, capacity));
            assert!(map.expected_false_positive_rate() <= rate, "{map:?}");
            assert!(filter.expected_false_positive_rate() <= rate, "{filter:?}");
            let found = ABSENT.filter(|key| map.contains_key(key)).count();
            assert_share(found as u64, ABSENT.len() as u64, 0.0, rate, &format!("{map:?}"));
        }
    }
}
