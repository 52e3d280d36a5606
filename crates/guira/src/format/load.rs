//! From bytes to filters.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

use super::FileHeader;
use super::behind::Behind;
use super::check::check_bytes;
use super::chunks::Normalization;
use super::contents::Contents;
use super::header::HEADER_SIZE;
use super::methods::FilterFile;
use crate::cast::wide;
use crate::digest::KeyHasher;
#[cfg(feature = "files")]
use crate::error::Error;
use crate::error::LoadError;
use crate::filter::CuckooFilterView;
#[cfg(feature = "files")]
use crate::filter::{FilterBuilder, FilterKind};
use crate::table::Storage;

/// How a file is loaded: with a secret key, where its keys were hashed with one.
///
/// # Examples
///
/// ```
/// use guira::{CuckooFilter, KeyHasher, LoadOptions};
///
/// let key = *b"16 random bytes!";
/// let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01);
/// let mut filter = builder.hasher(KeyHasher::sip_hash_13(key)).build()?;
/// filter.insert("ani")?;
///
/// let loaded: CuckooFilter = LoadOptions::new().secret_key(key).from_bytes(&filter.to_bytes())?;
/// assert!(loaded.contains("ani"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct LoadOptions {
    pub(super) key: Option<[u8; 16]>,
    pub(super) normalization: Normalization,
}

impl LoadOptions {
    /// Makes the options of a file without a secret key.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let filter: guira::CuckooFilter = guira::LoadOptions::new().from_bytes(&file)?;
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn new() -> Self {
        Self { key: None, normalization: Normalization::Unknown }
    }

    /// Sets the secret key with which the file's keys were hashed. No file contains it.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher, LoadOptions};
    ///
    /// let key = *b"16 random bytes!";
    /// let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).hasher(KeyHasher::sip_hash_13(key));
    /// let file = builder.build()?.to_bytes();
    /// assert!(LoadOptions::new().from_bytes::<CuckooFilter>(&file).is_err());
    /// assert!(LoadOptions::new().secret_key(key).from_bytes::<CuckooFilter>(&file).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn secret_key(mut self, key: [u8; 16]) -> Self {
        self.key = Some(key);
        self
    }

    /// Says that the caller does to keys what was done to those of the file, as the program `guira` does with `--lowercase` and
    /// `--trim`. Without this, such a file is refused: keys would not be found that are in it. [`LoadError::KeysNormalized`]
    /// says what it is that was done.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = guira::CuckooFilter::with_capacity(100, 0.01)?.to_bytes();
    /// let filter: guira::CuckooFilter = guira::LoadOptions::new().normalized_keys().from_bytes(&file)?;
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn normalized_keys(mut self) -> Self {
        self.normalization = Normalization::ByCaller;
        self
    }

    /// Loads a filter from the bytes of its file.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] where the bytes are anything else than what [`to_bytes`](crate::CuckooFilter::to_bytes) of this
    /// type made: every byte is covered by a checksum, and every number is checked. Before that, no memory is allocated
    /// except for the table itself. [`LoadError::SecretKeyMissing`], [`LoadError::SecretKeyNotUsed`] or [`LoadError::SecretKeyDiffers`] where
    /// the key is not the file's.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher, LoadOptions};
    ///
    /// let key = *b"16 random bytes!";
    /// let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).hasher(KeyHasher::sip_hash_13(key));
    /// let file = builder.build()?.to_bytes();
    /// let filter: CuckooFilter = LoadOptions::new().secret_key(key).from_bytes(&file)?;
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_bytes<F: FilterFile>(self, bytes: &[u8]) -> Result<F, LoadError> {
        let header = FileHeader::from_bytes(bytes)?.of_kinds(F::KINDS)?;
        let hasher = header.hasher(self.key)?;
        let (table, behind) = header.split(bytes, self.normalization)?;
        let storage = Storage::copied_from(table).map_err(|_| header.out_of_memory())?;
        checked(&header, hasher, storage, behind)
    }

    /// Loads a filter from a reader, which it reads to the end.
    ///
    /// # Errors
    ///
    /// [`LoadError::Io`] where reading fails, and those of [`from_bytes`](Self::from_bytes). However large a table the
    /// header asks for, memory is only taken for bytes that came, and at most 16 MiB more.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher, LoadOptions};
    ///
    /// let key = *b"16 random bytes!";
    /// let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).hasher(KeyHasher::sip_hash_13(key));
    /// let file = builder.build()?.to_bytes();
    /// let filter: CuckooFilter = LoadOptions::new().secret_key(key).read_from(&file[..])?;
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn read_from<F: FilterFile>(self, mut reader: impl std::io::Read) -> Result<F, LoadError> {
        let header = FileHeader::from_bytes(&read_header(&mut reader)?)?.of_kinds(F::KINDS)?;
        let hasher = header.hasher(self.key)?;
        let (table, behind) = read_sections(reader, &header, self.normalization)?;
        checked(&header, hasher, table, behind)
    }

    /// Loads a filter from a file.
    ///
    /// # Errors
    ///
    /// [`LoadError::Io`] where the file can't be opened or read, and those of [`from_bytes`](Self::from_bytes).
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher, LoadOptions};
    ///
    /// let key = *b"16 random bytes!";
    /// let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).hasher(KeyHasher::sip_hash_13(key));
    /// let file = builder.build()?.to_bytes();
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("seen.guira");
    /// std::fs::write(&path, &file)?;
    /// let filter: CuckooFilter = LoadOptions::new().secret_key(key).open(&path)?;
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "files")]
    pub fn open<F: FilterFile>(self, path: impl AsRef<std::path::Path>) -> Result<F, LoadError> {
        self.read_from(std::fs::File::open(path)?)
    }

    /// Makes a view of the bytes of a file, which stay where they are. See [`CuckooFilterView::new`].
    ///
    /// # Errors
    ///
    /// Those of [`CuckooFilterView::new`]; [`LoadError::SecretKeyNotUsed`] or [`LoadError::SecretKeyDiffers`] where the key is not the
    /// file's.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher, LoadOptions};
    ///
    /// let key = *b"16 random bytes!";
    /// let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).hasher(KeyHasher::sip_hash_13(key));
    /// let file = builder.build()?.to_bytes();
    /// let view = LoadOptions::new().secret_key(key).view(&file)?;
    /// assert!(view.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn view(self, bytes: &[u8]) -> Result<CuckooFilterView<'_>, LoadError> {
        CuckooFilterView::of(bytes, self)
    }
}

