//! Maps against a multimap of the pairs that were accepted and not removed.

use std::collections::HashMap;

use guira::{
    Addressing, BuildError, CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, InsertError, Layout, MapValue,
};

use super::shape::{Announced, ValuedCase, small_tables};
use crate::oracle::arrangement::{Arrangement, Outcome};
use crate::oracle::classes::{Class, Prober};
use crate::oracle::random::SplitMix64;
use crate::oracle::slots::Slots as _;

/// A map, and the model that it must agree with after every step.
struct Checked {
    case: ValuedCase,
    map: CuckooMap<u32>,
    arrangement: Arrangement,
    /// The values of each class, in ascending order.
    values: HashMap<Class, Vec<u32>>,
    present: Vec<(u64, u32)>,
    prober: Prober,
}

impl Checked {
    fn new(case: ValuedCase) -> Self {
        let lookalike = case.without_values().build();
        Self {
            case,
            map: case.map(),
            arrangement: Arrangement::empty_like(&lookalike),
            values: HashMap::new(),
            present: Vec::new(),
            prober: Prober::for_filters_like(&lookalike),
        }
    }

    fn class_of(&mut self, key: u64) -> Class {
        self.prober.class_of(self.map.hasher().digest(&key))
    }

    fn insert(&mut self, key: u64, value: u32) -> bool {
        let class = self.class_of(key);
        let before = self.map.clone();
        let if_full =
            InsertError::Full { len: before.len(), capacity: before.capacity(), slot_count: before.slot_count() };
        let expected = self.arrangement.insert(class);
        let found = Outcome::of(self.map.insert(&key, value), &if_full);
        assert_eq!(found, expected, "{}: insert({key}, {value}) of {class:?}", self.case);
        if expected == Outcome::Stored {
            self.present.push((key, value));
            let values = self.values.entry(class).or_default();
            values.push(value);
            values.sort_unstable();
        } else {
            self.assert_unchanged_since(&before);
        }
        self.look_up(key);
        expected == Outcome::Stored
    }

    fn remove(&mut self, place: usize) {
        let (key, value) = self.present.swap_remove(place);
        let class = self.class_of(key);
        assert!(self.arrangement.remove(class), "the model holds {key}");
        let values = self.values.get_mut(&class).expect("the model holds it");
        values.remove(values.binary_search(&value).expect("the model holds it"));
        assert!(self.map.remove_value(&key, value), "{}: remove({key}, {value}) of {class:?}", self.case);
        self.look_up(key);
    }

    /// Tries to remove a pair that no key of the class has.
    fn remove_absent(&mut self, key: u64, value: u32) {
        let class = self.class_of(key);
        if self.values.get(&class).is_none_or(|values| values.binary_search(&value).is_err()) {
            let before = self.map.clone();
            assert!(!self.map.remove_value(&key, value), "{}: remove({key}, {value}), which is not there", self.case);
            self.assert_unchanged_since(&before);
        }
    }

    fn look_up(&mut self, key: u64) {
        let class = self.class_of(key);
        let expected = self.values.get(&class).cloned().unwrap_or_default();
        let digest = self.map.hasher().digest(&key);
        let matches = self.map.get_all(&key);
        assert_eq!(matches.len(), expected.len(), "{}: len of get({key})", self.case);
        for matches in [matches, self.map.get_all(&digest)] {
            let mut found: Vec<u32> = matches.collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{}: get({key}) of {class:?}", self.case);
        }
        assert_eq!(self.map.contains_key(&key), !expected.is_empty(), "{}: contains({key})", self.case);
        assert_eq!(self.map.contains_key(&digest), !expected.is_empty(), "{}: contains_digest({key})", self.case);
        assert_eq!(self.map.len(), self.arrangement.len(), "{}: len", self.case);
        assert_eq!(self.map.is_empty(), self.arrangement.len() == 0, "{}: is_empty", self.case);
    }

    fn assert_unchanged_since(&self, before: &CuckooMap<u32>) {
        assert_eq!(&self.map, before, "{}: a failed operation changed the map", self.case);
        assert_eq!(self.map.to_bytes(), before.to_bytes(), "{}: a failed operation changed the bytes", self.case);
    }

    fn assert_agreement(&mut self) {
        for (key, _) in self.present.clone() {
            self.look_up(key);
        }
        assert_eq!(self.map.check_invariants(), Ok(()), "{}", self.case);
        let loaded =
            CuckooMap::from_bytes(&self.map.to_bytes()).unwrap_or_else(|error| panic!("{}: {error}", self.case));
        assert_eq!(loaded, self.map, "{}: loaded", self.case);
        assert_eq!(loaded.len(), self.map.len(), "{}: loaded", self.case);
    }
}

