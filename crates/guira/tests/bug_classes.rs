//! Bugs that other filters have or had, each with tests of its own. A test that can't fail is one of those bugs too:
//! each of these was seen to fail when what it guards was taken out.
//!
//! | what goes wrong elsewhere | tests, here or in another file |
//! |---|---|
//! | a failed insert loses another key | `failed_inserts_lose_no_other_key` |
//! | | `a_failed_insert_leaves_every_bit_unchanged` |
//! | | `failed_inserts_into_maps_counting_filters_and_sets_lose_no_key` |
//! | | growing.rs: `failed_inserts_lose_no_key_however_often_they_are_tried` |
//! | fingerprint 0 is taken for an empty slot | `no_digest_has_fingerprint_0` |
//! | | `the_ends_of_the_digest_are_the_ends_of_the_fingerprint` |
//! | | growing.rs: `no_doubling_makes_a_fingerprint_0` |
//! | the alternate bucket does not lead back | `the_alternate_of_the_alternate_is_the_primary_bucket_for_every_size` |
//! | | `keys_that_were_moved_are_found_where_lookups_look` |
//! | | growing.rs: `the_alternate_leads_back_after_any_number_of_doublings` |
//! | removal after growth takes others | growing.rs: `of_200_000_keys_any_half_can_be_removed_and_the_other_is_found` |
//! | | growing.rs: `random_operations_agree_with_a_multiset` |
//! | shrinking loses keys | growing.rs: `shrinking_loses_no_key_of_any_number_of_keys` |
//! | | growing.rs: `growing_ahead_and_shrinking_back_gives_the_bits_back` |
//! | copies make a filter grow, or lock it | `more_copies_than_fit_are_refused_for_ever_and_nothing_grows` |
//! | | `too_many_copies_and_a_full_filter_are_different_errors` |
//! | | `copies_take_no_memory_in_maps_counting_filters_and_sets` |
//! | | growing.rs: `the_same_key_10_000_times_changes_neither_size_nor_anything_else` |
//! | | growing.rs: `copies_in_a_batch_do_not_make_it_grow` |
//! | | growing.rs: `copies_in_a_merge_do_not_make_it_grow` |
//! | | growing.rs: `many_copies_of_every_key_are_refused_before_the_table_becomes_a_desert` |
//! | a victim slot is not searched or saved | `the_last_key_before_a_refusal_is_stored_like_any_other` |
//! | one bucket is counted as two | `a_key_with_a_single_candidate_bucket_is_counted_once` |
//! | odd widths are broken | `every_width_keeps_neighbouring_slots_apart` |
//! | | model.rs: `small_tables_agree_with_the_model` |
//! | | kinds/map.rs: `small_maps_agree_with_a_multimap` |
//! | merging loses keys | `merged_filters_hold_the_keys_of_both` |
//! | | `a_merge_that_fails_changes_nothing` |
//! | | growing.rs: `filters_of_different_sizes_are_merged` |
//! | batches lose keys | batch.rs: `a_batch_that_does_not_fit_is_stored_up_to_the_first_key_that_does_not` |
//! | | batch.rs: `more_keys_than_fit_are_stored_but_for_those_in_the_error` |
//! | | growing.rs: `batches_that_make_it_grow_lose_no_key` |
//! | a promised capacity is not reached | capacity.rs: `capacities_around_powers_of_two_are_kept` |
//! | | capacity.rs: `capacities_of_any_size_are_kept` |
//! | | capacity.rs: `every_small_capacity_is_kept_in_every_shape` |
//! | memory is wasted | capacity.rs: `buckets_of_4_cost_at_most_six_percent_more_than_their_fingerprints` |
//! | | growing.rs: `before_a_doubling_the_table_is_as_small_as_one_built_for_its_keys` |
//! | the hash changes | `xxh3_is_the_published_one_for_every_length_of_key` |
//! | | `sip_hash_is_the_reference_one` |
//! | | `strings_and_integers_are_hashed_as_documented_bytes` |
//! | | `keys_have_the_fingerprints_and_buckets_of_the_documented_format` |
//! | the format breaks | `a_file_is_the_golden_one_byte_for_byte` |
//! | | golden.rs: `stored_files_are_read_and_written_again_byte_for_byte` |
//! | loading trusts bytes | format/forging.rs: `headers_that_contradict_themselves_are_refused` |
//! | | format/forging.rs: `tables_too_large_for_the_file_are_refused_before_memory_is_taken` |
//! | | format/forging.rs: `no_table_makes_a_loaded_filter_panic` |
//! | | kinds/files.rs: `no_table_makes_loading_or_using_panic` |
//! | removal takes another key (inherent) | `removing_a_key_that_was_not_inserted_takes_the_one_it_is_taken_for` |
//! | | `removing_a_key_that_is_denied_changes_nothing` |
//! | copies that were not stored are removed | `insert_unique_stores_one_copy_for_keys_that_are_taken_for_each_other` |
//! | | kinds/set.rs: `a_store_that_is_asked_makes_removal_safe` |

