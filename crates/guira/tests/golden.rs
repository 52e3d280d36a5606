//! Files of format version 1 that were written once and are never written again: every release reads them, answers the
//! same, and writes them byte for byte. `docs/reader.py`, which shares no code with the library, must agree.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use guira::{
    Addressing, CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet, ExpiringCuckooFilter,
    FileHeader, FileKind, Layout, LoadError,
};

#[path = "guira/oracle/checksums.rs"]
mod checksums;

use checksums::{HEADER_LEN, fix_checksums};
use guira::raw::Arriving;

/// The secret key of the one filter that has one.
const SECRET: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// A stored file, what it holds, and how many of `absent 0` to `absent 1999` it answers with "probably", as
/// `docs/reader.py` counted them.
struct Golden {
    name: &'static str,
    layout: Layout,
    addressing: Addressing,
    slots_per_bucket: u32,
    fingerprint_bits: u32,
    bucket_count: u64,
    keys: usize,
    false_positives: usize,
}

const fn golden(
    name: &'static str,
    layout: Layout,
    addressing: Addressing,
    [slots_per_bucket, fingerprint_bits]: [u32; 2],
    bucket_count: u64,
    [keys, false_positives]: [usize; 2],
) -> Golden {
    Golden { name, layout, addressing, slots_per_bucket, fingerprint_bits, bucket_count, keys, false_positives }
}

const GOLDEN: [Golden; 15] = {
    use Addressing::{Doubling, PowerOfTwo, Quaternary, Regional, Ternary};
    use Layout::{Packed, SemiSorted};
    [
        golden("packed-1-regional-f20", Packed, Regional, [1, 20], 101, [40, 0]),
        golden("packed-2-regional-f9", Packed, Regional, [2, 9], 60, [60, 7]),
        golden("packed-3-regional-f14", Packed, Regional, [3, 14], 26, [60, 0]),
        golden("packed-4-regional-f12", Packed, Regional, [4, 12], 30, [60, 2]),
        golden("packed-4-regional-f12-siphash", Packed, Regional, [4, 12], 24, [60, 2]),
        golden("packed-4-regional-f13-odd", Packed, Regional, [4, 13], 31, [60, 0]),
        golden("packed-4-regional-f41", Packed, Regional, [4, 41], 23, [60, 0]),
        golden("packed-8-regional-f32", Packed, Regional, [8, 32], 15, [60, 0]),
        golden("packed-4-power-of-two-f7", Packed, PowerOfTwo, [4, 7], 32, [60, 50]),
        golden("packed-1-ternary-f11", Packed, Ternary, [1, 11], 81, [60, 4]),
        golden("packed-2-quaternary-f10", Packed, Quaternary, [2, 10], 64, [60, 2]),
        golden("packed-4-doubling-f9", Packed, Doubling, [4, 9], 30, [60, 18]),
        golden("semi-sorted-regional-f13", SemiSorted, Regional, [4, 13], 30, [60, 0]),
        golden("semi-sorted-power-of-two-f5", SemiSorted, PowerOfTwo, [4, 5], 32, [60, 250]),
        golden("semi-sorted-regional-f32", SemiSorted, Regional, [4, 32], 33, [60, 0]),
    ]
};

/// The stored files that hold something else than a filter: `key 0` to `key 59`, in a set twice each, in a counting filter
/// `key n` (n mod 7) + 1 times, in a map with the high v bits of (n + 1) · 0x9E3779B9 modulo 2^32. And how many of the
/// absent keys are found, as `docs/reader.py` counted them.
const GOLDEN_SETS: [(&str, usize); 3] =
    [("set-packed-4-f12", 1), ("set-growing-4-f12-doubled-2", 2), ("set-growing-4-f13-half-doubled-3", 1)];
