//! What is promised of rates, sizes and capacities.

use guira::{
    BuildError, ConcurrentCuckooFilter, CuckooFilter, GrowthPolicy, InsertError, KeyHasher, MergeError, ReserveError,
};

use super::{RATES, absent, assert_holds, filled, growing, keys_before_doublings};
use crate::oracle::binomial::assert_share;

#[test]
fn the_rate_is_kept_at_every_doubling() {
    const QUERIES: u64 = 200_000;
    for rate in RATES {
        let empty = CuckooFilter::builder().capacity(1000).max_capacity(300_000).false_positive_rate(rate);
        let empty = empty.build().expect("there is such a filter");
        let points = keys_before_doublings(empty.clone(), empty.max_capacity() as u64);
        assert!(points.len() > 8, "{points:?}");
        for &keys in &points {
            let mut filter = empty.clone();
            for key in 0..keys {
                filter.insert(&key).expect("it went in before");
            }
            let found = (0..QUERIES).filter(|&number| filter.contains(&absent(number))).count() as u64;
            let expected = filter.expected_false_positive_rate();
            let what = format!("{keys} keys at rate {rate}");
            assert!(expected <= rate, "{what}: {expected}");
            // The expected rate takes each slot for a chance of its own, which is above the truth by less than 1 %.
            assert_share(found, QUERIES, 0.99 * expected, expected, &what);
        }
    }
}

#[test]
fn before_a_doubling_the_table_is_as_small_as_one_built_for_its_keys() {
    let empty = growing(0.001);
    for keys in keys_before_doublings(empty, 300_000).into_iter().rev().skip(1) {
        let filter = filled(0.001, keys);
        let parameters = filter.parameters();
        let built = CuckooFilter::builder()
            .capacity(filter.len())
            .fingerprint_bits(parameters.fingerprint_bits())
            .slots_per_bucket(parameters.slots_per_bucket())
            .build()
            .expect("there is such a filter");
        let ratio = filter.size_in_bytes() as f64 / built.size_in_bytes() as f64;
        assert!(ratio <= 1.1, "{keys} keys: {} bytes, built {} bytes", filter.size_in_bytes(), built.size_in_bytes());
    }
}

#[test]
fn a_filter_for_1000_keys_takes_16_kilobytes_at_the_most() {
    let ranges =
        [(0.05, 1_000_000_000), (0.01, 1_000_000_000), (0.001, 1_000_000_000), (1e-4, 30_000_000), (1e-6, 1_000_000)];
    for (rate, most) in ranges {
        for largest in [1000, 1_000_000, most] {
            let builder = CuckooFilter::builder().capacity(1000).max_capacity(largest);
            let filter = builder.false_positive_rate(rate).build().expect("there is such a filter");
            assert!(filter.max_capacity() >= largest);
            assert!(filter.size_in_bytes() <= 16 << 10, "rate {rate}, up to {largest}: {filter:?}");
        }
    }
}

/// Filters for capacities, and largest capacities that are not the capacity times a power of two.
fn of_any_growth(capacity: usize) -> impl Iterator<Item = (usize, CuckooFilter)> {
    [1000, 1002, 1300, 1900, 2000, 2500, 3900, 5000, 11_300, 100_000, 1_000_000].into_iter().map(move |thousandths| {
        let largest = capacity * thousandths / 1000;
        let builder = CuckooFilter::builder().capacity(capacity).max_capacity(largest);
        (largest, builder.false_positive_rate(0.001).build().expect("there is such a filter"))
    })
}

#[test]
fn the_last_table_is_as_small_as_one_built_for_the_max_capacity() {
    for capacity in [100, 1000, 3000, 10_000] {
        for (largest, mut filter) in of_any_growth(capacity) {
            let begun_with = filter.parameters().slot_count();
            let of_capacity = CuckooFilter::with_capacity(capacity, 0.001).expect("there is such a filter");
            let most = 2 * of_capacity.parameters().slot_count() + 16;
            assert!(begun_with <= most, "{capacity} to {largest}: {filter:?}");
            filter.reserve(largest).expect("so many were promised");
            let built = CuckooFilter::builder()
                .capacity(largest)
                .fingerprint_bits(filter.parameters().fingerprint_bits())
                .slots_per_bucket(4)
                .build()
                .expect("there is such a filter");
            let ratio = filter.size_in_bytes() as f64 / built.size_in_bytes() as f64;
            assert!(ratio <= 1.15, "{capacity} to {largest}: {ratio} times the size of one that was built for it");
        }
    }
}