use std::collections::{BTreeMap, BTreeSet, HashSet};

use guira::{
    Addressing, CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, Digest, HashAlgorithm, InsertError,
    KeyHasher, Layout, MergeError, Shape,
};

mod oracle {
    pub(crate) mod case;
    pub(crate) mod classes;
    pub(crate) mod random;
    pub(crate) mod shapes;
}

use oracle::case::{Announced, Case};
use oracle::classes::{Class, Prober};
use oracle::random::SplitMix64;
use oracle::shapes::all_shapes;

fn case_of(shape: Shape, fingerprint_bits: u32, bucket_count: u64) -> Case {
    Case {
        layout: shape.layout(),
        addressing: shape.addressing(),
        slots_per_bucket: shape.slots_per_bucket(),
        fingerprint_bits,
        bucket_count,
        seed: u64::from(fingerprint_bits),
    }
}

/// Every shape of a table with all its fingerprint lengths. The number of buckets, a power of two, is what is asked
/// for; with powers of three and four, and with doubling, it may become a little more.
fn every_kind(bucket_count: u64) -> impl Iterator<Item = Case> {
    all_shapes().into_iter().flat_map(move |shape| {
        (shape.least_fingerprint_bits()..=32)
            .map(move |fingerprint_bits| case_of(shape, fingerprint_bits, bucket_count))
    })
}

/// Inserts keys until a number of them was refused; the accepted ones, and the refused ones.
fn overfill(filter: &mut CuckooFilter, refusals: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for key in 0.. {
        if refused.len() == refusals {
            break;
        }
        let result = filter.insert(&key);
        if result.is_ok() { accepted.push(key) } else { refused.push(key) }
    }
    (accepted, refused)
}

/// A key that was not inserted, and that the filter takes for one that was.
fn false_positive(filter: &CuckooFilter) -> u64 {
    (1 << 40..).find(|key| filter.contains(key)).expect("there are 2^64 keys")
}

// Seen in several crates and in both popular Go filters, which lost 1,191 of 64,294 keys.
#[test]
fn failed_inserts_lose_no_other_key() {
    for case in every_kind(64) {
        let _announced = Announced(case);
        let mut filter = case.build();
        let (accepted, _) = overfill(&mut filter, 500);
        for key in 1 << 40..(1 << 40) + 500_u64 {
            if filter.insert(&key).is_ok() {
                assert!(filter.remove(&key), "{case}: {key} is lost");
            }
        }
        for key in &accepted {
            assert!(filter.contains(key), "{case}: {key} is lost");
        }
        assert_eq!(filter.len(), accepted.len(), "{case}: the others were refused, or removed again");
    }
}

#[test]
fn a_failed_insert_leaves_every_bit_unchanged() {
    for case in every_kind(32) {
        let _announced = Announced(case);
        let mut filter = case.build();
        overfill(&mut filter, 100);
        let mut failures = 0;
        for key in 1 << 40..(1 << 40) + 500_u64 {
            let before = filter.clone();
            if filter.insert(&key).is_err() {
                assert_eq!(filter, before, "{case}: insert({key})");
                assert_eq!(filter.to_bytes(), before.to_bytes(), "{case}: insert({key})");
                failures += 1;
            }
        }
        assert!(failures >= 100, "{case}: {failures} inserts failed");
    }
}

