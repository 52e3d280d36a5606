//! Files of every kind: that each loads as what it is alone, and that loading trusts no byte.

use guira::{
    CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, ExpiringCuckooFilter, FileKind, KeyHasher, LoadError,
};

use super::shape::ValuedCase;
use crate::oracle::checksums::{HEADER_LEN, fix_checksums};
use crate::oracle::random::SplitMix64;

const KIND_AT: usize = 10;
const LAYOUT_AT: usize = 11;
const ADDRESSING_AT: usize = 12;
const FINGERPRINT_BITS_AT: usize = 15;
const LEN_AT: usize = 40;
const VALUE_BITS_AT: usize = 64;

const SMALL: ValuedCase = ValuedCase { slots_per_bucket: 4, fingerprint_bits: 9, value_bits: 5, bucket_count: 6 };

fn small_map() -> Vec<u8> {
    let mut map = SMALL.map();
    (0..12_u32).for_each(|key| map.insert(&key, key).expect("half of the slots are empty"));
    map.to_bytes()
}

fn small_counting() -> Vec<u8> {
    let mut filter = SMALL.counting();
    (0..12_u32).for_each(|key| (0..=key).for_each(|_| filter.insert(&key).expect("half of the slots are empty")));
    filter.to_bytes()
}

fn small_set() -> Vec<u8> {
    let mut set = CuckooSet::from(SMALL.without_values().build());
    for key in 0..12_u32 {
        set.insert(&key).expect("half of the slots are empty");
    }
    set.to_bytes()
}

/// Doubled, and with doublings to come.
fn small_growing() -> Vec<u8> {
    let builder = CuckooFilter::builder().capacity(8).max_capacity(500).false_positive_rate(0.01);
    let mut filter = builder.build().expect("parameters in range");
    (0..40_u32).for_each(|key| filter.insert(&key).expect("it grows"));
    assert!(filter.parameters().half_doublings() > 1, "{filter:?}");
    filter.to_bytes()
}

/// Likewise.
fn small_growing_set() -> Vec<u8> {
    let builder = CuckooFilter::builder().capacity(8).max_capacity(500).false_positive_rate(0.01);
    let mut set = builder.for_kind::<CuckooSet>().build().expect("parameters in range");
    (0..40_u32).for_each(|key| assert!(set.insert(&key).is_ok(), "it grows"));
    assert!(set.as_filter().parameters().half_doublings() > 1, "{set:?}");
    set.to_bytes()
}

/// A map that was doubled, and has doublings to come.
fn small_growing_map() -> Vec<u8> {
    let builder = CuckooFilter::builder().capacity(8).max_capacity(500).false_positive_rate(0.01);
    let mut map = builder.for_kind::<CuckooMap<u8>>().build().expect("parameters in range");
    (0..40_u8).for_each(|key| map.insert(&key, key).expect("it grows"));
    assert!(map.parameters().half_doublings() > 1, "{map:?}");
    map.to_bytes()
}

/// One of which half of the buckets were doubled, and a map likewise.
fn small_half_doubled() -> Vec<u8> {
    let builder = CuckooFilter::builder().capacity(8).max_capacity(500).false_positive_rate(0.01);
    let mut filter = builder.build().expect("parameters in range");
    let mut keys = 0_u32..;
    while filter.parameters().half_doublings() < 3 {
        keys.next().into_iter().for_each(|key| filter.insert(&key).expect("it grows"));
    }
    filter.to_bytes()
}

fn small_half_doubled_map() -> Vec<u8> {
    let builder = CuckooFilter::builder().capacity(8).max_capacity(500).false_positive_rate(0.01);
    let mut map = builder.for_kind::<CuckooMap<u8>>().build().expect("parameters in range");
    let mut keys = 0_u8..;
    while map.parameters().half_doublings() < 3 {
        keys.next().into_iter().for_each(|key| map.insert(&key, key).expect("it grows"));
    }
    map.to_bytes()
}

