use alloc::borrow::Cow;

use super::CuckooFilter;
use super::growth::is_crowded;
use crate::addressing::{Addressing as _, BucketIndex, Fingerprint};
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, Repeated, with_table};
use crate::error::{InsertError, MergeError};

impl CuckooFilter {
    /// Adds all keys of another filter that was made with the same parameters, hash and seed. The copies of a key in both
    /// filters add up, and it must be removed as often.
    ///
    /// If this filter grows, the other need only have begun with the same parameters, however often either has been doubled
    /// since, and this one grows if it must. Beyond its [`max_capacity`](crate::FilterBuilder::max_capacity) it does
    /// not, unless [`GrowthPolicy`](crate::GrowthPolicy) says so.
    ///
    /// It takes memory for a copy of the resulting table while it works; where this filter must grow, for two, and for the other filter
    /// at that size.
    ///
    /// # Errors
    ///
    /// [`MergeError::Differs`] if the filters were not made alike; [`MergeError::Full`], [`MergeError::TooManyCopies`] or
    /// [`MergeError::Crowded`] if not all keys fit; [`MergeError::OutOfMemory`]. In all cases both filters are as they were; but where
    /// they were made alike, a doubling of this one's table may have ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let mut monday = CuckooFilter::with_capacity(1000, 0.001)?;
    /// let mut tuesday = CuckooFilter::with_capacity(1000, 0.001)?;
    /// monday.insert("ani")?;
    /// tuesday.insert("koel")?;
    /// monday.merge(&tuesday)?;
    /// assert!(monday.contains("ani") && monday.contains("koel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge_with(other, Repeated::Stored)
    }

    /// Adds the fingerprints of another filter that this one does not hold. Neither holds any twice.
    pub(crate) fn merge_missing(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge_with(other, Repeated::LeftOut)
    }

    fn merge_with(&mut self, other: &Self, repeated: Repeated) -> Result<(), MergeError> {
        // Before a doubling that has begun is finished.
        self.refuse_if_unlike(other)?;
        let other = &*other.try_settled()?;
        self.settle();
        let growth = self.growth().copied();
        let (len, other_len, slot_count) = (self.len(), other.len(), self.slot_count());
        let (mut ours, mut theirs) = (Cow::Borrowed(&*self), Cow::Borrowed(other));
        loop {
            while let Some(growth) = &growth
                && theirs.parameters().half_doublings() < ours.parameters().half_doublings()
            {
                theirs = Cow::Owned(theirs.doubled(growth)?.expect("ours has been doubled as often, and began alike"));
            }
            let is_behind = ours.parameters().half_doublings() < theirs.parameters().half_doublings();
            let additional = if is_behind { usize::MAX } else { ours.additional(&theirs, repeated)? };
            if additional <= ours.room().min(ours.slot_count() - ours.len()) {
                let mut merged = ours.try_clone()?;
                match merged.store_all(theirs.fingerprints().typed(), repeated) {
                    Ok(()) => {
                        *self = merged;
                        return Ok(());
                    }
                    // As with insertions: in a table this empty, copies are in the way, and growing would not help.
                    Err(NoRoom::Full)
                        if growth.is_some() && is_crowded(ours.len() + additional, ours.slot_count() as u64) =>
                    {
                        return Err(MergeError::Crowded { len, other_len, slot_count });
                    }
                    Err(NoRoom::Full) => {}
                    Err(NoRoom::TooManyCopies { copies }) => {
                        return Err(MergeError::TooManyCopies { copies: to_usize(u64::from(copies)) });
                    }
                    Err(NoRoom::OutOfMemory) => {
                        return Err(MergeError::OutOfMemory { bytes: ours.parameters().table_size() });
                    }
                }
            }
            // A larger table replaces this one only when the merge has succeeded.
            ours = Cow::Owned(ours.grown().map_err(|error| match error {
                InsertError::OutOfMemory { bytes } => MergeError::OutOfMemory { bytes },
                _ => MergeError::Full { len, other_len, slot_count },
            })?);
        }
    }

    /// How many fingerprints of a filter of the same size are to be stored.
    fn additional(&self, other: &Self, repeated: Repeated) -> Result<usize, MergeError> {
        match repeated {
            Repeated::Stored => Ok(other.len()),
            Repeated::LeftOut => Ok(other.len() - self.intersection_len(other)?),
        }
    }

    /// Stores fingerprints of another table of the same parameters, where it stores them. If one finds no room, those before it are
    /// stored.
    pub(crate) fn store_all(
        &mut self,
        fingerprints: impl IntoIterator<Item = (BucketIndex, Fingerprint)>,
        repeated: Repeated,
    ) -> Result<(), NoRoom> {
        let (scheme, bytes, len) = self.scheme_bytes_and_len();
        with_table!(scheme, over_mut(bytes), table => {
            let grid = table.addressing.grid();
            fingerprints.into_iter().try_for_each(|(bucket, fingerprint)| {
                let located = table.addressing.located(fingerprint, grid.candidate(bucket));
                if repeated == Repeated::Stored || table.place_of(located).is_none() {
                    table.insert_located(located)?;
                    *len += 1;
                }
                Ok(())
            })
        })
    }
}
