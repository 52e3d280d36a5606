//! Batches and bulk builds: that they do what as many single calls do, on any number of threads.

#![expect(clippy::cast_precision_loss, reason = "numbers of slots are far below 2^53")]

use guira::raw::RawInsert as _;
use guira::{
    Addressing, BuildError, BuildFromKeysError, CuckooFilter, Digest, FilterBuilder, InsertError, Key, KeyHasher,
    Layout,
};

#[path = "guira/oracle"]
mod oracle {
    pub(crate) mod case;
    pub(crate) mod random;
    pub(crate) mod shapes;
    pub(crate) mod slots;
}

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use oracle::case::{Announced, Case};
use oracle::random::SplitMix64;
use oracle::shapes::{Shape, all_shapes};
use oracle::slots::Slots as _;

/// A table with some hundred slots, or one of some 550 KB, which is larger than what is answered one call after another.
fn case_of(shape: Shape, fingerprint_bits: u32, size: Size) -> Case {
    let slots = match size {
        Size::Small => 301,
        // Semi-sorted buckets take a bit less per slot.
        Size::Large => (8 * 550_000) / u64::from(fingerprint_bits - 1),
    };
    let buckets = slots / u64::from(shape.slots_per_bucket);
    let power_of_two = shape.addressing == Addressing::PowerOfTwo;
    Case {
        layout: shape.layout,
        addressing: shape.addressing,
        slots_per_bucket: shape.slots_per_bucket,
        fingerprint_bits,
        bucket_count: if power_of_two { buckets.next_power_of_two() } else { buckets },
        seed: fingerprint_bits.into(),
    }
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Small,
    Large,
}

/// Every shape with a few fingerprint lengths in tables that fit a processor's own cache, and with one of two in a table that does
/// not: neighbouring bucket sizes have different ones, and so have neighbouring addressings.
fn cases() -> impl Iterator<Item = Case> {
    all_shapes().into_iter().enumerate().flat_map(|(number, shape)| {
        let small = [shape.least_fingerprint_bits().max(6), 13, 32]
            .map(|fingerprint_bits| case_of(shape, fingerprint_bits, Size::Small));
        let large = case_of(shape, [13, 24][(number + number / 4) % 2], Size::Large);
        assert!(large.build().size_in_bytes() > 512 << 10, "{large} is large");
        small.into_iter().chain([large])
    })
}

/// As many keys as a table of this shape certainly takes, or nearly so.
fn keys_that_fit(filter: &CuckooFilter) -> u64 {
    let share = 0.9 * Shape::of(filter.parameters()).rated_load_factor();
    (0..).find(|&keys| keys as f64 >= share * filter.slot_count() as f64).expect("a number of slots")
}

fn digests_of(filter: &CuckooFilter, keys: &[u64]) -> Vec<Digest> {
    keys.iter().map(|key| filter.hasher().digest(key)).collect()
}

/// Splits a slice into batches of many lengths, among them none and one.
fn batches<'all, K>(mut rest: &'all [K], random: &mut SplitMix64) -> Vec<&'all [K]> {
    let mut batches = Vec::new();
    while !rest.is_empty() {
        let most = [1, 2, 40, 5000, 70_000][random.below(5)];
        let (batch, behind) = rest.split_at(random.below(most + 1).min(rest.len()));
        batches.push(batch);
        rest = behind;
    }
    batches
}

/// Tries cases beside each other, and says which one failed.
fn try_each(cases: impl Iterator<Item = Case>, check: impl Fn(Case) + Sync) {
    cases.collect::<Vec<_>>().into_par_iter().for_each(|case| {
        let _announced = Announced(case);
        check(case);
    });
}

