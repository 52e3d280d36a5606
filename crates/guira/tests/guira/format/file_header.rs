//! What is seen of a file without its table and without its secret key.

use std::path::Path;

use guira::{CountingCuckooFilter, CuckooFilter, CuckooSet, FileHeader, FileKind, KeyHasher, LoadError};

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
