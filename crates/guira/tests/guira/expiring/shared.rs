//! The filter that threads share: beside that of one thread, and with threads, beside the times that each of them knows of its
//! own keys.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, RwLock};
use std::thread;

use guira::{ConcurrentExpiringCuckooFilter, ExpiringCuckooFilter};

use super::builder;
use crate::oracle::random::SplitMix64;

fn share(filter: ExpiringCuckooFilter) -> ConcurrentExpiringCuckooFilter {
    filter.try_into().expect("there is memory")
}

#[test]
fn the_same_operations_give_the_same_answers_and_bytes_as_in_a_filter_of_one_thread() {
    let rates = [0.3, 0.02, 0.001, 1e-6];
    for (seed, (capacity, rate)) in
        (0..).zip([3, 400, 30_000].into_iter().flat_map(|capacity| rates.map(|rate| (capacity, rate))))
    {
        for (lifetime, resolution) in [(14, 1), (1400, 100), (10, 10), (1000, 4)] {
            let mut plain = builder(capacity, rate, lifetime).resolution(resolution).build().expect("small");
            let mut filter = share(plain.clone());
            let mut random = SplitMix64::new(seed);
            let keys = 2 * capacity as u64;
            // Time moves on so fast that a lifetime has about as many keys as fit.
            let step = (2 * lifetime / capacity as u64).max(2);
            for number in 0..if capacity > 1000 { 60_000 } else { 6000 } {
                let key = random.next() % keys;
                match random.next() % 16 {
                    0..4 => assert_eq!(filter.insert(&key), plain.insert(&key)),
                    4..7 => assert_eq!(filter.insert_if_absent(&key), plain.insert_if_absent(&key)),
                    7..10 => assert_eq!(filter.insert_or_renew(&key), plain.insert_or_renew(&key)),
                    10 => assert_eq!(filter.remove(&key), plain.remove(&key)),
                    11 => {
                        assert_eq!(
                            (filter.contains(&key), filter.count(&key)),
                            (plain.contains(&key), plain.count(&key))
                        );
                    }
                    12 => {
                        let later = plain.time() + random.next() % (2 * lifetime);
                        assert_eq!(filter.contains_at(&key, later), plain.contains_at(&key, later));
                    }
                    _ => {
                        let now = plain.time() + random.next() % step;
                        assert_eq!(filter.advance(now), plain.advance(now));
                    }
                }
                if random.next().is_multiple_of(1000) {
                    let now = plain.time() + random.next() % (2 * lifetime);
                    assert_eq!(filter.jump(now), plain.jump(now));
                }
                assert_eq!((filter.len(), filter.time()), (plain.len(), plain.time()));
                if number % 500 == 0 {
                    assert_eq!(filter.snapshot().as_ref(), Ok(&plain), "{capacity} {rate} {lifetime} {number}");
                    assert_eq!(filter.check_invariants(), Ok(()));
                }
                if number % 3000 == 0 {
                    filter = share(filter.into_filter());
                }
            }
            assert_eq!(filter.snapshot().expect("small").to_bytes(), plain.to_bytes());
            let keys: Vec<u64> = (0..keys).collect();
            assert_eq!(filter.contains_many(&keys), plain.contains_many(&keys));
        }
    }
}

#[test]
fn a_filter_that_grows_is_shared_as_it_is_and_grows_again_when_it_is_not_shared() {
    let mut plain = builder(1000, 0.001, 60).max_capacity(100_000).build().expect("small");
    plain.try_extend(0..3000_u64).expect("it grows");
    let filter = share(plain.clone());
    let stored = (3000..100_000_u64).take_while(|key| filter.insert(key).is_ok()).count() as u64;
    assert_eq!(filter.size_in_bytes(), plain.size_in_bytes());
    assert!((0..3000 + stored).all(|key| filter.contains(&key)));
    assert!(filter.snapshot().expect("small").expected_false_positive_rate() <= 0.001);
    let mut plain = filter.into_filter();
    plain.try_extend(100_000..120_000_u64).expect("it grows");
    assert!((0..3000 + stored).chain(100_000..120_000).all(|key| plain.contains(&key)));
    assert_eq!(plain.check_invariants(), Ok(()));
}

