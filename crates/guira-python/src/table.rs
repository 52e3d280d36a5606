//! The library's types, each behind a lock, with the operations that the Python classes need.
//!
//! Lookups share a lock, and changes are exclusive. No lock is held longer than for one block of a batch, and no holder calls
//! Python; nobody waits for it while holding the interpreter's lock, see `waiting.rs`. The library's `ConcurrentCuckooFilter`
//! needs no lock for lookups, but takes twice the time for batches and insertions of a single thread.

use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use guira::raw::FileToWrite;
use guira::{
    CountingCuckooFilter, CuckooFilter, CuckooFilterView, CuckooMap, CuckooSet, ExpiringCuckooFilter, FilterBuilder,
    FilterFile, FilterKind, GrowthPolicy, InsertError, Key, KeyHasher, MergeError, OutOfMemory, Parameters,
    ReserveError, TryExtendError,
};

use pyo3::PyResult;

use crate::error::build_error;
use crate::fork;
use crate::options::Options;
use crate::waiting;

/// The parameters and sizes of a table.
pub(crate) struct Measures {
    pub(crate) parameters: Parameters,
    /// The number of keys that are promised to fit. Where keys expire, the table has room for dead ones beside them.
    pub(crate) capacity: u64,
    /// The number of occupied slots; where keys expire, of those of living ones.
    pub(crate) occupied: u64,
    /// The number of keys up to which it grows at its rate, and what it does with more; `None` if it does not grow.
    pub(crate) growth: Option<(usize, GrowthPolicy)>,
}

/// The operations of every type.
pub(crate) trait Lookup {
    fn hasher(&self) -> &KeyHasher;
    fn measures(&self) -> Measures;
    /// The number that Python's `len` returns.
    fn len(&self) -> u64;
    fn contains<K: Key>(&self, key: &K) -> bool;
    fn contains_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]);
}

/// A type that counts copies of keys.
pub(crate) trait Count: Lookup {
    fn count<K: Key>(&self, key: &K) -> u64;
}

/// A type to which copies of keys are added, and from which they are removed.
pub(crate) trait Change: Count {
    /// Stores keys in order, up to the first that does not fit.
    fn insert_each<K: Key>(&mut self, keys: &[K]) -> Result<(), Refused>;
    fn remove_many_into<K: Key>(&mut self, keys: &[K], removed: &mut [bool]);
}

/// A type that can store each key once.
pub(crate) trait InsertUnique: Lookup {
    fn insert_if_absent<K: Key>(&mut self, key: &K) -> Result<bool, InsertError>;
}

/// A type whose keys expire.
pub(crate) trait Expire: Lookup {
    /// Stores a key, or renews one that is present. Returns `true` if it was stored.
    fn insert_or_renew<K: Key>(&mut self, key: &K) -> Result<bool, InsertError>;
    fn contains_many_at_into<K: Key>(&self, keys: &[K], answers: &mut [bool], now: u64);
    fn count_at<K: Key>(&self, key: &K, now: u64) -> u64;
}

/// A type that can be saved, and merged with others that were made alike.
pub(crate) trait Stored: Lookup + FilterFile + PartialEq + Send + Sync {
    /// A copy, or an error where there is no memory for one.
    fn try_copy(&self) -> Result<Self, OutOfMemory>;
    fn file(&self) -> FileToWrite<'_>;
    fn clear(&mut self);
    /// An empty one that was made alike.
    fn empty_like(&self) -> Result<Self, OutOfMemory>;
    fn merge(&mut self, other: &Self) -> Result<(), MergeError>;
    fn reserve(&mut self, additional: usize) -> Result<(), ReserveError>;
    fn shrink_to_fit(&mut self);
}

/// Why a key of a batch was not stored, after `inserted` others.
pub(crate) struct Refused {
    pub(crate) inserted: usize,
    pub(crate) reason: InsertError,
}

impl From<TryExtendError> for Refused {
    fn from(error: TryExtendError) -> Self {
        Self { inserted: error.inserted, reason: error.reason }
    }
}

/// A table that threads share.
pub(crate) struct Locked<T> {
    table: Arc<RwLock<T>>,
    /// The hasher of the table, which never changes.
    hasher: KeyHasher,
}

impl<T: Lookup + Send + Sync + 'static> Locked<T> {
    pub(crate) fn new(table: T) -> Self {
        let hasher = *table.hasher();
        let table = Arc::new(RwLock::new(table));
        fork::register(&table);
        Self { table, hasher }
    }
}

impl<T> Locked<T> {
    pub(crate) const fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }
}

impl<T: Send + Sync> Locked<T> {
    #[inline]
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        waiting::lock(|| self.table.try_read(), || self.table.read())
    }

    #[inline]
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        waiting::lock(|| self.table.try_write(), || self.table.write())
    }
}

impl<T: Stored> Locked<T> {
    /// A consistent copy, which holds no lock.
    pub(crate) fn snapshot(&self) -> PyResult<T> {
        self.read().try_copy().map_err(|error| build_error(&error.into()))
    }
}