/// The keys below `count` that are stored.
fn accepted(count: usize, mut insert: impl FnMut(u64) -> Result<(), InsertError>) -> Vec<u64> {
    (0..count as u64).filter(|&key| insert(key).is_ok()).collect()
}

#[test]
fn failed_inserts_into_maps_counting_filters_and_sets_lose_no_key() {
    for case in every_kind(32).filter(|case| case.addressing == Addressing::Regional) {
        let _announced = Announced(case);
        let mut set = CuckooSet::from(case.build());
        let slots = set.as_filter().slot_count();
        for key in accepted(4 * slots, |key| set.insert(&key).map(drop)) {
            assert!(set.contains(&key), "{case}: {key} is lost of a set");
        }

        // Values go with packed tables, and with fingerprints that leave them some bits.
        let value_bits = (32 - case.fingerprint_bits).min(8);
        if case.layout != Layout::Packed || value_bits == 0 {
            continue;
        }
        let mut map = CuckooMap::<u8>::builder()
            .bucket_count(case.bucket_count)
            .fingerprint_bits(case.fingerprint_bits)
            .slots_per_bucket(case.slots_per_bucket)
            .value_bits(value_bits)
            .build()
            .expect("measures in range");
        let value_of = |key: u64| u8::try_from(key % (1 << value_bits)).expect("at most 8 bits");
        let keys = accepted(4 * slots, |key| map.insert(&key, value_of(key)));
        assert!(keys.len() < 4 * slots, "{case}: some are refused");
        for key in &keys {
            assert!(map.get(key).any(|value| value == value_of(*key)), "{case}: {key} is lost of a map");
        }
        assert!(keys.iter().all(|key| map.remove(key, value_of(*key))), "{case}: a key can't be removed from a map");
        assert!(map.is_empty(), "{case}");

        let mut counting = CountingCuckooFilter::builder()
            .bucket_count(case.bucket_count)
            .fingerprint_bits(case.fingerprint_bits)
            .slots_per_bucket(case.slots_per_bucket)
            .counter_bits(value_bits)
            .build()
            .expect("measures in range");
        let keys = accepted(4 * slots, |key| counting.insert(&key));
        assert_eq!(counting.len(), keys.len() as u64, "{case}: the others were refused");
        assert!(keys.iter().all(|key| counting.contains(key)), "{case}: a key is lost of a counting filter");
        assert!(keys.iter().all(|key| counting.remove(key)), "{case}: a key can't be removed from a counting filter");
        assert!(counting.is_empty(), "{case}");
    }
}

// The paper's own code keeps the last fingerprint that found no place beside the table, and miscounts it; others neither
// search nor save nor remove it.
#[test]
fn the_last_key_before_a_refusal_is_stored_like_any_other() {
    for case in every_kind(16) {
        let _announced = Announced(case);
        let mut filter = case.build();
        let (accepted, refused) = overfill(&mut filter, 1);
        assert_eq!(filter.len(), accepted.len(), "{case}: the refused key is not counted");
        assert_eq!(filter.iter().count(), accepted.len(), "{case}: every key is in the table");
        let counted = filter.count(&refused[0]);
        let last = accepted.last().expect("the first key fits");
        assert!(filter.contains(last), "{case}: {last} is lost");

        let mut loaded = CuckooFilter::from_bytes(&filter.to_bytes()).expect("a file of the library");
        for filter in [&mut filter, &mut loaded] {
            assert_eq!(filter.count(&refused[0]), counted, "{case}: the refused key is kept nowhere");
            for key in &accepted {
                assert!(filter.remove(key), "{case}: {key} is lost");
            }
            assert!(filter.is_empty() && filter.iter().next().is_none(), "{case}");
            assert!(!filter.contains(&refused[0]), "{case}: the refused key is kept somewhere");
        }
    }
}

