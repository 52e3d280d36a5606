//! Tables of 64 KiB and more, which are doubled in steps.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use guira::raw::RawFilter as _;
use guira::{ConcurrentCuckooFilter, CuckooFilter, ReserveError};

use super::stress::duration;
use crate::oracle::random::SplitMix64;

/// A filter that is doubled in steps from the first doubling on.
fn filter(slots_per_bucket: u32, false_positive_rate: f64, max_capacity: usize) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(40_000).max_capacity(max_capacity);
    let built = builder.slots_per_bucket(slots_per_bucket).false_positive_rate(false_positive_rate).build();
    let filter = built.expect("small");
    assert!(filter.size_in_bytes() >= 64 << 10);
    filter
}

fn share(filter: CuckooFilter) -> ConcurrentCuckooFilter {
    filter.try_into().expect("there is memory")
}

/// Whether a filter has two tables. The doubled one has as many bytes as there are slots times their bits.
fn is_doubling(filter: &ConcurrentCuckooFilter) -> bool {
    filter.size_in_bytes() as u64 > filter.parameters().table_size()
}

/// Inserts keys into both filters until the shared one has two tables; returns the number of the next key.
fn fill_until_doubling(plain: &mut CuckooFilter, filter: &ConcurrentCuckooFilter, first: u64) -> u64 {
    let mut keys = first..;
    while !is_doubling(filter) {
        let key = keys.next().expect("without end");
        assert_eq!((filter.insert(&key), plain.insert(&key)), (Ok(()), Ok(())));
    }
    keys.start
}

#[test]
fn the_same_operations_give_the_same_answers_and_bytes_as_in_a_filter_of_one_thread() {
    for (slots_per_bucket, rate) in [(8, 0.01), (4, 0.001), (4, 1e-6), (8, 1e-7)] {
        let mut plain = filter(slots_per_bucket, rate, 600_000);
        let mut filter = share(plain.clone());
        let mut random = SplitMix64::new(7);
        let mut compared = 0;
        for first in (0..).map(|number| number << 40) {
            let end = fill_until_doubling(&mut plain, &filter, first);
            // Until the doubling is over, whatever is done.
            while is_doubling(&filter) {
                let key = first + random.below(usize::try_from(end - first).expect("few") + 20_000) as u64;
                match random.below(8) {
                    0..3 => assert_eq!(filter.insert(&key), plain.insert(&key)),
                    3 => assert_eq!(filter.insert_if_absent(&key), plain.insert_if_absent(&key)),
                    4..6 => assert_eq!(filter.remove(&key), plain.remove(&key)),
                    6 => assert_eq!(filter.count(&key), plain.count(&key)),
                    _ => assert_eq!(filter.contains(&key), plain.contains(&key)),
                }
                assert_eq!(filter.len(), plain.len());
                if random.below(60) == 0 {
                    assert_eq!(filter.snapshot().expect("small"), plain);
                    assert_eq!(filter.check_invariants(), Ok(()));
                    compared += 1;
                    // What is made of either at this moment goes on as they do.
                    let was_doubling = is_doubling(&filter);
                    match random.below(5) {
                        0 => filter = share(plain.clone()),
                        1 => filter = filter.clone(),
                        2 => filter = ConcurrentCuckooFilter::from_bytes(&plain.to_bytes()).expect("its file"),
                        3 => plain = CuckooFilter::from_bytes(&filter.to_bytes()).expect("its file"),
                        _ => plain = filter.snapshot().expect("small"),
                    }
                    assert_eq!(is_doubling(&filter), was_doubling);
                }
            }
            assert_eq!(filter.snapshot().expect("small"), plain);
            assert_eq!(filter.parameters(), *plain.parameters());
            if filter.parameters().half_doublings() / 2 == 3 {
                break;
            }
        }
        assert!(compared > 20, "{compared} comparisons while tables were doubled");
        assert_eq!(CuckooFilter::from(filter), plain);
    }
}

