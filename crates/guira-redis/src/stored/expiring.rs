use guira::ExpiringCuckooFilter;
use guira::raw::RawFilter as _;

use crate::cast::wide;
use crate::error::CommandError;
use crate::memory::{collected, text};
use crate::secret::SecretKey;
use crate::settings::{HashName, Limits};

/// A filter whose items expire. Its times are milliseconds, since the beginning of 1970.
///
/// It is never asked what time it is: commands say that. What only reads looks at it as it will be by then, and what changes it moves
/// its time on first, so that it changes in the same way wherever the same changes are made at the same times.
#[derive(Debug, PartialEq)]
pub struct Expiring {
    pub(super) filter: ExpiringCuckooFilter,
    /// How many copies were removed since it was created.
    pub(super) removed: u64,
}

/// How often a command that moves the time on goes on with sweeping: some 80 µs in all.
const MOST_SWEEPS: u32 = 4;

impl Expiring {
    pub(super) const fn new(filter: ExpiringCuckooFilter) -> Self {
        Self { filter, removed: 0 }
    }

    pub(super) fn try_clone(&self) -> Result<Self, CommandError> {
        Ok(Self { filter: self.filter.try_clone().map_err(guira::BuildError::from)?, removed: self.removed })
    }

    /// The secret key, if there is one.
    pub(super) fn key(&self) -> Option<SecretKey> {
        SecretKey::of_hasher(self.filter.hasher())
    }

    /// An empty filter that can be merged with this one, and has reached its time.
    pub(super) fn empty_like(&self, limits: Limits) -> Result<Self, CommandError> {
        let filter = self.filter.empty_like().map_err(guira::BuildError::from)?;
        limits.check(wide(filter.size_in_bytes()))?;
        Ok(Self::new(filter))
    }

    pub(super) fn table(&self) -> &[u8] {
        self.filter.memory()[0]
    }

    pub(super) fn refuse_other_key(&self, other: &Self) -> Result<(), CommandError> {
        if self.key() == other.key() { Ok(()) } else { Err(CommandError::MergeKeys) }
    }

    /// Merges another filter into this one, which then has reached the time of both. If that fails, the other is unchanged, and
    /// this one is not to be used.
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), CommandError> {
        self.refuse_other_key(other)?;
        self.filter.merge(&other.filter)?;
        self.removed = self.removed.saturating_add(other.removed);
        Ok(())
    }

    pub(super) fn contains(&self, item: &[u8], now: u64) -> bool {
        self.filter.contains_at(item, now)
    }

    pub(super) fn count(&self, item: &[u8], now: u64) -> u64 {
        wide(self.filter.count_at(item, now))
    }

    /// Moves the time on. At a time that was reached before nothing changes, however often it comes: what replicas are told moves
    /// theirs as often as this one's.
    pub(crate) fn move_to(&mut self, now: u64) {
        if now > self.filter.time() {
            // What is not swept yet is not found, but keys that come meanwhile are found for longer.
            _ = (0..MOST_SWEEPS).any(|_| self.filter.jump(now));
        }
    }

    /// Stores a copy. If there is no room for it, only the time has moved on.
    pub(super) fn store(&mut self, item: &[u8], now: u64) -> Result<(), CommandError> {
        self.move_to(now);
        // With more items, nearly every search for a slot would be as long as searches may be, and in vain.
        if wide(self.filter.len()) >= self.filter.parameters().capacity() {
            return Err(CommandError::Full);
        }
        Ok(self.filter.insert(item)?)
    }

    /// Stores an item unless it is present or seems to be; then nothing changes. Returns `true` if it was stored.
    pub(super) fn store_unless_present(&mut self, item: &[u8], now: u64) -> Result<bool, CommandError> {
        if self.contains(item, now) {
            return Ok(false);
        }
        self.store(item, now).map(|()| true)
    }

    /// Removes the oldest copy. If there is none, nothing changes.
    pub(super) fn remove(&mut self, item: &[u8], now: u64) -> bool {
        if !self.contains(item, now) {
            return false;
        }
        self.move_to(now);
        let is_removed = self.filter.remove(item);
        self.removed = self.removed.saturating_add(u64::from(is_removed));
        is_removed
    }

    pub(super) fn fields(&self, now: u64) -> Result<Vec<(&'static str, u64)>, CommandError> {
        let parameters = self.filter.parameters();
        let fields = [
            ("Size", wide(self.filter.size_in_bytes())),
            ("Number of buckets", parameters.bucket_count()),
            ("Number of filters", 1),
            ("Number of items inserted", wide(self.filter.len_at(now))),
            ("Number of items deleted", self.removed),
            ("Bucket size", u64::from(parameters.slots_per_bucket())),
            ("Expansion rate", 0),
            ("Max iterations", super::growing::MAX_BUCKETS_VISITED),
            ("Lifetime", self.filter.lifetime()),
            ("Resolution", self.filter.resolution()),
            ("Time", self.filter.time()),
        ];
        collected(fields.into_iter())
    }

    pub(super) fn describe(&self, now: u64) -> Result<String, CommandError> {
        let (filter, parameters, items) = (&self.filter, self.filter.parameters(), self.filter.len_at(now));
        text(format_args!(
            "kind:expiring bktsize:{} buckets:{} items:{items} deletes:{} filters:1 fingerprint_bits:{} capacity:{} \
             lifetime:{} resolution:{} time:{} error_rate:{:.3e} hash:{}",
            parameters.slots_per_bucket(),
            parameters.bucket_count(),
            self.removed,
            parameters.fingerprint_bits(),
            filter.capacity(),
            filter.lifetime(),
            filter.resolution(),
            filter.time(),
            parameters.expected_false_positive_rate(wide(items)),
            if self.key().is_some() { HashName::SipHash13.name() } else { HashName::Xxh3.name() },
        ))
    }
}
