//! Files: that they are the bytes that docs/format.md describes, and that loading trusts none of them.

use std::io::{self, Read};

use guira::{Addressing, CuckooFilter, Digest, HashAlgorithm, Layout, LoadError, Shape};
use proptest::prelude::*;

mod oracle {
    pub(crate) mod allocation;
    pub(crate) mod checksums;
    pub(crate) mod random;
    pub(crate) mod shapes;
    pub(crate) mod specification;
}

use oracle::allocation::{Counting, peak_of};
use oracle::checksums::{HEADER_LEN, fix_checksums};
use oracle::random::SplitMix64;
use oracle::shapes::all_shapes;
use oracle::specification::{Header, POWER_OF_TWO, REGIONAL, SIP_HASH_13, XXH3};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SECRET: [u8; 16] = *b"0123456789abcdef";

/// Every fingerprint length, bucket size and addressing, in tables of a few sizes.
fn filters_of_every_kind() -> impl Iterator<Item = CuckooFilter> {
    let regional = [1, 2, 5, 24, 37].map(|bucket_count| (Addressing::Regional, bucket_count));
    let power_of_two = [1, 2, 32].map(|bucket_count| (Addressing::PowerOfTwo, bucket_count));
    let tables = regional.into_iter().chain(power_of_two);
    tables.flat_map(|(addressing, bucket_count)| {
        [1, 2, 4, 8].into_iter().flat_map(move |slots_per_bucket| {
            (2..=32).map(move |fingerprint_bits| {
                CuckooFilter::builder()
                    .bucket_count(bucket_count)
                    .slots_per_bucket(slots_per_bucket)
                    .fingerprint_bits(fingerprint_bits)
                    .addressing(addressing)
                    .seed(u64::from(fingerprint_bits) << 40 | bucket_count)
                    .build()
                    .expect("measures in range")
            })
        })
    })
}

/// Inserts keys until a few were refused, or until there are so many.
fn fill(filter: &mut CuckooFilter, most: usize) -> Vec<u64> {
    let mut refused = 0;
    let mut keys = Vec::new();
    for key in 0_u64.. {
        if keys.len() == most || refused == 3 {
            break;
        }
        if filter.insert(&key).is_ok() { keys.push(key) } else { refused += 1 }
    }
    keys
}

/// A file of a filter that is half full: small, with every part that a file has.
fn small_file() -> Vec<u8> {
    let builder = CuckooFilter::builder().bucket_count(6).slots_per_bucket(4).fingerprint_bits(13).seed(99);
    let mut filter = builder.build().expect("measures in range");
    fill(&mut filter, 12);
    filter.to_bytes()
}

fn small_file_with_secret_key() -> Vec<u8> {
    let builder = CuckooFilter::builder().bucket_count(3).slots_per_bucket(2).fingerprint_bits(7);
    let mut filter = builder.hash(HashAlgorithm::SipHash13 { key: SECRET }).build().expect("measures in range");
    fill(&mut filter, 4);
    filter.to_bytes()
}

/// Loads bytes in all three ways, which must agree, in little memory, and give a sound filter if any.
fn load(bytes: &[u8]) -> Result<CuckooFilter, LoadError> {
    let (loaded, peak) = peak_of(|| CuckooFilter::from_bytes(bytes));
    assert!(peak <= bytes.len() + (64 << 10), "{peak} bytes allocated for {}: {loaded:?}", bytes.len());
    let (read, peak) = peak_of(|| CuckooFilter::read_from(bytes));
    assert!(peak <= bytes.len() + (16 << 20) + (64 << 10), "{peak} bytes allocated for {}: {read:?}", bytes.len());
    let (header, table) = bytes.split_at(bytes.len().min(HEADER_LEN));
    let table = table.to_vec();
    let (joined, peak) = peak_of(|| CuckooFilter::from_header_and_table(header, table));
    assert!(peak <= 64 << 10, "{peak} bytes allocated for a table that is there: {joined:?}");
    match (&loaded, &read, &joined) {
        (Ok(loaded), Ok(read), Ok(joined)) => {
            assert_eq!(loaded, read, "from_bytes and read_from");
            assert_eq!(loaded, joined, "from_bytes and from_header_and_table");
            assert_eq!([joined.header_bytes(), joined.table_bytes().to_vec()].concat(), bytes, "the two parts");
            assert_eq!(loaded.check_invariants(), Ok(()), "{loaded:?}");
            assert_eq!(loaded.iter().count(), loaded.len(), "{loaded:?}");
        }
        (Err(error), Err(_), Err(_)) => assert!(!error.to_string().is_empty(), "an error says why"),
        _ => panic!("from_bytes gives {loaded:?}, read_from {read:?}, from_header_and_table {joined:?}"),
    }
    loaded
}