#[test]
fn batches_do_what_single_calls_do() {
    try_each(cases(), |case| {
        let mut random = SplitMix64::new(case.seed);
        let mut single = case.build();
        let (mut by_key, mut by_digest) = (single.clone(), single.clone());
        let keys: Vec<u64> = (0..keys_that_fit(&single)).collect();
        let mut kept: Vec<u64> = Vec::new();
        for batch in batches(&keys, &mut random) {
            let stored: Vec<u64> = batch.iter().copied().take_while(|key| single.insert(key).is_ok()).collect();
            let found = by_key.try_extend(batch).map_or_else(|error| error.inserted, |()| batch.len());
            assert_eq!(found, stored.len(), "{case}: try_extend");
            let digests = digests_of(&single, batch);
            let found = by_digest.try_extend(&digests).map_or_else(|error| error.inserted, |()| batch.len());
            assert_eq!(found, stored.len(), "{case}: try_extend");
            assert_eq!(by_key.len(), single.len(), "{case}: len");
            kept.extend(stored);
        }
        assert!(by_key == single && by_key.to_bytes() == single.to_bytes(), "{case}: the bytes of try_extend");
        assert!(by_digest.to_bytes() == single.to_bytes(), "{case}: the bytes of try_extend");
        assert!(kept.len() * 2 >= keys.len(), "{case}: {} keys are stored", kept.len());

        // Present and absent keys by turns.
        let absent = 1 << 40..(1 << 40) + kept.len() as u64;
        let asked: Vec<u64> = kept.iter().copied().zip(absent).flat_map(<[u64; 2]>::from).collect();
        let mut present = 0;
        for batch in batches(&asked, &mut random) {
            let expected: Vec<bool> = batch.iter().map(|key| single.contains(key)).collect();
            present += expected.iter().filter(|&&answer| answer).count();
            // Whatever was in the answers before.
            let mut answers: Vec<bool> = (0..batch.len()).map(|_| random.below(2) == 0).collect();
            by_key.contains_many_into(batch, &mut answers);
            assert!(answers == expected, "{case}: contains_many_into");
            answers.fill(true);
            by_digest.contains_many_into(&digests_of(&single, batch), &mut answers);
            assert!(answers == expected, "{case}: contains_many_into");
        }
        assert!(present >= kept.len(), "{case}: {present} found of {}", kept.len());

        // Keys are removed in another order, some of them twice in the same batch, and absent ones among them. What is
        // denied only is removed of those, so that no other key is lost.
        let denied = asked.iter().filter(|key| !single.contains(*key)).copied();
        let mut removed: Vec<u64> = kept.iter().copied().step_by(3).chain(denied.step_by(5)).collect();
        for place in (1..removed.len()).rev() {
            removed.swap(place, random.below(place + 1));
        }
        for batch in batches(&removed, &mut random) {
            let batch: Vec<u64> = batch.iter().chain(batch.first()).copied().collect();
            let expected: Vec<bool> = batch.iter().map(|key| single.remove(key)).collect();
            let mut answers = vec![true; batch.len()];
            by_key.remove_many_into(&batch, &mut answers);
            assert!(answers == expected, "{case}: remove_many_into");
            answers.fill(false);
            by_digest.remove_many_into(&digests_of(&single, &batch), &mut answers);
            assert!(answers == expected, "{case}: remove_many_into");
            assert_eq!((by_key.len(), by_digest.len()), (single.len(), single.len()), "{case}: len");
        }
        assert!(by_key.to_bytes() == single.to_bytes(), "{case}: the bytes of remove_many_into");
        assert!(by_digest.to_bytes() == single.to_bytes(), "{case}: the bytes of remove_many_into");
        assert_eq!(by_key.check_invariants(), Ok(()), "{case}");
    });
}

