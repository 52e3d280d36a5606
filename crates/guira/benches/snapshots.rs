//! How long insertions into a filter that threads share take while it is copied.
//!
//! `cargo bench -p guira --bench snapshots -- [CAPACITY]`; 100 million unless given, at a rate of 0.001, which is a table of 170 MB,
//! half full. Each insertion is timed by itself. Beside the writers is a thread that copies the filter again and again, or
//! saves it, or computes something else; insertions count while it does. By `cargo test --benches` all is run once, small, for its
//! answers alone.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "figures for people, and counts that fit memory"
)]

use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use guira::{ConcurrentCuckooFilter, CuckooFilter};

fn main() {
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let asked = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let capacity: u64 = asked.unwrap_or(if is_test { 200_000 } else { 100_000_000 });
    let mut filter = CuckooFilter::with_capacity(capacity as usize, 0.001).expect("memory for the table");
    let keys: Vec<u64> = (0..capacity / 2).collect();
    filter.try_extend(&keys).expect("as many were promised");
    drop(keys);
    let filter = ConcurrentCuckooFilter::try_from(filter).expect("it is packed");
    let directory = tempfile::tempdir().expect("a folder for files");
    let path = directory.path().join("saved.guira");
    println!("A table of {:.1} MB, half full.", filter.size_in_bytes() as f64 / 1e6);
    // A twentieth of the capacity for each row.
    let mut next = (0..).map(|row| capacity / 2 + row * (capacity / 20)..capacity / 2 + (row + 1) * (capacity / 20));
    let mut keys = || next.next().expect("without end");
    for writers in [1, 4] {
        println!(
            "\n| {writers} writing, beside | insertions | the five longest, µs | 99.9 %, µs | median, ns | times |"
        );
        println!("|---|---|---|---|---|---|");
        measure("a loop", &filter, writers, keys(), |times| {
            black_box((0..10_000_000_u64).fold(times, |sum, number| sum.rotate_left(7) ^ black_box(number)));
        });
        measure("`snapshot`", &filter, writers, keys(), |_| {
            black_box(filter.snapshot().expect("memory for a copy"));
        });
        measure("`clone`", &filter, writers, keys(), |_| {
            black_box(filter.clone());
        });
        measure("`save`", &filter, writers, keys(), |_| filter.save(&path).expect("room for a file"));
    }
    assert!((0..capacity / 2).all(|key| filter.contains(&key)), "a key was lost");
}

/// Inserts keys by several threads while another does something again and again, until they are done.
fn measure(name: &str, filter: &ConcurrentCuckooFilter, writers: usize, keys: Range<u64>, beside: impl Fn(u64)) {
    let (is_done, running) = (AtomicBool::new(false), AtomicUsize::new(writers));
    let each = (keys.end - keys.start) / writers as u64;
    let (mut durations, times) = thread::scope(|threads| {
        let writing: Vec<_> = (0..writers as u64)
            .map(|writer| {
                let (is_done, running) = (&is_done, &running);
                let keys = keys.start + writer * each..keys.start + (writer + 1) * each;
                threads.spawn(move || {
                    // Written once, since a writer who is the first to write to a page waits while others give memory back.
                    let mut durations = vec![Duration::MAX; each as usize];
                    durations.clear();
                    for key in keys {
                        let begin = Instant::now();
                        filter.insert(&key).expect("as many were promised");
                        let duration = begin.elapsed();
                        if is_done.load(Ordering::Relaxed) {
                            durations.push(duration);
                        }
                    }
                    running.fetch_sub(1, Ordering::Relaxed);
                    durations
                })
            })
            .collect();
        let mut times = 0;
        while running.load(Ordering::Relaxed) > 0 {
            is_done.store(true, Ordering::Relaxed);
            beside(times);
            is_done.store(false, Ordering::Relaxed);
            times += 1;
        }
        let durations: Vec<Duration> =
            writing.into_iter().flat_map(|writer| writer.join().expect("it does not panic")).collect();
        (durations, times)
    });
    durations.sort_unstable();
    let micros = |duration: &Duration| format!("{:.1}", duration.as_secs_f64() * 1e6);
    let longest: Vec<String> = durations.iter().rev().take(5).map(micros).collect();
    let at = |thousandths| durations.get(durations.len() * thousandths / 1000);
    let (most, median) = (at(999).map_or_else(|| "-".into(), micros), at(500).map_or(0, Duration::as_nanos));
    println!("| {name} | {} | {} | {most} | {median} | {times} |", durations.len(), longest.join(", "));
}
