use guira::{Addressing, BuildError, ConcurrentCuckooFilter, CuckooFilter, Digest, InsertError, Layout};

use crate::oracle::case::{Announced, Case};
use crate::oracle::random::SplitMix64;
use crate::oracle::shapes::all_shapes;

/// Every addressing and bucket size, with fingerprints of several lengths: slots that fit words, and slots that straddle
/// them.
fn cases() -> impl Iterator<Item = Case> {
    all_shapes().into_iter().filter(|shape| shape.layout == Layout::Packed).flat_map(|shape| {
        let least = shape.least_fingerprint_bits().max(5);
        let longest = shape.fingerprint_lengths().last().expect("there are some");
        [least, 13, 16, 27, longest].map(|fingerprint_bits| Case {
            layout: Layout::Packed,
            addressing: shape.addressing,
            slots_per_bucket: shape.slots_per_bucket,
            fingerprint_bits,
            bucket_count: if shape.addressing == Addressing::PowerOfTwo { 64 } else { 70 },
            seed: fingerprint_bits.into(),
        })
    })
}

fn shared(filter: CuckooFilter) -> ConcurrentCuckooFilter {
    filter.try_into().expect("it is packed, and there is memory")
}

#[test]
fn the_same_operations_give_the_same_answers_and_bytes_as_in_a_filter_of_one_thread() {
    for case in cases() {
        let _announced = Announced(case);
        let mut plain = case.build();
        let filter = shared(case.build());
        let mut random = SplitMix64::new(case.seed);
        let most = usize::try_from(plain.parameters().slot_count()).expect("a small table");
        for _ in 0..5 * most {
            // Some keys come again, and there are more than fit.
            let key = random.below(most + most / 4) as u64;
            match random.below(8) {
                0..4 => assert_eq!(filter.insert(&key), plain.insert(&key)),
                4 => assert_eq!(filter.insert_if_absent(&key), plain.insert_if_absent(&key)),
                5 => assert_eq!(filter.remove(&key), plain.remove(&key)),
                6 => assert_eq!(filter.count(&key), plain.count(&key)),
                _ => assert_eq!(filter.contains(&key), plain.contains(&key)),
            }
            assert_eq!(filter.len(), plain.len());
        }
        assert_eq!(filter.check_invariants(), Ok(()));
        assert_eq!(filter.snapshot().expect("small"), plain);
        assert_eq!(filter.into_filter(), plain);
    }
}

#[test]
fn batches_do_what_single_calls_do() {
    // One table that is answered one call after another, and one that is larger than a processor's own cache.
    for bucket_count in [100, 120_000] {
        for slots_per_bucket in [4, 8] {
            let case = Case {
                layout: Layout::Packed,
                addressing: Addressing::Regional,
                slots_per_bucket,
                fingerprint_bits: 13,
                bucket_count,
                seed: 1,
            };
            let _announced = Announced(case);
            let mut plain = case.build();
            let filter = shared(case.build());
            let keys: Vec<u64> = (0..bucket_count * u64::from(slots_per_bucket) * 9 / 10).collect();
            let digests: Vec<Digest> = keys.iter().map(|key| filter.hasher().digest(key)).collect();
            let (some, others) = keys.split_at(keys.len() / 2);
            assert_eq!(filter.try_extend(some), plain.try_extend(some));
            assert_eq!(filter.try_extend(&digests[some.len()..]), plain.try_extend(others));
            let mut answers = [vec![false; keys.len()], vec![true; keys.len()]];
            filter.contains_many_into(&keys, &mut answers[0]);
            filter.contains_many_into(&digests, &mut answers[1]);
            assert!(answers.iter().flatten().all(|&answer| answer), "a key was lost");

            let mut removed = [vec![false; some.len()], vec![true; some.len()]];
            filter.remove_many_into(some, &mut removed[0]);
            plain.remove_many_into(some, &mut removed[1]);
            assert_eq!(removed[0], removed[1]);
            filter.contains_many_into(&keys, &mut answers[0]);
            plain.contains_many_into(&keys, &mut answers[1]);
            assert_eq!(answers[0], answers[1]);
            filter.remove_many_into(&digests[some.len()..], &mut answers[0][some.len()..]);
            plain.remove_many_into(others, &mut answers[1][some.len()..]);
            assert_eq!(answers[0], answers[1]);
            assert_eq!(filter.into_filter(), plain);
        }
    }
}

