//! Writers and readers at 95 % load, against an oracle that is exact because every key belongs to one thread.
//!
//! It takes two seconds for each table, or as many as the variable `GUIRA_STRESS_SECONDS` says.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use guira::{ConcurrentCuckooFilter, CuckooFilter};

use crate::oracle::random::SplitMix64;

const WRITERS: u64 = 2;

/// A filter under stress.
pub(crate) trait Shared: Sync {
    fn insert(&self, key: u64) -> bool;
    fn remove(&self, key: u64) -> bool;
    fn contains(&self, key: u64) -> bool;
    fn count(&self, key: u64) -> usize;
    fn contains_many_into(&self, keys: &[u64], answers: &mut [bool]);
}

impl Shared for ConcurrentCuckooFilter {
    fn insert(&self, key: u64) -> bool {
        self.insert(&key).is_ok()
    }

    fn remove(&self, key: u64) -> bool {
        self.remove(&key)
    }

    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn count(&self, key: u64) -> usize {
        self.count(&key)
    }

    fn contains_many_into(&self, keys: &[u64], answers: &mut [bool]) {
        self.contains_many_into(keys, answers);
    }
}

pub(crate) fn duration() -> Duration {
    let seconds = std::env::var("GUIRA_STRESS_SECONDS").ok().map(|seconds| seconds.parse().expect("a whole number"));
    Duration::from_secs(seconds.unwrap_or(2))
}

/// The keys of a thread that are stored, and those that are not: a multiset, since a key may be stored twice.
struct Keys {
    stored: Vec<u64>,
    others: Vec<u64>,
    random: SplitMix64,
}

impl Keys {
    /// All `count` keys of writer `number`, none of which is stored.
    fn of_writer(number: u64, count: u64) -> Self {
        let others = (0..count).map(|key| (number + 1) << 40 | key).collect();
        Self { stored: Vec::new(), others, random: SplitMix64::new(number) }
    }

    fn insert_any(&mut self, filter: &impl Shared) -> bool {
        // Now and then a second copy of a key that is stored.
        let is_copy = !self.stored.is_empty() && self.random.below(50) == 0;
        let keys = if is_copy { &self.stored } else { &self.others };
        let chosen = self.random.below(keys.len());
        let key = keys[chosen];
        let is_stored = filter.insert(key);
        assert!(!is_stored || filter.contains(key), "key {key:#x} is missing right after its insertion");
        if is_stored {
            if !is_copy {
                self.others.swap_remove(chosen);
            }
            self.stored.push(key);
        }
        is_stored
    }

    fn remove_any(&mut self, filter: &impl Shared) {
        let chosen = self.random.below(self.stored.len());
        let key = self.stored.swap_remove(chosen);
        assert!(filter.remove(key), "key {key:#x} is missing where it is removed");
        if !self.stored.contains(&key) {
            self.others.push(key);
        }
    }

    fn check_any(&mut self, filter: &impl Shared) {
        if self.stored.is_empty() {
            return;
        }
        let key = self.stored[self.random.below(self.stored.len())];
        assert!(filter.contains(key), "key {key:#x} is missing");
    }
}

/// What came of a stress.
pub(crate) struct Outcome {
    /// The keys that the writers left in the filter.
    pub(crate) stored: Vec<u64>,
    pub(crate) changes: u64,
    pub(crate) lookups: u64,
}