fn live_a_life(case: ValuedCase) {
    let _announced = Announced(case);
    let mut random = SplitMix64::new(case.seed());
    let mut checked = Checked::new(case);
    let slots = checked.map.slot_count();
    let greatest = u32::MAX >> (32 - case.value_bits);
    let mut fresh_keys = 0..;
    let mut fresh_key = move || fresh_keys.next().expect("there are 2^64 keys");
    let mut value_seeds = SplitMix64::new(case.seed() + 1);
    let mut any_value = move || match value_seeds.below(4) {
        0 => 0,
        1 => greatest,
        _ => u32::try_from(value_seeds.next() >> 32).expect("32 bits") & greatest,
    };

    let mut refusals = 0;
    while refusals < 5 + slots / 4 {
        refusals += usize::from(!checked.insert(fresh_key(), any_value()));
    }
    checked.assert_agreement();

    for _ in 0..3 * slots {
        let picked = random.below(checked.present.len().max(1));
        match (random.below(8), checked.present.get(picked).copied()) {
            (0..=2, Some(_)) => checked.remove(picked),
            // The same pair again, and another value for the same key.
            (3, Some((key, value))) => drop(checked.insert(key, value)),
            (4, Some((key, _))) => drop(checked.insert(key, any_value())),
            (5, Some((key, _))) => checked.remove_absent(key, any_value()),
            (6, _) => checked.remove_absent(fresh_key(), any_value()),
            _ => drop(checked.insert(fresh_key(), any_value())),
        }
    }
    checked.assert_agreement();

    // As many values as a key can have, and one more.
    let key = fresh_key();
    while checked.insert(key, any_value()) {}
    checked.assert_agreement();

    while !checked.present.is_empty() {
        let place = random.below(checked.present.len());
        checked.remove(place);
    }
    assert_eq!(checked.map, case.map(), "{case}: an emptied map is like a new one");
    for _ in 0..slots {
        checked.insert(fresh_key(), any_value());
    }
    checked.map.clear();
    checked.arrangement.clear();
    assert_eq!(checked.map, case.map(), "{case}: a cleared map is like a new one");
    assert!(checked.map.is_empty() && !checked.map.contains_key(&key), "{case}: cleared");
}

#[test]
fn small_maps_agree_with_a_multimap() {
    small_tables().for_each(live_a_life);
}

/// In a table of several regions that is filled to the first refusal, values have moved along with fingerprints many times.
#[test]
fn every_key_of_a_full_table_has_its_own_value() {
    for (slots_per_bucket, fingerprint_bits, value_bits) in
        [(4, 9, 5), (4, 14, 18), (2, 12, 16), (8, 11, 12), (4, 24, 32), (2, 40, 16)]
    {
        let case = ValuedCase { slots_per_bucket, fingerprint_bits, value_bits, bucket_count: 70_000 };
        let mut map = case.map();
        assert!(map.parameters().region_count() > 1, "{case}");
        let value_of = |key: u32| key.wrapping_mul(0x9e37_79b9) >> (32 - value_bits);
        let keys = (0_u32..).take_while(|key| map.insert(key, value_of(*key)).is_ok()).count();
        assert!(map.load_factor() > 0.85, "{case}: {}", map.load_factor());
        let keys = u32::try_from(keys).expect("fewer than slots");
        for key in 0..keys {
            assert!(map.get_all(&key).any(|value| value == value_of(key)), "{case}: the value of {key} is lost");
        }
        assert_eq!(map.check_invariants(), Ok(()), "{case}");
        for key in 0..keys {
            assert!(map.remove_value(&key, value_of(key)), "{case}: remove({key})");
        }
        assert_eq!(map, case.map(), "{case}: an emptied map is like a new one");
    }
}

#[test]
fn a_value_too_large_is_refused_with_the_numbers_and_nothing_is_stored() {
    let builder = CuckooFilter::builder().capacity(100).fingerprint_bits(12).value_bits(10);
    let mut map: CuckooMap<u16> = builder.for_kind::<CuckooMap<_>>().build().expect("valid");
    assert_eq!(map.insert("ani", 1024), Err(InsertError::ValueTooLarge { value: 1024, value_bits: 10 }));
    assert!(map.is_empty() && !map.contains_key("ani"));
    assert!(!map.remove_value("ani", 1024));
    assert_eq!(map.insert("ani", 1023), Ok(()));
    assert_eq!(map.get_all("ani").collect::<Vec<_>>(), [1023]);
    let text = InsertError::ValueTooLarge { value: 1024, value_bits: 10 }.to_string();
    assert!(text.contains("1024") && text.contains("10 bits"), "{text}");
}

