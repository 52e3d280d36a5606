//! The type of the module's values, and what the server does with them by itself: save, load, copy, compare and free them.

use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::context::Context;
use super::functions::{RawDefrag, RawDigest, RawStream, RawString, RawType, functions};
use super::names;
use crate::c_text::CText;
use crate::cast::{in_memory, signed};
use crate::command::CommandName;
use crate::error::CommandError;
use crate::memory::Boxed;
use crate::settings::Limits;
use crate::stored::{Incoming, StoredFilter};

/// `RedisModuleTypeMethods`, version 4, as in Redis 7.0.
#[repr(C)]
struct Methods {
    version: u64,
    load: unsafe extern "C" fn(*mut RawStream, c_int) -> *mut c_void,
    save: unsafe extern "C" fn(*mut RawStream, *mut c_void),
    rewrite: unsafe extern "C" fn(*mut RawStream, *mut RawString, *mut c_void),
    memory: unsafe extern "C" fn(*const c_void) -> usize,
    digest: unsafe extern "C" fn(*mut RawDigest, *mut c_void),
    free: unsafe extern "C" fn(*mut c_void),
    load_beside: *const c_void,
    save_beside: *const c_void,
    save_beside_when: c_int,
    effort_to_free: unsafe extern "C" fn(*mut RawString, *const c_void) -> usize,
    unlink: *const c_void,
    copy: unsafe extern "C" fn(*mut RawString, *mut RawString, *const c_void) -> *mut c_void,
    defragment: unsafe extern "C" fn(*mut RawDefrag, *mut RawString, *mut *mut c_void) -> c_int,
    later: [*const c_void; 4],
}

const METHODS_VERSION: u64 = 4;

/// The server requires nine characters.
const NAME: &std::ffi::CStr = c"guira-flt";

/// The version of the saved form. Version 1 consists of a number (0 for a whole filter, 1 for a partly loaded one), the header
/// of the filter's dump with the secret key, the chunks of the dump, and an empty string.
const ENCODING: c_int = 1;

const WHOLE: u64 = 0;
const PART: u64 = 1;

static TYPE: AtomicPtr<RawType> = AtomicPtr::new(null_mut());

/// How many values there are.
static VALUES: AtomicUsize = AtomicUsize::new(0);

/// The module's type.
pub(super) fn get() -> *mut RawType {
    TYPE.load(Ordering::Relaxed)
}

/// How many values there are.
pub(super) fn count() -> usize {
    VALUES.load(Ordering::Relaxed)
}

/// Registers the type. Returns `true` if the server accepted it.
pub(super) fn register(context: Context) -> bool {
    let methods = Methods {
        version: METHODS_VERSION,
        load,
        save,
        rewrite,
        memory,
        digest,
        free,
        load_beside: null_mut(),
        save_beside: null_mut(),
        save_beside_when: 0,
        effort_to_free,
        unlink: null_mut(),
        copy,
        defragment,
        later: [null_mut(); 4],
    };
    let methods: *const Methods = &raw const methods;
    // SAFETY: name and methods are copied, and the methods are of the size for their version.
    let made = unsafe { (functions().create_data_type)(context.0, NAME.as_ptr(), ENCODING, methods.cast()) };
    TYPE.store(made, Ordering::Relaxed);
    !made.is_null()
}

/// Gives a filter to the server.
///
/// # Errors
///
/// [`CommandError::OutOfMemory`].
pub(super) fn into_value(filter: StoredFilter) -> Result<NonNull<StoredFilter>, CommandError> {
    let value = Boxed::new(filter)?;
    VALUES.fetch_add(1, Ordering::Relaxed);
    Ok(value.into_raw())
}

/// The filter behind the server's pointer.
///
/// # Safety
///
/// The pointer is one that [`into_value`] returned, and nothing changes the filter meanwhile.
unsafe fn filter<'value>(value: *const c_void) -> &'value StoredFilter {
    // SAFETY: as this function requires of its caller.
    unsafe { &*value.cast::<StoredFilter>() }
}

unsafe extern "C" fn load(stream: *mut RawStream, encoding: c_int) -> *mut c_void {
    if encoding != ENCODING {
        return null_mut();
    }
    match load_filter(Stream(stream)).and_then(into_value) {
        Ok(value) => value.as_ptr().cast(),
        Err(error) => {
            // The server says no more than that the module could not load it.
            Stream(stream).log(&error);
            null_mut()
        }
    }
}

