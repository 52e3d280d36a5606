//! Memory's end: where there is no more, the program ends in order. Neither lists nor capacities have a limit, and nearly all code
//! that allocates, here and in other crates, has no way to report that it could not.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::{Cell, UnsafeCell};
use std::io::{self, Write};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::exit_status::ExitStatus;

/// An allocator that ends the program where another one has no memory: it says how much was missing, removes temporary files, and
/// the exit status is 2.
///
/// Small allocations then come from a reserve, so that the work comes to a point where the file protocol holds no lock: only that
/// of the first large one ends it, or that for which nothing is left of the reserve.
#[derive(Debug)]
pub struct Ending<A>(pub A);

/// What is taken from the reserve: more than paths and messages take.
const MAX_SMALL: usize = 1 << 12;
const RESERVE_SIZE: usize = 1 << 20;
const RESERVE_ALIGNMENT: usize = 16;

#[repr(align(16))]
struct Reserve(UnsafeCell<[u8; RESERVE_SIZE]>);

#[expect(unsafe_code, reason = "an allocator hands out memory that is shared between threads")]
// SAFETY: each byte is handed out once, by the counter below, and belongs to whoever got it.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve(UnsafeCell::new([0; RESERVE_SIZE]));
/// How much of the reserve was handed out. None of it comes back.
static RESERVE_USED: AtomicUsize = AtomicUsize::new(0);
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread reports itself what it gets no memory for.
    static IS_ASKING: Cell<bool> = const { Cell::new(false) };
    static IS_ENDING_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Calls `ask`, whose allocations are reported as failed where there is no memory, and don't end the program. They must be such
/// that can fail, as `try_reserve`.
pub(crate) fn asking<T>(ask: impl FnOnce() -> T) -> T {
    let was_asking = IS_ASKING.replace(true);
    let answer = ask();
    IS_ASKING.set(was_asking);
    answer
}

#[expect(unsafe_code, reason = "an allocator is")]
// SAFETY: memory is that of the other allocator, or a part of the reserve that nobody else has.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Ending<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises the same of the layout.
        let memory = unsafe { self.0.alloc(layout) };
        if memory.is_null() { instead_of(layout) } else { memory }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises the same of the layout.
        let memory = unsafe { self.0.alloc_zeroed(layout) };
        // The reserve is 0 where it was not handed out.
        if memory.is_null() { instead_of(layout) } else { memory }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size, rounded up to the alignment, is no overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let moved = if is_of_reserve(memory) {
            // SAFETY: the caller promises that the size is not 0.
            unsafe { self.alloc(wanted) }
        } else {
            // SAFETY: this memory is of the other allocator, and the caller promises the rest.
            let moved = unsafe { self.0.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
            instead_of(wanted)
        };
        if !moved.is_null() {
            // SAFETY: both have at least so many bytes, and are different.
            unsafe { ptr::copy_nonoverlapping(memory, moved, layout.size().min(size)) };
            // SAFETY: nobody uses the old memory any more.
            unsafe { self.dealloc(memory, layout) };
        }
        moved
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if !is_of_reserve(memory) {
            // SAFETY: this memory is of the other allocator, and the caller promises the rest.
            unsafe { self.0.dealloc(memory, layout) };
        }
    }
}

fn is_of_reserve(memory: *const u8) -> bool {
    let start = RESERVE.0.get() as usize;
    (start..start + RESERVE_SIZE).contains(&(memory as usize))
}

/// Memory where the other allocator has none: null for those who ask, a part of the reserve if it is small. Otherwise the program
/// ends.
#[cold]
fn instead_of(layout: Layout) -> *mut u8 {
    if IS_ASKING.try_with(Cell::get).unwrap_or(false) {
        return ptr::null_mut();
    }
    if layout.size() <= MAX_SMALL && layout.align() <= RESERVE_ALIGNMENT {
        let size = layout.size().next_multiple_of(RESERVE_ALIGNMENT);
        let taken = RESERVE_USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(size).filter(|&used| used <= RESERVE_SIZE)
        });
        if let Ok(start) = taken {
            return RESERVE.0.get().cast::<u8>().wrapping_add(start);
        }
    }
    end(layout.size())
}

/// Ends the program. Nothing here allocates.
fn end(missing: usize) -> ! {
    if IS_ENDING_HERE.replace(true) {
        // Not even this can be done without memory.
        process::abort();
    }
    while IS_ENDING.swap(true, Ordering::SeqCst) {
        // Another thread is at it.
        thread::sleep(Duration::from_secs(1));
    }
    let mut digits = [0; 32];
    let message = grouped(missing, &mut digits);
    writeln!(io::stderr(), "guira: not enough memory: {message} bytes more were needed").ok();
    #[cfg(unix)]
    guira_files::try_remove_temporary_files();
    process::exit(ExitStatus::Error as i32)
}

/// `16,777,216`
fn grouped(mut number: usize, digits: &mut [u8; 32]) -> &str {
    let mut start = digits.len();
    for place in 0.. {
        if place > 0 && place % 3 == 0 {
            start -= 1;
            digits[start] = b',';
        }
        start -= 1;
        digits[start] = b"0123456789"[number % 10];
        number /= 10;
        if number == 0 {
            break;
        }
    }
    std::str::from_utf8(&digits[start..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that never has any memory.
    struct Empty;

    #[expect(unsafe_code, reason = "an allocator is")]
    // SAFETY: it hands out none.
    unsafe impl GlobalAlloc for Empty {
        unsafe fn alloc(&self, _layout: Layout) -> *mut u8 {
            ptr::null_mut()
        }

        unsafe fn dealloc(&self, _memory: *mut u8, _layout: Layout) {
            unreachable!("it has handed out none")
        }
    }

    #[test]
    fn numbers_are_grouped_without_memory() {
        for (number, expected) in [(0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (16_777_216, "16,777,216")] {
            assert_eq!(grouped(number, &mut [0; 32]), expected);
        }
        assert_eq!(grouped(usize::MAX, &mut [0; 32]).replace(',', ""), usize::MAX.to_string());
    }

    #[test]
    #[expect(
        unsafe_code,
        clippy::multiple_unsafe_ops_per_block,
        reason = "an allocator is, and all of it is about one"
    )]
    fn small_things_come_from_a_reserve_and_keep_their_bytes() {
        let allocator = Ending(Empty);
        let layout = |size| Layout::from_size_align(size, 8).expect("a layout");
        // SAFETY: the layouts are those that the memory was asked for with, and what is written is within.
        unsafe {
            let first = allocator.alloc(layout(24));
            let second = allocator.alloc_zeroed(layout(MAX_SMALL));
            assert!(!first.is_null() && !second.is_null() && (first as usize).is_multiple_of(8));
            assert!((0..MAX_SMALL).all(|at| *second.add(at) == 0));
            first.write_bytes(7, 24);
            let moved = allocator.realloc(first, layout(24), 48);
            assert!((0..24).all(|at| *moved.add(at) == 7) && moved != first);
            allocator.dealloc(moved, layout(48));
            allocator.dealloc(second, layout(MAX_SMALL));
            assert!(asking(|| allocator.alloc(layout(24))).is_null());
        }
    }
}
