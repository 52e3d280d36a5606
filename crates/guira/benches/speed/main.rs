//! How fast every operation of every layout is, beside what the memory allows, in one run.
//!
//! `cargo bench -p guira --bench speed` measures all layouts at all table sizes; words after `--` choose some of them, such
//! as `packed-4 192MB`. By `cargo test --benches` everything is run once, small, for its answers alone.
//!
//! Keys are counted `u64`s, hashed in the timed loop by XXH3, as are the keys of the floors. Every query of a round has a
//! fresh key, and every answer is checked: all present keys are found, and of the absent ones not more than the expected
//! rate allows. Figures are nanoseconds per operation, medians of all rounds, on one thread; floors and filters take turns
//! within each round, so that a machine that slows down slows them all.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures for people, and counts that fit memory"
)]

mod contender;
mod floor;
mod measure;
mod timing;
mod workload;

use contender::CONTENDERS;
use floor::Floor;
use measure::Figures;
use timing::Scale;

/// Table sizes in bytes, with the names they go by.
const SIZES: [(&str, u64); 6] = [
    ("256KB", 256 << 10),
    ("4MB", 4 << 20),
    ("24MB", 24 << 20),
    ("64MB", 64 << 20),
    ("192MB", 192 << 20),
    ("1GB", 1 << 30),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_test = !arguments.iter().any(|argument| argument == "--bench");
    let chosen = |name: &str, names: &mut dyn Iterator<Item = &str>| {
        let mut any = false;
        for other in names {
            if arguments.iter().any(|argument| argument == other) {
                any = true;
                if other == name {
                    return true;
                }
            }
        }
        !any
    };
    let unknown = arguments.iter().find(|argument| {
        *argument != "--bench"
            && SIZES.iter().all(|(name, _)| name != argument)
            && CONTENDERS.iter().all(|contender| contender.name != **argument)
    });
    if let Some(unknown) = unknown {
        let names: Vec<_> = SIZES.map(|(name, _)| name).into_iter().chain(CONTENDERS.map(|it| it.name)).collect();
        eprintln!("no such size or layout: {unknown}; there are {}", names.join(", "));
        std::process::exit(2);
    }

    println!("{}", Figures::HEADING);
    for (size_name, size) in SIZES {
        if !chosen(size_name, &mut SIZES.iter().map(|(name, _)| *name)) {
            continue;
        }
        let scale = if is_test { Scale::TEST } else { Scale::of(size) };
        let size = if is_test { 64 << 10 } else { size };
        let floor = Floor::new(size);
        println!("{}", floor.measure(size_name, scale));
        for contender in CONTENDERS {
            if chosen(contender.name, &mut CONTENDERS.iter().map(|contender| contender.name)) {
                println!("{}", measure::all_operations(&contender, &floor, size_name, size, scale));
            }
        }
        if is_test {
            break;
        }
    }
}
