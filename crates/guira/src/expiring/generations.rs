//! Generations: which value beside a fingerprint stands for which time.

use alloc::vec::Vec;
use core::ops::Range;

use arrayvec::ArrayVec;

use crate::cast::to_usize;
use crate::error::OutOfMemory;
use crate::filter::Living;

/// The times of an expiring filter, and the generations that its keys belong to.
///
/// Keys that come within one resolution form a generation. The value beside a fingerprint is the number of its generation;
/// when all 2^v numbers have been given, the first is given again. A generation lives until the last of its keys is a lifetime
/// old, so no key dies early, and each is dead one resolution after its lifetime.
///
/// A number is free again when no fingerprint has it any more. So the table is swept in passes over all buckets, and until a pass
/// has freed the next number, keys go on joining the current generation, which then ends later.
///
/// How many numbers are enough: a lifetime of k resolutions has at most k + 1 living generations. Together with the one that
/// is being swept away they are k + 2.
#[derive(Clone, Debug)]
pub(crate) struct Generations {
    lifetime: u64,
    resolution: u64,
    time: u64,
    /// What is known of each generation, by its number.
    generations: Vec<Generation>,
    /// 2^v - 1, the greatest number.
    greatest: u32,
    /// The number of the generation that keys join now.
    current: u32,
    /// When that began, in whole resolutions since time 0.
    began: u64,
    /// How many generations before the current one live.
    living: u32,
    /// How many generations before the current one may have fingerprints in the table.
    stored: u32,
    /// The pass over the table that is under way.
    pass: Option<Pass>,
    /// The fingerprints of dead generations that are still in the table.
    dead: usize,
}

#[derive(Clone, Copy, Debug)]
struct Generation {
    /// The time at which the last of its keys came, or if none came, at which it began.
    ended: u64,
    /// Its fingerprints in the table.
    len: usize,
}

/// A pass over the table that empties the slots of dead generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pass {
    /// The first bucket that it has not come to.
    pub(crate) next: u64,
    /// How many generations before the current one lived when it began. What died since may be found in buckets before `next`.
    pub(crate) spared: u32,
}

/// How many numbers there are at most, which 8 bits have.
pub(crate) const MOST_NUMBERS: usize = 256;

/// What a file says of the generations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) lifetime: u64,
    pub(crate) resolution: u64,
    pub(crate) time: u64,
    pub(crate) current: u32,
    pub(crate) began: u64,
    pub(crate) pass: Option<Pass>,
    /// When the last key of each generation came, the current one's first: of all that may have fingerprints in the table.
    pub(crate) ended: ArrayVec<u64, MOST_NUMBERS>,
}

impl Generations {
    /// The longest lifetime, in resolutions.
    pub(crate) const MOST_RESOLUTIONS: u64 = 254;

    /// How many bits the number of a generation takes where a lifetime has so many resolutions.
    pub(crate) const fn bits_for(resolutions: u64) -> u32 {
        u64::BITS - (resolutions + 1).leading_zeros()
    }

    /// The generations of an empty filter. The lifetime is a whole number of resolutions.
    pub(crate) fn new(lifetime: u64, resolution: u64, time: u64) -> Result<Self, OutOfMemory> {
        let greatest = u32::MAX >> (u32::BITS - Self::bits_for(lifetime / resolution));
        let mut generations = Self::room_for(to_usize(u64::from(greatest)) + 1)?;
        generations.extend((0..=greatest).map(|_| Generation { ended: time, len: 0 }));
        Ok(Self {
            lifetime,
            resolution,
            time,
            generations,
            greatest,
            current: 0,
            began: time / resolution,
            living: 0,
            stored: 0,
            pass: None,
            dead: 0,
        })
    }

