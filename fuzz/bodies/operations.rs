//! Sequences of operations, on every kind and every shape, against a plain multiset.
//!
//! The first four bytes choose what is made; each pair after them is an operation and a key.

use std::collections::BTreeMap;

use guira::{CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet, KeyHasher};

use super::oracle::shapes;

/// More would not find more.
const MAX_OPERATIONS: usize = 2000;

pub(crate) fn run(data: &[u8]) {
    let Some((&[what, bits, size, seed], operations)) = data.split_first_chunk() else { return };
    let operations = operations.as_chunks().0;
    let operations = &operations[..operations.len().min(MAX_OPERATIONS)];
    let shapes = shapes::all_shapes();
    let size = 1 + usize::from(size % 16);
    let seed = u64::from(seed);
    let valued_bits = 2 + u32::from(bits % 27);
    match usize::from(what) % (shapes.len() + 4) {
        0 => {
            let builder = CuckooFilter::builder().capacity(size).max_capacity(40 * size).hasher(KeyHasher::xxh3(seed));
            let slots_per_bucket = if bits % 2 == 0 { 4 } else { 8 };
            let builder = builder.slots_per_bucket(slots_per_bucket).false_positive_rate(0.02);
            play(builder.build().expect("measures in range"), operations);
        }
        1 => {
            let set = CuckooSet::with_capacity(8 * size, 0.02 + f64::from(bits % 8) / 20.0);
            play(set.expect("measures in range"), operations);
        }
        2 => {
            let builder = CuckooFilter::builder().bucket_count(size as u64).hasher(KeyHasher::xxh3(seed));
            let builder = builder.fingerprint_bits(valued_bits).value_bits(1 + u32::from(bits % 4));
            play(builder.for_kind::<CountingCuckooFilter>().build().expect("measures in range"), operations);
        }
        3 => {
            let builder = CuckooFilter::builder().bucket_count(size as u64).hasher(KeyHasher::xxh3(seed));
            let builder = builder.fingerprint_bits(valued_bits).value_bits(VALUE_BITS);
            play(builder.for_kind::<CuckooMap<u8>>().build().expect("measures in range"), operations);
        }
        number => {
            let shape = shapes[number - 4];
            let least = shape.least_fingerprint_bits();
            let bucket_count = match shape.addressing {
                guira::Addressing::PowerOfTwo => size.next_power_of_two(),
                guira::Addressing::Ternary => 3_usize.pow(size.ilog(3)),
                guira::Addressing::Quaternary => 4_usize.pow(size.ilog(4)),
                guira::Addressing::Doubling => 2 * size,
                _ => size,
            };
            let builder = CuckooFilter::builder().layout(shape.layout).addressing(shape.addressing);
            let builder = builder.slots_per_bucket(shape.slots_per_bucket).bucket_count(bucket_count as u64);
            let builder =
                builder.fingerprint_bits(least + u32::from(bits) % (33 - least)).hasher(KeyHasher::xxh3(seed));
            play(builder.build().expect("measures in range"), operations);
        }
    }
}

const VALUE_BITS: u32 = 3;

/// What all kinds can do, in their own ways.
trait Kind: Sized + PartialEq + std::fmt::Debug {
    /// Whether a key that comes again is stored again.
    const COPIES: bool = true;

    fn insert(&mut self, key: u8) -> bool;

    fn remove(&mut self, key: u8) -> bool;

    fn count(&self, key: u8) -> u64;

    fn len(&self) -> u64;

    fn clear(&mut self);

    fn file(&self) -> Vec<u8>;

    fn load(file: &[u8]) -> Self;

    fn check(&self) -> Result<(), &'static str>;

    /// What changes no answer for a key that is there.
    fn tidy(&mut self) {}
}

/// What is written alike for all kinds.
macro_rules! alike {
    () => {
        fn clear(&mut self) {
            self.clear();
        }

        fn file(&self) -> Vec<u8> {
            self.to_bytes()
        }

        fn load(file: &[u8]) -> Self {
            Self::from_bytes(file).expect("what was saved")
        }

        fn check(&self) -> Result<(), &'static str> {
            self.check_invariants()
        }
    };
}

