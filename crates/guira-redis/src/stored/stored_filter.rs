use super::{Growing, Imported, Incoming};
use crate::cast::wide;
use crate::error::CommandError;
use crate::reply::Answers;
use crate::settings::{Limits, Measures};
use guira::raw::RawFilter as _;

/// The value of a key.
#[derive(Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all values are of the largest")]
pub enum StoredFilter {
    /// A filter of the library.
    Growing(Growing),
    /// A filter imported from RedisBloom.
    Imported(Imported),
    /// A partly loaded filter of either kind.
    Incoming(Incoming),
}

impl StoredFilter {
    /// An empty filter.
    pub(crate) fn create(measures: &Measures, limits: Limits) -> Result<Self, CommandError> {
        Ok(Self::Growing(Growing::new(measures.build(limits)?)))
    }

    /// An empty filter that can be merged with this one.
    pub(crate) fn empty_like(&self, limits: Limits) -> Result<Self, CommandError> {
        match self {
            Self::Growing(growing) => growing.empty_like(limits).map(Self::Growing),
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
            Self::Imported(imported) => imported.try_clone().map(Self::Imported),
            Self::Incoming(incoming) => incoming.try_clone().map(Self::Incoming),
        }
    }

    #[inline]
    pub(crate) fn contains(&self, item: &[u8]) -> Result<bool, CommandError> {
        match self {
            Self::Growing(growing) => Ok(growing.filter.contains(item)),
            Self::Imported(imported) => Ok(imported.contains(item)),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    pub(crate) fn contains_many_into(&self, items: &[&[u8]]) -> Result<Answers<bool>, CommandError> {
        match self {
            Self::Growing(growing) => Ok(growing.contains_many_into(items)),
            Self::Imported(imported) => Ok(items.iter().map(|item| imported.contains(item)).collect()),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    pub(crate) fn count(&self, item: &[u8]) -> Result<u64, CommandError> {
        match self {
            Self::Growing(growing) => Ok(wide(growing.filter.count(item))),
            Self::Imported(imported) => Ok(imported.count(item)),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    #[inline]
    pub(crate) fn store(&mut self, item: &[u8], limits: Limits) -> Result<(), CommandError> {
        match self {
            Self::Growing(growing) => growing.store(growing.digest(item), limits),
            Self::Imported(imported) => imported.store(item, limits),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    /// Stores an item unless it is present or seems to be. Returns `true` if it was stored.
    pub(crate) fn store_unless_present(&mut self, item: &[u8], limits: Limits) -> Result<bool, CommandError> {
        match self {
            Self::Growing(growing) => growing.store_unless_present(item, limits),
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
        add: impl FnMut(Result<bool, CommandError>),
    ) -> Result<(), CommandError> {
        match self {
            Self::Growing(growing) => items.iter().map(|item| growing.store_unless_present(item, limits)).for_each(add),
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
        add: impl FnMut(Result<(), CommandError>),
    ) -> Result<(), CommandError> {
        match self {
            Self::Growing(growing) => growing.store_each(items, limits, add),
            Self::Imported(imported) => items.iter().map(|item| imported.store(item, limits)).for_each(add),
            Self::Incoming(incoming) => return Err(incoming.refusal()),
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, item: &[u8]) -> Result<bool, CommandError> {
        match self {
            Self::Growing(growing) => Ok(growing.remove(item)),
            Self::Imported(imported) => Ok(imported.remove(item)),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    pub(crate) fn remove_many_into(&mut self, items: &[&[u8]]) -> Result<Answers<bool>, CommandError> {
        match self {
            Self::Growing(growing) => Ok(growing.remove_many_into(items)),
            Self::Imported(imported) => Ok(items.iter().map(|item| imported.remove(item)).collect()),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    pub(crate) fn compact(&mut self) -> Result<(), CommandError> {
        match self {
            Self::Growing(growing) => growing.compact(),
            Self::Imported(imported) => imported.compact(),
            Self::Incoming(incoming) => return Err(incoming.refusal()),
        }
        Ok(())
    }

    /// Refuses filters that can't be merged into this one, as far as that is known without looking at their tables.
    pub(crate) fn refuse_to_merge(&self, others: &[&Self]) -> Result<(), CommandError> {
        // Also without others: a copy is made then.
        let Self::Growing(ours) = self else {
            self.fields()?;
            return Err(CommandError::MergeImported);
        };
        let mut theirs = 0_u64;
        for other in others {
            let Self::Growing(other) = other else {
                other.fields()?;
                return Err(CommandError::MergeImported);
            };
            ours.refuse_other_key(other)?;
            theirs = theirs.saturating_add(other.len());
        }
        ours.refuse_if_too_many(theirs)
    }

    /// Adds all items of another filter. If that fails, the other is unchanged, and this one is not to be used.
    pub(crate) fn merge(&mut self, other: &Self, limits: Limits) -> Result<(), CommandError> {
        match (self, other) {
            (Self::Incoming(incoming), _) => Err(incoming.refusal()),
            (_, Self::Incoming(incoming)) => Err(incoming.refusal()),
            (Self::Growing(ours), Self::Growing(theirs)) => ours.merge(theirs, limits),
            _ => Err(CommandError::MergeImported),
        }
    }

    pub(crate) fn fields(&self) -> Result<Vec<(&'static str, u64)>, CommandError> {
        match self {
            Self::Growing(growing) => Ok(growing.fields()),
            Self::Imported(imported) => Ok(imported.fields()),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    pub(crate) fn describe(&self) -> Result<String, CommandError> {
        match self {
            Self::Growing(growing) => Ok(growing.describe()),
            Self::Imported(imported) => Ok(imported.describe()),
            Self::Incoming(incoming) => Err(incoming.refusal()),
        }
    }

    /// Passes the memory of each table through `elsewhere`, which may move the bytes but must not change them.
    pub(crate) fn move_tables(&mut self, elsewhere: impl Fn(Vec<u8>) -> Vec<u8>) {
        match self {
            Self::Growing(growing) => growing.filter.move_table(elsewhere),
            Self::Imported(imported) => imported.move_layers(elsewhere),
            Self::Incoming(incoming) => incoming.move_file(elsewhere),
        }
    }

    /// The allocations of the filter, besides itself.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let (several, few): (&[Vec<u8>], [&[u8]; 3]) = match self {
            Self::Growing(growing) => {
                let [table, rest] = growing.filter.memory();
                (&[], [table, rest, growing.filter.chunks()])
            }
            Self::Imported(imported) => (imported.layers(), [&[]; 3]),
            Self::Incoming(incoming) => {
                let [header, file] = incoming.pieces();
                (&[], [header, file, &[]])
            }
        };
        several.iter().map(Vec::as_slice).chain(few)
    }

    /// The bytes of its tables.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Growing(growing) => wide(growing.filter.size_in_bytes()),
            Self::Imported(imported) => imported.size(),
            Self::Incoming(incoming) => wide(incoming.received().len()),
        }
    }
}
