//! Views of files: that they answer as what was loaded does, and that no table makes them do worse than answer wrongly.

use guira::{
    Addressing, CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet, FileKind, KeyHasher,
    Layout, LoadError,
};

use super::files::table_bits;
use crate::oracle::allocation::peak_of;
use crate::oracle::checksums::{HEADER_LEN, fix_checksums};
use crate::oracle::random::SplitMix64;
use crate::oracle::shapes::{Shape, all_shapes};

const KIND_AT: usize = 10;
const LEN_AT: usize = 40;
const SECRET: [u8; 16] = *b"0123456789abcdef";

fn build(shape: Shape, bucket_count: u64, fingerprint_bits: u32) -> CuckooFilter {
    let builder = CuckooFilter::builder().bucket_count(bucket_count).fingerprint_bits(fingerprint_bits);
    let builder = builder.layout(shape.layout).addressing(shape.addressing);
    let filter = builder.slots_per_bucket(shape.slots_per_bucket).hasher(KeyHasher::xxh3(bucket_count << 8)).build();
    filter.unwrap_or_else(|error| panic!("{shape:?}, f = {fingerprint_bits}: {error}"))
}

/// A table of every shape and every width, and of at least so many buckets.
fn filters_of_every_shape(bucket_count: u64) -> impl Iterator<Item = CuckooFilter> {
    all_shapes().into_iter().flat_map(move |shape| {
        let bucket_count = match shape.addressing {
            Addressing::PowerOfTwo => bucket_count.next_power_of_two(),
            Addressing::Ternary => 3u64.pow(bucket_count.ilog(3) + 1),
            Addressing::Quaternary => 4u64.pow(bucket_count.ilog(4) + 1),
            _ => bucket_count.next_multiple_of(2),
        };
        shape.fingerprint_lengths().map(move |bits| build(shape, bucket_count, bits))
    })
}

/// Inserts keys and copies of keys until one is refused, or until there are so many.
fn fill(filter: &mut CuckooFilter, most: u64) {
    for key in 0..most {
        if filter.insert(&(key / 8 * 5 + key % 5)).is_err() {
            break;
        }
    }
}

/// Every question, to the view and to what was loaded from the same file.
fn assert_answers_alike(view: &CuckooFilterView<'_>, filter: &CuckooFilter, keys: &[u64]) {
    assert_eq!((view.len(), view.is_empty()), (filter.len(), filter.is_empty()), "{filter:?}");
    assert_eq!((view.parameters(), view.hasher()), (filter.parameters(), filter.hasher()), "{filter:?}");
    for key in keys {
        let digest = filter.hasher().digest(key);
        assert_eq!(view.contains(key), filter.contains(key), "{filter:?}: {key}");
        assert_eq!(view.contains(&digest), filter.contains(key), "{filter:?}: {key}");
        assert_eq!(view.count(key), filter.count(key), "{filter:?}: {key}");
        assert_eq!(view.count(&digest), filter.count(key), "{filter:?}: {key}");
    }
    let digests: Vec<_> = keys.iter().map(|key| filter.hasher().digest(key)).collect();
    let expected: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
    let mut answers = vec![false; keys.len()];
    view.contains_many_into(keys, &mut answers);
    assert_eq!(answers, expected, "{filter:?}");
    answers.fill(false);
    view.contains_many_into(&digests, &mut answers);
    assert_eq!(answers, expected, "{filter:?}");
}

#[test]
fn a_view_answers_as_the_loaded_filter_does() {
    let keys: Vec<u64> = (0..120).collect();
    for mut filter in filters_of_every_shape(12) {
        fill(&mut filter, 60);
        assert!(filter.len() > 2, "{filter:?}");
        let file = filter.to_bytes();
        let view = CuckooFilterView::new(&file).expect("a file");
        assert_answers_alike(&view, &filter, &keys);
        view.verify().expect("a whole table");
    }
}

#[test]
fn a_view_of_a_table_beyond_the_cache_answers_as_the_loaded_filter_does() {
    let shapes = [
        (Layout::Packed, Addressing::Regional, 4),
        (Layout::Packed, Addressing::Quaternary, 1),
        (Layout::SemiSorted, Addressing::Regional, 4),
    ];
    for (layout, addressing, slots_per_bucket) in shapes {
        let shape = Shape { layout, addressing, slots_per_bucket };
        let mut filter = build(shape, 1 << 20, 13);
        assert!(filter.size_in_bytes() > 1 << 20);
        for key in 0..300_000u64 {
            filter.insert(&key).expect("half of the slots are empty");
        }
        let file = filter.to_bytes();
        let view = CuckooFilterView::new(&file).expect("a file");
        assert_answers_alike(&view, &filter, &(299_000..301_000).collect::<Vec<_>>());
        view.verify().expect("a whole table");
    }
}

