use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use guira::{ConcurrentCuckooFilter, CuckooFilter, CuckooSet, Digest, GrowthPolicy, InsertError};

use super::stress::{Outcome, duration, stress, wait};
use crate::oracle::random::SplitMix64;

fn filter(capacity: usize, max_capacity: usize, beyond: GrowthPolicy) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(capacity).max_capacity(max_capacity);
    builder.false_positive_rate(0.01).growth_policy(beyond).build().expect("small")
}

fn shared(filter: CuckooFilter) -> ConcurrentCuckooFilter {
    filter.try_into().expect("there is memory")
}

#[test]
fn the_same_operations_give_the_same_answers_and_bytes_as_in_a_filter_of_one_thread() {
    for beyond in [GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate] {
        let mut plain = filter(50, 2000, beyond);
        let filter = shared(plain.clone());
        let mut random = SplitMix64::new(7);
        for _ in 0..40_000 {
            let key = random.below(6000) as u64;
            match random.below(6) {
                0..3 => assert_eq!(filter.insert(&key), plain.insert(&key)),
                3 => assert_eq!(filter.insert_if_absent(&key), plain.insert_if_absent(&key)),
                4 => assert_eq!(filter.remove(&key), plain.remove(&key)),
                _ => assert_eq!((filter.contains(&key), filter.count(&key)), (plain.contains(&key), plain.count(&key))),
            }
            assert_eq!((filter.len(), filter.capacity()), (plain.len(), plain.capacity()));
        }
        assert_eq!(filter.check_invariants(), Ok(()));
        assert_eq!(filter.snapshot().expect("small"), plain);
        assert!(filter.parameters().half_doublings() / 2 > 3);
    }
}

/// Of digests that are a program's own, low bits may be the same in all.
#[test]
fn the_limit_holds_for_digests_that_have_bits_in_common() {
    for (mask, bits) in [(0, 0), (1, 1), (0x1f, 0x15), (0xffff, 0x7fff), (0xff, 0)] {
        let mut plain = filter(1000, 100_000, GrowthPolicy::KeepRate);
        let filter = shared(plain.clone());
        let most = filter.max_capacity();
        let mut random = SplitMix64::new(11);
        let mut digests = std::iter::repeat_with(|| Digest::new(random.next() & !mask | bits));
        let stored = digests.by_ref().take(2 * most).take_while(|digest| filter.insert(digest).is_ok()).count();
        assert_eq!((stored, filter.len()), (most, most), "low bits {bits:#x}");
        let mut random = SplitMix64::new(11);
        let mut digests = std::iter::repeat_with(|| Digest::new(random.next() & !mask | bits));
        assert_eq!(digests.by_ref().take(2 * most).take_while(|digest| plain.insert(digest).is_ok()).count(), most);
    }
}

#[test]
fn copies_never_make_it_grow() {
    let filter = shared(filter(100, 100_000, GrowthPolicy::RaiseRate));
    let size = filter.size_in_bytes();
    for _ in 0..8 {
        filter.insert("ani").expect("two buckets of four slots");
    }
    assert_eq!(filter.insert("ani"), Err(InsertError::TooManyCopies { copies: 8 }));
    assert_eq!(filter.size_in_bytes(), size);
}

/// See the test of the same name for filters of one thread.
#[test]
fn a_copy_that_no_larger_table_would_take_is_refused_without_one() {
    let mut plain = filter(100, 100_000, GrowthPolicy::RaiseRate);
    for key in 0..2000_u64 {
        plain.insert(&key).expect("it grows");
    }
    let mut fewer_than_eight = 0;
    for key in 1 << 40..(1 << 40) + 3000_u64 {
        let (shared, mut plain) = (shared(plain.clone()), plain.clone());
        for _ in 0..9 {
            assert_eq!(shared.insert(&key), plain.insert(&key), "{key}");
        }
        let copies = plain.count(&key);
        assert_eq!(shared.insert(&key), Err(InsertError::TooManyCopies { copies }), "{key}");
        fewer_than_eight += usize::from(copies < 8);
    }
    assert!(fewer_than_eight > 0, "no key has eight companions");
}

