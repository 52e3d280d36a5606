//! What growth costs: lookups in a filter that was doubled ten times, beside filters that were built at its size; and the
//! halves of doublings themselves, and the room that bits for doublings to come take.
//!
//! `cargo bench -p guira --bench growth`; with `-- times` or `-- bits`, only what is timed, or only the room. By `cargo test --benches` it is run once, small, for its answers alone.
//!
//! Keys are counted `u64`s. The filters take turns within each round; figures are nanoseconds, medians of the rounds, and
//! ratios are medians of the ratios within a round. Every answer is checked.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures for people, and counts that fit memory"
)]

use std::hint::black_box;
use std::time::Instant;

use guira::{Addressing, CuckooFilter, Preference};

const DOUBLINGS: u32 = 10;

fn main() {
    let has = |word| std::env::args().any(|argument| argument == word);
    let is_test = !has("--bench");
    let (starts, rounds, queries): (&[usize], u64, u64) =
        if is_test { (&[100], 1, 1000) } else { (&[2000, 120_000], 7, 2 << 20) };
    for &start in starts.iter().filter(|_| !has("bits")) {
        let grown = grow(start);
        lookups(&grown, rounds, queries);
    }
    if !has("times") {
        sizes(if is_test { 10_000 } else { 10_000_000 });
    }
}

/// Fills a filter from 1,000 keys to the largest capacity. Prints the bits per key before and after half of the buckets become two,
/// beside the fewest that a filter takes which is built for as many keys and that rate.
fn sizes(largest: u64) {
    const RATE: f64 = 0.001;
    let builder = CuckooFilter::builder().capacity(1000).max_capacity(largest as usize);
    let mut filter = builder.false_positive_rate(RATE).build().expect("memory for the table");
    println!("| keys when it grows | bits per key before | after | built for them | ratio before | after |");
    println!("|---|---|---|---|---|---|");
    let print_row = |keys: u64, sizes: [Option<u64>; 2]| {
        let builder = CuckooFilter::builder().capacity(keys as usize).false_positive_rate(RATE);
        let built = builder.preference(Preference::Space).parameters().expect("there is such a filter").bits_per_key();
        let bits = sizes.map(|size| size.map(|bytes| bytes as f64 * 8.0 / keys as f64));
        let shown = |bits: Option<f64>| bits.map_or("-".into(), |bits| format!("{bits:.2}"));
        let [before, after, ratio, ratio_after] =
            [bits[0], bits[1], bits[0].map(|bits| bits / built), bits[1].map(|bits| bits / built)].map(shown);
        println!("| {keys} | {before} | {after} | {built:.2} | {ratio} | {ratio_after} |");
    };
    for key in 0..largest {
        let before = *filter.parameters();
        filter.insert(&key).expect("as many were promised");
        let after = filter.parameters();
        if after.half_doublings() > before.half_doublings() {
            print_row(key, [before, *after].map(|parameters| Some(parameters.table_size())));
        }
    }
    print_row(largest, [Some(filter.parameters().table_size()), None]);
}

/// A filter that begins with room for `start` keys and is filled to 95 % after ten doublings. Prints what they took.
fn grow(start: usize) -> CuckooFilter {
    // Twice as much, since a doubling is spared where the first table can be a little larger instead.
    let builder = CuckooFilter::builder().capacity(start).max_capacity(start << (DOUBLINGS + 1));
    let mut filter = builder.false_positive_rate(0.002).build().expect("memory for the table");
    let mut keys = 0..u64::MAX;
    // The first column is the title of a table that is recorded.
    println!("| grown from {start} keys, MiB | keys | growing, ms | per key, ns |");
    println!("|---|---|---|---|");
    while filter.parameters().half_doublings() / 2 < DOUBLINGS {
        fill(&mut filter, &mut keys);
        let moved = filter.len();
        let begin = Instant::now();
        filter.reserve(filter.capacity() + 1 - moved).expect("it may grow so far");
        let seconds = begin.elapsed().as_secs_f64();
        let mebibytes = filter.size_in_bytes() as f64 / f64::from(1 << 20);
        println!("| {mebibytes:.2} | {moved} | {:.3} | {:.2} |", seconds * 1e3, seconds * 1e9 / moved as f64);
    }
    fill(&mut filter, &mut keys);
    assert!((0..filter.len() as u64).all(|key| filter.contains(&key)), "a key was lost");
    filter
}

