//! Memory from the server, which counts it against its `maxmemory`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::functions::{Functions, if_loaded};

/// The server's allocator; the system's where there is no server, as in tests.
struct ServerMemory;

#[global_allocator]
static MEMORY: ServerMemory = ServerMemory;

/// The bytes that are allocated at the moment.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// The bytes that the module has allocated.
pub(super) fn allocated() -> usize {
    ALLOCATED.load(Ordering::Relaxed)
}

/// What any allocation of a server is aligned to; it has no call for more.
const ALIGNMENT: usize = 16;

/// The allocator that a layout goes to: always the same, since the functions are found before anything is allocated.
fn of_server(layout: Layout) -> Option<&'static Functions> {
    if_loaded().filter(|_| layout.align() <= ALIGNMENT)
}

fn count(is_there: bool, layout: Layout) {
    if is_there {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
    }
}

// SAFETY: each layout goes to one and the same allocator, which keeps what the trait asks for.
unsafe impl GlobalAlloc for ServerMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let memory = match of_server(layout) {
            // SAFETY: any size will do.
            Some(functions) => unsafe { (functions.try_alloc.unwrap_or(functions.alloc))(layout.size()) }.cast(),
            // SAFETY: the caller keeps to the trait.
            None => unsafe { System.alloc(layout) },
        };
        count(!memory.is_null(), layout);
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let memory = match of_server(layout) {
            Some(functions) => {
                let calloc = functions.try_calloc.unwrap_or(functions.calloc);
                // SAFETY: any size will do.
                unsafe { calloc(1, layout.size()) }.cast()
            }
            // SAFETY: the caller keeps to the trait.
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
        let moved = match of_server(layout) {
            Some(functions) => {
                let realloc = functions.try_realloc.unwrap_or(functions.realloc);
                // SAFETY: the memory came from the same server.
                unsafe { realloc(memory.cast(), size) }.cast()
            }
            // SAFETY: the memory came from the system.
            None => unsafe { System.realloc(memory, layout, size) },
        };
        if !moved.is_null() {
            ALLOCATED.fetch_add(size, Ordering::Relaxed);
            ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        moved
    }
}