fn load_filter(stream: Stream) -> Result<StoredFilter, CommandError> {
    let state = stream.number()?;
    // No limit: filters on disk or from a primary were accepted already, and memory is taken only for bytes that have come.
    let mut incoming = Incoming::new(stream.bytes()?.get(), None, Limits::Lifted)?;
    loop {
        let chunk = stream.bytes()?;
        if chunk.get().is_empty() {
            break;
        }
        let position = incoming.position().saturating_add(crate::cast::wide(chunk.get().len()));
        incoming.take(position, chunk.get())?;
    }
    match state {
        WHOLE => incoming.finish(),
        PART if !incoming.is_whole() => Ok(StoredFilter::Incoming(incoming)),
        _ => Err(CommandError::InvalidChunk),
    }
}

unsafe extern "C" fn save(stream: *mut RawStream, value: *mut c_void) {
    // SAFETY: the server gives a value of this type, and runs no command meanwhile, or calls this in a forked process.
    let filter = unsafe { filter(value) };
    let stream = Stream(stream);
    stream.save_number(if filter.is_incoming() { PART } else { WHOLE });
    filter.save(|_, bytes| stream.save_bytes(bytes));
    stream.save_bytes(&[]);
}

unsafe extern "C" fn rewrite(stream: *mut RawStream, key: *mut RawString, value: *mut c_void) {
    // SAFETY: the server gives a value of this type, and runs no command meanwhile, or calls this in a forked process.
    let filter = unsafe { filter(value) };
    filter.save(|position, bytes| {
        let (position, start) = (signed(position), bytes.as_ptr().cast::<c_char>());
        // SAFETY: the format takes a string of the server, a number, and bytes with their length.
        unsafe {
            (functions().emit_command)(
                stream,
                names::of(CommandName::LoadChunk).as_ptr(),
                c"slb".as_ptr(),
                key,
                position,
                start,
                bytes.len(),
            );
        }
    });
}

unsafe extern "C" fn memory(value: *const c_void) -> usize {
    // SAFETY: the server gives a value of this type.
    let filter = unsafe { filter(value) };
    let own = allocated(value.cast(), size_of::<StoredFilter>());
    filter.allocations().map(|(start, size)| allocated(start, size)).fold(own, usize::saturating_add)
}

/// The bytes that an allocation takes, by the server's allocator if that can tell.
fn allocated(start: *const u8, size: usize) -> usize {
    match functions().malloc_size {
        // SAFETY: the pointer is the start of an allocation of the server's allocator, from which all tables are.
        Some(malloc_size) if size > 0 => unsafe { malloc_size(start.cast_mut().cast()) },
        _ => size,
    }
}

unsafe extern "C" fn digest(digest: *mut RawDigest, value: *mut c_void) {
    // SAFETY: the server gives a value of this type, and runs no command meanwhile, or calls this in a forked process.
    let filter = unsafe { filter(value) };
    // SAFETY: pointer and length are those of the slice.
    let add = |bytes: &[u8]| unsafe { (functions().digest_bytes)(digest, bytes.as_ptr().cast(), bytes.len()) };
    filter.sum_up(add);
    // SAFETY: the digest is that of the present call.
    unsafe { (functions().digest_end)(digest) };
}

/// The server calls this from other threads too, for large values.
unsafe extern "C" fn free(value: *mut c_void) {
    VALUES.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: `into_value` made the pointer from a box, and the server frees it once.
    drop(unsafe { Box::from_raw(value.cast::<StoredFilter>()) });
}

unsafe extern "C" fn effort_to_free(_key: *mut RawString, value: *const c_void) -> usize {
    // SAFETY: the server gives a value of this type.
    let filter = unsafe { filter(value) };
    // One per page. The server frees values with more than 64 in another thread.
    1 + in_memory(filter.size() / 4096)
}

unsafe extern "C" fn copy(_from: *mut RawString, _to: *mut RawString, value: *const c_void) -> *mut c_void {
    // SAFETY: the server gives a value of this type.
    let filter = unsafe { filter(value) };
    // Without memory the server answers with an error.
    filter.try_clone().and_then(into_value).map_or(null_mut(), |copy| copy.as_ptr().cast())
}

