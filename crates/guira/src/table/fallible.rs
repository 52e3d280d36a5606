//! Memory for small values that the standard library has no fallible way to take.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::OutOfMemory;

/// What is in memory for an `Arc` of a value: it and two counters.
pub(crate) type Counted<T> = (usize, usize, T);

/// Allocates memory for a value and frees it, so that a lack of memory is reported here and not by the allocation that follows.
pub(crate) fn ask_for<T>() -> Result<(), OutOfMemory> {
    let mut memory = Vec::<T>::new();
    memory.try_reserve_exact(1).map_err(|_| OutOfMemory)?;
    // The compiler leaves out a call whose memory is not used.
    core::hint::black_box(&mut memory);
    Ok(())
}

/// Puts a value into a box.
pub(crate) fn try_box<T>(value: T) -> Result<Box<T>, OutOfMemory> {
    ask_for::<T>()?;
    Ok(Box::new(value))
}

/// Puts a value into an `Arc`.
pub(crate) fn try_arc<T>(value: T) -> Result<Arc<T>, OutOfMemory> {
    ask_for::<Counted<T>>()?;
    Ok(Arc::new(value))
}

/// Collects items whose number is known.
#[cfg(feature = "concurrent")]
pub(crate) fn try_collect<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let mut collected = Vec::new();
    collected.try_reserve_exact(items.len()).map_err(|_| OutOfMemory)?;
    collected.extend(items);
    Ok(collected)
}
