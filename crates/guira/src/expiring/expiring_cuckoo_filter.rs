use core::fmt;

use super::Generations;
use super::generations::is_valid;
use crate::digest::{Digest, Key};
use crate::error::{AdvanceError, BuildError, InsertError, MergeError, OutOfMemory, ReserveError};
use crate::filter::{Built, Changes, Chosen, CuckooFilter, Filled, Meeting, Place, ValuedFilter, many, methods};

/// A filter whose keys expire: each is found for a lifetime after it came, and then forgotten, without a second filter and
/// without a moment at which much is forgotten at once.
///
/// The filter has no clock. Time is a number that the caller moves on with [`advance`](Self::advance), in any unit: seconds,
/// milliseconds, the offset in a stream. A lifetime is divided into resolutions, 14 unless another is chosen, and beside each
/// fingerprint stand a few bits that say in which of them its key came: 4 bits for 14 resolutions.
///
/// What it promises:
///
/// - A key that was inserted less than a lifetime ago and not removed is always found.
/// - After a lifetime and one resolution it is found by chance only, with the false positive rate that was asked for. That
///   holds as long as `advance` is called until it returns `true`; otherwise keys are found for longer, never for shorter.
/// - It takes as many keys at a time as its [`capacity`](Self::capacity) says. Those that are dead take no room.
/// - No call does the work of a whole table but for growing and shrinking: `advance` sweeps at most 4096 buckets, an insertion
///   four.
/// - A failed operation leaves every bit as it was. The same operations in the same order give the same bytes, on every machine
///   and within one release.
///
/// There are three insertions. [`insert`](Self::insert) stores a copy for each call, and only what it stored may be removed.
/// [`insert_if_absent`](Self::insert_if_absent) stores a key that is not found, and so counts its lifetime from when it was
/// first seen: what deduplication needs. [`insert_or_renew`](Self::insert_or_renew) counts it from when the key was last seen.
///
/// Filters are equal when they were made alike, have reached the same time and hold the same bits, those of the times of their
/// generations among them. Those of the same keys may be unequal, if the keys came in another order.
///
/// # Examples
///
/// ```
/// use guira::ExpiringCuckooFilter;
///
/// // Each event counts once in 24 hours; time in seconds.
/// let mut seen = ExpiringCuckooFilter::builder()
///     .capacity(100_000)
///     .false_positive_rate(0.001)
///     .lifetime(24 * 60 * 60)
///     .build()?;
/// let morning = 1_800_000_000;
/// seen.advance(morning)?;
/// assert!(seen.insert_if_absent("event 1")?);
/// assert!(!seen.insert_if_absent("event 1")?);
///
/// seen.advance(morning + 12 * 60 * 60)?;
/// assert!(!seen.insert_if_absent("event 1")?);
/// seen.advance(morning + 26 * 60 * 60)?;
/// assert!(seen.insert_if_absent("event 1")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct ExpiringCuckooFilter {
    /// The value beside a fingerprint is the number of the generation in which its key came.
    filter: ValuedFilter,
    generations: Generations,
}

/// How many buckets `advance` sweeps at most: some 20 µs.
pub(crate) const SWEPT_BY_ADVANCE: u64 = if cfg!(loom) { 4 } else { 4096 };

/// How many buckets an insertion sweeps at most. A filter to which as many keys come in a lifetime as it has room for has fewer
/// than four buckets for each insertion of a resolution, so a pass is over in time.
pub(crate) const SWEPT_BY_INSERTION: u64 = 4;

/// A lifetime has so many resolutions unless another resolution is chosen: as many as the numbers of 4 bits are enough for.
const USUAL_RESOLUTIONS: u64 = 14;

/// The table is packed. It grows if a [`max_capacity`](crate::FilterBuilder::max_capacity) is given.
impl Built for ExpiringCuckooFilter {
    /// Keys are in the table for up to a lifetime and one resolution, so it has room for as many more.
    fn chosen(given: &Chosen) -> Result<Chosen, BuildError> {
        let given = CuckooFilter::chosen(given)?;
        let (lifetime, resolution) = times(&given)?;
        let resolutions = lifetime / resolution;
        let in_table = given.with_capacities(|living| Self::in_table_of(living, resolutions))?;
        Ok(in_table.with_values(Generations::bits_for(resolutions)))
    }

