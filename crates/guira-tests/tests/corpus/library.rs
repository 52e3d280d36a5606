//! The targets that feed the library with files and operations.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "../../../../fuzz/bodies/load.rs"]
mod load;
#[path = "../../../../fuzz/bodies/operations.rs"]
mod operations;
#[path = "../../../../fuzz/bodies/view.rs"]
mod view;

#[path = "../../../guira/tests/guira/oracle"]
mod oracle {
    pub(crate) mod checksums;
    pub(crate) mod random;
    pub(crate) mod shapes;
}

use oracle::random::SplitMix64;

/// Files of every kind, which the targets for files start from.
const GOLDEN: &str = "crates/guira/tests/golden/v1";

/// The inputs in a folder of the repository, in order.
fn inputs(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    assert!(paths.len() > 10, "{} has no inputs to speak of", folder.display());
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

fn replay(folder: &str, run: fn(&[u8])) {
    for (path, input) in inputs(folder) {
        // Printed only where the test fails; the last one is the one.
        println!("{}", path.display());
        run(&input);
    }
}

#[test]
fn stored_inputs_of_load_are_survived() {
    replay("fuzz/corpus/load", load::run);
    replay(GOLDEN, load::run);
}

#[test]
fn stored_inputs_of_view_are_survived() {
    replay("fuzz/corpus/view", view::run);
    replay(GOLDEN, view::run);
}

#[test]
fn stored_inputs_of_operations_are_survived() {
    replay("fuzz/corpus/operations", operations::run);
}

#[test]
fn random_operations_agree_with_a_multiset() {
    for seed in 0..3000 {
        println!("seed {seed}");
        let mut random = SplitMix64::new(seed);
        let length = 4 + 2 * random.below(200);
        // Few different keys in every other run, so that there are copies.
        let mask = if seed % 2 == 0 { 0xff } else { 0x1f };
        let mut input: Vec<u8> = (0..length).map(|_| random.next().to_le_bytes()[0]).collect();
        input.iter_mut().skip(5).step_by(2).for_each(|key| *key &= mask);
        operations::run(&input);
    }
}

#[test]
fn changed_files_are_survived() {
    for (path, file) in inputs(GOLDEN) {
        println!("{}", path.display());
        let mut random = SplitMix64::new(file.len() as u64);
        for _ in 0..300 {
            let mut changed = file.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(changed.len());
                changed[at] ^= 1 << random.below(8);
            }
            load::run(&changed);
            view::run(&changed);
        }
    }
}
