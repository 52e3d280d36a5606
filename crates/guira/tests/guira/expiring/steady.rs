use guira::ExpiringCuckooFilter;

use super::{Checked, builder};

/// As many keys in each lifetime as the filter has room for, through hundreds of generations, with the numbers of all of them given
/// many times. Half of the filters leave sweeping to insertions as far as they can.
#[test]
fn a_steady_stream_of_as_many_keys_as_fit_goes_on_for_ever() {
    for (capacity, lifetime) in [(50, 50), (2000, 2000), (30_000, 30_000)] {
        let mut checked = Checked::new(&builder(capacity, 0.001, lifetime), lifetime);
        let lifetimes = if capacity > 10_000 { 4 } else { 40 };
        for number in 0..lifetime * lifetimes {
            let key = checked.new_key();
            assert!(checked.insert(key), "there is no room for {key}");
            assert_eq!(checked.filter.advance(number + 1), Ok(true));
            if number % (lifetime / 10) == 0 {
                checked.look();
            }
        }
        checked.assert_rate();
        let filter = &checked.filter;
        let most = capacity + capacity.div_ceil(14) + 1;
        assert!((capacity..=most).contains(&filter.len()), "{} of {capacity}", filter.len());
    }
}

/// A full filter holds 14.7 bits for each of its living keys at a rate of 1.5 %, and 19.2 at 0.1 %: (f + 4) bits in slots that are
/// filled to 95 %, with a fourteenth of dying keys.
#[test]
fn a_living_key_takes_few_bits() {
    for (rate, most) in [(0.015, 15.0), (0.001, 19.5)] {
        let filter = ExpiringCuckooFilter::with_capacity(1_000_000, rate, 3600).expect("some megabytes");
        let bits = filter.size_in_bytes() as f64 * 8.0 / 1e6;
        assert!(bits <= most, "{bits} bits at a rate of {rate}");
    }
}

/// Insertions alone finish a pass within a resolution where as many keys come as fit.
#[test]
fn insertions_sweep_the_table_in_time() {
    let lifetime = 14_000;
    let mut filter = ExpiringCuckooFilter::with_capacity(400_000, 0.001, lifetime).expect("a megabyte");
    let per_unit = 400_000 / lifetime;
    let mut key = 0_u64;
    for time in 1..=4 * lifetime {
        for _ in 0..per_unit {
            filter.insert(&key).expect("there is room");
            key += 1;
        }
        // Once in a resolution, so that `advance` itself sweeps 4096 of more than 100,000 buckets.
        if time % filter.resolution() == 0 {
            assert_eq!(filter.advance(time), Ok(true), "at {time}");
        }
    }
    assert_eq!(filter.check_invariants(), Ok(()));
}

/// A process that slept, or a file that is opened after a month.
#[test]
fn after_a_long_time_everything_is_dead_and_each_number_can_be_given_again() {
    let mut filter = ExpiringCuckooFilter::with_capacity(20_000, 0.001, 60).expect("small");
    for round in 0..40_u64 {
        for key in 0..20_000_u64 {
            filter.insert(&(round << 32 | key)).expect("the last round is dead");
        }
        assert_eq!(filter.len(), 20_000);
        let now = filter.time() + 1_000_000;
        let error = filter.advance(now).expect_err("all would expire");
        assert_eq!((error.now, error.lifetime), (now, filter.lifetime()));
        assert_eq!(filter.len(), 20_000);
        let mut steps = 1;
        while !filter.jump(now) {
            steps += 1;
        }
        assert!(steps <= 3, "{steps} steps for 5,300 buckets");
        assert!(filter.is_empty());
        let found = (0..20_000_u64).filter(|key| filter.contains(&(round << 32 | key))).count();
        assert_eq!(found, 0, "nothing is alive that could be taken for them");
    }
}

#[test]
fn time_ends_where_its_numbers_do() {
    let mut filter = builder(100, 0.001, 60).start_time(u64::MAX - 200).build().expect("small");
    filter.insert("ani").expect("empty");
    for now in (u64::MAX - 200..=u64::MAX).step_by(10).chain([u64::MAX]) {
        filter.advance(now).expect("small steps");
        filter.insert(&now).expect("few keys");
        assert!(filter.contains(&now));
    }
    assert!(!filter.contains("ani"));
    assert_eq!(filter.advance(5), Ok(true), "a time that has passed");
    assert_eq!(filter.time(), u64::MAX);
}

/// Whoever moves on without letting the filter sweep finds keys for longer, and loses none.
#[test]
fn whoever_does_not_let_it_sweep_loses_no_key() {
    let mut filter = ExpiringCuckooFilter::with_capacity(50_000, 0.001, 1400).expect("small");
    let mut came = Vec::new();
    let mut was_behind = false;
    for key in 0..20_000_u64 {
        filter.insert(&key).expect("there is room");
        came.push(filter.time());
        if key % 20 == 0 {
            was_behind |= !filter.advance(filter.time() + 99).expect("less than a lifetime");
        }
        if key % 2000 == 0 {
            for (key, &came) in (0_u64..).zip(&came) {
                assert!(filter.time() - came >= 1400 || filter.contains(&key), "{key} died early");
            }
            assert_eq!(filter.check_invariants(), Ok(()));
        }
    }
    assert!(was_behind, "it was always swept in time");
}
