use alloc::sync::Arc;

use super::Kept;
use crate::addressing::Addressing;
use crate::cuckoo::{CuckooTable, NoRoom, Scheme, with_table};
use crate::digest::{Digest, KeyHasher};
use crate::error::{BuildError, InsertError, OutOfMemory};
use crate::parameters::Parameters;
use crate::table::{Place, Storage, TableMut, Values, is_zero_from};

/// A filter with a value beside each fingerprint. Maps and counting filters are made of it, and decide what a value means.
#[derive(Clone)]
pub(crate) struct ValuedFilter {
    parameters: Parameters,
    hasher: KeyHasher,
    scheme: Scheme,
    storage: Storage,
    len: usize,
    kept: Option<Arc<Kept>>,
}

impl<A: Addressing, T: Values> CuckooTable<A, T> {
    /// The slots that hold a key's fingerprint, each with its value.
    fn values(&self, digest: Digest) -> impl Iterator<Item = (Place, u32)> {
        let (fingerprint, primary) = self.addressing.locate(digest);
        let candidates = self.addressing.distinct_candidates(primary, fingerprint).map(|candidate| candidate.bucket());
        // One comparison rules out most buckets.
        let holding = candidates.filter(move |&bucket| self.slots.contains(bucket, fingerprint));
        holding.flat_map(move |bucket| {
            let slots = self.slots.filled_slots(bucket).filter(move |&(_, _, stored)| stored == fingerprint);
            slots.map(move |(_, slot, _)| {
                let place = Place { bucket, slot };
                (place, self.slots.value(place))
            })
        })
    }
}

impl ValuedFilter {
    pub(crate) fn with_parameters(parameters: Parameters, hasher: KeyHasher) -> Result<Self, BuildError> {
        let out_of_memory = |_| BuildError::OutOfMemory { bytes: parameters.table_size() };
        let storage = Storage::zeroed(parameters.table_bits()).map_err(out_of_memory)?;
        Ok(Self::from_parts(parameters, hasher, storage, 0))
    }

    /// A copy, unless there is no memory for it.
    pub(crate) fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let out_of_memory = |_| OutOfMemory::new(self.parameters.table_size());
        let storage = Storage::copied_from(&self.storage).map_err(out_of_memory)?;
        Ok(Self::from_parts(self.parameters, self.hasher, storage, self.len).with_kept(self.kept.clone()))
    }

    /// An empty one with the same parameters and hash.
    pub(crate) fn empty_like(&self) -> Result<Self, OutOfMemory> {
        let made = Self::with_parameters(self.parameters, self.hasher);
        let made = made.map_err(|_| OutOfMemory::new(self.parameters.table_size()))?;
        Ok(made.with_kept(self.kept.clone()))
    }

    /// Puts a filter together from parts that were checked against each other.
    pub(crate) fn from_parts(parameters: Parameters, hasher: KeyHasher, storage: Storage, len: usize) -> Self {
        let scheme = Scheme::new(&parameters, hasher.seed());
        Self { parameters, hasher, scheme, storage, len, kept: None }
    }

    pub(crate) const fn kept(&self) -> Option<&Arc<Kept>> {
        self.kept.as_ref()
    }

    /// Sets what is written to its file besides.
    #[must_use]
    pub(crate) fn with_kept(self, kept: Option<Arc<Kept>>) -> Self {
        Self { kept, ..self }
    }

    /// Stores a copy of a key's fingerprint with a value of at most v bits.
    #[inline]
    pub(crate) fn insert(&mut self, digest: Digest, value: u32) -> Result<(), InsertError> {
        debug_assert!(value <= self.greatest_value());
        let stored = with_table!(self.scheme, valued(&mut self.storage[..]), table => {
            table.insert(digest).map(|place| table.slots.set_value(place, value))
        });
        match stored {
            Ok(()) => {
                self.len += 1;
                Ok(())
            }
            Err(reason) => Err(self.insert_error(reason)),
        }
    }

    /// Whether a key's fingerprint is stored.
    #[inline]
    pub(crate) fn contains(&self, digest: Digest) -> bool {
        with_table!(self.scheme, valued(&self.storage[..]), table => table.contains(digest))
    }

    /// Calls `visit` with the value of each copy of a key's fingerprint.
    #[inline]
    pub(crate) fn visit_values(&self, digest: Digest, visit: impl FnMut(u32)) {
        with_table!(self.scheme, valued(&self.storage[..]), table => {
            table.values(digest).map(|(_, value)| value).for_each(visit);
        });
    }

    /// The first copy of a key's fingerprint whose value is accepted.
    #[inline]
    pub(crate) fn find(&self, digest: Digest, accepts: impl Fn(u32) -> bool) -> Option<(Place, u32)> {
        with_table!(self.scheme, valued(&self.storage[..]), table => table.values(digest).find(|&(_, value)| accepts(value)))
    }

    /// Replaces the value in a slot that [`find`](Self::find) found.
    #[inline]
    pub(crate) fn set_value(&mut self, place: Place, value: u32) {
        debug_assert!(value <= self.greatest_value());
        with_table!(self.scheme, valued(&mut self.storage[..]), table => table.slots.set_value(place, value));
    }

    /// Empties a slot that [`find`](Self::find) found.
    #[inline]
    pub(crate) fn empty(&mut self, place: Place) {
        with_table!(self.scheme, valued(&mut self.storage[..]), table => table.slots.set(place.bucket, place.slot, None));
        self.len -= 1;
    }

    pub(crate) fn clear(&mut self) {
        self.storage.fill(0);
        self.len = 0;
    }

    /// How many fingerprints are stored, each copy counted.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    pub(crate) const fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    pub(crate) const fn storage(&self) -> &Storage {
        &self.storage
    }

    /// 2^v - 1.
    pub(crate) const fn greatest_value(&self) -> u32 {
        u32::MAX >> (32 - self.parameters.value_bits())
    }

    pub(crate) fn is_well_formed(&self) -> bool {
        self.scheme.is_well_formed(&self.storage)
    }

    pub(crate) fn occupied_slots(&self) -> u64 {
        self.scheme.occupied_slots(&self.storage)
    }

    /// Whether every fingerprint is stored once.
    pub(crate) fn has_no_copies(&self) -> bool {
        self.scheme.has_no_copies(&self.storage)
    }

    pub(crate) fn sum_of_values(&self) -> u64 {
        with_table!(self.scheme, valued(&self.storage[..]), table => {
            let value = |place| u64::from(table.slots.value(place));
            table.places().map(value).sum()
        })
    }

    pub(crate) fn check_invariants(&self) -> Result<(), &'static str> {
        if !is_zero_from(self.storage(), self.parameters.table_bits()) {
            return Err("invariant 4: padding bits are 0");
        }
        if self.occupied_slots() != self.len as u64 {
            return Err("invariant 4: len is the number of occupied slots");
        }
        if !self.is_well_formed() {
            return Err("an empty slot has no value");
        }
        Ok(())
    }

    #[cold]
    fn insert_error(&self, reason: NoRoom) -> InsertError {
        reason.as_error(self.len, &self.parameters)
    }
}

