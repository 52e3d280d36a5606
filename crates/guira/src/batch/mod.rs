//! Many keys at a time: lookups, insertions and removals that wait for memory together, and the bulk build, which hardly
//! waits at all.

mod bulk;
mod each;
mod partition;
mod ring;
