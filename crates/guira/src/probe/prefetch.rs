//! Asking the processor for a cache line before it is needed.

/// Fetches the cache line that holds the first byte of `items[at]` into all cache levels, without waiting for it.
///
/// Only a hint: a position outside the slice does no harm, and a processor without such an instruction does nothing.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "the prefetch instruction has no safe form in the standard library")
)]
pub(crate) fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = items.as_ptr().wrapping_add(at);
        // SAFETY: SSE, which holds the instruction, is part of every x86-64 processor. A prefetch reads nothing that
        // the program can see and faults on no address, so it does not matter whether this one is inside the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}
