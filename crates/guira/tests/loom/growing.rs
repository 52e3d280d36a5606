//! Filters that grow: tables that are split, and replaced.

use guira::raw::{RawFilter as _, RawInsert as _};
use guira::{ConcurrentCuckooFilter, CuckooFilter, Digest, KeyHasher, StoredFingerprint};
use loom::sync::Arc;
use loom::thread;

use super::{check, looks};

/// A filter that grows, whose table of four buckets takes no more keys before it is doubled, and its keys.
pub(super) fn full(seed: u64) -> (CuckooFilter, Vec<u64>) {
    filled(seed, 64, 4)
}

fn filled(seed: u64, max_capacity: usize, buckets: u64) -> (CuckooFilter, Vec<u64>) {
    let builder = CuckooFilter::builder().capacity(2).max_capacity(max_capacity).hasher(KeyHasher::xxh3(seed));
    let mut full = builder.false_positive_rate(0.1).build().expect("a few slots");
    assert_eq!(full.parameters().bucket_count(), buckets);
    let keys = (0..).take_while(|key| full.insert_without_growing(key).is_ok()).collect();
    (full, keys)
}

/// The same of a table that is half doubled: every second of its buckets has become two.
fn full_half_doubled(seed: u64) -> (CuckooFilter, Vec<u64>) {
    let (mut full, mut keys) = full(seed);
    let mut more = 1 << 20..;
    keys.extend(more.next().inspect(|key| full.insert(key).expect("it grows")));
    full.settle();
    assert_eq!(full.parameters().half_doublings(), 1);
    keys.extend(more.take_while(|key| full.insert_without_growing(key).is_ok()));
    (full, keys)
}

/// What makes a full table with a seed, and its keys.
pub(super) type Full = fn(u64) -> (CuckooFilter, Vec<u64>);

/// Full tables before either half of a doubling.
pub(super) const BEFORE_EITHER_HALF: [Full; 2] = [full, full_half_doubled];

/// How many buckets of a filter's table there were when all had become two as often, and the number that one of them had then.
fn before_halves(filter: &CuckooFilter, bucket: u64) -> (u64, u64) {
    let buckets = filter.parameters().bucket_count();
    match filter.parameters().half_doublings() {
        0 => (buckets, bucket),
        // Of three buckets, the last two were one.
        1 => (buckets / 3 * 2, bucket / 3 * 2 + (bucket % 3).div_ceil(2)),
        2 => (buckets / 2, bucket / 2),
        more => panic!("{more} half doublings"),
    }
}

/// A filter that grows, whose table of two buckets has one key fewer than it takes.
fn nearly_full() -> (CuckooFilter, Vec<u64>) {
    let (mut full, mut keys) = filled(0, 32, 2);
    assert!(keys.pop().is_some_and(|last| full.remove(&last)), "there is one");
    (full, keys)
}

pub(super) fn share(filter: &CuckooFilter) -> Arc<ConcurrentCuckooFilter> {
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

/// Full tables of which half the buckets become two for a new key, of which each makes a stored key move, with that key.
fn doublings_with_moves(full: Full) -> impl Iterator<Item = (CuckooFilter, Vec<u64>, u64, u64)> {
    (0..).map(full).flat_map(|(full, keys)| {
        (1 << 32..(1 << 32) + 20).find_map(|new| {
            let mut doubled = full.clone();
            doubled.insert(&new).ok()?;
            let [before, after] = [&full, &doubled].map(|filter| {
                let buckets = buckets_of(filter, &keys).into_iter();
                buckets.map(|bucket| Some(before_halves(filter, bucket?).1)).collect::<Vec<_>>()
            });
            let mut both = keys.iter().zip(before.into_iter().zip(after));
            let (&moved, _) =
                both.find(|(_, (before, after))| before.is_some() && after.is_some() && before != after)?;
            Some((full.clone(), keys.clone(), new, moved))
        })
    })
}

#[test]
fn a_reader_finds_a_key_that_moves_to_a_bucket_that_was_just_split() {
    let doublings = BEFORE_EITHER_HALF.into_iter().flat_map(|full| doublings_with_moves(full).take(3));
    for ((full, kept, new, moved), look) in
        doublings.flat_map(|doubling| looks().map(move |look| (doubling.clone(), look)))
    {
        check(2, move || {
            let filter = share(&full);
            let writer = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || filter.insert(&new).expect("it grows"))
            };
            assert!(look(&filter, &moved), "missed while it moved");
            writer.join().expect("it does not panic");
            assert!(kept.iter().chain([&new]).all(|key| filter.contains(key)), "a key was lost");
        });
    }
}