#[test]
fn sets_and_growing_filters_answer_too_and_are_verified_as_what_they_are() {
    let keys: Vec<u64> = (0..200).collect();
    let mut set = CuckooSet::with_capacity(100, 0.01).expect("parameters in range");
    let builder = CuckooFilter::builder().capacity(8).max_capacity(500).false_positive_rate(0.01);
    let mut growing = builder.build().expect("parameters in range");
    let mut growing_set = builder.for_kind::<CuckooSet>().build().expect("parameters in range");
    for key in &keys[..100] {
        set.insert(key).expect("room");
        growing.insert(key).expect("it grows");
        growing_set.insert(key).expect("it grows");
    }
    assert!(growing.parameters().half_doublings() > 1 && growing_set.as_filter().parameters().half_doublings() > 1);
    let files = [
        (set.to_bytes(), set.as_filter()),
        (growing.to_bytes(), &growing),
        (growing_set.to_bytes(), growing_set.as_filter()),
    ];
    for (file, filter) in files {
        let view = CuckooFilterView::new(&file).expect("a file");
        assert_answers_alike(&view, filter, &keys);
        view.verify().expect("a whole table");
    }
    // A filter that says it is a set, and has copies.
    let mut filter = CuckooFilter::with_capacity(10, 0.01).expect("parameters in range");
    filter.insert("ani").expect("room");
    filter.insert("ani").expect("room");
    let mut file = filter.to_bytes();
    file[KIND_AT] = 2;
    fix_checksums(&mut file);
    let view = CuckooFilterView::new(&file).expect("the header is whole");
    assert!(matches!(view.verify(), Err(LoadError::Inconsistent { .. })));
}

#[test]
fn files_with_values_are_refused_with_their_kind() {
    let map = CuckooMap::<u8>::with_capacity(10, 0.01).expect("parameters in range");
    let counting = CountingCuckooFilter::with_capacity(10, 0.01).expect("parameters in range");
    for (file, kind) in [(map.to_bytes(), FileKind::Map), (counting.to_bytes(), FileKind::Counting)] {
        let error = CuckooFilterView::new(&file).expect_err("no fingerprints alone");
        assert!(matches!(error, LoadError::OtherKind { found, .. } if found == kind), "{error:?}");
    }
}

#[test]
fn a_view_takes_no_memory_and_does_not_look_at_the_table() {
    let mut filter = CuckooFilter::with_capacity(1_000_000, 0.001).expect("parameters in range");
    filter.insert("ani").expect("room");
    let mut file = filter.to_bytes();
    // Whatever stands there: a damaged table is not noticed by anything but `verify`.
    file[HEADER_LEN..].fill(0xff);
    let (_, peak) = peak_of(|| {
        let view = CuckooFilterView::new(&file).expect("the header is whole");
        let mut answers = [false; 2];
        view.contains_many_into(&["ani", "guira"], &mut answers);
        (view.contains("ani"), view.count("ani"), answers)
    });
    assert_eq!(peak, 0, "bytes allocated");
    let view = CuckooFilterView::new(&file).expect("the header is whole");
    assert!(matches!(view.verify(), Err(LoadError::TableChecksum)));
}

#[test]
fn every_changed_byte_of_the_header_is_refused_at_once_and_of_the_table_by_verifying() {
    let mut filter = build(Shape::USUAL, 6, 13);
    fill(&mut filter, 12);
    let file = filter.to_bytes();
    for at in 0..file.len() {
        for flip in [1, 2, 16, 128, 255] {
            let mut damaged = file.clone();
            damaged[at] ^= flip;
            match CuckooFilterView::new(&damaged) {
                Err(_) => assert!(at < HEADER_LEN, "byte {at} xor {flip} is the table's"),
                Ok(view) => {
                    assert!(at >= HEADER_LEN, "byte {at} xor {flip}");
                    assert!(matches!(view.verify(), Err(LoadError::TableChecksum)), "byte {at} xor {flip}");
                }
            }
        }
    }
}

#[test]
fn fewer_or_more_bytes_than_the_header_says_are_refused() {
    let file = build(Shape::USUAL, 6, 13).to_bytes();
    for len in 0..file.len() {
        let error = CuckooFilterView::new(&file[..len]).expect_err("cut off");
        assert!(matches!(error, LoadError::Truncated { .. }), "the first {len} bytes: {error:?}");
    }
    let error = CuckooFilterView::new(&[&file[..], &[0]].concat()).expect_err("a byte more");
    assert!(matches!(error, LoadError::TrailingBytes { expected } if expected == file.len() as u64), "{error:?}");
}

