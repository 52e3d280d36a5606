use guira::raw::{RawFilter as _, RawInsert as _};
use guira::{CuckooFilter, Digest, GrowthPolicy, InsertError, MergeError};
use smallvec::SmallVec;

use super::stamp::Stamp;
use crate::cast::{in_memory, wide};
use crate::error::CommandError;
use crate::memory::{answers, collected, gathered, text};
use crate::reply::Answers;
use crate::secret::SecretKey;
use crate::settings::{CORE_BITS, HashName, Limits};

/// A filter of the library, with the number of removals, which servers show and the library does not count.
#[derive(Debug, PartialEq)]
pub struct Growing {
    pub(super) filter: CuckooFilter,
    /// How many copies were removed since it was created or compacted.
    pub(super) removed: u64,
    pub(super) stamp: Stamp,
}

/// The number of buckets that the library's search visits.
pub(super) const MAX_BUCKETS_VISITED: u64 = 4096;

/// Fewer items are handled one by one: what is done for a block of them together takes more instructions than they do.
const WORTH_A_BLOCK: usize = 4;

impl Growing {
    pub(crate) fn new(filter: CuckooFilter) -> Self {
        Self { filter, removed: 0, stamp: Stamp::new() }
    }

    /// Returns `true` unless the table is being doubled.
    pub(super) fn is_settled(&self) -> bool {
        let [_, old] = self.filter.memory();
        old.is_empty()
    }

    /// Returns `true` if half of the buckets became two, so that it may be that this can be undone: at least a quarter of the slots goes.
    pub(super) fn may_shrink(&self) -> bool {
        let parameters = self.filter.parameters();
        parameters.half_doublings() > 0 && self.len() < parameters.slot_count() / 4 * 3
    }

    /// An empty filter that can be merged with this one.
    pub(super) fn empty_like(&self, limits: Limits) -> Result<Self, CommandError> {
        let filter = self.filter.empty_like().map_err(guira::BuildError::from)?;
        limits.check(wide(filter.size_in_bytes()))?;
        Ok(Self::new(filter))
    }

    pub(super) fn try_clone(&self) -> Result<Self, CommandError> {
        let filter = self.filter.try_clone().map_err(guira::BuildError::from)?;
        Ok(Self { filter, removed: self.removed, stamp: Stamp::new() })
    }

    pub(super) fn len(&self) -> u64 {
        wide(self.filter.len())
    }

    /// The secret key, if there is one.
    pub(crate) fn key(&self) -> Option<SecretKey> {
        SecretKey::of_hasher(self.filter.hasher())
    }

    #[inline]
    pub(super) fn digest(&self, item: &[u8]) -> Digest {
        self.filter.hasher().digest(item)
    }

    pub(super) fn contains_many_into(&self, items: &[&[u8]]) -> Result<Answers<bool>, CommandError> {
        if items.len() < WORTH_A_BLOCK {
            return gathered(items.iter().map(|item| self.filter.contains(*item)));
        }
        let mut answers = answers(items.len())?;
        self.filter.contains_many_into(items, &mut answers);
        Ok(answers)
    }

    /// Stores a copy after a single search for room. If the memory limit is far away, the library grows the table by itself;
    /// otherwise the size of the larger table is checked first.
    #[inline]
    pub(super) fn store(&mut self, digest: Digest, limits: Limits) -> Result<(), CommandError> {
        if limits.check(self.size_when_doubled_twice()).is_ok() {
            return self.filter.insert(&digest).map_err(|error| self.refusal(error));
        }
        match self.filter.insert_without_growing(&digest) {
            Err(InsertError::Full { .. }) => self.store_growing(digest, limits),
            result => Ok(result?),
        }
    }

    /// Stores an item unless it is present or seems to be. Returns `true` if it was stored.
    pub(super) fn store_unless_present(&mut self, item: &[u8], limits: Limits) -> Result<bool, CommandError> {
        let digest = self.digest(item);
        if self.filter.contains(&digest) {
            return Ok(false);
        }
        self.store(digest, limits).map(|()| true)
    }

    /// Stores a copy for which the table must grow.
    #[cold]
    fn store_growing(&mut self, digest: Digest, limits: Limits) -> Result<(), CommandError> {
        // An error for a table that can't grow takes precedence over the memory limit.
        if self.doubles_no_more() {
            return Err(self.at_limit());
        }
        limits.check(self.next_size())?;
        self.filter.insert(&digest).map_err(|error| self.refusal(error))
    }

    #[cold]
    fn refusal(&self, error: InsertError) -> CommandError {
        match error {
            InsertError::Full { .. } => self.at_limit(),
            error => error.into(),
        }
    }

    /// The error of a filter that takes no more items.
    fn at_limit(&self) -> CommandError {
        if self.grows() { CommandError::MaximumExpansions } else { CommandError::Full }
    }

    /// The most bytes that the table may take after an insertion: a table that was doubled twice is nearly empty, so it is not
    /// doubled again.
    #[inline]
    fn size_when_doubled_twice(&self) -> u64 {
        wide(self.filter.size_in_bytes()).saturating_mul(4)
    }

    /// The bytes of the table in which half of the buckets are two. Its slots are a bit shorter where the others were two before.
    fn next_size(&self) -> u64 {
        let parameters = self.filter.parameters();
        let (slots, bits) = (parameters.slot_count(), u64::from(parameters.bits_per_slot()));
        let (slots, bits) = if parameters.half_doublings() % 2 == 1 {
            (slots / 3 * 4, bits.saturating_sub(1))
        } else {
            (slots / 2 * 3, bits)
        };
        slots.saturating_mul(bits).div_ceil(8)
    }

