//! How many instructions the operations take, which unlike time is the same in every run: a guard that CI compares.
//!
//! `cargo bench -p guira --bench instructions` runs each operation under valgrind's callgrind, twice with different numbers
//! of keys, divides the difference, and fails where an operation takes more than its limit. Limits are at most
//! 1 % above what was counted on x86-64; who makes an operation cheaper lowers its limit in the same change.

#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]

use std::hint::black_box;
use std::process::{Command, ExitCode};

use guira::{ConcurrentCuckooFilter, CuckooFilter, Digest, ExpiringCuckooFilter, FilterBuilder, Layout};
use rayon::prelude::*;

const BUCKETS: u64 = 1 << 18;
const ABSENT: u64 = 1 << 40;
/// The two numbers of keys; both are below half of the slots, where insertions need no search.
const FEW: u64 = 100_000;
const MANY: u64 = 400_000;

/// An operation on a table of 4 slots per bucket, 12 bits each unless the name says otherwise, and the most instructions per key that it may take.
struct Operation {
    name: &'static str,
    layout: Layout,
    run: fn(&mut CuckooFilter, &[u64]),
    limit: f64,
}

const OPERATIONS: [Operation; 39] = [
    packed("hash only", hash, 26.2),
    packed("contains", contains, 65.6),
    packed("contains, one region of any size", contains_in_one_region, 73.0),
    packed("contains, two regions of any size", contains_in_two_regions, 94.9),
    packed("contains, three slots of 16 bits", contains_in_three_slots, 65.6),
    packed("contains, four slots of 15 bits", contains_in_60_bits, 79.7),
    packed("contains, four slots of 17 bits", contains_in_68_bits, 142.4),
    packed("contains, eight slots", contains_in_eight_slots, 127.2),
    packed("contains, in a function of its own", contains_alone, 108.0),
    packed("contains, in a function of its own, eight slots", contains_alone_in_eight_slots, 160.5),
    packed("contains_digest", contains_digest, 49.4),
    packed("contains_many_into", contains_many_into, 97.7),
    packed("insert", insert, 120.1),
    packed("try_extend", try_extend, 191.0),
    packed("insert and remove", insert_and_remove, 215.1),
    packed("insert and remove, four regions of any size", insert_and_remove_in_four_regions, 243.4),
    packed("insert, eight slots", insert_in_eight_slots, 176.7),
    packed("insert and remove, eight slots", insert_and_remove_in_eight_slots, 354.5),
    packed("insert_many", insert_many, 221.9),
    packed("contains, shared", contains_shared, 72.7),
    packed("contains, shared, three slots of 16 bits", contains_shared_in_three_slots, 72.7),
    packed("contains, shared, four slots of 17 bits", contains_shared_in_68_bits, 164.0),
    packed("contains_many_into, shared", contains_each_shared, 137.5),
    packed("insert, shared", insert_shared, 168.5),
    packed("insert and remove, shared", insert_and_remove_shared, 347.4),
    packed("try_extend, shared", try_extend_shared, 262.7),
    packed("contains, shared and growing", contains_shared_and_growing, 335.0),
    packed("insert, growing", insert_growing, 681.0),
    packed("insert, shared and growing", insert_shared_and_growing, 1588.0),
    packed("contains, growing", contains_growing, 120.1),
    packed("contains, growing far", contains_growing_far, 180.0),
    packed("contains, growing, half doubled", contains_half_doubled, 119.5),
    packed("contains, during a doubling", contains_while_doubling, 265.5),
    packed("contains, expiring", contains_expiring, 135.5),
    packed("insert_if_absent, expiring", insert_if_absent_expiring, 314.0),
    packed("advance, for each bucket", advance, 420.0),
    semi_sorted("contains", contains, 139.3),
    semi_sorted("contains_many_into", contains_many_into, 139.5),
    semi_sorted("insert", insert, 195.9),
];

const fn packed(name: &'static str, run: fn(&mut CuckooFilter, &[u64]), limit: f64) -> Operation {
    Operation { name, layout: Layout::Packed, run, limit }
}

const fn semi_sorted(name: &'static str, run: fn(&mut CuckooFilter, &[u64]), limit: f64) -> Operation {
    Operation { name, layout: Layout::SemiSorted, run, limit }
}

fn hash(filter: &mut CuckooFilter, keys: &[u64]) {
    let hasher = *filter.hasher();
    for key in keys {
        black_box(hasher.digest(black_box(key)));
    }
}

fn contains(filter: &mut CuckooFilter, keys: &[u64]) {
    assert!(keys.iter().filter(|key| filter.contains(black_box(*key))).count() == 0, "the filter is empty");
}

