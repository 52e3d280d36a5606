//! More copies of a key than its buckets hold.

use std::collections::BTreeSet;

use guira::{CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, InsertError};

use super::overfill;
use crate::oracle::classes::Prober;
use crate::oracle::shapes::all_shapes;

// Seen in two projects: 135 copies of a key make 1.4 KB grow to 209.7 MB; 125 lock a filter, 85 take 4.3 GB.
#[test]
fn more_copies_than_fit_are_refused_for_ever_and_nothing_grows() {
    for shape in all_shapes() {
        let builder = CuckooFilter::builder()
            .capacity(1000)
            .false_positive_rate(0.001)
            .layout(shape.layout)
            .addressing(shape.addressing)
            .slots_per_bucket(shape.slots_per_bucket);
        let mut filter = builder.build().expect("parameters in range");
        let (size, capacity) = (filter.size_in_bytes(), filter.capacity());
        // In a planned table no bucket is its own alternate; with exclusive or it may be, but not for this key.
        let most = usize::try_from(shape.compared_slots()).expect("at most 32");
        for copy in 1..=most {
            assert_eq!(filter.insert("ani"), Ok(()), "{shape:?}, copy {copy}");
        }
        let full = filter.to_bytes();
        for copy in most..2000 {
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
    let mut map = CuckooMap::<u8>::with_capacity(1000, 0.001).expect("parameters in range");
    let mut counting = CountingCuckooFilter::with_capacity(1000, 0.001).expect("parameters in range");
    let mut set = CuckooSet::with_capacity(1000, 0.001).expect("parameters in range");
    let sizes = [map.to_bytes().len(), counting.to_bytes().len(), set.to_bytes().len()];
    let most_values = usize::try_from(2 * map.parameters().slots_per_bucket()).expect("at most 16");
    for copy in 0..10_000_usize {
        let value = u8::try_from(copy % 256).expect("a byte");
        let stored = map.insert("ani", value);
        let refusal = Err(InsertError::TooManyCopies { copies: most_values });
        assert_eq!(stored, if copy < most_values { Ok(()) } else { refusal }, "value {copy}");
        let stored = counting.insert("ani");
        let most = counting.max_count();
        let refusal = Err(InsertError::CounterFull { count: most });
        assert_eq!(stored, if (copy as u64) < most { Ok(()) } else { refusal }, "copy {copy}");
        assert_eq!(set.insert("ani"), Ok(copy == 0), "copy {copy}");
    }
    assert_eq!((map.len(), counting.len(), set.len()), (most_values, 1, 1));
    assert_eq!([map.to_bytes().len(), counting.to_bytes().len(), set.to_bytes().len()], sizes);
    for key in 0..900_u64 {
        map.insert(&key, 7).expect("there is room for others");
        counting.insert(&key).expect("there is room for others");
        set.insert(&key).expect("there is room for others");
    }
}

#[test]
fn too_many_copies_and_a_full_filter_are_different_errors() {
    let mut filter = CuckooFilter::builder().bucket_count(2).fingerprint_bits(32).build().expect("parameters in range");
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
