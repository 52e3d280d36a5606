use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use guira::raw::{Journal, chunks_of};
use guira::{ExpiringCuckooFilter, FileHeader, FileKind, LoadError};

use crate::failure::Failure;
use crate::filter_bytes::{self, decompressed};
use crate::filter_view::Bytes;
use crate::filter_view::load_options;
use crate::keys::Compression;
use crate::provenance::{self, Provenance, table_end};
use crate::secret_key::SecretKey;

/// A file that is inspected but not queried: its secret key, if it has one, may be missing.
pub(crate) struct Inspection {
    pub(crate) header: FileHeader,
    pub(crate) secret: Secret,
    pub(crate) provenance: Provenance,
    pub(crate) journal: Journal,
    /// `None` for a stream.
    pub(crate) file_size: Option<u64>,
    /// When keys expire, if they do.
    pub(crate) expiry: Option<Expiry>,
}

/// When the keys of a filter expire.
pub(crate) struct Expiry {
    pub(crate) lifetime: u64,
    pub(crate) resolution: u64,
    /// The time that the file has reached.
    pub(crate) time: u64,
    /// The filter, unless its secret key is missing.
    pub(crate) filter: Option<ExpiringCuckooFilter>,
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
    /// Goes through a whole file, and checks all that can be checked with or without the key. A key that the file does not need
    /// is ignored.
    pub(crate) fn of_whole_file(path: &Path, key: Option<SecretKey>) -> Result<Self, Failure> {
        let inspect = || {
            let file = filter_bytes::open(path)?;
            let (header, bytes) = Bytes::of(&file)?;
            let mut inspection = Self::new(header, key)?;
            let key = key.filter(|_| inspection.secret == Secret::Fits).map(SecretKey::bytes);
            inspection.header.verify(bytes.as_slice(), key)?;
            inspection.provenance = Provenance::of_file_bytes(&inspection.header, bytes.as_slice())?;
            inspection.journal = bytes.journal(&inspection.header)?;
            Ok(inspection)
        };
        inspect().map_err(|error| Failure::of_loading(path, &error))
    }

    /// Reads what stands before and behind the table, and not the table where it can be left out: in a file that is not
    /// compressed, and whose keys do not expire, as those that are alive must be counted.
    pub(crate) fn of_header(path: &Path, key: Option<SecretKey>) -> Result<Self, Failure> {
        let inspect = || {
            let file = filter_bytes::open(path)?;
            let metadata = file.metadata()?;
            let file_size = metadata.is_file().then_some(metadata.len());
            let (compression, mut contents) = decompressed(&file)?;
            let mut start = Vec::new();
            contents.by_ref().take(FileHeader::MIN_SIZE as u64).read_to_end(&mut start)?;
            let mut inspection = Self::new(FileHeader::from_bytes(&start)?, key)?;
            let header = &inspection.header;
            let expected = header.file_size();
            let section_size = expected.saturating_sub(table_end(header));
            let max_journal_size = Journal::max_size(header).saturating_add(1);
            let (mut section, mut behind) = (Vec::new(), Vec::new());
            let found = match file_size {
                _ if header.kind() == FileKind::Expiring => {
                    contents
                        .take(expected.saturating_sub(start.len() as u64).saturating_add(1))
                        .read_to_end(&mut start)?;
                    let table_end = usize::try_from(table_end(header)).unwrap_or(usize::MAX);
                    section.extend_from_slice(start.get(table_end..).unwrap_or_default());
                    start.len() as u64
                }
                Some(size) if compression == Compression::None => {
                    drop(contents);
                    (&file).seek(SeekFrom::Start(table_end(header)))?;
                    (&file).take(section_size).read_to_end(&mut section)?;
                    (&file).take(max_journal_size).read_to_end(&mut behind)?;
                    size
                }
                _ => {
                    let table_size = header.parameters().table_size();
                    let table = io::copy(&mut contents.by_ref().take(table_size), &mut io::sink())?;
                    contents.by_ref().take(section_size).read_to_end(&mut section)?;
                    contents.take(max_journal_size).read_to_end(&mut behind)?;
                    start.len() as u64 + table + section.len() as u64
                }
            };
            if found < expected {
                return Err(LoadError::Truncated { expected, found });
            }
            inspection.journal = Journal::read(header, &behind)?;
            inspection.provenance = Provenance::of_file(&inspection.header, &section)?;
            inspection.file_size = file_size;
            if inspection.header.kind() == FileKind::Expiring {
                inspection.expiry = Some(Expiry::of(&start, &section, inspection.secret, key)?);
            }
            Ok(inspection)
        };
        inspect().map_err(|error| Failure::of_loading(path, &error))
    }

    pub(crate) fn key_count(&self) -> u64 {
        filter_bytes::key_count(&self.header, &self.journal)
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
        Ok(Self {
            header,
            secret,
            provenance: Provenance::default(),
            journal: Journal::default(),
            file_size: None,
            expiry: None,
        })
    }
}

impl Expiry {
    /// What a file says, given the chunks behind its table as well.
    fn of(file: &[u8], chunks: &[u8], secret: Secret, key: Option<SecretKey>) -> Result<Self, LoadError> {
        let filter = match secret {
            Secret::NotGiven => None,
            Secret::None => Some(load_options(None).from_bytes::<ExpiringCuckooFilter>(file)?),
            Secret::Fits => Some(load_options(key).from_bytes::<ExpiringCuckooFilter>(file)?),
        };
        let [lifetime, resolution, time] = match &filter {
            Some(filter) => [filter.lifetime(), filter.resolution(), filter.time()],
            None => {
                let chunks = chunks_of(chunks)?;
                let times = chunks.iter().find(|chunk| chunk.tag == provenance::TIMES);
                let mut numbers = times.map_or(&[][..], |times| times.data).chunks_exact(8);
                let missing = LoadError::Inconsistent { what: "keys expire, and the times are missing" };
                let mut next = || numbers.next()?.try_into().ok().map(u64::from_le_bytes);
                match (next(), next(), next()) {
                    (Some(lifetime), Some(resolution @ 1..), Some(time)) => [lifetime, resolution, time],
                    _ => return Err(missing),
                }
            }
        };
        Ok(Self { lifetime, resolution, time, filter })
    }

    /// How many keys can be alive at a time where a table promises to take so many.
    pub(crate) fn living_of(&self, in_table: u64) -> u64 {
        let resolutions = u128::from(self.lifetime / self.resolution);
        u64::try_from(u128::from(in_table) * resolutions / (resolutions + 1)).unwrap_or(u64::MAX)
    }
}
