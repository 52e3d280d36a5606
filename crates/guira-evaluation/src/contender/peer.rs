//! Filters of other people, each by its own interface, with the fast hash that its documentation names or uses, and the
//! parameters that it calls good defaults.

use ahash::AHasher;
use foldhash::fast::FixedState;
use guira::{CuckooFilter, Preference};
use xorf::Filter as _;

use super::{Contender, Full, Removing};
use crate::keys::Hash;

/// The rate asked of filters that let one choose it.
pub(crate) const RATE: f64 = 0.002;

/// A filter that is available today.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    /// The version pinned in `Cargo.toml`.
    pub(crate) version: &'static str,
    /// The usual name of this kind of filter.
    pub(crate) kind: &'static str,
    pub(crate) cannot: &'static str,
    pub(crate) making: Making,
}

/// A peer, or why there is none.
pub(crate) type Made = Result<Box<dyn Contender>, String>;

/// How the filter gets its keys.
pub(crate) enum Making {
    /// Made for a number of keys, which are inserted one by one.
    Empty(fn(usize) -> Made),
    /// Built from all keys at once; it does not change afterwards.
    Of(fn(&[u64]) -> Made),
}

impl Peer {
    pub(crate) const ALL: [Self; 10] = [
        Self {
            name: "guira, for speed",
            version: env!("CARGO_PKG_VERSION"),
            kind: "cuckoo filter",
            cannot: "list its keys",
            making: Making::Empty(|capacity| library(capacity, Preference::Speed)),
        },
        Self {
            name: "guira, for space",
            version: env!("CARGO_PKG_VERSION"),
            kind: "cuckoo filter",
            cannot: "list its keys",
            making: Making::Empty(|capacity| library(capacity, Preference::Space)),
        },
        Self {
            name: "cuckoofilter",
            version: "0.5.0",
            kind: "cuckoo filter",
            cannot: "have another rate than that of 8 bits, or a size that is no power of two; loses a key when it is full",
            // The capacity asked for is its number of slots, rounded up to a power of two.
            making: Making::Empty(|capacity| {
                Ok(Box::new(EightBits(cuckoofilter::CuckooFilter::with_capacity(capacity + capacity / 16))))
            }),
        },
        Self {
            name: "scalable_cuckoo_filter",
            version: "0.5.1",
            kind: "cuckoo filters, chained",
            cannot: "stay at its size: it chains a second filter; may remove another key after that",
            making: Making::Empty(|capacity| {
                let builder = scalable_cuckoo_filter::ScalableCuckooFilterBuilder::new().hasher(AHasher::default());
                let builder = builder.initial_capacity(capacity).false_positive_probability(RATE);
                Ok(Box::new(Scalable(builder.finish())))
            }),
        },
        Self {
            name: "autoscale_cuckoo_filter",
            version: "0.5.27",
            kind: "cuckoo filters, chained",
            cannot: "stay at its size: it chains a second filter; may remove another key after that",
            making: Making::Empty(|capacity| {
                Ok(Box::new(Autoscale(autoscale_cuckoo_filter::CuckooFilter::new(capacity, RATE))))
            }),
        },
        Self {
            name: "atomic-cuckoo-filter",
            version: "0.3.0",
            kind: "cuckoo filter for threads",
            cannot: "have another rate than that of 16 bits here, or a size that is no power of two",
            making: Making::Empty(|capacity| {
                let builder = atomic_cuckoo_filter::CuckooFilterBuilder::<AHasher>::default();
                let filter = builder.capacity(capacity + capacity / 16).build().map_err(|error| error.to_string())?;
                Ok(Box::new(Atomic(filter)))
            }),
        },
        Self {
            name: "qfilter",
            version: "0.3.1",
            kind: "quotient filter",
            cannot: "have a size that is no power of two, or stay as fast when it fills",
            making: Making::Empty(|capacity| {
                let filter = qfilter::Filter::new(capacity as u64, RATE).map_err(|error| format!("{error:?}"))?;
                Ok(Box::new(Quotient(filter)))
            }),
        },
        Self {
            name: "fastbloom",
            version: "0.17.0",
            kind: "Bloom filter",
            cannot: "remove keys",
            making: Making::Empty(|capacity| {
                Ok(Box::new(FastBloom(
                    fastbloom::BloomFilter::with_false_pos(RATE)
                        .hasher(FixedState::with_seed(1))
                        .expected_items(capacity),
                )))
            }),
        },
        Self {
            name: "sbbf-rs-safe",
            version: "0.3.2",
            kind: "blocked Bloom filter",
            cannot: "remove keys, or hash them; bits per key are chosen, 14 here, and not the rate",
            making: Making::Empty(|capacity| {
                Ok(Box::new(SplitBlock(sbbf_rs_safe::Filter::new(14, capacity), Hash::new())))
            }),
        },
        Self {
            name: "xorf, BinaryFuse8",
            version: "0.13.0",
            kind: "static filter",
            cannot: "insert or remove keys: it is made of all of them at once; no other rate than that of 8 bits",
            making: Making::Of(|keys| Ok(Box::new(Fuse(xorf::BinaryFuse8::try_from(keys).map_err(str::to_owned)?)))),
        },
    ];
}

