//! Filters whose keys expire.

use guira::{ConcurrentExpiringCuckooFilter, Digest, ExpiringCuckooFilter, FilterBuilder, KeyHasher};
use loom::sync::Arc;
use loom::thread;

use super::{Located, check, key, table};

/// The slots of [`table`], whose keys live for three resolutions of one. Their numbers have three bits.
pub(super) fn expiring(buckets: u64, fingerprint_bits: u32) -> ExpiringCuckooFilter {
    let builder = ExpiringCuckooFilter::builder().bucket_count(buckets).slots_per_bucket(1);
    builder.fingerprint_bits(fingerprint_bits).lifetime(3).resolution(1).build().expect("a few slots")
}

pub(super) fn share_expiring(filter: &ExpiringCuckooFilter) -> Arc<ConcurrentExpiringCuckooFilter> {
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
fn a_key_that_has_died_is_not_found_while_another_takes_its_slot() {
    let builder = table(2, 8);
    let dying = key(&builder, [0, 1], |_| true);
    let kept = key(&builder, [1, 0], |key| key.fingerprint != dying.fingerprint);
    let new = key(&builder, [0, 1], |key| ![dying, kept].iter().any(|other| other.fingerprint == key.fingerprint));
    let mut plain = expiring(2, 8);
    plain.insert(&dying.digest).expect("it is empty");
    assert!(plain.jump(1));
    plain.insert(&kept.digest).expect("its bucket is empty");
    assert!(plain.jump(2));
    check(2, move || {
        let filter = share_expiring(&plain);
        let writer = {
            let filter = Arc::clone(&filter);
            // Before the key has died, there is no room.
            thread::spawn(move || filter.insert(&new.digest).is_ok())
        };
        assert!(filter.jump(3));
        assert!(!filter.contains(&dying.digest), "it was forgotten that it is dead");
        let is_stored = writer.join().expect("it does not panic");
        assert_eq!((filter.contains(&new.digest), filter.contains(&kept.digest)), (is_stored, true));
        assert_eq!((filter.len(), filter.check_invariants()), (1 + usize::from(is_stored), Ok(())));
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
#[ignore = "takes a quarter of a minute: tools/nightly runs it"]
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

#[test]
fn a_key_is_stored_in_a_slot_that_another_thread_fills_and_empties() {
    let builder = table(2, 8);
    let new = key(&builder, [0, 1], |_| true);
    let other = key(&builder, [0, 1], |key| key.fingerprint != new.fingerprint);
    let mut plain = expiring(2, 8);
    plain.insert(&other.digest).expect("it is empty");
    // An empty slot holds the number of a generation that has died.
    assert!(plain.jump(3) && plain.is_empty());
    check(3, move || {
        let filter = share_expiring(&plain);
        let thread = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || {
                filter.insert(&other.digest).expect("there is room");
                assert!(filter.remove(&other.digest));
            })
        };
        filter.insert(&new.digest).expect("there is room");
        thread.join().expect("it does not panic");
        assert!(filter.contains(&new.digest), "the key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (1, Ok(())));
    });
}

#[test]
fn a_reader_finds_a_key_whose_older_copy_dies_while_it_looks() {
    let builder = table(8, 8);
    let [twice, other, dying] = [[0, 1], [2, 3], [6, 7]].map(|buckets| key(&builder, buckets, |_| true));
    let plain = ExpiringCuckooFilter::builder().bucket_count(8).slots_per_bucket(1).fingerprint_bits(8);
    let mut plain = plain.lifetime(30).resolution(10).build().expect("a few slots");
    for (time, key) in [(5, dying), (15, twice), (31, other)] {
        assert!(plain.jump(time));
        plain.insert(&key.digest).expect("its bucket is empty");
    }
    // In a table of which half is swept, what is of a number that a reader does not know may be dead.
    plain.jump(35);
    check(1, move || {
        let filter = share_expiring(&plain);
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || {
                assert!(filter.jump(41));
                filter.insert(&twice.digest).expect("there is room");
                assert!(filter.jump(45));
            })
        };
        assert!(filter.count(&twice.digest) > 0, "a copy was there at every moment");
        writer.join().expect("it does not panic");
        assert_eq!((filter.count(&twice.digest), filter.check_invariants()), (1, Ok(())));
    });
}

#[test]
fn a_key_that_comes_while_time_moves_on_by_a_lifetime_lives_or_prevents_it() {
    let builder = table(2, 8);
    let new = key(&builder, [0, 1], |_| true);
    let plain = expiring(2, 8);
    check(2, move || {
        let filter = share_expiring(&plain);
        let clock = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.advance(100).is_ok())
        };
        filter.insert(&new.digest).expect("there is room");
        let has_moved = clock.join().expect("it does not panic");
        assert!(filter.contains(&new.digest), "it died at once");
        assert_eq!((filter.time(), filter.check_invariants()), (if has_moved { 100 } else { 0 }, Ok(())));
    });
}

#[test]
fn no_key_is_left_out_of_a_count_while_a_generation_begins_or_dies() {
    let builder = table(4, 8);
    let [dying, first, second] = [[0, 1], [2, 3], [3, 2]].map(|buckets| key(&builder, buckets, |_| true));
    let plain = ExpiringCuckooFilter::builder().bucket_count(4).slots_per_bucket(1).fingerprint_bits(8);
    let mut plain = plain.lifetime(30).resolution(10).build().expect("a few slots");
    assert!(plain.jump(5));
    plain.insert(&dying.digest).expect("it is empty");
    assert!(plain.jump(31));
    for key in [first, second] {
        plain.insert(&key.digest).expect("its bucket is empty");
    }
    // One key dies at both times, and at the second a generation begins.
    for now in [35, 41] {
        let plain = plain.clone();
        check(2, move || {
            let filter = share_expiring(&plain);
            let clock = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || filter.jump(now))
            };
            assert!(filter.len() >= 2, "keys were left out until {now}");
            assert!(clock.join().expect("it does not panic"));
            assert_eq!((filter.len(), filter.check_invariants()), (2, Ok(())));
        });
    }
}

#[test]
fn a_key_that_has_died_and_comes_again_is_stored_while_another_takes_its_slot() {
    let builder = table(8, 8);
    let dying = key(&builder, [6, 7], |_| true);
    // It can move on to where there is room for the key that comes again.
    let other = key(&builder, [7, 4], |_| true);
    let new = key(&builder, [6, 7], |key| key.fingerprint != dying.fingerprint);
    let mut plain = expiring(8, 8);
    plain.insert(&dying.digest).expect("it is empty");
    assert!(plain.jump(2));
    plain.insert(&other.digest).expect("its bucket is empty");
    // In a table of which half is swept, its fingerprint is still there.
    plain.jump(3);
    check(1, move || {
        let filter = share_expiring(&plain);
        let writer = {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.insert(&new.digest).expect("there is room"))
        };
        filter.insert_if_absent(&dying.digest).expect("there is room");
        writer.join().expect("it does not panic");
        let keys = [dying, other, new];
        assert!(keys.iter().all(|key| filter.contains(&key.digest)), "a key was lost");
        assert_eq!((filter.len(), filter.check_invariants()), (3, Ok(())));
    });
}