#[test]
fn values_are_of_the_bits_of_their_type_unless_the_builder_is_told() {
    fn bits_of<V: MapValue>() -> Result<u32, BuildError> {
        let builder = CuckooFilter::builder().capacity(100).fingerprint_bits(12);
        builder.for_kind::<CuckooMap<V>>().build().map(|map| map.parameters().value_bits())
    }
    assert_eq!((bits_of::<bool>(), bits_of::<u8>(), bits_of::<u16>()), (Ok(1), Ok(8), Ok(16)));
    assert_eq!(bits_of::<u32>(), Ok(32));
    let with_bits = |bits| CuckooFilter::builder().capacity(100).fingerprint_bits(12).value_bits(bits);
    let build = |bits| with_bits(bits).for_kind::<CuckooMap<u8>>().build();
    assert_eq!(build(0), Err(BuildError::ValueBits { given: 0, fingerprint_bits: 12 }));
    assert_eq!(build(9), Err(BuildError::ValueBitsOfType { given: 9, most: 8 }));
    assert_eq!(
        with_bits(5).for_kind::<CuckooMap<u8>>().parameters().as_ref(),
        Ok(build(5).expect("valid").parameters())
    );
    for fingerprint_bits in 24..=55 {
        let builder = CuckooFilter::builder().bucket_count(5).fingerprint_bits(fingerprint_bits);
        let build = |bits| builder.clone().value_bits(bits).for_kind::<CuckooMap<u32>>().build();
        assert!(build(56 - fingerprint_bits).is_ok(), "f = {fingerprint_bits}");
        assert!(build(57 - fingerprint_bits).is_err(), "f = {fingerprint_bits}");
    }
}

#[test]
fn a_builder_refuses_what_a_kind_does_not_have() {
    let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01);
    assert_eq!(builder.clone().value_bits(8).build(), Err(BuildError::ValueBitsUnused));
    assert_eq!(builder.clone().value_bits(8).for_kind::<CuckooSet>().build(), Err(BuildError::ValueBitsUnused));
    let refused = |layout, addressing| BuildError::ValuesInLayout { layout, addressing };
    let sorted = builder.clone().layout(Layout::SemiSorted);
    assert_eq!(
        sorted.for_kind::<CountingCuckooFilter>().build(),
        Err(refused(Layout::SemiSorted, Addressing::Regional))
    );
    assert_eq!(sorted.for_kind::<CuckooMap<u8>>().build(), Err(refused(Layout::SemiSorted, Addressing::Regional)));
    // Whatever the rate: no higher one would do.
    for addressing in [Addressing::PowerOfTwo, Addressing::Ternary, Addressing::Quaternary] {
        let counting = builder.clone().addressing(addressing).false_positive_rate(1e-17);
        let counting = counting.for_kind::<CountingCuckooFilter>().build();
        assert_eq!(counting, Err(refused(Layout::Packed, addressing)));
    }
    let growing = builder.clone().max_capacity(1000);
    let expected = growing.build().expect("filters grow").max_capacity();
    assert_eq!(growing.for_kind::<CuckooSet>().build().expect("sets grow").max_capacity(), expected);
    assert_eq!(growing.for_kind::<CountingCuckooFilter>().build().expect("counters grow").max_capacity(), expected);
    let map = growing.for_kind::<CuckooMap<u8>>();
    assert_eq!(map.build().expect("maps grow").max_capacity(), expected);
    assert_eq!(map.clone().value_bits(25).build(), Err(BuildError::ValueBitsOfType { given: 25, most: 8 }));
    let counting = map.clone().for_kind::<CountingCuckooFilter>().value_bits(u32::MAX).build();
    assert!(matches!(counting, Err(BuildError::ValueBits { given: u32::MAX, .. })), "{counting:?}");
    // A fingerprint of 33 bits and no doublings beside 32 bits.
    let map = growing.false_positive_rate(1e-9).for_kind::<CuckooMap<u32>>();
    let refused = map.build();
    assert!(matches!(refused, Err(BuildError::RateTooLowWithValues { value_bits: 32, .. })), "{refused:?}");
}

#[test]
fn values_of_every_type_come_back() {
    let mut flags = CuckooMap::<bool>::with_capacity(100, 0.001).expect("valid");
    flags.insert("yes", true).expect("room");
    flags.insert("no", false).expect("room");
    assert!(flags.get_all("yes").any(|flag| flag) && flags.get_all("no").any(|flag| !flag));
    let mut bytes = CuckooMap::<u8>::with_capacity(100, 0.001).expect("valid");
    let mut words = CuckooMap::<u16>::with_capacity(100, 0.01).expect("valid");
    for value in [0, 1, 127, 128, 255] {
        bytes.insert(&value, value).expect("room");
        assert!(bytes.get_all(&value).any(|found| found == value));
    }
    for value in [0, 1, 255, 256, 32_767, 65_535] {
        words.insert(&value, value).expect("room");
        assert!(words.get_all(&value).any(|found| found == value));
    }
}
