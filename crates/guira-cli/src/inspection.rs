use std::fs::File;
use std::path::Path;

use guira::{FileHeader, LoadError};

use crate::failure::Failure;
use crate::filter_bytes;
use crate::provenance::Provenance;
use crate::secret_key::SecretKey;

/// A file that is inspected but not queried: its secret key, if it has one, may be missing.
pub(crate) struct Inspection {
    pub(crate) header: FileHeader,
    pub(crate) secret: Secret,
    pub(crate) provenance: Provenance,
}

/// What is known of a filter's secret key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secret {
    /// The filter has none.
    None,
    /// The right key was given.
    Fits,
    NotGiven,
}

impl Inspection {
    /// Reads a whole file, and checks all that can be checked with or without the key. A key that the file does not need is
    /// ignored.
    pub(crate) fn of_file(path: &Path, key: Option<SecretKey>) -> Result<Self, Failure> {
        let inspect = || {
            let (header, bytes) = filter_bytes::read(File::open(path)?)?;
            let mut inspection = Self::new(header, key)?;
            let key = key.filter(|_| inspection.secret == Secret::Fits).map(SecretKey::bytes);
            inspection.header.verify(&bytes, key)?;
            inspection.provenance = Provenance::of_file_bytes(&inspection.header, &bytes)?;
            Ok(inspection)
        };
        inspect().map_err(|error| Failure::of_loading(path, &error))
    }

    fn new(header: FileHeader, key: Option<SecretKey>) -> Result<Self, LoadError> {
        let secret = match (header.has_secret_key(), key) {
            (false, _) => Secret::None,
            (true, None) => Secret::NotGiven,
            (true, Some(key)) => {
                header.hasher(Some(key.bytes()))?;
                Secret::Fits
            }
        };
        Ok(Self { header, secret, provenance: Provenance::default() })
    }
}