unsafe extern "C" fn defragment(server: *mut RawDefrag, _key: *mut RawString, value: *mut *mut c_void) -> c_int {
    // SAFETY: the server gives a pointer to its pointer to a value of this type.
    let old = unsafe { *value };
    // SAFETY: a filter may be moved byte by byte, and only the server has a pointer to it.
    let moved = unsafe { if_in_the_way(server, old) };
    if let Some(moved) = moved {
        // SAFETY: the pointer is the server's, as before.
        unsafe { *value = moved.as_ptr() };
    }
    let place = moved.map_or(old, NonNull::as_ptr).cast::<StoredFilter>();
    // SAFETY: the pointer is to the filter, and there is no other reference to it.
    let filter = unsafe { &mut *place };
    // A large table has pages of its own, which the server leaves where they are.
    filter.move_tables(|table| out_of_the_way(server, table));
    0
}

/// How many allocations active defragmentation has moved.
static MOVED: AtomicUsize = AtomicUsize::new(0);

pub(super) fn moved() -> usize {
    MOVED.load(Ordering::Relaxed)
}

/// Lets the server move an allocation if that reduces fragmentation. Returns the new address if it did; the old memory is
/// freed then.
///
/// # Safety
///
/// The memory is an allocation of the module, and its owner uses the new address.
unsafe fn if_in_the_way(server: *mut RawDefrag, memory: *mut c_void) -> Option<NonNull<c_void>> {
    // SAFETY: the module allocates from the server's allocator, so the server knows the memory.
    let moved = NonNull::new(unsafe { (functions().move_memory)(server, memory) })?;
    MOVED.fetch_add(1, Ordering::Relaxed);
    Some(moved)
}

/// Moves the bytes if that reduces fragmentation.
fn out_of_the_way(server: *mut RawDefrag, bytes: Vec<u8>) -> Vec<u8> {
    let mut bytes = ManuallyDrop::new(bytes);
    let (start, length, capacity) = (bytes.as_mut_ptr(), bytes.len(), bytes.capacity());
    if capacity == 0 {
        return Vec::new();
    }
    // SAFETY: the vector that owned the memory is not used again.
    let moved = unsafe { if_in_the_way(server, start.cast()) };
    let start = moved.map_or(start, |moved| moved.as_ptr().cast());
    // SAFETY: the memory is that of the vector, or a copy of the same size from the same allocator.
    unsafe { Vec::from_raw_parts(start, length, capacity) }
}

/// What the server saves to, or loads from.
#[derive(Clone, Copy)]
struct Stream(*mut RawStream);

impl Stream {
    fn save_number(self, number: u64) {
        // SAFETY: the stream is that of the present call.
        unsafe { (functions().save_number)(self.0, number) }
    }

    fn save_bytes(self, bytes: &[u8]) {
        // SAFETY: pointer and length are those of the slice.
        unsafe { (functions().save_bytes)(self.0, bytes.as_ptr().cast(), bytes.len()) }
    }

    fn is_broken(self) -> bool {
        // SAFETY: the stream is that of the present call.
        unsafe { (functions().is_stream_broken)(self.0) != 0 }
    }

    /// Says why a filter is not loaded.
    fn log(self, error: &CommandError) {
        let text = CText::of(error);
        // SAFETY: both formats and texts end with 0, and the format takes one text.
        unsafe { (functions().log_stream)(self.0, c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr()) }
    }

    fn number(self) -> Result<u64, CommandError> {
        // SAFETY: the stream is that of the present call.
        let number = unsafe { (functions().load_number)(self.0) };
        if self.is_broken() { Err(CommandError::InvalidChunk) } else { Ok(number) }
    }

    fn bytes(self) -> Result<Buffer, CommandError> {
        let mut length = 0;
        // SAFETY: the stream is that of the present call; the module must free the bytes.
        let start = unsafe { (functions().load_bytes)(self.0, &raw mut length) };
        let bytes = NonNull::new(start).map(|start| Buffer { start, length }).filter(|_| !self.is_broken());
        bytes.ok_or(CommandError::InvalidChunk)
    }
}

/// Bytes that the server has allocated.
struct Buffer {
    start: NonNull<c_char>,
    length: usize,
}

impl Buffer {
    fn get(&self) -> &[u8] {
        // SAFETY: the server gave start and length, and the bytes are freed only by `drop`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.length) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the server allocated it for the module to free.
        unsafe { (functions().free)(self.start.as_ptr().cast()) }
    }
}