#[test]
fn as_many_keys_fit_as_the_max_capacity_says_however_close_it_is() {
    for capacity in [1, 2, 9, 100, 1000] {
        for (largest, mut filter) in of_any_growth(capacity).take_while(|&(largest, _)| largest < 20_000) {
            for key in 0..largest as u64 {
                filter.insert(&key).unwrap_or_else(|error| panic!("{capacity} to {largest}, key {key}: {error}"));
            }
            assert!(filter.expected_false_positive_rate() <= 0.001, "{capacity} to {largest}: {filter:?}");
            assert_holds(&filter, 0..largest as u64, "all that were promised");
        }
    }
}

#[test]
fn a_table_is_doubled_with_as_many_keys_as_its_capacity_says_or_a_few_more() {
    // The load of a table whose buckets have all been doubled as often, and of one that is half doubled.
    let loads = [(4, 30, [0.93, 0.89]), (4, 30_000, [0.93, 0.89]), (8, 30_000, [0.96, 0.94])];
    for (slots, capacity, loads) in loads {
        let builder = CuckooFilter::builder().capacity(capacity).max_capacity(20 * capacity).slots_per_bucket(slots);
        let built = builder.false_positive_rate(0.001).build().expect("there is such a filter");
        let mut filter = built.clone();
        let (mut before, mut keys) = (*filter.parameters(), 0..u64::MAX);
        assert!(before.capacity() >= capacity as u64);
        while filter.parameters().half_doublings() < 6 {
            let len = filter.len() as u64;
            filter.insert(&keys.next().expect("there are more")).expect("as many were promised");
            if filter.parameters().half_doublings() > before.half_doublings() {
                assert!(len >= before.capacity(), "{before:?} was doubled with {len} keys");
                let load = loads[before.half_doublings() as usize % 2];
                let more = len as f64 - before.slot_count() as f64 * load;
                // First tables are filled up to what they were asked for.
                assert!(
                    before.half_doublings() == 0 || (0.0..1.0).contains(&more),
                    "{before:?} was doubled with {len} keys"
                );
                before = *filter.parameters();
            }
        }
        assert_eq!(filter.empty_like().as_ref(), Ok(&built));
    }
}

#[test]
fn large_first_tables_are_doubled_early_and_small_ones_have_the_slots_of_those_that_never_grow() {
    let slots_and_capacity = |capacity, times| {
        let builder = CuckooFilter::builder().capacity(capacity).max_capacity(times * capacity);
        let filter = builder.false_positive_rate(0.001).build().expect("memory for the table");
        assert!(filter.capacity() >= capacity && filter.max_capacity() >= times * capacity);
        (filter.parameters().slot_count() as f64, filter.capacity() as f64)
    };
    for (capacity, is_large) in [(1000, false), (1_000_000, false), (8_000_000, false), (10_000_000, true)] {
        let (slots, capacity_of_first) = slots_and_capacity(capacity, 2);
        let ratio = slots / slots_and_capacity(capacity, 1).0;
        if is_large {
            assert!((1.02..1.04).contains(&ratio) && capacity_of_first / slots < 0.9401, "{capacity}: {ratio}");
        } else {
            assert!((1.0..1.01).contains(&ratio), "{capacity}: {ratio}");
        }
    }
}

#[test]
fn beyond_the_max_capacity_keys_are_refused_or_the_rate_doubles() {
    let builder = CuckooFilter::builder().capacity(1000).max_capacity(8000).false_positive_rate(0.001);
    let fill = |mut filter: CuckooFilter| {
        let mut keys = 0_u64;
        loop {
            match filter.insert(&keys) {
                Ok(()) => keys += 1,
                Err(error) => {
                    assert!(matches!(error, InsertError::Full { .. }), "{error}");
                    assert_holds(&filter, 0..keys, "full");
                    return filter;
                }
            }
        }
    };
    let refusing = fill(builder.build().expect("there is such a filter"));
    assert_eq!(refusing.len(), refusing.max_capacity());
    assert!(refusing.len() >= 8000);
    assert!(refusing.expected_false_positive_rate() <= 0.001);

    let rising = fill(builder.growth_policy(GrowthPolicy::RaiseRate).build().expect("there is such a filter"));
    // 13 bits keep to the rate at the last promised doubling, and 8 are kept: five more doublings.
    assert_eq!(rising.parameters().fingerprint_bits(), 8);
    assert_eq!(rising.parameters().half_doublings() / 2, refusing.parameters().half_doublings() / 2 + 5);
    assert!(rising.len() > 31 * refusing.len());
    let ratio = rising.expected_false_positive_rate() / refusing.expected_false_positive_rate();
    assert!((28.0..=33.0).contains(&ratio), "five doublings of the rate are 32 times: {ratio}");
}