#[track_caller]
fn assert_refused(bytes: &[u8], what: &str) -> LoadError {
    match load(bytes) {
        Ok(filter) => panic!("{what}: loaded as {filter:?}"),
        Err(error) => error,
    }
}

// What is written.

#[test]
fn a_file_is_the_documented_bytes() {
    for mut filter in filters_of_every_kind() {
        // Copies of one key fill its buckets, so that the order of slots, which has no meaning, does not show.
        let digest = filter.hasher().digest("guira");
        while filter.insert_digest(digest).is_ok() {}

        let parameters = *filter.parameters();
        let mut header = Header {
            version: 1,
            kind: 1,
            layout: 1,
            addressing: if parameters.addressing() == Addressing::Regional { REGIONAL } else { POWER_OF_TWO },
            hash: XXH3,
            slots_per_bucket: parameters.slots_per_bucket().try_into().expect("at most 8"),
            fingerprint_bits: parameters.fingerprint_bits().try_into().expect("at most 32"),
            regions: parameters.region_count(),
            buckets_per_region: parameters.buckets_per_region(),
            capacity: parameters.capacity(),
            len: filter.len() as u64,
            seed: filter.hasher().seed(),
            table_size: 0,
        };
        header.table_size = header.size_of_table().try_into().expect("a small table");
        let mut table = vec![0; filter.size_in_bytes()];
        assert_eq!(table.len() as u64, header.table_size, "{filter:?}: size_in_bytes");
        let fingerprint = header.fingerprint(digest.get());
        let primary = header.primary_bucket(digest.get());
        for bucket in [primary, header.alternate_bucket(primary, fingerprint, header.seed)] {
            for slot in 0..header.slots_per_bucket.into() {
                header.set_slot(&mut table, bucket, slot, fingerprint);
            }
        }
        let expected = [header.to_bytes(&table), table].concat();
        assert_eq!(filter.to_bytes(), expected, "{filter:?}: to_bytes");
    }
}

#[test]
fn another_reader_gives_the_same_answers() {
    for mut filter in filters_of_every_kind() {
        let present = fill(&mut filter, usize::MAX);
        let bytes = filter.to_bytes();
        let (header, table) = (Header::from_bytes(&bytes), &bytes[HEADER_LEN..]);
        for key in present.into_iter().chain(1 << 40..(1 << 40) + 100) {
            let digest = filter.hasher().digest(&key);
            let found = header.contains(table, digest.get(), header.seed);
            assert_eq!(filter.contains(&key), found, "{filter:?}: contains({key})");
        }
    }
}

#[test]
fn another_reader_gives_the_same_answers_for_every_shape() {
    for mut filter in filters_of_every_shape(37) {
        let present = fill(&mut filter, usize::MAX);
        let bytes = filter.to_bytes();
        let (header, table) = (Header::from_bytes(&bytes), &bytes[HEADER_LEN..]);
        for key in present.into_iter().chain(1 << 40..(1 << 40) + 200) {
            let digest = filter.hasher().digest(&key);
            let found = header.contains(table, digest.get(), header.seed);
            assert_eq!(filter.contains(&key), found, "{filter:?}: contains({key})");
        }
    }
}

#[test]
fn another_reader_gives_the_same_answers_for_several_regions() {
    let builder = CuckooFilter::builder().bucket_count(200_001).slots_per_bucket(2).fingerprint_bits(11).seed(5);
    let mut filter = builder.build().expect("measures in range");
    assert!(filter.parameters().region_count() > 1, "{filter:?}");
    let present = fill(&mut filter, 100_000);
    let bytes = filter.to_bytes();
    let (header, table) = (Header::from_bytes(&bytes), &bytes[HEADER_LEN..]);
    for key in present.into_iter().chain(1 << 40..(1 << 40) + 100_000) {
        let digest = filter.hasher().digest(&key);
        assert_eq!(filter.contains(&key), header.contains(table, digest.get(), header.seed), "contains({key})");
    }
}

