//! Which keys a filter can't tell apart, learnt from outside.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use guira::{CuckooFilter, Digest, InsertError};

/// The most candidate buckets that a key can have.
const MAX_CANDIDATES: usize = 4;

/// What a filter knows of a key: its fingerprint and its candidate buckets, some of which may be one and the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Class {
    pub(crate) fingerprint: u64,
    /// In ascending order; where they are fewer, the last one fills up the rest.
    buckets: [u64; MAX_CANDIDATES],
}

impl Class {
    /// The class with these candidate buckets, in any order and as often as it may be.
    pub(crate) fn new(fingerprint: u64, buckets: impl IntoIterator<Item = u64>) -> Self {
        let distinct: Vec<u64> = BTreeSet::from_iter(buckets).into_iter().collect();
        assert!((1..=MAX_CANDIDATES).contains(&distinct.len()), "fingerprint {fingerprint} in {distinct:?}");
        let buckets = std::array::from_fn(|number| distinct[number.min(distinct.len() - 1)]);
        Self { fingerprint, buckets }
    }

    /// The different buckets among the candidates.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = u64> + use<> {
        let buckets = self.buckets;
        (0..MAX_CANDIDATES).filter(move |&at| at == 0 || buckets[at] != buckets[at - 1]).map(move |at| buckets[at])
    }

    /// How many different buckets the candidates are.
    pub(crate) fn bucket_count(&self) -> usize {
        self.buckets().count()
    }
}

/// Learns the class of a key by filling an empty filter with copies of it: they go to all its candidate buckets, and
/// nowhere else.
pub(crate) struct Prober {
    empty: CuckooFilter,
    known: HashMap<Digest, Class>,
}

impl Prober {
    /// For keys of filters with the same parameters, hash and seed as this one.
    pub(crate) fn for_filters_like(filter: &CuckooFilter) -> Self {
        let mut empty = filter.clone();
        empty.clear();
        Self { empty, known: HashMap::new() }
    }

    pub(crate) fn class_of(&mut self, digest: Digest) -> Class {
        if let Some(&class) = self.known.get(&digest) {
            return class;
        }
        let class = self.probe(digest);
        self.known.insert(digest, class);
        class
    }

    fn probe(&mut self, digest: Digest) -> Class {
        let error = loop {
            if let Err(error) = self.empty.insert(&digest) {
                break error;
            }
        };
        let copies = self.empty.len();
        assert_eq!(error, InsertError::TooManyCopies { copies }, "{digest:?} alone in a filter");

        let mut copies_in = BTreeMap::new();
        let mut fingerprint = None;
        for stored in self.empty.fingerprints() {
            *copies_in.entry(stored.bucket).or_insert(0) += 1;
            let value = stored.fingerprint;
            assert_eq!(*fingerprint.get_or_insert(value), value, "{digest:?} has one fingerprint");
        }
        self.empty.clear();

        let parameters = self.empty.parameters();
        let candidates = parameters.addressing().candidates() as usize;
        assert!(copies_in.len() <= candidates, "{digest:?} has {candidates} candidate buckets, not {copies_in:?}");
        for (bucket, &copies) in &copies_in {
            assert_eq!(copies, parameters.slots_per_bucket(), "{digest:?} fills bucket {bucket}");
        }
        Class::new(fingerprint.expect("an empty filter takes any key once"), copies_in.into_keys())
    }
}