/// A doubling goes on as slowly as before.
#[test]
fn a_copy_that_no_split_makes_room_for_is_refused_without_one() {
    let mut plain = filter(400_000, 4_000_000, GrowthPolicy::KeepRate);
    let shared = shared(plain.clone());
    // Some that leave no room beside them, however far the table is split.
    for key in (0..16_000_u64).map(|number| (1 << 50) + number / 8) {
        assert_eq!(shared.insert(&key), plain.insert(&key), "{key}");
    }
    for key in (0..).take_while(|_| shared.parameters().half_doublings() < 2) {
        assert_eq!(shared.insert(&key), plain.insert(&key), "{key}");
    }
    let both_tables = shared.size_in_bytes();
    // To about the middle, so that there is room in the half that was split.
    for key in 1 << 40..(1 << 40) + 1500_u64 {
        assert_eq!(shared.insert(&key), plain.insert(&key), "{key}");
    }
    let mut fewer_than_eight = 0;
    for key in (0..400_000_u64).take_while(|_| shared.size_in_bytes() == both_tables) {
        for _ in 0..9 {
            let before = shared.size_in_bytes();
            let inserted = shared.insert(&key);
            assert_eq!(inserted, plain.insert(&key), "{key}");
            if inserted.is_err() {
                assert_eq!(shared.size_in_bytes(), before, "{key}");
                fewer_than_eight += usize::from(plain.count(&key) < 8);
            }
        }
    }
    assert!(fewer_than_eight > 0, "no key has eight companions");
    assert_eq!(shared.snapshot().expect("there is memory"), plain);
}

#[test]
fn threads_fill_it_up_to_its_max_capacity() {
    let filter = shared(filter(100, 20_000, GrowthPolicy::KeepRate));
    let most = filter.max_capacity();
    let start = Barrier::new(2);
    let insert_all = |first: u64| {
        start.wait();
        (first..2 * most as u64).step_by(2).filter(|key| filter.insert(key).is_ok()).collect::<Vec<_>>()
    };
    let stored = thread::scope(|threads| {
        let both = [0, 1].map(|first| threads.spawn(move || insert_all(first)));
        both.map(|thread| thread.join().expect("it does not panic")).concat()
    });
    // One of the threads may have looked when there was room for one more, which the other one then took.
    assert!((most..=most + 1).contains(&stored.len()), "{} of {most}", stored.len());
    assert_eq!((filter.len(), filter.check_invariants()), (stored.len(), Ok(())));
    assert!(stored.iter().all(|key| filter.contains(key)), "a key was lost");
}

#[test]
fn batches_do_what_they_do_in_a_filter_of_one_thread() {
    for beyond in [GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate] {
        let mut plain = filter(50, 2000, beyond);
        let filter = shared(plain.clone());
        // The second batch makes it grow several times, and the third is too much where it may not grow on.
        for keys in [0..30u64, 30..1500, 1500..10_000].map(Vec::from_iter) {
            assert_eq!(filter.try_extend(&keys), plain.try_extend(&keys));
            assert_eq!(filter.snapshot().expect("small"), plain);
        }
        assert!(filter.parameters().half_doublings() / 2 > 3);
        let keys: Vec<u64> = (1000..20_000).collect();
        let digests: Vec<_> = keys.iter().map(|key| filter.hasher().digest(key)).collect();
        let mut removed = [vec![false; keys.len()], vec![false; keys.len()]];
        plain.remove_many_into(&keys, &mut removed[0]);
        filter.remove_many_into(&digests, &mut removed[1]);
        assert_eq!(removed[0], removed[1]);
        assert_eq!(filter.try_extend(&digests[..100]), plain.try_extend(&digests[..100]));
        assert_eq!((filter.snapshot().as_ref(), filter.check_invariants()), (Ok(&plain), Ok(())));
        // By value, with what it holds by then.
        assert_eq!(CuckooFilter::from(filter), plain);
    }
}

#[test]
fn what_is_cleared_is_empty_as_large_as_before_and_takes_keys_again() {
    let mut plain = filter(50, 5000, GrowthPolicy::KeepRate);
    let filter = shared(plain.clone());
    let keys: Vec<u64> = (0..1000).collect();
    for _ in 0..2 {
        assert_eq!((filter.try_extend(&keys), plain.try_extend(&keys)), (Ok(()), Ok(())));
        filter.clear();
        plain.clear();
        assert_eq!((filter.len(), filter.is_empty(), filter.check_invariants()), (0, true, Ok(())));
        assert!(filter.capacity() >= 1000 && keys.iter().all(|key| !filter.contains(key)));
        assert_eq!(filter.snapshot().expect("small"), plain);
    }
}

