//! Models of threads at one table: loom runs every order in which they may see each other's writes, of the same code that
//! users run, in tables of a few slots. Only with `RUSTFLAGS="--cfg loom"`.

#![cfg(loom)]

use guira::raw::RawFilter as _;
use guira::{
    ConcurrentCuckooFilter, ConcurrentExpiringCuckooFilter, CuckooFilter, Digest, ExpiringCuckooFilter, FilterBuilder,
    KeyHasher, StoredFingerprint,
};
use loom::sync::Arc;
use loom::thread;

/// Buckets of one slot. Every key has two of them, an even and an odd one.
fn table(buckets: u64, fingerprint_bits: u32) -> FilterBuilder {
    CuckooFilter::builder().bucket_count(buckets).slots_per_bucket(1).fingerprint_bits(fingerprint_bits)
}

fn shared(builder: &FilterBuilder) -> Arc<ConcurrentCuckooFilter> {
    let filter = builder.build().and_then(ConcurrentCuckooFilter::try_from);
    Arc::new(filter.expect("a few slots"))
}

/// A key, and where it may be.
#[derive(Clone, Copy, Debug)]
struct Located {
    digest: Digest,
    buckets: [u64; 2],
    fingerprint: u32,
}

/// The first key with this primary bucket and this other one that is accepted.
fn key(builder: &FilterBuilder, buckets: [u64; 2], accepts: impl Fn(&Located) -> bool) -> Located {
    let empty = builder.build().expect("a few slots");
    let locate = |digest| {
        let mut filter = empty.clone();
        filter.insert(&digest).expect("it is empty");
        let first = filter.fingerprints().next().expect("it was stored");
        // The second copy goes to the other bucket.
        filter.insert(&digest).expect("its other bucket is empty");
        let second = filter.fingerprints().find(|stored| stored.bucket != first.bucket).expect("it was stored");
        let buckets = [first, second].map(|stored| stored.bucket);
        Located { digest, buckets, fingerprint: first.fingerprint }
    };
    let keys = (0..100_000_u64).map(|key| locate(KeyHasher::xxh3(7).digest(&key)));
    keys.filter(|key| key.buckets == buckets).find(accepts).expect("there are such keys")
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

/// Runs a model in every order in which threads are interrupted at most so often.
fn check(interruptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions);
    builder.max_branches = 100_000;
    builder.check(model);
}

/// A key moves from the bucket that a reader looks at last to the one that it looks at first.
fn a_reader_finds_a_key_that_moves(builder: FilterBuilder, [from, to, third, fourth]: [u64; 4]) {
    let moving = key(&builder, [to, from], |_| true);
    let new = key(&builder, [from, third], |key| key.fingerprint != moving.fingerprint);
    let in_third = key(&builder, [third, fourth], |_| true);
    check(3, move || {
        let filter = with_key_in_other_bucket(&builder, moving);
        filter.insert(&in_third.digest).expect("its buckets are empty");
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.insert(&new.digest).expect("there is a path"))
        };
        assert!(filter.contains(&moving.digest), "missed while it moved");
        writer.join().expect("it does not panic");
        assert!([moving, new, in_third].iter().all(|key| filter.contains(&key.digest)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (3, Ok(())));
    });
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
    let builder = table(6, 8);
    // The key in bucket 0 moves to 3, and that one's to 2; the other bucket of the new key leads nowhere else.
    let [in_0, in_3] = [[0, 3], [3, 2]].map(|buckets| key(&builder, buckets, |_| true));
    let [new, in_1] = [[0, 1], [1, 0]].map(|buckets| key(&builder, buckets, |_| true));
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

/// A filter that grows, whose table takes no more keys before it is doubled, and its keys.
fn full(seed: u64) -> (CuckooFilter, Vec<u64>) {
    let builder =
        CuckooFilter::builder().capacity(2).max_capacity(64).slots_per_bucket(2).hasher(KeyHasher::xxh3(seed));
    let mut full = builder.false_positive_rate(0.1).build().expect("a few slots");
    let keys = (0..).take_while(|key| full.insert_without_growing(key).is_ok()).collect();
    (full, keys)
}

/// A filter that grows, with fewer keys by one than make it do so.
fn nearly_full() -> (CuckooFilter, Vec<u64>) {
    let (mut full, mut keys) = full(0);
    assert!(keys.pop().is_some_and(|last| full.remove(&last)), "there is one");
    (full, keys)
}

