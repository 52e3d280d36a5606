//! Making room: finding a chain of moves that frees a slot, then making them from the far end.
//!
//! The paper's Algorithm 1 evicts while it searches, so that giving up loses the last evicted fingerprint. Here nothing
//! is written before an empty slot has been found (invariant 2).

use alloc::vec::Vec;

use crate::addressing::{Addressing, Candidate, Fingerprint};
use crate::cast::{low_32, to_usize};
use crate::table::OutOfMemory;
use crate::table::{Place, Slot, Table, TableMut};

/// How many buckets a search visits before it gives up.
///
/// In regions of no more buckets the search is complete: it fails only if no arrangement of the fingerprints has
/// room for one more. In larger ones it costs under 1 % of the load that could be reached, and bounds the time of an insert
/// that fails.
pub(crate) const MAX_BUCKETS_VISITED: usize = 4096;

/// The nodes for which a search takes memory at first. Few searches need more, even at a load of 95 %.
const USUAL_NODES: usize = 64;

/// The most bytes that a search takes at a time.
pub(crate) const MAX_SEARCH_SIZE: usize = MAX_BUCKETS_VISITED * (size_of::<Node>() + 2 * size_of::<u32>());

/// A breadth-first search, and its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// The buckets in the order in which they were reached: both the queue, and the tree of how they were reached.
    nodes: Vec<Node>,
    visited: VisitedSet,
}

/// A bucket that was reached. All but the last one are full.
#[derive(Clone, Copy, Debug)]
struct Node {
    candidate: Candidate,
    source: Source,
}

/// The slot whose fingerprint moves to a bucket, and the node of that slot's bucket; `None` where the new fingerprint does.
type Source = Option<(u32, Slot)>;

/// The move of a fingerprint from its slot to one in another of its buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    from: (Candidate, Slot),
    to: (Candidate, Slot),
}

impl Move {
    pub(crate) const fn from(&self) -> Place {
        Place { bucket: self.from.0.bucket(), slot: self.from.1 }
    }

    pub(crate) const fn to(&self) -> Place {
        Place { bucket: self.to.0.bucket(), slot: self.to.1 }
    }

    /// Whether the fingerprint that is now in the slot, which need not be the one that the search saw, can make this
    /// move.
    #[cfg(feature = "std")]
    pub(crate) fn is_possible<A: Addressing, T: Table>(&self, addressing: &A, table: &T) -> bool {
        let (candidate, slot) = self.from;
        table.get(candidate.bucket(), slot).is_some_and(|fingerprint| {
            first_place(addressing, candidate, fingerprint, |place| (place == self.to.0).then_some(())).is_some()
        })
    }
}

/// A chain of moves that frees a slot in one of the roots of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// The move that is made first, to the empty slot.
    first: Move,
    /// What moves to the bucket that it leaves.
    source: Source,
}

impl Search {
    /// Looks for the shortest chain of moves that frees a slot in one of the `roots`, all of which are full. `None` if there is
    /// none, or an error if there is no memory to look further.
    pub(crate) fn find<A: Addressing, T: Table>(
        &mut self,
        addressing: &A,
        table: &T,
        roots: impl Iterator<Item = Candidate> + Clone,
    ) -> Result<Option<Path>, OutOfMemory> {
        // Mostly one move is enough, and is found without a queue.
        roots.clone().for_each(|root| prefetch_steps(addressing, table, root));
        for root in roots.clone() {
            let path = first_step(addressing, table, root, |slot, place| {
                let empty = table.vacancy(place.bucket()).slot()?;
                Some(Path { first: Move { from: (root, slot), to: (place, empty) }, source: None })
            });
            if path.is_some() {
                return Ok(path);
            }
        }
        for root in roots {
            self.reach(root, None)?;
        }
        let mut next = 0;
        while self.nodes.len() < MAX_BUCKETS_VISITED
            && let Some(&node) = self.nodes.get(next)
        {
            // Those of the node after this one, so that they come while this one's are looked at.
            if let Some(following) = self.nodes.get(next + 1) {
                prefetch_steps(addressing, table, following.candidate);
            }
            let path = first_step(addressing, table, node.candidate, |slot, place| {
                if self.nodes.len() == MAX_BUCKETS_VISITED {
                    return None;
                }
                match self.reach(place, Some((low_32(next as u64), slot))) {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(OutOfMemory) => return Some(Err(OutOfMemory)),
                }
                let empty = table.vacancy(place.bucket()).slot()?;
                let first = Move { from: (node.candidate, slot), to: (place, empty) };
                Some(Ok(Path { first, source: node.source }))
            });
            if path.is_some() {
                return path.transpose();
            }
            next += 1;
        }
        Ok(None)
    }

    /// Makes the moves of a path, and then puts `fingerprint` into the slot they free, which is returned.
    ///
    /// A fingerprint is written to its new slot before its old one is overwritten, so that at every moment each one is
    /// in at least one of its buckets (invariant 5). No slot is on the path twice: all buckets that its fingerprint could
    /// move to were added when it was first looked at.
    pub(crate) fn apply<T: TableMut>(&self, path: &Path, table: &mut T, fingerprint: Fingerprint) -> Place {
        let mut freed = path.first.to();
        for step in self.moves(path) {
            table.copy(step.from(), step.to());
            freed = step.from();
        }
        table.set(freed.bucket, freed.slot, Some(fingerprint));
        freed
    }

