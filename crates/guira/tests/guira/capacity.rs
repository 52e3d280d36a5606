//! The promise: a filter made for n distinct keys takes n distinct keys, costs what it should, and keeps to its rate.

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and bounds are approximate")]

use guira::{
    Addressing, BuildError, CountingCuckooFilter, CuckooFilter, CuckooMap, ExpiringCuckooFilter, FilterBuilder,
    FilterKind, InsertError, KeyHasher, Layout, Parameters, Preference,
};

use crate::oracle::binomial::assert_share;
use crate::oracle::random::SplitMix64;
use crate::oracle::shapes::{Shape, all_shapes};

/// "Of a million filters, at most one is expected not to take that many."
const FAILURES: f64 = 1e-6;

/// The filters built in a sweep, and those that did not take as many distinct keys as they were made for.
#[derive(Default)]
struct Sweep {
    builds: u64,
    failures: Vec<String>,
}

impl Sweep {
    /// Builds a filter with each seed and inserts as many distinct keys as promised.
    fn fill(&mut self, builder: &FilterBuilder, capacity: usize, seeds: std::ops::Range<u64>) {
        for seed in seeds {
            // Neighbouring capacities with the same table and seed would stand and fall together.
            let different = (capacity as u64) << 32 | seed;
            let built = builder.clone().capacity(capacity).hasher(KeyHasher::xxh3(different)).build();
            let mut filter = built.unwrap_or_else(|error| panic!("{builder:?}, capacity {capacity}: {error}"));
            self.builds += 1;
            let inserted = insert_keys(&mut filter, capacity);
            self.failures.extend(inserted.err().map(|error| format!("{error}: {filter:?}")));
        }
    }

    fn assert_promise_kept(&self) {
        let first = &self.failures[..self.failures.len().min(5)];
        assert_share(
            self.failures.len() as u64,
            self.builds,
            0.0,
            FAILURES,
            &format!("filters that failed: {first:#?}"),
        );
    }
}

/// Inserts distinct keys, and looks for all that were accepted.
fn insert_keys(filter: &mut CuckooFilter, capacity: usize) -> Result<(), InsertError> {
    assert!(filter.capacity() >= capacity, "{filter:?}: capacity {capacity} was asked for");
    let result = (0..capacity as u64).try_for_each(|key| filter.insert(&key));
    for key in 0..filter.len() as u64 {
        assert!(filter.contains(&key), "{filter:?}: {key} is lost");
    }
    result
}

fn with_rate(rate: f64) -> FilterBuilder {
    CuckooFilter::builder().false_positive_rate(rate)
}

#[test]
fn every_small_capacity_is_kept() {
    let mut sweep = Sweep::default();
    for capacity in 1..=300 {
        for rate in [0.9, 0.5, 0.03, 0.001, 1e-6] {
            sweep.fill(&with_rate(rate), capacity, 0..20);
        }
    }
    sweep.assert_promise_kept();
}

#[test]
fn every_small_capacity_is_kept_with_every_bucket_size_and_addressing() {
    for addressing in [Addressing::Regional, Addressing::PowerOfTwo] {
        for slots_per_bucket in [1, 2, 3, 4, 8] {
            let builder = with_rate(0.001).slots_per_bucket(slots_per_bucket).addressing(addressing);
            let mut sweep = Sweep::default();
            for capacity in 1..=300 {
                let seeds = if capacity <= 40 { 100 } else { 20 };
                sweep.fill(&builder, capacity, 0..seeds);
            }
            sweep.assert_promise_kept();
        }
    }
}

/// The shapes beyond packed buckets with two candidates.
fn further_shapes() -> impl Iterator<Item = Shape> {
    all_shapes().into_iter().filter(|shape| shape.layout != Layout::Packed || shape.addressing.candidates() > 2)
}

/// The table that is planned, without making it.
fn planned(capacity: u64, rate: f64, preference: Preference) -> Result<Parameters, BuildError> {
    let capacity = usize::try_from(capacity).expect("tests run with 64 bits, or for few keys");
    with_rate(rate).capacity(capacity).preference(preference).parameters()
}

/// The bits of a table, without padding.
const fn table_bits(parameters: &Parameters) -> u64 {
    parameters.slot_count() * parameters.bits_per_slot() as u64
}

fn with_shape(shape: Shape) -> FilterBuilder {
    with_rate(0.001).layout(shape.layout).slots_per_bucket(shape.slots_per_bucket).addressing(shape.addressing)
}