#[test]
fn room_is_made_at_once_as_far_as_the_filter_may_grow() {
    let mut plain = filter(50, 5000, GrowthPolicy::KeepRate);
    let filter = shared(plain.clone());
    // None, some, and more than there may be.
    for (key, additional) in (0..3u64).zip([10, 4800, 1_000_000]) {
        assert!(filter.insert(&key).is_ok() && plain.insert(&key).is_ok());
        assert_eq!(filter.reserve(additional), plain.reserve(additional));
        assert_eq!(filter.snapshot().expect("small"), plain);
    }
    assert!(filter.capacity() >= filter.max_capacity());
}

#[test]
fn threads_make_it_grow_by_batches_and_no_key_is_lost() {
    let filter = shared(filter(100, 20_000, GrowthPolicy::KeepRate));
    let start = Barrier::new(3);
    thread::scope(|threads| {
        for number in 0..2u64 {
            let (filter, start) = (&filter, &start);
            threads.spawn(move || {
                start.wait();
                for batch in 0..50 {
                    let keys: Vec<u64> = (0..200).map(|key| number << 40 | batch << 20 | key).collect();
                    filter.try_extend(&keys).expect("it grows");
                    let mut removed = [false; 100];
                    filter.remove_many_into(&keys[100..], &mut removed);
                    assert!(removed.iter().all(|&removed| removed), "a key is missing where it is removed");
                    let mut answers = [false; 100];
                    filter.contains_many_into(&keys[..100], &mut answers);
                    assert!(answers.iter().all(|&answer| answer), "a key is missing");
                }
            });
        }
        start.wait();
        filter.reserve(3000).expect("it grows");
    });
    assert_eq!((filter.len(), filter.check_invariants()), (2 * 50 * 100, Ok(())));
    let kept = |number: u64| (0..50).flat_map(move |batch| (0..100).map(move |key| number << 40 | batch << 20 | key));
    assert!((0..2).flat_map(kept).all(|key| filter.remove(&key)), "a key was lost");
    assert_eq!((filter.len(), filter.check_invariants()), (0, Ok(())));
}