#[test]
fn another_reader_gives_the_same_answers_for_a_secret_key() {
    let builder = CuckooFilter::builder().bucket_count(101).slots_per_bucket(4).fingerprint_bits(9).seed(5);
    let mut filter = builder.hash(HashAlgorithm::SipHash13 { key: SECRET }).build().expect("measures in range");
    let present = fill(&mut filter, usize::MAX);
    let bytes = filter.to_bytes();
    let (header, table) = (Header::from_bytes(&bytes), &bytes[HEADER_LEN..]);
    let sip_hash = |bytes: &[u8]| siphasher::sip::SipHasher13::new_with_key(&SECRET).hash(bytes);
    assert_eq!((header.hash, header.seed), (SIP_HASH_13, sip_hash(b"guira: key check")));
    for key in present.into_iter().chain(1 << 40..(1 << 40) + 1000) {
        let found = header.contains(table, sip_hash(&key.to_le_bytes()), sip_hash(b"guira: alternates"));
        assert_eq!(filter.contains(&key), found, "contains({key})");
    }
}

#[test]
fn a_file_of_another_writer_is_read() {
    let mut random = SplitMix64::new(8);
    for (addressing, buckets_per_region) in [(REGIONAL, 50), (REGIONAL, 51), (POWER_OF_TWO, 64)] {
        let regions = if addressing == REGIONAL { 3 } else { 1 };
        let mut header = Header {
            version: 1,
            kind: 1,
            layout: 1,
            addressing,
            hash: XXH3,
            slots_per_bucket: 4,
            fingerprint_bits: 10,
            regions,
            buckets_per_region,
            capacity: 7,
            len: 0,
            seed: 1234,
            table_size: 0,
        };
        header.table_size = header.size_of_table().try_into().expect("a small table");
        let mut table = vec![0; header.table_size.try_into().expect("a small table")];
        let digests: Vec<u64> = (0..100).map(|_| random.next()).collect();
        for &digest in &digests {
            let (fingerprint, primary) = (header.fingerprint(digest), header.primary_bucket(digest));
            let alternate = header.alternate_bucket(primary, fingerprint, header.seed);
            let candidates = if random.below(2) == 0 { [primary, alternate] } else { [alternate, primary] };
            let mut slots = candidates.into_iter().flat_map(|bucket| (0..4).map(move |slot| (bucket, slot)));
            let empty = slots.find(|&(bucket, slot)| header.slot(&table, bucket, slot) == 0);
            let (bucket, slot) = empty.expect("at most half of the table is full");
            header.set_slot(&mut table, bucket, slot, fingerprint);
            header.len += 1;
        }
        let mut filter = load(&[header.to_bytes(&table), table].concat()).expect("a file as documented");
        assert_eq!((filter.len(), filter.capacity(), filter.hasher().seed()), (100, 7, 1234));
        for digest in digests.into_iter().map(Digest::new) {
            assert!(filter.contains_digest(digest), "{digest:?} is lost");
            assert!(filter.remove_digest(digest), "{digest:?} is lost");
        }
        assert!(filter.is_empty(), "{filter:?}");
    }
}

// Round trips.

#[test]
fn a_filter_comes_back_as_it_was() {
    for mut filter in filters_of_every_kind() {
        for most in [0, 1, filter.slot_count() / 2, usize::MAX] {
            filter.clear();
            fill(&mut filter, most);
            let bytes = filter.to_bytes();
            let loaded = load(&bytes).unwrap_or_else(|error| panic!("{filter:?}: {error}"));
            assert_eq!(loaded, filter, "loaded");
            assert_eq!(loaded.parameters(), filter.parameters(), "loaded");
            assert_eq!(loaded.hasher(), filter.hasher(), "loaded");
            assert_eq!((loaded.len(), loaded.capacity()), (filter.len(), filter.capacity()), "{filter:?}");
            assert_eq!(loaded.to_bytes(), bytes, "{filter:?}: saved again");
            let mut written = Vec::new();
            filter.write_to(&mut written).expect("a Vec takes all");
            assert_eq!(written, bytes, "{filter:?}: write_to");
        }
    }
}

/// Every shape with all its fingerprint lengths.
fn filters_of_every_shape(bucket_count: u64) -> impl Iterator<Item = CuckooFilter> {
    all_shapes().into_iter().flat_map(move |shape| {
        (shape.least_fingerprint_bits()..=32).map(move |fingerprint_bits| {
            build(shape, if shape.addressing() == Addressing::PowerOfTwo { 32 } else { bucket_count }, fingerprint_bits)
        })
    })
}

fn build(shape: Shape, bucket_count: u64, fingerprint_bits: u32) -> CuckooFilter {
    CuckooFilter::builder()
        .bucket_count(bucket_count)
        .layout(shape.layout())
        .addressing(shape.addressing())
        .slots_per_bucket(shape.slots_per_bucket())
        .fingerprint_bits(fingerprint_bits)
        .seed(fingerprint_bits.into())
        .build()
        .expect("measures in range")
}

