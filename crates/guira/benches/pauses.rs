//! How long single insertions take while a filter grows, and what lookups cost while a table is being doubled.
//!
//! `cargo bench -p guira --bench pauses -- [KEYS]`; 60 million keys unless given. With `-- expiring [OPERATIONS]`, 50 million unless
//! given, how long single operations take while keys expire. By `cargo test --benches` all is run once, small, for its answers alone.
//!
//! Keys are counted `u64`s. Each insertion is timed by itself; a loop that only reads the clock as often stands beside, since
//! the system takes the processor away now and then. Then writers and readers of one filter, beside as many such loops:
//! where there are fewer processors than threads, each waits for one for some milliseconds at a time. Then lookups, one call at a time and in batches, before, during and after
//! the last doubling, half of them of keys that are present.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "figures for people, and counts that fit memory"
)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use guira::{ConcurrentCuckooFilter, CuckooFilter, ExpiringCuckooFilter, FilterBuilder};

fn main() {
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let asked = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let is_expiring = std::env::args().any(|argument| argument == "expiring");
    if is_test || is_expiring {
        pauses_while_keys_expire(asked.unwrap_or(if is_test { 100_000 } else { 50_000_000 }));
        pauses_of_sweeping(if is_test { 10_000 } else { 44_000_000 });
    }
    if is_expiring {
        return;
    }
    let keys = asked.unwrap_or(if is_test { 100_000 } else { 60_000_000 });
    pauses(keys);
    // As many as there may be processors, and twice as many.
    [2, 4].into_iter().for_each(|threads| pauses_of_threads(threads, keys));
    lookups(if is_test { 50_000 } else { 10_000_000 }, if is_test { 1000 } else { 1 << 20 });
}

fn builder(largest: u64) -> FilterBuilder {
    CuckooFilter::builder().capacity(1000).max_capacity(largest as usize).false_positive_rate(0.001)
}

/// Durations, of which the longest are kept.
struct Longest {
    kept: BinaryHeap<Reverse<Duration>>,
    total: Duration,
    count: u64,
}

impl Longest {
    const fn new(count: u64) -> Self {
        Self { kept: BinaryHeap::new(), total: Duration::ZERO, count }
    }

    fn of(count: u64, mut measured: impl FnMut(u64)) -> Self {
        let mut longest = Self::new(count);
        let mut before = Instant::now();
        for number in 0..count {
            measured(number);
            let now = Instant::now();
            longest.add(now - before);
            before = now;
        }
        longest
    }

    /// What threads with these numbers measure at the same time.
    fn of_each(threads: u64, measure: impl Fn(u64) -> Self + Sync) -> Vec<Self> {
        std::thread::scope(|scope| {
            let measure = &measure;
            let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || measure(thread))).collect();
            running.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
        })
    }

    fn add(&mut self, duration: Duration) {
        const KEPT: usize = 1000;
        self.total += duration;
        if self.kept.len() < KEPT {
            self.kept.push(Reverse(duration));
        } else if self.kept.peek().is_some_and(|least| duration > least.0) {
            self.kept.pop();
            self.kept.push(Reverse(duration));
        }
    }

    fn print(self, name: &str) {
        let sorted: Vec<Duration> = self.kept.into_sorted_vec().into_iter().map(|Reverse(duration)| duration).collect();
        let micros = |duration: &Duration| format!("{:.1}", duration.as_secs_f64() * 1e6);
        let five: Vec<String> = sorted.iter().take(5).map(micros).collect();
        // The duration that one in a million exceeds.
        let millionth = sorted.get((self.count / 1_000_000) as usize).map_or_else(|| "-".to_string(), micros);
        let each = self.total.as_secs_f64() * 1e9 / self.count as f64;
        println!("| {name} | {} | {millionth} | {:.2} | {each:.1} |", five.join(", "), self.total.as_secs_f64());
    }
}

