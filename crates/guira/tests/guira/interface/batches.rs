use guira::{
    ConcurrentCuckooFilter, CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet, InsertError,
    Key,
};

const PRESENT: std::ops::Range<u64> = 0..500;

/// Checks batches of lookups against lookups of one key each; half of the keys are absent.
macro_rules! assert_answers {
    ($filter:expr, $contains:ident) => {
        let keys: Vec<u64> = (0..1000).collect();
        let expected: Vec<bool> = keys.iter().map(|key| $filter.$contains(key)).collect();
        assert!(expected[..500].iter().all(|&present| present) && expected[500..].iter().any(|&present| !present));
        assert_eq!($filter.contains_many(&keys), expected);
        let mut answers = vec![true; keys.len()];
        $filter.contains_many_into(&keys, &mut answers);
        assert_eq!(answers, expected);
        assert!($filter.contains_many::<u64>(&[]).is_empty());
    };
}

#[test]
fn batches_of_every_kind_answer_as_single_calls_do() {
    let keys: Vec<u64> = PRESENT.collect();
    let mut filter = CuckooFilter::with_capacity(500, 0.01).expect("valid");
    filter.insert_many(&keys).expect("room");
    assert_answers!(filter, contains);
    assert_answers!(CuckooFilterView::new(&filter.to_bytes()).expect("a file"), contains);
    let shared = ConcurrentCuckooFilter::with_capacity(500, 0.01).expect("valid");
    shared.insert_many(&keys).expect("room");
    assert_answers!(shared, contains);
    let mut set = CuckooSet::with_capacity(500, 0.01).expect("valid");
    set.insert_many(&keys).expect("room");
    assert_answers!(set, contains);
    let mut counting = CountingCuckooFilter::with_capacity(500, 0.01).expect("valid");
    counting.insert_many(&keys).expect("room");
    assert_answers!(counting, contains);
    let mut map = CuckooMap::<u8>::with_capacity(500, 0.01).expect("valid");
    let pairs: Vec<(u64, u8)> = keys.iter().map(|&key| (key, key.to_le_bytes()[0])).collect();
    map.insert_many(&pairs).expect("room");
    assert_answers!(map, contains_key);
    assert!(pairs.iter().all(|(key, value)| map.get_all(key).any(|found| found == *value)));
}

#[test]
fn counts_and_removals_of_many_are_those_of_each() {
    let keys = ["ani", "ani", "guira"];
    let mut filter = CuckooFilter::with_capacity(100, 1e-6).expect("valid");
    let shared = ConcurrentCuckooFilter::with_capacity(100, 1e-6).expect("valid");
    let mut counting = CountingCuckooFilter::with_capacity(100, 1e-6).expect("valid");
    filter.try_extend(keys).expect("room");
    shared.try_extend(keys).expect("room");
    counting.try_extend(keys).expect("room");
    assert_eq!((counting.total(), counting.len()), (3, 2));
    let asked = ["ani", "guira", "koel"];
    assert_eq!(filter.count_many(&asked), [2, 1, 0]);
    assert_eq!(shared.count_many(&asked), [2, 1, 0]);
    assert_eq!(counting.count_many(&asked), [2, 1, 0]);
    assert_eq!(CuckooFilterView::new(&filter.to_bytes()).expect("a file").count_many(&asked), [2, 1, 0]);
    let removed = ["ani", "ani", "ani", "koel"];
    assert_eq!(filter.remove_many(&removed), [true, true, false, false]);
    assert_eq!(shared.remove_many(&removed), [true, true, false, false]);
    assert_eq!(counting.remove_many(&removed), [true, true, false, false]);
    assert_eq!((filter.len(), shared.len(), counting.len()), (1, 1, 1));
}

