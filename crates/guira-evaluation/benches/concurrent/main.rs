//! What threads cost at one filter: the filter that they share beside the one for one thread, and beside a filter of
//! other people, in one run.
//!
//! `cargo bench -p guira-evaluation --features peers --bench concurrent` measures tables of 4 MB and of 192 MB; words after `--`
//! choose one of them. By `cargo test --benches` it is run once, small, for its answers alone.
//!
//! Keys are counted `u64`s; lookups are in a table filled to 95 % (the other people's, 90 %), half of them of present
//! keys. Figures are medians of the rounds, ratios medians of the ratios within a round, in which all take turns.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures for people, and counts that fit memory"
)]

mod crew;
mod figures;
mod peer;
mod shared;
mod writers;

use std::hint::black_box;

use guira::{ConcurrentCuckooFilter, CuckooFilter};

use crew::Rates;
use figures::{median, timed};
use writers::Writers;

/// Table sizes in bytes, with the names they go by.
const SIZES: [(&str, u64); 2] = [("4MB", 4 << 20), ("192MB", 192 << 20)];

const BITS: u64 = 12;
const SLOTS: u64 = 4;
const LOAD: f64 = 0.95;

/// How much is measured.
#[derive(Clone, Copy)]
struct Scale {
    rounds: u64,
    queries: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_test = !arguments.iter().any(|argument| argument == "--bench");
    let chosen = |name: &str| {
        let names = SIZES.iter().filter(|(name, _)| arguments.iter().any(|argument| argument == name)).count();
        names == 0 || arguments.iter().any(|argument| argument == name)
    };
    for (name, size) in SIZES.into_iter().filter(|(name, _)| chosen(name)) {
        if is_test {
            measure("small", 64 << 10, Scale { rounds: 1, queries: 2000 });
            break;
        }
        measure(name, size, Scale { rounds: 7, queries: if size > 64 << 20 { 1 << 20 } else { 2 << 20 } });
    }
}

fn measure(name: &str, size: u64, scale: Scale) {
    let buckets = size * 8 / (BITS * SLOTS);
    let empty = CuckooFilter::builder().bucket_count(buckets).fingerprint_bits(BITS as u32).build();
    let empty = empty.expect("memory for the table");
    let mut plain = empty.clone();
    let keys: Vec<u64> = (0..(plain.parameters().slot_count() as f64 * LOAD) as u64).collect();
    plain.insert_many(&keys).expect("below the rated load");
    drop(keys);
    let filter = ConcurrentCuckooFilter::try_from(plain.clone()).expect("it is packed");

    println!("\n## {name}\n\n| one thread | plain, ns | shared, ns | ratio |\n|---|---|---|---|");
    one_thread(&plain, &filter, scale);
    drop(plain);

    println!("\n| threads at one filter | guira, million/s | {}", peer::HEADING);
    println!("|---|---|{}", peer::RULE);
    let ours = Rates::of(&filter, filter.len() as u64, scale.rounds, scale.queries);
    drop(filter);
    let slots = empty.parameters().slot_count();
    let filters = [(); 2].map(|()| ConcurrentCuckooFilter::try_from(empty.clone()).expect("it is packed"));
    drop(empty);
    let writers = Writers::of(filters.each_ref(), slots, scale.rounds);
    drop(filters);
    let (peer_rates, peer_writers) = peer::measure(slots, scale.rounds, scale.queries).unzip();
    ours.print(peer_rates.as_ref());
    writers.print(peer_writers.as_ref());
}

/// Lookups of the two filters, one call at a time and in batches.
fn one_thread(plain: &CuckooFilter, filter: &ConcurrentCuckooFilter, scale: Scale) {
    let names = ["contains, absent", "contains, present", "contains_many, absent", "contains_many, present"];
    let mut figures: [[Vec<f64>; 2]; 4] = Default::default();
    for round in 0..scale.rounds {
        let absent = crew::absent(scale.queries, round * scale.queries);
        let present = crew::present(scale.queries, round * scale.queries, plain.len() as u64);
        for (kind, keys) in [absent, present].iter().enumerate() {
            let mut answers = [vec![false; keys.len()], vec![false; keys.len()]];
            let [single, batch] = [kind, kind + 2];
            let found = [
                timed(&mut figures[single][0], keys.len(), || {
                    keys.iter().filter(|key| plain.contains(black_box(*key))).count()
                }),
                timed(&mut figures[single][1], keys.len(), || {
                    keys.iter().filter(|key| filter.contains(black_box(*key))).count()
                }),
            ];
            timed(&mut figures[batch][0], keys.len(), || plain.contains_many_into(keys, &mut answers[0]));
            timed(&mut figures[batch][1], keys.len(), || filter.contains_many_into(keys, &mut answers[1]));
            assert_eq!(found[0], found[1], "single calls differ");
            assert_eq!(answers[0], answers[1], "batches differ");
            assert_eq!(answers[0].iter().filter(|&&answer| answer).count(), found[0], "batch and single calls differ");
            assert!(kind == 0 || found[0] == keys.len(), "a key was lost");
        }
    }
    for (name, [plain, filter]) in names.iter().zip(figures) {
        let ratio = median(filter.iter().zip(&plain).map(|(filter, plain)| filter / plain));
        let [plain, filter] = [plain, filter].map(|figures| median(figures.into_iter()));
        println!("| {name} | {plain:.1} | {filter:.1} | {ratio:.2} |");
    }
}
