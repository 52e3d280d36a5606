//! Half of a doubling, all at once or in steps, without the keys. Where it says "doubled" here, every second bucket has become two.

use alloc::borrow::Cow;
use alloc::boxed::Box;

use super::{CuckooFilter, Growth};
use crate::cast::to_usize;
use crate::cuckoo::{NoRoom, Splitting};
use crate::digest::Digest;
use crate::error;
use crate::parameters::{Parameters, bytes_for};
use crate::table::{OutOfMemory, Storage, ask_for};

/// What a filter has besides its table while that is being filled from a smaller one, a few buckets with each
/// insertion and removal.
///
/// The parameters of the filter are those of the doubled table. That table is also what its file holds at any moment, beside the number of
/// buckets that wait.
#[derive(Clone, Debug)]
pub(super) struct Doubling {
    pub(super) splitting: Splitting,
    /// The table that is being doubled: the buckets that wait, and those behind them that are not given back yet.
    pub(super) old: Storage,
    /// The parameters of that table.
    parameters: Parameters,
    /// The number of fingerprints at which the doubled table counts as full.
    pub(super) limit: usize,
}

/// How many bytes of the table that is being doubled are given back at a time.
const GIVEN_BACK_AT_A_TIME: usize = 256 << 10;

/// How many buckets become two before memory may be given back, where all do.
const SETTLED_AT_A_TIME: u64 = 1 << 14;

impl CuckooFilter {
    /// The same keys in the table in which every second bucket has become two; `None` where no bits are left to give away, or
    /// where there would be too many buckets. The growth is this filter's own, or that of one that began alike.
    pub(crate) fn doubled(&self, growth: &Growth) -> Result<Option<Self>, error::OutOfMemory> {
        let from = self.try_settled()?;
        let Some(parameters) = growth.after_doubling(from.parameters()) else { return Ok(None) };
        let mut doubled = from.empty_with(parameters)?;
        let mut splitting = Splitting::new(from.parameters(), doubled.parameters(), from.hasher().seed());
        splitting.split(from.bytes(), &mut doubled.storage, u64::MAX);
        doubled.len = from.len;
        Ok(Some(doubled))
    }

    /// A filter whose table is being doubled, made of the doubled table and the one that it is filled from.
    #[cfg(feature = "concurrent")]
    pub(crate) fn while_doubling(
        doubled: Self,
        splitting: Splitting,
        old: Storage,
        parameters: Parameters,
    ) -> Result<Self, OutOfMemory> {
        let mut filter = doubled;
        if splitting.waiting() > 0 {
            ask_for::<Doubling>()?;
            filter.attach_doubling(splitting, old, parameters);
        }
        Ok(filter)
    }

    /// Goes back to where the half of a doubling that was done last had come when so many buckets waited, counted as they were when all had
    /// become two as often. No more may wait than there were, and no two of their fingerprints may come from one slot.
    pub(crate) fn resume_doubling(&mut self, waiting: u64) -> Result<(), OutOfMemory> {
        let before = self.growth().and_then(|growth| growth.before_doubling(self.parameters()));
        let Some(parameters) = before.filter(|_| waiting > 0) else { return Ok(()) };
        let mut splitting = Splitting::new(&parameters, self.parameters(), self.hasher().seed());
        let [needed, _] = splitting.places_of(waiting);
        let mut old = Storage::zeroed(needed * u64::from(parameters.bucket_bits()))?;
        ask_for::<Doubling>()?;
        splitting.unsplit(waiting, &mut old, &mut self.storage);
        self.attach_doubling(splitting, old, parameters);
        Ok(())
    }

    /// Begins or goes on to fill the table from an old one. The caller has asked for the memory of a [`Doubling`].
    fn attach_doubling(&mut self, splitting: Splitting, old: Storage, parameters: Parameters) {
        let limit = self.limit_when_settled();
        self.set_doubling(Some(Box::new(Doubling { splitting, old, parameters, limit })));
    }