#[test]
fn a_filter_of_any_shape_comes_back_and_goes_on_as_it_was() {
    for mut filter in filters_of_every_shape(37) {
        for most in [0, 1, filter.slot_count() / 2, usize::MAX] {
            filter.clear();
            let keys = fill(&mut filter, most);
            let bytes = filter.to_bytes();
            let mut loaded = load(&bytes).unwrap_or_else(|error| panic!("{filter:?}: {error}"));
            assert_eq!(loaded, filter, "loaded");
            assert_eq!((loaded.len(), loaded.capacity()), (filter.len(), filter.capacity()), "{filter:?}");
            assert_eq!(loaded.to_bytes(), bytes, "{filter:?}: saved again");
            for key in keys.iter().step_by(2) {
                assert!(filter.remove(key) && loaded.remove(key), "{filter:?}: remove({key})");
            }
            for key in 1 << 40..(1 << 40) + 50_u64 {
                assert_eq!(loaded.insert(&key), filter.insert(&key), "{filter:?}: insert({key})");
            }
            assert_eq!(loaded.to_bytes(), filter.to_bytes(), "{filter:?}");
        }
    }
}

/// A code says which four nibbles there are, and there are 3876 such sets: the other codes of 12 bits mean nothing.
#[test]
fn a_semi_sorted_bucket_with_a_code_that_no_nibbles_have_is_refused() {
    let shape = Shape::new(Layout::SemiSorted, Addressing::Regional, 4).expect("there is such a table");
    for fingerprint_bits in 5..=32 {
        let file = build(shape, 6, fingerprint_bits).to_bytes();
        let bucket_bits = 4 * (fingerprint_bits as usize - 1);
        for bucket in [0, 3, 5] {
            for code in [3876, 3877, 4000, 4095_usize] {
                let mut changed = file.clone();
                for bit in (0..12).filter(|bit| code >> bit & 1 == 1) {
                    let at = HEADER_LEN * 8 + bucket * bucket_bits + bit;
                    changed[at / 8] |= 1 << (at % 8);
                }
                let what = format!("code {code} in bucket {bucket}, f = {fingerprint_bits}");
                for len in 0..=4 {
                    changed[40] = len;
                    fix_checksums(&mut changed);
                    let error = assert_refused(&changed, &what);
                    assert!(matches!(error, LoadError::Inconsistent { .. }), "{what}: {error:?}");
                }
            }
        }
    }
}

#[test]
fn layouts_with_measures_that_do_not_go_with_them_are_refused() {
    let file = small_file();
    let table = &file[HEADER_LEN..];
    for (layout, addressing, slots_per_bucket, fingerprint_bits, buckets_per_region) in [
        (2, 1, 1, 13, 6),
        (2, 1, 2, 13, 6),
        (2, 1, 8, 13, 6),
        (2, 1, 4, 4, 6),
        (2, 2, 4, 13, 6),
        (2, 3, 4, 13, 9),
        (2, 4, 4, 13, 16),
        (3, 1, 1, 13, 6),
        (3, 1, 8, 13, 6),
        (3, 2, 4, 13, 8),
        (3, 3, 4, 13, 9),
        (3, 4, 4, 13, 16),
        (1, 3, 4, 13, 6),
        (1, 4, 4, 13, 8),
    ] {
        let mut header = Header::from_bytes(&file);
        (header.layout, header.addressing) = (layout, addressing);
        (header.slots_per_bucket, header.fingerprint_bits) = (slots_per_bucket, fingerprint_bits);
        (header.buckets_per_region, header.capacity) = (buckets_per_region, 1);
        let error = assert_refused(&[header.to_bytes(table), table.to_vec()].concat(), &format!("{header:?}"));
        assert!(matches!(error, LoadError::Parameters(_)), "{header:?}: {error:?}");
    }
}

#[test]
fn no_table_makes_a_loaded_filter_panic() {
    let windowed = |filter: &CuckooFilter| filter.parameters().layout() == Layout::Windowed;
    for filter in filters_of_every_shape(9).filter(|filter| !windowed(filter)) {
        use_after_any_change(&filter);
    }
}

#[test]
fn no_table_of_windows_makes_a_loaded_filter_panic() {
    let windowed = |filter: &CuckooFilter| filter.parameters().layout() == Layout::Windowed;
    for filter in filters_of_every_shape(9).filter(windowed) {
        use_after_any_change(&filter);
    }
}

