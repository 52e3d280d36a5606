//! Atomics, locks and fences: those of the standard library, or in models of concurrency loom's, which run every order
//! that threads may see.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{Ordering, fence},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering, fence},
};

/// Loom's atomic, with every order of loads and writes. Loom remembers only the last access to an atomic, so it skips an
/// order of one thread's load and another's write if the writer has loaded in between. Here each access begins with a
/// write that changes and orders nothing, which loom never skips.
#[cfg(loom)]
#[derive(Debug)]
pub(crate) struct AtomicU64 {
    value: loom::sync::atomic::AtomicU64,
    turn: loom::sync::atomic::AtomicU64,
}

#[cfg(loom)]
impl AtomicU64 {
    pub(crate) fn new(value: u64) -> Self {
        Self { value: loom::sync::atomic::AtomicU64::new(value), turn: loom::sync::atomic::AtomicU64::new(0) }
    }

    fn in_turn(&self) -> &loom::sync::atomic::AtomicU64 {
        self.turn.fetch_add(0, Ordering::Relaxed);
        &self.value
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.in_turn().load(order)
    }

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.in_turn().store(value, order);
    }

    pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.in_turn().fetch_add(value, order)
    }

    pub(crate) fn fetch_xor(&self, value: u64, order: Ordering) -> u64 {
        self.in_turn().fetch_xor(value, order)
    }

    pub(crate) fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.in_turn().compare_exchange_weak(current, new, success, failure)
    }
}

/// A number that threads only count with, or that locks order: models need not run every order of its changes.
pub(crate) type Count = core::sync::atomic::AtomicU64;

/// A value that is replaced while others use it; the old one is dropped when the last of them is done with it. A load
/// that happens after a replacement gets the new one.
#[cfg(not(loom))]
pub(crate) struct Replaceable<T>(arc_swap::ArcSwap<T>);

#[cfg(not(loom))]
impl<T> Replaceable<T> {
    pub(crate) fn new(first: T) -> Self {
        Self(arc_swap::ArcSwap::from_pointee(first))
    }

    #[inline]
    pub(crate) fn load(&self) -> arc_swap::Guard<Arc<T>> {
        self.0.load()
    }

    pub(crate) fn replace(&self, next: Arc<T>) {
        self.0.store(next);
    }

    pub(crate) fn into_current(self) -> T {
        Arc::try_unwrap(self.0.into_inner()).ok().expect("whoever has it all has lent it to nobody")
    }
}

/// A stand-in for loom, which can't look into `arc_swap`: that crate is taken to be right.
#[cfg(loom)]
pub(crate) struct Replaceable<T>(Mutex<Arc<T>>);

#[cfg(loom)]
impl<T> Replaceable<T> {
    pub(crate) fn new(first: T) -> Self {
        Self(Mutex::new(Arc::new(first)))
    }

    pub(crate) fn load(&self) -> Arc<T> {
        Arc::clone(&self.0.lock().expect("nobody panics with it"))
    }

    pub(crate) fn replace(&self, next: Arc<T>) {
        *self.0.lock().expect("nobody panics with it") = next;
    }

    pub(crate) fn into_current(self) -> T {
        let current = self.0.into_inner().expect("nobody panics with it");
        Arc::try_unwrap(current).ok().expect("whoever has it all has lent it to nobody")
    }
}

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