    /// The buckets that wait to become two, counted as they were before any did; 0 if the table is not being doubled.
    pub(crate) fn waiting(&self) -> u64 {
        self.doubling.as_ref().map_or(0, |doubling| doubling.splitting.waiting())
    }

    /// What is left of a doubling when the doubled table is taken: how far it has come, the old table, and its parameters. The reverse of
    /// [`while_doubling`](Self::while_doubling).
    #[cfg(feature = "concurrent")]
    pub(crate) fn take_doubling(&mut self) -> Option<(Splitting, Storage, Parameters)> {
        let Doubling { splitting, old, parameters, .. } = *self.set_doubling(None)?;
        Some((splitting, old, parameters))
    }

    /// Begins to double the table. Returns `false` where [`doubled`](Self::doubled) returns `None`; like that it may fail, and then
    /// changes nothing.
    pub(super) fn begin_doubling(&mut self) -> Result<bool, error::OutOfMemory> {
        self.settle();
        let doubled = self.growth().and_then(|growth| growth.after_doubling(self.parameters()));
        let Some(parameters) = doubled else { return Ok(false) };
        let mut doubled = self.empty_with(parameters)?;
        doubled.len = self.len;
        let splitting = Splitting::new(self.parameters(), doubled.parameters(), self.hasher().seed());
        let parameters = *self.parameters();
        ask_for::<Doubling>().map_err(|OutOfMemory| error::OutOfMemory::new(parameters.table_size()))?;
        let old = core::mem::replace(self, doubled).into_storage();
        self.attach_doubling(splitting, old, parameters);
        Ok(true)
    }

    /// Undoes [`begin_doubling`](Self::begin_doubling), as long as nothing was stored or removed since and nothing of the old
    /// table given back.
    pub(super) fn take_back_doubling(&mut self) {
        if let Some(doubling) = self.set_doubling(None) {
            let Doubling { old, parameters, .. } = *doubling;
            *self = self.alike(parameters, old, self.len);
        }
    }

    /// Splits the first buckets, and stores a copy of a key if there is room then.
    pub(super) fn insert_among_first_halves(&mut self, digest: Digest) -> bool {
        let Some((splitting, old, new)) = self.splitting_mut() else { return false };
        splitting.split(old, new, Splitting::AT_A_TIME);
        let is_stored = splitting.insert(old, new, digest).is_ok();
        self.len += usize::from(is_stored);
        is_stored
    }

    /// Stores a copy of a key, then splits some buckets. Where there is no room it splits buckets first, unless the doubled table would have
    /// none for the key either, or holds as many as it may. Where all are split in vain, the doubling is over.
    pub(crate) fn insert_while_doubling(&mut self, digest: Digest) -> Result<(), NoRoom> {
        if self.len() >= self.limit_when_settled() {
            return Err(NoRoom::Full);
        }
        loop {
            let Some((splitting, old, new)) = self.splitting_mut() else { return self.insert_into_table(digest) };
            match splitting.insert(old, new, digest) {
                Err(NoRoom::Full) if self.crowd(digest).is_none() => self.split(Splitting::FOR_ROOM),
                Err(reason) => return Err(reason),
                Ok(()) => {
                    self.len += 1;
                    self.split(Splitting::AT_A_TIME);
                    return Ok(());
                }
            }
        }
    }

    /// Removes a copy of a key while the table is being doubled, and splits some buckets if there was one.
    pub(super) fn remove_while_doubling(&mut self, digest: Digest) -> bool {
        let removed = match self.splitting_mut() {
            Some((splitting, old, new)) => splitting.remove(old, new, digest),
            None => false,
        };
        if removed {
            self.len -= 1;
            self.split(Splitting::AT_A_TIME);
        }
        removed
    }

