//! Where a filter comes from: the section behind the table of a filter file, as docs/format.md describes it.

use std::io::{self, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use guira::{FileHeader, KeyHasher, LoadError};
use serde::{Deserialize, Serialize};

use crate::keys::Normalization;

const MAGIC: [u8; 4] = *b"NOTE";
const VERSION: u16 = 1;
/// Magic, version, two reserved bytes and the checksum.
const START_SIZE: usize = 16;
/// The positions in the header of the section's size and of the header's checksum.
const SECTION_SIZE_AT: usize = 80;
const HEADER_CHECKSUM_AT: usize = 120;

/// What is known of how a filter was built. The field names are those of the file format and must not change.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct Provenance {
    /// The false positive rate that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<f64>,
    #[serde(flatten)]
    pub(crate) normalization: Normalization,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// Seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key_count: Option<u64>,
}

impl Provenance {
    /// Decodes the section; the default if it is empty.
    pub(crate) fn of_section(section: &[u8]) -> io::Result<Self> {
        let damaged = || io::Error::other("damaged: the notes behind the table are not what was written");
        if section.is_empty() {
            return Ok(Self::default());
        }
        // What stands there may decide how keys are hashed, as `lowercase` does.
        let Some(rest) = section.strip_prefix(&MAGIC) else {
            return Err(io::Error::other(
                "a section behind the table that this program does not know: it is damaged, or of a later release",
            ));
        };
        let (version, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let version = u16::from_le_bytes(*version);
        if version > VERSION {
            return Err(io::Error::other(format!(
                "its notes are of version {version}, and this program reads version {VERSION}: use a later release"
            )));
        }
        let (reserved, rest) = rest.split_first_chunk::<2>().ok_or_else(damaged)?;
        if version != VERSION || *reserved != [0; 2] {
            return Err(damaged());
        }
        let (expected, text) = rest.split_first_chunk().ok_or_else(damaged)?;
        if checksum(text) != u64::from_le_bytes(*expected) {
            return Err(damaged());
        }
        serde_json::from_slice(text).map_err(|_| damaged())
    }

    /// Encodes the section; empty if there is nothing to say.
    fn section(&self) -> io::Result<Vec<u8>> {
        if *self == Self::default() {
            return Ok(Vec::new());
        }
        let text = serde_json::to_vec(self)?;
        let mut section = Vec::with_capacity(START_SIZE + text.len());
        section.extend(MAGIC);
        section.extend(VERSION.to_le_bytes());
        section.extend([0; 2]);
        section.extend(checksum(&text).to_le_bytes());
        section.extend(text);
        Ok(section)
    }

    /// Encodes the section, and writes its size into the header of the file.
    pub(crate) fn write_into(&self, header: &mut [u8]) -> io::Result<Vec<u8>> {
        let section = self.section()?;
        if !section.is_empty() {
            set_section_size(header, section.len() as u64);
        }
        Ok(section)
    }

    /// Decodes the section of a whole file.
    pub(crate) fn of_file_bytes(header: &FileHeader, bytes: &[u8]) -> Result<Self, LoadError> {
        let start = usize::try_from(table_end(header)).unwrap_or(usize::MAX);
        Ok(Self::of_section(bytes.get(start..).unwrap_or_default())?)
    }

    /// When the filter was built.
    pub(crate) fn date(&self) -> Option<String> {
        let time = UNIX_EPOCH.checked_add(Duration::from_secs(self.created?))?;
        // RFC 3339 ends with the year 9999.
        (self.created? < 253_402_300_800).then(|| humantime::format_rfc3339_seconds(time).to_string())
    }
}

/// The current time, or `SOURCE_DATE_EPOCH` for reproducible files.
pub(crate) fn now() -> Option<u64> {
    if let Some(given) = std::env::var_os("SOURCE_DATE_EPOCH") {
        return given.to_str()?.parse().ok();
    }
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// The header of a file, changed as if the file had no section.
#[cfg(feature = "redis")]
pub(crate) fn header_without_section(file: &[u8]) -> Vec<u8> {
    let mut header = file[..FileHeader::SIZE].to_vec();
    set_section_size(&mut header, 0);
    header
}

fn set_section_size(header: &mut [u8], size: u64) {
    header[SECTION_SIZE_AT..SECTION_SIZE_AT + 8].copy_from_slice(&size.to_le_bytes());
    let header_checksum = checksum(&header[..HEADER_CHECKSUM_AT]);
    header[HEADER_CHECKSUM_AT..].copy_from_slice(&header_checksum.to_le_bytes());
}

/// The offset of the end of the table in a file.
pub(crate) fn table_end(header: &FileHeader) -> u64 {
    header.parameters().table_size().saturating_add(FileHeader::SIZE as u64)
}

fn checksum(bytes: &[u8]) -> u64 {
    KeyHasher::xxh3(0).digest(bytes).get()
}

/// A reader that copies everything behind the first `before` bytes to `tail`.
pub(crate) struct Tail<'tail, R> {
    pub(crate) source: R,
    /// The bytes still to be skipped.
    pub(crate) before: u64,
    pub(crate) tail: &'tail mut Vec<u8>,
}

impl<R: Read> Read for Tail<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.source.read(buffer)?;
        let skipped = self.before.min(size as u64);
        self.before -= skipped;
        self.tail.extend_from_slice(&buffer[usize::try_from(skipped).unwrap_or(size)..size]);
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let provenance = Provenance {
            rate: Some(0.001),
            normalization: Normalization { lowercase: true, trim: false },
            note: Some("gr\u{fc}n\n".to_owned()),
            created: Some(951_782_400),
            sources: vec!["a".to_owned(), "b".to_owned()],
            key_count: Some(7),
        };
        let section = provenance.section().expect("memory");
        assert_eq!(Provenance::of_section(&section).expect("whole"), provenance);
        // A leap day.
        assert_eq!(provenance.date().as_deref(), Some("2000-02-29T00:00:00Z"));
        assert_eq!(Provenance::default().section().expect("memory"), b"");
        assert_eq!(Provenance::of_section(b"").expect("nothing"), Provenance::default());
    }

    #[cfg(feature = "redis")]
    #[test]
    fn without_its_section_a_header_is_that_of_a_file_that_has_none() {
        let file = guira::CuckooFilter::with_capacity(10, 0.1).expect("a small filter").to_bytes();
        let mut header = file[..FileHeader::SIZE].to_vec();
        let section = Provenance { rate: Some(0.1), ..Provenance::default() }.write_into(&mut header).expect("memory");
        assert!(!section.is_empty() && header != file[..FileHeader::SIZE]);
        assert_eq!(header_without_section(&header), file[..FileHeader::SIZE]);
        assert_eq!(header_without_section(&file), file[..FileHeader::SIZE]);
    }

    #[test]
    fn every_damage_is_noticed_and_a_later_version_refused() {
        let section = Provenance { rate: Some(0.5), ..Provenance::default() }.section().expect("memory");
        for at in 8..section.len() {
            let mut damaged = section.clone();
            damaged[at] ^= 1;
            assert!(Provenance::of_section(&damaged).is_err(), "byte {at}");
        }
        for size in MAGIC.len()..section.len() {
            assert!(Provenance::of_section(&section[..size]).is_err(), "{size} bytes");
        }
        let mut later = section;
        later[4] = 2;
        let refused = Provenance::of_section(&later).expect_err("a later version");
        assert!(refused.to_string().contains("version 2"), "{refused}");
    }
}
