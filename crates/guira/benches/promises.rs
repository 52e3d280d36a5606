//! Whether filters keep what they promise, at every size: that as many distinct keys as the capacity fit, and that absent
//! keys are found at no more than the rate asked for. And what that takes in bits per key.
//!
//! ```text
//! cargo bench -p guira --bench promises -- capacity [BUILDS]
//! cargo bench -p guira --bench promises -- rate [LOOKUPS]
//! cargo bench -p guira --bench promises -- low [LOOKUPS]
//! cargo bench -p guira --bench promises -- bits
//! ```
//!
//! Keys are random digests, so that nothing but the filter is tried. `cargo test --benches` runs a short form of each.

#![expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "statistics")]

use std::process::ExitCode;

use guira::{Addressing, CuckooFilter, Digest, FilterBuilder, KeyHasher, Layout, Preference};
use rayon::prelude::*;

const RATES: [f64; 9] = [0.5, 0.3, 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-6, 1e-9];

/// The promise: at most so many builds refuse one of their keys.
const REFUSED: f64 = 1e-6;

#[derive(Clone, Copy, Debug)]
struct Shape {
    layout: Layout,
    addressing: Addressing,
    slots: u32,
}

fn shapes() -> Vec<Shape> {
    let packed = [Addressing::Regional, Addressing::PowerOfTwo, Addressing::Ternary, Addressing::Quaternary];
    let shape = |layout, addressing, slots| Shape { layout, addressing, slots };
    let mut shapes: Vec<Shape> = packed
        .into_iter()
        .flat_map(|addressing| [1, 2, 3, 4, 8].map(|slots| shape(Layout::Packed, addressing, slots)))
        .collect();
    shapes.extend([4, 8].map(|slots| shape(Layout::Packed, Addressing::Doubling, slots)));
    shapes.extend(
        [Addressing::Regional, Addressing::PowerOfTwo].map(|addressing| shape(Layout::SemiSorted, addressing, 4)),
    );
    shapes
}

impl Shape {
    fn builder(self, capacity: usize, rate: f64) -> FilterBuilder {
        let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(rate).slots_per_bucket(self.slots);
        match self.addressing {
            Addressing::Doubling => builder.max_capacity(capacity),
            _ => builder.layout(self.layout).addressing(self.addressing),
        }
    }

    fn name(self) -> String {
        format!("{}, {}, b = {}", self.layout, self.addressing, self.slots)
    }
}

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn digest(&mut self) -> Digest {
        Digest::new(self.next())
    }
}

/// How often a filter was made or asked for each shape, and how often it broke its promise.
struct Outcome {
    tried: u64,
    broken: u64,
    worst: String,
}

/// Fills filters of every capacity to 2000, and of some to a million, with as many distinct keys as they promise to take.
fn capacity(builds: f64) -> bool {
    let all = shapes();
    let small = 1..=2000_u32;
    let large = (0..28).map(|step| (2000.0 * 1.25_f64.powi(step)) as u32).filter(|&keys| keys <= 1_000_000);
    let capacities: Vec<usize> = small.chain(large).map(|keys| keys as usize).collect();
    // As much work for each capacity, down to the small ones, whose builds cost more than their keys.
    let weight = |keys: usize| 1.0 / (keys as f64 + 20.0);
    let weights: f64 = capacities.iter().map(|&keys| weight(keys)).sum();
    let builds_of_shape = builds / all.len() as f64;
    let outcomes: Vec<(Shape, Outcome)> = all
        .into_par_iter()
        .map(|shape| {
            let mut outcome = Outcome { tried: 0, broken: 0, worst: String::new() };
            for &keys in &capacities {
                for (number, rate) in RATES.into_iter().enumerate() {
                    let share = builds_of_shape * weight(keys) / weights / RATES.len() as f64;
                    let mut random = Random((keys as u64) << 32 | u64::from(shape.slots) << 8 | number as u64);
                    // What is left of a build is one build with as much probability.
                    let whole = share as u64 + u64::from(random.next() as f64 / 2.0_f64.powi(64) < share.fract());
                    let refused = refused_builds(shape, keys, rate, whole, &mut random);
                    outcome.tried += whole;
                    if refused > 0 {
                        outcome.broken += refused;
                        outcome.worst += &format!(" {keys} keys at {rate}: {refused} of {whole};");
                    }
                }
            }
            (shape, outcome)
        })
        .collect();
    println!("| table | builds | that refused a key | per million, 95 % interval | |\n|---|---:|---:|---:|---|");
    let mut kept = true;
    for (shape, Outcome { tried, broken, worst }) in &outcomes {
        let (least, most) = poisson_interval(*broken);
        let per_million = 1e6 / (*tried).max(1) as f64;
        println!(
            "| {} | {tried} | {broken} | {:.2} to {:.2} |{worst} |",
            shape.name(),
            least * per_million,
            most * per_million
        );
        kept &= least <= REFUSED * *tried as f64;
    }
    let [tried, broken] = [|outcome: &Outcome| outcome.tried, |outcome: &Outcome| outcome.broken]
        .map(|number| outcomes.iter().map(|(_, outcome)| number(outcome)).sum::<u64>());
    println!("\n{broken} of {tried} builds refused a key; {:.1} at the most are promised", tried as f64 * REFUSED);
    kept
}