fn small_expiring() -> Vec<u8> {
    let builder = ExpiringCuckooFilter::builder().bucket_count(6).fingerprint_bits(9).lifetime(14);
    let mut filter = builder.build().expect("parameters in range");
    for key in 0..12_u32 {
        filter.insert(&key).expect("half of the slots are empty");
        filter.advance(filter.time() + 1).expect("small steps");
    }
    filter.to_bytes()
}

fn small_filter() -> Vec<u8> {
    let mut filter = SMALL.without_values().build();
    (0..12_u32).for_each(|key| filter.insert(&key).expect("half of the slots are empty"));
    filter.to_bytes()
}

type Save = fn() -> Vec<u8>;
type Load = fn(&[u8]) -> Result<Vec<u8>, LoadError>;

/// Every kind: its file, its loading in both ways, which must agree, and a use of what was loaded.
const KINDS: [(FileKind, Save, Load); 10] = [
    (FileKind::Filter, small_filter, load_filter),
    (FileKind::Set, small_set, load_set),
    (FileKind::Set, small_growing_set, load_set),
    (FileKind::Growing, small_growing, load_growing),
    (FileKind::Growing, small_half_doubled, load_growing),
    (FileKind::Counting, small_counting, load_counting),
    (FileKind::Map, small_map, load_map),
    (FileKind::Map, small_growing_map, load_map),
    (FileKind::Map, small_half_doubled_map, load_map),
    (FileKind::Expiring, small_expiring, load_expiring),
];

macro_rules! load {
    ($name:ident: $type:ty, $use_it:expr) => {
        fn $name(bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
            let read = <$type>::read_from(bytes);
            match <$type>::from_bytes(bytes) {
                Ok(mut loaded) => {
                    assert_eq!(loaded.check_invariants(), Ok(()), "{loaded:?}");
                    assert_eq!(read.expect("from_bytes took them"), loaded);
                    let saved = loaded.to_bytes();
                    let mut written = Vec::new();
                    loaded.write_to(&mut written).expect("a Vec takes all");
                    assert_eq!(written, saved, "{loaded:?}: write_to");
                    // Any answer is right: the table may hold what no keys gave.
                    $use_it(&mut loaded);
                    assert_eq!(loaded.check_invariants(), Ok(()), "{loaded:?}");
                    Ok(saved)
                }
                Err(error) => {
                    assert!(read.is_err() && !error.to_string().is_empty(), "{error:?}");
                    Err(error)
                }
            }
        }
    };
}

load!(load_filter: CuckooFilter, |filter: &mut CuckooFilter| for key in 0..40_u32 {
    let _removed: bool = filter.remove(&key);
    drop(filter.insert(&key));
});
load!(load_set: CuckooSet, |set: &mut CuckooSet| for key in 0..400_u32 {
    drop(set.insert(&key));
});
load!(load_growing: CuckooFilter, |filter: &mut CuckooFilter| for key in 0..400_u32 {
    let _removed: bool = filter.remove(&key);
    drop(filter.insert(&key));
    if key % 100 == 0 {
        filter.shrink_to_fit();
    }
});
load!(load_counting: CountingCuckooFilter, |filter: &mut CountingCuckooFilter| for key in 0..40_u32 {
    let _removed: bool = filter.remove(&key);
    drop(filter.insert(&key));
    let _count: u64 = filter.count(&key);
});
load!(load_map: CuckooMap<u8>, |map: &mut CuckooMap<u8>| for key in 0..40_u32 {
    for value in map.get_all(&key) {
        let _removed: bool = map.remove_value(&key, value);
    }
    drop(map.insert(&key, 3));
});

load!(load_expiring: ExpiringCuckooFilter, |filter: &mut ExpiringCuckooFilter| for key in 0..40_u32 {
    let _removed: bool = filter.remove(&key);
    drop(filter.insert(&key));
    drop(filter.insert_or_renew(&key));
    let _caught_up: bool = filter.jump(filter.time().saturating_add(u64::from(key)));
});

