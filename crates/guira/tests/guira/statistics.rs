//! Measured rates of false positives against theory, before and after ten turnovers, and the uniformity that theory
//! takes for granted.
//!
//! What is expected: a filter answers "probably" for a key if and only if some stored key is of the same class, that is
//! has the same fingerprint and the same d buckets (or two windows). There are m (2^f - 1) / d classes, all equally
//! likely, and n keys leave each of them empty with probability (1 - 1 / classes)^n. So the rate is
//! 1 - (1 - d / (m (2^f - 1)))^n, or 1 - exp(-dbαp) with p = 1 / (2^f - 1) and α = n / (bm).

#![expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53, and statistics are approximate")]

use std::collections::{BTreeMap, VecDeque};

use guira::{Addressing, CuckooFilter, Layout};

use crate::oracle::binomial::{SIGMAS, assert_share};
use crate::oracle::case::{Announced, Case};
use crate::oracle::chi_square::assert_spread;
use crate::oracle::classes::{Class, Prober};
use crate::oracle::shapes::Shape;

/// A filter that keeps a load, and the keys in it, oldest first.
struct Population {
    case: Case,
    filter: CuckooFilter,
    present: VecDeque<u64>,
    /// How many keys were refused while these were inserted. The keys that are present are a little more spread out
    /// than any so many keys, and occupy no more classes than they would together with the refused ones.
    refused: usize,
    fresh_keys: std::ops::RangeFrom<u64>,
}

impl Population {
    fn new(case: Case) -> Self {
        Self { case, filter: case.build(), present: VecDeque::new(), refused: 0, fresh_keys: 0.. }
    }

    /// Inserts fresh keys up to a load factor.
    fn fill_to(&mut self, load_factor: f64) {
        while self.filter.load_factor() < load_factor {
            self.insert_fresh_key();
        }
    }

    /// Inserts a fresh key that the filter takes. With short fingerprints and b = 1 it refuses some well below the rated
    /// load, but others still fit.
    fn insert_fresh_key(&mut self) {
        for key in self.fresh_keys.by_ref() {
            if self.filter.insert(&key).is_ok() {
                self.present.push_back(key);
                return;
            }
            self.refused += 1;
            assert!(self.refused < 10_000, "{}: full at {}", self.case, self.filter.load_factor());
        }
    }

    /// Replaces every key by a fresh one, the oldest first.
    fn turn_over(&mut self) {
        self.refused = 0;
        for _ in 0..self.present.len() {
            let key = self.present.pop_front().expect("as many as there are");
            assert!(self.filter.remove(&key), "{}: {key} is lost", self.case);
            self.insert_fresh_key();
        }
    }

    fn assert_nothing_is_lost(&self) {
        for key in &self.present {
            assert!(self.filter.contains(key), "{}: {key} is lost", self.case);
        }
        assert_eq!(self.filter.len(), self.present.len(), "{}: len", self.case);
        assert_eq!(self.filter.check_invariants(), Ok(()), "{}", self.case);
    }

    /// Asks for keys that were never inserted, and compares the share that is found with theory.
    fn assert_rate(&mut self, queries: u64, when: &str) {
        let expected = self.expected_rate();
        let found = self.fresh_keys.by_ref().zip(0..queries).filter(|(key, _)| self.filter.contains(key)).count();
        let what = format!("{}, {when}, load {:.4}", self.case, self.filter.load_factor());
        assert_share(found as u64, queries, expected.least, expected.most, &what);
    }

    /// The rate of such a filter. It scatters around what is expected, since it is the share of the occupied classes.
    fn expected_rate(&self) -> RateRange {
        let fingerprints = 2.0_f64.powi(self.case.fingerprint_bits.cast_signed()) - 1.0;
        let buckets = self.filter.parameters().bucket_count() as f64;
        let candidates = f64::from(self.case.addressing.candidates());
        let classes = buckets * fingerprints / candidates;
        let occupied_by = |keys: usize| -(keys as f64 * (-1.0 / classes).ln_1p()).exp_m1();
        let (least, most) = (occupied_by(self.present.len()), occupied_by(self.present.len() + self.refused));
        self.assert_documented_rate(least);

        // The variance of the number of occupied cells, when balls are thrown into many.
        let per_class = self.present.len() as f64 / classes;
        let variance = ((-per_class).exp() - (1.0 + per_class) * (-2.0 * per_class).exp()) / classes;
        let scatter = SIGMAS * variance.max(0.0).sqrt();
        let fewer_candidates = most * self.share_with_half_the_candidates(fingerprints);
        RateRange { least: least - scatter - fewer_candidates / 2.0, most: most + scatter }
    }