/// Fills a table to 95 %, or to its capacity.
fn fill(filter: &mut CuckooFilter, keys: &mut impl Iterator<Item = u64>) {
    let full = ((filter.parameters().slot_count() as f64 * 0.95) as usize).min(filter.capacity());
    let batch: Vec<u64> = keys.take(full - filter.len()).collect();
    filter.try_extend(&batch).expect("it is not full");
}

fn lookups(grown: &CuckooFilter, rounds: u64, queries: u64) {
    let keys: Vec<u64> = (0..grown.len() as u64).collect();
    let parameters = grown.parameters();
    let build = |addressing| {
        CuckooFilter::builder()
            .capacity(grown.capacity())
            .addressing(addressing)
            .fingerprint_bits(parameters.fingerprint_bits())
            .slots_per_bucket(parameters.slots_per_bucket())
            .build_from_keys(&keys)
            .expect("it is not full")
    };
    let never_grows = build(Addressing::Regional);
    let mut built = CuckooFilter::builder()
        .capacity(grown.capacity())
        .max_capacity(grown.capacity())
        .false_positive_rate(grown.parameters().expected_false_positive_rate(grown.capacity() as u64) * 1.04)
        .build()
        .expect("memory for the table");
    built.insert_many(&keys).expect("it is not full");
    assert_eq!(built.parameters().fingerprint_bits(), parameters.fingerprint_bits(), "as many bits are left");

    let contenders =
        [Contender::Fixed(&never_grows), Contender::Growing("built", &built), Contender::Growing("grown", grown)];
    let mut figures: [[Vec<f64>; 2]; 3] = Default::default();
    for round in 0..rounds {
        // Half of the keys are present.
        let asked: Vec<u64> = (0..queries)
            .map(|number| number + round * queries)
            .map(|number| {
                if number % 2 == 0 {
                    number.wrapping_mul(0x9e37_79b9) % grown.len() as u64
                } else {
                    number << 32 | 1 << 63
                }
            })
            .collect();
        let mut answers = vec![false; asked.len()];
        for (contender, [single, batch]) in contenders.iter().zip(&mut figures) {
            let begin = Instant::now();
            let found = match contender {
                Contender::Fixed(filter) => asked.iter().filter(|key| filter.contains(black_box(*key))).count(),
                Contender::Growing(_, filter) => asked.iter().filter(|key| filter.contains(black_box(*key))).count(),
            };
            single.push(begin.elapsed().as_secs_f64() * 1e9 / queries as f64);
            let begin = Instant::now();
            match contender {
                Contender::Fixed(filter) => filter.contains_many_into(&asked, &mut answers),
                Contender::Growing(_, filter) => filter.contains_many_into(&asked, &mut answers),
            }
            batch.push(begin.elapsed().as_secs_f64() * 1e9 / queries as f64);
            assert_eq!(answers.iter().filter(|&&answer| answer).count(), found, "batch and single calls differ");
            assert!(answers.iter().step_by(2).all(|&answer| answer), "a key was lost");
            assert!(found as f64 <= queries as f64 * 0.51 + 6.0, "too many were found");
        }
    }
    println!(
        "\n| {:.1} MiB | single | batch | single, ratio | batch, ratio |",
        grown.size_in_bytes() as f64 / f64::from(1 << 20)
    );
    println!("|---|---|---|---|---|");
    let [first, ..] = &figures;
    for (contender, measured) in contenders.iter().zip(&figures) {
        let name = match contender {
            Contender::Fixed(_) => "built, never grows",
            Contender::Growing(name, _) => name,
        };
        let [single, batch] = [0, 1].map(|kind| median(measured[kind].iter().copied()));
        let [single_ratio, batch_ratio] =
            [0, 1].map(|kind| median(measured[kind].iter().zip(&first[kind]).map(|(figure, first)| figure / first)));
        println!("| {name} | {single:.1} | {batch:.1} | {single_ratio:.2} | {batch_ratio:.2} |");
    }
    println!();
}

enum Contender<'filter> {
    Fixed(&'filter CuckooFilter),
    Growing(&'static str, &'filter CuckooFilter),
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
