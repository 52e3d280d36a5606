//! Copies that do not fit never make a filter grow.

use guira::raw::RawInsert as _;
use guira::{InsertError, MergeError};

use super::{RATES, absent, assert_holds, filled, growing, keys_before_doublings};
use crate::oracle::slots::Slots as _;

// Seen in two crates: 135 copies took 209.7 MB; in a server 125 copies closed the filter to all other keys.
#[test]
fn the_same_key_10_000_times_changes_neither_size_nor_anything_else() {
    for rate in RATES {
        // Among others, just as many as leave room for eight before the table is doubled.
        let almost_full = keys_before_doublings(growing(rate), 40_000).into_iter().map(|keys| keys - 8);
        for others in [0, 900, 5000].into_iter().chain(almost_full) {
            let mut filter = filled(rate, others);
            let mut stored = 0;
            for _ in 0..10_000 {
                match filter.insert("again and again") {
                    Ok(()) => stored += 1,
                    Err(error) => assert!(matches!(error, InsertError::TooManyCopies { .. }), "{error}"),
                }
            }
            assert!((1..=8).contains(&stored), "{stored} copies beside {others} keys at rate {rate}");
            // Eight copies are eight fingerprints: where these take the last places, one doubling is due.
            let without_copies = filled(rate, others + 8);
            assert!(filter.size_in_bytes() <= without_copies.size_in_bytes(), "{others} keys at rate {rate}");
            assert_holds(&filter, 0..others, "beside 10,000 copies");
            filter.insert("another key").expect("there is room for others");
        }
    }
}

// Another key that has the same two buckets takes one of the eight places, in one filter of some hundred for good. Such a
// refusal once took as long as doubling the table twice.
#[test]
fn a_copy_that_no_larger_table_would_take_is_refused_without_one() {
    let mut fewer_than_eight = 0;
    for rate in RATES {
        let keys = keys_before_doublings(growing(rate), 20_000)[0];
        let before = filled(rate, keys);
        for key in (0..2000).map(absent) {
            let mut filter = before.clone();
            let stored = (0..9).take_while(|_| filter.insert(&key).is_ok()).count();
            let refused = filter.clone().insert(&key);
            assert_eq!(refused, Err(InsertError::TooManyCopies { copies: filter.count(&key) }), "{key} at rate {rate}");
            if stored == 8 {
                continue;
            }
            fewer_than_eight += usize::from(stored < 8);
            // Nor would it be taken after any doubling up to a quarter of the slots.
            while 4 * filter.len() >= filter.slot_count() {
                filter.reserve(filter.capacity() - filter.len() + 1).expect("it may grow");
                assert!(filter.insert_without_growing(&key).is_err(), "{key} at rate {rate}: {filter:?}");
            }
        }
    }
    assert!(fewer_than_eight > 0, "no key has eight companions");
}

#[test]
fn a_key_of_few_copies_is_refused_for_those_of_another_that_are_in_the_way() {
    let (many, empty) = (absent(0), growing(0.01));
    let with_copies = |of_many: usize, key: Option<u64>| {
        let mut filter = empty.clone();
        let keys = key.into_iter().chain(std::iter::repeat_n(many, of_many));
        keys.for_each(|key| filter.insert(&key).expect("there is room for eight"));
        filter
    };
    // One with the same two buckets, and fingerprints that no doubling up to a quarter of the slots tells apart.
    let full = with_copies(8, None);
    let is_companion = |key: &u64| matches!(full.clone().insert(key), Err(InsertError::Crowded { .. }));
    let few = (1..1_000_000).map(absent).find(is_companion).expect("one in some ten thousand");
    let mut filter = with_copies(7, Some(few));
    let slot_count = filter.slot_count();
    assert_eq!(filter.insert(&few), Err(InsertError::Crowded { len: 8, slot_count }));
    assert_eq!(filter.insert(&many), Err(InsertError::TooManyCopies { copies: filter.count(&many) }));
}

#[test]
fn many_copies_of_every_key_are_refused_before_the_table_becomes_a_desert() {
    let mut filter = growing(0.001);
    let mut errors = 0;
    for key in 0..20_000_u64 {
        for _ in 0..8 {
            match filter.insert(&key) {
                Ok(()) => {}
                Err(InsertError::Crowded { len, slot_count }) => {
                    assert_eq!((len, slot_count), (filter.len(), filter.slot_count()));
                    errors += 1;
                }
                Err(InsertError::TooManyCopies { copies }) => assert_eq!(copies, filter.count(&key)),
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(errors > 0, "some key's buckets are full of another's copies");
    assert!(filter.slot_count() <= 8 * filter.len(), "{filter:?}");
}

#[test]
fn without_growing_a_key_too_many_is_refused_and_the_table_stays() {
    let mut filter = growing(0.01);
    let size = filter.size_in_bytes();
    let stored = (0..10_000_u64).filter(|key| filter.insert_without_growing(key).is_ok()).collect::<Vec<_>>();
    assert!((1000..1100).contains(&stored.len()), "{} keys", stored.len());
    assert_eq!(filter.size_in_bytes(), size);
    assert_holds(&filter, stored, "without growing");
    assert!(matches!(filter.insert_without_growing(&10_000_u64), Err(InsertError::Full { .. })));
    filter.insert(&10_000_u64).expect("it may grow");
    assert!(filter.size_in_bytes() > size);
}

#[test]
fn copies_in_a_batch_do_not_make_it_grow() {
    let copies = vec![absent(0); 10_000];
    let room_for_eight = keys_before_doublings(growing(0.01), 40_000).into_iter().map(|keys| keys - 8);
    for others in room_for_eight.chain([0]) {
        let before = filled(0.01, others);
        let mut filter = before.clone();
        let error = filter.try_extend(&copies).expect_err("too many copies");
        assert_eq!(error.reason, InsertError::TooManyCopies { copies: filter.count(&absent(0)) }, "{others} others");
        assert_eq!(filter.len(), before.len() + error.inserted, "{others} others");
        assert_eq!(filter.size_in_bytes(), before.size_in_bytes(), "{others} others");
        let mut filter = before.clone();
        let error = filter.insert_many(&copies).expect_err("too many copies");
        assert_eq!(filter.len() + error.rejected.len(), before.len() + copies.len(), "{others} others");
        assert_eq!(filter.size_in_bytes(), before.size_in_bytes(), "{others} others");
    }
}

#[test]
fn copies_in_a_merge_do_not_make_it_grow() {
    let with_copies = |copies: usize| {
        let mut filter = filled(0.01, 500);
        (0..copies).for_each(|_| filter.insert("again").expect("eight fit"));
        filter
    };
    for (ours, theirs) in [(8, 1), (1, 8), (8, 8), (5, 4)] {
        let (mut filter, other) = (with_copies(ours), with_copies(theirs));
        let before = filter.clone();
        assert_eq!(filter.merge(&other), Err(MergeError::TooManyCopies { copies: 8 }), "{ours} and {theirs}");
        assert!(filter == before && filter.size_in_bytes() == before.size_in_bytes(), "{ours} and {theirs}");
    }
}
