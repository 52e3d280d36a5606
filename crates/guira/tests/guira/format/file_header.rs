//! What is seen of a file without its table and without its secret key.

use std::path::Path;

use guira::{CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, FileHeader, FileKind, KeyHasher, LoadError};

use crate::oracle::checksums::fix_checksums;

const SECRET: [u8; 16] = *b"0123456789abcdef";
const KIND_AT: usize = 10;

fn golden(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn a_header_says_what_the_loaded_file_says() {
    let file = golden("growing-4-f13-doubled-3.guira");
    let filter = CuckooFilter::from_bytes(&file).expect("a golden file");
    // The first bytes are enough.
    let header = FileHeader::from_bytes(&file[..FileHeader::MIN_SIZE]).expect("a golden file");
    assert_eq!(header.kind(), FileKind::Growing);
    assert_eq!(header.parameters(), filter.parameters());
    assert_eq!((header.len(), header.is_empty()), (filter.len() as u64, filter.is_empty()));
    assert_eq!(header.file_size(), file.len() as u64);
    assert!(!header.has_secret_key());
    assert_eq!(&header.hasher(None).expect("there is no secret"), filter.hasher());
    assert_eq!(header.max_capacity(), Some(filter.max_capacity() as u64));
    let fixed = FileHeader::from_bytes(&golden("packed-4-regional-f12.guira")).expect("a golden file");
    assert_eq!(fixed.max_capacity(), None);
}

#[test]
fn a_secret_key_is_asked_for_where_keys_are_hashed_and_nowhere_else() {
    let hash = KeyHasher::sip_hash_13(SECRET);
    let mut filter =
        CuckooFilter::builder().capacity(50).false_positive_rate(0.01).hasher(hash).build().expect("sound");
    filter.insert("ani").expect("room");
    let mut file = filter.to_bytes();
    let header = FileHeader::from_bytes(&file).expect("whole");
    assert_eq!((header.has_secret_key(), header.len()), (true, 1));
    header.verify(&file, None).expect("whole");
    header.verify(&file, Some(SECRET)).expect("whole");
    assert!(matches!(header.verify(&file, Some([0; 16])), Err(LoadError::SecretKeyDiffers)));
    assert!(matches!(header.hasher(None), Err(LoadError::SecretKeyMissing)));
    assert_eq!(&header.hasher(Some(SECRET)).expect("the key"), filter.hasher());
    assert!(!format!("{header:?}").contains("seed"), "{header:?}");

    file[FileHeader::MIN_SIZE] ^= 1;
    assert!(matches!(header.verify(&file, None), Err(LoadError::TableChecksum)));
    assert!(matches!(header.verify(&file[1..], None), Err(LoadError::Truncated { .. })));
    file.push(0);
    assert!(matches!(header.verify(&file, None), Err(LoadError::TrailingBytes { .. })));
    let open = FileHeader::from_bytes(&golden("packed-4-regional-f12.guira")).expect("a golden file");
    assert!(matches!(open.hasher(Some(SECRET)), Err(LoadError::SecretKeyNotUsed)));
}

#[test]
fn only_copies_are_not_seen_without_the_secret_key() {
    for hash in [KeyHasher::xxh3(0), KeyHasher::sip_hash_13(SECRET)] {
        let builder = CuckooFilter::builder().capacity(50).false_positive_rate(0.01).hasher(hash);
        let mut filter = builder.build().expect("sound");
        for _ in 0..2 {
            filter.insert("ani").expect("room");
        }
        let mut file = filter.to_bytes();
        // It says that it is a set.
        file[KIND_AT] = 2;
        fix_checksums(&mut file);
        let header = FileHeader::from_bytes(&file).expect("a header");
        assert_eq!(header.kind(), FileKind::Set);
        let has_secret = header.has_secret_key();
        assert_eq!(header.verify(&file, None).is_ok(), has_secret);
        assert!(CuckooSet::from_bytes(&file).is_err());
        if has_secret {
            let error = header.verify(&file, Some(SECRET)).expect_err("it has a copy");
            assert!(matches!(error, LoadError::Inconsistent { .. }), "{error:?}");
        }
    }
}

/// In which of two buckets with odd offsets a fingerprint may be takes the key, and is not seen without it either.
#[test]
fn a_table_that_is_half_doubled_is_whole_with_its_secret_key_and_without() {
    const MARK_AT: usize = 96;
    let builder = CuckooFilter::builder().capacity(50).max_capacity(1000).false_positive_rate(0.01);
    let builder = builder.hasher(KeyHasher::sip_hash_13(SECRET));
    let mut filter = builder.build().expect("sound");
    let mut map = builder.for_kind::<CuckooMap<u8>>().build().expect("sound");
    while filter.parameters().half_doublings().is_multiple_of(2) {
        filter.insert(&filter.len()).expect("it grows");
    }
    while map.parameters().half_doublings().is_multiple_of(2) {
        map.insert(&map.len(), 1).expect("it grows");
    }
    for (what, bits, file) in [
        ("filter", filter.parameters().fingerprint_bits(), filter.to_bytes()),
        ("map", map.parameters().fingerprint_bits(), map.to_bytes()),
    ] {
        assert_eq!(file[MARK_AT], 1, "{what}");
        let header = FileHeader::from_bytes(&file).expect("whole");
        header.verify(&file, None).unwrap_or_else(|error| panic!("{what}: {error}"));
        header.verify(&file, Some(SECRET)).unwrap_or_else(|error| panic!("{what}: {error}"));
        // The topmost bits of all fingerprints.
        let slot_bits = header.parameters().bits_per_slot() as usize;
        let mut seen_with_key = 0;
        for slot in 0..usize::try_from(header.parameters().slot_count()).expect("small") {
            let at = |bit: usize| (FileHeader::MIN_SIZE + (slot * slot_bits + bit) / 8, (slot * slot_bits + bit) % 8);
            let is_set = |bit| file[at(bit).0] >> at(bit).1 & 1 == 1;
            if !(0..8).any(is_set) {
                continue;
            }
            let mut changed = file.clone();
            let (byte, bit) = at(bits as usize - 1);
            changed[byte] ^= 1 << bit;
            fix_checksums(&mut changed);
            let header = FileHeader::from_bytes(&changed).expect("whole");
            assert!(header.verify(&changed, None).is_ok(), "{what}, slot {slot}");
            match header.verify(&changed, Some(SECRET)) {
                Ok(()) => {}
                Err(LoadError::Inconsistent { .. }) => seen_with_key += 1,
                Err(error) => panic!("{what}, slot {slot}: {error:?}"),
            }
        }
        assert!(seen_with_key > 10, "{what}: {seen_with_key}");
    }
}

#[test]
fn a_counter_of_nothing_is_noticed() {
    let filter = CountingCuckooFilter::with_capacity(20, 0.01).expect("sound");
    let mut file = filter.to_bytes();
    FileHeader::from_bytes(&file).and_then(|header| header.verify(&file, None)).expect("whole");
    // The last bits of the first slot, which is empty, are its counter's.
    let parameters = filter.parameters();
    let at = parameters.bits_per_slot() - 1;
    file[FileHeader::MIN_SIZE + at as usize / 8] |= 1 << (at % 8);
    fix_checksums(&mut file);
    let error = FileHeader::from_bytes(&file).and_then(|header| header.verify(&file, None)).expect_err("made up");
    assert!(matches!(error, LoadError::Inconsistent { .. }), "{error:?}");
}
