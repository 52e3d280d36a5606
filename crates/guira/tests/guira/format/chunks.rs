//! What files say beside their filters, as docs/format.md describes it: flags, the rate that was asked for, and chunks behind the
//! table. The files are made by hand.

use guira::raw::RawFilter as _;
use guira::{
    AnyFilter, ConcurrentCuckooFilter, CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet,
    ExpiringCuckooFilter, FileHeader, Layout, LoadError, LoadOptions, MergeError,
};
use xxhash_rust::xxh3::xxh3_64;

const REQUIRED_FLAGS_AT: usize = 68;
const FLAGS_AT: usize = 70;
const CHUNKS_SIZE_AT: usize = 80;
const RATE_AT: usize = 88;
const MUST_KNOW: u32 = 1;
const OF_TABLE: u32 = 2;

/// A chunk: tag, flags, length, the checksum of these and the data, and the data.
pub(crate) fn chunk(tag: [u8; 4], flags: u32, data: &[u8]) -> Vec<u8> {
    let start = [&tag[..], &flags.to_le_bytes(), &(data.len() as u64).to_le_bytes()].concat();
    let checksum = xxh3_64(&[&start[..], data].concat()).to_le_bytes();
    [&start[..], &checksum, data].concat()
}

fn with_header(file: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = file.to_vec();
    change(&mut bytes);
    let checksum = xxh3_64(&bytes[..120]);
    bytes[120..128].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The file with further bytes behind its table, as many as its header says.
pub(crate) fn with_chunks(file: &[u8], chunks: &[u8]) -> Vec<u8> {
    let file = with_header(file, |header| {
        header[CHUNKS_SIZE_AT..CHUNKS_SIZE_AT + 8].copy_from_slice(&(chunks.len() as u64).to_le_bytes());
    });
    [&*file, chunks].concat()
}

fn filter() -> CuckooFilter {
    let mut filter = CuckooFilter::with_capacity(1000, 0.001).expect("possible");
    (0..1000u64).for_each(|key| filter.insert(&key).expect("it has room"));
    filter
}

fn growing() -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(10).max_capacity(1024 * 10).false_positive_rate(0.001);
    builder.build().expect("possible")
}

/// Flags and chunks that a reader need not know, and a rate.
fn with_additions(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let chunks = [chunk(*b"XTRA", 0, b"of another program"), chunk([0, 255, b'"', 0], 0xffff_fffc, b"")].concat();
    let file = with_header(file, |header| {
        header[FLAGS_AT..FLAGS_AT + 2].copy_from_slice(&0x8003_u16.to_le_bytes());
        header[RATE_AT..RATE_AT + 8].copy_from_slice(&0.001_f64.to_le_bytes());
    });
    (with_chunks(&file, &chunks), chunks)
}

/// Whether a file has the additions of another, at its end and in its header.
fn assert_kept(saved: &[u8], file: &[u8], chunks: &[u8], what: &str) {
    assert_eq!(saved[REQUIRED_FLAGS_AT..FLAGS_AT + 2], file[REQUIRED_FLAGS_AT..FLAGS_AT + 2], "{what}: flags");
    assert_eq!(saved[CHUNKS_SIZE_AT..RATE_AT + 8], file[CHUNKS_SIZE_AT..RATE_AT + 8], "{what}: size and rate");
    assert!(saved.ends_with(chunks), "{what}: chunks");
    let header = FileHeader::from_bytes(saved).expect("whole");
    assert_eq!((header.requested_rate(), header.file_size()), (Some(0.001), saved.len() as u64), "{what}");
    header.verify(saved, None).expect("whole");
}

