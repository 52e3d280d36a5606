//! Algorithm 2 beside writers.

use super::engine::{Engine, Guards, SharedNest, with_shared_nest};
use super::stripes::Retired;
use super::versions::Versions;
use crate::addressing::{Addressing, Candidate, Fingerprint};
use crate::batch::Awaited;
use crate::digest::Digest;
use crate::filter::Nest;
use crate::probe::Word;
use crate::table::Table;

/// How often a reader looks at most. Each look but the first follows a removal or a move of a fingerprint of the same
/// class, so a second is rare, and this many come in turn only where somebody brings them about.
const MOST_LOOKS: u32 = 64;

/// Whether something holds, as far as one look tells; `None` where a fingerprint may have moved past it.
#[inline]
fn look(versions: &Versions, fingerprint: Fingerprint, contains: impl FnOnce() -> bool) -> Option<bool> {
    let watch = versions.watch(fingerprint);
    let found = contains();
    // Not `||`: whether a key is found is hard to guess, and that something moved is rare.
    (found | watch.nothing_left()).then_some(found)
}

impl<A: Addressing, W: Word, const ONE_WORD: bool> SharedNest<A, W, ONE_WORD> {
    /// Algorithm 2. It waits for nobody: where fingerprints move past every look, the answer is "probably", which a filter
    /// may give to every question.
    #[inline]
    pub(super) fn contains_beside_writers(&self, digest: Digest, versions: &Versions) -> bool {
        let nest = self.view();
        let (fingerprint, primary) = nest.addressing.locate(digest);
        match look(versions, fingerprint, || nest.contains_located(fingerprint, primary)) {
            Some(found) => found,
            None => self.look_again(fingerprint, primary, versions),
        }
    }

    /// The same for a key whose buckets were asked for, in a view of this nest.
    #[inline]
    pub(super) fn contains_awaited_beside_writers(
        &self,
        nest: &Nest<A, impl Table>,
        awaited: Awaited,
        versions: &Versions,
    ) -> bool {
        match look(versions, awaited.fingerprint, || nest.contains_awaited(awaited)) {
            Some(found) => found,
            None => self.look_again(awaited.fingerprint, awaited.second, versions),
        }
    }

    /// Not a method of the view: that would have to be written to memory, in every lookup, for a function that is hardly
    /// ever called.
    #[cold]
    #[inline(never)]
    fn look_again(&self, fingerprint: Fingerprint, candidate: Candidate, versions: &Versions) -> bool {
        let nest = self.view();
        let look_once_more = |_| look(versions, fingerprint, || nest.contains_located(fingerprint, candidate));
        (1..MOST_LOOKS).find_map(look_once_more).unwrap_or(true)
    }
}

impl<A: Addressing, T: Table> Nest<A, T> {
    /// How many copies of a fingerprint are stored, as far as a few looks tell.
    fn count_beside_writers(&self, fingerprint: Fingerprint, primary: Candidate, versions: &Versions) -> Option<u32> {
        (0..MOST_LOOKS).find_map(|_| {
            let watch = versions.watch(fingerprint);
            let copies = self.copies(fingerprint, primary);
            watch.nothing_left().then_some(copies)
        })
    }
}

impl Engine {
    /// Whether a fingerprint of this digest is stored. As with filters of one thread, only the combination that is planned
    /// by default becomes part of the caller.
    #[inline]
    pub(super) fn contains(&self, digest: Digest, guards: &Guards) -> bool {
        match self {
            Self::RegionalNarrow(nest) => nest.contains_beside_writers(digest, &guards.versions),
            _ => self.contains_elsewhere(digest, guards),
        }
    }

    #[inline(never)]
    fn contains_elsewhere(&self, digest: Digest, guards: &Guards) -> bool {
        with_shared_nest!(self, nest => nest.contains_beside_writers(digest, &guards.versions))
    }

    /// How many copies of a key's fingerprint are stored. Where looking comes to no end, the writers are made to wait.
    pub(super) fn count(&self, digest: Digest, guards: &Guards) -> Result<u32, Retired> {
        with_shared_nest!(self, nest => {
            let nest = nest.view();
            let (fingerprint, primary) = nest.addressing.locate(digest);
            if let Some(copies) = nest.count_beside_writers(fingerprint, primary, &guards.versions) {
                return Ok(copies);
            }
            let candidates = nest.addressing.distinct_candidates(primary, fingerprint);
            let _held = guards.stripes.lock_each(candidates.map(Candidate::bucket))?;
            Ok(nest.copies(fingerprint, primary))
        })
    }
}
