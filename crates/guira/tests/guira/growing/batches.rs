//! Many keys at a time.

use guira::{CuckooFilter, InsertError};

use super::{assert_holds, filled, growing};

#[test]
fn batches_do_what_single_calls_do() {
    let keys: Vec<u64> = (0..60_000).collect();
    let singly = filled(0.01, 60_000);
    let mut in_order = growing(0.01);
    in_order.try_extend(&keys).expect("it may grow so far");
    assert!(in_order == singly, "one after the other and in a batch");

    let mut in_bulk = growing(0.01);
    in_bulk.insert_many(&keys).expect("it may grow so far");
    assert!(in_bulk == singly, "one after the other and in bulk");

    let mut answers = vec![false; keys.len()];
    in_bulk.contains_many_into(&keys, &mut answers);
    assert!(answers.iter().all(|&answer| answer));
    in_bulk.remove_many_into(&keys, &mut answers);
    assert!(answers.iter().all(|&removed| removed) && in_bulk.is_empty());

    let mut small = CuckooFilter::builder()
        .capacity(1000)
        .max_capacity(2000)
        .false_positive_rate(0.01)
        .build()
        .expect("there is such a filter");
    let largest = small.max_capacity();
    let error = small.clone().try_extend(&keys).expect_err("too many");
    assert_eq!(error.inserted, largest);
    let error = small.insert_many(&keys).expect_err("too many");
    assert_eq!((small.len(), error.rejected.len()), (largest, keys.len() - largest));
    assert_holds(&small, 0..largest as u64, "the first ones");
}

/// In tables of several regions, which keys are sorted by, so that a bulk has to wait until there is one table.
#[test]
fn bulks_that_begin_or_end_amid_a_doubling_give_the_bytes_of_single_calls() {
    let builder = CuckooFilter::builder().capacity(400_000).max_capacity(2_000_000).false_positive_rate(0.01);
    let mut singly = builder.build().expect("there is such a filter");
    assert!(singly.parameters().region_count() > 1, "keys are sorted by region");
    let (mut in_bulk, mut doublings) = (singly.clone(), 0);
    let keys: Vec<u64> = (0..1_500_000).collect();
    let mut rest = &keys[..];
    // Of the sizes of these batches, some end amid a doubling, which takes some thousands of keys, and others go over all of one.
    for size in [20_000, 3_000, 150_000].into_iter().cycle() {
        let (batch, behind) = rest.split_at(rest.len().min(size));
        batch.iter().for_each(|key| singly.insert(key).expect("it may grow so far"));
        in_bulk.insert_many(batch).expect("it may grow so far");
        assert_eq!(in_bulk.size_in_bytes(), singly.size_in_bytes(), "{} keys", singly.len());
        doublings = doublings.max(singly.parameters().half_doublings());
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    assert!(in_bulk.to_bytes() == singly.to_bytes());
    assert!(doublings > 2, "{doublings} halves of doublings");
}

#[test]
fn batches_that_make_it_grow_lose_no_key() {
    // Among the keys, copies of a few, more than fit: a bulk leaves those out, and a batch ends where they are refused.
    let keys: Vec<u64> = (0..30_000).map(|number| if number % 100 < 2 { 1 << 30 } else { number }).collect();
    for slots_per_bucket in [4, 8] {
        let builder = CuckooFilter::builder().capacity(500).max_capacity(60_000).false_positive_rate(0.01);
        let empty = builder.slots_per_bucket(slots_per_bucket).build().expect("there is such a filter");
        let most = 2 * slots_per_bucket as usize;

        let mut in_bulk = empty.clone();
        let error = in_bulk.insert_many(&keys).expect_err("there are too many copies");
        assert_eq!(error.rejected.len(), 600 - most, "b = {slots_per_bucket}: {}", error.reason);
        assert!(error.rejected.iter().all(|&digest| digest == in_bulk.hasher().digest(&(1_u64 << 30))));
        assert_eq!(in_bulk.len() + error.rejected.len(), keys.len(), "b = {slots_per_bucket}");
        assert_holds(&in_bulk, keys.iter().copied(), &format!("in bulk, b = {slots_per_bucket}"));

        let mut in_batches = empty;
        let mut rest = &keys[..];
        let mut refused = 0;
        while let Err(error) = in_batches.try_extend(rest) {
            assert_eq!(error.reason, InsertError::TooManyCopies { copies: most });
            assert_eq!(rest[error.inserted], 1 << 30, "b = {slots_per_bucket}");
            rest = &rest[error.inserted + 1..];
            refused += 1;
        }
        assert_eq!(refused, 600 - most, "b = {slots_per_bucket}");
        assert_eq!(in_batches.len() + refused, keys.len(), "b = {slots_per_bucket}");
        assert_holds(&in_batches, keys.iter().copied(), &format!("in batches, b = {slots_per_bucket}"));
    }
}