impl Peer {
    /// The library's filter that grows, which is not one of all.
    pub(crate) const GROWING: Self = Self {
        name: "guira, growing",
        version: env!("CARGO_PKG_VERSION"),
        kind: "cuckoo filter",
        cannot: "list its keys",
        making: Making::Empty(|capacity| {
            let builder = CuckooFilter::builder().capacity(capacity).max_capacity(20 * capacity);
            let filter = builder.false_positive_rate(RATE).build().map_err(|error| error.to_string())?;
            Ok(Box::new(Library(filter)))
        }),
    };
}

/// The library's own plan for the rate that is asked of all filters.
fn library(capacity: usize, preference: Preference) -> Made {
    let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(RATE).preference(preference);
    Ok(Box::new(Library(builder.build().map_err(|error| error.to_string())?)))
}

/// The library as users call it: it hashes by itself, and takes many keys at a time.
struct Library(CuckooFilter);
struct FastBloom(fastbloom::BloomFilter<FixedState>);
struct Quotient(qfilter::Filter);
struct EightBits(cuckoofilter::CuckooFilter<AHasher>);
struct Scalable(scalable_cuckoo_filter::ScalableCuckooFilter<u64, AHasher>);
struct Autoscale(autoscale_cuckoo_filter::CuckooFilter<u64>);
struct Atomic(atomic_cuckoo_filter::CuckooFilter<AHasher>);
struct SplitBlock(sbbf_rs_safe::Filter, Hash);
struct Fuse(xorf::BinaryFuse8);

/// No rate is expected of peers: the measured one is in the table.
macro_rules! contend {
    ($peer:ident, insert: |$filter:ident, $key:ident| $insert:expr, bits: $bits:expr $(, also: { $($also:item)* })?) => {
        contend!($peer, insert: |$filter, $key| $insert, contains: |$filter, $key| $filter.contains(&$key), bits: $bits
            $(, also: { $($also)* })?);
    };
    ($peer:ident, insert: |$filter:ident, $key:ident| $insert:expr, contains: |$asked:ident, $query:ident| $contains:expr,
        bits: $bits:expr $(, also: { $($also:item)* })?) => {
        impl Contender for $peer {
            fn insert_all(&mut self, keys: &[u64]) -> usize {
                let $filter = &mut self.0;
                let is_refused = |&$key: &u64| {
                    let inserted: Result<(), Full> = $insert;
                    inserted.is_err()
                };
                keys.iter().position(is_refused).unwrap_or(keys.len())
            }

            fn count_found(&self, keys: &[u64]) -> u64 {
                let $asked = &self.0;
                keys.iter().map(|&$query| u64::from($contains)).sum()
            }

            fn bits(&self) -> u64 {
                let $filter = &self.0;
                $bits
            }

            fn expected_rate(&self) -> f64 {
                1.0
            }

            $($($also)*)?
        }
    };
}

/// Implements `Removing`.
macro_rules! remove {
    ($peer:ident, |$filter:ident, $key:ident| $remove:expr) => {
        impl Removing for $peer {
            fn len(&self) -> u64 {
                self.0.len() as u64
            }

            fn remove_all(&mut self, keys: &[u64]) -> u64 {
                let $filter = &mut self.0;
                keys.iter().map(|&$key| u64::from($remove)).sum()
            }
        }
    };
}