impl Kind for CuckooFilter {
    fn insert(&mut self, key: u8) -> bool {
        self.insert(&key).is_ok()
    }

    fn remove(&mut self, key: u8) -> bool {
        self.remove(&key)
    }

    fn count(&self, key: u8) -> u64 {
        self.count(&key) as u64
    }

    fn len(&self) -> u64 {
        self.len() as u64
    }

    alike!();

    fn tidy(&mut self) {
        let file = self.to_bytes();
        let view = CuckooFilterView::new(&file).expect("what was saved");
        assert!(view.verify().is_ok(), "{self:?}");
        for key in 0..=u8::MAX {
            assert_eq!((view.contains(&key), view.count(&key)), (self.contains(&key), self.count(&key)), "{self:?}");
        }
        self.shrink_to_fit();
    }
}

impl Kind for CuckooSet {
    const COPIES: bool = false;

    fn insert(&mut self, key: u8) -> bool {
        self.insert(&key).is_ok()
    }

    /// There is no removal.
    fn remove(&mut self, _key: u8) -> bool {
        false
    }

    fn count(&self, key: u8) -> u64 {
        u64::from(self.contains(&key))
    }

    fn len(&self) -> u64 {
        self.len() as u64
    }

    alike!();
}

impl Kind for CountingCuckooFilter {
    fn insert(&mut self, key: u8) -> bool {
        self.insert(&key).is_ok()
    }

    fn remove(&mut self, key: u8) -> bool {
        self.remove(&key)
    }

    fn count(&self, key: u8) -> u64 {
        self.count(&key)
    }

    fn len(&self) -> u64 {
        self.total()
    }

    alike!();
}

/// The value that a key has in a map.
fn value_of(key: u8) -> u8 {
    key & ((1 << VALUE_BITS) - 1)
}

impl Kind for CuckooMap<u8> {
    fn insert(&mut self, key: u8) -> bool {
        self.insert(&key, value_of(key)).is_ok()
    }

    fn remove(&mut self, key: u8) -> bool {
        self.remove_value(&key, value_of(key))
    }

    fn count(&self, key: u8) -> u64 {
        self.get_all(&key).filter(|&value| value == value_of(key)).count() as u64
    }

    fn len(&self) -> u64 {
        self.len() as u64
    }

    alike!();
}

fn play<K: Kind>(mut filter: K, operations: &[[u8; 2]]) {
    // How often each key was accepted and not removed.
    let mut model: BTreeMap<u8, u64> = BTreeMap::new();
    for &[operation, key] in operations {
        match operation % 16 {
            0..8 => {
                let before = filter.file();
                if filter.insert(key) {
                    let count = model.entry(key).or_default();
                    *count = if K::COPIES { *count + 1 } else { 1 };
                } else {
                    assert!(filter.file() == before, "{filter:?}: a refused insertion of {key} changed it");
                }
            }
            8..12 => {
                // Only what was inserted, or what is certainly not there.
                let present = K::COPIES && model.get(&key).is_some_and(|&count| count > 0);
                if present || filter.count(key) == 0 {
                    let before = filter.file();
                    assert_eq!(filter.remove(key), present, "{filter:?}: {key}");
                    assert!(
                        present || filter.file() == before,
                        "{filter:?}: removing {key}, which is absent, changed it"
                    );
                    model.entry(key).and_modify(|count| *count -= u64::from(present));
                }
            }
            12..14 => filter.tidy(),
            14 => {
                let loaded = K::load(&filter.file());
                assert_eq!(loaded, filter);
                filter = loaded;
            }
            _ if key < 32 => {
                filter.clear();
                model.clear();
            }
            _ => {}
        }
        let expected = model.get(&key).copied().unwrap_or(0);
        assert!(filter.count(key) >= expected, "{filter:?}: {expected} of {key}, {}", filter.count(key));
    }
    for (&key, &expected) in &model {
        assert!(filter.count(key) >= expected, "{filter:?}: {expected} of {key}, {}", filter.count(key));
    }
    let total: u64 = model.values().sum();
    assert!(filter.len() == total || (!K::COPIES && filter.len() < total), "{filter:?}: {total} were stored");
    assert_eq!(filter.check(), Ok(()), "{filter:?}");
}
