//! Filters that don't grow.

use guira::{ConcurrentCuckooFilter, FilterBuilder};
use loom::sync::Arc;
use loom::thread;

use super::{Located, check, key, looks, table};

fn shared(builder: &FilterBuilder) -> Arc<ConcurrentCuckooFilter> {
    let filter = builder.build().and_then(ConcurrentCuckooFilter::try_from);
    Arc::new(filter.expect("a few slots"))
}

/// A filter in which a key is stored in the second of its buckets, so that looking in both of them takes the empty one
/// first.
fn with_key_in_other_bucket(builder: &FilterBuilder, key: Located) -> Arc<ConcurrentCuckooFilter> {
    let filter = shared(builder);
    for _ in 0..2 {
        filter.insert(&key.digest).expect("both buckets are empty");
    }
    assert!(filter.remove(&key.digest), "the first of two copies");
    filter
}

/// A key moves from the bucket that a reader looks at last to the one that it looks at first.
fn a_reader_finds_a_key_that_moves(builder: FilterBuilder, [from, to, third, fourth]: [u64; 4]) {
    let moving = key(&builder, [to, from], |_| true);
    let new = key(&builder, [from, third], |key| key.fingerprint != moving.fingerprint);
    let in_third = key(&builder, [third, fourth], |_| true);
    for look in looks() {
        let builder = builder.clone();
        check(3, move || {
            let filter = with_key_in_other_bucket(&builder, moving);
            filter.insert(&in_third.digest).expect("its buckets are empty");
            let writer = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || filter.insert(&new.digest).expect("there is a path"))
            };
            assert!(look(&filter, &moving.digest), "missed while it moved");
            writer.join().expect("it does not panic");
            assert!([moving, new, in_third].iter().all(|key| filter.contains(&key.digest)), "a key was lost");
            assert_eq!((filter.len(), filter.check_invariants()), (3, Ok(())));
        });
    }
}

#[test]
fn a_reader_finds_a_key_that_is_moved_by_a_writer() {
    a_reader_finds_a_key_that_moves(table(4, 8), [0, 1, 3, 2]);
}

#[test]
fn a_reader_finds_a_key_that_is_moved_between_slots_that_straddle_words() {
    // Slot 4 stands at bits 52 to 64, slot 9 at bits 117 to 129.
    a_reader_finds_a_key_that_moves(table(10, 13), [4, 9, 1, 0]);
    a_reader_finds_a_key_that_moves(table(10, 13), [9, 4, 0, 1]);
}

/// Each of three keys moves to where the next one was, from the bucket that a reader of it looks at last.
#[test]
fn a_reader_finds_every_key_of_a_path_of_three_moves() {
    let builder = table(6, 8);
    let new = key(&builder, [0, 1], |_| true);
    // The other bucket of the new key leads nowhere else.
    let in_1 = key(&builder, [1, 0], |_| true);
    // In the buckets 0, 3 and 2, from which they move to 3, 2 and the empty 5.
    let moving = [[3, 0], [2, 3], [5, 2]].map(|buckets| key(&builder, buckets, |_| true));
    for looked_up in 0..3 {
        let builder = builder.clone();
        check(2, move || {
            let filter = shared(&builder);
            for key in moving {
                // The first of two copies is removed again.
                for _ in 0..2 {
                    filter.insert(&key.digest).expect("both buckets are empty");
                }
                assert!(filter.remove(&key.digest));
            }
            filter.insert(&in_1.digest).expect("one of its buckets is empty");
            let writer = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || filter.insert(&new.digest).expect("there is a path"))
            };
            assert!(filter.contains(&moving[looked_up].digest), "key {looked_up} was missed while it moved");
            writer.join().expect("it does not panic");
            let keys = moving.iter().chain([&new, &in_1]);
            assert!(keys.clone().all(|key| filter.contains(&key.digest)), "a key was lost");
            assert_eq!((filter.len(), filter.check_invariants()), (keys.count(), Ok(())));
        });
    }
}

