//! Damage of every kind is refused, and so is whoever lacks the secret key.

use guira::raw::RawFilter as _;
use guira::{CuckooFilter, LoadError};

use super::files::{SECRET, assert_refused, load, small_file, small_file_with_secret_key};
use crate::oracle::checksums::HEADER_LEN;

#[test]
fn every_changed_byte_is_refused() {
    let file = small_file();
    load(&file).expect("undamaged");
    for at in 0..file.len() {
        for flip in 1..=255 {
            let mut damaged = file.clone();
            damaged[at] ^= flip;
            assert_refused(&damaged, &format!("byte {at} xor {flip}"));
        }
    }
}

#[test]
fn every_changed_byte_of_a_file_with_a_secret_key_is_refused() {
    let file = small_file_with_secret_key();
    guira::LoadOptions::new().secret_key(SECRET).from_bytes::<CuckooFilter>(&file).expect("undamaged");
    for at in 0..file.len() {
        for flip in 1..=255 {
            let mut damaged = file.clone();
            damaged[at] ^= flip;
            let refused = guira::LoadOptions::new().secret_key(SECRET).from_bytes::<CuckooFilter>(&damaged).is_err();
            assert!(refused, "byte {at} xor {flip}");
            let refused =
                guira::LoadOptions::new().secret_key(SECRET).read_from::<CuckooFilter>(damaged.as_slice()).is_err();
            assert!(refused, "byte {at} xor {flip}, read");
        }
    }
}

#[test]
fn every_missing_end_is_refused() {
    let file = small_file();
    for len in 0..file.len() {
        let error = assert_refused(&file[..len], &format!("the first {len} bytes"));
        // Less than the magic may be the beginning of something else.
        if len < 8 && matches!(error, LoadError::NotGuira) {
            continue;
        }
        let LoadError::Truncated { expected, found } = error else { panic!("the first {len} bytes: {error:?}") };
        assert_eq!(found, len as u64);
        assert!((len as u64 + 1..=file.len() as u64).contains(&expected), "the first {len} bytes: {error}");
    }
}

#[test]
fn every_missing_byte_within_is_refused() {
    let file = small_file();
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged.remove(at);
        assert_refused(&damaged, &format!("without byte {at}"));
    }
}

#[test]
fn anything_appended_is_refused() {
    let file = small_file();
    for tail in [&[0][..], &[1], &[255], &[0; 8], &[0; 64], &file] {
        let longer = [&file[..], tail].concat();
        let error = assert_refused(&longer, "appended");
        assert!(matches!(error, LoadError::TrailingBytes { expected } if expected == file.len() as u64), "{error:?}");
    }
}

#[test]
fn errors_name_what_is_wrong() {
    let file = small_file();
    let changed = |at: usize, flip: u8| {
        let mut damaged = file.clone();
        damaged[at] ^= flip;
        assert_refused(&damaged, &format!("byte {at} xor {flip}"))
    };
    for at in 0..8 {
        assert!(matches!(changed(at, 1), LoadError::NotGuira), "byte {at} of the magic");
    }
    // A later version is named even though its checksum may be elsewhere.
    assert!(matches!(changed(8, 3), LoadError::LaterVersion { found: 2, supported: 1 }));
    assert!(matches!(changed(9, 1), LoadError::LaterVersion { found: 257, supported: 1 }));
    for at in (10..112).chain(120..128) {
        let error = changed(at, 64);
        assert!(matches!(error, LoadError::HeaderChecksum), "byte {at}: {error:?}");
    }
    for at in HEADER_LEN..file.len() {
        let error = changed(at, 64);
        assert!(matches!(error, LoadError::TableChecksum), "byte {at}: {error:?}");
    }
    let error = assert_refused(b"PK\x03\x04 something else, and long enough to be a header, if it were one", "a zip");
    assert!(matches!(error, LoadError::NotGuira), "{error:?}");
}

#[test]
fn a_secret_key_is_not_in_the_file_and_must_be_given() {
    let file = small_file_with_secret_key();
    for window in file.windows(8) {
        assert!(window != &SECRET[..8] && window != &SECRET[8..], "half the secret is in the file");
    }
    assert!(matches!(assert_refused(&file, "no key"), LoadError::SecretKeyMissing));
    for bit in 0..128 {
        let mut wrong = SECRET;
        wrong[bit / 8] ^= 1 << (bit % 8);
        let error =
            guira::LoadOptions::new().secret_key(wrong).from_bytes::<CuckooFilter>(&file).expect_err("another key");
        assert!(matches!(error, LoadError::SecretKeyDiffers), "bit {bit}: {error:?}");
        let error = guira::LoadOptions::new()
            .secret_key(wrong)
            .read_from::<CuckooFilter>(file.as_slice())
            .expect_err("another key");
        assert!(matches!(error, LoadError::SecretKeyDiffers), "bit {bit}: {error:?}");
    }
    let loaded = guira::LoadOptions::new().secret_key(SECRET).from_bytes::<CuckooFilter>(&file).expect("the right key");
    assert_eq!(loaded.to_bytes(), file);
    assert_eq!(
        guira::LoadOptions::new().secret_key(SECRET).read_from::<CuckooFilter>(file.as_slice()).expect("the right key"),
        loaded
    );
    for key in 0..4_u64 {
        assert!(loaded.contains(&key), "{key} is lost");
    }
}

#[test]
fn a_secret_key_for_a_file_without_one_is_refused() {
    let error =
        guira::LoadOptions::new().secret_key(SECRET).from_bytes::<CuckooFilter>(&small_file()).expect_err("no secret");
    assert!(matches!(error, LoadError::SecretKeyNotUsed), "{error:?}");
}

#[test]
fn parts_of_a_file_that_were_cut_elsewhere_are_refused() {
    let file = small_file();
    for (header, table) in [file.split_at(HEADER_LEN - 1), file.split_at(HEADER_LEN + 1)] {
        let error = CuckooFilter::from_file_parts(header, table.to_vec(), &[]).expect_err("cut at the wrong place");
        assert!(matches!(error, LoadError::Truncated { .. } | LoadError::TrailingBytes { .. }), "{error}");
    }
}