#[test]
fn batches_between_the_steps_do_what_they_do_in_a_filter_of_one_thread() {
    let mut plain = filter(4, 0.001, 400_000);
    let filter = share(plain.clone());
    let end = fill_until_doubling(&mut plain, &filter, 0);
    let mut number = 0;
    while is_doubling(&filter) {
        let new: Vec<u64> = (0..12).map(|key| 1 << 40 | number << 20 | key).collect();
        assert_eq!((filter.try_extend(&new), plain.try_extend(&new)), (Ok(()), Ok(())));
        let old: Vec<u64> = (0..20).map(|key| (number * 20 + key) % end).collect();
        let mut removed = [[false; 20]; 2];
        filter.remove_many_into(&old, &mut removed[0]);
        plain.remove_many_into(&old, &mut removed[1]);
        assert_eq!(removed[0], removed[1]);
        let keys: Vec<u64> = (0..end).step_by(7).chain(new).chain(1 << 50..(1 << 50) + 5000).collect();
        let mut answers = [vec![false; keys.len()], vec![false; keys.len()]];
        filter.contains_many_into(&keys, &mut answers[0]);
        plain.contains_many_into(&keys, &mut answers[1]);
        assert!(answers[0] == answers[1]);
        number += 1;
    }
    assert!(number > 5, "{number} batches");
    // One that begins in the middle of a doubling, and ends after another one.
    fill_until_doubling(&mut plain, &filter, 1 << 55);
    let many: Vec<u64> = (1 << 60..(1 << 60) + 150_000).collect();
    assert_eq!((filter.try_extend(&many), plain.try_extend(&many)), (Ok(()), Ok(())));
    assert_eq!((filter.snapshot().as_ref(), filter.check_invariants()), (Ok(&plain), Ok(())));
}

#[test]
fn what_needs_the_whole_filter_gets_it_in_the_middle_of_a_doubling() {
    let mut plain = filter(4, 0.001, 400_000);
    let begun = share(plain.clone());
    let end = fill_until_doubling(&mut plain, &begun, 0);
    let keys = 0..end;

    assert_eq!(begun.parameters().half_doublings(), 1);
    assert_eq!(begun.len() as u64, end);
    assert_eq!(begun.expected_false_positive_rate(), plain.expected_false_positive_rate());
    assert_eq!((begun.capacity(), begun.load_factor()), (plain.capacity(), plain.load_factor()));

    let copy = begun.clone();
    assert!(keys.clone().all(|key| copy.remove(&key)), "a key was lost");
    assert_eq!((copy.len(), copy.check_invariants()), (0, Ok(())));

    // Far more than there may be.
    let both_tables = begun.size_in_bytes();
    assert!(matches!(begun.reserve(10_000_000), Err(ReserveError::Full { .. })));
    assert_eq!(begun.size_in_bytes(), both_tables);
    assert!(begun.snapshot().expect("small").to_bytes() == plain.to_bytes());

    // It goes on where the filter is.
    let mut snapshot = begun.snapshot().expect("small");
    assert_eq!(snapshot, plain);
    for key in 1_u64 << 40..(1 << 40) + 50_000 {
        assert_eq!((snapshot.insert(&key), plain.insert(&key)), (Ok(()), Ok(())));
    }
    assert_eq!(snapshot, plain);

    let reserved = begun.clone();
    reserved.reserve(200_000).expect("it may grow");
    assert!(reserved.capacity() >= 200_000 && !is_doubling(&reserved));
    assert!(keys.clone().all(|key| reserved.contains(&key)), "a key was lost");

    begun.clear();
    assert_eq!((begun.len(), is_doubling(&begun), begun.parameters().half_doublings()), (0, false, 1));
    assert!(keys.clone().all(|key| !begun.contains(&key)));
    assert!(keys.clone().all(|key| begun.insert(&key).is_ok() && begun.contains(&key)));
    assert_eq!((begun.len() as u64, begun.check_invariants()), (end, Ok(())));
}

