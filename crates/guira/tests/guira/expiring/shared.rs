//! The filter that threads share: beside that of one thread, and with threads, beside the times that each of them knows of its
//! own keys.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, RwLock};
use std::thread;

use guira::{ConcurrentExpiringCuckooFilter, CuckooFilter, ExpiringCuckooFilter};

use super::builder;
use crate::oracle::binomial::assert_share;
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
            // All is compared rarely where there is much of it.
            let (operations, compared_every) = if capacity > 1000 { (60_000, 5000) } else { (6000, 500) };
            for number in 0..operations {
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
                if number % compared_every == 0 {
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
fn a_generation_begins_when_insertions_have_overwritten_the_last_dead_fingerprints() {
    let mut plain = builder(60_000, 0.001, 140).resolution(10).build().expect("small");
    // A filter whose keys don't expire has them in the same buckets.
    let parameters = plain.parameters();
    let lasting = CuckooFilter::builder().bucket_count(parameters.bucket_count());
    let lasting = lasting.slots_per_bucket(4).fingerprint_bits(parameters.fingerprint_bits()).build().expect("small");
    let bucket_of = |key: u64| {
        let mut filter = lasting.clone();
        filter.insert(&key).expect("it is empty");
        filter.fingerprints().next().map(|stored| stored.bucket)
    };
    // In buckets that two calls of advance, each of which sweeps 4096, don't come to, of more than three times as many.
    let mut late = (0..).filter(|&key| bucket_of(key).is_some_and(|bucket| bucket > 9000));
    let dying = [late.next(), late.next()].map(|key| key.expect("half of all keys"));
    let filter = share(plain.clone());
    let advance = |plain: &mut ExpiringCuckooFilter, time| assert_eq!(filter.advance(time), plain.advance(time));
    for resolution in 0..16 {
        // The keys of the first two are dead when the third one's still live, beyond the next resolution.
        advance(&mut plain, if resolution < 2 { 10 * resolution } else { 10 * resolution + 9 });
        let key = dying.get(usize::try_from(resolution).expect("small")).copied().unwrap_or(1000 + resolution);
        assert_eq!(filter.insert(&key), plain.insert(&key));
    }
    // As many copies as fit, so that they overwrite the dead ones.
    for key in dying.into_iter().flat_map(|key| std::iter::repeat_n(key, 8)) {
        assert_eq!(filter.insert(&key), plain.insert(&key));
    }
    advance(&mut plain, 160);
    assert_eq!(filter.snapshot().as_ref(), Ok(&plain));
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
    /// The keys that it inserted.
    kept: VecDeque<Kept>,
    /// Those that have died, until they can be found by chance only.
    dead: VecDeque<Kept>,
    /// How many of them were looked for then, and found.
    asked: u64,
    found: u64,
    random: SplitMix64,
    next: u64,
}

/// A key, and between which times it came or was last renewed.
#[derive(Clone, Copy)]
struct Kept {
    key: u64,
    earliest: u64,
    latest: u64,
    /// Whether a copy was stored for it. Otherwise it was taken for another key, and is found as long as that one.
    is_stored: bool,
}

impl Owner {
    fn new(number: u64, seed: u64) -> Self {
        let random = SplitMix64::new(seed << 8 | number);
        Self { kept: VecDeque::new(), dead: VecDeque::new(), asked: 0, found: 0, random, next: number << 40 }
    }

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
        let earliest = filter.time();
        match self.random.below(16) {
            0..6 => {
                self.next += 1;
                let key = self.next;
                // A key that was taken for another one, and left out, is found as long as that one, which nobody knows.
                let (is_known, is_stored) = match (renews, self.random.below(2)) {
                    (true, 0) => (filter.insert_if_absent(&key) == Ok(true), true),
                    (true, _) => filter.insert_or_renew(&key).map_or((false, false), |is_stored| (true, is_stored)),
                    (false, _) => (filter.insert(&key).is_ok(), true),
                };
                if is_known {
                    self.kept.push_back(Kept { key, earliest, latest: filter.time(), is_stored });
                }
            }
            6..9 if renews => {
                if let Some(at) = self.some() {
                    let kept = &mut self.kept[at];
                    if let Ok(is_stored) = filter.insert_or_renew(&kept.key) {
                        let latest = filter.time();
                        let was_stored = kept.is_stored && latest - kept.earliest < lifetime;
                        *kept = Kept { earliest, latest, is_stored: is_stored || was_stored, ..*kept };
                    }
                }
            }
            6..9 => {
                if let Some(at) = self.some() {
                    let Kept { key, earliest, .. } = self.kept[at];
                    // Nothing is removed that has died, since another key might go.
                    let _stays = time_stays.read().expect("nobody panics with it");
                    if filter.time() - earliest < lifetime {
                        assert!(filter.remove(&key), "{key:#x} is missing where it is removed");
                        self.kept.swap_remove_back(at);
                    } else {
                        self.dead.extend(self.kept.swap_remove_back(at));
                    }
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
            let Kept { key, earliest, .. } = self.kept[at];
            let is_found = filter.contains(&key);
            let count = filter.count(&key);
            if filter.time() - earliest < lifetime {
                assert!(is_found && count > 0, "{key:#x}, which came at {earliest}, is missing at {}", filter.time());
            } else {
                self.dead.extend(self.kept.swap_remove_back(at));
            }
        }
        while self.kept.front().is_some_and(|kept| filter.time() - kept.earliest >= lifetime) {
            self.dead.extend(self.kept.pop_front());
        }
        if let Some(dead) = self.dead.front()
            && filter.time() - dead.latest >= lifetime + filter.resolution()
        {
            if dead.is_stored {
                self.asked += 1;
                self.found += u64::from(filter.contains(&dead.key));
            }
            self.dead.pop_front();
        }
    }
}

/// Threads that insert, renew or remove their own keys and move the time on, and one that looks for keys that it renews itself.
fn work_in_threads(operations: u64, seed: u64, slots: (u64, u32, u32), renews: bool) {
    let (buckets, slots_per_bucket, fingerprint_bits) = slots;
    let plain = ExpiringCuckooFilter::builder().bucket_count(buckets).slots_per_bucket(slots_per_bucket);
    let slot_count = buckets * u64::from(slots_per_bucket);
    let lifetime = match slot_count {
        _ if seed.is_multiple_of(2) => 14,
        // More keys come than there is room for.
        ..1000 => slot_count / 2,
        // About as many: if there were more, nearly all of the time would go into searches for room in a full table.
        _ => slot_count / if renews { 12 } else { 7 },
    };
    let plain = plain.fingerprint_bits(fingerprint_bits).lifetime(lifetime).build().expect("small");
    let filter = share(plain);
    let (begun, time_stays) = (AtomicU64::new(0), RwLock::new(()));
    let owners: Vec<Owner> = thread::scope(|threads| {
        let owners = (0..3_u64).map(|number| {
            let (filter, begun, time_stays) = (&filter, &begun, &time_stays);
            threads.spawn(move || {
                let mut owner = Owner::new(number, seed);
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
    for &Kept { key, earliest, .. } in owners.iter().flat_map(|owner| &owner.kept) {
        assert!(time - earliest >= lifetime || filter.contains(&key), "{key:#x} was lost");
    }
    let (asked, found) = owners.iter().fold((0, 0), |sum, owner| (sum.0 + owner.asked, sum.1 + owner.found));
    // All slots alive, and the keys that came since: one that shares the fingerprint renews it, or leaves its own copy in place of
    // it when it is removed. Of 24 operations, in which the time moves on by one, 9 bring a key; twice as many are allowed, as
    // the threads are not equally fast and a key is looked for some time after its death.
    let rate = f64::from(2 * slots_per_bucket) / (f64::from(fingerprint_bits).exp2() - 1.0);
    let came = 2.0 * 9.0 * lifetime as f64 / slot_count as f64;
    assert_share(found, asked, 0.0, rate * (1.0 + came), "dead keys that are found");
    // Everything dies and is swept, so every fingerprint was counted where it came and where it went.
    while !filter.jump(time + 3 * lifetime) {}
    assert!(filter.is_empty());
    assert_eq!((filter.check_invariants(), filter.into_filter().check_invariants()), (Ok(()), Ok(())));
}

/// Buckets, slots of each, and bits of fingerprints. With 4 more bits, some slots have their number in two words.
const SLOTS: [(u64, u32, u32); 4] = [(40, 4, 8), (150, 4, 9), (2000, 4, 13), (1000, 8, 23)];

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
        work_in_threads(all / rounds, seed, slots, seed / 8 % 2 == 1);
    }
    println!("{} operations of threads", all / rounds * rounds);
}
