use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use guira::{ConcurrentCuckooFilter, CuckooFilter};

fn filter(buckets: u64, fingerprint_bits: u32) -> ConcurrentCuckooFilter {
    let builder = CuckooFilter::builder().bucket_count(buckets).fingerprint_bits(fingerprint_bits);
    builder.build().and_then(ConcurrentCuckooFilter::try_from).expect("small")
}

#[test]
fn threads_that_write_slots_of_the_same_words_leave_each_other_alone() {
    // 13 bits: four slots of a bucket take 52 bits, so that most words belong to two buckets.
    for round in 0..20 {
        let filter = filter(512, 13);
        let start = Barrier::new(4);
        thread::scope(|threads| {
            for number in 0..4u64 {
                let (filter, start) = (&filter, &start);
                threads.spawn(move || {
                    start.wait();
                    // 95 % of 2048 slots in all.
                    for key in (0..486).map(|key| (round << 32) + 4 * key + number) {
                        filter.insert(&key).expect("95 % fit");
                    }
                });
            }
        });
        assert_eq!(filter.check_invariants(), Ok(()));
        assert_eq!(filter.len(), 4 * 486);
        let keys: Vec<u64> = (0..4 * 486).map(|key| (round << 32) + key).collect();
        assert!(keys.iter().all(|key| filter.contains(key)), "a key was lost");
        thread::scope(|threads| {
            for half in keys.chunks(keys.len() / 2) {
                let filter = &filter;
                threads.spawn(move || assert!(half.iter().all(|key| filter.remove(key)), "a key was lost"));
            }
        });
        assert_eq!(filter.snapshot().map(|filter| filter.fingerprints().len()), Ok(0));
        assert_eq!((filter.len(), filter.check_invariants()), (0, Ok(())));
    }
}

#[test]
fn of_threads_that_insert_the_same_key_uniquely_one_stores_it() {
    const KEYS: u64 = 1000;
    for _ in 0..20 {
        // Fingerprints so long that no two keys look the same, and a table so full that some must move.
        let filter = filter(268, 32);
        let start = Barrier::new(2);
        let insert_all = || {
            start.wait();
            (0..KEYS).filter(|key| filter.insert_if_absent(key).expect("93 % fit")).count()
        };
        let stored: usize = thread::scope(|threads| {
            let both = [threads.spawn(insert_all), threads.spawn(insert_all)];
            both.map(|thread| thread.join().expect("it does not panic")).iter().sum()
        });
        assert_eq!((stored, filter.len()), (1000, 1000));
        assert!((0..KEYS).all(|key| filter.count(&key) == 1));
    }
}

#[test]
fn copies_beyond_those_that_fit_are_refused_to_all_threads_together() {
    for _ in 0..100 {
        let filter = filter(64, 12);
        let start = Barrier::new(2);
        let insert = || {
            start.wait();
            (0..8).filter(|_| filter.insert("ani").is_ok()).count()
        };
        let stored: usize = thread::scope(|threads| {
            let both = [threads.spawn(insert), threads.spawn(insert)];
            both.map(|thread| thread.join().expect("it does not panic")).iter().sum()
        });
        assert_eq!((stored, filter.count("ani"), filter.len()), (8, 8, 8));
    }
}

#[test]
fn what_was_stored_before_it_is_cleared_is_gone_and_what_was_stored_after_is_not() {
    for round in 0..50u64 {
        let filter = filter(512, 13);
        let start = Barrier::new(2);
        let cleared = AtomicBool::new(false);
        let (before, after) = thread::scope(|threads| {
            let writer = threads.spawn(|| {
                start.wait();
                let (mut maybe, mut after) = (0, Vec::new());
                for key in (0..1500).map(|key| (round << 32) + key) {
                    let is_after = cleared.load(Ordering::Acquire);
                    filter.insert(&key).expect("73 % fit");
                    if is_after { after.push(key) } else { maybe += 1 }
                }
                (maybe, after)
            });
            start.wait();
            filter.clear();
            cleared.store(true, Ordering::Release);
            writer.join().expect("it does not panic")
        });
        assert!(after.iter().all(|key| filter.contains(key)), "a key was lost");
        let stored = filter.len();
        assert!((after.len()..=after.len() + before).contains(&stored), "{stored} of {before} and {}", after.len());
        assert_eq!(filter.check_invariants(), Ok(()));
        filter.clear();
        assert_eq!((filter.len(), filter.check_invariants()), (0, Ok(())));
    }
}