#[test]
fn a_batch_that_does_not_fit_is_stored_up_to_the_first_key_that_does_not() {
    try_each(cases(), |case| {
        let mut single = case.build();
        let mut batch = single.clone();
        let keys: Vec<u64> = (0..single.slot_count() as u64 + 1000).collect();
        let mut expected = Ok(());
        let inserted = keys.iter().take_while(|key| {
            expected = single.insert(*key);
            expected.is_ok()
        });
        let inserted = inserted.count();

        let mut by_digest = batch.clone();
        let error = batch.try_extend(&keys).expect_err("there are more keys than slots");
        assert_eq!((error.inserted, Err(error.reason.clone())), (inserted, expected), "{case}");
        assert_eq!(by_digest.try_extend(digests_of(&batch, &keys)), Err(error), "{case}: try_extend");
        for filter in [&batch, &by_digest] {
            assert!(filter.to_bytes() == single.to_bytes(), "{case}: the bytes");
            assert_eq!(filter.len(), inserted, "{case}: len");
        }
        let mut answers = vec![false; inserted];
        batch.contains_many_into(&keys[..inserted], &mut answers);
        assert!(answers.iter().all(|&found| found), "{case}: a key is lost");

        // Copies of one key: as many as fit, and the error of one more.
        let copies = vec![7_u64; 100];
        let mut filter = case.build();
        let error = filter.try_extend(&copies).expect_err("there are more copies than fit");
        assert_eq!(error.reason, InsertError::TooManyCopies { copies: error.inserted }, "{case}");
        assert_eq!((filter.len(), filter.count(&7_u64)), (error.inserted, error.inserted), "{case}");
    });
}

/// Stores keys of which half came before, far apart or side by side, up to a number: all that are absent, by batches and by
/// single calls. With those that are refused a batch ends.
fn assert_stores_if_absent(filter: &CuckooFilter, keys: u64, name: &str) {
    let mut random = SplitMix64::new(keys);
    let mut single = filter.clone();
    let (mut by_key, mut by_digest) = (single.clone(), single.clone());
    let keys: Vec<u64> = (0..keys)
        .map(|number| match random.below(4) {
            0 | 1 => number,
            2 => number - number.min(random.below(30) as u64),
            _ => number * random.below(1000) as u64 / 1000,
        })
        .collect();
    let (mut repeated, mut refused) = (0, 0);
    for batch in batches(&keys, &mut random) {
        let mut expected = Vec::new();
        let mut result = Ok(());
        for key in batch {
            match single.insert_if_absent(key) {
                Ok(is_stored) => expected.push(is_stored),
                Err(reason) => {
                    result = Err((expected.len(), reason));
                    break;
                }
            }
        }
        repeated += expected.iter().filter(|&&is_stored| !is_stored).count();
        refused += usize::from(result.is_err());
        let mut stored: Vec<bool> = (0..batch.len()).map(|_| random.below(2) == 0).collect();
        let got = by_key.insert_each_if_absent(batch, &mut stored).map_err(|error| (error.inserted, error.reason));
        assert_eq!(got, result, "{name}");
        assert!(stored[..expected.len()] == expected, "{name}: which are stored");
        let got = by_digest.insert_each_if_absent(&digests_of(&single, batch), &mut stored);
        assert_eq!(got.map_err(|error| (error.inserted, error.reason)), result, "{name}");
        assert!(stored[..expected.len()] == expected, "{name}: which are stored");
        assert_eq!((by_key.len(), by_digest.len()), (single.len(), single.len()), "{name}: len");
    }
    assert!(by_key.to_bytes() == single.to_bytes() && by_digest.to_bytes() == single.to_bytes(), "{name}: the bytes");
    assert_eq!(by_key.check_invariants(), Ok(()), "{name}");
    assert!(repeated > keys.len() / 20, "{name}: {repeated} are repeated");
    // Half of the keys are new. Of a table that grows, none is refused.
    assert_eq!(refused > 0, filter.growth_policy().is_none(), "{name}: {refused} batches end early");
}

#[test]
fn keys_are_stored_if_they_are_absent_as_by_single_calls() {
    try_each(cases(), |case| {
        let filter = case.build();
        // With few bits, or few buckets, many keys are taken for others.
        let is_filled = |filter: &CuckooFilter| filter.parameters().fingerprint_bits() >= 13;
        if is_filled(&filter) {
            assert_stores_if_absent(&filter, 2 * filter.slot_count() as u64, &case.to_string());
        }
    });
}