// Seen in C and Rust ports: a fingerprint of 0 is taken for an empty slot, and its key is never found.
#[test]
fn no_digest_has_fingerprint_0() {
    let mut random = SplitMix64::new(1);
    for case in every_kind(8) {
        let _announced = Announced(case);
        let greatest = u32::MAX >> (32 - case.fingerprint_bits);
        let extremes = [0, 1, 1 << 31, 1 << 32, u64::MAX << 32, u64::MAX, u64::from(u32::MAX), u64::MAX - 1];
        for digest in extremes.into_iter().chain((0..100).map(|_| random.next() << 32)).map(Digest::new) {
            let mut filter = case.build();
            assert_eq!(filter.insert_digest(digest), Ok(()), "{case}: {digest:?}");
            assert!(filter.contains_digest(digest), "{case}: {digest:?} is lost");
            assert_eq!((filter.count_digest(digest), filter.len()), (1, 1), "{case}: {digest:?}");
            let stored = filter.iter().next().expect("it is stored");
            assert!((1..=greatest).contains(&stored.fingerprint.get()), "{case}: {digest:?} is stored as {stored:?}");
            // What is left of it after all doublings must not be 0 either.
            let core = stored.fingerprint.get() & 255;
            assert!(case.addressing != Addressing::Doubling || core != 0, "{case}: {digest:?} is stored as {stored:?}");
            assert!(filter.remove_digest(digest), "{case}: {digest:?} can't be removed");
            assert!(filter.is_empty(), "{case}: {digest:?}");
        }
    }
}

/// The low 32 bits of a digest are scaled to 1..=2^f - 1, so that their ends are the ends of that range.
#[test]
fn the_ends_of_the_digest_are_the_ends_of_the_fingerprint() {
    for case in every_kind(4) {
        let fingerprint_of = |low: u32| {
            let mut filter = case.build();
            filter.insert_digest(Digest::new(0x1234_5678 << 32 | u64::from(low))).expect("it is empty");
            filter.iter().next().expect("it is stored").fingerprint.get()
        };
        let greatest = u32::MAX >> (32 - case.fingerprint_bits);
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
        (Layout::Packed, Addressing::Doubling, 1, &even),
        (Layout::SemiSorted, Addressing::Regional, 4, &all[20..]),
        (Layout::Windowed, Addressing::Regional, 2, &all[..20]),
        (Layout::Windowed, Addressing::Regional, 3, &all[..20]),
        (Layout::Windowed, Addressing::Regional, 4, &all[..20]),
    ] {
        let shape = Shape::new(layout, addressing, slots_per_bucket).expect("there is such a table");
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
        // All windows of a fingerprint start as far behind those of phase 0.
        let stride = if case.layout == Layout::Windowed { u64::from(case.slots_per_bucket) } else { 1 };
        let phase = *class_of_bucket.keys().next().expect("there is a bucket");
        assert!(phase < stride, "{case}: the first bucket is none of the candidates");
        let every_bucket = (0..parameters.bucket_count()).map(|place| place * stride + phase);
        assert!(class_of_bucket.keys().copied().eq(every_bucket), "{case}: every bucket is a candidate");

        let single = class_of_bucket.values().filter(|class| class.bucket_count() == 1).count();
        match case.addressing {
            // Where exclusive or is with 0, all buckets are their own alternates.
            Addressing::PowerOfTwo => {}
            // Of an odd number of buckets one is its own alternate, of an even number none is.
            Addressing::Regional => assert_eq!(single, usize::from(case.bucket_count % 2 == 1), "{case}"),
            _ => assert!(single == 0 || parameters.buckets_per_region() == 1, "{case}: {class_of_bucket:?}"),
        }
    }
}

