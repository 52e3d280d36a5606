//! The section of INFO.

use std::ffi::{CStr, c_int};

use super::functions::{OK, RawInformation, functions};
use super::{allocator, configuration, counters, data_type};
use crate::c_text::CText;
use crate::cast::wide;
use crate::stored::Incoming;

/// Adds the section. The server prefixes each field with the module's name.
pub(super) unsafe extern "C" fn add(information: *mut RawInformation, _is_crash_report: c_int) {
    let functions = functions();
    // SAFETY: the server gives the pointer, and the text ends with 0.
    if unsafe { (functions.information_section)(information, c"".as_ptr()) } != OK {
        // The section was not asked for.
        return;
    }
    let version = CText::of(&env!("CARGO_PKG_VERSION"));
    // SAFETY: both texts end with 0, and are copied.
    unsafe { (functions.information_text)(information, c"version".as_ptr(), version.as_ptr()) };
    let settings = configuration::settings();
    let numbers: [(&CStr, u64); 9] = [
        (c"filters", wide(data_type::count())),
        (c"filters_being_loaded", wide(Incoming::count())),
        (c"refused_for_memory", counters::refused_for_memory()),
        (c"refused_for_room", counters::refused_for_room()),
        (c"memory_bytes", wide(allocator::allocated())),
        (c"defragmentation_moves", wide(data_type::moved())),
        (c"default_capacity", settings.capacity),
        (c"default_max_capacity", settings.max_capacity),
        (c"memory_limit", settings.memory_limit),
    ];
    for (name, value) in numbers {
        // SAFETY: the name ends with 0, and is copied.
        unsafe { (functions.information_number)(information, name.as_ptr(), value) };
    }
    let hash = CText::of(&settings.hash.name());
    // SAFETY: both texts end with 0, and are copied.
    unsafe { (functions.information_text)(information, c"default_hash".as_ptr(), hash.as_ptr()) };
    let rate = CText::of(&settings.error_rate);
    // SAFETY: both texts end with 0, and are copied.
    unsafe { (functions.information_text)(information, c"default_error_rate".as_ptr(), rate.as_ptr()) };
}
