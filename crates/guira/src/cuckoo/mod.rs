//! The cuckoo table: Algorithms 1 to 3 of the paper over one addressing and one layout, and the choice between these.

mod cuckoo_table;
mod scheme;
mod walk;

pub(crate) use cuckoo_table::{CuckooTable, NoRoom};
#[cfg(feature = "std")]
pub(crate) use scheme::with_shared_table;
pub(crate) use scheme::{Scheme, with_constants, with_scheme, with_table, with_valued_table};