#[test]
fn every_small_capacity_is_kept_in_every_shape() {
    for shape in further_shapes() {
        let mut sweep = Sweep::default();
        for capacity in 1..=100 {
            sweep.fill(&with_shape(shape), capacity, 0..8);
        }
        sweep.assert_promise_kept();
    }
}

#[test]
fn larger_capacities_are_kept_in_every_shape() {
    for shape in further_shapes() {
        let mut sweep = Sweep::default();
        for capacity in [300, 1000, 3000, 10_000, 30_001, 100_000] {
            sweep.fill(&with_shape(shape), capacity, 0..(10_000 / capacity as u64).max(1));
        }
        sweep.assert_promise_kept();
    }
}

#[test]
fn a_layout_that_is_left_alone_is_the_smaller_one_of_all_that_is_given_besides() {
    for (slots_per_bucket, addressing) in [
        (Some(4), Addressing::Regional),
        (None, Addressing::PowerOfTwo),
        (Some(4), Addressing::PowerOfTwo),
        (Some(2), Addressing::Regional),
        (None, Addressing::Ternary),
    ] {
        let builder = with_rate(0.001).capacity(100_000).addressing(addressing).preference(Preference::Space);
        let builder = slots_per_bucket.map_or(builder.clone(), |slots| builder.slots_per_bucket(slots));
        let planned = |layout| builder.clone().layout(layout).parameters();
        let layouts = [Layout::Packed, Layout::SemiSorted].into_iter().flat_map(planned);
        let smallest = layouts.min_by_key(table_bits).expect("parameters in range");
        assert_eq!(builder.parameters(), Ok(smallest), "{builder:?}");
        assert!(slots_per_bucket != Some(4) || smallest.layout() == Layout::SemiSorted, "{builder:?}");
        let fast = builder.clone().preference(Preference::Speed).parameters();
        assert_eq!(fast.expect("parameters in range").layout(), Layout::Packed, "{builder:?}");
    }
}

#[test]
fn the_plan_that_prefers_space_is_the_smallest_there_is_and_keeps_its_promises() {
    for capacity in [1, 2, 3, 10, 37, 100, 1000, 12_345, 100_000, 3_000_000] {
        for rate in [0.3, 0.03, 0.001, 1e-6] {
            let what = format!("capacity {capacity}, rate {rate}");
            let space = planned(capacity as u64, rate, Preference::Space).expect("parameters in range");
            let speed = planned(capacity as u64, rate, Preference::Speed).expect("parameters in range");
            let alternatives = with_rate(rate).capacity(capacity).alternatives().expect("parameters in range");
            assert!(table_bits(&space) <= table_bits(&speed), "{what}: {space:?}, {speed:?}");
            assert!(alternatives.is_sorted_by_key(table_bits), "{what}: the smallest first");
            assert_eq!(alternatives.first().map(table_bits), Some(table_bits(&space)), "{what}: {space:?}");
            for table in alternatives.iter().chain([&speed]) {
                assert!(table.expected_false_positive_rate(table.capacity()) <= rate, "{what}: {table:?}");
                assert!(table.capacity() >= capacity as u64, "{what}: {table:?}");
            }
            if capacity <= 100_000 {
                let builder = with_rate(rate).capacity(capacity).preference(Preference::Space);
                let mut filter = builder.build().expect("parameters in range");
                assert_eq!(insert_keys(&mut filter, capacity), Ok(()), "{what}: {filter:?}");
            }
        }
    }
}

#[test]
fn no_plan_takes_much_more_than_the_smallest_table_of_the_shapes_that_are_planned() {
    let capacities = (1..=40).chain([54, 138, 222, 292, 500, 1000, 3000, 10_000, 200_000, 1_000_000, 10_000_000]);
    for capacity in capacities {
        for rate in [0.5, 0.3, 0.1, 0.03, 0.01, 0.001, 1e-6, 1e-9] {
            let keys = usize::try_from(capacity).expect("few keys");
            let of_shape = |shape| with_shape(shape).false_positive_rate(rate).capacity(keys).parameters();
            let shapes = all_shapes().into_iter();
            let shapes = shapes.filter(|shape| shape.addressing == Addressing::Regional && shape.slots_per_bucket > 1);
            let least = shapes.flat_map(of_shape).map(|table| table_bits(&table)).min().expect("there is a table");
            let plan = planned(capacity, rate, Preference::Space).expect("parameters in range");
            let ratio = table_bits(&plan) as f64 / least as f64;
            assert!(ratio <= 1.15, "{capacity} keys at {rate}: {ratio} times the least: {plan:?}");
            // What packed buckets of two candidates cost, which are faster.
            let most = if capacity < 1000 { 2.0 } else { 1.25 };
            let plan = planned(capacity, rate, Preference::Speed).expect("parameters in range");
            let ratio = table_bits(&plan) as f64 / least as f64;
            assert!(ratio <= most, "{capacity} keys at {rate}: {ratio} times the least: {plan:?}");
        }
    }
}

