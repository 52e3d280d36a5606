use core::fmt;

#[cfg(feature = "files")]
use super::SaveError;
use super::{
    AdvanceError, BuildError, BuildFromKeysError, ConvertError, InsertError, InsertManyError, LoadError, MergeError,
    OutOfMemory, ReserveError, TryExtendError,
};

macro_rules! any_error {
    ($($(#[$attribute:meta])* $variant:ident($error:ident): $says:literal,)*) => {
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
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum Error {
            $(#[doc = $says] $(#[$attribute])* $variant($error),)*
        }

        impl fmt::Display for Error {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($(#[$attribute])* Self::$variant(error) => error.fmt(formatter),)*
                }
            }
        }

        impl core::error::Error for Error {
            fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
                match self {
                    $($(#[$attribute])* Self::$variant(error) => error.source(),)*
                }
            }
        }

        $($(#[$attribute])*
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

any_error! {
    Build(BuildError): "There is no filter with these parameters.",
    BuildFromKeys(BuildFromKeysError): "There is no filter of these keys.",
    Insert(InsertError): "A key was not stored.",
    InsertMany(InsertManyError): "Not all keys were stored.",
    TryExtend(TryExtendError): "Not all keys of an iterator were stored.",
    Advance(AdvanceError): "The time was not moved on, since all keys would expire.",
    Reserve(ReserveError): "There is no room for so many keys.",
    OutOfMemory(OutOfMemory): "There is no memory for a copy.",
    Merge(MergeError): "Two filters were not merged.",
    Convert(ConvertError): "A filter was not converted.",
    Load(LoadError): "Bytes or a file are no such filter.",
    #[cfg(feature = "files")]
    Save(SaveError): "A filter was not saved.",
}
