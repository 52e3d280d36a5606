//! Filters whose keys expire, against a plain model: for each key the times of its copies.
//!
//! What the model says of a key at a time follows from its documentation alone: a copy that is younger than a lifetime is
//! found; one that is older than a lifetime and a resolution is not, but by chance.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

mod growing;
mod interface;
#[cfg(not(target_family = "wasm"))]
mod shared;
mod steady;

use std::collections::BTreeMap;

use guira::{ExpiringCuckooFilter, FilterBuilder};

use crate::oracle::binomial::assert_share;
use crate::oracle::random::SplitMix64;

/// The times at which the copies of each key came, the oldest first.
type Copies = BTreeMap<u64, Vec<u64>>;

/// A filter, its model, and where both are at random.
struct Checked {
    filter: ExpiringCuckooFilter,
    copies: Copies,
    /// When the youngest copy of each key came that the model has removed. The filter removes the oldest instead, so that it may have
    /// this one still.
    removed: BTreeMap<u64, u64>,
    random: SplitMix64,
    next: u64,
    /// Dead and absent keys that were asked for, and how many of them were found.
    asked: u64,
    found: u64,
    /// The sum of the rates that were expected of them.
    expected: f64,
    /// Whether each copy is of a key of its own, so that it may be removed.
    are_own: bool,
}

impl Checked {
    fn new(builder: &FilterBuilder<ExpiringCuckooFilter>, seed: u64) -> Self {
        let filter = builder.build().expect("a small filter");
        let random = SplitMix64::new(seed);
        Self {
            filter,
            copies: Copies::new(),
            removed: BTreeMap::new(),
            random,
            next: 0,
            asked: 0,
            found: 0,
            expected: 0.0,
            are_own: true,
        }
    }

    fn time(&self) -> u64 {
        self.filter.time()
    }

    /// A key of those that the model has.
    fn some_key(&mut self) -> Option<u64> {
        let count = self.copies.len() as u64;
        let at = (count > 0).then(|| self.random.next() % count)?;
        self.copies.keys().nth(usize::try_from(at).expect("small")).copied()
    }

