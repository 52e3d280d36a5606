//! Merging with a filter in a file, of which a part is in memory at a time.

use std::io::Read;

use super::FileHeader;
use super::behind::Behind;
use super::check::check_len;
use super::chunks::Normalization;
use super::contents::make_changes;
use super::header::HEADER_SIZE;
use super::load::{no_memory, read_header, read_part};
use crate::cast::wide;
use crate::cuckoo::{NoRoom, Repeated};
use crate::digest::Checksum;
use crate::error::{FileKind, LoadError};
use crate::filter::CuckooFilter;
use crate::table::is_zero_from;

/// About so many bytes of a table are in memory.
const PART_SIZE: u64 = 1 << 20;

/// The bytes that are read at any slot, at most.
const READ_AT_ONCE: usize = 16;

/// Merges a filter with that in a file. `None` where they were not made alike, or not all keys fit.
pub(super) fn merged_with(mut filter: CuckooFilter, mut file: impl Read) -> Result<Option<CuckooFilter>, LoadError> {
    let header = FileHeader::from_bytes(&read_header(&mut file)?)?;
    filter.settle();
    if !is_alike(&filter, &header)? {
        return Ok(None);
    }
    let parameters = &header.parameters;
    let bits_per_bucket = u64::from(parameters.slots_per_bucket()) * u64::from(parameters.bits_per_slot());
    // Every eighth bucket begins with a byte.
    let buckets_per_part = (PART_SIZE * 8 / bits_per_bucket).next_multiple_of(8);
    let (bucket_count, mut first, mut len) = (parameters.bucket_count(), 0, 0);
    let mut checksum = Checksum::default();
    while first < bucket_count {
        let count = buckets_per_part.min(bucket_count - first);
        let begin = first * bits_per_bucket / 8;
        let is_last = first + count == bucket_count;
        let end = if is_last { header.table_size() } else { (first + count) * bits_per_bucket / 8 };
        let mut part = read_part(&mut file, &header, wide(HEADER_SIZE) + begin, end - begin)?;
        checksum.update(&part);
        if is_last && !is_zero_from(&part, count * bits_per_bucket) {
            return Err(LoadError::Inconsistent { what: "padding bits are not 0" });
        }
        part.try_reserve(READ_AT_ONCE).map_err(no_memory)?;
        part.resize(part.len() + READ_AT_ONCE, 0);
        let Some(fingerprints) = filter.scheme().fingerprints_in(&part, first, count).map_err(no_memory)? else {
            return Err(LoadError::Inconsistent { what: "a bucket holds what no fingerprints give" });
        };
        len += wide(fingerprints.len());
        match filter.store_all(fingerprints, Repeated::Stored) {
            Ok(()) => {}
            Err(NoRoom::OutOfMemory) => return Err(no_memory(NoRoom::OutOfMemory)),
            Err(_) => return Ok(None),
        }
        first += count;
    }
    if checksum.digest() != header.table_checksum {
        return Err(LoadError::TableChecksum);
    }
    check_len(len, header.len_in_memory()?)?;
    let behind = Behind::read(&header, file, Normalization::ByCaller)?;
    let treatment = filter.kept().map_or(0, |kept| kept.treatment);
    if behind.kept.map_or(0, |kept| kept.treatment) != treatment {
        return Ok(None);
    }
    match make_changes(&mut filter, behind.changes) {
        Err(LoadError::JournalDoesNotFit { .. }) => Ok(None),
        Err(error) => Err(error),
        Ok(()) => Ok(Some(filter)),
    }
}

/// Returns `true` if a filter and that of a file have tables of the same parameters, and the first may have room for both.
fn is_alike(filter: &CuckooFilter, header: &FileHeader) -> Result<bool, LoadError> {
    let hasher = filter.hasher();
    let together = wide(filter.len()).saturating_add(header.len);
    Ok(matches!(header.kind(), FileKind::Filter | FileKind::Growing)
        && header.growth.is_some() == filter.growth().is_some()
        && header.parameters == *filter.parameters()
        && together <= wide(filter.slot_count())
        && (filter.growth().is_none() || header.len <= wide(filter.room()))
        && header.hasher(hasher.secret_key())? == *hasher)
}