    /// The share of the fingerprints whose keys have only half as many different candidates, at the most; so that for them
    /// there are twice as many classes, half as likely.
    fn share_with_half_the_candidates(&self, fingerprints: f64) -> f64 {
        let parameters = self.filter.parameters();
        let buckets = (parameters.bucket_count() / parameters.region_count()) as f64;
        let probability = match self.case.addressing {
            // The one of m hashes that is 0.
            Addressing::PowerOfTwo => 1.0 / buckets,
            // Those of 4^p - 1 steps that have even digits only: 2^p - 1.
            Addressing::Quaternary => (buckets.sqrt() - 1.0) / (buckets - 1.0),
            _ => return 0.0,
        };
        // Chance gives that to more or fewer of them: Bernstein's bound for the sum of so many.
        let mean = probability * fingerprints;
        let beyond = SIGMAS * mean.sqrt() + SIGMAS * SIGMAS / 3.0;
        ((mean + beyond) / fingerprints).min(1.0)
    }

    /// Checks that the library expects this rate.
    fn assert_documented_rate(&self, rate: f64) {
        let found = self.filter.expected_false_positive_rate();
        assert!((found / rate - 1.0).abs() < 1e-9, "{}: expects {found}, not {rate}", self.case);
    }
}

struct RateRange {
    least: f64,
    most: f64,
}

/// Enough queries for some ten thousand false positives, within reason.
fn queries_for(population: &Population, most: u64) -> u64 {
    let expected = population.expected_rate();
    let enough = |queries: &u64| *queries as f64 * expected.least >= 1e4;
    (17..).map(|exponent| 1 << exponent).find(enough).map_or(most, |queries| queries.min(most))
}

/// Measures the rate on the way to the rated load and there, and after each of some turnovers.
fn measure(case: Case, turnovers: u32) {
    let _announced = Announced(case);
    let rated = Shape::of(case.build().parameters()).rated_load_factor();
    let mut population = Population::new(case);
    for share in [0.25, 0.5, 0.75] {
        population.fill_to(share * rated);
        population.assert_rate(1 << 18, "on the way");
    }
    population.fill_to(rated);
    // The rate grows with b: so many queries find equally many false positives for every b.
    let most_queries = (1 << 24) / u64::from(case.slots_per_bucket);
    let queries = queries_for(&population, most_queries);
    population.assert_rate(queries, "at the rated load");
    population.assert_nothing_is_lost();

    for turnover in 1..=turnovers {
        population.turn_over();
        population.assert_nothing_is_lost();
        population.assert_rate(queries_for(&population, 1 << 18), &format!("turnover {turnover}"));
    }
    if turnovers > 0 {
        let queries = queries_for(&population, most_queries / 2);
        population.assert_rate(queries, "after the turnovers");
    }
}

macro_rules! the_rate_is_that_of_theory_and_does_not_drift {
    ($($name:ident: $layout:ident, $addressing:ident, $slots_per_bucket:literal, $fingerprint_bits:expr,
       $bucket_count:expr, $turnovers:literal turnovers;)*) => {
        mod the_rate_is_that_of_theory_and_does_not_drift {
            use super::*;

            $(
                #[test]
                fn $name() {
                    for fingerprint_bits in $fingerprint_bits {
                        measure(
                            Case {
                                layout: Layout::$layout,
                                addressing: Addressing::$addressing,
                                slots_per_bucket: $slots_per_bucket,
                                fingerprint_bits,
                                bucket_count: $bucket_count,
                                seed: fingerprint_bits.into(),
                            },
                            $turnovers,
                        );
                    }
                }
            )*
        }
    };
}

the_rate_is_that_of_theory_and_does_not_drift! {
    buckets_of_1: Packed, Regional, 1, 8..=16, 1 << 15, 10 turnovers;
    buckets_of_2: Packed, Regional, 2, 8..=16, 1 << 15, 10 turnovers;
    buckets_of_3: Packed, Regional, 3, [6, 9, 12, 16], 1 << 13, 10 turnovers;
    buckets_of_4: Packed, Regional, 4, 4..=16, 1 << 13, 10 turnovers;
    buckets_of_8: Packed, Regional, 8, 4..=16, 1 << 12, 10 turnovers;
    power_of_two_buckets_of_1: Packed, PowerOfTwo, 1, [8, 12], 1 << 15, 10 turnovers;
    power_of_two_buckets_of_2: Packed, PowerOfTwo, 2, [8, 13], 1 << 15, 10 turnovers;
    power_of_two_buckets_of_4: Packed, PowerOfTwo, 4, [4, 7, 12], 1 << 13, 10 turnovers;
    power_of_two_buckets_of_8: Packed, PowerOfTwo, 8, [4, 9, 13], 1 << 12, 10 turnovers;
    several_regions: Packed, Regional, 2, [8, 14], 70_000, 10 turnovers;
    semi_sorted_buckets: SemiSorted, Regional, 4, 5..=16, 1 << 13, 0 turnovers;
    semi_sorted_buckets_turned_over: SemiSorted, Regional, 4, [9], 1 << 13, 10 turnovers;
    semi_sorted_power_of_two_buckets: SemiSorted, PowerOfTwo, 4, [6, 13], 1 << 13, 1 turnovers;
    three_buckets_of_1: Packed, Ternary, 1, 9..=14, 19_683, 0 turnovers;
    three_buckets_of_1_turned_over: Packed, Ternary, 1, [10], 19_683, 10 turnovers;
    three_buckets_of_2: Packed, Ternary, 2, [9, 12], 19_683, 0 turnovers;
    four_buckets_of_1: Packed, Quaternary, 1, 9..=14, 16_384, 0 turnovers;
    four_buckets_of_1_turned_over: Packed, Quaternary, 1, [10], 16_384, 10 turnovers;
    four_buckets_of_2: Packed, Quaternary, 2, [9, 12], 16_384, 0 turnovers;
}

