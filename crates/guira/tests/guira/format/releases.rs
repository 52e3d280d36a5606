//! Files that releases have written: `tests/releases` has a folder for each release, which `tools/version` fills when it makes
//! one and nobody changes. Every later release opens them, finds their keys, and goes on with them.

use std::fs;
use std::path::PathBuf;

use guira::{CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, KeyHasher, Layout, LoadOptions};

const KEYS: u32 = 200;
/// The secret key of the file that has one.
const SECRET: [u8; 16] = *b"nobody knows it.";

fn key(number: u32) -> String {
    format!("key {number}")
}

fn value(number: u32) -> u8 {
    u8::try_from(number).expect("the numbers of keys are small")
}

/// A file of each kind, under a name that begins with it.
fn written() -> Vec<(&'static str, Vec<u8>)> {
    let small = || CuckooFilter::builder().capacity(300).false_positive_rate(0.001);
    let filled = |mut filter: CuckooFilter| {
        filter.try_extend((0..KEYS).map(key)).expect("there is room");
        filter.to_bytes()
    };
    let mut set = CuckooSet::with_capacity(300, 0.001).expect("a small one");
    let mut map = CuckooMap::<u8>::with_capacity(300, 0.001).expect("a small one");
    let mut counting = CountingCuckooFilter::with_capacity(300, 0.001).expect("a small one");
    for number in 0..KEYS {
        set.insert(&key(number)).expect("there is room");
        map.insert(&key(number), value(number)).expect("there is room");
        for _ in 0..=number % 5 {
            counting.insert(&key(number)).expect("there is room");
        }
    }
    let layout = |layout| filled(small().layout(layout).build().expect("a small one"));
    let grown = CuckooFilter::builder().capacity(20).max_capacity(10_000).false_positive_rate(0.001).build();
    let secret = small().hasher(KeyHasher::sip_hash_13(SECRET)).build();
    vec![
        ("filter-packed", layout(Layout::Packed)),
        ("filter-semi-sorted", layout(Layout::SemiSorted)),
        ("filter-grown", filled(grown.expect("a small one"))),
        ("secret", filled(secret.expect("a small one"))),
        ("set", set.to_bytes()),
        ("map", map.to_bytes()),
        ("counting", counting.to_bytes()),
    ]
}

/// Opens a file, finds what was put into it, and changes what can be changed.
fn check(name: &str, bytes: &[u8]) {
    let missing = |is_there: &dyn Fn(&str) -> bool| (0..KEYS).find(|&number| !is_there(&key(number)));
    let (missing, invariants) = match name.split(['-', '.']).next().expect("a part") {
        "set" => {
            let mut set = CuckooSet::from_bytes(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            set.insert("another").unwrap_or_else(|error| panic!("{name}: {error}"));
            (missing(&|key| set.contains(key)), set.check_invariants())
        }
        "map" => {
            let map = CuckooMap::<u8>::from_bytes(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            let lost = (0..KEYS).find(|&number| !map.get_all(&key(number)).any(|found| found == value(number)));
            (lost, map.check_invariants())
        }
        "counting" => {
            let filter = CountingCuckooFilter::from_bytes(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            let lost = (0..KEYS).find(|&number| filter.count(&key(number)) < u64::from(number % 5 + 1));
            (lost, filter.check_invariants())
        }
        kind => {
            let options = LoadOptions::new();
            let options = if kind == "secret" { options.secret_key(SECRET) } else { options };
            let mut filter: CuckooFilter = options.from_bytes(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            let lost = missing(&|key| filter.contains(key));
            filter.insert("another").unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(filter.remove("another") && filter.remove(&key(0)), "{name}");
            (lost, filter.check_invariants())
        }
    };
    assert_eq!((missing, invariants), (None, Ok(())), "{name}: the key with this number is lost");
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/releases")
}

#[test]
fn files_of_every_release_are_opened_and_hold_their_keys() {
    // There is none before the first release.
    for release in fs::read_dir(folder()).into_iter().flatten() {
        let release = release.expect("readable").path();
        let files: Vec<_> =
            fs::read_dir(&release).expect("a folder").map(|file| file.expect("readable").path()).collect();
        assert!(files.len() >= written().len(), "{}: {} files", release.display(), files.len());
        for file in files {
            let name = file.file_name().expect("it has one").to_string_lossy().into_owned();
            check(&name, &fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
        }
    }
}

#[test]
fn what_the_next_release_writes_is_opened_and_holds_its_keys() {
    for (name, bytes) in written() {
        check(name, &bytes);
    }
}

#[test]
#[ignore = "tools/version runs it: it writes the files of a release"]
fn the_files_of_this_release_are_written() {
    let release = folder().join(std::env::var("GUIRA_RELEASE").expect("GUIRA_RELEASE is the version"));
    assert!(!release.exists(), "{}: files of a release are never written again", release.display());
    fs::create_dir_all(&release).expect("writable");
    for (name, bytes) in written() {
        fs::write(release.join(name).with_extension("guira"), bytes).expect("writable");
    }
}