    /// Makes two buckets of each of the next `count`, and ends the doubling if there are no more.
    pub(super) fn split(&mut self, count: u64) {
        let Some((splitting, old, new)) = self.splitting_mut() else { return };
        splitting.split(old, new, count);
        if splitting.waiting() == 0 {
            self.set_doubling(None);
        } else if let Some(doubling) = &mut self.doubling {
            doubling.give_back();
        }
    }

    /// Ends a doubling.
    pub(crate) fn settle(&mut self) {
        while self.is_doubling() {
            self.split(SETTLED_AT_A_TIME);
        }
    }

    /// The [`try_settled`](Self::try_settled) filter, for callers that can't fail.
    ///
    /// # Panics
    ///
    /// Where there is no memory for the copy.
    pub(crate) fn settled(&self) -> Cow<'_, Self> {
        self.try_settled().expect("no memory for a copy of the filter")
    }

    /// The filter after the doubling that it is in, if it is in one; that takes memory for a copy of both its tables.
    pub(super) fn try_settled(&self) -> Result<Cow<'_, Self>, error::OutOfMemory> {
        if !self.is_doubling() {
            return Ok(Cow::Borrowed(self));
        }
        let mut settled = self.try_clone()?;
        settled.settle();
        Ok(Cow::Owned(settled))
    }
}

