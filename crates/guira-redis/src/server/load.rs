//! The entry point of the module.

use std::ffi::{CStr, c_int};

use super::context::{Context, bytes_of};
use super::functions::{ERR, Functions, OK, RawContext, RawString, find, is_valkey};
use super::{configuration, data_type, information, names, registration};
use crate::load_arguments::LoadArguments;

/// What the module is called, in `MODULE LIST` and before its settings.
const NAME: &CStr = c"guira";

/// The version in `MODULE LIST`: 10000 for 1.0.0.
const VERSION: c_int = 100;

/// `REDISMODULE_APIVER_1`
const API_VERSION: c_int = 1;

// The module handles errors while loading and signals all changes of keys itself, and loses nothing when a replica loads a
// data set beside the one that it serves.
const HANDLES_STREAM_ERRORS: c_int = 1;
const SIGNALS_KEYS: c_int = 1 << 1;
const HANDLES_LOADING_BESIDE: c_int = 1 << 2;
// In Valkey: keys may come before the slot that they are in. Nothing here asks whose slot a key is in.
const HANDLES_SLOT_MIGRATION: c_int = 1 << 5;

/// Called by the server, once. This needs no memory of the module's: what has begun could not be undone where there is none.
///
/// # Safety
///
/// Only a server may call it.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut RawContext,
    arguments: *mut *mut RawString,
    count: c_int,
) -> c_int {
    // SAFETY: the server gives its context.
    let Ok(functions) = (unsafe { find(context) }) else {
        // There may be no function to log with. The server reports that loading failed.
        return ERR;
    };
    // However the library was built: the server counts only memory of its own allocator against `maxmemory`.
    guira::raw::use_global_allocator_only();
    let context = Context(context);
    let arguments = match usize::try_from(count) {
        // SAFETY: the server gives this many arguments, valid during the call.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(arguments, count) },
        _ => &[],
    };
    // SAFETY: the arguments are valid during the call.
    let words = arguments.iter().map(|&argument| unsafe { bytes_of(argument) });
    let arguments = match LoadArguments::parse(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            context.warn(&error);
            return ERR;
        }
    };
    if let Err(what) = register(context, functions, &arguments) {
        context.warn(&what);
        return ERR;
    }
    for name in arguments.without_effect() {
        context.warn(&format_args!("the setting {name} has no effect here"));
    }
    OK
}

fn register(context: Context, functions: &Functions, arguments: &LoadArguments<'_>) -> Result<(), &'static str> {
    // SAFETY: the name ends with 0.
    if unsafe { (functions.is_module_name_busy)(NAME.as_ptr()) } != 0 {
        return Err("a module called guira is loaded already");
    }
    // SAFETY: the name ends with 0, and is copied.
    unsafe { (functions.set_module_attributes)(context.0, NAME.as_ptr(), VERSION, API_VERSION) };
    names::set(arguments.prefix);
    configuration::take(arguments);
    // SAFETY: the context is that of loading the module.
    unsafe {
        let everywhere = HANDLES_STREAM_ERRORS | SIGNALS_KEYS | HANDLES_LOADING_BESIDE;
        let options = if is_valkey() { everywhere | HANDLES_SLOT_MIGRATION } else { everywhere };
        (functions.set_module_options)(context.0, options);
    };
    if !data_type::register(context) {
        return Err("the server did not take the type guira-flt: is another module of that type loaded?");
    }
    registration::register(context)?;
    if !configuration::register(context) {
        return Err("the server did not take the settings: one of guira.* in the configuration file is wrong");
    }
    // SAFETY: the context is that of loading the module.
    let status = unsafe { (functions.register_information)(context.0, information::add) };
    if status == OK { Ok(()) } else { Err("the server did not take the section of INFO") }
}
