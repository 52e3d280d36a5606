use guira::{ExpiringCuckooFilter, GrowthPolicy, InsertError, MergeError, ReserveError};

use super::{Checked, builder};

#[test]
fn a_filter_that_grows_and_shrinks_agrees_with_the_times_of_each_copy() {
    for seed in 0..6 {
        let builder = builder(20, 0.01, 1400).max_capacity(5000);
        let mut checked = Checked::new(&builder, seed);
        let mut doublings = 0;
        for _ in 0..4 {
            for _ in 0..6 {
                for _ in 0..checked.random.next() % 700 {
                    let key = checked.new_key();
                    assert!(checked.insert(key), "it may grow");
                }
                checked.work(200);
                doublings = doublings.max(checked.filter.parameters().half_doublings() / 2);
            }
            checked.advance(1000);
            checked.filter.shrink_to_fit();
            checked.look();
        }
        assert!(doublings > 0, "it has not grown");
        checked.assert_rate();
    }
}

#[test]
fn a_table_that_is_doubled_leaves_dead_keys_behind() {
    let mut filter = builder(1000, 0.001, 60).max_capacity(100_000).build().expect("small");
    filter.try_extend(0..20_000_u64).expect("it may grow");
    let size = filter.size_in_bytes();
    // The keys die, and others come: more than fit beside them, and no more than fit.
    filter.jump(1000);
    filter.try_extend(1 << 40..(1 << 40) + 20_000_u64).expect("the dead take no room");
    assert_eq!(filter.size_in_bytes(), size);
    filter.jump(2000);
    filter.shrink_to_fit();
    assert!(filter.size_in_bytes() < size / 8);
    assert_eq!(filter.check_invariants(), Ok(()));
}

#[test]
fn a_table_that_is_doubled_while_it_is_swept_leaves_dead_keys_behind() {
    for shrinks in [false, true] {
        let mut filter = builder(20_000, 0.001, 60).max_capacity(1_000_000).build().expect("small");
        filter.reserve(200_000).expect("it may grow");
        filter.try_extend(0..150_000_u64).expect("there is room");
        // One call sweeps 4096 of tens of thousands of buckets.
        filter.jump(1000);
        let (size, in_table) = (filter.size_in_bytes(), filter.to_bytes()[40..48].to_vec());
        assert_ne!(in_table, [0; 8], "it was swept as a whole");
        if shrinks {
            filter.shrink_to_fit();
        } else {
            filter.reserve(500_000).expect("it may grow");
        }
        assert_ne!(filter.size_in_bytes(), size);
        assert_eq!(filter.to_bytes()[40..48], [0; 8], "dead keys were taken along");
        assert_eq!(filter.check_invariants(), Ok(()));
    }
}

#[test]
fn a_filter_refuses_more_than_its_largest_capacity_unless_it_may_raise_its_rate() {
    let builder = builder(100, 0.001, 60).max_capacity(1000);
    let mut filter = builder.build().expect("small");
    let error = filter.try_extend(0..5000_u64).expect_err("at most 1000 keys");
    assert!(error.inserted >= 1000, "{error:?}");
    assert!(filter.expected_false_positive_rate() <= 0.001);
    let mut filter = builder.growth_policy(GrowthPolicy::RaiseRate).build().expect("small");
    filter.try_extend(0..5000_u64).expect("at a higher rate");
    assert!((0..5000_u64).all(|key| filter.contains(&key)));
}