fn pauses(keys: u64) {
    println!("| {keys} times | the five longest, µs | 99.9999 %, µs | total, s | each, ns |");
    println!("|---|---|---|---|---|");
    Longest::of(keys, |number| {
        black_box(number);
    })
    .print("reading the clock");
    let mut filter = builder(keys).build().expect("memory for the table");
    Longest::of(keys, |key| filter.insert(&key).expect("as many were promised")).print("insertion");
    assert_eq!(filter.len() as u64, keys);
    assert!((0..keys).all(|key| filter.contains(&key)), "a key was lost");
    let mut filter = builder(keys).build().expect("memory for the table");
    let begin = Instant::now();
    for key in 0..keys {
        filter.insert(&key).expect("as many were promised");
    }
    let total = begin.elapsed().as_secs_f64();
    println!("| insertion, not timed one by one | | | {total:.2} | {:.1} |", total * 1e9 / keys as f64);
    if let Some(peak) = peak_memory() {
        println!(
            "\nTables of {:.1} MB at the end; the process had at most {peak:.1} MB.",
            filter.size_in_bytes() as f64 / 1e6
        );
    }
}

/// As many writers as readers of one filter at a time.
fn pauses_of_threads(threads: u64, keys: u64) {
    let (writers, each) = (threads / 2, keys / (threads / 2));
    println!("\n| {threads} threads | the five longest, µs | 99.9999 %, µs | total, s | each, ns |");
    println!("|---|---|---|---|---|");
    let reading_the_clock = |_| {
        Longest::of(each, |number| {
            black_box(number);
        })
    };
    for clock in Longest::of_each(threads, reading_the_clock) {
        clock.print("reading the clock");
    }
    let filter = builder(keys).for_kind::<ConcurrentCuckooFilter>().build().expect("memory for the table");
    // Some that stay, to be looked for.
    let kept = keys / 1000;
    (0..kept).for_each(|key| filter.insert(&key).expect("as many were promised"));
    let each = (keys - kept) / writers;
    let measured = Longest::of_each(threads, |thread| {
        if thread < writers {
            let first = kept + thread * each;
            Longest::of(each, |key| filter.insert(&(first + key)).expect("as many were promised"))
        } else {
            Longest::of(each, |number| assert!(filter.contains(&(number % kept)), "a key was lost"))
        }
    });
    for (thread, longest) in (0..).zip(measured) {
        longest.print(if thread < writers { "insertion" } else { "lookup" });
    }
    assert!((0..kept + writers * each).all(|key| filter.contains(&key)), "a key was lost");
    println!("\nA table of {:.1} MB at the end.", filter.size_in_bytes() as f64 / 1e6);
}

/// A steady stream of new keys over a hundred generations, beside a filter that is as full, from which the oldest key is removed
/// for each that comes.
fn pauses_while_keys_expire(operations: u64) {
    const GENERATIONS: u64 = 100;
    let resolution = operations / GENERATIONS;
    let lifetime = 14 * resolution;
    println!(
        "\n| {operations} times, over {GENERATIONS} generations | the five longest, µs | 99.9999 %, µs | total, s | each, ns |"
    );
    println!("|---|---|---|---|---|");
    Longest::of(operations, |number| {
        black_box(number);
    })
    .print("reading the clock");
    let builder = CuckooFilter::builder().capacity(lifetime as usize).false_positive_rate(0.001);
    let mut plain = builder.build().expect("memory for the table");
    (0..lifetime).for_each(|key| plain.insert(&key).expect("there is room"));
    Longest::of(operations, |key| {
        assert!(plain.remove(&key), "a key was lost");
        plain.insert(&(lifetime + key)).expect("there is room");
    })
    .print("a key removed, a new one inserted");
    let builder = ExpiringCuckooFilter::builder().capacity(lifetime as usize).false_positive_rate(0.001);
    let mut expiring = builder.lifetime(lifetime).resolution(resolution).build().expect("memory for the table");
    for key in 0..lifetime {
        expiring.advance(key).expect("small steps");
        expiring.insert(&key).expect("there is room");
    }
    let mut swept = Longest::new(operations);
    Longest::of(operations, |number| {
        let time = lifetime + number;
        let begin = Instant::now();
        expiring.advance(time).expect("small steps");
        swept.add(begin.elapsed());
        expiring.insert(&time).expect("there is room");
        assert!(expiring.contains(&(time - lifetime / 2)), "a key was lost");
    })
    .print("keys expire: `advance`, a new one inserted, one looked for");
    swept.print("`advance` alone");
}

