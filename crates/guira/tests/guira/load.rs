//! How full tables become: the loads of the paper's section 5.1, and what short fingerprints do to them (section 4).

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

use guira::{Addressing, BuildError, CuckooFilter, InsertError, Layout, Parameters};

use crate::oracle::case::{Announced, Case};
use crate::oracle::shapes::Shape;

const ADDRESSINGS: [Addressing; 2] = [Addressing::Regional, Addressing::PowerOfTwo];

/// Inserts distinct keys until one is refused.
fn fill_to_first_refusal(case: Case) -> (CuckooFilter, InsertError) {
    let _announced = Announced(case);
    let mut filter = case.build();
    let mut keys = 0_u64..;
    loop {
        let key = keys.next().expect("there are 2^64 keys");
        if let Err(refusal) = filter.insert(&key) {
            return (filter, refusal);
        }
    }
}

/// Checks the mean load at the first refusal of 2^16 buckets.
fn assert_mean_load(slots_per_bucket: u32, seeds: u64, least: f64, threshold: f64) {
    for addressing in ADDRESSINGS {
        let loads: Vec<f64> = (0..seeds)
            .map(|seed| {
                let case = Case {
                    layout: Layout::Packed,
                    addressing,
                    slots_per_bucket,
                    fingerprint_bits: 16,
                    bucket_count: 1 << 16,
                    seed,
                };
                fill_to_first_refusal(case).0.load_factor()
            })
            .collect();
        let mean = loads.iter().sum::<f64>() / seeds as f64;
        let what =
            format!("b = {slots_per_bucket}, {addressing:?}, seeds 0 to {}: mean {mean:.4} of {loads:?}", seeds - 1);
        assert!(mean >= least, "{what}");
        // Of what theory says no table exceeds, a finite one may see a little more; a miscounted one would see much more.
        assert!(loads.iter().all(|&load| load < threshold), "{what}");
    }
}

// The thresholds of two choices and b slots, for infinite tables: 0.5, 0.8970, 0.9592, 0.9804, 0.9979 (Fountoulakis, Khosla,
// Panagiotou). For b = 1 that threshold is not sharp in a finite table: cycles of keys fit, one per component.

#[test]
fn buckets_of_1_fill_to_48_percent() {
    assert_mean_load(1, 20, 0.48, 0.56);
}

#[test]
fn buckets_of_2_fill_to_87_percent() {
    assert_mean_load(2, 8, 0.87, 0.8970 * 1.003);
}

#[test]
fn buckets_of_3_fill_to_94_and_a_half_percent() {
    assert_mean_load(3, 8, 0.945, 0.9592 * 1.003);
}

#[test]
fn buckets_of_4_fill_to_96_and_a_half_percent() {
    assert_mean_load(4, 8, 0.965, 0.9804 * 1.003);
}

#[test]
fn buckets_of_8_fill_to_98_and_a_half_percent() {
    assert_mean_load(8, 5, 0.985, 0.9979 * 1.003);
}

/// Checks the mean load at the first refusal of the tables of a few seeds: 2^16 buckets, or with powers of 3 the nearest.
fn assert_mean_load_of(layout: Layout, addressing: Addressing, slots_per_bucket: u32, least: f64, threshold: f64) {
    let bucket_count = if addressing == Addressing::Ternary { 59_049 } else { 1 << 16 };
    let seeds = 6;
    let loads: Vec<f64> = (0..seeds)
        .map(|seed| {
            let case = Case { layout, addressing, slots_per_bucket, fingerprint_bits: 16, bucket_count, seed };
            let (filter, refusal) = fill_to_first_refusal(case);
            assert_eq!(filter.parameters().region_count(), 1, "{case}");
            assert!(matches!(refusal, InsertError::Full { .. }), "{case}: {refusal}");
            filter.load_factor()
        })
        .collect();
    let mean = loads.iter().sum::<f64>() / seeds as f64;
    let what = format!("{layout:?}, {addressing:?}, b = {slots_per_bucket}: mean {mean:.4} of {loads:?}");
    assert!(mean >= least, "{what}");
    assert!(loads.iter().all(|&load| load < threshold * 1.003), "{what}");
}

