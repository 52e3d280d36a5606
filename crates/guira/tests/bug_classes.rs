//! Bugs that other filters have or had, one test for each class.
//!
//! Some classes need more than a test, and have files of their own: promised capacities `capacity.rs`, files from
//! strangers `format.rs`, removal under load `model.rs`.

use std::collections::{BTreeMap, HashSet};

use guira::{Addressing, CuckooFilter, Digest, HashAlgorithm, InsertError, KeyHasher, Layout};

mod oracle {
    pub(crate) mod case;
    pub(crate) mod classes;
    pub(crate) mod random;
}

use oracle::case::{Announced, Case};
use oracle::classes::{Class, Prober};
use oracle::random::SplitMix64;

const ADDRESSINGS: [Addressing; 2] = [Addressing::Regional, Addressing::PowerOfTwo];

/// Every fingerprint length and bucket size, with both addressings.
fn every_kind(bucket_count: u64) -> impl Iterator<Item = Case> {
    ADDRESSINGS.into_iter().flat_map(move |addressing| {
        [1, 2, 4, 8].into_iter().flat_map(move |slots_per_bucket| {
            (2..=32).map(move |fingerprint_bits| Case {
                layout: Layout::Packed,
                addressing,
                slots_per_bucket,
                fingerprint_bits,
                bucket_count,
                seed: u64::from(fingerprint_bits),
            })
        })
    })
}

/// Inserts keys until a number of them was refused; the accepted ones, and the refused ones.
fn overfill(filter: &mut CuckooFilter, refusals: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for key in 0.. {
        if refused.len() == refusals {
            break;
        }
        let result = filter.insert(&key);
        if result.is_ok() { accepted.push(key) } else { refused.push(key) }
    }
    (accepted, refused)
}

/// A key that was not inserted, and that the filter takes for one that was.
fn false_positive(filter: &CuckooFilter) -> u64 {
    (1 << 40..).find(|key| filter.contains(key)).expect("there are 2^64 keys")
}

// Seen in several crates and in both popular Go filters, which lost 1,191 of 64,294 keys.
#[test]
fn failed_inserts_lose_no_other_key() {
    for case in every_kind(64) {
        let _announced = Announced(case);
        let mut filter = case.build();
        let (accepted, _) = overfill(&mut filter, 500);
        for key in 1 << 40..(1 << 40) + 500_u64 {
            if filter.insert(&key).is_ok() {
                assert!(filter.remove(&key), "{case}: {key} is lost");
            }
        }
        for key in &accepted {
            assert!(filter.contains(key), "{case}: {key} is lost");
        }
        assert_eq!(filter.len(), accepted.len(), "{case}: the others were refused, or removed again");
    }
}

#[test]
fn a_failed_insert_leaves_every_bit_unchanged() {
    for case in every_kind(32) {
        let _announced = Announced(case);
        let mut filter = case.build();
        overfill(&mut filter, 100);
        let mut failures = 0;
        for key in 1 << 40..(1 << 40) + 500_u64 {
            let before = filter.clone();
            if filter.insert(&key).is_err() {
                assert_eq!(filter, before, "{case}: insert({key})");
                assert_eq!(filter.to_bytes(), before.to_bytes(), "{case}: insert({key})");
                failures += 1;
            }
        }
        assert!(failures >= 100, "{case}: {failures} inserts failed");
    }
}

