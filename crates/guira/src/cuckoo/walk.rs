//! Walks through all buckets: what is stored, and whether it may be.

use alloc::vec::Vec;
use core::ops::Range;

use super::{CuckooTable, Scheme, with_table};
use crate::addressing::{Addressing, BucketIndex, Candidate, Fingerprint};
use crate::table::{OutOfMemory, Place, Table, TableMut};

impl Scheme {
    /// The fingerprints in some buckets of a table of which `bytes` is a part: it begins with bucket `first`, and ends behind the last
    /// of the buckets with 16 bytes more. `None` where they hold what no table holds.
    pub(crate) fn fingerprints_in(
        &self,
        bytes: &[u8],
        first: u64,
        count: u64,
    ) -> Result<Option<Vec<(BucketIndex, Fingerprint)>>, OutOfMemory> {
        with_table!(self, over(bytes), table => {
            let mut fingerprints = Vec::new();
            for index in 0..count {
                let (here, bucket) = (BucketIndex::new(index), BucketIndex::new(first + index));
                if !table.slots.is_well_formed(here) {
                    return Ok(None);
                }
                let may_be_here = table.addressing.may_hold(bucket);
                for (_, fingerprint) in table.slots.filled_slots(here) {
                    if !may_be_here(fingerprint) {
                        return Ok(None);
                    }
                    fingerprints.try_reserve(1).map_err(|_| OutOfMemory)?;
                    fingerprints.push((bucket, fingerprint));
                }
            }
            Ok(Some(fingerprints))
        })
    }
}

impl<A: Addressing, T: Table> CuckooTable<A, T> {
    /// The fingerprints in a bucket of the [grid](Addressing::grid), given its number, each with the bucket that it is in.
    pub(crate) fn stored_in(&self, number: u64) -> impl Iterator<Item = (BucketIndex, Fingerprint)> {
        let bucket = self.addressing.grid().bucket(number);
        self.slots.filled_slots(bucket.bucket()).map(move |(_, fingerprint)| (bucket.bucket(), fingerprint))
    }

    /// How many slots of some buckets are not empty; `None` unless each of these holds a fingerprint that may be stored in its bucket,
    /// and each bucket is coded as its layout prescribes. Unless `knows_seed`, the seed is a secret: in which buckets a fingerprint may
    /// be is not seen then. Nothing else of the table is read than these buckets, and the words in which they end.
    pub(crate) fn occupied_if_well_formed(&self, numbers: Range<u64>, knows_seed: bool) -> Option<u64> {
        let (mut occupied, mut is_well_formed) = (0, true);
        for bucket in numbers.map(BucketIndex::new) {
            let (filled, may_be) = self.slots.count_filled(bucket, A::TELLING_BITS);
            occupied += filled;
            is_well_formed &= may_be & self.slots.is_well_formed(bucket);
            if knows_seed && self.addressing.is_choosy() {
                let may_be_here = self.addressing.may_hold(bucket);
                is_well_formed &= self.slots.filled_slots(bucket).all(|(_, fingerprint)| may_be_here(fingerprint));
            }
        }
        is_well_formed.then_some(occupied)
    }

    /// Returns `true` if every fingerprint is stored once.
    pub(crate) fn has_no_copies(&self) -> bool {
        self.addressing.grid().buckets().all(|bucket| self.place_of_copy(bucket).is_none())
    }

    /// A slot of a bucket whose fingerprint has further copies.
    fn place_of_copy(&self, bucket: Candidate) -> Option<Place> {
        let mut filled = self.slots.filled_slots(bucket.bucket());
        let copy = filled.find(|&(_, fingerprint)| self.copies(self.addressing.located(fingerprint, bucket)) > 1);
        copy.map(|(slot, _)| Place { bucket: bucket.bucket(), slot })
    }

    /// All slots of the table.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        let in_bucket = |bucket: Candidate| self.slots.slots().map(move |slot| Place { bucket: bucket.bucket(), slot });
        self.addressing.grid().buckets().flat_map(in_bucket)
    }
}

impl<A: Addressing, T: TableMut> CuckooTable<A, T> {
    /// Removes all copies of each fingerprint but one, and returns how many were removed.
    pub(crate) fn remove_copies(&mut self) -> usize {
        let mut removed = 0;
        for bucket in self.addressing.grid().buckets() {
            while let Some(Place { bucket, slot }) = self.place_of_copy(bucket) {
                self.slots.set(bucket, slot, None);
                removed += 1;
            }
        }
        removed
    }
}