/// Two writers that insert, remove and look up their own keys, of which each keeps `share` and knows `pool`, and a reader of
/// keys that nobody touches but by moving them. They go on until `guide` has returned, or one of them has failed.
pub(crate) fn stress(
    filter: &impl Shared,
    kept: &[u64],
    pool: u64,
    share: impl Fn() -> usize + Sync,
    guide: impl FnOnce(&dyn Fn() -> bool),
) -> Outcome {
    let is_over = AtomicBool::new(false);
    let (changes, lookups) = (AtomicU64::new(0), AtomicU64::new(0));
    let write = |number: u64| {
        let mut keys = Keys::of_writer(number, pool);
        while !is_over.load(Ordering::Relaxed) {
            // About the full load a copy more may find no place; that is no error.
            if (keys.stored.len() >= share() || !keys.insert_any(filter)) && !keys.stored.is_empty() {
                keys.remove_any(filter);
            }
            for _ in 0..2 {
                keys.check_any(filter);
            }
            changes.fetch_add(1, Ordering::Relaxed);
        }
        keys.stored
    };
    let read = || {
        let mut answers = vec![false; kept.len()];
        while !is_over.load(Ordering::Relaxed) {
            for &key in kept {
                assert!(filter.contains(key), "key {key} is missing");
                assert!(filter.count(key) > 0, "key {key} is not counted");
            }
            filter.contains_many_into(kept, &mut answers);
            assert!(answers.iter().all(|&answer| answer), "a key is missing from a batch");
            lookups.fetch_add(3 * kept.len() as u64, Ordering::Relaxed);
        }
    };
    let stored: Vec<u64> = thread::scope(|threads| {
        let reader = threads.spawn(read);
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| {
                threads.spawn({
                    let write = &write;
                    move || write(number)
                })
            })
            .collect();
        // Whoever panics has ended.
        guide(&|| !reader.is_finished() && writers.iter().all(|it| !it.is_finished()));
        is_over.store(true, Ordering::Relaxed);
        let stored = writers.into_iter().flat_map(|writer| writer.join().expect("no key is missing")).collect();
        reader.join().expect("no key is missing");
        stored
    });
    Outcome { stored, changes: changes.into_inner(), lookups: lookups.into_inner() }
}

/// Waits so long, or until somebody has failed.
pub(crate) fn wait(time: Duration, is_well: &dyn Fn() -> bool) {
    let begin = Instant::now();
    while begin.elapsed() < time && is_well() {
        thread::sleep(Duration::from_millis(5));
    }
}

/// The same in a table that is filled to 95 %.
fn stress_at_full_load(slots_per_bucket: u32, fingerprint_bits: u32, buckets: u64) {
    let builder = CuckooFilter::builder().bucket_count(buckets).slots_per_bucket(slots_per_bucket);
    let plain = builder.fingerprint_bits(fingerprint_bits).build().expect("small");
    let filter = ConcurrentCuckooFilter::try_from(plain).expect("it is packed");
    let slots = filter.parameters().slot_count();
    let full = slots * 95 / 100;
    let kept: Vec<u64> = (0..full / 4).collect();
    filter.try_extend(&kept).expect("a quarter fits");
    let of_each_writer = usize::try_from((full - kept.len() as u64) / WRITERS).expect("few");
    let Outcome { stored, changes, lookups } =
        stress(&filter, &kept, slots, || of_each_writer, |is_well| wait(duration(), is_well));
    println!(
        "{slots_per_bucket} slots of {fingerprint_bits} bits, {buckets} buckets, load {:.3}: {changes} changes, \
         {lookups} lookups beside them",
        filter.load_factor(),
    );
    assert_eq!(filter.check_invariants(), Ok(()));
    assert_eq!(filter.len(), kept.len() + stored.len());
    assert!(kept.iter().chain(&stored).all(|key| filter.contains(key)), "a key was lost");
    assert!(kept.iter().chain(&stored).all(|key| filter.remove(key)), "a key was lost");
    assert_eq!((filter.len(), filter.check_invariants()), (0, Ok(())));
}

#[test]
fn no_key_is_missed_in_a_small_table_where_fingerprints_move_all_the_time() {
    stress_at_full_load(4, 8, 150);
}

#[test]
fn no_key_is_missed_where_slots_straddle_words() {
    stress_at_full_load(4, 13, 2000);
}

#[test]
fn no_key_is_missed_in_wide_buckets() {
    stress_at_full_load(8, 27, 1000);
}