#[test]
fn every_kind_comes_back_as_it_was() {
    for (kind, file, load) in KINDS {
        let file = file();
        assert_eq!(load(&file).unwrap_or_else(|error| panic!("{kind}: {error}")), file, "{kind}");
    }
}

#[test]
fn a_file_loaded_as_another_kind_is_refused_with_the_names_of_both() {
    for (found, file, _) in KINDS {
        // Filters are loaded alike, whether they grow or not.
        let loaded_as = |kind: FileKind| if kind == FileKind::Growing { FileKind::Filter } else { kind };
        for (expected, _, load) in KINDS.iter().filter(|(kind, ..)| loaded_as(*kind) != loaded_as(found)) {
            let expected = &loaded_as(*expected);
            let error = load(&file()).expect_err("another kind");
            let LoadError::OtherKind { found: said, expected: asked } = error else { panic!("{found}: {error:?}") };
            assert_eq!((said, asked), (found, *expected));
            let text = error.to_string();
            assert!(text.contains(&found.to_string()) && text.contains(&expected.to_string()), "{text}");
        }
    }
    let mut unknown = small_map();
    for kind in [0, 7, 255] {
        unknown[KIND_AT] = kind;
        fix_checksums(&mut unknown);
        let error = load_map(&unknown).expect_err("there is no such kind");
        assert!(matches!(error, LoadError::Unknown { what: "kind", found } if found == u64::from(kind)), "{error:?}");
    }
}

#[test]
fn the_header_says_kind_and_value_bits() {
    for (file, kind, value_bits) in
        [(small_filter(), 1, 0), (small_set(), 2, 0), (small_counting(), 4, 5), (small_map(), 5, 5)]
    {
        assert_eq!((file[KIND_AT], file[VALUE_BITS_AT]), (kind, value_bits));
        let bits = 6 * 4 * (9 + usize::from(value_bits));
        assert_eq!(file.len(), HEADER_LEN + (bits.div_ceil(8) + 15).next_multiple_of(8), "kind {kind}");
    }
    assert_eq!(small_counting()[LEN_AT], 12, "len is that of the slots, not of the counts");
}

#[test]
fn every_changed_byte_is_refused() {
    for (kind, file, load) in KINDS {
        let file = file();
        for at in 0..file.len() {
            for flip in [1, 2, 16, 128, 255] {
                let mut damaged = file.clone();
                damaged[at] ^= flip;
                assert!(load(&damaged).is_err(), "{kind}: byte {at} xor {flip}");
            }
        }
    }
}

#[test]
fn every_missing_end_and_anything_appended_is_refused() {
    for (kind, file, load) in KINDS {
        let file = file();
        for len in 0..file.len() {
            assert!(load(&file[..len]).is_err(), "{kind}: the first {len} bytes");
        }
        let error = load(&[&file[..], &[0]].concat()).expect_err("a byte more");
        assert!(matches!(error, LoadError::TrailingBytes { .. }), "{kind}: {error:?}");
    }
}

#[test]
fn a_header_byte_with_checksums_made_to_match_is_refused_or_that_of_another_file() {
    for (kind, file, load) in KINDS {
        let file = file();
        for at in 0..HEADER_LEN - 16 {
            for flip in 1..=255 {
                let mut changed = file.clone();
                changed[at] ^= flip;
                fix_checksums(&mut changed);
                // The capacity and the seed may be anything, the first within bounds; other parameters may happen to give a
                // table of this size with as many fingerprints.
                if let Ok(saved) = load(&changed) {
                    assert_eq!(saved, changed, "{kind}: byte {at} xor {flip}");
                    // What is in a regional table may also be in one that can be doubled.
                    let has_freedom = at >= FINGERPRINT_BITS_AT || at == ADDRESSING_AT;
                    assert!(has_freedom, "{kind}: byte {at} xor {flip} has no such freedom");
                }
            }
        }
    }
}