#[test]
fn a_view_stands_at_any_byte_of_a_larger_buffer() {
    let mut filter = build(Shape::USUAL, 50, 12);
    fill(&mut filter, 100);
    let file = filter.to_bytes();
    for before in 0..70 {
        let buffer = [vec![0xaa; before], file.clone(), vec![0xbb; 7]].concat();
        let view = CuckooFilterView::new(&buffer[before..before + file.len()]).expect("a file");
        assert_answers_alike(&view, &filter, &[0, 1, 2, 1000, 1001]);
    }
}

#[test]
fn a_secret_key_is_needed_and_checked() {
    let builder = CuckooFilter::builder().capacity(100).fingerprint_bits(16);
    let mut filter = builder.hasher(KeyHasher::sip_hash_13(SECRET)).build().expect("parameters in range");
    filter.insert("ani").expect("room");
    let file = filter.to_bytes();
    let view = guira::LoadOptions::new().secret_key(SECRET).view(&file).expect("the right key");
    assert_eq!(view.hasher(), &KeyHasher::sip_hash_13(SECRET));
    assert!(view.contains("ani") && !view.contains("guira"));
    assert!(matches!(CuckooFilterView::new(&file), Err(LoadError::SecretKeyMissing)));
    assert!(matches!(guira::LoadOptions::new().secret_key([0; 16]).view(&file), Err(LoadError::SecretKeyDiffers)));
    let open = build(Shape::USUAL, 6, 13).to_bytes();
    assert!(matches!(guira::LoadOptions::new().secret_key(SECRET).view(&open), Err(LoadError::SecretKeyNotUsed)));
}

/// Asks a view of anything all that can be asked; the answers must at least agree with each other.
fn interrogate(file: &[u8]) {
    let view = CuckooFilterView::new(file).expect("the header is whole");
    let most = Shape::of(view.parameters()).compared_slots() as usize;
    let keys: Vec<u64> = (0..40).collect();
    let mut answers = vec![false; keys.len()];
    view.contains_many_into(&keys, &mut answers);
    for (key, answer) in keys.iter().zip(answers) {
        assert_eq!((view.contains(key), view.count(key) > 0), (answer, answer), "{view:?}: {key}");
        assert!(view.count(key) <= most, "{view:?}: {key}");
    }
    // With the right checksum: what a stranger made up to look whole. Loading must say the same of it.
    let loaded = CuckooFilter::from_bytes(file);
    match (view.verify(), &loaded) {
        (Ok(()), Ok(_)) => {}
        (Err(error), Err(expected)) => assert_eq!(format!("{error:?}"), format!("{expected:?}"), "{view:?}"),
        (verified, _) => panic!("{view:?}: verified as {verified:?}, loaded as {loaded:?}"),
    }
}

#[test]
fn no_table_makes_a_view_panic_and_verifying_says_of_each_what_loading_says() {
    let mut random = SplitMix64::new(7);
    let mut sound = 0;
    for filter in filters_of_every_shape(5) {
        let file = filter.to_bytes();
        let table_bits = table_bits(filter.parameters());
        for round in 0..12 {
            let mut file = file.clone();
            let table = &mut file[HEADER_LEN..];
            match round {
                // Semi-sorted codes that no nibbles have, fingerprints everywhere, and padding.
                0 => table.fill(0xff),
                1..6 => table.iter_mut().for_each(|byte| *byte = random.next().to_le_bytes()[0]),
                // The same without padding, and sparse: some of these are tables that fingerprints give.
                _ => {
                    for _ in 0..random.below(6) {
                        let at = random.below(table_bits);
                        table[at / 8] |= 1 << (at % 8);
                    }
                }
            }
            let len = if round < 6 { 0 } else { random.below(5) };
            file[LEN_AT] = u8::try_from(len).expect("small");
            fix_checksums(&mut file);
            interrogate(&file);
            sound += usize::from(CuckooFilterView::new(&file).is_ok_and(|view| view.verify().is_ok()));
        }
    }
    assert!(sound > 100, "{sound} tables were sound");
}

#[test]
fn views_can_be_sent_and_shared_and_say_something_of_themselves() {
    fn assert_manners<T: Send + Sync + Clone + std::fmt::Debug>(value: &T) {
        assert!(format!("{value:?}").contains("fingerprint_bits"), "{value:?}");
    }
    let file = build(Shape::USUAL, 6, 13).to_bytes();
    assert_manners(&CuckooFilterView::new(&file).expect("a file"));
}