#[test]
fn a_reader_finds_a_key_while_another_with_its_fingerprint_is_inserted_and_removed() {
    let builder = table(4, 8);
    let kept = key(&builder, [1, 0], |_| true);
    let other = key(&builder, [0, 1], |key| key.fingerprint == kept.fingerprint);
    check(3, move || {
        let filter = with_key_in_other_bucket(&builder, kept);
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || {
                // Its copy goes to the empty bucket, and the copy that was there before is the one that it removes.
                filter.insert(&other.digest).expect("its second bucket is empty");
                assert!(filter.remove(&other.digest));
            })
        };
        assert!(filter.contains(&kept.digest), "missed while another key was removed");
        assert!(filter.count(&kept.digest) >= 1, "not counted while another key was removed");
        writer.join().expect("it does not panic");
        assert_eq!((filter.count(&kept.digest), filter.len()), (1, 1));
    });
}

#[test]
fn two_writers_whose_paths_cross_both_store_their_keys() {
    let builder = table(6, 8);
    // The slots 0 and 3 are filled, and both keys in them can move on, to 1 and to 2.
    let [in_0, in_3] = [[0, 1], [3, 2]].map(|buckets| key(&builder, buckets, |_| true));
    // One writer must move one of these. The other one fills slot 1 itself.
    let first = key(&builder, [0, 3], |_| true);
    let second = key(&builder, [1, 4], |_| true);
    check(3, move || {
        let filter = shared(&builder);
        for key in [in_0, in_3] {
            filter.insert(&key.digest).expect("its buckets are empty");
        }
        let writers = [first, second].map(|key| {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.insert(&key.digest).expect("four keys fit six slots"))
        });
        for writer in writers {
            writer.join().expect("it does not panic");
        }
        let keys = [in_0, in_3, first, second];
        assert!(keys.iter().all(|key| filter.contains(&key.digest)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (4, Ok(())));
    });
}

#[test]
#[ignore = "takes a quarter of a minute: tools/nightly runs it"]
fn a_path_is_not_taken_by_another_fingerprint_than_the_one_that_was_seen_on_it() {
    let builder = table(6, 8);
    let [in_0, in_3] = [[0, 1], [3, 2]].map(|buckets| key(&builder, buckets, |_| true));
    // The first bucket and where its key could go are full of copies, so that the path leads through the second bucket.
    let new = key(&builder, [3, 0], |_| true);
    // It comes to the slot of the key that was to move, and must not go where that one would have gone.
    let instead = key(&builder, [0, 5], |_| true);
    check(2, move || {
        let filter = shared(&builder);
        for key in [in_0, in_3, in_3] {
            filter.insert(&key.digest).expect("its buckets are empty");
        }
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.insert(&new.digest).expect("there is a path"))
        };
        assert!(filter.remove(&in_0.digest), "it is there");
        filter.insert(&instead.digest).expect("there is room");
        writer.join().expect("it does not panic");
        let keys = [in_3, new, instead];
        assert!(keys.iter().all(|key| filter.contains(&key.digest)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (4, Ok(())));
    });
}

#[test]
fn a_key_that_is_removed_while_it_moves_is_gone() {
    a_key_that_is_removed_while_a_key_moves_is_gone(&table(6, 8));
}

#[test]
fn a_key_that_is_removed_while_it_moves_is_gone_with_long_fingerprints() {
    // Such tables are not among those that are planned by default.
    a_key_that_is_removed_while_a_key_moves_is_gone(&table(6, 33));
}

