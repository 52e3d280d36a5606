//! Many keys at a time: lookups, insertions and removals that wait for memory together, and the bulk build, which hardly
//! waits at all.

mod blocks;
mod bulk;
mod each;
mod partition;
mod tally;

#[cfg(feature = "concurrent")]
pub(crate) use blocks::{Block, change_each, look_up_each, look_up_in_cache};
#[cfg(feature = "concurrent")]
pub(crate) use each::{extend_in_runs, hash_each};