// The paper's own code keeps the last fingerprint that found no place beside the table, and miscounts it; others neither
// search nor save nor remove it.
#[test]
fn the_last_key_before_a_refusal_is_stored_like_any_other() {
    for case in every_kind(16) {
        let _announced = Announced(case);
        let mut filter = case.build();
        let (accepted, refused) = overfill(&mut filter, 1);
        assert_eq!(filter.len(), accepted.len(), "{case}: the refused key is not counted");
        assert_eq!(filter.iter().count(), accepted.len(), "{case}: every key is in the table");
        let counted = filter.count(&refused[0]);
        let last = accepted.last().expect("the first key fits");
        assert!(filter.contains(last), "{case}: {last} is lost");

        let mut loaded = CuckooFilter::from_bytes(&filter.to_bytes()).expect("a file of the library");
        for filter in [&mut filter, &mut loaded] {
            assert_eq!(filter.count(&refused[0]), counted, "{case}: the refused key is kept nowhere");
            for key in &accepted {
                assert!(filter.remove(key), "{case}: {key} is lost");
            }
            assert!(filter.is_empty() && filter.iter().next().is_none(), "{case}");
            assert!(!filter.contains(&refused[0]), "{case}: the refused key is kept somewhere");
        }
    }
}

// Seen in C and Rust ports: a fingerprint of 0 is taken for an empty slot, and its key is never found.
#[test]
fn no_digest_has_fingerprint_0() {
    let mut random = SplitMix64::new(1);
    for case in every_kind(8) {
        let _announced = Announced(case);
        let greatest = u32::MAX >> (32 - case.fingerprint_bits);
        let extremes = [0, 1, 1 << 31, 1 << 32, u64::MAX << 32, u64::MAX, u64::from(u32::MAX), u64::MAX - 1];
        for digest in extremes.into_iter().chain((0..100).map(|_| random.next() << 32)).map(Digest::new) {
            let mut filter = case.build();
            assert_eq!(filter.insert_digest(digest), Ok(()), "{case}: {digest:?}");
            assert!(filter.contains_digest(digest), "{case}: {digest:?} is lost");
            assert_eq!((filter.count_digest(digest), filter.len()), (1, 1), "{case}: {digest:?}");
            let stored = filter.iter().next().expect("it is stored");
            assert!((1..=greatest).contains(&stored.fingerprint.get()), "{case}: {digest:?} is stored as {stored:?}");
            assert!(filter.remove_digest(digest), "{case}: {digest:?} can't be removed");
            assert!(filter.is_empty(), "{case}: {digest:?}");
        }
    }
}

/// The low 32 bits of a digest are scaled to 1..=2^f - 1, so that their ends are the ends of that range.
#[test]
fn the_ends_of_the_digest_are_the_ends_of_the_fingerprint() {
    for case in every_kind(4) {
        let fingerprint_of = |low: u32| {
            let mut filter = case.build();
            filter.insert_digest(Digest::new(0x1234_5678 << 32 | u64::from(low))).expect("it is empty");
            filter.iter().next().expect("it is stored").fingerprint.get()
        };
        let greatest = u32::MAX >> (32 - case.fingerprint_bits);
        assert_eq!((fingerprint_of(0), fingerprint_of(u32::MAX)), (1, greatest), "{case}");
        assert_eq!(fingerprint_of(1 << 31), greatest.div_ceil(2), "{case}");
    }
}

// Seen in a C# port, in early Rust ones, and in a review of dragonfly, where exclusive or met a size that is no power of
// two: from the alternate bucket, no way leads back to the primary.
#[test]
fn the_alternate_of_the_alternate_is_the_primary_bucket_for_every_size() {
    let power_of_two = (0..=6).map(|exponent| (Addressing::PowerOfTwo, 1 << exponent));
    let regional = (1..=40).map(|bucket_count| (Addressing::Regional, bucket_count));
    let mut random = SplitMix64::new(6);
    for (addressing, bucket_count) in regional.chain(power_of_two) {
        for fingerprint_bits in [2, 5, 13, 32] {
            let case = Case {
                layout: Layout::Packed,
                addressing,
                slots_per_bucket: 1,
                fingerprint_bits,
                bucket_count,
                seed: bucket_count,
            };
            let _announced = Announced(case);
            let mut prober = Prober::for_filters_like(&case.build());
            for _ in 0..4 {
                // Digests with the same low half have the same fingerprint; the high halves lead to every bucket.
                let low = random.next() >> 32;
                let mut class_of_bucket: BTreeMap<u64, Class> = BTreeMap::new();
                for _ in 0..40 * bucket_count {
                    let class = prober.class_of(Digest::new(random.next() << 32 | low));
                    for bucket in class.buckets() {
                        let same = *class_of_bucket.entry(bucket).or_insert(class);
                        assert_eq!(same, class, "{case}: two alternates of bucket {bucket}");
                    }
                }
                assert!(class_of_bucket.keys().copied().eq(0..bucket_count), "{case}: every bucket is a candidate");
                let single = class_of_bucket.values().filter(|class| class.bucket_count() == 1).count();
                if addressing == Addressing::Regional {
                    // With an even number of buckets no bucket is its own alternate, with an odd number one is.
                    assert_eq!(single, usize::from(bucket_count % 2 == 1), "{case}: {class_of_bucket:?}");
                }
            }
        }
    }
}