    /// A copy, unless there is no memory for it.
    pub(crate) fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let mut generations = Self::room_for(self.generations.len())?;
        generations.extend_from_slice(&self.generations);
        Ok(Self { generations, ..*self })
    }

    /// Where the allocation begins, and its bytes.
    pub(crate) fn memory(&self) -> (*const u8, usize) {
        (self.generations.as_ptr().cast(), size_of_val(self.generations.as_slice()))
    }

    fn room_for(numbers: usize) -> Result<Vec<Generation>, OutOfMemory> {
        let mut generations = Vec::new();
        let no_memory = |_| OutOfMemory::new((numbers * size_of::<Generation>()) as u64);
        generations.try_reserve_exact(numbers).map_err(no_memory)?;
        Ok(generations)
    }

    /// The generations that a file describes; `None` where none can have come to be like this.
    pub(crate) fn of_times(times: &Times) -> Result<Option<Self>, OutOfMemory> {
        if !is_valid(times.lifetime, times.resolution) {
            return Ok(None);
        }
        let mut all = Self::new(times.lifetime, times.resolution, times.time)?;
        let Some(stored) = u32::try_from(times.ended.len()).ok().and_then(|numbers| numbers.checked_sub(1)) else {
            return Ok(None);
        };
        let is_possible = times.current <= all.greatest
            && stored <= all.greatest
            && core::iter::once(&times.time).chain(&times.ended).is_sorted_by(|later, earlier| later >= earlier)
            && times.began <= times.time / times.resolution
            && times.pass.is_none_or(|pass| pass.spared <= stored);
        if !is_possible {
            return Ok(None);
        }
        (all.current, all.began, all.stored) = (times.current, times.began, stored);
        for (age, &ended) in (0..).zip(&times.ended) {
            all.of_age_mut(age).ended = ended;
        }
        (all.living, all.pass) = (stored, times.pass);
        all.bury();
        // Whoever lived when the pass began and lives still was spared.
        Ok(Some(all).filter(|all| all.pass.is_none_or(|pass| pass.spared >= all.living)))
    }

    /// The generations of a filter whose table is empty.
    pub(crate) fn without_fingerprints(mut self) -> Self {
        self.generations.iter_mut().for_each(|generation| generation.len = 0);
        Self { dead: 0, ..self }
    }

    /// The generations of a filter from which all keys were removed.
    pub(crate) fn clear(&mut self) {
        let (time, resolution) = (self.time, self.resolution);
        self.generations.fill(Generation { ended: time, len: 0 });
        (self.current, self.began) = (0, time / resolution);
        (self.living, self.stored, self.pass, self.dead) = (0, 0, None, 0);
    }

    pub(crate) fn times(&self) -> Times {
        let ended = (0..=self.stored).map(|age| self.of_age(age).ended).collect();
        let &Self { lifetime, resolution, time, current, began, pass, .. } = self;
        Times { lifetime, resolution, time, current, began, pass, ended }
    }

    /// How many fingerprints each generation has in the table, by its number.
    fn lens(&self) -> impl Iterator<Item = usize> {
        self.generations.iter().map(|generation| generation.len)
    }

    /// How many numbers there are: 2^v.
    pub(crate) const fn numbers(&self) -> u32 {
        self.greatest + 1
    }

    pub(crate) const fn lifetime(&self) -> u64 {
        self.lifetime
    }

    pub(crate) const fn resolution(&self) -> u64 {
        self.resolution
    }

    pub(crate) const fn time(&self) -> u64 {
        self.time
    }

    /// The number of the generation that keys join now.
    pub(crate) const fn current(&self) -> u32 {
        self.current
    }

    /// Which numbers are those of living generations.
    #[inline]
    pub(crate) const fn living(&self) -> Living {
        Living { current: self.current, greatest: self.greatest, older: self.living, oldest: self.stored }
    }

    /// Which numbers are those of generations that live at this time or, where it is later, at another; `None` where all are dead.
    pub(crate) fn living_at(&self, now: u64) -> Option<Living> {
        let now = now.max(self.time);
        let oldest = (0..=self.living).rev().find(|&age| now - self.of_age(age).ended < self.lifetime);
        oldest.map(|older| Living { older, ..self.living() })
    }

    /// How many fingerprints are of such generations.
    pub(crate) fn len_at(&self, now: u64) -> usize {
        self.living_at(now).map_or(0, |living| (0..=living.older).map(|age| self.of_age(age).len).sum())
    }

    /// The fingerprints of dead generations that are still in the table.
    pub(crate) const fn dead(&self) -> usize {
        self.dead
    }

    /// Whether keys join a generation whose resolution is over, until a pass has freed a number for the next one.
    pub(crate) const fn is_behind(&self) -> bool {
        self.dead > 0 && self.time / self.resolution > self.began
    }

    /// Notes that a key has joined the current generation.
    pub(crate) fn join(&mut self) {
        let time = self.time;
        let generation = self.of_age_mut(0);
        generation.ended = time;
        generation.len += 1;
    }

    /// Counts a fingerprint of the table, given its number; `false` if there can be none with this number.
    pub(crate) fn count(&mut self, number: u32) -> bool {
        let age = self.age(number);
        self.of_age_mut(age).len += 1;
        self.dead += usize::from(age > self.living);
        age <= self.stored
    }

    /// Whether a bucket may hold a fingerprint with this number: not if a pass has freed the bucket of it.
    pub(crate) fn may_be_in(&self, bucket: u64, number: u32) -> bool {
        self.pass.is_none_or(|pass| bucket >= pass.next || self.age(number) <= pass.spared)
    }

    /// Notes that a fingerprint has left the table, given its number.
    pub(crate) fn leave(&mut self, number: u32) {
        let age = self.age(number);
        self.of_age_mut(age).len -= 1;
        self.dead -= usize::from(age > self.living);
    }

    /// Moves the time on.
    pub(crate) fn advance(&mut self, now: u64) {
        if now > self.time {
            self.begin(now);
            self.time = now;
            self.bury();
        }
    }

    /// Whether a generation begins, ends or dies at a time, where `has_joined` says whether keys have joined the current one.
    #[cfg(feature = "concurrent")]
    pub(crate) fn is_due(&self, now: u64, has_joined: impl FnOnce() -> bool) -> bool {
        let now = now.max(self.time);
        let begins = now / self.resolution > self.began && (self.stored < self.greatest || !has_joined());
        begins || self.living > 0 && now - self.of_age(self.living).ended >= self.lifetime
    }

    /// Moves the time on where nothing [`is_due`](Self::is_due).
    #[cfg(feature = "concurrent")]
    pub(crate) fn pass_time(&mut self, now: u64) {
        self.time = self.time.max(now);
    }

    /// Sets the fingerprints of each generation in the table, by its number, and when the last key of the current one came.
    #[cfg(feature = "concurrent")]
    pub(crate) fn set_counts(&mut self, len: impl Fn(u32) -> usize, ended: u64) {
        for (number, generation) in (0..).zip(&mut self.generations) {
            generation.len = len(number);
        }
        let current = self.of_age_mut(0);
        current.ended = current.ended.max(ended);
        self.dead = (self.living + 1..=self.stored).map(|age| self.of_age(age).len).sum();
    }

    /// Sets how many fingerprints of dead generations are in the table.
    #[cfg(feature = "concurrent")]
    pub(crate) fn set_dead(&mut self, dead: usize) {
        self.dead = dead;
    }

    /// How many fingerprints all generations have in the table.
    #[cfg(feature = "concurrent")]
    pub(crate) fn in_table(&self) -> usize {
        self.lens().sum()
    }

    /// How many fingerprints a generation has in the table, given its number.
    #[cfg(feature = "concurrent")]
    pub(crate) fn len_of(&self, number: u32) -> usize {
        self.generations[to_usize(u64::from(number))].len
    }

    /// Ends the current generation if its resolution is over at a time, and the next number is free.
    fn begin(&mut self, now: u64) {
        let resolution = now / self.resolution;
        if resolution <= self.began {
            return;
        }
        if self.of_age(0).len == 0 {
            // Nobody joined it, so that it may as well begin now.
            self.began = resolution;
        } else if self.stored < self.greatest {
            self.current = (self.current + 1) & self.greatest;
            *self.of_age_mut(0) = Generation { ended: now, len: 0 };
            self.began = resolution;
            self.living += 1;
            self.stored += 1;
            if let Some(pass) = &mut self.pass {
                pass.spared += 1;
            }
        }
    }

    /// Finds out which generations have died.
    fn bury(&mut self) {
        while self.living > 0 && self.time - self.of_age(self.living).ended >= self.lifetime {
            self.dead += self.of_age(self.living).len;
            self.living -= 1;
        }
    }

    /// The next buckets to be swept of a table of so many, at most `count`; none where nothing is dead.
    pub(crate) fn next_buckets(&mut self, bucket_count: u64, count: u64) -> Range<u64> {
        if self.dead == 0 {
            self.forget_dead();
            return 0..0;
        }
        let pass = self.pass.get_or_insert(Pass { next: 0, spared: self.living });
        pass.next..bucket_count.min(pass.next.saturating_add(count))
    }

    /// Notes that the table has been swept up to a bucket. Generations may begin and end by [`catch_up`](Self::catch_up).
    pub(crate) fn swept(&mut self, end: u64, bucket_count: u64) {
        if let Some(pass) = &mut self.pass {
            pass.next = end;
            if end >= bucket_count {
                self.stored = pass.spared;
                self.pass = None;
            }
        }
        if self.dead == 0 {
            self.forget_dead();
        }
    }

    /// Begins and ends what is due at the time that was reached.
    pub(crate) fn catch_up(&mut self) {
        self.begin(self.time);
        self.bury();
    }

    /// Notes that the table has no dead fingerprints any more.
    pub(crate) fn forget_dead(&mut self) {
        for age in self.living + 1..=self.stored {
            self.of_age_mut(age).len = 0;
        }
        (self.stored, self.pass, self.dead) = (self.living, None, 0);
    }

    /// The number of the oldest living generation that lives at least as long as one that ended at this time.
    pub(crate) fn number_for(&self, ended: u64) -> u32 {
        let oldest = (1..=self.living).rev().find(|&age| self.of_age(age).ended >= ended);
        self.number(oldest.unwrap_or(0))
    }

    /// The generations of this filter and of another one together, at the time of this one, which the other has not passed. The keys of
    /// both that came last in one resolution are of one generation, so that none lives for more than a resolution longer.
    ///
    /// None has a fingerprint yet; [`number_for`](Self::number_for) is where those of a generation of either filter belong.
    pub(crate) fn united_with(&self, other: &Self) -> Result<Self, OutOfMemory> {
        let mut united = Self { current: self.current, ..Self::new(self.lifetime, self.resolution, self.time)? };
        let mut ends: ArrayVec<u64, { 2 * MOST_NUMBERS }> =
            [self, other].into_iter().flat_map(Self::ends_of_living).collect();
        ends.retain(|&mut end| self.is_alive_after(end));
        ends.sort_unstable_by(|earlier, later| later.cmp(earlier));
        let mut last = None;
        for end in ends {
            let resolution = Some(end / self.resolution);
            if resolution == last {
                continue;
            }
            last = resolution;
            united.living += u32::from(resolution < Some(united.began));
            let age = united.living;
            united.of_age_mut(age).ended = end;
        }
        united.stored = united.living;
        Ok(united.without_fingerprints())
    }

    /// Whether every living generation has the number that it is to have.
    pub(crate) fn numbers_stay(&self, changed: impl Fn(u32) -> u32) -> bool {
        (0..=self.living).map(|age| self.number(age)).all(|number| changed(number) == number)
    }

    /// When the last keys of living generations came that have fingerprints.
    fn ends_of_living(&self) -> impl Iterator<Item = u64> {
        let living = (0..=self.living).map(|age| self.of_age(age));
        living.filter(|generation| generation.len > 0).map(|generation| generation.ended)
    }

    /// Whether a generation whose last key came at this time lives.
    pub(crate) const fn is_alive_after(&self, ended: u64) -> bool {
        self.time.saturating_sub(ended) < self.lifetime
    }

    /// The time at which the last key of a generation came, given its number.
    pub(crate) fn ended(&self, number: u32) -> u64 {
        self.of_age(self.age(number)).ended
    }

    fn age(&self, number: u32) -> u32 {
        self.living().age(number)
    }

    fn number(&self, age: u32) -> u32 {
        self.living().number(age)
    }

    fn of_age(&self, age: u32) -> &Generation {
        &self.generations[to_usize(u64::from(self.number(age)))]
    }

    fn of_age_mut(&mut self, age: u32) -> &mut Generation {
        let number = to_usize(u64::from(self.number(age)));
        &mut self.generations[number]
    }
}

/// Whether they have equal times, and equally many fingerprints in each generation. What numbers meant before makes no difference.
impl PartialEq for Generations {
    fn eq(&self, other: &Self) -> bool {
        self.times() == other.times() && self.lens().eq(other.lens())
    }
}

/// Whether a lifetime is a whole number of resolutions, 1 to [`Generations::MOST_RESOLUTIONS`].
pub(crate) const fn is_valid(lifetime: u64, resolution: u64) -> bool {
    resolution > 0
        && lifetime.is_multiple_of(resolution)
        && lifetime / resolution >= 1
        && lifetime / resolution <= Generations::MOST_RESOLUTIONS
}
