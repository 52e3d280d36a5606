use std::ffi::{CStr, c_int, c_long};
use std::fmt::Display;

use super::functions::{RawContext, RawString, functions, is_valkey};
use crate::c_text::CText;
use crate::error::CommandError;
use crate::reply::{Frames, Protocol};

/// The server, during one call.
#[derive(Clone, Copy)]
pub(super) struct Context(pub(super) *mut RawContext);

// REDISMODULE_CTX_FLAGS_*
const SCRIPT: c_int = 1;
const TRANSACTION: c_int = 1 << 1;
const READ_ONLY: c_int = 1 << 4;
const CLUSTER: c_int = 1 << 5;
const NEVER_BLOCKED: c_int = 1 << 21;
const REPLICATED: c_int = 1 << 12;
const LOADING: c_int = 1 << 13;
const RESP3: c_int = 1 << 22;
const ASYNC_LOADING: c_int = 1 << 23;
// VALKEYMODULE_CTX_FLAGS_SLOT_IMPORT_CLIENT; in Redis this bit means something else.
const SLOT_IMPORT: c_int = 1 << 25;

// REDISMODULE_NOTIFY_MODULE: `d` in notify-keyspace-events, and in its `A`.
const MODULE_EVENT: c_int = 1 << 13;

impl Context {
    /// Returns `true` if the command comes from the primary, from a file on disk or from the node that a slot is moved from, and
    /// so can't be refused.
    pub(super) fn must_obey(self) -> bool {
        let obeyed = if is_valkey() { REPLICATED | LOADING | SLOT_IMPORT } else { REPLICATED | LOADING };
        self.flags() & obeyed != 0
    }

    /// Returns `true` if the client may wait for its reply, while other clients are served: no script or transaction does, and while a
    /// replica loads another set of data, nothing but clients' commands is done.
    pub(super) fn may_wait(self) -> bool {
        !self.must_obey() && self.flags() & (SCRIPT | TRANSACTION | NEVER_BLOCKED | ASYNC_LOADING) == 0
    }

    /// Returns `true` if the server is a replica that takes no changes from clients.
    pub(super) fn is_read_only(self) -> bool {
        self.flags() & READ_ONLY != 0
    }

    /// Returns `true` if the server is a node of a cluster.
    pub(super) fn is_in_cluster(self) -> bool {
        self.flags() & CLUSTER != 0
    }

    /// Returns `true` if the command comes from a file on disk. While a replica loads beside what it serves, commands come from clients.
    pub(super) fn is_loading(self) -> bool {
        self.flags() & (LOADING | ASYNC_LOADING) == LOADING
    }

    /// Hides an argument from the slow log and MONITOR.
    pub(super) fn redact(self, argument: usize) {
        if let (Some(redact), Ok(argument)) = (functions().redact_argument, c_int::try_from(argument)) {
            // SAFETY: the context is that of the present call; the server checks the number.
            unsafe { redact(self.0, argument) };
        }
    }

    fn flags(self) -> c_int {
        // SAFETY: the context is that of the present call.
        unsafe { (functions().context_flags)(self.0) }
    }

    /// Writes a warning to the server's log.
    pub(super) fn warn(self, text: &impl Display) {
        let text = CText::of(text);
        // SAFETY: both formats and texts end with 0, and the format takes one text.
        unsafe { (functions().log)(self.0, c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr()) }
    }

    /// Sends an error.
    pub(super) fn refuse(self, error: &impl Display) -> c_int {
        let text = CText::of(error);
        // SAFETY: the text ends with 0, and is copied.
        unsafe { (functions().reply_error)(self.0, text.as_ptr()) }
    }

    /// Replicates the present command unchanged, also to the append-only file.
    pub(super) fn replicate_same(self) {
        // SAFETY: the context is that of a command.
        unsafe { (functions().replicate_verbatim)(self.0) };
    }

