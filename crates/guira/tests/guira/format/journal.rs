//! Changes behind everything that the header counts. The journals are made by hand, as docs/format.md describes them.

use guira::raw::{Change, Journal, RawView as _};
use guira::{
    AnyFilter, ConcurrentCuckooFilter, CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet,
    Digest, FileHeader, InsertError, KeyHasher, Layout, LoadError, LoadOptions,
};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const INSERT: u32 = 1;
const REMOVE: u32 = 2;

/// What stands before the records.
fn start() -> Vec<u8> {
    let start = [&b"JRNL"[..], &3_u32.to_le_bytes(), &u64::MAX.to_le_bytes()].concat();
    [&start[..], &xxh3_64(&start).to_le_bytes()].concat()
}

/// A record with this number.
fn record(number: usize, digest: Digest, change: u32, batch_size: usize) -> Vec<u8> {
    let batch_size = u32::try_from(batch_size).expect("small");
    let checked = [&digest.get().to_le_bytes()[..], &change.to_le_bytes(), &batch_size.to_le_bytes()].concat();
    let checksum = xxh3_64_with_seed(&checked, number as u64);
    [&checked[..], &checksum.to_le_bytes()].concat()
}

/// A journal of batches, and where each of them ends.
pub(super) fn journal(batches: &[Vec<(u32, Digest)>]) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut ends, mut number) = (start(), Vec::new(), 0);
    for batch in batches {
        for (index, &(change, digest)) in batch.iter().enumerate() {
            let batch_size = if index + 1 == batch.len() { batch.len() } else { 0 };
            bytes.extend(record(number, digest, change, batch_size));
            number += 1;
        }
        ends.push(bytes.len());
    }
    (bytes, ends)
}

fn changes(batches: &[Vec<(u32, Digest)>]) -> Vec<Change> {
    let change = |&(change, digest): &(u32, Digest)| match change {
        INSERT => Change::Insert(digest),
        _ => Change::Remove(digest),
    };
    batches.iter().flatten().map(change).collect()
}

pub(super) fn apply(filter: &mut CuckooFilter, batches: &[Vec<(u32, Digest)>]) {
    for &(change, digest) in batches.iter().flatten() {
        match change {
            INSERT => filter.insert(&digest).expect("it has room"),
            _ => assert!(filter.remove(&digest), "it is there"),
        }
    }
}

