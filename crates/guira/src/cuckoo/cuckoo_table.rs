//! Algorithms 1 to 3 of the paper.

use core::hint::select_unpredictable;

use crate::addressing::{Addressing, BucketIndex, Candidate, Fingerprint, Located};
use crate::cast::to_usize;
use crate::digest::Digest;
use crate::error::InsertError;
use crate::parameters::Parameters;
use crate::relocation::{CuckooGraph, MAX_SEARCH_SIZE, Search, Step, Steps};
use crate::table::{OutOfMemory, Place, Slot, Table, TableMut, Vacancy};

/// A table of slots with the rule by which its fingerprints are placed.
///
/// It is made for one operation, or one batch of them, from a [`Scheme`](super::Scheme) and a borrow of the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CuckooTable<A, T> {
    pub(crate) addressing: A,
    pub(crate) slots: T,
}

/// What becomes of a fingerprint that is stored already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeated {
    /// It is stored once more.
    Stored,
    /// It is left out.
    LeftOut,
}

/// Why there was no room. The public [`InsertError`](crate::InsertError) has more numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    Full,
    TooManyCopies {
        copies: u32,
    },
    /// There may be room, but no memory to look for it.
    OutOfMemory,
}

impl From<OutOfMemory> for NoRoom {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

impl NoRoom {
    /// The error that users see, of a filter that holds `len` fingerprints.
    pub(crate) const fn as_error(self, len: usize, parameters: &Parameters) -> InsertError {
        match self {
            Self::Full => InsertError::Full {
                len,
                capacity: to_usize(parameters.capacity()),
                slot_count: to_usize(parameters.slot_count()),
            },
            Self::TooManyCopies { copies } => InsertError::TooManyCopies { copies: to_usize(copies as u64) },
            Self::OutOfMemory => InsertError::OutOfMemory { bytes: MAX_SEARCH_SIZE as u64 },
        }
    }
}

impl<A: Addressing, T: Table> CuckooGraph for CuckooTable<A, T> {
    fn is_worth_prefetching(&self) -> bool {
        self.slots.is_worth_prefetching()
    }

    fn steps(&self, bucket: Candidate, steps: &mut Steps) {
        self.first_step(bucket, |step| {
            self.slots.prefetch(step.to.bucket());
            steps.push(step);
            None::<()>
        });
    }

    fn first_to_room(&self, bucket: Candidate, steps: &mut Steps) -> Option<(Step, Slot)> {
        let with_room = |step: Step| Some((step, self.slots.vacancy(step.to.bucket()).slot()?));
        if !steps.is_empty() {
            return steps.iter().copied().find_map(with_room);
        }
        self.first_step(bucket, |step| {
            steps.push(step);
            with_room(step)
        })
    }
}

impl<A: Addressing, T: Table> CuckooTable<A, T> {
    /// Calls `visit` with each step out of a bucket, until one has a result.
    #[inline]
    fn first_step<R>(&self, bucket: Candidate, mut visit: impl FnMut(Step) -> Option<R>) -> Option<R> {
        for (slot, fingerprint) in self.slots.filled_slots(bucket.bucket()) {
            let mut to = bucket;
            for _ in 1..A::CANDIDATES {
                to = self.addressing.alternate(to, fingerprint);
                let result = visit(Step { slot, to });
                if result.is_some() {
                    return result;
                }
            }
        }
        None
    }

    /// Algorithm 2.
    #[inline(always)]
    pub(crate) fn contains(&self, digest: Digest) -> bool {
        self.contains_located(self.addressing.locate(digest))
    }

    /// Whether any candidate bucket of a fingerprint holds it.
    #[inline(always)]
    pub(crate) fn contains_located(&self, Located { fingerprint, primary, second }: Located) -> bool {
        let mut found = self.slots.either_contains(primary.bucket(), second.bucket(), fingerprint);
        let mut candidate = second;
        for _ in 2..A::CANDIDATES {
            candidate = self.addressing.alternate(candidate, fingerprint);
            found |= self.slots.contains(candidate.bucket(), fingerprint);
        }
        found
    }

    /// How many copies of a key's fingerprint its candidate buckets hold.
    #[inline]
    pub(crate) fn count(&self, digest: Digest) -> u32 {
        self.copies(self.addressing.locate(digest))
    }

    /// How many copies of a fingerprint its candidate buckets hold.
    #[inline]
    pub(crate) fn copies(&self, located: Located) -> u32 {
        let buckets = self.addressing.distinct_buckets(located);
        buckets.map(|bucket| self.slots.count(bucket, located.fingerprint)).sum()
    }

    /// The empty slot that a fingerprint goes to, if a candidate has one.
    #[inline(always)]
    pub(crate) fn vacant_place(&self, Located { fingerprint, primary, second }: Located) -> Option<Place> {
        let (mut best, mut candidate) = (self.emptier(self.vacancy_of(primary.bucket()), second.bucket()), second);
        for _ in 2..A::CANDIDATES {
            candidate = self.addressing.alternate(candidate, fingerprint);
            best = self.emptier(best, candidate.bucket());
        }
        place_in(best)
    }

