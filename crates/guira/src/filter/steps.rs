//! Shrinking and merging in steps, for programs that have other things to do between them.

use alloc::vec::Vec;

use super::CuckooFilter;
use super::growth::is_crowded;
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, Repeated, Splitting};
use crate::error::OutOfMemory;
use crate::table::Storage;

/// How many buckets are looked at in a step; a multiple of 8, so that their first begins with a byte.
const BUCKETS: u64 = 1 << 12;

/// How many buckets of another filter are merged in a step. While a table fills to the last, a search for room may take long.
const MERGED: u64 = 128;

/// How many bytes are copied in a step.
const COPIED: usize = 256 << 10;

/// What came of a step.
#[derive(Debug)]
pub enum Step<T> {
    /// There is more to do.
    More,
    /// Nothing is left to do.
    Done(T),
}

/// [`CuckooFilter::shrink_to_fit`], in steps.
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
/// use guira::raw::{Shrinking, Step};
///
/// let mut filter = CuckooFilter::builder().capacity(100).max_capacity(10_000).false_positive_rate(0.01).build()?;
/// filter.reserve(5000)?;
/// let mut shrinking = Shrinking::default();
/// let shrunk = loop {
///     if let Step::Done(shrunk) = shrinking.step(&filter)? {
///         break shrunk;
///     }
/// };
/// filter.shrink_to_fit();
/// assert_eq!(shrunk, Some(filter));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Shrinking {
    /// The smallest filter so far, or at first a copy of one that is being doubled.
    shrunk: Option<CuckooFilter>,
    /// That copy, until it is whole.
    settled: Option<Copy>,
    halving: Option<Halving>,
    /// The one before, until it is taken.
    waste: Option<CuckooFilter>,
}

/// A filter that is being filled from the next larger one.
#[derive(Debug)]
pub(super) struct Halving {
    halved: CuckooFilter,
    splitting: Splitting,
    /// The buckets that are filled.
    next: u64,
}

impl Shrinking {
    /// Does a part of the work, and returns the smaller filter once it is done, or `None` where none is smaller. The filter is to be the
    /// same at each step. Of one that is being doubled, a copy is returned in any case, in which the doubling is over.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`]. Further steps try again.
    pub fn step(&mut self, filter: &CuckooFilter) -> Result<Step<Option<CuckooFilter>>, OutOfMemory> {
        if self.shrunk.is_none() && filter.is_doubling() {
            if self.settled.get_or_insert(Copy::BEGUN).step(filter)?.is_some() {
                self.shrunk = self.settled.take().and_then(Copy::whole);
            }
            return Ok(Step::More);
        }
        let from = self.shrunk.as_ref().unwrap_or(filter);
        let Some(halving) = &mut self.halving else {
            self.halving = Halving::of(from)?;
            return Ok(if self.halving.is_some() { Step::More } else { Step::Done(self.shrunk.take()) });
        };
        // After an error, some fingerprints are stored and others aren't, so this table is of no use.
        match halving.step(from).inspect_err(|_| self.halving = None)? {
            Step::More => {}
            Step::Done(true) => {
                let shrunk = self.halving.take().map(|halving| halving.finish(from));
                self.waste = core::mem::replace(&mut self.shrunk, shrunk);
            }
            Step::Done(false) => return Ok(Step::Done(self.shrunk.take())),
        }
        Ok(Step::More)
    }

    /// Returns what is of no use any more, if there is something, for callers that free memory elsewhere: much of it takes long.
    pub fn take_waste(&mut self) -> Option<CuckooFilter> {
        self.waste.take()
    }
}

impl Halving {
    /// `None` where the filter is not to be halved.
    fn of(from: &CuckooFilter) -> Result<Option<Self>, OutOfMemory> {
        let Some(parameters) = from.parameters_with_room_to_spare(from.len()) else { return Ok(None) };
        let halved = from.empty_with(parameters)?;
        let splitting = Splitting::new(halved.parameters(), from.parameters(), from.hasher().seed());
        Ok(Some(Self { halved, splitting, next: 0 }))
    }

    /// Fills a few buckets. It is done with `true` after the last, and with `false` if copies fill a few of them.
    fn step(&mut self, from: &CuckooFilter) -> Result<Step<bool>, OutOfMemory> {
        let count = self.splitting.bucket_count();
        let end = self.next.saturating_add(BUCKETS).min(count);
        match self.splitting.fold(&mut self.halved.storage, from.bytes(), self.next..end) {
            Ok(()) => {}
            Err(NoRoom::OutOfMemory) => return Err(OutOfMemory::new(self.halved.parameters().table_size())),
            Err(_) => return Ok(Step::Done(false)),
        }
        self.next = end;
        Ok(if end == count { Step::Done(true) } else { Step::More })
    }