#[test]
fn a_reader_finds_the_keys_of_a_bucket_that_is_split() {
    let begins = 1_u64 << 32;
    let tables = BEFORE_EITHER_HALF.into_iter().map(|full| full(0));
    let looked_up =
        tables.flat_map(|(full, kept)| kept.clone().into_iter().map(move |key| (full.clone(), kept.clone(), key)));
    for (full, kept, looked_up) in looked_up {
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
    BEFORE_EITHER_HALF.into_iter().for_each(a_reader_who_came_before_the_end_of_a_half_finds_a_key_that_moves_after_it);
}

fn a_reader_who_came_before_the_end_of_a_half_finds_a_key_that_moves_after_it(full: Full) {
    let (full, kept) = full(0);
    let mut plain = full.clone();
    let inserted: Vec<u64> = (1 << 32..).take(keys_that_end_a_half(&full)).collect();
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

/// As many keys as there are buckets that are split for one of them each.
pub(super) fn keys_that_end_a_half(full: &CuckooFilter) -> usize {
    usize::try_from(before_halves(full, 0).0).expect("a few")
}

/// Two threads each change a table that is being doubled, and split buckets of it.
fn two_writers_change_a_table_that_is_split(full: Full, seed: u64, remove_one: bool) {
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
#[ignore = "takes a quarter of a minute: tools/nightly runs it"]
fn keys_that_two_threads_insert_into_a_table_that_is_split_are_not_lost() {
    (0..4).for_each(|seed| two_writers_change_a_table_that_is_split(full, seed, false));
}

#[test]
#[ignore = "takes minutes: tools/nightly runs it"]
fn keys_that_two_threads_insert_into_a_half_doubled_table_that_is_split_are_not_lost() {
    two_writers_change_a_table_that_is_split(full_half_doubled, 0, false);
}

/// Full tables, and for each a key that is stored in the third bucket from the end when the two behind it were split.
fn keys_in_the_next_bucket(full: Full, begins: u64) -> impl Iterator<Item = (CuckooFilter, Vec<u64>, u64)> {
    (0..).map(full).filter_map(move |(full, keys)| {
        let mut begun = full.clone();
        begun.insert(&begins).expect("it grows");
        let is_next = |key: &u64| {
            let mut stored = begun.clone();
            stored.insert(key).expect("it grows");
            let bucket = buckets_of(&stored, &[*key])[0].map(|bucket| before_halves(&stored, bucket));
            bucket.is_some_and(|(buckets, number)| number + 3 == buckets)
                && buckets_of(&begun, &keys) == buckets_of(&stored, &keys)
        };
        let key = (1 << 33..(1 << 33) + 20).find(is_next)?;
        Some((full, keys, key))
    })
}

#[test]
fn a_key_that_is_stored_in_a_bucket_while_another_thread_splits_it_is_not_lost() {
    let begins = 1 << 32;
    for (full, kept, new) in
        BEFORE_EITHER_HALF.into_iter().flat_map(|full| keys_in_the_next_bucket(full, begins).take(2))
    {
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
    (0..4).for_each(|seed| two_writers_change_a_table_that_is_split(full, seed, true));
}

#[test]
#[ignore = "takes minutes: tools/nightly runs it"]
fn a_key_that_is_removed_from_a_half_doubled_table_that_another_thread_splits_is_gone() {
    two_writers_change_a_table_that_is_split(full_half_doubled, 0, true);
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
        assert!(filter.parameters().half_doublings() > 0, "it grew");
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
            thread::spawn(move || filter.try_extend(new).expect("it grows"))
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

/// Full tables that lack one key, a key that takes a slot in two words of another one, which moves, a key that fills the last slot at
/// the limit, and one that has the fingerprint that is in the slot when half of it is written.
fn slots_in_two_words() -> impl Iterator<Item = (CuckooFilter, [Digest; 3])> {
    let digest = |key: u64| KeyHasher::xxh3(7).digest(&key);
    (0..).map(full).filter_map(move |(mut before, keys)| {
        assert_eq!(before.parameters().bits_per_slot(), 11);
        let last = keys.last().filter(|_| keys.len() == 15)?;
        assert!(before.remove(last));
        let (mut empty, in_bucket) = (before.clone(), |filter: &CuckooFilter, bucket| -> Vec<u64> {
            filter.fingerprints().filter(|it| it.bucket == bucket).map(|it| it.fingerprint).collect()
        });
        empty.clear();
        // Slot 1 of bucket 1 stands at bits 55 to 65, slot 3 of bucket 2 at bits 121 to 131.
        let (moving, bucket, half) = (1 << 20..(1 << 20) + 100).map(digest).find_map(|moving| {
            let mut after = before.clone();
            after.insert_without_growing(&moving).ok()?;
            [(1, 1, 9), (2, 3, 7)].into_iter().find_map(|(bucket, slot, low_bits)| {
                let [old, new] = [&before, &after].map(|filter| in_bucket(filter, bucket).get(slot).copied());
                let (old, new, low) = (old?, new?, (1 << low_bits) - 1);
                let half = new & low | old & !low;
                let is_new = ![&before, &after].iter().any(|filter| in_bucket(filter, bucket).contains(&half));
                (old != new && is_new).then_some((moving, bucket, half))
            })
        })?;
        // One that compares with the limit.
        let seen = (1 << 30..(1 << 30) + 1_000_000).map(digest).filter(|digest| digest.get().is_multiple_of(32)).find(
            |seen| {
                empty.clear();
                empty.insert(seen).expect("it is empty");
                empty.fingerprints().all(|it| (it.bucket, it.fingerprint) == (bucket, half)) && !before.contains(seen)
            },
        )?;
        let last = (1 << 21..(1 << 21) + 100).map(digest).find(|last| {
            let mut filter = before.clone();
            filter.insert_without_growing(last).is_ok()
                && before.fingerprints().all(|it| filter.fingerprints().any(|other| other == it))
        })?;
        Some((before, [moving, last, seen]))
    })
}

#[test]
fn a_key_that_has_the_halves_of_two_fingerprints_is_stored() {
    for (full, [moving, last, seen]) in slots_in_two_words().take(2) {
        check(1, move || {
            let filter = share(&full);
            let other = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || {
                    filter.insert(&last).expect("there is room");
                    filter.insert_if_absent(&seen).expect("it grows");
                })
            };
            filter.insert(&moving).expect("it grows");
            other.join().expect("it does not panic");
            assert!([moving, last, seen].iter().all(|key| filter.contains(key)), "a key was lost");
        });
    }
}

/// Full tables, a key that makes some of their buckets two, one that takes a slot in two words of another key in a bucket that waits, and
/// one that has the fingerprint that is in the slot when half of it is written.
fn slots_in_two_words_amid_a_doubling() -> impl Iterator<Item = (CuckooFilter, [Digest; 3])> {
    let digest = |key: u64| KeyHasher::xxh3(7).digest(&key);
    // Where fingerprints were before the doubling, and where they still are in buckets that wait.
    let stored = |filter: &CuckooFilter| -> Vec<(u64, u64)> {
        filter.fingerprints().map(|it| (before_halves(filter, it.bucket).1, it.fingerprint)).collect()
    };
    let count = move |filter: &CuckooFilter, bucket, fingerprint| {
        stored(filter).into_iter().filter(|it| *it == (bucket, fingerprint)).count()
    };
    (0..).map(full).filter_map(move |(full, _keys)| {
        assert_eq!(full.parameters().bits_per_slot(), 11);
        let mut empty = full.clone();
        empty.clear();
        // Slot 1 of bucket 1 stands at bits 55 to 65.
        let (bucket, low) = (1, (1 << 9) - 1);
        let old = full.fingerprints().filter(|it| it.bucket == bucket).nth(1)?.fingerprint;
        let (begins, mut underway) = (digest(1 << 19), full.clone());
        underway.insert(&begins).ok()?;
        let (before, now) = (stored(&full), stored(&underway));
        if underway.parameters().half_doublings() != 1 || !before.iter().all(|it| now.contains(it)) {
            return None;
        }
        let (moving, half) = (1 << 20..(1 << 20) + 1000).map(digest).find_map(|moving| {
            let mut after = underway.clone();
            after.insert(&moving).ok()?;
            let new = stored(&after)
                .into_iter()
                .find(|&(at, new)| at == bucket && count(&after, at, new) > count(&underway, at, new))?;
            let half = new.1 & low | old & !low;
            let is_moved = count(&after, bucket, old) < count(&underway, bucket, old);
            let is_new = [&underway, &after].iter().all(|filter| count(filter, bucket, half) == 0);
            let waits = !after.memory()[1].is_empty();
            (waits && is_moved && is_new).then_some((moving, half))
        })?;
        let seen = (1 << 30..(1 << 30) + 100_000).map(digest).find(|seen| {
            empty.clear();
            // The second copy goes to the other bucket.
            (0..2).for_each(|_copy| empty.insert(seen).expect("it is empty"));
            empty.fingerprints().any(|it| (it.bucket, it.fingerprint) == (bucket, half)) && !underway.contains(seen)
        })?;
        Some((full, [begins, moving, seen]))
    })
}

#[test]
fn a_key_that_has_the_halves_of_two_fingerprints_is_stored_amid_a_doubling() {
    for (full, [begins, moving, seen]) in slots_in_two_words_amid_a_doubling().take(2) {
        check(1, move || {
            let filter = share(&full);
            filter.insert(&begins).expect("it grows");
            let other = {
                let filter = Arc::clone(&filter);
                thread::spawn(move || filter.insert_if_absent(&seen).expect("it grows"))
            };
            filter.insert(&moving).expect("it grows");
            other.join().expect("it does not panic");
            assert!([begins, moving, seen].iter().all(|key| filter.contains(key)), "a key was lost");
        });
    }
}