// Relocation has no key at hand, only fingerprints. If it took another way than lookups do, keys would be lost in a full
// table and nowhere else.
#[test]
fn keys_that_were_moved_are_found_where_lookups_look() {
    for (addressing, bucket_count) in [(Addressing::Regional, 1009), (Addressing::PowerOfTwo, 1024)] {
        let case = Case {
            layout: Layout::Packed,
            addressing,
            slots_per_bucket: 2,
            fingerprint_bits: 14,
            bucket_count,
            seed: 9,
        };
        let _announced = Announced(case);
        let mut filter = case.build();
        let (accepted, _) = overfill(&mut filter, 20);
        // Where each key goes if nothing is in its way.
        let mut alone = case.build();
        let mut undisturbed = HashSet::new();
        for key in &accepted {
            assert!(filter.contains(key), "{case}: {key} is lost");
            alone.insert(key).expect("it is empty");
            undisturbed.extend(&alone);
            alone.clear();
        }
        let moved = filter.iter().filter(|stored| !undisturbed.contains(stored)).count();
        assert!(moved > accepted.len() / 10, "{case}: {moved} of {} are elsewhere", accepted.len());
    }
}

// Seen in CuckooFilter4J: where both candidates are one bucket, its fingerprints are counted twice.
#[test]
fn a_key_with_a_single_candidate_bucket_is_counted_once() {
    for case in every_kind(1) {
        let _announced = Announced(case);
        let slots = usize::try_from(case.slots_per_bucket).expect("at most 8");
        let mut filter = case.build();
        for copies in 1..=slots {
            assert_eq!(filter.insert("ani"), Ok(()), "{case}: copy {copies}");
            assert_eq!((filter.count("ani"), filter.len()), (copies, copies), "{case}");
        }
        assert_eq!(filter.insert("ani"), Err(InsertError::TooManyCopies { copies: slots }), "{case}");
        for copies in (0..slots).rev() {
            assert!(filter.remove("ani"), "{case}: copy {copies}");
            assert_eq!((filter.count("ani"), filter.len()), (copies, copies), "{case}");
        }
        assert!(!filter.remove("ani"), "{case}");
    }
}

