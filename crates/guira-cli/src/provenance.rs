//! Where a filter comes from, and what was done to its keys: the rate in the header of a filter file and the chunks behind its
//! table, as docs/format.md describes them.

use std::io::{self, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use guira::raw::{Chunk, chunks_of};
use guira::{FileHeader, FileKind, KeyHasher, LoadError};
use serde::{Deserialize, Serialize};

use crate::keys::Normalization;

/// The chunk with notes, which nobody need know.
const NOTES: [u8; 4] = *b"NOTE";
/// The chunk with the times of keys that expire, which belongs to the filter.
pub(crate) const TIMES: [u8; 4] = *b"EXPR";
/// What was done to keys, as bits of the chunk that says it.
const LOWERCASE: u8 = 1;
const TRIM: u8 = 2;
/// The positions in the header of the chunks' size, of the rate and of the header's checksum.
const CHUNKS_SIZE_AT: usize = 80;
const RATE_AT: usize = 88;
const HEADER_CHECKSUM_AT: usize = 120;

/// What is known of how a filter was built. The field names are those of the JSON output and must not change.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// If keys expire and this program made the filter, where its time comes from. Then it is in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time_source: Option<TimeSource>,
    /// Chunks of other programs, which are kept.
    #[serde(skip)]
    pub(crate) unknown: Vec<u8>,
}

/// Where the time comes from at which keys expire. The names are those of the file format and must not change.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimeSource {
    /// It is the time at which keys came.
    Clock,
    /// It came with the keys.
    Data,
}

/// The chunk with notes. The field names are those of the file format and must not change.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
struct Notes {
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_source: Option<TimeSource>,
}

impl Provenance {
    /// Decodes what a file says beside its filter: its rate, and the chunks among what is behind the table.
    pub(crate) fn of_file(header: &FileHeader, behind: &[u8]) -> Result<Self, LoadError> {
        let chunks_size = usize::try_from(header.file_size().saturating_sub(table_end(header))).unwrap_or(usize::MAX);
        let chunks = behind.get(..chunks_size).unwrap_or(behind);
        let damaged = || io::Error::other("damaged: the notes behind the table are not what was written");
        let mut provenance = Self { rate: header.requested_rate(), ..Self::default() };
        for chunk in chunks_of(chunks)? {
            match chunk.tag {
                Chunk::NORMALIZED => {
                    let [treatment @ 1..=3] = *chunk.data else {
                        return Err(LoadError::Unknown { what: "treatment of keys", found: 0 });
                    };
                    provenance.normalization =
                        Normalization { lowercase: treatment & LOWERCASE != 0, trim: treatment & TRIM != 0 };
                }
                NOTES => {
                    let notes = serde_json::from_slice(chunk.data).map_err(|_| damaged())?;
                    let Notes { note, created, sources, key_count, time_source } = notes;
                    provenance = Self { note, created, sources, key_count, time_source, ..provenance };
                }
                TIMES if header.kind() == FileKind::Expiring => {}
                tag if chunk.flags & Chunk::MUST_KNOW != 0 => return Err(LoadError::UnknownChunk { tag }),
                _ if chunk.flags & Chunk::OF_TABLE == 0 => chunk.append_to(&mut provenance.unknown),
                _ => {}
            }
        }
        Ok(provenance)
    }

    /// Encodes the chunks; empty if there is nothing to say.
    fn chunks(&self) -> io::Result<Vec<u8>> {
        let mut chunks = Vec::new();
        let Normalization { lowercase, trim } = self.normalization;
        let treatment = (u8::from(lowercase) * LOWERCASE) | (u8::from(trim) * TRIM);
        if treatment != 0 {
            Chunk::new(Chunk::NORMALIZED, Chunk::MUST_KNOW, &[treatment]).append_to(&mut chunks);
        }
        let Self { note, created, sources, key_count, time_source, .. } = self.clone();
        let notes = Notes { note, created, sources, key_count, time_source };
        if notes != Notes::default() {
            Chunk::new(NOTES, 0, &serde_json::to_vec(&notes)?).append_to(&mut chunks);
        }
        chunks.extend(&self.unknown);
        Ok(chunks)
    }

    /// Appends the chunks to those of the filter, and writes their size and the rate into the header of the file.
    pub(crate) fn write_into(&self, header: &mut [u8], mut chunks: Vec<u8>) -> io::Result<Vec<u8>> {
        chunks.extend(self.chunks()?);
        header[RATE_AT..RATE_AT + 8].copy_from_slice(&self.rate.unwrap_or(0.0).to_le_bytes());
        set_chunks_size(header, chunks.len() as u64);
        Ok(chunks)
    }

