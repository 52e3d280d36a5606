//! Fingerprint 0, and ways from one candidate bucket to the other.

use std::collections::{BTreeMap, HashSet};

use guira::{Addressing, Digest, InsertError, Layout};

use super::{case_of, every_kind, overfill};
use crate::oracle::case::{Announced, Case};
use crate::oracle::classes::{Class, Prober};
use crate::oracle::random::SplitMix64;
use crate::oracle::shapes::{Shape, all_shapes};

// Seen in C and Rust ports: a fingerprint of 0 is taken for an empty slot, and its key is never found.
#[test]
fn no_digest_has_fingerprint_0() {
    let mut random = SplitMix64::new(1);
    for case in every_kind(8) {
        let _announced = Announced(case);
        let greatest = u64::MAX >> (64 - case.fingerprint_bits);
        let extremes = [0, 1, 1 << 31, 1 << 32, u64::MAX << 32, u64::MAX, u64::from(u32::MAX), u64::MAX - 1];
        for digest in extremes.into_iter().chain((0..100).map(|_| random.next() << 32)).map(Digest::new) {
            let mut filter = case.build();
            assert_eq!(filter.insert(&digest), Ok(()), "{case}: {digest:?}");
            assert!(filter.contains(&digest), "{case}: {digest:?} is lost");
            assert_eq!((filter.count(&digest), filter.len()), (1, 1), "{case}: {digest:?}");
            let stored = filter.fingerprints().next().expect("it is stored");
            assert!((1..=greatest).contains(&stored.fingerprint), "{case}: {digest:?} is stored as {stored:?}");
            // What is left of it after all doublings must not be 0 either.
            let core = stored.fingerprint & 255;
            assert!(case.addressing != Addressing::Doubling || core != 0, "{case}: {digest:?} is stored as {stored:?}");
            assert!(filter.remove(&digest), "{case}: {digest:?} can't be removed");
            assert!(filter.is_empty(), "{case}: {digest:?}");
        }
    }
}

/// The low 32 bits of a digest are scaled to 1..=2^f - 1, so that their ends are the ends of that range.
#[test]
fn the_ends_of_the_digest_are_the_ends_of_the_fingerprint() {
    for case in every_kind(4).filter(|case| case.fingerprint_bits <= 32) {
        let fingerprint_of = |low: u32| {
            let mut filter = case.build();
            filter.insert(&Digest::new(0x1234_5678 << 32 | u64::from(low))).expect("it is empty");
            filter.fingerprints().next().expect("it is stored").fingerprint
        };
        let greatest = u64::MAX >> (64 - case.fingerprint_bits);
        assert_eq!((fingerprint_of(0), fingerprint_of(u32::MAX)), (1, greatest), "{case}");
        // With doubling addressing the low 8 bits are a range of their own, and so are the others.
        let longer = case.addressing == Addressing::Doubling && case.fingerprint_bits > 8;
        let middle = if longer { greatest.div_ceil(2) + 128 } else { greatest.div_ceil(2) };
        assert_eq!(fingerprint_of(1 << 31), middle, "{case}");
    }
}

// Seen in a C# port, in early Rust ones, and in a review of dragonfly, where exclusive or met a size that is no power of
// two: from the alternate bucket, no way leads back to the primary.
#[test]
fn the_alternate_of_the_alternate_is_the_primary_bucket_for_every_size() {
    let all: Vec<u64> = (1..=40).collect();
    let even: Vec<u64> = (2..=40).step_by(2).collect();
    let mut random = SplitMix64::new(6);
    for (layout, addressing, slots_per_bucket, sizes) in [
        (Layout::Packed, Addressing::Regional, 1, &all[..]),
        (Layout::Packed, Addressing::PowerOfTwo, 1, &[1, 2, 4, 8, 16, 32, 64]),
        (Layout::Packed, Addressing::Ternary, 1, &[1, 3, 9, 27, 81, 40]),
        (Layout::Packed, Addressing::Quaternary, 1, &[1, 4, 16, 64, 40]),
        (Layout::Packed, Addressing::Doubling, 4, &even),
        (Layout::SemiSorted, Addressing::Regional, 4, &all[20..]),
    ] {
        let shape = Shape { layout, addressing, slots_per_bucket };
        for &size in sizes {
            for fingerprint_bits in [shape.least_fingerprint_bits(), 13, 32] {
                let case = Case { seed: size, ..case_of(shape, fingerprint_bits, size) };
                assert_candidates_share_all_their_candidates(case, &mut random);
            }
        }
    }
}

fn assert_candidates_share_all_their_candidates(case: Case, random: &mut SplitMix64) {
    let _announced = Announced(case);
    let filter = case.build();
    let mut prober = Prober::for_filters_like(&filter);
    let parameters = filter.parameters();
    for _ in 0..4 {
        // Digests with the same low half have the same fingerprint; the high halves lead to every bucket.
        let low = random.next() >> 32;
        let mut class_of_bucket: BTreeMap<u64, Class> = BTreeMap::new();
        for _ in 0..40 * parameters.bucket_count() {
            let class = prober.class_of(Digest::new(random.next() << 32 | low));
            for bucket in class.buckets() {
                let same = *class_of_bucket.entry(bucket).or_insert(class);
                assert_eq!(same, class, "{case}: two alternates of bucket {bucket}");
            }
        }
        let candidates = class_of_bucket.keys().copied();
        assert!(candidates.eq(0..parameters.bucket_count()), "{case}: every bucket is a candidate");

        let single = class_of_bucket.values().filter(|class| class.bucket_count() == 1).count();
        match case.addressing {
            // Where exclusive or is with 0, all buckets are their own alternates.
            Addressing::PowerOfTwo => {}
            // Of an odd number of buckets one is its own alternate, of an even number none is.
            Addressing::Regional => assert_eq!(single, usize::from(case.bucket_count % 2 == 1), "{case}"),
            _ => assert!(
                single == 0 || (parameters.bucket_count() / parameters.region_count()) == 1,
                "{case}: {class_of_bucket:?}"
            ),
        }
    }
}

// Relocation has no key at hand, only fingerprints. If it took another way than lookups do, keys would be lost in a full
// table and nowhere else.
#[test]
fn keys_that_were_moved_are_found_where_lookups_look() {
    for shape in all_shapes() {
        let bucket_count = if shape.addressing == Addressing::PowerOfTwo { 256 } else { 253 };
        let case = case_of(shape, 14, bucket_count);
        let _announced = Announced(case);
        let mut filter = case.build();
        let (accepted, _) = overfill(&mut filter, 20);
        // Where each key goes if nothing is in its way.
        let mut alone = case.build();
        let mut undisturbed = HashSet::new();
        for key in &accepted {
            assert!(filter.contains(key), "{case}: {key} is lost");
            alone.insert(key).expect("it is empty");
            undisturbed.extend(alone.fingerprints());
            alone.clear();
        }
        let moved = filter.fingerprints().filter(|stored| !undisturbed.contains(stored)).count();
        assert!(moved > accepted.len() / 10, "{case}: {moved} of {} are elsewhere", accepted.len());
    }
}

// Seen in CuckooFilter4J: where both candidates are one bucket, its fingerprints are counted twice.
#[test]
fn a_key_with_a_single_candidate_bucket_is_counted_once() {
    // Tables that can be doubled have two buckets at least, and no bucket that is its own alternate.
    for case in every_kind(1).filter(|case| case.addressing != Addressing::Doubling) {
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
