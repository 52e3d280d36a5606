//! A large filter from generated keys: built, every key found, the rate measured, with times and peak memory.
//!
//! `cargo run --release -p guira --features rayon --example billion -- [KEYS] [held|streamed]`
//!
//! Streamed keys are made a chunk at a time and the capacity is given; held ones are all in memory before the filter is
//! built from them. Exits with an error if a key is lost or the rate is not what it should be.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "figures for people, and counts that fit memory"
)]

use std::time::Instant;

use guira::{CuckooFilter, FilterBuilder};

const ABSENT: u64 = 100_000_000;
/// How many keys are asked for at a time.
const QUERIES: u64 = 1 << 20;
const RATE: f64 = 0.001;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let keys: u64 = arguments.next().map_or(Ok(1_000_000_000), |keys| keys.parse())?;
    let is_held = match arguments.next().as_deref() {
        None | Some("streamed") => false,
        Some("held") => true,
        Some(other) => return Err(format!("{other}: say held or streamed").into()),
    };

    let builder = CuckooFilter::builder().capacity(usize::try_from(keys)?).false_positive_rate(RATE);
    let filter = if is_held { build_held(&builder, keys)? } else { build_streamed(&builder, keys)? };
    println!("{:?}", filter.parameters());
    println!(
        "{} bytes of table, {:.3} bits per key, load factor {:.4}",
        filter.size_in_bytes(),
        filter.size_in_bytes() as f64 * 8.0 / keys as f64,
        filter.load_factor()
    );
    report_peak_memory(filter.size_in_bytes(), keys);

    let start = Instant::now();
    let found = count_found(&filter, 0, keys);
    report("looked up, all present", keys, start);
    if found != keys {
        return Err(format!("{} keys are lost", keys - found).into());
    }
    let start = Instant::now();
    let found = count_found(&filter, 1 << 40, ABSENT);
    report("looked up, all absent", ABSENT, start);
    let (measured, expected) = (found as f64 / ABSENT as f64, filter.expected_false_positive_rate());
    println!("false positive rate: {measured:.6} measured, {expected:.6} expected, {RATE} asked for");
    // Six standard deviations of a binomial count.
    let deviation = (expected / ABSENT as f64).sqrt();
    if (measured - expected).abs() > 6.0 * deviation {
        return Err("the measured rate is not the expected one".into());
    }
    Ok(())
}

fn build_held(builder: &FilterBuilder, keys: u64) -> Result<CuckooFilter, Box<dyn std::error::Error>> {
    let keys: Vec<u64> = (0..keys).collect();
    let start = Instant::now();
    let filter = builder.build_from_keys(&keys)?;
    report("built", keys.len() as u64, start);
    Ok(filter)
}

fn build_streamed(builder: &FilterBuilder, keys: u64) -> Result<CuckooFilter, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let mut filter = builder.build()?;
    // Keys take an eighth of the table at a time; the digests of the bulk build, twice, a quarter.
    let chunk_len = (filter.size_in_bytes() as u64 / 64).max(1 << 16);
    let mut chunk = Vec::new();
    for first in (0..keys).step_by(usize::try_from(chunk_len)?) {
        chunk.clear();
        chunk.extend(first..(first + chunk_len).min(keys));
        filter.insert_many(&chunk)?;
    }
    report("made and built", keys, start);
    Ok(filter)
}

fn count_found(filter: &CuckooFilter, first: u64, count: u64) -> u64 {
    let mut answers = vec![false; QUERIES as usize];
    let mut found = 0;
    for start in (first..first + count).step_by(QUERIES as usize) {
        let keys: Vec<u64> = (start..(start + QUERIES).min(first + count)).collect();
        let answers = &mut answers[..keys.len()];
        filter.contains_many_into(&keys, answers);
        found += answers.iter().filter(|&&answer| answer).count() as u64;
    }
    found
}

fn report(what: &str, keys: u64, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!("{keys} keys {what} in {seconds:.1} s, {:.1} ns each", seconds * 1e9 / keys as f64);
}

/// The most memory that the process had, as Linux tells it.
fn report_peak_memory(table: usize, keys: u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes =
        peak.and_then(|peak| peak.trim().strip_suffix(" kB")).and_then(|peak| peak.trim().parse::<u64>().ok());
    match kibibytes {
        Some(kibibytes) => {
            let bytes = kibibytes as f64 * 1024.0;
            let beside = (bytes - table as f64) / keys as f64;
            println!(
                "peak memory {bytes:.0} bytes: {:.3} tables, or a table and {beside:.2} bytes per key",
                bytes / table as f64
            );
        }
        None => println!("this system does not tell the peak memory"),
    }
}
