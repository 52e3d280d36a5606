//! Files with a section behind the table, as docs/format.md describes it: they are loaded as those without.

use guira::{CuckooFilter, CuckooFilterView, FileHeader, LoadError};
use xxhash_rust::xxh3::xxh3_64;

/// The file with a section: its size stands at byte 80 of the header, whose last 8 bytes are the checksum of the rest.
fn with_section(file: &[u8], section: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    bytes[80..88].copy_from_slice(&(section.len() as u64).to_le_bytes());
    let checksum = xxh3_64(&bytes[..120]);
    bytes[120..128].copy_from_slice(&checksum.to_le_bytes());
    [&*bytes, section].concat()
}

fn filter() -> CuckooFilter {
    let mut filter = CuckooFilter::with_capacity(1000, 0.001).expect("possible");
    (0..1000u64).for_each(|key| filter.insert(&key).expect("it has room"));
    filter
}

#[test]
fn a_section_is_skipped_however_the_file_is_read() {
    let filter = filter();
    for section in [&b"N"[..], b"NOTE, of any bytes", &[0x5a; 1 << 16]] {
        let file = with_section(&filter.to_bytes(), section);
        assert_eq!(CuckooFilter::from_bytes(&file).expect("whole"), filter);
        assert_eq!(CuckooFilter::read_from(&*file).expect("whole"), filter);
        let view = CuckooFilterView::new(&file).expect("whole");
        view.verify().expect("whole");
        assert_eq!(CuckooFilter::from_bytes(&file).expect("whole"), filter);
        let header = FileHeader::of_bytes(&file).expect("whole");
        assert_eq!(header.file_size(), file.len() as u64);
        header.verify(&file, None).expect("whole");
        // What is written again has none.
        assert_eq!(CuckooFilter::from_bytes(&file).expect("whole").to_bytes(), filter.to_bytes());
    }
    let mut growing = CuckooFilter::builder()
        .capacity(10)
        .max_capacity(1024 * 10)
        .false_positive_rate(0.001)
        .build()
        .expect("possible");
    (0..1000u64).for_each(|key| growing.insert(&key).expect("it grows"));
    let file = with_section(&growing.to_bytes(), b"NOTE");
    assert_eq!(CuckooFilter::read_from(&*file).expect("whole"), growing);
}

#[test]
fn a_section_of_another_size_than_the_header_says_is_refused() {
    let file = with_section(&filter().to_bytes(), b"0123456789");
    let expected = file.len() as u64;
    for missing in 1..=11 {
        let cut = &file[..file.len() - missing];
        let found = cut.len() as u64;
        let is_truncated = |error: &LoadError| matches!(*error, LoadError::Truncated { expected: e, found: f } if (e, f) == (expected, found));
        assert!(CuckooFilter::from_bytes(cut).is_err_and(|error| is_truncated(&error)), "{missing} bytes missing");
        assert!(CuckooFilterView::new(cut).is_err_and(|error| is_truncated(&error)), "{missing} bytes missing");
        // In a stream too, where the last of the table is missing.
        assert!(CuckooFilter::read_from(cut).is_err_and(|error| is_truncated(&error)), "{missing} bytes missing");
    }
    let longer = [&*file, b"\n"].concat();
    let is_trailing = |error: LoadError| matches!(error, LoadError::TrailingBytes { expected: e } if e == expected);
    assert!(CuckooFilter::from_bytes(&longer).is_err_and(is_trailing));
    assert!(CuckooFilter::read_from(&*longer).is_err_and(is_trailing));
    assert!(CuckooFilterView::new(&longer).is_err_and(is_trailing));
    // A size that no file has.
    let mut endless = file;
    endless[80..88].copy_from_slice(&u64::MAX.to_le_bytes());
    let checksum = xxh3_64(&endless[..120]);
    endless[120..128].copy_from_slice(&checksum.to_le_bytes());
    assert!(matches!(CuckooFilter::from_bytes(&endless), Err(LoadError::Truncated { .. })));
    assert!(matches!(CuckooFilter::read_from(&*endless), Err(LoadError::Truncated { .. })));
}
