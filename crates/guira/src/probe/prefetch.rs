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

/// Prefetches cache lines that are going to be written. They come without leaving a copy in another processor's cache,
/// which the write would have to wait for.
///
/// Not for lookups: it would take the lines from others who read them.
#[cfg(feature = "concurrent")]
#[derive(Clone, Copy)]
pub(crate) struct PrefetchToWrite {
    #[cfg(target_arch = "x86_64")]
    has_instruction: bool,
}

#[cfg(feature = "concurrent")]
impl PrefetchToWrite {
    /// Asks the processor whether it has the instruction, once for many lines.
    pub(crate) fn of_this_processor() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            has_instruction: x86_64::has_prefetchw(),
        }
    }

    /// Fetches the cache line that holds the first byte of `items[at]`, without waiting for it.
    #[inline]
    #[cfg_attr(
        target_arch = "x86_64",
        expect(
            unsafe_code,
            reason = "the standard library's hint becomes this instruction only where it is compiled for it"
        )
    )]
    pub(crate) fn fetch<T>(self, items: &[T], at: usize) {
        #[cfg(target_arch = "x86_64")]
        if self.has_instruction {
            let place = items.as_ptr().wrapping_add(at).addr();
            // SAFETY: the processor has the instruction, which changes nothing that the program can see and faults on no
            // address.
            unsafe { core::arch::asm!("prefetchw [{}]", in(reg) place, options(nomem, nostack, preserves_flags)) };
            return;
        }
        prefetch(items, at);
    }
}

#[cfg(all(feature = "concurrent", target_arch = "x86_64"))]
mod x86_64 {
    use core::arch::x86_64::__cpuid;
    use std::sync::OnceLock;

    /// Whether the processor prefetches to write, as AMD's always did and Intel's do since 2014; on older ones the
    /// instruction does nothing.
    pub(super) fn has_prefetchw() -> bool {
        // In virtual machines `cpuid` takes a microsecond or more.
        static KNOWN: OnceLock<bool> = OnceLock::new();
        *KNOWN.get_or_init(ask)
    }

    #[expect(unsafe_code, reason = "the standard library has no name for this feature")]
    #[allow(unused_unsafe, reason = "newer compilers take the instruction to be safe")]
    fn ask() -> bool {
        // SAFETY: every x86-64 processor has the instruction, and this leaf, which also says that it has 64 bits.
        unsafe { __cpuid(0x8000_0001) }.ecx & (1 << 8) != 0
    }
}