#[test]
fn value_bits_that_no_table_has_are_refused() {
    let with = |file: Vec<u8>, changes: &[(usize, u8)]| {
        let mut changed = file;
        changes.iter().for_each(|&(at, value)| changed[at] = value);
        fix_checksums(&mut changed);
        changed
    };
    for (file, load) in [(small_map(), load_map as Load), (small_counting(), load_counting)] {
        for value_bits in [33, 47, 48, 56] {
            let error = load(&with(file.clone(), &[(VALUE_BITS_AT, value_bits)])).expect_err("not in this release");
            assert!(
                matches!(error, LoadError::Unknown { what: "length of values", .. }),
                "v = {value_bits}: {error:?}"
            );
        }
        for value_bits in [0, 57, 64, 255] {
            let error = load(&with(file.clone(), &[(VALUE_BITS_AT, value_bits)])).expect_err("no such values");
            assert!(matches!(error, LoadError::Parameters(_)), "v = {value_bits}: {error:?}");
        }
        let error = load(&with(file.clone(), &[(FINGERPRINT_BITS_AT, 52)])).expect_err("57 bits");
        assert!(matches!(error, LoadError::Unknown { what: "length of values", found: 5 }), "{error:?}");
        for (layout, addressing) in [(2, 1), (1, 2), (1, 3), (1, 4)] {
            let changes = [(LAYOUT_AT, layout), (ADDRESSING_AT, addressing)];
            let error = load(&with(file.clone(), &changes)).expect_err("no values there");
            assert!(matches!(error, LoadError::Parameters(_)), "{layout}, {addressing}: {error:?}");
        }
    }
    for (file, load) in [(small_filter(), load_filter as Load), (small_set(), load_set)] {
        let error = load(&with(file, &[(VALUE_BITS_AT, 1)])).expect_err("no values here");
        assert!(matches!(error, LoadError::Inconsistent { .. }), "{error:?}");
    }
    let error = CuckooMap::<bool>::from_bytes(&small_map()).expect_err("5 bits are no bool");
    assert!(matches!(error, LoadError::ValueBits { found: 5, most: 1 }), "{error:?}");
    assert!(CuckooMap::<u32>::from_bytes(&small_map()).is_ok(), "a wider type takes them");
}

#[test]
fn an_empty_slot_with_a_value_is_refused() {
    let file = small_map();
    let slot_bits = 9 + 5;
    let bit = |bytes: &[u8], at: usize| bytes[HEADER_LEN + at / 8] >> (at % 8) & 1;
    let empty: Vec<usize> = (0..24).filter(|slot| (0..9).all(|at| bit(&file, slot * slot_bits + at) == 0)).collect();
    assert_eq!(empty.len(), 12, "half of the slots are empty");
    for slot in empty {
        for at in 9..slot_bits {
            let mut changed = file.clone();
            let at = slot * slot_bits + at;
            changed[HEADER_LEN + at / 8] |= 1 << (at % 8);
            fix_checksums(&mut changed);
            let error = load_map(&changed).expect_err("an empty slot with a value");
            assert!(matches!(error, LoadError::Inconsistent { .. }), "slot {slot}: {error:?}");
        }
    }
}

#[test]
fn copies_where_there_are_none_are_refused() {
    // A map and a filter with two of the same are right; as a counting filter and as a set they are not.
    let mut map = SMALL.map();
    let mut filter = SMALL.without_values().build();
    for key in ["ani", "ani", "guira"] {
        map.insert(key, 1).expect("room");
        filter.insert(key).expect("room");
    }
    for (file, kind, load) in [(map.to_bytes(), 4, load_counting as Load), (filter.to_bytes(), 2, load_set)] {
        let mut changed = file;
        changed[KIND_AT] = kind;
        fix_checksums(&mut changed);
        let error = load(&changed).expect_err("copies");
        assert!(matches!(error, LoadError::Inconsistent { .. }), "kind {kind}: {error:?}");
    }
}