#[test]
fn a_batch_tells_how_many_were_stored_before_the_table_was_full() {
    let mut plain = CuckooFilter::builder().bucket_count(50).fingerprint_bits(12).build().expect("small");
    let filter = shared(plain.clone());
    let keys: Vec<u64> = (0..300).collect();
    let refused = filter.try_extend(&keys).expect_err("there are 200 slots");
    assert_eq!(Err(refused.clone()), plain.try_extend(&keys));
    assert!(matches!(refused.reason, InsertError::Full { slot_count: 200, .. }));
    assert_eq!(filter.len(), refused.inserted);
    assert_eq!(filter.into_filter(), plain);
}

#[test]
fn filters_of_all_sizes_are_converted_there_and_back() {
    for bucket_count in [1, 7, 1000, 700_000, 1_000_001] {
        let mut plain =
            CuckooFilter::builder().bucket_count(bucket_count).fingerprint_bits(13).build().expect("there is memory");
        let keys: Vec<u64> = (0..plain.parameters().slot_count() / 2).collect();
        plain.try_extend(&keys).expect("half of the slots are empty");
        let filter = shared(plain.clone());
        assert_eq!(filter.size_in_bytes(), plain.size_in_bytes());
        assert_eq!((filter.len(), filter.parameters()), (plain.len(), *plain.parameters()));
        assert!(keys.iter().all(|key| filter.contains(key)));
        assert_eq!(filter.clone().into_filter(), plain);
        let key = plain.parameters().slot_count();
        filter.insert(&key).expect("half of the slots are empty");
        plain.insert(&key).expect("half of the slots are empty");
        assert_eq!(CuckooFilter::from(filter), plain);
    }
}

#[test]
fn a_failed_insert_changes_nothing() {
    let build = || CuckooFilter::builder().bucket_count(64).fingerprint_bits(12).build().expect("small");
    let full = shared(build());
    let last = (0_u64..).find(|key| full.insert(key).is_err()).expect("there are 256 slots");
    let before = full.snapshot().expect("small");
    assert!(matches!(full.insert(&last), Err(InsertError::Full { .. })));
    assert!(matches!(full.insert_if_absent(&last), Err(InsertError::Full { .. }) | Ok(false)));
    assert_eq!(full.snapshot().expect("small"), before);

    let copied = shared(build());
    for _ in 0..8 {
        copied.insert("ani").expect("two buckets of four slots");
    }
    let before = copied.snapshot().expect("small");
    assert_eq!(copied.insert("ani"), Err(InsertError::TooManyCopies { copies: 8 }));
    assert_eq!(copied.snapshot().expect("small"), before);
}

#[test]
fn layouts_that_are_not_packed_are_refused() {
    let layout = Layout::SemiSorted;
    let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).layout(layout);
    let refused = ConcurrentCuckooFilter::try_from(builder.build().expect("small"));
    assert_eq!(refused.err(), Some(BuildError::ConcurrentLayout { layout }));
}

#[test]
fn measures_are_those_that_were_asked_for() {
    let filter = ConcurrentCuckooFilter::with_capacity(10_000, 0.001).expect("small");
    assert_eq!(filter.capacity(), 10_000);
    assert_eq!(filter.parameters().layout(), Layout::Packed);
    assert!(filter.is_empty() && filter.expected_false_positive_rate() == 0.0);
    for key in 0..10_000u64 {
        filter.insert(&key).expect("it is promised to fit");
    }
    assert!(filter.expected_false_positive_rate() <= 0.001);
    assert!((0.8..1.0).contains(&filter.load_factor()), "{}", filter.load_factor());
    assert!(format!("{filter:?}").contains("len: 10000"), "{filter:?}");
}

#[test]
fn it_is_sent_and_shared() {
    fn assert_manners<T: Send + Sync + Clone + std::fmt::Debug>() {}
    assert_manners::<ConcurrentCuckooFilter>();
}
