//! Every filter against a plain model: a multiset of the keys that were accepted and not removed, and an arrangement
//! of their classes that says what must be refused.
//!
//! The classes (fingerprint and candidate buckets) are learnt from outside, so the model is exact: it knows how many
//! copies `count` must find, also of absent keys, and which insertions must fail and why.

use std::collections::HashMap;

use guira::{Addressing, CuckooFilter, InsertError, Layout};
use proptest::prelude::*;

use crate::oracle::arrangement::{Arrangement, Outcome};
use crate::oracle::case::{Announced, Case};
use crate::oracle::classes::{Class, Prober};
use crate::oracle::random::SplitMix64;
use crate::oracle::shapes::Shape;
use crate::oracle::slots::Slots as _;

/// A filter, and the model that it must agree with after every step.
struct Checked {
    case: Case,
    filter: CuckooFilter,
    arrangement: Arrangement,
    /// The keys that were accepted and not removed, one entry per copy.
    present: Vec<u64>,
    prober: Prober,
}

impl Checked {
    fn new(case: Case) -> Self {
        let filter = case.build();
        Self {
            case,
            arrangement: Arrangement::empty_like(&filter),
            present: Vec::new(),
            prober: Prober::for_filters_like(&filter),
            filter,
        }
    }

    fn class_of(&mut self, key: u64) -> Class {
        self.prober.class_of(self.filter.hasher().digest(&key))
    }

    /// Inserts a copy; whether it was stored.
    fn insert(&mut self, key: u64) -> bool {
        let class = self.class_of(key);
        let before = self.filter.clone();
        let expected = self.arrangement.insert(class);
        let found = Outcome::of(self.filter.insert(&key), &if_full(&before));
        assert_eq!(found, expected, "{}: insert({key}) of {class:?}", self.case);
        if expected == Outcome::Stored {
            self.present.push(key);
        } else {
            self.assert_unchanged_since(&before);
        }
        self.look_up(key);
        expected == Outcome::Stored
    }

    /// Inserts a key unless it is found; by the digest, as `insert` does by the key.
    fn insert_if_absent(&mut self, key: u64) {
        let class = self.class_of(key);
        let before = self.filter.clone();
        let result = self.filter.insert_if_absent(&self.filter.hasher().digest(&key));
        if self.arrangement.copies_of(class) > 0 {
            assert_eq!(result, Ok(false), "{}: insert_if_absent({key}) of {class:?}", self.case);
            self.assert_unchanged_since(&before);
        } else {
            let expected = self.arrangement.insert(class);
            let found = Outcome::of(
                result.map(|stored| assert!(stored, "{}: insert_if_absent({key}) of {class:?}", self.case)),
                &if_full(&before),
            );
            assert_eq!(found, expected, "{}: insert_if_absent({key}) of {class:?}", self.case);
            if expected == Outcome::Stored {
                self.present.push(key);
            } else {
                self.assert_unchanged_since(&before);
            }
        }
        self.look_up(key);
    }

    /// Removes the copy at this place of `present`.
    fn remove(&mut self, place: usize) {
        let key = self.present.swap_remove(place);
        let class = self.class_of(key);
        assert!(self.arrangement.remove(class), "the model holds {key}");
        assert!(self.filter.remove(&key), "{}: remove({key}) of {class:?}", self.case);
        self.look_up(key);
    }

    /// Tries to remove a key that was not inserted, where it is not taken for another.
    fn remove_absent(&mut self, key: u64) {
        let class = self.class_of(key);
        if self.arrangement.copies_of(class) == 0 {
            let before = self.filter.clone();
            let removed = self.filter.remove(&self.filter.hasher().digest(&key));
            assert!(!removed, "{}: remove({key}) of {class:?}, which is not there", self.case);
            self.assert_unchanged_since(&before);
        }
    }

    fn look_up(&mut self, key: u64) {
        let class = self.class_of(key);
        let copies = self.arrangement.copies_of(class);
        assert_eq!(self.filter.count(&key), copies, "{}: count({key}) of {class:?}", self.case);
        assert_eq!(self.filter.contains(&key), copies > 0, "{}: contains({key}) of {class:?}", self.case);
        let digest = self.filter.hasher().digest(&key);
        assert_eq!(self.filter.count(&digest), copies, "{}: count_digest of {key}", self.case);
        assert_eq!(self.filter.contains(&digest), copies > 0, "{}: contains_digest of {key}", self.case);
        assert_eq!(self.filter.len(), self.arrangement.len(), "{}: len", self.case);
        assert_eq!(self.filter.is_empty(), self.arrangement.len() == 0, "{}: is_empty", self.case);
    }

