//! Merging moves fingerprints as relocation does, and with them those of keys that were there before.

use guira::{CuckooFilter, MergeError};

use super::{every_kind, overfill};
use crate::oracle::case::Announced;
use crate::oracle::slots::Slots as _;

#[test]
fn merged_filters_hold_the_keys_of_both() {
    for case in every_kind(64) {
        let _announced = Announced(case);
        let (mut ours, mut theirs) = (case.build(), case.build());
        let half = ours.slot_count() as u64 / 2;
        // Some keys are in both, and are then there twice.
        let our_keys: Vec<u64> = (0..half * 2 / 3).filter(|key| ours.insert(key).is_ok()).collect();
        let their_keys: Vec<u64> = (half / 2..half).filter(|key| theirs.insert(key).is_ok()).collect();
        let before = theirs.clone();
        match ours.merge(&theirs) {
            Ok(()) => {}
            // With few fingerprints, half of the slots may be more than fits.
            Err(MergeError::Full { .. } | MergeError::TooManyCopies { .. }) if case.fingerprint_bits < 8 => continue,
            // As may be where buckets have one slot.
            Err(MergeError::Full { .. }) if case.slots_per_bucket == 1 => continue,
            Err(error) => panic!("{case}: {error}"),
        }
        assert_eq!(theirs, before, "{case}: the other is as it was");
        assert_eq!(ours.len(), our_keys.len() + their_keys.len(), "{case}: len");
        assert_eq!(ours.check_invariants(), Ok(()), "{case}");
        for key in our_keys.iter().chain(&their_keys) {
            assert!(ours.contains(key), "{case}: {key} is lost");
        }
        for key in our_keys.iter().chain(&their_keys) {
            assert!(ours.remove(key), "{case}: {key} is lost");
        }
        assert_eq!(ours, case.build(), "{case}: an emptied filter is like a new one");
    }
}

#[test]
fn a_merge_that_fails_changes_nothing() {
    for case in every_kind(16) {
        let _announced = Announced(case);
        let assert_refused = |mut ours: CuckooFilter, theirs: &CuckooFilter| {
            let (before, other_before) = (ours.clone(), theirs.clone());
            let error = ours.merge(theirs).expect_err("together they do not fit");
            assert_eq!((&ours, ours.len()), (&before, before.len()), "{case}: {error}");
            assert_eq!(ours.to_bytes(), before.to_bytes(), "{case}: {error}");
            assert_eq!(theirs, &other_before, "{case}: {error}");
        };
        // One copy too many, behind keys that fit.
        let (mut ours, mut theirs) = (case.build(), case.build());
        ours.insert("ani").expect("it is empty");
        for key in 0..u64::from(case.slots_per_bucket) {
            drop((ours.insert(&key), theirs.insert(&(key + (1 << 40)))));
        }
        while theirs.insert("ani").is_ok() {}
        assert_refused(ours.clone(), &theirs);
        // More fingerprints than slots.
        overfill(&mut ours, 5);
        overfill(&mut theirs, 5);
        assert_refused(ours, &theirs);
    }
}
