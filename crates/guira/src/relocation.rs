//! Making room: finding a chain of moves that frees a slot, then making them from the far end.
//!
//! The paper's Algorithm 1 evicts while it searches, so that giving up loses the last evicted fingerprint. Here nothing
//! is written before an empty slot has been found (invariant 2).

use alloc::vec::Vec;
use core::array;

use arrayvec::ArrayVec;

#[cfg(feature = "concurrent")]
use crate::addressing::Addressing;
use crate::addressing::{Candidate, Fingerprint, MOST_CANDIDATES};
use crate::cast::{low_32, to_usize};
#[cfg(feature = "concurrent")]
use crate::table::Table;
use crate::table::{MOST_SLOTS, OutOfMemory, Place, Slot, TableMut};

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

/// The cuckoo graph of a table: its vertices are the buckets, and from each bucket edges lead to all others that its fingerprints
/// may be in.
///
/// It is asked about all edges out of a bucket at once, so that a search is compiled once for tables of all kinds.
pub(crate) trait CuckooGraph {
    /// Whether a bucket that is read is mostly waited for.
    fn is_worth_prefetching(&self) -> bool;

    /// Puts the steps out of a bucket into an empty list, in the order of their slots, and prefetches the buckets that they lead to.
    fn steps(&self, bucket: Candidate, steps: &mut Steps);

    /// The first step out of a full bucket that leads to one with an empty slot, and that slot. The steps are those that are given, or
    /// if these are none, they are computed as far as they are looked at.
    fn first_to_room(&self, bucket: Candidate, steps: &mut Steps) -> Option<(Step, Slot)>;
}

/// An edge of the graph: the slot of a fingerprint, and another bucket that it may be in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) slot: Slot,
    pub(crate) to: Candidate,
}

/// The steps out of one bucket.
pub(crate) type Steps = ArrayVec<Step, { MOST_SLOTS * (MOST_CANDIDATES - 1) }>;

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
    #[cfg(feature = "concurrent")]
    pub(crate) fn is_possible(&self, addressing: &impl Addressing, table: &impl Table) -> bool {
        let (candidate, slot) = self.from;
        table
            .get(candidate.bucket(), slot)
            .is_some_and(|fingerprint| addressing.distinct_candidates(candidate, fingerprint).contains(&self.to.0))
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

impl Path {
    /// The path that a search has followed to a node, and then a step to an empty slot.
    const fn from_node(node: Node, step: Step, empty: Slot) -> Self {
        Self { first: Move { from: (node.candidate, step.slot), to: (step.to, empty) }, source: node.source }
    }
}

impl Search {
    /// Looks for the shortest chain of moves that frees a slot in one of the `roots`, all of which are full. `None` if there is
    /// none, or an error if there is no memory to look further.
    pub(crate) fn find(&mut self, graph: &dyn CuckooGraph, roots: &[Candidate]) -> Result<Option<Path>, OutOfMemory> {
        let prefetches = graph.is_worth_prefetching();
        // Mostly one move is enough, and is found without a queue.
        let mut steps: [Steps; MOST_CANDIDATES] = array::from_fn(|_| Steps::new());
        if prefetches {
            roots.iter().zip(&mut steps).for_each(|(&root, steps)| graph.steps(root, steps));
        }
        for (&root, steps) in roots.iter().zip(&mut steps) {
            if let Some((step, empty)) = graph.first_to_room(root, steps) {
                return Ok(Some(Path::from_node(Node { candidate: root, source: None }, step, empty)));
            }
        }
        for &root in roots {
            self.reach(root, None)?;
        }
        for (root, steps) in (0..roots.len()).zip(&steps) {
            self.reach_from(root, steps)?;
        }
        // The steps out of a node are known while those of the node before it are looked at, so that the buckets they lead to come
        // meanwhile.
        let ([steps, next_steps, ..], mut next) = (&mut steps, roots.len());
        let (mut steps, mut next_steps) = (steps, next_steps);
        next_steps.clear();
        while self.nodes.len() < MAX_BUCKETS_VISITED
            && let Some(&node) = self.nodes.get(next)
        {
            core::mem::swap(&mut steps, &mut next_steps);
            next_steps.clear();
            if prefetches && let Some(following) = self.nodes.get(next + 1) {
                graph.steps(following.candidate, next_steps);
            }
            if let Some((step, empty)) = graph.first_to_room(node.candidate, steps) {
                return Ok(Some(Path::from_node(node, step, empty)));
            }
            self.reach_from(next, steps)?;
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

    /// Adds the buckets that the steps out of a node lead to, as far as so many may be visited.
    fn reach_from(&mut self, node: usize, steps: &[Step]) -> Result<(), OutOfMemory> {
        for step in steps {
            if self.nodes.len() < MAX_BUCKETS_VISITED {
                self.reach(step.to, Some((low_32(node as u64), step.slot)))?;
            }
        }
        Ok(())
    }

    /// Adds a bucket to the queue unless it is in it already.
    #[inline]
    fn reach(&mut self, candidate: Candidate, source: Source) -> Result<(), OutOfMemory> {
        if self.visited.is_full(self.nodes.len()) {
            self.grow()?;
        }
        if self.visited.insert(candidate, &self.nodes) {
            self.nodes.push(Node { candidate, source });
        }
        Ok(())
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
            for _ in 0..2 {
                assert!(search.reach(Candidate::at(7, offset), None).is_ok());
            }
            assert_eq!(search.nodes.len() as u64, offset + 1);
        }
    }
}
