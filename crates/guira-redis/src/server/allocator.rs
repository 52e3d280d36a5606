//! Memory from the server, which counts it against its `maxmemory`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::functions::{Functions, if_loaded};

/// The server's allocator; the system's where there is no server, as in tests.
struct ServerMemory;

#[global_allocator]
static MEMORY: ServerMemory = ServerMemory;

/// The number of bytes that the module has allocated.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

pub(super) fn allocated() -> usize {
    ALLOCATED.load(Ordering::Relaxed)
}

/// The alignment of every allocation of the server, which can't be asked for more.
static ALIGNMENT: AtomicUsize = AtomicUsize::new(0);

/// Finds out the alignment, before anything is allocated: 16, or 8 where the C library does not tell the size of an allocation, which the
/// server then keeps in front of each.
pub(super) fn find_alignment(functions: &Functions) {
    const SIZE: usize = 64;
    // SAFETY: every size is valid.
    let memory = unsafe { (functions.try_alloc.unwrap_or(functions.alloc))(SIZE) };
    // Without memory for that, nothing that needs more than 8 is asked for.
    let is_aligned = !memory.is_null() && memory.addr().is_multiple_of(16);
    ALIGNMENT.store(if is_aligned { 16 } else { 8 }, Ordering::Relaxed);
    // SAFETY: the memory came from the server, and nothing may be given back too.
    unsafe { (functions.free)(memory) };
}

/// The server's functions, if they allocate this layout. This never changes for a layout, since the functions are found before
/// anything is allocated.
fn of_server(layout: Layout) -> Option<&'static Functions> {
    if_loaded().filter(|_| layout.align() <= ALIGNMENT.load(Ordering::Relaxed))
}

fn count(is_there: bool, layout: Layout) {
    if is_there {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
    }
}

/// Whether a server has memory of this size, which it is asked for and given back.
///
/// Redis 7.0 has a function that may fail only for memory that need not be zeros, and is new; where the others have none, they end the
/// server. Memory that was given back is there for who asks for as much next.
fn is_there(functions: &Functions, size: usize) -> bool {
    let Some(try_alloc) = functions.try_alloc else { return true };
    // SAFETY: every size is valid.
    let memory = unsafe { try_alloc(size) };
    // SAFETY: the memory came from the same server, and nothing is what may be given back too.
    unsafe { (functions.free)(memory) };
    !memory.is_null()
}

// SAFETY: each layout always goes to one allocator, which fulfils the contract of the trait.
unsafe impl GlobalAlloc for ServerMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let memory = match of_server(layout) {
            // SAFETY: every size is valid.
            Some(functions) => unsafe { (functions.try_alloc.unwrap_or(functions.alloc))(layout.size()) }.cast(),
            // SAFETY: the caller fulfils the contract of the trait.
            None => unsafe { System.alloc(layout) },
        };
        count(!memory.is_null(), layout);
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let memory = match of_server(layout) {
            Some(functions) => match functions.try_calloc {
                // SAFETY: every size is valid.
                Some(try_calloc) => unsafe { try_calloc(1, layout.size()) }.cast(),
                None if !is_there(functions, layout.size()) => null_mut(),
                // SAFETY: every size is valid.
                None => unsafe { (functions.calloc)(1, layout.size()) }.cast(),
            },
            // SAFETY: the caller fulfils the contract of the trait.
            None => unsafe { System.alloc_zeroed(layout) },
        };
        count(!memory.is_null(), layout);
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        match of_server(layout) {
            // SAFETY: the memory came from the same server.
            Some(functions) => unsafe { (functions.free)(memory.cast::<c_void>()) },
            // SAFETY: the memory came from the system.
            None => unsafe { System.dealloc(memory, layout) },
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let moved: *mut u8 = match of_server(layout) {
            Some(functions) => match functions.try_realloc {
                // SAFETY: the memory came from the same server.
                Some(try_realloc) => unsafe { try_realloc(memory.cast(), size) }.cast(),
                None if !is_there(functions, size) => null_mut(),
                // SAFETY: the memory came from the same server.
                None => unsafe { (functions.realloc)(memory.cast(), size) }.cast(),
            },
            // SAFETY: the memory came from the system.
            None => unsafe { System.realloc(memory, layout, size) },
        };
        // Who gives some of it back takes it amiss where that fails, and it is large enough as it is.
        let moved = if moved.is_null() && size <= layout.size() { memory } else { moved };
        if !moved.is_null() {
            ALLOCATED.fetch_add(size, Ordering::Relaxed);
            ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        moved
    }
}
