//! Copies of a table's words, as they are at one moment, that are made while others go on writing them.
//!
//! Words are copied in segments. From that moment on, whoever wants to write a word sees to it first that its segment is copied,
//! and copies it where nobody has. So a segment is copied before anything in it changes, and whoever writes waits for as long as
//! that takes at most, once for each segment.

use alloc::boxed::Box;
use std::sync::PoisonError;

use super::fallible::{Counted, ask_for, try_collect};
use super::{OutOfMemory, Storage, Words};
use crate::cast::to_usize;
use crate::sync::{Arc, AtomicU64, Mutex, Ordering};

/// The words of a segment: 8 KiB, which take a microsecond or two.
const SEGMENT_WORDS: usize = if cfg!(loom) { 1 } else { 1 << 10 };

/// The words of a page of memory: 4 KiB.
const PAGE_WORDS: usize = 1 << 9;

/// A copy of a table's words that is being made.
pub(crate) struct Copying {
    copy: Words,
    segments: Box<[Segment]>,
}

struct Segment {
    /// 1 once it is copied, or if it need not be.
    is_copied: AtomicU64,
    /// Whoever copies it.
    turn: Mutex<()>,
}

/// What is being copied of a table, and while that is being doubled, of the table that it is split into.
#[derive(Clone)]
pub(crate) struct Copies {
    pub(crate) table: Arc<Copying>,
    /// `None` if the doubling began after the moment of the copy.
    pub(crate) next: Option<Arc<Copying>>,
}

impl Copies {
    /// Of a table that is not being doubled.
    pub(crate) fn of_table(table: &Arc<Copying>) -> Self {
        Self { table: Arc::clone(table), next: None }
    }
}

impl Copying {
    /// Memory for a copy of some words. The moment of which it will be is one at which nobody writes, before anybody who writes
    /// has it.
    pub(crate) fn of(words: &[AtomicU64]) -> Result<Arc<Self>, OutOfMemory> {
        let copy = Words::zeroed_bytes(size_of_val(words))?;
        let segment = |_| Segment { is_copied: AtomicU64::new(0), turn: Mutex::new(()) };
        let segments = try_collect((0..words.len().div_ceil(SEGMENT_WORDS)).map(segment))?.into_boxed_slice();
        ask_for::<Counted<Self>>()?;
        // So that the system provides the pages now, and whoever writes need not wait for that.
        for word in copy.iter().step_by(PAGE_WORDS) {
            word.store(0, Ordering::Relaxed);
        }
        Ok(Arc::new(Self { copy, segments }))
    }

    /// Leaves out what is before bit `first` or from bit `end` on, as long as nobody writes; it is 0 in the copy, or as it is now.
    pub(crate) fn restrict(&self, words: &[AtomicU64], first: u64, end: u64) {
        let segment_bits = 64 * SEGMENT_WORDS as u64;
        for (number, segment) in (0_u64..).zip(&self.segments) {
            let (from, to) = (number * segment_bits, (number + 1) * segment_bits);
            if to <= first || end <= from {
                // Relaxed: the locks of those who write come between.
                segment.is_copied.store(1, Ordering::Relaxed);
            } else if from < first || end < to {
                self.copy(words, to_usize(number));
            }
        }
    }

    /// Copies the segments with words of these numbers, unless they are copied, before one of these words is written.
    pub(crate) fn keep(&self, words: &[AtomicU64], first: usize, last: usize) {
        (first / SEGMENT_WORDS..=last / SEGMENT_WORDS).for_each(|number| self.copy(words, number));
    }

    /// Copies all segments that are not copied.
    pub(crate) fn finish(&self, words: &[AtomicU64]) {
        (0..self.segments.len()).for_each(|number| self.copy(words, number));
    }

    /// Acquire and release: the copy is read before anything that is written by those who find the segment copied.
    fn copy(&self, words: &[AtomicU64], number: usize) {
        let segment = &self.segments[number];
        if segment.is_copied.load(Ordering::Acquire) != 0 {
            return;
        }
        let _turn = segment.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if segment.is_copied.load(Ordering::Relaxed) != 0 {
            return;
        }
        let first = number * SEGMENT_WORDS;
        let end = words.len().min(first + SEGMENT_WORDS);
        for (to, from) in self.copy[first..end].iter().zip(&words[first..end]) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        segment.is_copied.store(1, Ordering::Release);
    }

    /// The copy, once it is made and nobody else has it any more. A large one is not copied again.
    pub(crate) fn into_storage(copying: Arc<Self>) -> Result<Storage, OutOfMemory> {
        Arc::try_unwrap(copying).ok().expect("whoever writes was told that the copy is made").copy.try_into_storage()
    }
}