// Seen in two projects: 135 copies of a key make 1.4 KB grow to 209.7 MB; 125 lock a filter, 85 take 4.3 GB.
#[test]
fn more_copies_than_fit_are_refused_for_ever_and_nothing_grows() {
    for slots_per_bucket in [1, 2, 4, 8] {
        let builder =
            CuckooFilter::builder().capacity(1000).false_positive_rate(0.001).slots_per_bucket(slots_per_bucket);
        let mut filter = builder.build().expect("measures in range");
        let (size, capacity) = (filter.size_in_bytes(), filter.capacity());
        // A planned table has an even number of buckets, where no bucket is its own alternate.
        let most = 2 * usize::try_from(slots_per_bucket).expect("at most 8");
        for copy in 1..=most {
            assert_eq!(filter.insert("ani"), Ok(()), "b = {slots_per_bucket}, copy {copy}");
        }
        let full = filter.to_bytes();
        for copy in most..10_000 {
            let refusal = filter.insert("ani").expect_err("it does not fit");
            assert_eq!(refusal, InsertError::TooManyCopies { copies: most }, "b = {slots_per_bucket}, copy {copy}");
        }
        assert_eq!(filter.to_bytes(), full, "b = {slots_per_bucket}");
        assert_eq!((filter.size_in_bytes(), filter.capacity()), (size, capacity), "b = {slots_per_bucket}");
        assert_eq!((filter.count("ani"), filter.len()), (most, most), "b = {slots_per_bucket}");

        // Others still fit, as long as they need not share its buckets alone; and the copies go as they came.
        for key in 0..900_u64 {
            assert!(filter.insert(&key).is_ok(), "b = {slots_per_bucket}: {key}");
        }
        for copy in 0..most {
            assert!(filter.remove("ani"), "b = {slots_per_bucket}, copy {copy}");
        }
        for key in 0..900_u64 {
            assert!(filter.contains(&key), "b = {slots_per_bucket}: {key} is lost");
        }
    }
}

#[test]
fn too_many_copies_and_a_full_filter_are_different_errors() {
    let mut filter = CuckooFilter::builder().bucket_count(2).fingerprint_bits(32).build().expect("measures in range");
    let (accepted, refused) = overfill(&mut filter, 1);
    assert_eq!(accepted.len(), 8, "two buckets of four slots take eight keys");
    let full = InsertError::Full { len: 8, capacity: filter.capacity(), slot_count: 8 };
    assert_eq!(filter.insert(&refused[0]), Err(full.clone()));
    assert!(full.to_string().contains('8'), "{full}");

    filter.clear();
    for _ in 0..8 {
        filter.insert("ani").expect("copies fit");
    }
    let copies = InsertError::TooManyCopies { copies: 8 };
    assert_eq!(filter.insert("ani"), Err(copies.clone()));
    assert!(copies.to_string().contains("8 copies"), "{copies}");
    // For another key the same filter is just full.
    assert_eq!(filter.insert("koel"), Err(full));
}

// Seen in the paper's code: fingerprints of 2 bits that can't be removed, of 13 bits that are not found, and a
// semi-sorted table that is broken for 5, 7 and 9 bits.
#[test]
fn every_width_keeps_neighbouring_slots_apart() {
    for case in every_kind(16) {
        let _announced = Announced(case);
        let mut filter = case.build();
        let mut random = SplitMix64::new(case.seed);
        // Slots with all bits set beside slots with one bit set, in any order.
        let mut stored = Vec::new();
        for _ in 0..20 * filter.slot_count() {
            let low = if random.below(2) == 0 { 0 } else { u64::from(u32::MAX) };
            let digest = Digest::new(random.next() << 32 | low);
            if filter.insert_digest(digest).is_ok() {
                stored.push(digest);
            }
        }
        assert!(filter.len() * 2 >= filter.slot_count(), "{case}: {} are stored", filter.len());
        assert_eq!(filter.iter().count(), stored.len(), "{case}");
        let (least, greatest): (Vec<Digest>, Vec<Digest>) = stored.iter().partition(|digest| digest.get() & 1 == 0);
        for digest in &stored {
            assert!(filter.contains_digest(*digest), "{case}: {digest:?} is lost");
        }
        for digest in &greatest {
            assert!(filter.remove_digest(*digest), "{case}: {digest:?} can't be removed");
        }
        for digest in &least {
            assert!(filter.contains_digest(*digest), "{case}: {digest:?} is lost with its neighbour");
        }
        assert!(filter.iter().all(|stored| stored.fingerprint.get() == 1), "{case}: traces of neighbours");
        for digest in &least {
            assert!(filter.remove_digest(*digest), "{case}: {digest:?} can't be removed");
        }
        assert_eq!(filter, case.build(), "{case}: an emptied filter is like a new one");
    }
}

