use super::{Expiring, Growing, Imported, Incoming};
use crate::cast::wide;
use crate::error::CommandError;
use crate::memory::{Boxed, gathered};
use crate::reply::Answers;
use crate::settings::{Limits, Measures};
use guira::raw::RawFilter as _;

/// The value of a key.
#[derive(Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "the most common kind is found without one more step")]
pub enum StoredFilter {
    /// A filter of the library.
    Growing(Growing),
    /// A filter of the library whose items expire, in a box because it is larger than the others.
    Expiring(Boxed<Expiring>),
    /// A filter imported from RedisBloom.
    Imported(Imported),
    /// A partly loaded filter of any kind.
    Incoming(Incoming),
}

impl StoredFilter {
    pub(super) fn of_expiring(expiring: Expiring) -> Result<Self, CommandError> {
        Boxed::new(expiring).map(Self::Expiring)
    }

    /// An empty filter.
    pub(crate) fn create(measures: &Measures, limits: Limits) -> Result<Self, CommandError> {
        match measures.lifetime {
            None => Ok(Self::Growing(Growing::new(measures.build(limits)?))),
            Some(lifetime) => Self::of_expiring(Expiring::new(measures.build_expiring(lifetime, limits)?)),
        }
    }

    /// An empty filter that can be merged with this one.
    pub(crate) fn empty_like(&self, limits: Limits) -> Result<Self, CommandError> {
        match self {
            Self::Growing(growing) => growing.empty_like(limits).map(Self::Growing),
            Self::Expiring(expiring) => expiring.empty_like(limits).and_then(Self::of_expiring),
            Self::Imported(_) => Err(CommandError::LikeImported),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    /// A copy, where there is memory for it.
    ///
    /// # Errors
    ///
    /// [`CommandError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, CommandError> {
        match self {
            Self::Growing(growing) => growing.try_clone().map(Self::Growing),
            Self::Expiring(expiring) => expiring.try_clone().and_then(Self::of_expiring),
            Self::Imported(imported) => imported.try_clone().map(Self::Imported),
            Self::Incoming(incoming) => incoming.try_clone().map(Self::Incoming),
        }
    }

    /// The time that the filter has reached, if its items expire.
    #[inline]
    pub(crate) fn time(&self) -> Option<u64> {
        match self {
            Self::Expiring(expiring) => Some(expiring.filter.time()),
            Self::Growing(_) | Self::Imported(_) | Self::Incoming(_) => None,
        }
    }

    /// Moves the time of a filter whose items expire on.
    pub(crate) fn move_to(&mut self, now: u64) {
        if let Self::Expiring(expiring) = self {
            expiring.move_to(now);
        }
    }

    /// Whether the item is present. What time it is, is asked only of filters whose items expire, here and below.
    #[inline]
    pub(crate) fn contains(&self, item: &[u8], now: impl FnOnce() -> u64) -> Result<bool, CommandError> {
        match self {
            Self::Growing(growing) => Ok(growing.filter.contains(item)),
            Self::Expiring(expiring) => Ok(expiring.contains(item, now())),
            Self::Imported(imported) => Ok(imported.contains(item)),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    pub(crate) fn contains_many_into(
        &self,
        items: &[&[u8]],
        now: impl FnOnce() -> u64,
    ) -> Result<Answers<bool>, CommandError> {
        match self {
            Self::Growing(growing) => growing.contains_many_into(items),
            Self::Expiring(expiring) => {
                let now = now();
                gathered(items.iter().map(|item| expiring.contains(item, now)))
            }
            Self::Imported(imported) => gathered(items.iter().map(|item| imported.contains(item))),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    pub(crate) fn count(&self, item: &[u8], now: impl FnOnce() -> u64) -> Result<u64, CommandError> {
        match self {
            Self::Growing(growing) => Ok(wide(growing.filter.count(item))),
            Self::Expiring(expiring) => Ok(expiring.count(item, now())),
            Self::Imported(imported) => Ok(imported.count(item)),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    #[inline]
    pub(crate) fn store(&mut self, item: &[u8], limits: Limits, now: impl FnOnce() -> u64) -> Result<(), CommandError> {
        match self {
            Self::Growing(growing) => growing.store(growing.digest(item), limits),
            Self::Expiring(expiring) => expiring.store(item, now()),
            Self::Imported(imported) => imported.store(item, limits),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    /// Stores an item unless it is present or seems to be. Returns `true` if it was stored.
    pub(crate) fn store_unless_present(
        &mut self,
        item: &[u8],
        limits: Limits,
        now: impl FnOnce() -> u64,
    ) -> Result<bool, CommandError> {
        match self {
            Self::Growing(growing) => growing.store_unless_present(item, limits),
            Self::Expiring(expiring) => expiring.store_unless_present(item, now()),
            Self::Imported(imported) => imported.store_unless_present(item, limits),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    /// Stores each item unless it is present or seems to be, one after the other: the second of two that collide is present.
    /// Each result is `true` for an item that was stored.
    pub(crate) fn store_each_unless_present(
        &mut self,
        items: &[&[u8]],
        limits: Limits,
        now: impl FnOnce() -> u64,
        add: impl FnMut(Result<bool, CommandError>),
    ) -> Result<(), CommandError> {
        match self {
            Self::Growing(growing) => items.iter().map(|item| growing.store_unless_present(item, limits)).for_each(add),
            Self::Expiring(expiring) => {
                let now = now();
                items.iter().map(|item| expiring.store_unless_present(item, now)).for_each(add);
            }
            Self::Imported(imported) => {
                items.iter().map(|item| imported.store_unless_present(item, limits)).for_each(add);
            }
            Self::Incoming(incoming) => return Err(incoming.refusal()),
        }
        Ok(())
    }

    pub(crate) fn store_each(
        &mut self,
        items: &[&[u8]],
        limits: Limits,
        now: impl FnOnce() -> u64,
        add: impl FnMut(Result<(), CommandError>),
    ) -> Result<(), CommandError> {
        match self {
            Self::Growing(growing) => growing.store_each(items, limits, add)?,
            Self::Expiring(expiring) => {
                let now = now();
                items.iter().map(|item| expiring.store(item, now)).for_each(add);
            }
            Self::Imported(imported) => items.iter().map(|item| imported.store(item, limits)).for_each(add),
            Self::Incoming(incoming) => return Err(incoming.refusal()),
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, item: &[u8], now: impl FnOnce() -> u64) -> Result<bool, CommandError> {
        match self {
            Self::Growing(growing) => Ok(growing.remove(item)),
            Self::Expiring(expiring) => Ok(expiring.remove(item, now())),
            Self::Imported(imported) => Ok(imported.remove(item)),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    pub(crate) fn remove_many_into(
        &mut self,
        items: &[&[u8]],
        now: impl FnOnce() -> u64,
    ) -> Result<Answers<bool>, CommandError> {
        match self {
            Self::Growing(growing) => growing.remove_many_into(items),
            Self::Expiring(expiring) => {
                let now = now();
                gathered(items.iter().map(|item| expiring.remove(item, now)))
            }
            Self::Imported(imported) => gathered(items.iter().map(|item| imported.remove(item))),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    /// Counts removed items anew, as after [`compact`](Self::compact). Returns `true` if there were any.
    pub(crate) const fn forget_removed(&mut self) -> bool {
        match self {
            Self::Growing(growing) => growing.forget_removed(),
            Self::Imported(imported) => imported.forget_removed(),
            Self::Expiring(_) | Self::Incoming(_) => false,
        }
    }

    /// Returns `true` if that changed anything.
    pub(crate) fn compact(&mut self) -> Result<bool, CommandError> {
        match self {
            Self::Growing(growing) => growing.compact(),
            Self::Expiring(_) => Err(CommandError::CompactExpiring),
            Self::Imported(imported) => Ok(imported.compact()),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    /// Refuses filters that can't be merged into this one, as far as that is known without looking at their tables.
    pub(crate) fn refuse_to_merge(&self, others: &[&Self]) -> Result<(), CommandError> {
        match self {
            Self::Growing(ours) => {
                let mut theirs = 0_u64;
                for other in others {
                    let Self::Growing(other) = other else { return Err(self.merge_refusal(other)) };
                    ours.refuse_other_key(other)?;
                    theirs = theirs.saturating_add(other.len());
                }
                ours.refuse_if_too_many(theirs)
            }
            Self::Expiring(ours) => others.iter().try_for_each(|other| match other {
                Self::Expiring(other) => ours.refuse_other_key(other),
                other => Err(self.merge_refusal(other)),
            }),
            // Also without others: a copy is made then.
            Self::Imported(_) | Self::Incoming(_) => Err(self.merge_refusal(self)),
        }
    }

    /// Why this filter and another one are not merged, one of which is of a kind that the other is not of.
    fn merge_refusal(&self, other: &Self) -> CommandError {
        match (self, other) {
            (Self::Incoming(incoming), _) | (_, Self::Incoming(incoming)) => incoming.refusal(),
            (Self::Imported(_), _) | (_, Self::Imported(_)) => CommandError::MergeImported,
            (Self::Growing(_) | Self::Expiring(_), _) => CommandError::MergeExpiring,
        }
    }

    /// Adds all items of another filter. If that fails, the other is unchanged, and this one is not to be used.
    pub(crate) fn merge(&mut self, other: &Self, limits: Limits) -> Result<(), CommandError> {
        match (self, other) {
            (Self::Growing(ours), Self::Growing(theirs)) => ours.merge(theirs, limits),
            (Self::Expiring(ours), Self::Expiring(theirs)) => ours.merge(theirs),
            (ours, theirs) => Err(ours.merge_refusal(theirs)),
        }
    }

    pub(crate) fn fields(&self, now: impl FnOnce() -> u64) -> Result<Vec<(&'static str, u64)>, CommandError> {
        match self {
            Self::Growing(growing) => growing.fields(),
            Self::Expiring(expiring) => expiring.fields(now()),
            Self::Imported(imported) => imported.fields(),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    pub(crate) fn describe(&self, now: impl FnOnce() -> u64) -> Result<String, CommandError> {
        match self {
            Self::Growing(growing) => growing.describe(),
            Self::Expiring(expiring) => expiring.describe(now()),
            Self::Imported(imported) => imported.describe(),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    /// Passes the memory of each table through `elsewhere`, which may move the bytes but must not change them.
    pub(crate) fn move_tables(&mut self, elsewhere: impl Fn(Vec<u8>) -> Vec<u8>) {
        match self {
            Self::Growing(growing) => growing.filter.move_table(elsewhere),
            Self::Expiring(expiring) => expiring.filter.move_table(elsewhere),
            Self::Imported(imported) => imported.move_layers(elsewhere),
            Self::Incoming(incoming) => incoming.move_tables(elsewhere),
        }
    }

    /// Where the allocations of the filter start, and their bytes, besides itself and some of a few bytes.
    pub(crate) fn allocations(&self) -> impl Iterator<Item = (*const u8, usize)> {
        let (mut boxed, mut times) = (None, None);
        let (several, few): (&[Vec<u8>], [&[u8]; 3]) = match self {
            Self::Growing(growing) => {
                let [table, rest] = growing.filter.memory();
                (&[], [table, rest, growing.filter.chunks()])
            }
            Self::Expiring(expiring) => {
                boxed = Some((std::ptr::from_ref(&**expiring).cast(), size_of::<Expiring>()));
                times = expiring.filter.memory_of_times();
                (&[], [expiring.table(), expiring.filter.chunks(), &[]])
            }
            Self::Imported(imported) => (imported.layers(), [&[]; 3]),
            Self::Incoming(incoming) => {
                boxed = incoming.boxed();
                (&[], incoming.pieces())
            }
        };
        several
            .iter()
            .map(Vec::as_slice)
            .chain(few)
            .map(|piece| (piece.as_ptr(), piece.len()))
            .chain(boxed)
            .chain(times)
    }

    /// The bytes of its tables.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Growing(growing) => wide(growing.filter.size_in_bytes()),
            Self::Expiring(expiring) => wide(expiring.filter.size_in_bytes()),
            Self::Imported(imported) => imported.size(),
            Self::Incoming(incoming) => incoming.size(),
        }
    }

    /// The size in bytes when a table that is being doubled has been.
    pub(crate) fn size_when_settled(&self) -> u64 {
        match self {
            Self::Growing(growing) if !growing.is_settled() => growing.filter.parameters().table_size(),
            _ => self.size(),
        }
    }
}