// Semi-sorted buckets are filled like packed ones.

#[test]
fn semi_sorted_buckets_fill_to_96_and_a_half_percent() {
    for addressing in ADDRESSINGS {
        assert_mean_load_of(Layout::SemiSorted, addressing, 4, 0.965, 0.9804);
    }
}

// The thresholds of three and four choices of one slot: 0.9179, 0.9768 (Fountoulakis and Panagiotou; Frieze and Melsted).

#[test]
fn three_buckets_of_1_fill_to_90_percent() {
    assert_mean_load_of(Layout::Packed, Addressing::Ternary, 1, 0.90, 0.9179);
}

#[test]
fn four_buckets_of_1_fill_to_96_percent() {
    assert_mean_load_of(Layout::Packed, Addressing::Quaternary, 1, 0.96, 0.9768);
}

/// How many groups of keys to expect that have the same fingerprint and the same buckets and are more than fit them:
/// equation (3), as docs/algorithm.md has it, n · λ^c / (c + 1)! with λ = cα / (2^f - 1) for c compared slots.
fn overfull_classes(keys: f64, fingerprint_bits: u32, compared_slots: u32, load_factor: f64) -> f64 {
    let fingerprints = f64::from(fingerprint_bits).exp2() - 1.0;
    let keys_per_class = f64::from(compared_slots) * load_factor / fingerprints;
    let factorial: f64 = (1..=compared_slots + 1).map(f64::from).product();
    keys * keys_per_class.powi(compared_slots.cast_signed()) / factorial
}

const fn shape_of(Case { layout, addressing, slots_per_bucket, .. }: Case) -> Shape {
    Shape { layout, addressing, slots_per_bucket }
}

/// The classes of more than 2b keys that `overfull_classes` expects at a load are an upper bound, since it takes for the
/// probability that 2b + 1 or more keys meet in a class only the first term, λ^(2b + 1) / (2b + 1)!. Times e^-λ that
/// term is the probability that exactly so many meet, a lower bound.
struct OverfullClasses {
    least: f64,
    most: f64,
}

impl OverfullClasses {
    fn expected(case: Case, load_factor: f64) -> Self {
        let slots = (case.bucket_count * u64::from(case.slots_per_bucket)) as f64;
        let most =
            overfull_classes(load_factor * slots, case.fingerprint_bits, shape_of(case).compared_slots(), load_factor);
        let fingerprints = 2.0_f64.powi(case.fingerprint_bits.cast_signed()) - 1.0;
        let keys_per_class = 2.0 * load_factor * f64::from(case.slots_per_bucket) / fingerprints;
        Self { least: most * (-keys_per_class).exp(), most }
    }

    /// The load at which a table without an overfull class is rarer than e^-15, if there is one.
    fn certain_load(case: Case) -> Option<f64> {
        (1..1000)
            .map(|thousandths| f64::from(thousandths) / 1000.0)
            .find(|&load| Self::expected(case, load).least > 15.0)
    }
}

fn short_fingerprints() -> impl Iterator<Item = Case> {
    ADDRESSINGS.into_iter().flat_map(|addressing| {
        [1, 2, 3, 4, 8].into_iter().flat_map(move |slots_per_bucket| {
            [13, 15, 17].into_iter().flat_map(move |exponent| {
                (2..=8).map(move |fingerprint_bits| Case {
                    layout: Layout::Packed,
                    addressing,
                    slots_per_bucket,
                    fingerprint_bits,
                    bucket_count: 1 << exponent,
                    seed: u64::from(fingerprint_bits),
                })
            })
        })
    })
}