/// How often half of the buckets became two, beside each.
const GOLDEN_GROWING: [(&str, u32, usize); 8] = [
    ("growing-4-f13-doubled-3", 6, 2),
    ("growing-4-f8-doubled-5", 10, 11),
    ("growing-4-f33-doubled-1", 2, 0),
    ("growing-4-f12-half-doubled-3", 3, 3),
    ("growing-4-f9-half-doubled-1", 1, 48),
    ("growing-8-f35-half-doubled-1", 1, 0),
    ("growing-4-f14-half-doubled-1-waiting", 1, 1),
    ("growing-8-f12-doubled-1-waiting", 2, 2),
];
const GOLDEN_COUNTING: [(&str, usize); 4] = [
    ("counting-2-f9-v3", 6),
    ("counting-4-f12-v8", 1),
    ("counting-growing-4-f13-v3-doubled-2", 1),
    ("counting-growing-4-f12-v3-half-doubled-1", 7),
];
const GOLDEN_MAPS: [(&str, usize); 5] = [
    ("map-4-f6-v5", 135),
    ("map-8-f13-v19", 0),
    ("map-4-f24-v32", 0),
    ("map-growing-4-f10-v7-doubled-2", 8),
    ("map-growing-4-f10-v7-half-doubled-3", 27),
];
/// `key n` came at 1,000,000 + 10 n; a lifetime and a time after which the last n are alive.
const GOLDEN_EXPIRING: [(&str, [u64; 2], u64, usize); 3] = [
    ("expiring-4-f11-v4", [140, 1_000_598], 14, 3),
    ("expiring-growing-4-f15-v5-doubled-1", [300, 1_000_594], 30, 0),
    ("expiring-growing-4-f14-v4-half-doubled-3", [308, 1_000_594], 31, 1),
];

/// Some of the files above with a journal: it removes `key 0` to `key 4`, and inserts `key 0` again, `key 1` twice, and `absent 0` to
/// `absent 7`. At the end of those that grow is half of a batch with `absent 8` and `absent 9`.
const GOLDEN_JOURNALS: [(&str, &str, usize); 3] = [
    ("journal-packed-4-regional-f12", "packed-4-regional-f12", 10),
    ("journal-growing-4-f13-doubled-3", "growing-4-f13-doubled-3", 10),
    ("journal-growing-4-f12-half-doubled-3", "growing-4-f12-half-doubled-3", 10),
];