/// Each key is new to one of the threads that insert it at once, but for those that are taken for another one: as many as the rate
/// allows. Time moves on by so much between rounds that generations begin, die and are swept meanwhile.
#[test]
fn of_threads_that_insert_a_key_if_it_is_absent_one_stores_it() {
    const KEYS: u64 = 4000;
    let filter = ConcurrentExpiringCuckooFilter::with_capacity(4 * 4000, 1e-6, 1400).expect("small");
    let start = Barrier::new(3);
    let mut new = 0;
    for round in 0..20 {
        let insert_all = || {
            start.wait();
            let keys = (0..KEYS).map(|key| round << 32 | key);
            keys.filter(|key| filter.insert_if_absent(key).expect("there is room")).count()
        };
        let stored: usize = thread::scope(|threads| {
            let both = [threads.spawn(insert_all), threads.spawn(insert_all)];
            let move_on = threads.spawn(|| {
                start.wait();
                // Less than a lifetime, so that no key dies between both insertions of it.
                (0..600).for_each(|_| _ = filter.jump(filter.time() + 1));
            });
            let stored = both.map(|thread| thread.join().expect("it does not panic")).iter().sum();
            move_on.join().expect("it does not panic");
            stored
        });
        assert!(stored as u64 <= KEYS, "{stored} of {KEYS} were stored in round {round}");
        new += stored as u64;
        assert!((0..KEYS).all(|key| filter.contains(&(round << 32 | key))), "a key is missing");
        while !filter.jump(filter.time() + 100) {}
        assert_eq!(filter.check_invariants(), Ok(()));
    }
    // One in a million of 80,000 is taken for another: six of them are less likely than one in a billion.
    assert!(20 * KEYS - new < 6, "{new} of {}", 20 * KEYS);
}

/// What a thread knows of its own keys.
struct Owner {
    /// The keys that it inserted, each with the time at which it came or was renewed.
    kept: VecDeque<(u64, u64)>,
    random: SplitMix64,
    next: u64,
}

impl Owner {
    fn some(&mut self) -> Option<usize> {
        (!self.kept.is_empty()).then(|| self.random.below(self.kept.len()))
    }

    /// One operation, and a look for a key of its own.
    fn work(
        &mut self,
        filter: &ConcurrentExpiringCuckooFilter,
        moves_time: bool,
        renews: bool,
        time_stays: &RwLock<()>,
    ) {
        let lifetime = filter.lifetime();
        // Not later than the operation.
        let time = filter.time();
        match self.random.below(16) {
            0..6 => {
                self.next += 1;
                let key = self.next;
                // A key that was taken for another one, and left out, is found as long as that one, which nobody knows.
                let is_known = match (renews, self.random.below(2)) {
                    (true, 0) => filter.insert_if_absent(&key) == Ok(true),
                    (true, _) => filter.insert_or_renew(&key).is_ok(),
                    (false, _) => filter.insert(&key).is_ok(),
                };
                if is_known {
                    self.kept.push_back((key, time));
                }
            }
            6..9 if renews => {
                if let Some(at) = self.some() {
                    let key = self.kept[at].0;
                    if filter.insert_or_renew(&key).is_ok() {
                        self.kept[at].1 = time;
                    }
                }
            }
            6..9 => {
                if let Some(at) = self.some() {
                    let (key, came) = self.kept[at];
                    // Nothing is removed that has died, since another key might go.
                    let _stays = time_stays.read().expect("nobody panics with it");
                    if filter.time() - came < lifetime {
                        assert!(filter.remove(&key), "{key:#x} is missing where it is removed");
                    }
                    self.kept.swap_remove_back(at);
                }
            }
            9 if moves_time => {
                let by = self.random.next() % 3;
                let _moves = (!renews).then(|| time_stays.write().expect("nobody panics with it"));
                filter.jump(filter.time() + by);
            }
            _ => {}
        }
        if let Some(at) = self.some() {
            let (key, came) = self.kept[at];
            let is_found = filter.contains(&key);
            let count = filter.count(&key);
            if filter.time() - came < lifetime {
                assert!(is_found && count > 0, "{key:#x}, which came at {came}, is missing at {}", filter.time());
            } else {
                self.kept.swap_remove_back(at);
            }
        }
        while self.kept.front().is_some_and(|&(_, came)| filter.time() - came >= lifetime) {
            self.kept.pop_front();
        }
    }
}

