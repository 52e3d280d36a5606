use std::fs::File;
use std::path::Path;

use guira::{KeyHasher, LoadError};

use crate::failure::Failure;
use crate::secret_key::SecretKey;
use crate::stored_filter::{self, StoredFilter};

/// A filter that is looked at and not asked: its secret key, if it has one, may be missing.
pub(crate) struct Inspection {
    /// Without its key it finds nothing.
    pub(crate) filter: StoredFilter,
    pub(crate) secret: Secret,
}

/// What is known of a filter's secret key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secret {
    /// It has none.
    None,
    /// It was given, and is the right one.
    Fits,
    NotGiven,
}

// Offsets and numbers are those of docs/format.md.
const HASH_AT: usize = 13;
const HASH_XXH3: u8 = 1;
const HASH_SIP_HASH_13: u8 = 2;
const CHECKSUM_AT: usize = 120;

impl Inspection {
    /// Reads and checks a filter as far as it can be done with the key or without. A key that the filter has no use for
    /// is left alone.
    pub(crate) fn of_file(path: &Path, key: Option<SecretKey>) -> Result<Self, Failure> {
        Self::read(path, key).map_err(|error| Failure::of_loading(path, &error))
    }

    fn read(path: &Path, key: Option<SecretKey>) -> Result<Self, LoadError> {
        let mut file = File::open(path)?;
        let mut header = stored_filter::header(&mut file)?;
        let secret = match (header.get(HASH_AT), key) {
            (Some(&HASH_SIP_HASH_13), Some(_)) => Secret::Fits,
            (Some(&HASH_SIP_HASH_13), None) => Secret::NotGiven,
            _ => Secret::None,
        };
        if secret == Secret::NotGiven {
            hide_secret(&mut header);
        }
        let key = key.filter(|_| secret == Secret::Fits);
        let filter = StoredFilter::read_behind(header, file, key)?;
        Ok(Self { filter, secret })
    }
}

/// Makes a header say that keys are hashed without a secret: the library reads no filter without its key, although
/// nothing but the hash of keys depends on it. A header that is damaged stays as it is.
fn hide_secret(header: &mut [u8]) {
    let Some((checked, checksum)) = header.split_at_mut_checked(CHECKSUM_AT) else { return };
    let sum = |checked: &[u8]| KeyHasher::xxh3(0).digest_bytes(checked).get().to_le_bytes();
    if *checksum == sum(checked) {
        checked[HASH_AT] = HASH_XXH3;
        checksum.copy_from_slice(&sum(checked));
    }
}
