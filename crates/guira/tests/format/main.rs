//! Files: that they are the bytes that docs/format.md describes, and that loading trusts none of them.

#[path = "../oracle"]
mod oracle {
    pub(crate) mod allocation;
    pub(crate) mod checksums;
    pub(crate) mod random;
    pub(crate) mod shapes;
    pub(crate) mod slots;
    pub(crate) mod specification;
}

mod file_header;
mod files;
mod forging;
#[cfg(feature = "mmap")]
mod mapped;
mod reading;
mod refusing;
mod section;
#[cfg(feature = "serde")]
mod serialization;
mod view;

use oracle::allocation::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