/// Fills the table with random bits and, where that is loaded, looks at every fingerprint, removes and inserts.
fn use_after_any_change(filter: &CuckooFilter) {
    let parameters = filter.parameters();
    let mut random = SplitMix64::new(parameters.fingerprint_bits().into());
    let table_bits = usize::try_from(parameters.table_bits()).expect("a small table");
    let file = filter.to_bytes();
    for _ in 0..4 {
        let mut changed = file.clone();
        for bit in (0..table_bits).filter(|_| random.below(4) > 0) {
            changed[HEADER_LEN + bit / 8] |= 1 << (bit % 8);
        }
        for len in filter.slot_count().saturating_sub(12)..=filter.slot_count() {
            changed[40..48].copy_from_slice(&(len as u64).to_le_bytes());
            fix_checksums(&mut changed);
            if let Ok(mut loaded) = load(&changed) {
                for key in 0..50_u64 {
                    // Any answer is right: the table holds what no keys gave.
                    let _removed: bool = loaded.remove(&key);
                    drop(loaded.insert(&key));
                }
                assert_eq!(loaded.check_invariants(), Ok(()), "{loaded:?}");
            }
        }
    }
}

#[test]
fn a_loaded_filter_goes_on_like_the_saved_one() {
    let mut random = SplitMix64::new(4);
    for mut filter in filters_of_every_kind().step_by(7) {
        let mut keys = fill(&mut filter, usize::MAX);
        let mut loaded = load(&filter.to_bytes()).expect("a file of the library");
        for fresh in 1 << 40..(1 << 40) + 200_u64 {
            if random.below(2) == 0 && !keys.is_empty() {
                let key = keys.swap_remove(random.below(keys.len()));
                assert!(filter.remove(&key) && loaded.remove(&key), "{filter:?}: remove({key})");
            } else {
                let stored = filter.insert(&fresh);
                assert_eq!(loaded.insert(&fresh), stored, "{filter:?}: insert({fresh})");
                keys.extend(stored.map(|()| fresh));
            }
        }
        assert_eq!(loaded.to_bytes(), filter.to_bytes(), "{filter:?}");
    }
}

#[test]
fn a_large_filter_comes_back_through_a_stream() {
    // Larger than what is taken in advance, and read in odd pieces.
    let builder = CuckooFilter::builder().bucket_count(6_000_000).fingerprint_bits(10).seed(1);
    let mut filter = builder.build().expect("measures in range");
    fill(&mut filter, 1_000_000);
    let bytes = filter.to_bytes();
    assert!(bytes.len() > 24 << 20, "{} bytes", bytes.len());
    let (loaded, peak) = peak_of(|| CuckooFilter::read_from(Pieces { rest: &bytes, most: 10_007, end: End::Here }));
    assert_eq!(loaded.expect("a file of the library"), filter);
    assert!(peak <= bytes.len() + (16 << 20) + (64 << 10), "{peak} bytes allocated for {}", bytes.len());
    let (loaded, peak) = peak_of(|| CuckooFilter::from_bytes(&bytes));
    assert_eq!(loaded.expect("a file of the library"), filter);
    assert!(peak <= bytes.len() + (64 << 10), "{peak} bytes allocated for {}", bytes.len());
}

/// A stream that comes in pieces, is interrupted before each, and may fail at its end.
struct Pieces<'bytes> {
    rest: &'bytes [u8],
    most: usize,
    end: End,
}

enum End {
    Here,
    Failure,
    InterruptedBefore(Box<End>),
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = std::mem::replace(&mut self.end, End::Here);
        if let End::InterruptedBefore(end) = end {
            self.end = *end;
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.rest.is_empty() && matches!(end, End::Failure) {
            return Err(io::Error::other("the disk is on fire"));
        }
        let len = buffer.len().min(self.most).min(self.rest.len());
        let (piece, rest) = self.rest.split_at(len);
        buffer[..len].copy_from_slice(piece);
        self.rest = rest;
        self.end = End::InterruptedBefore(Box::new(end));
        Ok(len)
    }
}

#[test]
fn a_stream_may_come_in_any_pieces_and_be_interrupted() {
    let file = small_file();
    let filter = load(&file).expect("a file of the library");
    for most in 1..=file.len() {
        let pieces = Pieces { rest: &file, most, end: End::Here };
        let read = CuckooFilter::read_from(pieces).unwrap_or_else(|error| panic!("pieces of {most} bytes: {error}"));
        assert_eq!(read, filter, "pieces of {most} bytes");
    }
}

