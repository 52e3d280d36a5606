//! A filter of either kind that files of this program hold: keys stay, or they expire.

use std::borrow::Cow;
use std::io::Read;

use guira::raw::{RawFilter as _, RawInsert as _};
use guira::{
    Addressing, CuckooFilter, Digest, ExpiringCuckooFilter, FileKind, InsertError, InsertManyError, KeyHasher,
    LoadError, LoadOptions, Parameters, ReserveError, TryExtendError,
};

/// What both kinds of filters do.
pub(crate) enum Filter {
    Lasting(CuckooFilter),
    Expiring(ExpiringCuckooFilter),
}

/// Calls a function that both kinds have.
macro_rules! of_either {
    ($filter:expr, $either:ident => $call:expr) => {
        match $filter {
            Filter::Lasting($either) => $call,
            Filter::Expiring($either) => $call,
        }
    };
}

impl Filter {
    /// Reads the file of a filter whose header says what kind it is.
    pub(crate) fn read(options: LoadOptions, kind: FileKind, file: impl Read) -> Result<Self, LoadError> {
        match kind {
            FileKind::Expiring => options.read_from(file).map(Self::Expiring),
            _ => options.read_from(file).map(Self::Lasting),
        }
    }

    /// The header of the file, the table, and the chunks that the filter itself has behind it.
    pub(crate) fn file_parts(&self) -> (Vec<u8>, Cow<'_, [u8]>, Vec<u8>) {
        of_either!(self, filter => filter.file_parts())
    }

    pub(crate) const fn as_expiring(&self) -> Option<&ExpiringCuckooFilter> {
        match self {
            Self::Lasting(_) => None,
            Self::Expiring(filter) => Some(filter),
        }
    }

    pub(crate) const fn as_expiring_mut(&mut self) -> Option<&mut ExpiringCuckooFilter> {
        match self {
            Self::Lasting(_) => None,
            Self::Expiring(filter) => Some(filter),
        }
    }

    pub(crate) const fn parameters(&self) -> &Parameters {
        of_either!(self, filter => filter.parameters())
    }

    pub(crate) const fn hasher(&self) -> &KeyHasher {
        of_either!(self, filter => filter.hasher())
    }

    pub(crate) const fn len(&self) -> usize {
        of_either!(self, filter => filter.len())
    }

    pub(crate) fn capacity(&self) -> usize {
        of_either!(self, filter => filter.capacity())
    }

    pub(crate) fn max_capacity(&self) -> usize {
        of_either!(self, filter => filter.max_capacity())
    }

    pub(crate) fn grows(&self) -> bool {
        self.parameters().addressing() == Addressing::Doubling
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        of_either!(self, filter => filter.size_in_bytes())
    }

    pub(crate) fn expected_false_positive_rate(&self) -> f64 {
        of_either!(self, filter => filter.expected_false_positive_rate())
    }

    pub(crate) fn contains_many_into(&self, digests: &[Digest], answers: &mut [bool]) {
        of_either!(self, filter => filter.contains_many_into(digests, answers));
    }

    pub(crate) fn insert(&mut self, digest: &Digest) -> Result<(), InsertError> {
        of_either!(self, filter => filter.insert(digest))
    }

    pub(crate) fn remove(&mut self, digest: &Digest) -> bool {
        of_either!(self, filter => filter.remove(digest))
    }

    /// Merges the filter with that of a file, of which a part is in memory at a time. `None` where that does not do, as where
    /// keys expire.
    pub(crate) fn merged_with_file(self, file: impl Read) -> Result<Option<Self>, LoadError> {
        match self {
            Self::Lasting(filter) => Ok(filter.merged_with_file(file)?.map(Self::Lasting)),
            Self::Expiring(_) => Ok(None),
        }
    }

    pub(crate) fn insert_if_absent(&mut self, digest: &Digest) -> Result<bool, InsertError> {
        of_either!(self, filter => filter.insert_if_absent(digest))
    }

    /// Stores each of many keys, in order, that is not found, and says which were stored; up to the first that can't be, whose
    /// number it returns with the reason.
    pub(crate) fn insert_each_if_absent(
        &mut self,
        digests: &[Digest],
        stored: &mut [bool],
    ) -> Result<(), (usize, InsertError)> {
        match self {
            Self::Lasting(filter) => {
                filter.insert_each_if_absent(digests, stored).map_err(|error| (error.inserted, error.reason))
            }
            Self::Expiring(filter) => {
                // All at once, since each waits for memory. Those that are not there are looked for once more, which no longer
                // waits.
                filter.contains_many_into(digests, stored);
                for (number, (digest, stored)) in digests.iter().zip(stored).enumerate() {
                    *stored = !*stored && filter.insert_if_absent(digest).map_err(|error| (number, error))?;
                }
                Ok(())
            }
        }
    }

    pub(crate) fn reserve(&mut self, additional: usize) -> Result<(), ReserveError> {
        of_either!(self, filter => filter.reserve(additional))
    }

    pub(crate) fn insert_many(&mut self, digests: &[Digest]) -> Result<(), InsertManyError> {
        of_either!(self, filter => filter.insert_many(digests))
    }

    pub(crate) fn try_extend(&mut self, digests: &[Digest]) -> Result<(), TryExtendError> {
        of_either!(self, filter => filter.try_extend(digests))
    }

    /// Like `try_extend`, without growing; a filter whose keys expire grows all the same.
    pub(crate) fn try_extend_without_growing(&mut self, digests: &[Digest]) -> Result<(), TryExtendError> {
        match self {
            Self::Lasting(filter) => filter.insert_each_without_growing(digests),
            Self::Expiring(filter) => filter.try_extend(digests),
        }
    }

    pub(crate) fn remove_many_into(&mut self, digests: &[Digest], answers: &mut [bool]) {
        match self {
            Self::Lasting(filter) => filter.remove_many_into(digests, answers),
            Self::Expiring(filter) => {
                digests.iter().zip(answers).for_each(|(digest, answer)| *answer = filter.remove(digest));
            }
        }
    }

    /// Removes all keys, and shrinks the table to its first size.
    pub(crate) fn clear(&mut self) {
        of_either!(self, filter => filter.clear());
        self.shrink_to_fit();
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        of_either!(self, filter => filter.shrink_to_fit());
    }
}

impl From<CuckooFilter> for Filter {
    fn from(filter: CuckooFilter) -> Self {
        Self::Lasting(filter)
    }
}

impl From<ExpiringCuckooFilter> for Filter {
    fn from(filter: ExpiringCuckooFilter) -> Self {
        Self::Expiring(filter)
    }
}
