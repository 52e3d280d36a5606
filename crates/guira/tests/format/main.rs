//! Files: that they are the bytes that docs/format.md describes, and that loading trusts none of them.

#[path = "../oracle"]
mod oracle {
    pub(crate) mod allocation;
    pub(crate) mod checksums;
    pub(crate) mod random;
    pub(crate) mod shapes;
    pub(crate) mod specification;
}

mod files;
mod forging;
mod reading;
mod refusing;

use oracle::allocation::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