fn share(filter: &CuckooFilter) -> Arc<ConcurrentCuckooFilter> {
    Arc::new(ConcurrentCuckooFilter::try_from(filter.clone()).expect("a few slots"))
}

/// The buckets of a table that fingerprints of these keys are in, where they are in one alone.
fn buckets_of(filter: &CuckooFilter, keys: &[u64]) -> Vec<Option<u64>> {
    let bucket_of = |key: &u64| {
        let mut without = filter.clone();
        assert!(without.remove(key));
        let left = |stored: &StoredFingerprint| !without.fingerprints().any(|other| other == *stored);
        let mut gone = filter.fingerprints().filter(left);
        gone.next().filter(|_| gone.next().is_none()).map(|stored| stored.bucket)
    };
    keys.iter().map(bucket_of).collect()
}

/// Full tables that are doubled for a new key, of which each makes a stored key move, with that key.
fn doublings_with_moves() -> impl Iterator<Item = (CuckooFilter, Vec<u64>, u64, u64)> {
    (0..).map(full).flat_map(|(full, keys)| {
        (1 << 32..(1 << 32) + 20).find_map(|new| {
            let mut doubled = full.clone();
            doubled.insert(&new).ok()?;
            let before = buckets_of(&full, &keys);
            let after = buckets_of(&doubled, &keys);
            let both = keys.iter().zip(before.into_iter().zip(after));
            // Each bucket of the old table becomes two.
            let (&moved, _) = both.into_iter().find(|(_, (before, after))| {
                before.is_some() && after.is_some() && *before != after.map(|after| after / 2)
            })?;
            Some((full.clone(), keys.clone(), new, moved))
        })
    })
}

#[test]
fn a_reader_finds_a_key_that_moves_to_a_bucket_that_was_just_split() {
    for (full, kept, new, moved) in doublings_with_moves().take(3) {
        check(2, move || {
            let filter = share(&full);
            let writer = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || filter.insert(&new).expect("it grows"))
            };
            assert!(filter.contains(&moved), "missed while it moved");
            writer.join().expect("it does not panic");
            assert!(kept.iter().chain([&new]).all(|key| filter.contains(key)), "a key was lost");
        });
    }
}

#[test]
fn a_reader_finds_the_keys_of_a_bucket_that_is_split() {
    let ((full, kept), begins) = (full(0), 1_u64 << 32);
    for looked_up in kept.clone() {
        let (full, kept) = (full.clone(), kept.clone());
        check(2, move || {
            let filter = share(&full);
            let writer = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || {
                    // The first begins, and each of them splits a bucket.
                    for new in [begins, begins + 1] {
                        filter.insert(&new).expect("it grows");
                    }
                })
            };
            assert!(filter.contains(&looked_up), "missed while its bucket was split");
            writer.join().expect("it does not panic");
            assert!(kept.iter().all(|key| filter.contains(key)), "a key was lost");
        });
    }
}

/// A copy of a key is stored in another bucket of the doubled table, and the one that was there is removed.
#[test]
fn a_reader_who_came_before_the_end_of_a_doubling_finds_a_key_that_moves_after_it() {
    let (full, kept) = full(0);
    let mut plain = full.clone();
    // As many as there are buckets, so that all of them are split.
    let inserted: Vec<u64> =
        (1 << 32..).take(usize::try_from(plain.parameters().slot_count() / 2).expect("a few")).collect();
    inserted.iter().for_each(|key| plain.insert(key).expect("it grows"));
    let moves = |key: &&u64| {
        let mut moved = plain.clone();
        assert!(moved.insert(*key).is_ok() && moved.remove(*key));
        let [before, after] = [&plain, &moved].map(|filter| buckets_of(filter, &[**key])[0]);
        before.is_some() && after.is_some() && before != after
    };
    let moving = *kept.iter().find(moves).expect("there is one");
    check(2, move || {
        let filter = share(&full);
        let (last, begun) = inserted.split_last().expect("there are some");
        begun.iter().for_each(|key| filter.insert(key).expect("it grows"));
        let (last, writer) = (*last, Arc::clone(&filter));
        let writer = thread::spawn(move || {
            writer.insert(&last).expect("it grows");
            writer.insert(&moving).expect("there is room");
            assert!(writer.remove(&moving), "there are two");
        });
        assert!(filter.contains(&moving), "missed while it moved");
        writer.join().expect("it does not panic");
        assert!(kept.iter().all(|key| filter.contains(key)), "a key was lost");
    });
}