/// Threads that insert, renew or remove their own keys and move the time on, and one that looks for keys that it renews itself.
fn work_in_threads(operations: u64, seed: u64, slots: (u64, u32, u32), renews: bool) {
    let (buckets, slots_per_bucket, fingerprint_bits) = slots;
    let plain = ExpiringCuckooFilter::builder().bucket_count(buckets).slots_per_bucket(slots_per_bucket);
    let slot_count = buckets * u64::from(slots_per_bucket);
    let lifetime = if seed.is_multiple_of(2) { 14 } else { slot_count / 2 };
    let plain = plain.fingerprint_bits(fingerprint_bits).lifetime(lifetime).build().expect("small");
    let filter = share(plain);
    let (begun, time_stays) = (AtomicU64::new(0), RwLock::new(()));
    let owners: Vec<Owner> = thread::scope(|threads| {
        let owners = (0..3_u64).map(|number| {
            let (filter, begun, time_stays) = (&filter, &begun, &time_stays);
            threads.spawn(move || {
                let random = SplitMix64::new(seed << 8 | number);
                let mut owner = Owner { kept: VecDeque::new(), random, next: number << 40 };
                while begun.fetch_add(1, Ordering::Relaxed) < operations {
                    owner.work(filter, number < 2, renews, time_stays);
                }
                owner
            })
        });
        let owners: Vec<_> = owners.collect();
        owners.into_iter().map(|owner| owner.join().expect("no key is missing")).collect()
    });
    assert_eq!(filter.check_invariants(), Ok(()));
    let time = filter.time();
    for &(key, came) in owners.iter().flat_map(|owner| &owner.kept) {
        assert!(time - came >= lifetime || filter.contains(&key), "{key:#x} was lost");
    }
    // Everything dies and is swept, so every fingerprint was counted where it came and where it went.
    while !filter.jump(time + 3 * lifetime) {}
    assert!(filter.is_empty());
    assert_eq!((filter.check_invariants(), filter.into_filter().check_invariants()), (Ok(()), Ok(())));
}

/// Slots of 8 + 4 bits, some of which have their number in two words; of 9 + 4 in small and larger tables; wide ones.
const SLOTS: [(u64, u32, u32); 4] = [(40, 4, 12), (150, 4, 9), (2000, 4, 13), (1000, 8, 23)];

#[test]
fn no_living_key_is_missed_by_threads() {
    for (seed, slots) in (0..).zip(SLOTS.into_iter().cycle().take(8)) {
        work_in_threads(60_000, seed, slots, seed >= 4);
    }
}

/// Millions of operations, or as many as the variable `GUIRA_OPERATIONS` says:
/// `GUIRA_OPERATIONS=100000000 cargo test --release -p guira --test guira -- --ignored --nocapture many_operations`.
#[test]
#[ignore = "takes minutes"]
fn no_living_key_is_missed_by_threads_in_many_operations() {
    let all = super::operations(20_000_000);
    let rounds = all.div_ceil(1_000_000);
    for seed in 0..rounds {
        let slots = SLOTS[usize::try_from(seed / 2 % 4).expect("small")];
        work_in_threads(all / rounds, seed, slots, seed % 8 >= 4);
    }
    println!("{} operations of threads", all / rounds * rounds);
}