#[test]
fn what_a_reader_need_not_know_is_kept_when_a_filter_is_loaded_changed_and_saved() {
    macro_rules! assert_kept_by {
        ($($type:ty: $made:expr, $change:expr;)*) => {$(
            let (file, chunks) = with_additions(&$made.to_bytes());
            for from in ["bytes", "a stream", "a file of any kind"] {
                let what = format!("{} from {from}", stringify!($type));
                let mut loaded: $type = match from {
                    "bytes" => LoadOptions::new().from_bytes(&file).expect("whole"),
                    _ => LoadOptions::new().read_from(&*file).expect("whole"),
                };
                assert_eq!(loaded.to_bytes(), file, "{what}");
                let change: fn(&mut $type) = $change;
                change(&mut loaded);
                assert_kept(&loaded.to_bytes(), &file, &chunks, &what);
                let mut written = Vec::new();
                loaded.clone().write_to(&mut written).expect("to memory");
                assert_eq!(written, loaded.to_bytes(), "{what}");
                assert_eq!(written, loaded.try_clone().expect("memory").to_bytes(), "{what}");
                assert_eq!(AnyFilter::from_bytes(&written).expect("whole").to_bytes(), written, "{what}");
            }
        )*};
    }
    assert_kept_by! {
        CuckooFilter: filter(), |filter| assert!(filter.remove(&7));
        // Through several doublings, and in the midst of one.
        CuckooFilter: growing(), |filter| (0..1000).for_each(|key| filter.insert(&key).expect("it grows"));
        CuckooFilter: growing(), |filter| {
            (0..5000).for_each(|key| filter.insert(&key).expect("it grows"));
            (0..4990).for_each(|key| assert!(filter.remove(&key)));
            filter.shrink_to_fit();
            filter.merge(&growing()).expect("alike");
        };
        CuckooSet: CuckooSet::with_capacity(100, 0.01).expect("small"), |set| assert_eq!(set.insert("ani"), Ok(true));
        CountingCuckooFilter: CountingCuckooFilter::with_capacity(100, 0.01).expect("small"),
            |filter| filter.insert("ani").expect("room");
        CuckooMap<u8>: CuckooMap::<u8>::with_capacity(100, 0.01).expect("small"), |map| map.insert("ani", 7).expect("room");
    }
    let (file, chunks) = with_additions(&filter().to_bytes());
    let loaded = CuckooFilter::from_bytes(&file).expect("whole");
    let sorted = loaded.converted(Layout::SemiSorted, 4, loaded.parameters().fingerprint_bits()).expect("possible");
    assert_kept(&sorted.to_bytes(), &file, &chunks, "converted");
    for file in [file, with_additions(&growing().to_bytes()).0] {
        let shared: ConcurrentCuckooFilter =
            CuckooFilter::from_bytes(&file).expect("whole").try_into().expect("packed");
        (0..10).for_each(|key| assert!(shared.remove(&key) || shared.insert(&key).is_ok()));
        assert_kept(&shared.snapshot().expect("memory").to_bytes(), &file, &chunks, "a snapshot");
        assert_kept(&shared.clone().into_filter().to_bytes(), &file, &chunks, "a shared filter");
    }
    // It takes no part in comparisons.
    assert_eq!(loaded, filter());
}

/// The error of every way to read a file, which must be the same.
fn refusal(file: &[u8], what: &str) -> LoadError {
    let by_bytes = CuckooFilter::from_bytes(file).expect_err(what);
    let verified = FileHeader::from_bytes(file).and_then(|header| header.verify(file, None));
    for other in [
        CuckooFilter::read_from(file).map(drop),
        AnyFilter::from_bytes(file).map(drop),
        CuckooFilterView::new(file).map(drop),
        verified,
    ] {
        assert_eq!(other.expect_err(what).to_string(), by_bytes.to_string(), "{what}");
    }
    by_bytes
}

#[test]
fn what_a_reader_must_know_and_does_not_needs_a_later_release() {
    let file = filter().to_bytes();
    for bit in (REQUIRED_FLAGS_AT * 8..FLAGS_AT * 8).chain(96 * 8 + 1..104 * 8) {
        let error = refusal(&with_header(&file, |header| header[bit / 8] |= 1 << (bit % 8)), &format!("bit {bit}"));
        assert!(matches!(error, LoadError::Unknown { .. }), "bit {bit}: {error:?}");
        assert!(error.to_string().contains("needs a later release"), "{error}");
    }
    let known = chunk(*b"XTRA", 0, b"");
    for chunks in [chunk(*b"LATE", MUST_KNOW, b""), [known, chunk(*b"LATE", MUST_KNOW | OF_TABLE, b"data")].concat()] {
        let error = refusal(&with_chunks(&file, &chunks), "a chunk of a later release");
        assert!(matches!(error, LoadError::UnknownChunk { tag } if tag == *b"LATE"), "{error:?}");
        assert!(error.to_string().contains("\"LATE\"") && error.to_string().contains("later release"), "{error}");
    }
}

#[test]
fn what_holds_for_a_table_only_is_left_out_when_it_is_saved() {
    let file = filter().to_bytes();
    let kept = chunk(*b"XTRA", 0, b"kept");
    let chunks = [chunk(*b"SUMS", OF_TABLE, b"left out"), kept.clone()].concat();
    let loaded = CuckooFilter::from_bytes(&with_chunks(&file, &chunks)).expect("whole");
    assert_eq!(loaded.to_bytes(), with_chunks(&file, &kept));
}