    /// All steps: the same keys in the table before half of its buckets became two. `None` where the filter is not to be halved,
    /// or where copies fill a few buckets.
    pub(super) fn at_once(from: &CuckooFilter) -> Result<Option<CuckooFilter>, OutOfMemory> {
        let Some(mut halving) = Self::of(from)? else { return Ok(None) };
        loop {
            if let Step::Done(is_halved) = halving.step(from)? {
                return Ok(is_halved.then(|| halving.finish(from)));
            }
        }
    }

    fn finish(mut self, from: &CuckooFilter) -> CuckooFilter {
        self.halved.len = from.len;
        self.halved
    }
}

/// [`CuckooFilter::merge`] of a filter with others, in steps.
///
/// # Examples
///
/// ```
/// use guira::CuckooFilter;
/// use guira::raw::{Merging, Step};
///
/// let mut monday = CuckooFilter::with_capacity(1000, 0.001)?;
/// let mut tuesday = CuckooFilter::with_capacity(1000, 0.001)?;
/// monday.insert("ani")?;
/// tuesday.insert("koel")?;
///
/// let mut merging = Merging::of(&monday, &[&tuesday])?.expect("they were made alike");
/// let merged = loop {
///     if let Step::Done(merged) = merging.step(&monday, &[&tuesday])? {
///         break merged;
///     }
/// };
/// monday.merge(&tuesday)?;
/// assert_eq!(merged, Some(monday));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Merging {
    merged: Copy,
    /// How many of the others are merged.
    others: usize,
    /// A copy of the next one, where that is doubled before it is merged, or is being doubled.
    doubled: Option<Copy>,
    /// How many of its buckets are merged.
    next: u64,
    /// How many fingerprints there are in it and in the merged filter, before any of its own is stored.
    together: usize,
    /// For each of the others, how often the merged filter is doubled before: more often where there was no room otherwise.
    doublings: Vec<u32>,
    /// Copies that are of no use any more, until they are taken.
    waste: [Option<Copy>; 2],
}

/// A copy of a filter.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it becomes the other soon")]
enum Copy {
    /// So much of the table was copied.
    Part(Vec<u8>),
    Whole(CuckooFilter),
}

impl Copy {
    const BEGUN: Self = Self::Part(Vec::new());

    /// Copies more of the table, as it is when a doubling is over, or splits more of its buckets. Returns the copy if there is nothing to
    /// do of either.
    fn step(&mut self, filter: &CuckooFilter) -> Result<Option<&mut CuckooFilter>, OutOfMemory> {
        Ok(match self {
            Self::Part(bytes) => {
                let table = filter.file_table();
                let rest = table.len().saturating_sub(bytes.len());
                bytes.try_reserve_exact(rest).map_err(|_| OutOfMemory::new(filter.parameters().table_size()))?;
                let end = bytes.len() + rest.min(COPIED);
                while bytes.len() < end {
                    let piece = table.piece(bytes.len());
                    bytes.extend_from_slice(piece.get(..end - bytes.len()).unwrap_or(&piece));
                }
                if end == table.len() {
                    let storage = Storage::from_vec(core::mem::take(bytes));
                    *self = Self::Whole(filter.alike(*filter.parameters(), storage, filter.len()));
                }
                None
            }
            Self::Whole(copy) if copy.is_doubling() => {
                copy.split(BUCKETS);
                None
            }
            Self::Whole(copy) => Some(copy),
        })
    }

    fn whole(self) -> Option<CuckooFilter> {
        match self {
            Self::Whole(filter) => Some(filter),
            Self::Part(_) => None,
        }
    }
}

impl Merging {
    /// Begins to merge a filter with others. `None` where they were not made alike: then `merge` says why.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`].
    pub fn of(filter: &CuckooFilter, others: &[&CuckooFilter]) -> Result<Option<Self>, OutOfMemory> {
        if others.iter().any(|other| filter.refuse_if_unlike(other).is_err()) {
            return Ok(None);
        }
        let mut doublings = Vec::new();
        doublings.try_reserve_exact(others.len()).map_err(|_| OutOfMemory::new(filter.parameters().table_size()))?;
        doublings.resize(others.len(), 0);
        let (merged, waste) = (Copy::BEGUN, [None, None]);
        Ok(Some(Self { merged, others: 0, doubled: None, next: 0, together: 0, doublings, waste }))
    }

    /// Begins anew, where some fingerprints of a filter are stored and others aren't.
    fn begin_anew(&mut self) {
        let useless = core::mem::replace(&mut self.merged, Copy::BEGUN);
        self.waste = [Some(useless), self.doubled.take()];
        (self.others, self.next) = (0, 0);
    }