/// Regions of 2^16 buckets are faster in tables without values whose buckets, or halves of them, fit 64 bits.
#[test]
fn plans_take_at_most_one_percent_more_for_faster_regions() {
    let packed = |rate, capacity, slots| {
        let builder = with_rate(rate).capacity(capacity).slots_per_bucket(slots);
        let space = builder.clone().preference(Preference::Space).parameters().expect("parameters in range");
        (builder.parameters().expect("parameters in range"), space)
    };
    let (mut larger, mut equal) = (0, 0);
    for capacity in (1..=60).map(|step| step * 170_000).chain([65_000, 100_000, 1_000_000, 10_000_000, 100_000_000]) {
        for (rate, slots) in [(0.01, 4), (0.001, 4), (0.03, 2), (0.001, 8), (1e-6, 4), (1e-6, 8), (1e-9, 4)] {
            let (speed, space) = packed(rate, capacity, slots);
            let what = format!("{capacity} keys at {rate} in buckets of {slots}: {speed:?}, {space:?}");
            assert_eq!(speed.fingerprint_bits(), space.fingerprint_bits(), "{what}");
            let buckets = space.bucket_count().div_ceil(1 << 16) << 16;
            let fits = (rate, slots) != (1e-6, 8) && rate > 1e-9;
            let is_faster = fits && space.region_count() > 1 && buckets * 100 <= space.bucket_count() * 101;
            assert_eq!(speed.bucket_count(), if is_faster { buckets } else { space.bucket_count() }, "{what}");
            if is_faster && speed != space {
                larger += 1;
            } else {
                equal += 1;
            }
            let values = CuckooMap::<u8>::builder().value_bits(4).false_positive_rate(rate);
            let values = values.capacity(capacity).slots_per_bucket(slots).parameters().expect("parameters in range");
            assert_eq!(values.bucket_count(), space.bucket_count(), "{what}: {values:?}");
        }
    }
    assert!(larger > 20 && equal > 20, "both kinds are there: {larger}, {equal}");
}

/// Builds refused one of their keys this often when buckets of a key were counted as independent ones, and fingerprints as
/// many: d-ary ones in one of 1,300 to 120,000, the others in one of 200,000 to 500,000.
#[test]
fn capacities_that_were_refused_are_kept() {
    let quaternary = |slots| with_rate(0.01).addressing(Addressing::Quaternary).slots_per_bucket(slots);
    let ternary = |slots| with_rate(0.01).addressing(Addressing::Ternary).slots_per_bucket(slots);
    let power_of_two = |slots, rate| with_rate(rate).addressing(Addressing::PowerOfTwo).slots_per_bucket(slots);
    let mut sweep = Sweep::default();
    sweep.fill(&quaternary(1), 51, 0..10_000);
    for capacity in (1..400).step_by(3) {
        for builder in [quaternary(1), quaternary(2), ternary(1)] {
            sweep.fill(&builder, capacity, 0..20);
        }
    }
    sweep.fill(&power_of_two(2, 0.1), 409, 0..500);
    sweep.fill(&power_of_two(8, 0.01), 117, 0..500);
    sweep.fill(&power_of_two(4, 0.3).layout(Layout::SemiSorted), 227, 0..500);
    sweep.fill(&with_rate(0.5), 138, 0..500);
    sweep.fill(&with_rate(0.03126).slots_per_bucket(2), 115, 0..500);
    sweep.assert_promise_kept();
}

