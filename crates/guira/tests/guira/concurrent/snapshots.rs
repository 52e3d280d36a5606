//! Copies that are made while threads write: each is the filter as it was at one moment.
//!
//! Each writer inserts its own keys in order, and removes them in order, so what it had done by any moment is a run of keys
//! without a gap. The rates are so low that no key is found by chance.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use guira::{ConcurrentCuckooFilter, ConcurrentExpiringCuckooFilter, CuckooFilter};

use super::stress::duration;

const WRITERS: usize = 2;

/// As many copies are made at least, however long it takes.
const LEAST_COPIES: u32 = 6;

/// The key of a writer with this number.
const fn key(writer: u64, number: u64) -> u64 {
    writer << 40 | number
}

/// The numbers of a writer's keys that are found, which must have no gap, among some that hold them all and more at both ends.
fn found(writer: u64, among: Range<u64>, contains: impl Fn(u64) -> bool) -> Range<u64> {
    let numbers: Vec<u64> = among.filter(|&number| contains(key(writer, number))).collect();
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else { return 0..0 };
    assert_eq!(numbers.len() as u64, last - first + 1, "writer {writer}: a copy of no one moment");
    first..last + 1
}

/// Copies a filter again and again while writers insert keys, and keep so many of the last of each, until the filter was doubled
/// often enough, or until each has inserted `most`.
fn assert_copies_are_of_one_moment(filter: &ConcurrentCuckooFilter, kept: u64, most: u64, doublings: u32) {
    let inserted = [const { AtomicU64::new(0) }; WRITERS];
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        for (writer, inserted) in (0..).zip(&inserted) {
            let is_over = &is_over;
            threads.spawn(move || {
                let numbers = (0..most).take_while(|_| !is_over.load(Ordering::Relaxed));
                for number in numbers {
                    filter.insert(&key(writer, number)).expect("there is room");
                    inserted.store(number + 1, Ordering::Release);
                    if number >= kept {
                        assert!(filter.remove(&key(writer, number - kept)), "a key was lost");
                    }
                }
            });
        }
        let (end, mut copies) = (Instant::now() + duration(), 0);
        let is_written = || inserted.iter().any(|inserted| inserted.load(Ordering::Relaxed) < most);
        while copies < LEAST_COPIES
            || is_written() && (Instant::now() < end || filter.parameters().half_doublings() / 2 < doublings)
        {
            let before = inserted.each_ref().map(|inserted| inserted.load(Ordering::Acquire));
            let mut copy = filter.snapshot().expect("small");
            let mut stored = 0;
            for (writer, (before, inserted)) in (0..).zip(before.into_iter().zip(&inserted)) {
                let after = inserted.load(Ordering::Acquire);
                let found = found(writer, before.saturating_sub(kept + 9)..after + 9, |key| copy.contains(&key));
                assert!((before..=after + 1).contains(&found.end), "{before} {found:?} {after}");
                let len = found.end - found.start;
                assert!((found.end.min(kept)..=kept + 1).contains(&len), "{found:?}, where {kept} are kept");
                stored += len;
            }
            assert_eq!((copy.len() as u64, copy.check_invariants()), (stored, Ok(())));
            // It can be worked on.
            assert!(copy.insert("ani").is_ok() && copy.remove("ani"));
            copies += 1;
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(filter.parameters().half_doublings() / 2 >= doublings, "it grew");
    assert_eq!(filter.check_invariants(), Ok(()));
}

#[test]
fn copies_of_a_full_table_are_of_one_moment() {
    // Slots that are in one word each, and slots that are in two.
    for fingerprint_bits in [32, 36] {
        let builder = CuckooFilter::builder().bucket_count(50_000).slots_per_bucket(4);
        let filter = builder.fingerprint_bits(fingerprint_bits).build().expect("small");
        let kept = filter.parameters().slot_count() * 95 / 100 / WRITERS as u64;
        let filter = ConcurrentCuckooFilter::try_from(filter).expect("small");
        assert_copies_are_of_one_moment(&filter, kept, u64::MAX, 0);
    }
}

#[test]
fn copies_of_a_table_that_is_doubled_are_of_one_moment() {
    let builder = CuckooFilter::builder().capacity(20_000).max_capacity(2_000_000).false_positive_rate(1e-9);
    for _ in 0..3 {
        let filter = builder.for_kind::<ConcurrentCuckooFilter>().build().expect("small");
        assert_copies_are_of_one_moment(&filter, u64::MAX / 2, 900_000, 4);
    }
}

#[test]
fn copies_of_a_table_whose_keys_expire_are_of_one_moment() {
    const LIFETIME: u64 = 20;
    const EACH_TIME: u64 = 2000;
    let builder = ConcurrentExpiringCuckooFilter::builder().capacity(90_000).false_positive_rate(1e-9);
    let filter = builder.lifetime(LIFETIME).resolution(1).build().expect("small");
    let (inserted, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|threads| {
        threads.spawn(|| {
            for number in (0..).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                if number % EACH_TIME == 0 {
                    filter.jump(number / EACH_TIME);
                }
                filter.insert(&key(0, number)).expect("as many are promised");
                inserted.store(number + 1, Ordering::Release);
            }
        });
        let (end, mut copies) = (Instant::now() + duration(), 0);
        while Instant::now() < end || copies < LEAST_COPIES {
            let before = inserted.load(Ordering::Acquire);
            let copy = filter.snapshot().expect("small");
            let after = inserted.load(Ordering::Acquire);
            let among = before.saturating_sub((LIFETIME + 2) * EACH_TIME)..after + 9;
            let found = found(0, among, |key| copy.contains(&key));
            assert!((before..=after + 1).contains(&found.end) || before == 0, "{before} {found:?} {after}");
            assert_eq!((copy.len() as u64, copy.check_invariants()), (found.end - found.start, Ok(())));
            // All that came less than a lifetime ago.
            assert!(copy.time() * EACH_TIME < found.end + EACH_TIME || before == 0);
            assert!(
                found.start <= (copy.time() + 1).saturating_sub(LIFETIME) * EACH_TIME,
                "{found:?} at {}",
                copy.time()
            );
            copies += 1;
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn several_threads_copy_a_filter_at_a_time() {
    let filter = ConcurrentCuckooFilter::with_capacity(100_000, 1e-9).expect("small");
    let writing = AtomicU64::new(0);
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while writing.load(Ordering::Acquire) < 100_000 {
                    let before = writing.load(Ordering::Acquire);
                    let copy = filter.clone();
                    let after = writing.load(Ordering::Acquire);
                    let found = found(0, 0..after + 9, |key| copy.contains(&key));
                    assert!((before..=after + 1).contains(&found.end), "{before} {found:?} {after}");
                    assert_eq!((copy.len() as u64, copy.check_invariants()), (found.end, Ok(())));
                }
            });
        }
        for number in 0..100_000 {
            filter.insert(&key(0, number)).expect("there is room");
            writing.store(number + 1, Ordering::Release);
        }
    });
}

