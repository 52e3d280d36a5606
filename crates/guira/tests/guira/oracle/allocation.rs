//! An allocator that counts, thread by thread, since tests run side by side.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

pub(crate) struct Counting;

/// The result, and the most bytes that were allocated at a time on the way, beyond those that were before.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get() - before)
}

fn grow(bytes: usize) {
    // What another thread allocated may be freed here, so the count may fall below zero; it wraps, and comes back.
    let live = LIVE.get().wrapping_add(bytes);
    LIVE.set(live);
    if live.wrapping_sub(PEAK.get()).cast_signed() > 0 {
        PEAK.set(live);
    }
}

fn shrink(bytes: usize) {
    LIVE.set(LIVE.get().wrapping_sub(bytes));
}

#[expect(unsafe_code, reason = "an allocator can't be written without")]
// SAFETY: every call goes to the system's allocator as it came, and its result is handed back as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps to what `alloc` asks of it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps to what `alloc_zeroed` asks of it.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        shrink(layout.size());
        grow(new_size);
        // SAFETY: the caller keeps to what `realloc` asks of it.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: the caller keeps to what `dealloc` asks of it.
        unsafe { System.dealloc(pointer, layout) }
    }
}