/// How many of some builds refuse one of their keys. The table is used again, with another seed now and then.
fn refused_builds(shape: Shape, keys: usize, rate: f64, builds: u64, random: &mut Random) -> u64 {
    const BUILDS_PER_SEED: u64 = 50;
    let mut refused = 0;
    for first in (0..builds).step_by(BUILDS_PER_SEED as usize) {
        // Some shapes have no table so large, or none at so low a rate.
        let Ok(mut filter) = shape.builder(keys, rate).hasher(KeyHasher::xxh3(random.next())).build() else { continue };
        for _ in first..builds.min(first + BUILDS_PER_SEED) {
            filter.clear();
            refused += u64::from((0..keys).any(|_| filter.insert(&random.digest()).is_err()));
        }
    }
    refused
}

/// Asks filters of capacities to 1000, each `every` more than the one before, for absent keys when they are full.
fn rate(lookups: f64, every: usize) -> bool {
    const FILTERS: u64 = 20;
    let all = shapes();
    let rates = [0.5, 0.1, 0.03, 0.01];
    let lookups_of_filter = (lookups / (all.len() * rates.len() * 1000 / every) as f64 / FILTERS as f64).ceil() as u64;
    let outcomes: Vec<(Shape, f64, u64, f64, f64)> = all
        .into_par_iter()
        .flat_map(|shape| rates.map(|rate| (shape, rate)))
        .map(|(shape, rate)| {
            let (mut found, mut asked, mut worst) = (0, 0, 0.0_f64);
            for keys in (1..=1000_usize).step_by(every) {
                let mut random = Random((keys as u64) << 32 | u64::from(shape.slots));
                let mut found_here = 0;
                for _ in 0..FILTERS {
                    let Ok(mut filter) = shape.builder(keys, rate).hasher(KeyHasher::xxh3(random.next())).build()
                    else {
                        continue;
                    };
                    (0..keys).for_each(|_| drop(filter.insert(&random.digest())));
                    found_here += (0..lookups_of_filter).filter(|_| filter.contains(&random.digest())).count() as u64;
                    asked += lookups_of_filter;
                }
                found += found_here;
                worst = worst.max(found_here as f64 / (FILTERS * lookups_of_filter) as f64 / rate);
            }
            (shape, rate, asked, found as f64 / (asked.max(1)) as f64, worst)
        })
        .collect();
    println!(
        "| table | rate asked for | measured | worst of all capacities, times the one asked for |\n|---|---:|---:|---:|"
    );
    let mut kept = true;
    for (shape, rate, asked, measured, worst) in outcomes {
        println!("| {} | {rate} | {measured:.5} | {worst:.2} |", shape.name());
        // Filters of few keys scatter: of each shape there are thousands, of which the mean deviates by less than a hundredth.
        kept &= measured <= rate * 1.01 + 3.0 * (rate / asked as f64).sqrt();
    }
    kept
}

