//! Making room: finding a chain of moves that frees a slot, then making them from the far end.
//!
//! The paper's Algorithm 1 evicts while it searches, so that giving up loses the last evicted fingerprint. Here nothing
//! is written before an empty slot has been found (invariant 2).

use alloc::vec::Vec;

use crate::addressing::{Addressing, Candidate, Fingerprint};
use crate::cast::{low_32, to_usize};
use crate::table::{Place, Slot, Table, TableMut};

/// How many buckets a search visits before it gives up.
///
/// In regions of no more buckets the search is complete: it fails only if no arrangement of the fingerprints has room
/// for one more. In larger ones it costs under 1 % of the load that could be reached, and bounds the time of an insert
/// that fails.
pub(crate) const MAX_BUCKETS_VISITED: usize = 4096;

/// A breadth-first search, and its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// The buckets in the order in which they were reached: both the queue, and the tree of how they were reached.
    nodes: Vec<Node>,
    visited: VisitedSet,
}

/// A bucket that was reached, and the move that led there.
#[derive(Clone, Copy, Debug)]
struct Node {
    candidate: Candidate,
    /// The slot whose fingerprint would move here, and the node of its bucket; `None` for the roots.
    source: Option<(u32, Slot)>,
}

/// The move of a fingerprint from its slot to one in another of its buckets.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    from: (Candidate, Slot),
    to: (Candidate, Slot),
}

#[cfg(feature = "std")]
impl Move {
    pub(crate) const fn from(&self) -> Place {
        Place { bucket: self.from.0.bucket(), slot: self.from.1 }
    }

    pub(crate) const fn to(&self) -> Place {
        Place { bucket: self.to.0.bucket(), slot: self.to.1 }
    }

    /// Whether the fingerprint that is now in the slot, which need not be the one that the search saw, can make this
    /// move. Only for buckets that don't overlap.
    pub(crate) fn is_possible<A: Addressing, T: Table>(&self, addressing: &A, table: &T) -> bool {
        debug_assert!(!A::OVERLAPPING);
        let (candidate, slot) = self.from;
        table.get(candidate.bucket(), slot).is_some_and(|fingerprint| {
            let mut leads_there = false;
            each_other_place(addressing, candidate, 0, fingerprint, |place| leads_there |= place == self.to.0);
            leads_there
        })
    }
}

/// An empty slot that can be reached, and the node of its bucket.
pub(crate) struct Path {
    end: u32,
    empty: Slot,
}

impl Search {
    /// Looks for the shortest chain of moves that frees a slot in one of the `roots`, all of which are full.
    pub(crate) fn find<A: Addressing, T: Table>(
        &mut self,
        addressing: &A,
        table: &T,
        roots: impl Iterator<Item = Candidate>,
    ) -> Option<Path> {
        self.visited.forget(&self.nodes);
        self.nodes.clear();
        for root in roots {
            self.reach(root, None);
        }
        let mut next = 0;
        while let Some(&node) = self.nodes.get(next) {
            let bucket = node.candidate.bucket();
            let index = low_32(next as u64);
            let first_new = self.nodes.len();
            // The other buckets of all fingerprints here are prefetched at once, before the first of them is looked at.
            for (number, slot, fingerprint) in table.filled_slots(bucket) {
                each_other_place(addressing, node.candidate, number, fingerprint, |place| {
                    if self.nodes.len() < MAX_BUCKETS_VISITED && self.reach(place, Some((index, slot))) {
                        table.prefetch(place.bucket());
                    }
                });
            }
            for (new, reached) in (first_new..).zip(&self.nodes[first_new..]) {
                if let Some(empty) = table.vacancy(reached.candidate.bucket()).slot() {
                    return Some(Path { end: low_32(new as u64), empty });
                }
            }
            next += 1;
        }
        None
    }

    /// Makes the moves of a path, and then puts `fingerprint` into the slot they free, which is returned.
    ///
    /// A fingerprint is written to its new slot before its old one is overwritten, so that at every moment each one is
    /// in at least one of its buckets (invariant 5). No slot is on the path twice: all buckets that its fingerprint could
    /// move to were added when it was first looked at.
    pub(crate) fn apply<T: TableMut>(&self, path: Path, table: &mut T, fingerprint: Fingerprint) -> Place {
        let mut slot = path.empty;
        let mut node = self.nodes[to_usize(u64::from(path.end))];
        while let Some((source, source_slot)) = node.source {
            let source_node = self.nodes[to_usize(u64::from(source))];
            let from = Place { bucket: source_node.candidate.bucket(), slot: source_slot };
            table.copy(from, Place { bucket: node.candidate.bucket(), slot });
            slot = source_slot;
            node = source_node;
        }
        let bucket = node.candidate.bucket();
        table.set(bucket, slot, Some(fingerprint));
        Place { bucket, slot }
    }

