//! Time, in a filter that threads share.
//!
//! Which generations live, and which number new keys get, is one word, which changes only while all locks of the table are
//! held. (It also has the number of generations that may have dead fingerprints, which may be lowered at any time.) So:
//!
//! - *Writers* read the word, work out what to do, lock, and compare: if it is another word by then, they begin again. What they
//!   write under their locks has a number that is current, and what they overwrite or remove is dead or alive as they took it
//!   to be. However long a writer was held up, it can't write a number of a generation that has died, or whose number was given
//!   again. [`TimedGuards`] are these locks.
//! - *Readers* read the word after they have begun to watch a version, and before the first slot. A copy that a key had by then
//!   has a number that the word knows. If it gets a younger number later, or is removed while a younger copy stays, the version
//!   shows that, and the reader looks again. A dead fingerprint may go without a change of the version: it was alive for the
//!   reader only if the word has changed since, and then a reader that found nothing looks again too. It may have missed a
//!   younger copy, whose number its word does not know.
//!
//! A number that is in two words can't be replaced at one moment. Whoever does so says it in two counters, and readers that find
//! nothing meanwhile look again.
//!
//! Fingerprints of the current generation are counted by the stripes, those of others by number. What is rarely changed, and
//! by one thread at a time, is in a [`Generations`] behind a lock that is taken before all locks of the table.

use alloc::boxed::Box;
use std::sync::{PoisonError, TryLockError};

use super::guards::{Guard, Guards};
use super::stripes::{Stale, StripeGuard, Stripes, never_stale};
use super::versions::{OptimisticRead, Versions};
use crate::addressing::{BucketIndex, Fingerprint};
use crate::cast::{low_32, to_usize};
use crate::expiring::{Generations, SWEPT_BY_ADVANCE};
use crate::filter::Living;
use crate::sync::{AtomicU64, Count, Mutex, MutexGuard, Ordering, fence};
use crate::table::{OutOfMemory, SharedNumbers, try_collect};

/// The generations of a filter that threads share.
pub(super) struct SharedTimes {
    read: ReadByAll,
    time: Time,
    /// The time at which the last key of each generation came, by number.
    ended: Box<[Count]>,
    /// The fingerprints of each generation in the table, by number, but for those of the current one.
    lens: Box<[AtomicU64]>,
    /// How many buckets insertions left to be swept by others.
    owed: Count,
    generations: Mutex<Generations>,
    greatest: u32,
    lifetime: u64,
    resolution: u64,
}

/// What every lookup reads, apart from what is often written.
#[repr(align(128))]
struct ReadByAll {
    /// See [`Seen`].
    living: AtomicU64,
    /// How often numbers in two words began to be replaced, and how often that has ended.
    replacing: AtomicU64,
    replaced: AtomicU64,
}

#[repr(align(128))]
struct Time(AtomicU64);

/// What a thread saw of the generations: the current number, how many before it live, and how many may be in the table, each in
/// 8 bits, and above them how often that has changed, so that no two words are the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen(u64);

impl Seen {
    const CHANGES: u32 = 24;

    fn of(generations: &Generations, changes: u64) -> Self {
        let Living { current, older, oldest, .. } = generations.living();
        Self(u64::from(current | older << 8 | oldest << 16) | changes << Self::CHANGES)
    }

    const fn changes(self) -> u64 {
        self.0 >> Self::CHANGES
    }

    #[inline]
    fn living(self, greatest: u32) -> Living {
        let byte = |at: u32| low_32(self.0 >> at) & 0xff;
        Living { current: byte(0), older: byte(8), oldest: byte(16), greatest }
    }
}