#[test]
fn filters_of_a_few_keys_keep_to_their_rate_in_every_layout() {
    for shape in all_shapes() {
        for capacity in [1, 2, 3, 6, 11, 20] {
            for rate in [0.5, 0.1] {
                let builder = with_shape(shape).false_positive_rate(rate).capacity(capacity);
                // Many filters and few lookups of each, since those depend on the same few keys.
                let (filters, lookups) = (500, 16);
                let found = (0..filters).map(|seed| {
                    let mut filter =
                        builder.clone().hasher(KeyHasher::xxh3(seed)).build().expect("parameters in range");
                    assert_eq!(insert_keys(&mut filter, capacity), Ok(()), "{filter:?}");
                    (1000..1000 + lookups).filter(|key| filter.contains(key)).count() as u64
                });
                let what = format!("{shape:?}, {capacity} keys at {rate}");
                assert_share(found.sum(), filters * lookups, 0.0, rate, &what);
            }
        }
    }
}

/// The shortest fingerprints for which the builder promises anything are where keys of a kind are most common.
#[test]
fn capacities_are_kept_with_the_shortest_fingerprints_that_are_not_refused() {
    for addressing in [Addressing::Regional, Addressing::PowerOfTwo] {
        for slots_per_bucket in [1, 2, 3, 4, 8] {
            let mut sweep = Sweep::default();
            for capacity in (1..=30).chain([40, 64, 100, 150, 250, 390, 600, 1000, 3000, 10_000, 40_000]) {
                let builder = CuckooFilter::builder().slots_per_bucket(slots_per_bucket).addressing(addressing);
                let shortest = match builder.clone().capacity(capacity).fingerprint_bits(2).parameters() {
                    Ok(_) => 2,
                    Err(BuildError::FingerprintTooShort { least, .. }) => least,
                    Err(error) => panic!("b = {slots_per_bucket}, capacity {capacity}: {error}"),
                };
                let seeds = (50_000 / capacity as u64).clamp(2, 1000);
                sweep.fill(&builder.fingerprint_bits(shortest), capacity, 0..seeds);
            }
            sweep.assert_promise_kept();
        }
    }
}

/// Just below, at, and just above powers of two, where tables of 2^p buckets would be overfull or half empty.
#[test]
fn capacities_around_powers_of_two_are_kept() {
    let mut sweep = Sweep::default();
    for exponent in 9..=19 {
        let power = 1_usize << exponent;
        // Around 2^p keys, and around the keys that 2^p buckets of four slots take at a load of 0.95.
        for base in [power, power / 20 * 19] {
            for capacity in [base - 1, base, base + 1] {
                let seeds = ((1 << 17) / capacity as u64).clamp(1, 64);
                for rate in [0.02, 0.001] {
                    sweep.fill(&with_rate(rate), capacity, 0..seeds);
                }
            }
        }
    }
    sweep.assert_promise_kept();
}

#[test]
fn capacities_of_any_size_are_kept() {
    let mut random = SplitMix64::new(2);
    let mut sweep = Sweep::default();
    for exponent in 9..=19 {
        for rate in [0.02, 0.001, 1e-5] {
            let capacity = (1 << exponent) + random.below(1 << exponent);
            let seed = random.next() >> 32;
            sweep.fill(&with_rate(rate), capacity, seed..seed + 1);
        }
    }
    sweep.assert_promise_kept();
}

/// One region holds 65,536 buckets: 250,000 keys or so with b = 4. Around each further region the promise must not dip.
#[test]
fn capacities_around_the_first_regions_are_kept() {
    let mut sweep = Sweep::default();
    for slots_per_bucket in [2, 3, 4, 8] {
        let builder = CuckooFilter::builder().slots_per_bucket(slots_per_bucket).fingerprint_bits(13);
        let regions = |capacity: usize| {
            let parameters = builder.clone().capacity(capacity).parameters();
            parameters.expect("parameters in range").region_count()
        };
        let mut capacity = 1;
        for region_count in 2..=4 {
            // The least capacity that takes so many regions, by bisection.
            let mut most = 65_536 * slots_per_bucket as usize * region_count;
            while capacity < most {
                let middle = usize::midpoint(capacity, most);
                if regions(middle) < region_count as u64 {
                    capacity = middle + 1;
                } else {
                    most = middle;
                }
            }
            for capacity in [capacity - 1, capacity] {
                sweep.fill(&builder, capacity, 0..2);
            }
        }
    }
    sweep.assert_promise_kept();
}

#[test]
fn ten_million_keys_fit() {
    let mut sweep = Sweep::default();
    for (capacity, rate) in [((1 << 23) + 1, 0.01), (10_000_000, 0.001)] {
        sweep.fill(&with_rate(rate), capacity, 0..1);
    }
    sweep.assert_promise_kept();
}