    /// Replicates another command, also to the append-only file.
    pub(super) fn replicate(self, command: &CStr, arguments: &[*mut RawString]) {
        // SAFETY: the format takes an array of strings with its length; they are copied.
        unsafe {
            (functions().replicate)(self.0, command.as_ptr(), c"v".as_ptr(), arguments.as_ptr(), arguments.len())
        };
    }

    /// Marks the key as changed for clients that watch it.
    pub(super) fn signal(self, key: *mut RawString) {
        // SAFETY: the name is that of the present command.
        unsafe { (functions().signal_modified)(self.0, key) };
    }

    /// Publishes a keyspace event.
    pub(super) fn notify(self, event: &CStr, key: *mut RawString) {
        // SAFETY: the event ends with 0, and the name is that of the present command.
        unsafe { (functions().notify)(self.0, MODULE_EVENT, event.as_ptr(), key) };
    }

    pub(super) fn string(self, bytes: &[u8]) -> OwnedString {
        // SAFETY: pointer and length are those of the slice, which is copied.
        let raw = unsafe { (functions().create_string)(self.0, bytes.as_ptr().cast(), bytes.len()) };
        OwnedString { context: self, raw }
    }
}

/// Sends a reply to the client of the present call.
impl Frames for Context {
    fn protocol(&self) -> Protocol {
        if self.flags() & RESP3 == 0 { Protocol::Resp2 } else { Protocol::Resp3 }
    }

    fn ok(&mut self) {
        // SAFETY: the text ends with 0.
        unsafe { (functions().reply_status)(self.0, c"OK".as_ptr()) };
    }

    fn integer(&mut self, number: i64) {
        // SAFETY: the context is that of the present call.
        unsafe { (functions().reply_integer)(self.0, number) };
    }

    fn boolean(&mut self, flag: bool) {
        // SAFETY: the context is that of the present call.
        unsafe { (functions().reply_boolean)(self.0, c_int::from(flag)) };
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: pointer and length are those of the slice, which is copied.
        unsafe { (functions().reply_bytes)(self.0, bytes.as_ptr().cast(), bytes.len()) };
    }

    fn name(&mut self, name: &str) {
        let name = CText::of(&name);
        // SAFETY: the text ends with 0, and is copied.
        unsafe { (functions().reply_status)(self.0, name.as_ptr()) };
    }

    fn error(&mut self, error: &CommandError) {
        self.refuse(error);
    }

    fn null(&mut self) {
        // SAFETY: the context is that of the present call.
        unsafe { (functions().reply_null)(self.0) };
    }

    fn array(&mut self, length: usize) {
        // SAFETY: as many elements follow.
        unsafe { (functions().reply_array)(self.0, count(length)) };
    }

    fn map(&mut self, length: usize) {
        // SAFETY: as many pairs follow.
        unsafe { (functions().reply_map)(self.0, count(length)) };
    }
}

/// The time by the server's clock, in milliseconds since the beginning of 1970.
pub(super) fn now() -> u64 {
    // SAFETY: the function takes nothing.
    u64::try_from(unsafe { (functions().milliseconds)() }).unwrap_or(0)
}

/// A string of the server that the module must free.
pub(super) struct OwnedString {
    context: Context,
    pub(super) raw: *mut RawString,
}

impl Drop for OwnedString {
    fn drop(&mut self) {
        // SAFETY: the string was made in this context, and the server counts its own references to it.
        unsafe { (functions().free_string)(self.context.0, self.raw) }
    }
}

/// The bytes of a string of the server.
///
/// # Safety
///
/// The string must live as long as the returned slice. Arguments live as long as their command.
pub(super) unsafe fn bytes_of<'string>(string: *const RawString) -> &'string [u8] {
    let mut length = 0;
    // SAFETY: the caller's string is valid.
    let start = unsafe { (functions().string_bytes)(string, &raw mut length) };
    // SAFETY: the server gave the start and the length of the string.
    unsafe { std::slice::from_raw_parts(start.cast(), length) }
}

fn count(length: usize) -> c_long {
    c_long::try_from(length).unwrap_or(c_long::MAX)
}