impl SharedTimes {
    pub(super) fn new(generations: Generations) -> Result<Self, OutOfMemory> {
        let (greatest, current) = (generations.numbers() - 1, generations.current());
        let len = |number| if number == current { 0 } else { generations.len_of(number) as u64 };
        let ended = (0..generations.numbers()).map(|number| Count::new(generations.ended(number)));
        let lens = (0..generations.numbers()).map(|number| AtomicU64::new(len(number)));
        Ok(Self {
            read: ReadByAll {
                living: AtomicU64::new(Seen::of(&generations, 0).0),
                replacing: AtomicU64::new(0),
                replaced: AtomicU64::new(0),
            },
            time: Time(AtomicU64::new(generations.time())),
            ended: try_collect(ended)?.into_boxed_slice(),
            lens: try_collect(lens)?.into_boxed_slice(),
            owed: Count::new(0),
            greatest,
            lifetime: generations.lifetime(),
            resolution: generations.resolution(),
            generations: Mutex::new(generations),
        })
    }

    pub(super) const fn lifetime(&self) -> u64 {
        self.lifetime
    }

    pub(super) const fn resolution(&self) -> u64 {
        self.resolution
    }

    pub(super) fn time(&self) -> u64 {
        self.time.0.load(Ordering::Relaxed)
    }

    /// Acquire: whoever reads that a number was given again does not see fingerprints that had it before.
    #[inline]
    pub(super) fn seen(&self) -> Seen {
        Seen(self.read.living.load(Ordering::Acquire))
    }

    #[inline]
    pub(super) fn living(&self, seen: Seen) -> Living {
        seen.living(self.greatest)
    }

    /// Which generations live at a later time, of those that live now; `None` if none does.
    ///
    /// While a word is the present one, the times of the generations that it calls living change only in that the current one
    /// goes on.
    pub(super) fn living_at(&self, now: u64) -> Option<Living> {
        loop {
            let seen = self.seen();
            let living = self.living(seen);
            let now = now.max(self.time());
            let ended = |age| self.ended[to_usize(u64::from(living.number(age)))].load(Ordering::Relaxed);
            let older = (0..=living.older).rev().find(|&age| now.saturating_sub(ended(age)) < self.lifetime);
            fence(Ordering::Acquire);
            if self.read.living.load(Ordering::Relaxed) == seen.0 {
                return older.map(|older| Living { older, ..living });
            }
        }
    }