/// Of two keys that move, one is removed.
fn a_key_that_is_removed_while_a_key_moves_is_gone(builder: &FilterBuilder) {
    // The key in bucket 0 moves to 3, and that one's to 2; the other bucket of the new key leads nowhere else.
    let [in_0, in_3] = [[0, 3], [3, 2]].map(|buckets| key(builder, buckets, |_| true));
    let [new, in_1] = [[0, 1], [1, 0]].map(|buckets| key(builder, buckets, |_| true));
    for removed in [in_0, in_3] {
        let builder = builder.clone();
        check(3, move || {
            let filter = shared(&builder);
            for key in [in_0, in_1, in_3] {
                filter.insert(&key.digest).expect("its first bucket is empty");
            }
            let writer = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || filter.insert(&new.digest).expect("there is a path"))
            };
            assert!(filter.remove(&removed.digest), "missed while it moved");
            writer.join().expect("it does not panic");
            for key in [in_0, in_1, in_3, new] {
                let copies = usize::from(key.digest != removed.digest);
                assert_eq!(filter.count(&key.digest), copies, "of {key:?}, when {removed:?} was removed");
            }
            assert_eq!((filter.len(), filter.check_invariants()), (3, Ok(())));
        });
    }
}

/// Two writers store different keys where one of their two buckets is full.
fn of_two_writers_for_one_slot(builder: FilterBuilder, [a, b]: [u64; 2]) {
    let first = key(&builder, [a, b], |_| true);
    let second = key(&builder, [b, a], |key| key.fingerprint != first.fingerprint);
    let third = key(&builder, [a, b], |key| ![first, second].iter().any(|other| other.fingerprint == key.fingerprint));
    check(2, move || {
        let filter = shared(&builder);
        filter.insert(&first.digest).expect("it is empty");
        let writers = [second, third].map(|key| {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.insert(&key.digest).is_ok())
        });
        let stored = writers.map(|writer| writer.join().expect("it does not panic"));
        assert_eq!(stored.iter().filter(|&&stored| stored).count(), 1);
        assert_eq!((filter.len(), filter.check_invariants()), (2, Ok(())));
        let mut keys = [(first, true), (second, stored[0]), (third, stored[1])].into_iter();
        assert!(keys.all(|(key, is_stored)| !is_stored || filter.contains(&key.digest)), "a key was lost");
    });
}

#[test]
fn of_two_writers_for_one_slot_one_stores_its_key_and_the_other_is_told() {
    of_two_writers_for_one_slot(table(2, 8), [0, 1]);
}

#[test]
fn of_two_writers_for_one_slot_that_straddles_words_one_stores_its_key_and_the_other_is_told() {
    of_two_writers_for_one_slot(table(10, 13), [4, 9]);
}

/// Two writers store the same key unless it is there, in a table that has some keys.
fn of_two_writers_one_stores_the_key(builder: FilterBuilder, new: Located, stored: Vec<Located>) {
    check(3, move || {
        let filter = shared(&builder);
        for key in &stored {
            filter.insert(&key.digest).expect("its buckets are empty");
        }
        let writers = [(); 2].map(|()| {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.insert_if_absent(&new.digest).expect("there is room"))
        });
        let storing = writers.map(|writer| writer.join().expect("it does not panic"));
        assert_eq!(storing.iter().filter(|&&stores| stores).count(), 1);
        assert_eq!((filter.count(&new.digest), filter.len()), (1, stored.len() + 1));
    });
}

#[test]
fn of_two_writers_that_insert_a_key_uniquely_one_stores_it() {
    let builder = table(4, 8);
    let new = key(&builder, [0, 1], |_| true);
    // With room for both copies, and where the second one would have to make room.
    let in_1 = key(&builder, [1, 2], |_| true);
    of_two_writers_one_stores_the_key(builder.clone(), new, Vec::new());
    of_two_writers_one_stores_the_key(builder, new, vec![in_1]);
}

#[test]
fn two_writers_that_lock_the_same_buckets_do_not_wait_for_each_other_for_ever() {
    let builder = table(4, 8);
    // The same two buckets, named in another order.
    let first = key(&builder, [0, 1], |_| true);
    let second = key(&builder, [1, 0], |key| key.fingerprint != first.fingerprint);
    check(3, move || {
        let filter = shared(&builder);
        let writers = [first, second].map(|key| {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.insert_if_absent(&key.digest).expect("there is room"))
        });
        assert!(writers.into_iter().all(|writer| writer.join().expect("it does not panic")));
        assert_eq!((filter.len(), filter.check_invariants()), (2, Ok(())));
    });
}
