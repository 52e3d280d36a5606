//! The header of a file, for callers that don't have its secret key or don't need its table.

use core::fmt;

use super::FileHeader;
use super::check::{check_bytes, check_fingerprints, check_removals, check_waiting};
use super::chunks::Normalization;
use super::contents::{check_counters, checked_generations, checked_valued_filter};
use super::header::{Hash, fields_behind_version};
use crate::cuckoo::Scheme;
use crate::digest::KeyHasher;
use crate::error::{FileKind, LoadError};
use crate::filter::{Pending, methods};
use crate::parameters::Parameters;
use crate::table::Storage;

impl FileHeader {
    /// How many bytes a header has, in every version of the format so far.
    pub const MIN_SIZE: usize = super::header::HEADER_SIZE;

    /// Reads the header of a file from its first [`MIN_SIZE`](Self::MIN_SIZE) bytes, or more. What is behind the header is not read.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] where the header is damaged, contradicts itself or is that of a later version.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// assert!(header.is_empty());
    /// assert!(guira::FileHeader::from_bytes(b"some other file").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::decode(&mut fields_behind_version(bytes)?)
    }

    /// Returns what the file holds.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// assert_eq!(header.kind(), guira::FileKind::Filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }

    /// Returns the parameters of the table.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// assert_eq!(header.parameters().capacity(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns how many fingerprints are in the table. A journal behind it may make them more or fewer.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// assert_eq!(header.len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    methods! { "guira::FileHeader" "::from_bytes(&guira::CuckooFilter::with_capacity(1000, 0.001)?.to_bytes())?": is_empty }

    /// Returns the size in bytes of what the header counts: itself, the table, and the chunks behind it, if there are any. A
    /// journal, to which the program `guira` may have appended keys, follows them.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// assert_eq!(header.file_size(), file.len() as u64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn file_size(&self) -> u64 {
        self.chunks_at().saturating_add(self.chunks_size)
    }

    /// Returns `true` if keys are hashed with a secret key, that of SipHash-1-3.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// assert!(!header.has_secret_key());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn has_secret_key(&self) -> bool {
        matches!(self.hash, Hash::SipHash13 { .. })
    }

    /// Returns the hash that turns keys into digests, given the secret key if there is one.
    ///
    /// # Errors
    ///
    /// [`LoadError::SecretKeyMissing`], [`LoadError::SecretKeyNotUsed`] or [`LoadError::SecretKeyDiffers`] where the key is not the file's.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// assert_eq!(header.hasher(None)?, guira::KeyHasher::xxh3(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hasher(&self, key: Option<[u8; 16]>) -> Result<KeyHasher, LoadError> {
        match (self.hash, key) {
            (Hash::Xxh3 { seed }, None) => Ok(KeyHasher::xxh3(seed)),
            (Hash::Xxh3 { .. }, Some(_)) => Err(LoadError::SecretKeyNotUsed),
            (Hash::SipHash13 { .. }, None) => Err(LoadError::SecretKeyMissing),
            (Hash::SipHash13 { key_check }, Some(key)) => {
                let hasher = KeyHasher::sip_hash_13(key);
                if hasher.key_check() == Some(key_check) { Ok(hasher) } else { Err(LoadError::SecretKeyDiffers) }
            }
        }
    }

    /// Returns the number of keys up to which a filter that grows keeps its false positive rate, or `None` for any other.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// assert_eq!(header.max_capacity(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn max_capacity(&self) -> Option<u64> {
        self.growth.map(|growth| growth.max_capacity)
    }

    /// Returns the false positive rate that was asked for when the filter was built, or `None` if the file doesn't say it.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// // Only the program writes it so far.
    /// assert_eq!(header.requested_rate(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn requested_rate(&self) -> Option<f64> {
        Some(self.rate).filter(|&rate| rate > 0.0)
    }

    /// Makes all the checks that loading makes on the bytes of the file. Without the secret key of a file that has one, those
    /// that take it are left out: that a set or a filter that counts holds no fingerprint twice, that a journal removes what
    /// is there, and that fingerprints are in the right half of a bucket where only every second bucket has become two.
    ///
    /// # Errors
    ///
    /// [`LoadError::Truncated`] and [`LoadError::TrailingBytes`] where the bytes are not as many as the header says,
    /// [`LoadError::TableChecksum`] where the table was damaged, [`LoadError::Inconsistent`] where it holds what no file
    /// of this kind can hold. With a key, those of [`hasher`](Self::hasher).
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let header = guira::FileHeader::from_bytes(&file)?;
    /// assert!(header.verify(&file, None).is_ok());
    /// assert!(header.verify(&file[1..], None).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify(&self, file: &[u8], key: Option<[u8; 16]>) -> Result<(), LoadError> {
        let hasher = if self.has_secret_key() && key.is_none() { None } else { Some(self.hasher(key)?) };
        let (table, behind) = self.split(file, Normalization::ByCaller)?;
        check_bytes(table, &self.parameters, self.table_checksum)?;
        let len = self.len_in_memory()?;
        let knows_seed = hasher.is_some();
        if self.parameters.value_bits() > 0 {
            let storage = Storage::copied_from(table).map_err(|_| self.out_of_memory())?;
            let filter = checked_valued_filter(self, hasher, storage, None)?;
            if self.kind() == FileKind::Expiring {
                return checked_generations(&filter, behind.times.as_ref()).map(drop);
            }
            return if knows_seed { check_counters(&filter, self.kind()) } else { Ok(()) };
        }
        let scheme = Scheme::new(&self.parameters, hasher.unwrap_or(KeyHasher::xxh3(0)).seed());
        check_fingerprints(&scheme, table, &self.parameters, self.kind(), len, knows_seed)?;
        check_waiting(&scheme, table, &self.parameters, self.waiting)?;
        // Where the key's copies are takes the hasher too.
        if knows_seed { check_removals(&scheme, table, &Pending::of(&scheme, &behind.changes)) } else { Ok(()) }
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
