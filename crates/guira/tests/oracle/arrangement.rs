//! What a filter must hold and must take, computed plainly: which classes are stored how often, and whether one more
//! can be arranged with them at all.

use std::collections::{BTreeMap, HashMap, VecDeque};

use guira::CuckooFilter;

use super::classes::Class;

/// What must come of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Stored,
    Full,
    TooManyCopies { copies: usize },
}

/// An arrangement of classes in buckets. It says whether a class fits besides the others, which does not depend on how
/// they happen to lie: one more fits if and only if a path of moves leads from its buckets to a free slot.
pub(crate) struct Arrangement {
    slots_per_bucket: usize,
    buckets: Vec<Vec<Class>>,
    copies: HashMap<Class, usize>,
    len: usize,
}

impl Arrangement {
    pub(crate) fn empty_like(filter: &CuckooFilter) -> Self {
        let parameters = filter.parameters();
        let bucket_count = usize::try_from(parameters.bucket_count()).expect("a small table");
        Self {
            slots_per_bucket: usize::try_from(parameters.slots_per_bucket()).expect("at most 8"),
            buckets: vec![Vec::new(); bucket_count],
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
        for bucket in [class.lower_bucket, class.upper_bucket] {
            let bucket = &mut self.buckets[index(bucket)];
            if let Some(slot) = bucket.iter().position(|&other| other == class) {
                bucket.swap_remove(slot);
                self.len -= 1;
                *self.copies.get_mut(&class).expect("it is in a bucket") -= 1;
                return true;
            }
        }
        false
    }

    pub(crate) fn clear(&mut self) {
        self.buckets.iter_mut().for_each(Vec::clear);
        self.copies.clear();
        self.len = 0;
    }

    /// Checks that a filter holds exactly these classes, each in its own buckets and as often as here.
    pub(crate) fn assert_held_by(&self, filter: &CuckooFilter) {
        let mut class_at = HashMap::new();
        for &class in self.copies.keys() {
            class_at.insert((class.lower_bucket, class.fingerprint), class);
            class_at.insert((class.upper_bucket, class.fingerprint), class);
        }
        let mut held = BTreeMap::new();
        for stored in filter {
            let place = (stored.bucket.get(), stored.fingerprint.get());
            let class = class_at.get(&place).unwrap_or_else(|| panic!("{stored:?} comes from no key"));
            *held.entry(*class).or_insert(0) += 1;
        }
        let expected: BTreeMap<Class, usize> =
            self.copies.iter().filter(|&(_, &copies)| copies > 0).map(|(&class, &copies)| (class, copies)).collect();
        assert_eq!(held, expected, "copies of each class");
    }

    /// Puts a class into one of its buckets, moving others along the shortest path to a free slot.
    fn place(&mut self, class: Class) -> bool {
        let mut reached_from: HashMap<u64, Option<(u64, usize)>> = HashMap::new();
        let mut queue = VecDeque::new();
        for bucket in [class.lower_bucket, class.upper_bucket] {
            if reached_from.insert(bucket, None).is_none() {
                queue.push_back(bucket);
            }
        }
        while let Some(bucket) = queue.pop_front() {
            if self.buckets[index(bucket)].len() < self.slots_per_bucket {
                self.shift_along(&reached_from, bucket, class);
                return true;
            }
            for (slot, mover) in self.buckets[index(bucket)].iter().enumerate() {
                let other = mover.lower_bucket + mover.upper_bucket - bucket;
                reached_from.entry(other).or_insert_with(|| {
                    queue.push_back(other);
                    Some((bucket, slot))
                });
            }
        }
        false
    }

    /// Moves each class on the path one step towards the free slot, and puts the new one where the path begins.
    fn shift_along(&mut self, reached_from: &HashMap<u64, Option<(u64, usize)>>, free: u64, class: Class) {
        let mut to = free;
        while let Some((from, slot)) = reached_from[&to] {
            let mover = self.buckets[index(from)].swap_remove(slot);
            self.buckets[index(to)].push(mover);
            to = from;
        }
        self.buckets[index(to)].push(class);
    }
}

fn index(bucket: u64) -> usize {
    usize::try_from(bucket).expect("a small table")
}