#[test]
fn keys_are_stored_if_they_are_absent_as_by_single_calls_while_the_table_grows() {
    // A table that is doubled at once, and one that is doubled in steps; narrow words and wide ones.
    for (capacity, rate) in [(1000, 0.01), (1000, 1e-6), (60_000, 0.01), (60_000, 1e-7)] {
        let builder = CuckooFilter::builder().capacity(capacity).max_capacity(20 * capacity).false_positive_rate(rate);
        let filter = builder.build().expect("a small filter");
        assert_stores_if_absent(&filter, 20 * capacity as u64, &format!("{capacity} keys at {rate}"));
    }
}

/// A key whose own code panics.
struct Panics<'key>(&'key u64);

impl Key for Panics<'_> {
    fn digest(&self, hasher: &KeyHasher) -> Digest {
        assert!(*self.0 != 170, "a key that can't be hashed");
        hasher.digest(self.0)
    }
}

#[test]
fn a_panic_of_a_key_leaves_what_was_counted_before() {
    for (capacity, max_capacity) in [(1000, None), (100, Some(10_000)), (300_000, None)] {
        let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(0.001);
        let builder = max_capacity.map_or(builder.clone(), |largest| builder.max_capacity(largest));
        let numbers: Vec<u64> = (0..300).collect();
        let keys: Vec<Panics<'_>> = numbers.iter().map(Panics).collect();
        let batches: [fn(&mut CuckooFilter, &[Panics<'_>]); 4] = [
            |filter, keys| drop(filter.insert_many(keys)),
            |filter, keys| drop(filter.try_extend(keys)),
            |filter, keys| drop(filter.insert_each_if_absent(keys, &mut [false; 300])),
            |filter, keys| filter.remove_many_into(keys, &mut [false; 300]),
        ];
        for (number, batch) in batches.into_iter().enumerate() {
            let mut filter = builder.build().expect("small");
            if number == 3 {
                filter.try_extend(&numbers).expect("there is room");
            }
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| batch(&mut filter, &keys)));
            assert!(panicked.is_err(), "{number}");
            assert_eq!(filter.check_invariants(), Ok(()), "{capacity} {number}");
            assert_eq!(CuckooFilter::from_bytes(&filter.to_bytes()).expect("sound"), filter, "{capacity} {number}");
        }
    }
}

#[test]
fn empty_batches_change_nothing() {
    for case in cases() {
        let mut filter = case.build();
        assert_eq!(filter.try_extend::<[u64; 0]>([]), Ok(()), "{case}");
        assert_eq!(filter.insert_many::<u64>(&[]), Ok(()), "{case}");
        filter.contains_many_into::<u64>(&[], &mut []);
        assert_eq!(filter.insert_each_if_absent::<u64>(&[], &mut []), Ok(()), "{case}");
        filter.remove_many_into::<u64>(&[], &mut []);
        assert_eq!(filter, case.build(), "{case}");
    }
}

/// Does the same on each of several numbers of threads, if there can be more than one.
#[cfg(feature = "rayon")]
fn on_any_number_of_threads(work: impl Fn(&str) + Sync) {
    for threads in [1, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("so many threads");
        pool.install(|| work(&format!("{threads} threads")));
    }
}

#[cfg(not(feature = "rayon"))]
fn on_any_number_of_threads(work: impl Fn(&str)) {
    work("one thread");
}

/// Tables of four regions where there are regions; of 50,002 buckets with regional addressing.
///
/// A region is a whole number of bytes with buckets of 4 and 8 and with powers of 4, whatever the fingerprint; not so, with
/// most fingerprints, with buckets of 2 and powers of 3.
fn tables_of_four_regions(fingerprint_bits: &[u32]) -> impl Iterator<Item = Case> {
    let shapes = all_shapes().into_iter();
    shapes.flat_map(move |shape| {
        fingerprint_bits.iter().map(move |&fingerprint_bits| {
            let fingerprint_bits = fingerprint_bits.max(shape.least_fingerprint_bits());
            let bucket_count = if shape.addressing == Addressing::PowerOfTwo { 1 << 17 } else { 200_008 };
            let case = Case { bucket_count, ..case_of(shape, fingerprint_bits, Size::Large) };
            let one_region = shape.addressing == Addressing::PowerOfTwo || shape.compared_slots() == 2;
            let region_count = case.build().parameters().region_count();
            assert_eq!(region_count, if one_region { 1 } else { 4 }, "{case}: regions");
            case
        })
    })
}

