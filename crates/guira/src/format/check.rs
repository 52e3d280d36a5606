//! The checks of a file that need its table.

use crate::cuckoo::Scheme;
use crate::digest::checksum;
use crate::error::{FileKind, LoadError};
use crate::filter::Pending;
use crate::parameters::Parameters;
use crate::table::is_zero_from;

/// Checks the checksum and the padding of a table.
pub(super) fn check_bytes(table: &[u8], parameters: &Parameters, table_checksum: u64) -> Result<(), LoadError> {
    if checksum(table) != table_checksum {
        return Err(LoadError::TableChecksum);
    }
    check_padding(table, parameters)
}

pub(super) fn check_padding(table: &[u8], parameters: &Parameters) -> Result<(), LoadError> {
    if is_zero_from(table, parameters.table_bits()) {
        return Ok(());
    }
    Err(LoadError::Inconsistent { what: "padding bits are not 0" })
}

/// Checks the fingerprints of a table without values. Unless `knows_seed`, the seed of the scheme is not that of the file, and what
/// depends on it is left out.
pub(super) fn check_fingerprints(
    scheme: &Scheme,
    table: &[u8],
    parameters: &Parameters,
    kind: FileKind,
    len: usize,
    knows_seed: bool,
) -> Result<(), LoadError> {
    let occupied = scheme.occupied_if_well_formed(table, 0..parameters.bucket_count(), knows_seed);
    check_len(occupied.ok_or(MALFORMED)?, len)?;
    if kind == FileKind::Set && knows_seed && !scheme.has_no_copies(table) {
        return Err(LoadError::Inconsistent { what: "a set holds a fingerprint twice" });
    }
    Ok(())
}

/// Checks that of what buckets have become that are said to wait, no two fingerprints come from one slot.
pub(super) fn check_waiting(
    scheme: &Scheme,
    table: &[u8],
    parameters: &Parameters,
    waiting: u64,
) -> Result<(), LoadError> {
    let firsts = (0..waiting).filter_map(|number| parameters.first_of_two(number));
    if waiting > 0 && scheme.share_slots(table, firsts) {
        return Err(LoadError::Inconsistent { what: "a bucket that waits to become two has become what none becomes" });
    }
    Ok(())
}

pub(super) const MALFORMED: LoadError = LoadError::Inconsistent { what: "a bucket holds what no fingerprints give" };

pub(super) fn check_len(occupied_slots: u64, len: usize) -> Result<(), LoadError> {
    if u64::try_from(len) == Ok(occupied_slots) {
        return Ok(());
    }
    Err(LoadError::Inconsistent { what: "the table holds another number of fingerprints than the header says" })
}

pub(super) const REMOVES_WHAT_IS_NOT_THERE: LoadError =
    LoadError::Inconsistent { what: "the journal removes a key that is not there" };

/// Checks that what the journal removes is there.
pub(super) fn check_removals(scheme: &Scheme, table: &[u8], pending: &Pending) -> Result<(), LoadError> {
    if pending.removes_what_is_there(scheme, table) { Ok(()) } else { Err(REMOVES_WHAT_IS_NOT_THERE) }
}