    /// The moves of a path from its far end.
    pub(crate) fn moves(&self, path: &Path) -> impl Iterator<Item = Move> + Clone {
        let mut next = Some((path.first, path.source));
        core::iter::from_fn(move || {
            let (step, source) = next?;
            next = source.map(|(node, slot)| {
                let node = self.nodes[to_usize(u64::from(node))];
                (Move { from: (node.candidate, slot), to: step.from }, node.source)
            });
            Some(step)
        })
    }

    /// Adds a bucket to the queue unless it is in it already.
    #[inline]
    fn reach(&mut self, candidate: Candidate, source: Source) -> Result<bool, OutOfMemory> {
        if self.visited.is_full(self.nodes.len()) {
            self.grow()?;
        }
        let is_new = self.visited.insert(candidate, &self.nodes);
        if is_new {
            self.nodes.push(Node { candidate, source });
        }
        Ok(is_new)
    }

    /// Takes memory for twice the nodes, in both places.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> Result<(), OutOfMemory> {
        let nodes = self.nodes.len();
        self.nodes.try_reserve_exact(nodes.max(USUAL_NODES)).map_err(|_| OutOfMemory)?;
        self.visited.grow(&self.nodes)
    }
}

/// Calls `visit` with each move that the fingerprints in a bucket could make, its slot and the bucket it would lead to, until
/// one is found that has a result.
#[inline]
fn first_step<A: Addressing, T: Table, R>(
    addressing: &A,
    table: &T,
    bucket: Candidate,
    mut visit: impl FnMut(Slot, Candidate) -> Option<R>,
) -> Option<R> {
    for (_, slot, fingerprint) in table.filled_slots(bucket.bucket()) {
        let result = first_place(addressing, bucket, fingerprint, |place| visit(slot, place));
        if result.is_some() {
            return result;
        }
    }
    None
}

/// Prefetches all buckets that the fingerprints in a bucket could move to: which of them has room is hard to predict.
#[inline]
fn prefetch_steps<A: Addressing, T: Table>(addressing: &A, table: &T, bucket: Candidate) {
    if !table.is_worth_prefetching() {
        return;
    }
    first_step(addressing, table, bucket, |_slot, place| {
        table.prefetch(place.bucket());
        None::<()>
    });
}

/// Calls `visit` with the other candidate buckets of a fingerprint that is in `bucket`, until one has a result.
#[inline]
fn first_place<A: Addressing, R>(
    addressing: &A,
    bucket: Candidate,
    fingerprint: Fingerprint,
    mut visit: impl FnMut(Candidate) -> Option<R>,
) -> Option<R> {
    let (mut place, mut result) = (bucket, None);
    for _ in 1..A::CANDIDATES {
        if result.is_some() {
            break;
        }
        place = addressing.alternate(place, fingerprint);
        result = visit(place);
    }
    result
}

/// Which buckets a search has reached: a hash table of node numbers, with linear probing.
#[derive(Clone, Debug, Default)]
struct VisitedSet {
    /// A node's number plus 1, or 0. Always a power of two long, and at least twice the nodes.
    places: Vec<u32>,
}

impl VisitedSet {
    const MIN_PLACES: usize = 2 * USUAL_NODES;

    /// Whether there is no place for one more than so many nodes.
    #[inline]
    const fn is_full(&self, nodes: usize) -> bool {
        self.places.len() < 2 * (nodes + 1)
    }

    /// Adds the bucket that is to become the next of `nodes`, for which there is a place. Returns `false` if it is among them
    /// already.
    #[inline]
    fn insert(&mut self, candidate: Candidate, nodes: &[Node]) -> bool {
        let mask = self.places.len() - 1;
        let mut place = self.first_place(candidate);
        loop {
            match self.places[place] {
                0 => {
                    self.places[place] = low_32(nodes.len() as u64) + 1;
                    return true;
                }
                number if nodes[to_usize(u64::from(number - 1))].candidate == candidate => return false,
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn grow(&mut self, nodes: &[Node]) -> Result<(), OutOfMemory> {
        let places = (2 * self.places.len()).max(Self::MIN_PLACES);
        self.places.clear();
        self.places.try_reserve_exact(places).map_err(|_| OutOfMemory)?;
        self.places.resize(places, 0);
        for index in 0..nodes.len() {
            self.insert(nodes[index].candidate, &nodes[..index]);
        }
        Ok(())
    }

    fn first_place(&self, candidate: Candidate) -> usize {
        // All buckets of a search are in one region, so the offset tells them apart.
        let hash = candidate.offset().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        to_usize((hash >> 32) & (self.places.len() as u64 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_visited_set_knows_each_bucket_once() {
        let mut search = Search::default();
        for offset in 0..3000 {
            assert!(matches!(search.reach(Candidate::at(7, offset), None), Ok(true)));
            assert!(matches!(search.reach(Candidate::at(7, offset), None), Ok(false)));
        }
        assert_eq!(search.nodes.len(), 3000);
    }
}
