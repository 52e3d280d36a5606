//! Waiting for a lock without the interpreter's lock.
//!
//! A thread that forks holds the locks of all tables while functions of others are called, which are written in Python and
//! need the interpreter's lock. A thread that held that one, and waited for a table, would keep both waiting for ever.

use std::cell::Cell;
use std::sync::{LockResult, TryLockError, TryLockResult};

use pyo3::marker::Ungil;
use pyo3::prelude::*;

thread_local! {
    /// Whether this thread is known not to hold the interpreter's lock.
    static IS_DETACHED: Cell<bool> = const { Cell::new(false) };
}

/// The message for a table that a panic may have left inconsistent.
const PANICKED: &str = "an earlier operation on this filter panicked, so it can't be used any more: load it again";

/// Sets what is known of this thread, until it is dropped.
struct Known {
    before: bool,
}

impl Known {
    fn new(is_detached: bool) -> Self {
        Self { before: IS_DETACHED.replace(is_detached) }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        IS_DETACHED.set(self.before);
    }
}

/// Runs a function without the interpreter's lock, in which waiting for tables takes no detour.
pub(crate) fn detached<T: Ungil + Send>(py: Python<'_>, run: impl FnOnce() -> T + Ungil + Send) -> T {
    py.detach(|| {
        let _known = Known::new(true);
        run()
    })
}

/// Runs a function with the interpreter's lock, within [`detached`].
pub(crate) fn attached<T>(run: impl FnOnce(Python<'_>) -> T) -> T {
    Python::attach(|py| {
        let _known = Known::new(false);
        run(py)
    })
}

/// Takes a lock. Where it is taken already, waits for it without the interpreter's lock.
// A guard that is returned from a call goes through memory.
#[inline(always)]
pub(crate) fn lock<G>(attempt: impl Fn() -> TryLockResult<G>, wait: impl Fn() -> LockResult<G> + Sync) -> G {
    match attempt() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(_)) => panic!("{PANICKED}"),
        Err(TryLockError::WouldBlock) => lock_later(attempt, wait),
    }
}

#[cold]
fn lock_later<G>(attempt: impl Fn() -> TryLockResult<G>, wait: impl Fn() -> LockResult<G> + Sync) -> G {
    crate::fork::release_own_locks();
    if IS_DETACHED.get() {
        return wait().expect(PANICKED);
    }
    loop {
        // Whoever holds it may not wait for the interpreter's lock, so it is released before that one is taken again.
        Python::attach(|py| py.detach(|| drop(wait())));
        match attempt() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(_)) => panic!("{PANICKED}"),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}