/// Small tables are promised so little that those before the last doubling would take more than the largest capacity.
#[test]
fn no_key_beyond_the_max_capacity_is_stored_in_a_table_that_is_not_the_last() {
    let builder = CuckooFilter::builder().capacity(2).max_capacity(13).false_positive_rate(0.01);
    let mut filter = builder.build().expect("there is such a filter");
    let (mut last, most) = (filter.clone(), filter.max_capacity());
    last.reserve(most).expect("so many were promised");
    let keys: Vec<u64> = (0..2 * most as u64).collect();
    let error = filter.try_extend(&keys).expect_err("more than the largest capacity");
    assert!(matches!(error.reason, InsertError::Full { .. }) && error.inserted == most, "{error:?}");
    assert!(filter.size_in_bytes() < last.size_in_bytes(), "{filter:?} is the last");
    assert!(filter.insert(&1).is_err() && filter.expected_false_positive_rate() <= 0.01);
    let shared = ConcurrentCuckooFilter::try_from(filter).expect("there is memory");
    assert!(matches!(shared.insert(&1), Err(InsertError::Full { .. })));
    assert!(shared.remove(&1) && shared.insert(&1).is_ok());
}

#[test]
fn a_reserve_that_fails_changes_nothing() {
    for beyond in [GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate] {
        let mut filter = CuckooFilter::builder()
            .capacity(1000)
            .max_capacity(4000)
            .false_positive_rate(0.01)
            .growth_policy(beyond)
            .build()
            .expect("there is such a filter");
        for key in 0..500u64 {
            filter.insert(&key).expect("there is room");
        }
        let before = filter.clone();
        // With a rate that may rise there are a few doublings more, and then no bits left.
        for additional in [10_000_000, usize::MAX] {
            assert!(matches!(filter.reserve(additional), Err(ReserveError::Full { .. })), "{filter:?}");
            assert_eq!(filter, before);
            assert_eq!(filter.to_bytes(), before.to_bytes());
        }
        let most = filter.max_capacity() - filter.len();
        assert_eq!(filter.reserve(most), Ok(()));
        assert!(filter.capacity() >= filter.max_capacity());
    }
}

#[test]
fn a_reserve_that_fails_goes_on_with_no_doubling() {
    for beyond in [GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate] {
        let mut filter = begun_to_double(1, beyond);
        let (before, both_tables) = (filter.to_bytes(), filter.size_in_bytes());
        for additional in [100_000_000, usize::MAX] {
            assert!(matches!(filter.reserve(additional), Err(ReserveError::Full { .. })), "{filter:?}");
            assert_eq!(filter.size_in_bytes(), both_tables, "{beyond:?}");
            assert!(filter.to_bytes() == before, "{beyond:?}");
        }
        assert_eq!(filter.reserve(100_000), Ok(()));
        assert!(filter.capacity() >= filter.len() + 100_000 && filter.check_invariants() == Ok(()));
    }
}

#[test]
fn a_merge_with_what_was_made_otherwise_goes_on_with_no_doubling() {
    let mut ours = begun_to_double(1, GrowthPolicy::KeepRate);
    let (before, both_tables) = (ours.to_bytes(), ours.size_in_bytes());
    let fixed = CuckooFilter::with_capacity(40_000, 0.001).expect("there is such a filter");
    for theirs in [begun_to_double(2, GrowthPolicy::KeepRate), fixed] {
        assert!(matches!(ours.merge(&theirs), Err(MergeError::Differs { .. })));
        assert_eq!(ours.size_in_bytes(), both_tables);
        assert!(ours.to_bytes() == before);
    }
    let theirs = ours.clone();
    assert_eq!(ours.merge(&theirs), Ok(()));
    assert_eq!((ours.len(), ours.check_invariants()), (2 * theirs.len(), Ok(())));
}

/// A filter whose table has just begun to be doubled, so that both tables are there.
fn begun_to_double(seed: u64, beyond: GrowthPolicy) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(40_000).max_capacity(400_000).false_positive_rate(0.001);
    let mut filter =
        builder.growth_policy(beyond).hasher(KeyHasher::xxh3(seed)).build().expect("there is such a filter");
    let one_table = filter.size_in_bytes();
    let mut keys = 0_u64..;
    while filter.parameters().half_doublings() < 2 {
        filter.insert(&keys.next().expect("without end")).expect("it grows");
    }
    assert!(filter.size_in_bytes() > 5 * one_table / 2, "it is doubled in steps");
    filter
}