    fn of(filter: CuckooFilter, chosen: &Chosen) -> Result<Self, BuildError> {
        let (lifetime, resolution) = times(chosen)?;
        let generations = Generations::new(lifetime, resolution, chosen.times.start)?;
        Ok(Self { filter: ValuedFilter::of(filter), generations })
    }
}

/// The lifetime and the resolution that were chosen, the former made longer to be a whole number of the latter.
fn times(chosen: &Chosen) -> Result<(u64, u64), BuildError> {
    let given = chosen.times.lifetime.ok_or(BuildError::LifetimeMissing)?;
    let resolution = chosen.times.resolution.unwrap_or(given.div_ceil(USUAL_RESOLUTIONS));
    if (1..=given).contains(&resolution)
        && let Some(lifetime) = given.checked_next_multiple_of(resolution)
        && is_valid(lifetime, resolution)
    {
        return Ok((lifetime, resolution));
    }
    Err(BuildError::Resolution { given: resolution, lifetime: given })
}

impl ExpiringCuckooFilter {
    methods! { "guira::ExpiringCuckooFilter" "::with_capacity(1000, 0.001, 60)?":
        builder(".lifetime(60)"), try_clone(self, generations: self.generations.try_clone()?),
    }

    /// Makes an empty filter for `capacity` keys at a time, which are found for a lifetime after they came, with at most this false
    /// positive rate. Its time is 0. For everything else that can be chosen, see [`builder`](Self::builder).
    ///
    /// # Errors
    ///
    /// A [`BuildError`] that says what is out of range, or that there is no memory.
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 3600)?;
    /// assert_eq!((filter.capacity(), filter.resolution()), (1000, 258));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_capacity(capacity: usize, false_positive_rate: f64, lifetime: u64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).false_positive_rate(false_positive_rate).lifetime(lifetime).build()
    }

    /// Puts a filter together from parts that were checked against each other.
    pub(crate) const fn from_parts(filter: ValuedFilter, generations: Generations) -> Self {
        Self { filter, generations }
    }

    /// Moves the time on to `now`, so that keys expire, and sweeps up to 4096 buckets of the table.
    ///
    /// Returns `true` if the time of keys that come now is known to one resolution. `false` says that more of the table must be
    /// swept first, and that a further call does so: `while !filter.advance(now)? {}`. Keys that are inserted in between are found
    /// for longer than they should be. If it is called at least once in a resolution for each 4096 buckets, it always returns `true`.
    ///
    /// A time before the one that was reached changes nothing, as events of a stream may come late.
    ///
    /// # Errors
    ///
    /// [`AdvanceError`] for a time at which no key would be alive any more, a lifetime or more after the present one: such a time
    /// may be a mistake. The filter is as it was; [`jump`](Self::jump) goes there. An empty filter goes anywhere.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// assert!(filter.advance(30)?);
    /// assert!(filter.contains("ani"));
    /// assert!(filter.advance(65)?);
    /// assert!(!filter.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn advance(&mut self, now: u64) -> Result<bool, AdvanceError> {
        let (time, lifetime) = (self.time(), self.lifetime());
        if !self.is_empty() && now.saturating_sub(time) >= lifetime {
            return Err(AdvanceError { now, time, lifetime });
        }
        Ok(self.jump(now))
    }

    /// Moves the time on to `now`, like [`advance`](Self::advance), also where all keys expire by that.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// assert!(filter.advance(1_000_000).is_err());
    /// assert!(filter.jump(1_000_000));
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn jump(&mut self, now: u64) -> bool {
        self.generations.advance(now);
        self.sweep(SWEPT_BY_ADVANCE);
        !self.generations.is_behind()
    }

    /// Empties the slots of dead generations in the next buckets.
    fn sweep(&mut self, count: u64) {
        let bucket_count = self.filter.parameters().bucket_count();
        let buckets = self.generations.next_buckets(bucket_count, count);
        if !buckets.is_empty() {
            let (end, living) = (buckets.end, self.generations.living());
            self.filter.sweep(buckets, living, |number| self.generations.leave(number));
            self.generations.swept(end, bucket_count);
        }
        self.generations.catch_up();
    }

    /// Stores a copy of a key, which is found for a lifetime from now.
    ///
    /// A key that is inserted again is stored again, and takes a slot for each copy; its buckets hold 2b of them. For keys that come
    /// again, use [`insert_if_absent`](Self::insert_if_absent) or [`insert_or_renew`](Self::insert_or_renew).
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`] and [`InsertError::TooManyCopies`]; in a filter that grows also [`InsertError::Crowded`] and
    /// [`InsertError::OutOfMemory`]. The filter is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// assert!(filter.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_digest(self.hasher().digest(key), false).map(|_| ())
    }

    /// Stores a copy of a key; with `if_absent`, only if there is no living one. Returns whether it was stored.
    fn insert_digest(&mut self, digest: Digest, if_absent: bool) -> Result<bool, InsertError> {
        let (number, dead) = (self.generations.current(), self.generations.dead());
        let doublings = self.filter.parameters().half_doublings();
        let stored = self.filter.insert_among_living(digest, number, dead, self.generations.living(), if_absent);
        match stored.map_err(|error| error.with_numbers(self.len(), self.capacity()))? {
            Filled::AlreadyThere => return Ok(false),
            Filled::Dead(replaced) => self.generations.leave(replaced),
            Filled::Empty | Filled::NoRoom => {}
        }
        if self.filter.parameters().half_doublings() != doublings {
            self.generations.forget_dead();
        }
        self.generations.join();
        if self.generations.dead() > 0 {
            self.sweep(SWEPT_BY_INSERTION);
        }
        Ok(true)
    }

    /// Stores a key unless it is found, so that its lifetime counts from when it was first seen. Returns `true` if it was stored.
    ///
    /// A new key that is taken for a living one (with the probability of a false positive) is not stored, and found no longer than
    /// that one is. Do not remove keys from a filter that is filled like this: a key that was taken for another one has no copy
    /// of its own.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// assert!(filter.insert_if_absent("ani")?);
    /// filter.advance(50)?;
    /// assert!(!filter.insert_if_absent("ani")?);
    /// filter.advance(65)?;
    /// assert!(filter.insert_if_absent("ani")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_if_absent<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_digest(self.hasher().digest(key), true)
    }

    /// Stores a key unless it is found, and otherwise makes it found for a lifetime from now. Returns `true` if it was stored.
    ///
    /// Of several copies the oldest is renewed. A new key that is taken for a living one renews that, which is then found for
    /// longer than it should be, and has no copy of its own: do not remove keys from a filter that is filled like this.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// assert!(filter.insert_or_renew("ani")?);
    /// filter.advance(50)?;
    /// assert!(!filter.insert_or_renew("ani")?);
    /// filter.advance(65)?;
    /// assert!(filter.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_or_renew<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        let digest = self.hasher().digest(key);
        let Some((place, number)) = self.oldest(digest) else {
            return self.insert_digest(digest, false);
        };
        let current = self.generations.current();
        if number != current {
            self.filter.set_value(place, current);
        }
        self.generations.leave(number);
        self.generations.join();
        Ok(false)
    }

    /// The slot of the oldest living copy of a key's fingerprint, with its number.
    fn oldest(&self, digest: Digest) -> Option<(Place, u32)> {
        let living = self.generations.living();
        self.filter.greatest(digest, |number| (!living.is_dead(number)).then(|| living.age(number)))
    }

    /// Returns `true` if a key is probably alive; `false` is certain.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// assert!(filter.contains("ani") && !filter.contains("koel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains_living(self.hasher().digest(key), self.generations.living())
    }

    fn look_up_many<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        self.filter.look_up_many(keys, answers, self.generations.living());
    }

    /// Returns how many living copies of a key are stored, together with those of keys that share its fingerprint and
    /// buckets.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// filter.insert("ani")?;
    /// assert_eq!((filter.count("ani"), filter.count("koel")), (2, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        let (mut copies, living) = (0, self.generations.living());
        self.filter.visit_values(self.hasher().digest(key), |number| copies += usize::from(!living.is_dead(number)));
        copies
    }

    /// Returns `true` if a key is probably alive at a later time, without moving there. A time before the one that was reached
    /// stands for that.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// assert!(filter.contains_at("ani", 59) && !filter.contains_at("ani", 65));
    /// assert_eq!(filter.time(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contains_at<K: Key + ?Sized>(&self, key: &K, now: u64) -> bool {
        let living = self.generations.living_at(now);
        living.is_some_and(|living| self.filter.contains_living(self.hasher().digest(key), living))
    }

    /// Writes to `answers`, for each of many keys, whether it is probably alive at a later time, as
    /// [`contains_at`](Self::contains_at) does for one.
    ///
    /// # Panics
    ///
    /// If `keys` and `answers` differ in length.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// let mut answers = [false; 2];
    /// filter.contains_many_at_into(&["ani", "koel"], &mut answers, 59);
    /// assert_eq!(answers, [true, false]);
    /// filter.contains_many_at_into(&["ani", "koel"], &mut answers, 65);
    /// assert_eq!(answers, [false, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains_many_at_into<K: Key>(&self, keys: &[K], answers: &mut [bool], now: u64) {
        assert_eq!(keys.len(), answers.len(), "as many answers as keys");
        match self.generations.living_at(now) {
            Some(living) => self.filter.look_up_many(keys, answers, living),
            None => answers.fill(false),
        }
    }

    /// Returns how many copies of a key are alive at a later time, as [`count`](Self::count) does for the present one.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// assert_eq!((filter.count_at("ani", 59), filter.count_at("ani", 65)), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn count_at<K: Key + ?Sized>(&self, key: &K, now: u64) -> usize {
        let Some(living) = self.generations.living_at(now) else { return 0 };
        let mut copies = 0;
        self.filter.visit_values(self.hasher().digest(key), |number| copies += usize::from(!living.is_dead(number)));
        copies
    }

    /// Returns how many fingerprints are alive at a later time, as [`len`](Self::len) does for the present one.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// assert_eq!((filter.len_at(59), filter.len_at(65)), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len_at(&self, now: u64) -> usize {
        self.generations.len_at(now)
    }

    /// Removes a copy of a key. Returns `true` if there was a living one.
    ///
    /// Only remove what [`insert`](Self::insert) stored, at most as often as it was, and before it expires. Then no other key dies
    /// early, though keys that share fingerprint and buckets can't be told apart, because it is the oldest copy that goes:
    /// sorted by age, each copy is at least as young as the key that it stands for, before and after.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// assert!(filter.remove("ani") && !filter.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        let Some((place, number)) = self.oldest(self.hasher().digest(key)) else { return false };
        self.filter.empty(place);
        self.generations.leave(number);
        true
    }

    /// Adds all living keys of another filter that was made with the same parameters, lifetime, resolution, hash and seed. This one
    /// moves to the later of both times, at which keys of either may have expired. A key that both hold is stored twice.
    ///
    /// No key dies early by that, and none is found for longer than one more resolution.
    ///
    /// If this filter grows, the other need only have begun with the same parameters. It takes memory for a copy of the resulting
    /// table while it works.
    ///
    /// # Errors
    ///
    /// [`MergeError::Differs`] if they were not made alike; [`MergeError::Full`], [`MergeError::TooManyCopies`] or
    /// [`MergeError::Crowded`] if not all fit; [`MergeError::OutOfMemory`]. In all cases both are as they were.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut monday = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// let mut tuesday = monday.empty_like()?;
    /// tuesday.insert("koel")?;
    /// monday.merge(&tuesday)?;
    /// assert!(monday.contains("koel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        for (what, ours, theirs) in
            [("lifetime", self.lifetime(), other.lifetime()), ("resolution", self.resolution(), other.resolution())]
        {
            if ours != theirs {
                return Err(MergeError::differs(what, ours, theirs));
            }
        }
        let (mut ours, theirs) = (self.generations.try_clone()?, &other.generations);
        ours.advance(other.time());
        let mut united = ours.united_with(theirs)?;
        let number_of_theirs = |number| {
            let is_alive = !theirs.living().is_dead(number) && united.is_alive_after(theirs.ended(number));
            is_alive.then(|| united.number_for(theirs.ended(number)))
        };
        let number_of_ours = |number| united.number_for(ours.ended(number));
        let changes = Changes {
            living: ours.living(),
            // Mostly the numbers of this filter stay, which spares a walk over its table.
            of_ours: if ours.numbers_stay(number_of_ours) { None } else { Some(&number_of_ours) },
            of_theirs: &number_of_theirs,
        };
        self.filter.merge(&other.filter, Meeting::Both, &changes)?;
        self.filter.visit_all_values(|_, number| _ = united.count(number));
        self.generations = united;
        Ok(())
    }

    /// Removes all keys. The time stays.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// filter.clear();
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clear(&mut self) {
        self.filter.clear();
        self.generations.clear();
    }

    /// Returns how many living fingerprints are stored, each copy counted.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.insert("ani")?;
    /// filter.jump(1000);
    /// assert_eq!(filter.len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.filter.len() - self.generations.dead()
    }

    methods! { "guira::ExpiringCuckooFilter" "::with_capacity(1000, 0.001, 60)?":
        is_empty, expected_false_positive_rate, size_in_bytes, growth, growth_policy(".lifetime(60)"),
        parameters(self, self.filter.parameters()), hasher(self, self.filter.hasher()),
        lifetime(generations), resolution(generations),
    }

    /// Returns the time that was reached.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// filter.advance(5)?;
    /// assert_eq!(filter.time(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn time(&self) -> u64 {
        self.generations.time()
    }

    /// Returns how many keys at a time, all of them younger than a lifetime, are promised to fit if they come evenly: of a million
    /// filters, at most one is expected to refuse one of them. In a filter that grows, this is the capacity of its present table.
    ///
    /// Each key is in the table for a lifetime and up to one resolution, for which the table has room if keys come evenly. If they come
    /// in bursts, this many may come within a lifetime and a resolution.
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// assert_eq!(filter.capacity(), 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        Self::living_of(self.filter.parameters().capacity(), self.lifetime() / self.resolution())
    }

    /// Returns up to how many keys at a time the false positive rate is kept: where the filter grows, at least the
    /// [`max_capacity`](crate::FilterBuilder::max_capacity) it was built for, and otherwise its [`capacity`](Self::capacity).
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::ExpiringCuckooFilter::builder().capacity(1000).max_capacity(50_000).false_positive_rate(0.001);
    /// assert!(builder.lifetime(60).build()?.max_capacity() >= 50_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn max_capacity(&self) -> usize {
        let in_table = self.filter.growth().map_or(self.filter.parameters().capacity(), |growth| growth.max_capacity);
        Self::living_of(in_table, self.lifetime() / self.resolution())
    }

    /// How many keys younger than a lifetime there are among so many in the table, if they came evenly.
    pub(crate) fn living_of(in_table: u64, resolutions: u64) -> usize {
        let living = u128::from(in_table) * u128::from(resolutions) / u128::from(resolutions + 1);
        usize::try_from(living).unwrap_or(usize::MAX)
    }

    /// The fewest keys in a table among which so many are younger than a lifetime, if they came evenly: the inverse of
    /// [`living_of`](Self::living_of).
    fn in_table_of(living: u64, resolutions: u64) -> u64 {
        living.saturating_add(living.div_ceil(resolutions))
    }

    /// Makes room for `additional` more keys at once.
    ///
    /// # Errors
    ///
    /// [`ReserveError::Full`] if the filter may not grow so far, and [`ReserveError::OutOfMemory`]. In both cases the filter
    /// is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::ExpiringCuckooFilter::builder().capacity(100).max_capacity(100_000).false_positive_rate(0.01);
    /// let mut filter = builder.lifetime(60).build()?;
    /// filter.reserve(50_000)?;
    /// assert!(filter.capacity() >= 50_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve(&mut self, additional: usize) -> Result<(), ReserveError> {
        let (len, capacity) = (self.len(), self.capacity());
        let needed = Self::in_table_of(len.saturating_add(additional) as u64, self.lifetime() / self.resolution());
        let in_table = usize::try_from(needed).unwrap_or(usize::MAX).saturating_sub(len);
        match self.filter.reserve_among_living(len, in_table, self.generations.living()) {
            Err(ReserveError::Full { .. }) => Err(ReserveError::Full { len, additional, capacity }),
            Err(error) => Err(error),
            Ok(is_grown) => {
                if is_grown {
                    self.generations.forget_dead();
                }
                Ok(())
            }
        }
    }

    /// Undoes doublings as long as the living keys leave an eighth of the smaller table's capacity free, down to the size that the
    /// filter began with. A filter that doesn't grow stays as it is.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::ExpiringCuckooFilter::builder().capacity(100).max_capacity(100_000).false_positive_rate(0.01);
    /// let mut filter = builder.lifetime(60).build()?;
    /// filter.try_extend(0..20_000)?;
    /// let size = filter.size_in_bytes();
    /// filter.jump(1000);
    /// filter.shrink_to_fit();
    /// assert!(filter.size_in_bytes() < size / 64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shrink_to_fit(&mut self) {
        let needed = Self::in_table_of(self.len() as u64, self.lifetime() / self.resolution());
        let in_table = usize::try_from(needed).unwrap_or(usize::MAX);
        if self.filter.shrink_to_living(in_table, self.generations.living()) {
            self.generations.forget_dead();
        }
    }

    /// Returns an empty filter that began as this one did, at its time, with the same hash.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// let filter = guira::ExpiringCuckooFilter::with_capacity(1000, 0.001, 60)?;
    /// assert!(filter.empty_like()? == filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn empty_like(&self) -> Result<Self, OutOfMemory> {
        let generations = Generations::new(self.lifetime(), self.resolution(), self.time())?;
        Ok(Self { filter: self.filter.empty_like()?, generations })
    }

    /// Checks what must hold of every filter; meant for tests.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        self.filter.check_invariants()?;
        let mut counted = self.generations.clone().without_fingerprints();
        let mut is_possible = true;
        self.filter.visit_all_values(|bucket, number| {
            is_possible &= counted.count(number) && counted.may_be_in(bucket, number);
        });
        if !is_possible {
            return Err("no fingerprint is older than what was swept");
        }
        if counted != self.generations {
            return Err("each generation has as many fingerprints as are counted");
        }
        Ok(())
    }

    /// Takes it apart.
    #[cfg(feature = "concurrent")]
    pub(crate) fn into_parts(self) -> (CuckooFilter, Generations) {
        (self.filter.into_filter(), self.generations)
    }

    pub(crate) const fn as_filter(&self) -> &CuckooFilter {
        self.filter.as_filter()
    }

    /// The filter, for what neither stores nor removes fingerprints.
    pub(crate) const fn as_filter_mut(&mut self) -> &mut CuckooFilter {
        self.filter.as_filter_mut()
    }

    pub(crate) const fn generations(&self) -> &Generations {
        &self.generations
    }
}

impl fmt::Debug for ExpiringCuckooFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExpiringCuckooFilter")
            .field("len", &self.len())
            .field("time", &self.time())
            .field("lifetime", &self.lifetime())
            .field("resolution", &self.resolution())
            .field("parameters", self.parameters())
            .field("hasher", self.hasher())
            .finish_non_exhaustive()
    }
}

impl ExpiringCuckooFilter {
    many! { "let mut filter = guira::ExpiringCuckooFilter::with_capacity(100, 0.001, 60)?;" r#"filter.insert("ani")?;"#:
        answers(), counts(usize), inserts([mut] r#""ani", "guira""#, item: K => item),
    }
}