/// Asks full filters of low rates for absent keys, and compares what is found with the rate to expect.
fn low(lookups: f64) -> bool {
    const BATCH: usize = 1 << 12;
    const KEYS: usize = 50_000;
    println!(
        "| rate asked for | bits | lookups | found | expected | 95 % interval of the mean |\n|---|---:|---:|---:|---:|---:|"
    );
    let mut kept = true;
    for (rate, share) in [(1e-7, 0.1), (1e-8, 1.0)] {
        let batches = (lookups * share / BATCH as f64).ceil() as u64;
        let builder = CuckooFilter::builder().capacity(KEYS).false_positive_rate(rate);
        let mut filter = builder.build().expect("there is such a table");
        let mut random = Random(rate.to_bits());
        (0..KEYS).for_each(|_| filter.insert(&random.digest()).expect("it has room"));
        let found: u64 = (0..batches)
            .into_par_iter()
            .map(|batch| {
                let mut random = Random(!batch << 20 ^ rate.to_bits().rotate_left(17));
                let digests: Vec<Digest> = (0..BATCH).map(|_| random.digest()).collect();
                filter.contains_many(&digests).into_iter().filter(|&found| found).count() as u64
            })
            .sum();
        let asked = (batches * BATCH as u64) as f64;
        let (least, most) = poisson_interval(found);
        let expected = asked * filter.expected_false_positive_rate();
        let bits = filter.parameters().fingerprint_bits();
        println!("| {rate:e} | {bits} | {asked:.3e} | {found} | {expected:.1} | {least:.1} to {most:.1} |");
        kept &= least <= rate * asked && (least..=most).contains(&expected);
    }
    kept
}

/// What a key takes, beside the smallest of all tables that can be planned and beside what any filter takes at least.
fn bits(capacities: &[u64]) -> bool {
    println!(
        "| keys | rate | for speed | for space | smallest of all tables | log2(1 / rate) |\n|---:|---:|---:|---:|---:|---:|"
    );
    let mut worst = [0.0_f64; 2];
    for &capacity in capacities {
        for rate in RATES {
            let planned = shapes().into_iter().filter(|it| it.addressing == Addressing::Regional && it.slots > 1);
            let sizes = planned.filter_map(|shape| {
                let parameters = shape.builder(capacity as usize, rate).parameters().ok()?;
                Some(parameters.bits_per_key())
            });
            let smallest = sizes.fold(f64::INFINITY, f64::min);
            let builder = CuckooFilter::builder().capacity(capacity as usize).false_positive_rate(rate);
            let planned = [Preference::Speed, Preference::Space].map(|preference| {
                builder.clone().preference(preference).parameters().map_or(f64::NAN, |table| table.bits_per_key())
            });
            let [speed, space] = planned;
            println!("| {capacity} | {rate} | {speed:.2} | {space:.2} | {smallest:.2} | {:.2} |", -rate.log2());
            worst = [worst[0].max(speed / smallest), worst[1].max(space / smallest)];
        }
    }
    println!("\nat most {:.2} times the smallest for speed, {:.2} times for space", worst[0], worst[1]);
    worst[1] <= 1.15
}

/// The interval that has the mean of a Poisson distribution with a probability of 95 %, given one number of it: from
/// quantiles of the χ² distribution, by Wilson and Hilferty's approximation.
fn poisson_interval(number: u64) -> (f64, f64) {
    let quantile = |degrees: f64, deviations: f64| {
        let scale = 2.0 / (9.0 * degrees);
        degrees * (1.0 - scale + deviations * scale.sqrt()).powi(3) / 2.0
    };
    let number = number as f64;
    let least = if number == 0.0 { 0.0 } else { quantile(2.0 * number, -1.96) };
    (least, if number == 0.0 { 3.689 } else { quantile(2.0 * number + 2.0, 1.96) })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let count = |usual: f64| arguments.get(1).map_or(usual, |count| count.parse().expect("a number"));
    let kept = match arguments.first().map(String::as_str) {
        Some("capacity") => capacity(count(5e7)),
        Some("rate") => rate(count(1e9), 1),
        Some("low") => low(count(1e10)),
        Some("bits") => bits(&[1, 2, 5, 10, 20, 50, 100, 300, 1000, 10_000, 100_000, 1_000_000, 10_000_000]),
        _ => capacity(3e3) && rate(1e6, 10) && bits(&[1, 20, 1000]),
    };
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