/// Shows whether there is a key, not the key.
impl fmt::Debug for LoadOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LoadOptions").field("has_key", &self.key.is_some()).finish()
    }
}

#[cfg(feature = "files")]
impl<T: FilterKind + FilterFile> FilterBuilder<T> {
    /// Opens a file where there is one, and otherwise makes an empty filter, which is not saved yet. A secret key of the
    /// [`hasher`](Self::hasher) is also that of the file.
    ///
    /// # Errors
    ///
    /// - [`Error::Load`] if the file can't be opened: with [`LoadError::SecretKeyMissing`], `SecretKeyNotUsed` or `SecretKeyDiffers`
    ///   if it has another secret key, and with [`LoadError::MadeOtherwise`] if its seed is another, if it grows and the filter of
    ///   the builder does not, or the other way round, or if the bits of its values, its lifetime, its resolution or its rate is not
    ///   what was given. Only files of the program `guira` say for which rate they were made.
    /// - [`Error::Build`] if there is no file, and no such filter either.
    ///
    /// Capacities, the growth policy, the bits of fingerprints, and the layout and size of the table are not compared.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::CuckooSet;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("seen.guira");
    /// let builder = CuckooSet::builder().capacity(1000).false_positive_rate(0.001);
    /// let mut seen = builder.open_or_create(&path)?;
    /// seen.insert("ani")?;
    /// seen.save(&path)?;
    /// assert!(builder.open_or_create(&path)?.contains("ani"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_or_create<P: AsRef<std::path::Path>>(&self, path: P) -> Result<T, Error> {
        let mut file = match std::fs::File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(self.build()?),
            opened => opened.map_err(LoadError::Io)?,
        };
        let header = FileHeader::from_bytes(&read_header(&mut file)?)?.of_kinds(T::KINDS)?;
        let expected = self.chosen.hasher;
        let hasher = header.hasher(expected.secret_key())?;
        let made_otherwise = |what| Err(Error::Load(LoadError::MadeOtherwise { what }));
        if hasher.seed() != expected.seed() {
            return made_otherwise("seed");
        }
        if header.rate > 0.0
            && self.chosen.false_positive_rate.is_some_and(|rate| rate.to_bits() != header.rate.to_bits())
        {
            return made_otherwise("false positive rate");
        }
        if header.growth.is_some() != self.chosen.max_capacity.is_some() {
            return made_otherwise("growth");
        }
        if self.chosen.value_bits.is_some_and(|bits| bits != header.parameters.value_bits()) {
            return made_otherwise("number of value bits");
        }
        let (table, behind) = read_sections(file, &header, Normalization::Unknown)?;
        if let Some(times) = &behind.times {
            if self.chosen.times.resolution.is_some_and(|given| given != times.resolution) {
                return made_otherwise("resolution");
            }
            // It was rounded up to a whole number of resolutions.
            let rounded_up = |given: u64| given.checked_next_multiple_of(times.resolution);
            if self.chosen.times.lifetime.is_some_and(|given| rounded_up(given) != Some(times.lifetime)) {
                return made_otherwise("lifetime");
            }
        }
        Ok(checked(&header, hasher, table, behind)?)
    }
}