impl PartialEq for ValuedFilter {
    fn eq(&self, other: &Self) -> bool {
        self.parameters == other.parameters && self.hasher == other.hasher && self.storage() == other.storage()
    }
}

/// The getters of the types made of a [`ValuedFilter`]. Examples begin with the given expression, which makes one for
/// 1000 keys.
macro_rules! measures_of_valued_filter {
    ($made:literal) => {
        /// Returns the number of distinct keys promised to fit: of a million tables, at most one is expected to refuse
        /// one of them.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert_eq!(filter.capacity(), 1000);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn capacity(&self) -> usize {
            crate::cast::to_usize(self.filter.parameters().capacity())
        }

        /// Returns α, the share of the slots that are filled.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert_eq!(filter.load_factor(), 0.0);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn load_factor(&self) -> f64 {
            let slots = crate::cast::to_f64(self.filter.parameters().slot_count());
            crate::cast::to_f64(self.filter.len() as u64) / slots
        }

        /// Returns the size of the table in bytes, padding included.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert!(filter.size_in_bytes() < 3000);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn size_in_bytes(&self) -> usize {
            self.filter.storage().len()
        }

        /// Returns the share of absent keys that are expected to be reported as present at the present load.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert_eq!(filter.expected_false_positive_rate(), 0.0);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub fn expected_false_positive_rate(&self) -> f64 {
            self.filter.parameters().expected_false_positive_rate(self.filter.len() as u64)
        }

        /// Returns the parameters of the table.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert_eq!(filter.parameters().capacity(), 1000);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn parameters(&self) -> &crate::parameters::Parameters {
            self.filter.parameters()
        }

        /// Returns an empty one that was made alike: with the same parameters, hash and seed.
        ///
        /// # Errors
        ///
        /// [`OutOfMemory`](crate::OutOfMemory).
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert!(filter.empty_like()? == filter);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn empty_like(&self) -> Result<Self, crate::error::OutOfMemory> {
            self.filter.empty_like().map(Self::from_filter)
        }

        /// Returns the hash that turns keys into digests.
        ///
        /// # Examples
        ///
        /// ```
        #[doc = concat!("let filter = ", $made, ";")]
        /// assert_eq!(filter.hasher(), &guira::KeyHasher::default());
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[must_use]
        pub const fn hasher(&self) -> &crate::digest::KeyHasher {
            self.filter.hasher()
        }
    };
}

pub(crate) use measures_of_valued_filter;
