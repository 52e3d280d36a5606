//! Inherent in every filter that forgets keys, and documented at `remove` and `insert_if_absent`: who removes what was not
//! inserted removes what was.

use guira::CuckooFilter;

use super::{every_kind, false_positive};

#[test]
fn removing_a_key_that_was_not_inserted_takes_the_one_it_is_taken_for() {
    let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01);
    let mut filter = builder.build().expect("parameters in range");
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
    let mut filter = builder.build().expect("parameters in range");
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
    let mut filter = builder.build().expect("parameters in range");
    assert_eq!(filter.insert_if_absent("ani"), Ok(true));
    assert_eq!(filter.insert_if_absent("ani"), Ok(false));
    let twin = false_positive(&filter);
    assert_eq!(filter.insert_if_absent(&twin), Ok(false), "it is taken for the other key");
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