/// Capacities just above powers of two and between them, up to 10^8, for which nothing is built.
fn capacities_to_plan() -> impl Iterator<Item = usize> {
    let mut random = SplitMix64::new(3);
    let around_powers = (14..=26).flat_map(|exponent| {
        let power = 1_usize << exponent;
        [power - 1, power, power + 1, power + power / 100, power / 20 * 19, power / 20 * 19 + 1]
    });
    let anywhere = (0..4000).map(move |_| 10_000 + random.below(100_000_000 - 10_000));
    let densely = (10_000..12_000).chain((12_000..1_000_000).step_by(499));
    densely.chain(around_powers).chain(anywhere).chain([100_000_000])
}

#[test]
fn buckets_of_4_cost_at_most_six_percent_more_than_their_fingerprints() {
    for capacity in capacities_to_plan() {
        for fingerprint_bits in [8, 12, 16] {
            let builder = CuckooFilter::builder().capacity(capacity).slots_per_bucket(4);
            let parameters = builder.fingerprint_bits(fingerprint_bits).parameters().expect("parameters in range");
            let bits_per_key = table_bits(&parameters) as f64 / capacity as f64;
            let most = 1.06 * f64::from(fingerprint_bits);
            assert!(bits_per_key <= most, "capacity {capacity}, f = {fingerprint_bits}: {bits_per_key} bits per key");
        }
    }
}

#[test]
fn the_planned_rate_is_at_most_the_one_asked_for_and_hardly_depends_on_the_seed() {
    let (mut enlarged, mut count) = (0, 0);
    for capacity in (1..=2000).chain(capacities_to_plan().step_by(7)) {
        for rate in [0.99, 0.5, 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-6, 1e-8] {
            let what = format!("capacity {capacity}, rate {rate}");
            let of_seed = |seed| {
                let parameters = with_rate(rate).capacity(capacity).hasher(KeyHasher::xxh3(seed)).parameters();
                parameters.unwrap_or_else(|error| panic!("{what}: {error}"))
            };
            let tables = [0, 1].map(of_seed);
            let [first, second] = &tables;
            // A region that would fall apart with a seed has a few buckets more, in fewer than one of a hundred.
            if first != second {
                enlarged += 1;
                assert_eq!(Shape::of(first), Shape::of(second), "{what}");
                assert_eq!(first.fingerprint_bits(), second.fingerprint_bits(), "{what}");
                let more = first.bucket_count().abs_diff(second.bucket_count());
                assert!(more <= 4 * first.region_count(), "{what}: {first:?}, {more} more or less");
            }
            count += 1;
            for table in tables {
                assert!(table.expected_false_positive_rate(capacity as u64) <= rate, "{what}: {table:?}");
                assert!(table.expected_false_positive_rate(table.capacity()) <= rate, "{what}: {table:?}");
                assert!(table.capacity() >= capacity as u64, "{what}: {table:?}");
            }
        }
    }
    assert!(enlarged * 100 < count, "{enlarged} of {count}");
}

/// With b slots and f bits the rate is 2bα / 2^f. At 6.6 / 2^f, four slots need a bit more, whatever their load, and three don't; at
/// 4.6 / 2^f both need it, and three slots become less full, by less than 3 %. Three slots of 20 bits fit a word, and four of 16.
#[test]
fn three_slots_are_planned_where_they_save_a_bit_or_alone_fit_a_word() {
    for bits in 9..=24 {
        let saving = if bits <= 20 { (3, bits) } else { (4, bits + 1) };
        let fitting = if (16..20).contains(&bits) { (3, bits + 1) } else { (4, bits + 1) };
        for (rate, expected) in [(6.6, saving), (4.6, fitting)] {
            let plan =
                planned(10_000_000, rate / f64::from(bits).exp2(), Preference::Speed).expect("parameters in range");
            assert_eq!((plan.slots_per_bucket(), plan.fingerprint_bits()), expected, "{plan:?}");
        }
    }
}

