//! Users of `DefaultHasher`, ahash and the like: the hash changes between versions or machines, and files with it.

use guira::{Addressing, CuckooFilter, Digest, KeyHasher, Layout};

use crate::oracle::case::{Announced, Case};
use crate::oracle::classes::{Class, Prober};

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
    // By the xxhash package of Python: the UTF-8 bytes, and the 8 little-endian bytes of an integer of any type.
    assert_eq!(KeyHasher::xxh3(0).digest("kukułka"), Digest::new(0x4039_9ca1_f0f5_1188));
    assert_eq!(KeyHasher::xxh3(2024).digest("kukułka"), Digest::new(0xe5c5_bb2c_d8ef_880a));
    assert_eq!(KeyHasher::xxh3(0).digest(&7_u64), Digest::new(0x8167_1e58_d6b5_96af));
    assert_eq!(KeyHasher::xxh3(1).digest(&7_u32), Digest::new(0xa409_ca3d_6061_b510));
    assert_eq!(KeyHasher::xxh3(1).digest(&7_u64), Digest::new(0xa409_ca3d_6061_b510));
    assert_eq!(KeyHasher::xxh3(1).digest(&7_i32), Digest::new(0xa409_ca3d_6061_b510));
}

#[test]
fn digests_are_the_keys_they_were_made_of() {
    for hasher in [KeyHasher::xxh3(3), KeyHasher::sip_hash_13([7; 16])] {
        let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).hasher(hasher);
        let mut by_key = builder.build().expect("parameters in range");
        let mut by_digest = by_key.clone();
        let digest_of = |key: &str| by_key.hasher().digest(key);
        let (ani, koel) = (digest_of("ani"), digest_of("koel"));
        assert_eq!(by_key.insert("ani"), by_digest.insert(&ani));
        assert_eq!(by_key.insert_if_absent("ani"), by_digest.insert_if_absent(&ani));
        assert_eq!(by_key.insert_if_absent("koel"), by_digest.insert_if_absent(&koel));
        assert_eq!(by_key, by_digest);
        assert_eq!(by_key.count("ani"), by_digest.count(&ani));
        assert_eq!(by_key.contains("koel"), by_digest.contains(&koel));
        assert_eq!(by_key.remove("ani"), by_digest.remove(&ani));
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
            assert_eq!(class, Class::new(u64::from(fingerprint), [lower_bucket, upper_bucket]), "{case}: {key}");
        }
    }
}
