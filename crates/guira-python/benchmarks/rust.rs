//! The library itself on the keys of `compare.py`, which runs this.

use std::hint::black_box;
use std::time::Instant;

use guira::{CuckooFilter, Key};

const RATE: f64 = 0.001;
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: u64 = std::env::args().nth(1).map_or(Ok(1_000_000), |count| count.parse())?;
    let numbers: Vec<u64> = (0..count).map(splitmix).collect();
    let words: Vec<String> = numbers.iter().enumerate().map(|(number, &mixed)| word(number, mixed)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    report("uint64", &numbers)?;
    report("strings", &words)
}

/// Steele, Lea and Flood's mixing function.
fn splitmix(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// 16 to 32 hexadecimal digits.
fn word(number: usize, mixed: u64) -> String {
    let digits = format!("{:016x}", mixed.swap_bytes()).repeat(2);
    digits[..16 + number % 17].to_owned()
}

fn report<K: Key>(name: &str, keys: &[K]) -> Result<(), Box<dyn std::error::Error>> {
    let mut filter = CuckooFilter::with_capacity(keys.len(), RATE)?;
    filter.try_extend(keys)?;
    let mut answers = vec![false; keys.len()];
    let look_up = nanoseconds(keys.len(), || filter.contains_many_into(black_box(keys), &mut answers));
    assert!(answers.iter().all(|&answer| answer), "no key is lost");
    let insert = nanoseconds(keys.len(), || {
        let filter = CuckooFilter::with_capacity(keys.len(), RATE);
        filter.expect("there was one").try_extend(black_box(keys)).expect("as many fit as before");
    });
    println!("| in Rust: try_extend, {name} | {insert:.1} |");
    println!("| in Rust: contains_many, {name} | {look_up:.1} |");
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a time is good to a few digits")]
fn nanoseconds(keys: usize, mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2] / keys as f64 * 1e9
}
