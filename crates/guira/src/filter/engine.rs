//! Algorithms 1 to 3 of the paper, over one addressing and one layout.

use crate::addressing::{Addressing, BucketIndex, Fingerprint, PowerOfTwoAddressing, RegionalAddressing};
use crate::digest::Digest;
use crate::parameters::{self, Parameters};
use crate::relocation::Search;
use crate::table::{PackedTable, Storage, Table};

/// A table with the rule by which its fingerprints are placed.
#[derive(Clone, Debug)]
pub(crate) struct Nest<A, T> {
    addressing: A,
    table: T,
}

/// Why there was no room; in the terms of the public [`InsertError`](crate::InsertError), which has the numbers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    Full,
    TooManyCopies { copies: u32 },
}

impl<A: Addressing, T: Table> Nest<A, T> {
    /// Algorithm 2.
    #[inline]
    pub(crate) fn contains(&self, digest: Digest) -> bool {
        let (fingerprint, primary) = self.addressing.locate(digest);
        let mut candidate = primary;
        let mut found = self.table.contains(primary.bucket(), fingerprint);
        for _ in 1..A::CANDIDATES {
            candidate = self.addressing.alternate(candidate, fingerprint);
            // Not `||`: both buckets are on their way from memory at once, and no branch has to be guessed.
            found |= self.table.contains(candidate.bucket(), fingerprint);
        }
        found
    }

    /// How many copies of a key's fingerprint its candidate buckets hold.
    #[inline]
    pub(crate) fn count(&self, digest: Digest) -> u32 {
        let (fingerprint, primary) = self.addressing.locate(digest);
        let candidates = self.addressing.distinct_candidates(primary, fingerprint);
        candidates.map(|candidate| self.table.count(candidate.bucket(), fingerprint)).sum()
    }

    /// Algorithm 1, but that it moves nothing unless it succeeds.
    #[inline]
    pub(crate) fn insert(&mut self, digest: Digest, search: &mut Search) -> Result<(), NoRoom> {
        let (fingerprint, primary) = self.addressing.locate(digest);
        let mut candidate = primary;
        for _ in 0..A::CANDIDATES {
            let bucket = candidate.bucket();
            if let Some(slot) = self.table.empty_slot(bucket) {
                self.table.set(bucket, slot, Some(fingerprint));
                return Ok(());
            }
            candidate = self.addressing.alternate(candidate, fingerprint);
        }
        self.insert_by_relocation(fingerprint, digest, search)
    }

    #[cold]
    #[inline(never)]
    fn insert_by_relocation(
        &mut self,
        fingerprint: Fingerprint,
        digest: Digest,
        search: &mut Search,
    ) -> Result<(), NoRoom> {
        let (_, primary) = self.addressing.locate(digest);
        let candidates = self.addressing.distinct_candidates(primary, fingerprint);
        if let Some(path) = search.find(&self.addressing, &self.table, candidates) {
            search.apply(path, &mut self.table, fingerprint);
            return Ok(());
        }
        let candidates = self.addressing.distinct_candidates(primary, fingerprint);
        let only_copies = candidates
            .flat_map(|candidate| self.table.slots().map(move |slot| (candidate.bucket(), slot)))
            .all(|(bucket, slot)| self.table.get(bucket, slot) == Some(fingerprint));
        Err(if only_copies { NoRoom::TooManyCopies { copies: self.count(digest) } } else { NoRoom::Full })
    }

    /// Algorithm 3.
    #[inline]
    pub(crate) fn remove(&mut self, digest: Digest) -> bool {
        let (fingerprint, primary) = self.addressing.locate(digest);
        let mut candidate = primary;
        for _ in 0..A::CANDIDATES {
            let bucket = candidate.bucket();
            if let Some(slot) = self.table.slot_of(bucket, fingerprint) {
                self.table.set(bucket, slot, None);
                return true;
            }
            candidate = self.addressing.alternate(candidate, fingerprint);
        }
        false
    }

    /// The fingerprints of a bucket.
    pub(crate) fn fingerprints(&self, bucket: BucketIndex) -> impl Iterator<Item = Fingerprint> {
        self.table.slots().filter_map(move |slot| self.table.get(bucket, slot))
    }

    /// How many slots are not empty.
    pub(crate) fn occupied_slots(&self, parameters: &Parameters) -> u64 {
        let empty_slots = |bucket| u64::from(self.table.empty_slots(BucketIndex::new(bucket)));
        parameters.slot_count() - (0..parameters.bucket_count()).map(empty_slots).sum::<u64>()
    }

    pub(crate) fn storage(&self) -> &Storage {
        self.table.storage()
    }

    pub(crate) fn storage_mut(&mut self) -> &mut Storage {
        self.table.storage_mut()
    }
}

/// The combinations of addressing and layout that there are. Each is compiled on its own; which one it is, is asked
/// once per operation.
#[derive(Clone, Debug)]
pub(crate) enum Engine {
    RegionalNarrow(Nest<RegionalAddressing, PackedTable<u64, true>>),
    RegionalWide(Nest<RegionalAddressing, PackedTable<u128, false>>),
    PowerOfTwoNarrow(Nest<PowerOfTwoAddressing, PackedTable<u64, true>>),
    PowerOfTwoWide(Nest<PowerOfTwoAddressing, PackedTable<u128, false>>),
}

/// Does the same with whichever combination it is.
macro_rules! with_nest {
    ($engine:expr, $nest:ident => $body:expr) => {
        match $engine {
            $crate::filter::Engine::RegionalNarrow($nest) => $body,
            $crate::filter::Engine::RegionalWide($nest) => $body,
            $crate::filter::Engine::PowerOfTwoNarrow($nest) => $body,
            $crate::filter::Engine::PowerOfTwoWide($nest) => $body,
        }
    };
}

pub(super) use with_nest;

impl Engine {
    /// The combination for these parameters, over memory that was allocated for them.
    pub(crate) fn new(parameters: &Parameters, seed: u64, storage: Storage) -> Self {
        let narrow = PackedTable::<u64, true>::holds_bucket(parameters);
        match parameters.addressing() {
            parameters::Addressing::Regional => {
                let addressing = RegionalAddressing::new(parameters, seed);
                if narrow {
                    Self::RegionalNarrow(Nest { addressing, table: PackedTable::new(parameters, storage) })
                } else {
                    Self::RegionalWide(Nest { addressing, table: PackedTable::new(parameters, storage) })
                }
            }
            parameters::Addressing::PowerOfTwo => {
                let addressing = PowerOfTwoAddressing::new(parameters, seed);
                if narrow {
                    Self::PowerOfTwoNarrow(Nest { addressing, table: PackedTable::new(parameters, storage) })
                } else {
                    Self::PowerOfTwoWide(Nest { addressing, table: PackedTable::new(parameters, storage) })
                }
            }
        }
    }

    pub(crate) fn storage(&self) -> &Storage {
        with_nest!(self, nest => nest.storage())
    }

    pub(crate) fn storage_mut(&mut self) -> &mut Storage {
        with_nest!(self, nest => nest.storage_mut())
    }
}
