//! The memory of a table.

use core::ops::{Deref, DerefMut};
// The one atomic that is no part of a filter: it needs neither the standard library nor a model.
use core::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "std")]
use alloc::sync::Arc;
use alloc::vec::Vec;

#[cfg(feature = "std")]
use memmap2::MmapMut;
use zerocopy::FromZeros as _;

use crate::cast::to_usize;
use crate::parameters::bytes_for;

/// Whether no memory is to be mapped for large pages. Set once, before any table is made, and never unset.
static GLOBAL_ALLOCATOR_ONLY: AtomicBool = AtomicBool::new(false);

/// From now on, all tables are in memory of the global allocator.
pub(crate) fn use_global_allocator_only() {
    GLOBAL_ALLOCATOR_ONLY.store(true, Ordering::Relaxed);
}

/// No memory for a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutOfMemory;

/// The bytes of a table: its slots, bit after bit, and zeros behind them: see [`bytes_for`].
#[derive(Debug)]
pub(crate) struct Storage(pub(super) Memory);

#[derive(Debug)]
pub(super) enum Memory {
    Heap(Vec<u8>),
    #[cfg(feature = "std")]
    HugePages(MmapMut),
}

impl Storage {
    /// Memory for slots of `bits` bits and the padding behind them, all 0.
    pub(crate) fn zeroed(bits: u64) -> Result<Self, OutOfMemory> {
        Self::zeroed_bytes(usize::try_from(bytes_for(bits)).map_err(|_| OutOfMemory)?)
    }

    /// So many bytes, all 0.
    pub(super) fn zeroed_bytes(size: usize) -> Result<Self, OutOfMemory> {
        #[cfg(feature = "std")]
        if let Some(pages) = huge_pages(size) {
            return Ok(Self(Memory::HugePages(pages)));
        }
        // Memory from the system is 0 already, so its pages are not touched.
        u8::new_vec_zeroed(size).map(|bytes| Self(Memory::Heap(bytes))).map_err(|_| OutOfMemory)
    }

    /// A copy of a table's bytes.
    pub(crate) fn copied_from(table: &[u8]) -> Result<Self, OutOfMemory> {
        #[cfg(feature = "std")]
        if let Some(mut pages) = huge_pages(table.len()) {
            pages.copy_from_slice(table);
            return Ok(Self(Memory::HugePages(pages)));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(table.len()).map_err(|_| OutOfMemory)?;
        bytes.extend_from_slice(table);
        Ok(Self(Memory::Heap(bytes)))
    }

    /// Takes over a table's bytes without copying them.
    pub(crate) const fn from_vec(table: Vec<u8>) -> Self {
        Self(Memory::Heap(table))
    }

    /// The reverse of [`from_vec`](Self::from_vec); large pages are copied.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        match self.0 {
            Memory::Heap(bytes) => bytes,
            #[cfg(feature = "std")]
            Memory::HugePages(pages) => pages.to_vec(),
        }
    }

    /// Gives back the memory behind the first `size` bytes, as far as the system takes it in parts.
    pub(crate) fn truncate(&mut self, size: usize) {
        match &mut self.0 {
            Memory::Heap(bytes) => {
                bytes.truncate(size);
                bytes.shrink_to_fit();
            }
            #[cfg(all(feature = "std", target_os = "linux"))]
            Memory::HugePages(pages) => crate::probe::give_back(pages, size.max(1)),
            #[cfg(all(feature = "std", not(target_os = "linux")))]
            Memory::HugePages(_) => {}
        }
    }

    /// Lets the caller move the bytes elsewhere. Large pages are not moved.
    ///
    /// # Panics
    ///
    /// If more bytes come back, or fewer.
    pub(crate) fn move_bytes(&mut self, elsewhere: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        match &mut self.0 {
            Memory::Heap(bytes) => {
                let size = bytes.len();
                *bytes = elsewhere(core::mem::take(bytes));
                assert_eq!(bytes.len(), size, "a table has as many bytes elsewhere");
            }
            #[cfg(feature = "std")]
            Memory::HugePages(_) => {}
        }
    }
}

/// The bytes of a table that belong to someone else, to be read.
#[derive(Clone, Debug)]
pub(crate) enum Borrowed<'bytes> {
    Slice(&'bytes [u8]),
    /// Part of a file; the caller who mapped it promised that its bytes don't change.
    #[cfg(feature = "mmap")]
    Mapping(Arc<memmap2::Mmap>),
    /// Part of memory that is kept alive as long as it is looked at.
    #[cfg(feature = "std")]
    Owned(Arc<OwnedTable>),
}

/// Anything that holds bytes, for which it is asked once.
#[cfg(feature = "std")]
pub(crate) type Owner = alloc::boxed::Box<dyn AsRef<[u8]> + Send + Sync>;

#[cfg(feature = "std")]
type Slice<'owner> = &'owner [u8];

#[cfg(feature = "std")]
self_cell::self_cell!(
    pub(crate) struct OwnedTable {
        owner: Owner,
        #[covariant]
        dependent: Slice,
    }
);