/// Two threads each change a table that is being doubled, and split buckets of it.
fn two_writers_change_a_table_that_is_split(seed: u64, remove_one: bool) {
    let ((full, kept), begins) = (full(seed), 1_u64 << 32);
    check(2, move || {
        let filter = share(&full);
        filter.insert(&begins).expect("it grows");
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.insert(&(begins + 1)).expect("it grows"))
        };
        let (removed, new) = if remove_one { (1, None) } else { (0, Some(begins + 2)) };
        if remove_one {
            assert!(filter.remove(&kept[0]), "it is there");
        } else {
            filter.insert(&(begins + 2)).expect("it grows");
        }
        writer.join().expect("it does not panic");
        let keys = || kept[removed..].iter().copied().chain([begins, begins + 1]).chain(new);
        assert!(keys().all(|key| filter.contains(&key)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (keys().count(), Ok(())));
        assert!(keys().all(|key| filter.remove(&key)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (0, Ok(())));
    });
}

#[test]
fn keys_that_two_threads_insert_into_a_table_that_is_split_are_not_lost() {
    (0..4).for_each(|seed| two_writers_change_a_table_that_is_split(seed, false));
}

/// Full tables, and for each a key that is stored in the third bucket from the end when the two behind it were split.
fn keys_in_the_next_bucket(begins: u64) -> impl Iterator<Item = (CuckooFilter, Vec<u64>, u64)> {
    (0..).map(full).filter_map(move |(full, keys)| {
        let mut begun = full.clone();
        begun.insert(&begins).expect("it grows");
        let whole = begun.parameters().slot_count() / 4;
        let is_next = |key: &u64| {
            let mut stored = begun.clone();
            stored.insert(key).expect("it grows");
            buckets_of(&stored, &[*key])[0].is_some_and(|bucket| bucket / 2 == whole - 3)
                && buckets_of(&begun, &keys) == buckets_of(&stored, &keys)
        };
        let key = (1 << 33..(1 << 33) + 20).find(is_next)?;
        Some((full, keys, key))
    })
}

#[test]
fn a_key_that_is_stored_in_a_bucket_while_another_thread_splits_it_is_not_lost() {
    let begins = 1 << 32;
    for (full, kept, new) in keys_in_the_next_bucket(begins).take(2) {
        check(2, move || {
            let filter = share(&full);
            filter.insert(&begins).expect("it grows");
            let writer = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || filter.insert(&new).expect("it grows"))
            };
            assert!(filter.remove(&begins), "it is there");
            writer.join().expect("it does not panic");
            assert!(kept.iter().chain([&new]).all(|key| filter.contains(key)), "a key was lost");
            assert_eq!((filter.len(), filter.check_invariants()), (kept.len() + 1, Ok(())));
        });
    }
}

#[test]
fn a_key_that_is_removed_from_a_table_that_another_thread_splits_is_gone() {
    (0..4).for_each(|seed| two_writers_change_a_table_that_is_split(seed, true));
}

#[test]
fn a_key_that_is_inserted_while_another_thread_makes_the_table_grow_is_not_lost() {
    let (full, kept) = nearly_full();
    let new @ [one, two, three] = [1 << 32, 1 << 33, 1 << 34];
    check(2, move || {
        let filter = Arc::new(ConcurrentCuckooFilter::try_from(full.clone()).expect("a few slots"));
        let writer = {
            let filter = Arc::clone(&filter);
            // The first fills the table, unless the other thread's key does, and the second makes it grow.
            thread::spawn(move || [one, two].map(|key| filter.insert(&key).expect("it grows")))
        };
        filter.insert(&three).expect("it grows");
        assert!(filter.contains(&kept[0]), "missed while the table grew");
        writer.join().expect("it does not panic");
        let keys = || kept.iter().chain(&new);
        assert!(keys().all(|key| filter.contains(key)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (keys().count(), Ok(())));
        assert!(filter.parameters().doublings() > 0, "it grew");
    });
}

/// Two keys, either of which may meet the table that was replaced; whether both were there.
type RemoveTwo = fn(&ConcurrentCuckooFilter, &[u64]) -> bool;

fn keys_that_are_removed_while_another_thread_makes_the_table_grow_are_gone(remove: RemoveTwo) {
    let (full, kept) = nearly_full();
    let new = [1 << 32, 1 << 33];
    check(2, move || {
        let filter = Arc::new(ConcurrentCuckooFilter::try_from(full.clone()).expect("a few slots"));
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.try_extend(&new).expect("it grows"))
        };
        assert!(remove(&filter, &kept[..2]), "they are there");
        assert!(filter.contains(&kept[2]), "missed while the table grew");
        writer.join().expect("it does not panic");
        let keys = || kept[2..].iter().chain(&new);
        assert!(keys().all(|key| filter.contains(key)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (keys().count(), Ok(())));
    });
}