#[test]
fn a_filter_that_is_being_doubled_is_turned_into_one_of_one_thread_that_goes_on() {
    let mut plain = filter(8, 1e-7, 400_000);
    let begun = share(plain.clone());
    fill_until_doubling(&mut plain, &begun, 0);
    let mut turned = begun.into_filter();
    assert_eq!(turned, plain);
    for key in 1_u64 << 40..(1 << 40) + 50_000 {
        assert_eq!((turned.insert(&key), plain.insert(&key)), (Ok(()), Ok(())));
    }
    assert_eq!(turned, plain);
}

#[test]
fn copies_that_do_not_fit_are_refused_in_the_middle_of_a_doubling() {
    let mut plain = filter(4, 0.001, 400_000);
    let filter = share(plain.clone());
    fill_until_doubling(&mut plain, &filter, 0);
    let copies = (0..).take_while(|_| filter.insert("ani").is_ok()).count();
    assert!(copies <= 8 && filter.count("ani") == 8, "{copies} copies");
    // It may split buckets, but nothing else.
    let table = |filter: &ConcurrentCuckooFilter| filter.snapshot().expect("small").file_parts().1.into_owned();
    let before = table(&filter);
    assert!(filter.insert("ani").is_err());
    assert!(table(&filter) == before);
}

/// Writers whose keys come and go while there are ever more of them, and a reader of keys that stay.
#[test]
fn no_key_is_missed_while_the_table_is_doubled_in_steps() {
    let begin = Instant::now();
    let (mut rounds, mut met) = (0, 0);
    while begin.elapsed() < duration() || rounds == 0 {
        let filter = share(filter(4, 0.001, 400_000));
        let kept: Vec<u64> = (0..500).map(|key| key << 32).collect();
        assert!(kept.iter().all(|key| filter.insert(key).is_ok()), "there is room");
        let is_over = AtomicBool::new(false);
        let start = Barrier::new(3);
        let write = |number: u64| {
            start.wait();
            let mut stored = Vec::new();
            let mut random = SplitMix64::new(number + rounds);
            for key in (number..120_000).step_by(2) {
                filter.insert(&key).expect("it grows");
                stored.push(key);
                let chosen = stored[random.below(stored.len())];
                assert!(filter.contains(&chosen) && filter.count(&chosen) > 0, "key {chosen} is missing");
                if random.below(5) == 0 {
                    let gone = stored.swap_remove(random.below(stored.len()));
                    assert!(filter.remove(&gone), "key {gone} is missing where it is removed");
                }
            }
            stored
        };
        let read = || {
            start.wait();
            let mut answers = vec![false; kept.len()];
            let mut met = 0;
            while !is_over.load(Ordering::Relaxed) {
                assert!(kept.iter().all(|key| filter.contains(key)), "a key is missing");
                filter.contains_many_into(&kept, &mut answers);
                assert!(answers.iter().all(|&answer| answer), "a key is missing from a batch");
                met += u64::from(is_doubling(&filter));
            }
            met
        };
        let stored = thread::scope(|threads| {
            let reader = threads.spawn(read);
            let writers = [0, 1].map(|number| threads.spawn(move || write(number)));
            let stored = writers.map(|writer| writer.join()).into_iter().collect::<Result<Vec<_>, _>>();
            is_over.store(true, Ordering::Relaxed);
            met += reader.join().expect("no key is missing");
            stored.expect("no key is missing").concat()
        });
        assert_eq!(filter.parameters().half_doublings() / 2, 1, "{} keys", filter.len());
        assert_eq!((filter.len(), filter.check_invariants()), (kept.len() + stored.len(), Ok(())));
        assert!(kept.iter().chain(&stored).all(|key| filter.remove(key)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (0, Ok(())));
        rounds += 1;
    }
    println!("{rounds} doublings, {met} times seen by the reader");
    assert!(met > 0, "the reader never met a doubling");
}