// Relocation has no key at hand, only fingerprints. If it took another way than lookups do, keys would be lost in a full
// table and nowhere else.
#[test]
fn keys_that_were_moved_are_found_where_lookups_look() {
    for shape in all_shapes() {
        let bucket_count = if shape.addressing() == Addressing::PowerOfTwo { 256 } else { 253 };
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
            undisturbed.extend(&alone);
            alone.clear();
        }
        let moved = filter.iter().filter(|stored| !undisturbed.contains(stored)).count();
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

// Seen in two projects: 135 copies of a key make 1.4 KB grow to 209.7 MB; 125 lock a filter, 85 take 4.3 GB.
#[test]
fn more_copies_than_fit_are_refused_for_ever_and_nothing_grows() {
    for shape in all_shapes() {
        let builder = CuckooFilter::builder()
            .capacity(1000)
            .false_positive_rate(0.001)
            .layout(shape.layout())
            .addressing(shape.addressing())
            .slots_per_bucket(shape.slots_per_bucket());
        let mut filter = builder.build().expect("measures in range");
        let (size, capacity) = (filter.size_in_bytes(), filter.capacity());
        // In a planned table no bucket is its own alternate; with exclusive or it may be, but not for this key.
        let most = usize::try_from(shape.compared_slots()).expect("at most 32");
        for copy in 1..=most {
            assert_eq!(filter.insert("ani"), Ok(()), "{shape:?}, copy {copy}");
        }
        let full = filter.to_bytes();
        for copy in most..10_000 {
            let refusal = filter.insert("ani").expect_err("it does not fit");
            assert_eq!(refusal, InsertError::TooManyCopies { copies: most }, "{shape:?}, copy {copy}");
        }
        assert_eq!(filter.to_bytes(), full, "{shape:?}");
        assert_eq!((filter.size_in_bytes(), filter.capacity()), (size, capacity), "{shape:?}");
        assert_eq!((filter.count("ani"), filter.len()), (most, most), "{shape:?}");

        // Others still fit, unless they have its buckets and no other; and the copies go as they came.
        let mut prober = Prober::for_filters_like(&filter);
        let mut class_of = |digest| prober.class_of(digest);
        let taken: BTreeSet<u64> = class_of(filter.hasher().digest("ani")).buckets().collect();
        let mut others: Vec<u64> = (0..900).collect();
        others.retain(|key| !class_of(filter.hasher().digest(key)).buckets().all(|bucket| taken.contains(&bucket)));
        assert!(others.len() > 890, "{shape:?}: {} have other buckets", others.len());
        for key in &others {
            assert!(filter.insert(key).is_ok(), "{shape:?}: {key}");
        }
        for copy in 0..most {
            assert!(filter.remove("ani"), "{shape:?}, copy {copy}");
        }
        for key in &others {
            assert!(filter.contains(key), "{shape:?}: {key} is lost");
        }
    }
}

#[test]
fn copies_take_no_memory_in_maps_counting_filters_and_sets() {
    let mut map = CuckooMap::<u8>::with_capacity(1000, 0.001).expect("measures in range");
    let mut counting = CountingCuckooFilter::with_capacity(1000, 0.001).expect("measures in range");
    let mut set = CuckooSet::with_capacity(1000, 0.001).expect("measures in range");
    let sizes = [map.to_bytes().len(), counting.to_bytes().len(), set.to_bytes().len()];
    let most_values = usize::try_from(2 * map.parameters().slots_per_bucket()).expect("at most 16");
    for copy in 0..10_000_usize {
        let value = u8::try_from(copy % 256).expect("a byte");
        let stored = map.insert("ani", value);
        let refusal = Err(InsertError::TooManyCopies { copies: most_values });
        assert_eq!(stored, if copy < most_values { Ok(()) } else { refusal }, "value {copy}");
        let stored = counting.insert("ani");
        let most = counting.most_copies();
        let refusal = Err(InsertError::CounterFull { count: most });
        assert_eq!(stored, if (copy as u64) < most { Ok(()) } else { refusal }, "copy {copy}");
        assert_eq!(set.insert("ani"), Ok(copy == 0), "copy {copy}");
    }
    assert_eq!((map.len(), counting.distinct_len(), set.len()), (most_values, 1, 1));
    assert_eq!([map.to_bytes().len(), counting.to_bytes().len(), set.to_bytes().len()], sizes);
    for key in 0..900_u64 {
        map.insert(&key, 7).expect("there is room for others");
        counting.insert(&key).expect("there is room for others");
        set.insert(&key).expect("there is room for others");
    }
}

#[test]
fn too_many_copies_and_a_full_filter_are_different_errors() {
    let mut filter = CuckooFilter::builder().bucket_count(2).fingerprint_bits(32).build().expect("measures in range");
    let (accepted, refused) = overfill(&mut filter, 1);
    assert_eq!(accepted.len(), 8, "two buckets of four slots take eight keys");
    let full = InsertError::Full { len: 8, capacity: filter.capacity(), slot_count: 8 };
    assert_eq!(filter.insert(&refused[0]), Err(full.clone()));
    assert!(full.to_string().contains('8'), "{full}");

    filter.clear();
    for _ in 0..8 {
        filter.insert("ani").expect("copies fit");
    }
    let copies = InsertError::TooManyCopies { copies: 8 };
    assert_eq!(filter.insert("ani"), Err(copies.clone()));
    assert!(copies.to_string().contains("8 copies"), "{copies}");
    // For another key the same filter is just full.
    assert_eq!(filter.insert("koel"), Err(full));
}

// Seen in the paper's code: fingerprints of 2 bits that can't be removed, of 13 bits that are not found, and a
// semi-sorted table that is broken for 5, 7 and 9 bits.
#[test]
fn every_width_keeps_neighbouring_slots_apart() {
    for case in every_kind(16) {
        let _announced = Announced(case);
        let mut filter = case.build();
        let mut random = SplitMix64::new(case.seed);
        // Slots with all bits set beside slots with one bit set, in any order.
        let mut stored = Vec::new();
        for _ in 0..20 * filter.slot_count() {
            let low = if random.below(2) == 0 { 0 } else { u64::from(u32::MAX) };
            let digest = Digest::new(random.next() << 32 | low);
            if filter.insert_digest(digest).is_ok() {
                stored.push(digest);
            }
        }
        assert!(filter.len() * 2 >= filter.slot_count(), "{case}: {} are stored", filter.len());
        assert_eq!(filter.iter().count(), stored.len(), "{case}");
        let (least, greatest): (Vec<Digest>, Vec<Digest>) = stored.iter().partition(|digest| digest.get() & 1 == 0);
        for digest in &stored {
            assert!(filter.contains_digest(*digest), "{case}: {digest:?} is lost");
        }
        for digest in &greatest {
            assert!(filter.remove_digest(*digest), "{case}: {digest:?} can't be removed");
        }
        for digest in &least {
            assert!(filter.contains_digest(*digest), "{case}: {digest:?} is lost with its neighbour");
        }
        assert!(filter.iter().all(|stored| stored.fingerprint.get() == 1), "{case}: traces of neighbours");
        for digest in &least {
            assert!(filter.remove_digest(*digest), "{case}: {digest:?} can't be removed");
        }
        assert_eq!(filter, case.build(), "{case}: an emptied filter is like a new one");
    }
}

// Merging moves fingerprints as relocation does, and with them those of keys that were there before.

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

// Users of `DefaultHasher`, ahash and the like: the hash changes between versions or machines, and files with it.

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
    // By the xxhash package of Python: the UTF-8 bytes, the little-endian bytes of the integer's own width.
    assert_eq!(KeyHasher::xxh3(0).digest("kukułka"), Digest::new(0x4039_9ca1_f0f5_1188));
    assert_eq!(KeyHasher::xxh3(2024).digest("kukułka"), Digest::new(0xe5c5_bb2c_d8ef_880a));
    assert_eq!(KeyHasher::xxh3(0).digest(&7_u64), Digest::new(0x8167_1e58_d6b5_96af));
    assert_eq!(KeyHasher::xxh3(1).digest(&7_u32), Digest::new(0x0f67_5c48_8bd1_afc2));
    assert_eq!(KeyHasher::xxh3(1).digest(&7_i32), Digest::new(0x0f67_5c48_8bd1_afc2));
}

