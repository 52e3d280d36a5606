//! Many keys at a time: lookups, insertions and removals that wait for memory together, and the bulk build, which hardly
//! waits at all.

mod bulk;
mod each;
mod partition;
mod ring;

#[cfg(feature = "std")]
pub(crate) use each::{Awaited, OWN_CACHE};
#[cfg(feature = "std")]
pub(crate) use ring::pipeline;
