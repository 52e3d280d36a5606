//! Memory for records, which may be of any length.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::mem;

use indicatif::HumanCount;
use sysinfo::System;

use crate::allocator::asking;

/// Each time a buffer has grown by this much, the system is asked whether this much more is free.
const STEP: usize = 1 << 26;

/// Memory to leave for everything else, such as the error message.
const REST: usize = 1 << 22;

/// Records below this size are not checked by [`expect_free`].
const LARGE_RECORD: usize = 1 << 20;

/// Reserves memory in a buffer for a record. If there is not enough, it fails and frees the buffer.
///
/// Systems that overcommit memory would kill the program when it uses the memory, so the free memory is checked first.
pub(super) fn reserve(buffer: &mut Vec<u8>, additional: usize) -> io::Result<()> {
    let length = buffer.len().saturating_add(additional);
    reserve_of(buffer, additional, free_memory).map_err(|_| too_long(length))
}

/// Appends bytes to a buffer that holds a record.
pub(super) fn extend(buffer: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    reserve(buffer, bytes.len())?;
    buffer.extend_from_slice(bytes);
    Ok(())
}

/// Appends a row or key of a record that ends at this byte. A long record may have as many keys as bytes.
pub(super) fn push<T>(found: &mut Vec<T>, item: T, end: usize) -> io::Result<()> {
    reserve_items(found, 1, end)?;
    found.push(item);
    Ok(())
}

/// Reserves memory for items of a record that ends at this byte.
pub(super) fn reserve_items<T>(found: &mut Vec<T>, additional: usize, end: usize) -> io::Result<()> {
    reserve_of(found, additional, free_memory).map_err(|_| too_long(end))
}

/// Fails if less memory is free than `times` the length of a long record: for work whose memory can't be checked as it grows.
pub(super) fn expect_free(record: &[u8], times: usize) -> io::Result<()> {
    if record.len() < LARGE_RECORD {
        return Ok(());
    }
    let bytes = record.len().saturating_mul(times);
    let mut probe = Vec::<u8>::new();
    reserve_of(&mut probe, bytes, free_memory).map_err(|_| too_long(record.len()))
}

/// Reserves memory. If there is not enough, it fails and frees the buffer.
fn reserve_of<T>(buffer: &mut Vec<T>, additional: usize, free_memory: impl FnOnce() -> u64) -> Result<(), NotEnough> {
    if buffer.capacity() - buffer.len() >= additional && !crosses_step(buffer, additional) {
        return Ok(());
    }
    let bytes = size_of::<T>().saturating_mul(additional) as u64;
    let is_free = !crosses_step(buffer, additional) || free_memory() >= (STEP as u64).saturating_add(bytes);
    // `try_reserve` first, which doubles the buffer, so that a long record is not copied again and again.
    let mut grow = || buffer.try_reserve(additional).or_else(|_| buffer.try_reserve_exact(additional));
    if is_free && asking(|| grow().is_ok() && Vec::<u8>::new().try_reserve_exact(REST).is_ok()) {
        return Ok(());
    }
    drop(mem::take(buffer));
    Err(NotEnough)
}

#[derive(Debug)]
struct NotEnough;

fn too_long(length: usize) -> io::Error {
    io::Error::new(ErrorKind::OutOfMemory, RecordTooLong { length })
}

fn crosses_step<T>(buffer: &[T], additional: usize) -> bool {
    let bytes = |count: usize| count.saturating_mul(size_of::<T>());
    bytes(buffer.len().saturating_add(additional)) / STEP > bytes(buffer.len()) / STEP
}

/// The number of bytes that this process may still use, as far as the system tells.
fn free_memory() -> u64 {
    let mut system = System::new();
    system.refresh_memory();
    if system.total_memory() == 0 {
        // Unknown.
        return u64::MAX;
    }
    let free = system.available_memory().saturating_add(system.free_swap());
    let limit = system.cgroup_limits().map(|limits| limits.total_memory.saturating_sub(limits.rss));
    limit.map_or(free, |limit| free.min(limit))
}

/// Where records of fewer bytes find no memory, it is not for their length.
const LONG_RECORD: usize = 1 << 20;

/// A record for which there is not enough memory.
#[derive(Debug)]
struct RecordTooLong {
    /// How much of it has been read, perhaps with bytes of the next records.
    length: usize,
}

impl fmt::Display for RecordTooLong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.length < LONG_RECORD {
            return formatter.write_str("not enough memory to read a line");
        }
        let length = HumanCount(self.length as u64);
        write!(
            formatter,
            "not enough memory for a line of about {length} bytes or more: check that keys end as the options say, with a line \
             end or, with --null, a NUL byte, and that quotes of CSV are closed"
        )
    }
}

impl Error for RecordTooLong {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_refused_when_less_is_free_than_it_takes() {
        let mut buffer = vec![0u8; STEP - 1];
        let enough = 2 * STEP as u64;
        assert!(reserve_of(&mut buffer, STEP, || enough).is_ok());
        assert!(reserve_of(&mut buffer, STEP, || enough - 1).is_err());
        assert_eq!(buffer.capacity(), 0);
        // The system is not asked if little is added.
        assert!(reserve_of(&mut vec![0u8; 10], STEP - 11, || 0).is_ok());
        // Items count by their size.
        assert!(reserve_of(&mut vec![0u64; 10], STEP / 8 - 11, || 0).is_ok());
        assert!(reserve_of(&mut vec![0u64; 10], STEP / 8 - 10, || 0).is_err());
    }

    #[test]
    fn what_no_memory_holds_is_refused_with_its_length() {
        let length = isize::MAX.unsigned_abs();
        for additional in [length, usize::MAX] {
            let refused = reserve(&mut vec![0; 2], additional).expect_err("more than any memory");
            assert_eq!(refused.kind(), ErrorKind::OutOfMemory);
        }
        let refused = too_long(134_217_727).to_string();
        assert!(refused.starts_with("not enough memory for a line of about 134,217,727 bytes or more: "), "{refused}");
        assert_eq!(too_long(1).to_string(), "not enough memory to read a line");
        assert!(expect_free(&[0; 100], usize::MAX).is_ok());
        assert!(expect_free(&vec![0; LARGE_RECORD], usize::MAX).is_err());
    }

    #[test]
    fn the_system_says_that_memory_is_free() {
        assert!(free_memory() > 0);
    }
}