/// A table that is emptied while it is copied.
#[test]
fn a_copy_has_all_keys_or_none_where_they_are_removed_at_once() {
    let growing = || CuckooFilter::builder().capacity(100_000).max_capacity(1_000_000).false_positive_rate(1e-9);
    let fixed = || CuckooFilter::builder().capacity(100_000).false_positive_rate(1e-9);
    // The last is being doubled: the first key that it has no room for begins that.
    for (builder, more) in [(fixed(), false), (growing(), false), (growing(), true)] {
        let filter = builder.for_kind::<ConcurrentCuckooFilter>().build().expect("small");
        let size = filter.size_in_bytes();
        let mut some = 0;
        for _ in 0..200 {
            let keys = (0..if more { 1_000_000_u64 } else { 1000 })
                .take_while(|key| filter.insert(key).is_ok() && (!more || filter.size_in_bytes() == size))
                .count() as u64;
            thread::scope(|threads| {
                let clearing = threads.spawn(|| filter.clear());
                let copy = filter.snapshot().expect("small");
                let found = (0..keys).filter(|key| copy.contains(key)).count() as u64;
                assert!(found == 0 || found == keys, "{found} of {keys}");
                some += u64::from(found == keys);
                clearing.join().expect("it does not panic");
            });
            assert!(filter.is_empty());
            if more {
                break;
            }
        }
        assert!(some > 0 || more, "never before it was emptied");
    }
}
