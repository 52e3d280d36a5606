//! The files that the tests are about, and loading them in all ways.

use guira::raw::RawFilter as _;
use guira::{Addressing, CuckooFilter, KeyHasher, Layout, LoadError, Parameters};

use crate::oracle::allocation::peak_of;
use crate::oracle::checksums::HEADER_LEN;
use crate::oracle::shapes::{Shape, all_shapes};

pub(crate) const SECRET: [u8; 16] = *b"0123456789abcdef";

/// Every fingerprint length, bucket size and addressing, in tables of a few sizes.
pub(crate) fn filters_of_every_kind() -> impl Iterator<Item = CuckooFilter> {
    let regional = [1, 2, 5, 24, 37].map(|bucket_count| (Addressing::Regional, bucket_count));
    let power_of_two = [1, 2, 32].map(|bucket_count| (Addressing::PowerOfTwo, bucket_count));
    let tables = regional.into_iter().chain(power_of_two);
    tables.flat_map(|(addressing, bucket_count)| {
        [1, 2, 3, 4, 8].into_iter().flat_map(move |slots_per_bucket| {
            let shape = Shape { layout: Layout::Packed, addressing, slots_per_bucket };
            shape.fingerprint_lengths().map(move |fingerprint_bits| {
                CuckooFilter::builder()
                    .bucket_count(bucket_count)
                    .slots_per_bucket(slots_per_bucket)
                    .fingerprint_bits(fingerprint_bits)
                    .addressing(addressing)
                    .hasher(KeyHasher::xxh3(u64::from(fingerprint_bits) << 40 | bucket_count))
                    .build()
                    .expect("parameters in range")
            })
        })
    })
}

/// Inserts keys until a few were refused, or until there are so many.
pub(crate) fn fill(filter: &mut CuckooFilter, most: usize) -> Vec<u64> {
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
pub(crate) fn small_file() -> Vec<u8> {
    let builder =
        CuckooFilter::builder().bucket_count(6).slots_per_bucket(4).fingerprint_bits(13).hasher(KeyHasher::xxh3(99));
    let mut filter = builder.build().expect("parameters in range");
    fill(&mut filter, 12);
    filter.to_bytes()
}

pub(crate) fn small_file_with_secret_key() -> Vec<u8> {
    let builder = CuckooFilter::builder().bucket_count(3).slots_per_bucket(2).fingerprint_bits(7);
    let mut filter = builder.hasher(KeyHasher::sip_hash_13(SECRET)).build().expect("parameters in range");
    fill(&mut filter, 4);
    filter.to_bytes()
}

/// Loads bytes in all three ways, which must agree, in little memory, and give a sound filter if any.
pub(crate) fn load(bytes: &[u8]) -> Result<CuckooFilter, LoadError> {
    let (loaded, peak) = peak_of(|| CuckooFilter::from_bytes(bytes));
    assert!(peak <= bytes.len() + (64 << 10), "{peak} bytes allocated for {}: {loaded:?}", bytes.len());
    let (read, peak) = peak_of(|| CuckooFilter::read_from(bytes));
    assert!(peak <= bytes.len() + (16 << 20) + (64 << 10), "{peak} bytes allocated for {}: {read:?}", bytes.len());
    let (header, table) = bytes.split_at(bytes.len().min(HEADER_LEN));
    let table = table.to_vec();
    let (joined, peak) = peak_of(|| CuckooFilter::from_file_parts(header, table, &[]));
    assert!(peak <= 64 << 10, "{peak} bytes allocated for a table that is there: {joined:?}");
    match (&loaded, &read, &joined) {
        (Ok(loaded), Ok(read), Ok(joined)) => {
            assert_eq!(loaded, read, "from_bytes and read_from");
            assert_eq!(loaded, joined, "from_bytes and from_file_parts");
            let (header, table, times) = joined.file_parts();
            assert_eq!([&header, &*table, &times, joined.chunks()].concat(), bytes, "the parts");
            assert_eq!(loaded.check_invariants(), Ok(()), "{loaded:?}");
            assert_eq!(loaded.fingerprints().count(), loaded.len(), "{loaded:?}");
        }
        (Err(error), Err(_), Err(_)) => assert!(!error.to_string().is_empty(), "an error says why"),
        _ => panic!("from_bytes gives {loaded:?}, read_from {read:?}, from_file_parts {joined:?}"),
    }
    loaded
}

#[track_caller]
pub(crate) fn assert_refused(bytes: &[u8], what: &str) -> LoadError {
    match load(bytes) {
        Ok(filter) => panic!("{what}: loaded as {filter:?}"),
        Err(error) => error,
    }
}

/// Every shape with all its fingerprint lengths.
pub(crate) fn filters_of_every_shape(bucket_count: u64) -> impl Iterator<Item = CuckooFilter> {
    all_shapes().into_iter().flat_map(move |shape| {
        shape.fingerprint_lengths().map(move |fingerprint_bits| {
            build(shape, if shape.addressing == Addressing::PowerOfTwo { 32 } else { bucket_count }, fingerprint_bits)
        })
    })
}

pub(crate) fn build(shape: Shape, bucket_count: u64, fingerprint_bits: u32) -> CuckooFilter {
    CuckooFilter::builder()
        .bucket_count(bucket_count)
        .layout(shape.layout)
        .addressing(shape.addressing)
        .slots_per_bucket(shape.slots_per_bucket)
        .fingerprint_bits(fingerprint_bits)
        .hasher(KeyHasher::xxh3(fingerprint_bits.into()))
        .build()
        .expect("parameters in range")
}

/// The bits of a small table, without padding.
pub(crate) fn table_bits(parameters: &Parameters) -> usize {
    usize::try_from(parameters.slot_count() * u64::from(parameters.bits_per_slot())).expect("a small table")
}