#[test]
fn a_filter_that_is_shrunk_at_a_threshold_has_room_to_spare() {
    let mut filter = CuckooFilter::builder()
        .capacity(1000)
        .max_capacity(1024 * 1000)
        .false_positive_rate(0.01)
        .build()
        .expect("there is such a filter");
    let mut doublings = 0;
    let mut keys = 0..u64::MAX;
    let mut insert = |filter: &mut CuckooFilter| {
        let before = filter.parameters().half_doublings() / 2;
        let key = keys.next().expect("there are enough");
        filter.insert(&key).expect("it grows");
        doublings += filter.parameters().half_doublings() / 2 - before;
        key
    };
    // As many keys as make it double, and one that is removed and replaced again and again.
    while filter.parameters().half_doublings() < 2 {
        insert(&mut filter);
    }
    let mut last = insert(&mut filter);
    for _ in 0..100 {
        filter.remove(&last);
        filter.shrink_to_fit();
        last = insert(&mut filter);
    }
    assert!(doublings <= 1, "{doublings} doublings in 100 cycles");

    // What is said of the room: an eighth of the capacity, and with more keys it stays as it is.
    for key in 0..u64::MAX {
        let before = filter.parameters().half_doublings() / 2;
        filter.shrink_to_fit();
        if filter.parameters().half_doublings() / 2 < before {
            let free = filter.capacity() - filter.len();
            assert!(free >= filter.capacity() / 8, "{filter:?}");
            assert!(free <= filter.capacity() / 8 + 2, "{filter:?} could have been shrunk earlier");
            break;
        }
        assert!(filter.remove(&key), "{filter:?} is never shrunk");
    }
}

#[test]
fn measures_that_make_no_sense_are_refused() {
    let builder = || CuckooFilter::builder().max_capacity(10_000);
    assert_eq!(builder().capacity(10).build().err(), Some(BuildError::PrecisionMissing));
    assert_eq!(builder().false_positive_rate(0.1).build().err(), Some(BuildError::SizeMissing));
    let below = builder().capacity(10).max_capacity(9).false_positive_rate(0.1).build();
    assert_eq!(below.err(), Some(BuildError::MaxCapacity { given: 9, capacity: 10 }));
    for rate in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(matches!(
            builder().capacity(10).false_positive_rate(rate).build(),
            Err(BuildError::FalsePositiveRate { .. })
        ));
    }
    assert!(builder().capacity(0).false_positive_rate(0.1).build().is_err());
    assert!(builder().capacity(1).max_capacity(usize::MAX).false_positive_rate(0.1).build().is_err());
    for slots in [0, 1, 2, 3, 16] {
        let error = builder().capacity(10).false_positive_rate(0.1).slots_per_bucket(slots).build().err();
        assert_eq!(error, Some(BuildError::GrowingSlotsPerBucket { given: slots }));
    }
}

/// No copies are in the way there, though all keys of so small a table share their buckets with others.
#[test]
fn a_filter_without_bits_to_give_away_is_full() {
    for (capacity, rate) in [(4, 0.9), (4, 0.1), (1000, 0.05)] {
        let builder = CuckooFilter::builder().capacity(capacity).max_capacity(2 * capacity).false_positive_rate(rate);
        let mut filter = builder.growth_policy(GrowthPolicy::RaiseRate).build().expect("there is such a filter");
        let shared = guira::ConcurrentCuckooFilter::try_from(filter.clone()).expect("a packed one");
        let refused = (0_u64..).find_map(|key| {
            let stored = filter.insert(&key);
            assert_eq!(shared.insert(&key), stored, "key {key}, capacity {capacity}");
            stored.err()
        });
        assert!(matches!(refused, Some(InsertError::Full { .. })), "capacity {capacity} at {rate}: {refused:?}");
    }
}

/// Also of a first table that is planned as the last, which goes on growing.
#[test]
fn a_filter_that_shrinks_to_its_first_table_promises_what_it_promised_first() {
    for (capacity, max_capacity, slots) in
        [(6, 6, 8), (100, 100, 4), (100, 130, 4), (1000, 1000, 4), (1000, 5000, 4), (1000, 1000, 8)]
    {
        for policy in [GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate] {
            let builder = CuckooFilter::builder().capacity(capacity).max_capacity(max_capacity).growth_policy(policy);
            let filter =
                builder.slots_per_bucket(slots).false_positive_rate(0.01).build().expect("there is such a filter");
            assert!(filter.capacity() <= filter.max_capacity(), "{capacity} {max_capacity} {slots}");
            assert!(filter.empty_like().expect("memory") == filter, "{capacity} {max_capacity} {slots}");
            let mut grown = filter.clone();
            if grown.reserve(2 * capacity).is_ok() {
                assert!(grown.size_in_bytes() > filter.size_in_bytes());
                grown.shrink_to_fit();
            }
            assert!(grown == filter, "{capacity} {max_capacity} {slots}");
        }
    }
}