#[test]
fn no_table_makes_loading_or_using_panic() {
    let mut loaded = 0;
    for (number, (kind, file, load)) in (0..).zip(KINDS) {
        let mut random = SplitMix64::new(number);
        let file = file();
        let bits = 6 * 4 * (9 + usize::from(file[VALUE_BITS_AT]));
        for round in 0..400 {
            let mut changed = file.clone();
            // From one bit to all of them.
            for _ in 0..=random.below(if round % 2 == 0 { 3 } else { bits }) {
                let at = random.below(bits);
                changed[HEADER_LEN + at / 8] ^= 1 << (at % 8);
            }
            for len in 0..=24 {
                changed[LEN_AT] = len;
                fix_checksums(&mut changed);
                match load(&changed) {
                    Ok(saved) => {
                        assert_eq!(saved, changed, "{kind}: what was loaded is what is saved");
                        loaded += 1;
                    }
                    Err(error) => assert!(matches!(error, LoadError::Inconsistent { .. }), "{kind}: {error:?}"),
                }
            }
        }
    }
    assert!(loaded > 200, "{loaded} changed files were loaded");
}

#[test]
fn random_bytes_behind_a_magic_are_refused() {
    let mut random = SplitMix64::new(1);
    for (kind, file, load) in KINDS {
        let file = file();
        for _ in 0..2000 {
            let mut bytes = file.clone();
            for byte in &mut bytes[KIND_AT + 1..] {
                if random.below(8) == 0 {
                    *byte = random.next().to_le_bytes()[0];
                }
            }
            fix_checksums(&mut bytes);
            assert!(load(&bytes).is_err(), "{kind}: an eighth of the bytes is random");
        }
    }
}

#[test]
fn a_secret_key_is_needed_for_every_kind() {
    let key = *b"0123456789abcdef";
    let builder = CuckooFilter::builder().capacity(10).fingerprint_bits(12).hasher(KeyHasher::sip_hash_13(key));
    let mut map: CuckooMap<u8> = builder.for_kind::<CuckooMap<_>>().build().expect("valid");
    map.insert("ani", 7).expect("room");
    let file = map.to_bytes();
    assert_eq!(
        guira::LoadOptions::new().secret_key(key).from_bytes::<CuckooMap<u8>>(&file).expect("the right key"),
        map
    );
    assert_eq!(
        guira::LoadOptions::new().secret_key(key).read_from::<CuckooMap<u8>>(&file[..]).expect("the right key"),
        map
    );
    assert!(matches!(CuckooMap::<u8>::from_bytes(&file), Err(LoadError::SecretKeyMissing)));
    assert!(matches!(
        guira::LoadOptions::new().secret_key([0; 16]).from_bytes::<CuckooMap<u8>>(&file),
        Err(LoadError::SecretKeyDiffers)
    ));

    let filter = builder.for_kind::<CountingCuckooFilter>().build().expect("valid");
    let file = filter.to_bytes();
    assert_eq!(
        guira::LoadOptions::new().secret_key(key).from_bytes::<CountingCuckooFilter>(&file).expect("the right key"),
        filter
    );
    assert!(matches!(CountingCuckooFilter::from_bytes(&file), Err(LoadError::SecretKeyMissing)));

    let set = builder.for_kind::<CuckooSet>().build().expect("valid");
    let file = set.to_bytes();
    assert_eq!(guira::LoadOptions::new().secret_key(key).from_bytes::<CuckooSet>(&file).expect("the right key"), set);
    assert!(matches!(CuckooSet::from_bytes(&file), Err(LoadError::SecretKeyMissing)));
}

#[test]
fn all_kinds_can_be_sent_and_shared_and_say_something_of_themselves() {
    fn assert_manners<T: Send + Sync + Clone + std::fmt::Debug>(value: &T) {
        assert!(format!("{value:?}").contains("fingerprint_bits"), "{value:?}");
    }
    assert_manners(&SMALL.map());
    assert_manners(&SMALL.counting());
    assert_manners(&CuckooSet::from(SMALL.without_values().build()));
    assert_manners(&CuckooFilter::builder());
}
