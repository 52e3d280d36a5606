#[cfg(feature = "files")]
use super::SaveError;
use super::{
    AdvanceError, BuildError, BuildFromKeysError, ConvertError, InsertError, InsertManyError, LoadError, MergeError,
    OutOfMemory, ReserveError, TryExtendError,
};

/// Any error of this library, for functions that meet several and pass them on with `?`.
///
/// It says what the error in it says, and its source is that of the error in it.
///
/// # Examples
///
/// ```
/// use guira::{CuckooFilter, Error};
///
/// fn of_words(words: &[&str]) -> Result<Vec<u8>, Error> {
///     let mut filter = CuckooFilter::with_capacity(words.len(), 0.001)?;
///     filter.insert_many(words)?;
///     Ok(filter.to_bytes())
/// }
/// assert!(of_words(&["ani", "guira"]).is_ok());
/// assert!(matches!(of_words(&[]), Err(Error::Build(_))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no filter with these parameters.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// There is no filter of these keys.
    #[error(transparent)]
    BuildFromKeys(#[from] BuildFromKeysError),
    /// A key was not stored.
    #[error(transparent)]
    Insert(#[from] InsertError),
    /// Not all keys were stored.
    #[error(transparent)]
    InsertMany(#[from] InsertManyError),
    /// Not all keys of an iterator were stored.
    #[error(transparent)]
    TryExtend(#[from] TryExtendError),
    /// The time was not moved on, since all keys would expire.
    #[error(transparent)]
    Advance(#[from] AdvanceError),
    /// There is no room for so many keys.
    #[error(transparent)]
    Reserve(#[from] ReserveError),
    /// There is no memory for a copy.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// Two filters were not merged.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A filter was not converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// Bytes or a file are no such filter.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A filter was not saved.
    #[cfg(feature = "files")]
    #[error(transparent)]
    Save(#[from] SaveError),
}