    #[inline(always)]
    fn vacancy_of(&self, bucket: BucketIndex) -> (Vacancy, BucketIndex) {
        (self.slots.vacancy(bucket), bucket)
    }

    /// The emptier one of two buckets. Not the first one with room: buckets then fill evenly, and a full pair is met later.
    #[inline(always)]
    fn emptier(&self, (best, best_bucket): (Vacancy, BucketIndex), bucket: BucketIndex) -> (Vacancy, BucketIndex) {
        let vacancy = self.slots.vacancy(bucket);
        let is_better = vacancy.fullness < best.fullness;
        let emptier = Vacancy {
            slot: select_unpredictable(is_better, vacancy.slot, best.slot),
            fullness: vacancy.fullness.min(best.fullness),
        };
        (emptier, select_unpredictable(is_better, bucket, best_bucket))
    }

    /// The first slot that holds a copy of a fingerprint.
    #[inline(always)]
    pub(crate) fn place_of(&self, Located { fingerprint, primary, second }: Located) -> Option<Place> {
        let mut found = self.slots.find_in_either(primary.bucket(), second.bucket(), fingerprint);
        let mut candidate = second;
        for _ in 2..A::CANDIDATES {
            candidate = self.addressing.alternate(candidate, fingerprint);
            let bucket = candidate.bucket();
            let here = self.slots.slot_of(bucket, fingerprint).map(|slot| Place { bucket, slot });
            found = select_unpredictable(found.is_some(), found, here);
        }
        found
    }
}

/// The empty slot of a bucket, if it has one.
#[inline(always)]
fn place_in((vacancy, bucket): (Vacancy, BucketIndex)) -> Option<Place> {
    vacancy.slot().map(|slot| Place { bucket, slot })
}

impl<A: Addressing, T: TableMut> CuckooTable<A, T> {
    /// Algorithm 1, except that nothing moves unless the key fits. Returns the slot that the fingerprint was put into; in
    /// a semi-sorted bucket, sorting may have moved it to another one.
    #[inline]
    pub(crate) fn insert(&mut self, digest: Digest) -> Result<Place, NoRoom> {
        self.insert_located(self.addressing.locate(digest))
    }

    /// Inserts a fingerprint. See [`insert`](Self::insert).
    #[inline]
    pub(crate) fn insert_located(&mut self, located: Located) -> Result<Place, NoRoom> {
        match self.fill(located) {
            Some(place) => Ok(place),
            None => self.insert_by_relocation(located.fingerprint, located.primary, located.second),
        }
    }

    /// Puts a fingerprint into a candidate bucket that has room. `None` if none seems to have.
    #[inline(always)]
    pub(super) fn fill(&mut self, located: Located) -> Option<Place> {
        let Located { fingerprint, primary, second } = located;
        if A::CANDIDATES == 2 && self.slots.fills_emptier() {
            return self.slots.fill_emptier(primary.bucket(), second.bucket(), fingerprint);
        }
        let place = self.vacant_place(located)?;
        self.slots.fill(place, fingerprint);
        Some(place)
    }

    /// Inserts a fingerprint whose candidate buckets are full, or seemed to be, by making room in one of them.
    ///
    /// It is given the parts, in registers: the whole would be written to memory in every insertion.
    #[cold]
    #[inline(never)]
    pub(crate) fn insert_by_relocation(
        &mut self,
        fingerprint: Fingerprint,
        primary: Candidate,
        second: Candidate,
    ) -> Result<Place, NoRoom> {
        let located = Located { fingerprint, primary, second };
        if self.slots.fills_emptier()
            && let Some(place) = self.vacant_place(located)
        {
            self.slots.fill(place, fingerprint);
            return Ok(place);
        }
        let candidates = self.addressing.distinct_candidates(located);
        let mut search = Search::default();
        if let Some(path) = search.find(self, &candidates)? {
            return Ok(search.apply(&path, &mut self.slots, fingerprint));
        }
        let (mut copies, mut only_copies) = (0, true);
        for candidate in candidates {
            let here = self.slots.count(candidate.bucket(), fingerprint);
            copies += here;
            only_copies &= here as usize == self.slots.slots().count();
        }
        Err(if only_copies { NoRoom::TooManyCopies { copies } } else { NoRoom::Full })
    }

    /// Algorithm 3. Returns `true` if there was a copy to remove.
    #[inline]
    pub(crate) fn remove(&mut self, digest: Digest) -> bool {
        let located = self.addressing.locate(digest);
        let place = self.place_of(located);
        if let Some(place) = place {
            self.slots.erase(place, located.fingerprint);
        }
        place.is_some()
    }
}
