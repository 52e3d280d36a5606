//! What is done in another thread.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use crate::memory::Boxed;
use crate::stored::StoredFilter;

/// `pthread_t`, as large as a pointer wherever servers run.
type Thread = usize;

unsafe extern "C" {
    fn pthread_create(
        thread: *mut Thread,
        attributes: *const c_void,
        start: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_detach(thread: Thread) -> c_int;
}

extern "C" fn free_there<T: Send>(value: *mut c_void) -> *mut c_void {
    // SAFETY: the pointer is that of the box below, which nobody else has any more.
    drop(unsafe { Box::from_raw(value.cast::<T>()) });
    null_mut()
}

/// Frees a filter that was replaced: if it is large, in another thread, as the server does with large values.
pub(super) fn free(filter: StoredFilter) {
    /// Giving back less takes no longer than starting a thread.
    const LARGE: u64 = 1 << 20;

    if filter.size() >= LARGE {
        free_elsewhere(filter);
    }
}

/// Frees a value in another thread; without memory for one, here. The standard library's threads end the server where there is no memory.
pub(super) fn free_elsewhere<T: Send>(value: T) {
    let Ok(value) = Boxed::new(value) else { return };
    let value = value.into_raw().as_ptr();
    let mut thread = 0;
    // SAFETY: without attributes, the usual ones; the function takes the pointer that is given.
    let status = unsafe { pthread_create(&raw mut thread, null(), free_there::<T>, value.cast()) };
    if status == 0 {
        // SAFETY: the thread was created, and nobody waits for it.
        unsafe { pthread_detach(thread) };
    } else {
        free_there::<T>(value.cast());
    }
}
