//! Formats that break between releases.

use guira::{CuckooFilter, KeyHasher};

use super::{every_kind, overfill};

/// Two buckets of two slots of 12 bits, all four of them copies of "guira": a file that the program above computed too.
#[test]
fn a_file_is_the_golden_one_byte_for_byte() {
    const GOLDEN: &[u8] = b"\
        \x89\x47\x55\x49\x52\x41\x0d\x0a\x01\x00\x01\x01\x01\x01\x02\x0c\
        \x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\
        \x04\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\
        \x05\x00\x00\x00\x00\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00\
        \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
        \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
        \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
        \xbd\x00\x9c\xd0\xf6\x35\x1e\x23\x99\x27\xf3\x66\xd2\x7e\x7c\x34\
        \x5c\xca\xa5\x5c\xca\xa5\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
        \x00\x00\x00\x00\x00\x00\x00\x00";
    let builder =
        CuckooFilter::builder().bucket_count(2).slots_per_bucket(2).fingerprint_bits(12).hasher(KeyHasher::xxh3(5));
    let mut filter = builder.build().expect("parameters in range");
    for _ in 0..4 {
        filter.insert("guira").expect("four copies fit");
    }
    assert_eq!(filter.to_bytes(), GOLDEN);
    assert_eq!(CuckooFilter::from_bytes(GOLDEN).expect("a file of version 1"), filter);
}

#[test]
fn the_same_operations_give_the_same_bytes() {
    for case in every_kind(8) {
        let filters = [(); 2].map(|()| {
            let mut filter = case.build();
            let (accepted, _) = overfill(&mut filter, 20);
            for key in accepted.iter().step_by(3) {
                assert!(filter.remove(key), "{case}: {key} is lost");
            }
            overfill(&mut filter, 5);
            filter.to_bytes()
        });
        assert_eq!(filters[0], filters[1], "{case}");
    }
}