/// An empty filter has room for its capacity, and after each reservation for so many keys more, whichever numbers.
#[test]
fn what_is_reserved_is_the_capacity_and_refusals_count_living_keys() {
    for (capacity, lifetime) in [(1, 1), (7, 60), (1000, 14), (1000, 2), (20, 2), (5000, 254)] {
        let fixed = builder(capacity, 0.001, lifetime).resolution(1).build().expect("small");
        for mut filter in [
            fixed.clone(),
            builder(capacity, 0.001, lifetime).resolution(1).max_capacity(9 * capacity).build().expect("small"),
        ] {
            let (promised, most) = (filter.capacity(), filter.max_capacity());
            assert_eq!(filter.reserve(promised), Ok(()), "{capacity} keys for {lifetime}");
            assert_eq!(filter.capacity(), promised, "{capacity} keys for {lifetime}");
            assert_eq!(filter.reserve(most), Ok(()), "{capacity} keys for {lifetime}");
            assert_eq!(
                filter.reserve(most + 1),
                Err(ReserveError::Full { len: 0, additional: most + 1, capacity: filter.capacity() })
            );
        }
        let mut filter =
            builder(capacity, 0.001, lifetime).resolution(1).max_capacity(100 * capacity).build().expect("small");
        for number in 0..20 {
            filter.insert(&number).expect("it may grow");
            filter.reserve(3 * number).expect("it may grow");
            assert!(filter.capacity() >= filter.len() + 3 * number, "{capacity} keys for {lifetime}, {number}");
        }
        let mut filter = fixed;
        let refused = (0_u64..).find_map(|key| filter.insert(&key).err()).expect("a full table");
        let (len, capacity) = (filter.len(), filter.capacity());
        assert!(
            matches!(refused, InsertError::Full { len: l, capacity: c, .. } if (l, c) == (len, capacity)),
            "{refused}"
        );
    }
}

/// Filters that were filled at different times, and have grown to different sizes.
#[test]
fn merging_loses_no_key_and_keeps_none_for_more_than_one_resolution_longer() {
    for seed in 0..12 {
        let builder = builder(50, 0.001, 1400).max_capacity(20_000);
        let mut parts = [0, 1].map(|part| {
            let mut checked = Checked::new(&builder, 2 * seed + part);
            checked.next = part << 32;
            for _ in 0..(seed + 1) * 200 * (1 + 3 * part) {
                let key = checked.new_key();
                assert!(checked.insert(key), "it may grow");
                let by = checked.random.next() % 3;
                checked.advance(by);
            }
            checked
        });
        if seed % 2 == 0 {
            parts.reverse();
        }
        let [mut ours, theirs] = parts;
        let before = theirs.filter.to_bytes();
        ours.filter.merge(&theirs.filter).expect("it may grow");
        assert_eq!(theirs.filter.to_bytes(), before);
        assert_eq!(ours.filter.check_invariants(), Ok(()));
        ours.copies.extend(theirs.copies);
        let time = ours.time();
        assert_eq!(time, time.max(theirs.filter.time()));
        for round in 0..30 {
            for (key, times) in &ours.copies {
                let age = ours.time() - times[0];
                assert!(age >= 1400 || ours.filter.contains(key), "{key} is not found {age} after it came");
            }
            assert_eq!(ours.filter.check_invariants(), Ok(()), "round {round}");
            ours.advance(100);
        }
        // A lifetime and two resolutions after the last came, which was at the time of the merge at the latest.
        assert!(ours.filter.is_empty());
    }
}

/// Whichever of the two takes the keys of the other, and however few generations it has itself.
#[test]
fn keys_of_all_ages_die_in_time_after_any_number_of_merges() {
    let builder = builder(1000, 1e-9, 1400).resolution(100);
    let empty = |time| {
        let mut filter = builder.build().expect("small");
        filter.jump(time);
        filter
    };
    for (is_taken_along, into_new) in [(true, false), (false, true), (false, false)] {
        let mut filter = empty(0);
        // When each key came; a pair a resolution, at its ends.
        let mut came: Vec<u64> = Vec::new();
        for round in 0..60_u64 {
            for time in [round * 100, round * 100 + 99] {
                filter.jump(time);
                filter.insert(&time).expect("few keys");
                came.push(time);
            }
            let time = filter.time();
            if is_taken_along {
                let mut new = empty(time);
                new.insert("new").expect("few keys");
                filter.merge(&new).expect("made alike");
            } else if into_new {
                let mut new = empty(time);
                new.merge(&filter).expect("made alike");
                filter = new;
            } else {
                filter.merge(&empty(time + 50)).expect("made alike");
            }
            assert_eq!(filter.check_invariants(), Ok(()));
            for &key in &came {
                let (age, is_found) = (filter.time() - key, filter.contains(&key));
                assert!(age >= 1400 || is_found, "a key is not found {age} after it came");
                // Those of one resolution stay together.
                assert!(age < 1500 || !is_found, "a key is found {age} after it came, in round {round}");
            }
        }
    }
}