#[test]
fn the_digest_twins_do_what_the_keys_do() {
    for hash in [HashAlgorithm::Xxh3, HashAlgorithm::SipHash13 { key: [7; 16] }] {
        let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).hash(hash).seed(3);
        let mut by_key = builder.build().expect("measures in range");
        let mut by_digest = by_key.clone();
        let digest_of = |key: &str| by_key.hasher().digest(key);
        let (ani, koel) = (digest_of("ani"), digest_of("koel"));
        assert_eq!(by_key.insert("ani"), by_digest.insert_digest(ani));
        assert_eq!(by_key.insert_unique("ani"), by_digest.insert_unique_digest(ani));
        assert_eq!(by_key.insert_unique("koel"), by_digest.insert_unique_digest(koel));
        assert_eq!(by_key, by_digest);
        assert_eq!(by_key.count("ani"), by_digest.count_digest(ani));
        assert_eq!(by_key.contains("koel"), by_digest.contains_digest(koel));
        assert_eq!(by_key.remove("ani"), by_digest.remove_digest(ani));
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
            assert_eq!(class, Class::new(fingerprint, [lower_bucket, upper_bucket]), "{case}: {key}");
        }
    }
}

// Formats that break between releases.

/// Two buckets of two slots of 12 bits, all four of them copies of "guira": a file that the program above computed too.
#[test]
fn a_file_is_the_golden_one_byte_for_byte() {
    const GOLDEN: &[u8] = b"\
        \x89\x47\x55\x49\x52\x41\x0d\x0a\x01\x00\x01\x01\x01\x01\x02\x0c\
        \x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\
        \x04\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\
        \x05\x00\x00\x00\x00\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00\
        \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
        \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
        \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
        \xbd\x00\x9c\xd0\xf6\x35\x1e\x23\x99\x27\xf3\x66\xd2\x7e\x7c\x34\
        \x5c\xca\xa5\x5c\xca\xa5\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
        \x00\x00\x00\x00\x00\x00\x00\x00";
    let builder = CuckooFilter::builder().bucket_count(2).slots_per_bucket(2).fingerprint_bits(12).seed(5);
    let mut filter = builder.build().expect("measures in range");
    for _ in 0..4 {
        filter.insert("guira").expect("four copies fit");
    }
    assert_eq!(filter.to_bytes(), GOLDEN);
    assert_eq!(CuckooFilter::from_bytes(GOLDEN).expect("a file of version 1"), filter);
}