// Users of `DefaultHasher`, ahash and the like: the hash changes between versions or machines, and files with it.

/// The vectors of xxHash's own sanity check, `cli/xsum_sanity_check.c`: length, seed and XXH3-64 of the first bytes of a
/// generated buffer.
#[test]
fn xxh3_is_the_published_one_for_every_length_of_key() {
    const SEED: u64 = 0x9e37_79b1_85eb_ca8d;
    let generated = std::iter::successors(Some(2_654_435_761_u64), |state| Some(state.wrapping_mul(SEED)));
    let buffer: Vec<u8> = generated.map(|state| state.to_le_bytes()[7]).take(2367).collect();
    for (len, seed, digest) in [
        (0, 0, 0x2d06_8005_38d3_94c2),
        (0, SEED, 0xa8a6_b918_b2f0_364a),
        (1, 0, 0xc44b_dff4_074e_ecdb),
        (1, SEED, 0x032b_e332_dd76_6ef8),
        (6, 0, 0x27b5_6a84_cd2d_7325),
        (6, SEED, 0x8458_9c11_6ab5_9ab9),
        (12, 0, 0xa713_daf0_dfbb_77e7),
        (12, SEED, 0xe730_3e1b_2336_de0e),
        (24, 0, 0xa3fe_70bf_9d35_10eb),
        (24, SEED, 0x850e_80fc_35bd_d690),
        (48, 0, 0x397d_a259_ecba_1f11),
        (48, SEED, 0xadc2_cbaa_44ac_c616),
        (80, 0, 0xbcde_fbbb_2c47_c90a),
        (80, SEED, 0xc6dd_0cb6_9953_2e73),
        (195, 0, 0xcd94_217e_e362_ec3a),
        (195, SEED, 0xba68_003d_370c_b3d9),
        (403, 0, 0xcdeb_804d_65c6_dea4),
        (403, SEED, 0x6259_f6ec_fd64_43fd),
        (512, 0, 0x617e_4959_9013_cb6b),
        (512, SEED, 0x3ce4_57de_14c2_7708),
        (2048, 0, 0xdd59_e2c3_a5f0_38e0),
        (2048, SEED, 0x66f8_1670_669a_babc),
        (2240, 0, 0x6e73_a905_39cf_2948),
        (2240, SEED, 0x757b_a848_7d1b_5247),
        (2367, 0, 0xcb37_aeb9_e5d3_61ed),
        (2367, SEED, 0xd2db_3415_b942_b42a),
    ] {
        let found = KeyHasher::xxh3(seed).digest(&buffer[..len]);
        assert_eq!(found, Digest::new(digest), "{len} bytes, seed {seed:#x}");
    }
}

/// SipHash-1-3 under the key 00 01 .. 0f, from an implementation in Python that was checked against the published vectors
/// of SipHash-2-4 (the same but for the number of rounds), and against CPython's own SipHash-1-3.
#[test]
fn sip_hash_is_the_reference_one() {
    let hasher = KeyHasher::sip_hash_13(std::array::from_fn(|index| u8::try_from(index).expect("16 bytes")));
    let first_bytes: [u8; 15] = std::array::from_fn(|index| u8::try_from(index).expect("15 bytes"));
    assert_eq!(hasher.digest(""), Digest::new(0xabac_0158_050f_c4dc));
    assert_eq!(hasher.digest("abc"), Digest::new(0x6fce_24e8_af81_46eb));
    assert_eq!(hasher.digest(&first_bytes), Digest::new(0xd320_d86d_2a51_9956));
    assert_eq!(hasher.digest("kukułka"), Digest::new(0x1038_b20c_1799_cd47));
    assert_eq!(hasher.digest(&7_u64), Digest::new(0x33d5_b322_9db2_73eb));
}