/// As programs do that look one key up among other work: nothing about the filter is known from the key before.
fn contains_alone(filter: &mut CuckooFilter, keys: &[u64]) {
    #[inline(never)]
    fn contains(filter: &CuckooFilter, key: &u64) -> bool {
        filter.contains(key)
    }
    assert!(keys.iter().filter(|key| contains(black_box(filter), key)).count() == 0, "the filter is empty");
}

fn contains_alone_in_eight_slots(filter: &mut CuckooFilter, keys: &[u64]) {
    contains_alone(&mut of_eight_slots(filter), keys);
}

/// An empty filter with this many buckets of so many slots.
fn of_buckets(bucket_count: u64, slots: u32, bits: u32) -> CuckooFilter {
    let builder = CuckooFilter::builder().bucket_count(bucket_count).slots_per_bucket(slots);
    builder.fingerprint_bits(bits).build().expect("memory for the table")
}

/// An empty filter with this many buckets, in so many regions.
fn of_regions(filter: &CuckooFilter, bucket_count: u64, region_count: u64) -> CuckooFilter {
    let filter = of_buckets(bucket_count, 4, filter.parameters().fingerprint_bits());
    assert_eq!(filter.parameters().region_count(), region_count);
    filter
}

fn contains_in_one_region(filter: &mut CuckooFilter, keys: &[u64]) {
    contains(&mut of_regions(filter, 1 << 15, 1), keys);
}

fn contains_in_two_regions(filter: &mut CuckooFilter, keys: &[u64]) {
    contains(&mut of_regions(filter, 100_000, 2), keys);
}

fn insert_and_remove_in_four_regions(filter: &mut CuckooFilter, keys: &[u64]) {
    insert_and_remove(&mut of_regions(filter, 250_000, 4), keys);
}

/// In buckets that don't fit a word of 64 bits.
fn contains_in_68_bits(_filter: &mut CuckooFilter, keys: &[u64]) {
    contains(&mut of_buckets(BUCKETS, 4, 17), keys);
}

fn contains_shared_in_68_bits(_filter: &mut CuckooFilter, keys: &[u64]) {
    contains_shared(&mut of_buckets(BUCKETS, 4, 17), keys);
}

/// An empty filter with half as many buckets of eight slots.
fn of_eight_slots(filter: &CuckooFilter) -> CuckooFilter {
    of_buckets(BUCKETS / 2, 8, filter.parameters().fingerprint_bits())
}

/// Buckets of 48 bits.
fn of_three_slots() -> CuckooFilter {
    of_buckets(BUCKETS, 3, 16)
}

fn contains_in_three_slots(_filter: &mut CuckooFilter, keys: &[u64]) {
    contains(&mut of_three_slots(), keys);
}

fn contains_shared_in_three_slots(_filter: &mut CuckooFilter, keys: &[u64]) {
    contains_shared(&mut of_three_slots(), keys);
}

/// In buckets of 60 bits, which start at the first or the fifth bit of a byte.
fn contains_in_60_bits(_filter: &mut CuckooFilter, keys: &[u64]) {
    contains(&mut of_buckets(BUCKETS, 4, 15), keys);
}

fn contains_in_eight_slots(filter: &mut CuckooFilter, keys: &[u64]) {
    contains(&mut of_eight_slots(filter), keys);
}

fn insert_in_eight_slots(filter: &mut CuckooFilter, keys: &[u64]) {
    insert(&mut of_eight_slots(filter), keys);
}

fn insert_and_remove_in_eight_slots(filter: &mut CuckooFilter, keys: &[u64]) {
    insert_and_remove(&mut of_eight_slots(filter), keys);
}