/// The builder for the arguments of a Python class.
pub(crate) fn builder<T: FilterKind>(options: &Options) -> FilterBuilder<T> {
    let builder = FilterBuilder::default().capacity(options.capacity).false_positive_rate(options.rate);
    let builder = builder.preference(options.preference).hasher(options.hasher);
    match options.max_capacity {
        Some(keys) => builder.max_capacity(keys).growth_policy(options.growth_policy),
        None => builder,
    }
}

/// Implements `Lookup` for types that can be changed.
macro_rules! lookup {
    ($type:ty, $contains:ident) => {
        impl Lookup for $type {
            fn hasher(&self) -> &KeyHasher {
                self.hasher()
            }

            fn measures(&self) -> Measures {
                let growth = self.growth_policy().map(|policy| (self.max_capacity(), policy));
                let (capacity, occupied) = (self.capacity() as u64, self.len() as u64);
                Measures { parameters: *self.parameters(), capacity, occupied, growth }
            }

            fn len(&self) -> u64 {
                self.len() as u64
            }

            fn contains<K: Key>(&self, key: &K) -> bool {
                self.$contains(key)
            }

            fn contains_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
                self.contains_many_into(keys, answers);
            }
        }
    };
}

lookup!(CuckooFilter, contains);
lookup!(CuckooSet, contains);
lookup!(CountingCuckooFilter, contains);
lookup!(Map, contains_key);
lookup!(ExpiringCuckooFilter, contains);

impl Count for CuckooFilter {
    fn count<K: Key>(&self, key: &K) -> u64 {
        self.count(key) as u64
    }
}

impl Change for CuckooFilter {
    fn insert_each<K: Key>(&mut self, keys: &[K]) -> Result<(), Refused> {
        Ok(self.try_extend(keys)?)
    }

    fn remove_many_into<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        self.remove_many_into(keys, removed);
    }
}

impl InsertUnique for CuckooFilter {
    fn insert_if_absent<K: Key>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_if_absent(key)
    }
}

macro_rules! stored {
    ($type:ty) => {
        impl Stored for $type {
            fn try_copy(&self) -> Result<Self, OutOfMemory> {
                self.try_clone()
            }

            fn file(&self) -> FileToWrite<'_> {
                FileToWrite::of(self)
            }

            fn clear(&mut self) {
                self.clear();
            }

            fn empty_like(&self) -> Result<Self, OutOfMemory> {
                self.empty_like()
            }

            fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
                self.merge(other)
            }

            fn reserve(&mut self, additional: usize) -> Result<(), ReserveError> {
                self.reserve(additional)
            }

            fn shrink_to_fit(&mut self) {
                self.shrink_to_fit();
            }
        }
    };
}

/// A map; in Python, values of any number of bits are integers.
pub(crate) type Map = CuckooMap<u32>;

stored!(CuckooFilter);
stored!(CountingCuckooFilter);
stored!(CuckooSet);
stored!(ExpiringCuckooFilter);
stored!(Map);

impl InsertUnique for CuckooSet {
    fn insert_if_absent<K: Key>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert(key)
    }
}

impl Count for CountingCuckooFilter {
    fn count<K: Key>(&self, key: &K) -> u64 {
        self.count(key)
    }
}

impl Change for CountingCuckooFilter {
    fn insert_each<K: Key>(&mut self, keys: &[K]) -> Result<(), Refused> {
        Ok(self.try_extend(keys)?)
    }

    fn remove_many_into<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        self.remove_many_into(keys, removed);
    }
}

impl Count for ExpiringCuckooFilter {
    fn count<K: Key>(&self, key: &K) -> u64 {
        self.count(key) as u64
    }
}

impl Change for ExpiringCuckooFilter {
    fn insert_each<K: Key>(&mut self, keys: &[K]) -> Result<(), Refused> {
        Ok(self.try_extend(keys)?)
    }

    fn remove_many_into<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        keys.iter().zip(removed).for_each(|(key, removed)| *removed = self.remove(key));
    }
}

impl InsertUnique for ExpiringCuckooFilter {
    fn insert_if_absent<K: Key>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_if_absent(key)
    }
}

impl Expire for ExpiringCuckooFilter {
    fn insert_or_renew<K: Key>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_or_renew(key)
    }

    fn contains_many_at_into<K: Key>(&self, keys: &[K], answers: &mut [bool], now: u64) {
        self.contains_many_at_into(keys, answers, now);
    }

    fn count_at<K: Key>(&self, key: &K, now: u64) -> u64 {
        self.count_at(key, now) as u64
    }
}

impl Lookup for CuckooFilterView<'static> {
    fn hasher(&self) -> &KeyHasher {
        self.hasher()
    }

    fn measures(&self) -> Measures {
        let (parameters, occupied) = (*self.parameters(), self.len() as u64);
        Measures { parameters, capacity: parameters.capacity(), occupied, growth: None }
    }

    fn len(&self) -> u64 {
        self.len() as u64
    }

    fn contains<K: Key>(&self, key: &K) -> bool {
        self.contains(key)
    }

    fn contains_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        self.contains_many_into(keys, answers);
    }
}

impl Count for CuckooFilterView<'static> {
    fn count<K: Key>(&self, key: &K) -> u64 {
        self.count(key) as u64
    }
}
