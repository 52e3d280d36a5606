//! The cuckoo table: Algorithms 1 to 3 of the paper over one addressing and one layout, and the choice between these.

mod blocks;
mod crowd;
mod cuckoo_table;
mod doubling;
mod living;
mod operations;
mod planned;
mod scheme;
mod walk;

pub(crate) use blocks::{BLOCK, LocatedBlock};
pub(crate) use crowd::Crowd;
pub(crate) use cuckoo_table::{CuckooTable, NoRoom, Repeated};
pub(crate) use doubling::{Splitting, SplittingTables, with_splitting};
pub(crate) use living::{Filled, LivingOperations};
#[cfg(feature = "concurrent")]
pub(crate) use operations::{ForDoubling, for_doubling};
#[cfg(feature = "concurrent")]
pub(crate) use planned::{Change, Found, Look};
#[cfg(feature = "concurrent")]
pub(crate) use scheme::PairOf;
pub(crate) use scheme::{Pair, Scheme, with_table};
