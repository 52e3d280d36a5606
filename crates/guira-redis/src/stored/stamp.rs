use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A number that no other filter has, and that this one no longer has once it was changed: by it, work in steps notices that it has
/// to begin anew.
#[derive(Debug)]
pub(crate) struct Stamp(u64);

impl Stamp {
    pub(super) fn new() -> Self {
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) const fn get(&self) -> u64 {
        self.0
    }
}

/// Stamps are no part of what a filter holds.
impl PartialEq for Stamp {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