    /// Does a part of the work, and returns the merged filter once it is done; `None` where it is to be done by `merge`, which may do
    /// more, or say why it can't be done. The filters are to be the same at each step.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`]. Further steps try again.
    pub fn step(
        &mut self,
        filter: &CuckooFilter,
        others: &[&CuckooFilter],
    ) -> Result<Step<Option<CuckooFilter>>, OutOfMemory> {
        let Some(ours) = self.merged.step(filter)? else { return Ok(Step::More) };
        let Some(other) = others.get(self.others) else {
            // It is whole, since all is done.
            return Ok(Step::Done(core::mem::replace(&mut self.merged, Copy::BEGUN).whole()));
        };
        let theirs = match &mut self.doubled {
            None if other.is_doubling() => {
                self.doubled = Some(Copy::BEGUN);
                return Ok(Step::More);
            }
            None => other,
            Some(copy) => match copy.step(other)? {
                None => return Ok(Step::More),
                Some(copy) if copy.parameters().half_doublings() < ours.parameters().half_doublings() => {
                    return Ok(if copy.begin_doubling()? { Step::More } else { Step::Done(None) });
                }
                Some(copy) => &*copy,
            },
        };
        if self.next == 0 {
            let (doublings, their_doublings) =
                (ours.parameters().half_doublings(), theirs.parameters().half_doublings());
            let least = self.doublings.get(self.others).copied().unwrap_or(0).max(their_doublings);
            if ours.growth().is_some() && (doublings < least || theirs.len() > ours.room()) {
                let is_last = ours.growth().is_none_or(|growth| growth.is_last(ours.parameters()));
                return Ok(if !is_last && ours.begin_doubling()? { Step::More } else { Step::Done(None) });
            }
            if their_doublings < doublings {
                self.doubled = Some(Copy::BEGUN);
                return Ok(Step::More);
            }
            self.together = ours.len().saturating_add(theirs.len());
            if self.together > ours.slot_count() {
                return Ok(Step::Done(None));
            }
        }
        let parameters = theirs.parameters();
        let count = MERGED.min(parameters.bucket_count() - self.next);
        let begin = to_usize(self.next / 8 * u64::from(parameters.bucket_bits()));
        let rest = theirs.bytes().get(begin..).unwrap_or_default();
        let slot_count = ours.slot_count() as u64;
        let no_memory = || OutOfMemory::new(parameters.table_size());
        let found = theirs.scheme().fingerprints_in(rest, self.next, count).map_err(|_| no_memory())?;
        let Some(fingerprints) = found else { return Ok(Step::Done(None)) };
        match ours.store_all(fingerprints, Repeated::Stored) {
            Ok(()) => {}
            Err(NoRoom::OutOfMemory) => {
                let error = no_memory();
                self.begin_anew();
                return Err(error);
            }
            Err(NoRoom::Full) if ours.growth().is_some() && !is_crowded(self.together, slot_count) => {
                // With a larger table for these.
                let least = ours.parameters().half_doublings() + 1;
                if let Some(doublings) = self.doublings.get_mut(self.others) {
                    *doublings = least;
                }
                self.begin_anew();
                return Ok(Step::More);
            }
            Err(_) => return Ok(Step::Done(None)),
        }
        self.next += count;
        if self.next == parameters.bucket_count() {
            (self.next, self.others) = (0, self.others + 1);
            self.waste = [self.doubled.take(), None];
        }
        Ok(Step::More)
    }