/// Figure 2 of the paper: below some length, the load falls, the more so the larger the table and the smaller b.
#[test]
fn fingerprints_too_short_for_the_size_stop_the_table_early() {
    let mut cases = 0;
    for case in short_fingerprints() {
        if let Some(most_load) =
            OverfullClasses::certain_load(case).filter(|&load| load < 0.97 * shape_of(case).rated_load_factor())
        {
            let (filter, _) = fill_to_first_refusal(case);
            assert!(filter.load_factor() < most_load, "{case}: filled to {}, beyond {most_load}", filter.load_factor());
            cases += 1;
        }
    }
    assert!(cases >= 20, "{cases} cases show the effect");
}

/// The other half: with fingerprints that leave one overfull class in 1,000 tables, the rated load is reached.
#[test]
fn fingerprints_long_enough_for_the_size_reach_the_rated_load() {
    let mut cases = 0;
    for case in short_fingerprints() {
        let rated = shape_of(case).rated_load_factor();
        // With b = 1 more than overfull classes is in the way: any two cycles of keys in one component.
        let long_enough = case.slots_per_bucket > 1 && OverfullClasses::expected(case, rated).most < 1e-3;
        if long_enough && exclusive_or_reaches_all_buckets(case) {
            let (filter, refusal) = fill_to_first_refusal(case);
            assert!(filter.load_factor() >= rated, "{case}: {refusal} at {}", filter.load_factor());
            cases += 1;
        }
    }
    assert!(cases >= 20, "{cases} cases");
}

/// With exclusive or, moves combine the 2^f - 1 hashes of fingerprints in any order, each once or not at all: they lead
/// to 2^(2^f - 1) buckets at the most. Larger tables fall apart into many small ones. Not so with regional addressing,
/// where moves add up.
fn exclusive_or_reaches_all_buckets(case: Case) -> bool {
    let reached = 2_u64.checked_pow((1 << case.fingerprint_bits) - 1);
    case.addressing != Addressing::PowerOfTwo || reached.is_none_or(|reached| reached >= case.bucket_count)
}

/// Section 4: "with b = 4, six bits are enough", and 95 % of the slots are filled.
#[test]
fn six_bits_fill_buckets_of_4_to_95_percent() {
    for addressing in ADDRESSINGS {
        for exponent in [15, 18] {
            let bucket_count = 1 << exponent;
            let case = Case {
                layout: Layout::Packed,
                addressing,
                slots_per_bucket: 4,
                fingerprint_bits: 6,
                bucket_count,
                seed: 1,
            };
            let (filter, refusal) = fill_to_first_refusal(case);
            assert!(filter.load_factor() >= 0.95, "{case}: {refusal} at {}", filter.load_factor());
        }
    }
}

/// The failures that the promise of a capacity leaves to sets of buckets that are counted, overfull classes among them.
const FAILURES: f64 = 5e-7;

fn overfull_at_capacity(parameters: &Parameters, fingerprint_bits: u32) -> f64 {
    let keys = parameters.capacity() as f64;
    let load_factor = keys / parameters.slot_count() as f64;
    overfull_classes(keys, fingerprint_bits, Shape::of(parameters).compared_slots(), load_factor)
}

/// The slots of the table that takes a capacity with fingerprints that limit nothing.
fn promised_with_long(capacity: usize, slots_per_bucket: u32) -> u64 {
    let builder = CuckooFilter::builder().capacity(capacity).slots_per_bucket(slots_per_bucket);
    builder.fingerprint_bits(32).parameters().expect("parameters in range").slot_count()
}

const CAPACITIES: [usize; 5] = [100, 5_000, 300_000, 40_000_000, 1_000_000_000];