    /// The moves of a path from its far end.
    #[cfg(feature = "std")]
    pub(crate) fn moves(&self, path: &Path) -> impl Iterator<Item = Move> {
        let mut to = (self.nodes[to_usize(u64::from(path.end))], path.empty);
        core::iter::from_fn(move || {
            let (node, slot) = to;
            let (source, source_slot) = node.source?;
            to = (self.nodes[to_usize(u64::from(source))], source_slot);
            Some(Move { from: (to.0.candidate, source_slot), to: (node.candidate, slot) })
        })
    }

    /// Adds a bucket to the queue unless it is in it already.
    fn reach(&mut self, candidate: Candidate, source: Option<(u32, Slot)>) -> bool {
        let is_new = self.visited.insert(candidate, &self.nodes);
        if is_new {
            self.nodes.push(Node { candidate, source });
        }
        is_new
    }
}

/// Calls `visit` with the buckets to which the fingerprint in slot `number` of `bucket` could move: its other candidates,
/// and where buckets overlap the one by which it got into the slot.
#[inline]
fn each_other_place<A: Addressing>(
    addressing: &A,
    bucket: Candidate,
    number: u64,
    fingerprint: Fingerprint,
    mut visit: impl FnMut(Candidate),
) {
    let mut place = addressing.window_of(bucket, number, fingerprint);
    if A::OVERLAPPING {
        visit(place);
    }
    for _ in 1..A::CANDIDATES {
        place = addressing.alternate(place, fingerprint);
        visit(place);
    }
}

/// The shortest path: one fingerprint of a candidate bucket moves to an empty slot elsewhere.
pub(crate) struct SingleMove {
    from: (Candidate, Slot),
    to: (Candidate, Slot),
}

impl SingleMove {
    /// Looks at the other buckets of all fingerprints in the `roots`, all of which are full, as the first step of
    /// [`Search::find`] does.
    #[inline]
    pub(crate) fn find<A: Addressing, T: Table>(
        addressing: &A,
        table: &T,
        roots: impl Iterator<Item = Candidate>,
    ) -> Option<Self> {
        for root in roots {
            // All are prefetched before the first is looked at.
            for (number, _, moving) in table.filled_slots(root.bucket()) {
                each_other_place(addressing, root, number, moving, |place| table.prefetch(place.bucket()));
            }
            let mut found = None;
            for (number, slot, moving) in table.filled_slots(root.bucket()) {
                each_other_place(addressing, root, number, moving, |place| {
                    if found.is_none()
                        && let Some(empty) = table.vacancy(place.bucket()).slot()
                    {
                        found = Some(Self { from: (root, slot), to: (place, empty) });
                    }
                });
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Makes the move, the new slot first (invariant 5), and puts `fingerprint` into the slot it frees, which is returned.
    #[inline]
    pub(crate) fn apply<T: TableMut>(self, table: &mut T, fingerprint: Fingerprint) -> Place {
        let from = Place { bucket: self.from.0.bucket(), slot: self.from.1 };
        table.copy(from, Place { bucket: self.to.0.bucket(), slot: self.to.1 });
        table.set(from.bucket, from.slot, Some(fingerprint));
        from
    }

    #[cfg(feature = "std")]
    pub(crate) const fn into_move(self) -> Move {
        Move { from: self.from, to: self.to }
    }
}

/// Which buckets a search has reached: a hash table of node numbers, with linear probing.
#[derive(Clone, Debug, Default)]
struct VisitedSet {
    /// A node's number plus 1, or 0. Always a power of two long, and at least twice the nodes.
    places: Vec<u32>,
}

impl VisitedSet {
    const MIN_PLACES: usize = 64;

    /// Adds the bucket that is to become the next of `nodes`. Returns `false` if it is among them already.
    fn insert(&mut self, candidate: Candidate, nodes: &[Node]) -> bool {
        if self.places.len() < 2 * (nodes.len() + 1) {
            self.grow(nodes);
        }
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

    /// Takes out all `nodes`, in time that depends on how many they are and not on the size of the set.
    fn forget(&mut self, nodes: &[Node]) {
        // A node stands between its first place and the next empty one, and everything in between is forgotten too.
        let mask = self.places.len().wrapping_sub(1);
        for node in nodes {
            let mut place = self.first_place(node.candidate);
            while self.places[place] != 0 {
                self.places[place] = 0;
                place = (place + 1) & mask;
            }
        }
    }

    fn grow(&mut self, nodes: &[Node]) {
        let places = (2 * self.places.len()).max(Self::MIN_PLACES);
        self.places.clear();
        self.places.resize(places, 0);
        for index in 0..nodes.len() {
            self.insert(nodes[index].candidate, &nodes[..index]);
        }
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
    fn the_visited_set_knows_each_bucket_once_and_forgets_them_all() {
        let mut search = Search::default();
        for round in 0..3 {
            search.visited.forget(&search.nodes);
            search.nodes.clear();
            assert!(search.visited.places.iter().all(|&number| number == 0), "round {round}");
            for offset in 0..3000 {
                let candidate = Candidate::at(7, offset * (round + 1));
                assert!(search.reach(candidate, None));
                assert!(!search.reach(candidate, None));
            }
            assert_eq!(search.nodes.len(), 3000);
        }
    }
}