/// How long `advance` takes in a large filter all of whose keys die.
fn pauses_of_sweeping(keys: u64) {
    let lifetime = 14;
    let mut filter = ExpiringCuckooFilter::with_capacity(keys as usize, 0.001, lifetime).expect("memory for the table");
    (0..keys).for_each(|key| filter.insert(&key).expect("there is room"));
    let mut longest = Longest::new(0);
    for time in 1..=3 * lifetime {
        loop {
            let begin = Instant::now();
            let has_arrived = filter.advance(time).expect("small steps");
            longest.add(begin.elapsed());
            longest.count += 1;
            if has_arrived {
                break;
            }
        }
    }
    assert_eq!(filter.len(), 0, "keys outlived their time");
    println!("\n| {keys} keys that die | the five longest, µs | 99.9999 %, µs | total, s | each, ns |");
    println!("|---|---|---|---|---|");
    let megabytes = filter.size_in_bytes() as f64 / 1e6;
    let name = format!("`advance` over {megabytes:.1} MB, {} times", longest.count);
    longest.print(&name);
}

/// The most memory that this process has had, in MB, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0 / 1e6)
}

fn lookups(largest: u64, queries: u64) {
    let mut filter = builder(largest).build().expect("memory for the table");
    // The last half of a doubling begins when three quarters of the largest table are full.
    let mut previous = filter.clone();
    let mut keys = 0..largest;
    let mut moments = Vec::new();
    let last = loop {
        let half_doublings = filter.parameters().half_doublings();
        for key in keys.by_ref() {
            filter.insert(&key).expect("as many were promised");
            if filter.parameters().half_doublings() > half_doublings {
                break;
            }
            // A table takes a few keys above its capacity before it is doubled.
            if filter.capacity().saturating_sub(filter.len()) < 2 && filter.capacity() as u64 * 3 > largest {
                previous = filter.clone();
            }
        }
        if filter.capacity() as u64 * 5 > largest * 4 {
            break filter.capacity();
        }
    };
    assert!(last as u64 >= largest / 2);
    moments.push(("before", previous));
    moments.push(("begun", filter.clone()));
    // They are counted as they were before the doubling: 64 are moved with each insertion.
    let buckets = filter.parameters().bucket_count() as usize / 2;
    for key in keys.by_ref().take(buckets / 2 / 64) {
        filter.insert(&key).expect("as many were promised");
    }
    moments.push(("half-way", filter.clone()));
    for key in keys.take(buckets / 2 / 64 + 100) {
        filter.insert(&key).expect("as many were promised");
    }
    moments.push(("after", filter));

    println!(
        "\n| doubling to {:.1} MB | single, ns | batch, ns | single, ratio | batch, ratio |",
        moments[3].1.size_in_bytes() as f64 / 1e6
    );
    println!("|---|---|---|---|---|");
    let mut figures = vec![[Vec::new(), Vec::new()]; moments.len()];
    for round in 0..7 {
        for ((_, filter), [single, batch]) in moments.iter().zip(&mut figures) {
            let present = filter.len() as u64;
            let asked: Vec<u64> = (0..queries)
                .map(|number| (number + round * queries).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)
                .map(|random| if random % 2 == 0 { random % present } else { random | 1 << 63 })
                .collect();
            let begin = Instant::now();
            let found = asked.iter().filter(|key| filter.contains(black_box(*key))).count();
            single.push(begin.elapsed().as_secs_f64() * 1e9 / queries as f64);
            let mut answers = vec![false; asked.len()];
            let begin = Instant::now();
            filter.contains_many_into(&asked, &mut answers);
            batch.push(begin.elapsed().as_secs_f64() * 1e9 / queries as f64);
            assert_eq!(answers.iter().filter(|&&answer| answer).count(), found, "batch and single calls differ");
        }
    }
    let first = figures[0].clone();
    for ((name, _), measured) in moments.iter().zip(&figures) {
        let [single, batch] = [0, 1].map(|kind| median(measured[kind].iter().copied()));
        let [single_ratio, batch_ratio] =
            [0, 1].map(|kind| median(measured[kind].iter().zip(&first[kind]).map(|(figure, first)| figure / first)));
        println!("| {name} | {single:.1} | {batch:.1} | {single_ratio:.2} | {batch_ratio:.2} |");
    }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