    fn new_key(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Inserts a copy, if there is room.
    fn insert(&mut self, key: u64) -> bool {
        let before = self.filter.to_bytes();
        match self.filter.insert(&key) {
            Ok(()) => {
                self.copies.entry(key).or_default().push(self.filter.time());
                true
            }
            Err(_) => {
                assert_eq!(self.filter.to_bytes(), before, "a refused key left a trace");
                false
            }
        }
    }

    /// Removes the copy that came last, which is alive: then the copies that are left are as old as can be.
    fn remove(&mut self, key: u64) {
        let lifetime = self.filter.lifetime();
        let time = self.time();
        let Some(times) = self.copies.get_mut(&key) else { return };
        if self.are_own
            && let Some(came) = times.pop_if(|came| time - *came < lifetime)
        {
            let youngest = self.removed.entry(key).or_insert(came);
            *youngest = came.max(*youngest);
            if times.is_empty() {
                self.forget(key);
            }
            assert!(self.filter.remove(&key), "{key} was lost before it was removed");
        }
    }

    fn forget(&mut self, key: u64) {
        self.copies.remove(&key);
        self.removed.remove(&key);
    }

    /// Moves on, as a caller does who lets the filter sweep as much as it wants.
    fn advance(&mut self, by: u64) {
        let now = self.time() + by;
        while !self.filter.jump(now) {}
        assert_eq!(self.time(), now);
    }

    /// Drops from the model what nobody expects to be found, and looks for all else.
    fn look(&mut self) {
        self.look_ahead();
        let time = self.time();
        let (lifetime, resolution) = (self.filter.lifetime(), self.filter.resolution());
        assert_eq!(self.filter.check_invariants(), Ok(()));
        let rate = self.filter.expected_false_positive_rate();
        let keys: Vec<u64> = self.copies.keys().copied().collect();
        let answers = self.filter.contains_many(&keys);
        for (key, found) in keys.into_iter().zip(answers) {
            let times = &self.copies[&key];
            let living = times.iter().filter(|&&came| time - came < lifetime).count();
            assert!(found || living == 0, "{key}, which came at {times:?}, is not found at {time}");
            let count = self.filter.count(&key);
            assert!(count >= if self.are_own { living } else { living.min(1) }, "{key}: {count} of {living} copies");
            assert_eq!(self.filter.contains(&key), found);
            if times.iter().chain(self.removed.get(&key)).all(|&came| time - came >= lifetime + resolution) {
                self.ask(found, rate);
                self.forget(key);
            }
        }
        for absent in 0..50 {
            let found = self.filter.contains(&(1 << 40 | self.random.next() >> 30 | absent));
            self.ask(found, rate);
        }
    }

    /// What it says of a later time is what it says once it is there.
    fn look_ahead(&mut self) {
        let later = self.time() + self.random.next() % (2 * self.filter.lifetime());
        let mut there = self.filter.clone();
        while !there.jump(later) {}
        assert_eq!(self.filter.len_at(later), there.len());
        let keys: Vec<_> = self.copies.keys().copied().collect();
        let mut found = vec![true; keys.len()];
        self.filter.contains_many_at_into(&keys, &mut found, later);
        assert_eq!(found, there.contains_many(&keys), "at {later}");
        for key in self.copies.keys() {
            assert_eq!(self.filter.contains_at(key, later), there.contains(key), "{key} at {later}");
            assert_eq!(self.filter.count_at(key, later), there.count(key), "{key} at {later}");
            // The time does not go back.
            assert_eq!(there.contains_at(key, 0), there.contains(key));
        }
    }

    fn ask(&mut self, found: bool, rate: f64) {
        self.asked += 1;
        self.found += u64::from(found);
        self.expected += rate;
    }

    /// Of those that are not expected to be found, no more are found than chance allows.
    fn assert_rate(&self) {
        let rate = self.expected / self.asked as f64;
        assert_share(self.found, self.asked, 0.0, rate, "dead and absent keys that are found");
    }

    /// Saves and loads it, and goes on with what was loaded.
    fn reload(&mut self) {
        let bytes = self.filter.to_bytes();
        let loaded = ExpiringCuckooFilter::from_bytes(&bytes).expect("what was saved");
        assert_eq!(loaded, self.filter);
        assert_eq!(loaded.to_bytes(), bytes);
        self.filter = loaded;
    }

    /// Some hundreds of operations of all kinds.
    fn work(&mut self, operations: u32) {
        let resolution = self.filter.resolution();
        for _ in 0..operations {
            match self.random.next() % 100 {
                0..50 => {
                    let key = self.new_key();
                    self.insert(key);
                }
                50..55 => {
                    if let Some(key) = self.some_key() {
                        self.insert(key);
                    }
                }
                55..75 => {
                    if let Some(key) = self.some_key() {
                        self.remove(key);
                    }
                }
                75..98 => {
                    let by = self.random.next() % (resolution / 8 + 2);
                    self.advance(by);
                }
                98 => {
                    // Up to more than a lifetime.
                    let by = self.random.next() % (resolution * 20);
                    self.advance(by);
                }
                _ => self.reload(),
            }
            if self.random.next().is_multiple_of(16) {
                self.look();
            }
        }
        self.look();
    }
}

fn builder(capacity: usize, rate: f64, lifetime: u64) -> FilterBuilder<ExpiringCuckooFilter> {
    ExpiringCuckooFilter::builder().capacity(capacity).false_positive_rate(rate).lifetime(lifetime)
}

#[test]
fn random_operations_agree_with_the_times_of_each_copy() {
    let rates = [0.3, 0.02, 0.001];
    for (seed, (capacity, rate)) in
        (0..).zip([3, 30, 400].into_iter().flat_map(|capacity| rates.map(|rate| (capacity, rate))))
    {
        for (lifetime, resolution) in [(14, 1), (1400, 100), (10, 10), (1000, 4)] {
            let builder = builder(capacity, rate, lifetime).resolution(resolution);
            let mut checked = Checked::new(&builder, seed);
            checked.work(1500);
            checked.assert_rate();
        }
    }
}

/// Lifetimes, rates and sizes at random, fixed and growing. As many operations as the variable `GUIRA_OPERATIONS` says:
/// `GUIRA_OPERATIONS=100000000 cargo test --release -p guira --test guira -- --ignored --nocapture many_operations`.
#[test]
#[ignore = "takes minutes"]
fn random_operations_agree_with_the_times_of_each_copy_in_many_operations() {
    const AT_A_TIME: u32 = 2000;
    let (most, mut made, mut seed) = (operations(2_000_000), 0, 0);
    while made < most {
        seed += 1;
        let mut random = SplitMix64::new(seed);
        let capacity = usize::try_from(1 + random.next() % (1 << (random.next() % 10))).expect("small");
        let resolution = 1 + random.next() % (1 << (random.next() % 20));
        let lifetime = resolution * (1 + random.next() % 60) - random.next() % resolution;
        let rate = [0.3, 0.02, 0.001][usize::try_from(random.next() % 3).expect("small")];
        let fixed = builder(capacity, rate, lifetime).resolution(resolution.min(lifetime));
        let growing = fixed.clone().max_capacity(capacity * 30);
        let mut checked = Checked::new(if random.next().is_multiple_of(2) { &fixed } else { &growing }, seed);
        for _ in 0..5 {
            checked.work(AT_A_TIME);
            checked.filter.shrink_to_fit();
            checked.look();
            made += u64::from(AT_A_TIME);
        }
        checked.assert_rate();
    }
    println!("{made} operations in {seed} filters");
}

/// Keys that are not looked at one by one, and so only need to be found: by whoever has their fingerprint.
#[test]
fn keys_that_are_inserted_if_absent_or_renewed_are_found_for_a_lifetime() {
    for seed in 0..8 {
        for is_renewed in [false, true] {
            let mut checked = Checked::new(&builder(300, 0.01, 140), seed);
            checked.are_own = false;
            for _ in 0..2000 {
                let key = match checked.random.next() % 2 {
                    0 => checked.some_key(),
                    _ => None,
                };
                let key = key.unwrap_or_else(|| checked.new_key());
                let was_there = checked.filter.contains(&key);
                let time = checked.time();
                let stored = if is_renewed {
                    checked.filter.insert_or_renew(&key)
                } else {
                    checked.filter.insert_if_absent(&key)
                };
                match stored {
                    Ok(stored) => {
                        assert_eq!(stored, !was_there);
                        if stored || is_renewed {
                            checked.copies.insert(key, vec![time]);
                        }
                    }
                    Err(error) => assert!(!was_there, "{error}"),
                }
                let by = checked.random.next() % 3;
                checked.advance(by);
                if checked.random.next().is_multiple_of(32) {
                    checked.look();
                }
            }
            checked.assert_rate();
        }
    }
}

/// How many operations the long tests make.
fn operations(unless_given: u64) -> u64 {
    std::env::var("GUIRA_OPERATIONS").map_or(unless_given, |given| given.parse().expect("a whole number"))
}