/// Inserts a key that does not fit between others that do: all of those are stored, and the error names the one.
#[test]
fn one_key_that_does_not_fit_keeps_no_other_out() {
    let mut keys = vec!["ani"; 9];
    keys.push("guira");
    let mut filter = CuckooFilter::with_capacity(100, 1e-6).expect("valid");
    let error = filter.insert_many(&keys).expect_err("nine copies");
    assert_eq!(
        (&error.rejected[..], error.reason),
        (&[filter.hasher().digest("ani")][..], InsertError::TooManyCopies { copies: 8 })
    );
    assert_eq!((filter.count("ani"), filter.contains("guira")), (8, true));

    let shared = ConcurrentCuckooFilter::with_capacity(100, 1e-6).expect("valid");
    let error = shared.insert_many(&keys).expect_err("nine copies");
    assert_eq!(error.rejected, [shared.hasher().digest("ani")]);
    assert_eq!((shared.count("ani"), shared.contains("guira")), (8, true));

    // try_extend stops there.
    let mut in_order = CuckooFilter::with_capacity(100, 1e-6).expect("valid");
    let error = in_order.try_extend(&keys).expect_err("nine copies");
    assert_eq!((error.inserted, in_order.contains("guira")), (8, false));

    let mut counting =
        CountingCuckooFilter::builder().capacity(100).false_positive_rate(1e-6).value_bits(1).build().expect("valid");
    let error = counting.insert_many(&["ani", "ani", "ani", "guira"]).expect_err("counters of one bit count to 2");
    assert_eq!(error.rejected, [counting.hasher().digest("ani")]);
    assert_eq!((counting.count("ani"), counting.contains("guira")), (2, true));

    let mut map =
        CuckooMap::<u8>::builder().capacity(100).false_positive_rate(1e-6).value_bits(4).build().expect("valid");
    let error = map.insert_many(&[("ani", 3), ("koel", 16), ("guira", 15)]).expect_err("16 has 5 bits");
    assert_eq!(error.rejected, [map.hasher().digest("koel")]);
    assert!(map.contains_key("guira") && !map.contains_key("koel"));
    assert_eq!(map.try_extend([("ani", 16), ("cuckoo", 1)]).expect_err("16 has 5 bits").inserted, 0);
    assert!(!map.contains_key("cuckoo"));
}

/// Gives `None` once, and then more, as the lines of a terminal and the messages of a channel do.
struct Resumed(u64);

impl Iterator for Resumed {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 += 1;
        (self.0 != 4).then_some(self.0)
    }
}

#[test]
fn an_iterator_that_has_ended_is_asked_for_no_more() {
    let mut filter = CuckooFilter::with_capacity(100, 0.001).expect("valid");
    filter.try_extend(Resumed(0)).expect("room");
    let shared = ConcurrentCuckooFilter::with_capacity(100, 0.001).expect("valid");
    shared.try_extend(Resumed(0)).expect("room");
    let mut set = CuckooSet::with_capacity(100, 0.001).expect("valid");
    set.try_extend(Resumed(0)).expect("room");
    let builder = CuckooFilter::builder().false_positive_rate(0.001);
    let counted = builder.build_from_keys(Resumed(0)).expect("room");
    let built = builder.capacity(100).build_from_keys(Resumed(0)).expect("room");
    assert_eq!([filter.len(), shared.len(), set.len(), counted.len(), built.len()], [3; 5]);
}

/// A small batch goes on with a doubling that is in progress, step by step; it does not end it at once.
#[test]
fn a_small_batch_leaves_a_doubling_to_its_steps() {
    let builder = CuckooFilter::builder().capacity(100_000).max_capacity(10_000_000).false_positive_rate(0.001);
    let mut filter = builder.build().expect("valid");
    let mut by_one = builder.build().expect("valid");
    let mut next = 0_u64;
    for _ in 0..400 {
        let batch: Vec<u64> = (next..next + 997).collect();
        next += 997;
        filter.insert_many(&batch).expect("it grows");
        batch.iter().try_for_each(|key| by_one.insert(key)).expect("it grows");
        assert_eq!(filter.size_in_bytes(), by_one.size_in_bytes(), "after {next} keys");
    }
    assert!(filter.to_bytes() == by_one.to_bytes());
}

#[test]
fn filters_are_built_of_keys_from_slices_and_iterators_by_value_and_by_reference() {
    fn of<I: IntoIterator>(keys: I) -> Vec<u8>
    where
        I::Item: Key + Sync,
    {
        CuckooFilter::builder().false_positive_rate(0.001).build_from_keys(keys).expect("they fit").to_bytes()
    }
    let keys: Vec<u64> = (0..3000).collect();
    let expected = of(&keys);
    assert!(of(keys.as_slice()) == expected && of(keys.clone()) == expected && of(0..3000_u64) == expected);
    // An iterator that does not tell how many it gives.
    assert!(of((0..9000_u64).filter(|key| key % 3 == 0).map(|key| key / 3)) == expected);
    let mut by_one = CuckooFilter::with_capacity(3000, 0.001).expect("valid");
    keys.iter().try_for_each(|key| by_one.insert(key)).expect("room");
    assert!(by_one.to_bytes() == expected);

    let small = CuckooFilter::builder().capacity(10).false_positive_rate(0.001);
    assert!(small.build_from_keys((0..1000_u64).filter(|key| key % 2 == 0)).is_err());
    assert!(CuckooFilter::builder().false_positive_rate(0.001).build_from_keys(std::iter::empty::<u64>()).is_ok());
}