#[test]
fn stored_fingerprints_are_uniform_from_1_to_the_greatest() {
    for (addressing, fingerprint_bits) in
        [2, 3, 5, 8, 11, 13].into_iter().flat_map(|f| [(Addressing::Regional, f), (Addressing::PowerOfTwo, f)])
    {
        // Half full: no class of 2-bit fingerprints is full, which would show as a lack of the commoner ones.
        let case = Case {
            layout: Layout::Packed,
            addressing,
            slots_per_bucket: 8,
            fingerprint_bits,
            bucket_count: 1 << 14,
            seed: 5,
        };
        let mut population = Population::new(case);
        population.fill_to(0.5);
        assert_eq!(population.refused, 0, "{case}");

        let mut counts = BTreeMap::new();
        for stored in population.filter.fingerprints() {
            *counts.entry(stored.fingerprint).or_insert(0) += 1;
        }
        let greatest = (1 << fingerprint_bits) - 1;
        let beyond = counts.keys().find(|fingerprint| !(1..=greatest).contains(*fingerprint));
        assert_eq!(beyond, None, "{case}: a fingerprint out of range");
        let expected = population.filter.len() as f64 / greatest as f64;
        let cells = (1..=greatest).map(|fingerprint| (counts.get(&fingerprint).copied().unwrap_or(0), expected));
        assert_spread(cells, &format!("{case}: fingerprints"));
    }
}

/// That is: fingerprint and primary bucket are uniform and independent, and the classes share out all pairs of a
/// bucket and a fingerprint among themselves, as many pairs to a class as it has different candidates.
#[test]
fn keys_spread_evenly_over_all_classes() {
    for (layout, addressing, slots_per_bucket, bucket_count, fingerprint_bits) in [
        (Layout::Packed, Addressing::Regional, 1, 16, 4),
        (Layout::Packed, Addressing::Regional, 1, 15, 4),
        (Layout::Packed, Addressing::Regional, 1, 6, 7),
        (Layout::Packed, Addressing::Regional, 1, 101, 3),
        (Layout::Packed, Addressing::PowerOfTwo, 1, 16, 4),
        (Layout::Packed, Addressing::PowerOfTwo, 1, 2, 8),
        (Layout::Packed, Addressing::Ternary, 1, 27, 4),
        (Layout::Packed, Addressing::Ternary, 1, 18, 5),
        (Layout::Packed, Addressing::Quaternary, 1, 16, 5),
        (Layout::Packed, Addressing::Quaternary, 1, 64, 3),
        (Layout::SemiSorted, Addressing::Regional, 4, 15, 5),
    ] {
        let case = Case { layout, addressing, slots_per_bucket, fingerprint_bits, bucket_count, seed: 11 };
        let filter = case.build();
        let mut prober = Prober::for_filters_like(&filter);
        let mut counts: BTreeMap<Class, u64> = BTreeMap::new();
        let keys = 60_000_u64;
        for key in 0..keys {
            *counts.entry(prober.class_of(filter.hasher().digest(&key))).or_insert(0) += 1;
        }

        let pairs = bucket_count * ((1 << fingerprint_bits) - 1);
        let taken: u64 = counts.keys().map(|class| class.bucket_count() as u64).sum();
        assert_eq!(taken, pairs, "{case}: each bucket and fingerprint is in one class");
        let expected = |class: &Class| keys as f64 * class.bucket_count() as f64 / pairs as f64;
        assert_spread(counts.iter().map(|(class, &count)| (count, expected(class))), &format!("{case}: classes"));
    }
}

#[test]
fn keys_spread_evenly_over_regions() {
    let case = Case {
        layout: Layout::Packed,
        addressing: Addressing::Regional,
        slots_per_bucket: 2,
        fingerprint_bits: 12,
        bucket_count: 1_000_003,
        seed: 3,
    };
    let mut population = Population::new(case);
    population.fill_to(0.5);
    let parameters = population.filter.parameters();
    let mut counts = BTreeMap::new();
    for stored in population.filter.fingerprints() {
        *counts.entry(stored.bucket / (parameters.bucket_count() / parameters.region_count())).or_insert(0) += 1;
    }
    let expected = population.filter.len() as f64 / parameters.region_count() as f64;
    let cells = (0..parameters.region_count()).map(|region| (counts.get(&region).copied().unwrap_or(0), expected));
    assert_spread(cells, &format!("{case}: regions"));
}
