//! What a filter must hold and must take, computed plainly: which classes are stored how often, and whether one more
//! can be arranged with them at all.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

use guira::{CuckooFilter, InsertError};

use super::classes::Class;

/// What must come of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Stored,
    Full,
    TooManyCopies { copies: usize },
}

impl Outcome {
    /// What came of an insertion into a table that would say this of itself if it were full.
    pub(crate) fn of(result: Result<(), InsertError>, if_full: &InsertError) -> Self {
        match result {
            Ok(()) => Self::Stored,
            Err(InsertError::TooManyCopies { copies }) => Self::TooManyCopies { copies },
            Err(error) => {
                assert_eq!(&error, if_full, "the numbers in the error");
                Self::Full
            }
        }
    }
}

/// An arrangement of classes in slots. It says whether a class fits besides the others, which does not depend on how
/// they happen to lie: one more fits if and only if a path of moves leads from its slots to a free one.
pub(crate) struct Arrangement {
    slots_per_bucket: usize,
    slots: Vec<Option<Class>>,
    copies: HashMap<Class, usize>,
    len: usize,
}

impl Arrangement {
    pub(crate) fn empty_like(filter: &CuckooFilter) -> Self {
        let parameters = filter.parameters();
        let slots_per_bucket = usize::try_from(parameters.slots_per_bucket()).expect("at most 8");
        Self {
            slots_per_bucket,
            slots: vec![None; usize::try_from(filter.parameters().slot_count()).expect("a small table")],
            copies: HashMap::new(),
            len: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn copies_of(&self, class: Class) -> usize {
        self.copies.get(&class).copied().unwrap_or(0)
    }

    /// Adds one copy where that is possible, and says what must come of it.
    pub(crate) fn insert(&mut self, class: Class) -> Outcome {
        let copies = self.copies_of(class);
        if copies == class.bucket_count() * self.slots_per_bucket {
            return Outcome::TooManyCopies { copies };
        }
        if !self.place(class) {
            return Outcome::Full;
        }
        self.len += 1;
        *self.copies.entry(class).or_insert(0) += 1;
        Outcome::Stored
    }

    /// Takes one copy away, if there is one.
    pub(crate) fn remove(&mut self, class: Class) -> bool {
        let Some(slot) =
            class.buckets().flat_map(|bucket| self.slots_of(bucket)).find(|&slot| self.slots[slot] == Some(class))
        else {
            return false;
        };
        self.slots[slot] = None;
        self.len -= 1;
        *self.copies.get_mut(&class).expect("it is in a slot") -= 1;
        true
    }

    pub(crate) fn clear(&mut self) {
        self.slots.fill(None);
        self.copies.clear();
        self.len = 0;
    }

    /// Checks that a filter holds exactly these classes, each in its own buckets and as often as here.
    pub(crate) fn assert_held_by(&self, filter: &CuckooFilter) {
        let mut class_at = HashMap::new();
        for &class in self.copies.keys() {
            for bucket in class.buckets() {
                let other = class_at.insert((bucket, class.fingerprint), class);
                assert_eq!(other, None, "{class:?} shares a bucket with a class of the same fingerprint");
            }
        }
        let mut held = BTreeMap::new();
        let mut held_in = BTreeMap::new();
        for stored in filter.fingerprints() {
            let place = (stored.bucket, stored.fingerprint);
            let class = class_at.get(&place).unwrap_or_else(|| panic!("{stored:?} comes from no key"));
            *held.entry(*class).or_insert(0) += 1;
            *held_in.entry(stored.bucket).or_insert(0) += 1;
        }
        let expected: BTreeMap<Class, usize> =
            self.copies.iter().filter(|&(_, &copies)| copies > 0).map(|(&class, &copies)| (class, copies)).collect();
        assert_eq!(held, expected, "copies of each class");
        for (bucket, &held) in &held_in {
            assert!(held <= self.slots_per_bucket, "bucket {bucket} holds {held}");
        }
    }

    fn slots_of(&self, bucket: u64) -> Range<usize> {
        let first = usize::try_from(bucket).expect("a small table") * self.slots_per_bucket;
        first..first + self.slots_per_bucket
    }

    /// Puts a class into one of its slots, moving others along the shortest path to a free one.
    fn place(&mut self, class: Class) -> bool {
        let mut reached_from: Vec<Reached> = vec![Reached::Not; self.slots.len()];
        let mut queue = VecDeque::new();
        let mut expanded = vec![false; self.slots.len() / self.slots_per_bucket];
        let mut next = (class, Reached::First);
        loop {
            let (mover, from) = next;
            for bucket in mover.buckets() {
                // Who looks into a bucket reaches all its slots, so no one has to look again.
                if std::mem::replace(&mut expanded[usize::try_from(bucket).expect("a small table")], true) {
                    continue;
                }
                for slot in self.slots_of(bucket) {
                    if reached_from[slot] == Reached::Not {
                        reached_from[slot] = from;
                        queue.push_back(slot);
                        if self.slots[slot].is_none() {
                            self.shift_along(&reached_from, slot, class);
                            return true;
                        }
                    }
                }
            }
            let Some(slot) = queue.pop_front() else { return false };
            next = (self.slots[slot].expect("a free slot ends the search"), Reached::From(slot));
        }
    }

    /// Moves each class on the path one step towards the free slot, and puts the new one where the path begins.
    fn shift_along(&mut self, reached_from: &[Reached], free: usize, class: Class) {
        let mut to = free;
        while let Reached::From(from) = reached_from[to] {
            self.slots[to] = self.slots[from].take();
            to = from;
        }
        self.slots[to] = Some(class);
    }
}

/// How a search came to a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    Not,
    /// It is one of the new class's own.
    First,
    /// The class in this slot could move to it.
    From(usize),
}