    /// Stores items in runs for which the table is large enough.
    pub(super) fn store_each(
        &mut self,
        items: &[&[u8]],
        limits: Limits,
        mut add: impl FnMut(Result<(), CommandError>),
    ) -> Result<(), CommandError> {
        if items.len() < WORTH_A_BLOCK {
            items.iter().for_each(|item| add(self.store(self.digest(item), limits)));
            return Ok(());
        }
        let digests: SmallVec<[Digest; 16]> = gathered(items.iter().map(|item| self.digest(item)))?;
        let mut rest = digests.as_slice();
        while let Err(error) = self.filter.insert_each_without_growing(rest) {
            let (run, behind) = rest.split_at(error.inserted.min(rest.len()));
            run.iter().for_each(|_| add(Ok(())));
            let [next, behind @ ..] = behind else { return Ok(()) };
            add(match error.reason {
                InsertError::Full { .. } => self.store_growing(*next, limits),
                reason => Err(reason.into()),
            });
            rest = behind;
        }
        rest.iter().for_each(|_| add(Ok(())));
        Ok(())
    }

    pub(super) fn remove(&mut self, item: &[u8]) -> bool {
        let is_removed = self.filter.remove(&self.digest(item));
        self.removed = self.removed.saturating_add(u64::from(is_removed));
        is_removed
    }

    pub(super) fn remove_many_into(&mut self, items: &[&[u8]]) -> Result<Answers<bool>, CommandError> {
        if items.len() < WORTH_A_BLOCK {
            return gathered(items.iter().map(|item| self.remove(item)));
        }
        let mut removed = answers(items.len())?;
        self.filter.remove_many_into(items, &mut removed);
        self.removed = self.removed.saturating_add(wide(removed.iter().filter(|&&removed| removed).count()));
        Ok(removed)
    }

    /// Returns `true` if that changed anything, if only that a doubling is over, which decides where later items go.
    pub(super) fn compact(&mut self) -> Result<bool, CommandError> {
        let before = (self.is_settled(), self.filter.parameters().half_doublings());
        self.filter.try_shrink_to_fit().map_err(guira::BuildError::from)?;
        let now = (self.is_settled(), self.filter.parameters().half_doublings());
        Ok(self.forget_removed() | (now != before))
    }

    /// Counts removed items anew. Returns `true` if there were any.
    pub(super) const fn forget_removed(&mut self) -> bool {
        std::mem::replace(&mut self.removed, 0) > 0
    }

    pub(super) fn refuse_other_key(&self, other: &Self) -> Result<(), CommandError> {
        if self.key() == other.key() { Ok(()) } else { Err(CommandError::MergeKeys) }
    }

    /// Refuses more items than the table has slots, if it can't be doubled.
    pub(super) fn refuse_if_too_many(&self, others: u64) -> Result<(), CommandError> {
        let slot_count = self.filter.parameters().slot_count();
        if self.doubles_no_more() && self.len().saturating_add(others) > slot_count {
            let full = MergeError::Full {
                len: self.filter.len(),
                other_len: in_memory(others),
                slot_count: in_memory(slot_count),
            };
            return Err(full.into());
        }
        Ok(())
    }

    /// Merges another filter into this one. If that fails, the other is unchanged, and this one is not to be used.
    pub(super) fn merge(&mut self, other: &Self, limits: Limits) -> Result<(), CommandError> {
        self.refuse_other_key(other)?;
        self.filter.merge(&other.filter)?;
        limits.check(wide(self.filter.size_in_bytes()))?;
        self.removed = self.removed.saturating_add(other.removed);
        Ok(())
    }

    pub(super) fn fields(&self) -> Result<Vec<(&'static str, u64)>, CommandError> {
        let parameters = self.filter.parameters();
        let fields = [
            ("Size", wide(self.filter.size_in_bytes())),
            ("Number of buckets", parameters.bucket_count()),
            ("Number of filters", 1),
            ("Number of items inserted", wide(self.filter.len())),
            ("Number of items deleted", self.removed),
            ("Bucket size", u64::from(parameters.slots_per_bucket())),
            ("Expansion rate", if self.grows() { 2 } else { 0 }),
            ("Max iterations", MAX_BUCKETS_VISITED),
        ];
        collected(fields.into_iter())
    }

    /// Returns `true` if the filter has grown as far as it may, or as its fingerprints have bits for.
    fn doubles_no_more(&self) -> bool {
        let parameters = self.filter.parameters();
        parameters.fingerprint_bits() <= CORE_BITS
            || (self.filter.growth_policy() != Some(GrowthPolicy::RaiseRate)
                && self.filter.capacity() >= self.filter.max_capacity())
    }

    /// Returns `true` if the filter was created to grow.
    fn grows(&self) -> bool {
        self.filter.growth_policy() == Some(GrowthPolicy::RaiseRate)
            || self.filter.parameters().half_doublings() > 0
            || !self.doubles_no_more()
    }

    pub(super) fn describe(&self) -> Result<String, CommandError> {
        let (filter, parameters) = (&self.filter, self.filter.parameters());
        text(format_args!(
            "kind:growing bktsize:{} buckets:{} items:{} deletes:{} filters:1 fingerprint_bits:{} doublings:{} \
             capacity:{} max_capacity:{} load:{:.4} error_rate:{:.3e} hash:{}",
            parameters.slots_per_bucket(),
            parameters.bucket_count(),
            filter.len(),
            self.removed,
            parameters.fingerprint_bits(),
            f64::from(parameters.half_doublings()) / 2.0,
            filter.capacity(),
            filter.max_capacity(),
            filter.load_factor(),
            filter.expected_false_positive_rate(),
            if self.key().is_some() { HashName::SipHash13.name() } else { HashName::Xxh3.name() },
        ))
    }
}
