//! The settings, by the server's own CONFIG command: `guira.capacity` and so on.

use std::ffi::{CStr, c_char, c_int, c_longlong, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use super::context::{Context, bytes_of};
use super::functions::{ERR, OK, RawString, functions};
use crate::cast::signed;
use crate::settings::Settings;

static CAPACITY: AtomicU64 = AtomicU64::new(Settings::DEFAULT.capacity);
static GROWTH: AtomicU64 = AtomicU64::new(Settings::DEFAULT.growth);
static MEMORY_LIMIT: AtomicU64 = AtomicU64::new(Settings::DEFAULT.memory_limit);
/// The bits of a floating-point number.
static ERROR_RATE: AtomicU64 = AtomicU64::new(Settings::DEFAULT.error_rate.to_bits());

/// The settings as they are now.
pub(super) fn settings() -> Settings {
    Settings {
        capacity: CAPACITY.load(Ordering::Relaxed),
        error_rate: f64::from_bits(ERROR_RATE.load(Ordering::Relaxed)),
        growth: GROWTH.load(Ordering::Relaxed),
        memory_limit: MEMORY_LIMIT.load(Ordering::Relaxed),
    }
}

// REDISMODULE_CONFIG_DEFAULT, REDISMODULE_CONFIG_MEMORY
const PLAIN: c_uint = 0;
const MEMORY: c_uint = 1 << 7;

/// Makes the settings known and reads those of the configuration file; whether the server took them.
pub(super) fn register(context: Context) -> bool {
    let numbers = [
        (c"capacity", &CAPACITY, PLAIN, Settings::CAPACITIES),
        (c"growth", &GROWTH, PLAIN, Settings::GROWTHS),
        (c"memory-limit", &MEMORY_LIMIT, MEMORY, Settings::MEMORY_LIMITS),
    ];
    let are_numbers_taken = numbers.into_iter().all(|(name, place, flags, (least, most))| {
        let value = signed(place.load(Ordering::Relaxed));
        let place = std::ptr::from_ref(place).cast_mut().cast::<c_void>();
        // SAFETY: the name is copied; the functions get a place that is always there.
        let status = unsafe {
            (functions().register_number)(
                context.0,
                name.as_ptr(),
                value,
                flags,
                signed(least),
                signed(most),
                number,
                set_number,
                None,
                place,
            )
        };
        status == OK
    });
    are_numbers_taken && register_rate(context) && {
        // SAFETY: the context is that of loading the module.
        unsafe { (functions().load_configuration)(context.0) == OK }
    }
}

fn register_rate(context: Context) -> bool {
    let (name, default): (&CStr, &CStr) = (c"error-rate", c"0.001");
    // SAFETY: name and value are copied.
    let status = unsafe {
        (functions().register_text)(context.0, name.as_ptr(), default.as_ptr(), PLAIN, rate, set_rate, None, null_mut())
    };
    status == OK
}

unsafe extern "C" fn number(_name: *const c_char, place: *mut c_void) -> c_longlong {
    // SAFETY: it is one of those above.
    signed(unsafe { &*place.cast::<AtomicU64>() }.load(Ordering::Relaxed))
}

unsafe extern "C" fn set_number(
    _name: *const c_char,
    value: c_longlong,
    place: *mut c_void,
    _error: *mut *mut RawString,
) -> c_int {
    // SAFETY: it is one of those above. The server has checked the limits.
    unsafe { &*place.cast::<AtomicU64>() }.store(u64::try_from(value).unwrap_or(0), Ordering::Relaxed);
    OK
}

/// A string that belongs to the server from now on.
fn string(text: &[u8]) -> *mut RawString {
    // SAFETY: the bytes are as many as is said, and are copied.
    unsafe { (functions().create_string)(null_mut(), text.as_ptr().cast(), text.len()) }
}

static RATE_TEXT: std::sync::Mutex<Option<KeptString>> = std::sync::Mutex::new(None);

/// The string by which the rate is shown: the server looks at it, and leaves it here.
struct KeptString(*mut RawString);

// SAFETY: only the thread of the server that runs commands touches it.
unsafe impl Send for KeptString {}

unsafe extern "C" fn rate(_name: *const c_char, _place: *mut c_void) -> *mut RawString {
    let text = string(settings().error_rate.to_string().as_bytes());
    if let Ok(mut kept) = RATE_TEXT.lock()
        && let Some(KeptString(old)) = kept.replace(KeptString(text))
    {
        // SAFETY: it was made above, and the server has looked at it.
        unsafe { (functions().free_string)(null_mut(), old) };
    }
    text
}

unsafe extern "C" fn set_rate(
    _name: *const c_char,
    value: *mut RawString,
    _place: *mut c_void,
    error: *mut *mut RawString,
) -> c_int {
    // SAFETY: the server gives a string, for the time of the call.
    let Some(rate) = Settings::parse_rate(unsafe { bytes_of(value) }) else {
        // SAFETY: the server gives a place for the reason, and frees it.
        unsafe { *error = string(b"give a number between 0 and 1, both excluded, such as 0.001") };
        return ERR;
    };
    ERROR_RATE.store(rate.to_bits(), Ordering::Relaxed);
    OK
}