    fn clear(&mut self) {
        self.filter.clear();
        self.arrangement.clear();
        self.present.clear();
        self.assert_like_new();
    }

    fn assert_unchanged_since(&self, before: &CuckooFilter) {
        assert_eq!(&self.filter, before, "{}: a failed operation changed the filter", self.case);
        assert!(
            self.filter.fingerprints().eq(before.fingerprints()),
            "{}: a failed operation changed the fingerprints",
            self.case
        );
        assert_eq!(self.filter.to_bytes(), before.to_bytes(), "{}: a failed operation changed the bytes", self.case);
    }

    fn assert_like_new(&self) {
        assert_eq!(self.filter.fingerprints().next(), None, "{}: fingerprints in an empty filter", self.case);
        assert!(self.filter.is_empty(), "{}: len of an empty filter", self.case);
        assert_eq!(self.filter, self.case.build(), "{}: an emptied filter is like a new one", self.case);
        self.assert_invariants();
    }

    fn assert_invariants(&self) {
        assert_eq!(self.filter.check_invariants(), Ok(()), "{}", self.case);
    }

    /// Checks all there is: every present key, every stored fingerprint, every bit.
    fn assert_agreement(&mut self) {
        let mut copies: HashMap<u64, usize> = HashMap::new();
        for &key in &self.present {
            *copies.entry(key).or_insert(0) += 1;
        }
        for (&key, &copies) in &copies {
            assert!(self.filter.contains(&key), "{}: {key} is lost", self.case);
            assert!(self.filter.count(&key) >= copies, "{}: a copy of {key} is lost", self.case);
            self.look_up(key);
        }
        assert_eq!(self.filter.len(), self.present.len(), "{}: len", self.case);
        assert_eq!(self.filter.fingerprints().len(), self.present.len(), "{}: len of the iterator", self.case);
        self.arrangement.assert_held_by(&self.filter);
        self.assert_invariants();
    }
}

fn if_full(filter: &CuckooFilter) -> InsertError {
    InsertError::Full { len: filter.len(), capacity: filter.capacity(), slot_count: filter.slot_count() }
}

/// Fills a small table and goes on when it is full, turns its keys over, stores copies, empties it, and clears it.
fn live_a_life(case: Case) {
    let _announced = Announced(case);
    let mut random = SplitMix64::new(case.seed);
    let mut checked = Checked::new(case);
    let slots = checked.filter.slot_count();
    let mut fresh_keys = 0..;
    let mut fresh_key = move || fresh_keys.next().expect("there are 2^64 keys");

    // To the full table, and beyond.
    let mut refusals = 0;
    while refusals < 10 + slots / 4 {
        refusals += usize::from(!checked.insert(fresh_key()));
    }
    checked.assert_agreement();

    // A turnover, with keys that are inserted again, looked for and not found, and removed without being there.
    for _ in 0..3 * slots {
        let picked = random.below(checked.present.len().max(1));
        let present = checked.present.get(picked).copied();
        match (random.below(8), present) {
            (0..=2, Some(_)) => checked.remove(picked),
            (3, Some(key)) => drop(checked.insert(key)),
            (4, Some(key)) => checked.insert_if_absent(key),
            (5, _) => checked.insert_if_absent(fresh_key()),
            (6, _) => checked.remove_absent(fresh_key()),
            _ => drop(checked.insert(fresh_key())),
        }
    }
    checked.assert_agreement();

    // As many copies as fit, and one more, in a filter that has room and in one that has none.
    for _ in 0..4 {
        let key = fresh_key();
        while checked.insert(key) {}
        for _ in 0..slots / 4 {
            if !checked.present.is_empty() {
                let place = random.below(checked.present.len());
                checked.remove(place);
            }
        }
        checked.assert_agreement();
    }

    // To the empty table.
    while !checked.present.is_empty() {
        let place = random.below(checked.present.len());
        checked.remove(place);
    }
    checked.assert_like_new();

    // And once more, from the empty table.
    for _ in 0..slots {
        checked.insert(fresh_key());
    }
    checked.assert_agreement();
    checked.clear();
    checked.insert(fresh_key());
    checked.assert_agreement();
}

