//! What it takes to remember keys for a lifetime: a filter whose keys expire, two filters that take turns, and a hash map with
//! times; a steady stream in which each key comes once.
//!
//! `cargo bench -p guira --bench expiring`. By `cargo test --benches` it is run once, small, for its answers alone.
//!
//! The two filters, of as many keys as come in a lifetime: the younger takes new keys, both
//! are asked, and once in a lifetime the older one is emptied and takes its turn. So a key is remembered for one to two lifetimes.
//! Bits are those of the table or tables, or what the map has allocated, for each key that came within the last lifetime.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::time::Instant;

use guira::{CuckooFilter, ExpiringCuckooFilter};

/// Whoever remembers keys for a lifetime.
trait Memory {
    /// Returns `true` if a key is new at a time, which never goes back, and remembers it.
    fn is_new(&mut self, key: u64, time: u64) -> bool;

    fn bytes(&self) -> usize;
}

struct Expiring(ExpiringCuckooFilter);

impl Memory for Expiring {
    fn is_new(&mut self, key: u64, time: u64) -> bool {
        self.0.advance(time).expect("small steps");
        self.0.insert_if_absent(&key).expect("there is room")
    }

    fn bytes(&self) -> usize {
        self.0.size_in_bytes()
    }
}

struct Rotating {
    young: CuckooFilter,
    old: CuckooFilter,
    lifetime: u64,
}

impl Memory for Rotating {
    fn is_new(&mut self, key: u64, time: u64) -> bool {
        if time > 0 && time.is_multiple_of(self.lifetime) {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        !self.old.contains(&key) && self.young.insert_if_absent(&key).expect("there is room")
    }

    fn bytes(&self) -> usize {
        self.young.size_in_bytes() + self.old.size_in_bytes()
    }
}

/// The time of each key, and the keys in the order in which they came.
struct Exact {
    times: HashMap<u64, u64>,
    order: VecDeque<u64>,
    lifetime: u64,
}

impl Memory for Exact {
    fn is_new(&mut self, key: u64, time: u64) -> bool {
        while let Some(oldest) = self.order.front()
            && time - self.times[oldest] >= self.lifetime
        {
            self.times.remove(oldest);
            self.order.pop_front();
        }
        let is_new = !self.times.contains_key(&key);
        if is_new {
            self.times.insert(key, time);
            self.order.push_back(key);
        }
        is_new
    }

    /// Of a table that is filled to 7 / 8 at the most, with a byte of control for each entry, and of the queue.
    fn bytes(&self) -> usize {
        let entries = (self.times.capacity() * 8 / 7).next_power_of_two();
        entries * (size_of::<(u64, u64)>() + 1) + self.order.capacity() * size_of::<u64>()
    }
}

fn main() {
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let sizes: &[u64] = if is_test { &[2_000] } else { &[200_000, 5_000_000] };
    for &lifetime in sizes {
        let rounds = if is_test { 1 } else { 5 };
        println!(
            "| {lifetime} keys in a lifetime | rate asked, % | bits per key | ns per key | remembered, lifetimes |"
        );
        println!("|---|---|---|---|---|");
        let keys = usize::try_from(lifetime).expect("it fits memory");
        for rate in [0.015, 0.001] {
            // Of two filters each may have half of the rate.
            let cuckoo = || CuckooFilter::with_capacity(keys, rate / 2.0).expect("there is memory");
            let expiring = |keys| ExpiringCuckooFilter::with_capacity(keys, rate, lifetime).expect("there is memory");
            let mut contenders: [(&str, Box<dyn Memory>, &str); 3] = [
                ("keys that expire", Box::new(Expiring(expiring(keys))), "1 to 1.07"),
                ("with a tenth more room", Box::new(Expiring(expiring(keys + keys / 10))), "1 to 1.07"),
                ("two cuckoo filters", Box::new(Rotating { young: cuckoo(), old: cuckoo(), lifetime }), "1 to 2"),
            ];
            measure(&mut contenders, lifetime, rounds, Some(rate));
        }
        let exact = Exact { times: HashMap::new(), order: VecDeque::new(), lifetime };
        measure(&mut [("hash map", Box::new(exact), "1")], lifetime, rounds, None);
        println!();
    }
}

/// Two lifetimes to get going, and then some in which each contender takes its turn. Prints the medians.
fn measure(contenders: &mut [(&str, Box<dyn Memory>, &str)], lifetime: u64, rounds: u64, rate: Option<f64>) {
    let mut times = vec![Vec::new(); contenders.len()];
    let mut wrong = vec![0; contenders.len()];
    for round in 0..rounds + 2 {
        for (number, (_, memory, _)) in contenders.iter_mut().enumerate() {
            let start = Instant::now();
            for time in round * lifetime..(round + 1) * lifetime {
                wrong[number] += u64::from(!memory.is_new(black_box(time), time));
            }
            if round >= 2 {
                times[number].push(start.elapsed().as_secs_f64() * 1e9 / lifetime as f64);
            }
        }
    }
    for (((name, memory, remembered), times), wrong) in contenders.iter().zip(&mut times).zip(wrong) {
        let queries = (rounds + 2) as f64 * lifetime as f64;
        let most = queries * rate.unwrap_or(0.0);
        assert!(
            wrong as f64 <= most + 6.0 * most.sqrt(),
            "{name}: {wrong} of {queries} new keys were taken for old ones"
        );
        times.sort_unstable_by(f64::total_cmp);
        let (bits, median) = (memory.bytes() as f64 * 8.0 / lifetime as f64, times[times.len() / 2]);
        let rate = rate.map_or("0".to_owned(), |rate| format!("{:.1}", rate * 100.0));
        println!("| {name} | {rate} | {bits:.1} | {median:.1} | {remembered} |");
    }
}