    /// Puts this in the place of what a whole file says beside its filter.
    #[cfg(feature = "redis")]
    pub(crate) fn replace_in(&self, header: &FileHeader, file: &mut Vec<u8>) -> Result<(), LoadError> {
        let behind = file.split_off(usize::try_from(table_end(header)).map_or(file.len(), |end| end.min(file.len())));
        let mut times = Vec::new();
        chunks_of(&behind)?.iter().filter(|chunk| chunk.tag == TIMES).for_each(|chunk| chunk.append_to(&mut times));
        let chunks = self.write_into(&mut file[..FileHeader::MIN_SIZE], times)?;
        file.extend(chunks);
        Ok(())
    }

    /// Decodes what a whole file says beside its filter.
    pub(crate) fn of_file_bytes(header: &FileHeader, bytes: &[u8]) -> Result<Self, LoadError> {
        let start = usize::try_from(table_end(header)).unwrap_or(usize::MAX);
        Self::of_file(header, bytes.get(start..).unwrap_or_default())
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

fn set_chunks_size(header: &mut [u8], size: u64) {
    header[CHUNKS_SIZE_AT..CHUNKS_SIZE_AT + 8].copy_from_slice(&size.to_le_bytes());
    let header_checksum = checksum(&header[..HEADER_CHECKSUM_AT]);
    header[HEADER_CHECKSUM_AT..].copy_from_slice(&header_checksum.to_le_bytes());
}

/// The offset of the end of the table in a file.
pub(crate) fn table_end(header: &FileHeader) -> u64 {
    header.parameters().table_size().saturating_add(FileHeader::MIN_SIZE as u64)
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

    fn header_of(provenance: &Provenance) -> (FileHeader, Vec<u8>) {
        let mut header = guira::CuckooFilter::with_capacity(10, 0.1).expect("a small filter").to_bytes();
        header.truncate(FileHeader::MIN_SIZE);
        let chunks = provenance.write_into(&mut header, Vec::new()).expect("memory");
        (FileHeader::from_bytes(&header).expect("whole"), chunks)
    }

    fn example() -> Provenance {
        let mut unknown = Vec::new();
        Chunk::new(*b"XTRA", 4, b"of another program").append_to(&mut unknown);
        Provenance {
            rate: Some(0.001),
            normalization: Normalization { lowercase: true, trim: false },
            note: Some("gr\u{fc}n\n".to_owned()),
            created: Some(951_782_400),
            sources: vec!["a".to_owned(), "b".to_owned()],
            key_count: Some(7),
            time_source: Some(TimeSource::Data),
            unknown,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let provenance = example();
        let (header, chunks) = header_of(&provenance);
        assert_eq!(header.file_size(), table_end(&header) + chunks.len() as u64);
        assert_eq!(Provenance::of_file(&header, &chunks).expect("whole"), provenance);
        // A leap day.
        assert_eq!(provenance.date().as_deref(), Some("2000-02-29T00:00:00Z"));
        let (header, chunks) = header_of(&Provenance::default());
        assert_eq!(chunks, b"");
        assert_eq!(Provenance::of_file(&header, b"").expect("nothing"), Provenance::default());
    }

    #[cfg(feature = "redis")]
    #[test]
    fn what_is_put_into_a_file_is_read_there_and_keeps_the_filter() {
        let mut filter = guira::ExpiringCuckooFilter::with_capacity(100, 0.01, 1000).expect("a small filter");
        filter.insert("ani").expect("room");
        let mut file = filter.to_bytes();
        let before = Provenance::of_file_bytes(&FileHeader::from_bytes(&file).expect("whole"), &file).expect("whole");
        for provenance in [example(), before] {
            let header = FileHeader::from_bytes(&file).expect("whole");
            provenance.replace_in(&header, &mut file).expect("memory");
            let header = FileHeader::from_bytes(&file).expect("whole");
            header.verify(&file, None).expect("whole");
            assert_eq!(Provenance::of_file_bytes(&header, &file).expect("whole"), provenance);
        }
        assert_eq!(file, filter.to_bytes());
    }

    #[test]
    fn every_damage_is_noticed() {
        let (header, chunks) = header_of(&example());
        for at in 0..chunks.len() {
            let mut damaged = chunks.clone();
            damaged[at] ^= 1;
            assert!(Provenance::of_file(&header, &damaged).is_err(), "byte {at}");
        }
    }
}