#[test]
fn strings_and_integers_are_hashed_as_documented_bytes() {
    // By the xxhash package of Python: the UTF-8 bytes, the little-endian bytes of the integer's own width.
    assert_eq!(KeyHasher::xxh3(0).digest("kukułka"), Digest::new(0x4039_9ca1_f0f5_1188));
    assert_eq!(KeyHasher::xxh3(2024).digest("kukułka"), Digest::new(0xe5c5_bb2c_d8ef_880a));
    assert_eq!(KeyHasher::xxh3(0).digest(&7_u64), Digest::new(0x8167_1e58_d6b5_96af));
    assert_eq!(KeyHasher::xxh3(1).digest(&7_u32), Digest::new(0x0f67_5c48_8bd1_afc2));
    assert_eq!(KeyHasher::xxh3(1).digest(&7_i32), Digest::new(0x0f67_5c48_8bd1_afc2));
}

#[test]
fn the_digest_twins_do_what_the_keys_do() {
    for hash in [HashAlgorithm::Xxh3, HashAlgorithm::SipHash13 { key: [7; 16] }] {
        let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).hash(hash).seed(3);
        let mut by_key = builder.build().expect("measures in range");
        let mut by_digest = by_key.clone();
        let digest_of = |key: &str| by_key.hasher().digest(key);
        let (ani, koel) = (digest_of("ani"), digest_of("koel"));
        assert_eq!(by_key.insert("ani"), by_digest.insert_digest(ani));
        assert_eq!(by_key.insert_unique("ani"), by_digest.insert_unique_digest(ani));
        assert_eq!(by_key.insert_unique("koel"), by_digest.insert_unique_digest(koel));
        assert_eq!(by_key, by_digest);
        assert_eq!(by_key.count("ani"), by_digest.count_digest(ani));
        assert_eq!(by_key.contains("koel"), by_digest.contains_digest(koel));
        assert_eq!(by_key.remove("ani"), by_digest.remove_digest(ani));
        assert_eq!(by_key, by_digest);
    }
}

