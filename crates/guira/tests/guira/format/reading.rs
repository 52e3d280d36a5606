//! What is written is what docs/format.md says, and comes back as it was.

use std::io::{self, Read};

use guira::{Addressing, CuckooFilter, Digest, KeyHasher, LoadError};

use super::files::{SECRET, fill, filters_of_every_kind, filters_of_every_shape, load, small_file};
use crate::oracle::allocation::peak_of;
use crate::oracle::checksums::HEADER_LEN;
use crate::oracle::random::SplitMix64;
use crate::oracle::slots::Slots as _;
use crate::oracle::specification::{DOUBLING, Header, POWER_OF_TWO, REGIONAL, SIP_HASH_13, XXH3};

#[test]
fn a_file_is_the_documented_bytes() {
    for mut filter in filters_of_every_kind() {
        // Copies of one key fill its buckets, so that the order of slots, which has no meaning, does not show.
        let digest = filter.hasher().digest("guira");
        while filter.insert(&digest).is_ok() {}

        let parameters = *filter.parameters();
        let mut header = Header {
            version: 1,
            kind: 1,
            layout: 1,
            addressing: if parameters.addressing() == Addressing::Regional { REGIONAL } else { POWER_OF_TWO },
            hash: XXH3,
            slots_per_bucket: parameters.slots_per_bucket().try_into().expect("at most 8"),
            fingerprint_bits: parameters.fingerprint_bits().try_into().expect("at most 56"),
            regions: parameters.region_count(),
            buckets_per_region: (parameters.bucket_count() / parameters.region_count()),
            capacity: parameters.capacity(),
            len: filter.len() as u64,
            seed: filter.hasher().seed(),
            table_size: 0,
            doublings: 0,
            mark: 0,
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
    let builder = CuckooFilter::builder()
        .bucket_count(200_001)
        .slots_per_bucket(2)
        .fingerprint_bits(11)
        .hasher(KeyHasher::xxh3(5));
    let mut filter = builder.build().expect("parameters in range");
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
    let builder =
        CuckooFilter::builder().bucket_count(101).slots_per_bucket(4).fingerprint_bits(9).hasher(KeyHasher::xxh3(5));
    let mut filter = builder.hasher(KeyHasher::sip_hash_13(SECRET)).build().expect("parameters in range");
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
            doublings: 0,
            mark: 0,
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
            assert!(filter.contains(&digest), "{digest:?} is lost");
            assert!(filter.remove(&digest), "{digest:?} is lost");
        }
        assert!(filter.is_empty(), "{filter:?}");
    }
}

/// Of several regions, from the smallest ones, and with fingerprints of every length.
#[test]
fn tables_of_another_writer_are_read_however_often_they_were_doubled_by_half() {
    let mut random = SplitMix64::new(9);
    let lengths = [8, 9, 10, 13, 17, 32, 33, 41];
    let cases = [2, 6, 10].into_iter().flat_map(|size| (0..9_u8).map(move |half_doublings| (size, half_doublings)));
    for ((first_size, half_doublings), fingerprint_bits) in cases.flat_map(|case| lengths.map(|bits| (case, bits))) {
        let (doublings, mark) = (half_doublings / 2, u64::from(half_doublings % 2));
        if mark == 1 && fingerprint_bits == 8 {
            continue;
        }
        let buckets_per_region = (first_size << doublings) / 2 * (2 + mark);
        let mut header = Header {
            version: 1,
            kind: 1,
            layout: 1,
            addressing: DOUBLING,
            hash: XXH3,
            slots_per_bucket: 4,
            fingerprint_bits,
            regions: 3,
            buckets_per_region,
            capacity: 7,
            len: 0,
            seed: 1234,
            table_size: 0,
            doublings,
            mark,
        };
        let what = format!("{header:?}");
        header.table_size = header.size_of_table().try_into().expect("a small table");
        let mut table = vec![0; header.table_size.try_into().expect("a small table")];
        let mut digests = Vec::new();
        for _ in 0..6 * buckets_per_region {
            let digest = random.next();
            let (fingerprint, mut buckets) = header.fingerprint_and_buckets(digest, header.seed);
            if random.below(2) == 0 {
                buckets.reverse();
            }
            let mut slots = buckets.into_iter().flat_map(|bucket| (0..4).map(move |slot| (bucket, slot)));
            if let Some((bucket, slot)) = slots.find(|&(bucket, slot)| header.slot(&table, bucket, slot) == 0) {
                header.set_slot(&mut table, bucket, slot, fingerprint);
                header.len += 1;
                digests.push(digest);
            }
        }
        let mut filter = load(&[header.to_bytes(&table), table.clone()].concat()).expect("a file as documented");
        assert_eq!(filter.parameters().half_doublings(), u32::from(half_doublings), "{what}");
        assert_eq!(filter.len() as u64, header.len, "{what}");
        for digest in (0..300).map(|_| random.next()) {
            let found = header.contains(&table, digest, header.seed);
            assert_eq!(filter.contains(&Digest::new(digest)), found, "{what}: {digest}");
        }
        for digest in digests.into_iter().map(Digest::new) {
            assert!(filter.contains(&digest) && filter.remove(&digest), "{what}: {digest:?} is lost");
        }
        assert!(filter.is_empty(), "{what}");
    }
}

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
    let builder = CuckooFilter::builder().bucket_count(6_000_000).fingerprint_bits(10).hasher(KeyHasher::xxh3(1));
    let mut filter = builder.build().expect("parameters in range");
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