#[test]
fn a_stream_that_fails_is_refused_with_its_error() {
    let file = small_file();
    for len in 0..=file.len() {
        let pieces = Pieces { rest: &file[..len], most: 50, end: End::Failure };
        let error = CuckooFilter::read_from(pieces).expect_err("it fails");
        let LoadError::Io(error) = error else { panic!("failure after {len} bytes: {error:?}") };
        assert_eq!(error.to_string(), "the disk is on fire");
    }
}

#[test]
fn a_writer_that_fails_is_reported() {
    struct Full(usize);
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let len = bytes.len().min(self.0);
            self.0 -= len;
            Ok(len)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let file = small_file();
    let filter = load(&file).expect("a file of the library");
    for room in 0..file.len() {
        let error = filter.write_to(Full(room)).expect_err("there is no room");
        assert_eq!(error.kind(), io::ErrorKind::WriteZero, "room for {room} bytes");
    }
    filter.write_to(Full(file.len())).expect("there is room");
}

// Damage.

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
    CuckooFilter::from_bytes_with_key(&file, SECRET).expect("undamaged");
    for at in 0..file.len() {
        for flip in 1..=255 {
            let mut damaged = file.clone();
            damaged[at] ^= flip;
            let refused = CuckooFilter::from_bytes_with_key(&damaged, SECRET).is_err();
            assert!(refused, "byte {at} xor {flip}");
            let refused = CuckooFilter::read_from_with_key(damaged.as_slice(), SECRET).is_err();
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

// Malice: checksums are no defence against who computes them.

type Change = fn(&mut Header);

#[test]
fn headers_that_contradict_themselves_are_refused() {
    let file = small_file();
    let right = Header::from_bytes(&file);
    let table = &file[HEADER_LEN..];
    let refusal = |what: &str, change: Change| {
        let mut header = right;
        change(&mut header);
        assert_refused(&[header.to_bytes(table), table.to_vec()].concat(), what)
    };
    assert!(matches!(refusal("kind", |header| header.kind = 9), LoadError::Unknown { what: "kind", found: 9 }));
    assert!(matches!(refusal("layout", |header| header.layout = 0), LoadError::Unknown { what: "layout", found: 0 }));
    let error = refusal("addressing", |header| header.addressing = 6);
    assert!(matches!(error, LoadError::Unknown { what: "addressing", found: 6 }), "{error:?}");
    assert!(matches!(refusal("hash", |header| header.hash = 9), LoadError::Unknown { what: "hash", found: 9 }));
    assert!(matches!(refusal("hash", |header| header.hash = SIP_HASH_13), LoadError::KeyMissing));

    let measures: [(&str, Change); 16] = [
        ("no slots", |header| header.slots_per_bucket = 0),
        ("three slots", |header| header.slots_per_bucket = 3),
        ("too many slots", |header| header.slots_per_bucket = 16),
        ("no bits", |header| header.fingerprint_bits = 0),
        ("one bit", |header| header.fingerprint_bits = 1),
        ("too many bits", |header| header.fingerprint_bits = 33),
        ("no region", |header| header.regions = 0),
        ("no buckets", |header| header.buckets_per_region = 0),
        ("too many regions", |header| header.regions = (1 << 32) / 6 + 1),
        ("too many buckets", |header| header.buckets_per_region = (1 << 32) + 1),
        ("product that overflows", |header| (header.regions, header.buckets_per_region) = (1 << 63, 12)),
        ("greatest numbers", |header| (header.regions, header.buckets_per_region) = (u64::MAX, u64::MAX)),
        ("not a power of two", |header| header.addressing = POWER_OF_TWO),
        ("two regions of a power of two", |header| {
            (header.addressing, header.regions, header.buckets_per_region) = (POWER_OF_TWO, 2, 2);
        }),
        ("capacity beyond the slots", |header| header.capacity = 25),
        ("greatest capacity", |header| header.capacity = u64::MAX),
    ];
    for (what, change) in measures {
        let error = refusal(what, change);
        assert!(matches!(error, LoadError::Parameters(_)), "{what}: {error:?}");
        assert!(std::error::Error::source(&error).is_some(), "{what}: {error:?} has a source");
    }

    let contradictions: [(&str, Change); 8] = [
        ("one key more", |header| header.len += 1),
        ("one key less", |header| header.len -= 1),
        ("more keys than slots", |header| header.len = 25),
        ("greatest len", |header| header.len = u64::MAX),
        ("larger table", |header| header.table_size += 8),
        ("smaller table", |header| header.table_size -= 8),
        ("no table", |header| header.table_size = 0),
        ("greatest table", |header| header.table_size = u64::MAX),
    ];
    for (what, change) in contradictions {
        let error = refusal(what, change);
        assert!(matches!(error, LoadError::Inconsistent { .. }), "{what}: {error:?}");
    }
    refusal("version 0", |header| header.version = 0);
}

#[test]
fn reserved_bytes_and_padding_that_are_not_0_are_refused() {
    let file = small_file();
    let header = Header::from_bytes(&file);
    let table_bits = 6 * 4 * usize::from(header.fingerprint_bits);
    let reserved = (64 * 8)..(112 * 8);
    let padding = HEADER_LEN * 8 + table_bits..file.len() * 8;
    assert!(padding.len() >= 15 * 8, "{} bits of padding", padding.len());
    for bit in reserved.chain(padding) {
        let mut damaged = file.clone();
        damaged[bit / 8] |= 1 << (bit % 8);
        fix_checksums(&mut damaged);
        let error = assert_refused(&damaged, &format!("bit {bit}"));
        // A doubling, too, where there are none.
        let is_clear = matches!(error, LoadError::Inconsistent { .. } | LoadError::Parameters(_));
        assert!(is_clear, "bit {bit}: {error:?}");
    }
}

#[test]
fn a_header_byte_with_checksums_made_to_match_is_refused_or_harmless() {
    let file = small_file();
    for at in 0..HEADER_LEN - 8 {
        for flip in 1..=255 {
            let mut changed = file.clone();
            changed[at] ^= flip;
            fix_checksums(&mut changed);
            // Only the capacity and the seed may be anything, the first within bounds. The table checksum is fixed. And
            // what is in a regional table may be in one that can be doubled.
            if let Ok(filter) = load(&changed) {
                assert!(
                    (at == 12 && filter.parameters().addressing() == Addressing::Doubling)
                        || (32..40).contains(&at)
                        || (48..56).contains(&at)
                        || (112..120).contains(&at),
                    "{at}: {filter:?}"
                );
                assert!(filter.capacity() <= filter.slot_count(), "byte {at} xor {flip}: {filter:?}");
            }
        }
    }
}

#[test]
fn a_table_bit_with_checksums_made_to_match_is_refused_or_another_fingerprint() {
    let file = small_file();
    let original = load(&file).expect("a file of the library");
    let mut accepted = 0;
    for bit in HEADER_LEN * 8..file.len() * 8 {
        let mut changed = file.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        fix_checksums(&mut changed);
        if let Ok(filter) = load(&changed) {
            assert_eq!(filter.len(), original.len(), "bit {bit}");
            let differences = filter.iter().zip(&original).filter(|(changed, stored)| changed != stored).count();
            assert_eq!(differences, 1, "bit {bit}");
            accepted += 1;
        }
    }
    assert!(accepted > 0, "some bit makes another fingerprint of one");
}

#[test]
fn tables_too_large_for_the_file_are_refused_before_memory_is_taken() {
    for (fingerprint_bits, slots_per_bucket, exponent) in
        [(32, 8, 32), (2, 1, 32), (12, 4, 28), (8, 2, 20), (13, 4, 16)]
    {
        for (addressing, regions) in [(REGIONAL, 1), (REGIONAL, 1 << 10), (POWER_OF_TWO, 1)] {
            for payload in [0, 1, 100, 1 << 16] {
                let mut header = Header::from_bytes(&small_file());
                header.addressing = addressing;
                header.slots_per_bucket = slots_per_bucket;
                header.fingerprint_bits = fingerprint_bits;
                header.regions = regions;
                header.buckets_per_region = (1 << exponent) / regions;
                header.table_size = header.size_of_table().try_into().expect("at most 128 GiB");
                header.len = 0;
                let table = vec![0; payload];
                let bytes = [header.to_bytes(&table), table].concat();
                let error = assert_refused(&bytes, &format!("{header:?} with {payload} bytes"));
                assert!(matches!(error, LoadError::Truncated { .. }), "{header:?} with {payload} bytes: {error:?}");
            }
        }
    }
}

#[test]
fn a_stream_that_ends_early_costs_no_more_than_what_came() {
    let mut header = Header::from_bytes(&small_file());
    (header.buckets_per_region, header.fingerprint_bits) = (1 << 32, 32);
    header.table_size = header.size_of_table().try_into().expect("64 GiB");
    for payload in [1 << 20, 10 << 20, 40 << 20] {
        let bytes = [header.to_bytes(&[]), vec![0; payload]].concat();
        let (read, peak) = peak_of(|| CuckooFilter::read_from(bytes.as_slice()));
        let error = read.expect_err("there is no such table");
        assert!(matches!(error, LoadError::Truncated { .. }), "{error:?}");
        assert!(peak <= bytes.len() + (16 << 20) + (64 << 10), "{peak} bytes allocated for {}", bytes.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_make_loading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        assert_refused(&bytes, "random bytes");
    }

    #[test]
    fn no_bytes_behind_a_magic_make_loading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = [b"\x89GUIRA\r\n\x01\0\x01\x01\x01\x01", &bytes[..]].concat();
        assert_refused(&bytes, "random bytes behind a magic");
        fix_checksums(&mut bytes);
        assert_refused(&bytes, "random bytes behind a magic, with checksums");
    }

    /// Any fields at all, biased towards those that are nearly right.
    #[test]
    fn no_header_makes_loading_panic(
        small in proptest::array::uniform6(prop_oneof![4 => 0..5_u8, 1 => any::<u8>()]),
        fingerprint_bits in 0..35_u8,
        numbers in proptest::array::uniform6(prop_oneof![
            4 => 0..70_u64,
            1 => any::<u64>(),
            1 => (0..64_u32).prop_map(|exponent| 1 << exponent),
        ]),
        right_size in prop_oneof![3 => Just(true), 1 => Just(false)],
        table in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..100),
            (0..100_usize).prop_map(|len| vec![0; len]),
        ],
    ) {
        let [version, kind, layout, addressing, hash, slots_exponent] = small;
        let [regions, buckets_per_region, capacity, len, seed, table_size] = numbers;
        let mut header = Header {
            version: version.into(),
            kind,
            layout,
            addressing,
            hash,
            slots_per_bucket: 1_u8.checked_shl(slots_exponent.into()).unwrap_or(0),
            fingerprint_bits,
            regions,
            buckets_per_region,
            capacity,
            len,
            seed,
            table_size,
        };
        if right_size {
            header.table_size = header.size_of_table().try_into().unwrap_or(u64::MAX);
        }
        let bytes = [header.to_bytes(&table), table].concat();
        drop(load(&bytes));
        drop(CuckooFilter::from_bytes_with_key(&bytes, SECRET));
    }

    /// Files of the library with a few bytes changed anywhere, and checksums that match.
    #[test]
    fn no_change_to_a_file_makes_loading_panic(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        cut in 0..20_usize,
    ) {
        let mut bytes = small_file();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut);
        fix_checksums(&mut bytes);
        if let Ok(mut filter) = load(&bytes) {
            // It may be another filter, but it is one.
            fill(&mut filter, usize::MAX);
            prop_assert_eq!(filter.check_invariants(), Ok(()));
        }
    }
}