#[test]
fn the_builder_refuses_a_fingerprint_too_short_for_the_capacity_and_says_what_would_do() {
    let mut refusals = 0;
    for slots_per_bucket in [2, 3, 4, 8] {
        for capacity in CAPACITIES {
            for fingerprint_bits in 2..=32 {
                let what = format!("f = {fingerprint_bits}, b = {slots_per_bucket}, capacity {capacity}");
                let builder = CuckooFilter::builder().capacity(capacity).slots_per_bucket(slots_per_bucket);
                match builder.clone().fingerprint_bits(fingerprint_bits).parameters() {
                    Ok(parameters) => {
                        assert_eq!(parameters.fingerprint_bits(), fingerprint_bits, "{what}");
                        let overfull = overfull_at_capacity(&parameters, fingerprint_bits);
                        assert!(overfull <= FAILURES, "{what}: {overfull} overfull classes");
                    }
                    Err(BuildError::FingerprintTooShort { given, least, capacity: for_capacity }) => {
                        refusals += 1;
                        assert_eq!((given, for_capacity), (fingerprint_bits, capacity as u64), "{what}");
                        assert!(least > given, "{what}: at least {least}");
                        let advised = builder.clone().fingerprint_bits(least).parameters();
                        assert!(advised.is_ok(), "{what}: advised {least}: {advised:?}");
                        // A bit less would take more than twice the buckets. In small tables so few fingerprints have
                        // more in common than classes.
                        let load_factor = capacity as f64 / promised_with_long(capacity, slots_per_bucket) as f64 / 2.0;
                        let overfull = overfull_classes(capacity as f64, least - 1, 2 * slots_per_bucket, load_factor);
                        let enough = overfull <= FAILURES / 2.0 && capacity >= 300_000;
                        assert!(!enough, "{what}: {} bits would do: {overfull}", least - 1);
                    }
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    }
    assert!(refusals >= 20, "{refusals} refusals");
}

#[test]
fn the_refusal_names_the_numbers() {
    let error = CuckooFilter::builder().capacity(40_000_000).slots_per_bucket(2).fingerprint_bits(5).build();
    let error = error.expect_err("5 bits are too short").to_string();
    for part in ["5 bits", "40000000 keys", "at least"] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
}

#[test]
fn the_planner_raises_a_fingerprint_too_short_for_the_capacity() {
    let mut raised = 0;
    for slots_per_bucket in [2, 3, 4, 8] {
        for capacity in CAPACITIES {
            for rate in [0.9, 0.7, 0.5, 0.3, 0.1, 0.01] {
                let what = format!("b = {slots_per_bucket}, capacity {capacity}, rate {rate}");
                let builder = CuckooFilter::builder().slots_per_bucket(slots_per_bucket);
                let planned = builder.clone().capacity(capacity).false_positive_rate(rate).parameters();
                let planned = planned.unwrap_or_else(|error| panic!("{what}: {error}"));
                let bits = planned.fingerprint_bits();
                let overfull = overfull_at_capacity(&planned, bits);
                assert!(overfull <= FAILURES, "{what}: {overfull} overfull classes");
                assert!(planned.expected_false_positive_rate(planned.capacity()) <= rate, "{what}");

                // What the rate alone asks for, in a table of as many buckets.
                let for_rate =
                    builder.clone().bucket_count(planned.bucket_count()).false_positive_rate(rate).parameters();
                raised += u32::from(for_rate.is_ok_and(|table| table.fingerprint_bits() < bits));
                // No other length makes a smaller table that keeps to the rate.
                for other in 2..=56 {
                    let other_table = builder.clone().capacity(capacity).fingerprint_bits(other).parameters();
                    let Ok(table) = other_table else { continue };
                    let keeps_to_it = table.expected_false_positive_rate(capacity as u64) <= rate;
                    assert!(!keeps_to_it || table.table_size() >= planned.table_size(), "{what}: {other} bits");
                }
            }
        }
    }
    assert!(raised >= 10, "{raised} were raised");
}

/// Who gives a number of buckets gets the capacity that may be promised for it. Fingerprints too short for it are not
/// refused, but then there is no such promise to make.
#[test]
fn the_capacity_of_a_given_number_of_buckets_is_kept_with_short_fingerprints_too() {
    for case in short_fingerprints() {
        let (filter, refusal) = fill_to_first_refusal(case);
        assert!(filter.len() >= filter.capacity(), "{case}: {refusal}");
    }
}
