use guira::{BuildError, ExpiringCuckooFilter, LoadError, raw};

use super::builder;
use crate::format::chunks::{chunk, with_chunks};

#[test]
fn lifetimes_are_whole_numbers_of_resolutions() {
    for (lifetime, resolution, expected) in [
        (14, None, (14, 1)),
        (1, None, (1, 1)),
        (100, None, (104, 8)),
        (3600, Some(60), (3600, 60)),
        (3601, Some(60), (3660, 60)),
        (254, Some(1), (254, 1)),
        (u64::MAX - 15, None, (u64::MAX - 15, 1_317_624_576_693_539_400)),
    ] {
        let mut builder = builder(100, 0.001, lifetime);
        if let Some(resolution) = resolution {
            builder = builder.resolution(resolution);
        }
        let filter = builder.build().expect("there is such a filter");
        let found = (filter.lifetime(), filter.resolution());
        assert!(found.0 >= lifetime && found.0.is_multiple_of(found.1), "{found:?}");
        if lifetime < 1 << 40 {
            assert_eq!(found, expected, "{lifetime} {resolution:?}");
        }
    }
}

#[test]
fn what_no_filter_can_have_is_refused() {
    let without = ExpiringCuckooFilter::builder().capacity(100).false_positive_rate(0.001);
    assert_eq!(without.build(), Err(BuildError::LifetimeMissing));
    for (lifetime, resolution) in [(0, 1), (10, 0), (10, 11), (255, 1), (0, 0)] {
        let refused = builder(100, 0.001, lifetime).resolution(resolution).build();
        let expected = BuildError::Resolution { given: resolution, lifetime };
        assert_eq!(refused, Err(expected), "{lifetime}, {resolution}");
    }
    assert_eq!(builder(100, 0.001, 60).value_bits(4).build(), Err(BuildError::ValueBitsUnused));
    assert!(matches!(builder(0, 0.001, 60).build(), Err(BuildError::Capacity { .. })));
    let below = BuildError::MaxCapacity { given: 99, capacity: 100 };
    assert_eq!(builder(100, 0.001, 60).max_capacity(99).build(), Err(below), "the numbers that were given");
    let short = ExpiringCuckooFilter::builder().capacity(100_000).fingerprint_bits(2).lifetime(60);
    let refused = short.build().expect_err("too many keys share their buckets");
    assert!(matches!(refused, BuildError::FingerprintTooShort { given: 2, capacity: 100_000, .. }), "{refused:?}");
}

#[test]
fn a_lifetime_that_is_refused_is_told_why() {
    for (lifetime, resolution, why) in [
        (0, None, "a lifetime of 0"),
        (10, Some(0), "at least a 254th"),
        (255, Some(1), "at least a 254th"),
        (u64::MAX, Some(2), "at least a 254th"),
        (u64::MAX, None, "too long"),
        (u64::MAX, Some(1 << 57), "too long"),
    ] {
        let given = builder(100, 0.001, lifetime);
        let given = resolution.map_or(given.clone(), |resolution| given.resolution(resolution));
        let refused = given.build().expect_err("there is no such filter").to_string();
        assert!(refused.contains(why), "{refused}");
    }
}

/// A file with other times behind its table, all checksums right.
fn with_times(
    filter: &ExpiringCuckooFilter,
    change: impl FnOnce(&mut Vec<u8>),
) -> Result<ExpiringCuckooFilter, LoadError> {
    let bytes = filter.to_bytes();
    let table_end = 128 + filter.size_in_bytes();
    let mut data = raw::chunks_of(&bytes[table_end..]).expect("one chunk")[0].data.to_vec();
    change(&mut data);
    let chunk = chunk(*b"EXPR", 3, &data);
    ExpiringCuckooFilter::from_bytes(&with_chunks(&bytes[..table_end], &chunk))
}

type Change = Box<dyn FnOnce(&mut Vec<u8>)>;