#[test]
fn regions_are_bytes_in_some_tables_and_not_in_others() {
    let bits_into_byte = |case: &Case| {
        let filter = case.build();
        filter.parameters().slot_count() / filter.parameters().region_count()
            * u64::from(filter.parameters().bits_per_slot())
            % 8
    };
    let several_regions = |case: &Case| case.build().parameters().region_count() > 1;
    let mut found: Vec<u64> =
        tables_of_four_regions(&BULK_BITS).filter(several_regions).map(|case| bits_into_byte(&case)).collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7]);
}

const BULK_BITS: [u32; 7] = [7, 9, 11, 13, 14, 23, 32];

#[test]
fn bulk_gives_the_bytes_of_single_calls() {
    // Every third one: there are seven lengths, so neighbouring shapes have different ones. On one thread every ninth: those
    // tests are not optimised.
    let step = if cfg!(feature = "rayon") { 3 } else { 9 };
    for case in tables_of_four_regions(&BULK_BITS).step_by(step) {
        let _announced = Announced(case);
        let mut start = case.build();
        // Some keys are there before.
        for key in 1 << 50..(1 << 50) + 1000_u64 {
            start.insert(&key).expect("it is nearly empty");
        }
        // Two runs of keys that are sorted by region, and a rest that is not worth sorting.
        let asked = keys_that_fit(&start).min(2 * 65_536 + 3000);
        let mut single = start.clone();
        // With the shortest fingerprints and b = 1, more keys than fit share their buckets here and there.
        let keys: Vec<u64> = (0..asked).filter(|key| single.insert(key).is_ok()).collect();
        assert!(keys.len() as u64 >= asked - asked / 1000, "{case}: {} of {asked} fit", keys.len());
        let expected = single.to_bytes();
        let digests = digests_of(&start, &keys);
        on_any_number_of_threads(|threads| {
            let mut bulk = start.clone();
            assert_eq!(bulk.insert_many(&keys), Ok(()), "{case}, {threads}");
            assert!(bulk.to_bytes() == expected, "{case}, {threads}: the bytes of insert_many");
            let mut bulk = start.clone();
            assert_eq!(bulk.insert_many(&digests), Ok(()), "{case}, {threads}");
            assert!(bulk.to_bytes() == expected, "{case}, {threads}: the bytes of insert_many");
            assert_eq!((bulk.len(), bulk.check_invariants()), (single.len(), Ok(())), "{case}, {threads}");
        });
    }
}

#[test]
fn a_filter_built_from_keys_has_the_bytes_of_single_calls() {
    for case in tables_of_four_regions(&[11, 16]) {
        let _announced = Announced(case);
        let mut single = case.build();
        let keys: Vec<u64> = (0..keys_that_fit(&single).min(80_000)).collect();
        assert!(keys.iter().all(|key| single.insert(key).is_ok()), "{case}: all fit");
        let digests = digests_of(&single, &keys);
        on_any_number_of_threads(|threads| {
            let from_keys = builder_of(case).build_from_keys(&keys).expect("all fit");
            let from_digests = builder_of(case).build_from_keys(&digests).expect("all fit");
            for built in [from_keys, from_digests] {
                assert_eq!(built.parameters(), single.parameters(), "{case}, {threads}");
                assert!(built.to_bytes() == single.to_bytes(), "{case}, {threads}: the bytes");
            }
        });
    }
}

fn builder_of(case: Case) -> FilterBuilder {
    CuckooFilter::builder()
        .bucket_count(case.bucket_count)
        .fingerprint_bits(case.fingerprint_bits)
        .slots_per_bucket(case.slots_per_bucket)
        .layout(case.layout)
        .addressing(case.addressing)
        .hasher(KeyHasher::xxh3(case.seed))
}