    pub(super) fn numbers(&self) -> SharedNumbers<'_> {
        SharedNumbers(&self.lens)
    }

    /// The fingerprints of generations of some ages, none of which is the current one.
    ///
    /// Acquire: see [`SharedNumbers::leave`].
    fn sum(&self, living: Living, ages: core::ops::RangeInclusive<u32>) -> usize {
        let len = |age| self.lens[to_usize(u64::from(living.number(age)))].load(Ordering::Acquire);
        to_usize(ages.map(len).sum())
    }

    /// The living fingerprints that are not of the current generation.
    pub(super) fn older(&self) -> usize {
        let living = self.living(self.seen());
        self.sum(living, 1..=living.older)
    }

    /// The dead fingerprints.
    pub(super) fn dead(&self) -> usize {
        let living = self.living(self.seen());
        self.sum(living, living.older + 1..=living.oldest)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Generations> {
        // Nothing panics between two changes that belong together.
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock, if nobody else has it, with what is to be swept: so many buckets more than others left over, but of very many a part, and
    /// the next insertions sweep the rest.
    pub(super) fn lock_to_sweep(&self, count: u64) -> Option<(MutexGuard<'_, Generations>, u64)> {
        self.owed.fetch_add(count, Ordering::Relaxed);
        let generations = match self.generations.try_lock() {
            Ok(generations) => generations,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let owed = self.owed.swap(0, Ordering::Relaxed);
        let count = owed.min(SWEPT_BY_ADVANCE);
        self.owed.fetch_add(owed - count, Ordering::Relaxed);
        Some((generations, count))
    }

    /// Moves the time on; or, if that is only for an empty filter, leaves it where a key lives, and returns `false`.
    pub(super) fn advance(
        &self,
        generations: &mut Generations,
        now: u64,
        stripes: &Stripes,
        only_if_empty: bool,
    ) -> bool {
        let mut has_moved = true;
        if generations.is_due(now, || stripes.stored() > 0) {
            self.change(generations, stripes, |generations| {
                has_moved = !only_if_empty || generations.in_table() == generations.dead();
                if has_moved {
                    generations.advance(now);
                }
            });
        } else if only_if_empty {
            // A generation would begin, had no key joined the current one.
            has_moved = false;
        } else {
            generations.pass_time(now);
            self.time.0.store(generations.time(), Ordering::Relaxed);
        }
        has_moved
    }

    /// Begins and ends what is due, after buckets were swept.
    pub(super) fn catch_up(&self, generations: &mut Generations, stripes: &Stripes) {
        if generations.dead() == 0 {
            // Otherwise the first insertions after the next generation has died would sweep far more than their part.
            self.owed.store(0, Ordering::Relaxed);
        }
        if generations.is_due(generations.time(), || stripes.stored() > 0) {
            self.change(generations, stripes, Generations::catch_up);
        }
    }

    /// Changes the generations while nobody writes.
    fn change(&self, generations: &mut Generations, stripes: &Stripes, change: impl FnOnce(&mut Generations)) {
        let all = never_stale(stripes.lock_all());
        let before = generations.current();
        self.count(generations, stripes);
        change(generations);
        let current = generations.current();
        for (number, len) in (0..).zip(&self.lens) {
            let len_now = if number == current { 0 } else { generations.len_of(number) };
            len.store(len_now as u64, Ordering::Relaxed);
        }
        self.ended[to_usize(u64::from(current))].store(generations.ended(current), Ordering::Relaxed);
        self.time.0.store(generations.time(), Ordering::Relaxed);
        self.publish(generations);
        // After the word: whoever sees the count of the stripes fall sees which number counts these keys. The new generation has none.
        if current != before {
            all.count_none();
        }
    }

    /// Tells the generations what threads have counted. It is exact while nobody writes.
    pub(super) fn count(&self, generations: &mut Generations, stripes: &Stripes) {
        let (current, at) = (generations.current(), |number| to_usize(u64::from(number)));
        let joined = stripes.stored();
        let left = |number| to_usize(self.lens[at(number)].load(Ordering::Relaxed));
        let len = |number| if number == current { joined } else { left(number) };
        generations.set_counts(len, self.ended[at(current)].load(Ordering::Relaxed));
    }

    /// Lets threads see which generations live now.
    ///
    /// Release: see [`seen`](Self::seen).
    pub(super) fn publish(&self, generations: &Generations) {
        let before = self.seen();
        if Seen::of(generations, before.changes()) != before {
            self.read.living.store(Seen::of(generations, before.changes() + 1).0, Ordering::Release);
        }
    }

    /// Takes note of a key that joins the current generation, or comes again while it is of that, under a lock.
    ///
    /// Relaxed: the locks order this and the end of the generation.
    #[inline]
    pub(super) fn join(&self, seen: Seen) {
        let (ended, time) = (&self.ended[to_usize(u64::from(self.living(seen).current))], self.time());
        if ended.load(Ordering::Relaxed) < time {
            ended.fetch_max(time, Ordering::Relaxed);
        }
    }

    /// Begins a look at the buckets of a fingerprint.
    ///
    /// Acquire: numbers whose replacement has ended are read as a whole.
    #[inline]
    pub(super) fn watch<'shared>(
        &'shared self,
        versions: &'shared Versions,
        fingerprint: Fingerprint,
    ) -> TimedRead<'shared> {
        let read = versions.watch(fingerprint);
        TimedRead { read, times: self, replaced: self.read.replaced.load(Ordering::Acquire), seen: self.seen() }
    }

    /// Replaces a number that is in two words, as readers are told.
    pub(super) fn replace_in_two_words(&self, replace: impl FnOnce()) {
        self.read.replacing.fetch_add(1, Ordering::Relaxed);
        replace();
        // Release: whoever reads this sees both words.
        self.read.replaced.fetch_add(1, Ordering::Release);
    }
}