#[cfg(feature = "std")]
impl core::fmt::Debug for OwnedTable {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("OwnedTable").field("len", &self.borrow_dependent().len()).finish_non_exhaustive()
    }
}

/// Whether all bits from bit `bits` on are 0 (invariant 4).
pub(crate) fn is_zero_from(table: &[u8], bits: u64) -> bool {
    let (whole, partial) = (to_usize(bits / 8), bits % 8);
    table.get(whole..).is_some_and(|rest| {
        rest.iter().enumerate().all(|(index, &byte)| if index == 0 { byte >> partial == 0 } else { byte == 0 })
    })
}

impl Deref for Storage {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Memory::Heap(bytes) => bytes,
            #[cfg(feature = "std")]
            Memory::HugePages(pages) => pages,
        }
    }
}

impl Deref for Borrowed<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Slice(bytes) => bytes,
            #[cfg(feature = "mmap")]
            Self::Mapping(mapping) => mapping,
            #[cfg(feature = "std")]
            Self::Owned(table) => table.borrow_dependent(),
        }
    }
}

impl DerefMut for Storage {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Memory::Heap(bytes) => bytes,
            #[cfg(feature = "std")]
            Memory::HugePages(pages) => pages,
        }
    }
}

/// # Panics
///
/// Where there is no memory for the copy.
impl Clone for Storage {
    fn clone(&self) -> Self {
        // What is left of a large table may be too small for pages of its own.
        Self::copied_from(self).expect("no memory for a copy of the filter")
    }
}

impl PartialEq for Storage {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// A large page. Tables that are smaller have few pages anyway.
#[cfg(feature = "std")]
const LARGE_PAGE: usize = 2 << 20;

/// Memory for a large table, all 0, with pages of 2 MiB, so that a lookup does not wait for address translation as well as for the
/// bucket. `None` where the table is small, the system has no such memory, or the program wants all memory to come from its
/// allocator; ordinary memory then serves as well.
///
/// The system is asked to make pages large wherever 2 MiB are aligned. Linux aligns mappings of this size; aligning them by hand
/// elsewhere would cost every operation an addition and a check, and would gain one large page.
#[cfg(feature = "std")]
pub(super) fn huge_pages(size: usize) -> Option<MmapMut> {
    if size < LARGE_PAGE || GLOBAL_ALLOCATOR_ONLY.load(Ordering::Relaxed) {
        return None;
    }
    let pages = MmapMut::map_anon(size).ok()?;
    #[cfg(target_os = "linux")]
    if pages.advise(memmap2::Advice::HugePage).is_err() {
        // A kernel without huge pages: the mapping is as good as any other memory.
    }
    Some(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "32")]
    fn a_table_beyond_the_address_space_is_refused() {
        assert!(Storage::zeroed(8 << 32).is_err());
    }

    #[test]
    fn padding_is_checked_to_the_bit() {
        let mut storage = Storage::zeroed(11).expect("small");
        storage[1] = 0b0000_0111;
        assert!(is_zero_from(&storage, 11));
        storage[1] = 0b0000_1000;
        assert!(!is_zero_from(&storage, 11));
        storage[1] = 0;
        *storage.last_mut().expect("not empty") = 1;
        assert!(!is_zero_from(&storage, 11));
    }

    #[test]
    fn what_is_left_of_a_truncated_table_is_as_it_was() {
        for size in [1000, 300_000, 11 << 20] {
            let mut storage = Storage::zeroed_bytes(size).expect("small enough");
            for (number, byte) in storage.iter_mut().enumerate() {
                *byte = number.to_le_bytes()[0] ^ number.to_le_bytes()[1];
            }
            let before = storage.to_vec();
            for left in [size - 1, size / 2, size / 3, 7, 0] {
                storage.truncate(left);
                assert!((left..=size).contains(&storage.len()), "{} of {left} bytes are left", storage.len());
                assert!(storage.len() <= left + (2 << 20) && storage[..] == before[..storage.len()]);
                assert!(storage.clone() == storage);
            }
        }
    }

    #[cfg(feature = "std")]
    #[test]
    fn large_tables_are_zeroed_and_copied_as_small_ones_are() {
        for bits in [1000, (32 << 20) - 64, 40 << 20, (40 << 20) + 1, 100 << 20] {
            let mut storage = Storage::zeroed(bits).expect("small enough");
            assert_eq!(storage.len() as u64, bytes_for(bits));
            // A large page, where the system gives memory by pages.
            assert!(storage.len() >= 2 << 20 || !matches!(storage.0, Memory::HugePages(_)), "{bits} bits");
            assert!(storage.iter().all(|&byte| byte == 0));
            *storage.last_mut().expect("not empty") = 7;
            storage[0] = 9;
            let copy = storage.clone();
            assert!(copy == storage && Storage::copied_from(&storage).expect("small enough") == storage);
            storage[0] = 8;
            assert_eq!(copy[0], 9);
        }
    }
}
