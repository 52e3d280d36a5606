use std::ffi::c_int;
use std::ptr::NonNull;

use super::background::free;
use super::context::Context;
use super::data_type;
use super::functions::{RawKey, RawString, functions};
use crate::error::CommandError;
use crate::execution::Place;
use crate::stored::StoredFilter;

/// A key that a command has opened.
pub(super) struct Key {
    /// Null if the key was opened for reading and does not exist.
    raw: *mut RawKey,
    value: Option<NonNull<StoredFilter>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// To read without a trace: the server counts no lookup, and takes it for none.
    Inspect,
}

// REDISMODULE_READ, REDISMODULE_WRITE
const READ: c_int = 1;
const WRITE: c_int = 2;
// REDISMODULE_OPEN_KEY_NOTOUCH, and NONOTIFY and NOSTATS, which servers before Redis 7.2 and Valkey pass over.
const WITHOUT_TRACE: c_int = 1 << 16 | 1 << 17 | 1 << 18;
// REDISMODULE_KEYTYPE_EMPTY
const EMPTY: c_int = 0;

impl Key {
    /// Opens a key.
    ///
    /// # Errors
    ///
    /// If the key holds anything but a filter.
    pub(super) fn open(context: Context, name: *mut RawString, access: Access) -> Result<Self, CommandError> {
        let functions = functions();
        let mode = match access {
            Access::Read => READ,
            Access::Write => READ | WRITE,
            Access::Inspect => READ | WITHOUT_TRACE,
        };
        // SAFETY: the name is an argument of the present command.
        let raw = unsafe { (functions.open_key)(context.0, name, mode) };
        let mut key = Self { raw, value: None };
        if raw.is_null() {
            return Ok(key);
        }
        // SAFETY: the key is open; the server returns null if it is empty or of one of the server's own types.
        if unsafe { (functions.type_of_value)(raw) } == data_type::get() {
            // SAFETY: the key is open, and its value is of the module's type.
            key.value = NonNull::new(unsafe { (functions.value)(raw) }.cast());
        // SAFETY: the key is open.
        } else if unsafe { (functions.key_type)(raw) } != EMPTY {
            return Err(CommandError::WrongType);
        }
        Ok(key)
    }
}

impl Place for Key {
    fn filter(&self) -> Option<&StoredFilter> {
        // SAFETY: the value was made by `data_type`, and lives as long as the key is open.
        self.value.map(|value| unsafe { value.as_ref() })
    }

    fn filter_mut(&mut self) -> Option<&mut StoredFilter> {
        // SAFETY: the value is valid while the key is open; a command opens each key once, and no other command runs.
        self.value.map(|mut value| unsafe { value.as_mut() })
    }

    fn put(&mut self, filter: StoredFilter) -> Result<(), CommandError> {
        // Replaced in place: a new value of the key would lose its time to live.
        if let Some(place) = self.filter_mut() {
            free(std::mem::replace(place, filter));
            place.renew_stamp();
            return Ok(());
        }
        let value = data_type::into_value(filter)?;
        // SAFETY: the key is open for writing, and the value is of the module's type.
        unsafe { (functions().set_value)(self.raw, data_type::get(), value.as_ptr().cast()) };
        self.value = Some(value);
        Ok(())
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the key is open, and closed once.
            unsafe { (functions().close_key)(self.raw) }
        }
    }
}
