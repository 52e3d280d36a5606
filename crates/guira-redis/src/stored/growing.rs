use guira::{BeyondPromise, Digest, GrowingCuckooFilter, InsertError};

use crate::cast::wide;
use crate::error::CommandError;
use crate::settings::Limits;

/// A filter of the library, with the one number that servers show and it does not have.
#[derive(Clone, Debug, PartialEq)]
pub struct Growing {
    pub(super) filter: GrowingCuckooFilter,
    /// How many copies were removed since it was created or compacted.
    pub(super) removed: u64,
}

impl Growing {
    pub(crate) const fn new(filter: GrowingCuckooFilter) -> Self {
        Self { filter, removed: 0 }
    }

    #[inline]
    pub(super) fn digest(&self, item: &[u8]) -> Digest {
        self.filter.hasher().digest(item)
    }

    fn digests(&self, items: &[&[u8]]) -> Vec<Digest> {
        items.iter().map(|item| self.digest(item)).collect()
    }

    pub(super) fn contains_each(&self, items: &[&[u8]]) -> Vec<bool> {
        let mut answers = vec![false; items.len()];
        self.filter.contains_each(items, &mut answers);
        answers
    }

    #[inline]
    pub(super) fn store(&mut self, digest: Digest, limits: Limits) -> Result<(), CommandError> {
        match self.filter.insert_digest_without_growing(digest) {
            Err(InsertError::Full { .. }) => self.store_growing(digest, limits),
            result => Ok(result?),
        }
    }

    /// Whether it was stored: not where it is there, or seems to be.
    pub(super) fn store_unless_present(&mut self, item: &[u8], limits: Limits) -> Result<bool, CommandError> {
        let digest = self.digest(item);
        if self.filter.contains_digest(digest) {
            return Ok(false);
        }
        self.store(digest, limits).map(|()| true)
    }

    #[cold]
    fn store_growing(&mut self, digest: Digest, limits: Limits) -> Result<(), CommandError> {
        // Why it can't grow comes before how large it would become.
        if self.doubles_no_more() {
            let has_grown = self.filter.parameters().doublings() > 0;
            return Err(if has_grown { CommandError::MaximumExpansions } else { CommandError::Full });
        }
        limits.check(self.size_when_doubled())?;
        self.filter.insert_digest(digest).map_err(|error| match error {
            InsertError::Full { .. } => CommandError::MaximumExpansions,
            error => error.into(),
        })
    }

    /// The bytes of a table with twice the slots, each a bit shorter.
    fn size_when_doubled(&self) -> u64 {
        let parameters = self.filter.parameters();
        let bits = u64::from(parameters.bits_per_slot().saturating_sub(1));
        parameters.slot_count().saturating_mul(2).saturating_mul(bits).div_ceil(8)
    }

    /// Runs for which the table is large enough go in together.
    pub(super) fn store_each(&mut self, items: &[&[u8]], limits: Limits) -> Vec<Result<(), CommandError>> {
        let digests = self.digests(items);
        let mut outcomes = Vec::with_capacity(digests.len());
        let mut rest = digests.as_slice();
        while let Err(error) = self.filter.insert_each_digest_without_growing(rest) {
            let (run, behind) = rest.split_at(error.inserted.min(rest.len()));
            outcomes.extend(run.iter().map(|_| Ok(())));
            let [next, behind @ ..] = behind else { return outcomes };
            outcomes.push(self.store(*next, limits));
            rest = behind;
        }
        outcomes.extend(rest.iter().map(|_| Ok(())));
        outcomes
    }

    pub(super) fn remove(&mut self, item: &[u8]) -> bool {
        let is_removed = self.filter.remove_digest(self.digest(item));
        self.removed = self.removed.saturating_add(u64::from(is_removed));
        is_removed
    }

    pub(super) fn remove_each(&mut self, items: &[&[u8]]) -> Vec<bool> {
        let mut removed = vec![false; items.len()];
        self.filter.remove_each(items, &mut removed);
        self.removed = self.removed.saturating_add(wide(removed.iter().filter(|&&removed| removed).count()));
        removed
    }

    pub(super) fn compact(&mut self) {
        self.filter.shrink_to_fit();
        self.removed = 0;
    }

    /// Both filters stay as they were where it fails.
    pub(super) fn merge(&mut self, other: &Self, limits: Limits) -> Result<(), CommandError> {
        let mut merged = self.filter.clone();
        merged.merge(&other.filter)?;
        limits.check(wide(merged.size_in_bytes()))?;
        self.filter = merged;
        self.removed = self.removed.saturating_add(other.removed);
        Ok(())
    }

    pub(super) fn fields(&self) -> Vec<(&'static str, u64)> {
        /// The buckets that the library's search looks at for a free slot.
        const MOST_BUCKETS_VISITED: u64 = 4096;

        let parameters = self.filter.parameters();
        vec![
            ("Size", wide(self.filter.size_in_bytes())),
            ("Number of buckets", parameters.bucket_count()),
            ("Number of filters", 1),
            ("Number of items inserted", wide(self.filter.len())),
            ("Number of items deleted", self.removed),
            ("Bucket size", u64::from(parameters.slots_per_bucket())),
            ("Expansion rate", if self.grows() { 2 } else { 0 }),
            ("Max iterations", MOST_BUCKETS_VISITED),
        ]
    }

    /// Whether it has grown as far as it may.
    fn doubles_no_more(&self) -> bool {
        self.filter.beyond_promise() == BeyondPromise::Refuse
            && self.filter.capacity() >= self.filter.largest_capacity()
    }

    /// Whether it was made to grow.
    fn grows(&self) -> bool {
        self.filter.parameters().doublings() > 0 || !self.doubles_no_more()
    }

    pub(super) fn describe(&self) -> String {
        let (filter, parameters) = (&self.filter, self.filter.parameters());
        format!(
            "kind:growing bktsize:{} buckets:{} items:{} deletes:{} filters:1 fingerprint_bits:{} doublings:{} \
             capacity:{} max_capacity:{} load:{:.4} error_rate:{:.3e}",
            parameters.slots_per_bucket(),
            parameters.bucket_count(),
            filter.len(),
            self.removed,
            parameters.fingerprint_bits(),
            parameters.doublings(),
            filter.capacity(),
            filter.largest_capacity(),
            filter.load_factor(),
            filter.expected_false_positive_rate(),
        )
    }
}