#[test]
fn the_size_that_is_planned_is_the_size_of_the_table() {
    for capacity in [1, 2, 3, 10, 100, 1000, 12_345, 1 << 20] {
        for rate in [0.1, 0.001, 1e-7] {
            let plan = planned(capacity as u64, rate, Preference::Speed).expect("parameters in range");
            let filter = CuckooFilter::with_capacity(capacity, rate).expect("parameters in range");
            assert_eq!(filter.size_in_bytes() as u64, plan.table_size(), "capacity {capacity}, rate {rate}");
            assert_eq!(*filter.parameters(), plan, "capacity {capacity}, rate {rate}");
            // Padding is a few words at the end, not bits per slot.
            let bytes = table_bits(&plan).div_ceil(8);
            assert!((bytes..=bytes + 64).contains(&plan.table_size()), "capacity {capacity}, rate {rate}: {plan:?}");
        }
    }
}

/// With more than one region, the number is rounded up so that all are equal.
#[test]
fn a_number_of_buckets_is_kept_or_rounded_up_by_less_than_1_in_16384() {
    let mut random = SplitMix64::new(4);
    let sizes: Vec<u64> = (1..2000)
        .chain([65_535, 65_536, 65_537, 131_072, 131_073, 196_609, (1 << 32) - 1, 1 << 32])
        .chain((0..2000).map(|_| 1 + (random.next() >> random.below(31) >> 32)))
        .collect();
    for slots_per_bucket in [2, 3, 4, 8] {
        for &given in &sizes {
            let builder = CuckooFilter::builder().bucket_count(given).slots_per_bucket(slots_per_bucket);
            let parameters = builder.fingerprint_bits(12).parameters().expect("parameters in range");
            let what = format!("{given} buckets of {slots_per_bucket}: {parameters:?}");
            let made = parameters.bucket_count();
            assert!(made.is_multiple_of(parameters.region_count()), "{what}");
            assert!(made >= given, "{what}");
            if given <= 65_536 {
                assert_eq!(made, given, "{what}");
            } else {
                assert!((made - given) * 16_384 < given, "{what}: rounded up by {}", made - given);
            }
        }
    }
}

#[test]
fn with_one_slot_per_bucket_a_number_of_buckets_is_kept() {
    for given in [1, 2, 3, 1000, 65_537, 1_000_003] {
        let builder = CuckooFilter::builder().bucket_count(given).slots_per_bucket(1);
        let parameters = builder.fingerprint_bits(12).parameters().expect("parameters in range");
        assert_eq!((parameters.region_count(), parameters.bucket_count()), (1, given));
    }
}

/// What is asked of a filter at its capacity is what is measured there.
#[test]
fn at_capacity_the_rate_asked_for_is_kept() {
    for (capacity, rate) in [(1_000, 0.1), (20_000, 0.03), (20_000, 0.01), (300_000, 0.001), (70_000, 1e-4)] {
        let mut filter = CuckooFilter::with_capacity(capacity, rate).expect("parameters in range");
        assert_eq!(insert_keys(&mut filter, capacity), Ok(()), "{filter:?}");
        assert!(filter.expected_false_positive_rate() <= rate, "{filter:?}");
        let queries = 4_000_000;
        let absent = capacity as u64..capacity as u64 + queries;
        let found = absent.filter(|key| filter.contains(key)).count() as u64;
        assert_share(found, queries, 0.0, rate, &format!("{filter:?}"));
    }
}

mod what_cannot_be_built_is_refused {
    use super::*;

    fn refusal(builder: &FilterBuilder) -> BuildError {
        let planned = builder.parameters().expect_err("it can't be built");
        let built = builder.build().expect_err("it can't be built");
        // NaN is not equal to itself.
        assert_eq!(format!("{planned:?}"), format!("{built:?}"), "the refusals of parameters() and of build()");
        assert!(!built.to_string().is_empty(), "a refusal says why");
        built
    }

    #[test]
    fn capacity_0() {
        assert!(matches!(refusal(&with_rate(0.01).capacity(0)), BuildError::Capacity { given: 0, .. }));
        let error = CuckooFilter::with_capacity(0, 0.01).expect_err("no capacity");
        assert!(matches!(error, BuildError::Capacity { given: 0, .. }), "{error:?}");
        let error = planned(0, 0.01, Preference::Speed).expect_err("no capacity");
        assert!(matches!(error, BuildError::Capacity { given: 0, .. }), "{error:?}");
        for slots_per_bucket in [1, 2, 3, 4, 8] {
            let error =
                refusal(&CuckooFilter::builder().capacity(0).fingerprint_bits(12).slots_per_bucket(slots_per_bucket));
            assert!(matches!(error, BuildError::Capacity { given: 0, .. }), "{error:?}");
        }
    }

