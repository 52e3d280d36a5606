//! Memory for records, which may be of any length.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::mem;

use indicatif::HumanCount;
use sysinfo::System;

/// Whenever a buffer has grown by so much, the system is asked whether as much is free once more.
const STEP: usize = 1 << 26;

/// What must be left for everything else, such as the message that there is not enough.
const REST: usize = 1 << 22;

/// Makes room for more bytes in a buffer that holds a record. Where there is not enough memory for them, it fails and frees
/// the buffer.
///
/// Systems that promise more memory than they have would end the program when it uses the memory, so what is free is asked
/// for first.
pub(super) fn reserve(buffer: &mut Vec<u8>, additional: usize) -> io::Result<()> {
    reserve_of(buffer, additional, free_memory)
}

/// Appends bytes to a buffer that holds a record.
pub(super) fn extend(buffer: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    reserve(buffer, bytes.len())?;
    buffer.extend_from_slice(bytes);
    Ok(())
}

fn reserve_of(buffer: &mut Vec<u8>, additional: usize, free_memory: impl FnOnce() -> u64) -> io::Result<()> {
    if buffer.capacity() - buffer.len() >= additional && !crosses_step(buffer, additional) {
        return Ok(());
    }
    let is_free = !crosses_step(buffer, additional) || free_memory() >= (STEP as u64).saturating_add(additional as u64);
    // First twice as much, so that a long record is not copied again and again.
    let mut grow = || buffer.try_reserve(additional).or_else(|_| buffer.try_reserve_exact(additional));
    if is_free && grow().is_ok() && Vec::<u8>::new().try_reserve_exact(REST).is_ok() {
        return Ok(());
    }
    let length = mem::take(buffer).len().saturating_add(additional);
    Err(io::Error::new(ErrorKind::OutOfMemory, RecordTooLong { length }))
}

fn crosses_step(buffer: &[u8], additional: usize) -> bool {
    buffer.len().saturating_add(additional) / STEP > buffer.len() / STEP
}

/// The bytes that this process may still use, as far as the system knows.
fn free_memory() -> u64 {
    let mut system = System::new();
    system.refresh_memory();
    if system.total_memory() == 0 {
        // It is not known.
        return u64::MAX;
    }
    let free = system.available_memory().saturating_add(system.free_swap());
    let limit = system.cgroup_limits().map(|limits| limits.total_memory.saturating_sub(limits.rss));
    limit.map_or(free, |limit| free.min(limit))
}

/// A record for which there is not enough memory.
#[derive(Debug)]
struct RecordTooLong {
    /// What has been read of it, and perhaps of the next ones.
    length: usize,
}

impl fmt::Display for RecordTooLong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        let mut buffer = vec![0; STEP - 1];
        let enough = 2 * STEP as u64;
        assert!(reserve_of(&mut buffer, STEP, || enough).is_ok());
        let refused = reserve_of(&mut buffer, STEP, || enough - 1).expect_err("too little is free");
        assert_eq!(refused.kind(), ErrorKind::OutOfMemory);
        assert!(refused.to_string().starts_with("not enough memory for a line of about 134,217,727 bytes or more: "));
        assert_eq!(buffer.capacity(), 0);
        // Nobody is asked where little is added.
        assert!(reserve_of(&mut vec![0; 10], STEP - 11, || 0).is_ok());
    }

    #[test]
    fn what_no_memory_holds_is_refused() {
        let length = isize::MAX.unsigned_abs();
        for additional in [length, usize::MAX] {
            assert!(reserve_of(&mut vec![0; 2], additional, || u64::MAX).is_err(), "{additional}");
        }
    }

    #[test]
    fn the_system_says_that_memory_is_free() {
        assert!(free_memory() > 0);
    }
}
