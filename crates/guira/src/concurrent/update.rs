//! Algorithms 1 and 3 under locks.

use alloc::vec::Vec;

use super::engine::{Engine, Guards, SharedNest, with_shared_nest};
use super::stripes::HeldTogether;
use crate::addressing::{Addressing, Candidate, Fingerprint};
use crate::digest::Digest;
use crate::filter::{Nest, NoRoom};
use crate::probe::Word;
use crate::relocation::{Move, Search, SingleMove};
use crate::table::{Place, Table, TableMut};

/// How often a path is searched for beside other writers, before they are made to wait.
const MOST_SEARCHES: usize = 16;

/// What becomes of a key whose fingerprint is stored already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeated {
    /// It is stored once more.
    Stored,
    /// It is left out.
    LeftOut,
}

impl Engine {
    /// Stores a copy of a key's fingerprint; whether it was stored.
    pub(super) fn insert(&self, digest: Digest, repeated: Repeated, guards: &Guards) -> Result<bool, NoRoom> {
        with_shared_nest!(self, nest => nest.insert_beside_others(digest, repeated, guards))
    }

    /// Removes a copy of a key's fingerprint; whether there was one.
    pub(super) fn remove(&self, digest: Digest, guards: &Guards) -> bool {
        with_shared_nest!(self, nest => nest.remove_beside_others(digest, guards))
    }
}

impl<A: Addressing, W: Word, const ONE_WORD: bool> SharedNest<A, W, ONE_WORD> {
    /// The table, to be written where the caller holds the locks.
    #[inline]
    fn writer(&self, guards: &Guards) -> Nest<A, impl TableMut> {
        let Self { addressing, ref table } = *self;
        Nest { addressing, table: table.watched(|leaving| guards.versions.leaves(leaving)) }
    }

    #[inline]
    pub(super) fn insert_beside_others(
        &self,
        digest: Digest,
        repeated: Repeated,
        guards: &Guards,
    ) -> Result<bool, NoRoom> {
        let nest = self.view();
        let (fingerprint, primary) = nest.addressing.locate(digest);
        // The look brings the buckets here before there is a lock that others wait for.
        if repeated == Repeated::Stored
            && let Some(Place { bucket, .. }) = nest.vacant_place(fingerprint, primary)
        {
            let held = guards.stripes.lock(bucket);
            // Others may have been here since the look.
            if let Some(vacancy) = nest.table.vacancy(bucket) {
                self.writer(guards).table.set(bucket, vacancy.slot, Some(fingerprint));
                held.count_stored();
                return Ok(true);
            }
        }
        self.insert_with_several_locks(fingerprint, primary, repeated, guards)
    }

    /// Where a place is to be made, or the key must not be there yet.
    #[cold]
    #[inline(never)]
    fn insert_with_several_locks(
        &self,
        fingerprint: Fingerprint,
        primary: Candidate,
        repeated: Repeated,
        guards: &Guards,
    ) -> Result<bool, NoRoom> {
        let nest = self.view();
        let is_left_out = || repeated == Repeated::LeftOut && nest.place_of(fingerprint, primary).is_some();
        let mut search = Search::default();
        for _ in 0..MOST_SEARCHES {
            let moves = match nest.vacant_place(fingerprint, primary) {
                Some(_) => Vec::new(),
                None => match nest.moves_to_make_room(fingerprint, primary, &mut search) {
                    Some(moves) => moves,
                    None => break,
                },
            };
            let held = self.lock_path(fingerprint, primary, &moves, guards);
            if is_left_out() {
                return Ok(false);
            }
            if let Some(place) = nest.place_by(&moves, fingerprint, primary) {
                let mut writer = self.writer(guards);
                for made in &moves {
                    writer.table.copy(made.from(), made.to());
                }
                writer.table.set(place.bucket, place.slot, Some(fingerprint));
                held.one().count_stored();
                return Ok(true);
            }
        }
        // No path was found, or none lasted until it was locked: whether there is one is certain if nobody else writes.
        let held = guards.stripes.lock_all();
        if is_left_out() {
            return Ok(false);
        }
        self.writer(guards).insert_located(fingerprint, primary, &mut search)?;
        held.one().count_stored();
        Ok(true)
    }

    /// Locks the candidate buckets of a fingerprint and all buckets of a path.
    fn lock_path<'guards>(
        &self,
        fingerprint: Fingerprint,
        primary: Candidate,
        moves: &[Move],
        guards: &'guards Guards,
    ) -> HeldTogether<'guards> {
        // The first slot on the way is a candidate's.
        let candidates = self.addressing.distinct_candidates(primary, fingerprint).map(Candidate::bucket);
        guards.stripes.lock_each(candidates.chain(moves.iter().map(|made| made.to().bucket)))
    }

    #[inline]
    pub(super) fn remove_beside_others(&self, digest: Digest, guards: &Guards) -> bool {
        let nest = self.view();
        let (fingerprint, primary) = nest.addressing.locate(digest);
        if let Some(Place { bucket, .. }) = nest.place_of(fingerprint, primary) {
            let held = guards.stripes.lock(bucket);
            // It may have moved since the look, or others may have removed it.
            if let Some(slot) = nest.table.slot_of(bucket, fingerprint) {
                self.writer(guards).table.set(bucket, slot, None);
                held.count_removed();
                return true;
            }
        }
        self.remove_with_several_locks(fingerprint, primary, guards)
    }

    /// Where one look found none: with all candidates locked it can't move from one to the other.
    #[cold]
    #[inline(never)]
    fn remove_with_several_locks(&self, fingerprint: Fingerprint, primary: Candidate, guards: &Guards) -> bool {
        let held = self.lock_path(fingerprint, primary, &[], guards);
        let place = self.view().place_of(fingerprint, primary);
        if let Some(Place { bucket, slot }) = place {
            self.writer(guards).table.set(bucket, slot, None);
            held.one().count_removed();
        }
        place.is_some()
    }
}

impl<A: Addressing, T: Table> Nest<A, T> {
    /// The moves that free a slot in a candidate bucket, from the far end, as the table looks beside other writers.
    fn moves_to_make_room(
        &self,
        fingerprint: Fingerprint,
        primary: Candidate,
        search: &mut Search,
    ) -> Option<Vec<Move>> {
        let candidates = || self.addressing.distinct_candidates(primary, fingerprint);
        if let Some(single) = SingleMove::find(&self.addressing, &self.table, candidates()) {
            return Some(Vec::from([single.into_move()]));
        }
        let path = search.find(&self.addressing, &self.table, candidates())?;
        Some(search.moves(&path).collect())
    }

    /// The slot for a fingerprint when all moves are made; `None` unless all of them can still be made, which the locks
    /// of their buckets decide. Without moves, any empty slot of a candidate.
    fn place_by(&self, moves: &[Move], fingerprint: Fingerprint, primary: Candidate) -> Option<Place> {
        let [first, ..] = moves else { return self.vacant_place(fingerprint, primary) };
        let end = first.to();
        let is_open = self.table.get(end.bucket, end.slot).is_none()
            && moves.iter().all(|made| made.is_possible(&self.addressing, &self.table));
        if is_open { moves.last().map(Move::from) } else { None }
    }
}