    #[test]
    fn a_capacity_beyond_the_largest_table() {
        for capacity in [1 << 36, usize::MAX / 8, usize::MAX] {
            for slots_per_bucket in [1, 2, 3, 4, 8] {
                for addressing in [Addressing::Regional, Addressing::PowerOfTwo] {
                    let builder = with_rate(0.01).capacity(capacity).slots_per_bucket(slots_per_bucket);
                    let error = refusal(&builder.addressing(addressing));
                    let BuildError::Capacity { given, most } = error else { panic!("{error:?}") };
                    assert_eq!(given, capacity as u64);
                    assert_eq!(most, Parameters::MAX_BUCKETS * u64::from(slots_per_bucket));
                }
            }
        }
    }

    #[test]
    fn rates_that_are_no_rates() {
        for rate in [0.0, -0.0, 1.0, 1.5, -0.001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let bucket_count = CuckooFilter::builder().bucket_count(10).false_positive_rate(rate);
            let errors = [
                refusal(&with_rate(rate).capacity(100)),
                refusal(&with_rate(rate).capacity(100).slots_per_bucket(2)),
                refusal(&with_rate(rate).capacity(100).addressing(Addressing::PowerOfTwo)),
                refusal(&bucket_count),
                CuckooFilter::with_capacity(100, rate).expect_err("no rate"),
                planned(100, rate, Preference::Speed).expect_err("no rate"),
                with_rate(rate).capacity(100).alternatives().expect_err("no rate"),
            ];
            for error in errors {
                let BuildError::FalsePositiveRate { given } = error else { panic!("{rate}: {error:?}") };
                assert_eq!(given.to_bits(), rate.to_bits(), "the rate in the error");
            }
        }
    }

    #[test]
    fn rates_that_no_fingerprint_reaches() {
        for rate in [1e-18, f64::MIN_POSITIVE, 5e-324] {
            let error = refusal(&with_rate(rate).capacity(100));
            let BuildError::RateTooLow { given, least } = error else { panic!("{rate}: {error:?}") };
            assert_eq!(given.to_bits(), rate.to_bits(), "the rate in the error");
            assert!(least > rate, "{least} is the least");
            // What the error advises can be had.
            assert!(with_rate(least * 1.01).capacity(100).parameters().is_ok(), "{least} can't be had either");
        }
    }

    #[test]
    fn nothing_below_the_rate_that_an_error_names_can_be_had() {
        for capacity in [1000, 1_000_000] {
            let BuildError::RateTooLow { least, .. } = refusal(&with_rate(1e-30).capacity(capacity)) else {
                panic!("no fingerprint is that long")
            };
            assert!(with_rate(least * 1.01).capacity(capacity).parameters().is_ok(), "{least} can't be had");
            assert!(with_rate(least * 0.99).capacity(capacity).parameters().is_err(), "{least} is not the least");
        }
    }

