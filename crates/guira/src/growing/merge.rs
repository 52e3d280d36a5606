use alloc::borrow::Cow;
use alloc::string::ToString;

use super::GrowingCuckooFilter;
use super::growing_cuckoo_filter::is_crowded;
use crate::error::{BuildError, InsertError, MergeError};
use crate::filter::CuckooFilter;
use crate::parameters::Parameters;

impl GrowingCuckooFilter {
    /// Adds all keys of another filter that began with the same measures, hash and seed, however often either has been
    /// doubled since; grows where that is needed. Copies add up, as with [`CuckooFilter::merge`].
    ///
    /// It takes memory for a copy of the resulting table while it works.
    ///
    /// # Errors
    ///
    /// Those of [`CuckooFilter::merge`]; both filters are then as they were.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.refuse_if_begun_otherwise(other)?;
        // This filter itself as long as it need not grow: a merge that fails leaves it as it was.
        let mut grown: Option<Self> = None;
        let mut theirs = Cow::Borrowed(other.as_filter());
        loop {
            let ours = match &mut grown {
                Some(grown) => grown,
                None => &mut *self,
            };
            while theirs.parameters().doublings() < ours.parameters().doublings() {
                theirs = Cow::Owned(double_other(&theirs)?);
            }
            let is_behind = ours.parameters().doublings() < theirs.parameters().doublings();
            let together = ours.len().saturating_add(theirs.len());
            if !is_behind && together <= ours.limit() {
                match ours.filter_mut().merge(&theirs) {
                    // As with insertions: where so little is filled, copies are in the way, and growing would not help.
                    Err(MergeError::Full { slot_count, .. }) if !is_crowded(together, slot_count) => {}
                    Err(error) => return Err(error),
                    Ok(()) => break,
                }
            }
            let doubled = ours.doubled();
            grown = Some(doubled.map_err(|error| self.no_room(other, error))?);
        }
        if let Some(grown) = grown {
            *self = grown;
        }
        Ok(())
    }

    fn refuse_if_begun_otherwise(&self, other: &Self) -> Result<(), MergeError> {
        let (a, b) = (self.parameters(), other.parameters());
        let beginning = |parameters: &Parameters| {
            (
                parameters.buckets_per_region() >> parameters.doublings(),
                parameters.fingerprint_bits() + parameters.doublings(),
            )
        };
        let ((our_buckets, our_bits), (their_buckets, their_bits)) = (beginning(a), beginning(b));
        let differs = |what, ours: u64, theirs: u64| {
            Err(MergeError::Differs { what, ours: ours.to_string(), theirs: theirs.to_string() })
        };
        if our_buckets != their_buckets {
            return differs("the buckets per region at the beginning", our_buckets, their_buckets);
        }
        if our_bits != their_bits {
            return differs("the fingerprint bits at the beginning", our_bits.into(), their_bits.into());
        }
        Ok(())
    }

    fn no_room(&self, other: &Self, error: InsertError) -> MergeError {
        match error {
            InsertError::OutOfMemory { bytes } => MergeError::OutOfMemory { bytes },
            _ => {
                MergeError::Full { len: self.len(), other_len: other.len(), slot_count: self.as_filter().slot_count() }
            }
        }
    }
}

fn double_other(filter: &CuckooFilter) -> Result<CuckooFilter, MergeError> {
    filter.doubled().map_err(|error| match error {
        BuildError::OutOfMemory { bytes } => MergeError::OutOfMemory { bytes },
        // Ours has been doubled as often, with the same bits to begin with.
        error => unreachable!("{error}"),
    })
}
