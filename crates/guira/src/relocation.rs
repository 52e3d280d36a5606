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
        table.get(candidate.bucket(), slot).is_some_and(|fingerprint| {
            addressing.distinct_candidates(addressing.located(fingerprint, candidate)).contains(&self.to.0)
        })
    }
}

/// A chain of moves that frees a slot in one of the roots of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// The move that is made first, to the empty slot.
    first: Move,
    /// The move after it, if the path has these two.
    second: Option<Move>,
    /// What moves to the bucket that the first move leaves, if the path is noted in the nodes of the search.
    source: Source,
}

impl Path {
    /// The path that a search has followed to a node, and then a step to an empty slot.
    const fn from_node(node: Node, step: Step, empty: Slot) -> Self {
        let first = Move { from: (node.candidate, step.slot), to: (step.to, empty) };
        Self { first, second: None, source: node.source }
    }

    /// The path out of a root over two steps to an empty slot.
    const fn of_two(root: Candidate, [step, last]: [Step; 2], empty: Slot) -> Self {
        let first = Move { from: (step.to, last.slot), to: (last.to, empty) };
        Self { first, second: Some(Move { from: (root, step.slot), to: first.from }), source: None }
    }
}

/// Looks at buckets one after the other. The steps out of a bucket are known while those of the one before it are looked at, so that
/// the buckets they lead to come meanwhile.
struct Looking<'graph> {
    graph: &'graph dyn CuckooGraph,
    prefetches: bool,
    /// The steps out of the bucket that is looked at and, as far as they are known, the next one.
    steps: [Steps; 2],
    /// Which of them are those of the bucket that is looked at.
    current: usize,
}

impl<'graph> Looking<'graph> {
    fn new(graph: &'graph dyn CuckooGraph) -> Self {
        let steps = [Steps::new(), Steps::new()];
        Self { graph, prefetches: graph.is_worth_prefetching(), steps, current: 0 }
    }

    /// See [`CuckooGraph::first_to_room`]. The bucket is the one that was said to come next.
    #[inline]
    fn first_to_room(&mut self, bucket: Candidate, next: Option<Candidate>) -> Option<(Step, Slot)> {
        self.current ^= 1;
        let [first, second] = &mut self.steps;
        let (steps, next_steps) = if self.current == 0 { (first, second) } else { (second, first) };
        next_steps.clear();
        if self.prefetches
            && let Some(next) = next
        {
            self.graph.steps(next, next_steps);
        }
        self.graph.first_to_room(bucket, steps)
    }

    /// The steps out of the bucket that was looked at.
    fn steps(&self) -> &Steps {
        &self.steps[self.current]
    }
}

impl Search {
    /// Looks for the shortest chain of moves that frees a slot in one of the `roots`, all of which are full. `None` if there is
    /// none, or an error if there is no memory to look further.
    pub(crate) fn find(&mut self, graph: &dyn CuckooGraph, roots: &[Candidate]) -> Result<Option<Path>, OutOfMemory> {
        // Mostly one move is enough, or two, and these are found without memory.
        let mut steps: [Steps; MOST_CANDIDATES] = array::from_fn(|_| Steps::new());
        if graph.is_worth_prefetching() {
            roots.iter().zip(&mut steps).for_each(|(&root, steps)| graph.steps(root, steps));
        }
        for (&root, steps) in roots.iter().zip(&mut steps) {
            if let Some((step, empty)) = graph.first_to_room(root, steps) {
                return Ok(Some(Path::from_node(Node { candidate: root, source: None }, step, empty)));
            }
        }
        let steps_of_roots =
            roots.iter().zip(&steps).flat_map(|(root, steps)| steps.iter().map(move |step| (root, step)));
        let mut first_steps = steps_of_roots.filter(|(_, step)| !roots.contains(&step.to)).peekable();
        let mut looking = Looking::new(graph);
        while let Some((&root, &step)) = first_steps.next() {
            let next = first_steps.peek().map(|(_, next)| next.to);
            if let Some((last, empty)) = looking.first_to_room(step.to, next) {
                return Ok(Some(Path::of_two(root, [step, last], empty)));
            }
        }
        self.find_far(graph, roots)
    }

    /// As [`find`](Self::find), where a path has more than two moves, if there is any. It begins anew, and notes what it reaches: one search
    /// in twenty comes here, even in tables that are nearly full.
    #[cold]
    #[inline(never)]
    fn find_far(&mut self, graph: &dyn CuckooGraph, roots: &[Candidate]) -> Result<Option<Path>, OutOfMemory> {
        for &root in roots {
            self.reach(root, None)?;
        }
        let mut looking = Looking::new(graph);
        let mut next = 0;
        while self.nodes.len() < MAX_BUCKETS_VISITED
            && let Some(&node) = self.nodes.get(next)
        {
            let following = self.nodes.get(next + 1).map(|node| node.candidate);
            if let Some((step, empty)) = looking.first_to_room(node.candidate, following) {
                return Ok(Some(Path::from_node(node, step, empty)));
            }
            for step in looking.steps() {
                if self.nodes.len() < MAX_BUCKETS_VISITED {
                    self.reach(step.to, Some((low_32(next as u64), step.slot)))?;
                }
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
        table.copy(path.first.from(), path.first.to());
        let mut freed = path.first.from();
        if path.second.is_some() || path.source.is_some() {
            // Of five paths, four have one move, for which a loop takes twice as many instructions.
            for step in self.moves(path).skip(1) {
                table.copy(step.from(), step.to());
                freed = step.from();
            }
        }
        table.set(freed.bucket, freed.slot, Some(fingerprint));
        freed
    }

    /// The moves of a path from its far end.
    pub(crate) fn moves(&self, path: &Path) -> impl Iterator<Item = Move> + Clone {
        let (mut to, mut source) = (path.second.unwrap_or(path.first).from, path.source);
        let noted = core::iter::from_fn(move || {
            let (number, slot) = source?;
            let node = self.nodes[to_usize(u64::from(number))];
            let noted = Move { from: (node.candidate, slot), to };
            (to, source) = (noted.from, node.source);
            Some(noted)
        });
        core::iter::once(path.first).chain(path.second).chain(noted)
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