pub(super) struct Random(pub(super) u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// Filters of all addressings and layouts, nearly as full as was promised, with `key 0` and so on.
pub(super) fn filters() -> Vec<(&'static str, CuckooFilter)> {
    let builder = || CuckooFilter::builder().capacity(600);
    let built = [
        ("regional", builder().false_positive_rate(0.001).build()),
        ("semi-sorted", builder().layout(Layout::SemiSorted).fingerprint_bits(12).build()),
        ("short fingerprints", builder().fingerprint_bits(6).build()),
        ("seed", builder().false_positive_rate(0.01).hasher(KeyHasher::xxh3(7)).build()),
        ("growing", CuckooFilter::builder().capacity(100).max_capacity(800).false_positive_rate(0.001).build()),
    ];
    let mut filters: Vec<_> = built.map(|(name, built)| (name, built.expect("possible"))).into();
    for file in ["packed-4-power-of-two-f7", "packed-1-ternary-f11", "packed-2-quaternary-f10", "packed-4-doubling-f9"]
    {
        let path = format!("{}/tests/golden/v1/{file}.guira", env!("CARGO_MANIFEST_DIR"));
        let mut filter = CuckooFilter::open(path).expect("a golden file");
        filter.clear();
        filters.push((file, filter));
    }
    for (_, filter) in &mut filters {
        let keys = 500.min(filter.max_capacity() * 9 / 10);
        (0..keys).for_each(|key| filter.insert(&format!("key {key}")).expect("it has room"));
    }
    filters
}

/// Changes that a filter takes: insertions of new keys and of some that are there, and removals.
pub(super) fn some_changes(filter: &CuckooFilter, random: &mut Random) -> Vec<Vec<(u32, Digest)>> {
    let mut model = filter.clone();
    let digest = |key: u64| filter.hasher().digest(&format!("key {key}"));
    let mut present: Vec<u64> = (0..filter.len() as u64).collect();
    let mut batches = Vec::new();
    for _ in 0..12 {
        let mut batch = Vec::new();
        for _ in 0..=random.below(4) {
            if random.below(3) == 0 {
                let at = usize::try_from(random.below(present.len() as u64)).expect("small");
                let digest = digest(present.swap_remove(at));
                assert!(model.remove(&digest));
                batch.push((REMOVE, digest));
            } else {
                let key = random.below(700);
                if model.insert(&digest(key)).is_ok() {
                    present.push(key);
                    batch.push((INSERT, digest(key)));
                }
            }
        }
        if !batch.is_empty() {
            batches.push(batch);
        }
    }
    batches
}

/// What a view answers, and what the filter does.
pub(super) fn assert_answers_alike(view: &CuckooFilterView<'_>, filter: &CuckooFilter, what: &str) {
    let keys: Vec<String> = (0..2000).map(|key| format!("key {key}")).collect();
    assert_eq!(view.contains_many(&keys), filter.contains_many(&keys), "{what}");
    for key in &keys {
        assert_eq!((view.count(key), view.contains(key)), (filter.count(key), filter.contains(key)), "{what}: {key}");
    }
    assert_eq!((view.len(), view.is_empty()), (filter.len(), filter.is_empty()), "{what}");
}

#[test]
fn a_file_with_a_journal_is_the_filter_with_its_changes() {
    let mut random = Random(1);
    for (what, filter) in filters() {
        for _ in 0..20 {
            let file = filter.to_bytes();
            let batches = some_changes(&filter, &mut random);
            let with_journal = [&file[..], &journal(&batches).0].concat();
            let mut expected = filter.clone();
            apply(&mut expected, &batches);

            let loaded = CuckooFilter::from_bytes(&with_journal).expect("whole");
            assert_eq!(loaded.to_bytes(), expected.to_bytes(), "{what}");
            assert_eq!(loaded.check_invariants(), Ok(()), "{what}");
            assert_eq!(CuckooFilter::read_from(&with_journal[..]).expect("whole"), expected, "{what}");
            assert!(
                matches!(AnyFilter::from_bytes(&with_journal), Ok(AnyFilter::Filter(loaded)) if loaded == expected)
            );
            if filter.parameters().layout() == Layout::Packed {
                let shared = ConcurrentCuckooFilter::from_bytes(&with_journal).expect("whole");
                assert_eq!(shared.to_bytes(), expected.to_bytes(), "{what}");
            }

            let view = CuckooFilterView::new(&with_journal).expect("whole");
            assert_answers_alike(&view, &expected, what);
            assert_answers_alike(&CuckooFilterView::from_owner(with_journal.clone()).expect("whole"), &expected, what);
            view.verify().expect("whole");
            FileHeader::from_bytes(&with_journal).expect("whole").verify(&with_journal, None).expect("whole");
            let mut pushed = CuckooFilterView::new(&file).expect("whole");
            changes(&batches).into_iter().for_each(|change| pushed.push(change));
            assert_answers_alike(&pushed, &expected, what);
        }
    }
}

#[test]
fn what_is_written_is_what_the_format_says() {
    let (_, filter) = filters().swap_remove(0);
    let file = filter.to_bytes();
    let header = FileHeader::from_bytes(&file).expect("whole");
    let batches = some_changes(&filter, &mut Random(5));
    let mut written = Vec::new();
    for batch in &batches {
        let journal = Journal::read(&header, &written).expect("whole");
        assert_eq!(journal.start().is_empty(), !written.is_empty());
        written.extend(journal.start());
        written.extend(journal.batch(&changes(std::slice::from_ref(batch))));
    }
    assert_eq!(written, journal(&batches).0);
    assert_eq!(Journal::read(&header, &written).expect("whole").changes(), changes(&batches));
}

/// The number of whole batches within so many bytes.
fn whole_batches(ends: &[usize], len: usize) -> usize {
    ends.iter().filter(|&&end| end <= len).count()
}

#[test]
fn a_journal_that_was_cut_off_has_the_batches_before() {
    for (what, filter) in filters().into_iter().take(2) {
        let file = filter.to_bytes();
        let header = FileHeader::from_bytes(&file).expect("whole");
        let batches = some_changes(&filter, &mut Random(2));
        let (bytes, ends) = journal(&batches);
        for len in 0..=bytes.len() {
            let cut_off = [&file[..], &bytes[..len]].concat();
            let count = whole_batches(&ends, len);
            let mut expected = filter.clone();
            apply(&mut expected, &batches[..count]);
            assert_eq!(CuckooFilter::from_bytes(&cut_off).expect("it opens"), expected, "{what}: {len} bytes");
            assert_eq!(CuckooFilterView::new(&cut_off).expect("it opens").len(), expected.len(), "{what}: {len} bytes");
            let journal = Journal::read(&header, &bytes[..len]).expect("it opens");
            let is_whole = len == 0 || len == start().len() || ends.contains(&len);
            assert_eq!(journal.is_cut_off(), !is_whole, "{what}: {len} bytes");
        }
    }
}

/// Where the power fails, the length of a file may be on disk before its bytes, and those of one sector before another's.
#[test]
fn a_last_batch_of_which_a_part_is_missing_does_not_count() {
    let (_, filter) = filters().swap_remove(0);
    let file = filter.to_bytes();
    let digest = |key: u32| filter.hasher().digest(&format!("new {key}"));
    let batches = [vec![(INSERT, digest(0))], (1..40).map(|key| (INSERT, digest(key))).collect()];
    let (bytes, ends) = journal(&batches);
    let mut expected = filter.clone();
    apply(&mut expected, &batches[..1]);
    for first in (ends[0]..ends[1]).step_by(7) {
        for last in [first + 1, (first + 100).min(ends[1]), ends[1]] {
            let mut torn = [&file[..], &bytes].concat();
            torn[file.len() + first..file.len() + last].fill(0);
            if torn[file.len()..] == bytes {
                continue;
            }
            assert_eq!(CuckooFilter::from_bytes(&torn).expect("it opens"), expected, "{first} to {last}");
        }
    }
    for missing in 0..=start().len() {
        for kept in 0..=start().len() - missing {
            let mut torn = [&file[..], &start()].concat();
            torn[file.len() + kept..file.len() + kept + missing].fill(0);
            assert_eq!(CuckooFilter::from_bytes(&torn).expect("it opens"), filter, "{missing} from {kept}");
        }
    }
}

#[test]
fn a_flipped_bit_is_damage_unless_it_is_in_the_last_batch() {
    let (_, filter) = filters().swap_remove(0);
    let file = filter.to_bytes();
    let batches = some_changes(&filter, &mut Random(4));
    let (bytes, ends) = journal(&batches);
    let last = ends[ends.len() - 2];
    let mut without_last = filter.clone();
    apply(&mut without_last, &batches[..batches.len() - 1]);
    for bit in 0..bytes.len() * 8 {
        let mut damaged = [&file[..], &bytes].concat();
        damaged[file.len() + bit / 8] ^= 1 << (bit % 8);
        let viewed = CuckooFilterView::new(&damaged).map(|view| view.len());
        match CuckooFilter::from_bytes(&damaged) {
            Ok(loaded) => {
                assert!(bit / 8 >= last, "bit {bit} is not noticed");
                assert_eq!(loaded, without_last, "bit {bit}");
                assert_eq!(viewed.expect("it was loaded"), loaded.len());
            }
            Err(LoadError::ChunkChecksum { tag }) => {
                assert!(bit / 8 < last && tag == *b"JRNL", "bit {bit}");
                assert!(viewed.is_err());
            }
            Err(LoadError::TrailingBytes { expected }) => {
                assert!(bit / 8 < start().len() && expected == file.len() as u64, "bit {bit}");
                assert!(viewed.is_err());
            }
            Err(error) => panic!("bit {bit}: {error}"),
        }
    }
}

#[test]
fn records_that_were_moved_or_left_out_are_damage() {
    let (_, filter) = filters().swap_remove(0);
    let file = filter.to_bytes();
    let digest = |key: u32| filter.hasher().digest(&format!("new {key}"));
    let batches: Vec<_> = (0..4).map(|key| vec![(INSERT, digest(key))]).collect();
    let (bytes, ends) = journal(&batches);
    let [first, second, third] = [&bytes[start().len()..ends[0]], &bytes[ends[0]..ends[1]], &bytes[ends[1]..ends[2]]];
    for moved in [[second, first, third], [third, second, third], [first, first, third]] {
        let damaged = [&file[..], &start(), &moved.concat()].concat();
        let error = CuckooFilter::from_bytes(&damaged).expect_err("moved");
        assert!(matches!(error, LoadError::ChunkChecksum { tag } if tag == *b"JRNL"), "{error}");
    }
    // Two records, of which the second says that it is a batch of its own.
    let of_no_batch = [record(0, digest(0), INSERT, 0), record(1, digest(1), INSERT, 1)].concat();
    let error = CuckooFilter::from_bytes(&[&file[..], &start(), &of_no_batch].concat()).expect_err("of no batch");
    assert!(matches!(error, LoadError::Inconsistent { .. }), "{error}");
}

#[test]
fn a_change_of_a_later_release_is_refused() {
    let (_, filter) = filters().swap_remove(0);
    for change in [0, 3, u32::MAX] {
        let bytes = [filter.to_bytes(), start(), record(0, Digest::new(1), change, 1)].concat();
        let error = CuckooFilter::from_bytes(&bytes).expect_err("unknown");
        assert!(matches!(error, LoadError::Unknown { found, .. } if found == u64::from(change)), "{error}");
        assert!(CuckooFilterView::new(&bytes).is_err());
    }
}

#[test]
fn what_is_removed_must_be_there() {
    let (_, filter) = filters().swap_remove(0);
    let digest = filter.hasher().digest("never inserted");
    assert_eq!(filter.count(&digest), 0);
    for batches in [
        vec![vec![(REMOVE, digest)]],
        // It is inserted too late.
        vec![vec![(REMOVE, digest), (INSERT, digest)]],
        vec![vec![(INSERT, digest)], vec![(REMOVE, digest), (REMOVE, digest), (INSERT, digest)]],
    ] {
        let bytes = [filter.to_bytes(), journal(&batches).0].concat();
        let is_removal = |error: LoadError| error.to_string().contains("removes a key that is not there");
        assert!(CuckooFilter::from_bytes(&bytes).is_err_and(is_removal));
        let view = CuckooFilterView::new(&bytes).expect("its journal is whole");
        assert!(view.verify().is_err_and(is_removal));
        assert!(FileHeader::from_bytes(&bytes).and_then(|header| header.verify(&bytes, None)).is_err_and(is_removal));
    }
}

/// Whoever appends counts keys against the capacity, so that this is as rare as a key that does not fit otherwise.
#[test]
fn keys_that_do_not_fit_are_refused_and_not_lost() {
    let mut filter = CuckooFilter::with_capacity(100, 0.01).expect("possible");
    (0..100u64).for_each(|key| filter.insert(&key).expect("it has room"));
    let keys: Vec<u64> = (100..1000).collect();
    let batches: Vec<_> = keys.iter().map(|key| vec![(INSERT, filter.hasher().digest(key))]).collect();
    let bytes = [filter.to_bytes(), journal(&batches).0].concat();
    let error = CuckooFilter::from_bytes(&bytes).expect_err("full");
    assert!(matches!(error, LoadError::JournalDoesNotFit { reason: InsertError::Full { .. } }), "{error}");
    let view = CuckooFilterView::new(&bytes).expect("it is answered from");
    assert!((0..1000u64).all(|key| view.contains(&key)));
    // One that grows takes them.
    let mut growing =
        CuckooFilter::builder().capacity(100).max_capacity(2000).false_positive_rate(0.01).build().expect("possible");
    let bytes = [growing.to_bytes(), journal(&batches).0].concat();
    let loaded = CuckooFilter::from_bytes(&bytes).expect("it grows");
    apply(&mut growing, &batches);
    assert_eq!(loaded.to_bytes(), growing.to_bytes());
}

#[test]
fn only_filters_have_journals_and_only_short_ones() {
    let digest = Digest::new(1);
    let (bytes, _) = journal(&[vec![(INSERT, digest)]]);
    let set = CuckooSet::with_capacity(10, 0.01).expect("possible").to_bytes();
    let counting = CountingCuckooFilter::with_capacity(10, 0.01).expect("possible").to_bytes();
    let map = CuckooMap::<u8>::with_capacity(10, 0.01).expect("possible").to_bytes();
    for file in [set, counting, map] {
        let with_journal = [&file[..], &bytes].concat();
        let error = AnyFilter::from_bytes(&with_journal).expect_err("no such journal");
        assert!(matches!(error, LoadError::TrailingBytes { expected } if expected == file.len() as u64), "{error}");
        assert!(AnyFilter::read_from(&with_journal[..]).is_err());
    }
    let file = CuckooFilter::with_capacity(10, 0.01).expect("possible").to_bytes();
    let header = FileHeader::from_bytes(&file).expect("whole");
    let room = usize::try_from(Journal::max_size(&header)).expect("small") - bytes.len();
    // What was not written to its end may be anything, within limits.
    for (more, is_read) in [(room, true), (room + 1, false), (room + (1 << 20), false)] {
        let longer = [&file[..], &bytes, &vec![0; more]].concat();
        assert_eq!(CuckooFilter::from_bytes(&longer).is_ok(), is_read, "{more}");
        assert_eq!(CuckooFilter::read_from(&longer[..]).is_ok(), is_read, "{more}");
    }
}

#[test]
fn a_journal_is_read_with_a_secret_key_and_with_other_chunks() {
    let key = *b"sixteen bytes...";
    let hasher = KeyHasher::sip_hash_13(key);
    let mut filter =
        CuckooFilter::builder().capacity(100).false_positive_rate(1e-6).hasher(hasher).build().expect("possible");
    filter.insert("ani").expect("room");
    let batches = [vec![(INSERT, hasher.digest("koel")), (REMOVE, hasher.digest("ani"))]];
    let bytes = [filter.to_bytes(), journal(&batches).0].concat();
    let options = || LoadOptions::new().secret_key(key);
    let loaded: CuckooFilter = options().from_bytes(&bytes).expect("the right key");
    assert!(loaded.contains("koel") && !loaded.contains("ani"));
    let view = options().view(&bytes).expect("the right key");
    assert!(view.contains("koel") && !view.contains("ani"));
    let header = FileHeader::from_bytes(&bytes).expect("whole");
    header.verify(&bytes, Some(key)).expect("whole");
    header.verify(&bytes, None).expect("whole");
    assert!(CuckooFilter::from_bytes(&bytes).is_err());
}
