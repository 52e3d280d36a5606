//! What a file says of itself, for who has not its secret key or does not need its table.

use core::fmt;

use super::Header;
use super::check::{check_bytes, check_fingerprints};
use super::contents::{check_counters, checked_valued_filter};
use super::header::{Hash, check_file_size, table_of};
use crate::cuckoo::Scheme;
use crate::digest::KeyHasher;
use crate::error::{FileKind, LoadError};
use crate::filter::GrowthPolicy;
use crate::parameters::Parameters;
use crate::table::Storage;

/// The header of a file of any kind: its parameters, how full it is, and how its keys are hashed, without its table and
/// without the secret key that it may have been made with.
///
/// # Examples
///
/// ```
/// use guira::{CuckooFilter, FileHeader, FileKind, KeyHasher};
///
/// let hasher = KeyHasher::sip_hash_13(*b"nobody knows it.");
/// let file = CuckooFilter::builder().capacity(1000).false_positive_rate(0.001).hasher(hasher).build()?.to_bytes();
///
/// let header = FileHeader::of_bytes(&file)?;
/// assert_eq!((header.kind(), header.len(), header.has_secret_key()), (FileKind::Filter, 0, true));
/// assert_eq!(header.parameters().capacity(), 1000);
/// // All of it is whole, as far as is seen without the key.
/// header.verify(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FileHeader(Header);

impl FileHeader {
    /// How many bytes a header has, in every version of the format so far.
    pub const SIZE: usize = super::header::HEADER_SIZE;

    /// The header of a file of which these are the first [`SIZE`](Self::SIZE) bytes or more. What is behind them is not
    /// looked at.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] where the header is damaged, contradicts itself or is that of a later version.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Header::decode(bytes).map(Self)
    }

    /// What the file holds.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.0.kind()
    }

    /// The parameters of the table.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// How many fingerprints are stored.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.0.len
    }

    /// Whether nothing is stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// The bytes of the whole file: header, table, and the section behind it, if there is one.
    #[must_use]
    pub fn file_size(&self) -> u64 {
        self.0.file_size()
    }

    /// Whether keys are hashed with a secret key, SipHash-1-3's.
    #[must_use]
    pub const fn has_secret_key(&self) -> bool {
        matches!(self.0.hash, Hash::SipHash13 { .. })
    }

    /// The seed of XXH3-64; none where keys are hashed with a secret key, of which the seed is a part.
    #[must_use]
    pub const fn seed(&self) -> Option<u64> {
        match self.0.hash {
            Hash::Xxh3 { seed } => Some(seed),
            Hash::SipHash13 { .. } => None,
        }
    }

    /// What turns keys into digests, given the secret key if there is one.
    ///
    /// # Errors
    ///
    /// [`LoadError::KeyMissing`], [`LoadError::KeyNotUsed`] or [`LoadError::KeyDiffers`] where the key is not the file's.
    pub fn hasher(&self, key: Option<[u8; 16]>) -> Result<KeyHasher, LoadError> {
        self.0.hash.hasher(key)
    }

    /// Returns the number of keys up to which the false positive rate is kept, of a filter that grows.
    #[must_use]
    pub fn max_capacity(&self) -> Option<u64> {
        self.0.growth.map(|growth| growth.max_capacity)
    }

    /// Returns what a filter that grows does with more keys.
    #[must_use]
    pub fn growth_policy(&self) -> Option<GrowthPolicy> {
        self.0.growth.map(|growth| growth.policy)
    }

    /// Checks that a file has as many bytes as its header says.
    ///
    /// # Errors
    ///
    /// [`LoadError::Truncated`] and [`LoadError::TrailingBytes`].
    pub fn check_file_size(&self, bytes: u64) -> Result<(), LoadError> {
        check_file_size(&self.0, bytes)
    }

    /// Makes all the checks that loading makes, but for one: that a set or a filter that counts holds no fingerprint twice
    /// is not seen without the secret key, where there is one.
    ///
    /// # Errors
    ///
    /// [`LoadError::Truncated`] and [`LoadError::TrailingBytes`] where the bytes are not as many as the header says,
    /// [`LoadError::TableChecksum`] where the table was damaged, [`LoadError::Inconsistent`] where it is what nothing of
    /// this kind holds.
    pub fn verify(&self, file: &[u8]) -> Result<(), LoadError> {
        self.verify_for(file, self.seed().map(KeyHasher::xxh3))
    }

    /// Makes all the checks that loading makes.
    ///
    /// # Errors
    ///
    /// Those of [`verify`](Self::verify) and of [`hasher`](Self::hasher).
    pub fn verify_with_key(&self, file: &[u8], key: [u8; 16]) -> Result<(), LoadError> {
        self.verify_for(file, Some(self.hasher(Some(key))?))
    }

    fn verify_for(&self, file: &[u8], hasher: Option<KeyHasher>) -> Result<(), LoadError> {
        let Self(header) = self;
        let table = table_of(file, header)?;
        check_bytes(table, &header.parameters, header.table_checksum)?;
        let len = header.len_in_memory()?;
        let (sees_copies, hasher) = (hasher.is_some(), hasher.unwrap_or(KeyHasher::xxh3(0)));
        if matches!(header.kind(), FileKind::Counting | FileKind::Map) {
            let storage = Storage::copied_from(table).map_err(|_| header.out_of_memory())?;
            let filter = checked_valued_filter(header, hasher, storage, len)?;
            return if sees_copies { check_counters(&filter, header.kind()) } else { Ok(()) };
        }
        // What is stored at all is asked by the table alone; only copies are looked for where the hasher's seed says.
        let kind = if sees_copies { header.kind() } else { FileKind::Filter };
        check_fingerprints(&Scheme::new(&header.parameters, hasher.seed()), table, kind, len)
    }
}

impl fmt::Debug for FileHeader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FileHeader")
            .field("kind", &self.kind())
            .field("len", &self.len())
            .field("parameters", self.parameters())
            .field("has_secret_key", &self.has_secret_key())
            .finish_non_exhaustive()
    }
}