    /// Returns what is of no use any more, if there is something, for callers that free memory elsewhere: much of it takes long.
    pub fn take_waste(&mut self) -> Option<CuckooFilter> {
        self.waste.iter_mut().find_map(Option::take)?.whole()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(keys: core::ops::Range<u64>, policy_capacity: usize) -> CuckooFilter {
        let builder = CuckooFilter::builder().capacity(2000).max_capacity(policy_capacity).false_positive_rate(0.001);
        let mut filter = builder.build().expect("a small filter");
        keys.for_each(|key| filter.insert(&key).expect("it grows"));
        filter.settle();
        filter
    }

    fn merged(filter: &CuckooFilter, others: &[&CuckooFilter]) -> Option<CuckooFilter> {
        let mut merging = Merging::of(filter, others).expect("memory")?;
        loop {
            if let Step::Done(merged) = merging.step(filter, others).expect("memory") {
                return merged;
            }
        }
    }

    #[test]
    fn steps_merge_as_is_done_at_once() {
        let most = 1 << 20;
        for ours in [0, 1000, 100_000] {
            for theirs in [0, 1000, 3000, 100_000] {
                let (first, second) = (filter(0..ours, most), filter(1 << 40..(1 << 40) + theirs, most));
                let third = filter(1 << 50..(1 << 50) + 5000, most);
                let mut expected = first.clone();
                expected.merge(&second).expect("there is room");
                expected.merge(&third).expect("there is room");
                let merged = merged(&first, &[&second, &third]).expect("there is room");
                assert_eq!(merged.to_bytes(), expected.to_bytes(), "{ours} and {theirs}");
                assert_eq!(merged.check_invariants(), Ok(()));
                assert_eq!((merged.room(), merged.len()), (expected.room(), expected.len()));
            }
        }
    }

    #[test]
    fn steps_begin_anew_with_a_larger_table_where_there_was_no_room() {
        // Copies of one key fill two buckets, which are those of some other keys too.
        let builder = CuckooFilter::builder().capacity(100).max_capacity(3000).false_positive_rate(0.001);
        let mut ours = builder.build().expect("a small filter");
        (0..70_u64).for_each(|key| ours.insert(&key).expect("there is room"));
        (0..8).for_each(|_| ours.insert("ani").expect("as many copies as fit"));
        assert_eq!(ours.parameters().half_doublings(), 0);
        let mut third = builder.build().expect("a small filter");
        (1000..1010_u64).for_each(|key| third.insert(&key).expect("there is room"));
        let mut begun_anew = 0;
        for key in 10_000..14_000_u64 {
            let mut second = builder.build().expect("a small filter");
            second.insert(&key).expect("it is empty");
            let mut expected = ours.clone();
            if expected.merge(&second).is_err() {
                continue;
            }
            begun_anew += expected.parameters().half_doublings();
            expected.merge(&third).expect("there is room");
            let merged = merged(&ours, &[&second, &third]).expect("there is room");
            assert_eq!(merged.to_bytes(), expected.to_bytes());
        }
        assert!(begun_anew > 0);
    }

    /// Filters with copies of a few keys, which fill some buckets long before the table is full.
    #[test]
    fn steps_merge_what_can_be_merged_at_once_and_nothing_else() {
        let mut random = 1_u64;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (random >> 33) % limit
        };
        let (mut refused, mut grown) = (0, 0);
        for (slots, capacity, times) in [(4, 20, 1000), (4, 300, 2), (4, 30, 50), (4, 900, 1000), (8, 1500, 10)] {
            let builder = CuckooFilter::builder().false_positive_rate(0.01).slots_per_bucket(slots);
            let empty = builder.capacity(capacity).max_capacity(capacity * times).build().expect("a small filter");
            for round in 0..500 {
                let copies = 1 + below(2 * u64::from(slots));
                let mut filled = |most: u64| {
                    let mut filter = empty.clone();
                    (0..below(most)).for_each(|_| {
                        let key = below(1 << 20);
                        (0..copies).for_each(|_| drop(filter.insert(&key)));
                    });
                    filter.settle();
                    filter
                };
                let most = 1 + empty.slot_count() as u64 / copies / 4;
                let (first, second, third) = (filled(most), filled(most), filled(4));
                let mut expected = first.clone();
                let result = expected.merge(&second).and_then(|()| expected.merge(&third));
                let merged = merged(&first, &[&second, &third]);
                assert_eq!(merged.is_some(), result.is_ok(), "{slots} slots, round {round}: {result:?}");
                match merged {
                    Some(merged) => assert_eq!(merged.to_bytes(), expected.to_bytes(), "{slots} slots, round {round}"),
                    None => refused += 1,
                }
                grown += u32::from(expected.parameters().half_doublings() > first.parameters().half_doublings());
            }
        }
        assert!(refused > 100 && grown > 100, "{refused} refused, {grown} grown");
    }

    #[test]
    fn steps_leave_what_can_not_be_merged() {
        let (ours, theirs) = (filter(0..4000, 4000), filter(10_000..14_000, 4000));
        assert!(merged(&ours, &[&theirs]).is_none() && ours.clone().merge(&theirs).is_err());
        let other = CuckooFilter::with_capacity(2000, 0.01).expect("a small filter");
        assert!(merged(&ours, &[&other]).is_none());
        // Copies of one key, more than fit.
        let (mut ours, mut theirs) = (filter(0..0, 4000), filter(0..0, 4000));
        for _ in 0..5 {
            ours.insert("ani").expect("there is room");
            theirs.insert("ani").expect("there is room");
        }
        assert!(merged(&ours, &[&theirs]).is_none() && ours.merge(&theirs).is_err());
    }

    #[test]
    fn steps_shrink_as_is_done_at_once() {
        for left in [0, 1000, 5000, 20_000, 60_000, 100_000] {
            let mut filter = filter(0..100_000, 1 << 20);
            (left..100_000).for_each(|key| assert!(filter.remove(&key)));
            let mut shrinking = Shrinking::default();
            let shrunk = loop {
                if let Step::Done(shrunk) = shrinking.step(&filter).expect("memory") {
                    break shrunk;
                }
            };
            let mut expected = filter.clone();
            expected.shrink_to_fit();
            assert_eq!(shrunk.is_some(), expected.parameters() != filter.parameters());
            assert_eq!(shrunk.unwrap_or(filter).to_bytes(), expected.to_bytes(), "{left}");
        }
    }
}
