//! Merging of filters with values.

use alloc::borrow::Cow;

use super::ValuedFilter;
use super::growth::is_crowded;
use super::valued_growth::widths;
use crate::addressing::{Addressing as _, BucketIndex};
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, with_table};
use crate::error::{InsertError, MergeError};
use crate::table::{Living, Place, Table, ValuedTable};

/// What is stored where both filters hold a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// Both, each with its value.
    Both,
    /// One, with the sum of both counters, which are one more than the values.
    Sum,
}

/// What becomes of values.
pub(crate) struct Changes<'changes> {
    /// Which of ours live. The others give way.
    pub(crate) living: Living,
    /// The new values of ours, if they change.
    pub(crate) of_ours: Option<&'changes dyn Fn(u32) -> u32>,
    /// The new values of theirs. Those for which there is none are left out.
    pub(crate) of_theirs: &'changes dyn Fn(u32) -> Option<u32>,
}

impl Changes<'_> {
    /// All live, and no value changes.
    pub(crate) const NONE: Self = Self { living: Living::ALL, of_ours: None, of_theirs: &Some };
}

impl ValuedFilter {
    /// Adds all fingerprints of another filter that was made alike.
    pub(crate) fn merge(&mut self, other: &Self, meeting: Meeting, changes: &Changes<'_>) -> Result<(), MergeError> {
        self.filter.refuse_if_unlike(&other.filter)?;
        let growth = self.growth().copied();
        let no_room = |slot_count| MergeError::Full { len: self.len(), other_len: other.len(), slot_count };
        let (mut ours, mut theirs) = (Cow::Borrowed(&*self), Cow::Borrowed(other));
        loop {
            while let Some(growth) = &growth
                && theirs.parameters().half_doublings() < ours.parameters().half_doublings()
            {
                let doubled = theirs.doubled(growth, Living::ALL)?;
                theirs = Cow::Owned(doubled.expect("ours has been doubled as often, and began alike"));
            }
            let slot_count = to_usize(ours.parameters().slot_count());
            let is_behind = ours.parameters().half_doublings() < theirs.parameters().half_doublings();
            if !is_behind {
                let mut merged = ours.try_clone()?;
                // Dead fingerprints count towards no limit.
                merged.remove_dead(changes.living);
                if let Some(of_ours) = changes.of_ours {
                    merged.change_values(of_ours);
                }
                match merged.insert_all(&theirs, meeting, changes.of_theirs) {
                    Ok(()) if merged.filter.len <= merged.filter.limit => {
                        *self = merged;
                        return Ok(());
                    }
                    // As with insertions: in a table this empty, copies are in the way, and growing would not help.
                    Ok(()) | Err(MergeError::Full { .. })
                        if ours.growth().is_some() && !is_crowded(ours.len() + theirs.len(), slot_count as u64) => {}
                    Err(MergeError::Full { .. }) if ours.growth().is_some() => {
                        let slot_count = to_usize(self.parameters().slot_count());
                        return Err(MergeError::Crowded { len: self.len(), other_len: other.len(), slot_count });
                    }
                    Ok(()) => return Err(no_room(slot_count)),
                    Err(error) => return Err(error),
                }
            }
            // A table that must become as large as the other one is doubled however empty it is.
            let len = if is_behind { usize::MAX } else { ours.len() + theirs.len() };
            let grown = ours.grown(len, changes.living).map_err(|error| match error {
                InsertError::OutOfMemory { bytes } => MergeError::OutOfMemory { bytes },
                _ => no_room(slot_count),
            })?;
            ours = Cow::Owned(grown);
        }
    }

    /// Stores the fingerprints of a filter of the same size, up to the first that finds no room.
    fn insert_all(
        &mut self,
        other: &Self,
        meeting: Meeting,
        changed: &dyn Fn(u32) -> Option<u32>,
    ) -> Result<(), MergeError> {
        let (mut added, greatest) = (0, self.greatest_value());
        let slot_count = to_usize(self.parameters().slot_count());
        let full = MergeError::Full { len: self.len(), other_len: other.len(), slot_count };
        let from = ValuedTable::new(widths(other.parameters()), &other.filter.storage[..]);
        with_table!(self.filter.scheme, valued(&mut self.filter.storage[..]), into => {
            let grid = into.addressing.grid();
            for bucket in (0..grid.bucket_count()).map(BucketIndex::new) {
                for (slot, fingerprint) in from.filled_slots(bucket) {
                    let Some(value) = changed(from.value(Place { bucket, slot })) else { continue };
                    let located = into.addressing.located(fingerprint, grid.candidate(bucket));
                    let here = into.place_of(located).filter(|_| meeting == Meeting::Sum);
                    if let Some(place) = here {
                        let sum = into.slots.value(place).checked_add(value).and_then(|sum| sum.checked_add(1));
                        let Some(sum) = sum.filter(|&sum| sum <= greatest) else {
                            return Err(MergeError::CounterFull { count: u64::from(greatest) + 1 });
                        };
                        into.slots.set_value(place, sum);
                    } else {
                        match into.insert_located(located) {
                            Ok(place) => into.slots.set_value(place, value),
                            Err(NoRoom::Full) => return Err(full),
                            Err(NoRoom::TooManyCopies { copies }) => {
                                return Err(MergeError::TooManyCopies { copies: to_usize(u64::from(copies)) });
                            }
                            Err(NoRoom::OutOfMemory) => {
                                return Err(MergeError::OutOfMemory { bytes: other.parameters().table_size() });
                            }
                        }
                        added += 1;
                    }
                }
            }
        });
        self.filter.len += added;
        Ok(())
    }
}