    /// The rate that a text advises is there to be typed in.
    #[test]
    fn the_rate_that_an_error_advises_can_be_had_and_hardly_a_lower_one() {
        fn assert_advised<T: FilterKind>(builder: &FilterBuilder<T>) {
            for rate in [1e-13, 1e-15, 1e-19, 1e-300] {
                let at = |rate| builder.clone().false_positive_rate(rate).parameters();
                let error = match at(rate) {
                    Ok(parameters) => {
                        assert!(parameters.expected_false_positive_rate(parameters.capacity()) <= rate, "{parameters}");
                        continue;
                    }
                    Err(error) => error,
                };
                let (BuildError::RateTooLow { given, least } | BuildError::RateTooLowWithValues { given, least, .. }) =
                    error
                else {
                    panic!("{builder:?} at {rate}: {error}");
                };
                assert_eq!(given.to_bits(), rate.to_bits(), "the rate in the error");
                assert!(at(least).is_ok(), "{error}, of {builder:?}");
                assert!(at(least * 0.999).is_err(), "there are lower ones: {error}, of {builder:?}");
                let text = error.to_string();
                let (_, advice) = text.split_once("the least is ").expect("it advises a rate");
                let advised: f64 = advice.split(';').next().unwrap_or_default().parse().expect("a number");
                assert!(at(advised).is_ok(), "{error}, of {builder:?}");
            }
        }
        for capacity in [1, 100, 4000, 1 << 20] {
            let builder = CuckooFilter::builder().capacity(capacity);
            assert_advised(&builder);
            assert_advised(&builder.for_kind::<CountingCuckooFilter>());
            assert_advised(&builder.for_kind::<CuckooMap<u32>>());
            assert_advised(&builder.for_kind::<CountingCuckooFilter>().value_bits(20).slots_per_bucket(8));
            assert_advised(&builder.for_kind::<ExpiringCuckooFilter>().lifetime(60));
            assert_advised(&builder.clone().preference(Preference::Space));
            for addressing in [Addressing::PowerOfTwo, Addressing::Ternary, Addressing::Quaternary] {
                assert_advised(&builder.clone().addressing(addressing));
                assert_advised(&builder.clone().addressing(addressing).slots_per_bucket(8));
            }
            for times in [1, 3, 1000] {
                let growing = builder.clone().max_capacity(capacity * times);
                assert_advised(&growing);
                assert_advised(&growing.for_kind::<CountingCuckooFilter>());
                assert_advised(&growing.for_kind::<ExpiringCuckooFilter>().lifetime(60));
            }
        }
        // With so many keys it is the digests that have too few bits, whatever is beside the fingerprints.
        let many = CountingCuckooFilter::builder().capacity(1_000_000_000);
        assert_advised(&many);
        let refused = many.false_positive_rate(1e-19).parameters();
        assert!(matches!(refused, Err(BuildError::RateTooLow { .. })), "{refused:?}");
        assert_advised(&CuckooFilter::builder().bucket_count(1000));
        assert_advised(&CuckooFilter::builder().bucket_count(1000).for_kind::<CountingCuckooFilter>());
    }

    #[test]
    fn fingerprint_lengths_that_there_are_not() {
        for bits in [0, 1, 57, 64, u32::MAX] {
            for builder in [CuckooFilter::builder().capacity(100), CuckooFilter::builder().bucket_count(100)] {
                assert_eq!(
                    refusal(&builder.fingerprint_bits(bits)),
                    BuildError::FingerprintBits { given: bits, least: 2, most: 56 }
                );
            }
        }
    }

    #[test]
    fn bucket_sizes_that_there_are_not() {
        for slots in [0, 5, 6, 7, 9, 16, u32::MAX] {
            let expected = BuildError::SlotsPerBucket { given: slots, layout: Layout::Packed };
            assert_eq!(refusal(&with_rate(0.01).capacity(100).slots_per_bucket(slots)), expected);
            assert_eq!(refusal(&with_rate(0.01).bucket_count(100).slots_per_bucket(slots)), expected);
        }
    }

    #[test]
    fn no_buckets_or_too_many() {
        for given in [0, Parameters::MAX_BUCKETS + 1, u64::MAX] {
            for addressing in [Addressing::Regional, Addressing::PowerOfTwo] {
                let error = refusal(&with_rate(0.01).bucket_count(given).addressing(addressing));
                assert_eq!(error, BuildError::BucketCount { given });
            }
        }
    }

    #[test]
    fn buckets_of_power_of_two_addressing_that_are_no_power_of_two() {
        for given in [3, 5, 6, 1000, (1 << 32) - 1] {
            let error = refusal(&with_rate(0.01).bucket_count(given).addressing(Addressing::PowerOfTwo));
            assert_eq!(error, BuildError::BucketCountNotPower { given, base: 2 });
        }
    }

    #[test]
    fn sizes_and_precisions_that_are_missing_or_given_twice() {
        let builder = CuckooFilter::builder;
        assert_eq!(refusal(&builder().false_positive_rate(0.01)), BuildError::SizeMissing);
        assert_eq!(refusal(&builder().fingerprint_bits(12)), BuildError::SizeMissing);
        assert_eq!(refusal(&builder().capacity(9).bucket_count(9).fingerprint_bits(12)), BuildError::SizeGivenTwice);
        assert_eq!(refusal(&with_rate(0.01).capacity(9).bucket_count(9)), BuildError::SizeGivenTwice);
        assert_eq!(refusal(&builder().capacity(9)), BuildError::PrecisionMissing);
        assert_eq!(refusal(&builder().bucket_count(9)), BuildError::PrecisionMissing);
        assert_eq!(refusal(&with_rate(0.01).capacity(9).fingerprint_bits(12)), BuildError::PrecisionGivenTwice);
        assert_eq!(refusal(&with_rate(0.01).bucket_count(9).fingerprint_bits(12)), BuildError::PrecisionGivenTwice);
    }
}