/// A look at the buckets of a fingerprint that has begun.
pub(super) struct TimedRead<'shared> {
    read: OptimisticRead<'shared>,
    times: &'shared SharedTimes,
    replaced: u64,
    /// Which generations lived when it began.
    pub(super) seen: Seen,
}

impl TimedRead<'_> {
    /// Whether no living fingerprint of the class left a slot while the look went on, no number was half replaced, and no
    /// generation began or died.
    ///
    /// The fence in [`OptimisticRead::is_unchanged`] comes before all of these reads: whoever has seen the first half of a
    /// replacement, which is released, sees that it began, and whoever has seen that a dead fingerprint is gone, that it died.
    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        let ReadByAll { living, replacing, .. } = &self.times.read;
        self.read.is_unchanged()
            && replacing.load(Ordering::Relaxed) == self.replaced
            && living.load(Ordering::Relaxed) == self.seen.0
    }
}

/// The guards of a table for a writer that saw which generations live.
pub(super) struct TimedGuards<'shared> {
    pub(super) guards: &'shared Guards,
    pub(super) times: &'shared SharedTimes,
    pub(super) seen: Seen,
}

impl TimedGuards<'_> {
    /// Counts a fingerprint that has joined the current generation, under a lock.
    pub(super) fn join(&self, held: &StripeGuard<'_>) {
        self.times.join(self.seen);
        held.count_stored();
    }

    /// Counts a living fingerprint that has left its generation, under a lock.
    pub(super) fn leave(&self, number: u32, held: &StripeGuard<'_>) {
        if number == self.times.living(self.seen).current {
            held.count_removed();
        } else {
            self.times.numbers().leave(number);
        }
    }
}

impl Guard for TimedGuards<'_> {
    #[inline]
    fn stripes(&self) -> &Stripes {
        self.guards.stripes()
    }

    #[inline]
    fn versions(&self) -> &Versions {
        self.guards.versions()
    }

    /// Refuses a lock if generations have changed since.
    ///
    /// Relaxed: whoever changed them held this lock before.
    #[inline]
    fn check(&self, _locked: Option<&[BucketIndex]>) -> Result<(), Stale> {
        if self.times.read.living.load(Ordering::Relaxed) == self.seen.0 { Ok(()) } else { Err(Stale) }
    }

    #[inline]
    fn note_stored(&self, held: &StripeGuard<'_>) {
        self.join(held);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_to_whoever_sweeps_is_swept_however_much_it_is() {
        let generations = Generations::new(60, 10, 0).expect("small");
        let times = SharedTimes::new(generations).expect("small");
        let sweeping = times.lock();
        let left = 3 * SWEPT_BY_ADVANCE;
        for _ in 0..left / 4 {
            assert!(times.lock_to_sweep(4).is_none());
        }
        drop(sweeping);
        let swept =
            core::iter::from_fn(|| times.lock_to_sweep(0).map(|(_, count)| count)).take_while(|&count| count > 0);
        let swept: alloc::vec::Vec<u64> = swept.collect();
        assert!(swept.iter().sum::<u64>() == left && swept.iter().all(|&count| count <= SWEPT_BY_ADVANCE), "{swept:?}");
    }

    #[test]
    fn nothing_is_left_to_be_swept_once_no_dead_fingerprints_are_left() {
        let generations = Generations::new(60, 10, 0).expect("small");
        let times = SharedTimes::new(generations).expect("small");
        let mut sweeping = times.lock();
        assert!(times.lock_to_sweep(4).is_none());
        times.catch_up(&mut sweeping, &Stripes::new(1, 0).expect("small"));
        drop(sweeping);
        assert_eq!(times.lock_to_sweep(4).map(|(_, count)| count), Some(4));
    }
}
