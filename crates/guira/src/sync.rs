//! Atomics, locks and fences: those of the standard library, or in the models of concurrency loom's, which run every order
//! in which threads may see them.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering, fence},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering, fence},
};

/// A number for each thread, from 0 on.
#[cfg(not(loom))]
#[inline]
pub(crate) fn number_of_this_thread() -> usize {
    use std::sync::atomic::AtomicUsize;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    std::thread_local! {
        // Relaxed: nothing else is learnt from the number.
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// A number for each thread, the same in every run of a model.
#[cfg(loom)]
pub(crate) fn number_of_this_thread() -> usize {
    let id = format!("{:?}", loom::thread::current().id());
    id.bytes().filter(u8::is_ascii_digit).map(usize::from).sum()
}