/// Of well-mixed bits, without a hash.
fn contains_digest(filter: &mut CuckooFilter, keys: &[u64]) {
    let digest = |key: &u64| Digest::new(key.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    assert!(keys.iter().filter(|key| filter.contains(&digest(black_box(*key)))).count() == 0, "the filter is empty");
}

fn contains_many_into(filter: &mut CuckooFilter, keys: &[u64]) {
    let mut answers = vec![true; keys.len()];
    filter.contains_many_into(keys, &mut answers);
    assert!(!answers.contains(&true), "the filter is empty");
}

fn insert(filter: &mut CuckooFilter, keys: &[u64]) {
    for key in keys {
        filter.insert(black_box(key)).expect("half of the slots are empty, or it grows");
    }
    assert_eq!(filter.len(), keys.len());
}

fn try_extend(filter: &mut CuckooFilter, keys: &[u64]) {
    filter.try_extend(keys).expect("half of the slots are empty");
    assert_eq!(filter.len(), keys.len());
}

fn insert_and_remove(filter: &mut CuckooFilter, keys: &[u64]) {
    insert(filter, keys);
    assert!(keys.iter().all(|key| filter.remove(black_box(key))), "a key was lost");
}

fn insert_many(filter: &mut CuckooFilter, keys: &[u64]) {
    filter.insert_many(keys).expect("half of the slots are empty");
    assert_eq!(filter.len(), keys.len());
}

/// A filter of the same parameters that threads share.
fn shared(filter: &CuckooFilter) -> ConcurrentCuckooFilter {
    filter.clone().try_into().expect("it is packed")
}

fn contains_shared(filter: &mut CuckooFilter, keys: &[u64]) {
    let filter = shared(filter);
    assert!(keys.iter().filter(|key| filter.contains(black_box(*key))).count() == 0, "the filter is empty");
}

fn contains_each_shared(filter: &mut CuckooFilter, keys: &[u64]) {
    let mut answers = vec![true; keys.len()];
    shared(filter).contains_many_into(keys, &mut answers);
    assert!(!answers.contains(&true), "the filter is empty");
}

fn insert_shared(filter: &mut CuckooFilter, keys: &[u64]) {
    insert_each_shared(&shared(filter), keys);
}

fn insert_each_shared(filter: &ConcurrentCuckooFilter, keys: &[u64]) {
    for key in keys {
        filter.insert(black_box(key)).expect("half of the slots are empty, or it grows");
    }
    assert_eq!(filter.len(), keys.len());
}

fn insert_and_remove_shared(filter: &mut CuckooFilter, keys: &[u64]) {
    let filter = shared(filter);
    insert_each_shared(&filter, keys);
    assert!(keys.iter().all(|key| filter.remove(black_box(key))), "a key was lost");
}

fn try_extend_shared(filter: &mut CuckooFilter, keys: &[u64]) {
    let filter = shared(filter);
    filter.try_extend(keys).expect("half of the slots are empty");
    assert_eq!(filter.len(), keys.len());
}

/// A filter for 1000 keys at first, at a rate of 0.001, which keys make grow.
fn small() -> FilterBuilder {
    CuckooFilter::builder().capacity(1000).max_capacity(1_000_000).false_positive_rate(0.001)
}

fn insert_growing(_filter: &mut CuckooFilter, keys: &[u64]) {
    let mut filter = small().build().expect("memory for the table");
    insert(&mut filter, keys);
}

fn small_and_shared() -> ConcurrentCuckooFilter {
    small().for_kind::<ConcurrentCuckooFilter>().build().expect("memory for the table")
}

fn insert_shared_and_growing(_filter: &mut CuckooFilter, keys: &[u64]) {
    insert_each_shared(&small_and_shared(), keys);
}

fn contains_shared_and_growing(_filter: &mut CuckooFilter, keys: &[u64]) {
    let filter = small_and_shared();
    assert!(keys.iter().filter(|key| filter.contains(black_box(*key))).count() == 0, "the filter is empty");
}

/// In a filter with about as many buckets that can grow.
fn contains_in_growing(filter: &CuckooFilter, keys: &[u64], times: usize, rate: f64) {
    let slots = usize::try_from(filter.parameters().slot_count()).expect("a table that fits memory");
    let capacity = slots * 9 / 10;
    let builder = CuckooFilter::builder().capacity(capacity).max_capacity(times * capacity).false_positive_rate(rate);
    let filter = builder.build().expect("memory for the table");
    assert!(keys.iter().filter(|key| filter.contains(black_box(*key))).count() == 0, "the filter is empty");
}

/// With fingerprints of 13 bits.
fn contains_growing(filter: &mut CuckooFilter, keys: &[u64]) {
    contains_in_growing(filter, keys, 2, 0.002);
}

/// With fingerprints of 20 bits, of which four don't fit a word of 64 bits.
fn contains_growing_far(filter: &mut CuckooFilter, keys: &[u64]) {
    contains_in_growing(filter, keys, 1024, 0.01);
}

/// In a filter of which every second bucket has become two, with fingerprints of 14 bits.
fn contains_half_doubled(_filter: &mut CuckooFilter, keys: &[u64]) {
    let mut filter = growing();
    filter.reserve(filter.capacity() + 1).expect("it grows");
    assert_eq!(filter.parameters().half_doublings(), 1);
    assert!(keys.iter().filter(|key| filter.contains(black_box(*key))).count() == 0, "the filter is empty");
}

/// In the midst of the first half of a doubling.
fn contains_while_doubling(_filter: &mut CuckooFilter, keys: &[u64]) {
    let filter = in_the_midst_of_a_doubling();
    assert!(keys.iter().filter(|key| filter.contains(black_box(*key))).count() < keys.len() / 100);
}

/// A filter with about as many buckets, whose keys expire: fingerprints of 9 bits and numbers of 4.
fn expiring(filter: &CuckooFilter) -> ExpiringCuckooFilter {
    let slots = usize::try_from(filter.parameters().slot_count()).expect("a table that fits memory");
    ExpiringCuckooFilter::with_capacity(slots * 8 / 10, 0.015, 14_000).expect("memory for the table")
}

fn contains_expiring(filter: &mut CuckooFilter, keys: &[u64]) {
    let filter = expiring(filter);
    assert!(keys.iter().filter(|key| filter.contains(black_box(*key))).count() == 0, "the filter is empty");
}

fn insert_if_absent_expiring(filter: &mut CuckooFilter, keys: &[u64]) {
    let mut filter = expiring(filter);
    let new = keys.iter().filter(|key| filter.insert_if_absent(black_box(*key)).expect("half of the slots are empty"));
    assert!(new.count() > keys.len() * 98 / 100);
}

/// Sweeps a bucket for each key, of a table in which all generations are dead and have one key each.
fn advance(_filter: &mut CuckooFilter, keys: &[u64]) {
    const SWEPT: usize = 4096;
    let mut filter = ExpiringCuckooFilter::with_capacity(3_200_000, 0.015, 14_000).expect("memory for the table");
    for key in 0..14 {
        filter.insert(&key).expect("room");
        filter.advance(1000 * key).expect("less than a lifetime");
    }
    assert!(filter.parameters().bucket_count() > keys.len() as u64, "a pass over the table does not end");
    for _ in 0..keys.len() / SWEPT {
        filter.jump(100_000);
    }
}

fn growing() -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(200_000).max_capacity(800_000).false_positive_rate(0.002);
    builder.build().expect("memory for the table")
}