contend!(Library,
    insert: |filter, key| filter.insert(&key).map_err(|_| Full),
    bits: filter.parameters().slot_count() * u64::from(filter.parameters().bits_per_slot()),
    also: {
        fn as_removing(&mut self) -> Option<&mut dyn Removing> {
            Some(self)
        }

        fn insert_together(&mut self, keys: &[u64]) -> Option<Result<(), Full>> {
            Some(self.0.insert_many(keys).map_err(|_| Full))
        }

        fn count_found_together(&self, keys: &[u64], answers: &mut [bool]) -> Option<u64> {
            self.0.contains_many_into(keys, answers);
            Some(answers.iter().map(|&answer| u64::from(answer)).sum())
        }
    }
);
contend!(FastBloom, insert: |filter, key| { filter.insert(&key); Ok(()) }, bits: filter.num_bits() as u64);
contend!(Quotient,
    insert: |filter, key| filter.insert_duplicated(key).map_err(|_| Full),
    bits: 8 * filter.memory_usage() as u64,
    also: { fn as_removing(&mut self) -> Option<&mut dyn Removing> { Some(self) } }
);
contend!(EightBits,
    insert: |filter, key| filter.add(&key).map_err(|_| Full),
    bits: 8 * filter.memory_usage() as u64,
    also: { fn as_removing(&mut self) -> Option<&mut dyn Removing> { Some(self) } }
);
contend!(Scalable,
    insert: |filter, key| { filter.insert(&key); Ok(()) },
    bits: filter.bits(),
    also: { fn as_removing(&mut self) -> Option<&mut dyn Removing> { Some(self) } }
);
contend!(Autoscale,
    insert: |filter, key| { filter.add(&key); Ok(()) },
    bits: filter.bits(),
    also: {
        fn as_removing(&mut self) -> Option<&mut dyn Removing> {
            Some(self)
        }

        fn count_found_together(&self, keys: &[u64], answers: &mut [bool]) -> Option<u64> {
            self.0.contains_batch_into(keys, answers);
            Some(answers.iter().map(|&answer| u64::from(answer)).sum())
        }
    }
);
contend!(Atomic,
    insert: |filter, key| filter.insert(&key).map_err(|_| Full),
    bits: 8 * filter.to_bytes().len() as u64,
    also: { fn as_removing(&mut self) -> Option<&mut dyn Removing> { Some(self) } }
);
contend!(Fuse, insert: |filter, key| { let _: (&mut xorf::BinaryFuse8, u64) = (filter, key); Err(Full) }, bits: 8 * filter.len() as u64);

impl Contender for SplitBlock {
    fn insert_all(&mut self, keys: &[u64]) -> usize {
        for &key in keys {
            // Returns whether the key was present.
            let _: bool = self.0.insert_hash(self.1.digest(key).get());
        }
        keys.len()
    }

    fn count_found(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.0.contains_hash(self.1.digest(key).get()))).sum()
    }

    fn bits(&self) -> u64 {
        8 * self.0.as_bytes().len() as u64
    }

    fn expected_rate(&self) -> f64 {
        1.0
    }
}

remove!(Library, |filter, key| filter.remove(&key));
remove!(Quotient, |filter, key| filter.remove(key));
remove!(EightBits, |filter, key| filter.delete(&key));
remove!(Scalable, |filter, key| filter.remove(&key));
remove!(Autoscale, |filter, key| filter.remove(&key));
remove!(Atomic, |filter, key| filter.remove(&key));

#[cfg(test)]
mod tests {
    use super::*;

    /// The version of a crate in the manifest.
    fn pinned(name: &str) -> Option<&'static str> {
        let manifest = include_str!("../../Cargo.toml");
        let line =
            manifest.lines().find(|line| line.split_once(" = ").is_some_and(|(crate_name, _)| crate_name == name))?;
        line.split_once("version = \"=")?.1.split_once('"').map(|(version, _)| version)
    }

    #[test]
    fn versions_are_those_that_are_pinned() {
        for peer in Peer::ALL.iter().filter(|peer| !peer.name.starts_with("guira")) {
            let crate_name = peer.name.split(',').next().unwrap_or(peer.name);
            assert_eq!(pinned(crate_name), Some(peer.version), "{crate_name}");
        }
    }
}