/// Without a size, there is room for the keys that there are.
#[test]
fn a_filter_built_from_keys_without_a_size_is_made_for_them() {
    for shape in all_shapes() {
        for count in [0, 1, 2, 10, 1000, 30_000] {
            let what = format!("{count} keys in {shape:?}");
            let builder = CuckooFilter::builder()
                .layout(shape.layout)
                .addressing(shape.addressing)
                .slots_per_bucket(shape.slots_per_bucket)
                .false_positive_rate(0.01);
            let keys: Vec<u64> = (0..count as u64).collect();
            let built = builder.build_from_keys(&keys).unwrap_or_else(|error| panic!("{what}: {error}"));
            let mut single = builder.capacity(count.max(1)).build().expect("parameters in range");
            assert!(keys.iter().all(|key| single.insert(key).is_ok()), "{what}");
            assert!(built == single && built.to_bytes() == single.to_bytes(), "{what}");
            assert_eq!(built.len(), count, "{what}");
        }
    }
}

#[test]
fn a_filter_that_cannot_be_built_from_keys_says_why() {
    let error = CuckooFilter::builder().build_from_keys([1_u64]).expect_err("there is no rate");
    assert_eq!(error, BuildFromKeysError::Build(BuildError::PrecisionMissing));
    let copies = [1_u64; 20];
    let error = CuckooFilter::builder().bucket_count(10).fingerprint_bits(12).build_from_keys(copies);
    let Err(BuildFromKeysError::Insert(error)) = error else { panic!("{error:?}") };
    assert_eq!(error.reason, InsertError::TooManyCopies { copies: 8 });
    assert_eq!(error.rejected.len(), 12, "the copies beyond those that fit");
}

/// All that fit are stored: since no key moves to another region, those that single calls would store too.
#[test]
fn more_keys_than_fit_are_stored_but_for_those_in_the_error() {
    try_each(tables_of_four_regions(&[13]), |case| {
        let empty = case.build();
        let mut single = empty.clone();
        let (mut keys, mut refused) = (Vec::new(), Vec::new());
        // More copies of some keys than fit, and then so many keys that some dozens find no room.
        for key in [5, 50, 500].into_iter().flat_map(|key| [key; 40]).chain(0..) {
            let digest = empty.hasher().digest(&key);
            refused.extend(single.insert(&digest).err().map(|_| digest));
            keys.push(key);
            if refused.len() == 150 {
                break;
            }
        }
        refused.sort_unstable_by_key(|digest| digest.get());

        on_any_number_of_threads(|threads| {
            let mut bulk = empty.clone();
            let error = bulk.insert_many(&keys).expect_err("there are more keys than slots");
            assert_eq!(bulk.len() + error.rejected.len(), keys.len(), "{case}, {threads}: len and rejected");
            let full = InsertError::Full { len: bulk.len(), capacity: bulk.capacity(), slot_count: bulk.slot_count() };
            assert!(
                error.reason == full || matches!(error.reason, InsertError::TooManyCopies { .. }),
                "{case}, {threads}: {:?}",
                error.reason
            );
            let mut rejected = error.rejected;
            rejected.sort_unstable_by_key(|digest| digest.get());
            assert!(rejected == refused, "{case}, {threads}: {} rejected, {}", rejected.len(), refused.len());
            assert_eq!(bulk.check_invariants(), Ok(()), "{case}, {threads}");
            assert!(bulk.to_bytes() == single.to_bytes(), "{case}, {threads}: the bytes");

            // Taking all away that was not rejected leaves nothing.
            for digest in digests_of(&empty, &keys) {
                if rejected.binary_search_by_key(&digest.get(), |rejected| rejected.get()).is_err() {
                    assert!(bulk.remove(&digest), "{case}, {threads}: {digest:?} is lost");
                }
            }
            for key in [5_u64, 50, 500] {
                while bulk.count(&key) > 0 && bulk.remove(&key) {}
            }
            assert!(bulk.is_empty(), "{case}, {threads}: {} left", bulk.len());
        });
    });
}

