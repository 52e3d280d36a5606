//! Filters that are merged with those in files, a part of which is in memory at a time.

use guira::raw::RawInsert as _;
use guira::{CuckooFilter, CuckooSet, KeyHasher, Layout, LoadError};

use super::journal::{Random, apply, filters, journal, some_changes};

/// What `merge` makes of both.
fn merged(first: &CuckooFilter, second: &CuckooFilter) -> Vec<u8> {
    let mut merged = first.clone();
    merged.merge(second).expect("there is room");
    merged.to_bytes()
}

#[test]
fn merging_with_a_file_is_merging_with_its_filter() {
    let mut random = Random(6);
    for (what, first) in filters() {
        let mut second = first.empty_like().expect("small");
        // So few that the tables need not grow.
        let (mut first, keys) = (first.empty_like().expect("small"), first.len() / 12);
        for key in 0..keys {
            first.insert(&format!("key {}", key * 2)).expect("room");
            second.insert(&format!("key {key}")).expect("room");
        }
        let found = first.clone().merged_with_file(&second.to_bytes()[..]).expect("whole");
        assert_eq!(found.map(|found| found.to_bytes()), Some(merged(&first, &second)), "{what}");

        let batches: Vec<_> = some_changes(&second, &mut random).into_iter().take(6).collect();
        let with_journal = [second.to_bytes(), journal(&batches).0].concat();
        apply(&mut second, &batches);
        let found = first.clone().merged_with_file(&with_journal[..]).expect("whole").expect("room");
        assert_eq!((found.len(), found.check_invariants()), (first.len() + second.len(), Ok(())), "{what}");
        let mut expected = first.clone();
        expected.merge(&second).expect("room");
        let keys: Vec<String> = (0..2000).map(|key| format!("key {key}")).collect();
        assert_eq!(found.count_many(&keys), expected.count_many(&keys), "{what}");
    }
}

#[test]
fn tables_of_several_parts_are_merged() {
    for layout in [Layout::Packed, Layout::SemiSorted] {
        for bits in [9, 13] {
            let builder = CuckooFilter::builder().capacity(3_000_000).layout(layout).fingerprint_bits(bits);
            let (mut first, mut second) = (builder.build().expect("possible"), builder.build().expect("possible"));
            assert!(first.size_in_bytes() > 2 << 20);
            first.insert_many(&(0..900_000u64).collect::<Vec<_>>()).expect("room");
            second.insert_many(&(900_000..1_500_000u64).collect::<Vec<_>>()).expect("room");
            let found = first.clone().merged_with_file(&second.to_bytes()[..]).expect("whole").expect("room");
            assert!(found.to_bytes() == merged(&first, &second), "{layout:?} of {bits} bits");
        }
    }
}

#[test]
fn what_is_damaged_or_cut_off_is_refused() {
    let (_, first) = filters().swap_remove(0);
    let first = first.empty_like().expect("small");
    let mut second = first.clone();
    (0..100u64).for_each(|key| second.insert(&key).expect("room"));
    let file = second.to_bytes();
    for len in 0..file.len() {
        let refused = first.clone().merged_with_file(&file[..len]);
        assert!(matches!(refused, Err(LoadError::Truncated { .. })), "{len} bytes: {refused:?}");
    }
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        // A table that is full by chance is none either.
        assert!(!matches!(first.clone().merged_with_file(&damaged[..]), Ok(Some(_))), "bit {bit}");
    }
    let longer = [&file[..], b"\n"].concat();
    assert!(matches!(first.merged_with_file(&longer[..]), Err(LoadError::TrailingBytes { .. })));
}

#[test]
fn what_was_made_otherwise_or_does_not_fit_is_left_to_merge() {
    let builder = CuckooFilter::builder().capacity(1000).fingerprint_bits(12);
    let mut filter = builder.build().expect("possible");
    let others = [
        builder.clone().hasher(KeyHasher::xxh3(1)).build().expect("possible").to_bytes(),
        builder.clone().fingerprint_bits(13).build().expect("possible").to_bytes(),
        builder.clone().capacity(2000).build().expect("possible").to_bytes(),
        CuckooSet::builder().capacity(1000).fingerprint_bits(12).build().expect("possible").to_bytes(),
    ];
    for (index, other) in others.iter().enumerate() {
        assert!(matches!(filter.clone().merged_with_file(&other[..]), Ok(None)), "{index}");
    }
    let mut growing =
        CuckooFilter::builder().capacity(100).max_capacity(2000).false_positive_rate(0.01).build().expect("possible");
    (0..80u64).for_each(|key| growing.insert(&key).expect("room"));
    // Together they grow.
    assert!(matches!(growing.clone().merged_with_file(&growing.to_bytes()[..]), Ok(None)));
    (0..800u64).for_each(|key| filter.insert(&key).expect("room"));
    assert!(matches!(filter.clone().merged_with_file(&filter.to_bytes()[..]), Ok(None)));
}
