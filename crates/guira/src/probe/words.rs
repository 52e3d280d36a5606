//! Words that threads share, in memory that stays where it is.

#![expect(unsafe_code, reason = "whoever owns memory would have to be asked where it is, in every lookup")]

use alloc::vec::Vec;
use core::ops::Deref;
use core::ptr::NonNull;

#[cfg(not(loom))]
use memmap2::MmapMut;
#[cfg(not(loom))]
use zerocopy::FromBytes as _;

use crate::sync::AtomicU64;

/// What owns the memory of words.
pub(crate) enum WordMemory {
    Heap(Vec<AtomicU64>),
    /// Pages of the system, as many bytes as words have.
    #[cfg(not(loom))]
    Pages(MmapMut),
}

/// Words, with their place beside what owns their memory.
///
/// A lookup reads the place before it reads the words, and after an acquiring load the compiler takes it for changed if it is anywhere
/// but here.
pub(crate) struct Words {
    words: NonNull<[AtomicU64]>,
    memory: WordMemory,
}

impl Words {
    pub(crate) fn new(mut memory: WordMemory) -> Self {
        let words = match &mut memory {
            WordMemory::Heap(words) => &mut words[..],
            #[cfg(not(loom))]
            WordMemory::Pages(pages) => match <[AtomicU64]>::mut_from_bytes(pages) {
                Ok(words) => words,
                Err(_) => unreachable!("pages start at a multiple of 8, and have a multiple of 8 bytes"),
            },
        };
        Self { words: NonNull::from(words), memory }
    }

    pub(crate) fn into_memory(self) -> WordMemory {
        self.memory
    }
}

impl Deref for Words {
    type Target = [AtomicU64];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the words are in the memory, which is at the same place when its owner is moved, and is neither freed nor used in
        // another way before this is given up.
        unsafe { self.words.as_ref() }
    }
}

// SAFETY: only its owner gives the memory up, and atomics may be used by any thread.
unsafe impl Send for Words {}

// SAFETY: as above; what is borrowed gives the words alone.
unsafe impl Sync for Words {}
