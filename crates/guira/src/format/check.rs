//! What can only be checked with the table at hand.

use core::ops::Deref;

use crate::digest::checksum;
use crate::error::{FileKind, LoadError};
use crate::filter::Engine;
use crate::parameters::Parameters;
use crate::table::is_zero_from;

/// The bytes of a table, whatever they stand for.
pub(super) fn check_bytes(table: &[u8], parameters: &Parameters, table_checksum: u64) -> Result<(), LoadError> {
    if checksum(table) != table_checksum {
        return Err(LoadError::TableChecksum);
    }
    if !is_zero_from(table, parameters.table_bits()) {
        return Err(LoadError::Inconsistent { what: "padding bits are not 0" });
    }
    Ok(())
}

/// The fingerprints of a table without values.
pub(super) fn check_fingerprints<S: Deref<Target = [u8]>>(
    engine: &Engine<S>,
    parameters: &Parameters,
    kind: FileKind,
    len: usize,
) -> Result<(), LoadError> {
    if !engine.is_well_formed(parameters) {
        return Err(LoadError::Inconsistent { what: "a bucket holds what no fingerprints give" });
    }
    check_len(engine.occupied_slots(parameters), len)?;
    if kind == FileKind::Set && !engine.has_no_copies(parameters) {
        return Err(LoadError::Inconsistent { what: "a set holds a fingerprint twice" });
    }
    Ok(())
}

pub(super) fn check_len(occupied_slots: u64, len: usize) -> Result<(), LoadError> {
    if u64::try_from(len) == Ok(occupied_slots) {
        return Ok(());
    }
    Err(LoadError::Inconsistent { what: "the table holds another number of fingerprints than the header says" })
}