/// The sizes of small tables. One bucket is the only candidate of all keys; odd sizes have a bucket that is its own
/// alternate for each fingerprint. With powers of 3 and 4, other numbers make several regions.
const fn small_sizes(addressing: Addressing) -> &'static [u64] {
    match addressing {
        Addressing::PowerOfTwo => &[1, 2, 4, 8, 32, 128],
        Addressing::Ternary => &[1, 2, 3, 5, 9, 27, 40, 81, 130],
        Addressing::Quaternary => &[1, 2, 4, 7, 16, 40, 64, 130],
        _ => &[1, 2, 3, 4, 5, 7, 16, 33, 75, 130],
    }
}

/// Fills a large table to the first refusal, turns half of its keys over, and empties it. Every key must be found at
/// every stage; which fingerprints are stored is left to the small tables.
fn live_in_large_table(case: Case) {
    let _announced = Announced(case);
    let mut filter = case.build();
    let region_count = match case.addressing {
        Addressing::PowerOfTwo => 1,
        Addressing::Ternary => case.bucket_count.div_ceil(59_049),
        Addressing::Regional if case.slots_per_bucket == 1 => 1,
        _ => case.bucket_count.div_ceil(65_536),
    };
    assert_eq!(filter.parameters().region_count(), region_count, "{case}: regions");

    let mut keys = Vec::new();
    let mut fresh_keys = 0_u64..;
    let mut fill = |filter: &mut CuckooFilter, keys: &mut Vec<u64>, most: usize| {
        for key in fresh_keys.by_ref() {
            if keys.len() == most || filter.insert(&key).is_err() {
                break;
            }
            keys.push(key);
        }
    };
    fill(&mut filter, &mut keys, usize::MAX);
    let most = keys.len();
    let indices_per_region = filter.parameters().bucket_count() / filter.parameters().region_count();
    let mut used: Vec<u64> = filter.fingerprints().map(|stored| stored.bucket / indices_per_region).collect();
    used.dedup();
    assert!(used.into_iter().eq(0..region_count), "{case}: every region is used");
    assert_holds(&filter, &keys, case);

    for key in keys.drain(..most / 2) {
        assert!(filter.remove(&key), "{case}: remove({key})");
    }
    fill(&mut filter, &mut keys, most - most / 20);
    assert_holds(&filter, &keys, case);

    for key in keys.drain(..) {
        assert!(filter.remove(&key), "{case}: remove({key})");
    }
    assert_eq!(filter.fingerprints().next(), None, "{case}: fingerprints are left");
    assert_eq!(filter, case.build(), "{case}: an emptied filter is like a new one");
}

fn assert_holds(filter: &CuckooFilter, keys: &[u64], case: Case) {
    for key in keys {
        assert!(filter.contains(key), "{case}: {key} is lost");
    }
    assert_eq!(filter.len(), keys.len(), "{case}: len");
    assert_eq!(filter.fingerprints().len(), keys.len(), "{case}: len of the iterator");
    assert_eq!(filter.fingerprints().count(), keys.len(), "{case}: fingerprints");
    assert_eq!(filter.check_invariants(), Ok(()), "{case}");
}

/// The fingerprint lengths of a layout.
fn all_fingerprint_bits(layout: Layout, addressing: Addressing) -> impl Iterator<Item = u32> {
    Shape { layout, addressing, slots_per_bucket: 4 }.fingerprint_lengths()
}

/// One in so many sizes, beginning with another for each length, so that every length and every size has its turn.
fn sizes_for(fingerprint_bits: u32, addressing: Addressing, one_in: usize) -> impl Iterator<Item = u64> {
    let first = fingerprint_bits as usize % one_in;
    small_sizes(addressing).iter().skip(first).step_by(one_in).copied()
}

macro_rules! small_tables_agree_with_the_model {
    ($($name:ident: $layout:ident, $addressing:ident, $slots_per_bucket:literal, one size in $step:literal;)*) => {
        mod small_tables_agree_with_the_model {
            use super::*;

            $(
                #[test]
                fn $name() {
                    for fingerprint_bits in all_fingerprint_bits(Layout::$layout, Addressing::$addressing) {
                        for bucket_count in sizes_for(fingerprint_bits, Addressing::$addressing, $step) {
                            live_a_life(Case {
                                layout: Layout::$layout,
                                addressing: Addressing::$addressing,
                                slots_per_bucket: $slots_per_bucket,
                                fingerprint_bits,
                                bucket_count,
                                seed: u64::from(fingerprint_bits) << 32 | bucket_count,
                            });
                        }
                    }
                }
            )*
        }
    };
}