/// Two writers whose keys come and go while there are ever more of them, and a reader of keys that stay.
#[test]
fn no_key_is_missed_while_the_table_grows() {
    let begin = Instant::now();
    let mut doublings = 0;
    while begin.elapsed() < duration() {
        let filter = shared(filter(200, 100_000, GrowthPolicy::RaiseRate));
        let kept: Vec<u64> = (0..150).map(|key| key << 32).collect();
        assert!(kept.iter().all(|key| filter.insert(key).is_ok()), "there is room");
        let is_over = AtomicBool::new(false);
        let write = |number: u64| {
            let mut stored = Vec::new();
            let mut random = SplitMix64::new(number);
            for key in (number..40_000).step_by(2) {
                filter.insert(&key).expect("it grows");
                stored.push(key);
                let chosen = stored[random.below(stored.len())];
                assert!(filter.contains(&chosen), "key {chosen} is missing");
                if random.below(4) == 0 {
                    let gone = stored.swap_remove(random.below(stored.len()));
                    assert!(filter.remove(&gone), "key {gone} is missing where it is removed");
                }
            }
            stored
        };
        let read = || {
            let mut answers = vec![false; kept.len()];
            while !is_over.load(Ordering::Relaxed) {
                assert!(kept.iter().all(|key| filter.contains(key)), "a key is missing");
                filter.contains_many_into(&kept, &mut answers);
                assert!(answers.iter().all(|&answer| answer), "a key is missing from a batch");
            }
        };
        let stored = thread::scope(|threads| {
            let reader = threads.spawn(read);
            let writers = [0, 1].map(|number| threads.spawn(move || write(number)));
            let stored = writers.map(|writer| writer.join()).into_iter().collect::<Result<Vec<_>, _>>();
            is_over.store(true, Ordering::Relaxed);
            reader.join().expect("no key is missing");
            stored.expect("no key is missing").concat()
        });
        doublings += filter.parameters().half_doublings() / 2;
        assert_eq!(filter.check_invariants(), Ok(()));
        assert_eq!(filter.len(), kept.len() + stored.len());
        assert!(kept.iter().chain(&stored).all(|key| filter.contains(key)), "a key was lost");
        assert!(kept.iter().chain(&stored).all(|key| filter.remove(key)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (0, Ok(())));
    }
    println!("{doublings} doublings");
    assert!(doublings > 5, "it grew");
}

/// As full as it may be before every doubling, and kept so for a while.
#[test]
fn no_key_is_missed_at_full_load_before_and_after_doublings() {
    const SIZES: u32 = 5;
    let filter = shared(filter(4000, 4000 << SIZES, GrowthPolicy::KeepRate));
    let kept: Vec<u64> = (0..1000).collect();
    assert!(kept.iter().all(|key| filter.insert(key).is_ok()), "there is room");
    let mut loads = Vec::new();
    let outcome = stress(
        &filter,
        &kept,
        // Most of what each writer ever keeps.
        4000 << SIZES,
        || (filter.capacity() - kept.len()) / 2,
        |is_well| {
            for size in 1..=SIZES {
                wait(duration() / SIZES, is_well);
                loads.push(filter.load_factor());
                // A few keys more than there is room for, beside those that writers insert and remove.
                let more = || (0..).map(|key| 1 << 50 | key);
                let passing: Vec<u64> = if size < SIZES {
                    let doublings = filter.parameters().half_doublings() / 2;
                    let is_same = |_: &u64| filter.parameters().half_doublings() / 2 == doublings && is_well();
                    more().take_while(is_same).inspect(|key| filter.insert(key).expect("it grows")).collect()
                } else {
                    Vec::new()
                };
                assert!(passing.iter().all(|key| filter.remove(key)), "a key is missing where it is removed");
            }
        },
    );
    let Outcome { stored, changes, lookups } = outcome;
    println!("loads {loads:.3?}: {changes} changes, {lookups} lookups beside them");
    assert_eq!(filter.parameters().half_doublings() / 2, SIZES - 1);
    // Half doubled, which one key more may make it, a table is full at 0.89.
    assert!(loads.iter().all(|&load| load > 0.88), "{loads:?}");
    assert_eq!(filter.check_invariants(), Ok(()));
    assert_eq!(filter.len(), kept.len() + stored.len());
    assert!(kept.iter().chain(&stored).all(|key| filter.contains(key)), "a key was lost");
    assert!(kept.iter().chain(&stored).all(|key| filter.remove(key)), "a key was lost");
    assert_eq!((filter.len(), filter.check_invariants()), (0, Ok(())));
}

#[test]
fn it_is_sent_and_shared() {
    fn assert_manners<T: Send + Sync + Clone + std::fmt::Debug>() {}
    assert_manners::<ConcurrentCuckooFilter>();
}

/// Any use that needs a single table finishes a doubling that goes on in steps.
#[test]
fn a_filter_whose_table_is_being_doubled_is_shared_and_made_a_set_whole() {
    let builder = CuckooFilter::builder().capacity(60_000).max_capacity(1_000_000).false_positive_rate(0.001);
    let mut filter = builder.build().expect("a small filter");
    let mut keys = 0..u64::MAX;
    while filter.parameters().half_doublings() < 2 {
        filter.insert(&keys.next().expect("without end")).expect("it may grow");
    }
    let stored = keys.start;
    let settled = CuckooFilter::from_bytes(&filter.to_bytes()).expect("its own bytes");
    assert!(filter.size_in_bytes() > settled.size_in_bytes(), "the table is being doubled");

    let shared = ConcurrentCuckooFilter::try_from(filter.clone()).expect("memory for a small filter");
    assert_eq!(shared.len() as u64, stored);
    assert!((0..stored).all(|key| shared.contains(&key)));
    shared.insert(&u64::MAX).expect("it was doubled");
    assert_eq!(shared.into_filter().check_invariants(), Ok(()));

    let mut set = CuckooSet::from(filter.clone());
    assert!((0..stored).all(|key| set.contains(&key)));
    assert_eq!(set.check_invariants(), Ok(()));
    while set.as_filter().parameters().half_doublings() / 2 == 1 {
        set.insert(&keys.next().expect("without end")).expect("it may grow");
    }
    assert_eq!(set.check_invariants(), Ok(()));
    assert!((0..stored).all(|key| set.contains(&key)));
}