/// Fingerprints and candidate buckets, computed by a program in Python from docs/format.md.
#[test]
fn keys_have_the_fingerprints_and_buckets_of_the_documented_format() {
    type Expected = [(&'static str, u32, u64, u64); 6];
    let cases: [(Case, Expected); 4] = [
        (
            Case {
                layout: Layout::Packed,
                addressing: Addressing::Regional,
                slots_per_bucket: 4,
                fingerprint_bits: 12,
                bucket_count: 1000,
                seed: 0,
            },
            [
                ("ani", 0x9bc, 283, 302),
                ("koel", 0xb1d, 245, 706),
                ("coucal", 0xacb, 265, 382),
                ("guira", 0xc38, 227, 302),
                ("kukułka", 0xf0f, 250, 479),
                ("杜鹃", 0xca0, 364, 877),
            ],
        ),
        (
            Case {
                layout: Layout::Packed,
                addressing: Addressing::Regional,
                slots_per_bucket: 2,
                fingerprint_bits: 16,
                bucket_count: 1001,
                seed: 7,
            },
            [
                ("ani", 0x5b33, 62, 893),
                ("koel", 0x5f3b, 221, 624),
                ("coucal", 0x6fe7, 87, 899),
                ("guira", 0x1714, 51, 531),
                ("kukułka", 0xa3fb, 40, 926),
                ("杜鹃", 0x6132, 389, 549),
            ],
        ),
        (
            // Three regions of 50,000 buckets.
            Case {
                layout: Layout::Packed,
                addressing: Addressing::Regional,
                slots_per_bucket: 4,
                fingerprint_bits: 13,
                bucket_count: 150_000,
                seed: 2024,
            },
            [
                ("ani", 0x1d21, 102_803, 106_994),
                ("koel", 0xdfe, 79_945, 98_528),
                ("coucal", 0x1560, 11_234, 41_685),
                ("guira", 0x16a3, 3843, 16_826),
                ("kukułka", 0x1b1e, 126_833, 134_632),
                ("杜鹃", 0xd0f, 142_066, 146_839),
            ],
        ),
        (
            Case {
                layout: Layout::Packed,
                addressing: Addressing::PowerOfTwo,
                slots_per_bucket: 4,
                fingerprint_bits: 12,
                bucket_count: 1024,
                seed: 0,
            },
            [
                ("ani", 0x9bc, 290, 884),
                ("koel", 0xb1d, 284, 722),
                ("coucal", 0xacb, 391, 784),
                ("guira", 0xc38, 309, 808),
                ("kukułka", 0xf0f, 256, 1001),
                ("杜鹃", 0xca0, 885, 898),
            ],
        ),
    ];
    for (case, expected) in cases {
        let _announced = Announced(case);
        let filter = case.build();
        let mut prober = Prober::for_filters_like(&filter);
        for (key, fingerprint, lower_bucket, upper_bucket) in expected {
            let class = prober.class_of(filter.hasher().digest(key));
            assert_eq!(class, Class::new(fingerprint, [lower_bucket, upper_bucket]), "{case}: {key}");
        }
    }
}

// Formats that break between releases.

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
    let builder = CuckooFilter::builder().bucket_count(2).slots_per_bucket(2).fingerprint_bits(12).seed(5);
    let mut filter = builder.build().expect("measures in range");
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

// Inherent in every filter that forgets keys, and documented at `remove` and `insert_unique`: who removes what was not
// inserted removes what was.

#[test]
fn removing_a_key_that_was_not_inserted_takes_the_one_it_is_taken_for() {
    let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01);
    let mut filter = builder.build().expect("measures in range");
    filter.insert("ani").expect("it is empty");
    let never_inserted = false_positive(&filter);
    assert!(filter.remove(&never_inserted), "it is taken for the other key");
    assert!(!filter.contains("ani"), "which is denied from then on");
    assert!(filter.is_empty(), "{filter:?}");
    assert!(!filter.remove("ani"), "there is nothing left to remove");
    assert!(filter.is_empty(), "{filter:?}");
}

#[test]
fn keys_that_are_taken_for_each_other_are_safe_when_each_was_inserted() {
    let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01);
    let mut filter = builder.build().expect("measures in range");
    filter.insert("ani").expect("it is empty");
    let twin = false_positive(&filter);
    filter.insert(&twin).expect("there is room for a copy");
    assert_eq!((filter.count("ani"), filter.count(&twin), filter.len()), (2, 2, 2));
    assert!(filter.remove(&twin), "it was inserted");
    assert!(filter.contains("ani"), "the other is still there");
    assert!(filter.remove("ani"), "it was inserted");
    assert!(filter.is_empty(), "{filter:?}");
}

#[test]
fn insert_unique_stores_one_copy_for_keys_that_are_taken_for_each_other() {
    let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01);
    let mut filter = builder.build().expect("measures in range");
    assert_eq!(filter.insert_unique("ani"), Ok(true));
    assert_eq!(filter.insert_unique("ani"), Ok(false));
    let twin = false_positive(&filter);
    assert_eq!(filter.insert_unique(&twin), Ok(false), "it is taken for the other key");
    assert_eq!(filter.len(), 1);
    assert!(filter.remove(&twin), "the one copy of both");
    assert!(!filter.contains("ani"), "removing either loses the other, as documented");
}

/// A key that is absent for certain is removed from no filter.
#[test]
fn removing_a_key_that_is_denied_changes_nothing() {
    for case in every_kind(32) {
        let mut filter = case.build();
        for key in 0..16_u64 {
            drop(filter.insert(&key));
        }
        let before = filter.clone();
        for key in 1 << 40..(1 << 40) + 200_u64 {
            if !filter.contains(&key) {
                assert!(!filter.remove(&key), "{case}: {key}");
            }
        }
        assert_eq!(filter, before, "{case}");
    }
}