/// Keys that die of the merge itself, which moves the time on, take no room either.
#[test]
fn dead_keys_keep_no_others_out_of_a_merge() {
    let mut ours = builder(1000, 0.001, 60).max_capacity(1000).build().expect("small");
    ours.try_extend(0..1000_u64).expect("as many as fit");
    let mut theirs = ours.empty_like().expect("memory");
    theirs.jump(1000);
    theirs.try_extend(2000..2900_u64).expect("as many as fit");
    ours.merge(&theirs).expect("only these live");
    assert_eq!((ours.len(), ours.check_invariants()), (900, Ok(())));
    assert!((2000..2900_u64).all(|key| ours.contains(&key)));
}

/// A filter that was not swept for long, so that its keys go on joining an old generation, takes keys that came later.
#[test]
fn keys_that_join_a_generation_by_a_merge_live_as_long_as_they_should() {
    let mut ours = builder(500_000, 0.001, 140).build().expect("a megabyte");
    let mut now = 0;
    // Without sweeping, numbers are used up.
    let is_behind = (0..100_u64).any(|key| {
        ours.insert(&key).expect("room");
        now += 10;
        !ours.advance(now).expect("less than a lifetime")
    });
    assert!(is_behind);
    let mut theirs = ours.empty_like().expect("memory");
    theirs.jump(now + 9);
    theirs.insert("ani").expect("room");
    ours.merge(&theirs).expect("made alike");
    while !ours.jump(now + 9 + 139) {}
    assert!(ours.contains("ani"));
    while !ours.jump(now + 9 + 160) {}
    assert!(!ours.contains("ani"));
}

#[test]
fn filters_that_were_made_otherwise_are_not_merged() {
    let filter = |lifetime, resolution| builder(100, 0.001, lifetime).resolution(resolution).build().expect("small");
    for (other, what) in [(filter(120, 10), "lifetime"), (filter(60, 5), "resolution")] {
        let mut ours = filter(60, 10);
        assert!(matches!(ours.merge(&other), Err(MergeError::Differs { what: found, .. }) if found == what));
    }
    let mut full = filter(60, 10);
    let mut other = full.empty_like().expect("small");
    while other.insert(&other.len()).is_ok() {}
    full.try_extend(0..50_u64).expect("half of its capacity");
    let before = full.to_bytes();
    assert!(matches!(full.merge(&other), Err(MergeError::Full { .. })));
    assert_eq!(full.to_bytes(), before);
    // Once they are dead, there is room.
    full.jump(1000);
    assert_eq!(full.merge(&filter_at(&other, 1000)), Ok(()));
}

fn filter_at(filter: &ExpiringCuckooFilter, time: u64) -> ExpiringCuckooFilter {
    let mut later = filter.clone();
    later.jump(time);
    later
}

/// What is free is counted in keys that live, also where a lifetime has few resolutions, so that many in the table may not.
#[test]
fn an_eighth_of_the_capacity_is_free_after_shrinking() {
    for (resolutions, len) in
        [1, 2, 7, 60].into_iter().flat_map(|it| (100..4000).step_by(100).map(move |len| (it, len)))
    {
        let builder = builder(100, 0.01, 60).resolution(60 / resolutions).max_capacity(100_000);
        let mut filter = builder.build().expect("small");
        filter.try_extend(0..len).expect("it may grow");
        filter.reserve(20_000).expect("it may grow");
        filter.shrink_to_fit();
        let (len, capacity) = (filter.len(), filter.capacity());
        let is_as_begun = filter.parameters().half_doublings() == 0;
        assert!(is_as_begun || len + capacity / 8 <= capacity, "{len} of {capacity}, {resolutions} resolutions");
    }
}
