//! Pages that are given back to the system.

use memmap2::{MmapMut, RemapOptions};

/// Gives back the pages behind the first `size` bytes of memory, where the system can.
#[expect(unsafe_code, reason = "a mapping must not become larger than what is behind it, which here it does not")]
pub(crate) fn give_back(memory: &mut MmapMut, size: usize) {
    if size >= memory.len() {
        return;
    }
    // SAFETY: the mapping is of no file, becomes smaller in place, and is borrowed by nobody else.
    if unsafe { memory.remap(size, RemapOptions::new().may_move(false)) }.is_err() {
        // The pages are kept until the whole mapping is given back.
    }
}
