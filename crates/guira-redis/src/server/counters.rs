//! What INFO counts since the module was loaded, and events of the latency monitor.

use std::ffi::c_longlong;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::functions::functions;
use super::names;
use crate::cast::signed;
use crate::command::CommandName;
use crate::error::CommandError;
use crate::reply::{Insertion, Reply};

static REFUSED_FOR_MEMORY: AtomicU64 = AtomicU64::new(0);
static REFUSED_FOR_ROOM: AtomicU64 = AtomicU64::new(0);

/// How many commands were refused for lack of memory, with all of their items or some, by the server or by the limit of a filter.
pub(super) fn refused_for_memory() -> u64 {
    REFUSED_FOR_MEMORY.load(Ordering::Relaxed)
}

/// How many items a filter had no room for.
pub(super) fn refused_for_room() -> u64 {
    REFUSED_FOR_ROOM.load(Ordering::Relaxed)
}

#[cold]
pub(super) fn count_refusal(error: &CommandError) {
    let counter = match error {
        CommandError::MemoryLimit { .. } | CommandError::OutOfMemory => &REFUSED_FOR_MEMORY,
        CommandError::Full
        | CommandError::MaximumExpansions
        | CommandError::TooManyCopies { .. }
        | CommandError::Crowded => &REFUSED_FOR_ROOM,
        _ => return,
    };
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Counts the items that were refused, where not the whole command was; of those without memory, the command.
#[inline]
pub(super) fn count_refused_items(reply: &Reply<'_>) {
    let (Reply::Insertions(insertions) | Reply::UniqueInsertions(insertions)) = reply else { return };
    let refused = insertions.iter().filter(|&&insertion| insertion == Insertion::Refused).count();
    if refused > 0 {
        REFUSED_FOR_ROOM.fetch_add(crate::cast::wide(refused), Ordering::Relaxed);
    }
    if insertions.contains(&Insertion::WithoutMemory) {
        REFUSED_FOR_MEMORY.fetch_add(1, Ordering::Relaxed);
    }
}

/// The time that a command takes, if it may take long: those that look at a whole table.
pub(super) struct Stopwatch {
    name: CommandName,
    begin: Instant,
}

impl Stopwatch {
    #[inline]
    pub(super) fn start(name: CommandName) -> Option<Self> {
        let may_take_long = matches!(
            name,
            CommandName::Compact
                | CommandName::LoadChunk
                | CommandName::Merge
                | CommandName::Reserve
                | CommandName::ScanDump
        );
        may_take_long.then(|| Self { name, begin: Instant::now() })
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        let Some(add) = functions().add_latency else { return };
        let milliseconds = u64::try_from(self.begin.elapsed().as_millis()).map_or(c_longlong::MAX, signed);
        // Redis 7.0 keeps it where the threshold is 0 too, which it is unless the monitor is used.
        if milliseconds == 0 {
            return;
        }
        // SAFETY: the name ends with 0, and is copied. The server keeps what is above its latency-monitor-threshold.
        unsafe { add(names::of(self.name).as_ptr(), milliseconds) };
    }
}