#[test]
fn keys_that_are_removed_one_by_one_while_another_thread_makes_the_table_grow_are_gone() {
    keys_that_are_removed_while_another_thread_makes_the_table_grow_are_gone(|filter, keys| {
        keys.iter().all(|key| filter.remove(key))
    });
}

#[test]
fn keys_that_are_removed_together_while_another_thread_makes_the_table_grow_are_gone() {
    keys_that_are_removed_while_another_thread_makes_the_table_grow_are_gone(|filter, keys| {
        let mut removed = [false; 2];
        filter.remove_many_into(keys, &mut removed);
        removed == [true; 2]
    });
}

/// The slots of [`table`], whose keys live for three resolutions of one. Their numbers have three bits.
fn expiring(buckets: u64, fingerprint_bits: u32) -> ExpiringCuckooFilter {
    let builder = ExpiringCuckooFilter::builder().bucket_count(buckets).slots_per_bucket(1);
    builder.fingerprint_bits(fingerprint_bits).lifetime(3).resolution(1).build().expect("a few slots")
}

fn share_expiring(filter: &ExpiringCuckooFilter) -> Arc<ConcurrentExpiringCuckooFilter> {
    Arc::new(filter.clone().try_into().expect("a few slots"))
}

#[test]
fn a_reader_finds_a_key_that_moves_to_the_slot_of_one_that_died() {
    let builder = table(4, 8);
    let [from, to, third, fourth] = [0, 1, 3, 2];
    let dying = key(&builder, [to, from], |_| true);
    let moving = key(&builder, [to, from], |key| key.fingerprint != dying.fingerprint);
    let new = key(&builder, [from, third], |key| key.fingerprint != moving.fingerprint);
    let in_third = key(&builder, [third, fourth], |_| true);
    let mut plain = expiring(4, 8);
    plain.insert(&dying.digest).expect("it is empty");
    assert!(plain.jump(1));
    for key in [moving, in_third] {
        plain.insert(&key.digest).expect("its other bucket is empty");
    }
    assert!(plain.jump(2));
    check(2, move || {
        let filter = share_expiring(&plain);
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || {
                filter.jump(3);
                filter.insert(&new.digest).expect("there is a path");
            })
        };
        assert!(filter.contains(&moving.digest), "missed while it moved");
        writer.join().expect("it does not panic");
        assert!([moving, new, in_third].iter().all(|key| filter.contains(&key.digest)), "a key was lost");
        assert!(!filter.contains(&dying.digest));
        assert_eq!((filter.len(), filter.check_invariants()), (3, Ok(())));
    });
}

#[test]
fn a_key_is_moved_by_one_thread_while_another_sweeps_the_table() {
    let builder = table(4, 8);
    let dying = key(&builder, [1, 0], |_| true);
    let moving = key(&builder, [1, 0], |key| key.fingerprint != dying.fingerprint);
    let new = key(&builder, [0, 3], |key| key.fingerprint != moving.fingerprint);
    let in_third = key(&builder, [3, 2], |_| true);
    let mut plain = expiring(4, 8);
    plain.insert(&dying.digest).expect("it is empty");
    assert!(plain.jump(1));
    for key in [moving, in_third] {
        plain.insert(&key.digest).expect("its other bucket is empty");
    }
    assert!(plain.jump(2));
    check(1, move || {
        let filter = share_expiring(&plain);
        let sweeper = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.jump(3))
        };
        // Another key moves if the dead one is not known to be dead yet.
        filter.insert(&new.digest).expect("there is a path");
        assert!(sweeper.join().expect("it does not panic"));
        assert!([moving, new, in_third].iter().all(|key| filter.contains(&key.digest)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (3, Ok(())));
    });
}