// Secret keys.

#[test]
fn a_secret_key_is_not_in_the_file_and_must_be_given() {
    let file = small_file_with_secret_key();
    for window in file.windows(8) {
        assert!(window != &SECRET[..8] && window != &SECRET[8..], "half the secret is in the file");
    }
    assert!(matches!(assert_refused(&file, "no key"), LoadError::KeyMissing));
    for bit in 0..128 {
        let mut wrong = SECRET;
        wrong[bit / 8] ^= 1 << (bit % 8);
        let error = CuckooFilter::from_bytes_with_key(&file, wrong).expect_err("another key");
        assert!(matches!(error, LoadError::KeyDiffers), "bit {bit}: {error:?}");
        let error = CuckooFilter::read_from_with_key(file.as_slice(), wrong).expect_err("another key");
        assert!(matches!(error, LoadError::KeyDiffers), "bit {bit}: {error:?}");
    }
    let loaded = CuckooFilter::from_bytes_with_key(&file, SECRET).expect("the right key");
    assert_eq!(loaded.to_bytes(), file);
    assert_eq!(CuckooFilter::read_from_with_key(file.as_slice(), SECRET).expect("the right key"), loaded);
    for key in 0..4_u64 {
        assert!(loaded.contains(&key), "{key} is lost");
    }
}

#[test]
fn a_secret_key_for_a_file_without_one_is_refused() {
    let error = CuckooFilter::from_bytes_with_key(&small_file(), SECRET).expect_err("no secret");
    assert!(matches!(error, LoadError::KeyNotUsed), "{error:?}");
}

#[test]
fn parts_of_a_file_that_were_cut_elsewhere_are_refused() {
    let file = small_file();
    for (header, table) in [file.split_at(HEADER_LEN - 1), file.split_at(HEADER_LEN + 1)] {
        let error = CuckooFilter::from_header_and_table(header, table.to_vec()).expect_err("cut at the wrong place");
        assert!(matches!(error, LoadError::Truncated { .. } | LoadError::TrailingBytes { .. }), "{error}");
    }
}
