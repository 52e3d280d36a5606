//! Copies of filters that others write meanwhile. They are copied word by word, from the first to the last.

use guira::{ConcurrentCuckooFilter, CuckooFilter, FilterBuilder};
use loom::sync::Arc;
use loom::thread;

use super::expiring::{expiring, share_expiring};
use super::growing::{BEFORE_EITHER_HALF, Full, keys_that_end_a_half, share};
use super::{Located, check, key, table};

/// Twenty slots of 13 bits, in five words.
fn several_words() -> FilterBuilder {
    table(20, 13)
}

/// Copies a filter with some keys while another thread changes it.
fn copy_while(
    builder: &FilterBuilder,
    stored: &[Located],
    change: impl Fn(&ConcurrentCuckooFilter) + Clone + Send + Sync + 'static,
    is_possible: impl Fn(&CuckooFilter) -> bool + Send + Sync + 'static,
) {
    let mut filter = builder.build().expect("a few slots");
    for key in stored {
        filter.insert(&key.digest).expect("there is room");
    }
    check(2, move || {
        let shared = share(&filter);
        let writer = {
            let (shared, change) = (Arc::clone(&shared), change.clone());
            thread::spawn(move || change(&shared))
        };
        let copy = shared.snapshot().expect("a few slots");
        writer.join().expect("it does not panic");
        assert_eq!(copy.check_invariants(), Ok(()));
        assert!(is_possible(&copy), "a copy of no one moment");
        assert_eq!(shared.check_invariants(), Ok(()));
    });
}

#[test]
fn a_copy_with_the_second_key_of_a_thread_has_the_first() {
    let builder = several_words();
    // In one word each, and in two.
    for low in [[0, 1], [4, 1], [4, 9]] {
        let [first, second] = [low, [18, 19]].map(|buckets| key(&builder, buckets, |_| true).digest);
        let insert_both = move |filter: &ConcurrentCuckooFilter| {
            for key in [first, second] {
                filter.insert(&key).expect("there is room");
            }
        };
        copy_while(&builder, &[], insert_both, move |copy| copy.contains(&first) || !copy.contains(&second));
    }
}

#[test]
fn a_copy_without_a_key_that_was_removed_has_the_one_that_was_inserted_before() {
    let builder = several_words();
    let [new, removed] = [[0, 1], [18, 19]].map(|buckets| key(&builder, buckets, |_| true));
    let replace = move |filter: &ConcurrentCuckooFilter| {
        filter.insert(&new.digest).expect("there is room");
        assert!(filter.remove(&removed.digest), "it is there");
    };
    let has_either = move |copy: &CuckooFilter| copy.contains(&new.digest) || copy.contains(&removed.digest);
    copy_while(&builder, &[removed], replace, has_either);
}

#[test]
fn a_copy_has_every_key_that_moves_once() {
    let builder = several_words();
    // The key in the first bucket moves to the last to make room, and the other way round.
    for [from, to, other] in [[0, 19, 11], [19, 0, 10]] {
        let moving = key(&builder, [from, to], |_| true);
        let blocking = key(&builder, [other, 21 - other], |_| true);
        let is_another = |key: &Located| ![moving, blocking].iter().any(|it| it.fingerprint == key.fingerprint);
        let new = key(&builder, [from, other], is_another);
        let insert = move |filter: &ConcurrentCuckooFilter| filter.insert(&new.digest).expect("there is a path");
        let has_both = move |copy: &CuckooFilter| {
            copy.count(&moving.digest) == 1 && copy.count(&blocking.digest) == 1 && copy.count(&new.digest) <= 1
        };
        copy_while(&builder, &[moving, blocking], insert, has_both);
    }
}

#[test]
#[ignore = "takes a quarter of a minute: tools/nightly runs it"]
fn a_copy_has_all_keys_or_none_where_they_are_removed_at_once() {
    let builder = several_words();
    let [first, second] = [[0, 1], [18, 19]].map(|buckets| key(&builder, buckets, |_| true));
    let has_all_or_none = move |copy: &CuckooFilter| copy.contains(&first.digest) == copy.contains(&second.digest);
    copy_while(&builder, &[first, second], ConcurrentCuckooFilter::clear, has_all_or_none);
}

/// Copies a table while another thread inserts two keys, of which the first finds it full, half split, or nearly all split.
fn copy_a_table_that_is_doubled(full: Full, seed: u64, inserted_before: impl Fn(&CuckooFilter) -> usize) {
    let (full, kept) = full(seed);
    let inserted_before = inserted_before(&full);
    let before: Vec<u64> = (1 << 32..).take(inserted_before).collect();
    let new = [1_u64 << 33, 1 << 34];
    check(2, move || {
        let filter = share(&full);
        before.iter().for_each(|key| filter.insert(key).expect("it grows"));
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || new.map(|key| filter.insert(&key).expect("it grows")))
        };
        let mut copy = filter.snapshot().expect("a few slots");
        writer.join().expect("it does not panic");
        assert_eq!(copy.check_invariants(), Ok(()));
        let stored = kept.len() + before.len();
        let inserted = copy.len() - stored;
        assert!(kept.iter().chain(&before).chain(&new[..inserted]).all(|key| copy.contains(key)), "a key is missing");
        assert_eq!(filter.check_invariants(), Ok(()));
        // It goes on where the filter was.
        new[inserted..].iter().for_each(|key| copy.insert(key).expect("it grows"));
        assert!(kept.iter().chain(&before).chain(&new).all(|key| copy.remove(key)), "a key is missing");
        assert!(copy.is_empty());
    });
}

#[test]
fn a_copy_of_a_table_whose_doubling_begins_is_of_one_moment() {
    for full in BEFORE_EITHER_HALF {
        (0..3).for_each(|seed| copy_a_table_that_is_doubled(full, seed, |_| 0));
    }
}

#[test]
fn a_copy_of_a_table_that_is_being_doubled_is_of_one_moment() {
    for full in BEFORE_EITHER_HALF {
        (0..3).for_each(|seed| copy_a_table_that_is_doubled(full, seed, |_| 2));
    }
}

#[test]
fn a_copy_of_a_table_whose_doubling_ends_is_of_one_moment() {
    for full in BEFORE_EITHER_HALF {
        (0..3).for_each(|seed| copy_a_table_that_is_doubled(full, seed, |full| keys_that_end_a_half(full) - 1));
    }
}

#[test]
fn a_copy_has_a_renewed_key_if_it_has_the_one_that_was_inserted_then() {
    let builder = several_words();
    let [renewed, then] = [[0, 1], [18, 19]].map(|buckets| key(&builder, buckets, |_| true).digest);
    let mut plain = expiring(20, 13);
    plain.insert(&renewed).expect("it is empty");
    assert!(plain.jump(2));
    check(2, move || {
        let filter = share_expiring(&plain);
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || {
                assert!(!filter.insert_or_renew(&renewed).expect("it is there"));
                filter.insert(&then).expect("there is room");
            })
        };
        let copy = filter.snapshot().expect("a few slots");
        writer.join().expect("it does not panic");
        assert_eq!((copy.check_invariants(), filter.check_invariants()), (Ok(()), Ok(())));
        let is_renewed = copy.contains_at(&renewed, 4);
        assert!(copy.contains(&renewed) && (is_renewed || !copy.contains(&then)), "a copy of no one moment");
    });
}