small_tables_agree_with_the_model! {
    regional_buckets_of_1: Packed, Regional, 1, one size in 1;
    regional_buckets_of_2: Packed, Regional, 2, one size in 1;
    regional_buckets_of_3: Packed, Regional, 3, one size in 1;
    regional_buckets_of_4: Packed, Regional, 4, one size in 1;
    regional_buckets_of_8: Packed, Regional, 8, one size in 1;
    power_of_two_buckets_of_1: Packed, PowerOfTwo, 1, one size in 1;
    power_of_two_buckets_of_2: Packed, PowerOfTwo, 2, one size in 1;
    power_of_two_buckets_of_3: Packed, PowerOfTwo, 3, one size in 2;
    power_of_two_buckets_of_4: Packed, PowerOfTwo, 4, one size in 1;
    power_of_two_buckets_of_8: Packed, PowerOfTwo, 8, one size in 1;
    ternary_buckets_of_1: Packed, Ternary, 1, one size in 1;
    ternary_buckets_of_2: Packed, Ternary, 2, one size in 1;
    ternary_buckets_of_3: Packed, Ternary, 3, one size in 3;
    ternary_buckets_of_4: Packed, Ternary, 4, one size in 2;
    ternary_buckets_of_8: Packed, Ternary, 8, one size in 3;
    quaternary_buckets_of_1: Packed, Quaternary, 1, one size in 1;
    quaternary_buckets_of_2: Packed, Quaternary, 2, one size in 1;
    quaternary_buckets_of_3: Packed, Quaternary, 3, one size in 3;
    quaternary_buckets_of_4: Packed, Quaternary, 4, one size in 2;
    quaternary_buckets_of_8: Packed, Quaternary, 8, one size in 3;
    doubling_buckets_of_4: Packed, Doubling, 4, one size in 1;
    doubling_buckets_of_8: Packed, Doubling, 8, one size in 2;
    semi_sorted_regional_buckets: SemiSorted, Regional, 4, one size in 1;
    semi_sorted_power_of_two_buckets: SemiSorted, PowerOfTwo, 4, one size in 1;
}

macro_rules! tables_of_two_regions_keep_their_keys {
    ($($name:ident: $layout:ident, $addressing:ident, $slots_per_bucket:literal, $fingerprint_bits:expr;)*) => {
        mod tables_of_two_regions_keep_their_keys {
            use super::*;

            $(
                #[test]
                fn $name() {
                    for fingerprint_bits in $fingerprint_bits {
                        live_in_large_table(Case {
                            layout: Layout::$layout,
                            addressing: Addressing::$addressing,
                            slots_per_bucket: $slots_per_bucket,
                            fingerprint_bits,
                            bucket_count: 65_537,
                            seed: fingerprint_bits.into(),
                        });
                    }
                }
            )*
        }
    };
}

// A region has at most 65,536 buckets, but for b = 1 and two candidates, where it has any number.
tables_of_two_regions_keep_their_keys! {
    buckets_of_1: Packed, Regional, 1, 2..=32;
    buckets_of_2: Packed, Regional, 2, 2..=32;
    buckets_of_3: Packed, Regional, 3, [6, 16, 19, 20, 21, 29];
    buckets_of_4: Packed, Regional, 4, (2..=32).step_by(3);
    buckets_of_8: Packed, Regional, 8, (2..=32).step_by(5);
    ternary_buckets_of_1: Packed, Ternary, 1, (2..=32).step_by(3);
    ternary_buckets_of_2: Packed, Ternary, 2, (3..=32).step_by(7);
    quaternary_buckets_of_1: Packed, Quaternary, 1, (4..=32).step_by(3);
    quaternary_buckets_of_4: Packed, Quaternary, 4, [7, 13, 31];
    doubling_buckets_of_4: Packed, Doubling, 4, [8, 13, 31];
    semi_sorted_buckets: SemiSorted, Regional, 4, (5..=32).step_by(4);
}