#[test]
fn of_two_threads_that_insert_a_key_if_it_is_absent_while_a_generation_begins_one_stores_it() {
    let builder = table(4, 8);
    let new = key(&builder, [0, 1], |_| true);
    let other = key(&builder, [3, 2], |_| true);
    let mut plain = expiring(4, 8);
    plain.insert(&other.digest).expect("it is empty");
    check(1, move || {
        let filter = share_expiring(&plain);
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || {
                filter.jump(1);
                filter.insert_if_absent(&new.digest).expect("there is room")
            })
        };
        let is_stored = filter.insert_if_absent(&new.digest).expect("there is room");
        assert_ne!(writer.join().expect("it does not panic"), is_stored);
        assert_eq!((filter.count(&new.digest), filter.len(), filter.check_invariants()), (1, 2, Ok(())));
    });
}

#[test]
fn a_key_that_is_inserted_while_generations_begin_and_die_is_of_one_that_lives() {
    let builder = table(4, 8);
    let first = key(&builder, [0, 1], |_| true);
    let [new, other] = [[1, 0], [3, 2]].map(|buckets| key(&builder, buckets, |_| true));
    let mut plain = expiring(4, 8);
    plain.insert(&first.digest).expect("it is empty");
    check(1, move || {
        let filter = share_expiring(&plain);
        let clock = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || {
                // The first key dies, and all that came before.
                filter.jump(3);
                filter.insert(&other.digest).expect("there is room");
            })
        };
        let came = filter.time();
        filter.insert(&new.digest).expect("there is room");
        clock.join().expect("it does not panic");
        assert_eq!(filter.check_invariants(), Ok(()));
        assert!(filter.time() - came >= 3 || filter.contains(&new.digest), "it came at {came}");
        assert!(filter.contains(&other.digest));
    });
}

/// A filter at time 2 with a key that dies at time 3, before which no word says that there may be dead ones, and one that came at 1.
fn before_a_key_dies(
    builder: &FilterBuilder,
    buckets: u64,
    dying: [u64; 2],
    kept: [u64; 2],
) -> (ExpiringCuckooFilter, Located) {
    let [dying, kept] = [dying, kept].map(|buckets| key(builder, buckets, |_| true));
    let mut plain = expiring(buckets, 8);
    plain.insert(&dying.digest).expect("it is empty");
    assert!(plain.jump(1));
    plain.insert(&kept.digest).expect("its bucket is empty");
    assert!(plain.jump(2));
    (plain, kept)
}

#[test]
fn a_reader_finds_a_key_that_is_renewed_in_generations_that_begin_meanwhile() {
    let (plain, kept) = before_a_key_dies(&table(2, 8), 2, [0, 1], [1, 0]);
    check(2, move || {
        let filter = share_expiring(&plain);
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || {
                for time in [3, 4] {
                    filter.jump(time);
                    assert_eq!(filter.insert_or_renew(&kept.digest), Ok(false));
                }
            })
        };
        assert!(filter.contains(&kept.digest), "missed while it was renewed");
        writer.join().expect("it does not panic");
        assert!(filter.contains_at(&kept.digest, 6) && !filter.contains_at(&kept.digest, 7));
        assert_eq!((filter.len(), filter.check_invariants()), (1, Ok(())));
    });
}

#[test]
fn a_reader_finds_a_key_whose_number_is_replaced_in_two_words() {
    // So many buckets that one step of sweeping leaves dead keys behind.
    let builder = table(1 << 13, 8);
    let bucket_of = |digest: &Digest| {
        let mut filter = builder.build().expect("some kilobytes");
        filter.insert(digest).expect("it is empty");
        filter.fingerprints().next().map(|stored| stored.bucket)
    };
    // The lowest bit of its number is the last one of a word. From 1 to 2 it goes through 0, a generation that has died.
    let is_in_two_words =
        |digest: &Digest| bucket_of(digest).is_some_and(|bucket| (11 * bucket + 9).is_multiple_of(64));
    let kept = (0..10_000_u64).map(|key| KeyHasher::xxh3(7).digest(&key)).find(is_in_two_words).expect("there is one");
    let mut plain = expiring(1 << 13, 8);
    plain.try_extend(1 << 32..(1 << 32) + 20_u64).expect("there is room");
    assert!(plain.jump(1));
    plain.insert(&kept).expect("there is room");
    plain.jump(3);
    check(1, move || {
        let filter = share_expiring(&plain);
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || assert_eq!(filter.insert_or_renew(&kept), Ok(false)))
        };
        assert!(filter.contains(&kept), "missed while it was renewed");
        writer.join().expect("it does not panic");
        assert!(filter.contains_at(&kept, 5) && filter.len() == 1);
    });
}