#[test]
fn times_that_no_filter_can_have_are_refused() {
    let mut filter = builder(100, 0.001, 140).build().expect("small");
    for time in 0..60 {
        filter.advance(time).expect("small steps");
        filter.insert(&time).expect("few keys");
    }
    assert!(with_times(&filter, |_| {}).is_ok_and(|loaded| loaded == filter));
    let set = |at: usize, value: u64| move |data: &mut Vec<u8>| data[at..at + 8].copy_from_slice(&value.to_le_bytes());
    let refused: [(&str, Change); 13] = [
        ("a lifetime of 0", Box::new(set(0, 0))),
        ("a resolution of 0", Box::new(set(8, 0))),
        ("a resolution that does not divide it", Box::new(set(8, 9))),
        ("another number of bits", Box::new(set(8, 1))),
        ("a time before the last key", Box::new(set(16, 58))),
        ("a generation that began later", Box::new(set(24, 7))),
        (
            "a pass behind the table",
            Box::new(|data| {
                data[32..40].fill(0xff);
                data[44..48].fill(0);
            }),
        ),
        ("a number that there is not", Box::new(|data| data[40] = 16)),
        ("a pass that spares what is not stored", Box::new(|data| data[44..48].copy_from_slice(&15_u32.to_le_bytes()))),
        ("no generation", Box::new(|data| data.truncate(48))),
        ("half a time", Box::new(|data| data.truncate(data.len() - 4))),
        ("one generation less than the table has", Box::new(|data| data.truncate(data.len() - 8))),
        (
            "generations in another order",
            Box::new(|data| {
                let end = data.len() - 8;
                data.copy_within(48..56, end);
            }),
        ),
    ];
    for (what, change) in refused {
        assert!(with_times(&filter, change).is_err(), "{what}");
    }
}

/// A pass that claims to have freed buckets of generations that are still there: their numbers would be given again.
#[test]
fn a_pass_that_has_not_been_where_it_says_is_refused() {
    // Sweeping takes several calls.
    let mut filter = builder(40_000, 0.01, 14).build().expect("small");
    for key in 0..30_000_u64 {
        filter.insert(&key).expect("there is room");
    }
    filter.advance(10).expect("less than a lifetime");
    filter.insert(&30_000_u64).expect("there is room");
    filter.advance(15).expect("less than a lifetime");
    let bucket_count = filter.parameters().bucket_count();
    let pass = |data: &[u8]| {
        let (next, spared) = (data[32..40].try_into(), data[44..48].try_into());
        (u64::from_le_bytes(next.expect("8 bytes")), u32::from_le_bytes(spared.expect("4 bytes")))
    };
    let mut began = None;
    let unchanged = with_times(&filter, |data| began = Some(pass(data))).expect("what was saved");
    let (next, spared) = began.expect("it was called");
    assert!(unchanged == filter && (1..bucket_count).contains(&next) && spared > 0, "{next} {spared}");
    for (what, changed_next, changed_spared) in [
        ("further than it was", bucket_count - 1, spared),
        ("from the start on, sparing what does not live", 1, u32::MAX - 1),
        ("sparing fewer than live", next, spared - 1),
    ] {
        let changed = with_times(&filter, |data| {
            data[32..40].copy_from_slice(&changed_next.to_le_bytes());
            data[44..48].copy_from_slice(&changed_spared.to_le_bytes());
        });
        assert!(changed.is_err(), "{what}");
    }
}

/// The same operations on a filter and on what was loaded at any moment give the same bytes.
#[test]
fn a_loaded_filter_goes_on_as_the_saved_one() {
    let mut filter = builder(300, 0.01, 140).max_capacity(3000).build().expect("small");
    for round in 0..300_u64 {
        let mut loaded = ExpiringCuckooFilter::from_bytes(&filter.to_bytes()).expect("what was saved");
        for filter in [&mut filter, &mut loaded] {
            for key in 0..(round * 7) % 40 {
                filter.insert(&(round << 32 | key)).expect("there is room");
            }
            for key in 0..(round * 3) % 10 {
                filter.remove(&(round << 32 | key));
            }
            filter.jump(round * 5 + round / 50 * 90);
        }
        assert_eq!(filter.to_bytes(), loaded.to_bytes(), "round {round}");
    }
}