pub(super) fn load_from_parts<C: Contents>(bytes: &[u8], table: Vec<u8>, chunks: &[u8]) -> Result<C, LoadError> {
    let header = FileHeader::from_bytes(bytes)?.of_kinds(C::KINDS)?;
    let hasher = header.hasher(None)?;
    if bytes.len() > HEADER_SIZE {
        return Err(LoadError::TrailingBytes { expected: header.file_size() });
    }
    let expected = header.file_size();
    let found = wide(bytes.len().saturating_add(table.len()).saturating_add(chunks.len()));
    match found.cmp(&expected) {
        Ordering::Less => return Err(LoadError::Truncated { expected, found }),
        Ordering::Equal => {}
        Ordering::Greater => return Err(LoadError::TrailingBytes { expected }),
    }
    if u64::try_from(table.len()) != Ok(header.table_size()) {
        return Err(LoadError::Inconsistent { what: "the table has another size than its header says" });
    }
    let behind = Behind::of(&header, chunks, &[], Normalization::Unknown)?;
    checked(&header, hasher, Storage::from_vec(table), behind)
}

/// Reads at most so many bytes, and takes memory for those that come, and for as many more, or 64 KiB; at most for 16 MiB more.
#[cfg(feature = "std")]
pub(super) fn read_up_to(mut reader: impl std::io::Read, most: u64) -> Result<Vec<u8>, LoadError> {
    use std::io::Read as _;

    const MIN_CHUNK: usize = 64 << 10;
    const MAX_CHUNK: usize = 16 << 20;
    /// What is asked for besides: `read_to_end` reads into memory of its own, and appends that, where less is left.
    const PROBE: usize = 32;

    let mut bytes = Vec::new();
    loop {
        let missing = most.saturating_sub(wide(bytes.len()));
        let chunk = bytes.len().clamp(MIN_CHUNK, MAX_CHUNK).min(usize::try_from(missing).unwrap_or(usize::MAX));
        if chunk == 0 {
            return Ok(bytes);
        }
        let out_of_memory = |_| LoadError::OutOfMemory { bytes: most };
        bytes.try_reserve_exact(chunk.saturating_add(PROBE)).map_err(out_of_memory)?;
        if reader.by_ref().take(wide(chunk)).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
    }
}

/// Reads the header of a file.
#[cfg(feature = "std")]
pub(super) fn read_header(reader: impl std::io::Read) -> Result<Vec<u8>, LoadError> {
    read_up_to(reader, wide(HEADER_SIZE))
}

/// Reads all of a part of a file, which begins at an offset.
#[cfg(feature = "std")]
pub(super) fn read_part(
    reader: impl std::io::Read,
    header: &FileHeader,
    offset: u64,
    size: u64,
) -> Result<Vec<u8>, LoadError> {
    let bytes = read_up_to(reader, size)?;
    let read = wide(bytes.len());
    if read == size {
        return Ok(bytes);
    }
    Err(LoadError::Truncated { expected: header.file_size(), found: offset.saturating_add(read) })
}

/// Reads what is behind the header.
#[cfg(feature = "std")]
fn read_sections(
    mut reader: impl std::io::Read,
    header: &FileHeader,
    normalization: Normalization,
) -> Result<(Storage, Behind), LoadError> {
    let table = read_part(&mut reader, header, wide(HEADER_SIZE), header.table_size())?;
    Ok((Storage::from_vec(table), Behind::read(header, reader, normalization)?))
}

/// The error of small things that there is no memory for: a page of them, say.
pub(super) fn no_memory<E>(_: E) -> LoadError {
    LoadError::OutOfMemory { bytes: 4096 }
}

/// The checks that need the table.
fn checked<C: Contents>(
    header: &FileHeader,
    hasher: KeyHasher,
    storage: Storage,
    behind: Behind,
) -> Result<C, LoadError> {
    check_bytes(&storage, &header.parameters, header.table_checksum)?;
    C::checked(header, hasher, storage, behind)
}