/// Of these eleven regions, every eighth, fourth or second ends with a byte, and fewer are left at the end.
#[test]
fn regions_that_begin_inside_a_byte_take_keys_from_nearly_none_to_nearly_full() {
    for (fingerprint_bits, regions_to_byte) in [(13, 8), (14, 4), (12, 2)] {
        let case = Case {
            layout: Layout::Packed,
            addressing: Addressing::Ternary,
            slots_per_bucket: 1,
            fingerprint_bits,
            bucket_count: 11 * 3_u64.pow(10),
            seed: 7,
        };
        let _announced = Announced(case);
        let start = case.build();
        assert_eq!(start.parameters().region_count(), 11, "{case}");
        let mut ends = (1..=8).map(|regions| regions * 3_u64.pow(10) * u64::from(fingerprint_bits));
        assert_eq!(ends.position(|bits| bits % 8 == 0), Some(regions_to_byte - 1), "{case}");

        let keys: Vec<u64> = (0..keys_that_fit(&start)).collect();
        let mut single = start.clone();
        assert!(keys.iter().all(|key| single.insert(key).is_ok()), "{case}: all fit");
        on_any_number_of_threads(|threads| {
            let mut bulk = start.clone();
            assert_eq!(bulk.insert_many(&keys), Ok(()), "{case}, {threads}");
            assert_eq!(bulk.len(), single.len(), "{case}, {threads}");
            assert!(bulk.to_bytes() == single.to_bytes(), "{case}, {threads}: the bytes");
        });
    }
}

/// Where several regions share a byte, they can't be filled side by side.
#[test]
fn regions_of_a_few_bits_take_many_keys_at_once() {
    let mut smaller_than_a_byte = 0;
    for addressing in [Addressing::Regional, Addressing::Ternary, Addressing::Quaternary] {
        for (buckets, fingerprint_bits) in (1..=12).flat_map(|buckets| (2..=8).map(move |bits| (buckets, bits))) {
            let builder = CuckooFilter::builder().addressing(addressing).slots_per_bucket(1);
            let Ok(mut single) = builder.bucket_count(buckets).fingerprint_bits(fingerprint_bits).build() else {
                continue;
            };
            let mut bulk = single.clone();
            let parameters = *single.parameters();
            let region_bits =
                parameters.slot_count() / parameters.region_count() * u64::from(parameters.bits_per_slot());
            smaller_than_a_byte += u32::from(parameters.region_count() > 1 && region_bits < 7);
            let keys: Vec<u64> = (0..2048 * parameters.region_count()).collect();
            let fitting = keys.iter().filter(|key| single.insert(key).is_ok()).count();

            let error = bulk.insert_many(&keys).expect_err("there are more keys than slots");
            assert_eq!((bulk.len(), error.rejected.len()), (fitting, keys.len() - fitting), "{parameters:?}");
            assert!(bulk.to_bytes() == single.to_bytes(), "{parameters:?}: the bytes");
        }
    }
    assert!(smaller_than_a_byte > 0, "no table has such regions");
}

#[test]
fn try_extend_stores_what_as_many_insertions_store_and_says_how_many_they_are() {
    let filter = CuckooFilter::with_capacity(5000, 0.001).expect("parameters in range");
    for count in [0, 1, 511, 512, 513, 3000, 20_000_u64] {
        let (mut single, mut extended) = (filter.clone(), filter.clone());
        let refused = (0_usize..)
            .zip(0..count)
            .find_map(|(number, key)| single.insert(&key).err().map(|reason| (number, reason)));
        let outcome = extended.try_extend(0..count).map_err(|error| (error.inserted, error.reason));
        assert_eq!(outcome, refused.map_or(Ok(()), Err), "{count} keys");
        assert_eq!(extended, single, "{count} keys");
    }
    assert!(filter.clone().try_extend(0..20_000_u64).is_err(), "some are refused");
    // Growing filters take them all.
    let builder = CuckooFilter::builder().capacity(100).max_capacity(100_000).false_positive_rate(0.01);
    let mut grown = builder.build().expect("parameters in range");
    grown.try_extend((0..50_000).map(|key| format!("key {key}"))).expect("it grows");
    assert!((0..50_000).all(|key| grown.contains(&format!("key {key}"))));
}