#[test]
fn keys_that_were_normalized_are_refused_unless_the_caller_does_the_same() {
    let file = filter().to_bytes();
    for (treatment, expected, advice) in [
        (1, (true, false), "lower case"),
        (2, (false, true), "blanks at the ends"),
        (3, (true, true), "lower case, and blanks"),
    ] {
        let file = with_chunks(&file, &chunk(*b"NORM", MUST_KNOW, &[treatment]));
        let error = CuckooFilter::from_bytes(&file).expect_err("not told");
        assert!(matches!(error, LoadError::KeysNormalized { lowercase, trim } if (lowercase, trim) == expected));
        assert!(error.to_string().contains(advice) && error.to_string().contains("normalized_keys"), "{error}");
        assert!(matches!(CuckooFilterView::new(&file), Err(LoadError::KeysNormalized { .. })));
        assert!(matches!(CuckooFilter::read_from(&*file), Err(LoadError::KeysNormalized { .. })));
        let told = LoadOptions::new().normalized_keys();
        let mut loaded: CuckooFilter = told.clone().from_bytes(&file).expect("told");
        assert_eq!(loaded.to_bytes(), file);
        assert!(loaded.remove(&7));
        assert!(CuckooFilter::from_bytes(&loaded.to_bytes()).is_err(), "what was saved doesn't say it");
        assert!(told.view(&file).is_ok_and(|view| view.contains(&8)));
        FileHeader::from_bytes(&file).expect("whole").verify(&file, None).expect("whole");
    }
    for data in [&[0][..], &[4], &[1, 0], &[]] {
        let file = with_chunks(&file, &chunk(*b"NORM", MUST_KNOW, data));
        let error =
            LoadOptions::new().normalized_keys().from_bytes::<CuckooFilter>(&file).expect_err("no such treatment");
        assert!(error.to_string().contains("needs a later release"), "{error}");
    }
}

#[test]
fn filters_are_merged_only_if_their_chunks_say_that_the_same_was_done_to_keys() {
    let made_lower_case = chunk(*b"NORM", MUST_KNOW, &[1]);
    let trimmed = chunk(*b"NORM", MUST_KNOW, &[2]);
    let is_other = |result: Result<(), MergeError>| matches!(result, Err(MergeError::Differs { .. }));

    let (plain, mut set) = (growing(), growing());
    set.set_chunks(made_lower_case.clone());
    assert!(is_other(set.merge(&plain)) && is_other(plain.clone().merge(&set)));
    // As it is once the filter was saved and loaded.
    let loaded = LoadOptions::new().normalized_keys().from_bytes::<CuckooFilter>(&set.to_bytes()).expect("told");
    set.merge(&loaded).expect("alike");
    set.set_chunks([chunk(*b"XTRA", 0, b"first"), trimmed].concat());
    assert!(is_other(set.merge(&loaded)));

    let mut none = loaded;
    none.set_chunks(Vec::new());
    none.merge(&plain).expect("nothing was done to the keys of either");

    let plain = ExpiringCuckooFilter::with_capacity(100, 0.01, 60).expect("small");
    let mut set = plain.clone();
    set.set_chunks(made_lower_case);
    assert!(is_other(set.merge(&plain)));
    set.set_chunks(Vec::new());
    set.merge(&plain).expect("alike");
}

#[test]
fn every_changed_bit_of_a_chunk_is_found_however_the_file_is_read() {
    let chunks = [chunk(*b"XTRA", 0, b"ab"), chunk(*b"NOTE", 4, b"{}")].concat();
    let file = with_chunks(&growing().to_bytes(), &chunks);
    for bit in (file.len() - chunks.len()) * 8..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        refusal(&damaged, &format!("bit {bit}"));
    }
}

#[test]
fn chunks_of_another_size_than_the_header_says_are_refused() {
    let chunks = chunk(*b"XTRA", 0, b"0123456789");
    let file = with_chunks(&filter().to_bytes(), &chunks);
    let expected = file.len() as u64;
    for missing in 1..=chunks.len() + 1 {
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
    // A size that no file has, of all chunks or of one of them.
    let size_at = CHUNKS_SIZE_AT..CHUNKS_SIZE_AT + 8;
    let endless = with_header(&file, |header| header[size_at].copy_from_slice(&u64::MAX.to_le_bytes()));
    assert!(matches!(CuckooFilter::from_bytes(&endless), Err(LoadError::Truncated { .. })));
    assert!(matches!(CuckooFilter::read_from(&*endless), Err(LoadError::Truncated { .. })));
    for cut in 1..chunks.len() {
        refusal(&with_chunks(&filter().to_bytes(), &chunks[..cut]), "a chunk that is cut off");
    }
}

#[test]
fn rates_that_none_can_ask_for_are_refused() {
    let file = filter().to_bytes();
    for rate in [1.0, -0.0, -0.1, 2.0, f64::NAN, f64::INFINITY] {
        let file = with_header(&file, |header| header[RATE_AT..RATE_AT + 8].copy_from_slice(&rate.to_le_bytes()));
        let error = refusal(&file, &format!("{rate}"));
        assert!(matches!(error, LoadError::Inconsistent { .. }), "{rate}: {error:?}");
    }
}