fn path_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(name).with_extension("guira")
}

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(path_of(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

impl Golden {
    fn path(&self) -> PathBuf {
        path_of(self.name)
    }

    fn bytes(&self) -> Vec<u8> {
        bytes_of(self.name)
    }

    fn has_secret(&self) -> bool {
        self.name.ends_with("siphash")
    }

    fn load(&self) -> CuckooFilter {
        let bytes = self.bytes();
        let loaded = if self.has_secret() {
            guira::LoadOptions::new().secret_key(SECRET).from_bytes::<CuckooFilter>(&bytes)
        } else {
            CuckooFilter::from_bytes(&bytes)
        };
        loaded.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

fn queries() -> Vec<String> {
    (0..60).map(|number| format!("key {number}")).chain((0..2000).map(|number| format!("absent {number}"))).collect()
}

#[test]
fn stored_files_are_read_and_written_again_byte_for_byte() {
    for golden in &GOLDEN {
        let filter = golden.load();
        assert_eq!(filter.to_bytes(), golden.bytes(), "{}", golden.name);
        let mut written = Vec::new();
        filter.write_to(&mut written).expect("a vector takes all");
        assert_eq!(written, golden.bytes(), "{}", golden.name);
        assert_eq!(filter.check_invariants(), Ok(()), "{}", golden.name);
    }
}

#[test]
fn stored_files_hold_what_was_put_into_them() {
    for golden in &GOLDEN {
        let filter = golden.load();
        let parameters = filter.parameters();
        assert_eq!(parameters.layout(), golden.layout, "{}", golden.name);
        assert_eq!(parameters.addressing(), golden.addressing, "{}", golden.name);
        assert_eq!(parameters.slots_per_bucket(), golden.slots_per_bucket, "{}", golden.name);
        assert_eq!(parameters.fingerprint_bits(), golden.fingerprint_bits, "{}", golden.name);
        assert_eq!(parameters.bucket_count(), golden.bucket_count, "{}", golden.name);
        assert_eq!(filter.len(), golden.keys, "{}", golden.name);
        assert!((0..golden.keys).all(|number| filter.contains(&format!("key {number}"))), "{}", golden.name);
        let found = (0..2000).filter(|number| filter.contains(&format!("absent {number}"))).count();
        assert_eq!(found, golden.false_positives, "{}", golden.name);
    }
}

#[test]
fn a_filter_with_a_secret_key_opens_with_that_key_alone() {
    for golden in GOLDEN.iter().filter(|golden| golden.has_secret()) {
        let bytes = golden.bytes();
        assert!(matches!(CuckooFilter::from_bytes(&bytes), Err(LoadError::SecretKeyMissing)));
        assert!(matches!(
            guira::LoadOptions::new().secret_key([7; 16]).from_bytes::<CuckooFilter>(&bytes),
            Err(LoadError::SecretKeyDiffers)
        ));
        assert!(matches!(CuckooFilter::read_from(&bytes[..]), Err(LoadError::SecretKeyMissing)));
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET), "the secret is in the file");
    }
    let without = GOLDEN[0].bytes();
    assert!(matches!(
        guira::LoadOptions::new().secret_key(SECRET).from_bytes::<CuckooFilter>(&without),
        Err(LoadError::SecretKeyNotUsed)
    ));
}

#[test]
fn every_stored_file_is_one_of_these() {
    let folder = GOLDEN[0].path();
    let folder = folder.parent().expect("it is in a folder");
    let stored = std::fs::read_dir(folder).expect("the folder can be read").count();
    assert_eq!(
        stored,
        GOLDEN.len()
            + GOLDEN_SETS.len()
            + GOLDEN_GROWING.len()
            + GOLDEN_COUNTING.len()
            + GOLDEN_MAPS.len()
            + GOLDEN_JOURNALS.len()
            + GOLDEN_EXPIRING.len()
    );
}

/// The lines that `answer` has an answer for, with it, and how many of them are absent keys.
fn lines_answered(answer: impl Fn(&str) -> Option<String>) -> (String, usize) {
    let answered = queries().into_iter().filter_map(|query| Some((answer(&query)?, query)));
    let (mut lines, mut absent) = (String::new(), 0);
    for (answer, query) in answered {
        absent += usize::from(query.starts_with("absent"));
        lines += &format!("{query}{answer}\n");
    }
    (lines, absent)
}

/// Checks what a file of another kind gives, and that the reader in Python agrees.
fn assert_answers(name: &str, absent: usize, answer: impl Fn(&str) -> Option<String>) {
    let (expected, found) = lines_answered(answer);
    assert_eq!(found, absent, "{name}: absent keys that are found");
    match ask_reader(&path_of(name), false, &queries().join("\n")) {
        Ok(lines) => assert_eq!(lines, expected, "{name}"),
        Err(reason) => eprintln!("skipped: docs/reader.py can't be run: {reason}"),
    }
}

#[test]
fn stored_sets_hold_each_key_once_and_are_written_again() {
    for (name, absent) in GOLDEN_SETS {
        let set = CuckooSet::from_bytes(&bytes_of(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(set.to_bytes(), bytes_of(name), "{name}");
        assert_eq!(set.check_invariants(), Ok(()), "{name}");
        assert!((0..60).all(|number| set.contains(&format!("key {number}"))), "{name}");
        assert!((55..=60).contains(&set.len()), "{name}: {} of 60, some of which may look the same", set.len());
        assert_answers(name, absent, |query| set.contains(query).then(String::new));
    }
}

#[test]
fn stored_growing_filters_hold_each_key_and_grow_on() {
    for (name, half_doublings, absent) in GOLDEN_GROWING {
        let bytes = bytes_of(name);
        let mut filter = CuckooFilter::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(filter.to_bytes(), bytes, "{name}");
        assert_eq!(filter.check_invariants(), Ok(()), "{name}");
        assert_eq!((filter.len(), filter.parameters().half_doublings()), (60, half_doublings), "{name}");
        assert!((0..60).all(|number| filter.contains(&format!("key {number}"))), "{name}");
        assert_answers(name, absent, |query| filter.contains(query).then(String::new));
        if filter.reserve(500).is_ok() {
            assert!(filter.parameters().half_doublings() > half_doublings, "{name}");
            assert!((0..60).all(|number| filter.contains(&format!("key {number}"))), "{name}, grown on");
        }
    }
}

#[test]
fn stored_counting_filters_count_each_key_and_are_written_again() {
    for (name, absent) in GOLDEN_COUNTING {
        let filter =
            CountingCuckooFilter::from_bytes(&bytes_of(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(filter.to_bytes(), bytes_of(name), "{name}");
        assert_eq!(filter.check_invariants(), Ok(()), "{name}");
        assert!((0..60).all(|number| filter.count(&format!("key {number}")) > number % 7), "{name}");
        assert_eq!(filter.total(), (0..60).map(|number| number % 7 + 1).sum::<u64>(), "{name}");
        let count = |query: &str| Some(filter.count(query)).filter(|&count| count > 0);
        assert_answers(name, absent, |query| count(query).map(|count| format!("\t{count}")));
    }
}

#[test]
fn stored_maps_give_each_key_its_value_and_are_written_again() {
    for (name, absent) in GOLDEN_MAPS {
        let map = CuckooMap::<u32>::from_bytes(&bytes_of(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(map.to_bytes(), bytes_of(name), "{name}");
        assert_eq!(map.check_invariants(), Ok(()), "{name}");
        assert_eq!(map.len(), 60, "{name}");
        let value_of = |number: u32| (number + 1).wrapping_mul(0x9e37_79b9) >> (32 - map.parameters().value_bits());
        for number in 0..60 {
            let mut values = map.get_all(&format!("key {number}"));
            assert!(values.any(|value| value == value_of(number)), "{name}: the value of key {number}");
        }
        assert_answers(name, absent, |query| {
            let mut values: Vec<u32> = map.get_all(query).collect();
            values.sort_unstable();
            let values: Vec<String> = values.iter().map(u32::to_string).collect();
            (!values.is_empty()).then(|| format!("\t{}", values.join(" ")))
        });
    }
}

#[test]
fn stored_journals_are_part_of_the_filter_and_are_made_in_the_table_when_it_is_written() {
    for (name, without, absent) in GOLDEN_JOURNALS {
        let bytes = bytes_of(name);
        let mut expected = CuckooFilter::from_bytes(&bytes_of(without)).expect("a stored file");
        assert!((0..5).all(|number| expected.remove(&format!("key {number}"))), "{name}");
        for key in ["key 0", "key 1", "key 1"] {
            expected.insert(key).expect("it has room");
        }
        (0..8).for_each(|number| expected.insert(&format!("absent {number}")).expect("it has room"));
        let filter = CuckooFilter::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(filter.to_bytes(), expected.to_bytes(), "{name}");
        let view = CuckooFilterView::new(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((view.len(), view.count("key 1"), view.count("key 2")), (66, 2, 0), "{name}");
        assert_answers(name, absent, |query| filter.contains(query).then(String::new));
        assert_answers(name, absent, |query| view.contains(query).then(String::new));
    }
}

#[test]
fn stored_keys_that_expire_are_found_for_a_lifetime_and_are_written_again() {
    for (name, [lifetime, time], living, absent) in GOLDEN_EXPIRING {
        let mut filter =
            ExpiringCuckooFilter::from_bytes(&bytes_of(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(filter.to_bytes(), bytes_of(name), "{name}");
        assert_eq!(filter.check_invariants(), Ok(()), "{name}");
        assert_eq!((filter.lifetime(), filter.time()), (lifetime, time), "{name}");
        assert!((60 - living..60).all(|number| filter.contains(&format!("key {number}"))), "{name}");
        assert_answers(name, absent, |query| filter.contains(query).then(String::new));
        // It goes on from there: all keys but those of the last two resolutions are dead soon.
        assert_eq!(filter.advance(time + lifetime - 20), Ok(true), "{name}");
        assert!((58..60).all(|number| filter.contains(&format!("key {number}"))), "{name}");
        assert!(filter.len() <= 4, "{name}: {}", filter.len());
    }
}

/// What `docs/reader.py` says of some lines, or why it can't be asked.
fn ask_reader(path: &Path, has_secret: bool, lines: &str) -> Result<String, String> {
    let answer = run_reader(path, has_secret, lines)?;
    Ok(answer.unwrap_or_else(|complaint| panic!("{}: {complaint}", path.display())))
}

/// The same, or why it refuses the file.
fn run_reader(path: &Path, has_secret: bool, lines: &str) -> Result<Result<String, String>, String> {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reader.py");
    if !reader.exists() {
        return Err("it is not in the package".to_owned());
    }
    let mut command = Command::new("python3");
    command.arg(reader).arg(path);
    if has_secret {
        command.arg("000102030405060708090a0b0c0d0e0f");
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("python3: {error}"))?;
    let mut input = child.stdin.take().expect("it was piped");
    let lines = lines.to_owned();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if complaint.contains("No module named") {
        return Err(complaint.lines().last().unwrap_or_default().to_owned());
    }
    let written = writer.join().expect("no panic");
    if !output.status.success() {
        assert!(!complaint.contains("Traceback"), "{}: {complaint}", path.display());
        return Ok(Err(complaint));
    }
    written.expect("the reader reads all lines");
    Ok(Ok(String::from_utf8(output.stdout).expect("lines are UTF-8")))
}

/// What the library says of a file, in all ways in which it reads one, and `docs/reader.py`, which must agree.
fn read_in_all_ways(what: &str, bytes: &[u8]) -> Result<(), LoadError> {
    let loaded = CuckooFilter::from_bytes(bytes).map(drop);
    let is_ok = loaded.is_ok();
    assert_eq!(CuckooFilter::read_from(bytes).is_ok(), is_ok, "{what}: read_from, {loaded:?}");
    assert_eq!(CuckooFilterView::new(bytes).and_then(|view| view.verify()).is_ok(), is_ok, "{what}: view, {loaded:?}");
    let header = FileHeader::from_bytes(bytes);
    let verified = header.as_ref().map(|header| header.verify(bytes, None));
    assert_eq!(matches!(verified, Ok(Ok(()))), is_ok, "{what}: header, {loaded:?}");
    let arrived = header.and_then(|header| {
        let mut arriving = Arriving::new(&header, None)?;
        bytes[HEADER_LEN..].chunks(7).try_for_each(|piece| arriving.take(piece))?;
        arriving.finish()
    });
    assert_eq!(arrived.is_ok(), is_ok, "{what}: arriving, {loaded:?}");
    let mut file = tempfile::NamedTempFile::new().expect("there is room for a file");
    file.write_all(bytes).expect("there is room for it");
    match run_reader(file.path(), false, "") {
        Ok(read) => assert_eq!(read.is_ok(), is_ok, "{what}: docs/reader.py says {read:?}, and the library {loaded:?}"),
        Err(reason) => eprintln!("skipped: docs/reader.py can't be run: {reason}"),
    }
    loaded
}

/// Where bytes are changed, and to what.
type Change<'bytes> = (usize, &'bytes [u8]);

/// A file with some bytes of its header changed, and checksums that match.
fn changed(file: &[u8], changes: &[Change<'_>]) -> Vec<u8> {
    let mut changed = file.to_vec();
    for &(at, bytes) in changes {
        changed[at..at + bytes.len()].copy_from_slice(bytes);
    }
    fix_checksums(&mut changed);
    changed
}

const KIND_AT: usize = 10;
const ADDRESSING_AT: usize = 12;
const SLOTS_PER_BUCKET_AT: usize = 14;
const FINGERPRINT_BITS_AT: usize = 15;
const REGIONS_AT: usize = 16;
const BUCKETS_AT: usize = 24;
const LEN_AT: usize = 40;
const TABLE_SIZE_AT: usize = 56;
const DOUBLINGS_AT: usize = 65;
const GROWTH_AT: usize = 66;
const PROMISED_AT: usize = 67;
const MAX_CAPACITY_AT: usize = 72;
const MARK_AT: usize = 96;
const WAITING_AT: usize = 104;

#[test]
fn headers_of_half_doubled_tables_that_contradict_themselves_are_refused_by_all_readers() {
    // 18 buckets of 4 slots of 12 bits, with g = 1: 3 pairs of an even and an odd offset have 3 · 2 buckets each.
    let file = bytes_of("growing-4-f12-half-doubled-3");
    read_in_all_ways("unchanged", &file).expect("a stored file");
    for mark in [2, 3, 1 << 32, 1 << 63, u64::MAX] {
        let error = read_in_all_ways("mark", &changed(&file, &[(MARK_AT, &mark.to_le_bytes())])).expect_err("unknown");
        let is_named = matches!(error, LoadError::Unknown { what: "state of a doubling", found } if found == mark);
        assert!(is_named, "mark {mark}: {error:?}");
    }
    // The same table in a filter that does not grow is one.
    let fixed: &[Change<'_>] = &[(KIND_AT, &[1]), (GROWTH_AT, &[0, 0]), (MAX_CAPACITY_AT, &[0; 8])];
    read_in_all_ways("fixed", &changed(&file, fixed)).expect("of kind 1");
    // The bytes of all slots.
    const NOTHING: Change<'_> = (HEADER_LEN, &[0; 18 * 4 * 12 / 8]);
    read_in_all_ways("empty", &changed(&file, &[(LEN_AT, &[0]), NOTHING])).expect("without keys");
    let with = |changes: &[Change<'static>]| [fixed, changes].concat();
    let refused: [(&str, Vec<Change<'_>>); 12] = [
        ("settled", vec![(MARK_AT, &[0])]),
        ("regional", with(&[(ADDRESSING_AT, &[1])])),
        ("regional and empty", with(&[(ADDRESSING_AT, &[1]), (DOUBLINGS_AT, &[0]), (LEN_AT, &[0]), NOTHING])),
        ("ternary", with(&[(ADDRESSING_AT, &[3]), (DOUBLINGS_AT, &[0]), (REGIONS_AT, &[2]), (BUCKETS_AT, &[9])])),
        ("power of two", with(&[(ADDRESSING_AT, &[2]), (DOUBLINGS_AT, &[0]), (BUCKETS_AT, &[16])])),
        ("g = 2", vec![(DOUBLINGS_AT, &[2])]),
        ("g = 255", vec![(DOUBLINGS_AT, &[255])]),
        ("s = 16", vec![(BUCKETS_AT, &[16])]),
        ("as many slots in buckets of 2", vec![(SLOTS_PER_BUCKET_AT, &[2]), (BUCKETS_AT, &[36])]),
        ("in buckets of 1, and fixed", with(&[(SLOTS_PER_BUCKET_AT, &[1]), (BUCKETS_AT, &[72])])),
        ("two regions of 9", with(&[(REGIONS_AT, &[2]), (BUCKETS_AT, &[9])])),
        ("only one doubling", vec![(PROMISED_AT, &[1]), (MAX_CAPACITY_AT, &[40])]),
    ];
    for (what, changes) in refused {
        let error = read_in_all_ways(what, &changed(&file, &changes)).expect_err(what);
        assert!(matches!(error, LoadError::Parameters(_)), "{what}: {error:?}");
    }
    // No more keys than slots after all promised doublings. At first there were 6 buckets.
    let with_capacity = |keys: u64| changed(&file, &[(MAX_CAPACITY_AT, &keys.to_le_bytes())]);
    let most = (6 * 4_u64) << file[PROMISED_AT];
    read_in_all_ways("largest capacity", &with_capacity(most)).expect("as many as slots");
    read_in_all_ways("too large a capacity", &with_capacity(most + 1)).expect_err("more than slots");
}

#[test]
fn buckets_that_wait_where_none_can_are_refused_by_all_readers() {
    let with_waiting = |file: &[u8], waiting: u64| changed(file, &[(WAITING_AT, &waiting.to_le_bytes())]);
    for (name, most) in [
        ("packed-4-doubling-f9", 0),
        ("growing-4-f13-doubled-3", 8),
        ("growing-4-f12-half-doubled-3", 12),
        ("growing-4-f14-half-doubled-1-waiting", 28),
        ("growing-8-f12-doubled-1-waiting", 14),
    ] {
        let file = bytes_of(name);
        for waiting in [most + 1, 1 << 32, u64::MAX] {
            let error = read_in_all_ways(name, &with_waiting(&file, waiting)).expect_err("too many");
            assert!(matches!(error, LoadError::Inconsistent { .. }), "{name}, {waiting}: {error:?}");
        }
        read_in_all_ways(name, &with_waiting(&file, 0)).expect("the table is that of the finished half");
    }
}

/// One is added to the last bucket that waits which becomes two, in a slot of one half that is filled in the other.
#[test]
fn two_fingerprints_from_one_slot_of_a_bucket_that_waits_are_refused_by_all_readers() {
    for (name, bits, [one, other]) in [
        // The halves of an odd bucket of the first pair, and those of an even one, of which the next buckets are.
        ("growing-4-f14-half-doubled-1-waiting", 14, [1, 2]),
        ("growing-8-f12-doubled-1-waiting", 12, [0, 1]),
    ] {
        let mut file = bytes_of(name);
        let slots_per_bucket = usize::from(file[SLOTS_PER_BUCKET_AT]);
        let bit_of = |bucket: usize, slot: usize| HEADER_LEN * 8 + (bucket * slots_per_bucket + slot) * bits;
        let content = |file: &[u8], at: usize| {
            (0..bits).fold(0_u64, |sum, bit| sum | u64::from(file[(at + bit) / 8] >> ((at + bit) % 8) & 1) << bit)
        };
        let (from, to) = (0..slots_per_bucket)
            .flat_map(|slot| [(bit_of(one, slot), bit_of(other, slot)), (bit_of(other, slot), bit_of(one, slot))])
            .find(|&(from, to)| content(&file, from) != 0 && content(&file, to) == 0)
            .expect("the bucket was not empty");
        let is_half_doubled = file[MARK_AT] == 1;
        // The topmost bit says which of two odd buckets a fingerprint is in, as long as it is stored.
        let added = content(&file, from) ^ u64::from(is_half_doubled) << (bits - 1);
        (0..bits).filter(|bit| added >> bit & 1 == 1).for_each(|bit| file[(to + bit) / 8] |= 1 << ((to + bit) % 8));
        file[LEN_AT] += 1;
        fix_checksums(&mut file);
        let error = read_in_all_ways(name, &file).expect_err("two of one slot");
        assert!(matches!(error, LoadError::Inconsistent { .. }), "{name}: {error:?}");
        read_in_all_ways(name, &changed(&file, &[(WAITING_AT, &[0; 8])])).expect("a filter");
    }
}

/// What is left of the fingerprint must have the bit that says in which half it is.
#[test]
fn half_doubled_tables_with_8_bits_are_refused_by_all_readers() {
    let file = bytes_of("growing-4-f9-half-doubled-1");
    let slots = 18 * 4;
    for (bits, is_possible) in [(8_u8, false), (9, true), (10, true)] {
        let size = ((slots * usize::from(bits)).div_ceil(8) + 15).next_multiple_of(8);
        let empty = [&file[..HEADER_LEN], &vec![0; size]].concat();
        let changes: &[Change<'_>] = &[
            (KIND_AT, &[1]),
            (FINGERPRINT_BITS_AT, &[bits]),
            (LEN_AT, &[0; 8]),
            (TABLE_SIZE_AT, &(size as u64).to_le_bytes()),
            (GROWTH_AT, &[0, 0]),
            (MAX_CAPACITY_AT, &[0; 8]),
        ];
        let read = read_in_all_ways("empty", &changed(&empty, changes));
        match read {
            Ok(()) => assert!(is_possible, "f = {bits}"),
            Err(error) => assert!(!is_possible && matches!(error, LoadError::Parameters(_)), "f = {bits}: {error:?}"),
        }
    }
}

#[test]
fn a_fingerprint_in_the_wrong_half_is_refused_by_all_readers() {
    for (name, bits, g) in [
        ("growing-4-f12-half-doubled-3", 12, 1),
        ("growing-4-f9-half-doubled-1", 9, 0),
        ("growing-8-f35-half-doubled-1", 35, 0),
    ] {
        let file = bytes_of(name);
        let slots_per_bucket = usize::from(file[SLOTS_PER_BUCKET_AT]);
        let slots = usize::from(file[BUCKETS_AT]) * slots_per_bucket;
        let is_filled = |slot: usize| {
            let is_set = |bit: usize| file[HEADER_LEN + bit / 8] >> (bit % 8) & 1 == 1;
            (slot * bits..slot * bits + 8).any(is_set)
        };
        let (mut refused, mut taken) = (0, 0);
        // Every second one: each is read by Python, too.
        for slot in (0..slots).filter(|&slot| is_filled(slot)).step_by(2) {
            let mut changed = file.clone();
            let at = slot * bits + bits - 1;
            changed[HEADER_LEN + at / 8] ^= 1 << (at % 8);
            fix_checksums(&mut changed);
            let is_odd = slot / slots_per_bucket % (3 << g) >= 1 << g;
            match read_in_all_ways(name, &changed) {
                Ok(()) => {
                    assert!(!is_odd, "{name}: slot {slot} was taken");
                    taken += 1;
                }
                Err(error) => {
                    assert!(
                        is_odd && matches!(error, LoadError::Inconsistent { .. }),
                        "{name}: slot {slot}: {error:?}"
                    );
                    refused += 1;
                }
            }
        }
        assert_eq!(refused + taken, 30, "{name}");
        assert!(refused > 5 && taken > 5, "{name}: {refused} refused, {taken} taken");
    }
}

#[test]
fn a_reader_written_from_the_document_alone_gives_the_same_answers() {
    for golden in &GOLDEN {
        let queries = queries();
        let lines: String = queries.iter().map(|query| format!("{query}\n")).collect();
        let found = match ask_reader(&golden.path(), golden.has_secret(), &lines) {
            Ok(found) => found,
            Err(reason) => {
                eprintln!("skipped: docs/reader.py can't be run: {reason}");
                return;
            }
        };
        let filter = golden.load();
        let expected: String =
            queries.iter().filter(|query| filter.contains(*query)).map(|query| format!("{query}\n")).collect();
        assert_eq!(found, expected, "{}", golden.name);
    }
}

/// What the library says of a key of a stored file of any kind, as the reader writes it.
type Answer = Box<dyn Fn(&str) -> Option<String>>;

fn answers_of(bytes: &[u8], has_secret: bool) -> Answer {
    let there = |is_there: bool| is_there.then(String::new);
    let kind = FileHeader::from_bytes(bytes).expect("a stored file").kind();
    match kind {
        FileKind::Counting => {
            let filter = CountingCuckooFilter::from_bytes(bytes).expect("a stored file");
            Box::new(move |query| {
                Some(filter.count(query)).filter(|&count| count > 0).map(|count| format!("\t{count}"))
            })
        }
        FileKind::Map => {
            let map = CuckooMap::<u32>::from_bytes(bytes).expect("a stored file");
            Box::new(move |query| {
                let mut values: Vec<u32> = map.get_all(query).collect();
                values.sort_unstable();
                let values: Vec<String> = values.iter().map(u32::to_string).collect();
                (!values.is_empty()).then(|| format!("\t{}", values.join(" ")))
            })
        }
        FileKind::Expiring => {
            let filter = ExpiringCuckooFilter::from_bytes(bytes).expect("a stored file");
            Box::new(move |query| there(filter.contains(query)))
        }
        FileKind::Set => {
            let set = CuckooSet::from_bytes(bytes).expect("a stored file");
            Box::new(move |query| there(set.contains(query)))
        }
        FileKind::Growing => {
            let filter = CuckooFilter::from_bytes(bytes).expect("a stored file");
            Box::new(move |query| there(filter.contains(query)))
        }
        _ => {
            let loaded = if has_secret {
                guira::LoadOptions::new().secret_key(SECRET).from_bytes::<CuckooFilter>(bytes)
            } else {
                CuckooFilter::from_bytes(bytes)
            };
            let filter = loaded.expect("a stored file");
            Box::new(move |query| there(filter.contains(query)))
        }
    }
}

/// Two at a time. `GUIRA_GOLDEN=semi-sorted` compares only the files with that in their names.
#[test]
#[ignore = "takes minutes: a million lookups in Python for every stored file"]
fn a_reader_written_from_the_document_alone_agrees_on_a_million_lookups_of_every_stored_file() {
    let wanted = std::env::var("GUIRA_GOLDEN").unwrap_or_default();
    let folder = GOLDEN[0].path();
    let entries = std::fs::read_dir(folder.parent().expect("it is in a folder")).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.retain(|path| path.file_stem().is_some_and(|name| name.to_string_lossy().contains(&wanted)));
    paths.sort();
    assert!(!paths.is_empty(), "no stored file has {wanted} in its name");
    let queries: Vec<String> =
        (0..60).map(|number| format!("key {number}")).chain((60..1_000_000).map(|number| number.to_string())).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    assert_reader_agrees(path, &queries);
                }
            });
        }
    });
}

fn assert_reader_agrees(path: &Path, queries: &[String]) {
    let name = path.display();
    let has_secret = name.to_string().contains("siphash");
    let answer = answers_of(&std::fs::read(path).expect("readable"), has_secret);
    let expected: Vec<String> = queries.iter().filter_map(|query| Some(format!("{query}{}", answer(query)?))).collect();
    let found = ask_reader(path, has_secret, &queries.join("\n")).expect("docs/reader.py can be run");
    assert!(found.lines().eq(expected.iter().map(String::as_str)), "{name}: they differ");
    println!("{name}: {} of {} found by both", expected.len(), queries.len());
}
