use core::ops::Range;

use super::Seconds;
use crate::cast::in_memory;
use crate::contender::{Contender, Limit};
use crate::keys::Keys;

/// The number of keys made at a time, outside of the measured time.
const CHUNK: u64 = 1 << 20;

/// How many keys a filter took, and the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    pub(crate) stored: u64,
    pub(crate) time: Seconds,
}

/// Inserts the keys from number `first` on, up to the limit or the first refusal.
pub(crate) fn fill(contender: &mut dyn Contender, keys: Keys, first: u64, limit: Limit) -> Filled {
    let end = match limit {
        Limit::FirstRefusal => u64::MAX,
        Limit::Keys(count) => first + count,
    };
    let mut filled = Filled { stored: 0, time: Seconds::default() };
    let mut next = first;
    while next < end {
        let chunk = keys.present(next..end.min(next + CHUNK));
        let (time, stored) = Seconds::of(|| contender.insert_all(&chunk));
        filled.time += time;
        filled.stored += stored as u64;
        next += chunk.len() as u64;
        if stored < chunk.len() {
            break;
        }
    }
    filled
}

/// The numbers of a range, a chunk at a time.
pub(super) fn chunks(numbers: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let Range { start, end } = numbers;
    (start..end).step_by(in_memory(CHUNK)).map(move |first| first..end.min(first + CHUNK))
}
