use alloc::borrow::Cow;

use super::CuckooFilter;
use super::growth::is_crowded;
use super::made::Made;
use crate::addressing::BucketIndex;
use crate::addressing::{Addressing, Fingerprint};
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, with_table};
use crate::error::{InsertError, MergeError};

/// What becomes of fingerprints that both filters hold.
#[derive(Clone, Copy, Debug)]
enum Copies {
    /// All are stored.
    AddUp,
    /// One is.
    AreOne,
}

impl CuckooFilter {
    /// Adds all keys of another filter that was made with the same parameters, hash and seed. The copies of a key in both
    /// filters add up, and it must be removed as often.
    ///
    /// If this filter grows, the other need only have begun with the same parameters, however often either has been doubled
    /// since, and this one grows if it must. Beyond its [`max_capacity`](crate::FilterBuilder::max_capacity) it does
    /// not, unless [`GrowthPolicy`](crate::GrowthPolicy) says so.
    ///
    /// It takes memory for a copy of the resulting table while it works.
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
        self.merge_with(other, Copies::AddUp)
    }

    /// Adds the fingerprints of another filter that this one does not hold. Neither holds any twice.
    pub(crate) fn merge_missing(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge_with(other, Copies::AreOne)
    }

    fn merge_with(&mut self, other: &Self, copies: Copies) -> Result<(), MergeError> {
        // Before a doubling that has begun is finished.
        match self.growth() {
            Some(_) => self.made().refuse_if_begun_otherwise(&other.made())?,
            None => self.made().refuse_if_made_otherwise(&other.made())?,
        }
        let other = &*other.try_settled()?;
        self.settle();
        if self.growth().is_some() { self.merge_growing(other, copies) } else { self.merge_of_one_size(other, copies) }
    }

    /// How many fingerprints of a filter of the same size are to be stored.
    fn additional(&self, other: &Self, copies: Copies) -> Result<usize, MergeError> {
        match copies {
            Copies::AddUp => Ok(other.len()),
            Copies::AreOne => Ok(other.len() - self.intersection_len(other)?),
        }
    }

    /// Merges filters that were made alike.
    fn merge_of_one_size(&mut self, other: &Self, copies: Copies) -> Result<(), MergeError> {
        let full = MergeError::Full { len: self.len(), other_len: other.len(), slot_count: self.slot_count() };
        if self.len().saturating_add(self.additional(other, copies)?) > self.slot_count() {
            return Err(full);
        }
        let mut merged = self.try_clone()?;
        let stored = match copies {
            Copies::AddUp => merged.insert_fingerprints_of(other, |fingerprint| fingerprint),
            Copies::AreOne => merged.insert_missing_fingerprints_of(other),
        };
        match stored {
            Ok(()) => {
                *self = merged;
                Ok(())
            }
            Err(NoRoom::Full) => Err(full),
            Err(NoRoom::TooManyCopies { copies }) => {
                Err(MergeError::TooManyCopies { copies: to_usize(u64::from(copies)) })
            }
            Err(NoRoom::OutOfMemory) => Err(MergeError::OutOfMemory { bytes: self.parameters().table_size() }),
        }
    }

    /// Stores what another filter stores where it stores it, after a change to each fingerprint that leaves its buckets. If one
    /// finds no room, those before it are stored.
    pub(super) fn insert_fingerprints_of(
        &mut self,
        other: &Self,
        changed: impl Fn(Fingerprint) -> Fingerprint,
    ) -> Result<(), NoRoom> {
        let (scheme, bytes) = self.scheme_and_bytes();
        with_table!(scheme, over_mut(bytes), table => {
            let grid = table.addressing.grid();
            other.fingerprints().typed().try_for_each(|(bucket, fingerprint)| {
                table.insert_fingerprint(changed(fingerprint), grid.candidate(bucket)).map(|_| ())
            })
        })?;
        self.add_to_len(other.len());
        Ok(())
    }

    /// Stores what another filter of the same size stores and this one does not. If one finds no room, those before it are stored.
    fn insert_missing_fingerprints_of(&mut self, other: &Self) -> Result<(), NoRoom> {
        let (scheme, bytes, len) = self.scheme_bytes_and_len();
        with_table!(scheme, over_mut(bytes), table => {
            let grid = table.addressing.grid();
            other.fingerprints().typed().try_for_each(|(bucket, fingerprint)| {
                let candidate = grid.candidate(bucket);
                if table.place_of(fingerprint, candidate).is_none() {
                    table.insert_fingerprint(fingerprint, candidate)?;
                    *len += 1;
                }
                Ok(())
            })
        })
    }

    /// Stores fingerprints of another table of the same parameters, where it stores them. If one finds no room, those before it are
    /// stored.
    pub(crate) fn insert_fingerprints(&mut self, fingerprints: &[(BucketIndex, Fingerprint)]) -> Result<(), NoRoom> {
        let (scheme, bytes) = self.scheme_and_bytes();
        with_table!(scheme, over_mut(bytes), table => {
            let grid = table.addressing.grid();
            fingerprints.iter().try_for_each(|&(bucket, fingerprint)| {
                table.insert_fingerprint(fingerprint, grid.candidate(bucket)).map(|_| ())
            })
        })?;
        self.add_to_len(fingerprints.len());
        Ok(())
    }

    /// Merges filters that began alike.
    fn merge_growing(&mut self, other: &Self, copies: Copies) -> Result<(), MergeError> {
        // `None` as long as this filter need not grow. A larger one replaces it only when the merge has succeeded.
        let mut grown: Option<Self> = None;
        let mut theirs = Cow::Borrowed(other);
        loop {
            let ours = match &mut grown {
                Some(grown) => grown,
                None => &mut *self,
            };
            while theirs.parameters().half_doublings() < ours.parameters().half_doublings() {
                theirs = Cow::Owned(theirs.doubled()?.expect("ours has been doubled as often, and began alike"));
            }
            let is_behind = ours.parameters().half_doublings() < theirs.parameters().half_doublings();
            let additional = if is_behind { usize::MAX } else { ours.additional(&theirs, copies)? };
            if additional <= ours.room() {
                let together = ours.len().saturating_add(additional);
                match ours.merge_of_one_size(&theirs, copies) {
                    // As with insertions: in a table this empty, copies are in the way, and growing would not help.
                    Err(MergeError::Full { slot_count, .. }) if !is_crowded(together, slot_count as u64) => {}
                    Err(MergeError::Full { .. }) => {
                        let (len, other_len, slot_count) = (self.len(), other.len(), self.slot_count());
                        return Err(MergeError::Crowded { len, other_len, slot_count });
                    }
                    Err(error) => return Err(error),
                    Ok(()) => break,
                }
            }
            let doubled = ours.grown();
            grown = Some(doubled.map_err(|error| self.no_room(other, error))?);
        }
        if let Some(grown) = grown {
            *self = grown;
        }
        Ok(())
    }

    fn no_room(&self, other: &Self, error: InsertError) -> MergeError {
        match error {
            InsertError::OutOfMemory { bytes } => MergeError::OutOfMemory { bytes },
            _ => MergeError::Full { len: self.len(), other_len: other.len(), slot_count: self.slot_count() },
        }
    }

    /// How it was made, to be compared with another filter.
    pub(super) fn made(&self) -> Made<'_> {
        Made::new(self.parameters(), self.hasher(), self.kept())
    }
}