#[test]
fn the_same_operations_give_the_same_bytes() {
    for case in every_kind(8) {
        let filters = [(); 2].map(|()| {
            let mut filter = case.build();
            let (accepted, _) = overfill(&mut filter, 20);
            for key in accepted.iter().step_by(3) {
                assert!(filter.remove(key), "{case}: {key} is lost");
            }
            overfill(&mut filter, 5);
            filter.to_bytes()
        });
        assert_eq!(filters[0], filters[1], "{case}");
    }
}

// Inherent in every filter that forgets keys, and documented at `remove` and `insert_unique`: who removes what was not
// inserted removes what was.

#[test]
fn removing_a_key_that_was_not_inserted_takes_the_one_it_is_taken_for() {
    let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01);
    let mut filter = builder.build().expect("measures in range");
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
    let mut filter = builder.build().expect("measures in range");
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
    let mut filter = builder.build().expect("measures in range");
    assert_eq!(filter.insert_unique("ani"), Ok(true));
    assert_eq!(filter.insert_unique("ani"), Ok(false));
    let twin = false_positive(&filter);
    assert_eq!(filter.insert_unique(&twin), Ok(false), "it is taken for the other key");
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

/// The source of a file of tests, by its name in the table above.
fn source_of(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_test_in_the_table_exists() {
    let this = source_of("bug_classes.rs");
    let rows = this.lines().filter_map(|line| line.strip_prefix("//! | ")?.strip_suffix("` |"));
    let mut tests = 0;
    for row in rows {
        let (before, name) = row.rsplit_once('`').expect("a test stands between two backticks");
        let file = before.rsplit_once("| ").and_then(|(_, file)| file.strip_suffix(": "));
        let source = source_of(file.unwrap_or("bug_classes.rs"));
        let is_defined = source.contains(&format!("fn {name}(")) || source.contains(&format!("mod {name} {{"));
        assert!(is_defined, "{name} in {file:?}");
        tests += 1;
    }
    assert!(tests > 40, "{tests} tests are in the table");
}
