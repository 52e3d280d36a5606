//! Malice: checksums are no defence against who computes them.

use guira::{Addressing, CuckooFilter, Layout, LoadError};
use proptest::prelude::*;

use super::files::{SECRET, assert_refused, build, fill, filters_of_every_shape, load, small_file, table_bits};
use crate::oracle::allocation::peak_of;
use crate::oracle::checksums::{HEADER_LEN, fix_checksums};
use crate::oracle::random::SplitMix64;
use crate::oracle::shapes::Shape;
use crate::oracle::slots::Slots as _;
use crate::oracle::specification::{Header, POWER_OF_TWO, REGIONAL, SIP_HASH_13};

type Change = fn(&mut Header);

const LEN_AT: usize = 40;

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
    // 3 belonged to a layout that is no more.
    assert!(matches!(refusal("layout 3", |header| header.layout = 3), LoadError::Unknown { what: "layout", found: 3 }));
    let error = refusal("addressing", |header| header.addressing = 6);
    assert!(matches!(error, LoadError::Unknown { what: "addressing", found: 6 }), "{error:?}");
    // Digests that come from the caller.
    assert!(matches!(refusal("hash 3", |header| header.hash = 3), LoadError::Unknown { what: "hash", found: 3 }));
    assert!(matches!(refusal("hash", |header| header.hash = 9), LoadError::Unknown { what: "hash", found: 9 }));
    assert!(matches!(refusal("hash", |header| header.hash = SIP_HASH_13), LoadError::SecretKeyMissing));

    let measures: [(&str, Change); 17] = [
        ("no slots", |header| header.slots_per_bucket = 0),
        ("five slots", |header| header.slots_per_bucket = 5),
        ("too many slots", |header| header.slots_per_bucket = 16),
        ("no bits", |header| header.fingerprint_bits = 0),
        ("one bit", |header| header.fingerprint_bits = 1),
        ("too many bits", |header| header.fingerprint_bits = 57),
        ("too many bits for a power of two", |header| {
            (header.addressing, header.fingerprint_bits) = (POWER_OF_TWO, 33);
        }),
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
        let LoadError::Parameters(cause) = &error else { panic!("{what}: {error:?}") };
        assert!(error.to_string().contains(&cause.to_string()), "{what}: {error} says why");
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
fn a_promise_of_more_buckets_than_a_table_has_is_refused() {
    let builder = CuckooFilter::builder().capacity(100).max_capacity(1 << 30).false_positive_rate(1e-9);
    let mut file = builder.build().expect("small").to_bytes();
    let (promised, spare) = (file[67], file[15] + file[65] - 8);
    assert!(u64::from(promised) > 20 && spare > promised + 2, "{promised} of {spare}");
    let [regions, buckets] = [16, 24].map(|at| u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes")));
    let first = (regions * buckets) >> file[65];
    for doublings in promised..=spare {
        file[67] = doublings;
        fix_checksums(&mut file);
        assert_eq!(
            load(&file).is_ok(),
            u128::from(first) << doublings <= 1 << 32,
            "{doublings} doublings of {first} buckets"
        );
    }
}

#[test]
fn bytes_for_growth_and_padding_that_are_not_0_are_refused() {
    let file = small_file();
    let header = Header::from_bytes(&file);
    let table_bits = 6 * 4 * usize::from(header.fingerprint_bits);
    // Behind them are flags, and behind the largest capacity what has tests of its own.
    let of_growth = (64 * 8..68 * 8).chain(72 * 8..80 * 8);
    let padding = HEADER_LEN * 8 + table_bits..file.len() * 8;
    assert!(padding.len() >= 15 * 8, "{} bits of padding", padding.len());
    for bit in of_growth.chain(padding) {
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
                        // Flags that a reader need not know, and the rate that was asked for.
                        || (70..72).contains(&at)
                        || (88..96).contains(&at)
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
            let differences = filter
                .fingerprints()
                .zip(original.fingerprints())
                .filter(|(changed, stored)| changed != stored)
                .count();
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

/// The low bits of a fingerprint say which its buckets are, and are never 0.
#[test]
fn a_fingerprint_that_no_key_has_is_refused() {
    for (addressing, fingerprint_bits, low_bits) in
        [(Addressing::Regional, 40, 32), (Addressing::Doubling, 40, 8), (Addressing::Doubling, 12, 8)]
    {
        let shape = Shape { addressing, ..Shape::USUAL };
        let file = build(shape, 6, fingerprint_bits).to_bytes();
        let slot_bits = fingerprint_bits as usize;
        for slot in [0, 5, 23] {
            for at in 0..slot_bits {
                let mut changed = file.clone();
                let bit = slot * slot_bits + at;
                changed[HEADER_LEN + bit / 8] |= 1 << (bit % 8);
                changed[LEN_AT] = 1;
                fix_checksums(&mut changed);
                let what = format!("{addressing}, f = {fingerprint_bits}: bit {at} of slot {slot}");
                match CuckooFilter::from_bytes(&changed) {
                    Ok(_) => assert!(at < low_bits, "{what}: loaded"),
                    Err(error) => {
                        assert!(at >= low_bits, "{what}: {error}");
                        assert!(matches!(error, LoadError::Inconsistent { .. }), "{what}: {error:?}");
                    }
                }
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

/// A code says which four nibbles there are, and there are 3876 such sets: the other codes of 12 bits mean nothing.
#[test]
fn a_semi_sorted_bucket_with_a_code_that_no_nibbles_have_is_refused() {
    let shape = Shape { layout: Layout::SemiSorted, addressing: Addressing::Regional, slots_per_bucket: 4 };
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

/// Fingerprints with the same low four bits are sorted by their high bits, and insertion relies on it.
#[test]
fn a_semi_sorted_bucket_that_is_out_of_order_is_refused() {
    let shape = Shape { layout: Layout::SemiSorted, addressing: Addressing::Regional, slots_per_bucket: 4 };
    // The codes of four nibbles 0 and four nibbles 1, and how many slots these fill by themselves.
    let (zeros, ones) = ((0, 0), (4, 4));
    for fingerprint_bits in 5..=32 {
        let file = build(shape, 6, fingerprint_bits).to_bytes();
        let (bucket_bits, high_bits) = (4 * (fingerprint_bits as usize - 1), fingerprint_bits as usize - 4);
        for (code, least_len) in [zeros, ones] {
            for lowest_bits in 0_usize..16 {
                let mut changed = file.clone();
                let bucket = HEADER_LEN * 8 + 3 * bucket_bits;
                let code_bits = (0..12).filter(|bit| code >> bit & 1 == 1);
                let lowest = (0..4).filter(|slot| lowest_bits >> slot & 1 == 1).map(|slot| 12 + slot * high_bits);
                for at in code_bits.chain(lowest).map(|bit| bucket + bit) {
                    changed[at / 8] |= 1 << (at % 8);
                }
                changed[40] = u8::try_from(lowest_bits.count_ones()).expect("at most 4").max(least_len);
                fix_checksums(&mut changed);
                let what = format!("f = {fingerprint_bits}, code {code}, high bits {lowest_bits:04b}");
                // Slot 0 is the lowest bit here: what is 1 is in the last slots.
                if [0b0000, 0b1000, 0b1100, 0b1110, 0b1111].contains(&lowest_bits) {
                    assert!(CuckooFilter::from_bytes(&changed).is_ok(), "{what}");
                } else {
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
        (1, 3, 4, 13, 6),
        (1, 4, 4, 13, 8),
        (1, 5, 1, 13, 6),
        (1, 5, 2, 13, 6),
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
    for filter in filters_of_every_shape(9) {
        use_after_any_change(&filter);
    }
}

/// Fills the table with random bits and, where that is loaded, looks at every fingerprint, removes and inserts.
fn use_after_any_change(filter: &CuckooFilter) {
    let parameters = filter.parameters();
    let mut random = SplitMix64::new(parameters.fingerprint_bits().into());
    let table_bits = table_bits(parameters);
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
        small in proptest::array::uniform6(prop_oneof![4 => 0..6_u8, 1 => any::<u8>()]),
        fingerprint_bits in 0..35_u8,
        numbers in proptest::array::uniform6(prop_oneof![
            4 => 0..70_u64,
            1 => any::<u64>(),
            1 => (0..64_u32).prop_map(|exponent| 1 << exponent),
        ]),
        doublings in prop_oneof![4 => 0..4_u8, 1 => any::<u8>()],
        mark in prop_oneof![8 => 0..3_u64, 1 => any::<u64>()],
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
            doublings,
            mark,
        };
        if right_size {
            header.table_size = header.size_of_table().try_into().unwrap_or(u64::MAX);
        }
        let bytes = [header.to_bytes(&table), table].concat();
        drop(load(&bytes));
        drop(guira::LoadOptions::new().secret_key(SECRET).from_bytes::<CuckooFilter>(&bytes));
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
