//! Filters that enlarge their table when it is full.

use super::CuckooFilter;
use super::growth::is_crowded;
use super::steps::Halving;
use crate::cuckoo::{NoRoom, Splitting};
use crate::digest::{Digest, Key};
use crate::error::{InsertError, OutOfMemory, ReserveError};
use crate::parameters::Parameters;
use crate::table::Storage;

impl CuckooFilter {
    /// Stores a copy of a key if the table takes it as it is; never doubles it.
    #[inline]
    pub(crate) fn insert_without_growing<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_digest_without_growing(self.hasher().digest(key))
    }

    pub(crate) fn insert_digest_without_growing(&mut self, digest: Digest) -> Result<(), InsertError> {
        let stored = if self.is_doubling() {
            self.insert_while_doubling(digest)
        } else if self.room() > 0 {
            self.insert_into_table(digest)
        } else {
            self.refuse_copies_that_do_not_fit(digest)?;
            return Err(self.insert_error(NoRoom::Full));
        };
        stored.map_err(|reason| self.insert_error(reason))
    }

    /// Stores a copy of a key for which the table has no room: its limit is reached, or no slot can be freed.
    #[cold]
    pub(super) fn insert_growing(&mut self, digest: Digest) -> Result<(), InsertError> {
        if self.is_doubling() {
            match self.insert_while_doubling(digest) {
                Ok(()) => return Ok(()),
                Err(NoRoom::Full) => {}
                Err(reason) => return Err(self.insert_error(reason)),
            }
        }
        self.refuse_without_hope(digest)?;
        if Splitting::is_for(self.size_in_bytes()) && self.insert_beginning_to_double(digest) {
            return Ok(());
        }
        // One doubling may not be enough, and the next may fail. So the table is replaced only when the key is stored
        // (invariant 2).
        let mut grown = self.doubled_unless_copies()?;
        loop {
            match grown.insert_digest_without_growing(digest) {
                Err(InsertError::Full { .. }) => grown = grown.doubled_unless_copies()?,
                result => {
                    result?;
                    *self = grown;
                    return Ok(());
                }
            }
        }
    }

    /// Begins to double a large table that may be doubled, splits its first buckets, and stores a copy of a key. If there
    /// is no room or no memory, returns `false` and leaves everything as it was.
    fn insert_beginning_to_double(&mut self, digest: Digest) -> bool {
        if self.begin_doubling() != Ok(true) {
            return false;
        }
        let is_stored = self.insert_among_first_halves(digest);
        if !is_stored {
            self.take_back_doubling();
        }
        is_stored
    }

    /// Returns how many copies of a key are stored, or an error if no more fit, which is no reason to grow.
    fn refuse_copies_that_do_not_fit(&self, digest: Digest) -> Result<usize, InsertError> {
        let copies = self.count_digest(digest);
        // The two buckets of a key are never the same in a table that grows.
        let most = 2 * self.parameters().slots_per_bucket() as usize;
        if copies >= most { Err(InsertError::TooManyCopies { copies }) } else { Ok(copies) }
    }

    /// Refuses a key that the largest table would refuse too, before any table is made.
    fn refuse_without_hope(&self, digest: Digest) -> Result<(), InsertError> {
        let copies = self.refuse_copies_that_do_not_fit(digest)?;
        let Some(growth) = self.growth() else { return Err(self.insert_error(NoRoom::Full)) };
        growth.refuse_without_hope(self.parameters(), self.len(), copies, self.crowd(digest))
    }

    fn doubled_unless_copies(&self) -> Result<Self, InsertError> {
        let (len, slot_count) = (self.len(), self.slot_count());
        if is_crowded(len, slot_count as u64) { Err(InsertError::Crowded { len, slot_count }) } else { self.grown() }
    }

    /// Returns a filter with the same keys in the next larger table, if the filter may grow so far.
    pub(super) fn grown(&self) -> Result<Self, InsertError> {
        let full = || self.insert_error(NoRoom::Full);
        let growth = self.growth().filter(|growth| !growth.is_last(self.parameters())).ok_or_else(full)?;
        self.doubled(growth)?.ok_or_else(full)
    }

    /// Makes room for `additional` more distinct keys at once.
    ///
    /// # Errors
    ///
    /// [`ReserveError::Full`] if the filter may not grow so far, and [`ReserveError::OutOfMemory`]. In both cases the filter
    /// is as it was; but for want of memory, a doubling of its table may have ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let mut filter =
    ///     CuckooFilter::builder().capacity(100).max_capacity(1_000_000).false_positive_rate(0.01).build()?;
    /// filter.reserve(50_000)?;
    /// assert!(filter.capacity() >= 50_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve(&mut self, additional: usize) -> Result<(), ReserveError> {
        self.make_room(additional).map_err(|error| ReserveError::of(&error, self.len(), additional, self.capacity()))
    }

    /// The parameters of the first table with such a capacity that the filter has or grows to, if it may grow so far.
    pub(super) fn parameters_for(&self, capacity: u64) -> Option<Parameters> {
        match self.growth() {
            Some(growth) => growth.up_to_capacity(self.parameters(), capacity),
            None => Some(*self.parameters()).filter(|parameters| parameters.capacity() >= capacity),
        }
    }

    pub(crate) fn make_room(&mut self, additional: usize) -> Result<(), InsertError> {
        let needed = self.len().saturating_add(additional) as u64;
        // Find out how far it has to grow, and whether it may, before anything is doubled, or a doubling that has begun is finished.
        let parameters = self.parameters_for(needed).ok_or_else(|| self.insert_error(NoRoom::Full))?;
        self.settle();
        // All but the last doubling is of copies, since it may fail. That one gives back the table that it is made from meanwhile.
        let mut grown: Option<Self> = None;
        for _ in self.parameters().half_doublings() + 1..parameters.half_doublings() {
            grown = Some(grown.as_ref().unwrap_or(self).grown()?);
        }
        let last = grown.as_mut().unwrap_or(self);
        if last.parameters().half_doublings() < parameters.half_doublings() {
            if !last.begin_doubling()? {
                return Err(last.insert_error(NoRoom::Full));
            }
            last.settle();
        }
        if let Some(grown) = grown {
            *self = grown;
        }
        Ok(())
    }

    /// Undoes doublings, half of one at a time, as long as the keys leave an eighth of the smaller table's capacity free, down to the size that
    /// the filter began with. It is exact: every fingerprint gets its bit back. A filter that doesn't grow stays as it is.
    ///
    /// So after shrinking, insertions of at least an eighth of the capacity fit before the table grows again.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(1000).max_capacity(1_000_000).false_positive_rate(0.001);
    /// let mut filter = builder.build()?;
    /// for number in 0..50_000 {
    ///     filter.insert(&number)?;
    /// }
    /// let size = filter.size_in_bytes();
    /// for number in 0..49_000 {
    ///     filter.remove(&number);
    /// }
    /// filter.shrink_to_fit();
    /// assert!(filter.size_in_bytes() < size / 8 && filter.contains(&49_999));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shrink_to_fit(&mut self) {
        self.settle();
        while let Ok(Some(halved)) = Halving::at_once(self) {
            *self = halved;
        }
    }

    /// Shrinks as [`shrink_to_fit`](Self::shrink_to_fit) does, unless there is no memory for one of the smaller tables.
    pub(crate) fn try_shrink_to_fit(&mut self) -> Result<(), OutOfMemory> {
        self.settle();
        let mut shrunk: Option<Self> = None;
        while let Some(halved) = Halving::at_once(shrunk.as_ref().unwrap_or(self))? {
            shrunk = Some(halved);
        }
        if let Some(shrunk) = shrunk {
            *self = shrunk;
        }
        Ok(())
    }

    /// The parameters of the next smaller table, if so many keys leave enough room there.
    pub(super) fn parameters_with_room_to_spare(&self, len: usize) -> Option<Parameters> {
        let smaller = self.growth()?.before_doubling(self.parameters())?;
        let most = smaller.capacity() - smaller.capacity().div_ceil(ROOM_TO_SPARE);
        (len as u64 <= most).then_some(smaller)
    }

    /// Returns an empty filter that began as this one did, with the same hash, so that the two can be merged: in this release
    /// and in later ones, whose builders may choose other parameters for the same capacity and rate.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// let mut all = guira::CuckooFilter::with_capacity(1000, 0.001)?;
    /// let mut today = all.empty_like()?;
    /// today.insert("ani")?;
    /// all.merge(&today)?;
    /// assert!(all.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn empty_like(&self) -> Result<Self, OutOfMemory> {
        let first = self.growth().map_or(*self.parameters(), |growth| growth.before_all_doublings(self.parameters()));
        self.empty_with(first)
    }

    /// An empty filter with other parameters, and all else alike.
    pub(super) fn empty_with(&self, parameters: Parameters) -> Result<Self, OutOfMemory> {
        let storage =
            Storage::zeroed(parameters.table_bits()).map_err(|_| OutOfMemory::new(parameters.table_size()))?;
        Ok(self.alike(parameters, storage, 0))
    }
}

/// After shrinking, at least one part in so many of the capacity is free.
const ROOM_TO_SPARE: u64 = 8;