impl Doubling {
    /// A copy, unless there is no memory for it.
    pub(super) fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let Self { splitting, ref old, parameters, limit } = *self;
        Ok(Self { splitting, old: Storage::copied_from(old)?, parameters, limit })
    }

    /// Gives back the memory behind the buckets that wait, once it is worth a call.
    fn give_back(&mut self) {
        let [needed, _] = self.splitting.places_of(self.splitting.waiting());
        let needed = to_usize(bytes_for(needed * u64::from(self.parameters.bucket_bits())));
        if needed + GIVEN_BACK_AT_A_TIME <= self.old.len() {
            self.old.truncate(needed);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::digest::KeyHasher;
    use crate::error::{InsertError, LoadError};

    /// Growing filters of buckets of all sizes, with fingerprints of all kinds of lengths.
    fn filters() -> impl Iterator<Item = CuckooFilter> {
        let shapes = [(4, 0.001, 700), (4, 1e-6, 300), (8, 0.02, 500), (8, 1e-7, 300)];
        shapes.into_iter().flat_map(|(slots, rate, capacity)| {
            [5, 40].map(|times| {
                let builder = CuckooFilter::builder().capacity(capacity).max_capacity(capacity * times);
                let built = builder
                    .false_positive_rate(rate)
                    .slots_per_bucket(slots)
                    .hasher(KeyHasher::xxh3(times as u64))
                    .build();
                built.expect("a small filter")
            })
        })
    }

    /// Inserts keys until the next one would double the table.
    fn fill(filter: &mut CuckooFilter) -> Vec<u64> {
        (0..).take_while(|key| filter.insert_without_growing(key).is_ok()).collect()
    }

    fn assert_holds(filter: &CuckooFilter, keys: &[u64], step: u64) {
        assert_eq!(filter.len(), keys.len());
        let mut answers = vec![false; keys.len()];
        filter.contains_many_into(keys, &mut answers);
        for (key, answer) in keys.iter().zip(answers) {
            assert!(answer && filter.contains(key) && filter.count(key) > 0, "{key} was lost at step {step}");
        }
    }

    #[test]
    fn at_each_step_of_a_doubling_all_is_as_when_it_is_over() {
        let doubled = |filter: &CuckooFilter| {
            let growth = *filter.growth().expect("it grows");
            filter.doubled(&growth).expect("memory").expect("it may grow")
        };
        let (half_doubled, doubled_before) =
            (filters().map(|it| doubled(&it)), filters().map(|it| doubled(&doubled(&it))));
        for mut filter in filters().chain(half_doubled).chain(doubled_before) {
            let keys = fill(&mut filter);
            let doubled = doubled(&filter);
            assert_eq!(filter.begin_doubling(), Ok(true));
            let buckets = filter.splitting().expect("it is being doubled").0.bucket_count();
            for step in 0..=buckets {
                assert_eq!(filter.is_doubling(), step < buckets);
                assert_holds(&filter, &keys, step);
                // Copies of the whole table at each step of the smaller ones only.
                if buckets < 64 || step % 17 == 0 {
                    assert_eq!(filter.settled().to_bytes(), doubled.to_bytes());
                    let (file, table) = (filter.to_bytes(), doubled.bytes());
                    assert!(file.ends_with(table));
                    for offset in (0..=table.len()).step_by(61) {
                        let piece = filter.file_table().piece(offset);
                        assert_eq!(piece[..], table[offset..][..piece.len()]);
                        assert_eq!(piece.is_empty(), offset == table.len());
                    }
                    assert_eq!(filter == doubled, !filter.is_doubling());
                    assert_is_alike(&CuckooFilter::from_bytes(&filter.to_bytes()).expect("its file"), &filter);
                    assert_eq!(filter.check_invariants(), Ok(()));
                    assert!(filter.fingerprints().eq(doubled.fingerprints()));
                }
                for absent in 1 << 40..(1 << 40) + 500_u64 {
                    assert_eq!(filter.contains(&absent), doubled.contains(&absent));
                    assert_eq!(filter.count(&absent), doubled.count(&absent));
                }
                filter.split(1);
            }
        }
    }

    /// Checks that all of the bytes of two filters are equal, of both tables if they are being doubled.
    fn assert_is_alike(left: &CuckooFilter, right: &CuckooFilter) {
        assert_eq!((&left.storage[..], left.waiting(), left.len), (&right.storage[..], right.waiting(), right.len));
        assert_eq!(left, right);
        let waiting = |filter: &CuckooFilter| {
            let doubling = filter.doubling.as_deref()?;
            let [buckets, _] = doubling.splitting.places_of(doubling.splitting.waiting());
            let bits = buckets * u64::from(doubling.parameters.bucket_bits());
            // The bytes behind those of the buckets that wait may be anything.
            Some((doubling.parameters, doubling.limit, doubling.old[..to_usize(bits / 8)].to_vec()))
        };
        assert_eq!(waiting(left), waiting(right));
    }

    #[test]
    fn a_file_that_says_that_other_buckets_wait_than_can_is_refused() {
        let with_waiting = |file: &[u8], waiting: u64| {
            let mut file = file.to_vec();
            file[104..112].copy_from_slice(&waiting.to_le_bytes());
            let checksum = crate::digest::checksum(&file[..120]);
            file[120..128].copy_from_slice(&checksum.to_le_bytes());
            CuckooFilter::from_bytes(&file)
        };
        let mut contradictions = 0;
        for mut filter in filters() {
            let first = filter.to_bytes();
            fill(&mut filter);
            assert_eq!(filter.begin_doubling(), Ok(true));
            let buckets = filter.splitting().expect("it is being doubled").0.bucket_count();
            filter.split(1);
            assert_eq!(with_waiting(&filter.to_bytes(), buckets - 1).expect("its file"), filter);
            filter.settle();
            // None waits in a table that has never been doubled, nor more than there were before.
            for (file, waiting) in [(&first, 1), (&filter.to_bytes(), buckets + 1), (&filter.to_bytes(), u64::MAX)] {
                assert!(matches!(with_waiting(file, waiting), Err(LoadError::Inconsistent { .. })), "{waiting}");
            }
            // In a table that was filled since, slots are in use that come of one.
            while filter.room() > 0 && filter.insert(&(1 << 40 | filter.len() as u64)).is_ok() {}
            contradictions += usize::from(with_waiting(&filter.to_bytes(), buckets - 1).is_err());
            assert_eq!(with_waiting(&filter.to_bytes(), 0).expect("its file"), filter);
        }
        assert_eq!(contradictions, filters().count());
    }

    #[test]
    fn a_doubling_that_is_taken_back_leaves_no_trace() {
        for mut filter in filters() {
            fill(&mut filter);
            let before = filter.clone();
            assert_eq!(filter.begin_doubling(), Ok(true));
            filter.split(3);
            filter.take_back_doubling();
            assert_eq!(filter.to_bytes(), before.to_bytes());
            assert_eq!((filter.room(), filter.growth()), (before.room(), before.growth()));
        }
    }

    /// Each shape, with one to five buckets split for each operation: some doublings end before the table fills, and others
    /// are pressed. A filter that is loaded on the way goes the same way from there.
    #[test]
    fn insertions_and_removals_between_the_steps_of_a_doubling_follow_a_model() {
        for (mut filter, at_a_time) in filters().zip((1..=5).cycle()) {
            let mut keys = fill(&mut filter);
            let mut next = 1 << 20;
            let mut random = 12345_u64;
            assert_eq!(filter.begin_doubling(), Ok(true));
            let mut loaded = filter.clone();
            let mut step = 0;
            while filter.is_doubling() {
                random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                if random >> 61 < 5 {
                    let digest = filter.hasher().digest(&next);
                    let is_stored = filter.insert_while_doubling(digest).is_ok();
                    assert_eq!(loaded.insert_while_doubling(digest).is_ok(), is_stored);
                    if is_stored {
                        keys.push(next);
                    }
                    next += 1;
                } else {
                    let removed = keys.swap_remove(to_usize((random >> 20) % keys.len() as u64));
                    assert!(filter.remove(&removed), "{removed} was lost at step {step}");
                    assert!(loaded.remove(&removed), "{removed} was lost before step {step}");
                }
                filter.split(at_a_time - 1);
                loaded.split(at_a_time - 1);
                step += 1;
                if step % 13 == 0 {
                    assert_is_alike(&loaded, &filter);
                    loaded = CuckooFilter::from_bytes(&filter.to_bytes()).expect("its file");
                    assert_holds(&filter, &keys, step);
                    assert_eq!(filter.check_invariants(), Ok(()));
                }
            }
            assert_holds(&filter, &keys, step);
            assert_eq!(filter.check_invariants(), Ok(()));
            for key in keys {
                assert!(filter.remove(&key));
            }
            assert!(filter.bytes().iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn what_needs_a_single_table_ends_a_doubling_first() {
        let builder = CuckooFilter::builder().capacity(700).max_capacity(100_000).false_positive_rate(0.001);
        let begun = || {
            let mut filter = builder.build().expect("a small filter");
            let keys = fill(&mut filter);
            assert_eq!(filter.begin_doubling(), Ok(true));
            filter.split(50);
            (filter, keys)
        };
        let (filter, keys) = begun();
        assert_eq!(filter.clone(), filter);
        assert!(filter.clone().is_doubling());
        let mut settled = filter.clone();
        settled.settle();
        assert_eq!(settled.with_growth(None).to_bytes().len(), filter.to_bytes().len());

        let mut reserved = filter.clone();
        reserved.reserve(5000).expect("it may grow");
        assert_holds(&reserved, &keys, 0);

        let mut merged = filter.clone();
        merged.merge(&filter).expect("there is room");
        assert!(keys.iter().all(|key| merged.count(key) >= 2));
        assert_eq!(filter.intersection_len(&merged), Ok(keys.len()));

        let mut filled = filter.clone();
        let more: Vec<u64> = (1 << 30..(1 << 30) + 20_000).collect();
        filled.insert_many(&more).expect("it may grow");
        assert!(keys.iter().chain(&more).all(|key| filled.contains(key)));

        let mut shrunk = filter.clone();
        keys[20..].iter().for_each(|key| assert!(shrunk.remove(key)));
        shrunk.shrink_to_fit();
        assert!(shrunk.size_in_bytes() < filter.size_in_bytes() / 2);
        assert_holds(&shrunk, &keys[..20], 0);

        let mut cleared = filter;
        cleared.clear();
        assert!(cleared.is_empty() && !cleared.is_doubling());
        assert_eq!(cleared.check_invariants(), Ok(()));
        assert_eq!(cleared.insert(&5), Ok(()));
    }

    #[test]
    fn a_key_that_is_refused_during_a_doubling_changes_nothing() {
        let builder = CuckooFilter::builder().capacity(700).max_capacity(100_000).false_positive_rate(0.001);
        let mut filter = builder.build().expect("a small filter");
        fill(&mut filter);
        assert_eq!(filter.begin_doubling(), Ok(true));
        while filter.insert_while_doubling(filter.hasher().digest(&3)).is_ok() && filter.is_doubling() {}
        filter.settle();
        let refused = loop {
            if let Err(refused) = filter.insert(&3) {
                break refused;
            }
        };
        assert_eq!(refused, InsertError::TooManyCopies { copies: 8 });
        let before = filter.to_bytes();
        assert!(filter.insert(&3).is_err());
        assert_eq!(filter.to_bytes(), before);
    }

    /// Copies of every key until one is refused, in filters that are half doubled and in the same ones after the doubling.
    #[test]
    fn a_copy_that_no_split_makes_room_for_is_refused_without_one() {
        let mut crowded = 0;
        for mut filter in filters() {
            let most = 2 * filter.parameters().slots_per_bucket() as usize;
            let keys = fill(&mut filter);
            assert_eq!(filter.begin_doubling(), Ok(true));
            filter.split(filter.splitting().expect("it is being doubled").0.waiting() / 2);
            for key in keys {
                let (mut doubling, mut settled) = (filter.clone(), filter.settled().into_owned());
                for _ in 0..=most {
                    let waiting = doubling.splitting().map(|(splitting, ..)| splitting.waiting());
                    let inserted = doubling.insert(&key);
                    assert_eq!(inserted, settled.insert(&key), "{key}");
                    assert_eq!(doubling.parameters(), settled.parameters(), "{key}");
                    let left = doubling.splitting().map(|(splitting, ..)| splitting.waiting());
                    if let (Err(_), Some(before)) = (inserted, waiting) {
                        assert!(before - left.unwrap_or(0) <= Splitting::AT_A_TIME, "{key}: {before} to {left:?}");
                        crowded += usize::from(doubling.count(&key) < most);
                    }
                }
            }
        }
        assert!(crowded > 0, "no key shares its buckets with others");
    }

    #[test]
    fn a_large_table_is_doubled_in_steps_and_gives_back_the_memory_of_the_old_one() {
        let builder = CuckooFilter::builder().capacity(400_000).max_capacity(1_000_000).false_positive_rate(0.001);
        let mut filter = builder.build().expect("a filter of some bytes");
        let before = filter.size_in_bytes();
        let keys = fill(&mut filter);
        filter.insert(&u64::MAX).expect("it may grow");
        assert!(filter.is_doubling());
        let at_first = filter.size_in_bytes();
        assert!(at_first > 2 * before);
        let mut sizes = vec![at_first];
        let mut more = 0;
        while filter.is_doubling() {
            assert!(filter.contains(&keys[more]));
            filter.insert(&(1 << 40 | more as u64)).expect("it may grow");
            sizes.push(filter.size_in_bytes());
            more += 1;
        }
        assert!(sizes.is_sorted_by(|a, b| a >= b));
        assert!(sizes.iter().any(|&size| size < at_first - before / 2), "nothing was given back on the way");
        assert!(more * 14 < keys.len(), "{more} insertions for a doubling after {}", keys.len());
        assert!(keys.iter().all(|key| filter.contains(key)));
        assert_eq!(filter.check_invariants(), Ok(()));
    }
}