#[test]
fn larger_tables_keep_their_keys() {
    for (layout, addressing, slots_per_bucket, fingerprint_bits, bucket_count) in [
        (Layout::Packed, Addressing::Regional, 1, 32, 400_009),
        (Layout::Packed, Addressing::Regional, 2, 13, 400_009),
        (Layout::Packed, Addressing::Regional, 3, 16, 400_009),
        (Layout::Packed, Addressing::Regional, 4, 7, 400_009),
        (Layout::Packed, Addressing::Regional, 8, 5, 200_001),
        (Layout::Packed, Addressing::PowerOfTwo, 1, 12, 1 << 18),
        (Layout::Packed, Addressing::PowerOfTwo, 2, 31, 1 << 18),
        (Layout::Packed, Addressing::PowerOfTwo, 4, 9, 1 << 18),
        (Layout::Packed, Addressing::PowerOfTwo, 8, 3, 1 << 17),
        (Layout::Packed, Addressing::Ternary, 1, 11, 400_009),
        (Layout::Packed, Addressing::Quaternary, 2, 9, 200_001),
        (Layout::Packed, Addressing::Doubling, 4, 10, 200_001),
        (Layout::SemiSorted, Addressing::Regional, 4, 13, 200_001),
        (Layout::SemiSorted, Addressing::PowerOfTwo, 4, 16, 1 << 17),
    ] {
        live_in_large_table(Case {
            layout,
            addressing,
            slots_per_bucket,
            fingerprint_bits,
            bucket_count,
            seed: bucket_count,
        });
    }
}

/// What a user may do. Keys are few, so that copies and shared classes are common.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Insert(u8),
    InsertUnique(u8),
    /// Removes a present copy: the one at this place, modulo their number.
    Remove(u8),
    RemoveAbsent(u8),
    LookUp(u8),
    Clear,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => any::<u8>().prop_map(Operation::Insert),
        2 => any::<u8>().prop_map(Operation::InsertUnique),
        4 => any::<u8>().prop_map(Operation::Remove),
        1 => any::<u8>().prop_map(Operation::RemoveAbsent),
        1 => any::<u8>().prop_map(Operation::LookUp),
        1 => Just(Operation::Clear),
    ]
}

fn small_case() -> impl Strategy<Value = Case> {
    let packed_slots = || proptest::sample::select(&[1u32, 2, 4, 8][..]);
    let power_of_two = || (0..=5_u32).prop_map(|exponent| 1 << exponent);
    let case = prop_oneof![
        (Just((Layout::Packed, Addressing::Regional)), packed_slots(), 1..=24_u64),
        (Just((Layout::Packed, Addressing::PowerOfTwo)), packed_slots(), power_of_two()),
        (Just((Layout::Packed, Addressing::Ternary)), packed_slots(), 1..=30_u64),
        (Just((Layout::Packed, Addressing::Quaternary)), packed_slots(), 1..=20_u64),
        (Just((Layout::Packed, Addressing::Doubling)), prop_oneof![Just(4), Just(8)], 1..=24_u64),
        (Just((Layout::SemiSorted, Addressing::Regional)), Just(4), 1..=24_u64),
        (Just((Layout::SemiSorted, Addressing::PowerOfTwo)), Just(4), power_of_two()),
    ];
    (case, any::<proptest::sample::Index>(), any::<u64>()).prop_map(
        |(((layout, addressing), slots_per_bucket, bucket_count), bits, seed)| {
            let lengths: Vec<u32> = all_fingerprint_bits(layout, addressing).collect();
            Case { layout, addressing, slots_per_bucket, fingerprint_bits: *bits.get(&lengths), bucket_count, seed }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(700))]

    #[test]
    fn any_operations_agree_with_the_model(
        case in small_case(),
        operations in proptest::collection::vec(operation(), 0..400),
    ) {
        let mut checked = Checked::new(case);
        for operation in operations {
            match operation {
                Operation::Insert(key) => drop(checked.insert(key.into())),
                Operation::InsertUnique(key) => checked.insert_if_absent(key.into()),
                Operation::Remove(place) if !checked.present.is_empty() => {
                    checked.remove(usize::from(place) % checked.present.len());
                }
                Operation::RemoveAbsent(key) => checked.remove_absent(key.into()),
                Operation::Remove(key) | Operation::LookUp(key) => checked.look_up(key.into()),
                Operation::Clear => checked.clear(),
            }
        }
        checked.assert_agreement();
    }
}