fn in_the_midst_of_a_doubling() -> CuckooFilter {
    let mut filter = growing();
    let (size, buckets) = (filter.size_in_bytes(), filter.parameters().bucket_count());
    // A large table is there until all of its buckets are split, 64 with each insertion.
    let mut key = 0_u64;
    let mut insert_next = |filter: &mut CuckooFilter| {
        filter.insert(&key).expect("it grows");
        key += 1;
    };
    while filter.size_in_bytes() == size {
        insert_next(&mut filter);
    }
    for _ in 0..buckets / 64 / 2 {
        insert_next(&mut filter);
    }
    filter
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--run", operation, keys] => {
            run(&OPERATIONS[number(operation)], number(keys) as u64);
            ExitCode::SUCCESS
        }
        ["--bench"] => compare(),
        // `cargo test --benches`
        _ => {
            OPERATIONS.iter().for_each(|operation| run(operation, 1000));
            ExitCode::SUCCESS
        }
    }
}

fn number(text: &str) -> usize {
    text.parse().expect("a number")
}

fn run(operation: &Operation, keys: u64) {
    let builder = CuckooFilter::builder().bucket_count(BUCKETS).slots_per_bucket(4).layout(operation.layout);
    let bits = if operation.layout == Layout::SemiSorted { 13 } else { 12 };
    let mut filter = builder.fingerprint_bits(bits).build().expect("memory for the table");
    let keys: Vec<u64> = (ABSENT..ABSENT + keys).collect();
    (operation.run)(&mut filter, &keys);
}

/// Counts all operations and holds them to their limits.
fn compare() -> ExitCode {
    println!("| layout | operation | instructions per key | limit |\n|---|---|---:|---:|");
    let mut exceeded = false;
    // Several at a time: that changes no count.
    let counted: Vec<_> = (0..OPERATIONS.len()).into_par_iter().map(per_key).collect();
    for (operation, counted) in OPERATIONS.iter().zip(counted) {
        let per_key = match counted {
            Ok(per_key) => per_key,
            Err(error) => {
                eprintln!("instructions of {} can't be counted; valgrind is needed: {error}", operation.name);
                return ExitCode::FAILURE;
            }
        };
        println!("| {:?} | {} | {per_key:.1} | {} |", operation.layout, operation.name, operation.limit);
        exceeded |= per_key > operation.limit;
    }
    if exceeded {
        eprintln!("an operation takes more instructions than its limit");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The instructions that an operation takes for each key.
fn per_key(operation: usize) -> Result<f64, String> {
    Ok((count(operation, MANY)? - count(operation, FEW)?) as f64 / (MANY - FEW) as f64)
}

/// The instructions of a whole run.
fn count(operation: usize, keys: u64) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["--run", &operation.to_string(), &keys.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(report.into_owned());
    }
    let collected = report.lines().find_map(|line| line.split("Collected : ").nth(1));
    collected.and_then(|count| count.trim().parse().ok()).ok_or_else(|| report.into_owned())
}
